"""CrystalDiskMark's text (also KDiskMark's): sections [Read], [Write], [Mix], a line per test:

SEQ    1MiB (Q=  8, T= 1):  5024.997 MB/s [   4792.2 IOPS] <  1667.96 us>
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pslc.base import quantities
from pslc.base.errors import RecordingError
from pslc.formats import About, FileContents, Reader, count_of, only, text
from pslc.schema.imports import ImportOptions
from pslc.schema.results import Measured, measured
from pslc.schema.warnings import notes

ABOUT: Final = About(
    program="CrystalDiskMark, KDiskMark",
    what="text",
    content="speed, IOPS and latency of each test",
    command="CrystalDiskMark: File, Save (text)",
    gives="results",
    suite="cdm",
    mark=re.compile(r"^[ \t]*(?:CrystalDiskMark|KDiskMark)\b|\(Q= *\d+, ?T= *\d+\) *: +[\d.]+ MB/s", re.MULTILINE),
)
NUMBER = r"[0-9]{1,12}(?:\.[0-9]{1,12})?"
TEST = re.compile(
    rf"\s*(?P<test>[A-Za-z].*?)\s*:\s*(?P<speed>{NUMBER}) MB/s"
    rf"(?:\s*\[\s*(?P<iops>{NUMBER}) IOPS\s*\])?(?:\s*<\s*(?P<us>{NUMBER}) us>)?\s*$"
)
SECTION = re.compile(r"\s*\[(Read|Write|Mix)\]")
SIZE = re.compile(r"^\s*Test *: *(\d+ ?[MG]iB)", re.MULTILINE)
"""Size of the test file."""
KINDS = {"Read": "read", "Write": "write", "Mix": "mixed"}
TOO_LOW = 1.024
"""KDiskMark shows KiB/s over 1000 as MB/s."""


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The results of one file; a speed is the best of several runs (KDiskMark: their mean)."""
    path = only(paths)
    reader = Reader(path, hints, "a test such as SEQ 1MiB (Q= 8, T= 1): 5024.997 MB/s [4792.2 IOPS]")
    content = text(path)
    scale = TOO_LOW if "KDiskMark" in content else 1.0
    rows: list[Measured] = []
    section = ""
    for line in reader.each(content.splitlines()):
        if header := SECTION.match(line):
            section = KINDS[header[1]]
        elif "MB/s" in line and not line.startswith("*"):
            if row := _row(line, section, scale):
                rows.append(row)
            else:
                reader.refuse()
    if not rows:
        raise RecordingError(f"{path} holds no results", "save the text after a run: File, Save (text)")
    if twin := next((row for at, row in enumerate(rows) if _key(row) in map(_key, rows[:at])), None):
        raise RecordingError(f"{path} holds several results of {twin['test']}", "give each run in a file of its own")
    program = "KDiskMark" if scale != 1.0 else "CrystalDiskMark"
    read_as = f"{program}: {count_of(len(rows), 'result')}, MB/s of 1,000,000 bytes"
    texts = ["KDiskMark's MB/s are KiB/s / 1000: they were multiplied by 1.024"] if scale != 1.0 else []
    data = FileContents(path.name, None, rows=rows, warnings=notes(texts), bad_lines=reader.bad, read_as=read_as)
    if size := SIZE.search(content):
        data.note_size(quantities.fields(size[1])[0].value)
    return data


def _key(row: Measured) -> tuple[str, str]:
    return row["test"], row["kind"]


def _row(line: str, section: str, scale: float) -> Measured | None:
    match = TEST.match(line)
    if match is None:
        return None
    words = match["test"].split()
    # Old versions have one section, and name the kind in the line.
    kind = section or next((word.lower() for word in words if word in ("Read", "Write")), "")
    if not kind:
        return None
    test = re.sub(r"=\s+", "=", " ".join(word for word in words if word not in ("Read", "Write")))
    return measured(
        test,
        kind,
        scale * 1e6 * float(match["speed"]),
        float(match["iops"]) if match["iops"] else None,
        float(match["us"]) / 1e6 if match["us"] else None,
    )
