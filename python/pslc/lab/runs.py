"""Recordings by suite and target. A tab asks for one while a slider moves; what it asked for before is then ended, and
what takes longer than a moment is left to a job of its own."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count
from pathlib import Path
from threading import Lock, Thread
from time import monotonic, process_time
from typing import Final

import pslc
from pslc.base import failure, writer
from pslc.base.errors import PslcError
from pslc.device import scaling
from pslc.device.target import Target
from pslc.lab import replays
from pslc.lab import workspace as bench
from pslc.lab.apart import Readers
from pslc.lab.files import admit, new_folder, stamp
from pslc.lab.fits import Fits
from pslc.lab.uploads import Drops
from pslc.lab.workspace import Bench, Drive
from pslc.recording.store import Recording
from pslc.runner.callbacks import Progress
from pslc.schema.results import StepProgress, done_of

LIVE_S: Final = 3.0
"""Seconds of the processor's time that a suite may take to be run while a slider moves. What else the page runs
meanwhile counts too: a run is on a thread of its own, whose clock nobody else can read."""
PATIENCE_S: Final = 20.0
"""Seconds after which it is given up on a machine that has other work too."""
MAX_WAIT_S: Final = 5.0
"""Seconds that the end of the page waits for runs to stop; each hears of it at its next progress."""
MOST_KEPT: Final = 40
"""Recordings held; one of a fill takes some megabytes."""
COARSE: Final = (64, 48, 32, 24, 16, 12, 8)
"""Scales of a drive whose curve is shown at once, the smallest first."""
COARSE_SUITES: Final = ("fill",)
"""Suites whose curve a scaled drive tells, sizes apart."""


class SupersededError(Exception):
    """The same tab has asked for something else meanwhile."""


class LongError(Exception):
    """A simulation takes longer than `LIVE_S`."""


Key = tuple[str, str, int]


@dataclass
class Job:
    """Runs that take long, in a thread of their own.

    Attributes:
        tab: whose they are.
        address: of the bench that they are for.
        part: from 0 to 1 where it is known.
        status: where it stands, in words.
        error: what ended it, if so.
    """

    tab: str
    address: str
    part: float | None = None
    status: str = ""
    error: PslcError | None = None
    done: bool = False
    stopped: bool = False


@dataclass
class Runs:
    """Recordings that the page requested: the last `MOST_KEPT` of them, and the runs under way."""

    fits: Fits = field(default_factory=Fits)
    folder: Path = field(default_factory=lambda: new_folder("pslc-lab-"))
    readers: Readers = field(default_factory=Readers)
    _kept: OrderedDict[Key, Recording] = field(default_factory=OrderedDict)
    _long: set[tuple[str, str]] = field(default_factory=set)
    _asked: dict[str, int] = field(default_factory=dict)
    _jobs: dict[str, Job] = field(default_factory=dict)
    _threads: list[Thread] = field(default_factory=list)
    _closed: bool = False
    _numbers: Iterator[int] = field(default_factory=count)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.drops = Drops(self.folder, self.readers)
        admit(self.folder)

    def ask(self, tab: str) -> int:
        """A number for what a tab asks for now; whatever it asked for before is ended."""
        with self._lock:
            number = self._asked[tab] = next(self._numbers)
            return number

    def cached(self, suite: str, drive: Drive) -> Recording | None:
        """The recording, if it is there."""
        with self._lock:
            key = _key(suite, drive)
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def live(self, suite: str, drive: Drive, tab: str, number: int) -> Recording:
        """The recording, made now unless it is there.

        Raises:
            PslcError: the drive or the suite cannot be run.
            SupersededError: the tab has asked for something else.
            LongError: it takes too long.
        """
        recording = self.cached(suite, drive)
        if recording is not None:
            return recording
        if (suite, drive.source) in self._long:
            raise LongError
        begun, at = process_time(), monotonic()

        def progress(_: StepProgress) -> bool:
            if self._closed or self._asked.get(tab) != number:
                raise SupersededError
            if process_time() - begun > LIVE_S or monotonic() - at > PATIENCE_S:
                self._long.add((suite, drive.source))
                raise LongError
            return True

        return self._keep(suite, drive, self._run(suite, drive, progress))

    def coarse(self, suite: str, drive: Drive, tab: str, number: int) -> tuple[Recording, Fraction] | None:
        """A recording of the drive made smaller, and by how much; None where such a one would not tell.

        Raises:
            PslcError: the drive cannot be run.
            SupersededError: the tab has asked for something else.
        """
        if suite not in COARSE_SUITES or drive.is_kept:
            return None
        target = drive.target()
        by = _scale(target)
        if by is None:
            return None
        small = replace(drive, keys=(*drive.keys, (scaling.KEY, str(by))))

        def progress(_: StepProgress) -> bool:
            if self._closed or self._asked.get(tab) != number:
                raise SupersededError
            return True

        return pslc.run(suite, on=small.spec, progress=progress), by

    def start(self, bench: Bench, tab: str) -> Job:
        """Run all that is missing on a bench, however long it takes. What the tab was running before is ended."""
        self.stop(tab)
        job = self._jobs[tab] = Job(tab, bench.address)
        thread = Thread(target=self._work, args=(job, bench), daemon=True)
        self._threads = [*(other for other in self._threads if other.is_alive()), thread]
        thread.start()
        return job

    def job(self, tab: str) -> Job | None:
        """Job that this tab is running; None without one."""
        return self._jobs.get(tab)

    def stop(self, tab: str) -> None:
        """End what the tab is running."""
        job = self._jobs.pop(tab, None)
        if job is not None:
            job.stopped = True

    def close(self) -> None:
        """End everything, and remove what was put into files."""
        self._closed = True
        for tab in list(self._jobs):
            self.stop(tab)
        self.readers.close()
        self.fits.close()
        end = monotonic() + MAX_WAIT_S
        for thread in self._threads:
            thread.join(max(end - monotonic(), 0))
        writer.remove_folder(self.folder)

    def _work(self, job: Job, bench: Bench) -> None:
        missing = [drive for drive in dict.fromkeys(bench.drives) if self.cached(bench.suite, drive) is None]
        try:
            for number, drive in enumerate(missing):
                name = f"{drive.spec}: " if len(missing) > 1 else ""
                begun = process_time()

                def progress(state: StepProgress, number: int = number, name: str = name) -> bool:
                    if job.stopped:
                        raise SupersededError
                    done, total = done_of(state)
                    job.part = min((number + done / total) / len(missing), 1.0) if total else None
                    job.status = f"{name}{state['step']}"
                    return True

                self._keep(bench.suite, drive, self._run(bench.suite, drive, progress))
                if process_time() - begun <= LIVE_S:
                    self._long.discard((bench.suite, drive.source))
        except SupersededError:
            pass
        except BaseException as error:  # A panic of the native part is no Exception.
            job.error = failure.in_words(error)
        job.done = True

    def _run(self, suite: str, drive: Drive, progress: Progress) -> Recording:
        if not drive.is_kept:
            replay = replays.options(suite, drive.target().capacity_bytes) if replays.is_trace(suite) else None
            return pslc.run(suite, on=drive.spec, replay=replay, progress=progress)
        # A run would go on in the file; the page only looks.
        with writer.temporary(within=self.folder) as folder:
            copy = Path(folder) / Path(drive.source).name
            writer.copy(Path(drive.source), copy)
            return replace(pslc.run(suite, on=str(copy), progress=progress), target=drive.source)

    def _keep(self, suite: str, drive: Drive, recording: Recording) -> Recording:
        with self._lock:
            self._kept[_key(suite, drive)] = recording
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return recording


def _key(suite: str, drive: Drive) -> Key:
    """A file may change while the page is open."""
    return suite, drive.spec, stamp(Path(drive.source.removeprefix("sim:")))


def _scale(target: Target) -> Fraction | None:
    """The smallest drive that fills as this one."""
    lines = target.facts["pages_per_block"] // target.facts["bits_per_cell"]
    for by in COARSE:
        if lines % by == 0:
            try:
                small = bench.find(f"{target.spec},{scaling.KEY}=1/{by}")
            except PslcError:
                continue
            if small.facts["scale_unlike"] is None:
                return Fraction(1, by)
    return None
