"""Drives that do the same where they were measured, and something else where they were not: how good any fit can be.

From a hidden drive on, its build and its values are drawn anew, one after the other, as hidden drives are drawn (or as
the sheets of its parts leave open), and kept where what was measured is explained about as well as by the hidden drive
itself: Metropolis's walk, of a likelihood that is all or nothing. Whoever knew even how hidden drives are drawn could
do no better than to answer with the middle of these.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from benches.hidden import MIX, built, hidden
from pslc.twin import predict
from pslc.twin.datasets import Dataset
from pslc.twin.model import Model, parameters_of
from pslc.twin.optimizer import FitProblem
from pslc.twin.residuals import LOSS_FLOOR, loss_of

ROUNDS, UNUSED = 8, 2
"""Times that each value is drawn anew, and rounds at first that are too near to where they began."""
BUILD: Final = ("dies", "superblocks")
"""What it is built of: dies, planes and channels, or as how many superblocks."""
OVER: Final = {"idle_rate": "native_rate", "slc_rate": "native_rate"}
"""Values that hidden drives have as shares of others."""

Drive = tuple[Model, dict[str, float]]
Sheet = Mapping[str, tuple[float, float]]


def alike(drive: Drive, datasets: Sequence[Dataset], sheet: Sheet, seed: int) -> list[Drive]:
    """Drives that what was measured cannot tell from this one, all as small as the twin's searches make them.

    Args:
        sheet: what the sheets of its parts say of values, with the standard deviation of its logarithm. Where there are
            sheets, the build is known.
    """
    rng = np.random.default_rng([seed, 5])
    large = [replace(dataset, curve=None) for dataset in datasets]
    names = [*(BUILD if not sheet else ()), *(name for name in parameters_of(drive[0].firmware) if name in drive[1])]
    enough = _loss(drive, large, np.inf) + LOSS_FLOOR
    found = []
    for number in range(ROUNDS):
        for name in names:
            other = _with(drive, name, sheet, rng)
            if _loss(other, large, enough) <= enough:
                drive = other
        if number >= UNUSED:
            found.append(drive)
    return found


def least(drive: Drive, others: Sequence[Drive]) -> dict[str, float]:
    """Logarithm of the best answer over the truth, by figure: the middle of drives that are alike."""
    found = {}
    capacity = drive[0].capacity_bytes
    whole = predict.small_io_jobs(capacity)
    for key, steps in (predict.prediction_jobs(capacity) | whole).items():
        values = [
            predict.measure(model if key in whole else model.scaled(), values, steps)
            for model, values in (drive, *others)
        ]
        some = [value for value in values[1:] if value]
        if values[0] and some:
            found[f"{key[0]}: {key[1]}"] = float(np.median(np.log(some)) - np.log(values[0]))
    return found


def _loss(drive: Drive, datasets: Sequence[Dataset], enough: float) -> float:
    """Mean square logarithm over the datasets; infinite as soon as it is known to be more than `enough`."""
    model, values = drive
    residuals = FitProblem(model.scaled(), datasets, (), values).residuals_below(
        np.zeros(0), np.nextafter(enough / loss_of(np.ones(1), datasets, 0), np.inf)
    )
    return np.inf if residuals is None else loss_of(residuals, datasets, 0)


def _with(drive: Drive, name: str, sheet: Sheet, rng: np.random.Generator) -> Drive:
    """A drive with one value, or some of what it is built of, drawn anew."""
    (model, values), (other, drawn) = drive, _drawn(drive[0], rng)
    if name in BUILD:
        parts, of = (other.geometry, model) if name == "dies" else (model.geometry, other)
        parts = replace(parts, capacity_bytes=model.capacity_bytes, link=model.geometry.link)
        geometry = built(parts, of.capacity_bytes / of.geometry.superblock_bytes, values["slc_rate"])
        return replace(model, geometry=geometry), values | {
            "erase": values["erase"] / model.geometry.erase_s * geometry.erase_s
        }
    if name in sheet:
        said, spread = sheet[name]
        return model, values | {name: float(np.exp(rng.normal(np.log(said), spread)))}
    value = drawn[name]
    if name in OVER:
        value *= values[OVER[name]] / drawn[OVER[name]]
    if name == "erase":
        value *= model.geometry.erase_s / other.geometry.erase_s
    return model, values | {name: value}


def _drawn(model: Model, rng: np.random.Generator) -> Drive:
    """A hidden drive of this firmware and as many bits a cell."""
    kind = next(number for number, one in enumerate(MIX) if replace(one, bits_per_cell=model.firmware.bits_per_cell)
                == model.firmware)  # fmt: skip
    while True:
        other, values = hidden(len(MIX) * int(rng.integers(1 << 30)) + kind)
        if other.geometry.bits_per_cell == model.geometry.bits_per_cell:
            return other, values
