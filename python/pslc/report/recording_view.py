"""The view of a recording, made once for the terminal and the page; a suite says how its own is shown."""

import numpy as np

from pslc import suites
from pslc._native import version
from pslc.analysis import Writes, sentences
from pslc.base import words
from pslc.base.console import short
from pslc.figures import curves, reduce, tables, tails
from pslc.figures.picture import Axis, Line, Panel, Picture, Table
from pslc.figures.view import View
from pslc.recording import flushes
from pslc.recording.model import Recording, with_short_names
from pslc.schema.facts import Imported
from pslc.schema.warnings import notes


def of_recording(recording: Recording, label: str = "") -> View:
    """A recording as its suite shows it; that of a job file by its writes. `label` is what to call the drive."""
    recording, label = with_short_names(recording), short(label)
    if (imported := recording.facts.get("imported")) is not None:
        return _of_imported(recording, imported, label)
    drive = label or recording.drive
    took = f"{_moved(recording)} in {words.span(recording.drive_time_s)}" if recording.drive_time_s else "no series"
    if recording.is_simulated:
        took += f" of drive time, simulated in {words.span(recording.wall_s)}"
    took += f", through {recording.engine}" if recording.engine else ""
    findings = recording.findings
    lines, shown, pictures = _answers(recording)
    shown += _of_the_drive_s_silences(recording)
    if "repeats" in findings:
        shown.append(tables.of_repeats(findings["repeats"]))
    if recording.is_twin:
        shown, pictures = tails.tables_without_tails(shown), tails.pictures_without_tails(pictures)
    is_quick = recording.scope.get("quick") and recording.suite in suites.names()
    quick = [f"--quick: {suites.load(recording.suite).QUICK}"] if is_quick else []
    return View(
        title=f"{recording.facts.get('trace', {}).get('file', recording.suite)} on {drive}",
        drive=drive,
        conditions=recording.conditions,
        took=took,
        sentences=lines,
        tables=shown,
        pictures=pictures,
        warnings=[*notes(quick), *recording.warnings],
        recording=recording,
        question=suites.question(recording.suite) if recording.suite in (*suites.names(), *suites.OF_FILES) else "",
        measured=_measured(recording),
    )


def _answers(recording: Recording) -> tuple[list[str], list[Table], list[Picture]]:
    """Sentences, tables and pictures of the findings; of a suite that tells nothing here, what its jobs did."""
    findings = recording.findings
    suite = suites.of(recording)
    if suites.tells_nothing(recording):
        return [], [tables.of_jobs(recording.jobs)], curves.of_any(recording)
    if suite is not None:
        return suite.sentences(findings), suite.tables(findings), suite.pictures(recording)
    writes = findings.typed(Writes)
    lines, shown = sentences.describe(writes), tables.of_writes(writes)
    pictures = curves.of_writes(recording, writes["phases"])
    if not writes["phases"]:
        pictures.sort(key=lambda picture: picture.name == "speed-bytes")
    if len(recording.jobs) > 1 or not writes["phases"]:
        shown.append(tables.of_jobs(recording.jobs))
    lines += [*flushes.of_jobs(recording.jobs), *sentences.verified(recording.jobs)]
    return lines, shown, pictures


def _of_the_drive_s_silences(recording: Recording) -> list[Table]:
    """Tables of when a real drive did not answer, or pslc did not run, and of what the kernel said of the drive."""
    stalls, lines = recording.findings.get("stalls"), recording.facts.get("kernel")
    return [
        *([tables.of_stalls(stalls)] if stalls else []),
        *([tables.of_gaps(recording.gaps)] if recording.gaps else []),
        *([tables.of_kernel(lines)] if lines else []),
    ]


def _measured(recording: Recording) -> str:
    """Sentence on who measured."""
    own = f"pslc {recording.version}"
    if recording.is_simulated:
        return (
            f"Simulated by {own} with seed {recording.seed}, in {words.span(recording.wall_s)}. The same profile, jobs "
            "and seed give the same recording, to the byte."
        )
    if program := recording.facts.get("measured_by"):
        return f"Measured by {program}, and read by {own} from {recording.target}."
    if "watch" in recording.facts:
        return f"Watched by {own}, as the system counted."
    return f"Measured on a real drive by {own} with seed {recording.seed}, through {recording.facts.get('engine')}."


def _of_imported(recording: Recording, about: Imported, label: str) -> View:
    """View of another program's data."""
    findings = recording.findings.typed(Writes)
    program, moved = recording.facts["measured_by"], int(recording.bytes[f"{about['kind']}_bytes"].sum())
    return View(
        title=label or about["name"],
        drive=label or about["name"],
        conditions=f"measured by {program}",
        took=f"{words.size(moved)} in {words.span(recording.drive_time_s + about['idle_s'])}" if moved else "no series",
        sentences=[
            *([f"Read as: {about['read_as']}."] if about["read_as"] else []),
            *flushes.of_jobs(recording.jobs),
            *sentences.describe(findings),
        ],
        tables=[
            *tables.of_writes(findings),
            *([tables.of_jobs(recording.jobs)] if recording.jobs else []),
            *([tables.of_results(about["rows"])] if about["rows"] else []),
        ],
        pictures=[_speed(recording, about["kind"])] if moved and findings["phases"] else [],
        warnings=recording.warnings,
        measured=f"Measured by {program}, and read by pslc {version()}.",
    )


def _moved(recording: Recording) -> str:
    moved = [
        f"{words.size(count)} {verb}"
        for count, verb in ((recording.written_bytes, "written"), (recording.read_bytes, "read"))
        if count
    ]
    return " and ".join(moved) or "nothing moved"


def _speed(recording: Recording, kind: str) -> Picture:
    done = ("written", "Write speed by data written") if kind == "write" else ("read", "Read speed by data read")
    moved, ends_ns = recording.bytes[f"{kind}_bytes"].astype(np.float64), recording.bytes["end_ns"].astype(np.float64)
    seconds = np.maximum(np.diff(ends_ns, prepend=0.0) / 1e9, 1e-9)
    line = reduce.smoothed(Line(kind, np.cumsum(moved), moved / seconds), moved)
    return Picture("speed-bytes", done[1], Axis(done[0], "B"), (Panel(curves.SPEED, [line]),))
