"""Every threshold of the analysis, in one table: at which number an answer changes, its unit, and what set it.

Names say the side: below `MIN_` and above `MAX_` a thing is not taken for what the name says. `_RATIO` is one speed,
size or time over another, `_SHARE` a part of a whole (0 to 1), `_TOLERANCE` a relative difference, `_LOG_` a difference
of natural logarithms; other units end the name (`_S`, `_BYTES`, `_BINS`). Where no source is given the value is the
one with the most right answers on the logs, drives and jobs of `make bench NAME=analysis`.
`tests/analysis/test_thresholds.py` holds an input on either side of each.
"""

import math
from typing import Final

# --- segment: where the speed changes for good -----------------------------------------------------------------------

MAX_PHASES: Final = 12
"""More boundaries than this are a pattern, not phases; what follows is reported as one phase."""
MIN_LOG_STEP: Final = math.log(1.12)
"""The smallest change of log speed that is a phase boundary."""
FINER_HEAD_SHARE: Final = 1 / 40
"""Share of a curve at its start that is segmented by itself, where its bins are finer than the cells."""
MIN_FINER_HEAD_RATIO: Final = 1.9
"""Minimum ratio of cell to bin at which the head of a curve is segmented on its own."""
MIN_FINER_HEAD_BINS: Final = 64
"""Minimum number of bins for that."""
HEAD_INNER_SHARE: Final = 0.75
"""Share of this start within which its own boundaries count: at its end a phase is cut off."""
MIN_PHASE_SHARE: Final = 0.005
"""A stretch shorter than this share of the curve is a burst, not a phase, unless it is the first."""
MIN_PHASE_CELLS: Final = 4
"""Shortest phase, in cells of the curve; a boundary inside a cell could make a shorter one."""
MIN_CACHE_SHARE: Final = 0.002
"""A first phase shorter than this share is what the drive's DRAM took in, and no cache, unless it is more than
`MAX_DRAM_BYTES`: of a run that is long beside a drive any cache is a small share."""
MAX_SLOW_START_SHARE: Final = 0.03
"""A first phase shorter than this share and slower than the next is the drive waking up."""
MAX_WAKING_LOG_RISE: Final = math.log(4)
"""Rise of log speed behind a slow start of `MIN_PHASE_SHARE` or more, above which it is a phase: erased P41 and P44 Pro
write 16 GB at a fifth of their speed before they have every block erased."""
MAX_EXCURSION_SHARE: Final = 0.015
"""A stretch shorter than this share, with the speed from before behind it, is a burst as well."""
MIN_PHASE_SHARE_IN_RIPPLE: Final = 0.04
"""A phase shorter than this share must exceed the ripple of its neighbours too, unless it is the first."""
RIPPLE_STEP_RATIO: Final = 0.625
"""Share of the range between the 5th and 95th percentile of log speed that such a phase must exceed."""
MAX_RIPPLE_LOG_STEP: Final = math.log(2.5)
"""Speeds that alternate by less than this difference of log speed are ripple and not phases."""
MAX_RIPPLE_SHARE: Final = 0.06
"""The longest half-period of ripple, as a share of the curve."""
MIN_SEGMENT_SAMPLES: Final = 2
"""Samples in a segment between two change points."""

# --- boundary: where one phase ends, and how far off that may be -----------------------------------------------------

BOUNDARY_SEARCH_SHARE: Final = 0.02
"""Half-width of the search for a boundary around its rough position, as a share of the bins."""
MAX_BOUNDARY_SEARCH_BINS: Final = 400
"""Largest half-width of the search for a boundary, in bins, beside four cells of the rough answer."""
BOUNDARY_LEVEL_SHARE: Final = 0.05
"""Bins from which a side's level is taken, as a share of the bins of the curve."""
BOUNDARY_GUARD_SHARE: Final = 0.005
"""Bins nearest to a rough boundary that its sides' levels are not taken from, as a share of the bins of the curve."""
MAX_SHORT_FIRST_PHASE_BINS: Final = 64
"""A first phase of fewer bins is searched as a whole; a longer one may begin with a slow start."""
MIN_BOUNDARY_ERROR_BYTES: Final = 16e6
"""No boundary is known better: a drive takes in what its queue and its buffer hold before it slows down, as 16 requests
of 512 KiB and some MB. Finer bins show by themselves how it does so."""
MIN_LEVEL_BINS: Final = 3
"""With fewer bins on a side its level is not known, and so nor where in a bin the boundary is."""
MAX_READ_CORRELATION: Final = -0.2
"""Correlation of a bin's width with the next one's, above which the edges are where they were recorded: of places read
with errors it is -0.5, of irregular samples 0."""
MIN_NEAREST_STEP_RATIO: Final = 3.0
"""Difference of the bin beside a boundary from the log speed of the side, over its scatter, from which its speed is one
in between."""
MIN_DRIFT_THIRD_BINS: Final = 5
"""Bins in a third of a side, from which on it is tested for drift."""
DRIFT_T_THRESHOLD: Final = 4.0
"""A side drifts where its rise or fall is more than about this many standard errors."""
MIN_RELATIVE_SCATTER: Final = 0.005
"""Relative scatter no side is held to be below: real drives are not metronomes."""

# --- phases ----------------------------------------------------------------------------------------------------------

MAX_STRADDLED_BINS: Final = 2
"""Bins that a boundary between two speeds may touch."""
MIN_OWN_LOG_SPEED: Final = 0.25
"""A bin's difference of log speed from both sides, above which it belongs to neither."""
MERGE_LOG_SPEED: Final = 0.06
"""Two phases whose typical log speeds differ by less are one: moments that were slower weigh on their means alone."""
MIN_SHAPE_BINS: Final = 4
"""Bins within a phase, below which it has no spread, no drift and no typical speed."""
MAX_LOG_DRIFT: Final = 20.0
"""The largest logarithm of a drift; a line through bins of very unequal width may be steeper."""

# --- pauses: folding while nothing is written ------------------------------------------------------------------------

MAX_PAUSE_SPEED_RATIO: Final = 0.4
"""Speed of a bin over that of half of the bytes, below which it is, mostly, a pause."""
MAX_STOPPED_SPEED_RATIO: Final = 0.2
"""Speed of the rows within pauses over that of half of the bytes, above which writes do not stop: throttling leaves 0.3
to 0.8 (reviews with sensors), a host that waits for a fold nothing."""
MIN_PAUSES: Final = 4
"""Pauses from which they are a pattern."""
MAX_CYCLE_SPREAD: Final = 0.15
"""Median deviation of the bytes of a cycle of work and pause over their median, above which pauses are not folding's: a
drive frees as much each time."""
MAX_PAUSE_BYTES_SHARE: Final = 0.2
"""Share of the bytes that is written in pauses, above which they are slow phases that begin a cycle."""
MIN_PAUSE_TIME_SHARE: Final = 0.15
"""Share of the time, from the first cycle on, that pauses take at least: fewer cost less than a phase."""

# --- cache: where the cache ends -------------------------------------------------------------------------------------

MIN_CLIFF_FALL: Final = 0.20
"""The smallest relative fall of speed that is a cliff."""
MAX_WRITTEN_SHARE: Final = 1.1
"""A write of another program of more than this share of the stated capacity wrote some of the drive twice: GB and GiB
differ by 7 %."""
WHOLE_DRIVE_SHARE: Final = 0.98
"""A fill that wrote this share of the capacity wrote the whole drive."""

# --- plateaus: phases that are one stretch of the NAND's work --------------------------------------------------------

MIN_NATIVE_BITS: Final = 3
MAX_RAW_CAPACITY_RATIO: Final = 1.2
"""Raw capacity over what the host sees."""
FASTEST_LINK_BYTES_PER_S: Final = 15.76e9
"""Rate of PCIe 5.0 x4, 32 GT/s on four lanes in 128b/130b: no drive writes faster, those on PCIe 6.0 included."""
FASTEST_READ_BYTES_PER_S: Final = 30.25e9
"""Rate of PCIe 6.0 x4, 64 GT/s on four lanes, 242 of 256 bytes of a flit: no drive reads faster."""
MIN_BEYOND_LINK_RATIO: Final = 1.12
"""Speed over the link's ceiling at which no drive was measured: packets and encoding take less than the rest."""

# --- nand_state: what the NAND did, from the curve alone -------------------------------------------------------------

MIN_NATIVE_RATIO: Final = 0.08
"""Speed over the cache's: below, even a length that fits native cells does not make them likely."""
MIN_STEADY_NATIVE_RATIO: Final = 0.14
"""Speed over the cache's: below, even a steady one is rather folding."""
MIN_LIKELY_NATIVE_RATIO: Final = 0.22
"""Speed over the cache's: below, it is rather folding, as native cells are a quarter as fast or more."""
MAX_FOLD_FROM_NATIVE_RATIO: Final = 0.67
"""Native speed falls to this share at the most when folding joins in: 1 / (1 + k / (n - 1)), n = 3, k >= 1."""
MIN_CACHE_AGAIN_RATIO: Final = 0.62
"""A rise to this share of the fastest speed is the cache again."""
MIN_CACHE_AGAIN_RATIO_HOST_LIMITED: Final = 0.9
"""A rise to this share of the fastest speed is the cache again, if the link or the host set the fastest speed: the
cache may be faster."""
MAX_REFILL_RATIO: Final = 1.5
"""Bytes over what the cache held at first: above, more was written at one go than became free of it."""
MAX_BUFFER_SHARE: Final = 0.004
"""Share of the drive up to which what is written at the speed of the link or the host may be in the buffer."""
SAME_SPEED_TOLERANCE: Final = 0.12
"""Relative difference within which two phases run at one speed."""
SAME_SPEED_TOLERANCE_OTHER_LOAD: Final = 0.2
"""Relative difference within which two phases run at one speed, if the host changes its access pattern between them."""
MIN_FOLD_DRIFT: Final = 0.004
"""Relative drift from which a phase of our own recording folds. What folding leaves depends on how full the drive is,
so it changes all the time."""
MAX_NATIVE_SPREAD: Final = 0.1
"""Spread below which a phase of our own recording has one speed."""
MIN_DECAY_DRIFT: Final = 0.1
"""Relative drift from which a phase has no step at its end that would tell why."""
EQUAL_WAIT_TOLERANCE: Final = 0.0001
"""Relative difference within which the longest requests of nearly all bins took equally long."""
MAX_EVEN_WAIT_RATIO: Final = 1.1
"""The longest request over the mean one, below which none waited for more than the others."""
MEAN_WAIT_TOLERANCE: Final = 0.05
"""Relative difference of a request from the mean that a queue of many makes."""
MAX_SLC_PROGRAM_S: Final = 0.65e-3
"""No program at one bit a cell takes longer."""
PHASE_START_SHARE: Final = 0.1
"""Share of a phase within which its access pattern has begun."""
MAX_RANDOM_CACHED_SHARE: Final = 0.05
"""Share of the drive that is written at random places before a cache is likely to be full."""
MIN_MAP_FREE_REQUEST_BYTES: Final = 64e3
"""Requests of this size and more cost less than a tenth of themselves in reads of the map, a page of it for each."""
MIN_NEAR_SPAN_RATIO: Final = 4
"""Random writes are close together where others span this many times as much."""
MIN_MAP_MISS_SPREAD: Final = 0.05
"""Spread of the speed of random writes above which some find their piece of the map at hand and others do not, though
in a long queue all wait alike."""

# --- blackbox: what limits around the NAND, from what a tester knows -------------------------------------------------

LINK_FULL_SHARE: Final = 0.965
"""Share of the link's ceiling at which the link limits."""
BUSY_CPU_SHARE: Final = 0.95
"""Processor's time from which it limits."""
MIN_WAKE_SHARE: Final = 0.3
"""Time spent waiting for the first request after a silence, from which the idle state matters."""
MIN_FLUSH_SHARE: Final = 0.5
"""Time spent waiting for flushes, from which they set the speed."""
MIN_OTHER_TRAFFIC_SHARE: Final = 0.25
"""Share of the bytes that a drive moved for others, from which it was not ours alone."""
MIN_MEAN_OF_TYPICAL_RATIO: Final = 0.6
"""The mean speed over the typical one: below, something else takes most of the time."""
MIN_COLLECTED_SHARE: Final = 0.03
"""A drive written at random may collect garbage from this share of its capacity on."""
MAX_COLLECTED_RATIO: Final = 0.88
"""Largest ratio of the speed to the fastest one while a drive collects garbage."""
THROTTLED_TIME_TOLERANCE: Final = 0.05
"""Relative difference within which a phase lasted as long as the drive throttled."""
THROTTLED_TO_END_TOLERANCE: Final = 0.005
"""Relative difference within which all phases from one on lasted as long as the drive throttled: only one boundary is
uncertain, and more phases fit by chance."""
MAX_UNWAITED_RATIO: Final = 1.5
"""The longest request over the mean one, below which none waited: a program takes far longer than a buffered write."""
MAX_UNWAITED_REQUEST_S: Final = 40e-6
"""A request that does not wait takes no longer than this, beside its way over the link."""
MAX_UNWAITED_SHARE: Final = 0.1
"""Nor do all requests together take longer than the soonest by more than this share of the time."""
MIN_PROGRAM_S: Final = 80e-6
"""No program of a page takes less: a write that is in the NAND sooner is safe in a protected buffer."""
MIN_SYNC_WRITE_SHARE: Final = 0.9
"""Share of the time that writes take which are to be in the NAND at once (sync, dsync)."""
MAX_DRAM_BYTES: Final = 4e9
MAX_DRAM_SHARE: Final = 0.01
"""A drive's buffer takes in no more, in bytes and as a share of the drive."""
CERTAIN_DRAM_SHARE: Final = 0.002
"""A first phase shorter than this share of the drive is the DRAM buffer, not the cache."""
MAX_BEHIND_DRAM_RATIO: Final = 0.85
"""Behind the buffer a drive is this much slower, or it was no buffer."""
MIN_THROTTLE_CELSIUS: Final = 65.0
"""Degrees below which no drive throttles."""
MAX_HEAT_ONSET_SHARE: Final = 0.1
"""Bytes between where the sensor reaches its highest and where the speed falls, over those written by then, up to which
heat made the fall: a drive that was hot before, or gets hot later, fell for another reason."""
HOT_TOLERANCE_K: Final = 3.0
"""A drive that is throttled stays as near as this to its highest temperature."""

# --- recovery: what pauses give back ---------------------------------------------------------------------------------

MIN_RECOVERED_SHARE: Final = 0.08
NEARLY_ALL_SHARE: Final = 0.93
"""Shares of all that comes back, between which a pause is on the slope."""
MIN_RISE_SHARE: Final = 0.1
"""Range of what the pauses on the slope give back, as a share of all, from which it has a rate."""
MAX_BUFFER_RECOVERED_SHARE: Final = 0.5
"""Share of all that comes back, above which what comes back first is no write buffer."""
MIN_SHELF_RATIO: Final = 3.5
"""Pause over a shorter one after which as much was fast, from which on what came back before was the write buffer."""
MIN_PAUSE_RATIO: Final = 1.002
"""Between two pauses of a smaller ratio no other is tried."""
PAUSE_CLOCK_ERROR_S: Final = 0.002
"""Error of a pause's start, in seconds: the drive still programs what its write buffer holds."""

# --- load, slowdowns: a drive at its work ----------------------------------------------------------------------------

MIN_PAUSE_S: Final = 10.0
"""A pause: firmware that folds in pauses waits for seconds before it begins."""
MAX_RESTING_BUSY_SHARE: Final = 0.05
"""A drive that is busy for a smaller share of the time rests: background work of the host goes on in any pause."""
MIN_SLOWDOWN_RATIO: Final = 1.5
"""Speed before over speed after, from which a slowdown is reported."""
MIN_RECOVERED_SPEED_RATIO: Final = 0.7
"""Share of the speed before a slowdown at which the drive is fast again."""
MAX_REQUEST_SIZE_RATIO: Final = 2.0
"""Requests whose mean sizes differ by a larger factor are another workload."""
MIN_DIRECTION_SHARE: Final = 0.7
"""Share of the bytes of an interval that are reads, or writes, from which it tells their speed."""
MIN_BUSY_SHARE: Final = 0.2
"""Share of an interval for which the drive is busy, from which it tells a speed."""
MIN_STEADY_S: Final = 3.0
"""Busy seconds at one speed, below which it is no steady interval."""
MIN_CHANGE_LOG_SPEED: Final = math.log(1.25)
"""Changes of log speed below it are no boundary."""
MAX_LOAD_CELLS: Final = 1024
"""Cells that a session is segmented in."""
MIN_LOG_NOISE: Final = 0.05
"""Noise of log speed: no drive is steadier."""

# --- warnings, sentences ---------------------------------------------------------------------------------------------

MIN_CURVE_BINS: Final = 64
"""Bins of a curve below which a short cache may be missed."""
PIPES_BYTES_PER_S: Final = {
    "Ethernet at 1 Gb/s": 117e6,
    "USB at 5 Gb/s": 430e6,
    "SATA": 555e6,
    "USB at 10 Gb/s": 1000e6,
    "Ethernet at 10 Gb/s": 1170e6,
}
"""Data rates of common links, in bytes/s. TCP leaves 0.949 and 0.941 of the bits of Ethernet with frames of 1500 bytes.
SATA (600 MB/s) and USB (500 and 1212 MB/s) have the highest speeds that reviews report."""
SAME_PIPE_TOLERANCE: Final = 0.03
"""Relative difference from it within which a phase may have filled a pipe."""
MAX_PIPE_SPREAD: Final = 0.05
"""Spread of the speed above which a phase keeps to no pipe."""
MIN_PHASE_BINS: Final = 8
"""Bins of a phase below which its speed is uncertain."""
MIN_GAP_RATIO: Final = 4.0
"""A bin that is wider and longer than those around it by this factor has lost samples."""
MIN_STALL_RATIO: Final = 10.0
MIN_STALL_S: Final = 1.0
"""A bin stalls where it takes this many times longer than those around it, and this many seconds."""
NEIGHBOUR_BINS: Final = 8
"""Bins on each side that a bin is compared with."""
MAX_PHASE_SPREAD: Final = 0.25
"""Spread of the speed within a phase, above which it is unsteady."""
SPREAD_PARTS: Final = 512
"""Equal parts of a phase whose speeds are compared."""
MAX_LAST_PHASE_DRIFT: Final = 0.15
"""Relative change of speed over the last phase, above which the drive was still changing."""
MAX_CACHE_INTERVAL_SHARE: Final = 0.05
"""Width of the interval of the cache's end over its size, above which it is wide."""
MAX_FALL_RATIO: Final = 0.8
"""A phase of this share of the speed of one before it, or less, is a fall."""
SAME_SIZE_TOLERANCE: Final = 0.05
"""Two measurements of a size that differ by no more are told as one: a drive may begin a write with what was left of a
superblock."""
MIN_STATED_CONFIDENCE: Final = 0.5
"""An end of the cache, or a cause, is named from this on."""
MIN_SURE_CONFIDENCE: Final = 0.9
"""A cause that is right less often than this is "probably" so."""
MAX_LISTED_PHASES: Final = 4
"""Phases that a sentence lists one after the other; of more it names the fastest and the slowest."""
