"""First generator of logs: a drive, a host and a program that logs, stepped through time.

Written before the analysis was tuned on it, from a list of how people log. Every shape is a function of a random
stream; a drive has a cache of given size and policy, a host offers bytes, heat and other programs take some, a logger
prints rows.
"""

import datetime
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from benches.log_cases import BEHIND, FAST, LogCase, TruePhase

GB = 1e9
CAPACITIES = (120, 128, 240, 250, 256, 480, 500, 512, 960, 1000, 1024, 2000, 2048, 4000)
LINKS = {"sata600": 545e6, "pcie3x4": 3500e6, "pcie4x4": 7000e6, "pcie5x4": 13500e6}
MAX_STEPS = 24000


@dataclass
class Ssd:
    """A drive: its cache, what it does behind it, and how it empties while idle."""

    capacity: float
    fast: float
    cache: float
    behind: list[tuple[float, float]]
    """Speeds behind the cache, and the bytes written in the cache's run until each ends."""
    slope: float = 0.0
    empties: float = math.inf
    """Bytes a second freed while idle."""
    threshold: float = 3.0
    in_cache: float = 0.0
    idle: float = 0.0

    def speed(self, written: float) -> float:
        """Bytes a second when so much was written."""
        if self.in_cache < self.cache:
            return self.fast * (1 - self.slope * self.in_cache / self.cache)
        return next(speed for speed, until in self.behind if written < until)

    def rest(self, seconds: float) -> None:
        """Idle, which empties the cache."""
        self.idle += seconds
        if self.idle > self.threshold and math.isfinite(self.empties):
            self.in_cache = max(0.0, self.in_cache - self.empties * seconds)


@dataclass
class World:
    """Surroundings of the drive: bytes offered, shares taken, noise of the log."""

    offer: Callable[[float, float], float] = lambda time, written: math.inf
    share: Callable[[float, float], float] = lambda time, written: 1.0
    noise: float = 0.03
    memory: float = 0.0
    """Bytes that the host's memory takes in ahead of the drive."""
    memory_speed: float = 0.0
    heat: tuple[float, float] | None = None
    """Seconds until the drive is hot, and the share of its speed left."""
    stop: float = math.inf
    """Bytes after which the log ends."""
    outages: list[tuple[float, float]] = field(default_factory=list)
    """Bytes at which nothing is written, and for how many seconds."""


@dataclass
class Track:
    """Bytes over time, in the log and in the drive."""

    time: np.ndarray
    written: np.ndarray
    celsius: np.ndarray
    drive: np.ndarray
    """Bytes that the drive has taken, at each time; less than written where memory is in front."""
    ends: list[float]
    changes: list[tuple[float, str]]
    """Bytes in the log where a new state begins, and its name."""


def travel(rng: np.random.Generator, ssd: Ssd, world: World) -> Track:
    """Write until the drive is full, or the world stops."""
    total = min(world.stop, ssd.capacity)
    guess = total / min(ssd.fast, max(speed for speed, _ in ssd.behind))
    dt = max(0.02, guess / MAX_STEPS * 4)
    outages = list(world.outages)
    # Time, bytes in the log, degrees, and bytes in the drive.
    rows = [(0.0, 0.0, 38.0, 0.0)]
    ends: list[float] = []
    changes: list[tuple[float, str]] = []
    now = written = drive = drift = 0.0
    state = ""
    while written < total - 1 and len(rows) < 12 * MAX_STEPS:
        if outages and written >= outages[0][0]:
            seconds = outages.pop(0)[1]
            steps = max(2, int(seconds / dt / 10))
            for _ in range(steps):
                ssd.rest(seconds / steps)
                now += seconds / steps
                rows.append((now, written, rows[-1][2], drive))
            continue
        ssd.idle = 0.0
        drift = 0.8 * drift + world.noise * rng.standard_t(4) * 0.5
        factor = math.exp(min(0.5, max(-1.5, drift))) * world.share(now, written)
        is_hot = world.heat is not None and now > world.heat[0]
        taken = (
            min(ssd.speed(drive) * (world.heat[1] if is_hot and world.heat else 1.0), world.offer(now, written))
            * factor
            * dt
        )
        was_full = ssd.in_cache >= ssd.cache
        new = ("hot-" if is_hot else "") + ("behind" if was_full else "cache")
        ssd.in_cache += 0 if was_full else taken
        drive += taken
        if world.memory and written - drive < world.memory and world.memory_speed * dt > taken:
            written += world.memory_speed * dt
            new = "memory"
        else:
            written += taken
        if new != state:
            changes.append((written, new))
            state = new
        if not was_full and ssd.in_cache >= ssd.cache:
            ends.append(written)
        now += dt
        goal = 78 if is_hot else 40 + 38 * min(1.0, now / world.heat[0] if world.heat else 0.3)
        rows.append((now, written, goal + rng.normal(0, 0.4), drive))
    time, log, celsius, taken_in = np.array(rows).T
    return Track(time, log, celsius, taken_in, ends, changes)


def _row_times(rng: np.random.Generator, end: float, interval: float, jitter: float = 0.004) -> np.ndarray:
    steps = interval * (1 + jitter * rng.standard_normal(int(end / interval * 1.1) + 3))
    times = np.cumsum(steps)
    return times[times <= end]


def _speeds(track: Track, times: np.ndarray) -> np.ndarray:
    at = np.interp(np.concatenate([[0.0], times]), track.time, track.written)
    rates: np.ndarray = np.diff(at) / np.diff(np.concatenate([[0.0], times]))
    return rates


def _nice_interval(
    rng: np.random.Generator, end: float, choices: tuple[float, ...] = (0.1, 0.2, 0.5, 1, 2, 5)
) -> float:
    good = [step for step in choices if 60 < end / step < 6000]
    return float(rng.choice(good)) if good else end / 300


def _table(track: Track, rng: np.random.Generator, with_heat: bool = False, smooth: float = 0.0) -> dict[str, str]:
    interval = _nice_interval(rng, track.time[-1])
    times = _row_times(rng, track.time[-1], interval)
    rate = _speeds(track, times) / 1e6
    if smooth:
        keep = math.exp(-interval / smooth)
        level, out = 0.0, []
        for value in rate:
            level = keep * level + (1 - keep) * value
            out.append(level)
        rate = np.array(out)
    heads = [
        ("time_s", "speed_MB/s"),
        ("elapsed [s]", "write [MB/s]"),
        ("Time (s)", "Write speed (MB/s)"),
        ("seconds", "MB/s"),
    ]
    first, second = heads[int(rng.integers(len(heads)))]
    celsius = np.interp(times, track.time, track.celsius)
    lines = [f"{first},{second}" + (",temp_C" if with_heat else "")]
    lines += [
        f"{time:.2f},{value:.1f}" + (f",{degrees:.0f}" if with_heat else "")
        for time, value, degrees in zip(times, rate, celsius, strict=True)
    ]
    return {"log.csv": "\n".join(lines) + "\n"}


def _hwinfo(
    track: Track, rng: np.random.Generator, cpu: Callable[[float], float] = lambda time: 12.0
) -> dict[str, str]:
    times = _row_times(rng, track.time[-1], 2.0, 0.003)
    begin = datetime.datetime(2026, 11, 27, 8, 0, 0)
    lines = [
        'Date,Time,"Total CPU Usage [%]","Drive Temperature [°C]","Write Activity [%]",'
        '"Read Rate [MB/s]","Write Rate [MB/s]",'
    ]
    for time, rate, degrees in zip(
        times, _speeds(track, times), np.interp(times, track.time, track.celsius), strict=True
    ):
        at = begin + datetime.timedelta(seconds=float(time))
        clock = f"{at.hour}:{at:%M:%S}.{at.microsecond // 1000:03d}"
        lines.append(
            f"{at.day}.{at.month}.{at.year},{clock},{cpu(time):.1f},{degrees:.0f},"
            f"{rng.uniform(80, 99):.1f},0.000,{rate / 1e6:.3f},"
        )
    return {"hwinfo.csv": "\n".join(lines) + "\n"}


def clock_table(track: Track, rng: np.random.Generator, unlogged: list[tuple[float, float]]) -> dict[str, str]:
    """Rows with a clock; none while the computer slept, which is between the times of `unlogged`."""
    interval = _nice_interval(rng, track.time[-1], (1, 2, 5))
    times = _row_times(rng, track.time[-1], interval)
    begin = datetime.datetime(2026, 3, 8, 11, 22, 6)
    lines = ["time,MB/s"]
    for time, rate in zip(times, _speeds(track, times), strict=True):
        if any(start <= time < stop + interval for start, stop in unlogged):
            continue
        at = begin + datetime.timedelta(seconds=float(time))
        lines.append(f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 100000},{rate / 1e6:.1f}")
    return {"copy.csv": "\n".join(lines) + "\n"}


def _fio_log(track: Track, rng: np.random.Generator) -> dict[str, str]:
    interval = _nice_interval(rng, track.time[-1], (0.1, 0.5, 1, 2))
    times = np.arange(1, int(track.time[-1] / interval) + 1) * interval
    lines = [f"{round(t * 1000)}, {int(v / 1024)}, 1, 0, 0" for t, v in zip(times, _speeds(track, times), strict=True)]
    return {"fill_bw.1.log": "\n".join(lines) + "\n"}


def _dd_log(track: Track, rng: np.random.Generator) -> dict[str, str]:
    lines = []
    for second in range(1, int(track.time[-1])):
        count = int(np.interp(second, track.time, track.written))
        lines.append(
            f"{count} bytes ({count / GB:.2g} GB, {count / 2**30:.2g} GiB) copied, {second} s, "
            f"{count / second / 1e6:.0f} MB/s"
        )
    return {"dd.log": ("\r" if rng.random() < 0.5 else "\n").join(lines) + "\n"}


def _pv_log(track: Track, rng: np.random.Generator) -> dict[str, str]:
    lines, before = [], 0.0
    for second in range(1, int(track.time[-1])):
        count = float(np.interp(second, track.time, track.written))
        clock = f"{second // 3600}:{second // 60 % 60:02d}:{second % 60:02d}"
        lines.append(f"{count / 2**30:.2f}GiB {clock} [{(count - before) / 2**30:.2f}GiB/s]")
        before = count
    return {"pv.log": "\r".join(lines) + "\n"}


def iostat_table(track: Track, rng: np.random.Generator, other: Callable[[float], float]) -> dict[str, str]:
    """Columns of iostat -x that a script made a table of; reads and waits of others stand beside."""
    times = np.arange(1, int(track.time[-1]) + 1, dtype=float)
    lines = ["seconds,rMB/s,wMB/s,w_await_ms,util_%"]
    for time, rate in zip(times, _speeds(track, times), strict=True):
        lines.append(
            f"{time:.0f},{other(time):.1f},{rate / 1e6:.1f},{rng.gamma(4, 0.3):.2f},{min(100, rng.normal(97, 3)):.1f}"
        )
    return {"iostat.csv": "\n".join(lines) + "\n"}


def _typeperf(track: Track, rng: np.random.Generator) -> dict[str, str]:
    times = _row_times(rng, track.time[-1], 1.0, 0.006)
    return {
        "log.csv": "seconds,bytes/s\n"
        + "".join(f"{t:.3f},{v:.0f}\n" for t, v in zip(times, _speeds(track, times), strict=True))
    }


def some_ssd(
    rng: np.random.Generator, link: str, share: tuple[float, float] = (0.02, 0.31), seconds: float = 0.0
) -> Ssd:
    """A drive whose cache takes at least so many seconds to fill, which a logger with a fixed interval needs."""
    capacity = float(rng.choice(CAPACITIES)) * GB
    cache = capacity * float(np.exp(rng.uniform(*np.log(share))))
    fast = min(LINKS[link] * rng.uniform(0.45, 0.98), cache / seconds if seconds else math.inf)
    kind = rng.choice(["fold", "direct", "both"])
    if kind == "both":
        direct = fast * rng.uniform(0.2, 0.6)
        bits = rng.choice([3, 4], p=[0.7, 0.3])
        room = max(1.3 * cache, capacity * 1.03 - (bits - 1) * cache)
        behind = [(direct, room), (direct * rng.uniform(0.25, 0.7), math.inf)]
    else:
        behind = [(fast * rng.uniform(0.06, 0.5), math.inf)]
    return Ssd(capacity, fast, cache, behind, slope=float(rng.choice([0, 0, 0.06, 0.25])))


def _flat_ssd(rng: np.random.Generator, speed: float, capacity: float = 0.0) -> Ssd:
    return Ssd(capacity or float(rng.choice(CAPACITIES)) * GB, speed, math.inf, [(speed, math.inf)])


def wander(rng: np.random.Generator, depth: float, octaves: int = 10) -> Callable[[float, float], float]:
    """A share that wanders as 1/f: sines of equal power in each octave of time."""
    periods = 3.0 * 2.0 ** np.arange(octaves)
    phases = rng.uniform(0, 2 * np.pi, octaves)
    size = depth * rng.rayleigh(1.0, octaves) / math.sqrt(octaves)
    return lambda time, written: float(np.exp(np.sum(size * np.sin(2 * np.pi * time / periods + phases))))


@dataclass
class Write:
    """A write, how it is logged, and what its user may say of it.

    Attributes:
        link: of the drive; empty where nobody would name it.
        chance: of naming the capacity.
        options: what is said in any case.
    """

    ssd: Ssd
    world: World
    log: Callable[[Track, np.random.Generator], dict[str, str]]
    link: str = ""
    chance: float = 0.7
    options: tuple[str, ...] = ()

    def arguments(self, rng: np.random.Generator) -> list[str]:
        """Options of `pslc analyze` beside the log."""
        arguments = []
        if rng.random() < self.chance:
            arguments += ["--capacity", f"{self.ssd.capacity / GB:.0f}GB"]
        if self.link and rng.random() < 0.4:
            arguments += ["--link", self.link]
        if rng.random() < 0.4:
            arguments += ["--workload", "sequential"]
        return [*arguments, *self.options]


CAUSES = {
    "cache": FAST, "behind": BEHIND, "hot-cache": frozenset({"thermal"}), "hot-behind": BEHIND | {"thermal"}, "memory":
    frozenset({"page-cache"}),
}  # fmt: skip


def _truth(write: Write, track: Track) -> tuple[tuple[float, ...], tuple[TruePhase, ...]]:
    """Ends of the cache that are right, and the phases, in bytes of the log."""
    borders = [*track.changes, (float(track.written[-1]), "")]
    phases = tuple(
        TruePhase(start, stop, CAUSES[state])
        for (start, state), (stop, _) in pairwise(borders)
        if stop - start > 0.01 * write.ssd.capacity
    )
    ends: tuple[float, ...] = tuple(track.ends[:1])
    if ends and write.world.memory:
        ends += (float(np.interp(ends[0], track.written, track.drive)),)
    return ends, phases


def _any_link(rng: np.random.Generator) -> str:
    return str(rng.choice(list(LINKS)))


def _hwinfo_copy(rng: np.random.Generator) -> Write:
    link = _any_link(rng)
    ssd = some_ssd(rng, link, seconds=20)
    small = ssd.cache * rng.uniform(0.2, 0.9)
    width = ssd.cache * rng.uniform(0.02, 0.1)
    source = ssd.fast * rng.uniform(0.1, 0.3)
    world = World(
        lambda t, b: source if small < b < small + width else math.inf,
        noise=rng.uniform(0.02, 0.08),
        stop=rng.uniform(1.6, 4) * ssd.cache,
    )
    return Write(ssd, world, _hwinfo, link=link)


def _task_manager(rng: np.random.Generator) -> Write:
    link = _any_link(rng)
    ssd = some_ssd(rng, link, (0.06, 0.3))
    world = World(noise=rng.uniform(0.01, 0.05), stop=rng.uniform(2, 4) * ssd.cache)
    return Write(ssd, world, lambda track, rng: _table(track, rng, smooth=float(rng.uniform(2, 5))), link=link)


def _dd_direct(rng: np.random.Generator) -> Write:
    ssd = some_ssd(rng, _any_link(rng), seconds=6)
    world = World(noise=rng.uniform(0.01, 0.04), stop=rng.uniform(1.7, 5) * ssd.cache)
    return Write(ssd, world, _dd_log)


def _dd_memory(rng: np.random.Generator) -> Write:
    ssd = some_ssd(rng, str(rng.choice(["sata600", "pcie3x4"])), (0.1, 0.3))
    world = World(
        noise=0.03,
        memory=ssd.cache * rng.uniform(0.05, 0.4),
        memory_speed=ssd.fast * rng.uniform(1.5, 4),
        stop=rng.uniform(2, 4) * ssd.cache,
    )
    return Write(ssd, world, _dd_log)


def _pv_copy(rng: np.random.Generator) -> Write:
    ssd = some_ssd(rng, _any_link(rng), seconds=6)
    world = World(noise=rng.uniform(0.02, 0.06), stop=rng.uniform(1.7, 5) * ssd.cache)
    return Write(ssd, world, _pv_log)


def _server(rng: np.random.Generator) -> Write:
    ssd = some_ssd(rng, "pcie3x4", seconds=10)
    burst, length = rng.uniform(40, 200), rng.uniform(3, 12)
    depth = rng.uniform(0.3, 0.7)

    def busy(t: float) -> bool:
        return (t % burst) < length

    world = World(share=lambda t, b: depth if busy(t) else 1.0, noise=0.05, stop=rng.uniform(2, 5) * ssd.cache)
    return Write(ssd, world, lambda track, rng: iostat_table(track, rng, lambda t: 300.0 if busy(t) else 4.0))


def _phone(rng: np.random.Generator) -> Write:
    capacity = float(rng.choice([64, 128, 256, 512])) * GB
    fast = rng.uniform(400e6, 2500e6)
    slow = fast * rng.uniform(0.15, 0.4)
    ssd = Ssd(capacity, fast, capacity * rng.uniform(0.02, 0.1), [(slow, math.inf)])
    until = ssd.cache / fast + rng.uniform(20, 90)
    world = World(heat=(until, rng.uniform(0.5, 0.75)), noise=0.03, stop=rng.uniform(0.3, 0.8) * capacity)
    return Write(ssd, world, _table)


def _mirror(rng: np.random.Generator) -> Write:
    ssd = some_ssd(rng, _any_link(rng), (0.03, 0.12))
    slow = ssd.behind[0][0]
    second = ssd.cache * rng.uniform(1.15, 1.6)
    middle = slow
    ssd.behind = [(middle, second), (middle * rng.uniform(0.6, 0.9), math.inf)]
    world = World(noise=0.03, stop=rng.uniform(3, 5) * ssd.cache)
    return Write(ssd, world, _table)


def _encrypted(rng: np.random.Generator) -> Write:
    link = str(rng.choice(["pcie3x4", "pcie4x4"]))
    ssd = some_ssd(rng, link)
    limit = ssd.fast * rng.uniform(0.3, 0.8)
    ssd.behind = [(min(speed, 0.6 * limit), until) for speed, until in ssd.behind]
    world = World(lambda t, b: limit, noise=0.03, stop=rng.uniform(1.7, 5) * ssd.cache)
    return Write(ssd, world, _fio_log, link=link)


def _two_writers(rng: np.random.Generator) -> Write:
    ssd = some_ssd(rng, _any_link(rng), (0.08, 0.3))
    start = ssd.cache / ssd.fast * rng.uniform(0.2, 0.6)
    stop = start + ssd.cache / ssd.fast * rng.uniform(0.1, 0.3)
    depth = rng.uniform(0.35, 0.65)
    world = World(
        share=lambda t, b: depth if start < t < stop else 1.0, noise=0.03, stop=rng.uniform(1.7, 4) * ssd.cache
    )
    return Write(ssd, world, _table)


def _sleeper(rng: np.random.Generator) -> Write:
    ssd = some_ssd(rng, _any_link(rng), (0.06, 0.25), seconds=10)
    ssd.empties = ssd.cache / rng.uniform(30, 300)
    at = ssd.cache * rng.uniform(0.3, 0.8) if rng.random() < 0.5 else ssd.cache * rng.uniform(1.3, 1.8)
    seconds = rng.uniform(900, 15000)
    world = World(outages=[(at, seconds)], noise=0.03, stop=rng.uniform(2.5, 4) * ssd.cache)

    def log(track: Track, rng: np.random.Generator) -> dict[str, str]:
        begin = float(track.time[np.searchsorted(track.written, at)])
        return clock_table(track, rng, [(begin, begin + seconds)])

    return Write(ssd, world, log)


def _three_files(rng: np.random.Generator) -> Write:
    ssd = some_ssd(rng, _any_link(rng), (0.06, 0.2))
    ssd.empties = ssd.cache / rng.uniform(20, 200)
    size = ssd.cache * rng.uniform(1.2, 2)
    world = World(
        outages=[(size, rng.uniform(60, 400)), (2 * size, rng.uniform(60, 400))],
        noise=0.04,
        stop=min(3 * size, ssd.capacity),
    )
    return Write(ssd, world, _table)


def _fio_fill(rng: np.random.Generator) -> Write:
    link = _any_link(rng)
    ssd = some_ssd(rng, link)
    world = World(noise=rng.uniform(0.01, 0.12))
    return Write(ssd, world, _fio_log, link=link, chance=0.8)


def _network_copy(rng: np.random.Generator) -> Write:
    ssd = some_ssd(rng, "pcie4x4", seconds=10)
    pipe = float(rng.choice([294e6, 590e6, 1175e6])) * rng.uniform(0.88, 0.97)
    ssd.behind = [(pipe * rng.uniform(0.2, 0.7), math.inf)]
    world = World(lambda t, b: pipe, noise=0.03, stop=rng.uniform(1.7, 4) * ssd.cache)
    return Write(ssd, world, _typeperf)


def _usb_bridge(rng: np.random.Generator) -> Write:
    ssd = some_ssd(rng, "pcie3x4")
    pipe = float(rng.choice([430e6, 1030e6, 2000e6])) * rng.uniform(0.94, 1.05)
    ssd.fast = max(ssd.fast, 1.2 * pipe)
    ssd.behind = [(pipe * rng.uniform(0.15, 0.7), math.inf)]
    world = World(lambda t, b: pipe, noise=0.02, stop=rng.uniform(1.7, 5) * ssd.cache)
    return Write(ssd, world, _hwinfo)


def _hot_cache(rng: np.random.Generator) -> Write:
    link = _any_link(rng)
    ssd = some_ssd(rng, link, (0.1, 0.3))
    inside = ssd.cache / ssd.fast * rng.uniform(0.3, 0.8)
    world = World(heat=(inside, rng.uniform(0.45, 0.75)), noise=0.03, stop=rng.uniform(1.7, 4) * ssd.cache)
    ssd.behind = [(ssd.fast * rng.uniform(0.08, 0.3), math.inf)]
    return Write(
        ssd, world, lambda track, rng: _table(track, rng, with_heat=True), link=link, options=("--celsius", "temp_C")
    )


def _unfinished(rng: np.random.Generator) -> Write:
    link = _any_link(rng)
    ssd = some_ssd(rng, link)
    world = World(noise=rng.uniform(0.01, 0.06), stop=rng.uniform(0.3, 0.9) * ssd.cache)
    return Write(ssd, world, _table, link=link)


def _stalling_fold(rng: np.random.Generator) -> Write:
    ssd = some_ssd(rng, _any_link(rng))
    ssd.behind = [(ssd.fast * rng.uniform(0.4, 0.9), math.inf)]
    period, stall = rng.uniform(10, 40), rng.uniform(0.3, 0.7)
    full_at = ssd.cache
    world = World(
        share=lambda t, b: 0.03 if b > full_at and (t % period) < stall * period else 1.0,
        noise=0.03,
        stop=rng.uniform(2, 4) * ssd.cache,
    )
    return Write(ssd, world, _fio_log)


def _partly_full(rng: np.random.Generator) -> Write:
    ssd = some_ssd(rng, _any_link(rng), (0.03, 0.1))
    direct = ssd.behind[0][0]
    free = ssd.capacity * rng.uniform(0.2, 0.45)
    ssd.behind = [(direct, free - 2 * ssd.cache), (direct * 0.4, math.inf)]
    world = World(noise=0.03, stop=free)
    return Write(ssd, world, _table)


def _virtual_disk(rng: np.random.Generator) -> Write:
    ssd = _flat_ssd(rng, rng.uniform(80e6, 900e6), float(rng.choice([50, 100, 200, 500])) * GB)
    world = World(
        share=wander(rng, rng.uniform(0.15, 0.6)),
        noise=rng.uniform(0.02, 0.15),
        stop=ssd.capacity * rng.uniform(0.1, 0.9),
    )
    return Write(ssd, world, _fio_log)


def _ram_disk(rng: np.random.Generator) -> Write:
    ssd = _flat_ssd(rng, rng.uniform(2e9, 9e9), float(rng.choice([8, 16, 32, 64])) * GB)
    world = World(share=wander(rng, rng.uniform(0.05, 0.25), 7), noise=0.05, stop=ssd.capacity * rng.uniform(0.5, 1))
    return Write(ssd, world, _table)


def _token_bucket(rng: np.random.Generator) -> Write:
    ssd = _flat_ssd(rng, float(rng.choice([60e6, 100e6, 128e6, 250e6, 500e6])), float(rng.choice([20, 50, 100])) * GB)
    burst = ssd.fast * rng.uniform(1.3, 4)
    seconds = rng.uniform(0.2, 2)
    speed = ssd.fast
    ssd.fast = burst
    world = World(lambda t, b: burst if t < seconds else speed, noise=0.004, stop=ssd.capacity * rng.uniform(0.2, 0.9))
    return Write(ssd, world, _fio_log)


def _hard_disk(rng: np.random.Generator) -> Write:
    outer = rng.uniform(160e6, 290e6)
    ssd = _flat_ssd(rng, outer, float(rng.choice([500, 1000, 2000, 4000])) * GB)
    inner = rng.uniform(0.42, 0.6)
    total = ssd.capacity
    zones = int(rng.integers(14, 30))
    world = World(
        share=lambda t, b: 1 - (1 - inner) * (int(zones * b / total) / zones) ** 1.4,
        noise=0.02,
        stop=total * rng.uniform(0.3, 1),
    )
    return Write(ssd, world, _table)


def _stick(rng: np.random.Generator) -> Write:
    ssd = _flat_ssd(rng, rng.uniform(8e6, 120e6), float(rng.choice([16, 32, 64, 128])) * GB)
    period, width, depth = rng.uniform(8, 60), rng.uniform(0.5, 4), rng.uniform(0.05, 0.5)
    sway = wander(rng, 0.12)
    world = World(
        share=lambda t, b: (depth if t % period < width else 1.0) * sway(t, b),
        noise=0.06,
        stop=ssd.capacity * rng.uniform(0.3, 1),
    )
    return Write(ssd, world, _table)


def _hot_without(rng: np.random.Generator) -> Write:
    link = str(rng.choice(["pcie3x4", "pcie4x4"]))
    ssd = _flat_ssd(rng, rng.uniform(1e9, 3e9))
    world = World(
        heat=(rng.uniform(40, 200), rng.uniform(0.4, 0.8)), noise=0.02, stop=ssd.capacity * rng.uniform(0.3, 1)
    )
    return Write(
        ssd, world, lambda track, rng: _table(track, rng, with_heat=True), link=link, options=("--celsius", "temp_C")
    )


def _memory_only(rng: np.random.Generator) -> Write:
    ssd = _flat_ssd(rng, rng.uniform(80e6, 900e6))
    world = World(
        noise=0.03,
        memory=rng.uniform(1, 12) * GB,
        memory_speed=ssd.fast * rng.uniform(2, 8),
        stop=rng.uniform(40, 120) * GB,
    )
    return Write(ssd, world, lambda track, rng: (_dd_log if rng.random() < 0.6 else _pv_log)(track, rng), chance=0.4)


def _flat_share(rng: np.random.Generator) -> Write:
    ssd = _flat_ssd(rng, float(rng.choice([118e6, 294e6, 590e6, 1175e6])) * rng.uniform(0.85, 0.97))
    gap = rng.uniform(10, 60)
    world = World(
        share=lambda t, b: 0.8 if t % gap < 0.6 else 1.0, noise=0.03, stop=min(ssd.capacity, rng.uniform(50, 300) * GB)
    )
    return Write(ssd, world, _fio_log)


def _busy_laptop(rng: np.random.Generator) -> Write:
    ssd = _flat_ssd(rng, rng.uniform(300e6, 2500e6))
    changes = np.sort(rng.uniform(10, 300, 5))
    loads = rng.uniform(0, 0.65, 6)

    def load(t: float) -> float:
        return float(loads[np.searchsorted(changes, t)])

    world = World(share=lambda t, b: 1 - load(t), noise=0.05, stop=min(ssd.capacity, ssd.fast * rng.uniform(150, 350)))
    cpu = lambda t: 15 + 120 * load(t) if load(t) < 0.7 else 99  # noqa: E731
    return Write(ssd, world, lambda track, rng: _hwinfo(track, rng, cpu))


def _enterprise(rng: np.random.Generator) -> Write:
    ssd = _flat_ssd(rng, rng.uniform(900e6, 4500e6), float(rng.choice([480, 960, 1920, 3840])) * GB)
    period, width, depth = rng.uniform(5, 40), rng.uniform(0.5, 3), rng.uniform(0.5, 0.9)
    world = World(share=lambda t, b: depth if t % period < width else 1.0, noise=0.03)
    return Write(ssd, world, _fio_log)


def _busy_server(rng: np.random.Generator) -> Write:
    ssd = _flat_ssd(rng, rng.uniform(500e6, 3000e6))
    rate = rng.uniform(0.01, 0.05)
    starts = np.cumsum(rng.exponential(1 / rate, 300))
    lengths = rng.pareto(1.5, 300) * 4
    depth = rng.uniform(0.2, 0.7)

    def busy(t: float) -> bool:
        return bool(np.any((starts < t) & (t < starts + lengths)))

    world = World(
        share=lambda t, b: depth if busy(t) else 1.0,
        noise=0.06,
        stop=min(ssd.capacity, ssd.fast * rng.uniform(200, 600)),
    )
    return Write(ssd, world, lambda track, rng: iostat_table(track, rng, lambda t: 400.0 if busy(t) else 2.0))


WITH_CACHE = [
    _hwinfo_copy, _task_manager, _dd_direct, _dd_memory, _pv_copy, _server, _phone, _mirror, _encrypted, _two_writers,
    _sleeper, _three_files, _fio_fill, _network_copy, _usb_bridge, _hot_cache, _unfinished, _stalling_fold,
    _partly_full,
]  # fmt: skip
WITHOUT_CACHE = [
    _virtual_disk, _ram_disk, _token_bucket, _hard_disk, _stick, _hot_without, _memory_only, _flat_share, _busy_laptop,
    _enterprise, _busy_server,
]  # fmt: skip
SHAPES = [*WITH_CACHE, *WITHOUT_CACHE]


def case(index: int, seed: int = 0) -> LogCase:
    """Log number `index` of the set with this seed; shapes take turns."""
    shape = SHAPES[index % len(SHAPES)]
    rng = np.random.default_rng([69_1, seed, index])
    write = shape(rng)
    track = travel(rng, write.ssd, write.world)
    files, arguments = write.log(track, rng), write.arguments(rng)
    has_cache = shape in WITH_CACHE
    ends, phases = _truth(write, track) if has_cache else ((), ())
    name = shape.__name__.lstrip("_")
    return LogCase(name, index, files, arguments, write.ssd.capacity, ends, phases, has_cache)
