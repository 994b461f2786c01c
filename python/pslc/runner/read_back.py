"""A suite that reads what is on a real drive: its plan, the reads, and their recording."""

import mmap
from collections.abc import Sequence
from pathlib import Path
from time import monotonic, time_ns
from typing import Final

import numpy as np

from pslc import suites
from pslc._native import version
from pslc.base import words
from pslc.base.errors import JobError
from pslc.device import probe, reading
from pslc.device.region import Scope
from pslc.device.target import RealOptions
from pslc.recording.model import Columns, Recording
from pslc.runner.callbacks import DeclinedError
from pslc.runner.options import RunOptions
from pslc.runner.plan import Plan
from pslc.runner.subject import Suite
from pslc.schema.facts import Device, ReadBack
from pslc.schema.results import StepProgress

COLUMNS: Final = ("read_bytes", "write_bytes", "trim_bytes", "reads", "writes", "trims",
                  *(f"lat_{name}_ns" for name in ("sum", "max", "p50", "p99", "p999")))  # fmt: skip


def read_back(suite: Suite, on: str, options: RunOptions) -> Recording:
    """Read what is in a folder or on a block device, and record how fast.

    Raises:
        PslcError: there is nothing to read, or an option is of suites that write.
        DeclinedError: `options.confirm` returned False.
    """
    scope, path = options.scope or Scope(), Path(on)
    is_writing = options.real not in (None, RealOptions()) or suite.overrides or options.is_governed
    if is_writing or scope != Scope(quick=scope.quick):
        raise JobError(f"{suite.name} on {on} reads what is there, and takes --quick alone", "leave the others out")
    look_began = monotonic()

    def look(found_bytes: int) -> None:
        if not _goes_on(options, "looking for files", (found_bytes, 0), look_began):
            raise KeyboardInterrupt

    borders_s = suites.reads_back(suite.name)
    chosen, mixed = reading.choose(path, borders_s, look, seed=options.seed, quick=scope.quick)
    size = words.size(sum(extent.bytes for extent in chosen))
    sentence = f"reads {size} at {len(chosen)} places of {on}, past the page cache, and writes nothing"
    if options.confirm is not None and not options.confirm(Plan([sentence], "", 0)):
        raise DeclinedError
    facts, began, began_unix_ns = probe.facts(path), monotonic(), time_ns()
    device = facts["device"] or Device()
    facts["read_back"], interrupted = _read(chosen, options)
    if mixed:
        facts["read_back"]["mixed"] = mixed
    columns = _columns(facts["read_back"])
    return Recording(
        suite=suite.name, target=on, drive=device.get("model") or device.get("name") or on, seed=options.seed,
        version=version(), wall_s=monotonic() - began, drive_time_s=float(columns["end_ns"][-1]) / 1e9,
        capacity_bytes=device.get("bytes") or 0, interrupted=interrupted, error=None, job_file="", overrides=[],
        profile="", start_ns=0, facts=facts, provenance=[], jobs=[], before={}, totals={}, time=columns,
        bytes=columns, scope=scope.document(), began_unix_ns=began_unix_ns,
    )  # fmt: skip


def _read(chosen: Sequence[reading.Extent], options: RunOptions) -> tuple[ReadBack, bool]:
    """Read the extents; returns what was read, and whether that was interrupted."""
    done: ReadBack = {"of_device": chosen[0].path.is_block_device(), "at": [], "bytes": [], "seconds": [], "faults": 0}
    so_far, total, began = 0, sum(extent.bytes for extent in chosen), monotonic()
    with mmap.mmap(-1, reading.REQUEST_BYTES) as buffer:
        for extent in chosen:
            if not _goes_on(options, "read", (so_far, total), began):
                return done, True
            try:
                moved, seconds = reading.read(extent, buffer)
            except OSError:
                done["faults"] += 1
                continue
            if moved:
                so_far += moved
                done["at"].append(extent.at)
                done["bytes"].append(moved)
                done["seconds"].append(seconds)
    return done, False


def _goes_on(options: RunOptions, step: str, moved: tuple[int, int], began: float) -> bool:
    """Report bytes done and their total (0: not known); False where the run is to end."""
    (done, total), seconds = moved, monotonic() - began
    state: StepProgress = {
        "step": step, "done_bytes": done, "total_bytes": total, "drive_time_ns": round(seconds * 1e9),
        "total_time_ns": 0, "bytes_per_s": done / max(seconds, 1e-9),
    }  # fmt: skip
    return options.progress is None or options.progress(state)


def _columns(done: ReadBack) -> Columns:
    count = max(len(done["bytes"]), 1)
    columns: Columns = {name: np.zeros(count, dtype=np.uint64) for name in (*COLUMNS, "end_ns")}
    if done["bytes"]:
        columns["read_bytes"] = np.array(done["bytes"], dtype=np.uint64)
        columns["end_ns"] = np.round(np.cumsum(done["seconds"]) * 1e9).astype(np.uint64)
    return columns
