"""The binding to the simulated drive and the load engine: conversions only.

Every error a user can cause is a `PslcError` of `pslc.errors`, whose message names the file and the line.
"""

from collections.abc import Callable
from typing import Any

from pslc.facts import Facts
from pslc.job_options import Said

def version() -> str: ...
def is_drive_file(path: str) -> bool:
    """Whether a file begins as that of a simulated drive does."""

def served_recording(path: str) -> dict[str, Any]:
    """What the plugin of nbdkit recorded while it served a drive, as `SimDrive.run` gives it, without `wall_s`.

    Raises:
        RecordingError: there is no such file, or it is of another version.
    """

def last_panic() -> str | None:
    """What the first panic of the native part said, and where; such a bug raises `PanicException`, no `Exception`."""

def profile_values(
    source: str, text: str, library: dict[str, str], overrides: list[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Keys and values as a profile, those it is based on, and `overrides` hold them, in alphabetical order, before
    anything follows from parts (`nand.part`, `controller.part`). Arguments as of `SimDrive`."""

def profile_words() -> dict[str, list[str]]:
    """Keys of a profile that are one of several words, such as `cache.mode`, and these words."""

def plan_jobs(
    jobs: str,
    source: str,
    overrides: list[tuple[str, str]],
    capacity: int,
    simulated: bool = False,
    bytes_per_s: float = ...,
    iops: float = ...,
) -> dict[str, Any]:
    """What an fio job file does to a drive of `capacity` bytes: `read_bytes`, `write_bytes`, `trim_bytes` of the jobs
    that end by themselves; `timed_ns`, how long those take that end by time; `writes_until_time`; `idle_ns`, how long
    the drive is left alone before jobs. On a drive that is as fast as said all the time: `least_s` on its clock, and
    the `requests` in it. `memory_bytes` that the load engine takes; `scattered`, of each job that writes in random
    order the bytes of its region and how many it writes."""

def inspect_device(path: str) -> dict[str, Any]:
    """A block device, for which nothing is written: `name`, `bytes`, `logical_block`, `serial` (None: not told),
    `is_partition`, `users` (who uses it, a sentence each), `signatures` (file systems, partition tables and the
    like, by libblkid; None: it cannot be read, or there is no libblkid)."""

def device_serial(path: str) -> str | None:
    """The serial number of a block device; None: not told."""

def inspect_file(path: str) -> dict[str, Any]:
    """A file that is to be overwritten, for which nothing is written: `path` (where it really is), `bytes`,
    `usable_bytes` (in whole blocks, without that of pslc's mark), `changed_unix_ns`, `owner` (a user's number), `ours`
    (pslc wrote it last), `holds` (by libblkid, a sentence each), `identity` (of this file, unchanged). An error if
    no words could allow that: in use, several hard links, a link out of its folder, read-only, the system's."""

def check_scratch(path: str, size: int) -> None:
    """An error where `RealDrive.scratch` would be one; nothing is made."""

def engine_ceiling() -> float:
    """Requests a second that the load engine makes on this machine on a drive that takes no time (takes 50 ms)."""

def said(options: list[tuple[str, str]]) -> Said:
    """Of options in their order, aliases and all; unknown ones say nothing."""

def trace_formats() -> list[tuple[str, str]]:
    """The formats of traces that are read, and whose they are."""

def trace_format(path: str) -> str | None:
    """The format of a trace, told by its beginning; None where it is of none."""

def trace_columns(names: list[str], said: list[tuple[str, str]]) -> list[tuple[str, str, int]]:
    """What columns of a table are (`time`, `op`, `offset`, `size`, `device`, `took`), with their names and nanoseconds
    or bytes of their units; `said` are pairs of what and name, perhaps with a unit (`ts:us`)."""

class TraceBatches:
    """Batches of a trace's requests: `time_ns`, `took_ns`, `offset` (u64), `size`, `device` (u32), `op` (u8: read,
    write, trim, flush), each a `bytes` of little-endian values, and the names of its `devices` so far."""

    def __iter__(self) -> TraceBatches: ...
    def __next__(self) -> dict[str, Any]: ...

class TraceFile:
    """A trace: which file, how it is read, and which part of it is wanted."""

    def __init__(
        self,
        path: str,
        format: str | None = None,
        columns: list[tuple[str, str]] = [],
        skip_broken: bool = False,
        device: str | None = None,
        from_ns: int = 0,
        to_ns: int | None = None,
        without: list[str] = [],
        scale: int = 1,
        align: int = 1,
        batches: Callable[[], Any] | None = None,
    ) -> None:
        """Kinds `without` are left out; offsets are divided by `scale`, then rounded down to multiples of `align`.

        `batches` gives an iterator of tuples instead of the file's text: times and response times in ns (u64), kinds
        (u8), offsets (u64), lengths and numbers of devices (u32), as `bytes`, and the names of the devices."""

    def survey(self) -> dict[str, Any]:
        """What is in it, in base units: `format`; `devices`, each with `device`, `count`, `bytes` and `sequential` by
        kind, and `end_bytes`; `duration_ns`; `sizes` (kind, bytes, count); `over_time`: `read_bytes` and `write_bytes`
        of each `bin_ns`; `touched_bytes`, `written_bytes` (pages), `unwritten_bytes` (read before they were written),
        `rewritten_bytes`; `bursts`, what was written between pauses of at least `pause_ns`: `pauses`, `paused_ns`,
        `most_bytes`, `most_at_ns`; `longest_pause_ns`; `took_ns` (all response times) of `timed` requests; `skipped`
        lines, `empty` requests, `backwards_ns`, `notes`."""

    def write_iolog(self, to: str, name: str) -> int:
        """Write it as fio's iolog of a file `name`; returns the number of requests."""

    def read(self, count: int) -> TraceBatches:
        """Its requests, so many at a time."""

def fio_words() -> tuple[list[tuple[list[str], str, str]], list[tuple[list[str], str, str]]]:
    """What becomes of fio's options, and of its engines: names, `obeyed`, `on real drives`, `ignored` or `refused`, and
    why."""

class RealDrive:
    """A file or a block device, open for writing. Its clock begins when it is opened."""

    capacity_bytes: int
    block_bytes: int
    columns: list[str]
    """`host_read_bytes_total`, `host_write_bytes_total`, `host_trim_bytes_total`, `cpu_ns_total` (of this process); and
    once it is watched `device_read_bytes_total`, `device_write_bytes_total`, for everyone."""
    engine: str | None
    """`io_uring` or `threads`, after the first run."""

    @staticmethod
    def scratch(path: str, size: int) -> RealDrive:
        """A new file of `size` bytes, which has no name."""

    @staticmethod
    def existing(path: str, size: int | None = None, agreed: str | None = None) -> RealDrive:
        """The first `size` bytes of a file; what is in it will be lost, the file stays. A file that pslc did not write
        last takes its `identity` (`inspect_file`)."""

    @staticmethod
    def device(path: str, serial: str, wipe_signatures: bool) -> RealDrive:
        """A whole block device, which nothing else may use, and whose serial number must be `serial`."""

    def watch(self, stat: str) -> bool:
        """Record what the device moves for everyone, from `/sys/block/NAME/stat`; False where that cannot be read."""

    def run(
        self,
        jobs: str,
        source: str,
        overrides: list[tuple[str, str]],
        seed: int,
        progress: Callable[[dict[str, Any]], bool] | None = None,
        keep: Callable[[dict[str, Any]], None] | None = None,
    ) -> dict[str, Any]:
        """As `SimDrive.run`."""

    def replay(
        self,
        trace: TraceFile,
        how: dict[str, Any],
        seed: int,
        progress: Callable[[dict[str, Any]], bool] | None = None,
        keep: Callable[[dict[str, Any]], None] | None = None,
    ) -> dict[str, Any]:
        """As `SimDrive.replay`; data follow from `seed`. A request is late from 1 ms on, and whole blocks are moved."""

class SimDrive:
    """One simulated drive, fresh, with a virtual clock that starts at 0."""

    def __init__(self, source: str, text: str, library: dict[str, str], overrides: list[tuple[str, str]]) -> None:
        """`text` is the TOML profile and `source` its file name in errors; `library` maps profile names to texts,
        for `base =` (a file by its path, seen from the one that names it), and as `parts` what is to be taken where
        nobody says otherwise if the profile names parts; `overrides` are dotted keys and values,
        `("cache.mode", "pure-xlc")`."""

    name: str
    capacity_bytes: int
    now_ns: int

    @staticmethod
    def open(path: str) -> SimDrive:
        """The drive in a file, which is locked until `close`. An error if another program has it, or if it is cut,
        damaged, or of another format."""

    def save(self, path: str | None = None) -> None:
        """Put all of the drive into its file, or into a new one, which is its own from then on. The file changes whole
        or not at all, and is on the disk afterwards."""

    def close(self) -> None:
        """Let its file go, as it was saved last."""

    def format(self, overrides: list[tuple[str, str]]) -> None:
        """Set the cache up anew: the profile as it was made, with these keys over it. All data are gone; wear, heat,
        the clock and the counters stay."""

    def counters(self) -> dict[str, int]:
        """The columns as they are now, by name, and `power_cycles`, `unsafe_shutdowns` and `lost_bytes` (what the write
        buffer held at these, and nothing protected)."""

    def facts(self) -> Facts:
        """What follows from the profile, as integers in base units: `channels`, `dies`, `planes`, `blocks_per_plane`,
        `pages_per_block`, `page_bytes`, `bits_per_cell`, `superblocks`; for `slc` and `native` cells
        `*_superblock_bytes`, `*_raw_bytes` (all superblocks in that mode), `*_write_bytes_per_s` (all dies at once),
        `*_limit_bytes_per_s` (what is left of that) and `*_limit` (by what: `dies`, `bus`, `data-path`, `buffer`);
        `link_bytes_per_s` (data written) and `link_read_bytes_per_s`; and `notes`, sentences on what the profile says
        that its reader may not have meant."""

    def provenance(self) -> list[tuple[str, str]]:
        """Where values of the profile come from: key and source; calibrated ones say on what."""

    def profile(self) -> str:
        """The resolved profile as TOML: what a run folder keeps so that the run can be redone."""

    def fork(self) -> SimDrive:
        """A copy in the same state, with the same clock."""

    def idle(self, ns: int) -> None:
        """Let the drive be left alone for a while."""

    def lay_out(self, jobs: str, source: str, overrides: list[tuple[str, str]]) -> int:
        """Write, in sequence, what the jobs read that is not written and that no job before them writes. Returns the
        bytes."""

    def unwritten_bytes(self, jobs: str, source: str, overrides: list[tuple[str, str]]) -> int:
        """Bytes that `lay_out` would write."""

    def run(
        self,
        jobs: str,
        source: str,
        overrides: list[tuple[str, str]],
        seed: int,
        progress: Callable[[dict[str, Any]], bool] | None = None,
        keep: Callable[[dict[str, Any]], None] | None = None,
        coarseness: int = 1,
    ) -> dict[str, Any]:
        """Run an fio job file to its end and give back what was recorded, in bins `coarseness` times wider than usual.

        `progress` is called about ten times a second of wall time with `done_bytes`, `total_bytes` (0: unknown),
        `drive_time_ns`, `total_time_ns` (0: not time-based) and `bytes_per_s` (recent, on the drive's clock);
        when it returns False, or a signal handler raises, the run ends there and keeps what it has. `keep` is called
        after 1 s, then less and less often, and in the end every 5 s, with the result so far (without `wall_s`).

        The result:

        - `interrupted`: bool; `start_ns`, `drive_time_ns`, `wall_s`; `error`: str | None (the target failed)
        - `jobs`: a list of dicts, one a reporting group member: `name`, `groupid`, `options` (dict, as written, after
          [global] and overrides), `notes` (options accepted and ignored), `iodepth`,
          `size_bytes` (of the region), `start_ns`, `elapsed_ns`,
          `read` / `write` / `trim` / `sync`, each with `io_bytes`, `total_ios`, `runtime_ns` and `lat_ns`: `min`,
          `max`, `mean`, `stddev`, `n`, `percentile` (dict "99.000000" -> ns), `histogram` (list of (from ns, to ns,
          count), eight to an octave);
          `iodepth_level` and `latency_us` / `latency_ms` / `latency_ns` as fio buckets them, in percent;
          `latency_target`: `depth` (the one that was found, or iodepth), `target_ns`, `percentile`, `window_ns`;
          `steadystate`, of jobs that end when they are steady: `criterion`, `limit`, `percent`, `duration_s`,
          `attained`, `value`, `slope`, `max_deviation`, and `iops` and `bytes_per_s` of the last seconds
        - `series`: `{"time": {...}, "bytes": {...}}`: columns by name, each a `bytes` of little-endian u64, one value a
          bin. `end_ns` is the end of the bin; `read_bytes`, `write_bytes`, `trim_bytes`, `reads`, `writes`, `trims`,
          `lat_sum_ns`, `lat_max_ns` are sums (maximum) within the bin, `lat_p50_ns`, `lat_p99_ns`, `lat_p999_ns`
          percentiles of its requests, to an eighth of an octave; every column of the target follows, as it was
          at the end of the bin (names in `SimDrive.columns`). `time` has bins of equal time, `bytes` of equal bytes.
        - `before`, `totals`: the target's columns at the start and at the end, by name
        - `logs`: of each clone of a job that asked for a log: `name`, `number` (from 1), `one_at_a_time` (its engine),
          `begin_ns`, `options`, and columns as in `series`, one value a request: `issued_ns`, `latency_ns`,
          `submission_ns` (the part of it until the system had the request), `op` (0 read, 1 write, 2 trim, 3 flush),
          `bytes`, `offset`
        """

    def replay(
        self,
        trace: TraceFile,
        how: dict[str, Any],
        progress: Callable[[dict[str, Any]], bool] | None = None,
        keep: Callable[[dict[str, Any]], None] | None = None,
    ) -> dict[str, Any]:
        """Replay a trace. `how`: `pace` (`original`, `asap`), `speed`, `iodepth` (the most under way), `fit` (`exact`,
        `wrap`, `compact`, `scale`), `span_bytes` (for `scale`), `prefill`, `largest_bytes` (of its reads and writes),
        `survey` (tell what is in it on the way; a trace of several devices is refused then).
        The result is that of `run`; `survey`, as `TraceFile.survey`, where that was asked for; and `replay`: `format`,
        `devices`, `notes`, `skipped`, `empty`, `backwards_ns`, `requests`, `late`, `late_most_ns`, `late_sum_ns`,
        `moved`, `widened` (to whole blocks), `unwritten_bytes`, `cache_most_bytes`, `cache_most_at_ns`,
        `prefilled_bytes`."""

    columns: list[str]
    """Counters end in `_total`; the others are gauges:
    host_read_bytes_total host_write_bytes_total host_trim_bytes_total
    host_to_slc_bytes_total host_to_native_bytes_total   where host data were programmed
    folded_bytes_total        moved from pSLC to native cells (under load and idle)
    idle_folded_bytes_total   the part of it that moved while the host was silent
    gc_bytes_total            moved within one cell mode
    died_in_slc_bytes_total   overwritten or trimmed before they were folded
    slc_programmed_bytes_total native_programmed_bytes_total
    slc_erases_total native_erases_total    blocks (of one plane)
    link_busy_ns_total die_busy_ns_total (all dies added) buffer_wait_ns_total suspends_total
    slc_valid_bytes slc_superblocks free_superblocks mapped_bytes cache_limit_bytes
    map_read_bytes_total map_programmed_bytes_total map_wait_ns_total   of a drive that does not hold its whole map
    buffer_bytes              acknowledged and not yet in the cells
    energy_nj_total temperature_millicelsius throttle_level wake_ns_total
    host_cpu_busy_ns_total page_cache_bytes page_cache_dirty_bytes
    """
