"""What would CrystalDiskMark show? Its table, by its rules.

CrystalDiskMark-compatible: a file of 1 GiB; all reads, then all writes, then a mix of 70 % reads. Each test has one
run that does not count, then five of 5 s, of which the best MB/s and the lowest mean latency count, with 5 s of pause
between tests. NVMe drives get its NVMe profile, others its default; both get 4 KiB requests of 1 to 16 threads
besides. Rounds rewrite the 1 GiB again and again. In the pauses a drive may move the file out of its cache: a
simulated one says how much.
"""

from typing import NotRequired

from typing_extensions import TypedDict

from pslc.base import units, words
from pslc.device.region import Region
from pslc.figures import classic, curves
from pslc.figures.picture import Picture, Table
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import jobs, latency, speed
from pslc.schema.facts import Device, Facts
from pslc.schema.jobs import Job
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "one run of 0.5 s instead of the best of five of 5 s"
COMPUTER = "i7-13700k"
UNLIKE_SCALED = "its file has a fixed size"
FILE = 1 << 30
SECONDS, QUICK_SECONDS, PAUSE_S = 5.0, 0.5, 5.0
RUNS = 5
Test = tuple[str, str, str, int, int]
DEFAULT: tuple[Test, ...] = (
    ("SEQ1M Q8T1", "", "1m", 8, 1),
    ("SEQ1M Q1T1", "", "1m", 1, 1),
    ("RND4K Q32T1", "rand", "4k", 32, 1),
    ("RND4K Q1T1", "rand", "4k", 1, 1),
)
NVME: tuple[Test, ...] = (
    ("SEQ1M Q8T1", "", "1m", 8, 1),
    ("SEQ128K Q32T1", "", "128k", 32, 1),
    ("RND4K Q32T16", "rand", "4k", 32, 16),
    ("RND4K Q1T1", "rand", "4k", 1, 1),
)
THREADS: tuple[Test, ...] = tuple((f"RND4K Q1T{threads}", "rand", "4k", 1, threads) for threads in (2, 4, 8, 16))
"""Rows of reads and writes that the program has no profile for."""
FOLDED = "idle_folded_bytes_total"
KINDS = {"read": ("read", None), "write": ("write", None), "mix": ("rw", 70)}
"""Kinds of tests in fio's words, with the percentage of reads."""
CODES = (
    "SEQ: in sequence; RND: random; 1M, 128K, 4K: request size; Q: queue depth; T: threads; mix: 70 % reads; -: not run"
)
SATA_BYTES_PER_S = 700e6


def is_nvme(facts: Facts) -> bool:
    """Whether the drive is an NVMe drive, by the link of a simulated drive or the name of a real one."""
    device = facts.get("device") or Device()
    return facts.get("link_bytes_per_s", 0) > SATA_BYTES_PER_S or str(device.get("name", "")).startswith("nvme")


def steps(region: Region) -> Steps:
    """The file, then the tests."""
    size = min(FILE, region.share(1.0))
    text = region.write("test-file", size)
    runs = (1,) if region.quick else range(RUNS + 1)
    profile = NVME if is_nvme(region.target.facts) else DEFAULT
    for kind, (word, reads) in KINDS.items():
        for test, random, bs, depth, threads in profile if kind == "mix" else profile + THREADS:
            for run in runs:
                rw = f"{random}{word}" if word != "rw" or random else "rw"
                pause = PAUSE_S if run == runs[0] else 0.0
                seconds = QUICK_SECONDS if region.quick else SECONDS
                text += region.job(f"{kind} {test} run {run}", rw=rw, bs=bs, iodepth=depth, size=size, seconds=seconds,
                                  pause=pause, numjobs=threads, group_reporting=True, rwmixread=reads,
                                  norandommap=bool(random))  # fmt: skip
    yield text


class Figures(classic.Speeds):
    """Figures of one test."""

    mix_bytes_per_s: NotRequired[float]
    read_mean_s: NotRequired[float]
    write_mean_s: NotRequired[float]
    read_iops: NotRequired[float]
    write_iops: NotRequired[float]


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    cdm: list[Figures]
    moved_in_pauses_bytes: int | None
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `cdm`: of each `test` (`SEQ1M Q8T1`) the best `read_bytes_per_s`, `write_bytes_per_s` and `mix_bytes_per_s`,
    the lowest `read_mean_s` and `write_mean_s`, and `read_iops`, `write_iops`
    - `moved_in_pauses_bytes`: what the drive moved out of its cache while it was left alone; null on a real drive
    """
    runs: dict[str, dict[str, list[Job]]] = {}
    for name, job in jobs(recording):
        kind, _, rest = name.partition(" ")
        test, _, run = rest.partition(" run ")
        if kind in KINDS and run != "0":
            runs.setdefault(test, {of: [] for of in KINDS})[kind].append(job)
    moved = recording.totals[FOLDED] - recording.before[FOLDED] if FOLDED in recording.totals else None
    return {"cdm": [_row(test, of) for test, of in runs.items()], "moved_in_pauses_bytes": moved, "warnings": []}


def _row(test: str, of: dict[str, list[Job]]) -> Figures:
    read, write, mix = (max((speed(job, "read") + speed(job, "write") for job in of[kind]), default=0.0)
                        for kind in KINDS)  # fmt: skip
    row: Figures = {"test": test, "read_bytes_per_s": read, "write_bytes_per_s": write}
    if of["mix"]:
        row["mix_bytes_per_s"] = mix
    if of["read"]:
        row |= {"read_mean_s": min(latency(job, "read") for job in of["read"]), "read_iops": read / _block(test)}
    if of["write"]:
        row |= {"write_mean_s": min(latency(job, "write") for job in of["write"]), "write_iops": write / _block(test)}
    return row


def _block(test: str) -> int:
    size = test.split()[0].removeprefix("SEQ").removeprefix("RND")
    return int(size[:-1]) * units.POWERS_OF_1024[size[-1].lower()]


def sentences(findings: Findings) -> list[str]:
    """The first row, that of single small requests, and what the pauses did."""
    rows, moved = findings["cdm"], findings["moved_in_pauses_bytes"]
    small = [row for row in rows if row["test"] == "RND4K Q1T1"]
    lines = [f"CrystalDiskMark-compatible {row['test']}: {words.speed(row['read_bytes_per_s'])} read, "
             f"{words.speed(row['write_bytes_per_s'])} written." for row in (rows[:1] + small)]  # fmt: skip
    if moved is None:
        return lines
    what = words.size(moved) if moved else "nothing"
    return [*lines, f"In the pauses between the tests the drive moved {what} out of its cache."]


def tables(findings: Findings) -> list[Table]:
    """Table of CrystalDiskMark's rows."""
    more = {"mix": "mix_bytes_per_s", "read IOPS": "read_iops", "write IOPS": "write_iops"}
    more |= {"read takes": "read_mean_s", "write takes": "write_mean_s"}
    rows = [dict.fromkeys(more.values()) | row for row in findings["cdm"]]
    return [classic.table("CrystalDiskMark-compatible", rows, more)]


def pictures(recording: Recording) -> list[Picture]:
    """Speed of each row of CrystalDiskMark's table."""
    rows = recording.findings.typed(Findings)["cdm"]
    title = ("CrystalDiskMark-compatible", "speed of each test")
    return [classic.bars("cdm", title, rows, CODES), *curves.of_any(recording)]
