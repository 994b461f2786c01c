"""Warnings about a measurement on a real drive, pslc's or another program's: a closed set, each with what to do about
it. Warnings about the analysis of a curve are in `pslc.analysis.warnings`."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, Literal

import numpy as np

from pslc.analysis.warnings import AnalysisWarning
from pslc.base import files, words
from pslc.recording import place, stalls, traffic
from pslc.recording.model import HostTable, Recording
from pslc.recording.wear import spent
from pslc.recording.writes.reported_end import DELAY_NS, MIN_FREE_TENTHS, reported_end, reported_rest
from pslc.schema.facts import CACHE_FREE_TENTHS, ENCRYPTION, Device, Facts, FileSystem, HealthJson, Moment
from pslc.schema.health import health, troubles
from pslc.schema.job_options import traits
from pslc.schema.jobs import Job
from pslc.schema.warnings import NOTE, Extent, Level, MeasurementWarning, WarningCode, notes


class RecordingWarning(WarningCode):
    """Every warning there is; the braces hold what was seen."""

    INCOMPLETE = "this recording is partial, the run ended early ({why}): run it to its end"
    STALLED = (
        "the drive did not answer {times}{span}, {at} into the run ({under_way}): look at its SMART log (pslc probe) "
        "and at the kernel's (dmesg)"
    )
    NOT_RUN = (
        "pslc itself did not run for {span}{times} (stopped, or the machine slept), left out here though the drive "
        "could rest meanwhile: repeat the run if that matters"
    )
    ENGINE_SUBSTITUTE = (
        "io_uring is not to be had ({why}), so threads take its place, slower at small requests: allow it, or compare "
        "with no run that had it"
    )
    KERNEL = "the kernel reported trouble with the drive ({count} lines, the first: {text}): see dmesg"
    LATE = "the host was too slow for the drive, {how}: serve it with --speed 0.1, or from a faster host"
    CONTRADICTION = "pslc contradicts itself, {finding} is {value}, but {truth}: report this, it is an error of pslc"
    SCALED = "the drive is scaled to {scale}, but {why}: leave scale out, or take a larger one"
    WORN_OUT = (
        "the cells' cycles were spent after {written} ({span}), {times:.1f} times over in all: a real drive fails or "
        "turns read-only there, so write less, or ignore what follows"
    )
    CACHE_FREE = (
        "the speed fell after {end}, but the drive reports {free} of 10 of its buffer free then: that was not its end, "
        "or the report is wrong"
    )
    CACHE_UNSEEN = (
        "the drive reports its buffer used up after {low} to {high}, and its speed shows no end of it: the link or "
        "the host was slower than its cells, or the report is wrong"
    )
    CACHE_ELSEWHERE = (
        "the drive reports its buffer used up after {low} to {high}, but its speed fell after {end}: the report or the "
        "finding is wrong"
    )
    CACHE_RECOVERS = (
        "the drive reports more of its buffer free from {span} of idle time on ({before} of 10, then {after}), but its "
        "speed does not show it: the report or the finding is wrong"
    )
    CACHE_LEFT = "a run that still goes on, or was killed, has switched the drive's SLC buffer: pslc undo {run}"
    PROCESSOR = "the computer was the limit of {jobs}, its {cores} had no time left: --computer none leaves it out"
    SLOT = "the computer's slot ({link}) was the limit of {jobs}: --computer none leaves it out"
    PAGE_CACHE = "job {job} went through the page cache: give direct=1 to measure the drive"
    COMPRESSIBLE = "job {job} wrote data that compress ({option}): leave that out, controllers may compress"
    VIRTUAL = "the machine is virtual, so the drive may be shared, cached or emulated: measure on the machine itself"
    FILE_SYSTEM = "the file is on {what}: {advice}"
    STACK = "the file system reaches the drive through {stack}: {advice}"
    ALIGNMENT = "requests of {bs} bytes are smaller than the drive's blocks of {block}: use bs={block} or more"
    PARTITION = "the partition begins at {start} bytes, which is not a multiple of 1 MiB: create it again, aligned"
    FULL = "the file system is {share:.0f} % full, so a dynamic cache may be small: free space before you measure"
    IMPOSSIBLE = "{speed} is more than the link carries ({most}): data came from a cache"
    REFUTED_LINK = "{speed} is more than the link of {most} that the system reports: do not judge by that figure"
    NO_LINK = "{what} at {speed} is faster than any drive, so the data came from memory: measure with direct I/O"
    UNWRITTEN = (
        "job {job} read in {span} a request, faster than any flash: write all of the space first, and read past caches"
    )
    READING = "{caution}"
    RANDOM_NAME = "by its name {file} holds random writes, so no cache is stated: --workload sequential if it does not"
    CLOCK = "the clock went back by {span} in {file}: leave the system's time alone while measuring, and repeat"
    ZEROES = "the data were zeroes, which a drive may compress or not store: write random data"
    LINK = "the link runs at {now} but can {most}: put the drive into another slot"
    HEALTH = "the drive reports that {what}: copy its data, and judge no speed by it"
    SCHEDULER = "the I/O scheduler is {scheduler}, which may cost a fast drive a tenth of its speed: set it to none"
    GOVERNOR = "the CPU's governor is {governor}: set it to performance"
    HUGE_PAGES = (
        "transparent huge pages are always on, which may cost a fast drive a tenth of its speed: "
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"
    )
    RESTS = (
        "the model takes rests for complete, as no source tells what stays in the cache of {drives}: of 20 runs 6 min "
        "apart the slowest was 7 to 43 % below the fastest on three drives of a public test (docs/model.md)"
    )
    POWER_STATES = "NVMe power states of up to {us} µs may slow single requests: nvme_core.default_ps_max_latency_us=0"
    WRITE_CACHE = "the drive's write cache is off ({what}): switch it on unless that is the question"
    FLUSHES = (
        "the system keeps flushes from the drive: synced writes look faster than they are, so clear 'turn off Windows "
        "write-cache buffer flushing' in the Device Manager"
    )
    OTHER_LOAD = "{count} requests of other programs were in flight at the start: stop these programs and repeat"
    OTHER_TRAFFIC = "{share:.0f} % of the drive's traffic was for other programs: stop them and repeat"
    THROUGH_MEMORY = "{what}, though direct I/O was asked for: {advice}"
    IN_MEMORY = "{what}, so the rest was in memory: {advice}"
    OWN_TRAFFIC = "{what}: {reason}"
    CPU_BOUND = "a CPU core was busy {share:.0f} % of the time: the drive may be faster; use larger requests"
    ENGINE_BOUND = "{iops:.0f} IOPS are over half of what this machine can ask for ({most:.0f}): the drive may do more"
    THROTTLED = "the drive throttled for heat ({what}): cool it, or measure heat on purpose"
    HEAT = "the drive was at {celsius:.0f} C at the end: cool it, or measure heat on purpose"
    UNKNOWN_DRIVE = "the drive behind {path} is unknown, and so are its link, temperature and cache"


PROCESSOR_NS = "host_cpu_busy_ns_total"
LIMITED_SHARE = 0.95
"""Share of its cores' time, or of what its slot carries, from which a computer is the limit of a job."""
KERNEL_WARNING: Final = 4
"""Level of a line of the kernel's log that warns; errors have lower ones."""
HOT = 70.0
MAX_OTHER_TRAFFIC_RATIO = 0.1
"""Share of what a drive moved from which others matter; a file system's own records are less."""
COMPRESSIBLE = ("zero_buffers", "buffer_compress_percentage")
NO_FLASH_S = 12e-6
"""A read of one-bit cells takes 20 us and more, and the way there some more."""
MIN_REST_S: Final = 10.0
"""Silence between two jobs that counts as a rest, in seconds, as a pause of a load does."""
THERMAL: Final = ("warning_temp_time", "critical_comp_time", "thm_temp1_trans_count", "thm_temp2_trans_count")
"""Counters of NVMe's health log that rise when a drive is too hot."""
TIMES: Final = ("thm_temp1_total_time", "thm_temp2_total_time")


def longer(recording: Recording, otherwise: str) -> str:
    """Advice for a suite that was too short: leave out `--quick` if it was given, else `otherwise`."""
    return "leave out --quick" if recording.scope.get("quick") else otherwise


def of_run(recording: Recording) -> list[MeasurementWarning]:
    """The warnings about a recording of a real drive, the gravest first. What the place of its target costs is said
    once: by the findings, where they name no cause for it."""
    is_said = any(warning.code == AnalysisWarning.SPEEDS_ONLY.code for warning in recording.findings.warnings)
    of_place = () if is_said and place.doubt(recording.facts) is not None else _of_the_place(recording.facts)
    return [*_of_the_run(recording), *of_place, *_of_the_computer(recording.facts)]


def of_its_end(recording: Recording) -> list[MeasurementWarning]:
    """Whether all of it was run."""
    return [RecordingWarning.INCOMPLETE.of(why=recording.cut_off)] if recording.cut_off else []


def of_its_answers(recording: Recording) -> Iterator[MeasurementWarning]:
    """Whether a real drive stopped answering, or the kernel reported trouble with it."""
    if all_stalls := stalls.of_recording(recording):
        longest = max(all_stalls, key=lambda stall: stall["duration_s"])
        yield RecordingWarning.STALLED.of(
            times=f"{len(all_stalls)} times, at most for " if len(all_stalls) > 1 else "for ",
            span=stalls.whole_s(longest["duration_s"]),
            at=words.span(max(longest["at_s"], 0.0)),
            under_way=stalls.under_way(longest),
        )
    if gaps := [gap["duration_s"] for gap in recording.facts.get("gaps", [])]:
        times = f" in {len(gaps)} gaps" if len(gaps) > 1 else ""
        yield RecordingWarning.NOT_RUN.of(span=f"{sum(gaps):.1f} s", times=times)
    troubles = [line for line in recording.facts.get("kernel") or [] if line["level"] <= KERNEL_WARNING]
    if troubles:
        yield RecordingWarning.KERNEL.of(count=len(troubles), text=troubles[0]["text"])


def of_its_host(recording: Recording) -> list[MeasurementWarning]:
    """Whether the host that served the drive kept up with it."""
    how = recording.facts.get("served", {}).get("too_slow")
    return [RecordingWarning.LATE.of(how=how)] if how else []


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
    span, written = Extent(worn.after_s, "s"), Extent(worn.written_bytes)
    return [RecordingWarning.WORN_OUT.of(written=written, span=span, times=worn.lives)]


def of_its_rests(recording: Recording) -> list[MeasurementWarning]:
    """Whether a simulated drive was left alone between writes, and nothing tells what such a drive frees then."""
    jobs = sorted((job["start_ns"], job["start_ns"] + job["elapsed_ns"]) for job in recording.jobs)
    longest_ns = max((later - end for (_, end), (later, _) in pairwise(jobs)), default=0)
    if longest_ns < 1e9 * MIN_REST_S or not rests_are_assumed(recording.profile, recording.provenance):
        return []
    text = RecordingWarning.RESTS.of(drives="this drive")
    return [MeasurementWarning(text.code, text, Level.NOTE)]


def rests_are_assumed(profile: str, provenance: Iterable[tuple[str, str]]) -> bool:
    """Whether a simulated drive frees its cache while it is idle, and no source tells what stays in it.

    Args:
        profile: resolved; empty of a real drive, of which nothing is assumed.
    """
    # The key of a value that a source or a fit tells.
    is_known = any(key == "cache.idle.residue" and not why.startswith("assumed") for key, why in provenance)
    keys = files.keys(profile)
    return "cache.idle.threshold" in keys and keys.get("cache.idle.residue", "0B") == "0B" and not is_known


def of_its_computer(recording: Recording) -> Iterator[MeasurementWarning]:
    """Jobs that the computer around a simulated drive limited: those that kept its cores busy, or filled its slot."""
    host, slot = recording.profile_keys.get("host", HostTable()), recording.facts.get("slot")
    if not recording.is_simulated or ("cores" not in host and slot is None):
        return
    cores, busy, full = host.get("cores", 1), list[str](), list[str]()
    carried = [recording.facts[key] for key in ("link_read_bytes_per_s", "link_bytes_per_s")] if slot else []
    for part in recording.parts:
        ends = np.r_[part.start_ns, part.time["end_ns"].astype(np.float64)]
        spent = np.r_[part.before.get(PROCESSOR_NS, 0), part.time[PROCESSOR_NS].astype(np.float64)]
        for job in part.jobs:
            edges = [job["start_ns"], job["start_ns"] + max(job["elapsed_ns"], 1)]
            took = float(np.diff(np.interp(edges, ends, spent))[0]) / (edges[1] - edges[0]) / cores
            busy += [job["name"]] if took >= LIMITED_SHARE else []
            speeds = [job[kind]["io_bytes"] / (edges[1] - edges[0]) * 1e9 for kind in ("read", "write")]
            full += [job["name"]] if any(s >= LIMITED_SHARE * c for s, c in zip(speeds, carried, strict=False)) else []
    if busy:
        yield RecordingWarning.PROCESSOR.of(jobs=_few(busy), cores=f"{cores} core{'s' * (cores > 1)}")
    if full:
        yield RecordingWarning.SLOT.of(jobs=_few(full), link=slot)


def _few(names: Sequence[str]) -> str:
    """Names of jobs without the number of their run, the first three of many."""
    listed = list(dict.fromkeys(name.partition(" run ")[0] for name in names))
    return ", ".join(listed[:3]) + (f" and {len(listed) - 3} more" if len(listed) > 3 else "")


def _of_the_run(recording: Recording) -> Iterator[MeasurementWarning]:
    yield from of_jobs(recording.jobs)
    if why := recording.facts.get("engine_substitutes"):
        yield RecordingWarning.ENGINE_SUBSTITUTE.of(why=why)
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
    yield from _of_its_link(recording, device)
    yield from _of_its_traffic(recording)
    yield from _of_its_report(recording)
    yield from _of_its_rest(recording)
    if recording.drive_time_s > 0.5:
        yield from _of_the_cpu(recording)
    yield from _of_heat(recording.facts.get("before", Moment()), recording.facts.get("after", Moment()))


def _of_its_link(recording: Recording, device: Device) -> Iterator[MeasurementWarning]:
    """Whether more was moved than the link carries: past the page cache that refutes the figure of the link."""
    ceiling = link_bytes_per_s(device)
    phases = [phase["bytes_per_s"] for phase in recording.findings.get("phases", [])]
    fastest = max(phases + speeds(recording.jobs, "read", "write"))
    if ceiling is not None and fastest > ceiling:
        is_direct = all(traits(job)["direct"] for job in recording.jobs)
        doubt = RecordingWarning.REFUTED_LINK if is_direct else RecordingWarning.IMPOSSIBLE
        yield doubt.of(speed=words.speed(fastest), most=words.speed(ceiling))


def _of_its_report(recording: Recording) -> Iterator[MeasurementWarning]:
    """Whether the drive's own report of its buffer bears out the end of the cache that was found."""
    end, tenths = recording.findings.get("cache_bytes"), recording.bytes.get(CACHE_FREE_TENTHS)
    if tenths is None or "cache_bytes" not in recording.findings:
        return
    if end is not None:
        ends_ns, written = recording.bytes["end_ns"], np.cumsum(recording.bytes["write_bytes"], dtype=np.float64)
        first = int(np.searchsorted(written, end))
        # It is asked once a second: the next answer may be as much later.
        last = int(np.searchsorted(ends_ns, int(ends_ns[min(first, len(ends_ns) - 1)]) + DELAY_NS))
        if last < len(ends_ns) and (free := int(tenths[first : last + 1].min())) >= MIN_FREE_TENTHS:
            yield RecordingWarning.CACHE_FREE.of(end=words.size(end), free=free)
            return
    if (used_up := reported_end(recording)) is None:
        return
    low, high = map(words.size, used_up)
    if end is None:
        yield RecordingWarning.CACHE_UNSEEN.of(low=low, high=high)
    elif recording.findings["cache_bytes_low"] > used_up[1] or recording.findings["cache_bytes_high"] < used_up[0]:
        yield RecordingWarning.CACHE_ELSEWHERE.of(low=low, high=high, end=words.size(end))
    else:
        text = f"the drive reports its buffer used up after {low} to {high}, as the end of the cache that was found"
        yield MeasurementWarning(NOTE, text, Level.NOTE)


def _of_its_rest(recording: Recording) -> Iterator[MeasurementWarning]:
    """Whether the drive's own report of its buffer while idle bears out the recovery that was found."""
    if (rest := reported_rest(recording)) is None:
        return
    rose_s, before, after = rest
    threshold_s = recording.findings.get("idle_threshold_s_low")
    if threshold_s is not None and threshold_s > rose_s:
        yield RecordingWarning.CACHE_RECOVERS.of(span=words.span(rose_s), before=before, after=after)
    else:
        text = f"the drive reports more of its buffer free from {words.span(rose_s)} of idle time on"
        yield MeasurementWarning(NOTE, f"{text} ({before} of 10, then {after})", Level.NOTE)


def _of_its_traffic(recording: Recording) -> Iterator[MeasurementWarning]:
    """Whether memory or the device moved other bytes than pslc did."""
    if (doubt := traffic.through_memory(recording)) is not None:
        yield RecordingWarning.THROUGH_MEMORY.of(what=doubt.why, advice=doubt.next)
    if (doubt := traffic.left_in_memory(recording)) is not None:
        yield RecordingWarning.IN_MEMORY.of(what=doubt.why, advice=doubt.next)
    other_bytes = _other_bytes(recording)
    if (doubt := traffic.own_extra(recording)) is not None:
        yield RecordingWarning.OWN_TRAFFIC.of(what=doubt.why, reason=doubt.next)
    elif other_bytes >= MAX_OTHER_TRAFFIC_RATIO:
        yield RecordingWarning.OTHER_TRAFFIC.of(share=100 * other_bytes)
    yield from notes(traffic.of_members(recording))


def _other_bytes(recording: Recording) -> float:
    """Share of what the drive moved that was for others; 0 where it does not count, or a page cache took part."""
    ratio = traffic.moved_ratio(recording, "read", "write")
    return 1 - 1 / ratio if ratio is not None and ratio > 1 else 0.0


def of_jobs(jobs: Sequence[Job]) -> Iterator[MeasurementWarning]:
    """The warnings that options and figures of jobs raise, as in `Recording.jobs`."""
    for job in jobs:
        options = traits(job)
        # Where each write is flushed, the page cache keeps nothing from the drive.
        if not options["direct"] and not options["synced"]:
            yield RecordingWarning.PAGE_CACHE.of(job=job["name"])
        if options["compressible"]:
            named = [option for option in COMPRESSIBLE if option in job["options"]]
            yield RecordingWarning.COMPRESSIBLE.of(job=job["name"], option=", ".join(named))
        mean = job["read"]["lat_ns"]["mean"] / 1e9
        if job["read"]["total_ios"] and options["random"] and 0.0 < mean < NO_FLASH_S:
            yield RecordingWarning.UNWRITTEN.of(job=job["name"], span=words.span(mean))


def speeds(jobs: Sequence[Job], *kinds: Literal["read", "write"]) -> list[float]:
    """Mean speeds of what the jobs did of these kinds; 0 stands for none."""
    ran = [job[kind] for job in jobs for kind in kinds if job[kind]["total_ios"]]
    return [0.0, *(done["io_bytes"] / max(done["runtime_ns"], 1) * 1e9 for done in ran)]


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
    """The warnings that facts alone raise (`pslc.device.probe.facts`)."""
    yield from _of_the_place(facts)
    yield from _of_the_computer(facts)


def _of_the_place(facts: Facts) -> Iterator[MeasurementWarning]:
    """Whether a place may tell nothing of a drive, as `place.doubt` does."""
    if facts["device"] is None and not facts.get("members"):
        yield RecordingWarning.UNKNOWN_DRIVE.of(path=facts["path"])
    if facts["host"]["virtual"]:
        yield RecordingWarning.VIRTUAL.of()
    yield from of_the_file_system(facts)


def _of_the_computer(facts: Facts) -> Iterator[MeasurementWarning]:
    """Whether the room on a drive, its state, or its host make a measurement worse."""
    yield from _of_its_room(facts)
    if (device := facts["device"]) is not None:
        yield from _of_the_device(device)
    latest = facts.get("now") or facts.get("after") or facts.get("before") or Moment()
    for log in (latest.get("smart"), *latest.get("members", {}).values()):
        yield from of_health(log)
    if run := latest.get("cache", {}).get("left_by"):
        yield RecordingWarning.CACHE_LEFT.of(run=run)
    yield from _of_its_power(facts)


def _of_its_room(facts: Facts) -> Iterator[MeasurementWarning]:
    """The warnings that the partition, the space on it and the devices below it raise."""
    start, system = facts["partition_start_bytes"], facts["file_system"]
    if start is not None and start % (1 << 20):
        yield RecordingWarning.PARTITION.of(start=start)
    if system is None:
        return
    if (share := _used_percent(system)) > 50:
        yield RecordingWarning.FULL.of(share=share)
    yield from _of_its_layers(facts)


def _of_its_layers(facts: Facts) -> Iterator[MeasurementWarning]:
    """Whether devices lie between the file system and its drives."""
    layers = place.layers_between(facts)
    if "layers" not in facts:
        # Older recordings tell no kinds.
        layers = [name for name in facts["stack"][:-1] if name.startswith(("dm-", "md", "loop", "bcache"))]
    if layers:
        # Nobody can measure an encrypted home without its encryption.
        is_encrypted = any(layer["kind"] == ENCRYPTION for layer in facts.get("layers", []))
        advice = "cryptsetup benchmark says what it costs" if is_encrypted else "measure without it"
        yield RecordingWarning.STACK.of(stack=", ".join(layers), advice=advice)


def _of_its_power(facts: Facts) -> Iterator[MeasurementWarning]:
    governor = facts["host"]["governor"]
    if governor not in (None, "performance"):
        yield RecordingWarning.GOVERNOR.of(governor=governor)
    device = facts["device"]
    if device is not None and device["name"].startswith("nvme") and device.get("scheduler") not in (None, "none"):
        yield RecordingWarning.SCHEDULER.of(scheduler=device.get("scheduler"))
    if device is not None and device["name"].startswith("nvme") and facts["host"].get("huge_pages") == "always":
        yield RecordingWarning.HUGE_PAGES.of()
    # A drive behind a network has no PCIe link, and its host puts it into no power state.
    latency = facts["power"]["nvme_ps_max_latency_us"]
    if latency and device is not None and device["name"].startswith("nvme") and device["link_speed"] is not None:
        yield RecordingWarning.POWER_STATES.of(us=latency)


def of_health(log: HealthJson | None) -> Iterator[MeasurementWarning]:
    """Faults that a drive reports of itself in its health log."""
    for clause in troubles(log):
        yield RecordingWarning.HEALTH.of(what=clause)


def _used_percent(system: FileSystem) -> float:
    """Percentage of a file system that is in use; 0 where its size is not known."""
    return 100 * (1 - system["free_bytes"] / system["bytes"]) if system["bytes"] else 0.0


def of_the_file_system(facts: Facts) -> Iterator[MeasurementWarning]:
    """Whether what is written to a file reaches a drive as it was written; known before the run."""
    if (doubt := place.of_file_system(facts)) is not None:
        yield RecordingWarning.FILE_SYSTEM.of(what=doubt.why, advice=doubt.next)


def _of_the_device(device: Device) -> Iterator[MeasurementWarning]:
    now = (device["link_speed"], device["link_width"])
    fastest_link = (device["link_speed_max"], device["link_width_max"])
    if None not in (*now, *fastest_link) and now != fastest_link and "unknown" not in str(fastest_link[0]).lower():
        yield RecordingWarning.LINK.of(now=f"{now[0]} x{now[1]}", most=f"{fastest_link[0]} x{fastest_link[1]}")
    if device["write_cache"] == "write through" and device["name"].startswith(("sd", "nvme", "PhysicalDrive")):
        yield RecordingWarning.WRITE_CACHE.of(what=device["write_cache"])
    if device.get("keeps_flushes"):
        yield RecordingWarning.FLUSHES.of()
    if device["requests_in_flight"]:
        yield RecordingWarning.OTHER_LOAD.of(count=device["requests_in_flight"])
