"""Drives made of nothing but their parts and the size of their cache, beside what was published, in ACCURACY.md.

Each is predicted as a user's own drive would be: the constants of its parts are the medians over *other* drives
(`calibration.py`), and so is what its firmware does when the cache is full. A row of `drives.csv` names die,
controller, capacity and cache; of the cache, the size that other drives of the controller have is held against the
published one too. What is measured is a fill with the reviewer's load: `copy` is one request of 1 MiB at a time, as
techpowerup.com's page on the cache says of itself, with 50 us of the host's between; `qd32` keeps the drive busy. The
speed of a phase is the median over sixteen parts of it, in each what was written over the time that took.
"""

import csv
import functools
import itertools
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import pslc
from pslc.base import units
from pslc.base.processes import end_with_parent
from pslc.device import parts, scaling

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import calibration  # noqa: E402
from calibration import Constants, Entry, Row, model  # noqa: E402

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
"""Of a drive of 2 TB a fill of an eighth gives its speeds to 0.5 % (docs/model.md, scaled drives) in a tenth of the
time."""


@dataclass(frozen=True)
class Figure:
    """One published figure, in bytes or bytes a second; `error` is relative, of an end to the capacity."""

    drive: str
    what: str
    published: float
    simulated: float
    error: float


def phase_cache(row: Row) -> dict[str, str | int | float]:
    """The keys of the cache that a row gives."""
    pairs = (pair.partition("=") for pair in row["cache"].split())
    return {name: value for name, _, value in pairs}


def cache_bytes(row: Row) -> float:
    """What was published of the size of the cache."""
    return float(sum(units.size(str(size), "cache") for size in phase_cache(row).values()))


def scale(drive: parts.Derived, row: Row) -> int:
    """How many times smaller a drive may be filled: whole word lines, and a cache that is large beside the buffer."""
    values = {**drive.values}
    lines = int(values["nand.pages_per_block"]) // int(values["nand.bits_per_cell"])
    buffer = units.size(str(values["controller.write_buffer"]), "controller.write_buffer")
    largest = min(MAX_SCALE, int(cache_bytes(row) / (scaling.SMALLEST * buffer))) if row["cache"] else MAX_SCALE
    return max((n for n in range(1, largest + 1) if lines % n == 0), default=1)


def fill(row: Row, when_full: str, given: Mapping[str, str]) -> tuple[pslc.Recording, int]:
    """A fill of the drive that a row describes, under a policy, with these constants, and how many times smaller it
    is."""
    cache = {**phase_cache(row), "when_full": when_full} if row["cache"] else {"mode": "pure-xlc"}
    stated = dict(pair.split("=", 1) for pair in row["given"].split())
    drive = parts.profile(
        nand=row["nand"], controller=row["controller"], capacity=row["capacity"], cache=cache,
        given={**HOST[row["tool"]], **given, **stated},
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "drive.toml"
        path.write_text(drive.text)
        by = scale(drive, row)
        target = f"sim:{path}" if by == 1 else f"sim:{path},scale=1/{by}"
        return pslc.run("fill", on=target, options=TOOLS[row["tool"]]), by


def end_of_second(phases: Sequence[Mapping[str, Any]], by: int, capacity: float) -> float:
    """Where the second phase ends, in bytes, for a review that names only two: with the phase behind the simulated
    cache if a reviewer would have seen it, else with the drive."""
    if len(phases) > 2 and by * (phases[1]["to_bytes"] - phases[0]["to_bytes"]) >= MIN_PHASE_SHARE * capacity:
        return by * float(phases[1]["to_bytes"])
    return capacity


def figures_of(row: Row, recording: pslc.Recording, by: int) -> Iterator[Figure]:
    """What was published of a drive, and what comes out of a fill."""
    capacity = float(units.size(row["capacity"], "capacity"))
    written = by * np.cumsum(recording.bytes["write_bytes"]).astype(float)
    seconds = (recording.bytes["end_ns"].astype(float) - recording.start_ns) / 1e9
    phases = recording.findings["phases"]
    end = float(row["end2_GB"]) * 1e9 if row["end2_GB"] else end_of_second(phases, by, capacity)
    borders = [0.0, cache_bytes(row) or capacity, end, capacity]

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
        yield figure(f"speed {n}", text, float(np.median(np.diff(borders_of_parts) / by / took)), 1e6)
    if row["end2_GB"]:
        simulated = by * phases[min(2, len(phases)) - 1]["to_bytes"]
        yield figure("end of the direct phase", row["end2_GB"], simulated, 1e9, of=capacity)
    if row["mean_MBps"]:
        yield figure("mean", row["mean_MBps"], recording.findings["fill_mean_bytes_per_s"], 1e6)


def policy(row: Row) -> str:
    """What the review shows of the policy, or else the habit of the controller's firmware."""
    controller = parts.controller(row["controller"])
    habits = controller.habits_qlc if calibration.cells(row["nand"]) == "QLC" else {}
    return row["when_full"] or str({**controller.habits, **habits}["when_full"])


def simulate(row: Row, figure: str, given: Mapping[str, str]) -> float:
    """One figure of a fill under the policy that the review shows, bytes a second."""
    found = figures_of(row, *fill(row, policy(row), given))
    return next(one.simulated for one in found if one.what == figure)


def predicted(row: Row, ledger: Sequence[Entry]) -> list[Figure]:
    """Every published figure of a drive, with the constants that other drives give."""
    constants = Constants(ledger, without=model(row["drive"]))
    when_full = constants.policy(row)
    figures = list(figures_of(row, *fill(row, when_full, constants.of(row, when_full))))
    if not calibration.cache_is_published(row):
        return figures
    size = cache_bytes(row)
    simulated = constants.cache_share(row) * units.size(row["capacity"], "capacity")
    return [*figures, Figure(row["drive"], "cache", size, simulated, simulated / size - 1)]


def fits(row: Row, ledger: Sequence[Entry]) -> list[Entry]:
    """What the figures of a row set, with the other constants as all drives give them."""
    entries = []
    for figure, key in calibration.sets_of(row):
        given = Constants(ledger).of(row, policy(row))
        given.pop(key, None)
        value = calibration.text(key, calibration.fit(row, figure, key, simulate, given))
        part = row["nand"] if key.startswith("nand.") else row["controller"]
        goal = f"{calibration.published(row, figure) / 1e6:g} MB/s"
        entries.append(Entry(row["drive"], figure, goal, row["source"], part, key, calibration.cells(row["nand"]),
                             row["when_full"], value))  # fmt: skip
    return entries


def predict(row: Row) -> list[Figure]:
    """As `predicted`, in a process of its own."""
    return predicted(row, calibration.read())


@functools.cache
def all_figures() -> tuple[Figure, ...]:
    """Of each drive, predicted from others."""
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn"), initializer=end_with_parent) as pool:
        return tuple(figure for figures in pool.map(predict, calibration.drives()) for figure in figures)


HEADER = (
    "drive", "nand", "controller", "figure", "published", "predicted", "error", "in_ledger", "source", "parts_from",
)  # fmt: skip
NAMES = ("first", "second", "third")


def spread(errors: Sequence[float]) -> tuple[float, float]:
    """Median and 90th percentile of errors of at least one figure."""
    ordered = sorted(errors)
    return statistics.median(ordered), ordered[min(int(0.9 * len(ordered)), len(ordered) - 1)]


def in_units(figure: Figure) -> tuple[str, str]:
    """The published value and the predicted one, in GB or MB/s."""
    scale, unit = (1e9, "GB") if figure.what.startswith(("end", "cache")) else (1e6, "MB/s")
    return f"{figure.published / scale:.0f} {unit}", f"{figure.simulated / scale:.0f} {unit}"


def records() -> list[list[str]]:
    """The rows of parts.csv."""
    of_drive = {row["drive"]: row for row in calibration.drives()}
    set_something = {(entry.drive, entry.figure) for entry in calibration.read()}
    table = []
    for figure in all_figures():
        row = of_drive[figure.drive]
        in_ledger = "left out" if (figure.drive, figure.what) in set_something else ""
        table.append([figure.drive, row["nand"], row["controller"], figure.what, *in_units(figure),
                      f"{figure.error:+.0%}", in_ledger, row["source"], row["parts_from"]])  # fmt: skip
    return table


KINDS = (
    ("speeds of phases", ("speed 1", "speed 2", "speed 3"), 15),
    *((f"{name} phase", (f"speed {n}",), 12 if n == 1 else 0) for n, name in enumerate(NAMES, 1)),
    ("means of whole fills", ("mean",), 12),
    ("ends of the direct phase, of the capacity", ("end of the direct phase",), 5),
    ("sizes of the cache, where nobody says", ("cache",), 0),
)
"""Groups of figures in the summary, and the target of each in per cent; 0: it has none."""


def summary() -> list[str]:
    """Median and 90th percentile of the errors, by kind of figure."""
    lines = []
    for what, names, target in KINDS:
        errors = [abs(figure.error) for figure in all_figures() if figure.what in names]
        median, ninety = spread(errors)
        goal = f", target {target} %" if target else ""
        lines.append(f"- {what}: {len(errors)} figures, median error {median:.0%}{goal}, 90th percentile {ninety:.0%}")
    return [*lines, f"{by_source()}. {forecast()}", between_reviews()]


def between_reviews() -> str:
    """Line on how far apart the speeds of one drive are that two reviewers, or its maker and one, published."""
    published: dict[tuple[str, str], list[float]] = {}
    for row in calibration.drives():
        for n in (1, 2, 3):
            if row[f"speed{n}_MBps"]:
                published.setdefault((model(row["drive"]), f"speed {n}"), []).append(float(row[f"speed{n}_MBps"]))
    pairs = [pair for speeds in published.values() for pair in itertools.combinations(speeds, 2)]
    median, ninety = spread([max(pair) / min(pair) - 1 for pair in pairs])
    apart = f"{median:.0%} apart in the median, 90th percentile {ninety:.0%}"
    return f"- the same speed, published twice: {len(pairs)} pairs, {apart}"


def by_source() -> str:
    """The errors of speeds that makers state, and of those that reviewers measured."""
    rated = {row["drive"] for row in calibration.drives() if "specification" in row["source"]}
    speeds = [figure for figure in all_figures() if figure.what.startswith("speed")]
    clauses = []
    for who, is_rated in (("makers rate", True), ("reviewers measured", False)):
        errors = [abs(figure.error) for figure in speeds if (figure.drive in rated) == is_rated]
        median, ninety = spread(errors)
        clauses.append(f"that {who}: {len(errors)} figures, median error {median:.0%}, 90th percentile {ninety:.0%}")
    return f"- speeds {'; '.join(clauses)}"


def forecast() -> str:
    """The errors of speeds of rows that set no constant: nothing has learnt from them, as from a user's own drive."""
    rows = {row["drive"] for row in calibration.drives() if not calibration.sets_of(row)}
    clauses = []
    for n, name in enumerate(NAMES[:2], 1):
        errors = [abs(figure.error) for figure in all_figures() if figure.drive in rows and figure.what == f"speed {n}"]
        median, ninety = spread(errors)
        clauses.append(f"{name} phase {len(errors)} figures, median {median:.0%}, 90th percentile {ninety:.0%}")
    return f"Of the {len(rows)} rows that set no constant, each a forecast: {'; '.join(clauses)}"


SPREAD = Path(parts.__file__).parent / "spread.csv"
SPREAD_HEADER = ("controller", "what", "drives", "figures", "median_percent", "ninety_percent")


def write_spread() -> None:
    """How far predictions from parts are from reviews, of all drives and of each controller, for `pslc drives show`."""
    controller_of = {row["drive"]: row["controller"] for row in calibration.drives()}
    whats = {"speed 1": "first phase", "speed 2": "second phase", "speed 3": "third phase", "mean": "mean of a fill"}
    table = []
    for controller in ("", *parts.controllers()):
        mine = [figure for figure in all_figures() if controller in ("", controller_of[figure.drive])]
        kinds = [(whats[what], (what,)) for what in whats] if not controller else [("speeds", tuple(whats))]
        for name, of in kinds:
            some = [figure for figure in mine if figure.what in of]
            if some:
                median, ninety = spread([abs(figure.error) for figure in some])
                count = len({model(figure.drive) for figure in some})
                table.append([controller, name, count, len(some), round(100 * median), round(100 * ninety)])
    with SPREAD.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([SPREAD_HEADER, *table])


if __name__ == "__main__":
    sys.stdout.write("\n".join(summary()) + "\n")
