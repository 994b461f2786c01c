"""A recording as fio writes it for scripts: `--output-format=terse`, version 3, a line per job."""

from collections.abc import Iterator

from pslc.fio import json_output as fio
from pslc.fio import sections as output
from pslc.recording.model import Recording

TERSE = 3
SHOWN = 20
"""Percentiles; what a job has not asked for is `0%=0`."""


def lines(recording: Recording) -> Iterator[str]:
    """Lines of fio's terse output, one for each job, without line ends."""
    disks = [str(field) for disk in fio.disk_util(recording) for field in _disk(disk)]
    for job in fio.document(recording)["jobs"]:
        head = [TERSE, f"fio-{fio.VERSION}", job["jobname"], job["groupid"], job["error"]]
        kinds = [field for word in ("read", "write", "mixed") if word in job for field in _direction(job[word])]
        tail = [job["desc"]] if "desc" in job else []
        fields = [*head, *kinds, *_machine(job), *disks, *tail]
        yield ";".join(map(str, fields))


def _direction(done: output.Direction) -> Iterator[str]:
    """KiB, KiB/s, requests a second and milliseconds; then microseconds."""
    yield from (f"{done[name]:.0f}" for name in ("io_kbytes", "bw"))
    yield f"{int(done['iops'])}"
    yield f"{done['runtime']}"
    yield from _times(done["slat_ns"])
    yield from _times(done["clat_ns"])
    # Those of the whole latency, where they were asked for, stand in the place of the others.
    percentiles = done["lat_ns"].get("percentile") or done["clat_ns"].get("percentile", {})
    yield from (f"{percent}%={ns // 1000}" for percent, ns in percentiles.items())
    yield from ["0%=0"] * (SHOWN - len(percentiles))
    yield from _times(done["lat_ns"])
    yield from (f"{done[name]}" for name in ("bw_min", "bw_max"))
    yield f"{done['bw_agg']:f}%"
    yield from (f"{done[name]:f}" for name in ("bw_mean", "bw_dev"))


def _times(latency: output.Latency) -> Iterator[str]:
    yield from (f"{latency[name] // 1000}" for name in ("min", "max"))
    yield from (f"{latency[name] / 1000:f}" for name in ("mean", "stddev"))


def _machine(job: output.Job) -> Iterator[str]:
    yield from (f"{job[name]:f}%" for name in ("usr_cpu", "sys_cpu"))
    yield from (f"{job[name]}" for name in ("ctx", "majf", "minf"))
    yield from (f"{percent:.1f}%" for percent in job["iodepth_level"].values())
    # Microseconds begin with what took nanoseconds.
    us = dict(job["latency_us"])
    us["2"] += sum(job["latency_ns"].values())
    yield from (f"{percent:.2f}%" for shares in (us, job["latency_ms"]) for percent in shares.values())


def _disk(disk: output.Disk) -> Iterator[str]:
    yield from (str(disk[name]) for name in ("name", "read_ios", "write_ios", "read_merges", "write_merges"))
    yield from (str(disk[name]) for name in ("read_ticks", "write_ticks", "in_queue"))
    yield f"{disk['util']:.2f}%"
    if "aggr_util" in disk:
        yield "slaves"
        yield from (str(value) for name, value in disk.items() if name.startswith("aggr_") and name != "aggr_util")
        yield f"{disk['aggr_util']:.2f}%"
