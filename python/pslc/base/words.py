"""Numbers as people read them. GB is 10^9 bytes, MB/s 10^6 bytes a second."""

from __future__ import annotations


def size(count: float) -> str:
    """`691 GB`, `3.02 GB`, `512 MB`."""
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        # Drives are sold by the GB: 2000 GB, not 2 TB.
        if abs(count) >= (1e13 if unit == "TB" else 0.9995 * scale):
            return f"{_three(count / scale)} {unit}"
    return f"{count:.0f} B"


def block(count: int) -> str:
    """`512 B`, `4 KiB`, `64 MiB`: a size of a request or a span, which is a power of two."""
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count >= 1 << shift:
            return f"{count / (1 << shift):.4g} {unit}"
    return f"{count} B"


def speed(bytes_per_s: float) -> str:
    """`6632 MB/s`; `4.10 kB/s` below 0.1 MB/s."""
    if 0 < bytes_per_s < 1e5:
        return f"{_three(bytes_per_s / 1e3)} kB/s"
    return f"{_three(bytes_per_s / 1e6)} MB/s"


def times(ratio: float) -> str:
    """Format the ratio of two figures: `1.24 times`, `1/93`."""
    if 0 < ratio < 0.1:
        return f"1/{count(1 / ratio)}"
    return f"{ratio:.3f} times" if ratio < 9.9995 else f"{count(ratio)} times"


def joules(joules: float) -> str:
    """Format an energy: `1.91 J`."""
    return f"{_three(joules)} J"


def span(seconds: float) -> str:
    """`12.5 days`, `24 min 54 s`, `5 min`, `1.25 s`, `310 us`."""
    if seconds >= 100 * 3600:
        return f"{_three(seconds / 86_400)} days"
    for large, small, unit, part in ((3600, 60, "h", "min"), (60, 1, "min", "s")):
        if seconds >= large:
            rest = int(seconds % large // small)
            return f"{int(seconds // large)} {unit} {rest} {part}" if rest else f"{int(seconds // large)} {unit}"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= 0.9995 * scale:
            return f"{_three(seconds / scale)} {unit}"
    return f"{seconds * 1e9:.0f} ns" if seconds else "0 s"


def quantity(value: float, unit: str) -> str:
    """A figure of `pslc.recording.metrics`: bytes, bytes a second, a share, a rate, seconds or another unit."""
    if unit == "B":
        return size(value)
    if unit == "B/s":
        return speed(value)
    if unit == "share":
        return share(value)
    if unit == "/s":
        return f"{count(value)} /s"
    if unit == "W" and abs(value) < 0.9995:
        return f"{_three(1e3 * value)} mW"
    if unit in ("", "points"):
        return f"{count(value)} {unit}".strip()
    return span(value) if unit == "s" else years(value) if unit == "years" else f"{_three(value)} {unit}"


def count(number: float) -> str:
    """Format a count: `819 303`, `17.3`."""
    if abs(number) >= 100:
        return f"{number:,.0f}".replace(",", " ")
    return f"{number:g}" if float(number).is_integer() else _three(number)


def share(part: float) -> str:
    """Format a share: `12.5 %`."""
    return f"{_three(100 * part)} %"


def _three(number: float) -> str:
    """Three digits at least, and all of those before the point."""
    digits = 0 if abs(number) >= 99.95 else 1 if abs(number) >= 9.995 else 2
    return f"{number:.{digits}f}"


def years(number: float) -> str:
    """A lifetime given in years, as text: `12 years`, `40 days`."""
    if number >= 1000:
        return "more than 1000 years"
    days = number * 365.25
    return f"{count(number)} years" if number >= 1 else f"{days:.0f} days" if days >= 2 else span(days * 86400)
