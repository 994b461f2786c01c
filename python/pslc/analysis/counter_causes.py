"""Causes of the speed of each phase, from the counters of a simulated drive.

    host -> page cache -> link -> map -> DRAM -> [ pSLC  --fold-->  native ]        who waits for whom?
    others ----------------^                       ^ gc ^           ^ gc ^

First the question who limits outside of the cells (memory, others, the idle state, heat, the link, the map, the host
itself), then what the cells were busy with.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from pslc.analysis.thresholds import (
    BUSY_CPU_SHARE,
    COUNTER_LINK_FULL_SHARE,
    EMPTY_CACHE_SHARE,
    FULL_CACHE_SHARE,
    MAX_DIE_SHARE_BESIDE_LINK,
    MAX_DIE_SHARE_THROTTLED,
    MAX_DIE_SHARE_UNHURRIED,
    MAX_DIE_TIME_RATIO,
    MAX_FOLD_RATE_RATIO,
    MAX_IDLE_MOVED_SHARE,
    MAX_LINK_TIME_RATIO,
    MAX_PROGRAMMED_SHARE,
    MIN_BUFFER_WAIT_SHARE,
    MIN_BUFFERED_SHARE,
    MIN_FLUSH_SHARE,
    MIN_FOLD_TIME_SHARE,
    MIN_HELD_SHARE_OF_WRITE,
    MIN_MAP_READ_RATIO,
    MIN_MAP_TIME_SHARE,
    MIN_MEMORY_RATIO,
    MIN_MOVED_SHARE,
    MIN_OTHER_TRAFFIC_SHARE,
    MIN_PROGRAMMED_SHARE,
    MIN_SETTLED_S,
    MIN_THROTTLED_CEILING_SHARE,
    MIN_THROTTLED_SHARE,
    MIN_WAKE_SHARE,
    MOSTLY_THROTTLED_SHARE,
    NO_WAIT_SHARE,
)
from pslc.schema.facts import Facts

CAUSES: Final = (
    "pslc", "direct", "fold", "native", "gc", "map", "link", "host", "cpu", "page-cache", "dram", "flush", "thermal",
    "power", "other", "unknown",
)  # fmt: skip
"""Every cause there is."""

NAND_STATES: Final = ("pslc", "direct", "fold", "native", "gc")
"""Causes that lie in the NAND cells; the others lie around them."""

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


class PhaseFacts(Facts, total=False):
    """Facts about a drive and its host during one phase: besides the drive's own, `host_cores`, the cores of a
    simulated host, and `throttled_bytes_per_s`, the speed of the link while the drive throttles."""

    host_cores: int
    throttled_bytes_per_s: float | None


Speed = Literal[
    "link_bytes_per_s", "slc_write_bytes_per_s", "mlc_write_bytes_per_s", "native_write_bytes_per_s",
    "native_limit_bytes_per_s",
]  # fmt: skip
"""Facts about a drive that are speeds and that a sentence quotes."""


@dataclass(frozen=True)
class CauseEstimate:
    """Cause of a phase's speed, with a confidence and a reason.

    Attributes:
        cause: one of `CAUSES`.
        confidence: from 0 to 1: the share of such conclusions that is right.
        because: the numbers behind the conclusion, as a sentence.
        nand_state: what the NAND did meanwhile, one of `NAND_STATES`; empty if unknown. Equal to `cause` where the NAND
            is the cause.
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
    """What a phase did, as shares of the host's bytes or, of work and waits, of the time that the drive was awake.

    Attributes:
        seconds: how long the phase took.
        facts: of the drive.
        host_bytes: what the host wrote to the drive.
        to_slc, to_native: the host's data that went to cells at one bit, and to native cells.
        folded, collected: data that folding and garbage collection moved.
        link_busy, dies_busy: time.
        buffer_wait: time that writes waited for the write buffer; None where the drive does not tell.
        held_bytes: valid data in the cache.
        superblock_bytes: what the superblocks of the cache take.
        limit_bytes: what the cache may take.
        buffered: data in the write buffer at the end that were not in it at the start.
        woken, flushed, map_waited, cpu_busy: time; of a drive that slept, of all of the phase.
        other_traffic: bytes for other programs, of all that the drive moved.
        map_reads: bytes of the map read for each byte written.
        map_time, fold_time: of the dies' time.
        throttled: time, or above it 1.
        celsius: temperature.
    """

    seconds: float
    facts: PhaseFacts
    host_bytes: float
    to_slc: float
    to_native: float
    folded: float
    collected: float
    link_busy: float
    dies_busy: float
    buffer_wait: float | None
    held_bytes: float
    superblock_bytes: float
    limit_bytes: float
    buffered: float
    woken: float
    flushed: float
    other_traffic: float
    map_reads: float
    map_waited: float
    map_time: float
    fold_time: float
    throttled: float
    celsius: float
    cpu_busy: float

    @property
    def bytes_per_s(self) -> float:
        return self.host_bytes / self.seconds

    @property
    def rate(self) -> str:
        return f"{self.bytes_per_s / 1e6:.0f} MB/s"

    @property
    def busy(self) -> str:
        return f"the link was busy {_percent(self.link_busy)} of the time and the dies {_percent(self.dies_busy)}"

    @property
    def folds_beside(self) -> bool:
        """Whether the cache fills although it is folded: the host waits for its own data, and not for space."""
        has_room = 0 < self.superblock_bytes < FULL_CACHE_SHARE * self.limit_bytes
        return has_room and self.to_slc > self.to_native and MIN_MOVED_SHARE <= self.folded < MAX_FOLD_RATE_RATIO

    def estimate(self, cause: str, margin: float, because: str) -> CauseEstimate:
        """An estimate: half sure at the threshold, sure at half of a full margin. Counters are exact, only what they
        come to is not."""
        return CauseEstimate(cause, 0.5 + min(max(margin, 0.0), 0.5), because)


def phase_cause(
    deltas: Mapping[str, float], *, seconds: float, facts: PhaseFacts, written: float | None = None
) -> CauseEstimate:
    """Estimate the cause of a phase's speed from the drive's counters.

    Args:
        deltas: what each counter changed by within the phase, and the mean of each gauge, by the names of
            `SimDrive.columns`; beside these `buffer_rise_bytes`, what `buffer_bytes` changed by, and `other_bytes`,
            what the drive moved for others. A real drive has none: the answer is `unknown`.
        seconds: how long the phase took.
        facts: of the drive; `dies` is needed, `host_cores` where the host is simulated too, and where it throttles
            `throttled_bytes_per_s`, what its link carries then; `link_bytes_per_s` and the raw NAND speeds
            (`slc_write_bytes_per_s`, `mlc_write_bytes_per_s`, `native_write_bytes_per_s`) are quoted where they are
            known.
        written: bytes that programs wrote meanwhile, where a page cache may hold some; None: those the drive got.
    """
    missing = [name for name in REQUIRED_COUNTERS if name not in deltas]
    if len(missing) == len(REQUIRED_COUNTERS) or "dies" not in facts:
        return _unknown("the drive does not report its internal work")
    if missing:
        return _unknown(f"the drive does not report {', '.join(missing)}")
    memory = _page_cache(written, deltas["host_write_bytes_total"], seconds)
    if memory is not None:
        return memory
    contradiction = _contradiction(deltas, seconds, facts)
    shares = _shares(deltas, seconds, facts) if contradiction is None else None
    if shares is not None:
        contradiction = _contradicting_shares(shares)
    if shares is None or contradiction is not None:
        return replace(_unknown(contradiction or ""), nand_state="pslc" if _into_the_cache(deltas) else "")
    nand = _first_answer(NAND_RULES, shares) or _host_data(shares)
    limit = _first_answer(LIMIT_RULES, shares)
    return replace(limit, nand_state=nand.nand_state) if limit else nand


def _page_cache(written: float | None, received: float, seconds: float) -> CauseEstimate | None:
    """The page cache as the cause, where programs wrote clearly more bytes than the drive received."""
    if written is None or not written > MIN_MEMORY_RATIO * received >= 0.0:
        return None
    amounts = f"memory took in {format_bytes(written)} while the drive got {format_bytes(received)}"
    margin = _excess(written / max(received, 1.0), MIN_MEMORY_RATIO)
    because = f"{amounts}: {written / seconds / 1e6:.0f} MB/s"
    return CauseEstimate("page-cache", 0.5 + min(max(margin, 0.0), 0.5), because)


def _unknown(because: str) -> CauseEstimate:
    return CauseEstimate("unknown", 0.0, because)


def _into_the_cache(deltas: Mapping[str, float]) -> bool:
    """Whether the bytes alone tell that the host's data went to the cache and nothing else was done: work is counted
    when it is handed out, so a short stretch may hold more than its time though its bytes are right."""
    host, slc = deltas["host_write_bytes_total"], deltas["host_to_slc_bytes_total"]
    if not (host > 0 and MIN_PROGRAMMED_SHARE * host <= slc <= MAX_PROGRAMMED_SHARE * host):
        return False
    other = ("host_to_native_bytes_total", "folded_bytes_total", "gc_bytes_total")
    return all(0 <= deltas[name] < MIN_MOVED_SHARE * host for name in other)


def _contradiction(deltas: Mapping[str, float], seconds: float, facts: PhaseFacts) -> str | None:
    """What forbids to form shares; None: nothing."""
    negative = [name for name in REQUIRED_COUNTERS if not deltas[name] >= 0.0]
    if negative:
        return f"the counters contradict themselves: {negative[0]} changed by {deltas[negative[0]]:g}"
    host, dies = deltas["host_write_bytes_total"], float(facts["dies"])
    if not (host > 0 and seconds > 0 and dies > 0):
        return f"nothing to explain: {format_bytes(host)} written in {seconds:g} s to {dies:g} dies"
    return None


def _shares(deltas: Mapping[str, float], seconds: float, facts: PhaseFacts) -> _Shares:
    host, dies = deltas["host_write_bytes_total"], float(facts["dies"])
    other = deltas.get("other_bytes", 0.0)
    wait = deltas.get("buffer_wait_ns_total")
    woken_s = min(deltas.get("wake_ns_total", 0.0) / 1e9, 0.9 * seconds)
    awake_s = seconds - woken_s
    return _Shares(
        seconds=seconds,
        facts=facts,
        host_bytes=host,
        to_slc=deltas["host_to_slc_bytes_total"] / host,
        to_native=deltas["host_to_native_bytes_total"] / host,
        folded=deltas["folded_bytes_total"] / host,
        collected=deltas["gc_bytes_total"] / host,
        link_busy=deltas["link_busy_ns_total"] / (awake_s * 1e9),
        dies_busy=deltas["die_busy_ns_total"] / (awake_s * 1e9 * dies),
        buffer_wait=None if wait is None else wait / (awake_s * 1e9),
        held_bytes=deltas["slc_valid_bytes"],
        superblock_bytes=deltas.get("slc_superblocks", 0.0) * cache_superblock_bytes(facts),
        limit_bytes=deltas["cache_limit_bytes"],
        buffered=deltas.get("buffer_rise_bytes", 0.0) / host,
        woken=woken_s / seconds,
        flushed=deltas.get("flush_wait_ns_total", 0.0) / (seconds * 1e9),
        other_traffic=other / (host + other),
        map_reads=deltas.get("map_read_bytes_total", 0.0) / host,
        map_waited=deltas.get("map_wait_ns_total", 0.0) / (seconds * 1e9),
        map_time=_map_time(deltas, seconds, facts),
        fold_time=_fold_time(deltas, seconds, facts),
        throttled=min(deltas.get("throttle_level", 0.0), 1.0),
        celsius=deltas.get("temperature_millicelsius", 0.0) / 1e3,
        cpu_busy=deltas.get("host_cpu_busy_ns_total", 0.0) / (seconds * 1e9 * facts.get("host_cores", 1)),
    )


def cache_superblock_bytes(facts: Facts) -> int:
    """Bytes of a superblock of the dynamic cache; 0: not known."""
    return facts.get("mlc_superblock_bytes", facts.get("slc_superblock_bytes", 0))


def _contradicting_shares(shares: _Shares) -> str | None:
    """What in the shares contradicts itself; None: nothing."""
    programmed = shares.to_slc + shares.to_native
    if not MIN_PROGRAMMED_SHARE <= programmed <= MAX_PROGRAMMED_SHARE:
        return f"the counters contradict themselves: {_percent(programmed)} of the host's bytes were programmed"
    # Work is counted when it is handed out, so a short stretch, or one that is buffered, may seem to hold more than its
    # time.
    ahead = shares.dies_busy > MAX_DIE_TIME_RATIO and shares.buffered < MIN_BUFFERED_SHARE
    if shares.seconds > MIN_SETTLED_S and (shares.link_busy > MAX_LINK_TIME_RATIO or ahead):
        times = f"link busy {_percent(shares.link_busy)}, dies {_percent(shares.dies_busy)} of the time"
        return f"the counters contradict themselves: {times}"
    return None


def _map_time(deltas: Mapping[str, float], seconds: float, facts: PhaseFacts) -> float:
    """Share of the dies' time that is left for the map: all but what programming, at the speed of the cells, and moving
    take. 0 where something was moved: its part is not known well enough."""
    slc = facts.get("mlc_write_bytes_per_s", facts.get("slc_write_bytes_per_s", 0.0))
    native = facts.get("native_write_bytes_per_s", 0.0)
    moved = deltas["folded_bytes_total"] + deltas["gc_bytes_total"]
    if not (slc and native) or moved >= MAX_IDLE_MOVED_SHARE * deltas["host_write_bytes_total"]:
        return 0.0
    programming_s = deltas["host_to_slc_bytes_total"] / slc + (deltas["host_to_native_bytes_total"] + moved) / native
    busy_s = deltas["die_busy_ns_total"] / (1e9 * float(facts["dies"]))
    return (min(busy_s, seconds) - programming_s) / seconds


def _fold_time(deltas: Mapping[str, float], seconds: float, facts: PhaseFacts) -> float:
    """Share of the dies' time that folding takes; 0 where the speed of the cells is not known."""
    speed = facts.get("native_limit_bytes_per_s") or facts.get("native_write_bytes_per_s", 0.0)
    overhead = facts.get("fold_overhead", 1.0)
    return deltas["folded_bytes_total"] * overhead / speed / seconds if speed else 0.0


Rule = Callable[[_Shares], CauseEstimate | None]


def _first_answer(rules: Sequence[Rule], shares: _Shares) -> CauseEstimate | None:
    return next((estimate for rule in rules if (estimate := rule(shares)) is not None), None)


def _excess(value: float, threshold: float) -> float:
    """How far above a threshold, in thresholds."""
    return (value - threshold) / threshold


def _waking(shares: _Shares) -> CauseEstimate | None:
    if shares.woken < MIN_WAKE_SHARE:
        return None
    woken_ms = 1e3 * shares.woken * shares.seconds
    because = f"the drive took {woken_ms:.3g} ms to wake up, {_percent(shares.woken)} of the time"
    return shares.estimate("power", _excess(shares.woken, MIN_WAKE_SHARE), f"{because}: {shares.rate}")


def _flushes(shares: _Shares) -> CauseEstimate | None:
    if shares.flushed < MIN_FLUSH_SHARE:
        return None
    because = f"flushes waited for the NAND {_percent(min(shares.flushed, 1.0))} of the time"
    return shares.estimate("flush", _excess(shares.flushed, MIN_FLUSH_SHARE), f"{because}: {shares.rate}")


def _other_traffic(shares: _Shares) -> CauseEstimate | None:
    if shares.other_traffic < MIN_OTHER_TRAFFIC_SHARE:
        return None
    because = f"{_percent(shares.other_traffic)} of what the drive moved was for others: {shares.rate}"
    return shares.estimate("other", _excess(shares.other_traffic, MIN_OTHER_TRAFFIC_SHARE), because)


def _write_buffer(shares: _Shares) -> CauseEstimate | None:
    if shares.buffered < MIN_BUFFERED_SHARE:
        return None
    because = f"{_percent(shares.buffered)} of what the host wrote is still in the drive's buffer at the end"
    return shares.estimate("dram", _excess(shares.buffered, MIN_BUFFERED_SHARE), f"{because}: {shares.rate}")


def _heat(shares: _Shares) -> CauseEstimate | None:
    ceiling = shares.facts.get("throttled_bytes_per_s") or 0.0
    slowed = shares.throttled >= MIN_THROTTLED_SHARE
    if not (slowed and shares.bytes_per_s >= MIN_THROTTLED_CEILING_SHARE * ceiling):
        return None
    mostly = shares.throttled > MOSTLY_THROTTLED_SHARE
    if shares.dies_busy >= (MAX_DIE_SHARE_THROTTLED if mostly else MAX_DIE_SHARE_BESIDE_LINK):
        return None
    because = f"throttled {_percent(shares.throttled)} of the time at {shares.celsius:.0f} C: {shares.rate}"
    return shares.estimate("thermal", (shares.throttled - MIN_THROTTLED_SHARE) / 0.5, because)


def _full_link(shares: _Shares) -> CauseEstimate | None:
    if shares.link_busy < COUNTER_LINK_FULL_SHARE or shares.dies_busy >= MAX_DIE_SHARE_BESIDE_LINK:
        return None
    ceiling = _quoted(shares.facts, "link_bytes_per_s", "the link carries at most")
    because = f"{shares.busy}: {shares.rate}{ceiling}"
    return shares.estimate("link", (MAX_DIE_SHARE_BESIDE_LINK - shares.dies_busy) / 0.25, because)


def _buffer_waited(shares: _Shares) -> bool:
    """Whether writes waited for the drive, or it does not tell."""
    if shares.link_busy >= COUNTER_LINK_FULL_SHARE or shares.buffer_wait is None:
        return True
    return shares.buffer_wait >= MIN_BUFFER_WAIT_SHARE


def _map_waits(shares: _Shares) -> CauseEstimate | None:
    waited = shares.map_waited >= MIN_BUFFER_WAIT_SHARE and shares.map_reads >= MIN_MAP_READ_RATIO
    if _buffer_waited(shares) or not waited:
        return None
    because = f"{shares.map_reads:.1f} bytes of the map were read for each byte written, and nothing else waited"
    return shares.estimate("map", _excess(shares.map_waited, MIN_BUFFER_WAIT_SHARE), f"{because}: {shares.rate}")


def _host(shares: _Shares) -> CauseEstimate | None:
    """The processor, or a host that asks for no more: nothing waited, and the dies had time to spare."""
    wait, dies = shares.buffer_wait, shares.dies_busy
    if _buffer_waited(shares) or wait is None or (dies >= MAX_DIE_SHARE_UNHURRIED and wait > NO_WAIT_SHARE):
        return None
    if shares.cpu_busy >= BUSY_CPU_SHARE:
        because = f"the host's processor was busy {_percent(shares.cpu_busy)} of the time, and nothing waited"
        margin = (shares.cpu_busy - BUSY_CPU_SHARE) / (1 - BUSY_CPU_SHARE)
        return shares.estimate("cpu", margin, f"{because}: {shares.rate}")
    margin = min(max(MAX_DIE_SHARE_UNHURRIED - dies, 0.1), 4 * (MIN_BUFFER_WAIT_SHARE - wait))
    return shares.estimate("host", margin / 0.2, f"{shares.busy}, and nothing waited: the host asked for no more")


LIMIT_RULES: Final[tuple[Rule, ...]] = (
    _waking,
    _flushes,
    _other_traffic,
    _write_buffer,
    _heat,
    _full_link,
    _map_waits,
    _host,
)
"""Rules for limits outside of the NAND, in the order in which they are tested; the first that applies is the cause."""


def _map_reads(shares: _Shares) -> CauseEstimate | None:
    if shares.map_reads < MIN_MAP_READ_RATIO or shares.map_time < MIN_MAP_TIME_SHARE:
        return None
    reads = f"{shares.map_reads:.2f} bytes of the map were read for each byte written"
    because = f"{reads}, {_percent(shares.map_time)} of the dies' time: {shares.rate}"
    return shares.estimate("map", _excess(shares.map_time, MIN_MAP_TIME_SHARE), because)


def _garbage_collection(shares: _Shares) -> CauseEstimate | None:
    if shares.collected < MIN_MOVED_SHARE or shares.collected <= shares.folded:
        return None
    because = f"{_percent(shares.collected)} of what the host wrote was moved by garbage collection: {shares.rate}"
    margin = (shares.collected - max(MIN_MOVED_SHARE, shares.folded)) / MIN_MOVED_SHARE
    return shares.estimate("gc", margin, because)


def _folding(shares: _Shares) -> CauseEstimate | None:
    if shares.folds_beside:
        return None
    # A superblock is folded in one go: the last of a phase into the cache tells of the one after it.
    slowed = shares.to_native > shares.to_slc and shares.fold_time >= MIN_FOLD_TIME_SHARE
    if shares.folded < MIN_MOVED_SHARE and not slowed:
        return None
    moved = f"folding moved {_percent(shares.folded)} of what the host wrote from pSLC to native cells"
    margin = (shares.folded - max(MIN_MOVED_SHARE, shares.collected)) / MIN_MOVED_SHARE
    margin = max(margin, _excess(shares.fold_time, MIN_FOLD_TIME_SHARE)) if slowed else margin
    return shares.estimate("fold", margin, f"{moved}: {shares.rate}")


NAND_RULES: Final[tuple[Rule, ...]] = (_map_reads, _garbage_collection, _folding)
"""Rules for NAND work besides host writes, in the order in which they are tested; the first that applies is the
cause."""


def _host_data(shares: _Shares) -> CauseEstimate:
    """Which cells the host's data went to, where the NAND did little else."""
    limit = MAX_FOLD_RATE_RATIO if shares.folds_beside else MIN_MOVED_SHARE
    quiet = (limit - max(shares.folded, shares.collected)) / limit
    total = shares.to_slc + shares.to_native
    if shares.to_slc >= shares.to_native:
        two_bits = "mlc_write_bytes_per_s" in shares.facts
        cells = "cells of one bit take" if two_bits else "the cells take"
        raw = _quoted(shares.facts, "slc_write_bytes_per_s", cells)
        raw += _quoted(shares.facts, "mlc_write_bytes_per_s", "cells of two")
        went = f"{_percent(shares.to_slc / total)} of the data went to pSLC and {_percent(shares.folded)} was folded"
        went += " beside" if shares.folds_beside else ""
        return shares.estimate("pslc", min(2 * shares.to_slc / total - 1, quiet), f"{went}: {shares.rate}{raw}")
    raw = _quoted(shares.facts, "native_write_bytes_per_s", "the cells take") + _held_back(shares.facts)
    enough = max(EMPTY_CACHE_SHARE * shares.limit_bytes, MIN_HELD_SHARE_OF_WRITE * shares.host_bytes)
    full = 0 < FULL_CACHE_SHARE * shares.limit_bytes <= shares.superblock_bytes
    dead = full and shares.held_bytes < enough
    went = f"{_percent(shares.to_native / total)} of the data went to native cells {_cache_state(shares, dead=dead)}"
    because = f"{went}: {shares.rate}{raw}"
    margin = min(2 * shares.to_native / total - 1, quiet)
    if dead:
        fullness = (shares.superblock_bytes / shares.limit_bytes - FULL_CACHE_SHARE) / (1 - FULL_CACHE_SHARE)
        return shares.estimate("direct", min(margin, fullness), because)
    if shares.held_bytes >= enough:
        return shares.estimate("direct", min(margin, shares.held_bytes / max(enough, 1.0) - 1), because)
    return shares.estimate("native", min(margin, 1 - shares.held_bytes / enough), because)


def _cache_state(shares: _Shares, *, dead: bool) -> str:
    if dead:
        return "while the cache was full of data that had died"
    if shares.held_bytes:
        return f"while the cache held {format_bytes(shares.held_bytes)}"
    return "and the cache was empty" if shares.limit_bytes else "and there is no cache"


def _quoted(facts: PhaseFacts, name: Speed, subject: str) -> str:
    speed = facts.get(name)
    return f", {subject} {speed / 1e6:.0f} MB/s" if speed else ""


def _held_back(facts: PhaseFacts) -> str:
    """What lets less into the native cells than they take."""
    limits = {
        "data-path": "the controller's data path carries",
        "buffer": "the write buffer is too small for more than",
    }
    limit = limits.get(facts.get("native_limit", ""))
    return _quoted(facts, "native_limit_bytes_per_s", limit) if limit else ""


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def format_bytes(count: float) -> str:
    """`3.33 TB`, `281 GB`, `1.27 MB`."""
    if count >= 999.5e9:
        return f"{count / 1e12:.3g} TB"
    return f"{count / 1e9:.3g} GB" if count >= 1e9 or count == 0 else f"{count / 1e6:.3g} MB"
