"""A recording as fio 3.33 writes its JSON, for everything that reads that. What has no meaning on a simulated drive
(CPU shares, page faults, submission latency) is 0, and where fio knows of no disk underneath, neither does this."""

import errno
import math
import time
from collections.abc import Iterator, Sequence
from typing import Literal

from pslc.fio import sections as output
from pslc.recording.model import Recording
from pslc.schema.facts import DiskCounts
from pslc.schema.jobs import KINDS, Done, Job, SteadyState, Times

VERSION = "3.33"
"""Version of fio whose output is imitated."""

DEFAULT = [f"{percent:.6f}" for percent in (1, 5, *range(10, 91, 10), 95, 99, 99.5, 99.9, 99.95, 99.99)]
"""The percentiles that fio shows."""

ALIASES = {
    "blockalign": "ba",
    "blocksize": "bs",
    "blocksize_range": "bsrange",
    "blocksize_unaligned": "bs_unaligned",
    "disable_bw": "disable_bw_measurement",
    "fileoffset": "offset",
    "fill_fs": "fill_device",
    "io_limit": "io_size",
    "iodepth_batch_complete": "iodepth_batch_complete_min",
    "iodepth_batch_submit": "iodepth_batch",
    "iomem": "mem",
    "mem_align": "iomem_align",
    "nr_files": "nrfiles",
    "ratecycle": "rate_cycle",
    "ratemin": "rate_min",
    "readwrite": "rw",
    "ss": "steadystate",
    "ss_dur": "steadystate_duration",
    "ss_ramp": "steadystate_ramp_time",
    "timeout": "runtime",
    "wait_for_previous": "stonewall",
}
"""Other names of options, and fio's own."""
FIRST = ("cpus_allowed_policy", "kb_base", "lockfile", "unit_base")
LAST = ("filename", "filename_format")
"""fio reads these options of a section before, and behind, its others."""

Part = Literal["read", "write", "trim", "mixed"]
Count = Literal["read_ios", "write_ios", "read_merges", "write_merges", "read_ticks", "write_ticks", "in_queue"]

NONE: Times = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "n": 0, "percentile": {}}
"""Times of no request."""


def document(recording: Recording, bins: bool = False) -> output.Document:
    """The JSON document of `fio --output-format=json`; with `bins`, of `json+`."""
    now = time.time()
    jobs = in_order(recording)
    valued = _valued(jobs[0]["global_options"]) if jobs else {}
    common: output.GlobalOptions = {"global options": valued} if valued else {}
    return {
        "fio version": f"pslc-{recording.version}",
        "timestamp": int(now),
        "timestamp_ms": int(now * 1000),
        "time": time.strftime("%a %b %e %H:%M:%S %Y", time.localtime(now)),
        **common,
        "jobs": [_job(job, recording, bins) for job in jobs if has_stats(job)],
        "disk_util": disk_util(recording),
    }


def in_order(recording: Recording) -> list[Job]:
    """All jobs of a recording in their order, those that never began among them."""
    jobs = list(recording.jobs)
    for index, job in recording.unbegun:
        jobs.insert(index, job)
    return jobs


def has_stats(job: Job) -> bool:
    """Whether a job is shown at all (`stats`)."""
    return _asked(job["options"], "stats", True)


def _valued(options: dict[str, str]) -> dict[str, str]:
    """Under fio's own names and in its order, without those that are given without a value."""
    named = {ALIASES.get(name, name): value for name, value in options.items() if value}
    return dict(sorted(named.items(), key=lambda option: (option[0] in LAST) - (option[0] in FIRST)))


def disk_util(recording: Recording) -> list[output.Disk]:
    """Counters of the disk under a real target during the run, with the requests of other programs in them; for a dm or
    md device also those of the disks below it. Empty where the counters are unknown."""
    counts = recording.facts.get("disk_counts")
    return list(_disks(counts)) if counts else []


def _disks(counts: DiskCounts) -> Iterator[output.Disk]:
    slaves = counts.get("slaves", [])
    own, below = _disk(counts), [_disk(slave) for slave in slaves]

    def mean(name: Count) -> int:
        return sum(disk[name] for disk in below) // len(below)

    if below:
        own |= {
            "aggr_read_ios": mean("read_ios"),
            "aggr_write_ios": mean("write_ios"),
            "aggr_read_merges": mean("read_merges"),
            "aggr_write_merge": mean("write_merges"),
            "aggr_read_ticks": mean("read_ticks"),
            "aggr_write_ticks": mean("write_ticks"),
            "aggr_in_queue": mean("in_queue"),
            "aggr_util": max(disk["util"] for disk in below),
        }
    yield own
    for slave in slaves:
        yield from _disks(slave)


def _disk(counts: DiskCounts) -> output.Disk:
    did = [after - before for before, after in zip(counts["before"], counts["after"], strict=True)]
    util = min(100.0 * did[9] / max(counts["span_ms"], 1.0), 100.0)
    return {
        "name": counts["name"],
        "read_ios": did[0],
        "write_ios": did[4],
        "read_merges": did[1],
        "write_merges": did[5],
        "read_ticks": did[3],
        "write_ticks": did[7],
        "in_queue": did[10],
        "util": round(util, 6),
    }


def _job(job: Job, recording: Recording, bins: bool) -> output.Job:
    group = [other for other in recording.jobs if other["groupid"] == job["groupid"]]
    # Older recordings have none.
    usage = job.get("usage", {})
    own = _own(job)
    options: output.OwnOptions = {"job options": _valued(own)} if own else {}
    options_shown: output.Asked = {}
    if description := job["options"].get("description"):
        options_shown["desc"] = description
    if "steadystate" in job:
        options_shown["steadystate"] = _steady(job["steadystate"])
    return {
        "jobname": job["name"],
        "groupid": job["groupid"],
        "error": errno.EILSEQ if job.get("verified", {}).get("wrong_reads") else 0,
        "eta": 0,
        # Of the whole run, in fio as well.
        "elapsed": math.floor(recording.drive_time_s) + 1,
        **options,
        **_directions(job, group, bins),
        "job_runtime": job["worked_ns"] // 1_000_000,
        "usr_cpu": _share(usage.get("user_ns", 0), job["worked_ns"]),
        "sys_cpu": _share(usage.get("system_ns", 0), job["worked_ns"]),
        "ctx": usage.get("switches", 0),
        "majf": usage.get("major_faults", 0),
        "minf": usage.get("minor_faults", 0),
        "iodepth_level": job["iodepth_level"],
        "iodepth_submit": _batches(job),
        "iodepth_complete": _batches(job),
        "latency_ns": job["latency_ns"],
        "latency_us": job["latency_us"],
        "latency_ms": job["latency_ms"],
        **_latency_target(job),
        **options_shown,
    }


def _own(job: Job) -> dict[str, str]:
    """Options of its section. Older recordings do not tell those that are as in [global]."""
    if "own_options" in job:
        return job["own_options"]
    common = job["global_options"]
    return {k: v for k, v in job["options"].items() if common.get(k) != v}


def _directions(job: Job, group: Sequence[Job], bins: bool) -> output.Directions:
    directions: output.Directions = {}
    if job["options"].get("unified_rw_reporting") not in ("mixed", "1"):
        for kind in KINDS:
            directions[kind] = _direction(job, kind, group, bins)
        percentiles, sync = _percentiles(job, "clat") or _percentiles(job, "lat"), job["sync"]
        # Older recordings count flushes of data as well.
        count = job.get("fsyncs", sync["total_ios"])
        directions["sync"] = {"total_ios": count, "lat_ns": _latency(sync["lat_ns"], percentiles, bins)}
    if "mixed" in job:
        directions["mixed"] = _direction(job, "mixed", group, bins)
    return directions


def _latency_target(job: Job) -> output.LatencyTarget:
    """The depth that was found; of a job that looked for none, its own. Of a group, its last job's."""
    # Older recordings have none.
    target = job.get("latency_target", {})
    depth = target.get("depth", job["iodepth"])
    if depth == 0:
        # It never began.
        return {}
    return {
        "latency_depth": depth,
        "latency_target": target.get("target_ns", 0),
        "latency_percentile": target.get("percentile", 100.0),
        "latency_window": target.get("window_ns", 0) // 1000,
    }


def _steady(state: SteadyState) -> output.Steady:
    """Seconds that have not been are 0, as in fio."""
    unit = "%" if state["percent"] else ""
    iops, bw = (rates + [0] * (state["duration_s"] - len(rates)) for rates in (state["iops"], state["bytes_per_s"]))
    return {
        "ss": f"{state['criterion']}:{state['limit']:f}{unit}",
        "duration": state["duration_s"],
        "attained": int(state["attained"]),
        "criterion": f"{state['value']:f}{unit}",
        "max_deviation": state["max_deviation"],
        "slope": state["slope"],
        "data": {"bw_mean": sum(bw) // len(bw), "iops_mean": sum(iops) // len(iops), "iops": iops, "bw": bw},
    }


def _share(part_ns: int, whole_ns: int) -> float:
    return round(100.0 * part_ns / whole_ns, 6) if whole_ns else 0.0


def _percentiles(job: Job, word: str) -> list[str]:
    """Percentiles that a job, of a group the last, asked for of its `slat`, `clat` or `lat`, as they name them."""
    options = job["global_options"] | _own(job)
    if not _asked(options, f"{word}_percentiles", word == "clat"):
        return []
    percentile_list = options.get("percentile_list", "")
    return (
        [f"{percent:.6f}" for percent in sorted(float(part) for part in percentile_list.split(":"))]
        if percentile_list
        else DEFAULT
    )


def _batches(job: Job) -> dict[str, float]:
    """fio's counts of batches: pslc submits and completes one request at a time."""
    some = any(job[kind]["total_ios"] for kind in KINDS)
    return {"0": 0.0, "4": 100.0 if some else 0.0, "8": 0.0, "16": 0.0, "32": 0.0, "64": 0.0, ">=64": 0.0}


def _direction(job: Job, kind: Part, group: Sequence[Job], bins: bool) -> output.Direction:
    done = job[kind]
    seconds = done["runtime_ns"] / 1e9
    bytes_per_s = _bytes_per_s(done)
    return {
        "io_bytes": done["io_bytes"],
        "io_kbytes": done["io_bytes"] // 1024,
        "bw_bytes": int(bytes_per_s),
        "bw": int(bytes_per_s / 1024),
        "iops": done["total_ios"] / seconds if seconds else 0.0,
        # fio rounds up.
        "runtime": -(-done["runtime_ns"] // 1_000_000),
        "total_ios": done["total_ios"],
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": _latency(_submission(job, done), _percentiles(job, "slat"), bins),
        "clat_ns": _latency(done.get("clat_ns", done["lat_ns"]), _percentiles(job, "clat"), bins),
        "lat_ns": _latency(done["lat_ns"], _percentiles(job, "lat"), bins),
        **_samples(job, kind, group),
    }


def _submission(job: Job, done: Done) -> Times:
    """An engine that waits has no submission of its own. To hand a request to a simulated drive takes 0 ns."""
    if "slat_ns" in done or job.get("one_at_a_time", True) or not done["total_ios"]:
        return done.get("slat_ns", NONE)
    percentile = dict.fromkeys(done["lat_ns"]["percentile"], 0.0)
    return {**NONE, "n": done["total_ios"], "percentile": percentile, "bins": [(0, done["total_ios"])]}


def _asked(options: dict[str, str], option: str, default: bool) -> bool:
    return bool(options.get(option, str(int(default))) not in ("0", "false"))


def _latency(latency: Times, percentiles: Sequence[str], bins: bool) -> output.Latency:
    shown: output.Latency = {
        "min": latency["min"],
        "max": latency["max"],
        "mean": latency["mean"],
        "stddev": latency["stddev"],
        "N": latency["n"],
    }
    if percentiles and latency["percentile"]:
        shown["percentile"] = {name: latency["percentile"][name] for name in percentiles}
        if bins:
            shown["bins"] = {str(ns): count for ns, count in latency.get("bins", ())}
    return shown


def _samples(job: Job, kind: Part, group: Sequence[Job]) -> output.Samples:
    bw, iops = job[kind]["samples"]["bytes_per_s"], job[kind]["samples"]["iops"]
    # Of what the group moved in this direction.
    whole = sum(_bytes_per_s(other[kind]) for other in group if kind in other)
    return {
        "bw_min": int(bw["min"] / 1024),
        "bw_max": int(bw["max"] / 1024),
        "bw_agg": min(100.0 * bw["mean"] / whole, 100.0) if whole else 0.0,
        "bw_mean": bw["mean"] / 1024,
        "bw_dev": bw["stddev"] / 1024,
        "bw_samples": bw["n"],
        "iops_min": int(iops["min"]),
        "iops_max": int(iops["max"]),
        "iops_mean": iops["mean"],
        "iops_stddev": iops["stddev"],
        "iops_samples": iops["n"],
    }


def _bytes_per_s(done: Done) -> float:
    return 1e9 * float(done["io_bytes"]) / done["runtime_ns"] if done["runtime_ns"] else 0.0
