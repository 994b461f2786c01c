"""The plan of a run on a real drive, shown before anything is written."""

import errno
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from pslc import suites
from pslc.base import children, failure, memory, shell, words
from pslc.base.errors import JobError
from pslc.device import probe
from pslc.device.cost import SLOW, Cost, best_bytes_per_s, cost
from pslc.device.region import Region, Scope, preparation
from pslc.device.target import Target
from pslc.recording import place, warnings
from pslc.runner.job_file import jobs_in
from pslc.schema.facts import Device, InspectedFile
from pslc.schema.health import health

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
    overwrites: InspectedFile | None = None
    takes_days: bool = False


def afford(costs: Cost) -> None:
    """Refuse what this machine has no memory for.

    Raises:
        JobError: it has not, with both numbers.
    """
    free = memory.free_bytes()
    if free is not None and costs.memory_bytes > free:
        needs = words.size(costs.memory_bytes)
        less = "use fewer numjobs or a smaller iodepth or bs; on a simulated drive, a smaller region or drive"
        raise JobError(
            f"the run needs {needs} of memory, but only {words.size(free)} are free",
            "; ".join(filter(None, (less, failure.limit_hint(errno.ENOMEM)))),
        )


def _days(costs: Cost, target: Target) -> str:
    days = f"{costs.least_s / DAY:,.0f}".replace(",", " ")
    about = "at least" if target.is_real else "about"
    if costs.least_s >= CENTURY:
        return f"takes {about} {days} days: more than a century"
    until = datetime.now() + timedelta(seconds=costs.least_s)
    return f"takes {about} {days} days, until {until:%Y-%m-%d}"


def expected(suite: str, region: Region, scope: Scope) -> list[str]:
    """The job files of a suite behind its preparation, as far as they are known before it runs."""
    return [text for text in (preparation(region, scope), *suites.expected(suite, region)) if text]


def plan(target: Target, steps: list[str], source: str, options: list[tuple[str, str]], layout: bool = False) -> Plan:
    """Plan a run of the job files `steps` on `target`: bytes, time and memory. With `layout`, files are first written
    where the jobs read a new file.

    Raises:
        PslcError: a job file cannot run on the target, or this machine has too little memory for it.
    """
    costs = cost(steps, source, options, target)
    afford(costs)
    long = [_days(costs, target)] if costs.least_s >= DAY else []
    if not target.is_real:
        return Plan(long, "", costs.write_bytes, takes_days=bool(long))
    laid_out = costs.layout_bytes if layout and target.kind == "file" and not Path(target.spec).exists() else 0
    written = costs.write_bytes + laid_out
    where, *more = places(target)
    sentences = [where, *long, *more]
    if laid_out:
        sentences.append(f"first writes {words.size(laid_out)} that the jobs read, because a new file is empty")
    about = "about " if len(steps) > 1 else ""
    if written:
        share = _share_of_drive(target, written)
        life, problems = of_its_life(target, written)
        sentences += [f"writes {about}{words.size(written)}{share}; {life}", *problems]
        fast = best_bytes_per_s(target.facts)
        times = [words.span(written / speed) for speed in (fast, min(SLOW, fast))]
        sentences.append(f"takes {' to '.join(times)} for the writes")
    if costs.read_bytes:
        sentences.append(f"reads {about}{words.size(costs.read_bytes)}")
    if costs.timed_s:
        verb = "writes as much as it can for" if costs.writes_until_time else "runs for"
        sentences.append(f"{verb} {words.span(costs.timed_s)}")
    if costs.idle_s:
        sentences.append(f"leaves the drive idle for {words.span(costs.idle_s)}")
    if len(steps) > 1:
        sentences.append(f"takes {len(steps)} steps as expected; measurements may change them")
    return Plan(sentences, _fio(target, "\n".join(steps), options), written, target.foreign, bool(long))


def _share_of_drive(target: Target, written: int) -> str:
    """Share of the drive's capacity that is written, behind a comma; empty where the capacity is unknown."""
    device = target.facts["device"] or Device()
    drive = device.get("bytes") or (target.capacity_bytes if target.kind == "device" else 0)
    return f", {_part(written / drive)} the drive's capacity" if drive else ""


def places(target: Target) -> list[str]:
    """Destination of the writes, and the data that will be lost, a sentence each."""
    sentences = [_where(target)]
    if target.kind == "device":
        sentences.append("keeps its first and last 16 MiB with the recording: pslc undo RUN puts them back")
        sentences += _used_beside(target)
    if target.foreign is not None:
        sentences.append(f"OVERWRITES {_lost(target.foreign)}, which pslc did not create")
    if target.kind == "file":
        sentences += [f"warning: {warning}" for warning in warnings.of_the_file_system(target.facts)]
    return sentences


def _used_beside(target: Target) -> list[str]:
    """Warnings of other namespaces of an NVMe drive that are in use: they share its cells, and the counters of the
    target do not show them."""
    beside = [
        (disk.name, inspected["users"])
        for name in probe.drives(target.facts)
        for disk in sorted((probe.SYS / "block" / name / "device").glob("nvme*n*"))
        if disk.name != name and (inspected := probe.users_and_signatures(Path("/dev", disk.name)))
    ]
    return [
        f"warning: {name}, another namespace of the drive, is in use ({users[0]}): stop that while you measure"
        for name, users in beside
        if users
    ]


def _lost(file: InspectedFile) -> str:
    """Path, size, age and type of a file."""
    age = words.span(max(time.time() - file["changed_unix_ns"] / 1e9, 0.0))
    what = "; ".join(file["holds"]) or _type(file["path"]) or "of unknown type"
    return f"{file['path']} ({words.size(file['bytes'])}, changed {age} ago, of user {file['owner']}, {what})"


def _type(path: Path) -> str | None:
    """Type that libmagic tells of a file; None where its program is not installed."""
    try:
        done = children.run(["file", "-b", "--", str(path)], timeout_s=10)
    except OSError:
        return None
    text = "".join(letter for letter in done.text if letter.isprintable()).strip()
    return text[:120] if done.code == 0 and text else None


def of_its_life(target: Target, written: int) -> tuple[str, list[str]]:
    """Say which share of the endurance of a device `written` bytes are, by its own wear counter, and what the drive
    reports to be wrong with itself."""
    logs = [probe.smart(name) for name in probe.drives(target.facts)]
    problems = [f"warning: {warning}" for log in logs for warning in warnings.of_health(log)]
    # How an array shares writes between its drives is not known.
    life = probe.endurance_bytes(health(logs[0])) if len(logs) == 1 else None
    if life is None:
        return "the endurance of the drive is unknown", problems
    return f"{words.share(written / life)} of the {words.size(life)} it endures by its own wear counter", problems


def _where(target: Target) -> str:
    if target.kind == "device":
        serial = (target.facts["device"] or Device()).get("serial")
        name = f"{target.name}, serial number {serial}" if serial else target.name
        if target.facts.get("members"):
            name += f", on {' and '.join(probe.drives(target.facts))}"
        return f"ERASES {target.spec}, {name}, {words.size(target.capacity_bytes)}: everything on it is lost"
    return f"uses a file of {words.size(target.capacity_bytes)} at {target.spec} ({place.down(target.facts)})"


PLACES = ("filename", "directory", "filename_format", "opendir")
"""fio's options that say what is written to: in the plan's command that is the target, and nothing else."""
MOST_JOBS = 12
"""Jobs that one line may show."""


def _fio(target: Target, job_file: str, options: list[tuple[str, str]]) -> str:
    """Each section becomes a job of the command line, with what stands in [global]: to a job file fio would not apply
    what stands before it, and would write where that file says."""
    jobs = jobs_in(job_file)
    if len(jobs) > MOST_JOBS:
        return f"{len(jobs)} jobs, too many for one line; the recording holds them (job_file)"
    # With `filesize` fio lets jobs go on to the end of the file past their size, so the file itself has to be as large.
    makes = target.kind == "file" and not Path(target.spec).exists()
    file = ["truncate", "-s", str(target.capacity_bytes), target.spec]
    words = ["fio"]
    for section, section_options in jobs:
        arguments = [option for option in section_options + options if option[0] not in PLACES]
        # A colon would begin another file.
        named = [
            ("name", dict(arguments).get("name", section)),
            ("filename", target.spec.replace(":", r"\:")),
            *(option for option in arguments if option[0] != "name"),
        ]
        words += [f"--{name}={value}" if value else f"--{name}" for name, value in named]
    return f"{shell.line(file)} && {shell.line(words)}" if makes else shell.line(words)


def _part(share: float) -> str:
    """`3.2 % of`, `2.2 times`."""
    if share >= 1:
        return f"{share:.1f} times"
    return f"{100 * share:.1f} % of" if share >= 0.0005 else "less than 0.1 % of"
