"""fio's own logs of a run, written as fio 3.33 writes them: `write_bw_log`, `write_lat_log`, `write_iops_log`,
`write_iolog`, each request or averaged over `log_avg_msec`."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

READ, WRITE, TRIM, FLUSH = range(4)
ACTIONS = {READ: "read", WRITE: "write", TRIM: "trim", FLUSH: "sync"}
LOGS = {"write_bw_log": "bw", "write_lat_log": "lat", "write_iops_log": "iops"}


def write(logs: Sequence[Mapping[str, Any]], folder: Path, file: str) -> list[Path]:
    """Write the logs that jobs asked for.

    Args:
        logs: as `_native` gives them: `name`, `number`, `begin_ns`, `options`, and columns of u64.
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
                lines = [] if waits else _lines(columns, kind, options)
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
        path.write_text(_iolog(columns, re.sub(r"\s", "_", file)), encoding="utf-8")
        written.append(path)
    return written


COLUMNS = ("issued_ns", "latency_ns", "op", "bytes", "offset")


def _name(folder: Path, given: str, kind: str, number: int, options: Mapping[str, str]) -> Path:
    one_each = options.get("per_job_logs", "1") != "0"
    return folder / (f"{given}_{kind}.{number}.log" if one_each else f"{given}_{kind}.log")


def _lines(columns: Mapping[str, Integers], kind: str, options: Mapping[str, str]) -> list[str]:
    """`time in ms, value, direction, block size, offset, priority`: ns, KiB/s or 1 for one request."""
    which = columns["op"] != FLUSH
    issued, latency, op, size, offset = (columns[name][which] for name in COLUMNS)
    ends = issued + latency
    order = np.argsort(ends, kind="stable")
    ends, latency, op, size, offset = (of[order] for of in (ends, latency, op, size, offset))
    every_ms = int(options.get("log_avg_msec", "0") or 0)
    if every_ms:
        return _averaged(ends, latency, op, size, kind, every_ms, options.get("log_max_value", "0") not in ("", "0"))
    with_offset = options.get("log_offset", "0") not in ("", "0")
    values = {
        "bw": np.where(latency > 0, size * 1_000_000_000 // np.maximum(latency, 1) // 1024, 0),
        "iops": np.ones_like(latency),
        "slat": np.zeros_like(latency),
    }.get(kind, latency)
    places = offset if with_offset else np.zeros_like(offset)
    rows = zip(ends // 1_000_000, values, op, size, places, strict=True)
    return [f"{at}, {value}, {what}, {bs}, {place}, 0\n" for at, value, what, bs, place in rows]


def _averaged(
    ends: Integers, latency: Integers, op: Integers, size: Integers, kind: str, every_ms: int, largest: bool
) -> list[str]:
    """One line a window and direction that had requests; the time is the window's end."""
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
        elif kind == "slat":
            value = np.zeros_like(count)
        elif largest:
            value = np.maximum.reduceat(latency[of], first)
        else:
            value = np.add.reduceat(latency[of], first) // count
        rows += [(int(at + 1) * every_ms, int(n), what) for at, n in zip(found, value, strict=True)]
    return [f"{at}, {value}, {what}, 0, 0, 0\n" for at, value, what in sorted(rows, key=lambda row: (row[0], row[2]))]


def _iolog(columns: Mapping[str, Integers], file: str) -> str:
    """Version 3: microseconds since the job began, file, action, offset, length."""
    lines = ["fio version 3 iolog", f"0 {file} add", f"0 {file} open"]
    last = 0
    for issued, latency, op, size, offset in zip(*(columns[name].tolist() for name in COLUMNS), strict=True):
        at = issued // 1000
        last = max(last, (issued + latency) // 1000)
        lines.append(f"{at} {file} {ACTIONS[op]} {offset} {size}")
    lines.append(f"{last} {file} close")
    return "\n".join(lines) + "\n"
