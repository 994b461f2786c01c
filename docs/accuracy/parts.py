"""Drives made of nothing but their parts and the size of their cache, beside what was published, in ACCURACY.md.

Two things are held against each row of `drives.csv`. A forecast with its interval, from the constants that other drives
give (`pooled.py`): the row's line, pair of parts, controller, or both parts are left out of the ledger. And a fill of
the simulated drive, as the table of constants has it, with the reviewer's load: `copy` is one request of 1 MiB at a
time, as techpowerup.com's page on the cache says of itself, with 50 us of the host's between; `qd32` keeps the drive
busy. The speed of a phase is the median over sixteen parts of it, in each what was written over the time that took.
"""

import functools
import itertools
import math
import statistics
import sys
import tempfile
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import pslc
from pslc.base import units, work
from pslc.device import parts, scaling
from pslc.device.parts import constants, forecast, laws

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import ledger  # noqa: E402
import pooled  # noqa: E402
from ledger import Review, Row, model  # noqa: E402

TOOLS: dict[str, tuple[tuple[str, str], ...]] = {"copy": (("iodepth", "1"),), "qd32": ()}
HOST: dict[str, dict[str, str | int | float]] = {
    "copy": {"host.cores": 4, "host.read": "50us", "host.write": "50us"},
    "qd32": {},
}
MARGIN_SHARE = 0.02
"""Share of a phase left out at either border, where figures published in prose are round."""
MIN_PHASE_SHARE = 0.1
"""Of the capacity: shorter phases are steps that reviews pass over in prose; the shortest that one tells is 9 % (870
to 1000 of the Aldrin Pro's 2000 GB)."""
PARTS_OF_PHASE = 16
"""Equal parts of a phase whose median speed is its speed: each is long beside the pauses of folding, which count, and a
border that the simulated drive has elsewhere moves some of them only."""
WORKERS = 2
MAX_SCALE = 8
"""Of a drive of 2 TB a fill of an eighth gives its speeds within 1 % (docs/model.md, scaled drives) in a tenth of the
time."""


@dataclass(frozen=True)
class Figure:
    """One published figure, in bytes or bytes a second; `error` is relative, of an end to the capacity."""

    drive: str
    what: str
    published: float
    simulated: float
    error: float


def scale(drive: parts.Derived, row: Row) -> int:
    """How many times smaller a drive may be filled: whole word lines, and a cache that is large beside the buffer."""
    values = {**drive.values}
    lines = int(values["nand.pages_per_block"]) // int(values["nand.bits_per_cell"])
    buffer = units.size(str(values["controller.write_buffer"]), "controller.write_buffer")
    largest = (
        min(MAX_SCALE, int(ledger.review(row).drive.cache / (scaling.SMALLEST * buffer))) if row["cache"] else MAX_SCALE
    )
    return max((n for n in range(1, largest + 1) if lines % n == 0), default=1)


def fill(row: Row) -> pslc.Recording:
    """A fill of the drive that a row describes, under the policy that the review shows."""
    pairs = (pair.partition("=") for pair in row["cache"].split())
    cache = {name: value for name, _, value in pairs} or {"mode": "pure-xlc"}
    if row["cache"] and row["when_full"]:
        cache["when_full"] = row["when_full"]
    review = ledger.review(row)
    if review.way == constants.WAYS[-1]:
        medians = {name: constant.median for name, constant in constants.of(review.chip, review.die).items()}
        factor = constants.table()["folding", f"way {review.way}"].median
        cache["fold_overhead"] = f"{laws.slow_overhead(review.drive, medians, factor):.3f}"
    stated = dict(pair.split("=", 1) for pair in row["given"].split())
    drive = parts.profile(
        nand=row["nand"], controller=row["controller"], capacity=row["capacity"], cache=cache,
        given={**HOST[row["tool"]], **stated},
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "drive.toml"
        path.write_text(drive.text)
        by = scale(drive, row)
        target = f"sim:{path}" if by == 1 else f"sim:{path},scale=1/{by}"
        return pslc.run("fill", on=target, options=TOOLS[row["tool"]])


def end_of_second(phases: Sequence[Mapping[str, Any]], capacity: float) -> float:
    """Where the second phase ends, in bytes, for a review that names only two: with the phase behind the simulated
    cache if a reviewer would have seen it, else with the drive."""
    if len(phases) > 2 and phases[1]["to_bytes"] - phases[0]["to_bytes"] >= MIN_PHASE_SHARE * capacity:
        return float(phases[1]["to_bytes"])
    return capacity


def figures_of(row: Row, recording: pslc.Recording) -> Iterator[Figure]:
    """What was published of a drive, and what comes out of a fill."""
    capacity = float(units.size(row["capacity"], "capacity"))
    written = np.cumsum(recording.bytes["write_bytes"]).astype(float)
    seconds = (recording.bytes["end_ns"].astype(float) - recording.start_ns) / 1e9
    phases = recording.findings["phases"]
    end = float(row["end2_GB"]) * 1e9 if row["end2_GB"] else end_of_second(phases, capacity)
    borders = [0.0, ledger.review(row).drive.cache or capacity, end, capacity]

    def figure(what: str, text: str, simulated: float, scale: float, of: float | None = None) -> Figure:
        value = float(text) * scale
        return Figure(row["drive"], what, value, simulated, (simulated - value) / (of or value))

    for n in (1, 2, 3):
        text = row[f"speed{n}_MBps"]
        if not text:
            continue
        if n > 1 and row["speed3_MBps"] and not row["end2_GB"]:
            # Nobody said where one ends and the other begins.
            yield figure(f"speed {n}", text, phases[min(n, len(phases)) - 1]["bytes_per_s"], 1e6)
            continue
        first, last = borders[n - 1 : n + 1]
        margin = MARGIN_SHARE * (last - first)
        start, end = first + margin, last - margin
        if start >= end:
            # The simulated phase ends before the published one begins.
            start, end = first, (1 - MARGIN_SHARE) * capacity
        borders_of_parts = np.linspace(start, end, PARTS_OF_PHASE + 1)
        took = np.diff(np.interp(borders_of_parts, written, seconds))
        yield figure(f"speed {n}", text, float(np.median(np.diff(borders_of_parts) / took)), 1e6)
    if row["end2_GB"]:
        simulated = phases[min(2, len(phases)) - 1]["to_bytes"]
        yield figure("end of the direct phase", row["end2_GB"], simulated, 1e9, of=capacity)
    if row["mean_MBps"]:
        yield figure("mean", row["mean_MBps"], recording.findings["fill_mean_bytes_per_s"], 1e6)


def of_fill(row: Row) -> list[Figure]:
    """Every published figure of a drive, and what comes out of a fill."""
    return list(figures_of(row, fill(row)))


@functools.cache
def fills() -> tuple[Figure, ...]:
    """Of each drive, with the constants of the table, to which its own figures belong."""
    with work.Pool(work.Local(WORKERS)) as pool:
        return tuple(figure for figures in pool.map(of_fill, ledger.rows()) for figure in figures)


# ---- forecasts of what is left out


@dataclass(frozen=True)
class Scored:
    """A published figure, and the forecast of it by other drives: logarithms of bytes/s."""

    review: Review
    figure: str
    published: float
    low: float
    median: float
    high: float

    @property
    def error(self) -> float:
        """Relative, of the middle."""
        return math.exp(self.median - self.published) - 1

    @property
    def holds(self) -> bool:
        """Whether the figure is within the interval."""
        return self.low <= self.published <= self.high

    @property
    def score(self) -> float:
        """The interval score of 80 %: the width, and ten times what the figure is beyond it."""
        return self.high - self.low + 10 * max(0.0, self.low - self.published, self.published - self.high)


Left = Callable[[Review, Review], bool]
"""Whether a review is left out when another one is predicted."""
SCHEMES: Mapping[str, tuple[Callable[[Review], Hashable], Left]] = {
    "line": (lambda one: one.line, lambda other, one: other.line == one.line),
    "pair of parts": (lambda one: one.pair, lambda other, one: other.pair == one.pair),
    "controller": (lambda one: one.chip.name, lambda other, one: other.chip.name == one.chip.name),
    "controller and die": (
        lambda one: one.pair, lambda other, one: other.chip.name == one.chip.name or other.die.name == one.die.name,
    ),
}  # fmt: skip
"""What is left out: by what reviews are predicted together, and which others go."""
MIN_EARLIER, BLOCK = 60, 16
"""As the ledger grew: rows before the first that is predicted, and rows between two fits."""


def predicted(reviews: Sequence[Review], others: Sequence[Review]) -> Iterator[Scored]:
    """Each figure of these reviews, from the others alone."""
    fit, among = pooled.fit(others), pooled.lines(others)
    for review in reviews:
        dice = np.random.default_rng(0)
        rows = fit.design.constants(review, constants.WAYS[0])
        rows += [fit.design.way(way, review.line) for way in constants.WAYS[1:]]
        rows += [fit.design.biases(review, phase) for phase in forecast.PHASES]
        mean, covariance = fit.of(rows)
        logs = dice.multivariate_normal(mean, covariance, LEAVE_OUT_DRAWS, method="cholesky").T
        mode = forecast.mode_of(review.drive)
        likely = forecast.ways(review.chip, constants.cells_of(review.die), mode, among)
        noise = {phase: pooled.NOISE[phase][review.kind] for phase in forecast.PHASES}
        told = forecast.figures(review.drive, likely, logs, noise, dice)
        for name, published in review.figures.items():
            yield Scored(review, name, published, *np.quantile(told[name], [forecast.LOW, 0.5, forecast.HIGH]))


LEAVE_OUT_DRAWS = 1000


@functools.cache
def left_out(scheme: str) -> tuple[Scored, ...]:
    """Each figure, predicted without what the scheme leaves out."""
    together, goes = SCHEMES[scheme]
    groups: dict[Hashable, list[Review]] = {}
    for review in ledger.reviews():
        groups.setdefault(together(review), []).append(review)
    return tuple(
        scored
        for reviews in groups.values()
        for scored in predicted(reviews, [other for other in ledger.reviews() if not goes(other, reviews[0])])
    )


def as_it_grew() -> tuple[Scored, ...]:
    """Each figure of a new line, predicted from the rows above it."""
    found: list[Scored] = []
    for at in range(MIN_EARLIER, len(ledger.reviews()), BLOCK):
        earlier = ledger.reviews()[:at]
        lines = {review.line for review in earlier}
        found += predicted([one for one in ledger.reviews()[at : at + BLOCK] if one.line not in lines], earlier)
    return tuple(found)


def caches_left_out() -> list[tuple[float, bool, bool, float]]:
    """Of each published cache, its line left out: error, whether within 80 %, whether the kind is right, the width."""
    found = []
    for review in ledger.reviews():
        if not ledger.cache_is_published(review.row):
            continue
        among = pooled.lines([other for other in ledger.reviews() if other.line != review.line])
        kinds, size = forecast.caches(review.chip, review.die, review.drive.capacity, among), review.drive.cache
        interval = forecast.any_kind(review.chip, review.die, review.drive.capacity, among)
        share = size * review.drive.bits / review.drive.capacity
        kind = next(name for name, upto in forecast.KINDS.items() if share <= upto)
        holds = interval.low <= size <= interval.high
        found.append((abs(interval.median / size - 1), holds, kinds[0].name == kind, interval.high / interval.low))
    return found


HEADER = (
    "drive", "nand", "controller", "figure", "published", "predicted", "low", "high", "error", "fill", "source",
    "parts_from",
)  # fmt: skip


def spread(errors: Sequence[float]) -> tuple[float, float]:
    """Median and 90th percentile of errors of at least one figure."""
    ordered = sorted(errors)
    return statistics.median(ordered), ordered[min(int(0.9 * len(ordered)), len(ordered) - 1)]


def records() -> list[list[str]]:
    """The rows of parts.csv: forecasts without the line, and fills."""
    filled = {(figure.drive, figure.what.replace(" ", "")): figure for figure in fills()}
    table = []
    for one in left_out("line"):
        row, mbps = one.review.row, [math.exp(x) / 1e6 for x in (one.published, one.median, one.low, one.high)]
        simulated = filled.get((row["drive"], one.figure))
        table.append([row["drive"], row["nand"], row["controller"], one.figure, *(f"{x:.0f} MB/s" for x in mbps),
                      f"{one.error:+.0%}", f"{simulated.simulated / 1e6:.0f} MB/s" if simulated else "",
                      row["source"], row["parts_from"]])  # fmt: skip
    return table


GROUPS: Mapping[str, tuple[str, ...]] = {
    "speeds": ("speed1", "speed2", "speed3"),
    "first phase": ("speed1",),
    "past the cache": ("speed2", "speed3"),
    "mean of a fill": ("mean",),
}


def cell(scored: Sequence[Scored]) -> str:
    """Errors, how many intervals hold, and how wide they are."""
    median, ninety = spread([abs(one.error) for one in scored])
    width = math.exp(statistics.median(one.high - one.low for one in scored))
    return f"{median:.0%} / {ninety:.0%}; {statistics.fmean(one.holds for one in scored):.0%}, x{width:.1f}"


def left_out_table() -> list[str]:
    """The table of forecasts: a row for each scheme."""
    head = ["left out", *GROUPS, "interval score"]
    lines = [f"| {' | '.join(head)} |", "|---|" + "---|" * (len(GROUPS) + 1)]
    for name, scored in {**{name: left_out(name) for name in SCHEMES}, "lines to come": as_it_grew()}.items():
        of = {group: [one for one in scored if one.figure in names] for group, names in GROUPS.items()}
        score = statistics.fmean(one.score for one in of["speeds"])
        lines.append(f"| {' | '.join([name, *map(cell, of.values()), f'{score:.2f}'])} |")
    counts = ", ".join(
        f"{sum(one.figure in names for one in left_out('line'))} {group}" for group, names in GROUPS.items()
    )
    return [*lines, "", f"Figures: {counts}."]


def summary() -> list[str]:
    """What stands below the table: the cache, the floor, and the training figures."""
    errors, holds, kinds, widths = zip(*caches_left_out(), strict=True)
    median, ninety = spread(errors)
    lines = [
        f"- sizes of the cache, line left out: {len(errors)} drives, median error {median:.0%}, 90th percentile "
        f"{ninety:.0%}; {statistics.fmean(holds):.0%} within 80 %, x{statistics.median(widths):.1f}; the most likely "
        f"kind is right in {statistics.fmean(kinds):.0%}",
        between_reviews(),
    ]
    groups = {"first phases": ("speed 1",), "past the cache": ("speed 2", "speed 3"), "means": ("mean",)}
    told = [f"{name} {median:.0%} / {ninety:.0%}" for name, whats in groups.items()
            for median, ninety in [spread([abs(one.error) for one in fills() if one.what in whats])]]  # fmt: skip
    ends = spread([abs(one.error) for one in fills() if one.what.startswith("end")])
    lines.append(
        f"- training figures, fills of the same drives with the table that their figures made: {', '.join(told)}"
    )
    lines.append(
        f"- ends of the direct phase, of the capacity: {sum(one.what.startswith('end') for one in fills())} figures, "
        f"median error {ends[0]:.0%}, target 5 %, 90th percentile {ends[1]:.0%}"
    )
    return lines


def between_reviews() -> str:
    """Line on how far apart the speeds of one drive are that two reviewers, or its maker and one, published."""
    clauses = []
    for name, figures in (("first phases", ("speed1",)), ("past the cache", ("speed2", "speed3"))):
        published: dict[tuple[str, str], list[float]] = {}
        for review in ledger.reviews():
            for figure in set(figures) & review.figures.keys():
                published.setdefault((model(review.row["drive"]), figure), []).append(review.figures[figure])
        pairs = [abs(a - b) for speeds in published.values() for a, b in itertools.combinations(speeds, 2)]
        median, ninety = spread([math.exp(apart) - 1 for apart in pairs])
        clauses.append(f"{name} {median:.0%} / {ninety:.0%} ({len(pairs)} pairs)")
    return f"- the floor, one speed of one drive published twice: apart by {', '.join(clauses)}"


if __name__ == "__main__":
    sys.stdout.write("\n".join([*left_out_table(), *summary()]) + "\n")
