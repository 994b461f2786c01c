"""The view of a recording, made once for the terminal and the page; a suite says how its own is shown."""

from __future__ import annotations

from pslc import suites
from pslc._native import version
from pslc.analysis import Curve, Writes, sentences
from pslc.base import words
from pslc.figures import curves, tables, tails
from pslc.figures.picture import Line, Picture
from pslc.figures.view import View
from pslc.formats import ImportedData
from pslc.recording import imported
from pslc.recording.store import Recording


def of_recording(recording: Recording, label: str = "") -> View:
    """A recording as its suite shows it; that of a job file by its writes. `label` is what to call the drive."""
    drive = label or recording.drive
    took = f"{_moved(recording)} in {words.span(recording.drive_time_s)}" if recording.drive_time_s else "no series"
    if recording.is_simulated:
        took += f" of drive time, simulated in {words.span(recording.wall_s)}"
    findings = recording.findings
    suite = suites.of(recording)
    if suite is not None:
        lines, shown, pictures = suite.sentences(findings), suite.tables(findings), suite.pictures(recording)
    else:
        writes = findings.typed(Writes)
        lines, shown = sentences.describe(writes), tables.of_writes(writes)
        pictures = curves.of_writes(recording, writes["phases"])
        if not writes["phases"]:
            pictures.sort(key=lambda picture: picture.name == "speed-bytes")
        if len(recording.jobs) > 1 or not writes["phases"]:
            shown.append(tables.of_jobs(recording.jobs))
        lines += sentences.verified(recording.jobs)
    if "repeats" in findings:
        shown.insert(0, tables.of_repeats(findings["repeats"]))
    if recording.is_twin:
        shown, pictures = tails.tables_without_tails(shown), tails.pictures_without_tails(pictures)
    notes = recording.notes
    if recording.scope.get("quick"):
        notes = [f"--quick: {suites.load(recording.suite).QUICK}", *notes]
    return View(
        title=f"{recording.facts.get('trace', {}).get('file', recording.suite)} on {drive}",
        drive=drive,
        conditions=recording.conditions,
        took=took,
        sentences=lines,
        tables=shown,
        pictures=pictures,
        doubts=findings["doubts"],
        notes=notes,
        recording=recording,
        question=suites.question(recording.suite) if recording.suite in (*suites.names(), *suites.OF_FILES) else "",
        measured=_measured(recording),
    )


def _measured(recording: Recording) -> str:
    """Who measured, in a sentence."""
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


def of_foreign(foreign: ImportedData, findings: Writes) -> View:
    """View of another program's data."""
    curve = foreign.curve
    return View(
        title=foreign.name,
        drive=foreign.name,
        conditions=f"measured by {foreign.measured_by}",
        took=f"{words.size(curve.total_bytes)} in {words.span(float(curve.seconds.sum()))}" if curve else "no series",
        sentences=[*([f"Read as: {foreign.read_as}."] if foreign.read_as else []), *sentences.describe(findings)],
        tables=[
            *tables.of_writes(findings),
            *([tables.of_jobs(foreign.jobs)] if foreign.jobs else []),
            *([tables.of_results(foreign.rows)] if foreign.rows else []),
        ],
        pictures=[_speed(curve, foreign.kind)] if curve and findings["phases"] else [],
        doubts=findings["doubts"],
        notes=[*foreign.notes, *imported.bad_lines_note(foreign)],
        measured=f"Measured by {foreign.measured_by}, and read by pslc {version()}.",
    )


def _moved(recording: Recording) -> str:
    moved = [
        f"{words.size(count)} {verb}"
        for count, verb in ((recording.written_bytes, "written"), (recording.read_bytes, "read"))
        if count
    ]
    return " and ".join(moved) or "nothing moved"


def _speed(curve: Curve, kind: str) -> Picture:
    done = "written" if kind == "write" else "read"
    line = Line(kind, curve.edges_bytes[1:] / 1e9, curve.bytes_per_s / 1e6)
    return Picture("speed-bytes", f"Speed against GB {done}", f"GB {done}", "MB/s", [line])
