"""What was measured, as a fit looks at it: the jobs of each run, and what came of each.

The same is asked of a simulated run of the same jobs, so that measured and simulated differ only by the drive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pslc._native import SimDrive
from pslc.analysis import Curve
from pslc.jobs import Job, Kind
from pslc.recording import Columns, Recording
from pslc.targets.region import trim_bytes
from pslc.twin.model import MIB

Floats = NDArray[np.float64]

SCALES: Final = frozenset(
    {"fill", "recovery", "second-pass", "fill-levels", "overwrite", "sustained", "random-steady", "hdtune"}
)
"""Suites of large writes, or of random ones for a time: a scaled drive does the same in them."""
LARGE: Final = 65536
"""Bytes of a request from which on a job is looked at as a curve over bytes."""
FEWEST: Final = 24
"""Requests of a job below which it tells nothing."""
BINS: Final = (1, 4, 16, 64)
"""Bins of a curve: 1, 4, 16 and 64 of equal bytes; the wide ones tell in which direction a border is off."""
HEAD: Final = 16
"""The first sixteenth of a large write once more, in so many bins: many a cache is less than a bin of the whole."""
HEAD_SAMPLES: Final = 12
"""Of the data in that sixteenth, at least."""
HEAD_BYTES: Final = 4 << 30
"""Of a write that was measured, from which on it is looked at so."""
COARSENESS: Final = 8
"""Of a simulated recording: 256 bins of bytes are enough for 64, but not for a head."""


@dataclass(frozen=True)
class Look:
    """What came of one job: logarithms of speeds, and of times of requests.

    Attributes:
        curves: log bytes/s in each bin, a row of 1, 4, 16... bins of equal bytes (of equal time where it ended by
            time).
        figures: log seconds or log requests/s, by name.
    """

    job: str
    curves: Mapping[int, Floats]
    figures: Mapping[str, float]
    head: Floats | None = None
    """Log bytes/s in each bin of the first sixteenth of the bytes."""
    seconds: float = 1.0
    """The job took."""
    alike: tuple[str, ...] = ()
    """What jobs that are repeats of each other share: name, size, pause."""


@dataclass(frozen=True)
class Asked:
    """What a drive has to do in a trial, and how closely it is looked at: the same of the same drive gives the same.

    Attributes:
        bins: of each job of each step at most.
        fine: whether the start of a job of the step is looked at more closely.
        between: on a drive that has just done something else, what it does instead of the first step.
    """

    steps: tuple[str, ...]
    seed: int
    options: tuple[tuple[str, str], ...]
    bins: tuple[tuple[int, ...], ...]
    fine: tuple[bool, ...]
    between: str = ""


@dataclass(frozen=True)
class Trial:
    """A run that was measured.

    Attributes:
        suite: whose steps they are; `fill` for a curve of other programs.
        steps: job files, one after the other on a drive that was empty.
        curve: time against bytes of its first large sequential write.
        look: at each job of each step, in order; None where it tells nothing.
        rate_s: seconds of a sample, where the curve was sampled by time.
        after: the suite that had just used the drive, and what it did between them, instead of the first step.
    """

    suite: str
    steps: Sequence[str]
    seed: int
    looks: Sequence[Sequence[Look | None]]
    depth: Sequence[Sequence[int]]
    options: Sequence[tuple[str, str]] = ()
    findings: Mapping[str, Any] = field(default_factory=dict)
    curve: Curve | None = None
    written_bytes: float = 0.0
    seconds: float = 0.0
    after: tuple[str, str] | None = None

    @cached_property
    def asked(self) -> Asked:
        """What a drive has to do, without what came of it."""
        return Asked(
            tuple(self.steps), self.seed, tuple(self.options), tuple(map(tuple, self.depth)),
            tuple(any(look is not None and look.head is not None for look in step) for step in self.looks),
        )  # fmt: skip


def on_one_drive(trials: Sequence[Trial]) -> list[tuple[Asked, ...]]:
    """What drives have to do in these trials: those that were measured one after the other are of one."""
    found: list[tuple[Asked, ...]] = []
    last = ""
    for trial in trials:
        if trial.after and trial.after[0] == last:
            found[-1] += (replace(trial.asked, between=trial.after[1]),)
        else:
            found.append((trial.asked,))
        last = trial.suite
    return found


@dataclass
class _Series:
    """Bytes against time, from both axes of a recording."""

    at_ns: Floats
    written: Floats
    moved: Floats

    @cached_property
    def rises(self) -> Any:
        """Where more is moved than before: a flat stretch of bytes has no inverse, the first time of it counts."""
        return np.concatenate([[True], self.moved[1:] > self.moved[:-1]])


def _series(start_ns: int, time: Columns, size: Columns) -> _Series:
    at = np.concatenate([[float(start_ns)], time["end_ns"].astype(float), size["end_ns"].astype(float)])
    columns = []
    for names in (("write_bytes",), ("write_bytes", "read_bytes")):
        sums = [np.cumsum(sum(axis[name].astype(float) for name in names)) for axis in (time, size)]
        columns.append(np.concatenate([[0.0], *sums]))
    order = np.argsort(at, kind="stable")
    written, moved = (np.maximum.accumulate(column[order]) for column in columns)
    return _Series(at[order], written, moved)


def looks(start_ns: int, jobs: Sequence[Job], time: Columns, size: Columns,
          most_bins: Sequence[int] | None = None) -> list[Look | None]:  # fmt: skip
    """What came of each job of a step.

    Args:
        most_bins: bins of each job's curve at most; as many as its data can tell where it is not given.
    """
    series = _series(start_ns, time, size)
    return [_look(job, series, most_bins[index] if most_bins else None) for index, job in enumerate(jobs)]


def _look(job: Job, series: _Series, most_bins: int | None) -> Look | None:
    options = job["options"]
    of: Kind = "write" if job["write"]["total_ios"] >= job["read"]["total_ios"] else "read"
    count, moved = job[of]["total_ios"], job[of]["io_bytes"]
    if count < 1 or job["elapsed_ns"] <= 0 or options.get("rw") == "trim":
        return None
    start, end = float(job["start_ns"]), float(job["start_ns"] + job["elapsed_ns"])
    name = job["name"]
    alike = (name, *(str(options.get(key)) for key in ("rw", "bs", "size", "io_size", "startdelay", "iodepth")))
    timed = "time_based" in options or (options.get("rw", "").startswith("rand") and count > 20000)
    if moved / count < LARGE and not timed:
        if count < FEWEST:
            return None
        figures = {"mean": np.log(job[of]["lat_ns"]["mean"])}
        if job["sync"]["total_ios"]:
            figures["sync"] = np.log(max(job["sync"]["lat_ns"]["mean"], 1.0))
        return Look(name, {}, figures, alike=alike)
    if count < FEWEST and moved / count < LARGE:
        return None
    finest = most_bins or _finest(series, start, end, count)
    counts = [bins for bins in BINS if bins <= finest]
    if timed:
        found = {bins: _by_time(series, start, end, bins) for bins in counts}
    else:
        found = _by_bytes(series, start, end, counts)
    curves = {bins: curve for bins, curve in found.items() if curve is not None}
    if not curves:
        return None
    head = None if timed else _by_bytes(series, start, end, [HEAD], 1 / HEAD)[HEAD]
    if most_bins is None and head is not None:
        until = float(np.interp(start, series.at_ns, series.moved)) + moved / HEAD
        inside = int(((series.at_ns > start) & (series.moved <= until)).sum())
        head = head if moved >= HEAD_BYTES and inside >= HEAD_SAMPLES else None
    return Look(name, curves, {}, head, (end - start) / 1e9, alike)


def _finest(series: _Series, start: float, end: float, count: int) -> int:
    inside = int(((series.at_ns > start) & (series.at_ns <= end)).sum())
    return int(min(BINS[-1], max(inside / 6, 1), max(count / 64, 1)))


def _by_bytes(series: _Series, start: float, end: float, counts: Sequence[int],
              share: float = 1.0) -> dict[int, Floats | None]:  # fmt: skip
    """Speeds in so many bins of the first `share` of the bytes, the most last; each count divides the last."""
    at = np.clip(series.at_ns[series.rises], start, end)
    first, last = np.interp([start, end], series.at_ns, series.moved)
    if not counts or last <= first:
        return dict.fromkeys(counts)
    moved = share * (last - first)
    most = counts[-1]
    ends = np.interp(first + moved / most * np.arange(most + 1), series.moved[series.rises], at)
    ends[0] = start
    if share == 1.0:
        ends[-1] = end
    took = {bins: np.diff(ends[:: most // bins]) for bins in counts}
    return {bins: np.log(moved / bins / np.maximum(each, 1.0) * 1e9) for bins, each in took.items()}


def _by_time(series: _Series, start: float, end: float, bins: int) -> Floats | None:
    edges = np.linspace(start, end, bins + 1)
    done = np.diff(np.interp(edges, series.at_ns, series.moved))
    mean = done.sum() / bins
    if mean <= 0:
        return None
    speeds: Floats = np.log(np.maximum(done, 1e-3 * mean) / (end - start) * bins * 1e9)
    return speeds


def of_recording(recording: Recording) -> Trial:
    """A recording of pslc's, simulated or real: only what a tester sees of it."""
    parts = [part for part in recording.parts if part.jobs and not part.interrupted]
    found = [looks(part.start_ns, part.jobs, part.time, part.bytes) for part in parts]
    seconds = sum(job["elapsed_ns"] for part in parts for job in part.jobs) / 1e9
    return Trial(
        recording.suite, [part.job_file for part in parts], recording.seed, found,
        [[max(look.curves, default=0) if look else 0 for look in step] for step in found],
        options=tuple((str(name), str(value)) for name, value in recording.overrides),
        findings=recording.findings, curve=first_curve(recording), written_bytes=float(recording.written_bytes),
        seconds=seconds,
    )  # fmt: skip


def of_curve(curve: Curve, load: str) -> Trial:
    """A write curve of anyone's, made by a sequential write over an empty drive; `load` is the job's words."""
    total = int(curve.total_bytes) // MIB * MIB
    start = curve.edges_bytes[0]
    job = f"[fill]\nrw=write\noffset=0\nsize={total}\ndirect=1\n{load}\n"
    edges = curve.edges_bytes - start
    elapsed = np.r_[0.0, np.cumsum(curve.seconds)]
    finest = max(len(curve.seconds) // 2, 1)
    curves: dict[int, Floats] = {}
    for bins in (bins for bins in BINS if bins <= finest):
        took = np.diff(np.interp(np.linspace(0, edges[-1], bins + 1), edges, elapsed))
        curves[bins] = np.log(edges[-1] / bins / np.maximum(took, 1e-9))
    inside = edges <= edges[-1] / HEAD
    head = None
    if inside.sum() > HEAD_SAMPLES:
        took = np.diff(np.interp(np.linspace(0, edges[-1] / HEAD, HEAD + 1), edges, elapsed))
        head = np.log(edges[-1] / HEAD**2 / np.maximum(took, 1e-9))
    look = Look("fill", curves, {}, head, curve.total_seconds)
    return Trial("fill", [job], 0, [[look]], [[max(curves)]], curve=curve, written_bytes=curve.total_bytes,
                 seconds=curve.total_seconds)  # fmt: skip


def part_of(trial: Trial, share: float) -> Trial:
    """The first write of a trial up to a share of its bytes: 1/4, 1/2."""
    look = trial.looks[0][0]
    assert look is not None, "it is the first write"
    finest = max(look.curves)
    count = max(int(finest * share), 1)
    slow = 1 / np.exp(look.curves[finest][:count])
    curves = {
        bins: -np.log(np.array([part.mean() for part in np.array_split(slow, bins)])) for bins in BINS if bins <= count
    }
    text = SIZES.sub(lambda found: found[0] if found[1] == "offset" else
                     f"{found[1]}={int(int(found[2]) * count / finest) // MIB * MIB}", trial.steps[0])  # fmt: skip
    part = replace(
        look,
        curves=curves,
        head=None,
        seconds=float(slow.sum() / (1 / np.exp(look.curves[finest])).sum()) * look.seconds,
    )
    return replace(trial, steps=[text], looks=[[part]], depth=[[max(curves)]], findings={}, curve=None)


def first_curve(recording: Recording) -> Curve | None:
    """Time against bytes of the first large sequential write of a recording; None when there is none."""
    for part in recording.parts:
        job = part.jobs[0] if part.jobs else None
        if job and job["options"].get("rw") == "write" and job["write"]["total_ios"] > FEWEST:
            series = _series(part.start_ns, part.time, part.bytes)
            start, end = float(job["start_ns"]), float(job["start_ns"] + job["elapsed_ns"])
            inside = (series.at_ns > start) & (series.at_ns <= end)
            # A border of bins that is not one of bytes has none of its own.
            at, written = series.at_ns[inside], series.written[inside]
            keep = np.r_[np.diff(written) > 0, True] & (written > 0)
            at, written = at[keep], written[keep]
            if len(at) > 2 and written[0] < 0.2 * written[-1]:
                return Curve(np.r_[0.0, written], np.maximum(np.diff(np.r_[start, at]), 1.0) / 1e9)
    return None


SIZES: Final = re.compile(r"^(offset|size|io_size|copy_to)=(\d+)$", re.MULTILINE)
TIMES: Final = re.compile(r"^(pause|startdelay|runtime)=(\d+)us$", re.MULTILINE)
SECTION: Final = re.compile(r"^(?=\[)", re.MULTILINE)


def scaled_step(text: str, scale: float) -> str:
    """A step for a drive that is smaller by `scale`: sizes and times are smaller too, requests are not, but those of a
    trim of all of its size: what they left out would keep a little of every superblock. What begins where something
    else ends still does."""
    if scale == 1.0:
        return text

    def time(match: re.Match[str]) -> str:
        return f"{match[1]}={max(round(int(match[2]) / scale), 1)}us"

    sections = (_scaled_sizes(section, scale) for section in SECTION.split(text))
    return TRIMS.sub(_fitting, TIMES.sub(time, "".join(sections)))


def _scaled_sizes(section: str, scale: float) -> str:
    def near(count: float) -> int:
        return round(count / scale / MIB) * MIB

    begin = next((int(match[2]) for match in SIZES.finditer(section) if match[1] == "offset"), 0)

    def size(match: re.Match[str]) -> str:
        count = int(match[2])
        if match[1] in ("offset", "copy_to"):
            return f"{match[1]}={near(count)}"
        scaled = near(begin + count) - near(begin) if match[1] == "size" else near(count)
        return f"{match[1]}={max(scaled, min(count, MIB))}"

    return SIZES.sub(size, section)


TRIMS: Final = re.compile(r"^rw=trim$[^\[]*", re.MULTILINE)
"""A section that trims, from that word to its end."""


def _fitting(section: re.Match[str]) -> str:
    size = re.search(r"^size=(\d+)$", section[0], re.MULTILINE)
    if size is None or "number_ios=" in section[0]:
        return section[0]
    return re.sub(r"^bs=.*$", f"bs={trim_bytes(int(size[1]))}", section[0], flags=re.MULTILINE)


def play(drive: SimDrive, asked: Asked, scale: float) -> Iterator[list[Look | None]]:
    """The same on a simulated drive: what comes of each step.

    Raises:
        PslcError: a step cannot be run on it.
    """
    for number, (text, bins, fine) in enumerate(zip(asked.steps, asked.bins, asked.fine, strict=True)):
        between = number == 0 and asked.between
        result = drive.run(
            scaled_step(between or text, scale), "twin.fio", list(asked.options), asked.seed + number, None, None,
            1 if fine else COARSENESS,
        )  # fmt: skip
        time, size = ({name: np.frombuffer(values, dtype="<u8") for name, values in result["series"][axis].items()}
                      for axis in ("time", "bytes"))  # fmt: skip
        yield [None] * len(bins) if between else looks(result["start_ns"], result["jobs"], time, size, bins)


def trials_of(recording: Recording) -> list[Trial]:
    """What was measured, by suite. Those of `twin` behind its fill find the drive as the one before left it; by itself,
    one whose blocks have to be erased before they are written."""
    if recording.suite != "twin":
        return [of_recording(recording)]
    from pslc.suites.twin import between, parts_by_suite

    found: list[Trial] = []
    forget = between(recording)
    last = ""
    for name, part in parts_by_suite(recording).items():
        trial = of_recording(part)
        if last:
            steps = [_use(part.capacity_bytes // MIB * MIB), *trial.steps]
            trial = replace(trial, steps=steps, looks=[[None] * 3, *trial.looks], depth=[[0, 0, 0], *trial.depth],
                            after=(last, forget[name]))  # fmt: skip
        found.append(trial)
        # What single requests leave behind is little.
        last = name if name in SCALES and (last or name == "fill") else last
    return found


def _use(size: int) -> str:
    """A step that writes all of a drive, lets it forget that, and rest."""
    target = f"size={size}\ndirect=1\nioengine=io_uring\n"
    return (
        f"[use]\nrw=write\nbs=1m\niodepth=32\n{target}[forget]\nstonewall\nrw=trim\nbs={trim_bytes(size)}\n{target}"
        f"[rest]\nstonewall\nrw=trim\nbs=4k\nnumber_ios=1\npause=60000000us\n{target}"
    )
