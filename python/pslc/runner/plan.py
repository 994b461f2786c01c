"""What a run is going to do to a real drive, said before it does anything."""

from dataclasses import dataclass
from typing import Any

from pslc import words
from pslc._native import plan_jobs
from pslc.targets import probe
from pslc.targets.target import Target

SLOW, FAST = 100e6, 3000e6
"""Bytes a second between which drives write for long: bounds of how long it takes."""


@dataclass(frozen=True)
class Plan:
    """Sentences to show, and the job as a command of fio's."""

    sentences: list[str]
    fio: str
    write_bytes: int


@dataclass(frozen=True)
class Cost:
    """What steps do to a drive, as far as it is known beforehand.

    Attributes:
        timed_s: how long jobs go on that end by time; those that write may write as much as they can.
        idle_s: for how long the drive is left alone.
    """

    write_bytes: int
    read_bytes: int
    timed_s: float
    idle_s: float
    writes_until_time: bool

    def seconds(self, bytes_per_s: float) -> float:
        """How long it takes where so much is moved a second."""
        return (self.write_bytes + self.read_bytes) / bytes_per_s + self.timed_s + self.idle_s


def cost(steps: list[str], source: str, options: list[tuple[str, str]], capacity_bytes: int) -> Cost:
    """The cost of steps on a drive.

    Raises:
        PslcError: a job file cannot be used on it.
    """
    found = [plan_jobs(text, source, options, capacity_bytes) for text in steps]
    total = {name: sum(step[name] for step in found) for name in ("write_bytes", "read_bytes", "timed_ns", "idle_ns")}
    return Cost(
        total["write_bytes"],
        total["read_bytes"],
        total["timed_ns"] / 1e9,
        total["idle_ns"] / 1e9,
        any(step["writes_until_time"] for step in found),
    )


def plan(target: Target, steps: list[str], source: str, options: list[tuple[str, str]]) -> Plan:
    """What running the job files of `steps` on `target` does.

    Raises:
        PslcError: one of them cannot be used on it.
    """
    found = cost(steps, source, options, target.capacity_bytes)
    written = found.write_bytes
    said = [_where(target)]
    about = "about " if len(steps) > 1 else ""
    if written:
        share = ""
        drive = (target.facts["device"] or {}).get("bytes") or (target.capacity_bytes if target.kind == "device" else 0)
        if drive:
            share = f", {100 * written / drive:.1f} % of the drive's capacity"
        said.append(f"writes {about}{words.size(written)}{share}; {_of_its_life(target, written)}")
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
    return Plan(said, _fio(target, "\n".join(steps), source, options), written)


def _of_its_life(target: Target, written: int) -> str:
    device = target.facts["device"]
    life = probe.endurance_bytes(probe.smart(device["name"])) if device else None
    if life is None:
        return "its endurance is unknown"
    return f"{words.share(written / life)} of the {words.size(life)} that it stands by its own wear counter"


def _where(target: Target) -> str:
    if target.kind == "device":
        return f"ERASES {target.spec}, {target.name}, {words.size(target.capacity_bytes)}: everything on it is lost"
    system: dict[str, Any] = target.facts["file_system"] or {}
    what = f"{system.get('type', 'an unknown file system')} on {target.name}"
    return f"uses a file of {words.size(target.capacity_bytes)} at {target.spec} ({what})"


def _fio(target: Target, job_file: str, source: str, options: list[tuple[str, str]]) -> str:
    """One section becomes one command; more of them are a file, as they are."""
    lines = [line.strip() for line in job_file.splitlines()]
    lines = [line for line in lines if line and line[0] not in "#;"]
    sections = [line for line in lines if line.startswith("[") and line != "[global]"]
    over = [f"--{name}={value}" if value else f"--{name}" for name, value in options]
    where = [f"--filename={target.spec}"]
    if target.kind == "file":
        where.append(f"--filesize={target.capacity_bytes}")
    if len(sections) > 1 or not source.startswith(sections[0].strip("[]")):
        return " ".join(["fio", *where, *over, source])
    words_of = [f"--{line}" for line in lines if not line.startswith("[")]
    return " ".join(["fio", f"--name={sections[0].strip('[]')}", *where, "--ioengine=io_uring", *words_of, *over])
