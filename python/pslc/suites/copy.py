"""How long do file copies take, from memory to the drive and from the drive to itself?

The copies of the article on the Aldrin Pro, from a RAM disk: an ISO image of 6.25 GB, a game folder of 25.2 GB (files
of 32 MiB, in any order), and 4 GB of photos (4 MiB). They go through the page cache if the host has one, and end when
all data are in the drive.
"""

from functools import partial

from typing_extensions import TypedDict

from pslc.base import words
from pslc.device.region import MIB, Region
from pslc.figures import curves
from pslc.figures.picture import Axis, Bars, Label, Own, Panel, Picture, Table
from pslc.figures.tables import of_rows
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import jobs, seconds
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "a tenth of each"
COMPUTER = "i7-13700k"
UNLIKE_SCALED = "its files have fixed sizes"
FILES = {"iso": 6.25e9, "game": 25.2e9, "photos": 4e9}
FOLDERS = {"game": 32 * MIB, "photos": 4 * MIB}
"""Bytes of a file; a folder's files are written at random places."""
ROOM = 0.45
"""Share of the region for the files; the copies need as much."""
REST_S = 60.0


def steps(region: Region) -> Steps:
    """A step a payload: written from memory, left to settle, copied."""
    scale = min(0.1 if region.quick else 1.0, ROOM * region.size / sum(FILES.values()))
    sizes = {name: max(int(size * scale) // MIB * MIB, MIB) for name, size in FILES.items()}
    files = {name: min(of, sizes[name]) for name, of in FOLDERS.items()}
    # Whole files.
    sizes |= {name: sizes[name] // of * of for name, of in files.items()}
    at, total = 0, sum(sizes.values())
    for name, size in sizes.items():
        random = "rand" if name in files else ""
        job = partial(region.job, iodepth=2, bs="512k", offset=at, size=size, direct=0, end_fsync=1, pause=REST_S,
                      files=files.get(name))  # fmt: skip
        text = job(f"{name}-write", rw=f"{random}write")
        yield text + job(f"{name}-copy", rw=f"{random}read", copy_to=at + total)
        at += size


class Copy(TypedDict):
    """Figures of one copy."""

    files: str
    how: str
    bytes: int
    seconds: float
    bytes_per_s: float


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    copy: list[Copy]
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `copy`: `files` (`iso`, `game`, `photos`), `how` (`write`: from memory; `copy`: from the drive to itself),
    `bytes`, `seconds`, `bytes_per_s`
    """
    rows: list[Copy] = []
    for name, job in jobs(recording):
        files, _, how = name.rpartition("-")
        if files in FILES:
            size, took = job["write"]["io_bytes"], seconds(job)
            rows.append({"files": files, "how": how, "bytes": size, "seconds": took, "bytes_per_s": size / took})
    return {"copy": rows, "warnings": []}


def sentences(findings: Findings) -> list[str]:
    """Speed of the copies, a sentence for each payload."""
    by = {(row["files"], row["how"]): row for row in findings["copy"]}
    lines = []
    for files in FILES:
        if (files, "write") in by and (files, "copy") in by:
            write, copy = by[files, "write"], by[files, "copy"]
            size = words.size(write["bytes"])
            takes = [words.span(row["seconds"]) for row in (write, copy)]
            lines.append(f"{files} ({size}): {takes[0]} from memory, {takes[1]} from the drive to itself.")
    return lines


def tables(findings: Findings) -> list[Table]:
    """Table with a row for each copy."""
    columns = {"files": "files", "how": "how", "size": "bytes", "time": "seconds", "speed": "bytes_per_s"}
    return [of_rows("Copies", findings["copy"], columns)]


def pictures(recording: Recording) -> list[Picture]:
    """Seconds of each copy, then speed over time."""
    rows = recording.findings.typed(Findings)["copy"]
    names = {"write": "from memory", "copy": "from the drive to itself"}
    took = {(row["files"], row["how"]): row["seconds"] for row in rows}
    sizes = {row["files"]: Label(Own(row["files"]), row["bytes"], "B") for row in rows}
    bars = [Bars(name, [took.get((of, how)) for of in sizes]) for how, name in names.items()]
    panel = Panel(Axis("duration", "s"), bars=bars if rows else [])
    drawn = Picture("copies", "Duration of file copies", Axis("files", names=list(sizes.values())), (panel,))
    return [drawn, *curves.of_any(recording)]
