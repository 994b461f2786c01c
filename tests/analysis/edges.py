"""An input on either side of each threshold of the analysis: `EDGES` by the threshold's name.

Each edge puts a quantity a little below and a little above the value that stands here, and says both answers. The
numbers are written out: an edge that took them from `pslc.analysis.thresholds` would move with a mistake there.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pslc.analysis import (
    AccessPattern,
    AnalysisOptions,
    CacheEnd,
    CauseEstimate,
    Curve,
    MeasurementContext,
    Phase,
    analysis_warnings,
    blackbox_causes,
    cache_end,
    sentences,
)
from pslc.analysis.boundary import _between_nearest, _edge_error_bytes, _Side, _side, _sides, locate
from pslc.analysis.change_points import change_points
from pslc.analysis.load import Load
from pslc.analysis.pauses import average_pauses
from pslc.analysis.phases import _same_typical_speed, _shape, _without_straddling
from pslc.analysis.recovery import Pause, RecoveryEstimate, estimate_recovery, next_pause
from pslc.analysis.runs import Segmentation
from pslc.analysis.segment import _is_start, _Part, _ripple, _strength, rough_boundaries
from pslc.analysis.series import Floats
from pslc.analysis.slowdowns import _boundaries, _weakest, find_slowdowns
from pslc.analysis.warnings import _irregular_bins, _neighbourhood, _pipe, _spread_of_parts, _wide_interval

GB, MB = 1e9, 1e6
DRIVE = MeasurementContext(capacity_bytes=1000 * GB)
SEQUENTIAL = AccessPattern(0.0, 1000 * GB, 512e3, random=False)
RANDOM = AccessPattern(0.0, 1000 * GB, 512e3, random=True)
FAR = AccessPattern(0.0, 1000 * GB, 4096, random=True)
OWN = replace(DRIVE, access_patterns=[SEQUENTIAL])


@dataclass(frozen=True)
class Edge:
    """The answers on both sides of a threshold.

    Attributes:
        at: the threshold.
        answer: of the quantity that is compared with it.
        below, above: the answers at 95 % and at 105 % of it, or at `low` and `high`.
    """

    at: float
    answer: Callable[[float], Any]
    below: Any
    above: Any
    low: float | None = None
    high: float | None = None

    @property
    def sides(self) -> tuple[float, float]:
        """The quantity below and above the threshold."""
        low = 0.95 * self.at if self.low is None else self.low
        return low, 1.05 * self.at if self.high is None else self.high

    def holds(self) -> bool:
        """Whether both answers are as they should be."""
        low, high = self.sides
        return bool(self.answer(low) == self.below) and bool(self.answer(high) == self.above)


def phases(*stretches: tuple[float, float] | tuple[float, float, dict[str, float]]) -> list[Phase]:
    """Each is its end in GB, its speed in MB/s, and what else it has."""
    made, start = [], 0.0
    for end, speed, *rest in stretches:
        shape: dict[str, float] = {
            "spread": 0.01,
            "drift": 0.0,
            "usual_bytes_per_s": speed * MB,
            **(rest[0] if rest else {}),
        }
        made.append(Phase(start * GB, end * GB, speed * MB, start * GB, start * GB, **shape))
        start = end
    return made


def estimate(index: int, context: MeasurementContext, *stretches: Any) -> CauseEstimate:
    return blackbox_causes(phases(*stretches), context)[index]


def cause(index: int, context: MeasurementContext, *stretches: Any) -> str:
    return estimate(index, context, *stretches).cause


def past(speed: float, behind: float = 1000.0, cache: float = 30.0, **shape: float) -> list[Any]:
    """A cache, and one speed behind it to the end of the drive."""
    return [(cache, speed), (1000, behind, shape)]


def waits(*seconds: float, mean_s: float = 1e-3, number: int = 1) -> MeasurementContext:
    """The same longest requests in all phases."""
    p5, median, p95, largest = seconds
    rows = [(p5, median, p95, largest)] * number
    return replace(DRIVE, slowest_quantiles_s=rows, mean_s=[mean_s] * number)


def depth_one(mean_s: float, longest_s: float, fastest_s: float | None = None, **context: Any) -> MeasurementContext:
    soonest = mean_s if fastest_s is None else fastest_s
    return replace(DRIVE, mean_s=[mean_s], longest_s=[longest_s], fastest_s=[soonest], is_depth_one=True, **context)


def curve_of(speeds: Any, bin_bytes: float = GB) -> Curve:
    """A curve of one speed (MB/s) a bin."""
    array = np.asarray(speeds, dtype=np.float64) * MB
    return Curve(np.arange(array.size + 1) * bin_bytes, bin_bytes / array)


def _ends(fall: float) -> bool:
    falling = phases((500, 1000), (1000, 1000 * (1 - fall)))
    return cache_end(curve_of([1000] * 500 + [1000 * (1 - fall)] * 500), falling) is not None


FOLDED = {"scatter": 0.08}
MAPPED = replace(DRIVE, map_bytes=1 * GB, access_patterns=[FAR])
FULL = replace(DRIVE, access_patterns=[SEQUENTIAL, replace(RANDOM, from_bytes=1000 * GB)])
LINK = replace(DRIVE, link_bytes_per_s=3000 * MB)

NAND: dict[str, Edge] = {
    "MIN_LIKELY_NATIVE_RATIO": Edge(0.22, lambda x: cause(1, DRIVE, *past(3000, 3000 * x)), "fold", "direct"),
    "MIN_NATIVE_RATIO": Edge(
        0.08, lambda x: cause(1, waits(1, 1, 1, 1, number=2), *past(3000, 3000 * x)), "fold", "direct"
    ),
    "MIN_STEADY_NATIVE_RATIO": Edge(
        0.14, lambda x: cause(1, waits(1, 1, 1, 2, number=2), *past(3000, 3000 * x)), "fold", "direct"
    ),
    "MAX_FOLD_FROM_NATIVE_RATIO": Edge(
        0.67, lambda x: cause(1, DRIVE, (100, 3000), (500, 1000), (900, 1000 * x)), "direct", "fold"
    ),
    "MIN_CACHE_AGAIN_RATIO": Edge(
        0.62, lambda x: cause(2, DRIVE, (100, 3000), (400, 500), (500, 3000 * x), (1000, 450)), "native", "pslc"
    ),
    "MIN_CACHE_AGAIN_RATIO_HOST_LIMITED": Edge(
        0.9,
        lambda x: cause(
            2, replace(DRIVE, cpu_share=[1.0, 0, 0, 0]), (100, 3000), (400, 500), (500, 3000 * x), (1000, 450)
        ),
        "native",
        "pslc",
    ),
    "MAX_REFILL_RATIO": Edge(
        1.5, lambda x: cause(2, DRIVE, (100, 3000), (400, 500), (400 + 100 * x, 2900), (1000, 450)), "pslc", "native"
    ),
    "MAX_BUFFER_SHARE": Edge(
        0.004,
        lambda x: cause(1, replace(OWN, cpu_share=[1.0, 0, 0]), (1000 * x, 3000), (300, 2500), (1000, 500)),
        "pslc",
        "direct",
    ),
    "SAME_SPEED_TOLERANCE": Edge(
        0.12, lambda x: cause(2, DRIVE, (100, 3000), (400, 500), (1000, 500 * (1 + x))), "fold", "native"
    ),
    "SAME_SPEED_TOLERANCE_OTHER_LOAD": Edge(
        0.2, lambda x: cause(2, FULL, (300, 4000), (1000, 500), (2000, 500 * (1 - x))), "fold", "gc"
    ),
    "MIN_FOLD_DRIFT": Edge(0.004, lambda x: cause(1, OWN, *past(2300, 414, drift=x)), "direct", "fold"),
    "MAX_NATIVE_SPREAD": Edge(0.1, lambda x: cause(1, OWN, *past(2300, 414, spread=x)), "direct", "fold"),
    "MIN_DECAY_DRIFT": Edge(
        0.1, lambda x: cause(1, DRIVE, (100, 3000), (500, 1000, {"drift": x}), (900, 800)), "fold", "direct"
    ),
    "EQUAL_WAIT_TOLERANCE": Edge(
        0.0001, lambda x: cause(1, waits(1, 1, 1 + x, 1 + x, number=2), *past(2300, 230)), "direct", "fold"
    ),
    "MAX_EVEN_WAIT_RATIO": Edge(
        1.1, lambda x: cause(0, waits(2e-3, 2e-3, 2e-3, 2e-3 * x), (200, 2000)), "native", "pslc"
    ),
    "MEAN_WAIT_TOLERANCE": Edge(
        0.05, lambda x: cause(0, waits(*[10e-3 * (1 + x) + 0.65e-3] * 4, mean_s=10e-3), (200, 2000)), "pslc", "native"
    ),
    "MAX_SLC_PROGRAM_S": Edge(0.65e-3, lambda x: cause(0, waits(*[1.05e-3 + x] * 4), (200, 2000)), "pslc", "native"),
    "PHASE_START_SHARE": Edge(
        0.1,
        lambda x: cause(
            0, replace(DRIVE, access_patterns=[SEQUENTIAL, replace(RANDOM, from_bytes=100 * GB * x)]), (100, 3000)
        ),
        "unknown",
        "pslc",
    ),
    "MAX_RANDOM_CACHED_SHARE": Edge(
        0.05, lambda x: cause(0, replace(DRIVE, access_patterns=[RANDOM]), (1000 * x, 3000)), "pslc", "unknown"
    ),
    "MIN_MAP_FREE_REQUEST_BYTES": Edge(
        64e3,
        lambda x: cause(0, replace(MAPPED, access_patterns=[replace(FAR, request_bytes=x)]), (20, 300)),
        "map",
        "pslc",
    ),
    "MIN_NEAR_SPAN_RATIO": Edge(
        4,
        lambda x: cause(
            1,
            replace(DRIVE, access_patterns=[replace(FAR, span_bytes=1000 * GB / x), replace(FAR, from_bytes=1 * GB)]),
            (1, 400),
            (3, 150),
        ),
        "pslc",
        "map",
    ),
    "MIN_MAP_MISS_SPREAD": Edge(
        0.05,
        lambda x: cause(0, replace(MAPPED, mean_s=[1e-3], longest_s=[1e-3]), (3, 150, {"spread": x})),
        "pslc",
        "map",
    ),
    "MIN_CLIFF_FALL": Edge(0.2, _ends, False, True),
    "WHOLE_DRIVE_SHARE": Edge(
        0.98, lambda x: estimate(0, DRIVE, (1000 * x, 2000)).confidence, 0.95, 0.98, low=0.97, high=0.99
    ),
}

PLATEAUS: dict[str, Edge] = {
    "MIN_NATIVE_BITS": Edge(3, lambda x: cause(0, DRIVE, (1200 / x, 2000)), "native", "pslc"),
    "MAX_RAW_CAPACITY_RATIO": Edge(1.2, lambda x: cause(0, DRIVE, (1000 * x / 3, 2000)), "pslc", "native"),
    "MIN_BEYOND_LINK_RATIO": Edge(1.12, lambda x: cause(0, LINK, (200, 3000 * x)), "link", "page-cache"),
}

AROUND: dict[str, Edge] = {
    "LINK_FULL_SHARE": Edge(0.965, lambda x: cause(0, LINK, (200, 3000 * x)), "pslc", "link"),
    "MIN_MEAN_OF_TYPICAL_RATIO": Edge(
        0.6, lambda x: cause(0, LINK, (200, 3000 * x, {"usual_bytes_per_s": 3000 * MB})), "pslc", "link"
    ),
    "MIN_COLLECTED_SHARE": Edge(
        0.03, lambda x: cause(1, replace(DRIVE, random=True), (1000 * x, 3000), (500, 1000)), "unknown", "gc"
    ),
    "MAX_COLLECTED_RATIO": Edge(
        0.88, lambda x: cause(1, replace(DRIVE, random=True), (100, 3000), (500, 3000 * x)), "gc", "unknown"
    ),
    "THROTTLED_TIME_TOLERANCE": Edge(
        0.05,
        lambda x: cause(1, replace(DRIVE, throttled_s=380 / (1 + x)), (30, 3000), (600, 1500), (1000, 200)),
        "thermal",
        "direct",
    ),
    "THROTTLED_TO_END_TOLERANCE": Edge(
        0.005,
        lambda x: cause(1, replace(DRIVE, throttled_s=2380 / (1 + x)), (30, 3000), (600, 1500), (1000, 200)),
        "thermal",
        "direct",
    ),
    "MAX_UNWAITED_RATIO": Edge(1.5, lambda x: cause(0, depth_one(20e-6, 20e-6 * x), (300, 400)), "host", "pslc"),
    "MAX_UNWAITED_REQUEST_S": Edge(
        40e-6,
        lambda x: cause(
            0,
            depth_one(
                64e3 / 7e9 + x,
                64e3 / 7e9 + x,
                link_bytes_per_s=7e9,
                access_patterns=[replace(SEQUENTIAL, request_bytes=64e3)],
            ),
            (300, 1000),
        ),
        "host",
        "pslc",
    ),
    "MAX_UNWAITED_SHARE": Edge(
        0.1, lambda x: cause(0, depth_one(20e-6, 20e-6, 20e-6 * (1 - x)), (300, 400)), "host", "pslc"
    ),
    "MIN_PROGRAM_S": Edge(
        80e-6, lambda x: cause(0, replace(DRIVE, synced_bytes=4096.0), (6, 4096 / x / MB)), "pslc", "flush"
    ),
    "MIN_SYNC_WRITE_SHARE": Edge(
        0.9, lambda x: cause(0, replace(DRIVE, synced_bytes=4096.0, mean_s=[x * 1e-3]), (6, 4.096)), "pslc", "flush"
    ),
    "MIN_FLUSH_SHARE": Edge(
        0.5,
        lambda x: cause(0, replace(DRIVE, synced_bytes=4096.0, mean_s=[(1 - x) * 1e-3]), (6, 4.096)),
        "pslc",
        "flush",
    ),
    "MIN_WAKE_SHARE": Edge(
        0.3,
        lambda x: cause(0, replace(DRIVE, first_request_extra_s=1000 * x, silence_s=5.0), (1000, 1000)),
        "native",
        "power",
    ),
    "MIN_OTHER_TRAFFIC_SHARE": Edge(
        0.25, lambda x: cause(0, replace(DRIVE, other_share=[x]), (1000, 1000)), "native", "other"
    ),
    "BUSY_CPU_SHARE": Edge(0.95, lambda x: cause(0, replace(DRIVE, cpu_share=[x]), (1000, 1000)), "native", "cpu"),
    "MAX_DRAM_BYTES": Edge(
        4e9, lambda x: cause(0, replace(LINK, capacity_bytes=2000 * GB), (x / GB, 3000), (2000, 2000)), "dram", "link"
    ),
    "MAX_DRAM_SHARE": Edge(
        0.01, lambda x: cause(0, replace(LINK, capacity_bytes=100 * GB), (100 * x, 3000), (100, 2000)), "dram", "link"
    ),
    "CERTAIN_DRAM_SHARE": Edge(0.002, lambda x: cause(0, DRIVE, (1000 * x, 3000), (1000, 2000)), "dram", "pslc"),
    "MAX_BEHIND_DRAM_RATIO": Edge(0.85, lambda x: cause(0, DRIVE, (1, 3000), (1000, 3000 * x)) == "dram", True, False),
    "MIN_THROTTLE_CELSIUS": Edge(
        65.0, lambda x: replace(DRIVE, celsius=(np.array([0.0, GB]), np.array([x, x]))).is_hot(0.0, GB), False, True
    ),
    "HOT_TOLERANCE_K": Edge(
        3.0,
        lambda x: replace(
            DRIVE, celsius=(np.array([0.0, GB, 2 * GB, 9 * GB]), np.array([90 - x, 90 - x, 90.0, 90.0]))
        ).is_hot(0.0, GB),
        True,
        False,
    ),
}


def boundaries(*stretches: tuple[int, float]) -> int:
    """How many boundaries are found between stretches of so many bins at such speeds."""
    return len(
        rough_boundaries(curve_of(np.repeat([speed for _, speed in stretches], [bins for bins, _ in stretches])))
    )


def steady(bins: int, speed: float = 1000.0, spread: float = 0.0, seed: int = 0) -> Floats:
    """Speeds that scatter, in natural logarithms, by `spread`."""
    return speed * np.exp(np.random.default_rng(seed).normal(0.0, spread, bins)) if spread else np.full(bins, speed)


def located(bins: int, about: float, boundary: int | None = None) -> bool:
    """Whether the boundary in the middle is found from a rough answer so many bins behind it."""
    middle = boundary or bins // 2
    curve = curve_of(np.concatenate((steady(middle, 3000, 0.02), steady(bins - middle, 1000, 0.02, 1))))
    end = locate(curve, (middle + about) * GB, 0.0, bins * GB, seed=0, replicates=2).bytes
    return abs(end - middle * GB) < 2 * GB


def texts(curve: Curve, *stretches: Any, **options: Any) -> set[str]:
    """The codes of the warnings about a curve of these phases."""
    found = analysis_warnings(curve, phases(*stretches), options=AnalysisOptions(**options))
    return {warning.code for warning in found}


def _beyond(share: float) -> set[str]:
    """The codes of the warnings about another program's write of a share of the capacity."""
    curve = curve_of(steady(100))
    return texts(curve, (100, 1000), capacity_bytes=curve.total_bytes / share, context=MeasurementContext())


def _own_bin(step: float) -> int:
    """Boundaries left of two that enclose one bin, whose speed is so far (in logarithms) from the nearer side."""
    speeds = np.array([3000.0] * 20 + [3000 * math.exp(-step), 1000 * math.exp(step)] + [1000.0] * 20)
    return len(_without_straddling(curve_of(speeds), [20 * GB, 22 * GB]))


def _straddled(bins: float) -> int:
    """Boundaries left of two that enclose so many bins of a speed in between."""
    count = round(bins)
    speeds = [3000.0] * 20 + [2900.0] * (count - 1) + [1700.0] + [1000.0] * 20
    return len(_without_straddling(curve_of(speeds), [20 * GB, (20 + count) * GB]))


def pauses(*given: tuple[float, float]) -> RecoveryEstimate:
    return estimate_recovery([Pause(float(idle_s), float(fast_bytes)) for idle_s, fast_bytes in given], 1e3)


def work(*stretches: tuple[float, float, float, float], reads: float = 0.0, latency_s: float | None = None) -> Load:
    """Stretches of so many intervals of 1 s, at such a speed in MB/s, busy for such a share, in requests so large."""
    rows = np.concatenate(
        [np.tile([speed * MB, busy, size], (int(count), 1)) for count, speed, busy, size in stretches]
    )
    moved = rows[:, 0] * rows[:, 1]
    return Load.of(
        seconds=np.ones(len(rows)),
        write_bytes=moved * (1 - reads),
        read_bytes=moved * reads,
        writes=moved * (1 - reads) / rows[:, 2],
        reads=moved * reads / rows[:, 2],
        busy_s=rows[:, 1],
        write_s=8.0 * rows[:, 1] * (1 - reads),
        read_s=8.0 * rows[:, 1] * reads,
    )


def slowdowns(*stretches: tuple[float, float, float, float], **options: Any) -> int:
    return len(find_slowdowns(work(*stretches, **options)))


def row(**values: Any) -> Any:
    """A phase as run.json holds it."""
    return {
        "cause": "pslc",
        "confidence": 1.0,
        "bytes_per_s": 1e9,
        "because": "",
        "spread": 0.0,
        "drift": 0.0,
        **values,
    }


def described(*rows: Any, **more: Any) -> str:
    findings: Any = {
        "cache_bytes": None, "cache_bytes_low": None, "cache_bytes_high": None, "fill_mean_bytes_per_s": None,
        "phases": list(rows), "warnings": [], **more,
    }  # fmt: skip
    return " ".join(sentences.describe(findings))


CURVES: dict[str, Edge] = {
    "MAX_PHASES": Edge(
        12, lambda x: boundaries(*[(100, 1000 * (3 if i % 2 else 1)) for i in range(round(x))]), 10, 11, low=11, high=14
    ),
    "MIN_LOG_STEP": Edge(math.log(1.12), lambda x: boundaries((200, 1000), (200, 1000 * math.exp(x))), 0, 1),
    "MIN_PHASE_SHARE": Edge(0.005, lambda x: boundaries((1000, 9000), (math.ceil(2000 * x), 3000), (1000, 1000)), 1, 2),
    "MAX_EXCURSION_SHARE": Edge(0.015, lambda x: boundaries((1000, 3000), (round(2000 * x), 1000), (1000, 3000)), 0, 2),
    "BOUNDARY_SEARCH_SHARE": Edge(0.02, lambda x: located(4000, 4000 * x), True, False),
    "MAX_BOUNDARY_SEARCH_BINS": Edge(400, lambda x: located(40000, x), True, False),
    "MIN_OWN_LOG_SPEED": Edge(0.25, _own_bin, 1, 2),
    "MAX_STRADDLED_BINS": Edge(2, _straddled, 1, 2, low=2, high=3),
    "MERGE_LOG_SPEED": Edge(
        0.06, lambda x: _same_typical_speed(*phases((500, 1000), (1000, 1000 * math.exp(x)))), True, False
    ),
    "MIN_SHAPE_BINS": Edge(
        4, lambda x: _shape(curve_of([1000.0, 2000.0] * 5), 0.0, round(x) * GB)[0] > 0, False, True, low=3, high=4
    ),
    "MIN_SEGMENT_SAMPLES": Edge(
        2, lambda x: len(change_points(np.array([0.0, 0.0, 9.0, 9.0][: round(x)]), 0.1)), 0, 1, low=3, high=4
    ),
}

PAUSES: dict[str, Edge] = {
    "MIN_PAUSE_S": Edge(
        10.0, lambda x: slowdowns((30, 1000, 1, 1e5), (round(x), 0, 0, 1), (30, 100, 1, 1e5)), 1, 0, low=9, high=10
    ),
    "MAX_RESTING_BUSY_SHARE": Edge(0.05, lambda x: len(work((30, 1000, 1, 1e5), (30, 1000, x, 1e5)).pauses()), 1, 0),
    "MIN_SLOWDOWN_RATIO": Edge(1.5, lambda x: slowdowns((60, 1000, 1, 1e5), (60, 1000 / x, 1, 1e5)), 0, 1),
    "MIN_RECOVERED_SPEED_RATIO": Edge(
        0.7,
        lambda x: find_slowdowns(work((60, 1000, 1, 1e5), (60, 100, 1, 1e5), (60, 1000 * x, 1, 1e5)))[0].recovery.at_s,
        None,
        120.0,
    ),
    "MAX_REQUEST_SIZE_RATIO": Edge(2.0, lambda x: slowdowns((60, 1000, 1, 1e5), (60, 100, 1, 1e5 / x)), 1, 0),
    "MIN_DIRECTION_SHARE": Edge(0.7, lambda x: slowdowns((60, 1000, 1, 1e5), (60, 100, 1, 1e5), reads=1 - x), 0, 1),
    "MIN_BUSY_SHARE": Edge(0.2, lambda x: slowdowns((60, 1000, x, 1e5), (60, 100, x, 1e5)), 0, 1),
    "MIN_STEADY_S": Edge(3.0, lambda x: slowdowns((60, 1000, 1, 1e5), (3, 100, x / 3, 1e5), (60, 1000, 1, 1e5)), 0, 1),
    "MIN_PAUSE_RATIO": Edge(
        1.002,
        lambda x: next_pause([Pause(100.0, 0.0), Pause(100.0 * x, 1e9)]) is None,
        True,
        False,
        low=1.001,
        high=1.003,
    ),
}

WARNINGS: dict[str, Edge] = {
    "MIN_CURVE_BINS": Edge(
        64, lambda x: "few-bins" in texts(curve_of(steady(round(x))), (x, 1000)), True, False, low=63, high=64
    ),
    "MIN_PHASE_BINS": Edge(
        8,
        lambda x: "short-phase" in texts(curve_of(steady(100)), (round(x), 1000), (100, 1000)),
        True,
        False,
        low=7,
        high=8,
    ),
    "MIN_GAP_RATIO": Edge(
        4.0, lambda x: "gaps" in {w.code for w in _irregular_bins(_one_bin(width=x, seconds=x))}, False, True
    ),
    "MIN_STALL_RATIO": Edge(
        10.0, lambda x: "stalls" in {w.code for w in _irregular_bins(_one_bin(width=1.0, seconds=x))}, False, True
    ),
    "MIN_STALL_S": Edge(
        1.0,
        lambda x: "stalls" in {w.code for w in _irregular_bins(_one_bin(width=1.0, seconds=20.0, usual_s=x / 20))},
        False,
        True,
    ),
    "MAX_WRITTEN_SHARE": Edge(1.1, lambda x: "over" in _beyond(x), False, True),
    "MAX_LAST_PHASE_DRIFT": Edge(
        0.15, lambda x: "drifting" in texts(curve_of(steady(100)), (100, 1000, {"drift": x})), False, True
    ),
    "MAX_PHASE_SPREAD": Edge(
        0.25,
        lambda x: (
            "unsteady"
            in texts(curve_of(np.repeat([1000 * (1 - x), 1000, 1000 * (1 + x)], 200)), (600, 1000, {"spread": 9.0}))
        ),
        False,
        True,
    ),
    "MAX_CACHE_INTERVAL_SHARE": Edge(
        0.05, lambda x: len(_wide_interval(CacheEnd(100.0, 100.0, 100.0 + 100 * x, True), own=True)), 0, 1
    ),
    "MAX_FALL_RATIO": Edge(
        0.8,
        lambda x: "for other reasons" in described(row(cause="link"), row(cause="host", bytes_per_s=1e9 * x)),
        True,
        False,
    ),
    "MIN_STATED_CONFIDENCE": Edge(
        0.5,
        lambda x: "is not known" in described(row(), row(cause="thermal", bytes_per_s=1e8), cache_confidence=x),
        True,
        False,
    ),
    "MIN_SURE_CONFIDENCE": Edge(0.9, lambda x: "robably" in described(row(confidence=x)), True, False),
    "SAME_SIZE_TOLERANCE": Edge(0.05, lambda x: sentences.alike(100.0, 100.0 * (1 - x)), True, False),
    "MAX_LISTED_PHASES": Edge(
        4,
        lambda x: "Fastest" in described(*[row(bytes_per_s=1e9 / (i + 1)) for i in range(round(x))]),
        False,
        True,
        low=4,
        high=5,
    ),
}


def _one_bin(width: float, seconds: float, usual_s: float = 1.0) -> Curve:
    """A curve of 100 bins, of which one is so many times as wide and takes so many times as long."""
    widths, times = np.full(100, GB), np.full(100, usual_s)
    widths[50] *= width
    times[50] *= seconds
    return Curve(np.concatenate(([0.0], np.cumsum(widths))), times)


def _fine_start(ratio: float) -> bool:
    """Whether a cache of two cells is seen in a curve whose start has bins of a cell over `ratio`."""
    count = round(64 * ratio)
    widths = np.concatenate([np.full(count, 64 / count), np.ones(1984)])
    edges = np.concatenate([[0.0], np.cumsum(widths)]) * GB
    return len(rough_boundaries(Curve(edges, widths * GB / np.where(edges[:-1] < 2.4 * GB, 4e9, 1e9)))) > 0


def _hot_from(share: float) -> str:
    """The cause of a slower phase that begins so much before the sensor reaches its highest."""
    written = np.linspace(0.0, 600 * GB, 6001)
    heat = (written, np.where(written < 200 * GB * (1 + share), 50.0, 80.0))
    context = MeasurementContext(capacity_bytes=1000 * GB, celsius=heat)
    return cause(2, context, (100, 3000), (200, 1200), (600, 600))


def _alternating(parts: int) -> bool:
    """Whether speeds that alternate twice within each of so many parts have no spread."""
    (phase,) = phases((2 * parts, 1000))
    return _spread_of_parts(curve_of([500.0, 2000.0] * parts), phase) < 1e-9


def _is_ripple(step: float, length: float) -> bool:
    """Whether parts of so many thousandths that go up and down so far are a ripple."""
    ends = [300, *(300 + length * number for number in (1, 2, 3)), 1000]
    parts = [_Part(start, end, step * (at % 2)) for at, (start, end) in enumerate(zip([0, *ends], ends, strict=False))]
    return _ripple(parts, 1000) is not None


def _strong(step: float, length: int, swing: float) -> bool:
    """Whether a part of so many thousandths stands out by a step from the next, whose speeds swing so far."""
    level = np.concatenate((np.full(500, 2.0), np.full(length, step), np.tile([-swing / 2, swing / 2], 250)))[:1000]
    curve = curve_of(1000 * np.exp(level))
    parts = [
        _Part(0, 500 * GB, 2.0),
        _Part(500 * GB, (500 + length) * GB, step),
        _Part((500 + length) * GB, 1000 * GB, 0),
    ]
    return _strength(Segmentation(curve, (), 0.02, 1.0), parts, 1) >= 1.0


def _started(share: float, rise: float) -> bool:
    """Whether a first part of this share, before a rise of log speed, is no phase of its own."""
    return _is_start(_Part(0, 1000 * share, 0.0), _Part(1000 * share, 1000, rise), 1000)


def _pipe_of(speed: float, spread: float = 0.0) -> bool:
    """Whether a first phase fills a pipe."""
    return _pipe(phases((100, speed, {"spread": spread}))) is not None


def _drift(logarithm: float) -> int:
    speeds = 1e-3 * np.exp(logarithm * (np.arange(30) + 0.5) / 30)
    return round(math.log1p(_shape(curve_of(speeds), 0.0, 30 * GB)[2]))


def _interval(bins: int, middle: int) -> float:
    """How far above a boundary its interval reaches, in bytes, of a curve without noise."""
    curve = curve_of(np.repeat([3000.0, 1000.0], [middle, bins - middle]))
    boundary = locate(curve, middle * GB, 0.0, bins * GB, seed=0, replicates=20)
    return boundary.high - boundary.bytes


def _load_boundaries(noise: float) -> int:
    """Borders of a change of speed that exceeds so much noise."""
    step = noise * math.sqrt(6 * math.log(100) / 25)
    return len(_boundaries(np.repeat([1.0, math.exp(step)], 50), np.ones(100)))


def _change(step: float) -> int | None:
    moved = np.repeat([1.0, math.exp(step)], 50)
    return _weakest(moved, np.ones(100), [0, 50, 100])


def _slope(rise: float) -> bool:
    """Whether pauses whose gains rise by this share of all have a rate."""
    gains = [(0, 0.0), (100, 0.0), (200, 0.5), (210, 0.5 + rise / 2), (220, 0.5 + rise), (400, 1.0), (500, 1.0)]
    return pauses(*[(idle_s, 1e10 * share) for idle_s, share in gains]).rate_bytes_per_s is not None


def _after_buffer(last_s: float = 10.0, share: float = 0.2) -> bool:
    """Whether the threshold is looked for behind a share of all that was there after 1 s and is after `last_s`."""
    line = [(last_s + t, 1e10 * (share + (1 - share) * t / 20)) for t in (5, 10, 15, 20)]
    shelf = [(0.01, 0.0), (1.0, 1e10 * share), (last_s, 1e10 * share)]
    return pauses(*shelf, *line, (60, 1e10), (90, 1e10)).longest_without_s > 0.5


def _clock_error_s() -> float:
    """Half the interval of the threshold where the pauses lie on a line."""
    line = [(t, 1e9 * max(t - 10.0, 0.0)) for t in (0, 5, 9, 12, 14, 16, 18, 20, 30)]
    threshold = pauses(*line, (60, 20e9), (90, 20e9)).threshold_s
    assert threshold is not None
    return threshold.value - threshold.low


def _ones(count: int) -> float:
    """The neighbourhood of a bin among so many in a row that stand out."""
    column = np.zeros(101)
    column[50 - count // 2 : 50 - count // 2 + count] = 1.0
    return float(_neighbourhood(column)[50])


def _pauses_of(cycles: Any, pause: int = 1, slow: float = 100.0) -> bool:
    """Whether pauses of so many bins at so many MB/s are told, and end cycles of so many bins behind a cache."""
    speeds = [1000.0] * 300
    for cycle in cycles:
        speeds += [1000.0] * (round(cycle) - pause) + [slow] * pause
    begin = average_pauses(curve_of(speeds)).begin_bytes
    return begin is not None and begin < 310 * GB


def _beside(steps: float) -> bool:
    """Whether a bin beside a boundary that differs from its side by so many scatters moves the boundary."""
    side = _Side(0.0, 0.02, np.zeros(5)), _Side(-1.0, 0.02, np.zeros(5))
    level = np.array([0.0, 0.0, -0.5, -1.0 + 0.02 * steps, -1.0, -1.0])
    return _between_nearest(level, 0, 2.4, (0, 6), side) != 2.4


def _read_by_eye(correlation: float) -> bool:
    """Whether edges have errors where neighbouring widths have this correlation."""
    rng = np.random.default_rng(1)
    errors, own = rng.normal(0, 1, 20001), rng.normal(0, 1, 20000)
    part = -2 * correlation
    widths = 10 + np.sqrt(part / 2) * np.diff(errors) + np.sqrt(1 - part) * own
    edges = np.concatenate([[0.0], np.cumsum(np.clip(widths, 5, 15))]) * GB
    return _edge_error_bytes(Curve(edges, np.diff(edges) / 1e9)) > 0.0


DETAILS: dict[str, Edge] = {
    "MAX_PAUSE_SPEED_RATIO": Edge(0.4, lambda x: _pauses_of([8] * 8, slow=1000 * x), True, False),
    "MAX_STOPPED_SPEED_RATIO": Edge(0.2, lambda x: _pauses_of([200] * 6, 12, 1000 * x), True, False),
    "MIN_PAUSES": Edge(4, lambda x: _pauses_of([20] * round(x)), False, True, low=3, high=4),
    "MAX_CYCLE_SPREAD": Edge(0.15, lambda x: _pauses_of([200 * (1 - x), 200, 200 * (1 + x)] * 3, 6), True, False),
    "MAX_PAUSE_BYTES_SHARE": Edge(0.2, lambda x: _pauses_of([100] * 6, round(100 * x) + 2), True, False),
    "MIN_PAUSE_TIME_SHARE": Edge(0.15, lambda x: _pauses_of([20] * 8, slow=1000.0 * (1 - x) / (19 * x)), False, True),
    "MIN_NEAREST_STEP_RATIO": Edge(3.0, _beside, False, True),
    "MAX_READ_CORRELATION": Edge(-0.2, _read_by_eye, False, True),
    "MAX_HEAT_ONSET_SHARE": Edge(0.1, _hot_from, "thermal", "fold"),
    "SAME_PIPE_TOLERANCE": Edge(0.03, lambda x: _pipe_of(117 * (1 - x)), True, False),
    "MAX_PIPE_SPREAD": Edge(0.05, lambda x: _pipe_of(117, x), True, False),
    "MIN_FINER_HEAD_RATIO": Edge(1.9, _fine_start, False, True),
    "MIN_CACHE_SHARE": Edge(0.002, lambda x: _started(x, -1.0), True, False),
    "MAX_SLOW_START_SHARE": Edge(0.03, lambda x: _started(x, 1.0), True, False),
    "MAX_WAKING_LOG_RISE": Edge(math.log(4), lambda x: _started(0.01, x), True, False),
    "MIN_PHASE_SHARE_IN_RIPPLE": Edge(0.04, lambda x: _strong(0.2, round(1000 * x), 0.8), False, True),
    "RIPPLE_STEP_RATIO": Edge(0.625, lambda x: _strong(math.log(1.12) + 0.8 * x, 30, 0.8), False, True),
    "MAX_RIPPLE_LOG_STEP": Edge(math.log(2.5), lambda x: _is_ripple(x, 40), True, False),
    "MAX_RIPPLE_SHARE": Edge(0.06, lambda x: _is_ripple(0.5, 1000 * x), True, False),
    "SPREAD_PARTS": Edge(512, lambda x: _alternating(round(x)), False, True, low=500, high=512),
    "BOUNDARY_LEVEL_SHARE": Edge(
        0.05, lambda x: _sides(np.zeros(4000), 0, 2000, 4000, 0)[1].residuals.size > 4000 * x, True, False
    ),
    "MIN_BOUNDARY_ERROR_BYTES": Edge(16e6, lambda x: _interval(200, 100) > x, True, False),
    "MIN_LEVEL_BINS": Edge(3, lambda x: _interval(40, round(x)) < 1e8, False, True, low=2, high=3),
    "MIN_DRIFT_THIRD_BINS": Edge(
        5, lambda x: _side(np.linspace(0, 1, 3 * round(x)), 0).residuals.std() < 1e-9, False, True, low=4, high=5
    ),
    "DRIFT_T_THRESHOLD": Edge(
        4.0, lambda x: _side(np.repeat([0.0, 0.0005 * x], [200, 100]), 0).level != 0.0, False, True
    ),
    "MIN_RELATIVE_SCATTER": Edge(0.005, lambda x: _side(np.zeros(10), 0).scatter > x, True, False),
    "MAX_LOG_DRIFT": Edge(20.0, _drift, 19, 20),
    "MIN_RECOVERED_SHARE": Edge(
        0.08, lambda x: pauses((0, 0), (100, 0), (200, 1e10), (300, 1e10)).noise_bytes > 1e10 * x, True, False
    ),
    "NEARLY_ALL_SHARE": Edge(
        0.93,
        lambda x: (pauses((0, 0), (100, 0), (200, 1e10), (300, 1e10)).min_rate_bytes_per_s or 0) > 1e8 * (x - 0.08),
        True,
        False,
    ),
    "MIN_RISE_SHARE": Edge(0.1, _slope, False, True),
    "MIN_SHELF_RATIO": Edge(3.5, lambda x: _after_buffer(last_s=x), False, True),
    "MAX_BUFFER_RECOVERED_SHARE": Edge(0.5, lambda x: _after_buffer(share=x), True, False),
    "PAUSE_CLOCK_ERROR_S": Edge(0.002, lambda x: _clock_error_s() > x, True, False),
    "MIN_CHANGE_LOG_SPEED": Edge(math.log(1.25), _change, 1, None),
    "MIN_LOG_NOISE": Edge(0.05, _load_boundaries, 0, 1),
    "NEIGHBOUR_BINS": Edge(8, lambda x: _ones(round(x)), 0.0, 1.0, low=8, high=9),
}

EDGES: dict[str, Edge] = NAND | PLATEAUS | AROUND | CURVES | PAUSES | WARNINGS | DETAILS
"""By the name of the threshold."""
UNTESTED: dict[str, str] = {
    "FASTEST_LINK_BYTES_PER_S": "a standard's figure",
    "FASTEST_READ_BYTES_PER_S": "a standard's figure",
    "PIPES_BYTES_PER_S": "a table of standards",
    "FINER_HEAD_SHARE": "where a start is cut off: its own start is segmented by itself again",
    "HEAD_INNER_SHARE": "where a start is cut off: boundaries beyond are those of the whole curve, to a cell",
    "MIN_PHASE_CELLS": "bins at the start of a head that is segmented by itself: no border lies in them",
    "MIN_FINER_HEAD_BINS": "a start of fewer bins has no phase of MIN_PHASE_CELLS of them that stands out",
    "BOUNDARY_GUARD_SHARE": "which bins are left out: medians hardly move",
    "MAX_SHORT_FIRST_PHASE_BINS": "how a search begins: it recentres",
    "MAX_LOAD_CELLS": "resolution: a finer search follows",
}
"""Thresholds without an edge, and why."""
