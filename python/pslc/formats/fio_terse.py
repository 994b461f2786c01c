"""fio's text for scripts (`--output-format=terse`, `--minimal`), a line for each job: versions 3 to 5.

3;fio-3.36;fill;0;0;0;0;0;...
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pslc.base.errors import RecordingError
from pslc.formats import About, FileContents, count_of, text
from pslc.schema.imports import ImportOptions
from pslc.schema.jobs import Done, Job, done, job

LINE: Final = re.compile(r"^[345];fio-\d[^;\n]*;", re.MULTILINE)
ABOUT: Final = About(
    program="fio",
    what="terse text",
    content="bytes, speed and latencies of each job",
    command="fio --output-format=terse",
    gives="jobs",
    mark=LINE,
)
NAME, GROUP, READ = 2, 3, 5
"""Places of the name, of the group, and of the first field of reads."""
WIDTHS: Final = {"3": 41, "4": 41, "5": 47}
"""Fields of reads, by version; as many of writes follow. They begin with KiB moved, KiB/s, requests a second and ms."""
CLAT, PERCENTILES, LAT = 8, 12, 32
"""Places of latencies, in µs, behind the first field of reads or writes."""


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The jobs of all files."""
    jobs = [_job(path, line) for path in paths for line in text(path).splitlines() if LINE.match(line)]
    read_as = f"fio's terse text: {count_of(len(jobs), 'job')}, in KiB and whole requests a second"
    return FileContents(paths[0].name, None, jobs, read_as=read_as, tells_options=False)


def _job(path: Path, line: str) -> Job:
    fields = line.split(";")
    width = WIDTHS[fields[0]]
    try:
        of_job = job(fields[NAME], {}, int(fields[GROUP]))
        of_job["read"].update(_done(fields[READ : READ + width]))
        of_job["write"].update(_done(fields[READ + width : READ + 2 * width]))
    except (IndexError, ValueError, OverflowError):
        what = f"{path} is damaged: a line of fio's terse text is cut off, or its fields are others"
        raise RecordingError(what, "run fio again, or give its JSON") from None
    return of_job


def _done(fields: Sequence[str]) -> Done:
    moved, ms = int(fields[0]) * 1024, int(fields[3])
    all_of_them = done(moved, round(float(fields[2]) * ms / 1000), ms * 1_000_000)
    latency = all_of_them["lat_ns"]
    at = LAT if float(fields[LAT + 2]) else CLAT
    latency["mean"], latency["max"] = 1e3 * float(fields[at + 2]), 1e3 * float(fields[at + 1])
    for field in fields[PERCENTILES:LAT]:
        share, _, us = field.partition("%=")
        if float(share):
            latency["percentile"][f"{float(share):.6f}"] = 1000 * int(us)
    return all_of_them
