"""How well twins answer: fits to simulated drives with hidden parameters, as Markdown: `make bench-fit N=300`.

Each hidden drive has a build, a firmware and values of its own. A third of the fits are told only capacity, link and
bits a cell, as they are on the label, and given `fill` and `recovery --quick`; a third also what dies and controller it
has, with what their sheets say, as `--nand` and `--controller` do; a third are told the label and given what `pslc run
twin` measures. All data have noise of 3 % in each bin; asked is what suites would measure. Beside each error stands the
least that there can be: of the middle of drives that do the same in the suites that were given (`benches/alike.py`), or
where `run twin` was given, whose suites take long to try again, of a drive that has the hidden one's own values where a
suite tells them at all (identifiability.toml), and the expected ones elsewhere. The table is written to
docs/accuracy/fit.md after each drive,
and what came of single drives as JSON lines in target/, so that a run that is killed keeps what it has;
running it again goes on after the drives that are there, as long as the twin's sources are the same. `--worst 10`
prints the worst and fits nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import pslc
from benches.alike import alike, least
from benches.hidden import MIX, NOISE, hidden, noisy, sheet
from pslc.base.processes import end_with_parent
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
    """Which of `KNOWN` is known, a dozen of drives after the other."""
    return seed // len(MIX) % len(KNOWN)


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


def _row(of: list[tuple[float, bool]]) -> str:
    if not of:
        return "0 | | |"
    off = [100 * abs(error) for error, _ in of]
    middle, most = np.median(off), np.quantile(off, 0.9)
    return f"{len(of)} | {middle:.1f} % | {most:.1f} % | {_share([ok for _, ok in of])}"


def table(results: list[Result]) -> str:
    """The figures as Markdown."""
    thirds = {name: [of for of in results if third(of.seed) == number] for number, name in enumerate(KNOWN)}
    lines = [f"{len(results)} hidden drives, measured with {100 * NOISE:.0f} % of noise.", ""]
    heads = (
        "given `fill` and `recovery --quick`, and told capacity, link and bits a cell, as on a label",
        "given the same, and told their dies and controller",
        "given `run twin`, and told what is on the label",
    )
    for head, part in zip(heads, thirds.values(), strict=True):
        if part:
            lines += [f"{len(part)} of which {head}:", "", *_summary(part), ""]
    took, cpu = ([getattr(result, name) for result in results] for name in ("seconds", "cpu_s"))
    lines += [
        f"A fit with its predictions took {np.median(cpu):.0f} s of one core (median), {np.quantile(cpu, 0.9):.0f} s "
        f"(90th percentile); {np.median(took):.0f} s and {np.quantile(took, 0.9):.0f} s by the clock, others being at "
        "work on the machine.", "",
        *_heads("figure", "no fit is better"),
    ]  # fmt: skip
    for key in sorted({key for result in results for key in result.figures}):
        cells = []
        for part in thirds.values():
            some = [of for of in part if key in of.figures]
            best = f"{100 * np.quantile([abs(of.least[key]) for of in some], 0.9):.1f} %" if some else ""
            cells.append(f"{_row([of.figures[key] for of in some])} | {best}")
        lines.append(f"| {key} | {' | '.join(cells)} |")
    lines += ["", *_heads("value")]
    for name in PARAMETERS:
        rows = [_row([of.values[name] for of in part if name in of.values]) for part in thirds.values()]
        if any(name in of.values for of in results):
            lines.append(f"| {PARAMETERS[name].description} | {' | '.join(rows)} |")
    return "\n".join(lines)


def _heads(what: str, *more: str) -> list[str]:
    columns = ("median error", "90th percentile", "interval holds it", *more)
    said = [cell for name in KNOWN for cell in (f"{name}: n", *columns)]
    return [f"| {' | '.join([what, *said])} |", f"|---|{'---:|' * len(said)}"]


def _summary(results: list[Result]) -> list[str]:
    right = [result.policy for result in results]
    modes = [any(_made_of(name) == _made_of(result.truth) for name in result.named) for result in results]
    exact = [result.truth in result.named for result in results]
    several = [len(result.named) for result in results]
    figures = [figure for result in results for figure in result.figures.values()]
    values = [ok for result in results for _, ok in result.values.values()]
    writes = [result.figures[key] for result in results for key in result.figures if key.startswith(LARGE)]
    best = [(error, True) for result in results for error in result.least.values()]
    return [
        f"- figures of suites: {_errors(figures)}; the best that can be had of what was given: {_errors(best)}",
        f"- of them, sequential work ({', '.join(LARGE)}): {_errors(writes)}",
        f"- policy (`when_full`, or no cache) right or among those named: {_share(right)}; with the cache's mode too: "
        f"{_share(modes)}; with reuse and dead data too: {_share(exact)}; {np.mean(several):.1f} named on average",
        f"- 90 % intervals hold the truth: {_share([ok for _, ok in figures])} of predictions, {_share(values)} of "
        f"fitted values (n = {len(values)})",
    ]


LARGE = ("fill at 50 % full", "second-pass", "overwrite", "sustained")


def _errors(of: list[tuple[float, bool]]) -> str:
    off = [100 * abs(error) for error, _ in of]
    return f"median error {np.median(off):.1f} %, 90th percentile {np.quantile(off, 0.9):.1f} % (n = {len(off)})"


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


def main() -> None:
    """Fit, and write the table as it grows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("n", type=int)
    parser.add_argument("--first", type=int, default=100, help="Seed; intervals were calibrated on 0 to 8.")
    parser.add_argument("--rows", type=Path, default=None)
    parser.add_argument("--worst", type=int, default=0)
    given = parser.parse_args()
    given.rows = given.rows or Path(f"target/fit-{version()}.jsonl")
    results = read(given.rows)
    if given.worst:
        for result in sorted(results, key=lambda result: -result.worst)[: given.worst]:
            print(show(result))
        print(table([result for result in results if result.truth]))
        return
    given.rows.parent.mkdir(parents=True, exist_ok=True)
    left = sorted({*range(given.first, given.first + given.n)} - {result.seed for result in results})
    with ProcessPoolExecutor(2, get_context("forkserver"), end_with_parent) as pool, given.rows.open("a") as file:
        for done in as_completed([pool.submit(one, seed) for seed in left]):
            result = done.result()
            results.append(result)
            file.write(json.dumps(asdict(result)) + "\n")
            file.flush()
            found = sorted((result for result in results if result.truth), key=lambda result: result.seed)
            print(f"{len(results)} of {given.n}: {show(result)}", file=sys.stderr, flush=True)
            if found:
                part = PAGE.with_suffix(".md.part")
                part.write_text(table(found) + "\n")
                part.replace(PAGE)


if __name__ == "__main__":
    main()
