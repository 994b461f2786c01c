"""Drives beside the one that a search found: the same values under another rule, which a search may have passed by."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from pslc.twin import search
from pslc.twin.data import Floats
from pslc.twin.model import KEEPS, Firmware, of_firmware
from pslc.twin.residuals import LUCK
from pslc.twin.search import Solution


def reused(task: tuple[Solution, list[Firmware]]) -> list[Solution]:
    """The same values with every other rule of reuse, and in a cache that is set aside for good, or is not: a search
    that ended elsewhere may have passed them by."""
    best, all_of_them = task
    values, old = best.values, best.problem
    mine = old.model.firmware
    made = []
    for firmware in all_of_them:
        cached = "pure-xlc" not in (firmware.mode, mine.mode)
        if not cached or firmware.when_full != mine.when_full or firmware == mine:
            continue
        size = best.cache_share
        sizes = {"dynamic": size} if firmware.mode == "dynamic-slc" else {"static": size}
        if firmware.mode != mine.mode:
            sizes |= {"least": 1.0}
        free = [name for name in of_firmware(firmware) if name in {*old.free, *sizes} and name != "least"]
        free += ["least"] if firmware.mode == "dynamic-slc" and "least" in old.free else []
        problem = replace(
            old, model=replace(old.model, firmware=firmware), free=free, values=old.values | values | sizes
        )
        made.append(search.best_starts(problem, [{}])[0])
    return made


def kept_dead(found: Solution) -> Solution | None:
    """The same with dead data kept until the drive is idle; None where there is no cache, or no way past it."""
    old = found.problem
    if old.model.firmware.mode == "pure-xlc" or old.model.firmware.when_full == "fold":
        return None
    model = replace(old.model, firmware=replace(old.model.firmware, dead="until-idle"))
    problem = replace(old, model=model)
    start = search.best_starts(problem, [found.values])[0]
    return search.refine(start, 3) if start.loss < WORTH * max(found.loss, LUCK) else start


WORTH: Final = 2.5
"""Times the loss of the drive beside which it is tried, up to which a drive is searched for."""


def hybrid(found: Solution, each: Callable[..., Iterable[Floats]] = map) -> Solution | None:
    """The same with what the full drive keeps of its cache set aside for good; None where it keeps all or nothing."""
    old, values = found.problem, found.values
    if old.model.firmware.mode != "dynamic-slc" or "least" not in old.free or not 0.02 < values["least"] < KEEPS:
        return None
    parts = {"static": values["least"] * values["dynamic"], "dynamic": (1 - values["least"]) * values["dynamic"]}
    model = replace(old.model, firmware=replace(old.model.firmware, mode="hybrid-slc"))
    free = [name for name in of_firmware(model.firmware) if name in {*old.free, "static"} and name != "least"]
    problem = replace(old, model=model, free=free, values=values | parts | {"least": 0.0})
    return search.refine(search.best_starts(problem, [problem.values])[0], 3, each)
