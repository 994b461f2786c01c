"""A recording as fio 3.33 writes its JSON, for everything that reads that. What has no meaning on a simulated drive
(CPU shares, page faults, submission latency) is 0."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from pslc.recording import Recording
from pslc.targets.region import Region

SAMPLE_NS = 500_000_000
"""fio samples bandwidth and IOPS every 500 ms."""


def document(recording: Recording) -> dict[str, Any]:
    """The JSON document of `fio --output-format=json`."""
    now = time.time()
    jobs = recording.jobs
    return {
        "fio version": f"pslc-{recording.version}",
        "timestamp": int(now),
        "timestamp_ms": int(now * 1000),
        "time": time.strftime("%a %b %e %H:%M:%S %Y", time.localtime(now)),
        "global options": {},
        "jobs": [_job(job, recording if len(jobs) == 1 else None) for job in jobs],
        "disk_util": [],
    }


def _job(job: dict[str, Any], alone: Recording | None) -> dict[str, Any]:
    elapsed_ms = job["elapsed_ns"] // 1_000_000
    return {
        "jobname": job["name"],
        "groupid": job["groupid"],
        "error": 0,
        "eta": 0,
        "elapsed": -(-job["elapsed_ns"] // 1_000_000_000),
        "job options": job["options"],
        **{kind: _kind(job, kind, alone) for kind in ("read", "write", "trim")},
        "sync": {"total_ios": job["sync"]["total_ios"], "lat_ns": _latency(job["sync"]["lat_ns"], percentiles=True)},
        "job_runtime": elapsed_ms,
        "usr_cpu": 0.0,
        "sys_cpu": 0.0,
        "ctx": 0,
        "majf": 0,
        "minf": 0,
        "iodepth_level": job["iodepth_level"],
        "iodepth_submit": _batches(job),
        "iodepth_complete": _batches(job),
        "latency_ns": job["latency_ns"],
        "latency_us": job["latency_us"],
        "latency_ms": job["latency_ms"],
        "latency_depth": job["iodepth"],
        "latency_target": 0,
        "latency_percentile": 100.0,
        "latency_window": 0,
    }


def _batches(job: dict[str, Any]) -> dict[str, float]:
    """Requests are handed over, and come back, one by one."""
    some = any(job[kind]["total_ios"] for kind in ("read", "write", "trim"))
    return {"0": 0.0, "4": 100.0 if some else 0.0, "8": 0.0, "16": 0.0, "32": 0.0, "64": 0.0, ">=64": 0.0}


def _kind(job: dict[str, Any], kind: str, alone: Recording | None) -> dict[str, Any]:
    done = job[kind]
    runtime_ms = done["runtime_ns"] / 1e6
    seconds = done["runtime_ns"] / 1e9
    bytes_per_s = done["io_bytes"] / seconds if seconds else 0.0
    zero = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
    return {
        "io_bytes": done["io_bytes"],
        "io_kbytes": done["io_bytes"] // 1024,
        "bw_bytes": int(bytes_per_s),
        "bw": int(bytes_per_s / 1024),
        "iops": done["total_ios"] / seconds if seconds else 0.0,
        "runtime": round(runtime_ms),
        "total_ios": done["total_ios"],
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": zero,
        "clat_ns": _latency(done["lat_ns"], percentiles=True),
        "lat_ns": _latency(done["lat_ns"], percentiles=False),
        **_samples(alone, kind),
    }


def _latency(latency: dict[str, Any], percentiles: bool) -> dict[str, Any]:
    found = {name: latency[name] for name in ("min", "max", "mean", "stddev")} | {"N": latency["n"]}
    if percentiles and latency["percentile"]:
        found["percentile"] = latency["percentile"]
    return found


def _samples(recording: Recording | None, kind: str) -> dict[str, Any]:
    """Bandwidth (KiB/s) and IOPS over 500 ms samples; a series of its own has only a job that ran alone."""
    bw, iops = np.zeros(0), np.zeros(0)
    if recording is not None:
        ends = recording.time["end_ns"].astype(np.float64) - recording.start_ns
        grid = np.arange(0.0, ends[-1] + 1.0, SAMPLE_NS) if len(ends) else np.zeros(0)
        if len(grid) > 1:
            counts = {"read": "reads", "write": "writes", "trim": "trims"}
            bw, iops = (
                np.diff(np.interp(grid, np.r_[0.0, ends], np.r_[0.0, np.cumsum(recording.time[name])]))
                / (SAMPLE_NS / 1e9)
                for name in (f"{kind}_bytes", counts[kind])
            )
            bw = bw / 1024
    moved = bool(bw.any())
    return {
        "bw_min": int(bw.min()) if moved else 0,
        "bw_max": int(bw.max()) if moved else 0,
        "bw_agg": 100.0 if moved else 0.0,
        "bw_mean": float(bw.mean()) if moved else 0.0,
        "bw_dev": float(bw.std()) if moved else 0.0,
        "bw_samples": len(bw) if moved else 0,
        "iops_min": int(iops.min()) if moved else 0,
        "iops_max": int(iops.max()) if moved else 0,
        "iops_mean": float(iops.mean()) if moved else 0.0,
        "iops_stddev": float(iops.std()) if moved else 0.0,
        "iops_samples": len(iops) if moved else 0,
    }


def job_file(steps: Sequence[str], region: Region) -> str:
    """The steps of a suite as one job file that fio takes. fio has no copies: a reader and a writer that keep pace
    stand for one."""
    head = [
        "[global]",
        "filename=pslc.scratch",
        f"filesize={region.target.capacity_bytes}",
        "ioengine=io_uring",
        "thread",
    ]
    sections = [section for text in steps for section in _sections(text)]
    return "\n\n".join(["\n".join(head), *(_without_copy(lines) for lines in sections)]) + "\n"


def _sections(text: str) -> list[list[str]]:
    found: list[list[str]] = []
    for line in filter(None, text.splitlines()):
        if line.startswith("["):
            found.append([])
        found[-1].append(line)
    return found


def _without_copy(lines: list[str]) -> str:
    to = next((line.partition("=")[2] for line in lines if line.startswith("copy_to=")), None)
    if to is None:
        return "\n".join(lines)
    number = sum(map(ord, lines[0]))
    reader = [line for line in lines if not line.startswith(("copy_to=", "end_fsync"))]
    writer = [line for line in lines if not line.startswith(("copy_to=", "stonewall", "offset="))]
    writer[0] = f"{writer[0][:-1]} to]"
    writer = [line.replace("read", "write") if line.startswith("rw=") else line for line in writer] + [f"offset={to}"]
    pace = ["flow=1", f"flow_id={number}"]
    return "\n".join(reader + pace) + "\n\n" + "\n".join(writer + pace)
