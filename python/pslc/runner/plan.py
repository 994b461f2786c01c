"""What a run is going to do to a real drive, said before it does anything."""

import shlex
import subprocess
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pslc import memory, words
from pslc._native import plan_jobs
from pslc.errors import JobError
from pslc.facts import Device, FileSystem
from pslc.findings import doubts
from pslc.targets import probe
from pslc.targets.target import Target

SLOW, FAST = 100e6, 3000e6
"""Bytes a second between which drives write for long: bounds of how long it takes."""
SIMULATED_REQUESTS, SIMULATED_SECONDS = 2e6, 1e5
"""Requests, and seconds of the drive, that go by in a second of the simulation, in round numbers (`make bench`)."""
DAY = 86_400.0
CENTURY = 100 * 365 * DAY


@dataclass(frozen=True)
class Plan:
    """Sentences to show, and the job as a command of fio's; "" on a simulated drive.

    Attributes:
        takes_days: it must be agreed to for that alone, on any drive.
        overwrites: the file that is lost, where that must be agreed to first (`Target.foreign`).
    """

    sentences: list[str]
    fio: str
    write_bytes: int
    overwrites: dict[str, Any] | None = None
    takes_days: bool = False


@dataclass(frozen=True)
class Cost:
    """What steps do to a drive, as far as it is known beforehand.

    Attributes:
        timed_s: how long jobs go on that end by time; those that write may write as much as they can.
        idle_s: for how long the drive is left alone.
        least_s: of the clock on the wall, where the drive is at its best all the time; of a simulation, as fast as it
            mostly is.
        memory_bytes: at most, without the program itself.
    """

    write_bytes: int
    read_bytes: int
    timed_s: float
    idle_s: float
    writes_until_time: bool
    least_s: float
    memory_bytes: int

    def seconds(self, bytes_per_s: float) -> float:
        """How long it takes where so much is moved a second."""
        return (self.write_bytes + self.read_bytes) / bytes_per_s + self.timed_s + self.idle_s


def cost(steps: list[str], source: str, options: list[tuple[str, str]], target: Target) -> Cost:
    """The cost of steps on a drive.

    Raises:
        PslcError: a job file cannot be used on it.
    """
    simulated = not target.is_real
    best = (FAST, float("inf"))
    if simulated:
        best = (target.facts["link_bytes_per_s"], max(target.facts["read_iops"], target.facts["write_iops"]))
    found = [plan_jobs(text, source, options, target.capacity_bytes, simulated, *best) for text in steps]
    total = {
        name: sum(step[name] for step in found)
        for name in ("write_bytes", "read_bytes", "timed_ns", "idle_ns", "least_s", "requests")
    }
    least = total["least_s"]
    if simulated:
        least = total["requests"] / SIMULATED_REQUESTS + least / SIMULATED_SECONDS
    held = max((step["memory_bytes"] for step in found), default=0)
    if simulated:
        held += _maps([job for step in found for job in step["scattered"]], target)
    return Cost(
        total["write_bytes"],
        total["read_bytes"],
        total["timed_ns"] / 1e9,
        total["idle_ns"] / 1e9,
        any(step["writes_until_time"] for step in found),
        least,
        held,
    )


def _maps(scattered: list[tuple[int, int]], target: Target) -> int:
    """Memory of a simulated drive's two maps where each page is on its own: 4 bytes a page, 2 MiB at a time. The data
    lie where they were written, and garbage collection writes them again."""
    page, entry, segment, again = 4096, 4, 2 << 20, 3
    there = sum(min(span // page * entry, written // page * segment) for span, written in scattered)
    there = min(there, target.capacity_bytes // page * entry)
    written = sum(written for _, written in scattered)
    return int(there + min(written * again, target.facts["native_raw_bytes"]) // page * entry)


def afford(found: Cost) -> None:
    """Refuse what this machine has no memory for.

    Raises:
        JobError: it has not, with both numbers.
    """
    free = memory.free_bytes()
    if free is not None and found.memory_bytes > free:
        needs = words.size(found.memory_bytes)
        raise JobError(
            f"the run needs {needs} of memory, {words.size(free)} are free",
            "less at once: fewer numjobs, a smaller iodepth or bs; of a simulated drive a smaller region or drive",
        )


def _days(found: Cost, target: Target) -> str:
    days = f"{found.least_s / DAY:,.0f}".replace(",", " ")
    about = "at least" if target.is_real else "about"
    if found.least_s >= CENTURY:
        return f"takes {about} {days} days: more than a century"
    until = datetime.now() + timedelta(seconds=found.least_s)
    return f"takes {about} {days} days, until {until:%Y-%m-%d}"


def plan(target: Target, steps: list[str], source: str, options: list[tuple[str, str]]) -> Plan:
    """What running the job files of `steps` on `target` does.

    Raises:
        PslcError: one of them cannot be used on it, or this machine has no memory for it.
    """
    found = cost(steps, source, options, target)
    afford(found)
    long = [_days(found, target)] if found.least_s >= DAY else []
    if not target.is_real:
        return Plan(long, "", found.write_bytes, takes_days=bool(long))
    written = found.write_bytes
    where, *more = places(target)
    said = [where, *long, *more]
    about = "about " if len(steps) > 1 else ""
    if written:
        share = ""
        drive = (target.facts["device"] or Device()).get("bytes") or (
            target.capacity_bytes if target.kind == "device" else 0
        )
        if drive:
            share = f", {100 * written / drive:.1f} % of the drive's capacity"
        said.append(f"writes {about}{words.size(written)}{share}; {of_its_life(target, written)}")
        said.append(f"takes {words.span(written / FAST)} to {words.span(written / SLOW)} for the writes")
    if found.read_bytes:
        said.append(f"reads {about}{words.size(found.read_bytes)}")
    if found.timed_s:
        what = "writes as much as it can for" if found.writes_until_time else "goes on for"
        said.append(f"{what} {words.span(found.timed_s)}")
    if found.idle_s:
        said.append(f"leaves the drive alone for {words.span(found.idle_s)}")
    if len(steps) > 1:
        said.append(f"{len(steps)} steps, as expected; what is measured may change them")
    return Plan(said, _fio(target, "\n".join(steps), options), written, target.foreign, bool(long))


def places(target: Target) -> list[str]:
    """What is written to, and what is lost."""
    said = [_where(target)]
    if target.foreign is not None:
        said.append(f"OVERWRITES {_lost(target.foreign)}, which pslc did not make")
    if target.kind == "file":
        said += [f"doubt: {doubt}" for doubt in doubts.of_the_file_system(target.facts["file_system"])]
    return said


def _lost(file: dict[str, Any]) -> str:
    """Path, size, age and type of a file."""
    age = words.span(max(time.time() - file["changed_unix_ns"] / 1e9, 0.0))
    what = "; ".join(file["holds"]) or _type(file["path"]) or "of unknown type"
    return f"{file['path']} ({words.size(file['bytes'])}, changed {age} ago, of user {file['owner']}, {what})"


def _type(path: str) -> str | None:
    """What libmagic calls a file; None where its program is not installed."""
    try:
        done = subprocess.run(["file", "-b", "--", path], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = "".join(letter for letter in done.stdout if letter.isprintable()).strip()
    return found[:120] if done.returncode == 0 and found else None


def of_its_life(target: Target, written: int) -> str:
    device = target.facts["device"]
    life = probe.endurance_bytes(probe.smart(device["name"])) if device else None
    if life is None:
        return "its endurance is unknown"
    return f"{words.share(written / life)} of the {words.size(life)} that it stands by its own wear counter"


def _where(target: Target) -> str:
    if target.kind == "device":
        return f"ERASES {target.spec}, {target.name}, {words.size(target.capacity_bytes)}: everything on it is lost"
    system = target.facts["file_system"] or FileSystem()
    what = f"{system.get('type', 'an unknown file system')} on {target.name}"
    return f"uses a file of {words.size(target.capacity_bytes)} at {target.spec} ({what})"


PLACES = ("filename", "directory", "filename_format", "filesize", "opendir")
"""fio's options that say what is written to: in the plan's command that is the target, and nothing else."""
MOST_JOBS = 12
"""Jobs that one line may show."""


def _fio(target: Target, job_file: str, options: list[tuple[str, str]]) -> str:
    """Each section becomes a job of the command line: to a job file fio would not apply what stands before it, and
    would write where that file says."""
    lines = [line.strip() for line in job_file.splitlines()]
    lines = [line for line in lines if line and line[0] not in "#;"]
    jobs = [line for line in lines if line.startswith("[") and line != "[global]"]
    if len(jobs) > MOST_JOBS:
        return f"{len(jobs)} jobs, too many for a line; the recording keeps them (job_file)"
    over = [f"--{name}={value}" if value else f"--{name}" for name, value in options if name not in PLACES]
    # A colon would begin another file.
    where = [f"--filename={target.spec.replace(':', chr(92) + ':')}"]
    if target.kind == "file":
        where.append(f"--filesize={target.capacity_bytes}")
    said = ["fio"]
    mine: list[str] = []
    for line in lines:
        if line.startswith("["):
            said, mine = said + mine, []
            said.append(f"--name={line.strip('[]')}")
            if line != "[global]":
                said += [*where, "--ioengine=io_uring"]
                mine = over
        elif line.partition("=")[0].strip() not in PLACES:
            said.append("--" + "=".join(part.strip() for part in line.split("=", 1)))
    return shlex.join(said + mine)
