"""Programs that time synced writes or single requests: `pveperf`, `pg_test_fsync`, FreeBSD's `diskinfo -wS`, `ioping`,
and etcd, which counts its flushes by their time.

FSYNCS/SECOND:     1450.19
        fdatasync                         329.207 ops/sec    3038 usecs/op
4 kbytes:    450.0 usec/IO =      8.7 Mbytes/s
min/avg/max/mdev = 158.1 us / 242.3 us / 412.2 us / 69.2 us
etcd_disk_wal_fsync_duration_seconds_bucket{le="0.016"} 529
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pslc.base import quantities
from pslc.base.errors import RecordingError
from pslc.formats import About, FileContents, count_of, only, text
from pslc.schema.imports import ImportOptions
from pslc.schema.jobs import KINDS, Done, Job, done

ABOUT: Final = About(
    program="pveperf, pg_test_fsync, etcd, diskinfo, ioping",
    what="text, /metrics",
    content="time of a flush, and whether the drive has power-loss protection; of ioping that of a request",
    command="pveperf /var/lib/vz, pg_test_fsync, curl localhost:2379/metrics, or diskinfo -wS /dev/ada0",
    gives="jobs",
)
PVEPERF: Final = re.compile(r"^FSYNCS/SECOND:\s+(?P<rate>\d+(?:\.\d+)?)", re.MULTILINE)
DISKINFO: Final = re.compile(
    r"^[ \t]*(?P<size>[\d.]+) kbytes:\s+(?P<us>\d+(?:\.\d+)?) usec/IO =\s+(?P<rate>[\d.]+) Mbytes/s", re.MULTILINE
)
PG_TEST: Final = re.compile(
    r"^[ \t]*(?P<name>fdatasync|fsync|fsync_writethrough)[ \t]+(?P<rate>\d+[.,]\d+) ops/sec", re.MULTILINE
)
PG_ORDER: Final = ("fsync_writethrough", "fdatasync", "fsync")
"""Ways of pg_test_fsync, those first that reach the medium: on macOS the others do not."""
ETCD: Final = re.compile(
    r'^etcd_\w*wal_fsync_durations?_seconds_bucket\{[^\n]*\ble="(?P<le>[^"\n]+)"[^\n]*\} (?P<count>[\d.e+]+)\s*$',
    re.MULTILINE,
)
IOPING: Final = re.compile(
    r"^(?P<count>[\d.]+ ?[kM]?) requests completed in .*\n(?:.*\n)?"
    r"min/avg/max/mdev = (?P<times>(?:[^/\n]*\d[^/\n]*/){2}[^/\n]*\d.*)$",
    re.MULTILINE,
)


def matches(path: Path, head: str) -> bool:
    """A line of results of one of the programs."""
    return any(pattern.search(head) for pattern in (PVEPERF, PG_TEST, ETCD, DISKINFO, IOPING))


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The synced writes, or requests, as jobs."""
    path = only(paths)
    whole = text(path)
    jobs = [_flushing("fsync", 1e9 / float(match["rate"])) for match in PVEPERF.finditer(whole) if float(match["rate"])]
    rates = {match["name"]: match["rate"] for match in reversed([*PG_TEST.finditer(whole)])}
    way = next((name for name in PG_ORDER if name in rates), "")
    jobs += [_flushing(way, 1e9 / float(rates[way].replace(",", ".")))] if way else []
    jobs += (
        [_counted(path, [(float(of["le"]), float(of["count"])) for of in buckets])]
        if (buckets := [*ETCD.finditer(whole)])
        else []
    )
    jobs += [_flushing(f"{match['size']} KiB", 1e3 * float(match["us"])) for match in DISKINFO.finditer(whole)]
    jobs += [_pinged(match, "write" if ">>>" in whole else "read") for match in IOPING.finditer(whole)]
    return FileContents(
        path.name, None, jobs, read_as=f"mean times of {count_of(len(jobs), 'test')}", tells_options=False
    )


def _flushing(name: str, mean_ns: float) -> Job:
    """Writes that each were flushed, of which the time is known for both together."""
    return _job(name, sync=_done(1, mean_ns, mean_ns))


def _counted(path: Path, buckets: Sequence[tuple[float, float]]) -> Job:
    """Flushes by the number that took at most so many seconds, each share by the upper end of its bucket.

    Raises:
        PslcError: the counts are of several members, or of none.
    """
    ends, counts = zip(*buckets, strict=True)
    if list(ends) != sorted(set(ends)) or list(counts) != sorted(counts) or not counts[-1]:
        raise RecordingError(f"{path} counts no flushes, or those of several members of etcd", "give one member's")
    shares = {share: next(end for end, count in buckets if count >= share / 100 * counts[-1]) for share in (50, 99)}
    flushes = _done(round(counts[-1]), shares[50] * 1e9, 0.0)
    flushes["lat_ns"]["percentile"] = {f"{share}.000000": end * 1e9 for share, end in shares.items()}
    return _job("at most", sync=flushes)


def _pinged(match: re.Match[str], kind: str) -> Job:
    """Single requests of ioping."""
    _, mean, longest, *_ = (field.value * 1e9 for field in quantities.fields(match["times"]))
    scale = {"k": 1e3, "M": 1e6}.get(match["count"][-1], 1.0)
    count = round(float(match["count"].rstrip(" kM")) * scale)
    return _job("ioping", **{kind: _done(count, mean, longest)})


def _done(count: int, mean_ns: float, longest_ns: float) -> Done:
    return done(0, count, round(count * mean_ns), mean_ns, longest_ns)


def _job(name: str, **of_kinds: Done) -> Job:
    nothing = {kind: _done(0, 0.0, 0.0) for kind in KINDS}
    return {"name": name, "options": {}, "notes": [], **(nothing | of_kinds)}  # type: ignore[typeddict-item]
