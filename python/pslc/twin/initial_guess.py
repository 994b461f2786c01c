"""The closed-form laws of docs/model.md solved for parameters: from the phases of a first write to starts of a fit.

With n bits per cell, cache S, raw space Raw, rates Rs and Rx, fold overhead k and the host's share h of die time:

    the direct phase ends at S + Raw - nS - reserve    ->  over-provisioning
    folding for space       R = Rx / (1 + k/(n-1))     ->  k, where Rx was seen
    folding beside the host R = h Rx, and lasts until S is folded: S h k / (1-h) bytes   ->  h, k
    recycling               1/R = 1/Rs + k/Rx          ->  k/Rx
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Final

import numpy as np

from pslc.analysis import Curve, Phase
from pslc.twin.model import PARAMETERS, RESERVE_SUPERBLOCKS, SUPERBLOCKS, FirmwareModel

LINK_LIMITED_RATIO: Final = 0.93
"""Speed over that of the link from which on the link limits a phase, which then says nothing of the cells' rate."""
HIDDEN_SPEED_RATIO: Final = 1.3
"""Assumed speed of cells over that of the link that limits them."""
HIDDEN_SPEED_RATIOS: Final = (1.0, HIDDEN_SPEED_RATIO, 3.0)
TYPICAL_OVER_PROVISIONING: Final = 0.07
LARGE_OVER_PROVISIONING: Final = 0.25
"""Over-provisioning to start from, as shares of the capacity."""
CACHE_REUSED_SPEED_RATIO: Final = 1.3
"""Speed over that of the phase before from which on a phase is the cache being used again."""
UNSEEN_CACHE_SHARE: Final = 0.3
"""Cache to start from if no end of it was seen, as a share of the capacity."""
NATIVE_SPEED_RATIOS: Final = (0.15, 0.35)
"""Native speed to start from over the pSLC speed, if only the latter was seen."""
FOLD_OVERHEADS: Final = (1.0, 1.6, 3.0)
HOST_SHARES: Final = (0.3, 0.5, 0.75)
HOST_SHARE_RATIOS: Final = (1.0, 1.08)
"""The host's share over the speed that gets through: the host's programs wait for those that fold, too."""
FOLD_BATCHES: Final = (0.05, 0.15, 0.4, 0.9)
MIN_OVERHEAD, MAX_OVERHEAD = 0.4, 15.0
"""Bounds of a fold overhead that a law gives."""
MIN_FOLD_BESIDE_OVERHEAD: Final = 1.0
WHOLE_FILL_SHARE: Final = 0.97
"""Share of the capacity from which on a write counts as a whole fill."""
MAX_TIER_SPEED_RATIO: Final = 0.85
"""Speed of a second tier over that of the first up to which cells of two bits are tried."""
PHASE_TOLERANCE_RATIO: Final = 1.001


@dataclass(frozen=True)
class CurveSummary:
    """A write over an empty drive, as the laws see it.

    Attributes:
        cache: bytes at full speed; None if there is no cliff.
        fast: bytes/s at full speed.
        slow: later phases: bytes/s, and the bytes at which each began and ended.
        link: bytes/s that the link and the host let through.
        capacity: capacity of the drive, in bytes.
        tiers: bytes of a first tier of the cache, and bytes/s in it and in the second; None if it has one speed.
        whole: the write went to the end of the drive.
        oscillates: its bins are fast and slow in turns that are too short to be phases.
    """

    cache: float | None
    fast: float
    slow: tuple[tuple[float, float, float], ...]
    link: float
    capacity: float
    whole: bool
    oscillates: bool = False
    tiers: tuple[float, float, float] | None = None

    @property
    def is_sawtooth(self) -> bool:
        """Whether the write was fast, slow and fast again, more than once."""
        speeds = [speed for speed, _, _ in self.slow]
        rises = [after > CACHE_REUSED_SPEED_RATIO * before for before, after in pairwise(speeds)]
        return self.oscillates or sum(rises) > 1 or (any(rises) and not rises[-1])

    @property
    def is_link_limited(self) -> bool:
        """Whether the first phase is as fast as the link: the cells are faster by an unknown factor."""
        return self.fast >= LINK_LIMITED_RATIO * self.link

    @property
    def is_flat(self) -> bool:
        """Whether the write was as fast as the link from end to end: it says nothing of the cells."""
        limit = LINK_LIMITED_RATIO * self.link
        return self.cache is None and self.is_link_limited and all(speed >= limit for speed, _, _ in self.slow)


def summarize_phases(phases: Sequence[Phase], cache: float | None, link: float, capacity: float) -> CurveSummary:
    """The summary of a write over an empty drive.

    Args:
        cache: bytes at which the analysis sees the end of the cache; None if it sees none.
        link: bytes/s that the link and the host let through.
    """
    start = phases[0].from_bytes
    cached = [p for p in phases if cache is not None and p.to_bytes - start <= PHASE_TOLERANCE_RATIO * cache]
    rest = [p for p in phases if p not in cached]
    if cached:
        seconds = sum((p.to_bytes - p.from_bytes) / p.bytes_per_s for p in cached)
        fast = (cached[-1].to_bytes - cached[0].from_bytes) / seconds
    else:
        fast = max(p.bytes_per_s for p in phases)
    slow = tuple((p.bytes_per_s, p.from_bytes - start, p.to_bytes - start) for p in rest)
    whole = phases[-1].to_bytes - start > WHOLE_FILL_SHARE * capacity
    return CurveSummary(cache if cached else None, fast, slow, link, capacity, whole, tiers=_tiers(cached))


def _tiers(cached: Sequence[Phase]) -> tuple[float, float, float] | None:
    """A first tier and a second one, if the cache's two phases are as different as those of one and two bits a cell."""
    if len(cached) != 2 or cached[1].bytes_per_s > MAX_TIER_SPEED_RATIO * cached[0].bytes_per_s:
        return None
    first, second = cached
    return first.to_bytes - first.from_bytes, first.bytes_per_s, second.bytes_per_s


def split(curve: Curve, at_bytes: float) -> list[Phase]:
    """Two phases of a curve, before and after a number of bytes."""
    start, end = float(curve.edges_bytes[0]), float(curve.edges_bytes[-1])
    times = np.r_[0.0, np.cumsum(curve.seconds)]
    phases = []
    for first, last in pairwise((start, start + at_bytes, end)):
        since, until = np.interp([first, last], curve.edges_bytes, times)
        phases.append(Phase(first, last, float((last - first) / (until - since)), first, first, 0.0, 0.0))
    return phases


def initial_guesses(summary: CurveSummary, firmware: FirmwareModel) -> Iterator[dict[str, float]]:
    """Starts of a fit of a firmware model to a first write: natural values of all parameters."""
    base = {name: parameter.prior_mean for name, parameter in PARAMETERS.items()}
    if not firmware.has_cache:
        rate = HIDDEN_SPEED_RATIO * summary.link if summary.is_link_limited else summary.fast
        yield base | {"native_rate": rate}
    elif summary.cache is None and summary.is_link_limited:
        yield from (base | values for values in _hidden_caches(summary, firmware))
    else:
        if summary.is_link_limited:
            # As fast as the link by chance, or faster by an unknown factor; from beyond it no slope leads back.
            beyond = max(HIDDEN_SPEED_RATIO * summary.link, summary.fast)
            yield from initial_guesses(replace(summary, fast=beyond, link=np.inf), firmware)
        base |= {"slc_rate": summary.fast} | _cache_values(summary, firmware)
        yield from (base | values for values in _visible_caches(summary, firmware))


def _cache_values(summary: CurveSummary, firmware: FirmwareModel) -> dict[str, float]:
    """Sizes of the cache's parts, and the rates of two tiers."""
    if firmware.has_two_tiers and summary.tiers and summary.cache:
        first, fast, slower = summary.tiers
        sizes = {"static": first / summary.capacity, "dynamic": (summary.cache - first) / summary.capacity}
        return {"slc_rate": fast, "mlc_rate": slower, **sizes}
    size = summary.cache / summary.capacity if summary.cache else UNSEEN_CACHE_SHARE
    sizes = {"dynamic": size, "static": size}
    if firmware.mode == "hybrid-slc":
        sizes |= {"dynamic": 0.7 * size, "static": 0.3 * size}
    if firmware.mode == "static-slc":
        sizes["over_provisioning"] = 0.05
    return sizes


def _visible_caches(summary: CurveSummary, firmware: FirmwareModel) -> Iterator[dict[str, float]]:
    """A cache whose end was seen, or which the write did not fill."""
    if not summary.slow:
        yield from ({"native_rate": ratio * summary.fast} for ratio in NATIVE_SPEED_RATIOS)
        return
    for rates in _RULES[firmware.when_full](summary, firmware):
        yield rates
        if firmware.when_full != "fold" and len(summary.slow) > 1:
            yield rates | {"over_provisioning": LARGE_OVER_PROVISIONING}


def _hidden_caches(summary: CurveSummary, firmware: FirmwareModel) -> Iterator[dict[str, float]]:
    """A cache behind a link that is slower than cells of both modes: only the end of the space is seen."""
    n = firmware.bits_per_cell
    limit = LINK_LIMITED_RATIO * summary.link
    slower = [(since, speed) for speed, since, _ in summary.slow if speed < limit]
    end, last = slower[0] if slower else (summary.capacity, 0.0)
    size = min(max((1 + TYPICAL_OVER_PROVISIONING - end / summary.capacity) / (n - 1), 0.01), 0.9 / n)
    for faster in HIDDEN_SPEED_RATIOS:
        direct = faster * summary.link
        rates = {"dynamic": size, "static": size, "slc_rate": 3 * direct, "native_rate": direct}
        if last:
            rates["fold_overhead"] = _fold_overhead(direct, last, n)
        if firmware.when_full == "direct-while-folding":
            # What it folds on the way is space again: the cache may be larger.
            for share, times in product(HOST_SHARES, (1.0, 2.5)):
                larger = min(times * size, 0.9 / n)
                yield rates | {
                    "host_share": share, "native_rate": direct / share, "dynamic": larger, "static": larger,
                }  # fmt: skip
        else:
            yield rates


def _fold(summary: CurveSummary, firmware: FirmwareModel) -> Iterator[dict[str, float]]:
    """Rates of a drive that writes to its cache only: the first write determines k/Rx."""
    speeds = dict.fromkeys((summary.slow[0][0], summary.slow[-1][0]))
    if summary.is_sawtooth and summary.cache:
        for batch, speed in product(FOLD_BATCHES, speeds):
            yield {"native_rate": 1.5 * speed, "fold_overhead": 1.5, "batch": batch}
    for speed, remaining in product(speeds, (0.03, 0.97)):
        rate = 1.5 / max(1 / speed - 1 / (HIDDEN_SPEED_RATIO * summary.fast), 0.02 / speed)
        yield {"native_rate": rate, "fold_overhead": 1.5, "dynamic_min": remaining}


def _direct_then_fold(summary: CurveSummary, firmware: FirmwareModel) -> Iterator[dict[str, float]]:
    """Rates of a drive that writes to native cells until its space ends."""
    n = firmware.bits_per_cell
    speeds = [speed for speed, _, _ in summary.slow]
    first, last = speeds[0], speeds[-1]
    spare = _over_provisioning(summary, n)
    yield {"native_rate": first, "fold_overhead": _fold_overhead(first, last, n), "over_provisioning": spare}
    held = _space_held(summary, n)
    if held > 0:
        # It folds with space to spare.
        yield {"native_rate": first, "fold_overhead": _fold_overhead(first, last, n),
               "over_provisioning": TYPICAL_OVER_PROVISIONING, "watermark": held}  # fmt: skip
    if len(speeds) > 1:
        overhead = _fold_overhead(max(speeds), min(speeds), n)
        yield {"native_rate": max(speeds), "fold_overhead": overhead, "over_provisioning": spare}
    for k in FOLD_OVERHEADS[::2]:
        yield {"native_rate": first * (1 + k / (n - 1)), "fold_overhead": k, "over_provisioning": 0.03}


def _direct_while_folding(summary: CurveSummary, firmware: FirmwareModel) -> Iterator[dict[str, float]]:
    """Rates of a drive that folds beside the host: the host's share of the dies, and the cost of folding."""
    speed, since, until = summary.slow[0]
    length, size = until - since, summary.cache or 0.0
    if summary.is_sawtooth and size:
        # The first tooth is the cache folded once; later teeth are shorter where the cache shrinks.
        for share, remaining in product(HOST_SHARES, (0.97, 0.5)):
            k = min(max(length * (1 - share) / (size * share), MIN_OVERHEAD), MAX_OVERHEAD)
            yield {"native_rate": speed / share, "host_share": share, "fold_overhead": k,
                   "over_provisioning": TYPICAL_OVER_PROVISIONING, "dynamic_min": remaining}  # fmt: skip
        return
    spare = _over_provisioning(summary, firmware.bits_per_cell)
    later = (max(rate for rate, _, _ in summary.slow), summary.slow[-1][0])
    for rate, ratio in product(dict.fromkeys(rate for rate in later if rate > 1.1 * speed), HOST_SHARE_RATIOS):
        share = min(max(ratio * speed / rate, 0.05), 0.95)
        k = length * (1 - share) / (size * share) if size else 1.5
        k = min(max(k, MIN_FOLD_BESIDE_OVERHEAD), MAX_OVERHEAD)
        # What ended may have been the folding, or the space.
        for space in (spare, TYPICAL_OVER_PROVISIONING):
            yield {"native_rate": rate, "host_share": share, "fold_overhead": k, "over_provisioning": space}
    for k, share in product(FOLD_OVERHEADS, HOST_SHARES):
        yield {"native_rate": speed / _host_rate(firmware, share, k), "host_share": share, "fold_overhead": k,
               "over_provisioning": TYPICAL_OVER_PROVISIONING}  # fmt: skip


_RULES: Final = {"fold": _fold, "direct-then-fold": _direct_then_fold, "direct-while-folding": _direct_while_folding}


def equivalent_host_shares(
    values: Mapping[str, float], firmware: FirmwareModel, share: float
) -> list[dict[str, float]]:
    """Values with another share of die time for the host that write as fast beside folding, for as long.

    Where freed cache is written to at once, the end of such a phase is that of the space; then several overheads are
    possible.
    """
    before, overhead = values["host_share"], values["fold_overhead"]
    host_rate = values["native_rate"] * _host_rate(firmware, before, overhead)
    as_long = overhead * (before / (1 - before) * (1 - share) / share)
    return [
        {"host_share": share, "native_rate": host_rate / _host_rate(firmware, share, k), "fold_overhead": k}
        for k in (FOLD_OVERHEADS if firmware.reuse == "as-freed" else (as_long,))
    ]


def _host_rate(firmware: FirmwareModel, share: float, overhead: float) -> float:
    """Bytes that the host writes beside folding, over those that the dies program.

    What is freed may take the host's data again, at once if it is reused so: each such byte is folded once.
    """
    return share + (1 - share) / overhead if firmware.reuse == "as-freed" else share


def _over_provisioning(summary: CurveSummary, n: int) -> float:
    """Over-provisioning from the end of the direct phase: S + Raw - nS - reserve."""
    if len(summary.slow) < 2 or summary.cache is None:
        return TYPICAL_OVER_PROVISIONING
    end = summary.slow[0][2]
    raw = end + (n - 1) * summary.cache + summary.capacity * RESERVE_SUPERBLOCKS / SUPERBLOCKS
    return min(max(raw / summary.capacity - 1, 0.015), 1.0)


def _space_held(summary: CurveSummary, n: int) -> float:
    """Free space when folding begins, as a share of the capacity, if the over-provisioning is typical."""
    if len(summary.slow) < 2 or summary.cache is None:
        return 0.0
    raw = summary.slow[0][2] + (n - 1) * summary.cache
    return min(1 + TYPICAL_OVER_PROVISIONING - raw / summary.capacity, 0.59)


def _fold_overhead(direct: float, folding: float, n: int) -> float:
    """Fold overhead from the speeds before and after the space ended."""
    return min(max((direct / folding - 1) * (n - 1), MIN_OVERHEAD), MAX_OVERHEAD)
