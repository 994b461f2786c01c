"""How far the analysis of write curves can be trusted, in tables: `make bench NAME=analysis`.

Border: where the cache ends, against where it does. A trace without a cliff is right when none is found, and one that
ended in its first phase when it is said so; anything else there is a gross error.
"""

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benches import logs, truth
from benches.curves import simulated, synthetic
from pslc.analysis import CAUSES, CacheEnd, Curve, cache_end, find_phases
from pslc.analysis.thresholds import WHOLE_DRIVE_SHARE
from pslc.analysis.write_analysis import PhaseRow
from pslc.base import work
from pslc.recording.model import Recording
from pslc.recording.writes.findings import of_writes

PAGE = Path("docs/accuracy/analysis.md")
TRACES = 60
"""Curves of each kind: of fewer, chance moves a share by more than the targets are apart."""
UNTUNED, JOBS_UNTUNED = 54000, 64000
"""The first seeds of fills and of jobs that no threshold was chosen on."""
STEP = 0.05
"""Width of the classes of confidence."""
PEOPLE, PEOPLE_UNTUNED, STRANGERS = 300, 9, 310
"""Logs as people keep them, the seed of those that no prior was fitted to, and logs of the second set."""
FILLS, JOBS = 300, 200
"""Simulated fills that something else decides too, and random jobs, where the count is not given. Of 300 fills, some
200 end in a cliff that the speed shows."""
CLOSE, GROSS = 0.01, 0.05
"""Errors of the border, as shares of the capacity."""


@dataclass(frozen=True)
class Case:
    """A curve and what is true of it: where the cache ends, or no cliff (None), several where either is right; and how
    many phases there are, where that is known."""

    curve: Curve
    capacity_bytes: float
    cache_bytes: tuple[float | None, ...]
    phases: int | None = None


@dataclass(frozen=True)
class Verdict:
    """How one trace went. `error` is a share of the capacity, infinite where the answer is of another kind; `covered`
    is None where there is no interval to hold the truth; `counted` whether the number of phases is right."""

    seed: int
    error: float
    covered: bool | None
    seconds: float
    counted: bool | None


def synthetic_case(seed: int) -> Case:
    """A made-up trace; see `benches/curves/synthetic.py`."""
    trace = synthetic.hard_trace(seed)
    return Case(trace.curve(), trace.capacity_bytes, (trace.cache_bytes,), trace.phases)


def simulated_case(seed: int) -> Case:
    """A fill of a random simulated drive; see `benches/curves/simulated.py`."""
    fill = simulated.filled(seed)
    curve = simulated.measured(fill, np.random.default_rng(seed))
    return Case(curve, fill.capacity_bytes, simulated.cache_bytes(fill))


CASES = {"synthetic": synthetic_case, "simulated": simulated_case}


def judge(make: Callable[[int], Case], seeds: Iterable[int]) -> list[Verdict]:
    """Analyse the trace of every seed."""
    verdicts = []
    for seed in seeds:
        case = make(seed)
        start = time.perf_counter()
        phases = find_phases(case.curve)
        end = cache_end(case.curve, phases, seed=seed, capacity_bytes=case.capacity_bytes)
        taken = time.perf_counter() - start
        error, covered = min((_compare(case, end, true) for true in case.cache_bytes), key=lambda pair: pair[0])
        counted = None if case.phases is None else len(phases) == case.phases
        verdicts.append(Verdict(seed, error, covered, taken, counted))
    return verdicts


def _compare(case: Case, end: CacheEnd | None, cache_bytes: float | None) -> tuple[float, bool | None]:
    if cache_bytes is None:
        ended = case.curve.total_bytes < 0.98 * case.capacity_bytes
        right = end is not None and not end.seen_end if ended else end is None
        return (0.0 if right else float("inf")), None
    if end is None or not end.seen_end:
        return float("inf"), None
    error = abs(end.bytes - cache_bytes) / case.capacity_bytes
    return error, end.low <= cache_bytes <= end.high


TELLING_SHARE = 0.25
"""Share of the time of requests from which another cause than the largest is right as well."""
WAY_TO_BUFFER = ("link", "controller", "host")


def shares(verdicts: list[Verdict]) -> tuple[float, float, float, float]:
    """Shares within `CLOSE`, beyond `GROSS`, covered by the interval; and milliseconds a trace."""
    errors = np.array([verdict.error for verdict in verdicts])
    covered = [verdict.covered for verdict in verdicts if verdict.covered is not None]
    milliseconds = 1e3 * float(np.mean([verdict.seconds for verdict in verdicts]))
    return float(np.mean(errors <= CLOSE)), float(np.mean(errors > GROSS)), float(np.mean(covered)), milliseconds


def explained(recordings: Iterable[Recording]) -> list[tuple[str, str, float]]:
    """Of each phase its cause by the drive's counters, what was said from outside, and how sure that was.

    Where requests spent much of their time on another cause, either is right: without the first it would be it. What
    the drive's buffer takes in is `dram` from outside, and waits for nothing but its way there. Nor can anybody tell
    from outside whether a cache still holds something when the host comes round again (`direct` or `native`), or that
    all cells of a drive are run at one bit, so that it has no cache (`pslc` or `native`).
    """
    answers: list[tuple[str, str, float]] = []
    for recording in recordings:
        inside, outside = recording.findings["phases"], of_writes(recording, outside=True)["phases"]
        for answer in outside:
            true = max(inside, key=lambda phase: _common_bytes(phase, answer))
            again = true["from_bytes"] >= WHOLE_DRIVE_SHARE * (recording.drive_bytes or np.inf)
            both = true.get("shares", {}).get(answer["cause"], 0.0) >= TELLING_SHARE or {
                "dram": true["cause"] in WAY_TO_BUFFER,
                "native": (true["cause"] == "direct" and again)
                or (true["cause"] == "pslc" and recording.profile_keys["cache"]["mode"] == "pure-slc"),
            }.get(answer["cause"], False)
            answers.append((answer["cause"] if both else true["cause"], answer["cause"], answer["confidence"]))
    return answers


def _common_bytes(phase: PhaseRow, other: PhaseRow) -> float:
    """How much is written in both phases."""
    return min(phase["to_bytes"], other["to_bytes"]) - max(phase["from_bytes"], other["from_bytes"])


def right(answers: list[tuple[str, str, float]]) -> float:
    """Share of phases explained as the drive knows it."""
    return float(np.mean([truth == answer for truth, answer, _ in answers]))


def matrix(phases: list[tuple[str, str, float]]) -> str:
    """The confusion matrix as a table of Markdown: a row a cause in truth, a column an answer."""
    counted = Counter((truth, answer) for truth, answer, _ in phases)
    names = [name for name in CAUSES if any(name in pair for pair in counted)]
    rows = [f"| in truth | {' | '.join(names)} | right |", f"|---|{'---:|' * (len(names) + 1)}"]
    for true in names:
        counts = [counted[true, answer] for answer in names]
        share = f"{counted[true, true] / sum(counts):.0%}" if sum(counts) else ""
        rows.append(f"| {true} | {' | '.join(str(count or '') for count in counts)} | {share} |")
    return "\n".join(rows)


def reliability(phases: list[tuple[str, str, float]]) -> str:
    """How often causes of each stated confidence were right, as Markdown. Of an unknown cause none is stated."""
    rights: dict[float, list[bool]] = {}
    for true, answer, confidence in phases:
        if answer != "unknown":
            rights.setdefault(STEP * round(confidence / STEP), []).append(true == answer)
    rows = [f"| {stated:.0%} | {len(each)} | {np.mean(each):.0%} |" for stated, each in sorted(rights.items())]
    return "\n".join(["| stated | phases | right |", "|---:|---:|---:|", *rows])


def explained_job(seed: int) -> list[tuple[str, str, float]]:
    """The phases of one of them."""
    return explained(recordings([seed]))


def recordings(seeds: Iterable[int]) -> Iterator[Recording]:
    """A random job on a random drive for each seed."""
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            yield simulated.recording(seed, Path(folder))


def call(task: tuple[Any, ...]) -> Any:
    """Call a function with what it takes, in a worker."""
    function, *arguments = task
    return function(*arguments)


def main() -> None:
    """Print the tables and keep them; the parts are made side by side."""
    given = int(sys.argv[1]) if len(sys.argv) > 1 else None
    count = given or TRACES
    parts: dict[str, list[tuple[Any, ...]]] = {
        "curves": [(judge, make, range(count)) for make in CASES.values()],
        "fills": [(truth.one, seed) for seed in range(UNTUNED, UNTUNED + (given or FILLS))],
        "jobs": [(explained_job, seed) for seed in range(JOBS_UNTUNED, JOBS_UNTUNED + (given or JOBS))],
    }
    with work.Pool(work.Local(work.cores())) as pool:
        results = iter(pool.map(call, [task for tasks in parts.values() for task in tasks]))
    done = {name: [next(results) for _ in tasks] for name, tasks in parts.items()}
    fills, jobs = done["fills"], done["jobs"]
    lines: list[str] = []
    lines.append(_of_the_curves(dict(zip(CASES, done["curves"], strict=True))))
    lines.append(_of_strangers(given))
    lines.append(
        "\nSimulated drives whose speed something else decides too: the size of the cache within 1 % (target: all):\n"
    )
    lines.append(truth.table(fills))
    phases = [phase for job in jobs for phase in job]
    lines.append(
        f"\n{right(phases):.1%} of the {len(phases)} phases of {len(jobs)} random jobs on random drives are explained"
    )
    lines.append("right from outside (target 95 %):\n")
    lines.append(matrix(phases))
    lines.append("\nHow often a cause of each confidence is right (target: within 5 points):\n")
    lines.append(reliability(phases))
    text = "\n".join(lines)
    print(text)
    PAGE.write_text(text + "\n")


def _of_the_curves(by_curve: dict[str, list[Verdict]]) -> str:
    rows = ["| traces | border within 1 % | gross errors | 90 % interval holds | phases counted | ms | wrong seeds |"]
    rows.append("|---|---:|---:|---:|---:|---:|---|")
    for name, verdicts in by_curve.items():
        close, gross, covered, milliseconds = shares(verdicts)
        wrong = ", ".join(str(verdict.seed) for verdict in verdicts if verdict.error > CLOSE)
        counted = [verdict.counted for verdict in verdicts if verdict.counted is not None]
        number = f"{np.mean(counted):.1%}" if counted else ""
        rows.append(
            f"| {len(verdicts)} {name} | {close:.1%} | {gross:.2%} | {covered:.1%} | {number} "
            f"| {milliseconds:.0f} | {wrong} |"
        )
    return "\n".join([*rows, "| target | 98 % | 0.50 % | 85 to 97 % | | | |", ""])


def _of_strangers(given: int | None) -> str:
    """Logs as people keep them, through `pslc analyze`: one set that was looked at, and one that is only scored."""
    people = logs.scores("people", given or PEOPLE, PEOPLE_UNTUNED)
    strangers = logs.scores("strangers", given or STRANGERS, 0)
    return (
        "\nLogs as people keep them, through `pslc analyze`, of a set that priors were fitted to with other seeds:\n\n"
        f"{logs.table(people)}\n\nThe same of a second set, by other laws, which nothing was fitted to (targets: ends\n"
        f"95 %, gross errors 5 %, false ends above 0.9 in 2 %, causes 85 %):\n\n{logs.table(strangers)}"
    )


if __name__ == "__main__":
    main()
