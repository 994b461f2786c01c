"""Public job files under fio and under pslc: `make bench-fio-public FOLDER=jobs`.

FOLDER holds job files of others (`*`, one a file). Each is made small first, alike for both: `filename` is one scratch
file of 64 MiB, sizes shrink by one factor, a job ends after 1 s, at most 4 clones and 8 jobs are kept, and variables of
the environment that name no value here get one. Then fio runs it, and pslc does, on files of their own in memory. Jobs
with trims run under fio's null engine there, as fio trims no files.

Compared of each job: name, error, flushes, run time; of each direction how many requests, bytes, smallest and largest
request, and the extent. What both draw by chance may differ by what chance does; where a job is ended by time, counts
are compared if a rate or a think time sets them, else the mix and the sizes. A file is the *same*, *refused* by pslc
with a reason, *not fio's* (fio refuses it as well, or cannot run it), or *misread*.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

FILE_BYTES: Final = 64 << 20
MAX_RUNTIME_S: Final = 1
MAX_WARMUP_MS: Final = 300
MAX_CLONES: Final = 4
MAX_JOBS: Final = 8
"""Sections of a file that are kept; many files repeat one for each block size."""
LIMIT_S: Final = 60
"""Of one run; what goes on is ended."""
AT_ONCE: Final = 2
MIN_DRAWS: Final = 200
"""Fewer requests than this say nothing of a share."""
CHANCE_SHARE: Final = 0.15
"""How far counts may be apart that are drawn, or that a rate sets within a run of 1 s."""
RUNTIME_SHARE: Final = 0.15
RUNTIME_SLACK_MS: Final = 250
"""Threads of a busy machine begin and end late."""
MIN_WHOLE_LINES: Final = 4
"""Clones write one iolog, and cut each other's lines: a length that is rarer is of such a line."""
MIN_PACING_THINK_US: Final = 500
"""Of a request; a shorter think time does not set how many there are."""
FLUSH_SHARE: Final = 0.05
"""How far flushes may be apart, of writes: with several requests under way it is left to chance which is made."""
PLACE_SHARE: Final = 0.02
"""How far the ends of an extent may be apart, of the file: the last blocks are drawn late."""
MAX_TRIES: Final = 3
"""Runs of a file that is not the same: a busy machine may be late once."""
VERIFY_ERROR: Final = 84
DIRECTIONS: Final = ("read", "write", "trim")
SIZES: Final = (
    "size",
    "filesize",
    "io_size",
    "io_limit",
    "offset",
    "offset_increment",
    "zonesize",
    "zonerange",
    "zoneskip",
)
TIMES: Final = ("runtime", "timeout")
WARMUPS: Final = ("ramp_time", "startdelay", "start_delay")
CLONES: Final = ("numjobs", "nr_jobs")
LEFT_OUT: Final = ("filename", "directory", "filename_format", "write_iolog", "output", "unlink", "thread_affinity")
UNITS: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
SECONDS: Final = {"ms": 0.001, "us": 1e-6, "": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
DRAWN: Final = ("bssplit", "bsrange", "blocksize_range", "random_distribution", "percentage_random", "bs_is_seq_rand")
GUESSES: Final = {
    "BLOCK_?SIZE|BS": "4k", "SIZE": "64m", "DIRECT": "1", "FILE|DEV|DISK|DIR|PATH": "x.bin", "TIME": "1",
    "DEPTH": "4", "ENGINE": "psync", "RW|MODE": "randread", "VERIFY": "0",
}  # fmt: skip
"""What a variable of the environment is given, by its name; else 1."""


@dataclass(frozen=True)
class Job:
    """One job or clone of a run.

    Attributes:
        moved: requests and bytes of each direction.
    """

    name: str
    error: int
    runtime_ms: int
    flushes: int
    moved: dict[str, tuple[int, int]]


@dataclass
class Extent:
    """Requests of one direction that a section made.

    Attributes:
        sizes: smallest and largest, in bytes.
    """

    first: int
    end: int
    sizes: tuple[int, int]
    count: int = 0


@dataclass
class Outcome:
    """A run of one program."""

    code: int
    said: str
    jobs: list[Job] = field(default_factory=list)
    extents: dict[tuple[str, str], Extent] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """What came of one file: `same`, `refused`, `not fio's` or `misread`, and why."""

    path: Path
    word: str
    why: str = ""


def size_of(word: str) -> int:
    """Bytes of a size; 0 where it is none of bytes."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kmgt]?)i?b?", word.strip().lower())
    return int(float(match[1]) * UNITS[match[2]]) if match else 0


def seconds_of(word: str) -> float:
    """Seconds of a time; 0 where it is none."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|us|s|m|h|d|)\w*", word.strip().lower())
    return float(match[1]) * SECONDS[match[2]] if match else 0


def sections(text: str) -> list[tuple[str, list[str]]]:
    """Sections of a job file, with their lines that say something."""
    parts: list[tuple[str, list[str]]] = []
    for raw in text.splitlines():
        line = re.sub(r"(^|\s)[;#].*", "", raw).strip()
        header = re.fullmatch(r"\[(.*)\]", line)
        if header:
            parts.append((header[1], []))
        elif line and parts:
            parts[-1][1].append(re.sub(r"\s*=\s*", "=", line, count=1))
    return parts


def value(lines: list[str], *names: str) -> str:
    """The last value of an option; empty where there is none."""
    return next((line.partition("=")[2] for line in reversed(lines) if line.partition("=")[0] in names), "")


def factor(parts: list[tuple[str, list[str]]]) -> int:
    """By how much sizes shrink, so that every job ends within the file."""
    largest = FILE_BYTES
    everywhere: list[str] = []
    for name, lines in parts:
        everywhere = everywhere + lines if name == "global" else everywhere
        own = everywhere + lines
        clones = min(int(value(own, *CLONES) or 1) if value(own, *CLONES).isdigit() else 1, MAX_CLONES)
        length = max(size_of(value(own, "size")), size_of(value(own, "filesize")))
        offset = size_of(value(own, "offset"))
        largest = max(largest, length + offset + (clones - 1) * size_of(value(own, "offset_increment")))
        largest = max(largest, size_of(value(own, "io_size", "io_limit")))
    by = 1
    while largest > by * FILE_BYTES:
        by *= 2
    return by


def shrunk_line(line: str, by: int) -> str | None:
    """A line of the small file; None where it is left out."""
    name, _, text = line.partition("=")
    if name in LEFT_OUT:
        return None
    if name in SIZES and by > 1:
        parts = [
            str(max(4096, size_of(word) // by // 4096 * 4096)) if size_of(word) else word
            for word in re.split(r"-", text)
        ]
        return f"{name}={'-'.join(parts)}"
    if name in TIMES:
        return f"{name}={MAX_RUNTIME_S}" if seconds_of(text) > MAX_RUNTIME_S else line
    if name in WARMUPS:
        return f"{name}={MAX_WARMUP_MS}ms" if seconds_of(text) * 1000 > MAX_WARMUP_MS else line
    if name in CLONES and text.isdigit():
        return f"{name}={min(int(text), MAX_CLONES)}"
    if name == "loops" and text.isdigit():
        return f"loops={min(int(text), 2)}"
    return line


def small(text: str) -> str:
    """The job file as both run it."""
    parts = sections(text)
    by = factor(parts)
    lines: list[str] = ["[global]", "filename=x.bin", f"runtime={MAX_RUNTIME_S}"]
    jobs = 0
    for name, own in parts:
        jobs += name != "global"
        if jobs > MAX_JOBS:
            break
        lines += [f"[{name}]", *filter(None, (shrunk_line(line, by) for line in own))]
        if name != "global":
            lines.append(f"write_iolog=io.{jobs}")
    return "\n".join(lines) + "\n"


def environment(text: str) -> dict[str, str]:
    """Values for what a file asks of the environment."""
    names = set(re.findall(r"\$\{(\w+)\}", text))
    return {name: next((word for of, word in GUESSES.items() if re.search(of, name.upper())), "1") for name in names}


def run(command: list[str], folder: Path, variables: dict[str, str]) -> Outcome:
    """What a program did with the file."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | variables,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return Outcome(-1, f"ended after {LIMIT_S} s")
        out.seek(0)
        err.seek(0)
        printed, said = out.read(), err.read()
    outcome = Outcome(code, said.strip() or printed.strip())
    if "\n{" in f"\n{printed}":
        try:
            outcome.jobs = list(jobs_of(json.loads(printed[f"\n{printed}".index("\n{") :])))
        except ValueError:
            outcome.said = "JSON that nobody reads"
    for path in folder.glob("io.*"):
        outcome.extents |= {(path.name, of): extent for of, extent in extents_of(path).items()}
    return outcome


def jobs_of(document: dict[str, Any]) -> Iterator[Job]:
    """Jobs of fio's JSON."""
    for job in document["jobs"]:
        moved = {of: (job[of]["total_ios"], job[of]["io_bytes"]) for of in DIRECTIONS}
        yield Job(job["jobname"], job["error"], job["job_runtime"], job["sync"].get("total_ios", 0), moved)


def extents_of(path: Path) -> dict[str, Extent]:
    """Extents in an iolog; clones write one together, a line that two of them cut is left out."""
    found: dict[str, Extent] = {}
    rows = [line.split() for line in path.read_text(errors="replace").splitlines()]
    moved = [
        (words[2], int(words[3]), int(words[4]))
        for words in rows
        if len(words) == 5 and words[2] in DIRECTIONS and words[3].isdigit() and words[4].isdigit()
    ]
    clones = sum(words[-1:] == ["open"] for words in rows) > 1
    common = Counter(length for _, _, length in moved)
    for of, at, length in moved:
        if clones and (common[length] < max(MIN_WHOLE_LINES, len(moved) // 100) or at + length > FILE_BYTES):
            continue
        one = found.setdefault(of, Extent(at, at, (length, length)))
        one.count += 1
        one.first, one.end = min(one.first, at), max(one.end, at + length)
        one.sizes = min(one.sizes[0], length), max(one.sizes[1], length)
    return found


def apart(one: float, other: float, share: float, slack: float = 0) -> bool:
    """Whether two figures are further apart than a share of the larger, and than a slack."""
    return abs(one - other) > max(share * max(one, other), slack)


def is_ended(job: Job, asked: "Asked") -> bool:
    """Whether time, or another job, ended a job: its counts are the machine's."""
    return job.runtime_ms >= 900 * MAX_RUNTIME_S or bool(
        {"exitall", "time_based", "fill_device"} & asked.options.keys()
    )


def paced(options: dict[str, str], of: str) -> bool:
    """Whether a rate or a think time sets how many requests of a direction there are."""
    for name in ("rate", "rate_iops"):
        words = options.get(name, "").split(",")
        word = words[min(DIRECTIONS.index(of), len(words) - 1)] if len(words) != 2 or of != "trim" else ""
        if word.strip(" 0"):
            return True
    think = options.get("thinktime", "0")
    blocks = options.get("thinktime_blocks", "1")
    each = seconds_of(think if not think.isdigit() else f"{think}us") / max(int(blocks) if blocks.isdigit() else 1, 1)
    return each * 1e6 >= MIN_PACING_THINK_US


@dataclass(frozen=True)
class Asked:
    """What a file asks of a job that the JSON shows.

    Attributes:
        options: its own and those of [global]; of several jobs in one report those of all.
        merged: it is of several sections, or of clones: the machine shares itself out among them.
    """

    options: dict[str, str]
    merged: bool

    @property
    def drawn(self) -> bool:
        """Chance sets sizes, places or directions."""
        return self.mixed or any(name in self.options for name in DRAWN)

    @property
    def mixed(self) -> bool:
        """It reads and writes."""
        word = self.options.get("rw", self.options.get("readwrite", ""))
        return word.split(":")[0] in ("rw", "readwrite", "randrw")

    @property
    def depth(self) -> int:
        """Requests under way."""
        word = self.options.get("iodepth", "1")
        return int(word) if word.isdigit() else 1


def asked_of(text: str, names: list[str]) -> list[Asked]:
    """Of each job in the JSON, by its name."""
    everywhere: dict[str, str] = {}
    jobs: dict[str, dict[str, str]] = {}
    for name, lines in sections(text):
        own = {key: word for key, _, word in (line.partition("=") for line in lines)}
        if name == "global":
            everywhere |= own
        else:
            jobs[own.get("name", name)] = everywhere | own
    grouped = any("group_reporting" in own for own in jobs.values())
    asked = []
    for name in names:
        own = jobs.get(name, everywhere)
        merged = grouped and len(jobs) > 1
        if merged:
            own = {key: word for one in jobs.values() for key, word in one.items()} | own
        clones = value([f"{key}={word}" for key, word in own.items()], *CLONES)
        asked.append(Asked(own, merged or (clones.isdigit() and int(clones) > 1)))
    return asked


def other_times(their: Job, our: Job, asked: Asked) -> Iterator[str]:
    """An error, or a run time, that is another."""
    shared = asked.merged and their.error == VERIFY_ERROR
    # Jobs that write the same blocks are judged by fio as well, which finds what another wrote.
    if (their.error != 0) != (our.error != 0) and not shared:
        yield f"{our.name}: error {our.error}, of fio {their.error}"
    timed = "time_based" in asked.options or any(paced(asked.options, of) for of in DIRECTIONS)
    if timed and apart(their.runtime_ms, our.runtime_ms, RUNTIME_SHARE, RUNTIME_SLACK_MS):
        yield f"{our.name}: took {our.runtime_ms} ms, of fio {their.runtime_ms}"


def other_counts(their: Job, our: Job, asked: Asked) -> Iterator[str]:
    """Requests and bytes that time does not set."""
    if their.error or our.error:
        return
    ended = is_ended(their, asked) or is_ended(our, asked)
    for of in DIRECTIONS:
        (their_count, their_bytes), (our_count, our_bytes) = their.moved[of], our.moved[of]
        if (their_count == 0) != (our_count == 0) and max(their_count, our_count) > MIN_WHOLE_LINES:
            yield f"{our.name}: {our_count} {of}s, of fio {their_count}"
        pace = paced(asked.options, of)
        if ended and (asked.merged or not pace):
            continue
        share = CHANCE_SHARE if asked.drawn or pace else 0
        if apart(their_count, our_count, share, 12 if share else 0):
            yield f"{our.name}: {our_count} {of}s, of fio {their_count}"
        elif not share and their_bytes != our_bytes:
            yield f"{our.name}: {our_bytes} bytes of {of}s, of fio {their_bytes}"


def other_shares(their: Job, our: Job, asked: Asked) -> Iterator[str]:
    """A mix, a mean size or flushes that are others."""
    if their.error or our.error:
        return
    total = [sum(job.moved[of][0] for of in DIRECTIONS) for job in (their, our)]
    free = not any(paced(asked.options, of) for of in DIRECTIONS)
    for of in DIRECTIONS:
        (their_count, their_bytes), (our_count, our_bytes) = their.moved[of], our.moved[of]
        if min(their_count, our_count) < MIN_DRAWS or "verify" in asked.options:
            continue
        one, other = their_count / total[0], our_count / total[1]
        if asked.mixed and free and not asked.merged and abs(one - other) > CHANCE_SHARE / 2:
            yield f"{our.name}: {other:.1%} {of}s, of fio {one:.1%}"
        if not asked.merged and apart(their_bytes / their_count, our_bytes / our_count, CHANCE_SHARE):
            yield f"{our.name}: {of}s of {our_bytes / our_count:.0f} bytes, of fio {their_bytes / their_count:.0f}"
    writes = [max(job.moved["write"][0], 1) for job in (their, our)]
    flushes = [their.flushes / writes[0], our.flushes / writes[1]]
    if abs(flushes[0] - flushes[1]) > FLUSH_SHARE + 2 * asked.depth / min(writes):
        yield f"{our.name}: {our.flushes} flushes, of fio {their.flushes}"


def other_places(theirs: Outcome, ours: Outcome, ended: bool) -> Iterator[str]:
    """Sections whose requests are elsewhere, or of other sizes."""
    for key in theirs.extents.keys() & ours.extents.keys():
        one, other = theirs.extents[key], ours.extents[key]
        if min(one.count, other.count) < MIN_DRAWS:
            continue
        slack = PLACE_SHARE * FILE_BYTES + max(one.sizes[1], other.sizes[1])
        if apart(one.first, other.first, 0, slack) or (not ended and apart(one.end, other.end, 0, slack)):
            yield f"{key[0]}: {key[1]}s from {other.first} to {other.end}, of fio {one.first} to {one.end}"
        if one.sizes[1] != other.sizes[1]:
            yield f"{key[0]}: {key[1]}s of up to {other.sizes[1]} bytes, of fio {one.sizes[1]}"


def compare(path: Path, scratch: Path) -> Verdict:
    """Run one file under both."""
    text = path.read_text(encoding="utf-8", errors="replace")
    job = small(text)
    variables = environment(text)
    fio_text = re.sub(r"^ioengine=.*", "ioengine=null", job, flags=re.MULTILINE) if "trim" in job else job
    outcomes: list[Outcome] = []
    pslc = f"{Path(sys.executable).parent}/pslc run j.fio --on ./x.bin --reuse --overwrite-file x.bin --yes"
    programs = {f"{pslc} --output-format=fio": job, "fio j.fio --output-format=json": fio_text}
    for command, own in programs.items():
        with tempfile.TemporaryDirectory(dir=scratch) as name:
            folder = Path(name)
            (folder / "j.fio").write_text(own)
            (folder / "x.bin").write_bytes(os.urandom(1 << 20) * (FILE_BYTES >> 20))
            outcomes.append(run(command.split(), folder, variables))
    return judge(path, job, *outcomes)


def judge(path: Path, text: str, ours: Outcome, theirs: Outcome) -> Verdict:
    """The verdict on two runs."""
    if not theirs.jobs or (theirs.code != 0 and not any(job.error for job in theirs.jobs)):
        last = theirs.said.splitlines()[0] if theirs.said else "nothing"
        word = "not fio's" if not ours.jobs or ours.code == 0 else "misread"
        return Verdict(path, word, f"fio: {last[:120]}")
    if not ours.jobs:
        error = re.search(r"^error: (.*)", ours.said, re.MULTILINE)
        if error and ours.code == 2:
            return Verdict(path, "refused", error[1])
        return Verdict(path, "misread", f"exit code {ours.code}: {ours.said[-200:]}")
    names = [[job.name for job in of.jobs] for of in (theirs, ours)]
    if names[0] != names[1]:
        return Verdict(path, "misread", f"jobs {names[1]}, of fio {names[0]}")
    asked = asked_of(text, names[1])
    found: list[str] = []
    for their, our, of in zip(theirs.jobs, ours.jobs, asked, strict=True):
        # A job of the null engine touches no drive: it waits for its runtime, as documented.
        if of.options.get("ioengine") != "null":
            for differences in (other_times, other_counts, other_shares):
                found += differences(their, our, of)
    ended = any(map(is_ended, [*theirs.jobs, *ours.jobs], [*asked, *asked]))
    found += other_places(theirs, ours, ended or any(job.error for job in theirs.jobs))
    return Verdict(path, "misread", "; ".join(found[:3])) if found else Verdict(path, "same")


def main() -> None:
    """Print the table, worst first."""
    if shutil.which("fio") is None:
        sys.exit("fio is missing. On Debian and Ubuntu: apt install fio")
    paths = sorted(path for path in Path(sys.argv[1]).iterdir() if path.is_file())
    memory = Path("/dev/shm")
    with (
        tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        verdicts = list(pool.map(lambda path: compare(path, Path(name)), paths))
        for at, verdict in enumerate(verdicts):
            tries = 1
            while verdicts[at].word == "misread" and tries < MAX_TRIES:
                verdicts[at] = compare(verdict.path, Path(name))
                tries += 1
    order = ["misread", "refused", "not fio's", "same"]
    for verdict in sorted(verdicts, key=lambda verdict: order.index(verdict.word)):
        if verdict.word != "same":
            print(f"{verdict.word}: {verdict.path.name}: {verdict.why}")
    counts = Counter(verdict.word for verdict in verdicts)
    whole = len(verdicts) - counts["not fio's"]
    fine = counts["same"] + counts["refused"]
    print(
        f"{len(verdicts)} files, {whole} that fio runs: {counts['same']} the same,"
        f" {counts['refused']} refused with a reason ({100 * fine / max(whole, 1):.1f} %), {counts['misread']} misread"
    )


if __name__ == "__main__":
    main()
