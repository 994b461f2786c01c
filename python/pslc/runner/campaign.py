"""Several runs as one: a suite repeated, the whole catalogue, and what an interruption left undone. On disk:

a suite            its recording in the folder
a suite repeated   the first in the folder, the others in repeat-2, repeat-3 and so on
all                each suite in a folder of its name, and one report.html above them
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pslc import suites
from pslc.base.errors import JobError, PslcError, RecordingError
from pslc.device.region import Scope, find_region
from pslc.device.sensors import Meter
from pslc.device.target import RealOptions, find_target
from pslc.recording.store import Recording
from pslc.runner.callbacks import Confirm, Progress
from pslc.runner.job_logs import JobLogs
from pslc.runner.load import analysed
from pslc.runner.plan import expected, plan
from pslc.runner.run import DeclinedError
from pslc.runner.run import run as run_one
from pslc.schema.results import Repeats
from pslc.schema.warnings import MeasurementWarning
from pslc.traces import Replay

ALL = "all"


@dataclass(frozen=True)
class Order:
    """What is to be run, as `pslc.run` takes it; `repeat` times, or the catalogue if `what` is `all`. `meter` is the
    log of a power meter at a real drive, `how` says how a trace is replayed. `more`, `sections` and `layout` are for
    job files, `logs` takes those that they ask for. `done` are recordings of it that an interruption left, the last of
    them perhaps unfinished."""

    what: str
    on: str
    seed: int = 0
    options: Sequence[tuple[str, str]] = ()
    scope: Scope = Scope()  # noqa: RUF009 - it is frozen
    real: RealOptions | None = None
    repeat: int = 1
    meter: Path | None = None
    how: Replay | None = None
    done: Sequence[Recording] = ()
    more: Sequence[str] = ()
    sections: Sequence[str] = ()
    layout: bool = True
    logs: JobLogs | None = None

    @property
    def runs(self) -> list[tuple[str, int]]:
        """Suite or job file, and seed, of each run."""
        if self.what == ALL:
            return [(name, self.seed) for name in suites.catalogue()]
        return [(self.what, (self.seed + number) % 2**64) for number in range(self.repeat)]


def run(
    order: Order,
    *,
    progress: Progress | None = None,
    confirm: Confirm | None = None,
    keep: Callable[[list[Recording]], None] | None = None,
    tell: Callable[[str], None] | None = None,
    fail: Callable[[str, Exception], None] | None = None,
) -> list[Recording]:
    """The recordings of an order; it ends with a run that was interrupted, or that failed if it is not the catalogue.

    Args:
        keep: called now and then with the recordings so far.
        tell: called with a line for each run of several, and for each step of several.
        fail: called with each suite of the catalogue that failed, and why; the others are run all the same. Without it
            the error is raised.

    Raises:
        PslcError: the target, a suite or the job file cannot be used.
        DeclinedError: `confirm` returned False.
    """
    if order.what == ALL and confirm is not None:
        confirm = _confirm_all(order, confirm)
    finished: list[Recording] = []
    ask = True
    if order.what == ALL and order.on.startswith("sim:"):
        several = _at_once(order, progress, keep, tell, fail)
        if several is not None:
            return several
    for number, (what, seed) in enumerate(order.runs):
        left = _left(order, what, number)
        if left is not None and not _is_partial(left):
            finished.append(left)
            ask = False
            continue
        if tell is not None and len(order.runs) > 1:
            tell(f"{number + 1} of {len(order.runs)}: {what}")
        try:
            made = run_one(
                what,
                on=order.on,
                seed=seed,
                options=order.options,
                scope=order.scope,
                real=order.real,
                how=order.how,
                progress=progress,
                # Asked once, by the first that got as far.
                confirm=confirm if ask else None,
                keep=(lambda so_far: keep([*finished, so_far])) if keep else None,
                done=left,
                tell=tell,
                more=order.more,
                sections=order.sections,
                layout=order.layout,
                logs=order.logs,
            )
        except DeclinedError:
            raise
        except Exception as error:
            # Of a whole catalogue one answer is missing then, not all.
            if order.what != ALL or fail is None:
                raise
            fail(what, error)
            continue
        ask = False
        finished.append(_metered_if_possible(made, order.meter) if order.meter else made)
        if made.interrupted or (made.error and order.what != ALL):
            break
    if order.repeat > 1:
        finished[0].findings["repeats"] = spread(finished)
    return finished


def _is_partial(recording: Recording) -> bool:
    return recording.interrupted or bool(recording.error)


def _at_once(
    order: Order,
    progress: Progress | None,
    keep: Callable[[list[Recording]], None] | None,
    tell: Callable[[str], None] | None,
    fail: Callable[[str, Exception], None] | None,
) -> list[Recording] | None:
    """The same of a simulated drive, on several cores; None where its suites have to run one after the other."""
    # A run of one suite need not wait for it to be imported.
    from pslc.runner import parallel

    runs = [(name, seed, _left(order, name, number)) for number, (name, seed) in enumerate(order.runs)]
    logs = order.logs or JobLogs()
    missing = [parallel.Task(name, order.on, seed, order.options, order.scope, left, logs.beside())
               for name, seed, left in runs if left is None or _is_partial(left)]  # fmt: skip
    tasks, count = parallel.workers(missing)
    if count == 1:
        return None
    finished = [recording for recording in order.done if not _is_partial(recording)]
    begun = len(finished)

    def begins(suite: str) -> None:
        nonlocal begun
        begun += 1
        if tell is not None:
            tell(f"{begun} of {len(order.runs)}: {suite}")

    for task, made in parallel.results(tasks, count, progress, begins):
        if isinstance(made, Exception):
            if fail is None:
                raise made
            fail(task.suite, made)
            continue
        finished.append(made)
        if keep is not None:
            keep(finished)
    # Of logs of one name the last counts, as where the suites run one after the other.
    for task in missing:
        logs.take(task.logs)
    if order.logs is None:
        logs.write_or_warn()
    places = [name for name, _ in order.runs]
    return sorted(finished, key=lambda recording: (recording.interrupted, places.index(recording.suite)))


def _left(order: Order, what: str, number: int) -> Recording | None:
    """What an interruption left of a run."""
    if order.what == ALL:
        return next((left for left in order.done if left.suite == what), None)
    return order.done[number] if number < len(order.done) else None


def metered(recording: Recording, log: Path) -> Recording:
    """A recording of a real drive with the energy that the log of a power meter tells, analysed with it.

    Raises:
        PslcError: the drive is simulated, or the log cannot be read or is not of the time of the run.
    """
    if recording.is_simulated:
        raise JobError("a simulated drive has a power meter in it", "--meter is for real drives")
    return analysed(Meter.read(log).on(recording))


def _metered_if_possible(recording: Recording, log: Path) -> Recording:
    """A run is not lost for its meter's log."""
    try:
        return metered(recording, log)
    except PslcError as error:
        why = error.message
        bad = MeasurementWarning("meter", f"{why}: mend the log, then pslc analyze RUN --meter LOG.csv")
        recording.findings.doubts = (*recording.findings.doubts, bad)
        return recording


def _confirm_all(order: Order, confirm: Confirm) -> Confirm:
    """Ask about the whole catalogue. What comes back agrees to the file that was shown, and to no other."""
    target = find_target(order.on, order.real)
    if not target.is_real:
        return confirm
    region = find_region(target, order.scope)
    steps = [text for name in suites.catalogue() for text in expected(name, region, order.scope)]
    if not confirm(plan(target, steps, "all.fio", list(order.options))):
        raise DeclinedError
    return lambda first: first.overwrites == target.foreign


def spread(recordings: Sequence[Recording]) -> Repeats:
    """`n`, and of each finding that is one number its spread over the runs that have it."""
    found: Repeats = {"n": len(recordings)}
    for name in recordings[0].findings:
        values = [recording.findings.get(name) for recording in recordings]
        numbers = [float(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
        if numbers:
            of = np.array(numbers)
            deviation = float(of.std(ddof=1)) if len(of) > 1 else 0.0
            found[name] = {
                "mean": float(of.mean()),
                "min": float(of.min()),
                "max": float(of.max()),
                "stddev": deviation,
            }
    return found


def folders(order: Order, recordings: Sequence[Recording], folder: Path) -> list[Path]:
    """Where each recording of an order is to be put."""
    if order.what == ALL:
        return [folder / recording.suite for recording in recordings]
    return [folder if number == 1 else folder / f"repeat-{number}" for number in range(1, len(recordings) + 1)]


def unfinished(folder: Path, real: RealOptions) -> Order:
    """What a run that was interrupted still has to do.

    Raises:
        PslcError: there is no such run, or it is finished.
    """
    if (folder / "run.json").exists():
        left = [Recording.load(folder)]
        what = left[0].suite
    else:
        left = [Recording.load(folder / name) for name in suites.catalogue() if (folder / name / "run.json").exists()]
        if not left:
            raise RecordingError(f"{folder} holds no run", "give the folder that the interrupted run named")
        what = ALL
    last = left[-1]
    whole = what != ALL or len(left) == len(suites.catalogue())
    if whole and not last.interrupted and not any(recording.error for recording in left):
        raise RecordingError(f"the run in {folder} is finished", "pslc analyze shows it")
    first = left[0]
    if first.suite not in suites.names():
        what = "a trace" if "trace" in first.facts else "a job file"
        raise JobError(f"{first.suite} is {what}", "only suites go on where they were; run it again")
    if not first.is_simulated and not Path(first.target).is_block_device() and real.size is None:
        real = replace(real, size=first.capacity_bytes)
    return Order(what, first.target, first.seed, first.overrides, Scope.of(first.scope), real, done=left)
