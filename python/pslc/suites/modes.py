"""What does the drive's cache bring? The same writes with its buffer on, on and not emptied while idle, and off.

Half of the drive is written, then the other half after a rest of five minutes. A UFS drive is switched (WriteBooster),
as root, and switched back at the end; a simulated drive is formatted with the cache that each setting leaves.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from typing_extensions import TypedDict

from pslc.analysis import Writes
from pslc.base import words
from pslc.device.region import Region
from pslc.figures import curves
from pslc.figures.picture import Own, Panel, Picture, Table
from pslc.figures.tables import Columns, of_rows
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import cache, curve, finished, not_tried
from pslc.recording.writes.findings import of_writes
from pslc.schema.cache_setting import CacheSetting
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "a quarter of the drive, and as much again after a minute"
COMPUTER = "none"
UNLIKE_SCALED = "a pause gives back more of a scaled drive"
REST_S, QUICK_REST_S = 300.0, 60.0
ORDER: Final = (CacheSetting.OFF, CacheSetting.NO_FLUSH, CacheSetting.ON)
"""Settings in the order in which they are tried: the buffer is empty before the one that does not empty it."""


def setting(step: str) -> CacheSetting:
    """Setting of the drive's buffer in a step, by the name of its first job."""
    return CacheSetting(step.partition(" ")[0])


def steps(region: Region) -> Steps:
    """Three steps a setting: a trim, a write, and a write after a rest."""
    size = region.share(0.25 if region.quick else 0.5)
    pause = QUICK_REST_S if region.quick else REST_S
    for name in ORDER:
        yield region.trim(f"{name} trim")
        yield region.write(f"{name} write", size, pause=pause)
        yield region.write(f"{name} again", size, offset=size, pause=pause)


class Mode(TypedDict):
    """Results of one setting."""

    setting: str
    mean_bytes_per_s: float | None
    cache_bytes: int | None
    fast_bytes_per_s: float | None
    past_bytes_per_s: float | None
    again_bytes_per_s: float | None
    again_fast_bytes: float | None


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    modes: list[Mode]
    off_share: float | None
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `modes`: of each `setting` (`on`, `no-flush`, `off`) the `mean_bytes_per_s` of the first write; its `cache_bytes`,
      the speed in it (`fast_bytes_per_s`) and past it (`past_bytes_per_s`), null where the speed did not fall; the mean
      of the write after the rest (`again_bytes_per_s`), and how much of it was as fast as at first with the buffer on
      (`again_fast_bytes`), null where nothing fell then
    - `off_share`: mean speed with the buffer off over that with it on
    """
    rows = list(_modes(recording))
    by_name = {row["setting"]: row["mean_bytes_per_s"] for row in rows}
    on, off = by_name.get(CacheSetting.ON), by_name.get(CacheSetting.OFF)
    is_whole = all(finished(recording, f"{name} again") for name in ORDER)
    warnings = [] if is_whole else [not_tried("all settings were tried")]
    written = finished(recording, f"{CacheSetting.ON} write")
    warnings += [each for each in of_writes(written)["warnings"] if each.code != "part"] if written else []
    return {"modes": rows, "off_share": off / on if on and off else None, "warnings": warnings}


def _modes(recording: Recording) -> Iterator[Mode]:
    end = cache(finished(recording, f"{CacheSetting.ON} write"))
    for name in reversed(ORDER):
        write = finished(recording, f"{name} write")
        if write is None:
            continue
        part: Writes = of_writes(write)
        own = cache(write)
        rested = finished(recording, f"{name} again")
        again = curve(rested) if rested else None
        yield {
            "setting": str(name),
            "mean_bytes_per_s": part["fill_mean_bytes_per_s"],
            "cache_bytes": round(own.bytes) if own else None,
            "fast_bytes_per_s": own.fast if own else None,
            "past_bytes_per_s": own.slow if own else None,
            "again_bytes_per_s": again.total_bytes / again.total_seconds if again else None,
            "again_fast_bytes": end.fast_bytes(again) if end and again else None,
        }


LABELS: Final = {"on": "With its buffer on", "no-flush": "On and not emptied", "off": "Off"}


def sentences(findings: Findings) -> list[str]:
    """A sentence for each setting, and one that compares."""
    lines = [_of_mode(row) for row in findings["modes"] if row["mean_bytes_per_s"]]
    share = findings["off_share"]
    return lines + ([f"Without its buffer the drive writes at {100 * share:.0f} % of the mean speed."] if share else [])


def _of_mode(row: Mode) -> str:
    size, fast, past = row["cache_bytes"], row["fast_bytes_per_s"], row["past_bytes_per_s"]
    text = f"{LABELS[row['setting']]}, it writes {words.speed(row['mean_bytes_per_s'] or 0.0)}"
    if size and fast and past:
        text = f"{LABELS[row['setting']]}, it writes {words.size(size)} at {words.speed(fast)}"
        text += f", then {words.speed(past)}"
    if (again := row["again_fast_bytes"]) is not None and row["setting"] != CacheSetting.OFF:
        text += f", and after the rest {words.size(again) if again else 'nothing'} as fast as with an empty buffer"
    return f"{text}."


def tables(findings: Findings) -> list[Table]:
    """A row for each setting."""

    def speed(value: float) -> str:
        return words.speed(value) if value else ""

    columns: Columns = {
        "buffer": "setting", "mean": ("mean_bytes_per_s", speed), "cache": "cache_bytes",
        "in it": ("fast_bytes_per_s", speed), "past it": ("past_bytes_per_s", speed),
        "after the rest": ("again_bytes_per_s", speed), "as fast as at first": "again_fast_bytes",
    }  # fmt: skip
    return [of_rows("Settings of the buffer", findings["modes"], columns)]


def pictures(recording: Recording) -> list[Picture]:
    """The first writes and those after the rest, each against data written."""
    panels = []
    for kind, axis in (("write", "speed"), ("again", "speed after a rest")):
        lines = []
        for name in reversed(ORDER):
            part = finished(recording, f"{name} {kind}")
            line = curves.write_line(part) if part else None
            lines += [replace(line, name=Own(name))] if line is not None else []
        panels.append(Panel(replace(curves.SPEED, word=axis), lines))
    drawn = Picture("speed-bytes", "Write speed by data written", curves.WRITTEN, tuple(panels))
    return [drawn, *curves.of_any(recording)]
