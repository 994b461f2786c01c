"""A run: a suite or a job file on a target, and the recording that comes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

from pslc import suites
from pslc._native import version
from pslc.errors import refusal
from pslc.recording import Columns, Recording
from pslc.target import open_target

Progress = Callable[[dict[str, Any]], bool]
"""Called about ten times a second with `done_bytes`, `total_bytes`, `drive_time_ns`, `total_time_ns` and
`bytes_per_s`; the run ends when it returns False."""


def run(
    what: str | Path,
    *,
    on: str,
    seed: int = 0,
    options: Sequence[tuple[str, str]] = (),
    progress: Progress | None = None,
) -> Recording:
    """Run a suite (`"fill"`) or an fio job file (`"my.fio"`) on a target and analyse what it did.

    Args:
        on: the target, `sim:NAME[,key=value...]`.
        seed: of every random choice; the same seed gives the same run.
        options: fio options, which win over those of every job.
        progress: see `Progress`.

    Raises:
        PslcError: the target, the suite or the job file cannot be used.
    """
    suite = str(what) if str(what) in suites.names() else None
    text = None if suite else _job_file(what)
    target = open_target(on)
    # These take longer to import than most drives to fill, and the simulation leaves the interpreter alone.
    imports = Thread(target=_import_ahead, daemon=True)
    imports.start()
    source = f"{suite}.fio" if suite else str(what)
    job_file = suites.load(suite).jobs(target) if suite else str(text)
    start_ns = target.drive.now_ns
    result = target.drive.run(job_file, source, list(options), seed, progress)
    recording = Recording(
        suite=suite or str(what),
        target=target.spec,
        drive=target.drive.name,
        seed=seed,
        version=version(),
        wall_s=result["wall_s"],
        drive_time_s=result["drive_time_ns"] / 1e9,
        capacity_bytes=target.drive.capacity_bytes,
        interrupted=result["interrupted"],
        error=result["error"],
        job_file=job_file,
        overrides=list(options),
        profile=target.drive.profile(),
        start_ns=start_ns,
        facts=target.drive.facts(),
        provenance=target.drive.provenance(),
        jobs=result["jobs"],
        before=result["before"],
        totals=result["totals"],
        time=_columns(result["series"]["time"]),
        bytes=_columns(result["series"]["bytes"]),
    )
    imports.join()
    from pslc.findings import of_writes

    recording.findings = suites.load(suite).findings(recording) if suite else of_writes(recording)
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
