"""A recording as fio prints it for people: `--output-format=normal`, the text that many scripts search."""

import math
import os
from collections.abc import Iterator, Sequence

from pslc.fio import json_output as fio
from pslc.fio import sections as output
from pslc.recording.model import Recording
from pslc.schema.jobs import Job as RecordedJob

DIRECTIONS: tuple[tuple[fio.Part, str], ...] = (
    ("read", "   READ"),
    ("write", "  WRITE"),
    ("trim", "   TRIM"),
    ("mixed", "  MIXED"),
)
BINARY, DECIMAL = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), ("", "k", "M", "G", "T", "P", "E")
DIGITS = 4
"""Significant digits of numbers: fio's default for `significant_figures`."""
LINE_WIDTH = 80 - 7
"""Width of the lines of percentiles, as in fio's stat.c."""
LEVELS_PER_LINE = 5


def lines(recording: Recording) -> Iterator[str]:
    """The whole text, line by line without their ends."""
    document = fio.document(recording)
    shown = [job for job in fio.in_order(recording) if fio.has_stats(job)]
    yield ""
    for job, written in zip(shown, document["jobs"], strict=True):
        if any(written[kind]["total_ios"] for kind, _ in DIRECTIONS if kind in written):
            yield from _job(job, written, document["time"])
    for number in range(max((written["groupid"] for written in document["jobs"]), default=-1) + 1):
        yield from _group(number, [written for written in document["jobs"] if written["groupid"] == number])
    if document["disk_util"]:
        yield ""
        yield "Disk stats (read/write):"
        is_stack = any("aggr_util" in disk for disk in document["disk_util"])
        yield from (_disk(disk, is_stack) for disk in document["disk_util"])


def number(value: float, thousand: int, unit: str = "", digits: int = DIGITS) -> str:
    """Format a number as fio's `num2str` does: a limited number of digits, the point among them, and a prefix."""
    prefixes = BINARY if thousand == 1024 else DECIMAL
    whole, rest, power = int(value), None, 0
    while len(str(whole)) > digits and power + 1 < len(prefixes):
        whole, rest = divmod(whole, thousand)
        power += 1
    if rest is None:
        return f"{whole}{unit}"
    places = digits - len(str(whole)) - 1
    if places <= 0:
        return f"{whole + (rest >= thousand // 2)}{prefixes[power]}{unit}"
    fraction = f"{rest / thousand:.{places}f}"
    return f"{whole + int(fraction[0])}.{fraction[2:]}{prefixes[power]}{unit}"


def _job(job: RecordedJob, written: output.Job, time: str) -> Iterator[str]:
    head = (
        f"{written['jobname']}: (groupid={written['groupid']}, jobs={job.get('clones', 1)}): err={written['error']:2d}"
    )
    yield f"{head}: pid={os.getpid()}: {time}"
    if "desc" in written:
        yield f"  Description  : [{written['desc']}]"
    for kind, _ in DIRECTIONS:
        if kind in written and written[kind]["io_bytes"]:
            yield from _direction(kind, written[kind], int(job["options"].get("kb_base", "1024") or 1024))
    for unit, levels in (
        ("nsec", written["latency_ns"]),
        ("usec", written["latency_us"]),
        ("msec", written["latency_ms"]),
    ):
        yield from _levels(unit, levels)
    sync = written.get("sync")
    if sync and sync["lat_ns"]["N"]:
        yield "  fsync/fdatasync/sync_file_range:"
        yield _times("sync", sync["lat_ns"])
        yield from _percentiles("sync", sync["lat_ns"])
    yield (
        f"  cpu          : usr={written['usr_cpu']:.2f}%, sys={written['sys_cpu']:.2f}%, ctx={written['ctx']}, "
        f"majf={written['majf']}, minf={written['minf']}"
    )
    yield f"  IO depths    : {_shares(written['iodepth_level'])}"
    yield f"     submit    : {_shares(written['iodepth_submit'])}"
    yield f"     complete  : {_shares(written['iodepth_complete'])}"
    yield f"     issued rwts: total={_issued(written)} short=0,0,0,0 dropped=0,0,0,0"
    if written.get("latency_depth"):
        yield (
            f"     latency   : target={written['latency_target']}, window={written['latency_window']}, "
            f"percentile={written['latency_percentile']:.2f}%, depth={written['latency_depth']}"
        )
    if "steadystate" in written:
        yield _steady(written["steadystate"])


def _issued(written: output.Job) -> str:
    counts = [written[kind]["total_ios"] if kind in written else 0 for kind in ("read", "write", "trim")]
    if "mixed" in written and "read" not in written:
        counts[0] = written["mixed"]["total_ios"]
    return ",".join(map(str, [*counts, written["sync"]["total_ios"] if "sync" in written else 0]))


def _both(value: float, unit: str, base: int) -> tuple[str, str]:
    """Amount in the prefixes of `kb_base`, and in the others."""
    other = 1000 if base == 1024 else 1024
    return number(value, base, unit), number(value, other, unit)


def _direction(kind: str, done: output.Direction, base: int) -> Iterator[str]:
    if not done["runtime"]:
        return
    speed, other = _both(1000 * done["io_bytes"] // done["runtime"], "B/s", base)
    rate = number(1000 * done["total_ios"] // done["runtime"], 1000)
    moved = number(done["io_bytes"], base, "B")
    yield f"  {kind}: IOPS={rate}, BW={speed} ({other})({moved}/{done['runtime']}msec)" + (
        # fio says so of every drive.
        "; 0 zone resets" if kind == "write" else ""
    )
    named = (("slat", done["slat_ns"]), ("clat", done["clat_ns"]), (" lat", done["lat_ns"]))
    yield from (_times(name, latency) for name, latency in named if latency["N"])
    for name, latency in named:
        if "percentile" in latency:
            yield from _percentiles(name.strip(), latency)
    if done["bw_samples"]:
        mega = done["bw_mean"] > base * base
        scale, unit = (base, "MiB") if mega else (1, "KiB" if base == 1024 else "kB")
        slowest, fastest, mean, deviation = (done[name] / scale for name in ("bw_min", "bw_max", "bw_mean", "bw_dev"))
        yield (
            f"   bw ({unit:>5}/s): min={int(slowest):5d}, max={int(fastest):5d}, per={done['bw_agg']:3.2f}%, "
            f"avg={mean:5.2f}, stdev={deviation:5.2f}, samples={done['bw_samples']}"
        )
    if done["iops_samples"]:
        yield (
            f"   iops        : min={done['iops_min']:5d}, max={done['iops_max']:5d}, "
            f"avg={done['iops_mean']:5.2f}, stdev={done['iops_stddev']:5.2f}, samples={done['iops_samples']}"
        )


def _times(name: str, latency: output.Latency) -> str:
    shortest, longest, mean, deviation = latency["min"], latency["max"], latency["mean"], latency["stddev"]
    unit = "nsec"
    for scale, word in ((1_000_000, "msec"), (1000, "usec")):
        if shortest > 2 * scale and longest > 100 * scale - 1 and deviation > scale:
            shortest, longest, mean, deviation, unit = (
                shortest // scale,
                longest // scale,
                mean / scale,
                deviation / scale,
                word,
            )
            break
    return (
        f"    {name} ({unit}): min={number(shortest, 1000, digits=6)}, max={number(longest, 1000, digits=6)}, "
        f"avg={mean:5.2f}, stdev={deviation:5.2f}"
    )


def _percentiles(name: str, latency: output.Latency) -> Iterator[str]:
    percentiles = latency.get("percentile", {})
    if not percentiles:
        return
    values = [int(value) for value in percentiles.values()]
    steps, unit = 0, "nsec"
    if min(values) > 2_000_000 and max(values) > 99_999_999:
        steps, unit = 2, "msec"
    elif min(values) > 2000 and max(values) > 99_999:
        steps, unit = 1, "usec"
    width = max(5, int(math.log10(max(max(values) // 1000**steps, 1)) + 1))
    shown = []
    for percent, value in zip(percentiles, values, strict=True):
        for _ in range(steps):
            value = (value + 999) // 1000
        shown.append(f" {float(percent):5.2f}th=[{value:{width}d}]")
    per_line = LINE_WIDTH // (2 + 10 + width)
    yield f"    {name} percentiles ({unit}):"
    for first in range(0, len(shown), per_line):
        ends = "," if first + per_line < len(shown) else ""
        yield f"     |{','.join(shown[first : first + per_line])}{ends}"


def _levels(unit: str, levels: dict[str, float]) -> Iterator[str]:
    shown = [f"{upper}={percent:3.2f}%" for upper, percent in levels.items() if percent > 0]
    for first in range(0, len(shown), LEVELS_PER_LINE):
        yield f"  lat ({unit})   : {', '.join(shown[first : first + LEVELS_PER_LINE])}"


def _shares(levels: dict[str, float]) -> str:
    return ", ".join(f"{name}={percent:3.1f}%" for name, percent in levels.items())


def _steady(state: output.Steady) -> str:
    kind = state["ss"].partition(":")[0]
    speed, other = _both(state["data"]["bw_mean"], "B/s", 1024)
    rate = number(state["data"]["iops_mean"], 1000)
    word = " slope" if kind.endswith("_slope") else " mean dev"
    value = float(state["criterion"].rstrip("%"))
    percent = "%" if state["criterion"].endswith("%") else ""
    attained = "yes" if state["attained"] else "no"
    return (
        f"  steadystate  : attained={attained}, bw={speed} ({other}), iops={rate}, "
        f"{kind.split('_')[0]}{word}={value:.3f}{percent}"
    )


def _group(number_of_group: int, jobs: Sequence[output.Job]) -> Iterator[str]:
    yield ""
    yield f"Run status group {number_of_group} (all jobs):"
    for kind, title in DIRECTIONS:
        moved = [written[kind] for written in jobs if kind in written and written[kind]["runtime"]]
        if not moved:
            continue
        longest = max(done["runtime"] for done in moved)
        total = sum(done["io_bytes"] for done in moved)
        speeds = [1000 * done["io_bytes"] // done["runtime"] for done in moved]
        whole, slowest, fastest = (
            _both(value, "B/s", 1024) for value in (1000 * total // longest, min(speeds), max(speeds))
        )
        size = _both(total, "B", 1024)
        runs = f"{min(done['runtime'] for done in moved)}-{longest}msec"
        yield (
            f"{title}: bw={whole[0]} ({whole[1]}), {slowest[0]}-{fastest[0]} ({slowest[1]}-{fastest[1]}), "
            f"io={size[0]} ({size[1]}), run={runs}"
        )


def _disk(disk: output.Disk, is_stack: bool) -> str:
    line = (
        f"{'    ' if is_stack else '  '}{disk['name']}: ios={disk['read_ios']}/{disk['write_ios']}, "
        f"merge={disk['read_merges']}/{disk['write_merges']}, ticks={disk['read_ticks']}/{disk['write_ticks']}, "
        f"in_queue={disk['in_queue']}, util={disk['util']:3.2f}%"
    )
    if "aggr_util" in disk:
        line += (
            f", aggrios={disk['aggr_read_ios']}/{disk['aggr_write_ios']}, "
            f"aggrmerge={disk['aggr_read_merges']}/{disk['aggr_write_merge']}, "
            f"aggrticks={disk['aggr_read_ticks']}/{disk['aggr_write_ticks']}, "
            f"aggrin_queue={disk['aggr_in_queue']}, aggrutil={disk['aggr_util']:3.2f}%"
        )
    return line
