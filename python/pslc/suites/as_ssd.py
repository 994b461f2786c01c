"""What would AS SSD show? Its rows, scores and copies, by its formula.

AS-SSD-compatible: a file of 1 GB is written in blocks of 16 MB and read; random 4 KiB requests over it, one at a time
and by 64 threads with 16 MB each; the time of a 4 KiB read anywhere in it, and of a 512 B write (4 KiB if the target
takes no less). Scores are in MB/s: read seq/10 + 4K + 64, write the same, total 0.15 seq write + 0.1 seq read + 2 x
4K read + 4K write + 64 write + 1.5 x 64 read. Copies of two large files, many small ones, and a mix go through the
page cache.
"""

from functools import partial

from typing_extensions import TypedDict

from pslc.base import words
from pslc.device.region import MIB, Region
from pslc.figures import classic, curves
from pslc.figures.picture import Label, Picture, Table, Text
from pslc.figures.tables import of_rows
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import jobs, latency, seconds, speed
from pslc.schema.jobs import MOVED
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "a tenth of the data"
COMPUTER = "i7-13700k"
UNLIKE_SCALED = "its file has a fixed size"
GB = 1000 * 10**6 // MIB * MIB
THREADS, EACH = 64, 16 * MIB
ACCESSES = 1000
COPIES = {"ISO": (GB, 0), "Program": (GB // 2, 1 << 19), "Game": (GB, 4 * MIB)}
"""Bytes, and bytes of a file; 0: there is one."""


def steps(region: Region) -> Steps:
    """The rows, each written before it is read, then the copies."""
    size = min(GB // 10 // MIB * MIB if region.quick else GB, region.share(0.3))
    each = max(min(EACH, size // THREADS), 4096 * 16) // 4096 * 4096
    small = "4k" if region.target.is_real else "512"
    text = region.job("seq-write", rw="write", bs="16m", size=size)
    text += region.job("seq-read", rw="read", bs="16m", size=size)
    for kind in ("write", "read"):
        text += region.job(f"4k-{kind}", rw=f"rand{kind}", bs="4k", size=size)
    for kind in ("write", "read"):
        text += region.job(f"64-{kind}", rw=f"rand{kind}", bs="4k", size=each, offset_increment=each, numjobs=THREADS,
                          group_reporting=True)  # fmt: skip
    count = ACCESSES // 10 if region.quick else ACCESSES
    # Within what was written: a read of nothing would read no flash.
    text += region.job("access-read", rw="randread", bs="4k", size=size, number_ios=count, norandommap=True)
    text += region.job("access-write", rw="randwrite", bs=small, size=size, number_ios=count, norandommap=True)
    yield text
    room = region.share(0.45)
    for name, (of, file) in COPIES.items():
        count = max(min(of * size // GB, room) // MIB * MIB, MIB)
        rand = "rand" if file else ""
        if file:
            file = min(file, count)
            # Whole files.
            count = count // file * file
        job = partial(region.job, bs="256k", size=count, direct=0, files=file or None)
        source = job(f"source-{name}", rw=f"{rand}write", end_fsync=1)
        yield source + job(f"copy-{name}", rw=f"{rand}read", iodepth=2, copy_to=room, pause=1.0)


class Copy(TypedDict):
    """Figures of one copy."""

    test: str
    seconds: float
    bytes_per_s: float


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    as_ssd: list[classic.Speeds]
    access_read_s: float | None
    access_write_s: float | None
    write_over_read: float | None
    read_score: int
    write_score: int
    total_score: int
    copies: list[Copy]
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `as_ssd`: of each `test` (`Seq`, `4K`, `4K-64Thrd`) `read_bytes_per_s`, `write_bytes_per_s`
    - `access_read_s`, `access_write_s`
    - `write_over_read`: speed of the 4 KiB writes over that of the reads; null without either
    - `read_score`, `write_score`, `total_score`
    - `copies`: `test`, `seconds`, `bytes_per_s`
    """
    done = dict(jobs(recording))
    rows: list[classic.Speeds] = []
    for test, name in (("Seq", "seq"), ("4K", "4k"), ("4K-64Thrd", "64")):
        read, write = (speed(done[job], kind) if (job := f"{name}-{kind}") in done else 0.0 for kind in MOVED)
        rows.append({"test": test, "read_bytes_per_s": read, "write_bytes_per_s": write})
    (seq_r, seq_w), (four_r, four_w), (many_r, many_w) = (
        (row["read_bytes_per_s"] / 1e6, row["write_bytes_per_s"] / 1e6) for row in rows
    )
    total = 0.15 * seq_w + 0.1 * seq_r + 2 * four_r + four_w + many_w + 1.5 * many_r
    copies: list[Copy] = [
        {"test": name, "seconds": seconds(done[f"copy-{name}"]), "bytes_per_s": speed(done[f"copy-{name}"], "write")}
        for name in COPIES
        if f"copy-{name}" in done
    ]
    return {
        "as_ssd": rows,
        "access_read_s": latency(done["access-read"], "read") if "access-read" in done else None,
        "access_write_s": latency(done["access-write"], "write") if "access-write" in done else None,
        "write_over_read": four_w / four_r if four_r and four_w else None,
        "read_score": round(0.1 * seq_r + four_r + many_r),
        "write_score": round(0.1 * seq_w + four_w + many_w),
        "total_score": round(total),
        "copies": copies,
        "warnings": [],
    }


def sentences(findings: Findings) -> list[str]:
    """AS SSD's scores, as sentences."""
    scores = (findings["read_score"], findings["write_score"], findings["total_score"])
    lines = ["AS-SSD-compatible scores: {} read, {} write, {} total.".format(*scores)]
    times = findings["write_over_read"]
    return [*lines, f"4 KiB writes are {times:.1f} times as fast as 4 KiB reads."] if times else lines


def tables(findings: Findings) -> list[Table]:
    """The familiar rows, and the copies."""
    columns = {"copy": "test", "time": "seconds", "speed": "bytes_per_s"}
    access = [words.span(took or 0.0) for took in (findings["access_read_s"], findings["access_write_s"])]
    first = classic.table("AS-SSD-compatible", findings["as_ssd"])
    first = Table(first.title, first.columns, [*first.rows, ["Access time", *access]], first.words)
    return [first, of_rows("Copies", findings["copies"], columns)]


def pictures(recording: Recording) -> list[Picture]:
    """Speed of each row of AS SSD's table, with what is no speed above and below: the score and the access times."""
    results = recording.findings.typed(Findings)
    title = ("AS-SSD-compatible", "speed of each test", Label("score {}", results["total_score"], ""))
    took = {"read": results["access_read_s"], "write": results["access_write_s"]}
    access = [Label(kind, seconds, "s") for kind, seconds in took.items() if seconds is not None]
    note: Text = ("access time", *access) if access else ""
    return [classic.bars("as-ssd", title, results["as_ssd"], note), *curves.of_any(recording)]
