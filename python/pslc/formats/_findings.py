"""Findings of other programs' data, and the data as recordings."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from pslc._native import version
from pslc.analysis import (
    AnalysisOptions,
    AnalysisWarning,
    CauseEstimate,
    Curve,
    Explain,
    MeasurementContext,
    Writes,
    cause_of_read,
    explain_read,
)
from pslc.analysis.load import Load
from pslc.analysis.thresholds import FASTEST_LINK_BYTES_PER_S, FASTEST_READ_BYTES_PER_S
from pslc.base import words
from pslc.base.errors import RecordingError
from pslc.formats import ChartReading, FileContents, _reading_error
from pslc.recording import warnings as checks
from pslc.recording import watched
from pslc.recording.model import Columns, Findings, Recording
from pslc.recording.writes.findings import of_curve, of_outside
from pslc.schema.facts import Facts, Imported, Watched
from pslc.schema.imports import ImportOptions
from pslc.schema.warnings import Level, MeasurementWarning

RANDOM_NAME: Final = re.compile(
    r"(?<![a-z])(?:random|rand|rnd)[-_ ]?\d*k?[-_ ]?(?:w|write|writes|rw|io)?(?![a-z])", re.IGNORECASE
)
"""Pattern in the name of a log of random writes: fio's word, or a common one."""
NOTHING_STATED: Final = ImportOptions()
OF_ANY_CURVE: Final = tuple(
    warning.code
    for warning in (
        AnalysisWarning.FEW_BINS,
        AnalysisWarning.SHORT_PHASE,
        AnalysisWarning.GAPS,
        AnalysisWarning.UNSTEADY,
    )
)
"""Codes of what may be wrong with a curve of reads as well."""


@dataclass
class ChartRecording(Recording):
    """A curve of a picture, which knows how it was read."""

    reading: ChartReading | None = None


def analyzed(foreign: FileContents, options: ImportOptions = NOTHING_STATED) -> Writes:
    """The findings of data of one run; see `pslc.recording.writes.findings.of_writes`.

    Args:
        options: what the user says of the drive and the workload; the data tell the rest.

    Raises:
        PslcError: they tell of nothing.
    """
    if foreign.curve is None and not foreign.jobs and not foreign.rows:
        hint = "give a log of writes or reads, or a table of speed against what was written"
        raise RecordingError(f"{foreign.name} holds no writes and no reads", hint)
    stated = MeasurementContext(
        capacity_bytes=options.capacity_bytes,
        link_bytes_per_s=options.link_bytes_per_s,
        random=options.random,
        prefilled=options.prefilled,
    )
    if foreign.kind == "read":
        return _of_read(foreign, stated)
    if foreign.stands_still:
        unknown = CauseEstimate("unknown", 0.0, "nothing moved for a part of the time, and who waited is not known")
        return _without_causes(foreign, stated, lambda phases: [unknown for _ in phases])
    random = foreign.random if stated.random is None else stated.random
    by_name = random is None and RANDOM_NAME.search(foreign.name) is not None
    context = replace(
        stated,
        random=True if by_name else random,
        buffered=foreign.buffered,
        celsius=foreign.celsius,
        busy=foreign.busy,
        synced_bytes=foreign.synced_bytes,
        counted_by=foreign.counted_by,
        is_direct=foreign.is_direct,
    )
    settings = AnalysisOptions(capacity_bytes=stated.capacity_bytes, context=context)
    findings = of_outside(foreign.curve, context, settings)
    exactness = foreign.chart or foreign.exactness
    if exactness is not None and foreign.curve is not None:
        _reading_error.widen(findings, foreign.curve, exactness)
    named = [checks.RecordingWarning.RANDOM_NAME.of(file=foreign.name)] if by_name else []
    findings["warnings"] = named + warnings_of(foreign) + findings["warnings"]
    return findings


def is_random(foreign: FileContents, stated: bool | None = None) -> bool:
    """Whether the writes were random: as stated, as the data tell, or as the name of the log says."""
    random = foreign.random if stated is None else stated
    return RANDOM_NAME.search(foreign.name) is not None if random is None else random


def _bad_lines_note(foreign: FileContents) -> list[str]:
    """A note on lines that were left out; none where all were read."""
    return [f"{foreign.bad_lines} lines could not be read and were left out"] if foreign.bad_lines else []


def _of_read(foreign: FileContents, stated: MeasurementContext) -> Writes:
    """The phases of a read; one that goes on over the address is explained."""
    curve = None if is_random(foreign, stated.random) else foreign.curve
    explanation = explain_read(curve, stated.link_bytes_per_s) if curve else None
    findings = _without_causes(
        foreign, stated, lambda phases: [cause_of_read(explanation, phase.bytes_per_s) for phase in phases]
    )
    findings["kind"] = "read"
    if explanation is not None:
        findings["read_explanation"] = explanation
    return findings


def _without_causes(foreign: FileContents, stated: MeasurementContext, explain: Explain) -> Writes:
    """The phases of a curve that tells nothing of writes; no cache is concluded from them."""
    options = AnalysisOptions(capacity_bytes=stated.capacity_bytes, context=replace(stated, random=True))
    findings = of_curve(foreign.curve, explain, options)
    findings |= {"cache_bytes": None, "cache_bytes_low": None, "cache_bytes_high": None}
    own = [warning for warning in findings["warnings"] if warning.code in OF_ANY_CURVE]
    findings["warnings"] = warnings_of(foreign) + own
    return findings


def warnings_of(foreign: FileContents) -> list[MeasurementWarning]:
    """The warnings about another program's data."""
    warnings = foreign.of_level(Level.WARNING)
    page_cache = checks.RecordingWarning.PAGE_CACHE.code
    warnings += [each for each in checks.of_jobs(foreign.jobs) if foreign.tells_options or each.code != page_cache]
    if foreign.zeroes:
        warnings.append(checks.RecordingWarning.ZEROES.of())
    if foreign.clock_back_s:
        clock = words.span(foreign.clock_back_s)
        warnings.append(checks.RecordingWarning.CLOCK.of(span=clock, file=foreign.name))
    return [*warnings, *_faster_than_drives(foreign)]


def _faster_than_drives(foreign: FileContents) -> list[MeasurementWarning]:
    """The fastest of what no drive is fast enough for."""
    reads, writes = checks.speeds(foreign.jobs, "read"), checks.speeds(foreign.jobs, "write")
    figures = [("a job", "read", max(reads)), ("a job", "write", max(writes))]
    figures += [(f"{row['test']} {row['kind']}", row["kind"], row["bytes_per_s"] or 0.0) for row in foreign.rows]
    if foreign.curve is not None:
        figures.append(("most of the curve", foreign.kind, float(np.median(foreign.curve.bytes_per_s))))
    fastest = {"write": FASTEST_LINK_BYTES_PER_S}
    beyond = [(speed, what) for what, kind, speed in figures if speed > fastest.get(kind, FASTEST_READ_BYTES_PER_S)]
    return [
        checks.RecordingWarning.NO_LINK.of(what=what, speed=words.speed(speed)) for speed, what in sorted(beyond)[-1:]
    ]


def as_recording(foreign: FileContents, path: Path, options: ImportOptions) -> Recording:
    """The data as a recording, with findings unless they are of a drive at work."""
    if foreign.at_work:
        return _at_work(foreign, path)
    columns = _columns(foreign.curve, foreign.kind)
    seconds = foreign.curve.total_seconds if foreign.curve else 0.0
    about: Imported = {
        "name": foreign.name,
        "suite": foreign.about.suite if foreign.about else "",
        "read_as": foreign.read_as,
        "kind": foreign.kind,
        "random": is_random(foreign, options.random),
        "idle_s": foreign.idle_s,
        "bad_lines": foreign.bad_lines,
        "rows": foreign.rows,
    }
    notes = [*map(str, foreign.of_level(Level.NOTE)), *_bad_lines_note(foreign)]
    facts: Facts = {"device": None, "measured_by": foreign.measured_by, "notes": notes, "imported": about}
    fields: dict[str, Any] = {"reading": foreign.chart} if foreign.chart else {}
    return (ChartRecording if foreign.chart else Recording)(
        suite=foreign.name, target=str(path), drive=foreign.name, seed=0, version=version(), wall_s=seconds,
        drive_time_s=seconds, capacity_bytes=int(options.capacity_bytes or 0), interrupted=False, error=None,
        job_file=str(path), overrides=[], profile="", start_ns=0, facts=facts, provenance=[], jobs=foreign.jobs,
        before={}, totals={}, time=columns, bytes=columns, findings=Findings(analyzed(foreign, options)), **fields,
    )  # fmt: skip


def _at_work(foreign: FileContents, path: Path) -> Recording:
    """A drive at work, from another program's counters."""
    nothing = np.zeros(0)
    load = foreign.load or Load(**dict.fromkeys(Load.__dataclass_fields__, nothing))
    ends = [0.0, float(load.seconds.sum()) or foreign.logs_apart_s]
    smart = [(time_s, log) for time_s, log in zip(ends, foreign.health[:1] + foreign.health[1:][-1:], strict=False)]
    about: Watched = {
        "smart": smart,
        "changes": [],
        "file_systems": [],
        "waits": foreign.waits,
        "tells_busy": foreign.tells_busy,
    }
    taken = [f"read as {foreign.read_as}"] if foreign.read_as else []
    gravest_first = sorted(foreign.warnings, key=lambda warning: warning.level is Level.NOTE)
    notes = [*taken, *map(str, gravest_first), *_bad_lines_note(foreign)]
    facts: Facts = {"device": None, "notes": notes, "watch": about, "measured_by": foreign.measured_by}
    samples = watched.Samples.of(load)
    return watched.recorded(path, facts, samples, round(foreign.began_unix * 1e9), name=foreign.name)


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
