"""Facts about a real drive and its machine, as the system reports them: Linux here, others in `windows` and `macos`.
Nothing is written. A fact that cannot be read is None, which means unknown and never "fine"."""

import os
import platform
import re
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, Final

from pslc._native import ata_identity, device_serial, inspect_device, linux_health, mounts
from pslc.base import children, gate
from pslc.base.errors import PslcError, TargetError
from pslc.device import cache_switch, macos, names, sysfs, windows
from pslc.device.cache_report import cache_report
from pslc.schema.facts import (
    ENCRYPTION,
    Device,
    DiskCounts,
    Facts,
    FileSystem,
    HealthJson,
    HealthLog,
    Host,
    InspectedDevice,
    Layer,
    Link,
    Moment,
    Mount,
)
from pslc.schema.health import SMARTCTL, health

ANSWER = gate.Expected("smartctl -j -a prints it")
"""Expectations of another program's report about a drive."""

SYS = Path("/sys")
NAMES: Final = ("device/model", "device/name", "md/level", "dm/name")
"""Files with the model of a drive, the level of an md array, or the name of a device of dm."""
WITHOUT_LOGS: Final = ("UFS", "MMC", "virtio")
"""Buses whose drives have no health log for any program: UFS and eMMC tell their wear beside their cache."""
BUSES: Final = {
    "NVMe": r"nvme(-subsys)?\d+",
    "USB": r"usb\d+",
    "SATA": r"ata\d+",
    "virtio": r"virtio\d+",
    "MMC": r"mmc\d+",
}
"""Ways to connect a drive, and the folder of sysfs that shows each."""

DM: Final = {"CRYPT-": ENCRYPTION, "LVM-": "LVM", "mpath-": "multipath", "part": "partition"}
"""Kinds of devices of dm, by the beginning of their uuid."""

NEEDS_ROOT: Final = "it takes root: sudo $(command -v pslc) {command} /dev/{name}"

NVME_DATA_UNIT = 512_000
"""Bytes: a thousand sectors, in NVMe's health log."""


def facts(path: Path) -> Facts:
    """Facts of a block device, of a file, or of the folder in which a file is to be made.

    `file_system` (None for a device): `type`, `mount`, `options`, `source`. `stack`: block devices from the file system
    down to the drives. `device`: the drive or the array, None where it is not to be found, and of a file system that
    lies on several drives itself. `members`: the drives of either. `host` and `power`: the machine.
    """
    policies = sorted(SYS.glob("class/scsi_host/host*/link_power_management_policy"))
    storage = _storage(path)
    return {
        "path": names.windows_device(path) or str(path),
        **storage,
        "host": _host(),
        "power": {
            "nvme_ps_max_latency_us": _nvme_wake_us(drives(storage)),
            "sata_link_power": sysfs.text(policies[0]) if policies else None,
            "pcie_aspm": _chosen(sysfs.text(SYS / "module/pcie_aspm/parameters/policy")),
        },
    }


def _nvme_wake_us(names: list[str]) -> int | None:
    """Longest wake from a power state, in µs, that Linux allows NVMe drives; None where they never change their state
    themselves, which the module's parameter, a default, does not tell."""
    file = "power/pm_qos_latency_tolerance_us"
    devices = [SYS / "block" / name / "device" for name in names]
    # A drive with several controllers has them below its subsystem.
    paths = [path for device in devices for path in (device / file, *sorted(device.glob(f"nvme*/{file}")))]
    return max((us for path in paths if (us := sysfs.number(path)) is not None), default=None)


def _storage(path: Path) -> Facts:
    """`file_system`, `stack`, `partition_start_bytes` and `device`."""
    if name := names.windows_device(path):
        return windows.whole_drive(name)
    if path.is_block_device():
        return _on_linux(None, [path.stat().st_rdev])
    there = next(p for p in (path, *path.absolute().parents) if p.exists())
    if sys.platform == "win32":
        return windows.storage(there)
    if sys.platform == "darwin":
        return macos.storage(macos.volume_of(there))
    for mount in mounts(there):
        return _on_linux(file_system_of(mount, there), devices_of(mount))
    return _on_linux(None, [there.stat().st_dev])


def _on_linux(system: FileSystem | None, numbers: list[int]) -> Facts:
    """Facts of a file system, or of a block device that is a target itself, on the devices of these numbers."""
    disks = list(dict.fromkeys(disk for number in numbers for disk in stack(number)))
    storage: Facts = {
        "file_system": system,
        "stack": [disk.name for disk in disks],
        "layers": [layer for disk in disks if (layer := layer_of(disk)) is not None],
        "partition_start_bytes": _partition_start(disks),
        "device": None,
    }
    if (behind := _behind(storage)) is not None:
        storage["below"] = {"path": str(behind), **_storage(behind)}
    return storage | _whole(disks, is_target=system is None) if disks else storage


def _behind(storage: Facts) -> Path | None:
    """The file behind a loop device, or the upper folder of an overlay; None where it cannot be seen from here."""
    system = storage["file_system"] or FileSystem()
    options = system.get("options", "").split(",") if system.get("type") == "overlay" else []
    uppers = [option.removeprefix("upperdir=") for option in options if option.startswith("upperdir=")]
    paths = [Path(text) for text in (*uppers, *(layer["file"] for layer in storage["layers"] if "file" in layer))]
    return next((path for path in paths if path.is_absolute() and os.path.exists(path)), None)


def layer_of(disk: Path) -> Layer | None:
    """A device that is no drive; None of a drive and of a partition."""
    name = disk.name
    if (disk / "dm").is_dir():
        uuid = sysfs.text(disk / "dm/uuid") or ""
        return {"name": name, "kind": next((kind for mark, kind in DM.items() if uuid.startswith(mark)), "dm")}
    if (disk / "md").is_dir():
        return {"name": name, "kind": sysfs.text(disk / "md/level") or "md"}
    if (file := sysfs.text(disk / "loop/backing_file")) is not None:
        is_direct = sysfs.text(disk / "loop/dio") == "1"
        return {"name": name, "kind": "loop device", "file": file, "direct": is_direct}
    return {"name": name, "kind": "bcache"} if (disk / "bcache").is_dir() and _parts(disk) else None


def _whole(disks: list[Path], is_target: bool) -> Facts:
    """`device`, and `members` of an array: the first device that lies on several drives, or that is a target itself."""
    drives = [disk for disk in disks if not _parts(disk)]
    arrays = [disk for disk in disks if len(_parts(disk)) > 1]
    if is_target and _slaves(disks[0].name):
        arrays.insert(0, disks[0])
    if not arrays and len(drives) == 1:
        return {"device": _device(drives[0])}
    device, members = _device(arrays[0]) if arrays else None, [_device(drive) for drive in drives]
    if device is not None and len(members) == 1:
        device = {**device, **link(drives[0])}
    return {"device": device, "members": members}


def drives(facts_of: Facts) -> list[str]:
    """Names of the drives of a target: the members of an array."""
    device = facts_of.get("device")
    return [drive["name"] for drive in facts_of.get("members") or ([device] if device else [])]


def users_and_signatures(path: Path) -> InspectedDevice | None:
    """A block device as the guard sees it; None for anything else."""
    return inspect_device(names.windows_device(path) or str(path)) if names.is_device(path) else None


def moment(facts_of: Facts) -> Moment:
    """Read the values that change while a drive works: temperature and SMART log. This is done before and after a run,
    never during it, since the request can wake the drive; `temperature` alone may be read at any time."""
    now, disk = _moment(drives(facts_of)), reporting(facts_of)
    if disk is not None and (cache := cache_report(disk)) is not None:
        now["cache"] = {**cache, "left_by": cache_switch.left(disk)}
    return now


def _moment(names: list[str]) -> Moment:
    if len(names) != 1:
        logs = {name: log for name in names if (log := smart(name))}
        return {"temperature_c": hottest(names), "smart": None, **({"members": logs} if names else {})}
    (name,) = names
    if sys.platform == "darwin":
        return macos.moment(name)
    log, celsius = smart(name), hottest(names)
    return {"temperature_c": health(log).get("temperature") if celsius is None else celsius, "smart": log}


def with_sysfs(facts_of: Facts, folder: Path | None) -> Facts:
    """Facts about a target, whose drive reports its cache in this folder of a UFS host controller.

    Raises:
        PslcError: it is no such folder.
    """
    if folder is None:
        return facts_of
    if not (folder / sysfs.UFS).is_file():
        hint = "a UFS host controller's is /sys/bus/platform/drivers/ufshcd-*/*; pslc serve --sysfs DIR makes one"
        raise TargetError(f"{folder} is no folder of a UFS host controller: it has no {sysfs.UFS}", hint)
    return {**facts_of, "sysfs": str(folder.absolute())}


def reporting(facts_of: Facts) -> Path | None:
    """Folder of the drive in /sys/block, or the one that `--sysfs` stands for; None of several drives, or of none."""
    if "sysfs" in facts_of:
        return Path(facts_of["sysfs"], "disk")
    names = drives(facts_of)
    return SYS / "block" / names[0] if len(names) == 1 else None


class Counters:
    """Linux's I/O counters of the device that holds the target, and of the devices below it, from this moment on."""

    def __init__(self, facts_of: Facts) -> None:
        disks = [name for name in facts_of["stack"] if (SYS / "block" / name).exists()]
        self.name, self.members = disks[0] if disks else "", drives(facts_of)
        self.begin = monotonic()
        self.before, self.dirtied = self._now(), _dirtied_pages()

    def _now(self) -> dict[str, list[int]]:
        return _counted(self.name) | {
            name: counts for member in self.members for name, counts in _counted(member).items()
        }

    def so_far(self) -> Facts:
        """Facts of the time until now, as far as Linux tells: `disk_counts`, `member_counts` and `dirtied_bytes`."""
        span_ms = 1000 * (monotonic() - self.begin)
        after, dirtied = self._now(), _dirtied_pages()
        counted = self.before.keys() & after.keys()

        def of(name: str) -> DiskCounts:
            slaves = [of(slave) for slave in _slaves(name) if slave in counted]
            counts: DiskCounts = {
                "name": name,
                "before": self.before[name],
                "after": after[name],
                "span_ms": span_ms,
            }
            return {**counts, "slaves": slaves} if slaves else counts

        facts: Facts = {"disk_counts": of(self.name)} if self.name in counted else {}
        if len(self.members) > 1 and counted.issuperset(self.members):
            facts["member_counts"] = [of(name) for name in self.members]
        if dirtied is not None and self.dirtied is not None:
            facts["dirtied_bytes"] = (dirtied - self.dirtied) * os.sysconf("SC_PAGE_SIZE")
        return facts


def _dirtied_pages() -> int | None:
    """Pages of memory that became dirty since the machine was started, whoever wrote; None where it is not told."""
    lines = (sysfs.text(Path("/proc/vmstat")) or "").splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("nr_dirtied ")), None)


def _counted(name: str) -> dict[str, list[int]]:
    """Since the machine was started (`/sys/block/NAME/stat`), of a device and of all below it: requests, merged ones,
    sectors and milliseconds of reads, the same of writes, requests under way, milliseconds in which there were any, and
    milliseconds of all."""
    folders = sysfs.counting(SYS / "block" / name) if name else []
    rows = [[int(word) for word in (sysfs.text(folder / "stat") or "").split()] for folder in folders]
    own = {name: [sum(column) for column in zip(*rows, strict=True)]} if rows and len(rows[0]) >= 11 else {}
    return own | {slave: counts for below in _slaves(name) for slave, counts in _counted(below).items()}


def leaves(number: int) -> list[str]:
    """The drives below a device of dm or md, through all layers; empty where there is nothing below it."""
    try:
        at = (SYS / "dev/block" / _shown(number)).resolve(strict=True)
    except OSError:
        return []

    def below(name: str) -> list[str]:
        return [leaf for slave in _slaves(name) for leaf in below(slave) or [slave]]

    return list(dict.fromkeys(below(at.name)))


def _slaves(name: str) -> list[str]:
    # A partition counts as its disk, as in fio.
    parts = _parts(SYS / "block" / name)
    return [part.parent.name if (part / "partition").exists() else part.name for part in parts]


def endurance_bytes(log: HealthLog) -> float | None:
    """Bytes that the host can write over a drive's life, as its own health log implies: what was written so far over
    the share of its life that is used. None before that is 1 %, and where the drive does not tell."""
    used, written = log.get("percentage_used"), log.get("data_units_written")
    return None if not used or written is None else written * NVME_DATA_UNIT / (used / 100)


def _chosen(text: str | None) -> str | None:
    """`performance` of `default [performance] powersave`."""
    if text and "[" in text:
        return text.partition("[")[2].partition("]")[0]
    return text


def file_system_of(mount: Mount, path: Path) -> FileSystem:
    """The file system of a mount, as it is on a path in it."""
    room = os.statvfs(path)
    return {
        "type": mount["type"],
        "mount": mount["point"],
        "source": mount["source"],
        "options": f"{mount['flags']} {mount['options']}",
        "bytes": room.f_blocks * room.f_frsize,
        "free_bytes": room.f_bavail * room.f_frsize,
    }


def devices_of(mount: Mount) -> list[int]:
    """Numbers of the block devices that a file system lies on, of btrfs all of them; none where it is on none."""
    major, _, minor = mount["number"].partition(":")
    if major != "0":
        return [os.makedev(int(major), int(minor))]
    numbers: list[int] = []
    for source in map(Path, mount["source"].split(":")):
        # Others' files may not be looked at.
        with suppress(OSError):
            numbers += [source.stat().st_rdev] if source.is_absolute() and source.is_block_device() else []
    for pool in (SYS / "fs/btrfs").glob("*/devices"):
        members = [sysfs.text(member / "dev") or "" for member in sorted(pool.iterdir())]
        if mount["type"] == "btrfs" and any(_shown(number) in members for number in numbers):
            return [os.makedev(*map(int, member.split(":"))) for member in members if member]
    return numbers


def _shown(number: int) -> str:
    return f"{os.major(number)}:{os.minor(number)}"


def stack(number: int) -> list[Path]:
    """Block devices from this one down to its drives, each once: dm and md over slaves, a partition over its disk."""
    try:
        top = (SYS / "dev/block" / _shown(number)).resolve(strict=True)
    except OSError:
        return []

    def down(device: Path) -> list[Path]:
        return [device, *(lower for part in _parts(device) for lower in down(part))]

    return list(dict.fromkeys(down(top)))


def _parts(device: Path) -> list[Path]:
    """Folders of the devices right below one; of a partition its disk."""
    if (device / "partition").exists():
        return [device.parent]
    slaves = device / "slaves"
    return [slave.resolve() for slave in sorted(slaves.iterdir())] if slaves.is_dir() else []


def _device(disk: Path) -> Device:
    queue, device = disk / "queue", disk / "device"
    sectors = sysfs.number(disk / "size")
    node = Path("/dev") / disk.name
    model, firmware = ata_identity(str(node)) if _is_ata(disk) else (None, None)
    return {
        "name": disk.name,
        "model": model or next((text for name in NAMES if (text := sysfs.text(disk / name))), None),
        "serial": device_serial(str(node)) if node.is_block_device() else None,
        "firmware": firmware or sysfs.text(device / "firmware_rev") or sysfs.text(device / "rev"),
        "bus": _bus(disk),
        "bytes": sectors * 512 if sectors is not None else None,
        **link(disk),
        "logical_block_bytes": sysfs.number(queue / "logical_block_size"),
        "physical_block_bytes": sysfs.number(queue / "physical_block_size"),
        "optimal_io_bytes": sysfs.number(queue / "optimal_io_size"),
        "largest_request_bytes": _kib(sysfs.number(queue / "max_sectors_kb")),
        "queue_requests": sysfs.number(queue / "nr_requests"),
        "scheduler": _chosen(sysfs.text(queue / "scheduler")),
        "rotational": sysfs.number(queue / "rotational"),
        "write_cache": sysfs.text(queue / "write_cache"),
        "keeps_flushes": None,
        # 1 where a controller without DRAM has asked for memory of the host's and got it.
        "host_memory_buffer": sysfs.number(device / "hmb"),
        "discard_bytes": sysfs.number(queue / "discard_max_bytes"),
        "requests_in_flight": sum(int(word) for word in (sysfs.text(disk / "inflight") or "0").split()),
    }


def _bus(disk: Path) -> str | None:
    """Bus of a drive, by the folders that it lies in: USB before ATA and SCSI, which it may carry."""
    if sysfs.ufs_host(disk) is not None:
        return "UFS"
    folders = disk.resolve().parts
    for name, pattern in BUSES.items():
        if any(re.fullmatch(pattern, folder) for folder in folders):
            return name
    return None


def link(disk: Path) -> Link:
    """Speed and width of the PCIe, UFS or SATA link, now and at most."""
    device = disk / "device"
    pcie = next((p for p in (device / "device", device) if (p / "current_link_speed").exists()), None)
    if pcie is not None:
        return {
            "link_speed": sysfs.text(pcie / "current_link_speed"),
            "link_speed_max": sysfs.text(pcie / "max_link_speed"),
            "link_width": sysfs.number(pcie / "current_link_width"),
            "link_width_max": sysfs.number(pcie / "max_link_width"),
        }
    if (host := sysfs.ufs_host(disk)) is not None:
        # Linux of 2025 and later: `HS_GEAR4`, or `PWM_GEAR1` of a link that is not set up.
        lanes = sysfs.number(host / "power_info/lane")
        return {
            "link_speed": sysfs.text(host / "power_info/gear"),
            "link_speed_max": None,
            "link_width": lanes,
            "link_width_max": None,
        }
    port = next((p for p in disk.parents if re.fullmatch(r"ata\d+", p.name)), None)
    links = sorted(port.glob("link*/ata_link/link*")) if port else []
    lane = 1 if links else None
    return {
        "link_speed": sysfs.text(links[0] / "sata_spd") if links else None,
        "link_speed_max": sysfs.text(links[0] / "hw_sata_spd_limit") if links else None,
        "link_width": lane,
        "link_width_max": lane,
    }


def power_state(disk: Path) -> str | None:
    """`active` or `suspended`, and PCIe's `D0` to `D3cold`, of a drive's controller; the drive is not asked."""
    device = disk / "device"
    runtime = sysfs.text(device / "power" / "runtime_status")
    controller = next((p for p in (device / "device", device) if (p / "power_state").exists()), None)
    pcie = sysfs.text(controller / "power_state") if controller else None
    states = [word for word in (runtime, pcie) if word and word not in ("unsupported", "unknown")]
    return " ".join(states) or None


def _partition_start(stack: list[Path]) -> int | None:
    """First byte of the partition on its drive; None when there is none."""
    sectors = [sysfs.number(disk / "start") for disk in stack if (disk / "partition").exists()]
    return sectors[0] * 512 if sectors and sectors[0] is not None else None


def _kib(number: int | None) -> int | None:
    return number * 1024 if number is not None else None


def hottest(names: list[str]) -> float | None:
    """Degrees Celsius of the hottest of some drives; None where none of them tells."""
    return max((celsius for name in names if (celsius := temperature(name)) is not None), default=None)


def hottest_millicelsius(names: list[str]) -> float | None:
    """Thousandths of a degree Celsius of the hottest of some drives, as the column of a recording has them."""
    celsius = hottest(names)
    return None if celsius is None else 1000 * celsius


def temperature(name: str) -> float | None:
    """Degrees Celsius of the drive `name`, such as nvme0n1, by its own thermometer; None when it has none to show, and
    on macOS, where only its health log tells."""
    if sys.platform == "win32":
        return windows.moment(name)["temperature_c"]
    disk = SYS / "block" / name
    for sensor in sorted((disk / "device").glob("hwmon*/temp1_input")) + sorted(
        (disk / "device" / "device").glob("hwmon/hwmon*/temp1_input")
    ):
        value = sysfs.number(sensor)
        if value is not None:
            return value / 1000
    return None


def smart(name: str, quietly: bool = False) -> HealthJson | None:
    """Read the health log of the drive `name`: an NVMe or SATA drive is asked itself, others, and where that takes more
    rights, through smartctl. None if neither can read it.

    Args:
        quietly: do not wake the drive, and open it for reading only, which smartctl does for NVMe and libata alone.
    """
    if sys.platform == "win32" and (log := windows.moment(name)["smart"]):
        return log
    is_ata = _is_ata(SYS / "block" / name)
    if is_ata or name.startswith("nvme"):
        celsius, fields = linux_health(f"/dev/{name}", is_ata, not quietly)
        if fields:
            return _in_smartctl_names(celsius, dict(fields))
    # smartctl's name for a drive of Windows.
    node = f"/dev/{name.replace(windows.DRIVE, 'pd')}"
    if not quietly:
        return _by_smartctl(node)
    if not is_ata and not name.startswith("nvme"):
        return None
    return _by_smartctl(node, "-n", "standby", "-d", "ata" if is_ata else "nvme")


def _is_ata(disk: Path) -> bool:
    """Whether a drive is behind a SATA port of this machine, and no bridge."""
    return any(re.fullmatch(r"ata\d+", parent.name) for parent in disk.resolve().parents)


def _in_smartctl_names(celsius: int | None, fields: dict[str, int]) -> HealthJson:
    passed = fields.pop("passed", None)
    log: HealthJson = {} if passed is None else {"smart_status": {"passed": bool(passed)}}
    return log | {SMARTCTL: {**fields, "temperature": celsius}}


def unasked(name: str, command: str) -> str | None:
    """Reason why the drive `name` was not asked for its health log, and what helps, such as pslc's `command` as root;
    None if it was. The drive is not asked now."""
    is_asked_itself = name.startswith("nvme") or _is_ata(SYS / "block" / name)
    if sys.platform == "linux" and is_asked_itself and os.geteuid() != 0:
        return NEEDS_ROOT.format(command=command, name=name)
    if (bus := _bus(SYS / "block" / name)) in WITHOUT_LOGS:
        return f"{bus} drives keep none"
    return "smartctl is not installed (package smartmontools)" if children.find("smartctl") is None else None


def without_health(name: str) -> str:
    """Reason why a drive showed no health log: see `unasked`; or smartctl was denied it, or knows none."""
    if why := unasked(name, "probe"):
        return why
    messages = (_smartctl(f"/dev/{name}") or {}).get("smartctl", {}).get("messages", [])
    reasons = "; ".join(str(message.get("string")) for message in messages)
    if "Permission denied" in reasons:
        return NEEDS_ROOT.format(command="probe", name=name)
    return f"smartctl reads none from it{': ' if reasons else ''}{reasons}"


def _by_smartctl(node: str, *kind: str) -> HealthJson | None:
    document = _smartctl(node, *kind) or {}
    keep = ("smart_status", "temperature", SMARTCTL, "ata_smart_attributes")
    return {name: document[name] for name in keep if name in document} or None


def _smartctl(node: str, *kind: str) -> Any:
    """smartctl's report of a drive; None where it makes none."""
    if children.find("smartctl") is None:
        return None
    try:
        report = children.run(["smartctl", "-j", "-a", *kind, node], timeout_s=10).text
        return gate.document(report, "smartctl", ANSWER)
    except (OSError, PslcError):
        return None


def _host() -> Host:
    if sys.platform in ("win32", "darwin"):
        system = windows if sys.platform == "win32" else macos
        cpu = system.processor()
        unknown: Host = {"governor": None, "huge_pages": None, "virtual": None}
        return {"kernel": platform.version(), "cpu": cpu, "cores": os.cpu_count(), **unknown}
    cpuinfo = sysfs.text(Path("/proc/cpuinfo")) or ""
    model = next(
        (line.partition(":")[2].strip() for line in cpuinfo.splitlines() if line.startswith("model name")), None
    )
    flags = next((line for line in cpuinfo.splitlines() if line.startswith("flags")), None)
    return {
        "kernel": platform.release(),
        "cpu": model,
        "cores": os.cpu_count(),
        "governor": sysfs.text(SYS / "devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "huge_pages": _chosen(sysfs.text(SYS / "kernel/mm/transparent_hugepage/enabled")),
        "virtual": " hypervisor" in flags if flags is not None else None,
    }
