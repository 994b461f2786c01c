"""Machines that may have made a write, compared by enumeration: how likely each is, given the runs.

    [front] cache [behind] [after]     memory or a slow start; a cache; folding, native cells; heat
    alone                              what has no cache: one speed, a hard disk, memory before one speed, heat, a share

Each is a sequence of parts, one a stretch of a cut (`stretches`), with laws for the parts' speeds and ends
(`machines.toml`).
"""

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import pairwise, product
from typing import Any, Final

import numpy as np

from pslc.analysis.context import MeasurementContext
from pslc.analysis.runs import Run, Segmentation
from pslc.analysis.series import Floats
from pslc.analysis.stretches import LEVEL_SD, Cut, Stretch, best_cuts
from pslc.analysis.thresholds import FASTEST_LINK_BYTES_PER_S

IMPOSSIBLE: Final = -12.0
"""Nats of what a law forbids: a log may be of something else than it seems."""
MIN_FALL: Final = 0.08
"""Smallest fall of log speed that is a change of what the drive does."""
MIN_BURST_SHARE, FOLD_RATE_SHARE = 0.005, 0.9
"""Share of what was written from which a burst counts; rate of folding while the host is silent, over the cache's
speed."""
FASTER_NATS, BURST_NATS, BETWEEN_NATS = -8.0, -4.0, -1.5
"""Nats of a stretch that is faster than it may be behind the ones before it, of each burst that nothing explains, and
of each level of bursts behind a cache that are slower than it."""
MIN_WANDER_SHARE, BRIEF_NATS, MAX_MODE_SDS = 0.01, 1.5, 2.5
"""Share of the bytes or the time of a level that wanders, and what each run costs that is briefer and on no such level;
standard deviations within which two levels are one."""
FEW_RISES_NATS, CHANGE_NATS, MODE_NATS = -2.5, 0.8, 1.8
"""Nats of speeds that wander, for each rise that they have less than two; what the place of a change costs, and another
level among those that come back."""
WANDER_SCALE: Final = {"median": 0.2, "sd": 0.6}
"""Scale of the log speeds of what wanders."""
SAME_LEVEL: Final = 0.15
"""Log ratio within which a burst behind the cache has the cache's speed."""
REGAINED_NATS: Final = {"silence": 3.0, "again": 2.2, "folded": 0.8, "too much": -2.0}
"""The cache's speed again behind its end: after a silence, and again; at once, if as much was folded as it takes in."""
SILENCE_NATS: Final = -2.5
"""Nats of each silence after which a write is faster, without a cache that was full."""
TEMPER: Final = 1.15
"""Log likelihoods are divided by this: laws are coarser than they look."""
CAPACITY_GUESSES: Final = ((1.0, 0.6), (1.7, 0.2), (4.0, 0.2))
"""Unknown capacity over what was written, and how likely that is."""
DIRECT_BITS: Final = ((3, 0.6), (4, 0.3), (2, 0.1))
MAX_QLC_RATIO, NEAR_NATS = 0.4, -0.7
"""Speed of cells of four bits over that of the cache, at the most; nats of folding that is nearer to the cache's speed
than two programs of each byte let it be."""
CHANGE_AT_ANY_BYTE_NATS, NO_ROOM_NATS = -1.6, -3.0
"""Nats of an end that no law places, and of native cells that go on for longer than there is room."""
SPARE, SPARE_SD = 0.06, 0.035
"""Raw over advertised capacity, less one."""
PROGRAM_NATS, VIRTUAL_NATS, BUSY_NATS = 1.5, 2.0, -3.0
"""Evidence beside the curve: a program counted, so memory may be in front; the disk is virtual;
others got busier where the speed fell."""
SENSOR_NATS, NEAR_SENSOR_NATS, NO_SENSOR_NATS = 4.0, 3.0, -2.5
"""Evidence of a sensor: it arrives at its highest where the speed falls, or is near it, or is not."""
MIN_AHEAD_S: Final = 1e-3
"""Seconds by which a stretch is ahead at the least: a logarithm is taken of them."""


WHOLE_SHARE, WHOLE_NATS = 0.97, 2.0
"""Share of a stated capacity that is all of a drive, and nats of a drive of one speed that was written whole: shares
and links are seldom filled."""
MAX_EVEN_NOISE, EVEN_NATS, NO_LIMIT_NATS = 0.005, 1.2, -3.0
"""Noise of rows up to which a rate limit is likelier than cells, and by how many nats; nats of a limit where nobody is
there to set one."""


@dataclass(frozen=True)
class Part:
    """A part of a machine, with its laws."""

    name: str
    laws: Mapping[str, Any]

    @property
    def cause(self) -> str:
        """Cause of a phase that it makes."""
        return str(self.laws["cause"])

    @property
    def label(self) -> str:
        """Name of the part in an explanation."""
        return str(self.laws["label"])


@dataclass(frozen=True)
class Machine:
    """A sequence of parts; `caches` of them, from `front` on, are a cache, 0 of none."""

    parts: tuple[Part, ...]
    front: int
    caches: int
    prior: float

    @property
    def name(self) -> str:
        """The names of its parts."""
        return " ".join(part.name for part in self.parts)

    @property
    def ends(self) -> int | None:
        """Index of the first part behind the cache; None where it has none, or its end is not in the write."""
        index = self.front + self.caches
        return index if self.caches and index < len(self.parts) else None


@dataclass(frozen=True)
class Explanation:
    """A machine on a cut, and how likely it is among all."""

    machine: Machine
    cut: Cut
    probability: float


@cache
def table() -> dict[str, Any]:
    """The laws and priors of all parts."""
    return tomllib.loads(files("pslc.analysis").joinpath("machines.toml").read_text(encoding="utf-8"))


@cache
def machines() -> dict[int, list[Machine]]:
    """All machines, by how many parts they have."""
    laws = table()
    parts = {name: Part(name, part) for name, part in laws["parts"].items()}
    by_count: dict[int, list[Machine]] = {}
    for choice in product(*(laws[group].items() for group in ("front", "cache", "behind", "after"))):
        front, cached, behind, after = (words.split() for words, _ in choice)
        names = [*front, *cached, *behind, *after]
        if after and not behind:
            continue
        machine = Machine(
            tuple(parts[name] for name in names), len(front), len(cached), sum(math.log(chance) for _, chance in choice)
        )
        by_count.setdefault(len(names), []).append(machine)
    for words, chance in laws["alone"].items():
        names = [name for name in words.split() if name != "wander"]
        if names:
            machine = Machine(tuple(parts[name] for name in names), 0, 0, math.log(chance))
            by_count.setdefault(len(names), []).append(machine)
    return by_count


WANDER: Final = Machine((Part("wander", {"cause": "unknown", "label": "speeds in any order"}),), 0, 0, 0.0)


class Comparison:
    """All machines on all good cuts of a segmentation."""

    def __init__(self, segmentation: Segmentation, context: MeasurementContext) -> None:
        self.segmentation, self.context = segmentation, context
        self.runs = segmentation.runs
        self.written = self.runs[-1].to_bytes

    @cached_property
    def capacities(self) -> list[tuple[float, float]]:
        """Possible capacities with their log probabilities."""
        stated = self.context.capacity_bytes
        if stated:
            return [(max(stated, self.written / 1.05), 0.0)]
        return [(times * self.written, math.log(chance)) for times, chance in CAPACITY_GUESSES]

    @cached_property
    def rises_in_silence(self) -> int:
        """Count of silences that made the write faster, which only a cache explains that was full."""
        return sum(later.silent_s > 0 and later.level > run.level + SAME_LEVEL for run, later in pairwise(self.runs))

    @cached_property
    def busy_falls(self) -> list[float]:
        """Bytes at which the speed fell when others got busier."""
        if not self.context.busy:
            return []
        return [
            later.from_bytes
            for run, later in pairwise(self.runs)
            if later.level < run.level - SAME_LEVEL
            and self.context.got_busier((run.from_bytes, run.to_bytes), (later.from_bytes, later.to_bytes))
        ]

    def explanations(self) -> list[Explanation]:
        """All that are not hopeless, the likeliest first."""
        scored: list[tuple[float, Machine, Cut]] = []
        cuts = best_cuts(self.runs)
        for cut in cuts:
            for machine in machines().get(len(cut.stretches), []):
                scored.append((self.log_probability(machine, cut), machine, cut))
        whole = max(cuts, key=lambda cut: cut.value) if cuts else Cut(0.0, ())
        scored.append((self._wander(), WANDER, whole))
        best = max(score for score, _, _ in scored)
        kept = [(math.exp((score - best) / TEMPER), machine, cut) for score, machine, cut in scored]
        total = sum(weight for weight, _, _ in kept)
        explained = [
            Explanation(machine, cut, weight / total) for weight, machine, cut in kept if weight > 1e-5 * total
        ]
        return sorted(explained, key=lambda explanation: -explanation.probability)

    def log_probability(self, machine: Machine, cut: Cut) -> float:
        """Log likelihood of the runs by a machine, times its prior."""
        scores = [chance + self._given(machine, cut, capacity) for capacity, chance in self.capacities]
        return cut.value + machine.prior + float(np.logaddexp.reduce(scores))

    def _given(self, machine: Machine, cut: Cut, capacity: float) -> float:
        """The laws of speeds and ends, for one capacity."""
        value = 0.0
        for index, (part, stretch) in enumerate(zip(machine.parts, cut.stretches, strict=True)):
            value += self._speed(machine, cut, index) + self._slope(part, stretch) + self._beside(machine, index, cut)
            is_last = index + 1 == len(cut.stretches)
            value += self._end(machine, cut, index, capacity, is_last=is_last)
        return (
            value
            + self._bursts(machine, cut)
            + (0.0 if machine.ends is not None else SILENCE_NATS * self.rises_in_silence)
        )

    def _speed(self, machine: Machine, cut: Cut, index: int) -> float:
        """Log density of the log speed of a part."""
        part, level = machine.parts[index], cut.stretches[index].start_level
        laws, link = part.laws, self.context.link_bytes_per_s
        before = cut.stretches[index - 1].end_level if index else None
        if before is not None and "next_ratio" in machine.parts[index - 1].laws:
            return density(machine.parts[index - 1].laws["next_ratio"], level - before) + self._over_link(part, level)
        if laws.get("pipes"):
            return self._pipe(level)
        if link and "speed_of_link" in laws:
            return density(laws["speed_of_link"], level - math.log(link))
        if "speed" in laws:
            return density(laws["speed"], level) + self._over_link(part, level)
        law = laws["ratio"]
        if part.name == "fold" and machine.parts[index - 1].name == "direct":
            law = laws["ratio_after_direct"]
        assert before is not None
        # Native cells alone are faster than while they fold, and not than the cache was.
        fastest = cut.stretches[machine.front].start_level + MIN_FALL if part.name == "rise" else before - MIN_FALL
        faster = FASTER_NATS if level > fastest else 0.0
        # Folding programs each byte twice; behind a cache that the host held back it may be nearer.
        cached = machine.parts[index - 1].name in ("pslc", "hot", "tier")
        near = cached and level - before > math.log(laws.get("max_ratio", math.inf))
        return density(law, level - before) + faster + NEAR_NATS * near

    def _over_link(self, part: Part, level: float) -> float:
        """What is faster than a link that was told, or than any, is memory."""
        link = self.context.link_bytes_per_s
        is_faster = level > math.log(1.05 * (link or FASTEST_LINK_BYTES_PER_S))
        if part.cause == "page-cache":
            return 1.5 if is_faster else -0.7 * (link is not None)
        return IMPOSSIBLE if is_faster else 0.0

    def _pipe(self, level: float) -> float:
        link = self.context.link_bytes_per_s
        pipes = [(0.93 * link, 1.03 * link, 1.0)] if link else list(table()["pipes"].values())
        chance = sum(
            share * math.exp(density({"low": low, "high": high}, level))
            for low, high, share in pipes
            if math.log(low) <= level <= math.log(high)
        )
        return math.log(chance) if chance else IMPOSSIBLE

    def _slope(self, part: Part, stretch: Stretch) -> float:
        """Only some parts change their speed on the way."""
        change = stretch.start_level - stretch.end_level
        if change < part.laws.get("min_slope", -math.inf):
            return IMPOSSIBLE
        if not stretch.slope:
            return 0.0
        return 0.0 if -0.15 <= change <= part.laws.get("max_slope", 0.12) else IMPOSSIBLE

    def _end(self, machine: Machine, cut: Cut, index: int, capacity: float, *, is_last: bool) -> float:
        """Log density of the log of where a part ends; at the end of the write, that it lasts longer."""
        laws, stretch = machine.parts[index].laws, cut.stretches[index]
        before = cut.stretches[index - 1].to_bytes if index else capacity
        if machine.front <= index < machine.front + machine.caches - 1:
            # The step within the cache lies anywhere in it.
            whole = stretch.to_bytes if is_last else cut.stretches[index + 1].to_bytes
            return math.log(max(stretch.to_bytes / whole, 1e-6))
        if laws.get("fills"):
            return self._fills(machine, cut, index, capacity, is_last=is_last)
        if "hot_after_seconds" in laws:
            return 0.0 if is_last else density(laws["hot_after_seconds"], math.log(stretch.seconds))
        measures = {
            "ahead_seconds": _ahead_s(cut.stretches[index : index + 2]),
            "end_of_capacity": stretch.to_bytes / capacity,
            "end_of_cache": stretch.to_bytes / before,
            "end_bytes": stretch.to_bytes,
            "end_seconds": stretch.seconds,
        }
        for name in measures.keys() & laws.keys():
            value = (beyond if is_last else density)(laws[name], math.log(measures[name]))
            return value + (self._room_nats(laws[name], measures[name]) if name == "end_of_capacity" else 0.0)
        return 0.0 if is_last else CHANGE_AT_ANY_BYTE_NATS

    def _room_nats(self, law: Mapping[str, float], size: float) -> float:
        """Log probability that a drive which held data had room for a cache of this share of its capacity: any free
        share is as likely."""
        return math.log(max(1.0 - size / law["high"], 1e-3)) if self.context.prefilled else 0.0

    def _fills(self, machine: Machine, cut: Cut, index: int, capacity: float, *, is_last: bool) -> float:
        """Native cells are written until no free block is left beside the cache."""
        size, end = cut.stretches[index - 1].to_bytes, cut.stretches[index].to_bytes
        if self.context.prefilled:
            # Nobody knows how much room there was, so native cells may end anywhere.
            return 0.0 if is_last else math.log(end / capacity)
        if is_last:
            return 0.0 if end < (1 + SPARE + 2 * SPARE_SD) * capacity - size else NO_ROOM_NATS
        slowdown = math.exp(cut.stretches[index].start_level - cut.stretches[index - 1].end_level)
        chances = []
        for room, chance in ((capacity, 0.8), (self.written, 0.2)):
            for bits, share in DIRECT_BITS:
                if bits > 3 and slowdown > MAX_QLC_RATIO:
                    continue
                off = (end - room + (bits - 1) * size) / capacity - SPARE
                peak = math.log(end / capacity / SPARE_SD / math.sqrt(2 * math.pi))
                chances.append(math.log(chance * share) + peak - 0.5 * (off / SPARE_SD) ** 2)
        return max(float(np.logaddexp.reduce(chances)), IMPOSSIBLE / 2)

    def _beside(self, machine: Machine, index: int, cut: Cut) -> float:
        """Evidence from beside the curve for a part."""
        part, stretch, context = machine.parts[index], cut.stretches[index], self.context
        if part.cause == "page-cache":
            if context.counted_by == "drive" or context.is_direct:
                return IMPOSSIBLE
            return PROGRAM_NATS if context.counted_by == "program" or context.buffered else 0.0
        if part.name in ("heat", "hot"):
            is_first = not any(earlier.name in ("heat", "hot") for earlier in machine.parts[:index])
            return self._heat(stretch, is_first=is_first)
        return self._without_cache(part, cut, index) if not machine.caches else 0.0

    def _without_cache(self, part: Part, cut: Cut, index: int) -> float:
        """Evidence for a part of a machine without a cache: a drive that was written whole, rows of exactly one speed,
        a virtual disk."""
        context, capacity = self.context, self.context.capacity_bytes
        if part.name in ("burst", "slice", "credit") and context.is_drive_alone:
            return NO_LIMIT_NATS
        if part.name == "native" and len(cut.stretches) == 1 and capacity:
            return WHOLE_NATS * (self.written >= WHOLE_SHARE * capacity)
        if part.name in ("burst", "slice") and self.segmentation.noise <= MAX_EVEN_NOISE:
            return EVEN_NATS
        return VIRTUAL_NATS * (context.is_virtual and index == 0)

    def _heat(self, stretch: Stretch, *, is_first: bool) -> float:
        """Evidence of a sensor for heat that begins with a stretch, or goes on in it."""
        context, start = self.context, stretch.from_bytes
        if context.celsius is None:
            return 0.0
        if context.heats_up_at(start) or not is_first:
            return SENSOR_NATS if context.is_hot(start, stretch.to_bytes) else NO_SENSOR_NATS
        return NEAR_SENSOR_NATS if context.nears_its_limit_at(start) else NO_SENSOR_NATS

    def _bursts(self, machine: Machine, cut: Cut) -> float:
        """Runs above the level of their stretch: behind a cache they are the cache again, and else nothing explains
        them."""
        ends = machine.ends
        behind = len(cut.stretches) if ends is None else ends
        value = BURST_NATS * sum(
            run.bytes > MIN_BURST_SHARE * self.written
            for stretch in cut.stretches[:behind]
            for run, on in self._runs(stretch)
            if not on and run.level > stretch.level
        )
        return value if ends is None else value + self._again(cut.stretches[machine.front : ends], cut.stretches[ends:])

    def _runs(self, stretch: Stretch) -> Iterator[tuple[Run, bool]]:
        """Runs of a stretch, and whether they lie on its level."""
        return zip(self.runs[stretch.first : stretch.last], stretch.on, strict=True)

    def _again(self, cached: Sequence[Stretch], behind: Sequence[Stretch]) -> float:
        """Bursts behind a cache: at its speed, if as much was folded as they hold; faster, or slower ones. A level of
        these may come back, as where writes to native cells and folding take turns."""
        fastest = max(stretch.start_level for stretch in cached)
        # What is free again is the first part of a cache, and not its slower or throttled rest alone.
        lowest = cached[0].end_level
        rate, cache_bytes = FOLD_RATE_SHARE * math.exp(fastest), cached[-1].to_bytes
        value, folded, regained = 0.0, 0.0, 0
        levels: list[float] = []
        for stretch in behind:
            for run, on in self._runs(stretch):
                folded += rate * run.silent_s
                is_long = run.bytes > MIN_BURST_SHARE * self.written
                if on or run.level < stretch.level:
                    folded += max(0.0, rate - math.exp(run.level)) * run.seconds
                elif run.level > fastest + SAME_LEVEL:
                    value += BURST_NATS * is_long
                elif run.level > lowest - SAME_LEVEL:
                    value += self._regained(run, regained, fits=run.bytes <= 1.15 * min(folded, 1.2 * cache_bytes))
                    regained += 1
                    folded = max(0.0, folded - run.bytes)
                elif is_long and all(abs(run.level - level) > SAME_LEVEL for level in levels):
                    value += BETWEEN_NATS
                    levels.append(run.level)
        return value

    def _regained(self, run: Run, before: int, *, fits: bool) -> float:
        if not fits:
            return REGAINED_NATS["too much"]
        if run.silent_s:
            return REGAINED_NATS["again" if before else "silence"]
        return REGAINED_NATS["again" if before else "folded"]

    def _wander(self) -> float:
        """Levels in any order: independent draws of Laplace's law, whose scale is that of the levels."""
        seconds = sum(run.seconds for run in self.runs)
        share = MIN_WANDER_SHARE
        runs = [run for run in self.runs if run.bytes > share * self.written or run.seconds > share * seconds]
        # A level that comes back is no surprise, however brief it is.
        lasting = np.array([run.level for run in runs])
        brief = sum(bool(np.abs(lasting - run.level).min() > MAX_MODE_SDS * LEVEL_SD) for run in self.runs)
        if len(runs) > 2 and runs[0].bytes < 0.1 * self.written and runs[0].level < runs[1].level:
            runs = runs[1:]
        levels = np.array([run.level for run in runs])
        count = levels.size
        if count < 3 - bool(self.busy_falls):
            return -math.inf
        scale = max(float(np.mean(np.abs(levels - np.median(levels)))), 0.04)
        value = -(count - 1) * (math.log(2 * scale) + 1.0) + density(WANDER_SCALE, math.log(scale))
        value = max(value, _modes(levels)) - 2.08 - CHANGE_NATS * min(count - 1, 4) - BRIEF_NATS * brief
        # A cache makes levels fall; what wanders falls as often as it rises.
        rises = int(np.count_nonzero(np.diff(levels) > MIN_FALL))
        order = (
            math.log((1 + rises) / (count + 1))
            + FEW_RISES_NATS * max(0, 2 - rises - 2 * len(self.busy_falls))
            + SILENCE_NATS * self.rises_in_silence
        )
        order -= BUSY_NATS * min(len(self.busy_falls), 2) / 2
        return value + order + math.log(table()["alone"]["wander"]) + VIRTUAL_NATS * bool(self.context.is_virtual)


def _ahead_s(stretches: Sequence[Stretch]) -> float:
    """Seconds of the next stretch's speed that a stretch is ahead of it."""
    return max(stretches[0].bytes / math.exp(stretches[-1].start_level) - stretches[0].seconds, MIN_AHEAD_S)


def _modes(levels: Floats) -> float:
    """Log density of levels that come back in any order: each is one of a few, drawn anew."""
    modes: list[float] = []
    for level in levels:
        if not any(abs(level - mode) < MAX_MODE_SDS * LEVEL_SD for mode in modes):
            modes.append(float(level))
    again = levels.size - len(modes)
    on_level = -math.log(LEVEL_SD * math.sqrt(2 * math.pi)) - 0.5
    return again * (on_level - math.log(len(modes))) - MODE_NATS * max(len(modes) - 1, 2)


def density(law: Mapping[str, float], value: float) -> float:
    """Log density of a logarithm: of a log-normal, or a log-uniform that loses `edge` nats for each e-fold outside."""
    if "median" in law:
        off = (value - math.log(law["median"])) / law["sd"]
        return -0.5 * off * off - math.log(law["sd"] * math.sqrt(2 * math.pi))
    low, high = math.log(law["low"]), math.log(law["high"])
    outside = max(low - value, value - high, 0.0)
    return -math.log(high - low) - min(law.get("edge", 20.0) * outside, -IMPOSSIBLE)


def beyond(law: Mapping[str, float], value: float) -> float:
    """Log probability that a part lasts longer than it did."""
    if "median" in law:
        off = (value - math.log(law["median"])) / law["sd"]
        return math.log(max(0.5 * math.erfc(off / math.sqrt(2.0)), 1e-5))
    low, high = math.log(law["low"]), math.log(law["high"])
    share = (high - value) / (high - low)
    return math.log(min(share, 1.0)) if share > 1e-5 else IMPOSSIBLE
