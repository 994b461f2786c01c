"""How often the analysis of a log is right, by what makes the log hard to read: the tables of `make bench-analysis`."""

import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from benches.curves import second_hand as others
from benches.curves import shapes
from benches.curves.shapes import Log
from pslc.analysis import AnalysisOptions, MeasurementContext, WriteAnalysis, analyze_curve, blackbox_causes

DRAWN, SIDE = 60_000, 24
"""Drives that are drawn for `told_of_decays`, and fields of each side of its map."""
CLOSE = 0.01
"""Error of the border, as a share of the capacity."""
ANSWERS = {"unknown": ("unknown", "power")}
"""Which causes are right for one of a log; of a slow start it may be that the drive slept."""
PAST = ("direct", "fold", "native")
"""Causes behind a cliff that a curve does not tell apart where only one phase follows."""


@dataclass(frozen=True)
class Verdict:
    """How one log went.

    Attributes:
        error: of the cache's end, as a share of the capacity; infinite where the answer is of another kind.
        false, missed: a cliff was stated where there is none, or none where there is one.
        cells_alone: nothing but the cells made the curve.
        covered: whether the interval holds the truth; None where there is nothing to hold.
        causes: of each phase the true cause, the answer, and how sure it was.
        named: the same, to hold confidences against: where cells that a curve does not tell apart count apart, as the
            answer names one of them.
    """

    seed: int
    error: float
    false: bool
    missed: bool
    cells_alone: bool
    covered: bool | None
    causes: tuple[tuple[str, str, float], ...]
    named: tuple[tuple[str, str, float], ...]


def found(log: Log, seed: int = 0) -> WriteAnalysis:
    """The analysis of a log."""
    capacity = log.capacity_bytes if log.names_capacity else None
    context = MeasurementContext(capacity_bytes=capacity, **log.known)
    options = AnalysisOptions(capacity_bytes=capacity, seed=seed, context=context)
    return analyze_curve(log.curve, lambda phases: blackbox_causes(phases, context), options)


def judged(log: Log, said: WriteAnalysis, seed: int = 0) -> Verdict:
    """Whether it is right."""
    end, true = said.cache, log.cache_bytes
    stated = end is not None and end.seen_end
    if true is None:
        error = float("inf") if stated or (end is None) == log.truncated else 0.0
    else:
        error = abs(end.bytes - true) / log.capacity_bytes if end is not None and stated else float("inf")
    causes = tuple(
        (log.cause(phase.from_bytes, phase.to_bytes), phase.cause, phase.confidence) for phase in said.phases
    )
    covered = end.low <= true <= end.high if end is not None and stated and true is not None else None
    false, missed = stated and true is None, not stated and true is not None
    return Verdict(seed, error, false, missed, log.cells_alone, covered, causes, causes)


def judged_alike(log: Log, said: WriteAnalysis, seed: int) -> Verdict:
    """The same, where what the curve cannot tell apart counts alike: a full link and a cache at the start, the cells
    behind a cliff where only one phase follows, and the reason of levels that come back."""
    verdict = judged(log, said, seed)
    ends = [cause for _, cause in log.causes]
    alone = len({cause for cause in ends if cause in PAST}) == 1

    def alike(index: int, true: str, answer: str) -> bool:
        if true == "unknown":
            return answer in ("unknown", "other", "host", "gc", "native")
        return true == "link" and index == 0 and answer in ("pslc", "native")

    named = tuple(
        (answer if alike(index, true, answer) else true, answer, sure)
        for index, (true, answer, sure) in enumerate(verdict.causes)
    )
    causes = tuple(
        (answer if alone and true in PAST and answer in PAST else true, answer, sure) for true, answer, sure in named
    )
    return replace(verdict, causes=causes, named=named)


def second_hand(shape: str, seeds: Iterable[int]) -> list[Verdict]:
    """Of the logs of a shape by the second hand."""
    logs = ((seed, others.log(shape, seed)) for seed in seeds)
    return [judged_alike(log, found(log, seed), seed) for seed, log in logs]


def verdicts(shape: str, seeds: Iterable[int]) -> list[Verdict]:
    """Of the logs of a shape."""
    logs = ((seed, shapes.log(shape, seed)) for seed in seeds)
    return [judged(log, found(log, seed), seed) for seed, log in logs]


def told_of_decays() -> float:
    """Share of the phases of decays that are explained right at best by the size of the cache and by how fast the drive
    is behind it, all there is but the ripple of some folding: in each field of these two, what is usual in half of many
    drives is said of the others."""
    found = []
    for seed in range(DRAWN):
        of = shapes.drive(np.random.default_rng([seed, len(shapes.SHAPES), 12]))
        past = of.policy == "direct"
        mostly = past and of.direct_until > (of.cache + of.capacity) / 2
        found.append((np.log((of.native if past else of.fold) / of.fast), of.cache / of.capacity, mostly))
    speed, size, direct = np.array(found).T
    row, column = (np.minimum((SIDE * (one - one.min()) / np.ptp(one)).astype(int), SIDE - 1) for one in (speed, size))
    field = row * SIDE + column
    count = np.bincount(field[::2], minlength=SIDE**2)
    usual = np.bincount(field[::2], direct[::2], minlength=SIDE**2) > count / 2
    # Of each decay's two phases the first is the cache.
    return (1.0 + float(np.mean(usual[field[1::2]] == direct[1::2]))) / 2.0


def right(truth: str, answer: str) -> bool:
    """Whether a cause is."""
    return answer in ANSWERS.get(truth, (truth,))


def table(by_shape: dict[str, list[Verdict]]) -> str:
    """A row a shape, as Markdown."""
    rows = [
        "| logs | border within 1 % | false cliffs | missed | 90 % interval holds | causes right | worst seeds |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    rows += [_row(f"{len(found)} {shape}", found) for shape, found in by_shape.items()]
    if alone := [one for found in by_shape.values() for one in found if one.cells_alone]:
        rows.append(_row("of the cells alone (target 98 %)", alone, worst=False))
    rows.append(_row("all", [one for found in by_shape.values() for one in found], worst=False))
    return "\n".join(rows)


def second_hand_table(by_shape: dict[str, list[Verdict]]) -> str:
    """The same of the second hand's curves, and a row of those without a capacity."""
    unnamed = [one for shape, found in by_shape.items() if "no capacity" in shape for one in found]
    return f"{table(by_shape)}\n{_row('without a capacity', unnamed, worst=False)}"


def _row(name: str, found: list[Verdict], *, worst: bool = True) -> str:
    covered = [one.covered for one in found if one.covered is not None]
    causes = [right(truth, answer) for one in found for truth, answer, _ in one.causes]
    off = sorted((one for one in found if one.error > CLOSE), key=lambda one: -one.error)[:10] if worst else []
    close, false, missed = (
        f"{np.mean(share):.1%}"
        for share in (
            [one.error <= CLOSE for one in found],
            [one.false for one in found],
            [one.missed for one in found],
        )
    )
    return (
        f"| {name} | {close} | {false} | {missed} | {f'{np.mean(covered):.1%}' if covered else ''} "
        f"| {np.mean(causes):.1%} | {', '.join(str(one.seed) for one in off)} |"
    )


def reliability(found: dict[str, list[tuple[str, str, float]]]) -> str:
    """How often causes of each stated confidence were right, by where they come from, as Markdown. Where the answer is
    that the cause is unknown, none is stated."""
    said: dict[float, dict[str, list[bool]]] = {}
    for name, some in found.items():
        for truth, answer, sure in some:
            if answer == "unknown":
                continue
            said.setdefault(round(sure, 2), {}).setdefault(name, []).append(right(truth, answer))
    rows = [f"| stated | {' | '.join(f'{name} | right' for name in found)} |", f"|---:|{'---:|---:|' * len(found)}"]
    for sure in sorted(said):
        cells = (said[sure].get(name, []) for name in found)
        told = " | ".join(f"{len(cell)} | {np.mean(cell):.0%}" if cell else " | " for cell in cells)
        rows.append(f"| {sure:.0%} | {told} |")
    return "\n".join(rows)


def main() -> None:
    """Print the tables of the second hand's curves: `python -m benches.shapes FIRST_SEED COUNT`."""
    first, count = int(sys.argv[1]), int(sys.argv[2])
    seeds = range(first, first + count)
    with ProcessPoolExecutor() as pool:
        futures = {shape: pool.submit(second_hand, shape, seeds) for shape in others.SHAPES}
        by_shape = {shape: future.result() for shape, future in futures.items()}
    print(second_hand_table(by_shape))
    print()
    print(reliability({"second hand": [cause for logs in by_shape.values() for log in logs for cause in log.named]}))


if __name__ == "__main__":
    main()
