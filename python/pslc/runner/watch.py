"""Watch a drive while it does its work, and keep what was seen as a recording. Nothing is written to it, and nothing of
it is opened but for reading."""

from __future__ import annotations

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
from pslc.recording.store import Recording
from pslc.schema.facts import Facts, Watched
from pslc.watch.counters import FIELDS, Counters
from pslc.watch.recorded import Samples, recorded
from pslc.watch.telemetry import Asked, file_systems
from pslc.watch.traced import Traced

EVERY_NS: Final = 1_000_000_000
KEEP_EVERY_S: Final = 60.0
KEEP_SHARE: Final = 0.001
"""Of the time; keeping a long recording takes a while, and is then done less often."""

Show = Callable[["Now"], None]


class Now:
    """What there is to see in this second, for a live view."""

    def __init__(self, at_s: float, seconds: float, moved: dict[str, int], asked: Asked) -> None:
        """`moved` has the names of `pslc.watch.counters.FIELDS`."""
        self.at_s, self.seconds, self.moved, self.asked = at_s, seconds, moved, asked


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


def watch(
    path: Path,
    for_s: float | None = None,
    show: Show | None = None,
    keep: Callable[[Recording], None] | None = None,
    until: Sequence[signal.Signals] = (signal.SIGINT, signal.SIGTERM),
    trace: Path | None = None,
) -> Recording:
    """Watch the block device `path` for so long, or until one of the signals `until` comes; from the main thread, which
    is where Python hears them.

    Args:
        show: told of each second.
        keep: given the recording so far every now and then.
        trace: a file that is made, for every request of the drive.

    Raises:
        PslcError: it is no block device, or Linux counts nothing of it, or shows no requests of it.
    """
    counters = Counters(device_of(path))
    traced = Traced(path.stat().st_rdev, trace) if trace else None
    facts = probe.facts(path)
    asked = Asked((facts["device"] or {}).get("name"))
    samples, began_unix_ns = Samples(), time_ns()
    error: str | None = None
    interrupted = False

    def recording() -> Recording:
        about: Watched = {"smart": asked.smart, "changes": asked.changes, "file_systems": file_systems(asked.name)}
        return recorded(path, facts | Facts(watch=about), samples, began_unix_ns, error)

    with heard(until) as ended:
        try:
            # The clock that goes on while the machine sleeps.
            begin = clock_gettime_ns(CLOCK_BOOTTIME)
            before, last = counters.now(), begin
            samples.add(begin, before, None)
            due, kept_s, keeping_s = begin + EVERY_NS, 0.0, 0.0
            while not interrupted and (for_s is None or last - begin < for_s * 1e9 - EVERY_NS / 2):
                interrupted = ended(max(due - clock_gettime_ns(CLOCK_BOOTTIME), 0) / 1e9)
                try:
                    counted = counters.now()
                except OSError as gone:
                    error = f"{path} is gone: {gone.strerror}"
                    break
                at = clock_gettime_ns(CLOCK_BOOTTIME)
                # After a sleep of the machine the seconds that were missed are one long one.
                due = max(due + EVERY_NS, at)
                moved = {name: now - was for name, now, was in zip(FIELDS, counted, before, strict=True)}
                moved["in_flight"] = counted[list(FIELDS).index("in_flight")]
                at_s = (at - begin) / 1e9
                asked.look(at_s, worked=moved["busy_ns"] > 0)
                samples.add(at, counted, asked.celsius)
                if show is not None:
                    show(Now(at_s, (at - last) / 1e9, moved, asked))
                before, last = counted, at
                if keep is not None and at_s >= kept_s + max(KEEP_EVERY_S, keeping_s / KEEP_SHARE):
                    began = process_time()
                    keep(recording())
                    kept_s, keeping_s = at_s, process_time() - began
        finally:
            if traced is not None:
                traced.close()
            counters.close()
        return recording()
