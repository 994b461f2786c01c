"""Recordings beside each other: the same figures of each, their ratios to the first, and what is more than noise.

A side is one recording, or several of the same job on the same target: repeats, whose figures are pooled.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np

from pslc.analysis import Curve
from pslc.base import files, gate
from pslc.base.errors import RecordingError
from pslc.recording import metrics, results
from pslc.recording.metrics import Figure, Figures, Name, Origin, rate
from pslc.recording.model import Recording
from pslc.recording.phase_pairs import phase_names
from pslc.recording.writes.curve import write_curve

FILE: Final = gate.Expected('a TOML file with lines such as mean = "5%"')

STUDENT: Final = (6.31, 2.92, 2.35, 2.13, 2.02, 1.94, 1.89, 1.86, 1.83, 1.81)
"""Student's t of the 90 % interval of a mean, for 2, 3 and so on repeats; 1.7 beyond."""
STRETCHES: Final = 10
"""Parts of what all sides have in common, in which their speeds are compared."""


@dataclass(frozen=True)
class Compared:
    """Row of a comparison: one figure of every recording.

    Attributes:
        name: `cache`, `mean`, `phase 2`, `fill write IOPS`; of a catalogue `fill: cache`.
        unit: `B`, `B/s`, `/s`, `s` and others of `pslc.recording.metrics`.
        figures: one a recording; None where it has none.
        differs: by more than the noise from the first; one a recording.
        tolerance: the largest relative difference allowed; None: any.
        label: what people call it, without the suite.
        suite: which it is of, in a comparison of catalogues.
    """

    name: str
    unit: str
    figures: list[Figure | None]
    differs: list[bool]
    tolerance: float | None
    label: str = ""
    suite: str = ""
    origin: Origin = Origin.FINDING

    @property
    def called(self) -> str:
        """Label for people: `fill: cache`."""
        return f"{self.suite}: {self.label or self.name}" if self.suite else self.label or self.name

    @property
    def ratios(self) -> list[float | None]:
        """To the first recording."""
        first = self.figures[0]
        return [figure.value / first.value if figure and first and first.value else None for figure in self.figures]

    @property
    def out_of_tolerance(self) -> bool:
        """Whether a recording is further from the first than allowed, or lacks the figure."""
        if self.tolerance is None:
            return False
        return any(ratio is None or abs(ratio - 1) > self.tolerance for ratio in self.ratios)

    @property
    def stands_out(self) -> bool:
        """Whether a recording differs from the first beyond the noise, or more than allowed."""
        return any(self.differs) or self.out_of_tolerance

    def document(self) -> dict[str, object]:
        """The row as `--json` prints it."""
        return {
            "name": self.name,
            "label": self.called,
            "unit": self.unit,
            "values": [figure.value if figure else None for figure in self.figures],
            "low": [figure.low if figure else None for figure in self.figures],
            "high": [figure.high if figure else None for figure in self.figures],
            "samples": [list(figure.samples) if figure else [] for figure in self.figures],
            "ratios": self.ratios,
            "differs": self.differs,
            "tolerance": self.tolerance,
            "out_of_tolerance": self.out_of_tolerance,
        }


@dataclass(frozen=True)
class Side:
    """One side of a comparison: a recording and its repeats.

    Attributes:
        name: name of the side; see `named`.
        repeats: the recordings; the first is shown.
        path: of the folder, or the file.
    """

    name: str
    repeats: tuple[Recording, ...]
    path: Path = Path()

    @property
    def recording(self) -> Recording:
        """The one that is shown."""
        return self.repeats[0]

    def subject(self, suites: Sequence[str] = ()) -> str:
        """Subject of the side: its suite, or the number of `suites`, and the drive, unless that is its name. Of another
        program's data only the file is known."""
        recording, count = self.recording, len(self.repeats)
        what = f"{len(suites)} suites" if len(suites) > 1 else recording.suite
        drive = "" if self.name.startswith(recording.drive) else f"{recording.drive}, "
        subject = recording.target if recording.drive == recording.suite else f"{what} on {drive}{recording.target}"
        subject += f" through {recording.engine}" if recording.engine else ""
        return subject + (f" (n = {count})" if count > 1 else "")


def named(sides: Sequence[Side], labels: Sequence[str] = ()) -> list[Side]:
    """Sides called by their labels. Without any, by the drive, by what was changed in the profile of one and not of
    all, and by as little more as tells them apart: the suite, fio's options, the preparation, the folder.

    Raises:
        PslcError: there are labels, but not one for each.
    """
    if labels and len(labels) != len(sides):
        raise RecordingError(
            f"{len(labels)} labels for {len(sides)} recordings", "give --label once for each, in order"
        )
    shown = [side.recording for side in sides]
    names = list(labels) or _changed_drives(sides)
    features = [
        [recording.suite for recording in shown],
        [" ".join(f"--{name}={value}" for name, value in recording.overrides) for recording in shown],
        [", ".join(recording.preparation) for recording in shown],
        _tails([side.path for side in sides]),
        [str(number) for number in range(1, len(sides) + 1)],
    ]
    for feature in features:
        names = _distinguished(names, feature)
    return [replace(side, name=name) for side, name in zip(sides, names, strict=True)]


def _distinguished(names: Sequence[str], feature: Sequence[str]) -> list[str]:
    """Names, of which those that are equal get their features if these differ; a path stands for its file's name."""
    features: dict[str, set[str]] = {}
    for name, text in zip(names, feature, strict=True):
        features.setdefault(name, set()).add(text)
    return [
        name if not text or len(features[name]) == 1 else text if text.endswith(f"/{name}") else f"{name}, {text}"
        for name, text in zip(names, feature, strict=True)
    ]


def keys(recording: Recording) -> list[str]:
    """Changed keys of a simulated drive's profile, such as `cache.mode=pure-slc`."""
    stated = recording.target.partition(",")[2] if recording.is_simulated else ""
    return [key for key in stated.split(",") if key]


def _changed_drives(sides: Sequence[Side]) -> list[str]:
    """The drive of each side, with the keys of its profile that not all have."""
    stated = [keys(side.recording) for side in sides]
    shared = set(stated[0]).intersection(*stated) if stated else set[str]()
    own = [",".join(key for key in of if key not in shared) for of in stated]
    drives = [side.recording.drive or side.path.name for side in sides]
    return [f"{drive}, {changed}" if changed else drive for drive, changed in zip(drives, own, strict=True)]


def _tails(paths: Sequence[Path]) -> list[str]:
    """The ends of paths, as short as tells them apart."""
    deepest = max((len(path.parts) for path in paths), default=0)
    tails = [["/".join(path.parts[-depth:]) for path in paths] for depth in range(1, deepest + 1)]
    return next(
        (candidate for candidate in tails if len(set(candidate)) == len(candidate)),
        tails[-1] if tails else ["" for _ in paths],
    )


def pooled(sides: Sequence[Side]) -> list[Side]:
    """Sides of the same job on the same target made one, in order; it is called as its first."""
    sides_by_suite: dict[tuple[str, str, str], Side] = {}
    for side in sides:
        recording = side.recording
        key = (recording.target, recording.job_file, repr(recording.overrides))
        before = sides_by_suite.get(key)
        sides_by_suite[key] = replace(before, repeats=before.repeats + side.repeats) if before else side
    return list(sides_by_suite.values())


def compare(sides: Sequence[Side], limits: dict[str, float], align: str | None = None) -> list[Compared]:
    """The figures that at least one of the sides has, in order.

    Args:
        limits: relative tolerances by name; `*` for every other figure.
        align: `bytes` or `time`: also the speed of writing in each tenth of what all of them wrote, or took.

    Raises:
        PslcError: a tolerance names a figure that there is not, or there is nothing to align.
    """
    return _rows(_figures_by_side(sides, align), limits)


def compare_suites(catalogues: Mapping[str, Sequence[Side]], limits: dict[str, float]) -> list[Compared]:
    """The figures of several suites, each with the same sides, in order: `fill: cache`.

    Raises:
        PslcError: a tolerance names a figure that there is not.
    """
    figures_by_side: list[Figures] = [{} for _ in next(iter(catalogues.values()))]
    for suite, sides in catalogues.items():
        for figures, more in zip(figures_by_side, _figures_by_side(sides, None), strict=True):
            figures_of_suite = {
                replace(name, key=f"{suite}: {name.key}", suite=suite): figure for name, figure in more.items()
            }
            figures.update(figures_of_suite)
    return _rows(figures_by_side, limits)


def _figures_by_side(sides: Sequence[Side], align: str | None) -> list[Figures]:
    recordings = [recording for side in sides for recording in side.repeats]
    causes = [[phase["cause"] for phase in recording.findings.get("phases", [])] for recording in recordings]
    phases = iter(phase_names(causes))
    by_side = [_pooled([_figures(recording, next(phases)) for recording in side.repeats]) for side in sides]
    if align is not None:
        for figures, more in zip(by_side, _aligned(sides, align), strict=True):
            figures.update(more)
    return by_side


def _figures(recording: Recording, phases: Sequence[Name]) -> Figures:
    """The figures of a recording, the speeds of its phases under these names."""
    names = dict(zip(metrics.phase_metrics(len(phases)), phases, strict=True))
    own = {names.get(name, name): figure for name, figure in metrics.of_recording(recording).items()}
    return own | results.of_imported(recording)


def _rows(figures_by_side: Sequence[Figures], limits: dict[str, float]) -> list[Compared]:
    names = list(dict.fromkeys(name for figures in figures_by_side for name in figures))
    keys = [name.key for name in names]
    unknown = [key for key in limits if key != "*" and key not in keys]
    if unknown:
        raise RecordingError(f"a tolerance for {unknown[0]}, which no recording has", f"there are {', '.join(keys)}")
    rows = []
    for name in names:
        unit = next(figures[name][0] for figures in figures_by_side if name in figures)
        each = [figures[name][1] if name in figures else None for figures in figures_by_side]
        differs = [apart(each[0], other) for other in each]
        limit = limits.get(name.key, limits.get("*"))
        rows.append(Compared(name.key, unit, each, differs, limit, name.label, name.suite, name.origin))
    return rows


def without_jobs(rows: Sequence[Compared]) -> list[Compared]:
    """Rows of findings, without those of single jobs unless they are out of tolerance; all, where there are no
    others."""
    kept = [row for row in rows if row.origin is not Origin.JOB or row.out_of_tolerance]
    return kept if any(row.origin is not Origin.JOB for row in kept) else list(rows)


def apart(before: Figure | None, after: Figure | None) -> bool:
    """Whether two figures differ by more than the noise; one that was not measured differs from none."""
    if before is None or after is None:
        return False
    return before.high < after.low or after.high < before.low


def _pooled(repeats: Sequence[Figures]) -> Figures:
    """The means of the figures that all repeats have; alone, a figure is left as it is."""
    first = repeats[0]
    if len(repeats) == 1:
        return first
    names = [name for name in first if all(name in figures for figures in repeats)]
    return {name: (first[name][0], _mean([figures[name][1] for figures in repeats])) for name in names}


def _mean(figures: Sequence[Figure]) -> Figure:
    """Mean with its 90 % interval: from the spread of the repeats, or from what each is known to if that is more."""
    values = np.array([figure.value for figure in figures])
    count = len(values)
    spread = (STUDENT[count - 2] if count - 2 < len(STUDENT) else 1.7) * float(values.std(ddof=1)) / count**0.5
    own = float(np.mean([(figure.high - figure.low) / 2 for figure in figures])) / count**0.5
    mean, half = float(values.mean()), max(spread, own)
    return Figure(mean, mean - half, mean + half, tuple(values.tolist()))


def _aligned(sides: Sequence[Side], align: str) -> list[Figures]:
    """The speed of each side in each of `STRETCHES` equal parts of the bytes, or the time, that all of them have."""
    measured = [_write_curves(side) for side in sides]
    reach: Callable[[Curve], float] = (lambda c: c.total_bytes) if align == "bytes" else (lambda c: c.total_seconds)
    edges = np.linspace(0.0, min(reach(curve) for own in measured for curve in own), STRETCHES + 1)
    scale, unit = (1e9, "GB") if align == "bytes" else (1.0, "s")
    names = [f"{low / scale:.4g} to {high / scale:.4g} {unit}" for low, high in pairwise(edges)]
    return [_pooled([_stretches(curve, align, edges, names) for curve in own]) for own in measured]


def _write_curves(side: Side) -> list[Curve]:
    """The write curve of each repeat.

    Raises:
        RecordingError: one of them wrote nothing.
    """
    curves = [curve for recording in side.repeats if (curve := write_curve(recording)) is not None]
    if len(curves) < len(side.repeats):
        raise RecordingError(f"{side.name} wrote nothing that could be aligned", "leave --align out")
    return curves


def _stretches(curve: Curve, align: str, edges: np.ndarray, names: Sequence[str]) -> Figures:
    start = curve.edges_bytes[0]
    elapsed = np.concatenate([[0.0], np.cumsum(curve.seconds)])
    if align == "bytes":
        speeds = np.diff(edges) / np.diff(curve.seconds_at(start + edges))
    else:
        speeds = np.diff(np.interp(edges, elapsed, curve.edges_bytes)) / np.diff(edges)
    return {Name(name, name): ("B/s", rate(float(speed))) for name, speed in zip(names, speeds, strict=True)}


def read_tolerance(path: Path) -> dict[str, float]:
    """Relative tolerances by name from a TOML file of `name = "5%"`.

    Raises:
        PslcError: it cannot be read, or a value is no percentage.
    """
    try:
        table = files.toml(gate.text(path, FILE))
    except ValueError as error:
        raise RecordingError(f"{path}: {error}", 'a TOML file with lines such as mean = "5%"') from None
    limits = {}
    for name, text in table.items():
        # ASCII digits alone: there are others that are no numbers, such as a superscript two.
        if not isinstance(text, str) or not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?%", text):
            raise RecordingError(f'{path}: {name} is "{text}"', 'a percentage: "5%"')
        limits[name] = float(text.removesuffix("%")) / 100
    return limits
