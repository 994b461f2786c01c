"""fio's JSON and JSON+: what each job did. It has no series but where `--status-interval` printed one document after
the other, each of what was done until then."""

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from pslc.analysis import Curve
from pslc.analysis.series import Floats
from pslc.base import gate, words
from pslc.base.errors import RecordingError
from pslc.base.files import Json
from pslc.formats import FILE, About, FileContents, count_of, text
from pslc.schema.imports import ImportOptions
from pslc.schema.jobs import Done, Job, done

MARK: Final = '"fio version"'
ABOUT: Final = About(
    program="fio",
    what="JSON and JSON+, with text around or several documents",
    content="bytes, speed and latencies of each job; with --status-interval or steadystate of a whole job a curve",
    command="fio --output-format=json",
    gives="jobs",
    mark=re.compile(MARK),
)


DOCUMENT = re.compile(r"^[ \t]*\{", re.MULTILINE)
MAX_DOCUMENTS: Final = 100_000
KIB: Final = 1024
SAME_SHARE: Final = 0.05
"""Within which bytes and speed times run time agree."""


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The jobs of all files; what `--status-interval` printed of one run is a curve as well."""
    data = FileContents(paths[0].name, None)
    windows: list[Floats] = []
    for path in paths:
        try:
            documents = _documents(path)
            states = [_state(document) for document in documents]
            windows += [_window(job) for document in documents for job in document.get("jobs", [])]
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            hint = "the output of fio --output-format=json or json+"
            raise RecordingError(f"{path}: not fio's JSON ({error})", hint) from None
        if _is_one_run(states):
            data.jobs += states[-1]
            _curve(data, states)
        else:
            data.jobs += [job for jobs in states for job in jobs]
    if data.curve is None and len(windows) == len(data.jobs) == 1 and windows[0].any():
        _of_window(data, windows[0])
    data.read_as = data.read_as or f"fio's JSON: bytes, run time and latencies of {count_of(len(data.jobs), 'job')}"
    return data


def _documents(path: Path) -> list[Json]:
    """The documents in a file, with or without text around them.

    Raises:
        PslcError, ValueError: there is none, or one is broken.
    """
    whole = text(path)
    decoder = json.JSONDecoder()
    match: list[Json] = []
    at = 0
    while (start := DOCUMENT.search(whole, at)) and len(match) < MAX_DOCUMENTS:
        try:
            _, at = decoder.raw_decode(whole, start.end() - 1)
        except ValueError:
            # A brace of the text around, or a broken document.
            if MARK not in whole[start.end() : start.end() + 400]:
                at = start.end()
                continue
            at = len(whole)
        piece = whole[start.end() - 1 : at]
        if MARK in piece:
            match.append(gate.document(piece, str(path), FILE))
    if not match:
        raise ValueError("it holds no document of fio")
    return match


def _state(document: Json) -> list[Job]:
    """The jobs of a document, or what each client of fio's server tells of them."""
    common = document.get("global options", {})
    jobs = document["jobs"] if "jobs" in document else document["client_stats"]
    return [_job(job, common) for job in jobs if job.get("jobname") != "All clients"]


def _is_one_run(states: Sequence[Sequence[Job]]) -> bool:
    """Whether documents are of one run at several times: the same jobs, whose counts grow."""
    for before, after in pairwise(states):
        if [job["name"] for job in before] != [job["name"] for job in after]:
            return False
        for kind in ("read", "write"):
            pairs = zip((job[kind] for job in before), (job[kind] for job in after), strict=True)
            if any(new["io_bytes"] < old["io_bytes"] or new["runtime_ns"] < old["runtime_ns"] for old, new in pairs):
                return False
    return len(states) > 1


def _curve(data: FileContents, states: Sequence[Sequence[Job]]) -> None:
    """Bytes over time, from one state to the next."""
    kind = data.kind = "write" if any(job["write"]["io_bytes"] for job in states[-1]) else "read"
    done, at = [0.0], [0.0]
    for jobs in states:
        moved = float(sum(job[kind]["io_bytes"] for job in jobs))
        seconds = max((job[kind]["runtime_ns"] for job in jobs), default=0) / 1e9
        if moved > done[-1] and seconds > at[-1]:
            done.append(moved)
            at.append(seconds)
    if len(done) > 2:
        data.curve = Curve(np.array(done), np.diff(at))
    data.read_as = f"fio's JSON: {len(states)} states of one run; bytes and run time of {kind}s of all jobs together"


def _window(job: Json) -> Floats:
    """Rates of the last seconds of a job that has `steadystate`, one for each second; empty without it."""
    return np.array([_number(rate) for rate in job.get("steadystate", {}).get("data", {}).get("bw", [])], np.float64)


def _of_window(data: FileContents, rates: Floats) -> None:
    """The curve of a job whose `steadystate` saw all of it; else a note on its last seconds."""
    job = data.jobs[0]
    kinds: list[Literal["read", "write"]] = [kind for kind in ("read", "write") if job[kind]["io_bytes"]]
    moved, seconds = (max(job[kind][name] for kind in ("read", "write")) for name in ("io_bytes", "runtime_ns"))
    lasted_s = max(seconds / 1e9, 1e-9)
    # Older versions count in KiB.
    rates = rates * (KIB if float(rates.mean()) * KIB < 2 * moved / lasted_s else 1)
    if len(kinds) == 1 and abs(lasted_s - len(rates)) <= 1:
        data.kind = kinds[0]
        data.curve = Curve.of_rows(rates, np.ones(len(rates)))
        data.read_as = f"fio's JSON: steadystate's rates of {data.kind}s, one for each second, and what the job counted"
        return
    spread = f"{words.speed(float(rates.min()))} to {words.speed(float(rates.max()))}"
    data.note(
        f"steadystate tells the last {len(rates)} s of {words.span(lasted_s)} second by second, {spread}: of "
        "steadystate's run alone, which is no curve of the job; --write_bw_log=run --log_avg_msec=500 logs all of it"
    )


def _job(job: Json, common: Json) -> Job:
    match: Job = {
        "name": str(job["jobname"]),
        "options": {name: str(value) for name, value in (common | job.get("job options", {})).items()},
        "notes": [],
        "read": _kind(job.get("read", {})),
        "write": _kind(job.get("write", {})),
        "trim": _kind(job.get("trim", {})),
    }
    flushes = job.get("sync", {})
    # fio counts no fdatasync among its requests, but tells how long each took.
    if count := flushes.get("total_ios") or flushes.get("lat_ns", {}).get("N"):
        match["sync"] = _kind(flushes | {"total_ios": count})
    if "groupid" in job:
        match["groupid"] = int(_number(job["groupid"]))
    return match


def _kind(requests: Json) -> Done:
    # Before version 3 times are in us.
    scale = 1.0 if "lat_ns" in requests or "clat_ns" in requests else 1e3
    latency = requests.get("lat_ns") or requests.get("lat") or {}
    # Flushes have no clat.
    completion = requests.get("clat_ns") or requests.get("clat") or latency
    percentile = {name: _number(float(ns)) * scale for name, ns in completion.get("percentile", {}).items()}
    return done(
        _bytes(requests),
        _number(requests.get("total_ios", 0)),
        _number(requests.get("runtime", 0)) * 1_000_000,
        _number(latency.get("mean", 0.0)) * scale,
        _number(latency.get("max", 0)) * scale,
        percentile,
    )


def _bytes(done: Json) -> int:
    """Bytes; fio 2 wrote KiB under the same name, which its speed and run time show."""
    moved, expected = (
        _number(done.get("io_bytes", 0)),
        _number(done.get("bw", 0)) * _number(done.get("runtime", 0)) / 1000,
    )
    in_kib = expected and abs(moved / expected - 1) < SAME_SHARE
    return int(moved * KIB) if in_kib else moved


def _number(value: Any) -> Any:
    """A number that counts something.

    Raises:
        TypeError, ValueError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{str(value)[:40]} is no number")
    if not 0 <= value < 1e30:
        raise ValueError(f"{value} is no count")
    return value
