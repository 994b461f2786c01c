"""Facts about a real drive and its machine, as the system reports them: Linux here, others in `windows` and `macos`.
Nothing is written. A fact that cannot be read is None, which means unknown and never "fine"."""

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from time import monotonic
from typing import Final

from pslc._native import device_serial, inspect_device
from pslc.base import gate
from pslc.base.errors import PslcError
from pslc.device import macos, names, windows
from pslc.formats.nvme_smart_log import in_our_names
from pslc.schema.facts import (
    Device,
    DiskCounts,
    Facts,
    FileSystem,
    HealthJson,
    HealthLog,
    Host,
    InspectedDevice,
    Link,
    Moment,
)

ANSWER = gate.Expected("smartctl -j -a and nvme smart-log -o json print it")
"""Expectations of another program's report about a drive."""

SYS = Path("/sys")
BUSES: Final = {"NVMe": r"nvme\d+", "USB": r"usb\d+", "SATA": r"ata\d+", "virtio": r"virtio\d+", "MMC": r"mmc\d+"}
"""Ways to connect a drive, and the folder of sysfs that shows each."""

NVME_DATA_UNIT = 512_000
"""Bytes: a thousand sectors, in NVMe's health log."""


def facts(path: Path) -> Facts:
    """Facts of a block device, of a file, or of the folder in which a file is to be made.

    `file_system` (None for a device): `type`, `mount`, `options`, `source`. `stack`: block devices from the file system
    down to the drive. `device`: of the drive itself, None where it is not to be found. `host` and `power`: the machine.
    """
    policies = sorted(SYS.glob("class/scsi_host/host*/link_power_management_policy"))
    return {
        "path": names.windows_device(path) or str(path),
        **_storage(path),
        "host": _host(),
        "power": {
            "nvme_ps_max_latency_us": _number(SYS / "module/nvme_core/parameters/default_ps_max_latency_us"),
            "sata_link_power": _text(policies[0]) if policies else None,
            "pcie_aspm": _chosen(_text(SYS / "module/pcie_aspm/parameters/policy")),
        },
    }


def _storage(path: Path) -> Facts:
    """`file_system`, `stack`, `partition_start_bytes` and `device`."""
    if name := names.windows_device(path):
        return windows.whole_drive(name)
    if path.is_block_device():
        file_system, disks = None, stack(path.stat().st_rdev)
    else:
        there = next(p for p in (path, *path.absolute().parents) if p.exists())
        if sys.platform == "win32":
            return windows.storage(there)
        if sys.platform == "darwin":
            return macos.storage(macos.volume_of(there))
        file_system = _file_system(there)
        number = there.stat().st_dev
        source = (file_system or FileSystem()).get("source") or ""
        if os.major(number) == 0 and source.startswith("/dev/") and Path(source).is_block_device():
            number = Path(source).stat().st_rdev
        disks = stack(number)
    return {
        "file_system": file_system,
        "stack": [disk.name for disk in disks],
        "partition_start_bytes": _partition_start(disks),
        "device": _device(disks[-1]) if disks else None,
    }


def users_and_signatures(path: Path) -> InspectedDevice | None:
    """A block device as the guard sees it; None for anything else."""
    return inspect_device(names.windows_device(path) or str(path)) if names.is_device(path) else None


def moment(facts_of: Facts) -> Moment:
    """Read the values that change while a drive works: temperature and SMART log. This is done before and after a run,
    never during it, since the request can wake the drive; `temperature` alone may be read at any time."""
    device = facts_of["device"]
    if device is None:
        return {"temperature_c": None, "smart": None}
    name = device["name"]
    if sys.platform == "darwin":
        return macos.moment(name)
    return {"temperature_c": temperature(name), "smart": smart(name)}


class Counters:
    """Linux's I/O counters of the device that holds the target, and of the devices below it, from this moment on."""

    def __init__(self, facts_of: Facts) -> None:
        disks = [name for name in facts_of["stack"] if (SYS / "block" / name).exists()]
        self.name = disks[0] if disks else ""
        self.begin = monotonic()
        self.before = _counted(self.name)

    def so_far(self) -> DiskCounts | None:
        """Until now; None where Linux does not tell."""
        span_ms = 1000 * (monotonic() - self.begin)
        after = _counted(self.name)

        def of(name: str) -> DiskCounts:
            slaves = [of(slave) for slave in _slaves(name) if slave in self.before.keys() & after.keys()]
            counts: DiskCounts = {
                "name": name,
                "before": self.before[name],
                "after": after[name],
                "span_ms": span_ms,
            }
            return {**counts, "slaves": slaves} if slaves else counts

        return of(self.name) if self.name in self.before.keys() & after.keys() else None


def _counted(name: str) -> dict[str, list[int]]:
    """Since the machine was started (`/sys/block/NAME/stat`), of a device and of all below it: requests, merged ones,
    sectors and milliseconds of reads, the same of writes, requests under way, milliseconds in which there were any, and
    milliseconds of all."""
    words = (_text(SYS / "block" / name / "stat") or "").split() if name else []
    own = {name: [int(word) for word in words]} if len(words) >= 11 else {}
    return own | {slave: counts for below in _slaves(name) for slave, counts in _counted(below).items()}


def leaves(number: int) -> list[str]:
    """The drives below a device of dm or md, through all layers; empty where there is nothing below it."""
    try:
        at = (SYS / "dev/block" / f"{os.major(number)}:{os.minor(number)}").resolve(strict=True)
    except OSError:
        return []

    def below(name: str) -> list[str]:
        return [leaf for slave in _slaves(name) for leaf in below(slave) or [slave]]

    return list(dict.fromkeys(below(at.name)))


def _slaves(name: str) -> list[str]:
    folder = SYS / "block" / name / "slaves"
    # A partition counts as its disk, as in fio.
    folders = [part.resolve() for part in sorted(folder.iterdir())] if name and folder.is_dir() else []
    return [part.parent.name if (part / "partition").exists() else part.name for part in folders]


def endurance_bytes(log: HealthLog) -> float | None:
    """Bytes that the host can write over a drive's life, as its own health log implies: what was written so far over
    the share of its life that is used. None before that is 1 %, and where the drive does not tell."""
    used, written = log.get("percentage_used"), log.get("data_units_written")
    return None if not used or written is None else written * NVME_DATA_UNIT / (used / 100)


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None


def _number(path: Path) -> int | None:
    text = _text(path)
    try:
        return int(text) if text else None
    except ValueError:
        return None


def _chosen(text: str | None) -> str | None:
    """`performance` of `default [performance] powersave`."""
    if text and "[" in text:
        return text.partition("[")[2].partition("]")[0]
    return text


def _file_system(path: Path) -> FileSystem | None:
    number = path.stat().st_dev
    wanted = f"{os.major(number)}:{os.minor(number)}"
    for line in (_text(Path("/proc/self/mountinfo")) or "").splitlines():
        fields, _, rest = line.partition(" - ")
        parts = fields.split()
        kind, source, *options = rest.split()
        if len(parts) > 4 and parts[2] == wanted:
            room = os.statvfs(path)
            return {
                "type": kind,
                "mount": parts[4],
                "source": source,
                "options": " ".join([parts[5], *options]),
                "bytes": room.f_blocks * room.f_frsize,
                "free_bytes": room.f_bavail * room.f_frsize,
            }
    return None


def stack(number: int) -> list[Path]:
    """Block devices from this one down to the drive: dm and md over their first slave, a partition over its disk."""
    try:
        at = (SYS / "dev/block" / f"{os.major(number)}:{os.minor(number)}").resolve(strict=True)
    except OSError:
        return []
    devices = [at]
    while True:
        slaves = sorted((at / "slaves").iterdir()) if (at / "slaves").is_dir() else []
        if (at / "partition").exists():
            at = at.parent
        elif slaves:
            at = slaves[0].resolve()
        else:
            return devices
        devices.append(at)


def _device(disk: Path) -> Device:
    queue, device = disk / "queue", disk / "device"
    sectors = _number(disk / "size")
    node = Path("/dev") / disk.name
    return {
        "name": disk.name,
        "model": _text(device / "model"),
        "serial": device_serial(str(node)) if node.is_block_device() else None,
        "firmware": _text(device / "firmware_rev") or _text(device / "rev"),
        "bus": _bus(disk),
        "bytes": sectors * 512 if sectors is not None else None,
        **link(disk),
        "logical_block_bytes": _number(queue / "logical_block_size"),
        "physical_block_bytes": _number(queue / "physical_block_size"),
        "optimal_io_bytes": _number(queue / "optimal_io_size"),
        "largest_request_bytes": _kib(_number(queue / "max_sectors_kb")),
        "queue_requests": _number(queue / "nr_requests"),
        "scheduler": _chosen(_text(queue / "scheduler")),
        "rotational": _number(queue / "rotational"),
        "write_cache": _text(queue / "write_cache"),
        "keeps_flushes": None,
        # 1 where a controller without DRAM has asked for memory of the host's and got it.
        "host_memory_buffer": _number(device / "hmb"),
        "discard_bytes": _number(queue / "discard_max_bytes"),
        "requests_in_flight": sum(int(word) for word in (_text(disk / "inflight") or "0").split()),
    }


def _bus(disk: Path) -> str | None:
    """How a drive is connected, by the folders that it lies in: USB before ATA and SCSI, which it may carry."""
    folders = disk.resolve().parts
    for name, pattern in BUSES.items():
        if any(re.fullmatch(pattern, folder) for folder in folders):
            return name
    return None


def link(disk: Path) -> Link:
    """Speed and width of the PCIe or SATA link, now and at most."""
    device = disk / "device"
    pcie = next((p for p in (device / "device", device) if (p / "current_link_speed").exists()), None)
    if pcie is not None:
        return {
            "link_speed": _text(pcie / "current_link_speed"),
            "link_speed_max": _text(pcie / "max_link_speed"),
            "link_width": _number(pcie / "current_link_width"),
            "link_width_max": _number(pcie / "max_link_width"),
        }
    port = next((p for p in disk.parents if re.fullmatch(r"ata\d+", p.name)), None)
    links = sorted(port.glob("link*/ata_link/link*")) if port else []
    lane = 1 if links else None
    return {
        "link_speed": _text(links[0] / "sata_spd") if links else None,
        "link_speed_max": _text(links[0] / "hw_sata_spd_limit") if links else None,
        "link_width": lane,
        "link_width_max": lane,
    }


def power_state(disk: Path) -> str | None:
    """`active` or `suspended`, and PCIe's `D0` to `D3cold`, of a drive's controller; the drive is not asked."""
    device = disk / "device"
    runtime = _text(device / "power" / "runtime_status")
    controller = next((p for p in (device / "device", device) if (p / "power_state").exists()), None)
    pcie = _text(controller / "power_state") if controller else None
    states = [word for word in (runtime, pcie) if word and word not in ("unsupported", "unknown")]
    return " ".join(states) or None


def _partition_start(stack: list[Path]) -> int | None:
    """Where the partition begins on its drive; None when there is none."""
    sectors = [_number(disk / "start") for disk in stack if (disk / "partition").exists()]
    return sectors[0] * 512 if sectors and sectors[0] is not None else None


def _kib(number: int | None) -> int | None:
    return number * 1024 if number is not None else None


def temperature(name: str) -> float | None:
    """Degrees Celsius of the drive `name`, such as nvme0n1, by its own thermometer; None when it has none to show, and
    on macOS, where only its health log tells."""
    if sys.platform == "win32":
        return windows.moment(name)["temperature_c"]
    disk = SYS / "block" / name
    for sensor in sorted((disk / "device").glob("hwmon*/temp1_input")) + sorted(
        (disk / "device" / "device").glob("hwmon/hwmon*/temp1_input")
    ):
        value = _number(sensor)
        if value is not None:
            return value / 1000
    return None


def smart(name: str, quietly: bool = False) -> HealthJson | None:
    """Read the health log of the drive `name` with smartctl or nvme-cli; None if neither can read it.

    Args:
        quietly: do not wake the drive, and open it for reading only, which smartctl does for NVMe and libata alone.
    """
    if sys.platform == "win32" and (log := windows.moment(name)["smart"]):
        return log
    # smartctl's name for a drive of Windows.
    node = f"/dev/{name.replace(windows.DRIVE, 'pd')}"
    kind: tuple[str, ...] = ()
    if quietly:
        ata = any(re.fullmatch(r"ata\d+", of.name) for of in (SYS / "block" / name).resolve().parents)
        if not ata and not name.startswith("nvme"):
            return None
        kind = ("-n", "standby", "-d", "ata" if ata else "nvme")
    for program, *arguments in (("smartctl", "-j", "-a", *kind), ("nvme", "smart-log", "-o", "json")):
        if shutil.which(program) is None:
            continue
        try:
            asked = [program, *arguments, node]
            done = subprocess.run(asked, capture_output=True, text=True, timeout=10, check=False)
            document = gate.document(done.stdout, program, ANSWER)
        except (OSError, ValueError, PslcError, subprocess.TimeoutExpired):
            continue
        keep = ("smart_status", "temperature", "nvme_smart_health_information_log", "ata_smart_attributes")
        kept = {name: document[name] for name in keep if name in document}
        if program == "nvme":
            kept = in_our_names(document, kelvin=True)
        if kept:
            return dict(kept)
    return None


def _host() -> Host:
    if sys.platform in ("win32", "darwin"):
        system = windows if sys.platform == "win32" else macos
        cpu = system.processor()
        return {"kernel": platform.version(), "cpu": cpu, "cores": os.cpu_count(), "governor": None, "virtual": None}
    cpuinfo = _text(Path("/proc/cpuinfo")) or ""
    model = next(
        (line.partition(":")[2].strip() for line in cpuinfo.splitlines() if line.startswith("model name")), None
    )
    flags = next((line for line in cpuinfo.splitlines() if line.startswith("flags")), None)
    return {
        "kernel": platform.release(),
        "cpu": model,
        "cores": os.cpu_count(),
        "governor": _text(SYS / "devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "virtual": " hypervisor" in flags if flags is not None else None,
    }
