"""fio's own logs of a run, written as fio 3.33 writes them: `write_bw_log`, `write_lat_log`, `write_iops_log`,
`write_iolog`, each request or averaged over `log_avg_msec`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pslc.results import Log

Integers = NDArray[np.int64]

READ, WRITE, TRIM, FLUSH = range(4)
ACTIONS = {READ: "read", WRITE: "write", TRIM: "trim", FLUSH: "sync"}
CHUNK = 1 << 16
"""Lines that are made at once."""
LOGS = {"write_bw_log": "bw", "write_lat_log": "lat", "write_iops_log": "iops"}


def write(logs: Sequence[Log], folder: Path, file: str) -> list[Path]:
    """Write the logs that jobs asked for.

    Args:
        logs: as the native part gives them.
        folder: where relative names begin.
        file: what an iolog calls the target.
    """
    written: list[Path] = []
    iologs: dict[Path, list[Mapping[str, Integers]]] = {}
    for log in logs:
        options = log["options"]
        columns = {name: np.frombuffer(log[name], dtype="<u8").astype(np.int64) for name in COLUMNS}
        if "write_iolog" in options:
            iologs.setdefault(folder / options["write_iolog"], []).append(dict(columns))
        columns["issued_ns"] = columns["issued_ns"] - log["begin_ns"]
        for option, word in LOGS.items():
            if option not in options:
                continue
            # lat is of three kinds in fio: submission, completion, and both together.
            for kind in ("slat", "clat", "lat") if word == "lat" else (word,):
                path = _name(folder, options[option] or log["name"], kind, log["number"], options)
                # An engine that waits has no time of submission of its own.
                waits = kind == "slat" and log["one_at_a_time"]
                lines = iter(()) if waits else _lines(columns, kind, options)
                mode = "a" if path in written else "w"
                with path.open(mode, encoding="ascii") as out:
                    out.writelines(lines)
                written.append(path)
    begin_ns = min((log["begin_ns"] for log in logs), default=0)
    for path, of in iologs.items():
        # Of several jobs in one file: in the order of time, where fio's lie as they come.
        all_of = {name: np.concatenate([columns[name] for columns in of]) for name in COLUMNS}
        order = np.argsort(all_of["issued_ns"], kind="stable")
        columns = {name: values[order] for name, values in all_of.items()}
        columns["issued_ns"] = columns["issued_ns"] - begin_ns
        with path.open("w", encoding="utf-8") as out:
            out.writelines(_iolog(columns, re.sub(r"\s", "_", file)))
        written.append(path)
    return written


COLUMNS: Final = ("issued_ns", "latency_ns", "submission_ns", "op", "bytes", "offset")


def _name(folder: Path, given: str, kind: str, number: int, options: Mapping[str, str]) -> Path:
    one_each = options.get("per_job_logs", "1") != "0"
    return folder / (f"{given}_{kind}.{number}.log" if one_each else f"{given}_{kind}.log")


def _lines(columns: Mapping[str, Integers], kind: str, options: Mapping[str, str]) -> Iterator[str]:
    """`time in ms, value, direction, block size, priority`, before it with `log_offset` the offset: ns, KiB/s or 1 for
    one request."""
    which = columns["op"] != FLUSH
    issued, latency, submission, op, size, offset = (columns[name][which] for name in COLUMNS)
    ends = issued + latency
    order = np.argsort(ends, kind="stable")
    ends, latency, submission, op, size, offset = (of[order] for of in (ends, latency, submission, op, size, offset))
    # fio's clat begins where its slat ends.
    times = {"slat": submission, "clat": latency - submission}.get(kind, latency)
    with_offset = options.get("log_offset", "0") not in ("", "0")
    every_ms = int(options.get("log_avg_msec", "0") or 0)
    if every_ms:
        largest = options.get("log_max_value", "0") not in ("", "0")
        place = "0, " if with_offset else ""
        found = _averaged(ends, times, op, size, kind, every_ms, largest)
        yield from (f"{at}, {value}, {what}, 0, {place}0\n" for at, value, what in found)
        return
    values = {
        "bw": np.where(latency > 0, size * 1_000_000_000 // np.maximum(latency, 1) // 1024, 0),
        "iops": np.ones_like(latency),
    }.get(kind, times)
    for first in range(0, len(ends), CHUNK):
        part = slice(first, first + CHUNK)
        rows = zip(*(of[part].tolist() for of in (ends // 1_000_000, values, op, size, offset)), strict=True)
        if with_offset:
            yield from (f"{at}, {value}, {what}, {bs}, {place}, 0\n" for at, value, what, bs, place in rows)
        else:
            yield from (f"{at}, {value}, {what}, {bs}, 0\n" for at, value, what, bs, _ in rows)


def _averaged(
    ends: Integers, times: Integers, op: Integers, size: Integers, kind: str, every_ms: int, largest: bool
) -> list[tuple[int, int, int]]:
    """Time, value and direction of each window that had requests of the direction; the time is the window's end."""
    window = ends // (every_ms * 1_000_000)
    rows: list[tuple[int, int, int]] = []
    for what in (READ, WRITE, TRIM):
        of = op == what
        found, first = np.unique(window[of], return_index=True)
        if not len(found):
            continue
        count = np.diff(np.r_[first, of.sum()])
        if kind == "bw":
            value = np.add.reduceat(size[of], first) * 1000 // every_ms // 1024
        elif kind == "iops":
            value = count * 1000 // every_ms
        elif largest:
            value = np.maximum.reduceat(times[of], first)
        else:
            value = np.add.reduceat(times[of], first) // count
        rows += [(int(at + 1) * every_ms, int(n), what) for at, n in zip(found, value, strict=True)]
    return sorted(rows, key=lambda row: (row[0], row[2]))


def _iolog(columns: Mapping[str, Integers], file: str) -> Iterator[str]:
    """Version 3: microseconds since the job began, file, action, offset, length."""
    yield f"fio version 3 iolog\n0 {file} add\n0 {file} open\n"
    issued, latency, op, size, offset = (columns[name] for name in ("issued_ns", "latency_ns", "op", "bytes", "offset"))
    for first in range(0, len(issued), CHUNK):
        part = slice(first, first + CHUNK)
        rows = zip(*(of[part].tolist() for of in (issued // 1000, op, offset, size)), strict=True)
        yield from (f"{at} {file} {ACTIONS[what]} {place} {bs}\n" for at, what, place, bs in rows)
    last = int(((issued + latency) // 1000).max(initial=0))
    yield f"{last} {file} close\n"
