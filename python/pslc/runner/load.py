"""Recordings with their findings, whenever and by whichever version they were made."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_type_hints

from pslc import extras, suites
from pslc._native import version
from pslc.analysis import Writes
from pslc.base import gate
from pslc.base.errors import RecordingError
from pslc.device import scaling
from pslc.extras import Service
from pslc.recording import members, stalls, store
from pslc.recording import warnings as checks
from pslc.recording.comparison import Side
from pslc.recording.contradictions import contradictions
from pslc.recording.model import Findings, Recording, with_short_names
from pslc.recording.store import CHANGED
from pslc.recording.wear import of_load
from pslc.recording.writes.findings import of_writes
from pslc.runner import predicted
from pslc.schema.imports import ChartOptions, ImportOptions
from pslc.schema.warnings import documented

if TYPE_CHECKING:
    from pydantic import TypeAdapter


NOTHING_STATED: Final = ImportOptions()
REPEAT: Final = re.compile(r"repeat-([0-9]{1,9})")
"""Name of the folder of a further run of `pslc run --repeat`; other folders in a recording are not its own."""


def opened(folder: Path) -> Recording:
    """The recording in a folder. One that was cut off has no findings yet, and another version of pslc may have found
    other things: these are analysed now, from what was recorded. So is one of a real drive: it may not be repeated, and
    what an older build said of it may be more than is known.

    Raises:
        PslcError: there is no recording in `folder`, or it is damaged.
    """
    recording = with_short_names(store.load(folder))
    # What was multiplied back is not analysed again: it has the write buffer of a smaller drive.
    is_current = recording.version == version() or ("scale" in recording.facts and _is_scalable(recording))
    if recording.findings and is_current and recording.is_simulated:
        own = {name: finding for name, finding in recording.findings.items() if name != "repeats"}
        gate.fits(documented(own), f"{folder / 'run.json'}: findings", CHANGED, _schema(suites.of(recording)))
        return recording
    repeats = {name: finding for name, finding in recording.findings.items() if name == "repeats"}
    finding = analysed(recording)
    finding.findings |= repeats
    return finding


def load(
    path: str | Path,
    *,
    x: str | None = None,
    y: str | None = None,
    series: str | None = None,
    capacity_bytes: float | None = None,
) -> Recording:
    """The recording in the folder of a run, `pslc.load("runs/20260504-101500-fill")`, or in a file that `pslc analyze`
    reads, with its findings.

    Args:
        x, y: columns of a table, `COLUMN=UNIT`, or ranges of the axes of a picture: `0:2000GB`, `0:7000MB/s`.
        series: color of a picture's curve, where it shows several.
        capacity_bytes: capacity of the drive of a file.

    Raises:
        PslcError: there is no recording, it is damaged, or a picture shows several.
    """
    if Path(path).is_dir() or not Path(path).exists():
        return opened(Path(path))
    chart = ChartOptions((series,) if series else ())
    return read_one([Path(path)], ImportOptions(x, y, capacity_bytes=capacity_bytes, chart=chart))


def _schema(suite: suites.Suite | None) -> TypeAdapter[Any]:
    """Schema of a suite's findings; of a job file: those of its writes."""
    return store.adapter(get_type_hints(suite.findings)["return"] if suite else Writes)


def read_files(paths: Sequence[Path], options: ImportOptions) -> list[Recording]:
    """Recordings of another program's files of one run; of a picture one for each curve.

    Raises:
        PslcError: there is no recording in them, or nothing that reads them.
    """
    recordings = [with_short_names(recording) for recording in extras.service(Service.FILES).read(paths, options)]
    return [analysed(recording) if "watch" in recording.facts else recording for recording in recordings]


def read_one(paths: Sequence[Path], options: ImportOptions) -> Recording:
    """The one recording of another program's files.

    Raises:
        PslcError: a picture shows several; or as `read_files`.
    """
    recordings = read_files(paths, options)
    if len(recordings) > 1:
        names = [recording.drive.removeprefix(f"{paths[0].name}, ") for recording in recordings]
        hint = f"name one, for example --series {names[0]}"
        raise RecordingError(f"{paths[0]} shows {len(names)} curves: {gate.listed(names)}", hint)
    return recordings[0]


def read_sides(path: Path, options: ImportOptions = NOTHING_STATED) -> list[Side]:
    """A run folder with its repeats (`pslc run --repeat`), a file of another program's, or each curve of a picture.

    Raises:
        PslcError: there is no recording in it.
    """
    if not path.is_file():
        return [read_side(path)]
    recordings = read_files([path], options)
    names = [recording.drive for recording in recordings] if len(recordings) > 1 else [path.name]
    return [Side(name, (recording,), path) for name, recording in zip(names, recordings, strict=True)]


def read_side(folder: Path) -> Side:
    """A run folder, with the repeats within it (`pslc run --repeat`).

    Raises:
        PslcError: there is no recording in it.
    """
    numbered = {
        int(name[1]): at.parent for at in folder.glob("*/run.json") if (name := REPEAT.fullmatch(at.parent.name))
    }
    folders = [folder, *(numbered[number] for number in sorted(numbered))]
    return Side(folder.name, tuple(map(opened, folders)), path=folder.resolve())


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
        sides = [side for run in catalogue(folder) or [folder] for side in read_sides(run)]
        catalogues.append({side.recording.suite: replace(side, path=folder.resolve()) for side in sides})
    shared = [suite for suite in catalogues[0] if all(suite in other for other in catalogues)]
    if not shared:
        has = "; ".join(f"{folder} has {', '.join(of)}" for folder, of in zip(folders, catalogues, strict=True))
        raise RecordingError("these recordings have no suite in common", has)
    return {suite: [of[suite] for of in catalogues] for suite in shared}


def _of_job_file(recording: Recording) -> Writes:
    """Findings of a job file: its writes, and on a simulated drive how long that lasts at this load."""
    writes = of_writes(recording)
    return {**writes, **of_load(recording)} if recording.is_simulated else writes


def analysed(recording: Recording) -> Recording:
    """The recording with its findings, as its suite or job file has them."""
    suite = suites.of(recording)
    recording.findings = Findings(suites.findings_of(suite, recording) if suite else _of_job_file(recording))
    if "stalls" in recording.facts:
        recording.findings["stalls"] = stalls.of_recording(recording)
    is_suite = recording.suite in suites.names()
    is_measured = not recording.is_simulated and not {"watch", "read_back"} & recording.facts.keys()
    unlike_scaled = suites.unlike_scaled(recording.suite) if is_suite else None
    rests = checks.of_its_rests(recording) if not is_suite or suites.has_rests(recording.suite) else []
    recording.findings.warnings = (
        *contradictions(recording),
        *checks.of_its_end(recording),
        *checks.of_its_answers(recording),
        *checks.of_its_host(recording),
        *checks.of_its_computer(recording),
        *checks.of_its_wear(recording),
        *checks.of_its_scale(recording, unlike_scaled),
        # A drive that is watched or read back does its own work: there is no measurement to warning.
        *(checks.of_run(recording) if is_measured else []),
        *recording.findings.warnings,
        *rests,
        *predicted.of_its_parts(recording),
        *members.of_its_members(recording),
    )
    return scaling.whole(recording) if "scale" in recording.facts and _is_scalable(recording) else recording


def _is_scalable(recording: Recording) -> bool:
    """Whether what was done is as much smaller as a scaled drive: by suites, unless they say otherwise."""
    is_suite = recording.suite in suites.names() and "trace" not in recording.facts
    return is_suite and suites.unlike_scaled(recording.suite) is None
