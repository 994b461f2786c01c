"""Jobs behind an fio log, from fio's job file or JSON: averaging, which of them waited for others, and bytes moved."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pslc.base import units
from pslc.base.errors import PslcError
from pslc.schema.jobs import Job

OFF: Final = ("0", "false")
LOGS: Final = ("write_bw_log", "write_iops_log", "write_lat_log")
MAX_CLONES: Final = 4096


@dataclass(frozen=True)
class Thread:
    """Job as fio runs it: a section with `numjobs=4` is four of these.

    Attributes:
        group: it waits for all jobs of earlier groups: each `stonewall` begins the next.
        log_avg_ms: length of the intervals of its logs; 0: one row per request; None: not given.
        sample_ms: `bwavgtime`, where it is given.
        logs_maxima: its logs hold the largest of each interval, not the mean.
        log_names: what its logs are called.
        delay_s: `startdelay`.
        job: what was counted; None where that is of several jobs together, or not told.
    """

    group: int
    log_avg_ms: int | None
    sample_ms: int
    logs_maxima: bool
    log_names: tuple[str, ...]
    delay_s: float
    job: Job | None

    def moved(self, kind: Literal["read", "write"]) -> tuple[float, float] | None:
        """Bytes and seconds that were counted."""
        if self.job is None or not self.job[kind]["total_ios"]:
            return None
        return float(self.job[kind]["io_bytes"]), self.job[kind]["runtime_ns"] / 1e9


def threads(jobs: Sequence[Job]) -> list[Thread]:
    """The jobs as fio numbers them in the names of logs."""
    numbered: list[Thread] = []
    group, at, max_group = 0, 0, 0
    while at < len(jobs):
        options = jobs[at]["options"]
        clones = _number(options.get("numjobs", "1"), 1, MAX_CLONES)
        alike = 1
        while alike < clones and at + alike < len(jobs) and jobs[at + alike]["name"] == jobs[at]["name"]:
            alike += 1
        own = jobs[at].get("groupid", 0) if not _is_on(options, "new_group") else group
        waits = _is_on(options, "stonewall", "wait_for_previous") or own > max_group
        max_group = max(own, max_group)
        group += bool(numbered) and waits
        # Counted one by one, or (`group_reporting`) all together.
        each = [jobs[at + place] for place in range(alike)] if alike == clones else [None] * clones
        for job in each:
            counted = job if job is not None and any(job[kind]["total_ios"] for kind in ("read", "write")) else None
            numbered.append(_thread(options, group, counted))
        at += alike
    return numbered


def _thread(options: dict[str, str], group: int, job: Job | None) -> Thread:
    average = options.get("log_avg_msec")
    window = options.get("log_window_value", options.get("log_max_value", "0"))
    return Thread(
        group=group,
        log_avg_ms=None if average is None else _number(average, 0, 86_400_000),
        sample_ms=_number(options.get("bwavgtime", ""), 0, 86_400_000),
        logs_maxima=window not in (*OFF, "avg", "both"),
        log_names=tuple(options[name] for name in LOGS if options.get(name)),
        delay_s=_seconds(options.get("startdelay", options.get("start_delay", "0"))),
        job=job,
    )


def _is_on(options: dict[str, str], *names: str) -> bool:
    return any(options.get(name, "0") not in OFF for name in names)


def _number(word: str, default: int, limit: int) -> int:
    return min(int(word), limit) if word.isascii() and word.isdigit() and len(word) < 12 else default


def _seconds(word: str) -> float:
    """A time as fio takes it, seconds without a unit; 0 where it cannot be read."""
    try:
        return float(word) if word.replace(".", "", 1).isdigit() else units.seconds(word, "startdelay")
    except (PslcError, ValueError):
        return 0.0
