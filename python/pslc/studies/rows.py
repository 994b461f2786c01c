"""Row of a point in the table of a study."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pslc.schema.jobs import Job

if TYPE_CHECKING:
    from pslc.recording.model import Recording

MOST_ITEMS: Final = 8
"""A longer list is a curve: it belongs into a recording, not into a row."""
LARGEST: Final = 2**63 - 1
REFUSED: Final = "refused: "
TAILS: Final = ("p99_s", "p99_9_s", "p999_s", "max_s")
"""Endings of the names of the slowest requests' latencies."""

Value = str | int | float | None
Row = dict[str, Value]
"""Row of a point: its axes and findings by name."""


def has_failed(row: Row) -> bool:
    """Whether a point ended with an error. A drive that the profile's check refuses is no failure."""
    return row["error"] is not None and not str(row["error"]).startswith(REFUSED)


def number(row: Row, name: str) -> float:
    """Value of a column that must be a number."""
    value = row[name]
    assert isinstance(value, int | float), f"{name} is {value}"
    return float(value)


def of_drive(recording: Recording) -> Row:
    """Bytes programmed for each byte of the host: in native mode, as pSLC, and in all. Empty if nothing was written."""
    host = recording.totals.get("host_write_bytes_total", 0) - recording.before.get("host_write_bytes_total", 0)
    if not host:
        return {}
    native, slc = (
        (recording.totals[name] - recording.before[name]) / host
        for name in ("native_programmed_bytes_total", "slc_programmed_bytes_total")
    )
    return {"native_per_host": native, "slc_per_host": slc, "write_amplification": native + slc}


def of_jobs(jobs: Sequence[Job]) -> Row:
    """Speed and latencies of each job of a job file: `JOB_write_bytes_per_s`, `JOB_write_mean_s`, `JOB_write_p99_s`,
    and the same for reads."""
    row: Row = {}
    for job in jobs:
        for kind in ("read", "write"):
            done, name = job[kind], re.sub(r"\W", "_", f"{job['name']}_{kind}")
            if not done["total_ios"]:
                continue
            if done["runtime_ns"]:
                row[f"{name}_bytes_per_s"] = done["io_bytes"] / done["runtime_ns"] * 1e9
            row[f"{name}_mean_s"] = done["lat_ns"]["mean"] / 1e9
            for label, key in (("p99", "99.000000"), ("p99_9", "99.900000")):
                row[f"{name}_{label}_s"] = done["lat_ns"]["percentile"][key] / 1e9
    return row


def without_tails(row: Row) -> Row:
    """The row without latencies of the slowest requests, which a twin does not predict."""
    return {name: value for name, value in row.items() if not name.endswith(TAILS)}


def flat(findings: Mapping[str, object], before: str = "") -> Row:
    """Findings as one row. Lists of a few tables get numbers, `phases_1_bytes_per_s`, longer ones only `..._count`."""
    row: Row = {}
    for key, value in findings.items():
        name = f"{before}{key}".replace("-", "_")
        if isinstance(value, dict):
            row |= flat(value, f"{name}_")
        elif isinstance(value, list | tuple):
            row[f"{name}_count"] = len(value)
            if value and all(isinstance(item, str) for item in value):
                row[name] = "\n".join(value)
            elif len(value) <= MOST_ITEMS:
                for number, item in enumerate(value, 1):
                    row |= flat(item if isinstance(item, dict) else {"": item}, f"{name}_{number}_")
        elif isinstance(value, int) and not isinstance(value, bool) and abs(value) > LARGEST:
            row[name.rstrip("_")] = float(value)
        elif value is None or isinstance(value, bool | int | float | str):
            row[name.rstrip("_")] = value
    return row
