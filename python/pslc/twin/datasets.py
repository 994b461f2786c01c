"""Datasets of a fit: the jobs of each measured run, and the features of each job.

A simulated run of the same jobs has the same features, so that measured and simulated differ by the drive only.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pslc._native import SimDrive
from pslc.analysis import Curve
from pslc.device.region import trim_bytes
from pslc.recording.model import Columns, Recording
from pslc.schema.jobs import Job, Kind
from pslc.suites.twin import between, parts_by_suite
from pslc.twin.model import MIB

Floats = NDArray[np.float64]
Features = Sequence[Sequence["JobFeatures | None"]]
"""Features of a run: for each step, those of each job."""

SCALABLE_SUITES: Final = frozenset(
    {"fill", "recovery", "second-pass", "fill-levels", "overwrite", "sustained", "random-steady", "hdtune"}
)
"""Suites of large writes, or of random writes for a time: a scaled drive does the same in them."""
LARGE_REQUEST_BYTES: Final = 65536
"""Mean size of a job's requests from which on its feature is a curve over bytes."""
MIN_REQUESTS: Final = 24
"""Requests below which a job has no features."""
MIN_RANDOM_REQUESTS: Final = 20000
"""Requests of a random job beyond which its feature is a curve over time."""
BINS: Final = (1, 4, 16, 64)
"""Bins of a curve, of equal bytes or time; wide ones show in which direction a phase boundary is off."""
SAMPLES_PER_BIN: Final = 6
REQUESTS_PER_BIN: Final = 64
"""Samples and requests that the finest bin of a measured curve needs on average."""
START_BINS: Final = 16
"""Bins of the first sixteenth of a large write: many a cache is smaller than a bin of the whole write."""
MIN_START_SAMPLES: Final = 12
"""Samples that a measured write needs in its first sixteenth."""
MIN_START_BYTES: Final = 4 << 30
"""Size of a measured write from which on its start has bins of its own."""
SIMULATION_BIN_FACTOR: Final = 8
"""Factor by which a simulated run is recorded coarser: 256 bins of bytes are enough for 64, not for a start curve."""
MIN_BIN_SPEED_RATIO: Final = 1e-3
"""Lowest speed of a bin of equal time, as a share of the mean: a logarithm of nothing has no value."""
MAX_START_SHARE: Final = 0.2
"""Share of a write that its first sample may hold, if its curve is to show the cache."""
SIZES: Final = re.compile(r"^(offset|size|io_size|copy_to)=(\d+)$", re.MULTILINE)
TIMES: Final = re.compile(r"^(pause|startdelay|runtime)=(\d+)us$", re.MULTILINE)
SECTION: Final = re.compile(r"^(?=\[)", re.MULTILINE)
TRIMS: Final = re.compile(r"^rw=trim$[^\[]*", re.MULTILINE)
"""The rest of a section that trims, from that option on."""


@dataclass(frozen=True)
class JobFeatures:
    """Features of one job: logarithms of speeds and of request times.

    Attributes:
        curves: log bytes/s in each bin, by the number of bins; bins of equal bytes, or of equal time where the job is
            limited by time.
        metrics: log seconds per request, by name.
        start_curve: log bytes/s in each bin of the first sixteenth of the bytes.
        seconds: duration of the job.
        repeat_key: what repeats of a job have in common: name, size, pause and the like.
    """

    job: str
    curves: Mapping[int, Floats]
    metrics: Mapping[str, float]
    start_curve: Floats | None = None
    seconds: float = 1.0
    repeat_key: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunSpec:
    """Jobs of a dataset and the resolution of their features: all that a simulated run depends on besides the drive.

    Attributes:
        bins: largest number of bins, for each job of each step.
        high_resolution: whether a job of the step has a start curve.
        transition_step: what replaces the first step on a drive that has just run another dataset; empty: nothing.
    """

    steps: tuple[str, ...]
    seed: int
    options: tuple[tuple[str, str], ...]
    bins: tuple[tuple[int, ...], ...]
    high_resolution: tuple[bool, ...]
    transition_step: str = ""


@dataclass(frozen=True)
class Dataset:
    """A measured run.

    Attributes:
        suite: the suite of its steps; `fill` for a curve of another program.
        steps: job files that run one after the other, on a drive that was empty before.
        features: of each job of each step, in order; None where a job has none.
        max_bins: largest number of bins, for each job of each step.
        findings: findings of the suite.
        curve: time against bytes of its first large sequential write.
        predecessor: the suite that used the drive just before, and the step that then replaces the first one.
    """

    suite: str
    steps: Sequence[str]
    seed: int
    features: Features
    max_bins: Sequence[Sequence[int]]
    options: Sequence[tuple[str, str]] = ()
    findings: Mapping[str, Any] = field(default_factory=dict)
    curve: Curve | None = None
    written_bytes: float = 0.0
    seconds: float = 0.0
    predecessor: tuple[str, str] | None = None

    @cached_property
    def run_spec(self) -> RunSpec:
        """The jobs of the dataset, without its data."""
        return RunSpec(
            tuple(self.steps),
            self.seed,
            tuple(self.options),
            tuple(map(tuple, self.max_bins)),
            tuple(any(job is not None and job.start_curve is not None for job in step) for step in self.features),
        )


def run_sequences(datasets: Sequence[Dataset]) -> list[tuple[RunSpec, ...]]:
    """Run specs grouped by drive: datasets that were measured one after the other share one."""
    sequences: list[tuple[RunSpec, ...]] = []
    last_suite = ""
    for dataset in datasets:
        if dataset.predecessor and dataset.predecessor[0] == last_suite:
            sequences[-1] += (replace(dataset.run_spec, transition_step=dataset.predecessor[1]),)
        else:
            sequences.append((dataset.run_spec,))
        last_suite = dataset.suite
    return sequences


@dataclass
class _Series:
    """Bytes against time, from both axes of a recording."""

    at_ns: Floats
    written: Floats
    moved: Floats

    @cached_property
    def increases(self) -> Any:
        """Mask of samples where the byte count increased, so that bytes → time is a function."""
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


def job_features(
    start_ns: int, jobs: Sequence[Job], time: Columns, size: Columns, max_bins: Sequence[int] | None = None
) -> list[JobFeatures | None]:
    """Features of each job of a step.

    Args:
        max_bins: largest number of bins of each job's curve (default: as many as its data allow).
    """
    series = _series(start_ns, time, size)
    return [_features_of(job, series, max_bins[index] if max_bins else None) for index, job in enumerate(jobs)]


def _features_of(job: Job, series: _Series, max_bins: int | None) -> JobFeatures | None:
    options = job["options"]
    kind: Kind = "write" if job["write"]["total_ios"] >= job["read"]["total_ios"] else "read"
    count, moved = job[kind]["total_ios"], job[kind]["io_bytes"]
    if count < 1 or job["elapsed_ns"] <= 0 or options.get("rw") == "trim":
        return None
    small = moved / count < LARGE_REQUEST_BYTES
    if small and count < MIN_REQUESTS:
        return None
    keys = ("rw", "bs", "size", "io_size", "startdelay", "iodepth")
    repeat_key = (job["name"], *(str(options.get(key)) for key in keys))
    random = options.get("rw", "").startswith("rand") and count > MIN_RANDOM_REQUESTS
    timed = "time_based" in options or random
    if small and not timed:
        return JobFeatures(job["name"], {}, _request_times(job, kind), repeat_key=repeat_key)
    return _curve_features(job, series, max_bins, timed, repeat_key)


def _request_times(job: Job, kind: Kind) -> dict[str, float]:
    times = {"mean": np.log(job[kind]["lat_ns"]["mean"])}
    if job["sync"]["total_ios"]:
        times["sync"] = np.log(max(job["sync"]["lat_ns"]["mean"], 1.0))
    return times


def _curve_features(
    job: Job, series: _Series, max_bins: int | None, timed: bool, repeat_key: tuple[str, ...]
) -> JobFeatures | None:
    start, end = float(job["start_ns"]), float(job["start_ns"] + job["elapsed_ns"])
    kind: Kind = "write" if job["write"]["total_ios"] >= job["read"]["total_ios"] else "read"
    count, moved = job[kind]["total_ios"], job[kind]["io_bytes"]
    finest = max_bins or _finest(series, start, end, count)
    counts = [bins for bins in BINS if bins <= finest]
    if timed:
        binned = {bins: _by_time(series, start, end, bins) for bins in counts}
    else:
        binned = _by_bytes(series, start, end, counts)
    curves = {bins: curve for bins, curve in binned.items() if curve is not None}
    if not curves:
        return None
    start_curve = None if timed else _by_bytes(series, start, end, [START_BINS], 1 / START_BINS)[START_BINS]
    if max_bins is None and start_curve is not None:
        until = float(np.interp(start, series.at_ns, series.moved)) + moved / START_BINS
        samples = int(((series.at_ns > start) & (series.moved <= until)).sum())
        start_curve = start_curve if moved >= MIN_START_BYTES and samples >= MIN_START_SAMPLES else None
    return JobFeatures(job["name"], curves, {}, start_curve, (end - start) / 1e9, repeat_key)


def _finest(series: _Series, start: float, end: float, count: int) -> int:
    """Largest number of bins that a measured job allows."""
    samples = int(((series.at_ns > start) & (series.at_ns <= end)).sum())
    return int(min(BINS[-1], max(samples / SAMPLES_PER_BIN, 1), max(count / REQUESTS_PER_BIN, 1)))


def _by_bytes(
    series: _Series, start: float, end: float, counts: Sequence[int], share: float = 1.0
) -> dict[int, Floats | None]:
    """Log speeds in bins of equal bytes over the first `share` of the bytes, by number of bins.

    Args:
        counts: numbers of bins in rising order; each divides the last.
    """
    at = np.clip(series.at_ns[series.increases], start, end)
    first, last = np.interp([start, end], series.at_ns, series.moved)
    if not counts or last <= first:
        return dict.fromkeys(counts)
    moved = share * (last - first)
    finest = counts[-1]
    ends = np.interp(first + moved / finest * np.arange(finest + 1), series.moved[series.increases], at)
    ends[0] = start
    if share == 1.0:
        ends[-1] = end
    durations = {bins: np.diff(ends[:: finest // bins]) for bins in counts}
    return {bins: np.log(moved / bins / np.maximum(took, 1.0) * 1e9) for bins, took in durations.items()}


def _by_time(series: _Series, start: float, end: float, bins: int) -> Floats | None:
    edges = np.linspace(start, end, bins + 1)
    moved = np.diff(np.interp(edges, series.at_ns, series.moved))
    mean = moved.sum() / bins
    if mean <= 0:
        return None
    speeds: Floats = np.log(np.maximum(moved, MIN_BIN_SPEED_RATIO * mean) / (end - start) * bins * 1e9)
    return speeds


def dataset_of(recording: Recording) -> Dataset:
    """The dataset of a recording, simulated or real: only what a tester sees of the drive."""
    parts = [part for part in recording.parts if part.jobs and not part.interrupted]
    features = [job_features(part.start_ns, part.jobs, part.time, part.bytes) for part in parts]
    return Dataset(
        recording.suite,
        [part.job_file for part in parts],
        recording.seed,
        features,
        [[max(job.curves, default=0) if job else 0 for job in step] for step in features],
        options=tuple((str(name), str(value)) for name, value in recording.overrides),
        findings=recording.findings,
        curve=first_write_curve(recording),
        written_bytes=float(recording.written_bytes),
        seconds=sum(job["elapsed_ns"] for part in parts for job in part.jobs) / 1e9,
    )


def dataset_of_curve(curve: Curve, load: str) -> Dataset:
    """The dataset of another program's write curve: a sequential write over an empty drive.

    Args:
        load: options of the job that writes like the program did.
    """
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
    start_curve = None
    if (edges <= edges[-1] / START_BINS).sum() > MIN_START_SAMPLES:
        took = np.diff(np.interp(np.linspace(0, edges[-1] / START_BINS, START_BINS + 1), edges, elapsed))
        start_curve = np.log(edges[-1] / START_BINS**2 / np.maximum(took, 1e-9))
    features = JobFeatures("fill", curves, {}, start_curve, curve.total_seconds)
    return Dataset(
        "fill",
        [job],
        0,
        [[features]],
        [[max(curves)]],
        curve=curve,
        written_bytes=curve.total_bytes,
        seconds=curve.total_seconds,
    )


def first_part(dataset: Dataset, share: float) -> Dataset:
    """The first write of a dataset up to a share of its bytes: 1/4, 1/2."""
    job = dataset.features[0][0]
    assert job is not None, "it is the first write"
    finest = max(job.curves)
    count = max(int(finest * share), 1)
    slowness = 1 / np.exp(job.curves[finest][:count])
    curves = {
        bins: -np.log(np.array([part.mean() for part in np.array_split(slowness, bins)]))
        for bins in BINS
        if bins <= count
    }

    def shorter(match: re.Match[str]) -> str:
        size = int(int(match[2]) * count / finest) // MIB * MIB
        return match[0] if match[1] == "offset" else f"{match[1]}={size}"

    part = replace(
        job,
        curves=curves,
        start_curve=None,
        seconds=float(slowness.sum() / (1 / np.exp(job.curves[finest])).sum()) * job.seconds,
    )
    return replace(
        dataset,
        steps=[SIZES.sub(shorter, dataset.steps[0])],
        features=[[part]],
        max_bins=[[max(curves)]],
        findings={},
        curve=None,
    )


def first_write_curve(recording: Recording) -> Curve | None:
    """Time against bytes of the first large sequential write of a recording; None if there is none."""
    for part in recording.parts:
        job = part.jobs[0] if part.jobs else None
        if job and job["options"].get("rw") == "write" and job["write"]["total_ios"] > MIN_REQUESTS:
            series = _series(part.start_ns, part.time, part.bytes)
            start, end = float(job["start_ns"]), float(job["start_ns"] + job["elapsed_ns"])
            during = (series.at_ns > start) & (series.at_ns <= end)
            # A border of bins that is not one of bytes has none of its own.
            at, written = series.at_ns[during], series.written[during]
            keep = np.r_[np.diff(written) > 0, True] & (written > 0)
            at, written = at[keep], written[keep]
            if len(at) > 2 and written[0] < MAX_START_SHARE * written[-1]:
                return Curve(np.r_[0.0, written], np.maximum(np.diff(np.r_[start, at]), 1.0) / 1e9)
    return None


def scaled_step(text: str, scale: float) -> str:
    """A step for a drive that is smaller by `scale`.

    Sizes and times shrink, requests do not. Trims of a whole range do: what a larger request left out would keep a
    little of every superblock. Ranges that met before still meet.
    """
    if scale == 1.0:
        return text

    def shorter(match: re.Match[str]) -> str:
        return f"{match[1]}={max(round(int(match[2]) / scale), 1)}us"

    sections = (_scaled_sizes(section, scale) for section in SECTION.split(text))
    return TRIMS.sub(_fit_trim, TIMES.sub(shorter, "".join(sections)))


def _scaled_sizes(section: str, scale: float) -> str:
    def nearest(count: float) -> int:
        return round(count / scale / MIB) * MIB

    begin = next((int(match[2]) for match in SIZES.finditer(section) if match[1] == "offset"), 0)

    def smaller(match: re.Match[str]) -> str:
        count = int(match[2])
        if match[1] in ("offset", "copy_to"):
            return f"{match[1]}={nearest(count)}"
        size = nearest(begin + count) - nearest(begin) if match[1] == "size" else nearest(count)
        return f"{match[1]}={max(size, min(count, MIB))}"

    return SIZES.sub(smaller, section)


def _fit_trim(section: re.Match[str]) -> str:
    """A trimming section whose requests divide its size."""
    size = re.search(r"^size=(\d+)$", section[0], re.MULTILINE)
    if size is None or "number_ios=" in section[0]:
        return section[0]
    return re.sub(r"^bs=.*$", f"bs={trim_bytes(int(size[1]))}", section[0], flags=re.MULTILINE)


def simulate(drive: SimDrive, spec: RunSpec, scale: float) -> Iterator[list[JobFeatures | None]]:
    """Run the jobs of a dataset on a simulated drive and yield the features of each step.

    Raises:
        PslcError: the drive cannot run a step.
    """
    steps = zip(spec.steps, spec.bins, spec.high_resolution, strict=True)
    for number, (text, bins, high_resolution) in enumerate(steps):
        transition = spec.transition_step if number == 0 else ""
        result = drive.run(
            scaled_step(transition or text, scale),
            "twin.fio",
            list(spec.options),
            spec.seed + number,
            None,
            None,
            1 if high_resolution else SIMULATION_BIN_FACTOR,
        )
        time, size = (
            {name: np.frombuffer(values, dtype="<u8") for name, values in result["series"][axis].items()}
            for axis in ("time", "bytes")
        )
        if transition:
            yield [None] * len(bins)
        else:
            yield job_features(result["start_ns"], result["jobs"], time, size, bins)


def datasets_of(recording: Recording) -> list[Dataset]:
    """The datasets of a recording: one, or one per suite of `pslc run twin`.

    After its fill, each suite of `twin` starts on the drive as the suite before left it. Simulated by itself, it starts
    on a drive whose blocks have to be erased before they are written.
    """
    if recording.suite != "twin":
        return [dataset_of(recording)]
    datasets: list[Dataset] = []
    transitions = between(recording)
    last = ""
    for name, part in parts_by_suite(recording).items():
        dataset = dataset_of(part)
        if last:
            dataset = replace(
                dataset,
                steps=[_use_drive(part.capacity_bytes // MIB * MIB), *dataset.steps],
                features=[[None] * 3, *dataset.features],
                max_bins=[[0, 0, 0], *dataset.max_bins],
                predecessor=(last, transitions[name]),
            )
        datasets.append(dataset)
        # What single requests leave behind is little.
        last = name if name in SCALABLE_SUITES and (last or name == "fill") else last
    return datasets


def _use_drive(size: int) -> str:
    """A step that writes all of a drive, trims it and lets it rest."""
    target = f"size={size}\ndirect=1\nioengine=io_uring\n"
    return (
        f"[use]\nrw=write\nbs=1m\niodepth=32\n{target}[forget]\nstonewall\nrw=trim\nbs={trim_bytes(size)}\n{target}"
        f"[rest]\nstonewall\nrw=trim\nbs=4k\nnumber_ios=1\npause=60000000us\n{target}"
    )
