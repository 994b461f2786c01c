"""The text of blkparse (blktrace), a line per event of a request:

  8,0    3       11     0.009507758   697  C  WS 223490 + 56 [0]

Taken are completions (C) of writes; in a trace without any, issues (D). The curve is that of the device.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from pslc.analysis import Curve
from pslc.base import gate
from pslc.base.errors import RecordingError
from pslc.formats import STREAM, About, FileContents, Reader
from pslc.schema.imports import ImportOptions
from pslc.schema.warnings import notes

ABOUT: Final = About(
    program="blkparse",
    what="text of blktrace",
    content="bytes written over time, of one device",
    command="sudo blktrace -d /dev/sdX -o - | blkparse -i -",
    gives="curve",
    mark=re.compile(r"\A\s*\d+,\d+\s+\d+\s+\d+\s+\d+\.\d{9}\s"),
)
EVENT = re.compile(
    r"\s*(?P<device>\d+,\d+)\s+\d+\s+\d+\s+(?P<at>\d+\.\d+)\s+\d+\s+(?P<action>[A-Z]{1,2})\s+(?P<kind>[A-Z]+)"
    r"(?:\s+(?P<sector>\d+) \+ (?P<sectors>\d+))?"
)
SECTOR = 512
MOST_SECTORS = 1 << 32
LONGEST_S = 1e9
"""Beyond what a kernel can count, as is a request of more than `MOST_SECTORS`."""
STEPS = 4096
"""Most bins of the curve: requests are joined."""


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """Bytes written over time, all files together. What follows the events, blkparse's summary, is left out."""
    done: dict[str, list[tuple[float, int]]] = {"C": [], "D": []}
    devices: set[str] = set()
    bad = 0
    for path in paths:
        bad += _collect(path, hints, done, devices)
    if len(devices) > 1:
        hint = "blktrace one of them: sudo blktrace -d /dev/nvme0n1"
        raise RecordingError(f"{paths[0]} is a trace of the devices {' and '.join(sorted(devices))}", hint)
    action = "C" if done["C"] else "D"
    events = np.array(sorted(done[action]), dtype=np.float64).reshape(-1, 2)
    texts = [] if action == "C" else ["the trace has no completions: times are those of the requests' issue"]
    read_as = f"blkparse: {'completions' if action == 'C' else 'issues'} of writes"
    return FileContents(paths[0].name, _curve(events), warnings=notes(texts), bad_lines=bad, read_as=read_as)


def _collect(path: Path, hints: ImportOptions, done: dict[str, list[tuple[float, int]]], devices: set[str]) -> int:
    reader = Reader(path, hints, "device, CPU, number, seconds, process, action, RWBS, sector + count")
    for line in reader.each(gate.lines(path, STREAM)):
        if line.startswith(("CPU", "Total", "Reads", "Throughput")):
            break
        event = EVENT.match(line)
        if event is None:
            # Messages of schedulers and notes of processes have no kind.
            if line.strip() and not re.match(r"\s*\d+,\d+\s.*\s(m|UT|U|P)\s", line):
                reader.refuse()
        elif event["action"] in done and event["sectors"] and "W" in event["kind"]:
            at, sectors = float(event["at"]), float(event["sectors"])
            if at > LONGEST_S or sectors > MOST_SECTORS:
                reader.refuse()
                continue
            devices.add(event["device"])
            done[event["action"]].append((at, SECTOR * int(sectors)))
    return reader.bad


def _curve(events: np.ndarray) -> Curve | None:
    """Curve of at most `STEPS` bins of equal counts of requests, each of some length of time."""
    if len(events) < 2:
        return None
    at, size = events[:, 0], events[:, 1]
    written = np.concatenate([[0.0], np.cumsum(size)])
    start = at[0] - (at[-1] - at[0]) / (len(at) - 1)
    seconds = np.concatenate([[start], at])
    picked = np.unique(np.linspace(0, len(at), min(len(at), STEPS) + 1).astype(np.intp))
    keep = [0]
    for i in picked[1:]:
        if seconds[i] > seconds[keep[-1]] and written[i] > written[keep[-1]]:
            keep.append(int(i))
    return Curve(written[keep], np.diff(seconds[keep])) if len(keep) > 1 else None
