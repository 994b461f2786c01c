"""Numbers as people read them. GB is 10^9 bytes, MB/s 10^6 bytes a second."""

from functools import partial
from typing import Final

SCALES: Final = {
    # Drives are sold by the GB: 2000 GB, not 2 TB.
    "B": ((1e13, 1e12, "TB"), (0.9995e9, 1e9, "GB"), (0.9995e6, 1e6, "MB"), (0.9995e3, 1e3, "kB")),
    "B/s": ((1e5, 1e6, "MB/s"), (1e-99, 1e3, "kB/s"), (0.0, 1e6, "MB/s")),
    "s": ((0.9995, 1.0, "s"), (0.9995e-3, 1e-3, "ms"), (0.9995e-6, 1e-6, "µs")),
    "W": ((0.9995, 1.0, "W"), (0.0, 1e-3, "mW")),
    "share": ((0.0, 0.01, "%"),),
    "block": (
        (1 << 40, 1 << 40, "TiB"),
        (1 << 30, 1 << 30, "GiB"),
        (1 << 20, 1 << 20, "MiB"),
        (1 << 10, 1 << 10, "KiB"),
    ),
}
"""Units of a quantity: the value from which on one is used, its size, its name."""


def parts(value: float, unit: str) -> list[tuple[str, str]]:
    """A value as pairs of a number and its unit: `[("24", "min"), ("54", "s")]`.

    Args:
        unit: `B`, `B/s`, `s`, `W`, `share`, `/s`, `block` (a power of 2), `years`, `points` or another, in base units.
    """
    if unit == "s" and value >= 59.95:
        return _long_span(value)
    for threshold, by, name in SCALES.get(unit, ()):
        if abs(value) >= threshold:
            return [(f"{value / by:.4g}" if unit == "block" else three(value / by), name)]
    if unit == "s":
        return [(f"{value * 1e9:.0f}", "ns") if value else ("0", "s")]
    if unit in ("B", "block"):
        return [(f"{value:.0f}", "B")]
    if unit == "years":
        return _years(value)
    return [(count(value) if unit in ("", "points", "/s") else three(value), unit)]


def _long_span(seconds: float) -> list[tuple[str, str]]:
    if (minutes := round(seconds / 60)) >= 100 * 60:
        return [(three(seconds / 86_400), "days")]
    whole, unit, part = (minutes, "h", "min") if round(seconds) >= 3600 else (round(seconds), "min", "s")
    large, rest = divmod(whole, 60)
    return [(f"{large}", unit), *([(f"{rest}", part)] if rest else [])]


def _years(number: float) -> list[tuple[str, str]]:
    if number >= 1000:
        return [("more than 1000", "years")]
    days = number * 365.25
    if number >= 1:
        return [(count(number), "years")]
    return [(f"{days:.0f}", "days")] if days >= 2 else parts(days * 86_400, "s")


def quantity(value: float, unit: str) -> str:
    """A value of a base unit with the unit that suits it; see `parts`."""
    return " ".join(" ".join(part) for part in parts(value, unit)).strip()


size: Final = partial(quantity, unit="B")
"""`691 GB`, `3.02 GB`, `512 MB`."""
block: Final = partial(quantity, unit="block")
"""`512 B`, `4 KiB`, `64 MiB`: a size of a request or a span, which is a power of two."""
speed: Final = partial(quantity, unit="B/s")
"""`6632 MB/s`; `4.10 kB/s` below 0.1 MB/s."""
span: Final = partial(quantity, unit="s")
"""`12.5 days`, `24 min 54 s`, `5 min`, `1.25 s`, `310 µs`."""
joules: Final = partial(quantity, unit="J")
"""`1.91 J`."""
share: Final = partial(quantity, unit="share")
"""`12.5 %`."""
years: Final = partial(quantity, unit="years")
"""`12 years`, `40 days`: a lifetime."""


def change(ratio: float) -> str:
    """Format the ratio of a figure to the first: `+24 %`, `-68 %`, `same`; from 10 times on `12.3 times`, `1/93`."""
    if not 0.1 <= ratio < 10:
        return f"1/{count(1 / ratio)}" if 0 < ratio < 1 else f"{count(ratio)} times"
    percent = 100 * (ratio - 1)
    return f"{percent:+.0f} %" if abs(percent) >= 9.5 else f"{percent:+.1f} %" if abs(percent) >= 0.05 else "same"


def count(number: float) -> str:
    """Format a count or a ratio: `819 303`, `17.3`, `0.00123`."""
    if abs(number) >= 100:
        return f"{number:,.0f}".replace(",", " ")
    return f"{number:.3g}" if float(number).is_integer() or abs(number) < 0.1 else three(number)


def three(number: float) -> str:
    """Three digits at least, and all of those before the point."""
    digits = 0 if abs(number) >= 99.95 else 1 if abs(number) >= 9.995 else 2
    return f"{number:.{digits}f}"
