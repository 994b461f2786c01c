"""What would CrystalDiskMark show? Its table, by its rules.

CrystalDiskMark-compatible: a file of 1 GiB; all reads, then all writes, then a mix of 70 % reads. Each test has one run
that does not count, then three of 5 s, of which the best MB/s and the lowest mean latency count, with 5 s of pause
between tests. NVMe drives get its NVMe profile, others its default. IOPS are MB/s over the request size. Rounds of 5 s
rewrite the 1 GiB again and again, so this is a cyclic overwrite.
"""

from typing import NotRequired

from typing_extensions import TypedDict

from pslc.base import words
from pslc.device.region import Region
from pslc.figures import classic, curves
from pslc.figures.picture import Picture, Table
from pslc.figures.tables import Column
from pslc.recording.store import Recording
from pslc.recording.suite_helpers import jobs, latency, speed
from pslc.schema.facts import Device, Facts
from pslc.schema.jobs import Job
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "one run of 0.5 s instead of the best of three of 5 s"
UNLIKE_SCALED = "its file has a fixed size"
ON_A_DESKTOP = True
FILE = 1 << 30
SECONDS, QUICK_SECONDS, PAUSE_S = 5.0, 0.5, 5.0
RUNS = 3
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
KINDS = {"read": ("read", None), "write": ("write", None), "mix": ("rw", 70)}
"""Kinds of tests in fio's words, with the percentage of reads."""
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
    for kind, (word, reads) in KINDS.items():
        for test, random, bs, depth, threads in NVME if is_nvme(region.target.facts) else DEFAULT:
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

    mix_bytes_per_s: float
    read_mean_s: NotRequired[float]
    write_mean_s: NotRequired[float]
    read_iops: NotRequired[float]
    write_iops: NotRequired[float]


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    cdm: list[Figures]
    doubts: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `cdm`: of each `test` (`SEQ1M Q8T1`) the best `read_bytes_per_s`, `write_bytes_per_s` and `mix_bytes_per_s`,
    the lowest `read_mean_s` and `write_mean_s`, and `read_iops`, `write_iops`
    """
    runs: dict[str, dict[str, list[Job]]] = {}
    for name, job in jobs(recording):
        kind, _, rest = name.partition(" ")
        test, _, run = rest.partition(" run ")
        if kind in KINDS and run != "0":
            runs.setdefault(test, {of: [] for of in KINDS})[kind].append(job)
    return {"cdm": [_row(test, of) for test, of in runs.items()], "doubts": []}


def _row(test: str, of: dict[str, list[Job]]) -> Figures:
    read, write, mix = (max((speed(job, "read") + speed(job, "write") for job in of[kind]), default=0.0)
                        for kind in KINDS)  # fmt: skip
    row: Figures = {"test": test, "read_bytes_per_s": read, "write_bytes_per_s": write, "mix_bytes_per_s": mix}
    if of["read"]:
        row |= {"read_mean_s": min(latency(job, "read") for job in of["read"]), "read_iops": read / _block(test)}
    if of["write"]:
        row |= {"write_mean_s": min(latency(job, "write") for job in of["write"]), "write_iops": write / _block(test)}
    return row


def _block(test: str) -> int:
    size = test.split()[0].removeprefix("SEQ").removeprefix("RND")
    return int(size[:-1]) * {"K": 1 << 10, "M": 1 << 20}[size[-1]]


def sentences(findings: Findings) -> list[str]:
    """The first row and the last."""
    rows = findings["cdm"]
    return [f"CrystalDiskMark-compatible {row['test']}: {words.speed(row['read_bytes_per_s'])} read, "
            f"{words.speed(row['write_bytes_per_s'])} written." for row in (rows[:1] + rows[-1:])]  # fmt: skip


def tables(findings: Findings) -> list[Table]:
    """Table of CrystalDiskMark's rows."""
    more: list[Column] = [("mix", "mix_bytes_per_s", words.speed), ("read IOPS", "read_iops", words.count)]
    more += [("write IOPS", "write_iops", words.count), ("read takes", "read_mean_s", words.span)]
    rows = [{"read_iops": None, "write_iops": None, "read_mean_s": None, **row} for row in findings["cdm"]]
    return [classic.table("CrystalDiskMark-compatible", rows, more)]


def pictures(recording: Recording) -> list[Picture]:
    """Speed of each row of CrystalDiskMark's table."""
    rows = recording.findings.typed(Findings)["cdm"]
    return [classic.bars("cdm", "CrystalDiskMark-compatible", rows), *curves.of_any(recording)]
