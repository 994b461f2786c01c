"""Why a phase has the speed it has, from what the counters of a simulated drive changed by within it.

    host -> page cache -> link -> map -> DRAM -> [ pSLC  --fold-->  native ]        who waits for whom?
    others ----------------^                       ^ gc ^           ^ gc ^

First the question who limits outside of the cells (memory, others, the idle state, heat, the link, the map, the host
itself), then what the cells were busy with.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from pslc.schema.facts import Facts

CAUSES: Final = (
    "pslc", "direct", "fold", "native", "gc", "map", "link", "host", "cpu", "page-cache", "dram", "flush", "thermal",
    "power", "other", "unknown",
)  # fmt: skip
"""Every cause there is."""

NAND_STATES: Final = ("pslc", "direct", "fold", "native", "gc")
"""Those that lie in the cells."""

REQUIRED_COUNTERS: Final = (
    "host_write_bytes_total",
    "host_to_slc_bytes_total",
    "host_to_native_bytes_total",
    "folded_bytes_total",
    "gc_bytes_total",
    "slc_valid_bytes",
    "cache_limit_bytes",
    "link_busy_ns_total",
    "die_busy_ns_total",
)
MATERIAL: Final = 0.10
"""Moves below this share of the host's bytes do not set the speed, unless they take a larger one of the dies' time."""
FOLD_TIME: Final = 0.12
"""Share of the dies' time from which folding sets the speed: a phase begins where the speed changes by as much."""
LINK_FULL: Final = 0.97
DIES_NOT_FULL: Final = 0.75
DIES_HOT: Final = 0.9
"""Dies that are throttled nearly all the time do not limit below this share."""
DIES_SPARE: Final = 0.95
"""When nothing waited, the dies may be nearly full: the host is what set the pace."""
WAITING: Final = 0.05
"""Writes that stood still for room in the write buffer, on average over the time, above which the drive, not the host,
was waited for."""
NEVER: Final = 0.01
"""The same up to which it was not waited for at all, however busy its dies were made by what the buffer gave them."""
HOLDS: Final = 0.05
"""A cache that holds less than this share of its limit is empty."""
FULL: Final = 0.8
"""A cache whose superblocks take this share of its limit is full, whatever of their data died."""
NOTHING_MOVED: Final = 0.02
"""Moves below this share of the host's bytes take no time to speak of."""
NOTHING: Final = 0.001
"""Data in the cache below this share of what the phase wrote do not matter either."""


SETTLED: Final = 1.0
"""Seconds from which on work under way at the borders of a stretch no longer matters."""
TAKEN_IN: Final = 1.25
"""Bytes written over those that reached the drive, above which memory took the rest and set the speed."""
MAP_READS: Final = 0.05
"""Bytes of the map read for each byte written, below which its misses cannot matter: a page of it for 80 KiB."""
MAP_TIME: Final = 0.15
"""Share of the dies' time that reading and writing the map takes, above which its misses matter."""
BUSY_CPU: Final = 0.95
"""Share of the time from which a processor limits."""
THROTTLED: Final = 0.1
"""Share of the time throttled from which heat matters."""
ALWAYS: Final = 0.8
"""Share of the time throttled that is nearly all of it."""
NEAR_CEILING: Final = 0.85
"""A drive slower than this share of what it carries while throttled is slow for another reason."""
WAKING: Final = 0.3
"""Share of the time spent waiting for the first request after a silence, from which the idle state matters."""
FLUSHING: Final = 0.5
"""Share of the time spent waiting for flushes, from which they set the speed."""
OTHERS: Final = 0.25
"""Share of what the drive moved that was not ours, from which it was not ours alone."""
BUFFERED: Final = 0.15
"""Share of what was written that is still in the drive's buffer at the end, from which that is what took it in."""
AHEAD: Final = 2.0
"""Folding is handed out by the superblock, seconds ahead: a short stretch may seem to keep the dies busy twice over."""


class PhaseFacts(Facts, total=False):
    """What is known of a drive, and of a phase besides what the counters changed by: cores of a simulated host, and
    what the link carries at its step of throttling."""

    host_cores: int
    throttled_bytes_per_s: float | None


Speed = Literal["link_bytes_per_s", "slc_write_bytes_per_s", "native_write_bytes_per_s", "native_limit_bytes_per_s"]
"""Those that a sentence quotes."""


@dataclass(frozen=True)
class CauseEstimate:
    """Why a phase has its speed.

    Attributes:
        cause: one of `CAUSES`.
        confidence: from 0 to 1, how often such a conclusion is right.
        because: the numbers, a sentence.
        cells: what the cells did meanwhile, one of `CELLS`; empty where that is not known. It is the cause, where that
            is theirs.
    """

    cause: str
    confidence: float
    because: str
    nand_state: str = ""

    def __post_init__(self) -> None:
        if self.cause in NAND_STATES:
            object.__setattr__(self, "nand_state", self.cause)


@dataclass(frozen=True)
class _Shares:
    """What the phase did: moves as shares of the host's bytes, work as shares of the time the drive was awake."""

    host: float
    slc: float
    native: float
    folded: float
    moved: float
    link: float
    dies: float
    waited: float | None
    held: float
    taken: float
    limit: float
    buffered: float
    woken: float
    flushed: float
    others: float
    map_reads: float
    map_waited: float
    map_time: float
    fold_time: float
    throttled: float
    celsius: float
    cpu: float


def phase_cause(
    deltas: Mapping[str, float], *, seconds: float, facts: PhaseFacts, written: float | None = None
) -> CauseEstimate:
    """Why a phase ran at its speed.

    Args:
        deltas: what each counter changed by within the phase, and the mean of each gauge, by the names of
            `SimDrive.columns`; beside these `buffer_rise_bytes`, what `buffer_bytes` changed by, and `other_bytes`,
            what the drive moved for others. A real drive has none: the answer is `unknown`.
        seconds: how long the phase took.
        facts: of the drive; `dies` is needed, `host_cores` where the host is simulated too, and where it throttles
            `throttled_bytes_per_s`, what its link carries then; `link_bytes_per_s` and
            the raw NAND speeds (`slc_write_bytes_per_s`, `native_write_bytes_per_s`) are quoted where they are known.
        written: bytes that programs wrote meanwhile, where a page cache may hold some; None: those the drive got.
    """
    missing = [name for name in REQUIRED_COUNTERS if name not in deltas]
    if len(missing) == len(REQUIRED_COUNTERS) or "dies" not in facts:
        return _unknown("the drive does not tell what it does inside")
    if missing:
        return _unknown(f"the drive does not tell {', '.join(missing)}")
    got = deltas["host_write_bytes_total"]
    if written is not None and written > TAKEN_IN * got >= 0.0:
        amounts = f"memory took in {format_bytes(written)} while the drive got {format_bytes(got)}"
        because = f"{amounts}: {written / seconds / 1e6:.0f} MB/s"
        return CauseEstimate("page-cache", _sure((written / max(got, 1.0) - TAKEN_IN) / TAKEN_IN), because)
    shares = _shares(deltas, seconds, facts)
    if isinstance(shares, str):
        return replace(_unknown(shares), nand_state="pslc" if _into_the_cache(deltas) else "")
    inside = _work_inside(shares, seconds, facts)
    outside = _limit_outside(shares, seconds, facts)
    return replace(outside, nand_state=inside.nand_state) if outside else inside


def _unknown(because: str) -> CauseEstimate:
    return CauseEstimate("unknown", 0.0, because)


def _into_the_cache(deltas: Mapping[str, float]) -> bool:
    """Whether the bytes alone tell that the host's data went to the cache and nothing else was done: work is counted
    when it is handed out, so a short stretch may hold more than its time though its bytes are right."""
    host, slc = deltas["host_write_bytes_total"], deltas["host_to_slc_bytes_total"]
    others = ("host_to_native_bytes_total", "folded_bytes_total", "gc_bytes_total")
    return host > 0 and 0.5 * host <= slc <= 1.5 * host and all(0 <= deltas[name] < MATERIAL * host for name in others)


def _shares(deltas: Mapping[str, float], seconds: float, facts: PhaseFacts) -> _Shares | str:
    """The shares, or what in the counters contradicts itself."""
    dies = float(facts["dies"])
    negative = [name for name in REQUIRED_COUNTERS if not deltas[name] >= 0.0]
    if negative:
        return f"the counters contradict themselves: {negative[0]} changed by {deltas[negative[0]]:g}"
    host = deltas["host_write_bytes_total"]
    others = deltas.get("other_bytes", 0.0)
    if not (host > 0 and seconds > 0 and dies > 0):
        return f"nothing to explain: {format_bytes(host)} written in {seconds:g} s to {dies:g} dies"
    wait = deltas.get("buffer_wait_ns_total")
    woken = min(deltas.get("wake_ns_total", 0.0) / 1e9, 0.9 * seconds)
    awake = seconds - woken
    shares = _Shares(
        host=host,
        slc=deltas["host_to_slc_bytes_total"] / host,
        native=deltas["host_to_native_bytes_total"] / host,
        folded=deltas["folded_bytes_total"] / host,
        moved=deltas["gc_bytes_total"] / host,
        link=deltas["link_busy_ns_total"] / (awake * 1e9),
        dies=deltas["die_busy_ns_total"] / (awake * 1e9 * dies),
        waited=None if wait is None else wait / (awake * 1e9),
        held=deltas["slc_valid_bytes"],
        taken=deltas.get("slc_superblocks", 0.0) * facts.get("slc_superblock_bytes", 0),
        limit=deltas["cache_limit_bytes"],
        buffered=deltas.get("buffer_rise_bytes", 0.0) / host,
        woken=woken / seconds,
        flushed=deltas.get("flush_wait_ns_total", 0.0) / (seconds * 1e9),
        others=others / (host + others),
        map_reads=deltas.get("map_read_bytes_total", 0.0) / host,
        map_waited=deltas.get("map_wait_ns_total", 0.0) / (seconds * 1e9),
        map_time=_map_time(deltas, seconds, facts),
        fold_time=_fold_time(deltas, seconds, facts),
        throttled=min(deltas.get("throttle_level", 0.0), 1.0),
        celsius=deltas.get("temperature_millicelsius", 0.0) / 1e3,
        cpu=deltas.get("host_cpu_busy_ns_total", 0.0) / (seconds * 1e9 * facts.get("host_cores", 1)),
    )
    programmed = shares.slc + shares.native
    if not 0.5 <= programmed <= 1.5:
        return f"the counters contradict themselves: {_pc(programmed)} of the host's bytes were programmed"
    # Work is counted when it is handed out, so a short stretch, or one that is buffered, may seem to hold more than its
    # time.
    ahead = shares.dies > AHEAD and shares.buffered < BUFFERED
    if seconds > SETTLED and (shares.link > 1.05 or ahead):
        return f"the counters contradict themselves: link busy {_pc(shares.link)}, dies {_pc(shares.dies)} of the time"
    return shares


def _map_time(deltas: Mapping[str, float], seconds: float, facts: PhaseFacts) -> float:
    """Share of the dies' time that is left for the map: all but what programming, at the speed of the cells, and moving
    take. 0 where something was moved: its part is not known well enough."""
    slc, native = facts.get("slc_write_bytes_per_s", 0.0), facts.get("native_write_bytes_per_s", 0.0)
    moved = deltas["folded_bytes_total"] + deltas["gc_bytes_total"]
    if not (slc and native) or moved >= NOTHING_MOVED * deltas["host_write_bytes_total"]:
        return 0.0
    programming = deltas["host_to_slc_bytes_total"] / slc + (deltas["host_to_native_bytes_total"] + moved) / native
    busy = deltas["die_busy_ns_total"] / (1e9 * float(facts["dies"]))
    return (min(busy, seconds) - programming) / seconds


def _fold_time(deltas: Mapping[str, float], seconds: float, facts: PhaseFacts) -> float:
    """Share of the dies' time that folding takes; 0 where the speed of the cells is not known."""
    speed = facts.get("native_limit_bytes_per_s") or facts.get("native_write_bytes_per_s", 0.0)
    overhead = facts.get("fold_overhead", 1.0)
    return deltas["folded_bytes_total"] * overhead / speed / seconds if speed else 0.0


def _limit_outside(s: _Shares, seconds: float, facts: PhaseFacts) -> CauseEstimate | None:
    """Others, the idle state and the buffer; heat, the link, the map or the host, when the cells had time to spare."""
    busy = f"the link was busy {_pc(s.link)} of the time and the dies {_pc(s.dies)}"
    if s.woken >= WAKING:
        because = f"the drive took {1e3 * s.woken * seconds:.3g} ms to wake up, {_pc(s.woken)} of the time"
        return CauseEstimate("power", _sure((s.woken - WAKING) / WAKING), f"{because}: {_rate(s, seconds)}")
    if s.flushed >= FLUSHING:
        because = f"flushes waited for the NAND {_pc(min(s.flushed, 1.0))} of the time"
        return CauseEstimate("flush", _sure((s.flushed - FLUSHING) / FLUSHING), f"{because}: {_rate(s, seconds)}")
    if s.others >= OTHERS:
        because = f"{_pc(s.others)} of what the drive moved was for others: {_rate(s, seconds)}"
        return CauseEstimate("other", _sure((s.others - OTHERS) / OTHERS), because)
    if s.buffered >= BUFFERED:
        because = f"{_pc(s.buffered)} of what the host wrote is still in the drive's buffer at the end"
        return CauseEstimate("dram", _sure((s.buffered - BUFFERED) / BUFFERED), f"{because}: {_rate(s, seconds)}")
    limit = facts.get("throttled_bytes_per_s") or 0.0
    slowed = s.throttled >= THROTTLED and s.host / seconds >= NEAR_CEILING * limit
    if slowed and s.dies < (DIES_HOT if s.throttled > ALWAYS else DIES_NOT_FULL):
        because = f"throttled {_pc(s.throttled)} of the time at {s.celsius:.0f} C: {_rate(s, seconds)}"
        return CauseEstimate("thermal", _sure((s.throttled - THROTTLED) / 0.5), because)
    if s.link >= LINK_FULL and s.dies < DIES_NOT_FULL:
        ceiling = _quoted(facts, "link_bytes_per_s", "the link carries at most")
        return CauseEstimate("link", _sure((DIES_NOT_FULL - s.dies) / 0.25), f"{busy}: {_rate(s, seconds)}{ceiling}")
    if s.link >= LINK_FULL or s.waited is None or s.waited >= WAITING:
        return None
    if s.map_waited >= WAITING and s.map_reads >= MAP_READS:
        because = f"{s.map_reads:.1f} bytes of the map were read for each byte written, and nothing else waited"
        return CauseEstimate("map", _sure((s.map_waited - WAITING) / WAITING), f"{because}: {_rate(s, seconds)}")
    if s.dies < DIES_SPARE or s.waited <= NEVER:
        margin = min(max(DIES_SPARE - s.dies, 0.1), 4 * (WAITING - s.waited))
        if s.cpu >= BUSY_CPU:
            because = f"the host's processor was busy {_pc(s.cpu)} of the time, and nothing waited"
            return CauseEstimate("cpu", _sure((s.cpu - BUSY_CPU) / (1 - BUSY_CPU)), f"{because}: {_rate(s, seconds)}")
        return CauseEstimate("host", _sure(margin / 0.2), f"{busy}, and nothing waited: the host asked for no more")
    return None


def _work_inside(s: _Shares, seconds: float, facts: PhaseFacts) -> CauseEstimate:
    """What the cells did besides the host's work, and else which cells the host's data went to."""
    rate = _rate(s, seconds)
    if s.map_reads >= MAP_READS and s.map_time >= MAP_TIME:
        because = (
            f"{s.map_reads:.2f} bytes of the map were read for each byte written, {_pc(s.map_time)} of the dies' time"
        )
        return CauseEstimate("map", _sure((s.map_time - MAP_TIME) / MAP_TIME), f"{because}: {rate}")
    if s.moved >= MATERIAL and s.moved > s.folded:
        because = f"{_pc(s.moved)} of what the host wrote was moved by garbage collection: {rate}"
        return CauseEstimate("gc", _sure((s.moved - max(MATERIAL, s.folded)) / MATERIAL), because)
    # A superblock is folded in one go: the last of a phase into the cache tells of the one after it.
    slowed = s.native > s.slc and s.fold_time >= FOLD_TIME
    if s.folded >= MATERIAL or slowed:
        because = f"folding moved {_pc(s.folded)} of what the host wrote from pSLC to native cells: {rate}"
        margin = (s.folded - max(MATERIAL, s.moved)) / MATERIAL
        margin = max(margin, (s.fold_time - FOLD_TIME) / FOLD_TIME) if slowed else margin
        return CauseEstimate("fold", _sure(margin), because)
    quiet = (MATERIAL - max(s.folded, s.moved)) / MATERIAL
    total = s.slc + s.native
    if s.slc >= s.native:
        raw = _quoted(facts, "slc_write_bytes_per_s", "the cells take")
        because = f"{_pc(s.slc / total)} of the data went to pSLC and {_pc(s.folded)} was folded: {rate}{raw}"
        return CauseEstimate("pslc", _sure(min(2 * s.slc / total - 1, quiet)), because)
    raw = _quoted(facts, "native_write_bytes_per_s", "the cells take") + _held_back(facts)
    empty = "and the cache was empty" if s.limit else "and there is no cache"
    enough = max(HOLDS * s.limit, NOTHING * s.host)
    dead = 0 < FULL * s.limit <= s.taken and s.held < enough
    held = f"while the cache held {format_bytes(s.held)}" if s.held else empty
    held = "while the cache was full of data that had died" if dead else held
    where = f"{_pc(s.native / total)} of the data went to native cells {held}: {rate}{raw}"
    sure = 2 * s.native / total - 1
    if dead:
        return CauseEstimate("direct", _sure(min(sure, quiet, (s.taken / s.limit - FULL) / (1 - FULL))), where)
    if s.held >= enough:
        return CauseEstimate("direct", _sure(min(sure, quiet, s.held / max(enough, 1.0) - 1)), where)
    return CauseEstimate("native", _sure(min(sure, quiet, 1 - s.held / enough)), where)


def _sure(margin: float) -> float:
    """Half sure at the threshold, sure at half of a full margin: counters are exact, only what they come to is not."""
    return 0.5 + min(max(margin, 0.0), 0.5)


def _rate(s: _Shares, seconds: float) -> str:
    return f"{s.host / seconds / 1e6:.0f} MB/s"


def _quoted(facts: PhaseFacts, name: Speed, words: str) -> str:
    speed = facts.get(name)
    return f", {words} {speed / 1e6:.0f} MB/s" if speed else ""


def _held_back(facts: PhaseFacts) -> str:
    """What lets less into the native cells than they take."""
    by = {"data-path": "the controller's data path carries", "buffer": "the write buffer is too small for more than"}
    limit = by.get(facts.get("native_limit", ""))
    return _quoted(facts, "native_limit_bytes_per_s", limit) if limit else ""


def _pc(share: float) -> str:
    return f"{100 * share:.0f} %"


def format_bytes(count: float) -> str:
    """`3.33 TB`, `281 GB`, `1.27 MB`."""
    if count >= 999.5e9:
        return f"{count / 1e12:.3g} TB"
    return f"{count / 1e9:.3g} GB" if count >= 1e9 or count == 0 else f"{count / 1e6:.3g} MB"
