"""A run: a suite or a job file on a target, and the recording that comes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

from pslc import probe, suites
from pslc._native import RealDrive, SimDrive, engine_ceiling, version
from pslc.errors import refusal
from pslc.plan import Plan, plan
from pslc.recording import Columns, Recording
from pslc.target import RealOptions, find_target

Progress = Callable[[dict[str, Any]], bool]
"""Called about ten times a second with `done_bytes`, `total_bytes`, `drive_time_ns`, `total_time_ns` and
`bytes_per_s`; the run ends when it returns False."""


Confirm = Callable[[Plan], bool]
"""Asked before anything is written to a real drive; the run is not made when it returns False."""

Keep = Callable[[Recording], None]
"""Called every few seconds of a run on a real drive with the recording so far."""


def run(
    what: str | Path,
    *,
    on: str,
    seed: int = 0,
    options: Sequence[tuple[str, str]] = (),
    real: RealOptions | None = None,
    progress: Progress | None = None,
    confirm: Confirm | None = None,
    keep: Keep | None = None,
) -> Recording:
    """Run a suite (`"fill"`) or an fio job file (`"my.fio"`) on a target and analyse what it did.

    Args:
        on: the target: `sim:NAME[,key=value...]`, a file, a block device.
        seed: of every random choice; the same seed gives the same requests.
        options: fio options, which win over those of every job.
        real: what must be said before anything is written to a real drive.
        progress: see `Progress`.
        confirm: see `Confirm`.
        keep: see `Keep`.

    Raises:
        PslcError: the target, the suite or the job file cannot be used.
        DeclinedError: `confirm` returned False.
    """
    suite = str(what) if str(what) in suites.names() else None
    text = None if suite else _job_file(what)
    target = find_target(on, real)
    source = f"{suite}.fio" if suite else str(what)
    job_file = suites.load(suite).jobs(target) if suite else str(text)
    if target.is_real:
        made = plan(target, job_file, source, list(options))
        if confirm is not None and not confirm(made):
            raise DeclinedError
    # These take longer to import than most drives to fill, and the simulation leaves the interpreter alone.
    imports = Thread(target=_import_ahead, daemon=True)
    imports.start()
    drive = target.open()
    common: dict[str, Any] = {
        "suite": suite or str(what),
        "target": target.spec,
        "drive": target.name,
        "seed": seed,
        "version": version(),
        "capacity_bytes": drive.capacity_bytes,
        "job_file": job_file,
        "overrides": list(options),
        "profile": target.profile,
        "facts": dict(target.facts),
        "provenance": target.provenance,
    }
    if isinstance(drive, SimDrive):
        result = drive.run(job_file, source, list(options), seed, progress)
    else:
        result = _run_real(drive, job_file, source, list(options), seed, progress, keep, common)
    recording = _recording(common, result)
    imports.join()
    return _analysed(recording, suite)


class DeclinedError(Exception):
    """The run was not made: nobody wanted it after having seen the plan."""


def _run_real(
    drive: RealDrive,
    job_file: str,
    source: str,
    options: list[tuple[str, str]],
    seed: int,
    progress: Progress | None,
    keep: Keep | None,
    common: dict[str, Any],
) -> dict[str, Any]:
    """Temperature and SMART before and after, the engine's own ceiling, and what is kept on the way."""
    facts = common["facts"]
    facts["before"], facts["engine_ceiling_iops"] = probe.moment(facts), engine_ceiling()

    def kept(so_far: dict[str, Any]) -> None:
        if keep is not None:
            so_far["wall_s"] = so_far["drive_time_ns"] / 1e9
            keep(_recording(common, so_far))

    result = drive.run(job_file, source, options, seed, progress, kept if keep else None)
    facts["after"], facts["engine"] = probe.moment(facts), drive.engine
    return result


def _recording(common: dict[str, Any], result: dict[str, Any]) -> Recording:
    return Recording(
        **common,
        wall_s=result["wall_s"],
        drive_time_s=result["drive_time_ns"] / 1e9,
        interrupted=result["interrupted"],
        error=result["error"],
        start_ns=result["start_ns"],
        jobs=result["jobs"],
        before=result["before"],
        totals=result["totals"],
        time=_columns(result["series"]["time"]),
        bytes=_columns(result["series"]["bytes"]),
    )


def _analysed(recording: Recording, suite: str | None) -> Recording:
    from pslc import doubts
    from pslc.findings import of_writes

    recording.findings = suites.load(suite).findings(recording) if suite else of_writes(recording)
    if not recording.is_simulated:
        recording.findings["doubts"] = doubts.of_run(recording) + recording.findings["doubts"]
    return recording


def _columns(raw: dict[str, bytes]) -> Columns:
    return {name: np.frombuffer(values, dtype="<u8") for name, values in raw.items()}


def _import_ahead() -> None:
    for module in ("ruptures.detection", "pyarrow.parquet", "pslc.findings"):
        import_module(module)


def _job_file(what: str | Path) -> str:
    path = Path(what)
    if not path.suffix and not path.exists():
        hint = f"the suites are {', '.join(suites.names())}; a job file is named with its ending, such as my.fio"
        raise refusal(f"unknown suite {what}", hint)
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a text file"
        raise refusal(f"{what}: {why}", "give the path of an fio job file, or a suite: pslc suites") from None
