"""Every writer of pslc's that gives a file a name, and whatever may stand at that name."""

import os
import random
import shutil
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from benches.mutate import write_rows

import pslc
from pslc import traces
from pslc._native import SimDrive, TraceFile
from pslc.base import writer
from pslc.base.writer import Replace
from pslc.cli import drives as cli_drives
from pslc.device import drive_files
from pslc.figures import draw
from pslc.recording import comparison, store
from pslc.recording.model import Recording
from pslc.report import page, recording_view
from pslc.runner import fio_logs
from pslc.runner.load import read_side
from pslc.studies import page as study_page
from pslc.studies.results import Results
from pslc.traces import Part
from pslc.twin.fit_report import FitReport

ON = "sim:pm871b-128gb"
SMALL = "pm871b-128gb,scale=1/16"
JOB = "[a]\nrw=write\nbs=64k\nsize=256k\n"
TRACE = "fio version 3 iolog\n0 f add\n0 f open\n1 f write 0 4096\n2 f write 4096 4096\n"


# ---- what stands at the name


def link(at: Path, precious: Path) -> None:
    at.symlink_to(precious)


def hard_link(at: Path, precious: Path) -> None:
    os.link(precious, at)


def pipe(at: Path, _: Path) -> None:
    os.mkfifo(at)


def unix_socket(at: Path, _: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound, within(at.parent):
        bound.bind(at.name)


def device(at: Path, _: Path) -> None:
    if os.geteuid():
        pytest.skip("device nodes need root")
    os.mknod(at, stat.S_IFCHR | 0o600, os.makedev(1, 3))


def foreign(at: Path, precious: Path) -> None:
    shutil.copy(precious, at)


LINKS: list[Callable[[Path, Path], None]] = [link, hard_link, pipe, unix_socket, device]
STANDS = [*LINKS, foreign]


@contextmanager
def within(folder: Path) -> Iterator[None]:
    """The current folder, for a while."""
    here = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)


def looks(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Of each file in a folder: number, kind, and what is in it."""
    files = {}
    for path in sorted(folder.iterdir()):
        about = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(about.st_mode) else b""
        files[path.name] = (about.st_ino, stat.S_IFMT(about.st_mode), content)
    return files


@contextmanager
def swapped(at: Path, precious: Path) -> Iterator[None]:
    """A name is by turns a link to a file and another file, all the while."""
    over = threading.Event()

    def swap() -> None:
        turn = 0
        while not over.is_set():
            turn += 1
            other = at.parent.parent / f"other-{turn}"
            if turn % 2:
                other.symlink_to(precious)
            else:
                other.write_text("plain")
            other.replace(at)
            # Of two threads that share few processors, one could find the link at each of its turns.
            time.sleep(random.uniform(0, 2e-4))

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


# ---- the writers


@dataclass(frozen=True)
class Writer:
    """A writer.

    Attributes:
        name: of the file that it makes.
        write: makes it, with a recording at hand.
        named: the command line names the file, so that another regular file is replaced.
    """

    name: str
    write: Callable[[Path, Recording], object]
    named: bool = False


def write_log(at: Path, _: Recording) -> None:
    """A log that a job file names."""
    job = at.parent.parent / "job.fio"
    job.write_text(f"{JOB}write_iolog={at.name}\n")
    with within(at.parent):
        pslc.run(job, on=ON)


def write_named_log(at: Path, _: Recording) -> None:
    """A log that the command line names."""
    job = at.parent.parent / "job.fio"
    job.write_text(JOB)
    with within(at.parent):
        pslc.run(job, on=ON, options=[("write_iolog", at.name)])


def create_drive(at: Path, _: Recording | None = None) -> None:
    """A new drive."""
    drive_files.create(at, SMALL).close()


def save_drive(at: Path, _: Recording) -> None:
    """A drive whose file has gone meanwhile, and something else has its name."""
    aside = at.parent.parent / "aside"
    moved = os.path.lexists(at)
    if moved:
        at.replace(aside)
    drive = drive_files.open_simulated(f"sim:{SMALL}")
    drive.save(str(at))
    try:
        if moved:
            aside.replace(at)
        drive.save()
    finally:
        drive.close()


def open_drive(at: Path, _: Recording | None = None) -> None:
    """A drive whose journal has that name."""
    drive = at.with_suffix("")
    if not drive.exists():
        other = at.parent.parent / f"{at.parent.name}.pslc"
        create_drive(other)
        shutil.move(other, drive)
    SimDrive.open(str(drive)).close()


def write_page(at: Path, of: Recording, replaces: Replace = Replace.OURS) -> None:
    """The page of a recording."""
    page.write(recording_view.of_recording(of), at, replaces)


def write_comparison(at: Path, of: Recording) -> None:
    """The page of a comparison."""
    folder = at.parent.parent / "run"
    store.save(of, folder)
    sides = comparison.named([read_side(folder), read_side(folder)])
    page.write_comparison(sides, comparison.compare(sides, {}), at, replaces=Replace.ANY)


def print_to(at: Path, _: Recording) -> None:
    """`pslc run --output`."""
    writer.check(at, Replace.ANY)
    writer.write(at, "{}", Replace.ANY)


def convert(at: Path, _: Recording) -> None:
    """`pslc trace convert -o`."""
    source = at.parent.parent / "trace.iolog"
    source.write_text(TRACE)
    if at.suffix == ".parquet":
        traces.write_parquet(source, Part(), at)
    else:
        cast(TraceFile, traces.opened(source, Part())).write_iolog(str(at), "/dev/x")


def finish_study(at: Path, _: Recording) -> None:
    """The results of a study at its end; its name stood for nothing that was read."""
    folder = at.parent.parent / "study"
    folder.mkdir()
    write_rows(folder / "points.parquet")
    results = Results(folder)
    results._folder = at.parent
    results.finish([])


def write_profiles(at: Path, _: Recording) -> None:
    """The best points of a study as profiles."""
    best = {"waf": {"command": f"pslc run fill --on {ON}", "run": "fill", "seed": 0}}
    study_page.profiles(cast(Any, SimpleNamespace(best=best)), at.parent / "kept")


def write_picture(at: Path, of: Recording) -> None:
    """`pslc report --png`."""
    draw.write(pslc.plot(of).document(), at, replaces=Replace.OURS)


WRITERS: dict[str, Writer] = {
    "the document of a recording": Writer("run.json", lambda at, of: store.save(of, at.parent)),
    "the series of a recording": Writer("series.parquet", lambda at, of: store.save(of, at.parent)),
    "the next document of a recording": Writer("run.json.part", lambda at, of: store.save(of, at.parent)),
    "a page": Writer("report.html", write_page),
    "a page by its name": Writer("a.html", lambda at, of: write_page(at, of, Replace.ANY), named=True),
    "a page of a comparison": Writer("b.html", write_comparison, named=True),
    "a log of a job": Writer("x.log", write_log),
    "a log by its name": Writer("y.log", write_named_log, named=True),
    "a log of all jobs": Writer("agg-write_bw.log", lambda at, of: fio_logs.write_aggregate(of, at.parent)),
    "what is printed": Writer("out.json", print_to, named=True),
    "a converted trace": Writer("a.iolog", convert),
    "a converted trace in columns": Writer("a.parquet", convert),
    "a new drive": Writer("disk.pslc", create_drive),
    "a drive that is saved": Writer("kept.pslc", save_drive),
    "a copy of a drive": Writer("copy.pslc", lambda at, _: _copy(at)),
    "a profile of answers": Writer("new.toml", lambda at, _: cli_drives._write(at, {"nand": "a"}, {})),
    "the profile of a twin": Writer(
        "twin.toml", lambda at, _: FitReport.save(cast(Any, SimpleNamespace(profile="a")), at), named=True
    ),
    "the results of a study": Writer("points.parquet", finish_study),
    "a profile of a study": Writer("kept-best-waf.toml", write_profiles),
    "a picture": Writer("curve.png", write_picture),
    "a file that grows": Writer("trace.bin", lambda at, _: writer.Growing(at).close()),
}
"""Those that are not here have names of their own at random, or are in tests/test_serve.py (what lies beside a drive)
and tests/test_overwrite.py (scratch files)."""


def _copy(at: Path) -> None:
    source = at.parent.parent / "source.pslc"
    create_drive(source)
    writer.copy(source, at)
