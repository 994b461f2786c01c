"""The report of a fit: sentences, tables, pictures and JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np

from pslc.base import words, writer
from pslc.figures.picture import Axis, Bars, Line, Own, Panel, Picture, Table
from pslc.schema.warnings import MeasurementWarning, documented, notes
from pslc.twin import predict, profile_writer
from pslc.twin.datasets import SCALABLE_SUITES, Dataset, Features, Floats, JobFeatures
from pslc.twin.fit_result import FitResult
from pslc.twin.job_words import job_in_words, part_in_words
from pslc.twin.model import PARAMETERS, in_words
from pslc.twin.observations import observations
from pslc.twin.optimizer import Candidate
from pslc.twin.predict import DiscriminatingSuite, Prediction
from pslc.twin.profile_writer import Estimate
from pslc.twin.small_io import SMALL_IO_SUITES

UNEXPLAINED_LOG_RATIO: Final = 0.25
"""Root mean square of a suite's log ratios from which on the report names it."""
MAX_REPORT_BINS: Final = 16
"""Largest number of bins of a job in which the worst residual is looked for."""
MIN_JOINT_CORRELATION: Final = 0.9
"""Correlation from which on the report says that two values are known only together."""
MAX_JOINT_PAIRS: Final = 3
"""Such pairs that a report names, the strongest."""
MIN_CORRELATION: Final = 0.5
"""Correlation from which on the tables show a pair of parameters."""


@dataclass
class FitReport:
    """The result of a fit with all that follows from it.

    Attributes:
        name: name of the twin.
        result: candidates, statistics and datasets.
        profile: the twin as the text of a TOML file.
        estimates: each value with its 90 % interval and its source.
        predictions: results of suites that were not measured.
        discriminating_suites: suites that would tell indistinguishable firmware models apart, the cheapest first.
        simulated: features of the twin, for each dataset.
        warnings: warnings about the data, and notes on the fit.
    """

    name: str
    result: FitResult
    profile: str
    estimates: list[Estimate]
    predictions: list[Prediction]
    discriminating_suites: list[DiscriminatingSuite]
    simulated: list[Features]
    warnings: list[MeasurementWarning] = field(default_factory=list)

    def save(self, path: str | Path) -> None:
        """Write the profile to a file, over any that is there; `sim:PATH` then names the twin."""
        writer.write(Path(path), self.profile, writer.Replace.ANY)

    @property
    def sentences(self) -> list[str]:
        """The findings of the fit, the most important first."""
        result = self.result
        error = _percent(result.best.rms_log_error)
        sentences = [f"The twin is within {error} of what was measured (root mean square)."]
        if result.is_poor:
            sentences[0] = f"A poor fit: the twin is off by {error} (root mean square)."
        else:
            sentences += self._unexplained()
        sentences += [f"Worst: {self.worst}."] if self.worst else []
        if not result.statistics.success:
            sentences.append(f"The fit did not converge: {result.statistics.message}.")
        sentences += self._about_firmware()
        sentences += self._contradictions()
        sentences += self._told_together()
        if self.unknown:
            sentences.append(f"Assumed: {'; '.join(self.unknown)}.")
        return sentences

    def _unexplained(self) -> list[str]:
        suites = {suite: error for suite, error in self.suite_errors.items() if error > UNEXPLAINED_LOG_RATIO}
        if not suites:
            return []
        listed = ", ".join(f"{suite} ({100 * np.expm1(error):.0f} %)" for suite, error in suites.items())
        return [f"It does not explain {listed}: difference in the speed of whole jobs (root mean square)."]

    def _contradictions(self) -> list[str]:
        """Values of the twin outside of what a suite measured itself."""
        best = self.result.best
        cache_bytes = best.cache_share * self.result.priors.capacity_bytes
        values = best.values | {"residue": best.values["residue"] * cache_bytes}
        free = {estimate.name for estimate in self.estimates}
        both = [(each, each.contradiction(values[each.parameter])) for each in observations(self.result.datasets)
                if each.parameter in free]  # fmt: skip
        return [f"{text}." for _, text in both if text]

    def _told_together(self) -> list[str]:
        """Pairs of values of which the data tell little more than what they do together."""
        names = {estimate.name for estimate in self.estimates}
        return [
            f"Known only together (correlation {value:+.2f}): {' and '.join(_described(name) for name in pair)}."
            for pair, value in self.result.statistics.correlations.items()
            if abs(value) >= MIN_JOINT_CORRELATION and names.issuperset(pair)
        ][:MAX_JOINT_PAIRS]

    def _about_firmware(self) -> list[str]:
        result = self.result
        if result.is_poor:
            return ["So poor a fit identifies no firmware model, and its values are no more than a start."]
        models = result.firmware_models
        hidden = ", or one that the link hides" if result.cache_may_be_hidden and len(models) == 1 else ""
        sentences = [f"Firmware model: {in_words(models)}{hidden}."]
        if self.discriminating_suites:
            cheapest = self.discriminating_suites[0]
            sentences.append(f"Run {cheapest.suite} to tell them apart: it {cheapest.spent}.")
        elif len(models) > 1:
            sentences.append("None of the simulated suites tells them apart.")
        return sentences

    @property
    def suite_errors(self) -> dict[str, float]:
        """Root mean square of the log ratios of whole jobs' speeds, by suite; of request times for small requests."""
        errors = {}
        for dataset, simulated in zip(self.result.datasets, self.simulated, strict=True):
            ratios = [_job_log_ratio(left, right) for left, right in _pairs(dataset.features, simulated)]
            differences = [ratio for ratio in ratios if ratio is not None]
            if differences:
                errors[dataset.suite] = float(np.sqrt(np.mean(np.square(differences))))
        return errors

    @property
    def unknown(self) -> list[str]:
        """Parameters that the data do not determine, grouped by the cheapest suite that would."""
        groups: dict[str, list[str]] = {}
        for estimate in self.estimates:
            if estimate.source == "assumed":
                groups.setdefault(self._next_step(estimate.name), []).append(estimate.what)
        return [f"{', '.join(descriptions)} ({step})" for step, descriptions in groups.items()]

    def _next_step(self, parameter: str) -> str:
        if profile_writer.is_hidden(self.result, parameter):
            return "the link hides it"
        suites = profile_writer.missing_suites(self.result, parameter)
        return f"{suites[0]} would tell" if suites else "no further suite tells it"

    @property
    def worst(self) -> str:
        """The largest residual in words, weighted by the square root of the job's duration; empty without residuals."""
        largest, text = 0.0, ""
        for dataset, simulated in zip(self.result.datasets, self.simulated, strict=True):
            for left, right in _pairs(dataset.features, simulated):
                for bins, ratios in _curve_log_ratios(left, right):
                    index = int(np.argmax(np.abs(ratios)))
                    weighted = abs(ratios[index]) * np.sqrt(left.seconds)
                    if weighted > largest:
                        largest = weighted
                        text = _residual(dataset, left, bins, index, float(ratios[index]))
        return text

    def document(self) -> dict[str, object]:
        """The report for JSON: sizes in bytes, times in seconds."""
        result = self.result
        candidates = [result.best, *result.alternatives]
        return {
            "name": self.name,
            "error": result.best.rms_log_error,
            "poor": result.is_poor,
            "statistics": result.statistics.document(),
            "worst": self.worst,
            "apart": self.suite_errors,
            "firmware": [_firmware(candidate) for candidate in result.indistinguishable],
            "considered": [_firmware(candidate) for candidate in candidates]
            + [{"words": firmware.words, "error": error} for firmware, error in result.rejected],
            "values": [estimate.document() for estimate in self.estimates],
            "predictions": [vars(prediction) for prediction in self.predictions],
            "told_apart_by": [vars(suite) for suite in self.discriminating_suites],
            "unknown": self.unknown,
            "warnings": documented(self.warnings),
            "profile": self.profile,
        }

    @property
    def tables(self) -> list[Table]:
        """Values, firmware models, statistics, predictions and discriminating suites."""
        tables = [self._values_table(), self._models_table()]
        tables += [self._predictions_table()] if self.predictions else []
        tables += [self._suites_table()] if self.discriminating_suites else []
        return [*tables, self._statistics_table(), *self._correlations_table()]

    def _values_table(self) -> Table:
        rows = [[estimate.what, estimate.words, ", ".join(estimate.suites) or estimate.source]
                for estimate in self.estimates]  # fmt: skip
        return Table("Values (90 % interval)", ("value", "twin", "from"), rows, words=("value", "from"))

    def _models_table(self) -> Table:
        result = self.result
        fits = result.indistinguishable
        rows = [[candidate.firmware.words, _percent(candidate.rms_log_error), "yes" if candidate in fits else "no"]
                for candidate in [result.best, *result.alternatives]]  # fmt: skip
        rows += [[firmware.words, _percent(error), "no"] for firmware, error in result.rejected]
        columns = ("firmware model", "error", "fits")
        return Table("Firmware models considered", columns, rows, words=("firmware model", "fits"))

    def _predictions_table(self) -> Table:
        rows = [
            [row.suite, row.name, words.quantity(row.value, row.unit),
             f"{words.quantity(row.low, row.unit)} to {words.quantity(row.high, row.unit)}"]
            for row in self.predictions
        ]  # fmt: skip
        return Table(
            "Predictions for other suites (90 % interval)",
            ("suite", "measure", "twin", "interval"),
            rows,
            words=("suite", "measure"),
        )

    def _suites_table(self) -> Table:
        rows = [
            [row.suite, _percent(row.apart), words.size(row.write_bytes), words.span(row.timed_s),
             words.span(row.idle_s)]
            for row in self.discriminating_suites
        ]  # fmt: skip
        columns = ("suite", "models differ by", "writes", "or runs for", "waits")
        return Table("Suites that tell the firmware models apart", columns, rows, words=("suite",))

    def _statistics_table(self) -> Table:
        statistics = self.result.statistics
        bounds = [f"{_described(name)} ({side})" for name, side in statistics.at_bound.items()]
        rows = [
            ["converged", f"{'yes' if statistics.success else 'no'}: {statistics.message}"],
            ["cost", statistics.cost],
            ["data points, free parameters", f"{statistics.data_points}, {statistics.variables}"],
            ["chi-square", f"{statistics.chi_square:.3g}"],
            ["reduced chi-square", f"{statistics.reduced_chi_square:.3g}"],
            ["values at a bound", ", ".join(bounds) or "none"],
        ]
        return Table("Fit statistics", ("statistic", "value"), rows, words=("statistic", "value"))

    def _correlations_table(self) -> list[Table]:
        rows = [[*map(_described, pair), f"{value:+.2f}"] for pair, value in self.result.statistics.correlations.items()
                if abs(value) >= MIN_CORRELATION]  # fmt: skip
        title = f"Correlations of {MIN_CORRELATION:g} or more"
        columns = ("parameter", "with", "correlation")
        return [Table(title, columns, rows, words=("parameter", "with"))] if rows else []

    @property
    def pictures(self) -> list[Picture]:
        """Measured and simulated curves of each suite, and their residuals."""
        pictures = []
        for dataset, simulated in zip(self.result.datasets, self.simulated, strict=True):
            pictures += _curve_pictures(dataset, simulated)
            pictures += _request_pictures(dataset, simulated)
        return pictures


def _described(name: str) -> str:
    """Description of a parameter for people."""
    return PARAMETERS[name].description


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _pairs(measured: Features, simulated: Features) -> Iterator[tuple[JobFeatures, JobFeatures]]:
    """Features of each job that was measured and simulated."""
    for step, simulated_step in zip(measured, simulated, strict=True):
        for left, right in zip(step, simulated_step, strict=True):
            if left is not None and right is not None:
                yield left, right


def _firmware(candidate: Candidate) -> dict[str, object]:
    firmware = candidate.firmware
    return {
        "words": firmware.words,
        "mode": firmware.mode,
        "when_full": firmware.when_full,
        "reuse": firmware.reuse,
        "dead": firmware.dead,
        "error": candidate.rms_log_error,
    }


def _curve_log_ratios(measured: JobFeatures, simulated: JobFeatures) -> list[tuple[int, Floats]]:
    """Number of bins, and log ratios of simulated to measured speed in each."""
    return [
        (bins, simulated.curves[bins] - curve)
        for bins, curve in measured.curves.items()
        if bins in simulated.curves and bins <= MAX_REPORT_BINS
    ]


def _job_log_ratio(measured: JobFeatures, simulated: JobFeatures) -> float | None:
    """Log ratio of simulated to measured speed (or request time) of a whole job; None if they share no feature."""
    if 1 in measured.curves and 1 in simulated.curves:
        return float(simulated.curves[1][0] - measured.curves[1][0])
    names = [name for name in measured.metrics if name in simulated.metrics]
    return simulated.metrics[names[0]] - measured.metrics[names[0]] if names else None


def _residual(dataset: Dataset, job: JobFeatures, bins: int, index: int, log_ratio: float) -> str:
    measured = float(np.exp(job.curves[bins][index]))
    faster = "faster" if log_ratio > 0 else "slower"
    return (
        f"{job_in_words(dataset.suite, job.job)}, {part_in_words(bins, index)}: measured {words.speed(measured)}, "
        f"the twin is {_percent(abs(np.expm1(log_ratio)))} {faster}"
    )


def _curve_pictures(dataset: Dataset, simulated: Features) -> list[Picture]:
    x, measured = _curve(dataset.features)
    simulated_x, speeds = _curve(simulated)
    if len(x) < 2:
        return []
    lines = [Line("measured", x, measured), Line("twin", simulated_x, speeds)]
    residuals = Line("residual", simulated_x, np.expm1(np.log(speeds) - np.log(measured)))
    panels = (Panel(Axis("speed", "B/s", log=10), lines), Panel(Axis("twin over measured", "share"), [residuals]))
    name = dataset.suite
    return [Picture(f"{name}-both", ("Measured and twin", Own(name)), Axis("part of the suite's jobs"), panels)]


def _request_pictures(dataset: Dataset, simulated: Features) -> list[Picture]:
    rows = [
        (left.job, float(np.exp(left.metrics["mean"])) / 1e9, float(np.exp(right.metrics["mean"])) / 1e9)
        for left, right in _pairs(dataset.features, simulated)
        if "mean" in left.metrics and "mean" in right.metrics
    ]
    if not rows:
        return []
    bars = [Bars("measured", [row[1] for row in rows]), Bars("twin", [row[2] for row in rows])]
    panel = Panel(Axis("mean latency", "s"), bars=bars)
    x = Axis("job", names=[Own(row[0]) for row in rows])
    return [Picture(f"{dataset.suite}-single", ("Time of a request", Own(dataset.suite)), x, (panel,))]


def _curve(features: Features) -> tuple[Floats, Floats]:
    """Positions and bytes/s of all jobs of a suite one after the other, in the finest bins."""
    xs, ys = [], []
    number = 0
    for step in features:
        for job in step:
            if job is not None and job.curves:
                curve = job.curves[max(job.curves)]
                xs.append(number + (np.arange(len(curve)) + 0.5) / len(curve))
                ys.append(np.exp(curve))
                number += 1
    return (np.concatenate(xs), np.concatenate(ys)) if xs else (np.zeros(0), np.zeros(0))


def build_report(result: FitResult, name: str, *, with_predictions: bool = True) -> FitReport:
    """The report of a fit."""
    unused = [
        f"{dataset.suite} was not used: a fit does not know what it determines"
        for dataset in result.datasets
        if dataset.suite not in SCALABLE_SUITES | SMALL_IO_SUITES
    ]
    return FitReport(
        name,
        result,
        profile_writer.to_toml(result, name),
        profile_writer.estimates(result),
        predict.predictions(result) if with_predictions else [],
        predict.discriminating_suites(result) if with_predictions else [],
        _simulated(result),
        notes([*result.notes, *unused]),
    )


def _simulated(result: FitResult) -> list[Features]:
    """Features of the twin in each dataset; None for jobs that were not measured, such as those that use a drive."""
    best = result.best
    features: list[Features] = []
    for dataset in result.datasets:
        model = best.problem.model
        if dataset.suite not in SCALABLE_SUITES:
            model = replace(model, geometry=result.geometry, scale=1.0)
        simulated = replace(best.problem, model=model, datasets=[dataset]).simulate(best.values)
        steps: Features = simulated[0] if simulated else [[None] * len(step) for step in dataset.features]
        pairs: Sequence[zip[tuple[JobFeatures | None, JobFeatures | None]]] = [
            zip(measured, step, strict=True) for measured, step in zip(dataset.features, steps, strict=True)
        ]
        features.append([[right if left else None for left, right in step] for step in pairs])
    return features
