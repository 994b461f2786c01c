"""How far the analysis of write curves can be trusted, in tables: `make bench-analysis`. Seeds 0 to 999 of each kind.

Border: where the cache ends, against where it does. A trace without a cliff is right when none is found, and one that
ended in its first phase when it is said so; anything else there is a gross error.
"""

import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from tests.analysis import simulated, synthetic

from pslc.analysis import CacheEnd, Curve, cache_end, find_phases

TRACES = 1000
CLOSE, GROSS = 0.01, 0.05
"""Errors of the border, as shares of the capacity."""


@dataclass(frozen=True)
class Case:
    """A curve and what is true of it: where the cache ends (None: there is no cliff), and whether that was reached."""

    curve: Curve
    capacity_bytes: float
    cache_bytes: float | None


@dataclass(frozen=True)
class Verdict:
    """How one trace went. `error` is a share of the capacity, infinite where the answer is of another kind; `covered`
    is None where there is no interval to hold the truth."""

    seed: int
    error: float
    covered: bool | None
    seconds: float


def synthetic_case(seed: int) -> Case:
    """A made-up trace; see `tests/analysis/synthetic.py`."""
    trace = synthetic.hard_trace(seed)
    return Case(trace.curve(), trace.capacity_bytes, trace.cache_bytes)


def simulated_case(seed: int) -> Case:
    """A fill of a random simulated drive; see `tests/analysis/simulated.py`."""
    fill = simulated.filled(seed)
    curve = simulated.measured(fill, np.random.default_rng(seed))
    return Case(curve, fill.capacity_bytes, simulated.cache_bytes(fill))


def judge(make: Callable[[int], Case], seeds: Iterable[int]) -> list[Verdict]:
    """Analyse the trace of every seed."""
    found = []
    for seed in seeds:
        case = make(seed)
        start = time.perf_counter()
        end = cache_end(case.curve, find_phases(case.curve), seed=seed, capacity_bytes=case.capacity_bytes)
        taken = time.perf_counter() - start
        error, covered = _compare(case, end)
        found.append(Verdict(seed, error, covered, taken))
    return found


def _compare(case: Case, end: CacheEnd | None) -> tuple[float, bool | None]:
    if case.cache_bytes is None:
        ended = case.curve.total_bytes < 0.98 * case.capacity_bytes
        right = end is not None and not end.seen_end if ended else end is None
        return (0.0 if right else float("inf")), None
    if end is None or not end.seen_end:
        return float("inf"), None
    error = abs(end.bytes - case.cache_bytes) / case.capacity_bytes
    return error, end.low <= case.cache_bytes <= end.high


def shares(verdicts: list[Verdict]) -> tuple[float, float, float, float]:
    """Shares within `CLOSE`, beyond `GROSS`, covered by the interval; and milliseconds a trace."""
    errors = np.array([verdict.error for verdict in verdicts])
    covered = [verdict.covered for verdict in verdicts if verdict.covered is not None]
    milliseconds = 1e3 * float(np.mean([verdict.seconds for verdict in verdicts]))
    return float(np.mean(errors <= CLOSE)), float(np.mean(errors > GROSS)), float(np.mean(covered)), milliseconds


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else TRACES
    print("| traces | border within 1 % | gross errors | 90 % interval holds | ms a trace | wrong seeds |")
    print("|---|---:|---:|---:|---:|---|")
    for name, make in (("synthetic", synthetic_case), ("simulated", simulated_case)):
        verdicts = judge(make, range(count))
        close, gross, covered, milliseconds = shares(verdicts)
        wrong = [verdict.seed for verdict in verdicts if verdict.error > CLOSE]
        print(f"| {count} {name} | {close:.1%} | {gross:.2%} | {covered:.1%} | {milliseconds:.0f} | {wrong} |")
    print("| targets | 98 % | 0.50 % | 85 to 97 % | | |")


if __name__ == "__main__":
    main()
