"""HD Tune's benchmark as text, one run or several; the curve itself is not in it:

HD Tune: EXAMPLE SSD Benchmark
Transfer Rate Minimum : 301.0 MB/sec
"""

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
    program="HD Tune",
    what="text of the benchmark",
    content="least, most and mean transfer rate, access time and burst rate; the curve is not in it",
    command="HD Tune: copy info to the clipboard",
    gives="results",
    suite="hdtune",
    mark=re.compile(r"^\s*HD Tune\b", re.MULTILINE),
)
TITLE = re.compile(r"\s*HD Tune(?: Pro)?\s*[\d.]*\s*: (?P<drive>.*?)\s+(?:Benchmark|File Benchmark|Random Access)?\s*$")
FIGURE = re.compile(r"\s*(?P<name>Transfer Rate (?:Minimum|Maximum|Average)|Access Time|Burst Rate)\s*:\s*"
                    r"(?P<value>\d+(?:[.,]\d+)?) (?P<unit>[KMG]B/s(?:ec)?|ms)")  # fmt: skip


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The figures of each run; of reads unless the text says otherwise."""
    path = only(paths)
    rows: list[Measured] = []
    kind, drive = "read", ""
    for line in text(path).splitlines():
        if title := TITLE.match(line):
            kind, drive = "read", title["drive"] or drive
        elif test := re.match(r"\s*(read|write) (?:transfer rate|test|benchmark)", line, re.IGNORECASE):
            kind = test[1].lower()
        elif figure := FIGURE.match(line):
            value, unit, name = float(figure["value"].replace(",", ".")), figure["unit"], figure["name"]
            is_time = unit == "ms"
            speed = None if is_time else value * SIZES[unit[:2].lower()]
            rows.append(measured(name, kind, speed, latency_s=value / 1e3 if is_time else None))
    if not rows:
        raise RecordingError(f"{path} holds no transfer rates of HD Tune", "run the benchmark, then copy its info")
    return FileContents(
        drive or path.name, None, rows=rows, read_as=f"HD Tune: {count_of(len(rows), 'figure')}, MB/s as it shows them"
    )
