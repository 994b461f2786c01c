"""Warnings about a measurement on a real drive, pslc's or another program's: a closed set, each with what to do about
it. Warnings about the analysis of a curve are in `pslc.analysis.warnings`."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from pslc.base import words
from pslc.formats import ImportedData
from pslc.formats.nvme_smart_log import health
from pslc.recording.store import Recording
from pslc.recording.wear import spent
from pslc.schema.facts import Device, Facts, FileSystem, Moment
from pslc.schema.job_options import traits
from pslc.schema.jobs import Job
from pslc.schema.warnings import MeasurementWarning, WarningCode


class RecordingWarning(WarningCode):
    """Every doubt there is; the braces hold what was seen."""

    INCOMPLETE = "this recording is partial, the run ended early ({why}): run it to its end"
    LATE = "the host was too slow for the drive, {how}: serve it with --speed 0.1, or from a faster host"
    DIED = (
        "the server died {times}, a loss of power to the drive; what was not flushed is lost, and up to 5 s of this "
        "recording: leave it alive"
    )
    SCALED = "the drive is scaled to {scale}, but {why}: leave scale out, or take a larger one"
    WORN_OUT = (
        "the cells' cycles were spent after {written} ({span}), {times:.1f} times over in all: a real drive fails or "
        "turns read-only there, so write less, or ignore what follows"
    )
    PAGE_CACHE = "job {job} went through the page cache: give direct=1 to measure the drive"
    COMPRESSIBLE = "job {job} wrote data that compress ({option}): leave that out, controllers may compress"
    VIRTUAL = "the machine is virtual, so the drive may be shared, cached or emulated: measure on the machine itself"
    FILE_SYSTEM = "the file is on {what}: measure on ext4 or XFS straight on the drive"
    STACK = "the file system reaches the drive through {stack}: measure without it"
    ALIGNMENT = "requests of {bs} bytes are smaller than the drive's blocks of {block}: use bs={block} or more"
    PARTITION = "the partition begins at {start} bytes, which is not a multiple of 1 MiB: create it again, aligned"
    FULL = "the file system is {share:.0f} % full, so a dynamic cache may be small: free space before you measure"
    IMPOSSIBLE = "{speed} is more than the link carries ({most}): data came from a cache"
    NO_LINK = (
        "{what} at {speed} is more than PCIe 5.0 x4 carries, so the data came from memory: measure with direct I/O"
    )
    UNWRITTEN = (
        "job {job} read in {span} a request, faster than any flash: write all of the space first, and read past caches"
    )
    READING = "{caution}"
    RANDOM_NAME = "by its name {file} holds random writes, so no cache is stated: --workload sequential if it does not"
    CLOCK = "the clock went back by {span} in {file}: leave the system's time alone while measuring, and repeat"
    ZEROES = "the data were zeroes, which a drive may compress or not store: write random data"
    LINK = "the link runs at {now} but can {most}: put the drive into another slot"
    GOVERNOR = "the CPU's governor is {governor}: set it to performance"
    POWER_STATES = "NVMe power states of up to {us} us may slow single requests: nvme_core.default_ps_max_latency_us=0"
    WRITE_CACHE = "the drive's write cache is off ({what}): switch it on unless that is the question"
    FLUSHES = (
        "the system keeps flushes from the drive: synced writes look faster than they are, so clear 'turn off Windows "
        "write-cache buffer flushing' in the Device Manager"
    )
    OTHER_LOAD = "{count} requests of other programs were in flight at the start: stop these programs and repeat"
    OTHER_TRAFFIC = "{share:.0f} % of the drive's traffic was for other programs: stop them and repeat"
    CPU_BOUND = "a CPU core was busy {share:.0f} % of the time: the drive may be faster; use larger requests"
    ENGINE_BOUND = "{iops:.0f} IOPS are over half of what this machine can ask for ({most:.0f}): the drive may do more"
    THROTTLED = "the drive throttled for heat ({what}): cool it, or measure heat on purpose"
    HEAT = "the drive was at {celsius:.0f} C at the end: cool it, or measure heat on purpose"
    UNKNOWN_DRIVE = "the drive behind {path} is unknown, and so are its link, temperature and cache"


COW = ("btrfs", "zfs", "bcachefs", "overlay", "aufs", "ecryptfs", "fuse")
NETWORK = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "ceph", "afs", "lustre", "gfs2", "ocfs2", "vboxsf")
MEMORY = ("tmpfs", "ramfs")
HOT = 70.0
MAX_OTHER_TRAFFIC_RATIO = 0.1
"""Share of what a drive moved from which others matter; a file system's own records are less."""
NO_LINK_BYTES_PER_S = 15.76e9
"""PCIe 5.0 x4, its line code taken off."""
COMPRESSIBLE = ("zero_buffers", "buffer_compress_percentage")
NO_FLASH_S = 12e-6
"""A read of one-bit cells takes 20 us and more, and the way there some more."""
THERMAL: Final = ("warning_temp_time", "critical_comp_time", "thm_temp1_trans_count", "thm_temp2_trans_count")
"""Counters of NVMe's health log that rise when a drive is too hot."""
TIMES: Final = ("thm_temp1_total_time", "thm_temp2_total_time")


def of_run(recording: Recording) -> list[MeasurementWarning]:
    """The doubts about a recording of a real drive, the gravest first."""
    return [*_of_the_run(recording), *of_the_machine(recording.facts)]


def of_its_end(recording: Recording) -> list[MeasurementWarning]:
    """Whether all of it was run."""
    return [RecordingWarning.INCOMPLETE.of(why=recording.cut_off)] if recording.cut_off else []


def of_its_host(recording: Recording) -> list[MeasurementWarning]:
    """Whether the host that served the drive kept up with it, and its server lived."""
    served = recording.facts.get("served")
    if served is None:
        return []
    how, deaths = served.get("too_slow"), served.get("deaths", 0)
    late = [RecordingWarning.LATE.of(how=how)] if how else []
    return [*late, RecordingWarning.DIED.of(times="once" if deaths == 1 else f"{deaths} times")] if deaths else late


def of_its_scale(recording: Recording, why: str | None) -> list[MeasurementWarning]:
    """Whether the scale of a simulated drive matters: to its suite, for which `why` is the reason, or to any."""
    scale = recording.facts.get("scale")
    reasons = (why, recording.facts.get("scale_unlike"))
    return [RecordingWarning.SCALED.of(scale=scale, why=reason) for reason in reasons if scale and reason]


def of_its_wear(recording: Recording) -> list[MeasurementWarning]:
    """Whether a simulated drive was written beyond its life."""
    if not recording.is_simulated or recording.facts.get("native_cycles") is None:
        return []
    worn = spent(recording)
    if worn is None:
        return []
    span, written = words.span(worn.after_s), words.size(worn.written_bytes)
    return [RecordingWarning.WORN_OUT.of(written=written, span=span, times=worn.lives)]


def _of_the_run(recording: Recording) -> Iterator[MeasurementWarning]:
    yield from of_jobs(recording.jobs)
    smallest = None
    for job in recording.jobs:
        for kind in ("read", "write"):
            done = job[kind]
            if done["total_ios"]:
                mean = done["io_bytes"] / done["total_ios"]
                smallest = min(smallest or mean, mean)
    device = recording.facts["device"] or Device()
    block = device.get("physical_block_bytes")
    if block and smallest and smallest < block:
        yield RecordingWarning.ALIGNMENT.of(bs=round(smallest), block=block)
    ceiling = link_bytes_per_s(device)
    fastest = max([phase["bytes_per_s"] for phase in recording.findings.get("phases", [])] + _speeds(recording.jobs))
    if ceiling is not None and fastest > ceiling:
        yield RecordingWarning.IMPOSSIBLE.of(speed=words.speed(fastest), most=words.speed(ceiling))
    other_bytes = _other_bytes(recording)
    if other_bytes >= MAX_OTHER_TRAFFIC_RATIO:
        yield RecordingWarning.OTHER_TRAFFIC.of(share=100 * other_bytes)
    if recording.drive_time_s > 0.5:
        yield from _of_the_cpu(recording)
    yield from _of_heat(recording.facts.get("before", Moment()), recording.facts.get("after", Moment()))


def _other_bytes(recording: Recording) -> float:
    """Share of what the drive moved that was for others; 0 where it does not count, or a page cache took part."""
    names = ("device_read_bytes_total", "device_write_bytes_total")
    if not all(name in recording.totals for name in names) or not all(traits(job)["direct"] for job in recording.jobs):
        return 0.0
    moved = sum(recording.totals[name] - recording.before[name] for name in names)
    ours = recording.read_bytes + recording.written_bytes
    return 1 - ours / moved if moved > ours else 0.0


def of_jobs(jobs: Sequence[Job]) -> Iterator[MeasurementWarning]:
    """The doubts that options and figures of jobs raise, as in `Recording.jobs`."""
    for job in jobs:
        options = traits(job)
        if not options["direct"]:
            yield RecordingWarning.PAGE_CACHE.of(job=job["name"])
        if options["compressible"]:
            named = [option for option in COMPRESSIBLE if option in job["options"]]
            yield RecordingWarning.COMPRESSIBLE.of(job=job["name"], option=", ".join(named))
        mean = job["read"]["lat_ns"]["mean"] / 1e9
        if job["read"]["total_ios"] and options["random"] and 0.0 < mean < NO_FLASH_S:
            yield RecordingWarning.UNWRITTEN.of(job=job["name"], span=words.span(mean))


def of_foreign(foreign: ImportedData) -> list[MeasurementWarning]:
    """The doubts about another program's data."""
    warnings = [RecordingWarning.READING.of(caution=caution) for caution in foreign.cautions]
    page_cache = RecordingWarning.PAGE_CACHE.code
    warnings += [each for each in of_jobs(foreign.jobs) if foreign.tells_options or each.code != page_cache]
    if foreign.zeroes:
        warnings.append(RecordingWarning.ZEROES.of())
    if foreign.clock_back_s:
        warnings.append(RecordingWarning.CLOCK.of(span=words.span(foreign.clock_back_s), file=foreign.name))
    speeds = {"a job": max(_speeds(foreign.jobs))}
    speeds |= {f"{row.test} {row.kind}": row.bytes_per_s or 0.0 for row in foreign.rows}
    if foreign.curve is not None:
        speeds["most of the curve"] = float(np.median(foreign.curve.bytes_per_s))
    what = max(speeds, key=lambda name: speeds[name])
    if speeds[what] > NO_LINK_BYTES_PER_S:
        warnings.append(RecordingWarning.NO_LINK.of(what=what, speed=words.speed(speeds[what])))
    return warnings


def _speeds(jobs: Sequence[Job]) -> list[float]:
    """Mean speeds of the jobs; 0 stands for none."""
    kinds = [job[kind] for job in jobs for kind in ("read", "write") if job[kind]["total_ios"]]
    return [0.0, *(done["io_bytes"] / max(done["runtime_ns"], 1) * 1e9 for done in kinds)]


def _of_heat(before: Moment, after: Moment) -> Iterator[MeasurementWarning]:
    logs = [health(moment.get("smart")) for moment in (before, after)]
    rises = {name: logs[1][name] - logs[0].get(name, 0) for name in THERMAL if name in logs[1]}
    risen = [f"{name} +{rise}" for name, rise in rises.items() if rise > 0]
    if risen:
        yield RecordingWarning.THROTTLED.of(what=", ".join(risen))
    celsius = after.get("temperature_c")
    if celsius is not None and celsius >= HOT:
        yield RecordingWarning.HEAT.of(celsius=celsius)


def throttled_s(facts: Facts) -> float | None:
    """Seconds of thermal management between the health logs before and after a run; None if the drive does not report
    them."""
    before, after = (
        health(snapshot.get("smart")) for snapshot in (facts.get("before", Moment()), facts.get("after", Moment()))
    )
    rises = [after[name] - before.get(name, 0) for name in TIMES if name in after]
    return float(sum(rises)) if rises else None


def link_bytes_per_s(device: Device) -> float | None:
    """Highest data rate in bytes/s of a link with the speed and width that Linux reports, before any overhead; None if
    either is unknown.

    `16.0 GT/s PCIe` counts bits of data, nearly; `6.0 Gbps` of SATA has ten on the wire for eight.
    """
    speed, width = str(device.get("link_speed") or ""), device.get("link_width")
    try:
        rate = float(speed.partition(" ")[0]) * 1e9
    except ValueError:
        return None
    return rate / (10 if "Gbps" in speed else 8) * int(width) if width else None


def _of_the_cpu(recording: Recording) -> Iterator[MeasurementWarning]:
    busy = recording.totals["cpu_ns_total"] - recording.before["cpu_ns_total"]
    share = 100 * busy / (recording.drive_time_s * 1e9)
    if share > 90:
        yield RecordingWarning.CPU_BOUND.of(share=share)
    ceiling = recording.facts.get("engine_ceiling_iops")
    requests = sum(job[kind]["total_ios"] for job in recording.jobs for kind in ("read", "write"))
    iops = requests / recording.drive_time_s
    if ceiling and iops > ceiling / 2:
        yield RecordingWarning.ENGINE_BOUND.of(iops=iops, most=ceiling)


def of_the_machine(facts: Facts) -> Iterator[MeasurementWarning]:
    """The doubts that facts alone raise (`pslc.device.probe.facts`)."""
    device, system = facts["device"], facts["file_system"]
    if device is None:
        yield RecordingWarning.UNKNOWN_DRIVE.of(path=facts["path"])
    if facts["host"]["virtual"]:
        yield RecordingWarning.VIRTUAL.of()
    start = facts["partition_start_bytes"]
    if start is not None and start % (1 << 20):
        yield RecordingWarning.PARTITION.of(start=start)
    yield from of_the_file_system(system)
    if system is not None and (share := _used_percent(system)) > 50:
        yield RecordingWarning.FULL.of(share=share)
    below = [name for name in facts["stack"][:-1] if name.startswith(("dm-", "md", "loop", "bcache"))]
    if below:
        yield RecordingWarning.STACK.of(stack=", ".join(below))
    if device is not None:
        yield from _of_the_device(device)
    governor = facts["host"]["governor"]
    if governor not in (None, "performance"):
        yield RecordingWarning.GOVERNOR.of(governor=governor)
    latency = facts["power"]["nvme_ps_max_latency_us"]
    if latency and device is not None and device["name"].startswith("nvme"):
        yield RecordingWarning.POWER_STATES.of(us=latency)


def _used_percent(system: FileSystem) -> float:
    """Percentage of a file system that is in use; 0 where its size is not known."""
    return 100 * (1 - system["free_bytes"] / system["bytes"]) if system["bytes"] else 0.0


def of_the_file_system(system: FileSystem | None) -> Iterator[MeasurementWarning]:
    """Whether what is written to a file reaches a drive as it was written; known before the run."""
    if system is None:
        return
    kind = system["type"]
    if kind in MEMORY:
        yield RecordingWarning.FILE_SYSTEM.of(what=f"{kind}, which is memory and no drive")
    elif kind in NETWORK or "remote" in system["options"].split(","):
        yield RecordingWarning.FILE_SYSTEM.of(what=f"{kind}, which another machine serves")
    elif kind in COW or kind.startswith("fuse"):
        yield RecordingWarning.FILE_SYSTEM.of(what=kind)
    elif "compress" in system["options"]:
        yield RecordingWarning.FILE_SYSTEM.of(what=f"{kind} with compression")


def _of_the_device(device: Device) -> Iterator[MeasurementWarning]:
    now = (device["link_speed"], device["link_width"])
    fastest_link = (device["link_speed_max"], device["link_width_max"])
    if None not in (*now, *fastest_link) and now != fastest_link and "unknown" not in str(fastest_link[0]):
        yield RecordingWarning.LINK.of(now=f"{now[0]} x{now[1]}", most=f"{fastest_link[0]} x{fastest_link[1]}")
    if device["write_cache"] == "write through" and device["name"].startswith(("sd", "nvme", "PhysicalDrive")):
        yield RecordingWarning.WRITE_CACHE.of(what=device["write_cache"])
    if device.get("keeps_flushes"):
        yield RecordingWarning.FLUSHES.of()
    if device["requests_in_flight"]:
        yield RecordingWarning.OTHER_LOAD.of(count=device["requests_in_flight"])
