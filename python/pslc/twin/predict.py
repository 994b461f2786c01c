"""What the twin would do in suites that were not given, and which of them would tell firmwares apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pslc import suites, words
from pslc.errors import PslcError
from pslc.jobs import MOVED
from pslc.targets.cost import FAST, cost
from pslc.targets.region import Scope, find_region
from pslc.targets.target import Target
from pslc.twin.data import Floats, scaled_step
from pslc.twin.fit import Fitted
from pslc.twin.model import MIB, PARAMETERS, Build, Model

APART: Final = 0.10
"""Difference of the logarithms of a figure from which on two drives are told apart by it."""
SAMPLES: Final = 6


@dataclass(frozen=True)
class Prediction:
    """A figure of a suite that was not given, with its 90 % interval."""

    suite: str
    name: str
    value: float
    low: float
    high: float
    unit: str


@dataclass(frozen=True)
class Telling:
    """A suite that tells firmwares apart that fit as well, and what it costs."""

    suite: str
    apart: float
    write_bytes: int
    idle_s: float
    timed_s: float

    @property
    def spent(self) -> str:
        """What it takes: `writes about 281 GB`, `takes 30 min`."""
        if self.write_bytes:
            return f"writes about {words.size(self.write_bytes)}"
        return f"takes {words.span(self.timed_s + self.idle_s)}"


def figures(capacity_bytes: int) -> dict[tuple[str, str, str], list[str]]:
    """Short jobs that stand for a suite each: (suite, figure, unit) and the steps, of which the last is measured."""
    c = capacity_bytes // MIB * MIB

    def write(name: str, size: float, offset: float = 0, pause: float = 0, io_size: float = 0) -> str:
        more = f"pause={round(pause * 1e6)}us\n" if pause else ""
        more += f"io_size={int(io_size) // MIB * MIB}\n" if io_size else ""
        return (f"[{name}]\nstonewall\nrw=write\nbs=1m\nioengine=io_uring\niodepth=32\ndirect=1\n"
                f"offset={int(offset) // MIB * MIB}\nsize={int(size) // MIB * MIB}\n{more}")  # fmt: skip

    half = write("fill", 0.5 * c)
    random = "[random]\nrw=randwrite\nbs=4k\nioengine=io_uring\niodepth=16\ndirect=1\nnorandommap\noffset=0\n"
    random += f"size={c}\n"
    return {
        ("fill", "mean of a whole fill", "B/s"): [write("fill", c)],
        ("fill at 50 % full", "mean of the second half", "B/s"): [half, write("rest", 0.499 * c, 0.5 * c, 600)],
        ("second-pass", "mean of the second pass", "B/s"): [write("fill", c), write("again", c, 0, 300)],
        ("overwrite", "rewriting a quarter of the drive for twice its size", "B/s"):
            [write("over", 0.25 * c, 0, 0, 0.5 * c), write("over", 0.25 * c, 0, 0, 0.25 * c)],
        ("sustained", "writing round a full drive", "B/s"): [write("fill", c), write("on", 0.6 * c)],
        ("random-steady", "4 KiB random writes on a full drive", "B/s"):
            [write("fill", c), random + f"io_size={int(0.3 * c) // MIB * MIB}\n",
             random + f"io_size={int(0.1 * c) // MIB * MIB}\n"],
    }  # fmt: skip


def singles(capacity_bytes: int) -> dict[tuple[str, str, str], list[str]]:
    """The same for requests one by one or in parallel, which only the whole drive answers."""
    span = min(1 << 30, capacity_bytes // 8) // MIB * MIB
    lay = f"[lay]\nstonewall\nrw=write\nbs=1m\nioengine=io_uring\niodepth=32\ndirect=1\noffset=0\nsize={span}\n"
    found = {}
    for kind in ("randread", "randwrite"):
        for depth in (1, 32):
            job = (f"[one]\nstonewall\nrw={kind}\nbs=4k\nioengine=io_uring\niodepth={depth}\ndirect=1\nnorandommap\n"
                   f"offset=0\nsize={span}\nnumber_ios=4000\n")  # fmt: skip
            name = f"4 KiB random {kind.removeprefix('rand')}s, queue depth {depth}"
            found["qd-sweep", name, "/s"] = [lay, job]
    return found


def measure(model: Model, values: dict[str, float], steps: Sequence[str]) -> float | None:
    """Bytes a second of the last step (requests a second of small ones), on a drive scaled as the model is; None where
    there is no such drive."""
    drive = model.open(values)
    if drive is None:
        return None
    try:
        # With requests of its own each: what was written in one order is overwritten far cheaper in the same.
        ran = [drive.run(scaled_step(text, model.scale), "twin.fio", [], seed, None, None, 64)
               for seed, text in enumerate(steps)]  # fmt: skip
    except PslcError:
        return None
    job = ran[-1]["jobs"][-1]
    of = max((job[kind] for kind in MOVED), key=lambda done: done["io_bytes"])
    moved = of["total_ios"] if "number_ios" in job["options"] else of["io_bytes"]
    return moved / max(job["elapsed_ns"], 1) * 1e9


def samples(fitted: Fitted, count: int = SAMPLES, seed: int = 0) -> list[tuple[Model, Build, dict[str, float]]]:
    """Drives that fit as well, each as it is simulated and as it is built: the best, the best of each named firmware,
    the best of other builds, and some within the intervals."""
    best = fitted.best
    problem = best.problem
    own = replace(problem.model, host_request_ns=0)
    found = [(replace(one.problem.model, host_request_ns=0), fitted.build, one.values) for one in fitted.named]
    free = {*problem.free, *(best.single.problem.free if best.single else ())}
    unknown = [name for name in UNKNOWN if name not in free]
    drawn = _drawn((len(best.others) + count, len(unknown)), seed)
    middles = list(best.others)
    if best.covariance is not None:
        low, high = problem.bounds
        builds = list(best.others) or [(fitted.build, best.x)]
        axes = np.linalg.cholesky(best.covariance + 1e-12 * np.eye(len(best.x)))
        for at, way in enumerate(_drawn((count, len(best.x)), seed + 1)):
            build, middle = builds[at % len(builds)]
            middles.append((build, np.clip(middle + axes @ way, low, high)))
    for (build, x), off in zip(middles, drawn, strict=False):
        values = problem.unpack(x)
        for name, away in zip(unknown, off, strict=True):
            one, (centre, spread) = PARAMETERS[name], problem.expected(name)
            values[name] = float(np.clip(np.exp(centre + spread * away), one.low, one.high))
        if "buffer" in unknown:
            values["buffer"] = max(values["buffer"], fitted.build.full_buffer)
        found.append((own.like(build), build, values))
    return found


UNKNOWN: Final = ("spare", "command", "buffer", "slc_read", "native_read", "erase")
"""Values that are as unknown as they were before where they were not free."""


def _drawn(shape: tuple[int, int], seed: int) -> Floats:
    """Standard normal, and scattered by just that in each column: of few draws some would be narrow by chance, and as
    the draws are the same in each fit, in all of them."""
    drawn: Floats = np.random.default_rng(seed).normal(size=shape)
    drawn /= np.sqrt(np.mean(drawn**2, axis=0, keepdims=True)) if shape[0] else 1.0
    return drawn


def predictions(fitted: Fitted) -> list[Prediction]:
    """Of suites that were not given, each with its 90 % interval."""
    given = {trial.suite for trial in fitted.trials}
    drives = samples(fitted)
    made = []
    capacity = fitted.known.capacity_bytes
    small = [(model, values) for model, _, values in drives]
    whole = [(replace(model, build=build, scale=1.0), values) for model, build, values in drives]
    asked = [(key, steps, small) for key, steps in figures(capacity).items()]
    asked += [(key, steps, whole) for key, steps in singles(capacity).items()]
    for (suite, name, unit), steps, on in asked:
        if suite in given:
            continue
        values = [measure(model, at, steps) for model, at in on]
        some = np.array([value for value in values[len(fitted.named) :] if value])
        if values[0] and len(some):
            # The scaled drive and the model are wrong by a few per cent themselves.
            off = np.log(some) - np.log(values[0])
            wide = float(np.hypot(Z90 * np.sqrt(np.mean(off**2)), OWN))
            low = min(values[0] * np.exp(-wide), *_named(values, fitted))
            high = max(values[0] * np.exp(wide), *_named(values, fitted))
            made.append(Prediction(suite, name, values[0], float(low), float(high), unit))
    return made


Z90: Final = 1.645
OWN: Final = 0.04


def _named(values: Sequence[float | None], fitted: Fitted) -> list[float]:
    return [value for value in values[: len(fitted.named)] if value]


def telling(fitted: Fitted) -> list[Telling]:
    """Suites that would tell the named firmwares apart, the cheapest first; empty where one is left."""
    named = fitted.named
    if len(named) < 2:
        return []
    given = {trial.suite for trial in fitted.trials}
    apart: dict[str, float] = {}
    for (suite, _, _), steps in (figures(fitted.known.capacity_bytes) | _pauses(fitted)).items():
        if suite in suites.names() and suite not in given:
            found = [measure(one.problem.model, one.values, steps) for one in named]
            some = [float(np.log(value)) for value in found if value]
            apart[suite] = max(apart.get(suite, 0.0), max(some) - min(some) if some else 0.0)
    region = find_region(_target(fitted), Scope(quick=True))
    made = []
    for suite, off in apart.items():
        if off >= APART:
            spent = cost(suites.expected(suite, region), suite, [], region.target)
            made.append(Telling(suite, off, spent.write_bytes, spent.idle_s, spent.timed_s))
    return sorted(made, key=lambda one: one.write_bytes + FAST * one.timed_s)


def _pauses(fitted: Fitted) -> dict[tuple[str, str, str], list[str]]:
    """Writes after pauses on a drive that is half full, as `recovery` makes them."""
    c = fitted.known.capacity_bytes
    size = min(max(fitted.best.cache_share, 0.01), 0.4) * c
    found = {}
    for pause in (3.0, 30.0, 600.0):
        job = "[{}]\nstonewall\nrw=write\nbs=1m\nioengine=io_uring\niodepth=32\ndirect=1\noffset=0\nsize={}\n{}"
        steps = [job.format("half", c // 2 // MIB * MIB, ""), job.format("again", c // 2 // MIB * MIB, ""),
                 job.format("after", int(size) // MIB * MIB, f"pause={round(pause * 1e6)}us\n")]  # fmt: skip
        found["recovery", f"after {pause:g} s", "B/s"] = steps
    return found


def _target(fitted: Fitted) -> Target:
    """The twin as something that suites can be planned on."""
    model = Model(fitted.build, fitted.best.problem.model.firmware)
    drive = model.open(fitted.best.values)
    assert drive is not None, "it was opened before"
    return Target("sim:twin", "twin", "simulated", "twin", drive.capacity_bytes, drive.facts(), lambda: drive)
