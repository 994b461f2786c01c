"""How well twins answer: fits to simulated drives with hidden parameters, as Markdown: `make bench NAME=fit ARGS=12`.

Each hidden drive has a build, a firmware and values of its own. A third of the fits are told only capacity, link and
bits a cell, as they are on the label, and given `fill` and `recovery --quick`; a third also what dies and controller it
has, with what their sheets say, as `--nand` and `--controller` do; a third are told the label and given what `pslc run
twin` measures. All data have noise of 3 % in each bin; asked is what suites would measure. Beside each error stands the
least that there can be: of the middle of drives that do the same in the suites that were given (`benches/alike.py`), or
where `run twin` was given, whose suites take long to try again, of a drive that has the hidden one's own values where a
suite tells them at all (identifiability.toml), and the expected ones elsewhere. The tables in docs/accuracy/fit.md are
written anew after each drive, and what came of single drives goes as JSON lines into target/: a run that is
interrupted, or ends after 20 minutes, keeps what it has. Running it again goes on after the drives that are there, as
long as the twin's sources are the same.
`make bench NAME=fit` then puts the first table into ACCURACY.md. `--worst 10` prints the worst and fits nothing.
"""

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import wrap
from typing import Any

import numpy as np

import pslc
from benches.alike import alike, least
from benches.hidden import MIX, NOISE, hidden, noisy, sheet
from pslc.base import work
from pslc.twin import identifiability, predict, priors, profile_writer
from pslc.twin.datasets import datasets_of
from pslc.twin.fit_result import FitResult
from pslc.twin.model import PARAMETERS, parameters_of
from pslc.twin.pipeline import fit_datasets

GIVEN = (("fill", "recovery"), ("fill", "recovery"), ("twin",))
UNTOLD = ("erase", "buffer", "command", "slc_read", "native_read")
"""Values that a fit takes as expected where no suite was given that tells them."""
KNOWN = ("of the label", "with parts", "by `run twin`")
"""What is given to, and told of, each third of the drives."""

MAX_RUN_S = 1200
"""Seconds after which a run ends with the drives that it has."""
PAGE = Path(__file__).parent.parent / "docs" / "accuracy" / "fit.md"


@dataclass
class Result:
    """Of one hidden drive: logarithm of twin over truth and whether the interval held the truth, by figure and value;
    `least` is the logarithm of the best that can be had over truth.

    A drive that its check refuses has no truth.
    """

    seed: int
    truth: str
    named: list[str]
    policy: bool
    error: float
    seconds: float
    cpu_s: float
    figures: dict[str, tuple[float, bool]]
    values: dict[str, tuple[float, bool]]
    least: dict[str, float]

    @property
    def worst(self) -> float:
        """Largest error of a figure."""
        return max((abs(error) for error, _ in self.figures.values()), default=0.0)


def third(seed: int) -> int:
    """Which of `KNOWN` is known: of each dozen four drives each, and each kind of drive once in three dozens."""
    return (seed + seed // len(MIX)) % len(KNOWN)


def one(seed: int) -> Result:
    """Fit one hidden drive."""
    model, values = hidden(seed)
    if model.open(values) is None:
        return Result(seed, "", [], False, 0.0, 0.0, 0.0, {}, {}, {})
    with TemporaryDirectory() as folder:
        path = Path(folder) / "hidden.toml"
        path.write_text(model.profile(values))
        runs = [
            noisy(pslc.run(suite, on=f"sim:{path}", scope=pslc.Scope(quick=suite == "recovery")), seed)
            for suite in GIVEN[third(seed)]
        ]
    begun, cpu = time.monotonic(), time.process_time()
    datasets = [dataset for run in runs for dataset in datasets_of(run)]
    # Where there is no cache `recovery` ends at once.
    datasets = [dataset for dataset in datasets if dataset.suite != "recovery" or dataset.findings.get("cache_bytes")]
    bits = model.firmware.bits_per_cell
    facts = priors.collect_priors(model.capacity_bytes, 1e9, link=model.geometry.link, nand={3: "tlc", 4: "qlc"}[bits])
    said = sheet(model, values, seed) if third(seed) == 1 else ()
    if said:
        facts = replace(facts, geometry=model.geometry, part_priors=said)
    fitted = fit_datasets(datasets, facts, workers=1)
    # Of the short forms that `run twin` makes, the whole ones are asked for, too.
    whole = replace(fitted, datasets=[dataset for dataset in fitted.datasets if dataset.suite == "fill"])
    estimates, predictions = profile_writer.estimates(fitted), predict.predictions(whole)
    seconds, cpu = time.monotonic() - begun, time.process_time() - cpu
    truth = model.firmware
    named = fitted.firmware_models
    drive = model, values
    others = [(model, values | _untold(fitted))]
    if GIVEN[third(seed)] != ("twin",):
        others = alike(drive, datasets, {name: (value, spread) for name, value, spread in said}, seed)
    figures = {}
    asked = predict.prediction_jobs(model.capacity_bytes) | predict.small_io_jobs(model.capacity_bytes)
    for one in predictions:
        real = predict.measure(model, values, asked[one.suite, one.name, one.unit])
        if real:
            figures[f"{one.suite}: {one.name}"] = (float(np.log(one.value / real)), one.low <= real <= one.high)
    can = {name: off for name, off in least(drive, others).items() if name in figures}
    fitted_values: dict[str, tuple[float, bool]] = {}
    factor: dict[str, Any] = {"capacity": model.capacity_bytes}
    for estimate in estimates:
        if estimate.source == "fitted" and estimate.name in values and estimate.low and estimate.high:
            unit = PARAMETERS[estimate.name].unit
            if unit == "of the cache" or estimate.name not in parameters_of(truth):
                continue
            real = values[estimate.name] * factor.get(unit, 1.0)
            fitted_values[estimate.name] = (float(np.log(estimate.value / real)), estimate.low <= real <= estimate.high)
    policies = [(one.when_full, one.has_cache) for one in named]
    right = fitted.cache_may_be_hidden or (truth.when_full, truth.has_cache) in policies
    words = [other.words for other in named]
    return Result(
        seed, truth.words, words, right, fitted.best.rms_log_error, seconds, cpu, figures, fitted_values, can
    )  # fmt: skip


def _untold(fitted: FitResult) -> dict[str, float]:
    """What is expected of the values that no suite tells which was given."""
    suites = {dataset.suite for dataset in fitted.datasets} & identifiability.REMAINING_SD_SHARE.keys()
    tells = set[str]().union(*(identifiability.free_parameters(suite) for suite in suites))
    problem = fitted.best.problem
    names = [name for name in UNTOLD if name not in tells]
    found = {name: float(np.exp(problem.prior_of(name)[0])) for name in names}
    return found | ({"buffer": max(found["buffer"], fitted.geometry.full_buffer_bytes)} if "buffer" in found else {})


def _made_of(words: str) -> tuple[str, str]:
    """Policy and mode, of `FirmwareModel.words`."""
    parts = words.split(", ")
    return parts[0], next((part for part in parts if part.endswith("-slc")), "")


def _share(part: list[bool]) -> str:
    return f"{100 * np.mean(part):.0f} %" if part else ""


def _spread(errors: list[float]) -> str:
    """Median and 90th percentile of relative errors."""
    if not errors:
        return ""
    off = 100 * np.abs(errors)
    return f"{np.median(off):.1f} %, {np.quantile(off, 0.9):.1f} %"


def _row(of: list[tuple[float, bool]]) -> str:
    if not of:
        return "0 | | |"
    off = [100 * abs(error) for error, _ in of]
    middle, most = np.median(off), np.quantile(off, 0.9)
    return f"{len(of)} | {middle:.1f} % | {most:.1f} % | {_share([ok for _, ok in of])}"


def page(results: list[Result], asked: int) -> str:
    """The page of fit.md: a summary, then a row a drive, a figure and a value."""
    seeds = [result.seed for result in results]
    groups = [[result for result in results if third(result.seed) == number] for number in range(len(KNOWN))]
    count = f"{len(results)}" if len(results) == asked else f"{len(results)} of {asked}"
    about = (
        f"{count} hidden drives (seeds {min(seeds)} to {max(seeds)}), measured with {100 * NOISE:.0f} % of "
        "noise: told capacity, link and bits a cell, as on a label, and given `fill` and `recovery --quick`; told dies "
        "and controller, too; or told the label, and given `run twin`. Errors are median and 90th percentile."
    )
    lines = [
        *wrap(about, 115), "", *_columns("", KNOWN), *_summary(groups), "",
        "## Drives", "", *_columns("seed", DRIVE_COLUMNS), *map(_drive_row, results), "",
        "## Figures", "", *_heads("figure", "no fit is better"),
    ]  # fmt: skip
    for key in sorted({key for result in results for key in result.figures}):
        cells = []
        for group in groups:
            measured = [result for result in group if key in result.figures]
            best = (
                f"{100 * np.quantile([abs(result.least[key]) for result in measured], 0.9):.1f} %" if measured else ""
            )
            cells.append(f"{_row([result.figures[key] for result in measured])} | {best}")
        lines.append(f"| {key} | {' | '.join(cells)} |")
    lines += ["", "## Values", "", *_heads("value")]
    for name in PARAMETERS:
        if any(name in result.values for result in results):
            rows = [_row([result.values[name] for result in group if name in result.values]) for group in groups]
            lines.append(f"| {PARAMETERS[name].description} | {' | '.join(rows)} |")
    return "\n".join(lines) + "\n"


DRIVE_COLUMNS = ("drive", "known", "error of the fit", "worst figure", "predictions held", "named", "CPU s")
"""Columns of the table of drives, behind the seed."""


def _columns(first: str, columns: Sequence[str]) -> list[str]:
    return [f"| {' | '.join([first, *columns])} |", f"|---|{'---:|' * len(columns)}"]


def _heads(what: str, *more: str) -> list[str]:
    columns = ("median error", "90th percentile", "interval holds it", *more)
    return _columns(what, [cell for name in KNOWN for cell in (f"{name}: n", *columns)])


def _drive_row(result: Result) -> str:
    worst = max(result.figures, key=lambda key: abs(result.figures[key][0]), default="")
    cells = [
        str(result.seed), result.truth, KNOWN[third(result.seed)], f"{100 * result.error:.1f} %",
        f"{100 * result.worst:.0f} %: {worst}", _share([held for _, held in result.figures.values()]),
        f"{'right' if result.policy else 'wrong'}, {len(result.named)}", f"{result.cpu_s:.0f}",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _summary(groups: list[list[Result]]) -> list[str]:
    """Rows of what a group of results says, a column a group."""
    figures = [[figure for result in group for figure in result.figures.items()] for group in groups]
    held = [[ok for result in group for _, ok in result.values.values()] for group in groups]
    rows: dict[str, list[str]] = {
        "drives; figures; fitted values": [
            f"{len(group)}; {len(part)}; {len(values)}"
            for group, part, values in zip(groups, figures, held, strict=True)
        ],
        "figures of suites": [_spread([error for _, (error, _) in part]) for part in figures],
        "the best that can be had of what was given": [
            _spread([error for result in group for error in result.least.values()]) for group in groups
        ],
        f"sequential work ({', '.join(LARGE)})": [
            _spread([error for name, (error, _) in part if name.startswith(LARGE)]) for part in figures
        ],
        "90 % intervals of predictions that hold": [_share([ok for _, (_, ok) in part]) for part in figures],
        "90 % intervals of fitted values that hold": [_share(part) for part in held],
        "policy (`when_full`, or no cache) right or named": [
            _share([result.policy for result in group]) for group in groups
        ],
        "with the cache's mode too": [
            _share([any(_made_of(name) == _made_of(result.truth) for name in result.named) for result in group])
            for group in groups
        ],
        "with reuse and dead data too": [
            _share([result.truth in result.named for result in group]) for group in groups
        ],
        "firmware models named, on average": [
            f"{np.mean([len(result.named) for result in group]):.1f}" if group else "" for group in groups
        ],
        "CPU seconds of a fit with its predictions": [
            f"{np.median(took):.0f}, {np.quantile(took, 0.9):.0f}" if took else ""
            for took in ([result.cpu_s for result in group] for group in groups)
        ],
    }
    return [f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items()]


LARGE = ("fill at 50 % full", "second-pass", "overwrite", "sustained")


def version() -> str:
    """Of what is measured here: results of different ones are not put together."""
    root = Path(__file__).parent.parent
    benches = [Path(__file__).parent / f"{name}.py" for name in ("fit", "hidden", "alike")]
    sources = [*benches, *sorted((root / "python" / "pslc" / "twin").glob("*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:8]


def read(path: Path) -> list[Result]:
    """Of an earlier run."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [Result(**json.loads(line)) for line in lines]


def show(result: Result) -> str:
    """A drive in three lines."""
    head = f"{result.seed}: {result.truth} | {result.named} | fit {result.error:.3f}, {result.cpu_s:.0f} s"
    parts = [{name: (round(off, 2), ok) for name, (off, ok) in of.items()} for of in (result.figures, result.values)]
    return f"{head}\n    {parts[0]}\n    {parts[1]}"


def fit_all(seeds: Sequence[int], rows: Path) -> None:
    """Fit the drives of these seeds that `rows` does not hold yet, and write rows and page as they come."""
    rows.parent.mkdir(parents=True, exist_ok=True)
    results = {result.seed: result for result in read(rows) if result.seed in seeds}
    left = [seed for seed in seeds if seed not in results]
    end = time.monotonic() + MAX_RUN_S
    fits = work.run(left, one, work.Local(2, grace_s=0), interrupts=lambda: int(time.monotonic() > end))
    try:
        with rows.open("a") as file:
            for _, result in fits:
                if isinstance(result, Exception):
                    raise result
                results[result.seed] = result
                file.write(json.dumps(asdict(result)) + "\n")
                file.flush()
                print(f"{len(results)} of {len(seeds)}: {show(result)}", file=sys.stderr, flush=True)
                write_page(list(results.values()), len(seeds))
    except KeyboardInterrupt:
        fits.close()
    if len(results) < len(seeds):
        print(f"{len(results)} of {len(seeds)} drives are done; the same command goes on", file=sys.stderr)


def write_page(results: list[Result], asked: int) -> None:
    """Put the drives that have a truth into fit.md, whole or not at all.

    Args:
        asked: how many drives the run is of.
    """
    drives = sorted((result for result in results if result.truth), key=lambda result: result.seed)
    if drives:
        part = PAGE.with_suffix(".md.part")
        part.write_text(page(drives, asked))
        part.replace(PAGE)


def main() -> None:
    """Fit, and write the tables as they grow."""
    parser = argparse.ArgumentParser()
    parser.add_argument("n", type=int)
    parser.add_argument("--first", type=int, default=100, help="Seed; intervals were calibrated on 0 to 8.")
    parser.add_argument("--rows", type=Path, default=None)
    parser.add_argument("--worst", type=int, default=0)
    given = parser.parse_args()
    rows = given.rows or Path(f"target/fit-{version()}.jsonl")
    if given.worst:
        results = read(rows)
        for result in sorted(results, key=lambda result: -result.worst)[: given.worst]:
            print(show(result))
        print(page([result for result in results if result.truth], len(results)))
        return
    fit_all(range(given.first, given.first + given.n), rows)


if __name__ == "__main__":
    main()
