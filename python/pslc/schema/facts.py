"""Facts about a target besides its measurements, under the names of run.json. Of a real drive they are what the system
reports (`pslc.device.probe`), where None means unknown and never "fine"; of a simulated one what follows from its
profile (`SimDrive.facts`). Sizes are in bytes, rates per second. A missing part is an empty dictionary."""

from pathlib import Path
from typing import Any, Final, Literal, NotRequired, cast

from typing_extensions import TypedDict

from pslc.schema.results import Gap, Measured, Stall
from pslc.schema.surveys import ReplayDocument, Replayed, Survey, WhatIf

HealthJson = dict[str, Any]
"""JSON report of smartctl about a drive, or of nvme-cli converted to the same names, kept unchanged. The fields that
pslc uses are a `HealthLog`."""


class FileSystem(TypedDict, total=False):
    """File system that holds a file."""

    type: str
    mount: str
    source: str
    options: str
    bytes: int
    free_bytes: int


class Mount(TypedDict):
    """A line of Linux's /proc/self/mountinfo. `number`: major:minor of the file system, not of its files on btrfs;
    `flags`: options of the mount, `options` those of the file system."""

    number: str
    point: str
    flags: str
    type: str
    source: str
    options: str


ENCRYPTION: Final = "encryption"
"""Kind of a layer."""


class Layer(TypedDict):
    """A block device between a file system and its drives, or in the place of one. `kind`: `encryption`, `LVM`,
    `raid0`, `loop device` and the like. `file`: behind a loop device, and whether it is read and written past the page
    cache (`direct`)."""

    name: str
    kind: str
    file: NotRequired[str]
    direct: NotRequired[bool]


class Link(TypedDict, total=False):
    """A PCIe or SATA link, now and at most: `16.0 GT/s PCIe`, `6.0 Gbps`, and lanes."""

    link_speed: str | None
    link_speed_max: str | None
    link_width: int | None
    link_width_max: int | None


class Device(Link, total=False):
    """A drive. `bus`: how it is connected, `NVMe`, `SATA`, `USB` and the like; `write_cache` is `write back` or `write
    through`; `keeps_flushes`: the system does not hand flushes on to it, as Windows can be told; `host_memory_buffer` 1
    where a controller without DRAM has asked for memory of the host's and got it."""

    name: str
    model: str | None
    serial: str | None
    firmware: str | None
    bus: str | None
    bytes: int | None
    logical_block_bytes: int | None
    physical_block_bytes: int | None
    optimal_io_bytes: int | None
    largest_request_bytes: int | None
    queue_requests: int | None
    scheduler: str | None
    rotational: int | None
    write_cache: str | None
    keeps_flushes: bool | None
    host_memory_buffer: int | None
    discard_bytes: int | None
    requests_in_flight: int | None


UNKNOWN_DEVICE: Final = cast(Device, {key: None for key in Device.__annotations__ if key != "name"})
"""Facts of a drive about which the system reports nothing; its name belongs in front."""


class WindowsVolume(TypedDict):
    """A volume of Windows below a file. `mount`: the beginning of its paths, `C:\\`; `source`: the volume's own name,
    None for one of another machine; `options`: `compressed`, `encrypted`, `read-only`, `remote`; `extents`: number of
    a drive, first byte on it and length in bytes of each of its parts, none where that is not told."""

    file_system: str | None
    mount: str
    source: str | None
    options: list[str]
    bytes: int | None
    free_bytes: int | None
    extents: list[tuple[int, int, int]]


class WindowsDrive(TypedDict):
    """A drive, as Windows tells it. `trims`: whether it takes any."""

    model: str | None
    serial: str | None
    firmware: str | None
    bus: str | None
    bytes: int | None
    logical_block_bytes: int | None
    physical_block_bytes: int | None
    largest_request_bytes: int | None
    rotational: bool | None
    trims: bool | None
    write_cache: str | None
    keeps_flushes: bool | None


CACHE_FREE_TENTHS: Final = "cache_free_tenths"
"""Column of a recording: free share of the SLC buffer as the drive reports it, in tenths, each as it was last asked."""


class CacheReport(TypedDict):
    """The SLC cache as a drive tells of it. `bytes`: now, `most_bytes`: at most; `user_space`: `preserved` where the
    buffer shrinks as the drive fills, `reduced` where the drive is smaller by it; `bits_per_cell`: of its normal cells;
    `free_tenths`: free share, rounded to a tenth; `reserve`: of spare blocks; `not_switched`: why nobody can switch it,
    None where root can; `left_by`: folder of an earlier run that has not put the switch back. Of eMMC also its volatile
    cache, and whether it queues commands, and how many at most."""

    kind: Literal["UFS WriteBooster", "eMMC"]
    bytes: int | None
    most_bytes: int | None
    type: str | None
    user_space: Literal["preserved", "reduced"] | None
    bits_per_cell: int | None
    is_on: bool | None
    free_tenths: int | None
    flush: str | None
    slc_wear: str | None
    native_wear: str | None
    reserve: str | None
    not_switched: str | None
    volatile_bytes: NotRequired[int | None]
    volatile_is_on: NotRequired[bool | None]
    queue_is_on: NotRequired[bool | None]
    queue_commands: NotRequired[int | None]
    left_by: NotRequired[str | None]


class Host(TypedDict, total=False):
    """Machine that a run is made on: processor, memory, operating system.

    `huge_pages` is Linux's choice for memory that did not ask: always, madvise or never."""

    kernel: str
    cpu: str | None
    cores: int | None
    governor: str | None
    huge_pages: str | None
    virtual: bool | None


class Power(TypedDict):
    """Power management that the machine applies to a drive."""

    nvme_ps_max_latency_us: int | None
    sata_link_power: str | None
    pcie_aspm: str | None


class InspectedDevice(TypedDict):
    """A block device that is to be overwritten. `serial`: None where it is not told; `users`: who uses it, a sentence
    each; `refusal`: why this user, or nobody, may write to it, with what helps; `signatures`: file systems, partition
    tables and the like, by libblkid, None where it cannot be read, where there is no libblkid, and on Windows."""

    name: str
    bytes: int
    logical_block: int
    serial: str | None
    is_partition: bool
    refusal: tuple[str, str] | None
    users: list[str]
    signatures: list[str] | None


class InspectedFile(TypedDict):
    """A file that is to be overwritten. `path`: where it really is; `usable_bytes`: in whole blocks, without that of
    pslc's mark; `owner`: a user's number; `ours`: pslc wrote it last; `holds`: by libblkid, a sentence each;
    `identity`: of this file, unchanged."""

    path: Path
    bytes: int
    usable_bytes: int
    changed_unix_ns: int
    owner: int
    ours: bool
    holds: list[str]
    identity: str


class HealthLog(TypedDict, total=False):
    """Values of the NVMe health log (SMART), as far as the drive reports them; temperatures are in degrees Celsius.
    `nand_units_written` and `slc_units_written`: programmed into cells, and into those at one bit, in NVMe's units."""

    critical_warning: int
    available_spare: int
    available_spare_threshold: int
    percentage_used: int
    media_errors: int
    data_units_written: int
    nand_units_written: int
    slc_units_written: int
    power_on_hours: int
    temperature: int
    hottest_sensor: int
    warning_temp_time: int
    critical_comp_time: int
    thm_temp1_trans_count: int
    thm_temp2_trans_count: int
    thm_temp1_total_time: int
    thm_temp2_total_time: int


class Moment(TypedDict, total=False):
    """Values that change while a drive works. `members`: health logs of an array's drives by name; its `smart` is None.
    `cache`: only for a drive that reports one; `without_smart`: why `pslc probe` shows none."""

    temperature_c: float | None
    smart: HealthJson | None
    without_smart: str
    members: dict[str, HealthJson]
    cache: CacheReport


Change = TypedDict("Change", {"at_s": float, "what": Literal["link", "power"], "from": str, "to": str})
"""Change of a drive's link, or of its power state."""


class Watched(TypedDict):
    """Telemetry of a drive while it worked. `smart`: the first and the latest log, with seconds since the start;
    `file_systems`: those mounted from the drive; `waits`: whether latencies or busy time were counted, True without
    it; `tells_busy`: whether busy time was, likewise; `own_bytes`: written by pslc, which saved the recording on the
    drive."""

    smart: list[tuple[float, HealthJson]]
    changes: list[Change]
    file_systems: list[FileSystem]
    waits: NotRequired[bool]
    tells_busy: NotRequired[bool]
    own_bytes: NotRequired[int]


class Imported(TypedDict):
    """Data of another program, as they were read.

    `name`: what they are called; `suite`: pslc's of the same tests, empty without one; `read_as`: which columns or rows
    were taken, and how they were understood; `kind`: what the curve is of; `random`: whether the writes were; `idle_s`:
    pauses that are left out of the curve; `bad_lines`: lines that were left out; `rows`: results without a series.
    """

    name: str
    suite: str
    read_as: str
    kind: Literal["read", "write"]
    random: bool
    idle_s: float
    bad_lines: int
    rows: list[Measured]


class Pacing(TypedDict, total=False):
    """Punctuality of a served drive. `way_s`: time of a request's way to it and of the reply's back. Means over
    all `replies`: how late they leave (`late_s`), what the drive takes for a request (`drive_s`), and how long the next
    one waits for a processor (`turn_s`). `busy`: how busy the processors were, None where the system does not tell."""

    way_s: float
    replies: int
    late_s: float
    late_p99_s: float
    drive_s: float
    turn_s: float
    busy: float | None


class Served(Pacing):
    """A drive that was served: where written data went, how fast its clock ran, and whether the host was too slow."""

    data: str
    speed: float
    too_slow: NotRequired[str | None]


class ServedStatus(Pacing):
    """Status of a served drive. Three numbers are of reads, writes and trims, since the start. `latency_s`: median
    and 99th percentile since the last status, None without requests. `clients`: connected ones, of which some are
    `named` by process number or address. `full`: the disk of the drive's file refused something. `warnings`: told once.
    """

    clock_s: float
    bytes: tuple[int, int, int]
    count: tuple[int, int, int]
    latency_s: tuple[float, float] | None
    queue: int
    columns: dict[str, int]
    full: bool
    clients: int
    named: list[str]
    warnings: list[str]


class Traced(TypedDict):
    """The trace that was replayed. `what_if` where other caches were asked for."""

    file: str
    survey: Survey
    how: ReplayDocument
    replay: Replayed | None
    what_if: NotRequired[list[WhatIf]]


class KernelLine(TypedDict):
    """Line of the kernel's log about a drive: seconds since the start of the run, its level (up to 3: an error, 4: a
    warning), and its text."""

    at_s: float
    level: int
    text: str


class DiskCounts(TypedDict):
    """Linux's counters of a block device before and after a run (`pslc.device.probe.Counters`), and the time
    between."""

    name: str
    before: list[int]
    after: list[int]
    span_ms: float
    slaves: NotRequired[list["DiskCounts"]]
    """Counters of the devices below a device of dm or md."""


class PolicyDocument(TypedDict):
    """A policy or a victim rule in Python: its class, the file that it is in, the text of the class and of those it is
    derived from, and its attributes when the run began. None: it is in no file, or its text cannot be read."""

    name: str
    file: str | None
    file_sha256: str | None
    source: str | None
    source_sha256: str | None
    attributes: dict[str, str]


Limit = Literal["dies", "bus", "data-path", "buffer"]


class ReadBack(TypedDict):
    """Reads of what was on a real drive, all shape (n,): `at` is the age in seconds of a file's data, or the address on
    a device (`of_device`). `faults`: places that could not be read; `mixed`: files left out, of data of any age."""

    of_device: bool
    at: list[float]
    bytes: list[int]
    seconds: list[float]
    faults: int
    mixed: NotRequired[int]


class ArrayFacts(TypedDict):
    """An array of simulated drives: its level, the target of each member and what of each is used, and numbers of
    members from 0 on: those that failed, and the spare that is rebuilt."""

    level: str
    chunk_kib: int
    member_bytes: int
    members: list[str]
    failed: list[int]
    rebuild: int | None


class Facts(TypedDict, total=False):
    """Facts about a real target, about a simulated one, and about a run on either; a target has those of its kind.

    Of a real one, `device` is the drive, or an array (md, dm) whose drives are `members`; `sysfs`: folder of its UFS
    host controller, where `--sysfs` named one; `below`: what the file behind a loop device, or the upper layer of an
    overlay, lies on. `dirtied_bytes`: pages of the host's memory that became dirty during the run, whoever wrote;
    `member_counts`: of each of several drives.

    Of a simulated one, for cells at one bit (`slc`), at two where the dynamic cache has such (`mlc`), and for `native`
    ones: `*_raw_bytes`: all superblocks in that mode; `*_write_bytes_per_s`: all dies at once; `*_limit_bytes_per_s`:
    what is left of that, and by what (`*_limit`). `computer`: the part around it, or `none`; `slot`: its link, where
    that is slower than the drive's. `array`: the array, of whose members the others are the facts together. `notes`:
    sentences on what the profile says that its reader may not have meant.
    `measured_by`: the program, where it was not pslc.
    """

    path: str
    file_system: FileSystem | None
    stack: list[str]
    layers: list[Layer]
    below: "Facts"
    partition_start_bytes: int | None
    device: Device | None
    members: list[Device]
    host: Host
    power: Power
    sysfs: str
    read_back: ReadBack

    channels: int
    dies: int
    planes: int
    blocks_per_plane: int
    pages_per_block: int
    page_bytes: int
    bits_per_cell: int
    superblocks: int
    slc_superblock_bytes: int
    slc_raw_bytes: int
    slc_write_bytes_per_s: float
    slc_limit_bytes_per_s: float
    slc_limit: Limit
    mlc_superblock_bytes: int
    mlc_raw_bytes: int
    mlc_write_bytes_per_s: float
    mlc_limit_bytes_per_s: float
    mlc_limit: Limit
    native_superblock_bytes: int
    native_raw_bytes: int
    native_write_bytes_per_s: float
    native_limit_bytes_per_s: float
    native_limit: Limit
    link_bytes_per_s: float
    link_read_bytes_per_s: float
    bus_bytes_per_s: float
    cache_bytes: int
    static_superblocks: int
    reserve_superblocks: int
    fold_below_bytes: int
    fold_overhead: float
    plp: bool
    write_buffer_bytes: int
    map_cache_bytes: int | None
    read_iops: float
    write_iops: float
    slc_cycles: int
    native_cycles: int
    policy: PolicyDocument
    victim_rule: PolicyDocument
    computer: str
    slot: str
    policy_error: str
    scale: str
    scale_unlike: str | None
    array: ArrayFacts
    notes: list[str]

    measured_by: str
    before: Moment
    after: Moment
    now: Moment
    engine: str | None
    engine_substitutes: str
    engine_ceiling_iops: float
    disk_counts: DiskCounts
    member_counts: list[DiskCounts]
    dirtied_bytes: int
    stalls: list[Stall]
    gaps: list[Gap]
    kernel: list[KernelLine] | None
    trace: Traced
    watch: Watched
    served: Served
    imported: Imported
