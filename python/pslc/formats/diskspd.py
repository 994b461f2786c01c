"""DiskSpd's results, text (one report or several) and XML (`-Rxml`):

thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
total:       72477573120 |        69120 |    1152.00 |    1152.00 |    6.944 |     1.234
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

import numpy as np

from pslc.analysis import Curve
from pslc.base import words
from pslc.base.errors import RecordingError
from pslc.formats import About, FileContents, count_of, only, text
from pslc.schema.imports import ImportOptions
from pslc.schema.results import Measured, measured

ABOUT: Final = About(
    program="DiskSpd",
    what="text and XML",
    content="speed, IOPS and mean latency of reads and writes of each run; the curve of -D in XML",
    command="diskspd -b1M -d60 -o8 -t1 -w100 -L -Sh test.dat",
    gives="results",
    mark=re.compile(
        r"^\s*thread \|\s+bytes\s+\||^(?i:Command Line: .*diskspd)|<Results>[\s\S]*<Profile>", re.MULTILINE
    ),
)
SECTION = re.compile(r"\s*(Total|Read|Write) IO\s*$")
COMMAND = re.compile(r"Command Line:\s*(.*\S)")
BUCKET: Final = re.compile(r'<Bucket SampleMillisecond="(\d{1,12})" Read="(\d{1,12})" Write="(\d{1,12})"')
"""End of a bucket of -D in ms, and its reads and writes a second."""
MIN_BUCKETS: Final = 4
MAX_OFF: Final = 0.1
"""Largest difference of the bytes of all buckets from those of the results, as a share: the last one may be cut."""
MIB: Final = 2.0**20


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The results of one file; the total of both only where reads and writes are not apart."""
    path = only(paths)
    whole = text(path)
    is_xml = whole.lstrip().startswith("<")
    rows = _xml(whole) if is_xml else _text(whole)
    if not rows:
        raise RecordingError(f"{path} holds no results", "the text or XML of a diskspd run that ended")
    read_as = f"DiskSpd: {count_of(len(rows), 'result')}, by bytes and time"
    data = FileContents(path.name, None, rows=rows, read_as=read_as)
    if is_xml:
        _add_curve(data, whole)
    return data


def _add_curve(data: FileContents, whole: str) -> None:
    """Add the curve of the buckets of -D, which count requests; not where there are several runs, or where requests of
    one size do not make up what was moved."""
    profile, _, results = whole.partition("</Profile>")
    spans = re.findall(r"<TimeSpan>(.*?)</TimeSpan>", results, re.DOTALL)
    buckets = [] if len(spans) != 1 else BUCKET.findall(spans[0])
    if len(buckets) < MIN_BUCKETS:
        return
    ends_s = np.array([int(bucket[0]) for bucket in buckets]) / 1e3
    seconds = np.diff(ends_s, prepend=0.0)
    kinds: tuple[Literal["read", "write"], ...] = ("read", "write")
    counts = {kind: np.array([float(bucket[at]) for bucket in buckets]) * seconds for at, kind in enumerate(kinds, 1)}
    kind = max(kinds, key=lambda kind: float(counts[kind].sum()))
    widths = counts[kind] * _number(profile, "BlockSize")
    moved = sum(row["bytes_per_s"] or 0.0 for row in data.rows if row["kind"] == kind)
    moved *= _number(spans[0], "TestTimeSeconds")
    if np.all(seconds > 0) and moved and abs(widths.sum() / moved - 1) <= MAX_OFF:
        data.curve, data.kind = Curve.of_rows(widths, seconds), kind
        data.read_as = f"DiskSpd: {kind}s by the counts of -D, {words.span(float(seconds[0]))} apart"
    else:
        data.warn("the buckets of -D do not add up to what was moved, so no curve is taken from them")


def _text(whole: str) -> list[Measured]:
    match: list[Measured] = []
    options, section, names, seconds = "", "", [""], 0.0
    run: dict[str, Measured] = {}
    for line in whole.splitlines():
        if command := COMMAND.search(line):
            match += _apart(run)
            run, options = {}, command[1]
        elif took := re.search(r"\btest time:\s*([\d.]+)s", line):
            match += _apart(run)
            run, seconds = {}, float(took[1])
        elif title := SECTION.match(line):
            section = title[1]
        elif line.lstrip().startswith("thread |"):
            names = [name.strip() for name in line.split("|")]
        elif line.lstrip().startswith("total:") and section:
            cells = dict(zip(names[1:], line.partition(":")[2].split("|"), strict=False))
            run[section] = _row(cells, options, section, seconds)
            section = ""
    return match + _apart(run)


def _apart(run: dict[str, Measured]) -> list[Measured]:
    """Reads and writes that moved anything; the total where they are not told."""
    own = [row for section, row in run.items() if section != "Total" and row["bytes_per_s"]]
    return own or [row for row in run.values() if row["bytes_per_s"]]


def _row(cells: dict[str, str], options: str, section: str, seconds: float) -> Measured:
    values = {name: float(cell) for name, cell in cells.items() if re.fullmatch(r"\s*\d[\d.]*\s*", cell)}
    share = re.search(r"-w(\d+)?", options)
    write = int(share[1] or 0) if share else 0
    both = "write" if write == 100 else "read" if write == 0 and options else "mixed"
    kind = both if section == "Total" else section.lower()
    speed = values.get("bytes", 0.0) / seconds if seconds else values.get("MiB/s", 0.0) * MIB
    latency = values.get("AvgLat")
    return measured(_test(options), kind, speed, values.get("I/O per s"), latency / 1e3 if latency else None)


def _test(options: str) -> str:
    """Name of a test by its options: `random 4K, 8 outstanding, 2 threads`."""
    size, depth, threads = (re.search(rf"-{flag}(\d+[KMG]?)", options) for flag in ("b", "o", "t"))
    parts = ["random" if re.search(r"\s-r", options) else "sequential"] if options else ["run"]
    parts[0] += f" {size[1]}" if size else ""
    parts += [f"{depth[1]} outstanding"] if depth else []
    parts += [f"{threads[1]} thread{'s' * (threads[1] != '1')}"] if threads else []
    return ", ".join(parts)


def _xml(whole: str) -> list[Measured]:
    """The sums over targets of each time span."""
    rows: list[Measured] = []
    profile, _, spans = whole.partition("</Profile>")
    test = _test_of_profile(profile)
    for span in re.findall(r"<TimeSpan>(.*?)</TimeSpan>", spans, re.DOTALL):
        seconds = _number(span, "TestTimeSeconds")
        if not seconds:
            continue
        targets = re.findall(r"<Target>(.*?)</Target>", span, re.DOTALL)
        rows += [row for kind in ("Read", "Write") if (row := _of_kind(targets, kind, test, seconds))]
        total = _sum(targets, "BytesCount")
        if total and not rows:
            kind = {100: "write", 0: "read"}.get(int(_number(profile, "WriteRatio")), "mixed")
            rows.append(measured(test, kind, total / seconds, _sum(targets, "IOCount") / seconds))
    return rows


def _test_of_profile(profile: str) -> str:
    """Options of the test in an XML profile: `random 4K, 8 outstanding`."""
    size, depth = _number(profile, "BlockSize"), _number(profile, "RequestCount")
    random = "<Random>" in profile and "<Random>0<" not in profile
    parts = [f"{'random' if random else 'sequential'} {size / 1024:g}K" if size else "run"]
    parts += [f"{depth:g} outstanding"] if depth else []
    return ", ".join(parts)


def _of_kind(targets: Sequence[str], kind: str, test: str, seconds: float) -> Measured | None:
    """The result of the reads or the writes of all targets together; None where they moved nothing."""
    moved, count = _sum(targets, f"{kind}Bytes"), _sum(targets, f"{kind}Count")
    if not moved:
        return None
    waited = sum(_number(of, f"{kind}Count") * _number(of, f"Average{kind}LatencyMilliseconds") for of in targets)
    latency = waited / count / 1e3 if waited and count else None
    return measured(test, kind.lower(), moved / seconds, count / seconds, latency)


def _sum(targets: Sequence[str], tag: str) -> float:
    return sum(_number(of, tag) for of in targets)


def _number(piece: str, tag: str) -> float:
    match = re.search(rf"<{tag}>\s*([\d.]{{1,40}})\s*</{tag}>", piece)
    return float(match[1]) if match and match[1].count(".") < 2 and match[1] != "." else 0.0
