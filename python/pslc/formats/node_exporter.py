"""Prometheus' text of node_exporter, scraped again and again into one file: counters of each disk since the machine
began, `node_disk_written_bytes_total{device="sda"} 1.2e+12`. Two scrapes or more make intervals."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Final

from pslc.base.errors import RecordingError
from pslc.formats import About, FileContents, lines
from pslc.formats._loads import Reports
from pslc.schema.imports import ImportOptions

ABOUT: Final = About(
    program="node_exporter",
    what="Prometheus text, scraped repeatedly",
    content="load of one disk between scrapes",
    command="curl -s localhost:9100/metrics, every second, one behind the other",
    gives="load",
    mark=re.compile(
        r"^(?:# (?:HELP|TYPE) )?node_(?:disk|arp|boot|cpu|time)_|^# (?:HELP|TYPE) go_gc_duration_seconds", re.MULTILINE
    ),
)
SAMPLE = re.compile(
    r"node_(?P<name>disk_\w+|time_seconds)"
    r'(?:\{[^}]*device="(?P<device>[^"]*)"[^}]*\})?\s+(?P<value>\S+)(?:\s+(?P<ms>\d{12,14}))?\s*$'
)
KINDS: Final = {
    "disk_read_bytes_total": "rB/s", "disk_written_bytes_total": "wB/s", "disk_discarded_sectors_total": "dc_sec/s",
    "disk_reads_completed_total": "r/s", "disk_writes_completed_total": "w/s", "disk_flush_requests_total": "f/s",
    "disk_read_time_seconds_total": "read_s", "disk_write_time_seconds_total": "write_s",
    "disk_io_time_seconds_total": "busy_s", "disk_io_time_weighted_seconds_total": "queue_s",
}  # fmt: skip
HINT: Final = (
    "scrape it again and again into one file: while sleep 1; do curl -s localhost:9100/metrics; done >> load.prom"
)


Scrape = dict[str, dict[str, float]]
"""Counters of each device."""


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The load of one disk between scrapes of one file, or of several files in order."""
    pairs = pairwise(scrape for path in paths for scrape in _scrapes(path))
    if (first := next(pairs, None)) is None:
        raise RecordingError(f"{paths[0]} is one scrape of counters, which has no intervals", HINT)
    reports = Reports(paths[0], hints)
    for (before, old), (at, new) in chain([first], pairs):
        reports.tick(at)
        seconds = hints.interval_s if at is None or before is None or at <= before else at - before
        for device in new.keys() & old.keys():
            risen = {name: value - old[device][name] for name, value in new[device].items() if name in old[device]}
            # Counters of a machine that was started anew begin at 0.
            if all(value >= 0 for value in risen.values()):
                reports.add(device, seconds, _rates(risen, seconds or 1.0))
    return reports.foreign(ABOUT, hint=HINT)


def _scrapes(path: Path) -> Iterator[tuple[float | None, Scrape]]:
    """Time and counters of each scrape: the next begins where a counter comes again."""
    at: float | None = None
    disks: Scrape = {}
    for line in lines(path):
        sample = SAMPLE.match(line)
        if sample is None:
            continue
        try:
            value = float(sample["value"])
        except ValueError:
            continue
        if sample["name"] == "time_seconds":
            at = value
        elif (kind := KINDS.get(sample["name"])) and sample["device"] is not None:
            if kind in disks.get(sample["device"], {}):
                yield at, disks
                at, disks = None, {}
            disks.setdefault(sample["device"], {})[kind] = value
            at = int(sample["ms"]) / 1000 if sample["ms"] else at
    if disks:
        yield at, disks


def _rates(risen: dict[str, float], seconds: float) -> dict[str, float]:
    """Counters that rose, by iostat's names: rates, waits in ms, share of the time."""
    rates = {name: value / seconds for name, value in risen.items() if name.endswith("/s")}
    for kind, count in (("read", "r/s"), ("write", "w/s")):
        if risen.get(count):
            rates[f"{kind[0]}_await"] = 1e3 * risen.get(f"{kind}_s", 0.0) / risen[count]
    if "busy_s" in risen:
        rates["%util"] = 100 * risen["busy_s"] / seconds
    if "queue_s" in risen:
        rates["aqu-sz"] = risen["queue_s"] / seconds
    return rates
