"""Other programs' data with what the analysis says of them, and as recordings, so that they can be compared."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from pslc._native import version
from pslc.analysis import AnalysisOptions, Curve, MeasurementContext, Writes, blackbox_causes
from pslc.base.errors import RecordingError
from pslc.formats import ImportedData
from pslc.recording import reading_error, warnings
from pslc.recording.store import Columns, Findings, Recording
from pslc.recording.writes import of_curve


def analyzed(foreign: ImportedData, stated: MeasurementContext | None = None) -> Writes:
    """The findings of data of one run; see `pslc.recording.writes.of_writes`.

    Args:
        stated: what the user says of the drive and the workload; the data tell the rest.

    Raises:
        PslcError: they tell of nothing.
    """
    if foreign.curve is None and not foreign.jobs and not foreign.rows:
        hint = "give a log of writes, or a table of speed against what was written"
        raise RecordingError(f"{foreign.name} tells of no writes", hint)
    stated = stated or MeasurementContext()
    random = foreign.random if stated.random is None else stated.random
    context = replace(
        stated, random=random, buffered=foreign.buffered, celsius=foreign.celsius, synced_bytes=foreign.synced_bytes
    )
    options = AnalysisOptions(capacity_bytes=stated.capacity_bytes, context=context)
    findings = of_curve(foreign.curve, lambda phases: blackbox_causes(phases, context), options)
    if foreign.chart is not None and foreign.curve is not None:
        reading_error.widen(findings, foreign.curve, foreign.chart)
    findings["doubts"] = warnings.of_foreign(foreign) + findings["doubts"]
    return findings


def as_recording(foreign: ImportedData, findings: Writes, path: Path) -> Recording:
    """The data as if they had been recorded by a run: its series are those of the curve, without latencies."""
    columns = _columns(foreign.curve)
    seconds = foreign.curve.total_seconds if foreign.curve else 0.0
    return Recording(
        suite=foreign.name, target=str(path), drive=foreign.name, seed=0, version=version(), wall_s=seconds,
        drive_time_s=seconds, capacity_bytes=0, interrupted=False, error=None, job_file=str(path), overrides=[],
        profile="", start_ns=0, facts={"device": None}, provenance=[], jobs=foreign.jobs, before={}, totals={},
        time=columns, bytes=columns, findings=Findings(findings),
    )  # fmt: skip


def _columns(curve: Curve | None) -> Columns:
    names = ["read_bytes", "write_bytes", "trim_bytes", "reads", "writes", "trims"]
    latencies = [f"lat_{name}_ns" for name in ("sum", "max", "p50", "p99", "p999")]
    count = curve.seconds.size if curve else 0
    columns: Columns = {name: np.zeros(count, dtype=np.uint64) for name in names + latencies}
    columns["end_ns"] = np.zeros(count, dtype=np.uint64)
    if curve is not None:
        columns["end_ns"] = np.round(np.cumsum(curve.seconds) * 1e9).astype(np.uint64)
        columns["write_bytes"] = np.diff(np.round(curve.edges_bytes - curve.edges_bytes[0])).astype(np.uint64)
    return columns
