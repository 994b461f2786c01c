"""Completion of a review's figures: the missing figures of a fill, each with an interval, from the others, from parts
or from other drives.

A review may tell one speed, two speeds and a mean, or all of it. What follows from what is told goes first (a mean
and the speeds tell where a phase ends), then the parts of the drive, then what other drives do.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from pslc._native import SimDrive
from pslc.base import words
from pslc.base.errors import user_error
from pslc.device import parts

Interval = tuple[float, float, float]
"""The usual value, and the bounds that nine drives of ten are within."""

CACHE_SHARES: Final[dict[int, Interval]] = {3: (0.044, 0.008, 0.33), 4: (0.14, 0.017, 0.25)}
"""Size of the cache as a share of the capacity, by bits per cell: 141 drives of TLC and 34 of QLC that have a cache
(docs/accuracy/drives.csv, as the other tables here)."""
FIRST_OVER_LINK: Final[Interval] = (0.75, 0.28, 0.95)
"""First phase over what the link carries, of 167 drives."""
SECOND_OVER_FIRST: Final[dict[int, Interval]] = {3: (0.35, 0.125, 0.72), 4: (0.088, 0.025, 0.35)}
"""Second phase over the first, by bits a cell."""
LAST_OVER_SECOND: Final[Interval] = (0.40, 0.25, 1.0)
"""Third phase over the second, of the drives that have one and do not empty their cache before."""
END_ERROR_SHARE: Final = 0.1
"""Error of the end of a direct phase computed as capacity - (n-1)S, as a share of the capacity, over ten drives."""
PARTS_ERROR: Final = 0.4
"""Relative error of speeds from parts that nine of ten stay within (ACCURACY.md)."""
MAX_MEAN_SHARE: Final = 0.9
"""A mean below this share of the slowest stated speed needs a slower phase; reviews round by less."""
MIN_DIRECT_SHARE: Final = 0.02
"""Shortest second phase before a third one, as a share of the capacity."""


@dataclass
class Figures:
    """Speeds in bytes/s and ends in bytes, by number of the phase; and the mean of the whole fill in bytes/s."""

    speeds: dict[int, float]
    ends: dict[int, float]
    mean: float | None = None

    def last_phase(self) -> int:
        """Number of the last phase that the figures tell of."""
        last = max([*self.speeds, *(number + 1 for number in self.ends), 2 if self.mean else 1])
        if self.mean and last == 2 and 2 in self.speeds and self.mean < MAX_MEAN_SHARE * min(self.speeds.values()):
            # Slower on average than in any phase that is told: there is another one.
            return 3
        return last

    def seconds(self, capacity: float) -> float:
        """Duration of the phases that have a speed."""
        numbers = sorted(self.speeds)
        ends = [0.0, *(self.ends.get(number, capacity) for number in numbers)]
        return sum((ends[at + 1] - ends[at]) / self.speeds[number] for at, number in enumerate(numbers))


@dataclass(frozen=True)
class Drive:
    """Facts about the reviewed drive.

    Attributes:
        capacity_bytes: capacity of the drive.
        bits_per_cell: 3 if unknown.
        link_bytes_per_s: data rate of the link; None: unknown.
        cache_bytes, slc_bytes_per_s, native_bytes_per_s: as its parts have them; None: unknown.
    """

    capacity_bytes: int
    bits_per_cell: int = 3
    link_bytes_per_s: float | None = None
    cache_bytes: float | None = None
    slc_bytes_per_s: float | None = None
    native_bytes_per_s: float | None = None


def drive_of_parts(capacity_bytes: int, nand: str, controller: str) -> Drive:
    """The drive that a die and a controller make.

    Raises:
        PslcError: there is no such part.
    """
    text = parts.profile(nand=nand, controller=controller, capacity=f"{capacity_bytes}B").text
    facts = SimDrive("parts", text, {}, []).facts()
    return Drive(
        capacity_bytes, facts["bits_per_cell"], facts["link_bytes_per_s"], facts["cache_bytes"] or None,
        min(facts["slc_limit_bytes_per_s"], facts["link_bytes_per_s"]), facts["native_limit_bytes_per_s"],
    )  # fmt: skip


@dataclass
class Completion:
    """The figures on their way to be complete, and a note on each that was inferred."""

    figures: Figures
    drive: Drive
    notes: list[str] = field(default_factory=list)

    def infer(self, name: str, value: float, bounds: tuple[float, float] | None, how: str) -> float:
        """Note a value, with its interval where it has one."""
        shown: Callable[[float], str] = words.speed if name.startswith("speed") else words.size
        within = f" ({shown(bounds[0])} to {shown(bounds[1])})" if bounds else ""
        self.notes.append(f"{name} is not published; taken to be {shown(value)}{within}, {how}")
        return value

    @property
    def capacity(self) -> float:
        """Capacity of the reviewed drive, in bytes."""
        return float(self.drive.capacity_bytes)

    def cache(self) -> float:
        """The end of the first phase: from two speeds and a mean, from the parts, or as other drives have it."""
        speeds, mean = self.figures.speeds, self.figures.mean
        if mean and 1 in speeds and 2 in speeds and 3 not in speeds and speeds[1] != speeds[2]:
            slow = 1 / speeds[2]
            end = self.capacity * (1 / mean - slow) / (1 / speeds[1] - slow)
            if 0 < end < self.capacity:
                return self.infer("cache", end, None, "from the two speeds and the mean")
        cells = "QLC" if self.drive.bits_per_cell > 3 else "TLC"
        usual, low, high = (share * self.capacity for share in CACHE_SHARES[4 if self.drive.bits_per_cell > 3 else 3])
        if self.drive.cache_bytes:
            return self.infer("cache", self.drive.cache_bytes, (low, high), "as drives with its controller have it")
        return self.infer("cache", usual, (low, high), f"as drives of {cells} have it")

    def first_speed(self) -> float:
        """Infer the speed of the first phase in bytes/s, from the parts or from the usual use of the link.

        Raises:
            PslcError: neither parts nor link are known.
        """
        usual, low, high = FIRST_OVER_LINK
        if self.drive.slc_bytes_per_s:
            speed = self.drive.slc_bytes_per_s
            return self.infer("speed1", speed, (speed / (1 + PARTS_ERROR), speed * (1 + PARTS_ERROR)), "from its parts")
        link = self.drive.link_bytes_per_s
        if link is None:
            raise user_error(
                "the review tells no speed of the first phase, and neither link nor parts are known",
                "give speed1=4000MB/s, --link pcie4x4, or --nand and --controller",
            )
        return self.infer("speed1", usual * link, (low * link, high * link), "as drives use such a link")

    def second_end(self) -> float:
        """Infer the start of the third phase in bytes, from the mean or by the law of the direct phase."""
        speeds, cache, mean = self.figures.speeds, self.figures.ends[1], self.figures.mean
        if mean and {1, 2, 3} <= speeds.keys() and speeds[2] != speeds[3]:
            rest = self.capacity / mean - cache / speeds[1] + cache / speeds[2] - self.capacity / speeds[3]
            end = rest / (1 / speeds[2] - 1 / speeds[3])
            if cache < end < self.capacity:
                return self.infer("end2", end, None, "from the speeds and the mean")
        law = self.capacity - (self.drive.bits_per_cell - 1) * cache
        end = min(max(law, cache + MIN_DIRECT_SHARE * self.capacity), (1 - MIN_DIRECT_SHARE) * self.capacity)
        margin = END_ERROR_SHARE * self.capacity
        bounds = (max(end - margin, cache), min(end + margin, self.capacity))
        return self.infer("end2", end, bounds, "where the space ends: capacity - (n-1)S")

    def second_speed_by_mean(self, mean: float, end: float) -> float | None:
        """Infer the speed of the second phase in bytes/s from a mean, with a third phase as slow beside it as those of
        other drives; None if the mean leaves no time for both."""
        cache, first = self.figures.ends[1], self.figures.speeds[1]
        left_s = self.capacity / mean - cache / first
        if left_s <= 0 or not cache < end < self.capacity:
            return None
        usual, slow, fast = (
            ((end - cache) + (self.capacity - end) / ratio) / left_s
            for ratio in (LAST_OVER_SECOND[0], LAST_OVER_SECOND[2], LAST_OVER_SECOND[1])
        )
        return self.infer("speed2", usual, (slow, fast), "from the mean, with a third phase as other drives have it")

    def second_speed(self) -> float:
        """Infer the speed of the second phase in bytes/s, from the mean, the parts, the third phase or the first."""
        native, third, mean = self.drive.native_bytes_per_s, self.figures.speeds.get(3), self.figures.mean
        if mean and third is None and 2 in self.figures.ends:
            by_mean = self.second_speed_by_mean(mean, self.figures.ends[2])
            if by_mean is not None:
                return by_mean
        if native:
            return self.infer(
                "speed2", native, (native / (1 + PARTS_ERROR), native * (1 + PARTS_ERROR)), "from its parts"
            )
        if third is None:
            first = self.figures.speeds[1]
            usual, low, high = SECOND_OVER_FIRST[4 if self.drive.bits_per_cell > 3 else 3]
            bounds = (low * first, high * first)
            return self.infer("speed2", usual * first, bounds, "as second phases of other drives go")
        usual, low, high = LAST_OVER_SECOND
        return self.infer("speed2", third / usual, (third / high, third / low), "as third phases of other drives go")

    def third_speed(self) -> float | None:
        """Infer the third phase's speed of a drive whose second phase is stated to end before the drive does; None if
        the mean determines it."""
        if self.figures.mean:
            return None
        usual, low, high = LAST_OVER_SECOND
        second = self.figures.speeds[2]
        bounds = (low * second, high * second)
        return self.infer("speed3", usual * second, bounds, "as third phases of other drives go")


def complete(figures: Figures, drive: Drive) -> list[str]:
    """Put what is missing into the figures, all but the speed of the last phase; returns a note on each.

    Raises:
        PslcError: nothing is told but sizes, or neither a speed nor the link or the parts.
    """
    if not figures.speeds and figures.mean is None:
        raise user_error("the review tells no speed", "give one: speed1=4000MB/s, speed2=500MB/s or mean=800MB/s")
    done = Completion(figures, drive)
    speeds, ends = figures.speeds, figures.ends
    last = figures.last_phase()
    if last == 1:
        return [
            "only one speed is stated, so it counts for the whole fill; a drive with a cache needs more, such as cache="
        ]
    if 1 not in speeds:
        speeds[1] = done.first_speed()
    if 1 not in ends:
        ends[1] = done.cache()
    if last == 3:
        if 2 not in speeds:
            speeds[2] = done.second_speed()
        if 3 not in speeds and (third := done.third_speed()) is not None:
            speeds[3] = third
        if 2 not in ends:
            ends[2] = done.second_end()
    return done.notes
