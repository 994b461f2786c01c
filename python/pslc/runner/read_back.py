"""A suite that reads what is on a real drive: its plan, the reads, and their recording."""

import mmap
from collections.abc import Sequence
from pathlib import Path
from time import monotonic, time_ns
from typing import Final

import numpy as np

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
from pslc.suites.old_data import BORDERS_S

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
    chosen = reading.extents(path, BORDERS_S, seed=options.seed, quick=scope.quick)
    size = words.size(sum(extent.bytes for extent in chosen))
    sentence = f"reads {size} at {len(chosen)} places of {on}, past the page cache, and writes nothing"
    if options.confirm is not None and not options.confirm(Plan([sentence], "", 0)):
        raise DeclinedError
    facts, began, began_unix_ns = probe.facts(path), monotonic(), time_ns()
    device = facts["device"] or Device()
    facts["read_back"], interrupted = _read(chosen, options)
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
    total, began = sum(extent.bytes for extent in chosen), monotonic()
    with mmap.mmap(-1, reading.REQUEST_BYTES) as buffer:
        for extent in chosen:
            so_far, took = sum(done["bytes"]), monotonic() - began
            state: StepProgress = {
                "step": "read", "done_bytes": so_far, "total_bytes": total, "drive_time_ns": round(took * 1e9),
                "total_time_ns": 0, "bytes_per_s": so_far / max(took, 1e-9),
            }  # fmt: skip
            if options.progress is not None and not options.progress(state):
                return done, True
            try:
                moved, seconds = reading.read(extent, buffer)
            except OSError:
                done["faults"] += 1
                continue
            if moved:
                done["at"].append(extent.at)
                done["bytes"].append(moved)
                done["seconds"].append(seconds)
    return done, False


def _columns(done: ReadBack) -> Columns:
    count = max(len(done["bytes"]), 1)
    columns: Columns = {name: np.zeros(count, dtype=np.uint64) for name in (*COLUMNS, "end_ns")}
    if done["bytes"]:
        columns["read_bytes"] = np.array(done["bytes"], dtype=np.uint64)
        columns["end_ns"] = np.round(np.cumsum(done["seconds"]) * 1e9).astype(np.uint64)
    return columns
