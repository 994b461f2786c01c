"""What stands beside a published figure: each function measures one thing of a simulated drive, in base units.

`python/pslc/device/published.toml` names one as `measure = "name argument ..."`. What a test does is a job file in
fio's words.
"""

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pslc
from pslc.device import drive_files
from pslc.device.target import find_target
from pslc.schema.jobs import Kind

Floats = NDArray[np.float64]
UNITS: dict[str, str] = {}
"""Unit of each measure: `B`, `B/s`, `IOPS`, `s`, `W`, `C`, `B/J`, or none."""
MEASURES: dict[str, Callable[..., float]] = {}
MINUTE = 60.0


def measure(unit: str) -> Callable[[Callable[..., float]], Callable[..., float]]:
    """Make a function one of `MEASURES`."""

    def enter(function: Callable[..., float]) -> Callable[..., float]:
        MEASURES[function.__name__] = function
        UNITS[function.__name__] = unit
        return function

    return enter


@functools.cache
def fill(drive: str) -> pslc.Recording:
    """One fill of a fresh drive."""
    return pslc.run("fill", on=f"sim:{drive}")


@functools.cache
def job(drive: str, text: str) -> pslc.Recording:
    """A job file on a fresh drive."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.fio"
        path.write_text(text)
        return pslc.run(path, on=f"sim:{drive}")


def phase(drive: str, number: str) -> dict[str, Any]:
    """The N-th phase of a fill, from 1; -1 is the last."""
    phases = fill(drive).findings["phases"]
    at = int(number)
    return dict(phases[at - 1 if at > 0 else at])


def done(recording: pslc.Recording, name: str, kind: Kind) -> dict[str, Any]:
    """What a job of a recording did of a kind."""
    return dict(next(job for job in recording.jobs if job["name"] == name)[kind])


def speed_of(recording: pslc.Recording, name: str, kind: Kind) -> float:
    """Bytes a second of a job."""
    what = done(recording, name, kind)
    return float(what["io_bytes"] / what["runtime_ns"] * 1e9)


def rate_of(recording: pslc.Recording, name: str, kind: Kind) -> float:
    """Requests a second of a job."""
    what = done(recording, name, kind)
    return float(what["total_ios"] / what["runtime_ns"] * 1e9)


# ---- fills


@measure("B")
def cache(drive: str) -> float:
    """Bytes written before the speed first fell."""
    return float(fill(drive).findings["cache_bytes"])


@measure("B/s")
def speed(drive: str, number: str) -> float:
    """Of the N-th phase."""
    return float(phase(drive, number)["bytes_per_s"])


@measure("B")
def end(drive: str, number: str) -> float:
    """Of the N-th phase."""
    return float(phase(drive, number)["to_bytes"])


@measure("B/s")
def mean(drive: str) -> float:
    """Of the whole fill."""
    return float(fill(drive).findings["fill_mean_bytes_per_s"])


@measure("B/s")
def later(drive: str) -> float:
    """Speed of the first phase after the second that is half as fast again as that."""
    phases = fill(drive).findings["phases"]
    return next(
        float(phase["bytes_per_s"]) for phase in phases[2:] if phase["bytes_per_s"] > 1.5 * phases[1]["bytes_per_s"]
    )


@measure("B")
def later_begins(drive: str) -> float:
    """Where that phase begins."""
    phases = fill(drive).findings["phases"]
    return next(
        float(phase["from_bytes"]) for phase in phases[2:] if phase["bytes_per_s"] > 1.2 * phases[1]["bytes_per_s"]
    )


@measure("B")
def capacity(drive: str) -> float:
    """What the drive can hold."""
    return float(fill(drive).capacity_bytes)


@measure("B/s")
def again(drive: str) -> float:
    """Speed over the first minute of the second of two fills without a pause."""
    recording = job(drive, "[global]\nrw=write\nbs=1m\nioengine=io_uring\niodepth=32\n[first]\n[again]\nstonewall\n")
    written, ends = recording.time["write_bytes"].cumsum(), recording.time["end_ns"]
    begin = int((written < recording.capacity_bytes).sum())
    last = int((ends < ends[begin] + 60_000_000_000).sum())
    return float(written[last] - written[begin]) / float(ends[last] - ends[begin]) * 1e9


@measure("")
def flatness(drive: str) -> float:
    """Speed over the last tenth of a fill, over that of its first second."""
    written, seconds = progress(fill(drive))
    first = float(np.interp(1.0, seconds, written))
    begin = 0.9 * written[-1]
    took = seconds[-1] - float(np.interp(begin, written, seconds))
    return float((written[-1] - begin) / took / first)


def progress(recording: pslc.Recording, column: str = "write_bytes") -> tuple[Floats, Floats]:
    """Bytes moved so far against seconds."""
    moved = np.cumsum(recording.time[column], dtype=np.float64)
    seconds = (recording.time["end_ns"].astype(np.float64) - recording.start_ns) / 1e9
    return np.concatenate([[0.0], moved]), np.concatenate([[0.0], seconds])


# ---- CrystalDiskMark: 1 GiB, five seconds each

CDM: dict[str, tuple[Kind, str]] = {
    "seq-read": ("read", "rw=read\nbs=1m\nioengine=io_uring\niodepth=8"),
    "seq-write": ("write", "rw=write\nbs=1m\nioengine=io_uring\niodepth=8"),
    "random-read": ("read", "rw=randread\nbs=4k\nioengine=io_uring\niodepth=1\nnorandommap"),
    "random-write": ("write", "rw=randwrite\nbs=4k\nioengine=io_uring\niodepth=1\nnorandommap"),
}


@measure("B/s")
def cdm(drive: str, row: str) -> float:
    """One row, on a fresh file."""
    kind, what = CDM[row]
    text = "[global]\nsize=1g\ndirect=1\n[lay-out]\nrw=write\nbs=1m\nioengine=io_uring\niodepth=8\n"
    text += f"[row]\nstonewall\n{what}\ntime_based\nruntime=5\npause=5\n"
    return speed_of(job(drive, text), "row", kind)


@measure("s")
def copy_in(drive: str) -> float:
    """31.45 GB from memory, as files are copied: 1 MiB requests, 8 under way."""
    return job(drive, "[copy]\nrw=write\nbs=1m\nioengine=io_uring\niodepth=8\nsize=31450m\n").drive_time_s


# ---- random requests


@measure("IOPS")
def random(drive: str, kind: Kind, depth: str, span: str = "100%") -> float:
    """4 KiB requests for two seconds over a span that was written before."""
    text = f"[global]\nsize={span}\ndirect=1\n[lay-out]\nrw=write\nbs=1m\nioengine=io_uring\niodepth=32\n"
    text += f"[row]\nstonewall\nrw=rand{kind}\nbs=4k\nioengine=libaio\niodepth={depth}\nnorandommap\ntime_based\nruntime=2\n"  # noqa: E501
    return rate_of(job(drive, text), "row", kind)


@measure("s")
def latency(drive: str, kind: str, depth: str) -> float:
    """Mean, of random 4 KiB requests over 16 GiB."""
    return int(depth) / random(drive, kind, depth, "16g")


def random_writes(drive: str, before: str, volumes: int) -> tuple[Floats, Floats]:
    """IOPS against seconds of random 4 KiB writes over the whole drive, so many times its capacity, 16 under way."""
    text = "[global]\nbs=4k\nioengine=io_uring\niodepth=16\ndirect=1\n" + before
    text += f"[random]\nstonewall\nrw=randwrite\nnorandommap\nsize=100%\nloops={volumes}\nrandrepeat=0\n"
    recording = job(drive, text)
    unit = next(job for job in recording.jobs if job["name"] == "random")
    written, seconds = progress(recording)
    start = (unit["start_ns"] - recording.start_ns) / 1e9
    at = np.linspace(start, seconds[-1], 400)
    return np.diff(np.interp(at, seconds, written)) / np.diff(at) / 4096, at[1:] - start


def fall(rates: Floats) -> int:
    """Index after which the rate never comes back to four fifths of the start."""
    return int(np.flatnonzero(rates >= 0.8 * rates[:8].mean())[-1]) + 1


@measure("IOPS")
def random_start(drive: str) -> float:
    """Of a trimmed drive, over the first fiftieth of the time."""
    return float(random_writes(drive, "", 3)[0][:8].mean())


@measure("IOPS")
def random_plateau(drive: str) -> float:
    """Lowest tenth of the rates before they fall for good."""
    rates, _ = random_writes(drive, "", 3)
    return float(np.quantile(rates[: fall(rates)], 0.1))


@measure("s")
def random_plateau_lasts(drive: str, scale: str) -> float:
    """Time until the rate falls for good; a drive of 1/`scale` takes so many times less."""
    rates, seconds = random_writes(drive, "", 3)
    return float(seconds[fall(rates)]) * float(scale)


@measure("IOPS")
def random_end(drive: str) -> float:
    """After three times the capacity, over the last tenth of the time."""
    return float(random_writes(drive, "", 3)[0][-40:].mean())


@measure("IOPS")
def random_full(drive: str) -> float:
    """Of a drive that was filled in sequence before, after twice its capacity."""
    before = "[fill]\nrw=write\nbs=1m\nioengine=io_uring\niodepth=32\n"
    return float(random_writes(drive, before, 2)[0][-40:].mean())


def last_volume(drive: str, span: str, hot: str) -> tuple[float, float, float]:
    """Bytes of the host's, bytes programmed, and seconds of the last volume of two of random 4 KiB writes, on a drive
    whose data were written in order and then mixed by one volume of uniform writes to all of it."""
    text = "[global]\nioengine=io_uring\niodepth=32\ndirect=1\n"
    text += f"[fill]\nrw=write\nbs=1m\nsize={span}\n"
    text += f"[mix]\nstonewall\nrw=randwrite\nbs=4k\nnorandommap\nsize={span}\n"
    text += f"[hot]\nstonewall\nrw=randwrite\nbs=4k\nnorandommap\nio_size={{}}\n{hot}\n"
    volume = int(find_target(f"sim:{drive}").capacity_bytes * float(span.rstrip("%")) / 100)
    counted = job(drive, text.format(2 * volume)).bytes
    names = ("host_write_bytes_total", "native_programmed_bytes_total", "end_ns")
    host, cells, ends = (counted[name].astype(np.float64) for name in names)
    begin = int(np.searchsorted(host, host[-1] - volume))
    return float(host[-1] - host[begin]), float(cells[-1] - cells[begin]), float(ends[-1] - ends[begin]) / 1e9


def amplification(drive: str, span: str, hot: str) -> float:
    """Bytes programmed for each of the host's."""
    host, cells, _ = last_volume(drive, span, hot)
    return cells / host


@measure("B/s")
def collecting(drive: str, span: str) -> float:
    """Speed of uniform random writes to so much of the drive."""
    host, _, seconds = last_volume(drive, span, f"size={span}\n")
    return host / seconds


@measure("")
def waf(drive: str, span: str, theta: str = "") -> float:
    """Of writes to so much of the drive, uniform or by Zipf's law."""
    return amplification(drive, span, f"size={span}\n" + (f"random_distribution=zipf:{theta}\n" if theta else ""))


@measure("")
def waf_read_only(drive: str, share: str) -> float:
    """Of uniform writes where such a share of the full drive is not written any more."""
    return amplification(drive, "100%", f"size={100 - int(share.rstrip('%'))}%")


# ---- formatted drives


@functools.cache
def formatted(drive: str) -> tuple[float, float]:
    """Of the first 64 GiB that are written to a drive that was formatted, one request at a time: how much goes before
    the speed is half of what it gets to, and the seconds that takes."""
    with tempfile.TemporaryDirectory() as folder:
        path, text = Path(folder) / "disk.pslc", Path(folder) / "job.fio"
        kept = drive_files.create(path, drive)
        kept.format([])
        kept.save()
        del kept
        text.write_text("[first]\nrw=write\nbs=1m\nsize=64g\n")
        recording = pslc.run(text, on=str(path))
    written = np.cumsum(recording.bytes["write_bytes"]).astype(float)
    seconds = (recording.bytes["end_ns"].astype(float) - recording.start_ns) / 1e9
    at = np.linspace(0, written[-1], 257)
    took = np.interp(at, written, seconds)
    slow = np.flatnonzero(np.diff(took) > 2 * np.diff(took).min())
    end = int(slow[-1]) + 1 if slow.size else 0
    return float(at[end]), float(took[end])


@measure("B")
def slow_start(drive: str) -> float:
    """What a formatted drive takes slowly."""
    return formatted(drive)[0]


@measure("B/s")
def slow_start_speed(drive: str) -> float:
    """How fast it takes that."""
    written, seconds = formatted(drive)
    return written / seconds


# ---- power and heat

HOUR = "[hour]\nrw=write\nbs=1m\nioengine=io_uring\niodepth=32\ntime_based\nruntime=3600\n"


def watts(recording: pslc.Recording) -> tuple[Floats, Floats]:
    """Power in each of its seconds."""
    seconds = (recording.time["end_ns"].astype(np.float64) - recording.start_ns) / 1e9
    energy = recording.time["energy_nj_total"].astype(np.float64) / 1e9
    at = np.arange(seconds[0], seconds[-1], max(1.0, seconds[-1] / 4000))
    return np.diff(np.interp(at, seconds, energy)) / np.diff(at), at[1:]


@measure("W")
def power_most(drive: str) -> float:
    """The most of any second of a fill."""
    return float(watts(fill(drive))[0].max())


@measure("W")
def power_mean(drive: str) -> float:
    """Of an hour of writing."""
    return float(watts(job(drive, HOUR))[0].mean())


@measure("B/J")
def efficiency(drive: str) -> float:
    """Speed of the first phase of a fill over the power that it takes."""
    power, at = watts(fill(drive))
    seconds = phase(drive, "1")["to_bytes"] / phase(drive, "1")["bytes_per_s"]
    return speed(drive, "1") / float(power[at < seconds].mean())


def temperatures(recording: pslc.Recording) -> tuple[Floats, Floats]:
    """Degrees Celsius against seconds."""
    seconds = (recording.time["end_ns"].astype(np.float64) - recording.start_ns) / 1e9
    return recording.time["temperature_millicelsius"] / 1e3, seconds


@measure("C")
def hottest(drive: str) -> float:
    """In an hour of writing."""
    return float(temperatures(job(drive, HOUR))[0].max())


@measure("s")
def time_to_heat(drive: str) -> float:
    """Of an hour of writing, until it is warmer than 60 C."""
    found, seconds = temperatures(job(drive, HOUR))
    return float(seconds[int(np.argmax(found > 60.0))])


def half_an_hour_of_reads(drive: str) -> pslc.Recording:
    """Sequential, from 64 GiB that were written before, after the drive has cooled."""
    text = "[global]\nbs=1m\nioengine=io_uring\niodepth=32\nsize=64g\n[lay-out]\nrw=write\n"
    return job(drive, text + "[reads]\nstonewall\nrw=read\ntime_based\nruntime=1800\npause=1800\n")


@measure("C")
def hottest_reading(drive: str) -> float:
    """In half an hour of sequential reads."""
    return float(temperatures(half_an_hour_of_reads(drive))[0].max())


@measure("")
def left_when_hot(drive: str) -> float:
    """Slowest minute of half an hour of sequential reads, over the first."""
    recording = half_an_hour_of_reads(drive)
    moved, seconds = progress(recording, "read_bytes")
    start = float(seconds[int(np.argmax(moved > 0))])
    at = np.arange(start, seconds[-1], MINUTE)
    minutes = np.diff(np.interp(at, seconds, moved))
    return float(minutes.min() / minutes[0])


# ---- NIOBench: files of 100 MiB in blocks of 10 MiB, one request at a time

FILE = 100 << 20  # whole blocks: of a size between two of them fio writes the last one whole too


@functools.cache
def unbuffered(drive: str, iterations: int, series: bool) -> dict[str, float]:
    """Medians of "unbuffered native": in each iteration two writes, two reads, two copies and a deletion, of the same
    two files; or, in `series`, of new ones each time."""
    text = "[global]\ndirect=1\nbs=10m\n"
    for i in range(iterations):
        at = 2 * FILE * i if series else 0
        for n in (0, 1):
            text += f"[write-{i}-{n}]\nstonewall\nrw=write\nsize={FILE}\noffset={at}\n"
        for name, rw, place in (("read", "read", at), ("from", "read", at), ("to", "write", at + FILE)):
            for n in (0, 1):
                text += f"[{name}-{i}-{n}]\nstonewall\nrw={rw}\nsize={FILE}\noffset={place}\n"
        if not series:
            text += f"[delete-{i}]\nstonewall\nrw=trim\nbs=1m\nsize={2 * FILE}\n"
    recording = job(drive, text)
    seconds: dict[str, list[float]] = {"read": [], "write": [], "from": [], "to": []}
    for unit in recording.jobs:
        name = unit["name"].partition("-")[0]
        if name in seconds:
            kind: Kind = "read" if name in ("read", "from") else "write"
            seconds[name].append(unit[kind]["runtime_ns"] / 1e9)
    copies = [a + b for a, b in zip(seconds["from"], seconds["to"], strict=True)]
    return {
        name: FILE / float(np.median(times))
        for name, times in (("read", seconds["read"]), ("write", seconds["write"]), ("copy", copies))
    }


@measure("B/s")
def nio(drive: str, what: str, iterations: str) -> float:
    """Median of a legacy run."""
    return unbuffered(drive, int(iterations), False)[what]


@measure("B/s")
def nio_series(drive: str, what: str, iterations: str) -> float:
    """Median of a run on new files."""
    return unbuffered(drive, int(iterations), True)[what]


@functools.cache
def buffered(drive: str, files: int) -> dict[str, float]:
    """Medians of "asynchronous": all files are written, all are copied, all are read, through the page cache."""
    text = "[global]\nbs=10m\n"
    end = files * FILE
    for name, rw, place in (("write", "write", 0), ("copy", "", 0), ("read", "read", 0)):
        for i in range(files):
            at = place + i * FILE
            if rw:
                text += f"[{name}-{i}]\nstonewall\nrw={rw}\nsize={FILE}\noffset={at}\n"
                continue
            text += f"[from-{i}]\nstonewall\nrw=read\nsize={FILE}\noffset={at}\n"
            text += f"[to-{i}]\nstonewall\nrw=write\nsize={FILE}\noffset={end + at}\n"
    seconds: dict[str, list[float]] = {"read": [], "write": [], "from": [], "to": []}
    for unit in job(drive, text).jobs:
        name = unit["name"].partition("-")[0]
        seconds[name].append(unit["read" if name in ("read", "from") else "write"]["runtime_ns"] / 1e9)
    copies = [a + b for a, b in zip(seconds["from"], seconds["to"], strict=True)]
    return {
        name: FILE / float(np.median(times))
        for name, times in (("read", seconds["read"]), ("write", seconds["write"]), ("copy", copies))
    }


@measure("B/s")
def nio_async(drive: str, what: str, files: str) -> float:
    """Median of an asynchronous run."""
    return buffered(drive, int(files))[what]


# ---- AS SSD: 1 GB


@measure("B/s")
def as_ssd(drive: str, what: str) -> float:
    """Sequential in blocks of 16 MB, then random 4 KiB one at a time, all without a pause, as the program does."""
    text = "[global]\nsize=1g\ndirect=1\n[seq-write]\nrw=write\nbs=16m\n[seq-read]\nstonewall\nrw=read\nbs=16m\n"
    for kind in ("write", "read"):
        text += f"[random-{kind}]\nstonewall\nrw=rand{kind}\nbs=4k\nnorandommap\ntime_based\nruntime=5\n"
    return speed_of(job(drive, text), what, "read" if what.endswith("read") else "write")


@measure("")
def write_over_read(drive: str) -> float:
    """Speed of its 4 KiB writes over that of its 4 KiB reads."""
    return as_ssd(drive, "random-write") / as_ssd(drive, "random-read")


@measure("B/s")
def read_while_flushing(drive: str) -> float:
    """Sequential reads of the main area, begun while the buffer migrates after two seconds of silence."""
    text = "[global]\nbs=1m\nioengine=libaio\niodepth=8\ndirect=1\n[old]\nrw=write\nsize=8g\n[rest]\nstonewall\nrw=write\nbs=4k\n"  # noqa: E501
    text += "number_ios=1\npause=300\n[buffer]\nstonewall\nrw=write\noffset=16g\nsize=2g\n"
    text += "[reads]\nstonewall\nrw=read\nsize=4g\npause=3\n"
    return speed_of(job(drive, text), "reads", "read")
