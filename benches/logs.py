"""Scores of `pslc analyze`: how often it explains a log right, on two generators of logs that know nothing of it.

`python -m benches.logs people 120` prints a row for each shape; `strangers` is run once, at the end of a change. Each
log goes through the command that a user types. An end within 1 % of the capacity is right, one beyond 2 %, a missed
one, and one where there is none are gross errors.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from typer.testing import CliRunner

from benches import people_logs, stranger_logs
from benches.log_cases import LogCase, TruePhase
from pslc.base import work
from pslc.cli import app

GENERATORS: Final[dict[str, Callable[[int, int], LogCase]]] = {
    "people": people_logs.case,
    "strangers": stranger_logs.case,
}
CLOSE, GROSS = 0.01, 0.02
"""Errors of an end as shares of the capacity."""
SURE = 0.9
"""An end is stated without a warning from this confidence on."""


@dataclass(frozen=True)
class Score:
    """Score of one log; `error` is infinite for an end where there is none, and where one was missed.

    Attributes:
        confidence: of the end that was stated; None where none was.
        covered: whether the interval of an end that is about right holds it.
        causes: whether each true phase got a cause that is right, and how sure that was.
        failed: why the log was not read, if it was not.
    """

    shape: str
    seed: int
    has_end: bool
    has_cache: bool
    error: float
    confidence: float | None
    covered: bool | None
    causes: tuple[tuple[bool, float], ...]
    failed: str = ""


def findings(case: LogCase) -> dict[str, Any] | str:
    """Findings of `pslc analyze --json`; the error where it refuses a log."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, text in case.files.items():
            path = Path(folder, name)
            path.write_text(text, newline="")
            paths.append(str(path))
        result = CliRunner().invoke(app, ["analyze", *paths, *case.arguments, "--json"])
        if result.exit_code != 0:
            return f"{type(result.exception).__name__}: {result.exception}"
        document: dict[str, Any] = json.loads(result.stdout)["findings"]
        return document


def score(case: LogCase, findings: dict[str, Any] | str) -> Score:
    """Compare the findings of a log, or the error that refused it, with its truth."""
    facts = (case.shape, case.seed, bool(case.ends), case.has_cache)
    if isinstance(findings, str):
        return Score(*facts, float("inf"), None, None, (), findings[:100])
    end = findings["cache_bytes"]
    causes = tuple(_cause(phase, findings["phases"]) for phase in case.phases)
    if end is None or not case.ends:
        missed = bool(case.ends) or end is not None
        return Score(*facts, float("inf") if missed else 0.0, _confidence(findings), None, causes)
    true = min(case.ends, key=lambda bytes_: abs(bytes_ - end))
    error = abs(true - end) / case.capacity_bytes
    covered = findings["cache_bytes_low"] <= true <= findings["cache_bytes_high"] if error <= GROSS else None
    return Score(*facts, error, _confidence(findings), covered, causes)


def _confidence(findings: dict[str, Any]) -> float | None:
    """Confidence of the end; of the phase that it ends, where none is stated of itself."""
    end = findings["cache_bytes"]
    if end is None:
        return None
    stated: float | None = findings.get("cache_confidence")
    if stated is not None:
        return stated
    return float(min(findings["phases"], key=lambda phase: abs(phase["to_bytes"] - end))["confidence"])


def _cause(true: TruePhase, phases: Sequence[dict[str, Any]]) -> tuple[bool, float]:
    """Whether the phases that cover most of a true one have a right cause, and how sure the largest is of it."""
    shared: dict[str, float] = {}
    sure: dict[str, float] = {}
    for phase in phases:
        overlap = min(true.to_bytes, phase["to_bytes"]) - max(true.from_bytes, phase["from_bytes"])
        if overlap > 0:
            shared[phase["cause"]] = shared.get(phase["cause"], 0.0) + overlap
            sure[phase["cause"]] = max(sure.get(phase["cause"], 0.0), phase["confidence"])
    if not shared:
        return False, 0.0
    answer = max(shared, key=lambda cause: shared[cause])
    return answer in true.causes, sure[answer]


def scores(name: str, count: int, seed: int) -> list[Score]:
    """Scores of the first logs of a set."""
    with work.Pool(work.Local(work.cores())) as pool:
        return pool.map(partial(_scored, name, seed), range(count))


def _scored(name: str, seed: int, index: int) -> Score:
    case = GENERATORS[name](index, seed)
    return score(case, findings(case))


def row(name: str, some: Sequence[Score]) -> str:
    """A row of the table."""
    close = _share([scored.error <= CLOSE for scored in some])
    gross = sum(scored.error > GROSS for scored in some)
    covered = _share([scored.covered for scored in some if scored.covered is not None])
    causes = _share([right for scored in some for right, _ in scored.causes])
    return f"| {name} | {len(some)} | {close} | {gross} | {covered} | {causes} |"


def _share(truths: Iterable[bool]) -> str:
    are_right = list(truths)
    return f"{100 * np.mean(are_right):.0f} %" if are_right else ""


def table(all_scores: Sequence[Score]) -> str:
    """All shapes and their sums, as Markdown."""
    lines = [
        "| shape | logs | end within 1 % | gross | interval holds | causes | wrong |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    for shape in dict.fromkeys(scored.shape for scored in all_scores):
        some = [scored for scored in all_scores if scored.shape == shape]
        seeds = ", ".join(str(scored.seed) for scored in some if scored.error > CLOSE)
        lines.append(f"{row(shape, some)} {seeds} |")
    for name, some in (
        ("with an end", [scored for scored in all_scores if scored.has_end]),
        ("no end in the log", [scored for scored in all_scores if scored.has_cache and not scored.has_end]),
        ("no cache", [scored for scored in all_scores if not scored.has_cache]),
        ("all", list(all_scores)),
    ):
        lines.append(f"{row(name, some)}  |")
    without = [scored for scored in all_scores if not scored.has_cache]
    false = sum(scored.confidence is not None and scored.confidence >= SURE for scored in without)
    lines.append(f"\nEnds stated above {SURE} in {false} of {len(without)} logs without a cache.\n")
    lines.append(reliability(all_scores))
    return "\n".join(lines)


def reliability(all_scores: Sequence[Score]) -> str:
    """Stated confidences of ends and causes beside how often they were right."""
    ends = [(scored.confidence, scored.error <= GROSS) for scored in all_scores if scored.confidence is not None]
    causes = [(sure, right) for scored in all_scores for right, sure in scored.causes if sure > 0]
    lines = ["| stated | ends | mean | right | causes | mean | right |", "|---|---:|---:|---:|---:|---:|---:|"]
    borders = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.01)
    for low, high in pairwise(borders):
        if not any(low <= sure < high for sure, _ in (*ends, *causes)):
            continue
        cells = []
        for pairs in (ends, causes):
            inside = [(sure, right) for sure, right in pairs if low <= sure < high]
            mean = f"{100 * np.mean([sure for sure, _ in inside]):.0f} %" if inside else ""
            cells.append(f"{len(inside)} | {mean} | {_share([right for _, right in inside])}")
        lines.append(f"| {low:.2f} to {min(high, 1.0):.2f} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table of a set: `python -m benches.logs people|strangers [COUNT] [SEED] [SCORES.json]`."""
    name, count, seed = sys.argv[1], int((sys.argv[2:] or ["120"])[0]), int((sys.argv[3:] or ["0"])[0])
    listed = scores(name, count, seed)
    if sys.argv[4:]:
        Path(sys.argv[4]).write_text(json.dumps([asdict(scored) for scored in listed]))
    for scored in listed:
        if scored.failed:
            print(f"not read: {scored.shape} {scored.seed}: {scored.failed}", file=sys.stderr)
    print(table(listed))


if __name__ == "__main__":
    main()
