"""Other programs' data with what the analysis says of them, and as recordings, so that they can be compared."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from pslc._native import version
from pslc.analysis import (
    AnalysisOptions,
    AnalysisWarning,
    CauseEstimate,
    Curve,
    MeasurementContext,
    Writes,
    blackbox_causes,
)
from pslc.base.errors import RecordingError, user_error
from pslc.formats import ImportedData
from pslc.recording import reading_error, warnings
from pslc.recording.store import Columns, Findings, Recording
from pslc.recording.writes import of_curve

RANDOM_NAME: Final = re.compile(
    r"(?<![a-z])(?:random|rand|rnd)[-_ ]?\d*k?[-_ ]?(?:w|write|writes|rw|io)?(?![a-z])", re.IGNORECASE
)
"""Pattern in the name of a log of random writes: fio's word, or a common one."""
OF_ANY_CURVE: Final = tuple(
    doubt.code
    for doubt in (AnalysisWarning.FEW_BINS, AnalysisWarning.SHORT_PHASE, AnalysisWarning.GAPS, AnalysisWarning.UNSTEADY)
)
"""Codes of what may be wrong with a curve of reads as well."""


def analyzed(foreign: ImportedData, stated: MeasurementContext | None = None) -> Writes:
    """The findings of data of one run; see `pslc.recording.writes.of_writes`.

    Args:
        stated: what the user says of the drive and the workload; the data tell the rest.

    Raises:
        PslcError: they tell of nothing.
    """
    if foreign.curve is None and not foreign.jobs and not foreign.rows:
        hint = "give a log of writes or reads, or a table of speed against what was written"
        raise RecordingError(f"{foreign.name} holds no writes and no reads", hint)
    stated = stated or MeasurementContext()
    if foreign.kind == "read":
        return _of_reads(foreign, stated)
    random = foreign.random if stated.random is None else stated.random
    by_name = random is None and RANDOM_NAME.search(foreign.name) is not None
    context = replace(
        stated,
        random=True if by_name else random,
        buffered=foreign.buffered,
        celsius=foreign.celsius,
        synced_bytes=foreign.synced_bytes,
    )
    options = AnalysisOptions(capacity_bytes=stated.capacity_bytes, context=context)
    findings = of_curve(foreign.curve, lambda phases: blackbox_causes(phases, context), options)
    if foreign.chart is not None and foreign.curve is not None:
        reading_error.widen(findings, foreign.curve, foreign.chart)
    named = [warnings.RecordingWarning.RANDOM_NAME.of(file=foreign.name)] if by_name else []
    findings["doubts"] = named + warnings.of_foreign(foreign) + findings["doubts"]
    return findings


def is_random(foreign: ImportedData, stated: bool | None = None) -> bool:
    """Whether the writes were random: as stated, as the data tell, or as the name of the log says."""
    random = foreign.random if stated is None else stated
    return RANDOM_NAME.search(foreign.name) is not None if random is None else random


def check_workload(workload: str | None) -> None:
    """Refuse a `--workload` that is neither of the two words.

    Raises:
        PslcError: it is another word.
    """
    if workload not in (None, "random", "sequential"):
        raise user_error(f'--workload is "{workload}"', "random or sequential")


def bad_lines_note(foreign: ImportedData) -> list[str]:
    """A note on lines that were left out; none where all were read."""
    return [f"{foreign.bad_lines} lines could not be read and were left out"] if foreign.bad_lines else []


def _of_reads(foreign: ImportedData, stated: MeasurementContext) -> Writes:
    """The phases of reads, whose causes a curve does not tell; no cache of writes is concluded from them."""
    unknown = CauseEstimate("unknown", 0.0, "a read: its curve alone does not show a cause")
    options = AnalysisOptions(capacity_bytes=stated.capacity_bytes, context=replace(stated, random=True))
    findings = of_curve(foreign.curve, lambda phases: [unknown for _ in phases], options)
    findings |= {"cache_bytes": None, "cache_bytes_low": None, "cache_bytes_high": None, "kind": "read"}
    own = [doubt for doubt in findings["doubts"] if doubt.code in OF_ANY_CURVE]
    findings["doubts"] = warnings.of_foreign(foreign) + own
    return findings


def as_recording(foreign: ImportedData, findings: Writes, path: Path) -> Recording:
    """The data as if they had been recorded by a run: its series are those of the curve, without latencies."""
    columns = _columns(foreign.curve, foreign.kind)
    seconds = foreign.curve.total_seconds if foreign.curve else 0.0
    return Recording(
        suite=foreign.name, target=str(path), drive=foreign.name, seed=0, version=version(), wall_s=seconds,
        drive_time_s=seconds, capacity_bytes=0, interrupted=False, error=None, job_file=str(path), overrides=[],
        profile="", start_ns=0, facts={"device": None, "measured_by": foreign.measured_by},
        provenance=[], jobs=foreign.jobs, before={}, totals={}, time=columns, bytes=columns,
        findings=Findings(findings),
    )  # fmt: skip


def _columns(curve: Curve | None, kind: str) -> Columns:
    names = ["read_bytes", "write_bytes", "trim_bytes", "reads", "writes", "trims"]
    latencies = [f"lat_{name}_ns" for name in ("sum", "max", "p50", "p99", "p999")]
    count = curve.seconds.size if curve else 0
    columns: Columns = {name: np.zeros(count, dtype=np.uint64) for name in names + latencies}
    columns["end_ns"] = np.zeros(count, dtype=np.uint64)
    if curve is not None:
        columns["end_ns"] = np.round(np.cumsum(curve.seconds) * 1e9).astype(np.uint64)
        columns[f"{kind}_bytes"] = np.diff(np.round(curve.edges_bytes - curve.edges_bytes[0])).astype(np.uint64)
    return columns
