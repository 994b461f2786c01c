"""Recordings beside each other: the same figures of each, their ratios to the first, and what is more than noise."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pslc.errors import refusal
from pslc.recording import Recording

NOISE: Final = 0.02
"""Relative difference below which two rates without an interval are the same."""


@dataclass(frozen=True)
class Figure:
    """A number with the interval it lies in; without one it is as wide as `NOISE`."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Row:
    """One figure of every recording.

    Attributes:
        name: `cache`, `mean`, `phase 2`, `fill write IOPS`.
        unit: `B`, `B/s`, `/s` or `s`.
        figures: one a recording; None where it has none.
        differs: by more than the noise from the first; one a recording.
        tolerance: the largest relative difference allowed; None: any.
    """

    name: str
    unit: str
    figures: list[Figure | None]
    differs: list[bool]
    tolerance: float | None

    @property
    def ratios(self) -> list[float | None]:
        """To the first recording."""
        first = self.figures[0]
        return [figure.value / first.value if figure and first and first.value else None for figure in self.figures]

    @property
    def out_of_tolerance(self) -> bool:
        """Whether a recording is further from the first than allowed, or lacks the figure."""
        if self.tolerance is None:
            return False
        return any(ratio is None or abs(ratio - 1) > self.tolerance for ratio in self.ratios)

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": self.name,
            "unit": self.unit,
            "values": [figure.value if figure else None for figure in self.figures],
            "low": [figure.low if figure else None for figure in self.figures],
            "high": [figure.high if figure else None for figure in self.figures],
            "ratios": self.ratios,
            "differs": self.differs,
            "tolerance": self.tolerance,
            "out_of_tolerance": self.out_of_tolerance,
        }


def compare(recordings: Sequence[Recording], limits: dict[str, float]) -> list[Row]:
    """The figures that at least one of the recordings has, in order.

    Args:
        limits: relative tolerances by name; `*` for every other figure.

    Raises:
        PslcError: a tolerance names a figure that there is not.
    """
    found = [_figures(recording) for recording in recordings]
    names = list(dict.fromkeys(name for figures in found for name in figures))
    unknown = [name for name in limits if name != "*" and name not in names]
    if unknown:
        raise refusal(f"a tolerance for {unknown[0]}, which no recording has", f"there are {', '.join(names)}")
    rows = []
    for name in names:
        unit = next(figures[name][0] for figures in found if name in figures)
        row = [figures[name][1] if name in figures else None for figures in found]
        rows.append(Row(name, unit, row, [_apart(row[0], other) for other in row], limits.get(name, limits.get("*"))))
    return rows


def _apart(one: Figure | None, other: Figure | None) -> bool:
    if one is None or other is None:
        return one is not other
    return one.high < other.low or other.high < one.low


def _figures(recording: Recording) -> dict[str, tuple[str, Figure]]:
    findings = recording.findings
    found: dict[str, tuple[str, Figure]] = {}
    if findings["cache_bytes"] is not None:
        figure = Figure(findings["cache_bytes"], findings["cache_bytes_low"], findings["cache_bytes_high"])
        found["cache"] = ("B", figure)
    if findings["fill_mean_bytes_per_s"]:
        found["mean"] = ("B/s", _rate(findings["fill_mean_bytes_per_s"]))
    for number, phase in enumerate(findings["phases"], 1):
        found[f"phase {number}"] = ("B/s", _rate(phase["bytes_per_s"], phase["spread"]))
    for job in recording.jobs:
        for kind in ("read", "write"):
            done = job[kind]
            if done["total_ios"]:
                seconds = max(done["runtime_ns"], 1) / 1e9
                found[f"{job['name']} {kind} IOPS"] = ("/s", _rate(done["total_ios"] / seconds))
                found[f"{job['name']} {kind} mean latency"] = ("s", _rate(done["lat_ns"]["mean"] / 1e9))
                at = done["lat_ns"]["percentile"]["99.000000"]
                found[f"{job['name']} {kind} 99 % latency"] = ("s", _rate(at / 1e9))
    return found


def _rate(value: float, spread: float = 0.0) -> Figure:
    half = max(NOISE / 2, spread / 2) * value
    return Figure(value, value - half, value + half)


def read_tolerance(path: Path) -> dict[str, float]:
    """Relative tolerances by name from a TOML file of `name = "5%"`.

    Raises:
        PslcError: it cannot be read, or a value is no percentage.
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise refusal(f"{path}: {error}", 'a TOML file with lines such as mean = "5%"') from None
    limits = {}
    for name, text in found.items():
        number = str(text).removesuffix("%")
        if not str(text).endswith("%") or not number.replace(".", "", 1).isdigit():
            raise refusal(f'{path}: {name} is "{text}"', 'a percentage: "5%"')
        limits[name] = float(number) / 100
    return limits
