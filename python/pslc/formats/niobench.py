"""Reports of NIOBench, legacy (v0.5x, MBPS are MiB/s) and refactored (v0.03 and later, MBPS are 10^6 bytes a second): a
line per iteration, M marks those that the median is taken from:

 Read   Tag    Write  Tag    Copy   Tag                Iteration   Read       Write     Copy
 50,30         46,66         23,22  M                  2           102,26     97,27 M   42,47 M
"""

import re
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

from pslc.base.errors import RecordingError
from pslc.formats import About, FileContents, Reader, count_of, only, text
from pslc.schema.imports import ImportOptions
from pslc.schema.results import Measured, measured

ABOUT: Final = About(
    program="NIOBench",
    what="text",
    content="speed of each test and repetition",
    command="NIOBench: save the results",
    gives="results",
    mark=re.compile(r"^Java NIOBench v", re.MULTILINE),
)
FIGURE = re.compile(r"(?<!\d)\d+[.,]\d+")
KINDS = ("read", "write", "copy")
MIB, MB = float(1 << 20), 1e6


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """Each kind with all its iterations."""
    path = only(paths)
    lines = text(path).splitlines()
    version = next(line for line in lines if line.startswith("Java NIOBench v")).split(" v")[1]
    legacy = version.startswith("0.5")
    reader = Reader(path, hints, f"{'' if legacy else 'a number and '}three speeds, read, write and copy,")
    samples = _iterations(lines, legacy, reader)
    if not samples:
        raise RecordingError(f"{path} holds no iterations", "save the report after the benchmark has ended")
    scale = MIB if legacy else MB
    options = dict(_options(lines))
    test = f"{options.get('File', 'file')}, {options.get('Mode') or options.get('Write sync', 'unknown mode')}"
    rows = [_row(test, kind, [scale * figures[place] for figures in samples]) for place, kind in enumerate(KINDS)]
    return FileContents(
        path.name,
        None,
        rows=rows,
        zeroes=options.get("Data") == "Zeroes",
        bad_lines=reader.bad,
        read_as=f"NIOBench: {count_of(len(rows), 'result')}",
    )


def _iterations(lines: Sequence[str], legacy: bool, reader: Reader) -> list[list[float]]:
    """The three speeds of each iteration, from the heading to the median."""
    samples: list[list[float]] = []
    inside = False
    for line in reader.each(lines):
        if re.match(r" (Iteration +Read|Read +Tag)\b", line):
            inside = True
        elif inside and line.strip() and set(line.strip()) != {"-"}:
            if line.strip().startswith("Median"):
                break
            figures = [float(match[0].replace(",", ".")) for match in FIGURE.finditer(line)]
            if len(figures) == len(KINDS) and (legacy or re.match(r"\s*\d+\s", line)):
                samples.append(figures)
            else:
                reader.refuse()
    return samples


def _options(lines: list[str]) -> list[tuple[str, str]]:
    """`File   1024 MB` of the legacy table, `File             : 100 MB` of the newer one."""
    matches = (re.match(r" ?([A-Z][\w/]*(?: [\w/]+)*)(?: *: *| {2,})(\S.*)", line.rstrip()) for line in lines)
    return [(match[1], match[2]) for match in matches if match]


def _row(test: str, kind: str, samples: list[float]) -> Measured:
    return measured(test, kind, bytes_per_s=median(samples), samples=samples)
