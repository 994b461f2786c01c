"""Random simulated drives, small enough that a fill takes milliseconds, and what they know of their own cache.

Sizes, cells, speeds, modes and policies are drawn; a superblock is 0.1 to 0.3 % of the drive, as on real ones.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import pslc
from pslc._native import SimDrive
from pslc.analysis import Curve
from pslc.recording.model import Columns, Findings, Recording
from pslc.recording.writes.findings import of_writes

FILL = "[fill]\nrw=write\nbs=512k\nioengine=io_uring\niodepth=16\nsize=100%\n"
RANDOM, POWER, HEAT = (
    Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8") for name in ("random", "power", "heat")
)
"""A drive, what it draws and how hot it gets, with names in place of what is drawn."""
BRIEF = 0.005
"""Shorter than this share of what was written is no state of a drive."""
Floats = NDArray[np.float64]


def profile(rng: np.random.Generator, scale: float = 1.0) -> str:
    """A profile of 40 to 160 GB, times `scale`, as TOML."""
    dies, planes, bits = int(rng.choice([2, 4, 8])), int(rng.choice([1, 2, 4])), int(rng.choice([3, 3, 3, 4]))
    capacity = float(rng.uniform(40e9, 160e9)) * scale
    row = dies * planes * 16384
    pages = bits * max(4, round(float(rng.uniform(0.001, 0.003)) * capacity / row / bits))
    native, slc = row * pages, row * pages // bits
    spare = float(rng.uniform(0.03, 0.12))
    program = float(rng.uniform(150, 600))
    # bits pages are programmed at once, so this is the ratio of speeds
    native_program = bits * program / float(rng.uniform(0.2, 0.6) if bits == 3 else rng.uniform(0.1, 0.3))
    mode = str(rng.choice(["dynamic-slc", "static-slc", "hybrid-slc", "pure-xlc", "pure-slc"],
                          p=[0.53, 0.26, 0.1, 0.1, 0.01]))  # fmt: skip
    policy = str(rng.choice(["direct-then-fold", "direct-while-folding", "fold"], p=[0.45, 0.3, 0.25]))
    reuse = (
        "as-freed" if policy == "fold" else str(rng.choice(["as-freed", "when-empty", "after-idle"], p=[0.1, 0.3, 0.6]))
    )
    static = float(rng.uniform(0.004, 0.06)) * capacity if mode in ("static-slc", "hybrid-slc") else 0.0
    dynamic = float(rng.uniform(0.03, 0.85)) * capacity / bits if mode in ("dynamic-slc", "hybrid-slc") else 0.0
    blocks = int(np.ceil((1 + spare) * capacity / native + static / slc)) + 14
    shrinks = rng.random() < 0.25
    return RANDOM.format(
        capacity=round(capacity),
        link=rng.choice(["sata600", "pcie3x4", "pcie3x1", "pcie1x1", "sata300"]),
        channels=int(rng.choice([1, 2])) if dies > 2 else 1,
        dies=dies,
        planes=planes,
        pages=pages,
        blocks=blocks,
        bits=bits,
        bus=rng.choice([533, 800, 1200]),
        program=round(program),
        native_program=round(native_program),
        write_buffer=max(4, 2 * row * bits // 2**20 + 1),
        command=int(rng.integers(1, 13)),
        reserve=int(rng.integers(3, 9)),
        mode=mode,
        static=round(static),
        dynamic=round(dynamic),
        dynamic_least=round(0.1 * dynamic),
        shrink_from=0 if shrinks else 100,
        policy=policy,
        host_share=round(float(rng.uniform(30, 80))),
        fold_overhead=rng.uniform(1.0, 4.0),
        reuse=reuse,
    )


@dataclass(frozen=True)
class Fill:
    """A fill of a drive: bins of equal bytes with the drive's counters, as in `Recording.bytes`."""

    series: Columns
    before: dict[str, int]
    capacity_bytes: int

    @property
    def written(self) -> Floats:
        """Bytes at the borders of the bins."""
        return np.concatenate([[0.0], np.cumsum(self.series["write_bytes"], dtype=np.float64)])

    @property
    def seconds(self) -> Floats:
        """Time at the borders of the bins."""
        return np.concatenate([[0.0], self.series["end_ns"].astype(np.float64) / 1e9])

    def change(self, counter: str) -> Floats:
        """What a counter changed by within each bin."""
        return np.diff(np.concatenate([[self.before[counter]], self.series[counter].astype(np.float64)]))


@dataclass(frozen=True)
class Scene:
    """What is done to a drive, and what is around it.

    Attributes:
        jobs: an fio job file. Jobs whose name begins with `other` are of somebody else: a recording does not have them.
        tables: of the profile, beside those of the drive.
        keys: of the drive's profile, in the place of its own.
    """

    jobs: str
    tables: str = ""
    keys: str = ""


def scene(rng: np.random.Generator) -> Scene:
    """A fill or the like on most drives, and on some what meets one of the other causes, or just does not."""
    kind = rng.choice(
        ["fills", "heat", "page cache", "processor", "map", "burst", "sleep", "others"],
        p=[0.5, 0.07, 0.05, 0.08, 0.09, 0.07, 0.08, 0.06],
    )
    if kind == "heat":
        return Scene(job(rng), hot(rng))
    if kind == "page cache":
        return Scene(job(rng), f'[host]\npage_cache = "{rng.uniform(2, 6):.1f}GB"\n')
    if kind == "processor":
        return processor(rng)
    if kind == "map":
        return far_apart(rng)
    if kind == "burst":
        return burst(rng)
    if kind == "sleep":
        return asleep(rng)
    if kind == "others":
        return shared(rng)
    return Scene(job(rng))


def job(rng: np.random.Generator) -> str:
    """An fio job file: a fill, a part of one, one twice over, one with random writes behind it, or a host that writes
    one request at a time."""
    kind = rng.choice(["fill", "part", "twice", "random", "slow"], p=[0.5, 0.1, 0.13, 0.15, 0.12])
    if kind == "slow":
        return f"[slow]\nrw=write\nbs={rng.choice(['4k', '8k', '16k', '64k'])}\nioengine=libaio\niodepth=1\nsize={rng.integers(20, 60)}%\n"  # noqa: E501
    size = rng.integers(20, 80) if kind == "part" else 100
    common = f"bs={rng.choice(['128k', '256k', '512k', '1m'])}\nioengine=io_uring\niodepth={rng.choice([8, 16, 32])}\n"
    fill = f"[fill]\nrw=write\n{common}size={size}%\n"
    if kind == "twice":
        return f"{fill}[again]\nstonewall\nrw=write\n{common}size=100%\n"
    if kind == "random":
        return f"{fill}[random]\nstonewall\nrw=randwrite\nnorandommap\n{common}bs=32k\nsize=100%\n"
    return fill


def power(exit_ms: float = 0.0) -> str:
    """What a drive draws, and how long it takes to wake up."""
    return POWER.format(exit_us=round(1000 * exit_ms))


def hot(rng: np.random.Generator) -> str:
    """A board that gets hot."""
    return power() + HEAT.format(board=rng.uniform(1, 4), board_to_air=rng.uniform(15, 30), speed=rng.integers(3, 15))


def processor(rng: np.random.Generator) -> Scene:
    """Small requests by a host whose processor takes its time for each, or has enough of it."""
    bs, cost, cores = rng.choice([4, 8, 16]), rng.choice([5, 40, 80, 160]), rng.choice([1, 2, 4])
    jobs = (
        f"[small]\nrw=write\nbs={bs}k\nioengine=io_uring\niodepth={rng.choice([8, 32])}\nsize={rng.integers(5, 20)}%\n"
    )
    return Scene(jobs, f'[host]\ncores = {cores}\nread = "{cost}us"\nwrite = "{cost}us"\n')


def far_apart(rng: np.random.Generator) -> Scene:
    """Small random writes, close together and then far apart, or at once far apart, on a drive that holds a small part
    of its map, or all of it."""
    held = rng.choice(["32KiB", "64KiB", "128KiB", "dram"], p=[0.3, 0.3, 0.2, 0.2])
    common = (
        f"rw=randwrite\nnorandommap\nbs={rng.choice([4, 8, 16])}k\nioengine=libaio\niodepth={rng.choice([1, 4, 32])}\n"
    )
    near = f"[near]\n{common}size=24m\nio_size={rng.integers(80, 200)}m\n" if rng.random() < 0.7 else ""
    far = f"[far]\nstonewall\n{common}size=100%\nio_size={rng.integers(200, 500)}m\n"
    return Scene(near + far, keys=f"controller.map={held}")


def burst(rng: np.random.Generator) -> Scene:
    """A short write to a drive whose buffer takes in a visible part of it."""
    buffer = int(rng.integers(8, 64))
    size = round(buffer * rng.uniform(4, 20))
    jobs = f"[burst]\nrw=write\nbs={rng.choice([16, 64, 128])}k\nioengine=libaio\niodepth={rng.choice([1, 8])}\nsize={size}m\n"  # noqa: E501
    return Scene(jobs, keys=f"controller.write_buffer={buffer}MiB")


def asleep(rng: np.random.Generator) -> Scene:
    """A short write after a pause, to a drive that takes a while to wake up, or is awake at once."""
    waits = rng.choice([0.0, rng.uniform(5, 50)], p=[0.3, 0.7])
    size, bs = rng.integers(2, 40), rng.choice([4, 16, 64])
    jobs = f"[first]\nstartdelay={rng.integers(1, 5)}\nrw=write\nbs={bs}k\nioengine=libaio\niodepth={rng.choice([1, 4])}\nsize={size}m\n"  # noqa: E501
    return Scene(jobs, power(waits))


def shared(rng: np.random.Generator) -> Scene:
    """A fill of a part of a drive of which somebody else reads what is there, a lot or a little."""
    size = rng.integers(10, 40)
    rate = rng.choice([1, 10, 1000])
    fill = f"[fill]\nrw=write\nbs=512k\nioengine=io_uring\niodepth=16\nsize={size}%\n"
    other = f"rw={rng.choice(['read', 'randread'])}\nbs=128k\nioengine=libaio\niodepth={rng.choice([2, 16])}\nrate={rate}m\nsize=5%\n"  # noqa: E501
    return Scene(f"{fill}[other]\n{other}time_based\nruntime={rng.integers(2, 30)}\n")


def recording(seed: int, folder: Path) -> Recording:
    """A random scene on a random drive of 10 to 40 GB, whose profile is put into `folder`."""
    rng = np.random.default_rng([seed, 7])
    drive, jobs = folder / "random.toml", folder / "random.fio"
    text, found = profile(rng, 0.25), scene(rng)
    jobs.write_text(found.jobs)
    drive.write_text(text + found.tables)
    on = f"sim:{drive},{found.keys}" if found.keys else f"sim:{drive}"
    return without_others(pslc.run(jobs, on=on, seed=seed))


def without_others(run: Recording) -> Recording:
    """As another program had done what jobs named `other` did: only the drive's own counters know of that."""
    jobs = [job for job in run.jobs if not job["name"].startswith("other")]
    if len(jobs) == len(run.jobs):
        return run
    ended = max(job["start_ns"] + job["elapsed_ns"] for job in jobs)
    ours = {name: column[run.bytes["end_ns"] <= ended] for name, column in run.bytes.items()}
    # Theirs are in these, and cannot be told from ours.
    gone = {name: np.zeros_like(ours[name]) for name in ours if name.startswith(("read", "lat_"))}
    seen = replace(run, jobs=jobs, bytes=ours | gone)
    return replace(seen, findings=Findings(of_writes(seen)))


def filled(seed: int) -> Fill:
    """The fill of the random drive of a seed."""
    drive = SimDrive("random.toml", profile(np.random.default_rng(seed)), {}, [])
    done = drive.run(FILL, "fill.fio", [], seed)
    series = {name: np.frombuffer(values, dtype="<u8") for name, values in done["series"]["bytes"].items()}
    return Fill(series, done["before"], drive.capacity_bytes)


def states(fill: Fill) -> tuple[list[float], list[float]]:
    """What the cells did: borders in bytes of the host's data, the end among them, and the speed between them.

    A bin is of one of three states: into pSLC, into native cells, or folding besides, for which requests wait; a state
    that lasts less than `BRIEF` belongs to the one before it. Within the bin of a border, what was waited for, or
    written natively, tells where.
    """
    host = fill.change("host_to_slc_bytes_total") + fill.change("host_to_native_bytes_total")
    placed = np.cumsum(host)
    # What memory took in tells nothing of the cells: a bin of which nothing reached them is as the next one.
    reached = np.where(host > 0, np.arange(host.size), host.size - 1)
    reached = np.minimum.accumulate(reached[::-1])[::-1]
    host = np.maximum(host, 1.0)
    besides = fill.change("waited_folding_ns_total") + fill.change("waited_collection_ns_total")
    cells = fill.change("waited_cache_ns_total") + fill.change("waited_direct_ns_total")
    moved = besides / np.maximum(besides + cells, 1.0)
    native = fill.change("host_to_native_bytes_total") / host
    state = np.where(moved > 0.1, 2, np.where(native > 0.5, 1, 0))[reached]
    window = max(1, round(BRIEF * len(host)))
    edges, borders = [0], []
    for i in range(1, len(state) - window):
        if state[i] != state[edges[-1]] and np.mean(state[i : i + window] == state[i]) > 0.5:
            sign = (1.0 - native, native, moved)[state[i]]
            share = min(1.0, sign[i] / np.median(sign[i + 1 : i + window]))
            edges.append(i)
            borders.append(float(placed[i] - share * host[i]))
    edges.append(len(state))
    speed = np.diff(fill.written) / np.diff(fill.seconds)
    return [*borders, float(placed[-1])], [float(np.median(speed[a:b])) for a, b in pairwise(edges)]


def measured(fill: Fill, rng: np.random.Generator) -> Curve:
    """The curve as a tester would have it: noise of up to 10 %, and some samples missing."""
    edges, seconds = fill.written, fill.seconds
    good = np.concatenate([[True], (np.diff(edges) > 0) & (np.diff(seconds) > 0)])
    edges, seconds = edges[good], np.concatenate([[0.0], np.diff(seconds[good])])[1:]
    noise = float(rng.choice([0.0, 0.02, 0.05, 0.1]))
    seconds = seconds * np.exp(rng.normal(0, noise, seconds.size))
    missing = float(rng.choice([0.0, 0.0, 0.1]))
    kept = np.concatenate([[True], rng.random(seconds.size - 1) >= missing, [True]])
    whole = np.concatenate([[0.0], np.cumsum(seconds)])
    return Curve(edges[kept], np.diff(whole[kept]))


def cache_bytes(fill: Fill) -> tuple[float | None, ...]:
    """Where the speed fell by a fifth because the drive no longer wrote into pSLC alone, or wherever it began; None:
    nowhere. Where a fall is of a fifth or so, and either answer is right, there are two."""
    borders, speeds = states(fill)
    found = [
        next((end for end, (a, b) in zip(borders, pairwise(speeds), strict=False) if b <= left * a), None)
        for left in (0.85, 0.75)
    ]
    return tuple(dict.fromkeys(found))
