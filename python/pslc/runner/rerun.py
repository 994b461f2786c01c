"""A recording of a simulated drive, repeated and compared to the byte."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Final

from pslc import suites
from pslc._native import SimDrive
from pslc.base import gate, tabular
from pslc.base.errors import RecordingError
from pslc.device.region import Scope
from pslc.device.target import Target, of_drive
from pslc.recording import store
from pslc.recording.model import Recording
from pslc.runner.options import RunOptions
from pslc.runner.run import run_on
from pslc.runner.subject import JobFile, Suite
from pslc.schema.facts import Facts

NOT_COMPARED: Final = ("began_unix_ns", "wall_s", "version", "profile")
"""Keys of run.json for the machine and the day of a run, and the profile, of which the drive is made again: a newer
pslc adds keys to it. All else follows from the drive, the jobs and the seed."""


def differences(folder: Path) -> list[str]:
    """Repeat a recording, and name what came out otherwise: keys of run.json, and series.parquet. Empty: nothing.

    Raises:
        PslcError: there is no recording, or not one that can be repeated from what it holds alone.
    """
    recording = store.load(folder)
    _refuse_unrepeatable(recording, folder)
    name, overrides = recording.suite, tuple(recording.overrides)
    subject = Suite(name, overrides) if name in suites.names() else JobFile(recording.job_file, name, overrides)
    options = RunOptions(seed=recording.seed, options=recording.overrides, scope=Scope.of(recording.scope))
    again = run_on(_drive_of(recording), subject, options)
    before, after = _documents(recording), _documents(again)
    keys = [key for key in before.keys() | after.keys() if before.get(key) != after.get(key)]
    series = gate.data(folder / "series.parquet", store.FILE)
    return sorted(keys) + (["series.parquet"] if tabular.to_parquet(again.series) != series else [])


def _drive_of(recording: Recording) -> Target:
    """The simulated drive whose profile a recording holds, fresh: its file may have changed since, or be gone."""
    drive = SimDrive("the profile in run.json", recording.profile, {}, [])
    drive.scale = recording.facts.get("scale")
    facts: Facts = {**recording.facts, **drive.facts(), "notes": recording.facts.get("notes", [])}
    target = of_drive(drive, recording.target, recording.suite)
    return replace(target, facts=facts, provenance=recording.provenance)


def _documents(recording: Recording) -> dict[str, str]:
    """Each key of run.json as its text, without `NOT_COMPARED`, which each of its steps has too."""
    document = recording.document()
    document["steps"] = [_documents(part) for part in recording.parts if part is not recording]
    return {key: json.dumps(value) for key, value in document.items() if key not in NOT_COMPARED}


def _refuse_unrepeatable(recording: Recording, folder: Path) -> None:
    """Refuse a recording that depends on more than it holds.

    Raises:
        RecordingError: it is of a real drive, of a drive in a file, a trace or a policy in Python, or it is not whole.
    """
    reasons = {
        "a real drive": not recording.is_simulated,
        "an array, of whose drives it holds the first": "array" in recording.facts,
        "a drive in a file, which has changed since": not recording.target.startswith("sim:"),
        "a trace, which it does not hold": "trace" in recording.facts,
        "a policy in Python, which it does not hold": "policy" in recording.facts or "victim_rule" in recording.facts,
        "a run that did not end": recording.interrupted or bool(recording.error),
    }
    for what, holds in reasons.items():
        if holds:
            raise RecordingError(f"{folder} is of {what}", "pslc rerun repeats suites and job files on sim:NAME")
