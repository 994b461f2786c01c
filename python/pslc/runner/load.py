"""Recordings with their findings, whenever and by whichever version they were made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from pslc import formats, suites
from pslc._native import version
from pslc.analysis import Writes
from pslc.base import gate
from pslc.base.errors import RecordingError
from pslc.recording import imported, warnings
from pslc.recording.comparison import Side
from pslc.recording.store import CHANGED, Findings, Recording
from pslc.recording.wear import of_load
from pslc.recording.writes import of_writes
from pslc.schema.warnings import documented
from pslc.watch.recorded import of_foreign

if TYPE_CHECKING:
    from pydantic import TypeAdapter


def opened(folder: Path) -> Recording:
    """The recording in a folder. One that was cut off has no findings yet, and another version of pslc may have found
    other things: these are analysed now, from what was recorded.

    Raises:
        PslcError: there is no recording in `folder`, or it is damaged.
    """
    recording = Recording.load(folder)
    if recording.findings and recording.version == version():
        own = {name: finding for name, finding in recording.findings.items() if name != "repeats"}
        gate.fits(documented(own), f"{folder / 'run.json'}: findings", CHANGED, _schema(suites.of(recording)))
        return recording
    repeats = {name: finding for name, finding in recording.findings.items() if name == "repeats"}
    finding = analysed(recording)
    finding.findings |= repeats
    return finding


def load(folder: str | Path) -> Recording:
    """The recording in the folder of a run, with its findings: `pslc.load("runs/20260504-101500-fill")`.

    Raises:
        PslcError: there is no recording in `folder`, or it is damaged.
    """
    return opened(Path(folder))


def _schema(suite: suites.Suite | None) -> TypeAdapter[Any]:
    """What the findings of a suite are; of a job file: those of its writes."""
    return _adapter(get_type_hints(suite.findings)["return"] if suite else Writes)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def read_sides(path: Path, hints: formats.ImportOptions) -> list[Side]:
    """A run folder, a file of another program's, or each curve of a picture.

    Raises:
        PslcError: there is no recording in it.
    """
    if not path.is_file():
        return [read_side(path)]
    return [_foreign_side(path, data) for data in formats.read_each([path], hints)]


def _foreign_side(path: Path, data: formats.ImportedData) -> Side:
    if data.at_work:
        return Side(path.name, (analysed(of_foreign(data, path)),), path=path)
    recording = imported.as_recording(data, imported.analyzed(data), path)
    return Side(data.name if data.chart else path.name, (recording,), path, data)


def read_side(folder: Path) -> Side:
    """A run folder, with the repeats within it (`pslc run --repeat`); or a file of another program's.

    Raises:
        PslcError: there is no recording in it.
    """
    if folder.is_file():
        return _foreign_side(folder, formats.read([folder], formats.ImportOptions()))
    inside = sorted(folder.glob("repeat-*/run.json"), key=lambda path: int(path.parent.name.rpartition("-")[2]))
    return Side(
        folder.name, tuple(opened(at) for at in (folder, *(path.parent for path in inside))), path=folder.resolve()
    )


def catalogue(folder: Path) -> list[Path]:
    """The run folders in a folder that is none itself, as `pslc run all` makes it."""
    if (folder / "run.json").exists():
        return []
    return sorted(path.parent for path in folder.glob("*/run.json"))


def read_suites(folders: Sequence[Path]) -> dict[str, list[Side]]:
    """Catalogues, and recordings of single suites beside them: the sides of each suite that all of them have.

    Raises:
        PslcError: there is none, or a recording cannot be read.
    """
    catalogues = []
    for folder in folders:
        sides = [read_side(run) for run in catalogue(folder) or [folder]]
        catalogues.append({side.recording.suite: replace(side, path=folder.resolve()) for side in sides})
    shared = [suite for suite in catalogues[0] if all(suite in other for other in catalogues)]
    if not shared:
        has = "; ".join(f"{folder} has {', '.join(of)}" for folder, of in zip(folders, catalogues, strict=True))
        raise RecordingError("these recordings have no suite in common", has)
    return {suite: [of[suite] for of in catalogues] for suite in shared}


def _of_job_file(recording: Recording) -> Writes:
    """Its writes, and on a simulated drive how long that lasts at this load."""
    writes = of_writes(recording)
    return {**writes, **of_load(recording)} if recording.is_simulated else writes


def analysed(recording: Recording) -> Recording:
    """The recording with its findings, as its suite or job file has them."""
    suite = suites.of(recording)
    recording.findings = Findings(suites.findings_of(suite, recording) if suite else _of_job_file(recording))
    recording.findings.doubts = (
        *warnings.of_its_end(recording),
        *warnings.of_its_host(recording),
        *warnings.of_its_wear(recording),
        *warnings.of_its_scale(
            recording, suites.unlike_scaled(recording.suite) if recording.suite in suites.names() else None
        ),
        # A drive that is watched does its own work: there is no measurement to doubt.
        *([] if recording.is_simulated or "watch" in recording.facts else warnings.of_run(recording)),
        *recording.findings.doubts,
    )
    return recording
