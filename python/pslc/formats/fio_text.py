"""fio's text for people (`--output-format=normal`), one report or many in a file, with other lines around them:
versions 2 (`io=20480MB, bw=401360KB/s, runt= 52251msec`) and 3 (`BW=578MiB/s (606MB/s)(55.9GiB/99001msec)`)."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, cast

import numpy as np

from pslc.base import words
from pslc.base.errors import RecordingError
from pslc.formats import About, Exactness, FileContents, count_of, text
from pslc.formats._fio_status import Status, size, status
from pslc.schema.imports import ImportOptions
from pslc.schema.jobs import KINDS, MOVED, Done, Job, Kind, done, job

ABOUT: Final = About(
    program="fio",
    what="text, one report or many",
    content="bytes, speed and latencies of each job; the curve of its status lines",
    command="fio, without --output-format",
    gives="jobs",
)
NUMBER = r"\d+(?:\.\d+)?"
PLAN = re.compile(r"(?P<name>\S[^:]*?): \(g=\d+\): (?P<options>rw=\S.*)$")
JOB = re.compile(r"(?P<name>\S[^:(]*?): \(groupid=(?P<group>\d+), jobs=(?P<jobs>\d+)\): err=")
DONE = re.compile(
    rf"\b(?P<kind>read|write|trim) ?: IOPS=(?P<iops>{NUMBER}[kMG]?), "
    r"BW=\S+(?: \(\S+\))? ?\((?P<moved>\S+?)/(?P<ms>\d+)msec\)"
)
OLD_DONE = re.compile(
    rf"\b(?P<kind>read|write|trim) ?: io=(?P<moved>{NUMBER}\w*), bw=(?P<bw>{NUMBER}\w*/s), "
    rf"iops= ?(?P<iops>{NUMBER}[kMG]?), runt(?:ime)?= *(?P<ms>\d+)msec"
)
TIMES = re.compile(
    rf"(?<!\w)(?P<what>lat|clat|sync) \((?P<unit>[num]?sec)\) ?: min= *\S+, "
    rf"max= *(?P<max>{NUMBER}[kKM]?), avg= *(?P<mean>{NUMBER})"
)
PERCENTILES = re.compile(r"(?P<what>\S.*?) percentiles \((?P<unit>[num]?sec)\):")
FLUSHES: Final = "fsync/fdatasync/sync_file_range:"
"""Line above the latencies of a job's flushes."""
PERCENTILE = re.compile(r"(\d+\.\d+)th=\[ *(\d+)\]")
ISSUED = re.compile(r"issued *(?:rwts?|r/w/d)?[ :]\D*(?:total=)?r?=?(\d+)[,/]w?=?(\d+)[,/](?:d=)?(\d+)(?:,(\d+))?")
REACHED: Final = re.compile(r"^\s*\S+: ios=(\d+)/(\d+), (?:sectors=\S+ )?merge=(\d+)/(\d+)", re.MULTILINE)
"""Requests of reads and writes that reached a disk, and those that were merged before."""
MAX_REACHED_RATIO: Final = 0.5
"""Share of its requests that reach a disk, below which a report went through the page cache."""
NS: Final = {"nsec": 1.0, "usec": 1e3, "msec": 1e6, "sec": 1e9}
MAX_STATUS_OFF: Final = 0.1
"""Largest difference of the bytes of the status lines from those of the report, as a share: lines are few."""
MAX_ROUNDING: Final = 0.01
"""Largest rounding error of bytes in fio's text output, as a share: they have three digits."""


def matches(path: Path, head: str) -> bool:
    """A line about a job, as fio prints it before or after a run."""
    return any(_plan(line) or _job_line(line) for line in head.splitlines())


def _plan(line: str) -> re.Match[str] | None:
    """A line about what a job will do. Without its mark it is not searched, which takes the square of its length."""
    return PLAN.search(line) if ": (g=" in line else None


def _job_line(line: str) -> re.Match[str] | None:
    """The first line of a job's results; see `_plan`."""
    return JOB.search(line) if ": (groupid=" in line else None


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The jobs of all reports of all files."""
    cached = ""
    jobs: list[Job] = []
    progress = None
    for path in paths:
        whole = text(path)
        jobs += _jobs(whole)
        cached = _cached(whole) or cached
        progress = status(whole) if len(paths) == 1 else None
    if not jobs and progress is None:
        raise RecordingError(
            f"{paths[0]} is fio's text without results: fio did not end", "give the text of a whole run, or its logs"
        )
    read_as = f"fio's text: bytes, run time and latencies of {count_of(len(jobs), 'job')}, rounded to 3 digits"
    data = FileContents(paths[0].name, None, jobs, read_as=read_as, tells_options=False)
    if progress is not None:
        _add_curve(data, progress)
    if cached:
        data.warn(f"{cached}, so memory took the rest: give direct=1 to measure the drive")
    return data


def _add_curve(data: FileContents, progress: Status) -> None:
    """Add the curve of the status lines, unless the report tells of other bytes."""
    moved = sum(job[progress.kind]["io_bytes"] for job in data.jobs)
    if moved and abs(progress.curve.total_bytes / moved - 1) > MAX_STATUS_OFF:
        data.warn(
            f"the status lines add up to {words.size(progress.curve.total_bytes)}, so no curve is taken from them"
        )
        return
    data.curve, data.kind = progress.curve, progress.kind
    # A line tells the speed at its moment: a change lies anywhere between it and the one before.
    widths = progress.curve.widths
    data.exactness = Exactness(np.maximum(widths, np.roll(widths, 1)), np.zeros(widths.size))
    how = "" if progress.is_told else ", by what was done and left in them"
    data.read_as = (
        f"fio's text: {progress.kind} speeds of its status lines, {words.span(progress.interval_s)} apart{how}"
    )
    data.note("the speed of a status line is that of fio's last moment before it, so what lies between is not seen")


def _cached(whole: str) -> str:
    """Clause that reads or writes did not reach the disk by its own count, of one run; empty where they did."""
    if whole.count("\nfio-") > 1:
        return ""
    disks = [tuple(map(int, match)) for match in REACHED.findall(whole)]
    for at, kind in enumerate(MOVED):
        issued = sum(job[kind]["total_ios"] for job in _jobs(whole))
        reached = sum(disk[at] + disk[at + 2] for disk in disks)
        if disks and reached < MAX_REACHED_RATIO * issued:
            return f"{reached:,} of {issued:,} {kind}s reached the disk while fio ran"
    return ""


def _jobs(whole: str) -> list[Job]:
    """The jobs that ended, in order."""
    plans: dict[str, dict[str, str]] = {}
    jobs: list[Job] = []
    kind: Kind | Literal["sync"] | None = None
    scale: float | None = None
    for line in whole.splitlines():
        if plan := _plan(line):
            plans[plan["name"]] = _options(plan["options"])
            kind = None
        elif match := _job_line(line):
            options = dict(plans.get(match["name"], {}))
            if int(match["jobs"]) > 1:
                options["numjobs"] = match["jobs"]
            jobs.append(job(match["name"], options, int(match["group"])))
            kind = None
        elif not jobs:
            continue
        elif match := DONE.search(line) or OLD_DONE.search(line):
            kind = cast(Kind, match["kind"])
            jobs[-1][kind].update(_done(match))
        elif line.startswith("Run status"):
            kind = None
        elif line.strip() == FLUSHES:
            kind = "sync"
            jobs[-1]["sync"] = done()
        elif kind is not None:
            scale = _latency(jobs[-1], kind, line, scale)
    return [job for job in jobs if any(job[kind]["total_ios"] for kind in KINDS)]


def _options(line: str) -> dict[str, str]:
    """`rw=write, bs=(R) 128KiB-128KiB, (W) ..., ioengine=libaio, iodepth=16`."""
    options = dict(re.findall(r"(rw|ioengine|iodepth)=(\w+)", line))
    if sizes := re.search(r"bs=(?:\(R\) )?([\d.]+)([KM]?)i?B?-([\d.]+)([KM]?)", line):
        low, high = (f"{float(sizes[at]):g}{sizes[at + 1].lower()}" for at in (1, 3))
        options |= {"bs": low} if low == high else {"bsrange": f"{low}-{high}"}
    return options


def _done(match: re.Match[str]) -> Done:
    moved, ms = round(size(match["moved"])), int(match["ms"])
    count = max(round(_scaled(match["iops"]) * (ms / 1000)), 1) if moved else 0
    return done(moved, count, ms * 1_000_000)


def _latency(job: Job, kind: Kind | Literal["sync"], line: str, scale: float | None) -> float | None:
    """Read a line below the results of a kind; returns the unit of percentiles that follow, None: of something else."""
    latency = (job["sync"] if kind == "sync" else job[kind])["lat_ns"]
    if times := TIMES.search(line):
        if times["what"] != "clat" or not latency["mean"]:
            latency["mean"] = float(times["mean"]) * NS[times["unit"]]
            latency["max"] = _scaled(times["max"]) * NS[times["unit"]]
    elif unit := PERCENTILES.search(line):
        return NS[unit["unit"]] if unit["what"] in ("clat", "lat", "sync") else None
    elif issued := ISSUED.search(line):
        for of, count in zip(KINDS, issued.groups(), strict=False):
            _count(job, of, int(count))
        if "sync" in job:
            job["sync"]["total_ios"] = int(issued[4] or job["write"]["total_ios"])
    elif "th=[" in line and scale is not None:
        for share, value in PERCENTILE.findall(line):
            latency["percentile"][f"{float(share):.6f}"] = int(value) * scale
    return scale


def _count(job: Job, kind: Kind, count: int) -> None:
    """The count of requests, and with one size of request the bytes to the last one."""
    done = job[kind]
    if not done["io_bytes"] or not count:
        return
    done["total_ios"] = count
    word = job["options"].get("bs", "")
    each = size(f"{word}iB" if word[-1:] in ("k", "m") else word) if word else 0.0
    if each and abs(each * count / done["io_bytes"] - 1) < MAX_ROUNDING:
        done["io_bytes"] = round(each * count)


def _scaled(word: str) -> float:
    """A count of `121k`."""
    scale = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}.get(word[-1], 1.0)
    return float(word.rstrip("kKMG")) * scale
