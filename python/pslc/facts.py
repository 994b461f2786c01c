"""What is known of a target besides its measurements, under the names that run.json has. Of a real drive it is what
Linux tells (`pslc.targets.probe`), where None means unknown and never "fine"; of a simulated one what follows from its
profile (`SimDrive.facts`). Sizes are in bytes, rates per second. A part that is missing is an empty one."""

from typing import Any, NotRequired, TypedDict


class FileSystem(TypedDict, total=False):
    """Where a file lies."""

    type: str
    mount: str
    source: str
    options: str
    bytes: int
    free_bytes: int


class Link(TypedDict, total=False):
    """A PCIe or SATA link, now and at most: `16.0 GT/s PCIe`, `6.0 Gbps`, and lanes."""

    link_speed: str | None
    link_speed_max: str | None
    link_width: int | None
    link_width_max: int | None


class Device(Link, total=False):
    """A drive. `write_cache` is `write back` or `write through`; `host_memory_buffer` 1 where a controller without DRAM
    has asked for memory of the host's and got it."""

    name: str
    model: str | None
    serial: str | None
    firmware: str | None
    bytes: int | None
    logical_block_bytes: int | None
    physical_block_bytes: int | None
    optimal_io_bytes: int | None
    largest_request_bytes: int | None
    queue_requests: int | None
    scheduler: str | None
    rotational: int | None
    write_cache: str | None
    host_memory_buffer: int | None
    discard_bytes: int | None
    requests_in_flight: int


class Host(TypedDict, total=False):
    """The machine."""

    kernel: str
    cpu: str | None
    cores: int | None
    governor: str | None
    virtual: bool | None


class Power(TypedDict):
    """What the machine lets a drive do to save power."""

    nvme_ps_max_latency_us: int | None
    sata_link_power: str | None
    pcie_aspm: str | None


class Moment(TypedDict, total=False):
    """What changes while a drive works."""

    temperature_c: float | None
    smart: dict[str, Any] | None


class DiskCounts(TypedDict):
    """What Linux counted of a block device before and after a run (`pslc.targets.probe.disk_counts`), and its time."""

    name: str
    before: list[int]
    after: list[int]
    span_ms: float
    slaves: NotRequired[list["DiskCounts"]]
    """Of what lies below a device of dm or md."""


class Facts(TypedDict, total=False):
    """Of a real target, of a simulated one, and of a run on either; a target has those of its kind."""

    path: str
    file_system: FileSystem | None
    stack: list[str]
    partition_start_bytes: int | None
    device: Device | None
    host: Host
    power: Power

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
    slc_limit: str
    native_superblock_bytes: int
    native_raw_bytes: int
    native_write_bytes_per_s: float
    native_limit_bytes_per_s: float
    native_limit: str
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
    scale: str
    scale_unlike: str | None
    notes: list[str]

    before: Moment
    after: Moment
    now: Moment
    engine: str
    engine_ceiling_iops: float
    disk_counts: DiskCounts
    trace: dict[str, Any]
    watch: dict[str, Any]
    served: dict[str, Any]
