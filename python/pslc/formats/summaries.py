"""Summaries of benchmarks that print no row for each moment: sysbench's fileio, elbencho, and fio's results as yabs.sh
and sbc-bench print them. A result for each kind of request.

    writes/s:                     15273.00
    written, MiB/s:               238.64
Read 0b  Written 2Gb  Total transferred 2Gb  (177.56Mb/sec)
WRITE       Elapsed time     :     11.559s     11.559s
            IOPS             :         221         221
            Throughput MiB/s :         885         885
Block Size | 4k            (IOPS) | 64k           (IOPS)
Read       | 273.14 MB/s  (68.2k) | 1.77 GB/s    (27.7k)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pslc.base.columns import SPEEDS
from pslc.base.errors import RecordingError
from pslc.formats import About, FileContents, count_of, only, text
from pslc.schema.imports import ImportOptions
from pslc.schema.results import Measured, measured

ABOUT: Final = About(
    program="sysbench, elbencho, yabs.sh",
    what="text of the results",
    content="speed and IOPS of reads and writes of each test",
    command="sysbench fileio --file-test-mode=rndwr run, or elbencho -w -b 4M --direct FILE",
    gives="results",
)
MIB: Final = float(1 << 20)
SYSBENCH: Final = re.compile(
    r"^File operations:\s+reads/s:\s+(?P<reads>[\d.]+)\s+writes/s:\s+(?P<writes>[\d.]+)\s+"
    r"fsyncs/s:\s+(?P<flushes>[\d.]+)\s+Throughput:"
    r"\s+read, MiB/s:\s+(?P<read>[\d.]+)\s+written, MiB/s:\s+(?P<write>[\d.]+)",
    re.MULTILINE,
)
OLD_SYSBENCH: Final = re.compile(
    r"^Read (?P<read>[\d.]+)\w+ +Written (?P<write>[\d.]+)\w+ +Total transferred \S+ +"
    r"\((?P<speed>[\d.]+)(?P<unit>[KMG])b/sec\)",
    re.MULTILINE,
)
ELBENCHO: Final = re.compile(
    r"^(?P<phase>[A-Z]+\d*) +Elapsed (?:time|ms)[^\n]*\n(?P<rest>(?:[ \t]+[^\n]*\n)+)", re.MULTILINE
)
FIGURE: Final = re.compile(r"^[ \t]+(?P<name>IOPS|Throughput MiB/s) *: +(?:\d+ +)?(?P<last>\d+)", re.MULTILINE)
"""A line of elbencho: the figure up to the first thread that was done, and that up to the last."""
YABS: Final = re.compile(r"^\|? *Block Size *\|.*\(IOPS\)", re.MULTILINE)
YABS_CELL: Final = re.compile(r"([\d.]+) ([KMG]B)/s +\(([\d.]+)(k?)\)")
YABS_KINDS: Final = {"read": "read", "write": "write", "randread": "read", "randwrite": "write"}
INTERVAL: Final = re.compile(r"^\[ *\d+s *\] ", re.MULTILINE)
"""A row of sysbench's --report-interval; three of them are a curve."""
KINDS: Final = {"WRITE": "write", "READ": "read", "RWMIX": "mixed"}


def matches(path: Path, head: str) -> bool:
    """A summary, and no rows that tell more than it."""
    is_sysbench = SYSBENCH.search(head) or OLD_SYSBENCH.search(head)
    return bool(ELBENCHO.search(head) or YABS.search(head) or (is_sysbench and len(INTERVAL.findall(head)) < 3))


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The results of each test.

    Raises:
        PslcError: none moved any bytes.
    """
    path = only(paths)
    whole = text(path)
    rows = [*_of_sysbench(whole), *_of_elbencho(whole), *_of_yabs(whole)]
    if not rows:
        raise RecordingError(f"{path} holds no results of reads and writes", "give a test that writes: rndwr, or -w")
    data = FileContents(path.name, None, rows=rows, read_as=f"{count_of(len(rows), 'result')} of whole tests")
    for match in SYSBENCH.finditer(whole):
        data.note(
            f"sysbench flushed {float(match['flushes']):.0f} times a second; its latencies are those of reads, writes "
            "and flushes together, so none is taken"
        )
    if not re.search(r"direct(?!or)", whole) and not YABS.search(whole):
        data.warn("nothing says that the page cache was passed, so memory may be measured: add direct to the command")
    return data


def _of_sysbench(whole: str) -> Iterator[Measured]:
    for number, match in enumerate(SYSBENCH.finditer(whole), 1):
        for kind in ("read", "write"):
            if float(match[f"{kind}s"]):
                yield measured(f"sysbench {number}", kind, float(match[kind]) * MIB, float(match[f"{kind}s"]))
    for number, match in enumerate(OLD_SYSBENCH.finditer(whole), 1):
        moved = [kind for kind in ("read", "write") if float(match[kind])]
        speed = float(match["speed"]) * 1024.0 ** "BKMG".index(match["unit"])
        if moved:
            yield measured(f"sysbench {number}", moved[0] if len(moved) == 1 else "mixed", speed)


def _of_elbencho(whole: str) -> Iterator[Measured]:
    for number, match in enumerate(ELBENCHO.finditer(whole), 1):
        figures = {figure["name"]: float(figure["last"]) for figure in FIGURE.finditer(match["rest"])}
        if speed := figures.get("Throughput MiB/s"):
            kind = KINDS.get(match["phase"].rstrip("0123456789"), "mixed")
            yield measured(f"elbencho {number}", kind, speed * MIB, figures.get("IOPS"))


def _of_yabs(whole: str) -> Iterator[Measured]:
    """The cells of tables with a column for each block size; their totals are left out. fio runs with direct=1."""
    sizes: list[str] = []
    number = 0
    for line in whole.splitlines():
        head, *cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if YABS.match(line):
            sizes = [cell.partition(" ")[0] for cell in cells]
            number += 1
        for size, cell in zip(sizes, map(YABS_CELL.match, cells), strict=False):
            if cell and (kind := YABS_KINDS.get(head.lower())):
                speed = float(cell[1]) * SPEEDS[f"{cell[2].lower()}/s"]
                yield measured(f"{number}: {head} {size}", kind, speed, float(cell[3]) * (1e3 if cell[4] else 1))
