"""Second generator of logs, independent of the first: stretches of bytes, written by a random clock.

A shape is a list of stretches: bytes, a speed and what causes it. Time runs by a gamma process, so that noise shrinks
as rows get longer; hiccups are Weibull pauses at random bytes, neighbours a random telegraph. The set is run once a
release, and nothing is tuned on it.
"""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benches.log_cases import BEHIND, FAST, LogCase, TruePhase

Array = NDArray[np.float64]
Rng = np.random.Generator
MEMORY, HEAT, OTHER = frozenset({"page-cache"}), frozenset({"thermal"}), frozenset({"cpu", "link", "unknown", "pslc"})
CLOCK_STEPS = 20000
"""Steps of the random clock in a log."""


class Stretch(NamedTuple):
    """Bytes written at a speed, for a cause; without a speed, a silence of so many seconds."""

    gigabytes: float
    megabytes_per_s: float
    causes: frozenset[str] = FAST
    silent_s: float = 0.0


@dataclass(frozen=True)
class Scene:
    """A write, and how it was written down."""

    stretches: Sequence[Stretch]
    capacity: float
    """Capacity of the drive, in GB."""
    write: Callable[["Scene", Rng], dict[str, str]]
    end: float = -1.0
    """End of the cache in GB of the log; negative: none."""
    also: float = -1.0
    """An end that is right too."""
    jitter: float = 0.002
    """Variance of the clock a second, per second: 0.01 is a noise of 10 % in rows of one second."""
    hiccups: float = 0.0
    """Pauses in a GB."""
    hiccup_s: float = 0.1
    options: tuple[str, ...] = ()
    says_capacity: float = 0.7
    interval: float = 1.0
    sway: float = 0.0
    """Depth of a neighbour's telegraph, as a share of the speed."""
    sway_s: float = 20.0
    window_s: float = 0.0
    """The logger shows a mean over so many past seconds."""
    heat_s: float = 0.0
    """Seconds until the drive is at its limit, where a temperature is logged."""
    unit: float = 1e6


def clock(scene: Scene, rng: Rng) -> tuple[Array, Array]:
    """Times and bytes of a run, by the stretches and the random clock."""
    total = sum(stretch.gigabytes for stretch in scene.stretches)
    at, seconds, silences = [0.0], [], []
    for stretch in scene.stretches:
        if stretch.silent_s:
            silences.append((at[-1], stretch.silent_s))
            continue
        at.append(at[-1] + stretch.gigabytes)
        seconds.append(stretch.gigabytes * 1e3 / stretch.megabytes_per_s)
    border_times = np.concatenate([[0.0], np.cumsum(seconds)])
    ideal = np.linspace(0, border_times[-1], CLOCK_STEPS)
    written = np.interp(ideal, border_times, at)
    step = ideal[1]
    shape = step / max(scene.jitter, 1e-9)
    taken = rng.gamma(shape, step / shape, CLOCK_STEPS - 1)
    if scene.sway:
        flips = rng.random(CLOCK_STEPS - 1) < step / scene.sway_s
        taken = np.where(np.cumsum(flips) % 2 == 1, taken / (1 - scene.sway), taken)
    count = rng.poisson(scene.hiccups * total)
    for place in rng.uniform(0, total, count):
        taken[min(np.searchsorted(written, place), CLOCK_STEPS - 2)] += scene.hiccup_s * rng.weibull(1.3)
    times = np.concatenate([[0.0], np.cumsum(taken)])
    for place, silent_s in silences:
        index = int(np.searchsorted(written, place))
        times = np.concatenate([times[: index + 1], times[index:] + silent_s])
        written = np.concatenate([written[: index + 1], written[index:]])
    return times, written * 1e9


def rows(scene: Scene, rng: Rng, spread: float = 0.01) -> tuple[Array, Array, Array]:
    """Times of rows, their speeds, and bytes so far; speeds are of the row, or of the logger's window."""
    times, written = clock(scene, rng)
    ticks = np.arange(1, max(3, int(times[-1] / scene.interval)) + 1) * scene.interval
    ticks = np.sort(np.minimum(ticks + rng.uniform(-spread, spread, len(ticks)) * scene.interval, times[-1]))
    count = np.interp(ticks, times, written)
    before = np.concatenate([[0.0], ticks[:-1]])
    if scene.window_s:
        before = np.maximum(0.0, ticks - scene.window_s)
    speed = (count - np.interp(before, times, written)) / np.maximum(ticks - before, 1e-6)
    return ticks.astype(np.float64), np.asarray(speed), np.asarray(count)


def _as_table(scene: Scene, rng: Rng) -> dict[str, str]:
    ticks, speed, _ = rows(scene, rng)
    hot = 35 + 43 * (1 - np.exp(-3 * ticks / scene.heat_s)) if scene.heat_s else None
    text = [
        str(rng.choice(["time_s,write_MB/s", "Elapsed (s),Write (MB/s)", "t_s,MB/s"]))
        + (",temp_C" if scene.heat_s else "")
    ]
    for index, (tick, value) in enumerate(zip(ticks, speed, strict=True)):
        text.append(f"{tick:.3f},{value / scene.unit:.2f}" + (f",{min(hot[index], 77):.0f}" if hot is not None else ""))
    return {"curve.csv": "\n".join(text) + "\n"}


def _as_hwinfo(scene: Scene, rng: Rng) -> dict[str, str]:
    ticks, speed, count = rows(scene, rng, 0.004)
    begin = datetime.datetime(2025, 6, 30, 22, 15, 3)
    text = ['Date,Time,"Total CPU Usage [%]","Drive Temperature [°C]","Write Rate [MB/s]","Write Total [MB]",']
    for tick, value, total in zip(ticks, speed, count, strict=True):
        at = begin + datetime.timedelta(seconds=float(tick))
        cells = (
            f"{rng.normal(14, 4):.1f},{44 + rng.integers(2)},{value / scene.unit:.3f},{251000 + total / scene.unit:.0f}"
        )
        text.append(f"{at.day}.{at.month}.{at.year},{at.hour}:{at:%M:%S}.{at.microsecond // 1000:03d},{cells},")
    return {"sensors.csv": "\n".join(text) + "\n"}


def as_clock(scene: Scene, rng: Rng) -> dict[str, str]:
    """Rows with the time of day; rows without writes are missing, since the computer slept."""
    ticks, speed, _ = rows(scene, rng)
    begin = datetime.datetime(2026, 1, 9, 23, 40, 0)
    stamps = [begin + datetime.timedelta(seconds=float(tick)) for tick in ticks]
    text = [
        f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03d},{value / 1e6:.1f}"
        for at, value in zip(stamps, speed, strict=True)
        if value > 0
    ]
    return {"night.csv": "time,write MB/s\n" + "\n".join(text) + "\n"}


def _as_fio(scene: Scene, rng: Rng) -> dict[str, str]:
    ticks, speed, _ = rows(scene, rng, 0.0)
    return {
        "job_bw.1.log": "".join(
            f"{round(t * 1000)}, {round(v / 1024)}, 1, 0, 0\n" for t, v in zip(ticks, speed, strict=True)
        )
    }


def _as_dd(scene: Scene, rng: Rng) -> dict[str, str]:
    ticks, _, count = rows(scene, rng, 0.0)
    text = []
    for second, total in zip(ticks, count, strict=True):
        rate = total / second
        shown = f"{rate / 1e9:.1f} GB/s" if rate > 1e9 else f"{rate / 1e6:.0f} MB/s"
        text.append(
            f"{int(total)} bytes ({total / 1e9:.3g} GB, {total / 2**30:.3g} GiB) copied, {second:.0f} s, {shown}"
        )
    return {"dd.txt": "\r".join(text) + "\n"}


def _as_pv(scene: Scene, rng: Rng) -> dict[str, str]:
    ticks, speed, count = rows(scene, rng, 0.0)
    text = []
    for second, value, total in zip(ticks.astype(int), speed, count, strict=True):
        amount = f"{total / 2**30:.2f}GiB" if total > 2**30 else f"{total / 2**20:.0f}MiB"
        rate = f"{value / 2**30:.2f}GiB/s" if value > 2**30 else f"{value / 2**20:.0f}MiB/s"
        text.append(f"{amount} {second // 3600}:{second // 60 % 60:02d}:{second % 60:02d} [{rate}]")
    return {"pv.txt": "\r".join(text) + "\n"}


def _as_iostat(scene: Scene, rng: Rng) -> dict[str, str]:
    ticks, speed, _ = rows(scene, rng, 0.002)
    text = [
        f"{t:.2f},{rng.exponential(900):.1f},{v / 1024:.1f},{rng.uniform(80, 100):.1f}"
        for t, v in zip(ticks, speed, strict=True)
    ]
    return {"sda.csv": "seconds,read kB/s,write kB/s,util %\n" + "\n".join(text) + "\n"}


def _by_position(scene: Scene, rng: Rng) -> dict[str, str]:
    times, written = clock(scene, rng)
    places = np.linspace(0, written[-1], int(rng.choice([101, 201, 501])))
    speed = np.diff(places) / np.diff(np.interp(places, written, times))
    return {
        "positions.csv": "written_GB,speed_MB/s\n"
        + "".join(f"{p / 1e9:.3f},{v / 1e6:.1f}\n" for p, v in zip(places[1:], speed, strict=True))
    }


def by_chunks(scene: Scene, rng: Rng) -> dict[str, str]:
    """An app that writes chunks of one size and notes when each was done."""
    times, written = clock(scene, rng)
    done = np.arange(1, 601) * written[-1] / 600
    return {
        "app.csv": "time_ms,written_bytes\n"
        + "".join(f"{t * 1000:.0f},{b:.0f}\n" for t, b in zip(np.interp(done, written, times), done, strict=True))
    }


def drawn(rng: Rng, low: float, high: float) -> float:
    """A log-normal whose middle 95 % lie between the bounds."""
    return float(np.exp(rng.normal(np.log(low * high) / 2, np.log(high / low) / 4)))


def _sized(rng: Rng) -> float:
    return float(rng.choice([128, 250, 500, 512, 1000, 2000, 4000], p=[0.1, 0.15, 0.15, 0.1, 0.25, 0.2, 0.05]))


def two_levels(rng: Rng, low: float, high: float) -> tuple[float, float, float, float]:
    """Capacity and cache in GB, speeds in the cache and behind it."""
    capacity = _sized(rng)
    fast = drawn(rng, low, high)
    return capacity, min(0.33, drawn(rng, 0.03, 0.3)) * capacity, fast, fast * float(rng.beta(2.5, 4) * 0.75 + 0.06)


def _plain(rng: Rng, write: Callable[[Scene, Rng], dict[str, str]], low: float, high: float) -> Scene:
    capacity, cache, fast, slow = two_levels(rng, low, high)
    after = cache * rng.uniform(0.6, 4)
    interval = next((step for step in (0.5, 1.0, 2.0, 5.0) if cache * 1e3 / fast / step < 400), 10.0)
    stretches = [Stretch(cache, fast), Stretch(min(after, capacity - cache), slow, BEHIND)]
    return Scene(
        stretches,
        capacity,
        write,
        cache,
        interval=interval,
        jitter=drawn(rng, 0.0002, 0.01),
        hiccups=drawn(rng, 0.003, 0.1),
    )


def seconds_in_cache(scene: Scene, seconds: float) -> Scene:
    """The scene slowed down, so that its logger sees the cache fill for so many rows."""
    first = scene.stretches[0]
    factor = min(1.0, first.gigabytes * 1e3 / first.megabytes_per_s / (seconds * scene.interval))
    return replace(
        scene,
        stretches=[stretch._replace(megabytes_per_s=stretch.megabytes_per_s * factor) for stretch in scene.stretches],
    )


def _explorer(rng: Rng) -> Scene:
    scene = replace(_plain(rng, _as_hwinfo, 200, 5000), interval=2.0)
    cache = scene.end
    dip, width = cache * rng.uniform(0.3, 0.9), cache * rng.uniform(0.01, 0.06)
    fast, behind = scene.stretches
    files = [fast._replace(gigabytes=dip), Stretch(width, fast.megabytes_per_s * rng.uniform(0.08, 0.4), OTHER)]
    files += [fast._replace(gigabytes=cache - dip - width)] if dip + width < cache else []
    is_binary = rng.random() < 0.3
    scene = replace(scene, stretches=[*files, behind], unit=2**20 if is_binary else 1e6, end=max(cache, dip + width))
    return replace(scene, also=scene.end / 1.048576 if is_binary else -1.0)


def _task_window(rng: Rng) -> Scene:
    return replace(
        seconds_in_cache(_plain(rng, _as_table, 300, 6000), 25), interval=1.0, window_s=float(rng.uniform(3, 8))
    )


def _dd_oflag(rng: Rng) -> Scene:
    return seconds_in_cache(replace(_plain(rng, _as_dd, 200, 6000), interval=1.0), 8)


def _pv_direct(rng: Rng) -> Scene:
    return seconds_in_cache(replace(_plain(rng, _as_pv, 200, 6000), interval=1.0), 8)


def _server_table(rng: Rng) -> Scene:
    return replace(_plain(rng, _as_iostat, 400, 3000), sway=float(rng.uniform(0.1, 0.4)), sway_s=drawn(rng, 8, 120))


def _phone_app(rng: Rng) -> Scene:
    capacity = float(rng.choice([128, 256, 512]))
    cache, fast = capacity * rng.uniform(0.02, 0.09), drawn(rng, 300, 3000)
    slow = fast * rng.uniform(0.15, 0.45)
    hot = Stretch(cache * rng.uniform(2, 5), slow * rng.uniform(0.5, 0.75), HEAT | BEHIND)
    stretches = [Stretch(cache, fast), Stretch(cache * rng.uniform(1, 3), slow, BEHIND), hot]
    return Scene(stretches, capacity, by_chunks, cache, jitter=0.003)


def _card_with_cache(rng: Rng) -> Scene:
    capacity = float(rng.choice([64, 128, 256]))
    cache, fast = rng.uniform(0.8, 4), drawn(rng, 50, 95)
    stretches = [Stretch(cache, fast), Stretch(capacity * rng.uniform(0.1, 0.5), fast * rng.uniform(0.25, 0.6), BEHIND)]
    return Scene(stretches, capacity, _as_table, cache, jitter=0.01, hiccups=1.0, hiccup_s=0.4)


def _mirror_pair(rng: Rng) -> Scene:
    scene = _plain(rng, _as_table, 400, 7000)
    first, behind = scene.stretches
    part = scene.end * rng.uniform(0.1, 0.4)
    last = behind._replace(megabytes_per_s=behind.megabytes_per_s * rng.uniform(0.5, 0.9))
    return replace(scene, stretches=[first, behind._replace(gigabytes=part), last])


def _veracrypt(rng: Rng) -> Scene:
    scene = _plain(rng, _as_table, 2500, 6500)
    first, behind = scene.stretches
    limit = drawn(rng, 600, 2400)
    return replace(
        scene,
        stretches=[
            first._replace(megabytes_per_s=limit),
            behind._replace(megabytes_per_s=limit * rng.uniform(0.15, 0.7)),
        ],
    )


def _joined_copy(rng: Rng) -> Scene:
    scene = _plain(rng, _as_table, 300, 6000)
    first, behind = scene.stretches
    a, b = sorted(rng.uniform(0.15, 0.95, 2) * scene.end)
    slower = Stretch(b - a, first.megabytes_per_s * rng.uniform(0.4, 0.7), OTHER)
    return replace(
        scene, stretches=[first._replace(gigabytes=a), slower, first._replace(gigabytes=scene.end - b), behind]
    )


def _slept(rng: Rng) -> Scene:
    scene = replace(_plain(rng, as_clock, 300, 9000), interval=1.0)
    first, behind = scene.stretches
    gap = Stretch(0, 1, silent_s=drawn(rng, 1500, 30000))
    if rng.random() < 0.5:
        part = behind.gigabytes * rng.uniform(0.2, 0.6)
        again = [gap, Stretch(scene.end * rng.uniform(0.9, 1), first.megabytes_per_s), behind._replace(gigabytes=part)]
        return replace(scene, stretches=[first, behind._replace(gigabytes=part), *again])
    part = scene.end * rng.uniform(0.2, 0.7)
    return replace(
        scene, stretches=[first._replace(gigabytes=part), gap, first, behind], end=part + scene.end, also=scene.end
    )


def _backup(rng: Rng) -> Scene:
    scene = _plain(rng, _as_table, 300, 6000)
    first, behind = scene.stretches
    stretches: list[Stretch] = []
    for _ in range(int(rng.integers(2, 5))):
        stretches += [
            first,
            behind._replace(gigabytes=scene.end * rng.uniform(0.3, 0.9)),
            Stretch(0, 1, silent_s=drawn(rng, 60, 900)),
        ]
    return replace(scene, stretches=stretches[:-1], capacity=max(scene.capacity, sum(s.gigabytes for s in stretches)))


def _positions(rng: Rng) -> Scene:
    scene = _plain(rng, _by_position, 300, 7000)
    first, behind = scene.stretches
    return replace(scene, stretches=[first, behind._replace(gigabytes=scene.capacity - scene.end)])


def _quad_fill(rng: Rng) -> Scene:
    capacity, fast = float(rng.choice([1000, 2000, 4000])), drawn(rng, 1500, 7000)
    cache = capacity * rng.uniform(0.06, 0.24)
    room = capacity * 1.04 - 3 * cache - cache
    direct = fast * rng.uniform(0.15, 0.4)
    stretches = [
        Stretch(cache, fast),
        Stretch(room, direct, BEHIND),
        Stretch(capacity - cache - room, direct * rng.uniform(0.2, 0.6), BEHIND),
    ]
    return Scene(stretches, capacity, _as_fio, cache, interval=5.0, jitter=0.003, says_capacity=0.9)


def _small_static(rng: Rng) -> Scene:
    capacity, fast = _sized(rng), drawn(rng, 1500, 6500)
    cache = capacity * rng.uniform(0.006, 0.03)
    stretches = [
        Stretch(cache, fast),
        Stretch(capacity * rng.uniform(0.2, 0.9), fast * rng.uniform(0.35, 0.75), BEHIND),
    ]
    return Scene(stretches, capacity, _as_fio, cache, interval=0.5, jitter=0.001, says_capacity=0.9)


def _slow_start(rng: Rng) -> Scene:
    scene = _plain(rng, _as_fio, 500, 7000)
    first, behind = scene.stretches
    start = Stretch(scene.end * rng.uniform(0.005, 0.04), first.megabytes_per_s * rng.uniform(0.3, 0.7), OTHER)
    return replace(scene, stretches=[start, first._replace(gigabytes=scene.end - start.gigabytes), behind])


def _throttled(rng: Rng) -> Scene:
    scene = _plain(rng, _as_table, 2500, 9000)
    first, behind = scene.stretches
    cool = scene.end * rng.uniform(0.3, 0.8)
    warm = Stretch(scene.end - cool, first.megabytes_per_s * rng.uniform(0.5, 0.8), HEAT)
    behind = behind._replace(megabytes_per_s=min(behind.megabytes_per_s, 0.5 * warm.megabytes_per_s))
    heat_s = cool * 1e3 / first.megabytes_per_s
    return replace(
        scene, stretches=[first._replace(gigabytes=cool), warm, behind], heat_s=heat_s, options=("--celsius", "temp_C")
    )


def _striped(rng: Rng) -> Scene:
    scene = _plain(rng, _as_fio, 2000, 12000)
    first, behind = scene.stretches
    return replace(scene, stretches=[first, behind], capacity=2 * scene.capacity, jitter=0.006)


def _slow_source(rng: Rng) -> Scene:
    capacity = _sized(rng)
    return Scene(
        [Stretch(capacity * rng.uniform(0.3, 0.8), drawn(rng, 60, 250))], capacity, _as_table, jitter=0.01, interval=5.0
    )


def _stopped_early(rng: Rng) -> Scene:
    scene = _plain(rng, _as_fio, 500, 7000)
    return replace(
        scene, stretches=[scene.stretches[0]._replace(gigabytes=scene.end * rng.uniform(0.4, 0.95))], end=-1.0
    )


def _credits(rng: Rng) -> Scene:
    base = float(rng.choice([100, 125, 250]))
    stretches = [Stretch(drawn(rng, 5, 60), base * rng.uniform(1.5, 3)), Stretch(drawn(rng, 10, 80), base)]
    return Scene(stretches, float(rng.choice([100, 200, 500])), _as_fio, jitter=0.0003)


def _neighbours(rng: Rng) -> Scene:
    capacity = float(rng.choice([40, 80, 200, 400]))
    levels = drawn(rng, 120, 800) * np.exp(0.3 * np.cumsum(rng.laplace(0, 0.4, 12)) * 0.6)
    stretches = [
        Stretch(capacity * 0.7 * share, float(level))
        for share, level in zip(rng.dirichlet(np.full(12, 1.5)), levels, strict=True)
    ]
    return Scene(stretches, capacity, _as_table, jitter=drawn(rng, 0.002, 0.05), sway=0.2, sway_s=drawn(rng, 5, 60))


def _memory_disk(rng: Rng) -> Scene:
    capacity = float(rng.choice([4, 8, 16, 32]))
    speed = drawn(rng, 1500, 8000)
    levels = speed * np.exp(rng.normal(0, 0.12, 6))
    return Scene(
        [Stretch(capacity / 6.5, float(level)) for level in levels], capacity, _as_fio, jitter=0.0005, interval=0.1
    )


def _platters(rng: Rng) -> Scene:
    capacity, outer = float(rng.choice([500, 1000, 2000, 8000])), rng.uniform(150, 280)
    places = (np.arange(24) + 0.5) / 24
    speed = outer * np.sqrt(1 - 0.72 * places)
    stop = int(rng.integers(8, 25))
    stretches = [Stretch(capacity / 24, float(value)) for value in speed[:stop]]
    return Scene(stretches, capacity, _as_table, jitter=0.02, interval=10.0, hiccups=0.02, hiccup_s=1.5)


def _plain_card(rng: Rng) -> Scene:
    capacity = float(rng.choice([16, 32, 64, 128]))
    return Scene(
        [Stretch(capacity * rng.uniform(0.4, 0.95), drawn(rng, 8, 90))],
        capacity,
        _as_table,
        jitter=0.05,
        hiccups=2.0,
        hiccup_s=0.8,
    )


def _hot_steps(rng: Rng) -> Scene:
    capacity, fast = _sized(rng), drawn(rng, 900, 2800)
    cool = fast * rng.uniform(40, 240) / 1e3
    stretches = [Stretch(cool, fast), Stretch(cool * rng.uniform(0.5, 3), fast * rng.uniform(0.45, 0.8))]
    if rng.random() < 0.4:
        stretches.append(Stretch(cool, stretches[-1].megabytes_per_s * rng.uniform(0.5, 0.8)))
    capacity = max(capacity, sum(stretch.gigabytes for stretch in stretches))
    return Scene(stretches, capacity, _as_table, heat_s=cool * 1e3 / fast, options=("--celsius", "temp_C"))


def _collecting(rng: Rng) -> Scene:
    capacity, fast = float(rng.choice([960, 1920, 3840])), drawn(rng, 900, 4000)
    stretches = [Stretch(capacity, fast)]
    return Scene(
        stretches, capacity, _as_fio, interval=2.0, jitter=0.004, hiccups=0.3, hiccup_s=0.5, sway=0.15, sway_s=9
    )


def _wireless(rng: Rng) -> Scene:
    base = drawn(rng, 30, 110)
    levels = base * np.exp(0.25 * np.cumsum(rng.standard_normal(25)) / np.sqrt(np.arange(1, 26)))
    stretches = [Stretch(drawn(rng, 0.6, 4), float(level)) for level in levels]
    return Scene(stretches, _sized(rng), _as_hwinfo, interval=2.0, jitter=0.03)


def _limited(rng: Rng) -> Scene:
    speed = float(rng.choice([50, 100, 200, 300, 1000]))
    stretches = [
        Stretch(speed * rng.uniform(0.1, 0.8) / 1e3, speed * rng.uniform(1.2, 3)),
        Stretch(speed * rng.uniform(0.05, 0.4), speed),
    ]
    return Scene(stretches, float(rng.choice([20, 100, 500])), _as_table, jitter=0.00005, interval=0.5)


def _dirty_pages(rng: Rng) -> Scene:
    memory, slow = rng.uniform(0.8, 10), drawn(rng, 80, 1200)
    ahead = Stretch(memory, slow * rng.uniform(2, 7))
    stretches = [ahead, Stretch(memory * rng.uniform(5, 20), slow)]
    return Scene(stretches, _sized(rng), (_as_dd, _as_pv)[int(rng.integers(2))], jitter=0.004, says_capacity=0.4)


def _on_battery(rng: Rng) -> Scene:
    base = drawn(rng, 400, 2500)
    low = base * rng.uniform(0.4, 0.8)
    stretches = [
        Stretch(drawn(rng, 5, 40) * base / 1e3, base if index % 2 == 0 else low)
        for index in range(int(rng.integers(3, 9)))
    ]
    return Scene(stretches, _sized(rng), _as_table, jitter=0.003)


WITH_CACHE: list[Callable[[Rng], Scene]] = [
    _explorer, _task_window, _dd_oflag, _pv_direct, _server_table, _phone_app, _card_with_cache, _mirror_pair,
    _veracrypt, _joined_copy, _slept, _backup, _positions, _quad_fill, _small_static, _slow_start, _throttled, _striped,
    _slow_source, _stopped_early,
]  # fmt: skip
WITHOUT_CACHE: list[Callable[[Rng], Scene]] = [
    _credits, _neighbours, _memory_disk, _platters, _plain_card, _hot_steps, _collecting, _wireless, _limited,
    _dirty_pages, _on_battery,
]  # fmt: skip
SHAPES = [*WITH_CACHE, *WITHOUT_CACHE]


def _true_phases(scene: Scene) -> tuple[TruePhase, ...]:
    phases, start = [], 0.0
    for stretch in scene.stretches:
        stop = start + stretch.gigabytes * 1e9
        if stop - start > 0.01e9 * scene.capacity:
            phases.append(TruePhase(start, stop, stretch.causes))
        start = stop
    return tuple(phases)


def case(index: int, seed: int = 0) -> LogCase:
    """Log number `index` of the set with this seed; shapes take turns."""
    shape = SHAPES[index % len(SHAPES)]
    rng = np.random.default_rng([69_2, seed, index])
    scene = shape(rng)
    files = scene.write(scene, rng)
    arguments = ["--capacity", f"{scene.capacity:.0f}GB"] if rng.random() < scene.says_capacity else []
    arguments += [*scene.options, *(["--workload", "sequential"] if rng.random() < 0.3 else [])]
    ends = tuple(end * 1e9 for end in (scene.end, scene.also) if end > 0)
    has_cache = shape in WITH_CACHE
    phases = _true_phases(scene) if has_cache else ()
    return LogCase(shape.__name__.lstrip("_"), index, files, arguments, scene.capacity * 1e9, ends, phases, has_cache)
