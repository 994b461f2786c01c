"""AS SSD Benchmark's text: blocks between rules, a title and a line for reading and one for writing:

------------------------------
4K-64Threads:
------------------------------
Read: 790.21 MB/s
Write: 1066.48 MB/s
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pslc.base.errors import RecordingError
from pslc.formats import About, FileContents, Reader, count_of, only, text
from pslc.schema.imports import ImportOptions
from pslc.schema.results import Measured, measured

ABOUT: Final = About(
    program="AS SSD Benchmark",
    what="text",
    content="speeds, IOPS and access times of each test",
    command="AS SSD: Edit, Copy",
    gives="results",
    suite="as_ssd",
    mark=re.compile(r"\A\s*AS SSD Benchmark"),
)
VALUE = re.compile(r"(Read|Write): (\d+(?:[.,]\d+)?)(?: (MB/s|iops|ms))?$")


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The results of one file; its scores are left out: they follow from the others."""
    path = only(paths)
    reader = Reader(path, hints, "Read or Write with a figure in MB/s, iops or ms")
    rows: list[Measured] = []
    title = ""
    for line in map(str.strip, reader.each(text(path).splitlines())):
        if line.startswith(("Read:", "Write:")):
            if title == "Score":
                continue
            if row := _row(line, title):
                rows.append(row)
            else:
                reader.refuse()
        elif line and not line.startswith("-") and ": " not in line:
            title = line.rstrip(":")
    if not rows:
        raise RecordingError(f"{path} holds no results", "copy the text after a run: Edit, Copy")
    return FileContents(
        path.name, None, rows=rows, bad_lines=reader.bad, read_as=f"AS SSD: {count_of(len(rows), 'result')}"
    )


def _row(line: str, title: str) -> Measured | None:
    match = VALUE.match(line)
    if match is None or match[3] is None:
        return None
    figure, kind = float(match[2].replace(",", ".")), match[1].lower()
    if match[3] == "MB/s":
        return measured(title, kind, bytes_per_s=1e6 * figure)
    if match[3] == "iops":
        return measured(title, kind, iops=figure)
    return measured(title, kind, latency_s=figure / 1e3)
