"""Constants of parts, fitted to all published figures together, into parts/constants.csv: `make calibration`.

    log figure = log of the law + pair + line + noise        (laws.py, docs/model.md)
    log constant = regression on what makers state + the part's own

Everything is normal in logarithms, so a fit is Gauss-Newton in the space of figures: with the prior means m and
variances V of all effects, J the derivatives of the figures by them and R the noise,

    x = m + V J' (J V J' + R)^-1 (y - f(x) + J (x - m))

A figure says of each constant what its derivative says: a copy with one write at a time nearly nothing of the die, and
of two limits the slower takes nearly all. What makers state of controllers and dies counts as figures of their own.
"""

import csv
import math
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pslc.device import parts
from pslc.device.parts import constants, forecast
from pslc.device.parts.constants import SPEEDS, WAYS
from pslc.device.parts.forecast import FIGURES, LINES, Interval, Line, mode_of
from pslc.device.parts.laws import speeds
from pslc.device.parts.schema import Controller

sys.path.insert(0, str(Path(__file__).parent))

import ledger
from ledger import Review

Floats = NDArray[np.float64]
NAMES = tuple(constants.FEATURES)
PRIORS: Mapping[str, tuple[float, float, float, Mapping[str, tuple[float, float]]]] = {
    "slc_write": (3300e6, 0.3, 0.25, {"link": (0.9, 0.3), "bus": (0.1, 0.3)}),
    "copy_time": (90e3, 0.5, 0.40, {"link": (-0.3, 0.4)}),
    "native_write": (1400e6, 0.4, 0.25, {"link": (0.8, 0.4), "dram": (0.3, 0.3), "channels": (0.3, 0.3),
                                         "qlc": (-0.7, 0.4), "server": (1.0, 0.5), "bus": (0.2, 0.3)}),
    "folding": (1.4, 0.5, 0.40, {}),
    "flush": (900e3, 0.5, 0.50, {}),
    "latency": (8e3, 0.4, 0.35, {"sata": (0.4, 0.4)}),
    "slc_read": (40e3, 0.4, 0.20, {"read": (0.7, 0.4)}),
    "slc_program": (130e3, 0.3, 0.30, {"qlc": (0.3, 0.3), "mlc": (0.3, 0.4), "layers": (-0.5, 0.4)}),
    "native_program": (2e6, 0.3, 0.16, {"qlc": (1.2, 0.4), "mlc": (-0.4, 0.4), "layers": (-0.6, 0.3)}),
}  # fmt: skip
"""Of each constant: a first guess of its class, its spread, that of parts around it, and slopes other than 0."""
SLOPE_SD = 0.4
WAY_PRIORS = {"direct-while-folding": (-0.5, 0.5), "fold": (0.0, 0.5), "slow-fold": (0.0, 0.7)}
"""Logarithm of a way's factor on folding."""
PACE_SD = 0.45
"""Of what slow firmware folds a second, from line to line: 20 to 240 MB/s were published."""
BIASES = {"first": {"pair": 0.08, "line": 0.08}, "past": {"pair": 0.15, "line": 0.13}}
NOISE = {"first": {"maker": 0.04, "single": 0.06, "deep": 0.08}, "past": {"maker": 0.15, "single": 0.20, "deep": 0.40}}
"""By whose figure it is: reviews at depth differ most."""
RATED_SHARE, RATED_SD = 0.95, 0.10
"""What drives write into pSLC over the rating of their controller: 5.89 of 6.4 GB/s (IG5236), 10 of 11.8 (E26)."""
PAPER_SD, ASSUMED_SD = 0.15, 0.30
"""Of a program time that a maker states, and of one that is assumed."""
SYNC_SD = {"data": 0.35, "file": 0.50}
"""Of a synced write that somebody measured: one drive, measured twice, differs by twice to four times."""
SYNCED_FILE = (math.log(2), 0.3)
"""Logarithm of flushes that the sync of a file takes: the file system's journal is written and flushed, too."""
COMMAND_SD = {"rated": 0.15, "measured": 0.25}
"""Of the time of one command at depth 1."""
COMMANDS: Mapping[str, tuple[float, float]] = {"write_iops": (1, 0), "read_iops": (0, 1), "mean_iops": (0.5, 0.5)}
"""Figures of qd1.csv: how much of a write and how much of a read, in logarithms."""
COMMAND_HOST_NS = 5e3
"""Of that time, what the computer takes: a command on those of python/pslc/device/parts/computers."""
COMMAND_BYTES, SATA_FRAME_BYTES = 4096, 2852
"""Of the data, and of the frames and turns of the line that a SATA command takes beside them (crates/ssd/src/link)."""
STEP = 1e-4
MAX_STEP = 0.7
ITERATIONS = 8

Columns = list[tuple[int, float]]
Key = tuple[Hashable, ...]


def phase_of(figure: str) -> str:
    """`first` or `past` the cache."""
    return "first" if figure == "speed1" else "past"


@dataclass
class Design:
    """All effects with their priors, and which of them make up each constant of a review."""

    index: dict[Key, int] = field(default_factory=dict)
    mean: list[float] = field(default_factory=list)
    variance: list[float] = field(default_factory=list)

    def effect(self, key: Key, mean: float, sd: float) -> int:
        """Number of an effect."""
        if key not in self.index:
            self.index[key] = len(self.mean)
            self.mean.append(mean)
            self.variance.append(sd**2)
        return self.index[key]

    def constant(self, name: str, part: str, features: Mapping[str, float]) -> Columns:
        """What makes up a constant of a part; no part: that of its class."""
        base, sd, own_sd, slopes = PRIORS[name]
        columns = [(self.effect((name, "class"), math.log(base), sd), 1.0)]
        for feature in constants.FEATURES[name]:
            mean, slope_sd = slopes.get(feature, (0.0, SLOPE_SD))
            columns.append((self.effect((name, feature), mean, slope_sd), features[feature]))
        return [*columns, (self.effect((name, "part", part), 0.0, own_sd), 1.0)] if part else columns

    def way(self, way: str, line: str = "") -> Columns:
        """A way's factor on folding; the first has none, and the last one a line's own beside it."""
        columns = [(self.effect(("way", way), *WAY_PRIORS[way]), 1.0)] if way in WAY_PRIORS else []
        return [*columns, (self.effect(("pace", line), 0.0, PACE_SD), 1.0)] if way == WAYS[-1] else columns

    def flushes(self, synced: str) -> Columns:
        """How many flushes a synced write takes: of the data alone, or of a file."""
        return [(self.effect(("synced", "file"), *SYNCED_FILE), 1.0)] if synced == "file" else []

    def constants(self, review: Review, way: str) -> list[Columns]:
        """The constants of a review, in the order of `SPEEDS`."""
        features = {True: constants.of_controller(review.chip, constants.cells_of(review.die)),
                    False: constants.of_die(review.die)}  # fmt: skip
        rows = [
            self.constant(
                name, constants.part_of(name, review.chip, review.die), features[name in constants.OF_CONTROLLERS]
            )
            for name in SPEEDS
        ]
        at = SPEEDS.index("folding")
        rows[at] = self.way(way, review.line) + (rows[at] if way != WAYS[-1] else [])
        return rows

    def biases(self, review: Review, phase: str) -> Columns:
        """What a pair of parts and a line share of a phase."""
        of = {"pair": review.pair, "line": review.line}
        return [(self.effect((phase, what, of[what]), 0.0, sd), 1.0) for what, sd in BIASES[phase].items()]


@dataclass(frozen=True)
class Fit:
    """The effects after a fit, and what their covariance is made of."""

    design: Design
    x: Floats
    jacobian: Floats
    inverse: Floats

    @property
    def effects(self) -> Floats:
        """The mean of each effect of the design; those that came later are as the prior has them."""
        return np.concatenate([self.x, self.design.mean[len(self.x) :]])

    def of(self, rows: Sequence[Columns]) -> tuple[Floats, Floats]:
        """Means and covariance of sums of effects."""
        design, fitted = self.design, len(self.x)
        a = np.zeros((len(rows), len(design.mean)))
        for number, columns in enumerate(rows):
            for column, weight in columns:
                a[number, column] += weight
        variance = np.array(design.variance)
        shared = (a[:, :fitted] * variance[:fitted]) @ self.jacobian.T
        return a @ self.effects, (a * variance) @ a.T - shared @ self.inverse @ shared.T


Linear = Callable[[Floats], tuple[Columns, float]]
"""Of the effects as they are: those by which a logarithm moves, and what it lacks."""


def total(x: Floats, columns: Columns) -> float:
    """Sum of effects."""
    return float(sum(x[i] * weight for i, weight in columns))


def stated(columns: Columns, value: float) -> Linear:
    """A constant that somebody states."""
    return lambda x: (columns, math.log(value) - total(x, columns))


def synced(design: Design, row: ledger.Row) -> Linear:
    """A synced write: flush and program of a page at one bit, once, or for the journal of the file system, too."""
    die = parts.published_nand(row["nand"]) if row["nand"] else None
    features = constants.of_die(die) if die else dict.fromkeys(constants.FEATURES["slc_program"], 0.0)
    flush = design.constant("flush", row["controller"], {})
    program = design.constant("slc_program", row["nand"], features)
    times = design.flushes(row["synced"])

    def linear(x: Floats) -> tuple[Columns, float]:
        once = np.logaddexp(total(x, flush), total(x, program))
        share = math.exp(total(x, flush) - once)
        # It sets no program: fills say more of that.
        columns = [*((i, share * weight) for i, weight in flush), *times]
        return columns, math.log(float(row["sync_us"]) * 1e3) - float(once) - total(x, times)

    return linear


def command(design: Design, row: ledger.Row, figure: str) -> Linear:
    """A command of 4 KiB at depth 1: the computer, the link, what the controller takes, and a read's look at the map,
    cells and bus. What was written lies in cells of one bit, and of drives without a cache in native ones."""
    chip, die = parts.published_controller(row["controller"]), parts.published_nand(row["nand"])
    latency = design.constant("latency", chip.name, constants.of_controller(chip, "TLC"))
    sense = [] if is_native(chip) else design.constant("slc_read", die.name, constants.of_die(die))
    sent = COMMAND_BYTES + SATA_FRAME_BYTES * chip.link.startswith("sata")
    way_ns = COMMAND_HOST_NS + 1e9 * sent / constants.link_bytes_per_s(chip.link)
    looked_ns = chip.map_access + 1e3 * COMMAND_BYTES / min(chip.bus_mts, die.bus_mts)
    of_write, of_read = COMMANDS[figure]

    def linear(x: Floats) -> tuple[Columns, float]:
        latency_ns = math.exp(total(x, latency))
        sense_ns = math.exp(total(x, sense)) if sense else die.native.read
        write_ns = way_ns + latency_ns
        read_ns = write_ns + looked_ns + sense_ns
        by_latency, by_sense = (
            of_write * latency_ns / write_ns + of_read * latency_ns / read_ns,
            of_read * sense_ns / read_ns,
        )
        slopes = [(i, by_latency * weight) for i, weight in latency] + [(i, by_sense * weight) for i, weight in sense]
        law = of_write * math.log(write_ns) + of_read * math.log(read_ns)
        return slopes, math.log(1e9 / float(row[figure])) - law

    return linear


def is_native(chip: Controller) -> bool:
    """Whether the drives of a controller have no cache, so that data lie in native cells."""
    return chip.habits["mode"] == "pure-xlc"


def command_sd(row: ledger.Row, figure: str) -> float:
    """Spread of a figure of a command; native reads are a paper's."""
    of_paper = figure == "read_iops" and is_native(parts.published_controller(row["controller"]))
    return math.hypot(COMMAND_SD[row["kind"]], PAPER_SD * of_paper)


def statements(
    design: Design, flushes: Sequence[ledger.Row], commands: Sequence[ledger.Row]
) -> Iterator[tuple[Linear, float]]:
    """What makers say of a constant, and what these synced writes and single commands say of it, with its spread."""
    for name, rate in ledger.ratings().items():
        features = constants.of_controller(parts.published_controller(name), "TLC")
        yield stated(design.constant("slc_write", name, features), RATED_SHARE * rate), RATED_SD
    for name in parts.nands():
        die = parts.published_nand(name)
        if die.native.program:
            sd = ASSUMED_SD if die.source.get("native.program", "").startswith("assumed") else PAPER_SD
            yield stated(design.constant("native_program", name, constants.of_die(die)), die.native.program), sd
    for row in flushes:
        # What stands for a controller that is no part says less of the class.
        own_sd = 0.0 if row["controller"] else PRIORS["flush"][2]
        yield synced(design, row), math.hypot(SYNC_SD[row["synced"]], own_sd)
    for row in commands:
        yield from ((command(design, row, figure), command_sd(row, figure)) for figure in COMMANDS if row[figure])


def used(review: Review) -> list[str]:
    """Figures whose law is known: past the cache those of a drive whose way of folding was seen."""
    is_known = bool(review.way) or not review.drive.cache
    return [name for name in review.figures if is_known or name == "speed1"]


def figures(review: Review, way: str, logs: Floats) -> dict[str, Floats]:
    """Logarithms of the figures of a review, for rows of constants in the order of `SPEEDS`."""
    law = speeds(review.drive, way, dict(zip(SPEEDS, logs, strict=True)))
    return dict(zip(FIGURES, map(np.log, (law.first, law.second, law.third, law.mean)), strict=True))


def fit(
    reviews: Sequence[Review],
    flushes: Sequence[ledger.Row] | None = None,
    commands: Sequence[ledger.Row] | None = None,
) -> Fit:
    """All effects from the figures of these reviews, synced writes and commands (default: all), and of makers."""
    design = Design()
    observations = list(
        statements(
            design,
            ledger.flushes() if flushes is None else flushes,
            ledger.commands() if commands is None else commands,
        )
    )
    rows = [(review, design.constants(review, review.way), {name: design.biases(review, phase_of(name))
             for name in used(review)}) for review in reviews]  # fmt: skip
    m, v = np.array(design.mean), np.array(design.variance)
    count = sum(len(biases) for *_, biases in rows) + len(observations)
    x = m.copy()
    for _ in range(ITERATIONS):
        jacobian, residual, noise = np.zeros((count, len(m))), np.zeros(count), np.zeros(count)
        at = 0
        for review, columns, biases in rows:
            logs = np.array([sum(x[i] * weight for i, weight in some) for some in columns])
            steps = np.concatenate([np.zeros((len(SPEEDS), 1)), STEP * np.eye(len(SPEEDS))], axis=1)
            law = figures(review, review.way, logs[:, None] + steps)
            for name, extra in biases.items():
                value = np.broadcast_to(law[name], len(SPEEDS) + 1)
                for some, slope in zip(columns, (value[1:] - value[0]) / STEP, strict=True):
                    for i, weight in some:
                        jacobian[at, i] += slope * weight
                for i, weight in extra:
                    jacobian[at, i] += weight
                residual[at] = review.figures[name] - value[0] - sum(x[i] for i, _ in extra)
                noise[at] = NOISE[phase_of(name)][review.kind] ** 2
                at += 1
        for linear, sd in observations:
            made_of, residual[at] = linear(x)
            for i, weight in made_of:
                jacobian[at, i] += weight
            noise[at] = sd**2
            at += 1
        inverse = np.linalg.inv((jacobian * v) @ jacobian.T + np.diag(noise))
        step = m + v * (jacobian.T @ (inverse @ (residual + jacobian @ (x - m)))) - x
        x = x + np.clip(step, -MAX_STEP, MAX_STEP)
    return Fit(design, x, jacobian, inverse)


def left_out(fit: Fit, law: Linear, published: float, sd: float) -> Interval:
    """What a fit of other drives says of a figure, by its law; 80 % lie between, as pslc prints them."""
    columns, lacks = law(fit.effects)
    _, covariance = fit.of([columns])
    within = math.exp(forecast.STRETCH * constants.SD_80 * math.hypot(math.sqrt(covariance[0, 0]), sd))
    middle = published / math.exp(lacks)
    return Interval(middle, middle / within, middle * within)


Row = tuple[str, str, float, float]


def table(effects: Fit) -> list[Row]:
    """The rows of constants.csv: classes and their slopes, parts, ways of folding, what is left of phases."""
    design, keys = effects.design, []
    for name in NAMES:
        for part in ("class", *constants.FEATURES[name]):
            keys.append((name, part if part == "class" else f"per {part}", [(design.index[name, part], 1.0)]))
    keys += [("folding", f"way {way}", design.way(way)) for way in WAY_PRIORS]
    keys.append(("flush", "synced file", design.flushes("file")))
    for name in NAMES:
        keys += [(name, part, columns) for part, columns in of_parts(design, name)]
    for phase in BIASES:
        pairs = dict.fromkeys(review.pair for review in ledger.reviews())
        keys += [(phase, pair, [(design.effect((phase, "pair", pair), 0.0, BIASES[phase]["pair"]), 1.0)])
                 for pair in pairs if (phase, "pair", pair) in design.index]  # fmt: skip
    means, covariance = effects.of([columns for *_, columns in keys])
    rows = [(name, part, math.exp(mean), math.sqrt(variance))
            for (name, part, _), mean, variance in zip(keys, means, np.diag(covariance), strict=True)]  # fmt: skip
    among = lines(ledger.reviews())
    for chip in map(parts.published_controller, parts.controllers()):
        if not is_native(chip):
            shares = {cells: forecast.usual_share(chip, cells, among) for cells in constants.CELLS}
            rows += [("cache_share", f"{chip.name} {cells}", *astuple(share)) for cells, share in shares.items()]
    for cells in constants.CELLS:
        logs = [math.log(row[2]) for row in rows if row[0] == "cache_share" and row[1].endswith(cells)]
        rows.append(("cache_share", f"class {cells}", math.exp(statistics.median(logs)), statistics.stdev(logs)))
    rows += [(name, constants.OWN, 1.0, PRIORS[name][2]) for name in NAMES]
    rows += [(phase, f"any {what}", 1.0, sd) for phase, of in BIASES.items() for what, sd in of.items()]
    rows += [(phase, f"noise {kind}", 1.0, sd) for phase, of in NOISE.items() for kind, sd in of.items()]
    return rows


def of_parts(design: Design, name: str) -> Iterator[tuple[str, Columns]]:
    """What makes up a constant of each part of the library."""
    if name not in constants.OF_CONTROLLERS:
        for die in map(parts.published_nand, parts.nands()):
            yield die.name, design.constant(name, die.name, constants.of_die(die))
        return
    # Of flushes and commands only those that were measured: the class stands for the others.
    measured = {"flush": ledger.flushes(), "latency": ledger.commands()}.get(name)
    names = parts.controllers() if measured is None else sorted({row["controller"] for row in measured} - {""})
    for chip in map(parts.published_controller, names):
        for cells in constants.CELLS if name in constants.BY_CELLS else constants.CELLS[:1]:
            part = f"{chip.name} {cells}" if name in constants.BY_CELLS else chip.name
            yield part, design.constant(name, part, constants.of_controller(chip, cells))


def lines(reviews: Sequence[Review]) -> list[Line]:
    """What the reviews of a line and its parts say of its cache and of how it folds."""
    groups: dict[tuple[str, str, str], list[Review]] = {}
    for review in reviews:
        groups.setdefault((review.line, review.chip.name, review.die.name), []).append(review)
    drive_lines = []
    for key, mine in groups.items():
        some = [review for review in mine if review.drive.cache]
        shares = [math.log(review.drive.cache * review.drive.bits / review.drive.capacity)
                  for review in some if ledger.cache_is_published(review.row)]  # fmt: skip
        ways = Counter(review.way for review in some if review.way).most_common(1)
        mode = mode_of(some[0].drive) if some else "none"
        share = float(f"{math.exp(statistics.fmean(shares)):.3g}") if shares else None
        drive_lines.append(Line(*key, mode, share, ways[0][0] if ways else ""))
    return sorted(drive_lines, key=lambda line: (line.name, line.controller, line.nand))


def write() -> None:
    """Fit, and write the tables of constants and of lines."""
    rows = [(*row[:2], f"{row[2]:.4g}", f"{row[3]:.3f}") for row in sorted(table(fit(ledger.reviews())))]
    for path, header, records in (
        (constants.TABLE, ("constant", "part", "median", "sd"), rows),
        (LINES, ("line", "controller", "nand", "mode", "share", "way"), map(astuple, lines(ledger.reviews()))),
    ):
        with path.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *records])


if __name__ == "__main__":
    write()
