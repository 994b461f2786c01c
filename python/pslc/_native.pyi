"""The binding to the simulated drive and the load engine: conversions only.

Every error a user can cause is a `PslcError` of `pslc.base.errors`, whose message names the file and the line.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, final, type_check_only

from pslc.schema.facts import Facts, InspectedDevice, InspectedFile, Mount, ServedStatus, WindowsDrive, WindowsVolume
from pslc.schema.job_options import Traits
from pslc.schema.results import Planned, Progress, Recorded, ReplayResult, ReplaySoFar, Result
from pslc.schema.surveys import Asked, Batch, Survey
from pslc.serving.faults import Faults

def version() -> str: ...
def phase_shares(changes: dict[str, float], seconds: float) -> list[tuple[str, float]]:
    """Causes of a phase of a simulated drive, with their shares of its time: they add up to 1, the largest first. Empty
    if the drive was asked for nothing, or does not account for it."""

def nearest(word: str, candidates: list[str]) -> str | None:
    """The known word that was probably meant; None where `word` is like none of them."""

def error_codes() -> list[str]:
    """The codes that errors of real drives and of files carry, each of one kind of error."""

def is_drive_file(path: str) -> bool:
    """Whether a file begins as that of a simulated drive does."""

def write_file(path: str, data: bytes, may_replace: str, like: bytes | None = None, private: bool = False) -> None:
    """Make a file, whole or not at all, on the disk. `may_replace` is `never`, `ours` or `any`; with
    `ours` a file without pslc's mark is pslc's if it begins as `like`.

    Raises:
        GuardError: what has the name may not be replaced.
        OSError: it cannot be written.
    """

def check_file(path: str, may_replace: str, like: bytes | None = None) -> None:
    """Whether `write_file` could make a file of a block; nothing is left there."""

def created_unix_s(path: str) -> float | None:
    """Birth of a file, in seconds since 1970; None where the file system does not tell."""

def hand_over(path: str) -> None:
    """Give what was made at `path` to who became root by sudo, if its folder is theirs."""

def limit_hint(number: int) -> str | None:
    """The limit of this process (`ulimit`) that stopped something with this `errno`, and what raises it; None where no
    limit is set that could have."""

def remove_file(path: str, may_replace: str, like: bytes | None = None) -> None:
    """Remove a file where it might be replaced; none is there afterwards."""

@final
class NewFile:
    """A file that is written piece by piece and gets its name by `commit`; errors as of `write_file`."""

    def __new__(cls, path: str, may_replace: str) -> Self: ...
    def write(self, data: bytes) -> None: ...
    def commit(self) -> None: ...
    def discard(self) -> None: ...

def last_panic() -> str | None:
    """The message and the place of the native part's first panic; None before one. Such a bug raises `PanicException`,
    which is no `Exception`."""

def profile_values(
    source: str, text: str, library: dict[str, str], overrides: list[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Keys and values as a profile, those it is based on, and `overrides` hold them, in alphabetical order, before
    anything follows from parts (`nand.part`, `controller.part`). Arguments as of `SimDrive`."""

def profile_words() -> dict[str, list[str]]:
    """Keys of a profile that are one of several words, such as `cache.mode`, and these words."""

def derive_profile(parts: str, whole: bool = False) -> list[tuple[str, str | int | float, str]]:
    """Keys of a profile made of parts, their values and where each comes from; where it is to be `whole`, what is given
    too. `parts` is JSON: `nand` and `controller` as the dataclasses of `pslc.device.parts`, and `given`, pairs of a
    dotted key and its value.

    Raises:
        ProfileError: there is no capacity, or a given value that others follow from cannot be read.
    """

def profile_toml(rows: list[tuple[str, str | int | float, str]]) -> str:
    """A profile as TOML, with `[provenance]`, of rows such as those of `derive_profile`."""

def way_of_folding(when_full: str) -> str:
    """The policy whose folding is like that of another."""

def plan_jobs(
    jobs: str,
    source: str,
    overrides: list[tuple[str, str]],
    capacity: int,
    simulated: bool = False,
    bytes_per_s: float = ...,
    iops: float = ...,
) -> Planned:
    """Plan an fio job file on a drive of `capacity` bytes: bytes, time and memory, without running it."""

def inspect_device(path: str) -> InspectedDevice:
    """A block device, for which nothing is written."""

def check_device(path: str, serial: str, may_hold_data: bool) -> None:
    """Raise what `RealDrive.device` would raise for a block device, which is not written to."""

def device_serial(path: str) -> str | None:
    """The serial number of a block device; None: not told."""

def inspect_file(path: str) -> InspectedFile:
    """A file that is to be overwritten, for which nothing is written. An error if no words could allow that: in use,
    several hard links, a link out of its folder, read-only, the system's."""

def check_scratch(path: str, size: int) -> None:
    """An error where `RealDrive.scratch` would be one; nothing is made."""

def mounts(path: Path | None = None) -> list[Mount]:
    """Mounts of Linux: the one on which a path is, or all of them; none on other systems."""

def windows_volume(path: str) -> WindowsVolume | None:
    """The volume of a file; None where Windows does not tell, and on other systems."""

def windows_drive(number: int) -> WindowsDrive | None:
    """A drive by its number; None where Windows does not tell, and on other systems."""

def windows_drive_number(name: str) -> int | None:
    r"""Number of a drive by a name such as `\\.\PhysicalDrive1`; None for any other name."""

def windows_health(number: int) -> tuple[int | None, list[tuple[str, int]]]:
    """Degrees Celsius of a drive, None where Windows does not tell, and its NVMe health log in smartctl's names."""

def linux_health(path: str, is_ata: bool, may_wake: bool) -> tuple[int | None, list[tuple[str, int]]]:
    """Degrees Celsius and health log of an NVMe or a SATA drive on Linux, by the path of its block device. The log has
    smartctl's names of NVMe's, and of a SATA drive `passed` (its own test: 0 or 1). None and empty for another drive,
    where the drive fills in nothing, without the rights of root, and of a SATA drive that sleeps unless it may wake."""

def ata_identity(path: str) -> tuple[str | None, str | None]:
    """Model and firmware of a SATA drive on Linux, by the path of its block device, as root; None where it does not
    tell."""

def engine_ceiling() -> float:
    """Requests a second that the load engine makes on this machine on a drive that takes no time (takes 50 ms)."""

def traits(options: list[tuple[str, str]]) -> Traits:
    """Traits of a job's options, given in their order, aliases and all. Unknown options have no effect."""

def trace_formats() -> list[tuple[str, str]]:
    """The formats of traces that are read, and whose they are."""

def trace_format(path: str) -> str | None:
    """The format of a trace, told by its beginning; None where it is of none."""

def trace_columns(names: list[str], assigned: list[tuple[str, str]]) -> list[tuple[str, str, int]]:
    """Assign the columns of a table of requests: the role of each (`time`, `op`, `offset`, `size`, `device` or `took`),
    its name, and its unit in nanoseconds or bytes. `assigned` are pairs of a role and a column's name, perhaps with a
    unit (`ts:us`)."""

@type_check_only
class TraceBatches:
    """Batches of a trace's requests."""

    def __iter__(self) -> TraceBatches: ...
    def __next__(self) -> Batch: ...

@final
class TraceFile:
    """A trace: which file, how it is read, and which part of it is wanted."""

    def __new__(
        cls,
        path: str,
        format: str | None = None,
        columns: list[tuple[str, str]] = ...,
        skip_broken: bool = False,
        device: str | None = None,
        from_ns: int = 0,
        to_ns: int | None = None,
        without: list[str] = ...,
        scale: int = 1,
        align: int = 1,
        batches: Callable[[], Any] | None = None,
    ) -> Self:
        """Kinds `without` are left out; offsets are divided by `scale`, then rounded down to multiples of `align`.

        `batches` gives an iterator of tuples instead of the file's text: times and response times in ns (u64), kinds
        (u8), offsets (u64), lengths and numbers of devices (u32), as `bytes`, and the names of the devices."""

    def survey(self) -> Survey:
        """Survey the whole trace: requests, bytes, sizes, bursts and pauses."""

    def write_iolog(self, to: str, name: str) -> int:
        """Write it as fio's iolog of a file `name`; returns the number of requests."""

    def read(self, count: int) -> TraceBatches:
        """Read the trace's requests in batches of `count`."""

def fio_words() -> tuple[list[tuple[list[str], str, str]], list[tuple[list[str], str, str]]]:
    """Treatment of fio's options and of its engines, as two lists of names, treatment (`obeyed`, `on real drives`,
    `ignored` or `refused`) and reason."""

@type_check_only
class _Drive:
    """What jobs run on."""

    capacity_bytes: int

    def run(
        self,
        jobs: str,
        source: str,
        overrides: list[tuple[str, str]],
        seed: int,
        progress: Callable[[Progress], bool] | None = None,
        keep: Callable[[Result], None] | None = None,
    ) -> Result:
        """Run an fio job file, as `SimDrive.run` says."""

@type_check_only
class _SimulatedDrive(_Drive):
    """What has a virtual clock, which starts at 0."""

    now_ns: int

    def lay_out(self, jobs: str, source: str, overrides: list[tuple[str, str]]) -> int:
        """Write, in sequence, what the jobs read that is not written and that no job before them writes. Returns the
        bytes."""

    def unwritten_bytes(self, jobs: str, source: str, overrides: list[tuple[str, str]]) -> int:
        """Bytes that `lay_out` would write."""

    def replay(
        self,
        trace: TraceFile,
        how: Asked,
        progress: Callable[[Progress], bool] | None = None,
        keep: Callable[[ReplaySoFar], None] | None = None,
    ) -> ReplayResult:
        """Replay a trace on the drive, and return its recording."""

@final
class RealDrive(_Drive):
    """A file or a block device, open for writing. Its clock begins when it is opened."""

    block_bytes: int
    columns: list[str]
    """`host_read_bytes_total`, `host_write_bytes_total`, `host_trim_bytes_total`, `cpu_ns_total` (of this process); and
    once it is watched `device_read_bytes_total`, `device_write_bytes_total`, for everyone."""
    laid_out_bytes: int
    """Bytes of a new file that were written before the first run, because Windows would have written zeros there."""
    engine: str | None
    """`io_uring`, `completion port` or `threads`, after the first run."""
    substitutes: str | None
    """The reason why threads took the place of the system's own engine in any run so far, if they did."""

    @staticmethod
    def scratch(path: str, size: int) -> RealDrive:
        """A new file of `size` bytes, which has no name; on Windows it has one until it is closed."""

    @staticmethod
    def existing(path: str, size: int | None = None, agreed: str | None = None) -> RealDrive:
        """The first `size` bytes of a file; what is in it will be lost, the file stays. A file that pslc did not write
        last takes its `identity` (`inspect_file`)."""

    @staticmethod
    def device(path: str, serial: str, may_hold_data: bool) -> RealDrive:
        """A whole block device, which nothing else may use, and whose serial number must be `serial`. It is not
        written to yet."""

    def wipe_signatures(self, path: str) -> None:
        """Zero both ends of a device, and each label that libblkid still knows then; `path` is for its errors."""

    def read_ends(self) -> tuple[bytes, bytes]:
        """The first and the last 16 MiB, of a small drive together all of it."""

    def write_ends(self, head: bytes, tail: bytes) -> None:
        """Put both ends back, to the medium."""

    def lay_out(
        self,
        jobs: str,
        source: str,
        overrides: list[tuple[str, str]],
        progress: Callable[[Progress], bool] | None = None,
    ) -> int | None:
        """Lay out files as `SimDrive.lay_out` does, through the page cache. Nothing is written if the jobs do not state
        what they write. None: `progress` returned False."""

    def watch(self, stats: list[str]) -> bool:
        """Record what devices move together for everyone, from `/sys/block/NAME/stat`; False where one cannot be
        read."""

    def replay(
        self,
        trace: TraceFile,
        how: Asked,
        seed: int,
        progress: Callable[[Progress], bool] | None = None,
        keep: Callable[[ReplaySoFar], None] | None = None,
    ) -> ReplayResult:
        """Replay a trace as `SimDrive.replay` does; data follow from `seed`. A request is late from 1 ms on, and whole
        blocks are moved."""

@final
class SimDrive(_SimulatedDrive):
    """One simulated drive, fresh."""

    def __new__(cls, source: str, text: str, library: dict[str, str], overrides: list[tuple[str, str]]) -> Self:
        """`text` is the TOML profile and `source` its file name in errors; `library` maps profile names to texts,
        for `base =` (a file by its path, seen from the one that names it), and as `parts` what is to be taken where
        nobody says otherwise if the profile names parts; `overrides` are dotted keys and values,
        `("cache.mode", "pure-xlc")`."""

    name: str
    scale: str | None

    @staticmethod
    def open(path: str) -> SimDrive:
        """The drive in a file, which is locked until `close`. An error if another program has it, or if it is cut,
        damaged, or of another format."""

    def save(self, path: str | None = None) -> None:
        """Put all of the drive into its file, or into a new one, which is its own from then on. The file changes whole
        or not at all, and is on the disk afterwards."""

    def check_save(self) -> None:
        """Raise what `save` to its file would raise, as far as that is known before."""

    def govern(self, policy: object | None, victims: object | None) -> None:
        """Ask these from now on (`pslc.policy.governor`): of a fresh drive, once. What they raise, or an answer that is
        none, ends what the drive is at, which raises it; the drive can do no more then."""

    def close(self) -> None:
        """Let its file go, as it was saved last."""

    def format(self, overrides: list[tuple[str, str]]) -> None:
        """Set the cache up anew: the profile as it was made, with these keys over it. All data are gone; wear, heat,
        the clock and the counters stay."""

    def counters(self) -> dict[str, int]:
        """The columns as they are now, by name, and `power_cycles`, `unsafe_shutdowns` and `lost_bytes` (what the write
        buffer held at these, and nothing protected)."""

    def facts(self) -> Facts:
        """Facts that follow from the profile, such as the number of dies, raw speeds and the cache's size."""

    def provenance(self) -> list[tuple[str, str]]:
        """Source of each value of the profile, as pairs of key and source; a calibrated value names what it was
        calibrated on."""

    def profile(self) -> str:
        """The resolved profile as TOML: what a run folder keeps so that the run can be redone."""

    @staticmethod
    def scaled_profile(
        source: str, text: str, library: Mapping[str, str], overrides: Sequence[tuple[str, str]], scale: tuple[int, int]
    ) -> tuple[str, str | None]:
        """The resolved profile of a drive, and that of one of the fraction `scale` of its size which behaves alike;
        None if a block would not have whole word lines. The whole drive may be larger than a map can number."""

    def fork(self) -> SimDrive:
        """A copy in the same state, with the same clock."""

    def idle(self, ns: int) -> None:
        """Let the drive be left alone for a while."""

    def switch_off(self, aged_ns: int) -> None:
        """Flush it, and leave it switched off for a time in which data age by so much at 30 °C."""

    def run(
        self,
        jobs: str,
        source: str,
        overrides: list[tuple[str, str]],
        seed: int,
        progress: Callable[[Progress], bool] | None = None,
        keep: Callable[[Result], None] | None = None,
        coarseness: int | None = None,
    ) -> Result:
        """Run an fio job file to its end and give back what was recorded.

        With a `coarseness`, bins are so many times wider than usual and say only what was moved, without latencies and
        the target's columns, and jobs have no percentiles: of a run that is made to be compared, which is several times
        quicker.

        `progress` is called about ten times a second of wall time; when it returns False, or a signal handler raises,
        the run ends there and keeps what it has. `keep` is called after 1 s, then less and less often, and in the end
        every 5 s.
        """

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
    link_busy_ns_total die_busy_ns_total (all dies added) suspends_total
    buffer_wait_ns_total      writes stood still for want of room in the write buffer, added over all writes
    slc_valid_bytes slc_superblocks free_superblocks mapped_bytes cache_limit_bytes
    map_read_bytes_total map_programmed_bytes_total map_wait_ns_total   of a drive that does not hold its whole map
    buffer_bytes              acknowledged and not yet in the cells
    energy_nj_total temperature_millicelsius throttle_level wake_ns_total
    host_cpu_busy_ns_total page_cache_bytes page_cache_dirty_bytes
    """

@final
class ArrayDrive(_SimulatedDrive):
    """An array of copies of simulated drives (`pslc.device.arrays`)."""

    LEVELS: list[str]
    """Levels of md that it may have."""
    member_bytes: int
    """Bytes of each member that the array uses."""

    def __new__(
        cls, level: str, chunk_bytes: int, members: Sequence[SimDrive], failed: list[int], rebuild: int | None
    ) -> Self:
        """Make an array that is in sync but for the members that failed and the one that is rebuilt.

        Raises:
            TargetError: there are too few members, too many are lost, or the chunk is not one of md's.
        """

    def counters(self) -> dict[str, int]:
        """The columns as they are now: those of `SimDrive.columns`, of the host's data (`host_*`) and of all members
        together; `rebuilt_bytes`, how far a spare is rebuilt, 0 where none is; and of each member behind `memberN_`:
        requests_total held_ns_total (time in which requests of the host waited for it alone, added)
        read_bytes_total written_bytes_total programmed_bytes_total slc_valid_bytes
        """

@final
class NbdServer:
    """A simulated drive that other programs use as a network block device, until `end`."""

    def __new__(
        cls,
        drive: SimDrive,
        socket: int,
        data: str,
        speed: float,
        description: str,
        max_journal_bytes: int = ...,
        faults: Faults | None = None,
    ) -> Self:
        """Serve a copy of `drive`, with the file that it is in, on a listening socket, which stays open until `end`.
        `data` is `keep`, `memory` or `none`, `speed` in drive seconds a second.

        Raises:
            TargetError: the drive's data or its journal cannot be written.
            OSError: a socket or a thread cannot be made.
        """

    def watch(self, seconds: float, always: bool) -> ServedStatus | None:
        """Wait, then tell how the drive is; None once requests are refused. Unless it is to look `always`, it first
        waits for a request since the last time, for as long as none comes."""

    def status(self) -> ServedStatus | None:
        """The status of the drive; None once it has ended."""

    def so_far(self) -> Recorded | None:
        """The recording so far; None once it has ended."""

    def switch_cache(self, on: bool, emptied: bool) -> None:
        """Switch the cache, and whether it is emptied while the host is silent.

        Raises:
            OSError: the drive is in a file, or has ended.
        """

    def refuse(self) -> None:
        """Accept nobody any more, and refuse requests."""

    def loss(self) -> tuple[int, int, int, int] | None:
        """The values of `pslc.serving.faults.Loss`; None if no power was cut."""

    def drain(self, seconds: float) -> None:
        """Wait until nobody is connected, for so long, or until `hurry` is called."""

    def hurry(self) -> None:
        """Wait for nobody."""

    def end(self) -> tuple[Recorded, Exception | None, list[str]] | None:
        """Save the drive and close all connections; None where that was done before.

        Returns:
            What was recorded, why the drive is neither in its file nor in its journal, and warnings.
        """
