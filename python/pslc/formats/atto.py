"""ATTO Disk Benchmark as text or table: a row per transfer size with its write and its read rate. What it saves itself
(`.bmk`) has no public layout, and is named and refused."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pslc.base.columns import SIZES
from pslc.base.errors import RecordingError
from pslc.formats import About, FileContents, count_of, only, text
from pslc.schema.imports import ImportOptions
from pslc.schema.results import Measured, measured

ABOUT: Final = About(
    program="ATTO Disk Benchmark",
    what="text with a row per transfer size",
    content="write and read rate of each transfer size",
    command="type or export the figures: size, write, read",
    gives="results",
    suite="atto",
)
HEADER = re.compile(r"\b(?P<first>write|read)\b(?P<between>.*?)\b(?P<second>write|read)\b(?P<rest>.*)$", re.IGNORECASE)
UNIT = re.compile(r"\b([KMG]i?B)/s", re.IGNORECASE)
ROW = re.compile(r"\s*(?P<size>\d+(?:\.\d+)?) ?(?P<unit>B|[KM]i?B)[\s,;|]+(?P<one>\d[\d.,]*)\s*(?P<of_one>[KMG]i?B/s)?"
                 r"[\s,;|]+(?P<two>\d[\d.,]*)\s*(?P<of_two>[KMG]i?B/s)?", re.IGNORECASE)  # fmt: skip
RATE = re.compile(r"(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d*)?")
HINT: Final = "a text with a line of names, `size, write (MB/s), read (MB/s)`, and a row per transfer size"


def matches(path: Path, head: str) -> bool:
    """Whether the file names ATTO, or is one that ATTO saves."""
    return path.suffix.lower() == ".bmk" or bool(re.search(r"^.{0,40}\bATTO\b.{0,20}Benchmark", head, re.MULTILINE))


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """A write and a read of each size.

    Raises:
        PslcError: no line says which of the two columns is which, and in which unit, or a rate is no number.
    """
    path = only(paths)
    rows: list[Measured] = []
    order: tuple[str, str] | None = None
    unit = ""
    for line in text(path).splitlines():
        if row := ROW.match(line):
            for kind, value, own in zip(
                order or (), (row["one"], row["two"]), (row["of_one"], row["of_two"]), strict=False
            ):
                scale = SIZES.get((own or unit).lower().removesuffix("/s"))
                if scale is not None:
                    size = f"{row['size']} {row['unit'].upper().replace('I', 'i')}"
                    rows.append(measured(size, kind, _rate(path, value) * scale))
        elif header := HEADER.search(line):
            order = (header["first"].lower(), header["second"].lower())
            unit = match[1] if (match := UNIT.search(line)) else unit
    if not rows:
        what = (
            "is what ATTO saves, whose layout is not public"
            if path.suffix.lower() == ".bmk"
            else "has no rates of ATTO"
        )
        raise RecordingError(f"{path} {what}", HINT)
    return FileContents(
        path.name, None, rows=rows, read_as=f"ATTO: {count_of(len(rows), 'rate')}, columns by the line of names"
    )


def _rate(path: Path, word: str) -> float:
    # A comma behind it parts columns.
    word = word.rstrip(",")
    if not RATE.fullmatch(word):
        raise RecordingError(
            f'{path}: "{word[:40]}" is no rate', "digits with a decimal point, commas between thousands only"
        )
    return float(word.replace(",", ""))
