"""Watch a drive while it does its work, and keep what was seen as a recording. Nothing is written to it, and nothing of
it is opened but for reading."""

import os
import select
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import CLOCK_BOOTTIME, clock_gettime_ns, process_time, time_ns
from typing import Final

from pslc.base.errors import TargetError
from pslc.device import probe
from pslc.recording.model import Recording
from pslc.recording.watched import Samples, recorded
from pslc.schema.facts import Facts, Watched
from pslc.watch.counters import FIELDS, Counters
from pslc.watch.telemetry import Asked, file_systems
from pslc.watch.traced import Traced

EVERY_NS: Final = 1_000_000_000
KEEP_EVERY_S: Final = 60.0
KEEP_SHARE: Final = 0.001
"""Largest share of the time that is spent on saving; a long recording takes a while, and is then saved less often."""


class Now:
    """Values of the current second, for a live view."""

    def __init__(self, at_s: float, seconds: float, moved: dict[str, int], asked: Asked) -> None:
        """`moved` has the names of `pslc.watch.counters.FIELDS`."""
        self.at_s, self.seconds, self.moved, self.asked = at_s, seconds, moved, asked
        self.counted: tuple[int, ...] = ()
        """Since the machine was started, in the order of `FIELDS`."""


def device_of(path: Path) -> int:
    """The number of a block device.

    Raises:
        PslcError: it is none.
    """
    if not path.exists():
        if str(path).startswith("sim:"):
            raise TargetError(
                f"{path} is a simulated drive, and pslc watch needs a real one", f"pslc serve {path} --watch"
            )
        raise TargetError(f"{path}: no such device", "lsblk lists the block devices")
    if not path.is_block_device():
        below = probe.facts(path)["stack"]
        hint = f"it lies on {below[0]}: pslc watch /dev/{below[0]}" if below else "lsblk lists the block devices"
        raise TargetError(f"{path} is not a block device", hint)
    return path.stat().st_rdev


def lies_on(folder: Path, number: int) -> bool:
    """Whether a folder that may not be there yet is on a drive that the device `number` is on, too."""
    drive = probe.stack(number)[-1:]
    return bool(drive) and drive[0].name in probe.facts(folder)["stack"]


@contextmanager
def heard(signals: Sequence[signal.Signals]) -> Iterator[Callable[[float], bool]]:
    """Wait for signals instead of dying of them: `wait(seconds)` says whether one has come, at the latest after so
    long. They are handled, not blocked: a blocked one goes to another thread, which would end the process."""
    reads, writes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    before = {of: signal.signal(of, lambda *_: os.write(writes, b".")) for of in signals}
    try:
        yield lambda seconds: bool(select.select([reads], [], [], seconds)[0])
    finally:
        for of, handler in before.items():
            signal.signal(of, handler)
        os.close(reads)
        os.close(writes)


class _Drive:
    """A drive that is watched: its counters, what it was asked, and the samples so far."""

    def __init__(self, path: Path, trace: Path | None) -> None:
        self.path = path
        self.counters = Counters(device_of(path))
        self.traced = Traced(path.stat().st_rdev, trace) if trace else None
        self.facts = probe.facts(path)
        self.asked = Asked((self.facts["device"] or {}).get("name"))
        self.samples, self.began_unix_ns = Samples(), time_ns()
        self.error: str | None = None

    def begin(self, at: int) -> None:
        self.start = self.last = at
        self.counted = self.counters.now()
        self.samples.add(at, self.counted, None)

    def look(self) -> Now | None:
        """A sample; None, and `error`, where the drive is gone."""
        try:
            counted = self.counters.now()
        except OSError as gone:
            self.error = f"{self.path} is gone: {gone.strerror}"
            return None
        at = clock_gettime_ns(CLOCK_BOOTTIME)
        moved = {name: now - was for name, now, was in zip(FIELDS, counted, self.counted, strict=True)}
        moved["in_flight"] = counted[list(FIELDS).index("in_flight")]
        at_s = (at - self.start) / 1e9
        self.asked.look(at_s, worked=moved["busy_ns"] > 0)
        self.samples.add(at, counted, self.asked.celsius)
        now = Now(at_s, (at - self.last) / 1e9, moved, self.asked)
        self.counted, self.last, now.counted = counted, at, counted
        return now

    def recording(self) -> Recording:
        asked = self.asked
        about: Watched = {"smart": asked.smart, "changes": asked.changes, "file_systems": file_systems(asked.name)}
        facts = self.facts | Facts(watch=about)
        if self.traced is not None and self.traced.error:
            facts["notes"] = [f"the trace ends before the watch: {self.traced.error}"]
        return recorded(self.path, facts, self.samples, self.began_unix_ns, self.error)

    def close(self) -> None:
        if self.traced is not None:
            self.traced.close()
        self.counters.close()


def watch_all(
    paths: Sequence[Path],
    for_s: float | None,
    show: Callable[[list[Now]], None] | None = None,
    keep: Callable[[list[Recording]], None] | None = None,
    until: Sequence[signal.Signals] = (signal.SIGINT, signal.SIGTERM),
    trace: Path | None = None,
) -> list[Recording]:
    """Watch block devices for so long, or until one of the signals `until` comes or one of them is gone; from the main
    thread, which is where Python hears them.

    Args:
        show: told of each second.
        keep: given the recordings so far every now and then.
        trace: a file that is made, for every request of the drive.

    Raises:
        PslcError: a path is not a block device, Linux keeps no counters for it, or its requests cannot be traced.
    """
    drives = [_Drive(path, trace) for path in paths]
    interrupted = False
    with heard(until) as ended:
        try:
            # The clock that goes on while the machine sleeps.
            begin = last = clock_gettime_ns(CLOCK_BOOTTIME)
            for drive in drives:
                drive.begin(begin)
            due, kept_s, keeping_s = begin + EVERY_NS, 0.0, 0.0
            while not interrupted and (for_s is None or last - begin < for_s * 1e9 - EVERY_NS / 2):
                interrupted = ended(max(due - clock_gettime_ns(CLOCK_BOOTTIME), 0) / 1e9)
                nows = [now for drive in drives if (now := drive.look()) is not None]
                if len(nows) < len(drives):
                    break
                last = drives[0].last
                # After a sleep of the machine the seconds that were missed are one long one.
                due = max(due + EVERY_NS, last)
                if show is not None:
                    show(nows)
                at_s = nows[0].at_s
                if keep is not None and at_s >= kept_s + max(KEEP_EVERY_S, keeping_s / KEEP_SHARE):
                    began = process_time()
                    keep([drive.recording() for drive in drives])
                    kept_s, keeping_s = at_s, process_time() - began
        finally:
            for drive in drives:
                drive.close()
        return [drive.recording() for drive in drives]
