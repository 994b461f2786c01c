"""SLC cache as a drive reports it: UFS WriteBooster and eMMC, by the files of Linux.

UFS: JEDEC JESD220, sections on WriteBooster; Linux, Documentation/ABI/testing/sysfs-driver-ufs. eMMC: JEDEC JESD84-B51,
extended CSD register; Linux, drivers/mmc/core/mmc.c.
"""

from pathlib import Path
from typing import Final

from pslc.base import words
from pslc.device import sysfs
from pslc.schema.facts import CacheReport

SECTOR: Final = 512
TENTHS: Final = 10
FREE: Final = "attributes/wb_avail_buf"
EXCEEDED: Final = 11
BITS: Final = (2, 3, 4)
"""Bits of a normal cell: bytes of normal storage that a byte of the buffer takes (`wb_buff_cap_adj`)."""
TYPES: Final = {0: "of one logical unit", 1: "shared"}
FLUSHING: Final = {0: "idle", 1: "flushing", 2: "stopped early", 3: "done", 4: "failed"}
RESERVES: Final = {1: "normal", 2: "80 % used", 3: "90 % used"}
NO_AREA: Final = 1 << 31
"""Size of an enhanced area, in KiB, from which on it is -EINVAL printed without a sign: there is no such area."""


DEBUG: Final = Path("/sys/kernel/debug")
REGISTER_BYTES: Final = 512
QUEUE_ON, CACHE_ON, CACHE_KIB, QUEUE_DEPTH, HAS_QUEUE = 15, 33, slice(249, 253), 307, 308
"""Bytes of the extended CSD register: CMDQ_MODE_EN, CACHE_CTRL, CACHE_SIZE (little endian), CMDQ_DEPTH (less one, in
five bits), CMDQ_SUPPORT."""


def cache_report(disk: Path) -> CacheReport | None:
    """Report of a drive about its cache; None for a drive that makes none.

    Args:
        disk: folder of the drive in /sys/block.
    """
    if (host := sysfs.ufs_host(disk)) is not None:
        return _write_booster(host, disk / "device")
    return _emmc(disk / "device") if (disk / "device" / "pre_eol_info").exists() else None


def free_tenths(disk: Path) -> int | None:
    """Free share of the buffer of a UFS drive in tenths, asked of the drive; None where it does not tell.

    Args:
        disk: folder of the drive in /sys/block.
    """
    host = sysfs.ufs_host(disk)
    return None if host is None else _in(_number(sysfs.text(host / FREE)), TENTHS)


def sentence(report: CacheReport) -> str:
    """Describe a report: `SLC buffer of 2.15 GB, shared, on, 10 of 10 free; normal cells of 3 bits`."""
    if report["kind"] == "eMMC":
        area = words.size(report["bytes"]) if report["bytes"] else "none"
        return f"enhanced area (pSLC for ever): {area}{_of_register(report)}"
    sizes = (report["bytes"], report["most_bytes"])
    size = next((words.size(count) for count in sizes if count is not None), "unknown size")
    limit = f" (at most {words.size(sizes[1])})" if sizes[1] and sizes[1] != sizes[0] else ""
    parts = [f"SLC buffer of {size}{limit}", *([report["type"]] if report["type"] else [])]
    parts += [] if report["is_on"] is None else ["on" if report["is_on"] else "off"]
    free = report["free_tenths"]
    parts += ["free share unknown" if free is None else f"{free} of {TENTHS} free"]
    cells = f"; normal cells of {report['bits_per_cell']} bits" if report["bits_per_cell"] else ""
    return f"{', '.join(parts)}{cells}"


def _of_register(report: CacheReport) -> str:
    """Volatile cache and command queue of an eMMC: `; volatile cache 67.1 MB, on; command queue of 32, off`."""
    size, queue, depth = report.get("volatile_bytes"), report.get("queue_is_on"), report.get("queue_commands")
    volatile = "" if size is None else "; volatile cache none"
    if size:
        volatile = f"; volatile cache {words.size(size)}{_state(report.get('volatile_is_on'))}"
    return volatile + ("" if queue is None else f"; command queue{f' of {depth}' if depth else ''}{_state(queue)}")


def _state(is_on: bool | None) -> str:
    return "" if is_on is None else ", on" if is_on else ", off"


def _write_booster(host: Path, unit: Path) -> CacheReport:
    def of(name: str) -> int | None:
        return _number(sysfs.text(host / name))

    segment, allocation = of("geometry_descriptor/segment_size"), of("geometry_descriptor/allocation_unit_size")
    grain = segment * allocation * SECTOR if segment and allocation else None
    shared = of("device_descriptor/wb_shared_alloc_units")
    stated = shared or _number(sysfs.text(unit / "unit_descriptor" / "wb_buf_alloc_units"))
    adjustment, life = of("geometry_descriptor/wb_buff_cap_adj"), of("attributes/wb_life_time_est")
    preserved = of("device_descriptor/wb_presv_us_en")
    return {
        "kind": "UFS WriteBooster",
        "bytes": _times(of("attributes/wb_cur_buf"), grain),
        "most_bytes": _times(stated, grain),
        "type": _named(TYPES, of("device_descriptor/wb_type")),
        "user_space": None if preserved is None else "preserved" if preserved == 1 else "reduced",
        "bits_per_cell": adjustment if adjustment in BITS else None,
        "is_on": _flag(of("wb_on")),
        "free_tenths": _in(of(FREE), TENTHS),
        "flush": _named(FLUSHING, of("attributes/wb_flush_status")),
        "slc_wear": _wear(life),
        "native_wear": _wear(of("health_descriptor/life_time_estimation_a")),
        "reserve": _reserve(of("health_descriptor/eol_info")),
        "not_switched": _not_switched(host, life),
    }


def _not_switched(host: Path, life: int | None) -> str | None:
    """Reason why the buffer cannot be switched on and off; None where it can."""
    if life is not None and life >= EXCEEDED:
        return "its cells are worn out, and the drive switched it off for good"
    if _number(sysfs.text(host / "capabilities" / "write_booster")) == 0:
        return "the driver does not allow it"
    if _number(sysfs.text(host / "capabilities" / "clock_scaling")) == 1:
        return "the driver switches it by itself, with the clock"
    return None


def _emmc(card: Path) -> CacheReport:
    wears = [_wear(_number(word)) for word in (sysfs.text(card / "life_time") or "").split()]
    area = _number(sysfs.text(card / "enhanced_area_size"))
    register, queues = _register(card.resolve().name), _flag(_number(sysfs.text(card / "cmdq_en")))
    return {
        "kind": "eMMC",
        # The kernel gives KiB.
        "bytes": 0 if area is None or area >= NO_AREA else area * 1024,
        "most_bytes": None,
        "type": "an enhanced area, pSLC for ever",
        "user_space": "reduced",
        "bits_per_cell": None,
        "is_on": None,
        "free_tenths": None,
        "flush": None,
        "slc_wear": wears[0] if wears else None,
        "native_wear": wears[1] if len(wears) > 1 else None,
        "reserve": _reserve(_number(sysfs.text(card / "pre_eol_info"))),
        "not_switched": "an enhanced area is made once, for ever, and all data are lost",
        "volatile_bytes": int.from_bytes(register[CACHE_KIB], "little") * 1024 if register else None,
        "volatile_is_on": _flag(register[CACHE_ON]) if register else None,
        "queue_is_on": _flag(register[QUEUE_ON]) if register and queues is None else queues,
        "queue_commands": (register[QUEUE_DEPTH] & 31) + 1 if register and register[HAS_QUEUE] == 1 else None,
    }


def _register(card: str) -> bytes | None:
    """Bytes of the extended CSD register of `mmc0:0001`, which debugfs shows to root; None for anything else."""
    try:
        register = bytes.fromhex(sysfs.text(DEBUG / card.partition(":")[0] / card / "ext_csd") or "")
    except ValueError:
        return None
    return register if len(register) == REGISTER_BYTES else None


def _wear(tenths: int | None) -> str | None:
    """Wear in words, `10 to 20 % used`; None for 0, the standard's "unknown"."""
    if not tenths:
        return None
    if tenths > EXCEEDED:
        return f"{tenths:#x}, beyond the standard"
    return "more than all of it used" if tenths == EXCEEDED else f"{10 * tenths - 10} to {10 * tenths} % used"


def _reserve(value: int | None) -> str | None:
    """Reserve used, in words; None for 0, the standards' "not defined"."""
    return _named(RESERVES, value or None)


def _named(names: dict[int, str], value: int | None) -> str | None:
    return None if value is None else names.get(value, f"{value:#x}, beyond the standard")


def _flag(value: int | None) -> bool | None:
    return bool(value) if value in (0, 1) else None


def _in(value: int | None, limit: int) -> int | None:
    return value if value is not None and value <= limit else None


def _times(count: int | None, grain: int | None) -> int | None:
    return count * grain if count is not None and grain is not None else None


def _number(text: str | None) -> int | None:
    """Number as the kernel prints it, decimal or hexadecimal, of up to 64 bits; None for anything else."""
    try:
        value = int(text or "", 0)
    except ValueError:
        return None
    return value if 0 <= value < 1 << 64 else None
