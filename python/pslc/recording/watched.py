"""A load as a recording, and back: what was watched here, or what another program has counted."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Final

import numpy as np

from pslc._native import version
from pslc.analysis.load import Load
from pslc.analysis.series import Floats
from pslc.recording.model import Columns, Recording
from pslc.schema.facts import Device, Facts

FIELDS: Final = (
    "reads", "read_bytes", "read_ns", "writes", "write_bytes", "write_ns", "in_flight", "busy_ns", "queue_ns", "trims",
    "trim_bytes", "flushes", "flush_ns",
)  # fmt: skip
"""Counters of a sample, in order."""
MOVED: Final = ("read_bytes", "write_bytes", "trim_bytes", "reads", "writes", "trims")
"""Columns of a recording that are of each bin."""
COUNTED: Final = ("flushes", "flush_ns", "read_ns", "write_ns", "busy_ns", "queue_ns")
"""Counters that keep rising; their columns in a recording end with `_total`."""
TEMPERATURE: Final = "temperature_millicelsius"
"""0 where it is not known."""
NONE: Final = ("lat_max_ns", "lat_p50_ns", "lat_p99_ns", "lat_p999_ns")
"""Columns of other recordings that the block layer does not report."""


class Samples:
    """Counters with their times and the temperature then; 128 bytes a sample."""

    def __init__(self) -> None:
        self._values = array("q")

    def __len__(self) -> int:
        return len(self._values) // (len(FIELDS) + 2)

    def add(self, at_ns: int, counted: tuple[int, ...], celsius: float | None) -> None:
        """Add a sample; temperatures below freezing become 0."""
        self._values.extend((at_ns, *counted, 0 if celsius is None else max(round(celsius * 1000), 0)))

    @classmethod
    def of(cls, load: Load) -> Samples:
        """Samples of a load, as if it had been watched; unknown values are 0."""
        amounts = {"in_flight": np.zeros(load.seconds.size), "trims": np.zeros(load.seconds.size)}
        for name in set(FIELDS) - amounts.keys():
            in_ns = name.endswith("_ns")
            amounts[name] = getattr(load, f"{name.removesuffix('_ns')}_s" if in_ns else name) * (1e9 if in_ns else 1)
        counted = [np.cumsum(np.nan_to_num(amounts[name])) for name in FIELDS]
        celsius = np.maximum(np.nan_to_num(load.celsius) * 1000, 0)
        series = cls()
        series.add(0, (0,) * len(FIELDS), None)
        series._values.frombytes(np.rint([load.ends_s * 1e9, *counted, celsius]).astype(np.int64).T.tobytes())
        return series

    def columns(self) -> tuple[Columns, dict[str, int], dict[str, int]]:
        """The series of a recording, a bin from each sample to the next, and its counters before and after.

        The counters of a device that was reset count from 0 again.
        """
        table = np.frombuffer(self._values, dtype=np.int64).reshape(-1, len(FIELDS) + 2)
        times_s, celsius = table[:, 0], table[:, -1]
        counters = dict(zip(FIELDS, table[:, 1:-1].T, strict=True))
        grown = {name: np.maximum(np.diff(counters[name]), 0) for name in (*MOVED, *COUNTED)}
        series = {"end_ns": times_s[1:] - times_s[0]}
        series |= {name: grown[name] for name in MOVED}
        series |= {"lat_sum_ns": grown["read_ns"] + grown["write_ns"]}
        series |= {name: np.zeros(len(times_s) - 1, dtype=np.int64) for name in NONE}
        series |= {f"{name}_total": np.cumsum(grown[name]) for name in COUNTED}
        series |= {"in_flight": np.maximum(counters["in_flight"][1:], 0), TEMPERATURE: celsius[1:]}
        kept = [*(f"{name}_total" for name in COUNTED), "in_flight", TEMPERATURE]
        before = dict.fromkeys(kept, 0) | {TEMPERATURE: int(celsius[0])}
        totals = {name: int(series[name][-1]) if len(times_s) > 1 else before[name] for name in kept}
        return {name: column.astype(np.uint64) for name, column in series.items()}, before, totals


def load_of(recording: Recording) -> Load:
    """Load of a watched drive, as the analysis takes it."""
    time = recording.time

    def grown(name: str) -> Floats:
        return np.diff(time[name].astype(np.float64), prepend=float(recording.before[name]))

    seconds = np.diff(time["end_ns"].astype(np.float64), prepend=float(recording.start_ns)) / 1e9
    moved = {name: time[name].astype(np.float64) for name in ("read_bytes", "write_bytes", "trim_bytes")}
    counts = {name: time[name].astype(np.float64) for name in ("reads", "writes")}
    spans = {f"{name}_s": grown(f"{name}_ns_total") / 1e9 for name in ("read", "write", "busy", "queue")}
    flush_s = grown("flush_ns_total") / 1e9 if "flush_ns_total" in time else np.zeros(seconds.shape)
    celsius = time[TEMPERATURE].astype(np.float64) / 1e3
    return Load(
        seconds=np.maximum(seconds, 1e-9),
        **moved,
        **counts,
        **spans,
        flushes=grown("flushes_total"),
        flush_s=flush_s,
        celsius=np.where(celsius > 0, celsius, np.nan),
    )


def recorded(
    path: Path, facts: Facts, samples: Samples, began_unix_ns: int, error: str | None = None, name: str = ""
) -> Recording:
    """Samples as a recording. There is but one series, of bins of time.

    Args:
        facts: `watch` among them.
        name: what to call the drive; else its model, or `path`.
    """
    series, before, totals = samples.columns()
    seconds = int(series["end_ns"][-1]) / 1e9 if len(samples) > 1 else 0.0
    device = facts["device"] or Device()
    return Recording(
        suite="watch",
        target=str(path),
        drive=name or device.get("model") or str(path),
        seed=0,
        version=version(),
        wall_s=seconds,
        drive_time_s=seconds,
        capacity_bytes=device.get("bytes") or 0,
        interrupted=False,
        error=error,
        job_file="",
        overrides=[],
        profile="",
        start_ns=0,
        facts=facts,
        provenance=[],
        jobs=[],
        before=before,
        totals=totals,
        time=series,
        bytes=series,
        began_unix_ns=began_unix_ns,
    )
