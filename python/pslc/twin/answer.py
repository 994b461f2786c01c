"""What a fit says: in words, in rows, in pictures, as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pslc import words
from pslc.figures.picture import Line, Picture, Table
from pslc.twin import predict, profile, singles
from pslc.twin.data import SCALES, Floats, Look, Trial
from pslc.twin.fit import Fitted
from pslc.twin.model import in_words
from pslc.twin.predict import Prediction, Telling
from pslc.twin.profile import Estimate
from pslc.twin.search import Solution

FAR = 0.25
"""A suite of which the twin is off by more is named."""
POINTS = 16
"""Bins of a job in the table of residuals."""


@dataclass
class Answer:
    """A fit with all that follows from it."""

    name: str
    fitted: Fitted
    text: str
    estimates: list[Estimate]
    predictions: list[Prediction]
    telling: list[Telling]
    looks: list[list[list[Look | None]]]
    """Of the twin, as those of `fitted.trials`."""
    notes: list[str] = field(default_factory=list)

    @property
    def sentences(self) -> list[str]:
        """The most important first."""
        fitted = self.fitted
        said = [f"The twin is within {_percent(fitted.best.error)} of what was measured (root mean square)."]
        if fitted.is_poor:
            said[0] = f"A poor fit: the twin is off by {_percent(fitted.best.error)} (root mean square)."
        far = {suite: off for suite, off in self.apart.items() if off > FAR}
        if far and not fitted.is_poor:
            told = ", ".join(f"{suite} ({100 * np.expm1(off):.0f} %)" for suite, off in far.items())
            said.append(f"It does not explain {told}: speeds of whole jobs are off by so much (root mean square).")
        said += [f"Worst: {self.worst}."] if self.worst else []
        firmwares = fitted.firmwares
        if fitted.is_poor:
            said.append("So poor a fit tells no firmware, and its values are no more than a start.")
        else:
            hidden = ", or one that the link hides" if fitted.may_hide and len(firmwares) == 1 else ""
            said.append(f"Its firmware: {in_words(firmwares)}{hidden}.")
            if self.telling:
                cheapest = self.telling[0]
                said.append(f"Run {cheapest.suite} to tell them apart: it {cheapest.spent}.")
            elif len(firmwares) > 1:
                said.append("None of the short forms of the suites that were tried tells them apart.")
        unknown = self.unknown
        if unknown:
            said.append(f"Assumed: {'; '.join(unknown)}.")
        return said

    @property
    def apart(self) -> dict[str, float]:
        """By suite: how far the twin's jobs are from those that were measured, the root mean square of the logarithms
        of their speeds; of those made of single requests, of the times of these."""
        found = {}
        for trial, made in zip(self.fitted.trials, self.looks, strict=True):
            pairs = [(one, two) for a, b in zip(trial.looks, made, strict=True) for one, two in zip(a, b, strict=True)]
            offs = [_off(one, two) for one, two in pairs if one is not None and two is not None]
            told = [off for off in offs if off is not None]
            if told:
                found[trial.suite] = float(np.sqrt(np.mean(np.square(told))))
        return found

    @property
    def unknown(self) -> list[str]:
        """What the data do not tell, with the suites that would, the cheapest first."""
        by: dict[str, list[str]] = {}
        for one in self.estimates:
            if one.source == "assumed":
                by.setdefault(self._telling(one.name), []).append(one.what)
        return [f"{', '.join(what)} ({told})" for told, what in by.items()]

    def _telling(self, name: str) -> str:
        if profile.is_hidden(self.fitted, name):
            return "the link hides it"
        suites = profile.telling(self.fitted, name)
        return f"{suites[0]} would tell" if suites else "no further suite tells it"

    @property
    def worst(self) -> str:
        """The worst residual in words; empty where all is well."""
        worst, said = 0.0, ""
        for trial, made in zip(self.fitted.trials, self.looks, strict=True):
            for step, other in zip(trial.looks, made, strict=True):
                for one, two in zip(step, other, strict=True):
                    if one is None or two is None:
                        continue
                    for bins, off in _offs(one, two):
                        at = int(np.argmax(np.abs(off)))
                        weighted = abs(off[at]) * np.sqrt(one.seconds)
                        if weighted > worst:
                            worst = weighted
                            said = _residual(trial, one, bins, at, float(off[at]))
        return said

    def document(self) -> dict[str, object]:
        """For `--json`: sizes in bytes, times in seconds."""
        fitted = self.fitted
        return {
            "name": self.name,
            "error": fitted.best.error,
            "poor": fitted.is_poor,
            "worst": self.worst,
            "apart": self.apart,
            "firmware": [_firmware(one) for one in fitted.named],
            "considered": [_firmware(one) for one in [fitted.best, *fitted.others]]
            + [{"words": firmware.words, "error": error} for firmware, error in fitted.dropped],
            "values": [one.document() for one in self.estimates],
            "predictions": [vars(one) for one in self.predictions],
            "told_apart_by": [vars(one) for one in self.telling],
            "unknown": self.unknown,
            "notes": self.notes,
            "profile": self.text,
        }

    @property
    def tables(self) -> list[Table]:
        """Values, firmwares, predictions."""
        rows = [[one.what, one.words, ", ".join(one.suites) or one.source] for one in self.estimates]
        found = [Table("Values (90 % interval)", ("value", "twin", "from"), rows, words=("value", "from"))]
        named = self.fitted.named
        considered = [[one.problem.model.firmware.words, _percent(one.error), "yes" if one in named else "no"]
                      for one in [self.fitted.best, *self.fitted.others]]  # fmt: skip
        considered += [[firmware.words, _percent(error), "no"] for firmware, error in self.fitted.dropped]
        found.append(
            Table("Firmwares considered", ("firmware", "error", "fits"), considered, words=("firmware", "fits"))
        )
        if self.predictions:
            cells = [[one.suite, one.name, words.quantity(one.value, one.unit),
                      f"{words.quantity(one.low, one.unit)} to {words.quantity(one.high, one.unit)}"]
                     for one in self.predictions]  # fmt: skip
            found.append(Table("Predicted for suites that were not given (90 % interval)",
                               ("suite", "figure", "twin", "interval"), cells, words=("suite", "figure")))  # fmt: skip
        if self.telling:
            cells = [[one.suite, _percent(one.apart), words.size(one.write_bytes),
                      words.span(one.timed_s), words.span(one.idle_s)]
                     for one in self.telling]  # fmt: skip
            of = ("suite", "they differ by", "writes", "or runs for", "waits")
            found.append(Table("Suites that would tell the firmwares apart", of, cells, words=("suite",)))
        return found

    @property
    def pictures(self) -> list[Picture]:
        """Measured and twin over each other, a picture a suite, and what is left between them."""
        found = []
        for trial, made in zip(self.fitted.trials, self.looks, strict=True):
            lines = {"measured": _line(trial.looks), "twin": _line(made)}
            if len(lines["measured"][0]) > 1:
                drawn = [Line(name, x, y) for name, (x, y) in lines.items()]
                title = f"{trial.suite}: measured and twin"
                found.append(
                    Picture(f"{trial.suite}-both", title, "part of the suite's jobs", "MB/s", drawn, log_y=True)
                )
                off = 100 * np.expm1(np.log(lines["twin"][1]) - np.log(lines["measured"][1]))
                title, left = f"{trial.suite}: twin over measured", Line("residual", lines["twin"][0], off)
                found.append(Picture(f"{trial.suite}-residuals", title, "part of the suite's jobs", "%", [left]))
            single = [(one.job, np.exp(one.figures["mean"]) / 1e3, np.exp(two.figures["mean"]) / 1e3)
                      for a, b in zip(trial.looks, made, strict=True) for one, two in zip(a, b, strict=True)
                      if one and two and "mean" in one.figures and "mean" in two.figures]  # fmt: skip
            if single:
                x = list(range(len(single)))
                drawn = [Line("measured", x, [row[1] for row in single]), Line("twin", x, [row[2] for row in single])]
                found.append(Picture(f"{trial.suite}-single", f"{trial.suite}: time of a request", "job", "us", drawn,
                                     rows=[row[0] for row in single]))  # fmt: skip
        return found


def _percent(off: float) -> str:
    return f"{100 * off:.1f} %"


def _firmware(one: Solution) -> dict[str, object]:
    firmware = one.problem.model.firmware
    return {"words": firmware.words, "mode": firmware.mode, "when_full": firmware.when_full, "reuse": firmware.reuse,
            "dead": firmware.dead, "error": one.error}  # fmt: skip


def _offs(one: Look, two: Look) -> list[tuple[int, Floats]]:
    found = []
    for bins, curve in one.curves.items():
        if bins in two.curves and bins <= POINTS:
            found.append((bins, two.curves[bins] - curve))
    return found


def _off(one: Look, two: Look) -> float | None:
    """Of a job as a whole; None where nothing of it is in both."""
    if 1 in one.curves and 1 in two.curves:
        return float(two.curves[1][0] - one.curves[1][0])
    both = [name for name in one.figures if name in two.figures]
    return two.figures[both[0]] - one.figures[both[0]] if both else None


def _residual(trial: Trial, look: Look, bins: int, at: int, off: float) -> str:
    where = "all of it" if bins == 1 else f"{100 * at / bins:.0f} to {100 * (at + 1) / bins:.0f} % of it"
    measured = float(np.exp(look.curves[bins][at]))
    faster = "faster" if off > 0 else "slower"
    return (f"job {look.job} of {trial.suite}, {where}: measured {words.speed(measured)}, the twin is "
            f"{_percent(abs(np.expm1(off)))} {faster}")  # fmt: skip


def _line(looks: Sequence[Sequence[Look | None]]) -> tuple[Floats, Floats]:
    """All jobs of a suite one after the other, in the finest bins."""
    xs, ys = [], []
    number = 0
    for step in looks:
        for look in step:
            if look is not None and look.curves:
                curve = look.curves[max(look.curves)]
                xs.append(number + (np.arange(len(curve)) + 0.5) / len(curve))
                ys.append(np.exp(curve) / 1e6)
                number += 1
    return (np.concatenate(xs), np.concatenate(ys)) if xs else (np.zeros(0), np.zeros(0))


def answer(fitted: Fitted, name: str, *, predicted: bool = True) -> Answer:
    """Everything that follows from a fit."""
    looks = _looks(fitted)
    notes = [f"{trial.suite} was not used: a fit does not know what it tells" for trial in fitted.trials
             if trial.suite not in SCALES | singles.SUITES]  # fmt: skip
    return Answer(
        name, fitted, profile.text(fitted, name), profile.estimates(fitted),
        predict.predictions(fitted) if predicted else [], predict.telling(fitted) if predicted else [], looks,
        [*fitted.notes, *notes],
    )  # fmt: skip


def _looks(fitted: Fitted) -> list[list[list[Look | None]]]:
    from dataclasses import replace

    found: list[list[list[Look | None]]] = []
    best = fitted.best
    for trial in fitted.trials:
        model = best.problem.model
        if trial.suite not in SCALES:
            model = replace(model, build=fitted.build, scale=1.0)
        made = replace(best.problem, model=model, trials=[trial]).looks(best.values)
        ran: Sequence[Sequence[Look | None]] = made[0] if made else [[None] * len(step) for step in trial.looks]
        # Nothing is compared of jobs that were not measured, such as what makes the drive a used one.
        pairs = [zip(seen, step, strict=True) for seen, step in zip(trial.looks, ran, strict=True)]
        found.append([[two if one else None for one, two in step] for step in pairs])
    return found
