"""A campaign is several runs: a suite repeated, the whole catalogue, or the rest of an interrupted one. On disk:

a suite            its recording in the folder
a suite repeated   the first in the folder, the others in repeat-2, repeat-3 and so on
all                each suite in a folder of its name, and one report.html above them
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import count as count_from
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pslc import suites
from pslc.base.errors import JobError, PslcError, RecordingError
from pslc.device.names import is_device
from pslc.device.region import Scope, find_region
from pslc.device.sensors import Meter
from pslc.device.target import RealOptions, find_target
from pslc.recording import store
from pslc.recording.model import Recording
from pslc.runner.callbacks import Confirm, DeclinedError
from pslc.runner.job_logs import JobLogs
from pslc.runner.load import analysed
from pslc.runner.options import RunOptions
from pslc.runner.plan import expected, plan
from pslc.runner.run import planned_run, run_with
from pslc.runner.subject import Trace, resolve
from pslc.schema.results import Repeats
from pslc.schema.warnings import MeasurementWarning

if TYPE_CHECKING:
    from pslc.runner import parallel

ALL = "all"
"""Subject that stands for the whole catalogue of suites."""


@dataclass(frozen=True)
class CampaignSpec:
    """Subject, target and options of a campaign: one run, its repeats, or the whole catalogue of suites.

    Attributes:
        subject: a suite, a job file, a trace, or `ALL` for the catalogue.
        on: the target.
        options: of each run.
        repeat: number of runs, each with the next seed; of the catalogue one.
        meter: log of a power meter at a real drive.
        interrupted: recordings of the same campaign, the last of them perhaps unfinished.
    """

    subject: str
    on: str
    options: RunOptions = RunOptions()  # noqa: RUF009 - it is frozen
    repeat: int = 1
    meter: Path | None = None
    interrupted: Sequence[Recording] = ()

    @property
    def is_catalogue(self) -> bool:
        """Whether all suites are run."""
        return self.subject == ALL

    @property
    def runs(self) -> list[tuple[str, int]]:
        """Subject and seed of each run."""
        seed = self.options.seed
        if self.is_catalogue:
            return [(name, seed) for name in suites.catalogue()]
        return [(self.subject, (seed + number) % 2**64) for number in range(self.repeat)]

    def interrupted_run(self, number: int) -> Recording | None:
        """The recording that an interruption left of a run."""
        if self.is_catalogue:
            name = self.runs[number][0]
            return next((recording for recording in self.interrupted if recording.suite == name), None)
        return self.interrupted[number] if number < len(self.interrupted) else None

    @property
    def missing_runs(self) -> list[tuple[str, int, Recording | None]]:
        """Subject and seed of each run that is not whole, and the recording that an interruption left of it."""
        runs = [(*run, self.interrupted_run(number)) for number, run in enumerate(self.runs)]
        return [run for run in runs if run[2] is None or _is_partial(run[2])]

    def announce(self, number: int, subject: str) -> None:
        """Log the beginning of a run, from 1, if it is one of several."""
        if self.options.log is not None and len(self.runs) > 1:
            self.options.log(f"{number} of {len(self.runs)}: {subject}")


OnCheckpoint = Callable[[list[Recording]], None]
"""Callback that takes the recordings so far every few seconds."""
OnFailure = Callable[[str, Exception], None]
"""Callback that takes each suite of the catalogue that failed, and its error; the other suites run all the same."""


def run(
    spec: CampaignSpec, *, on_checkpoint: OnCheckpoint | None = None, on_failure: OnFailure | None = None
) -> list[Recording]:
    """Run a campaign. It ends with a run that was interrupted, or that failed if it is not one of the catalogue.

    Args:
        spec: the campaign; its `options.log` is called with a line for each run of several.
        on_checkpoint: see `OnCheckpoint`.
        on_failure: see `OnFailure`. Without it the error of a suite is raised.

    Raises:
        PslcError: the target, a suite or the job file cannot be used.
        DeclinedError: `confirm` returned False.
    """
    if spec.is_catalogue and spec.options.confirm is not None:
        spec = replace(spec, options=replace(spec.options, confirm=_confirm_all(spec, spec.options.confirm)))
    recordings = _run_in_workers(spec, on_checkpoint, on_failure)
    if recordings is None:
        recordings = _run_in_turn(spec, on_checkpoint, on_failure)
    if spec.repeat > 1 and recordings:
        recordings[0].findings["repeats"] = spread(recordings)
    return recordings


def _run_in_turn(
    spec: CampaignSpec, on_checkpoint: OnCheckpoint | None, on_failure: OnFailure | None
) -> list[Recording]:
    """Run one after the other."""
    recordings: list[Recording] = []
    consented = False
    for number, (subject, seed) in enumerate(spec.runs):
        interrupted = spec.interrupted_run(number)
        if interrupted is not None and not _is_partial(interrupted):
            recordings.append(interrupted)
            consented = True
            continue
        spec.announce(number + 1, subject)
        options = replace(
            spec.options,
            seed=seed,
            interrupted=interrupted,
            # Each run begins with it as it was given.
            policy=deepcopy(spec.options.policy),
            victim_rule=deepcopy(spec.options.victim_rule),
            # The first run that gets so far asks for all.
            confirm=None if consented else spec.options.confirm,
            on_checkpoint=(lambda so_far: on_checkpoint([*recordings, so_far])) if on_checkpoint else None,
        )
        try:
            recording = run_with(subject, spec.on, options)
        except DeclinedError:
            raise
        except Exception as error:
            # One answer of the catalogue is missing, the others are not.
            if not spec.is_catalogue or on_failure is None:
                raise
            on_failure(subject, error)
            continue
        consented = True
        recordings.append(_metered_if_possible(recording, spec.meter) if spec.meter else recording)
        if recording.interrupted or (recording.error and not spec.is_catalogue):
            break
    return recordings


def _is_partial(recording: Recording) -> bool:
    return recording.interrupted or bool(recording.error)


def _run_in_workers(
    spec: CampaignSpec, on_checkpoint: OnCheckpoint | None, on_failure: OnFailure | None
) -> list[Recording] | None:
    """Run in processes of their own: the suites of a simulated drive on several cores, and all that a policy from a
    file governs, which may do anything to its process. None: run them in this one, in turn."""
    is_governed = spec.options.is_governed_by_file
    is_parallel = spec.is_catalogue and not spec.options.is_governed
    if not spec.on.startswith("sim:") or not (is_governed or is_parallel):
        return None
    # A run of one suite need not wait for it to be imported.
    from pslc.runner import parallel

    logs = spec.options.logs or JobLogs()
    missing = [_task(spec, logs, *run) for run in spec.missing_runs]
    tasks, count = parallel.workers(missing) if spec.is_catalogue else (missing, 1)
    if count == 1 and not is_governed:
        return None
    _confirm_days(tasks, spec.options.confirm if is_governed else None)
    recordings = _collect(spec, tasks, count, on_checkpoint, on_failure)
    # Of logs of one name the last counts, as if the suites had run one after the other.
    for task in missing:
        logs.take(task.logs)
    if spec.options.logs is None:
        logs.write_or_warn()
    return _in_order(recordings) if spec.is_catalogue else recordings


def _in_order(recordings: list[Recording]) -> list[Recording]:
    """Recordings of suites in the order of the catalogue, those that were interrupted last."""
    names = list(suites.catalogue())
    return sorted(recordings, key=lambda recording: (recording.interrupted, names.index(recording.suite)))


def _collect(
    spec: CampaignSpec,
    tasks: Sequence[parallel.Task],
    count: int,
    on_checkpoint: OnCheckpoint | None,
    on_failure: OnFailure | None,
) -> list[Recording]:
    """Run tasks in `count` workers; their recordings, and those that were there before, as they came.

    Raises:
        KeyboardInterrupt: it was interrupted before there was one.
    """
    from pslc.runner import parallel

    recordings = [recording for recording in spec.interrupted if not _is_partial(recording)]
    numbers, has_failed = count_from(len(recordings) + 1), False
    save = on_checkpoint or (lambda _: None)
    options = replace(spec.options, on_checkpoint=(lambda so_far: save([*recordings, so_far])) if count == 1 else None)
    with closing(parallel.results(tasks, count, options, lambda name: spec.announce(next(numbers), name))) as results:
        for task, result in results:
            if isinstance(result, Exception):
                if on_failure is None or not spec.is_catalogue:
                    raise result
                on_failure(task.name, result)
                has_failed = True
                continue
            recordings.append(result)
            save(recordings)
            if result.error and not spec.is_catalogue:
                break
    if not recordings and not has_failed:
        raise KeyboardInterrupt
    return recordings


def _task(spec: CampaignSpec, logs: JobLogs, subject: str, seed: int, interrupted: Recording | None) -> parallel.Task:
    """A run of a campaign without its callbacks, for a process of its own."""
    from pslc.runner import parallel

    options = replace(
        spec.options, seed=seed, interrupted=interrupted, logs=logs.beside(), progress=None, confirm=None, log=None,
        on_checkpoint=None,
    )  # fmt: skip
    # What is read is read here: a worker has no stdin.
    return parallel.Task(subject if spec.is_catalogue else resolve(subject, spec.on, options), spec.on, options)


def _confirm_days(tasks: Sequence[parallel.Task], confirm: Confirm | None) -> None:
    """Ask about runs that take days, before they begin where nobody could ask.

    Raises:
        DeclinedError: there was no consent.
    """
    for task in tasks if confirm is not None else ():
        subject = resolve(task.subject, task.on, task.options) if isinstance(task.subject, str) else task.subject
        if isinstance(subject, Trace):
            continue
        *_, planned = planned_run(find_target(task.on, None, subject.computer), subject, task.options.scope or Scope())
        if planned.takes_days and confirm is not None and not confirm(planned):
            raise DeclinedError


def metered(recording: Recording, log: Path) -> Recording:
    """A recording of a real drive with the energy from the log of a power meter, analyzed with it.

    Raises:
        PslcError: the drive is simulated, or the log cannot be read or is not of the time of the run.
    """
    if recording.is_simulated:
        raise JobError("a simulated drive measures its own power", "--meter is for real drives")
    return analysed(Meter.read(log).on(recording))


def _metered_if_possible(recording: Recording, log: Path) -> Recording:
    """The recording with the log of its meter, or with a warning: a run is not lost for a bad log."""
    try:
        return metered(recording, log)
    except PslcError as error:
        warning = MeasurementWarning(
            "meter", f"{error.message}: correct the log, then pslc analyze RUN --meter LOG.csv"
        )
        recording.findings.warnings = (*recording.findings.warnings, warning)
        return recording


def _confirm_all(spec: CampaignSpec, confirm: Confirm) -> Confirm:
    """Ask about the whole catalogue. The function returned agrees to the file of that plan, and to no other."""
    target, scope = find_target(spec.on, spec.options.real), spec.options.scope or Scope()
    if not target.is_real:
        return confirm
    region = find_region(target, scope)
    steps = [text for name in suites.catalogue() for text in expected(name, region, scope)]
    if not confirm(plan(target, steps, "all.fio", list(spec.options.options))):
        raise DeclinedError
    return lambda first: first.overwrites == target.foreign


def spread(recordings: Sequence[Recording]) -> Repeats:
    """`n`, and of each finding that is one number its spread over the runs that have it."""
    repeats: Repeats = {"n": len(recordings)}
    for name in recordings[0].findings:
        findings = [recording.findings.get(name) for recording in recordings]
        values = [float(value) for value in findings if isinstance(value, int | float) and not isinstance(value, bool)]
        if values:
            sample = np.array(values)
            repeats[name] = {
                "mean": float(sample.mean()),
                "min": float(sample.min()),
                "max": float(sample.max()),
                "stddev": float(sample.std(ddof=1)) if len(sample) > 1 else 0.0,
            }
    return repeats


def folders(spec: CampaignSpec, recordings: Sequence[Recording], folder: Path) -> list[Path]:
    """The folder of each recording of a campaign."""
    if spec.is_catalogue:
        return [folder / recording.suite for recording in recordings]
    return [folder if number == 1 else folder / f"repeat-{number}" for number in range(1, len(recordings) + 1)]


def unfinished(folder: Path, real: RealOptions) -> CampaignSpec:
    """Build the campaign that resumes the interrupted run in `folder`.

    Raises:
        PslcError: there is no such run, it is finished, or it cannot be resumed.
    """
    subject, recordings = _saved(folder)
    is_whole = subject != ALL or len(recordings) == len(suites.catalogue())
    if is_whole and not recordings[-1].interrupted and not any(recording.error for recording in recordings):
        raise RecordingError(f"the run in {folder} is finished", f"pslc analyze {folder} shows it")
    first = recordings[0]
    _refuse_unresumable(first, folder)
    if not first.is_simulated and not is_device(Path(first.target)) and real.size is None:
        real = replace(real, size=first.capacity_bytes)
    options = RunOptions(seed=first.seed, options=first.overrides, scope=Scope.of(first.scope), real=real)
    return CampaignSpec(subject, first.target, options, interrupted=recordings)


def _saved(folder: Path) -> tuple[str, list[Recording]]:
    """Subject of the campaign that was saved in `folder`, and its recordings, whole or not.

    Raises:
        PslcError: there is none, or it cannot be read.
    """
    if (folder / "run.json").exists():
        recording = store.load(folder)
        return recording.suite, [recording]
    names = [name for name in suites.catalogue() if (folder / name / "run.json").exists()]
    if not names:
        raise RecordingError(f"{folder} holds no run", "give the folder that the interrupted run named")
    return ALL, [store.load(folder / name) for name in names]


def _refuse_unresumable(recording: Recording, folder: Path) -> None:
    """Refuse to resume what is not made of steps that a recording tells.

    Raises:
        JobError: it is of a job file or of a trace, or a policy in Python governed its drive.
    """
    if recording.suite not in suites.names():
        kind = "a trace" if "trace" in recording.facts else "a job file"
        raise JobError(f"{recording.suite} is {kind}, and cannot be resumed", "only suites can; run it again")
    if "policy" in recording.facts or "victim_rule" in recording.facts:
        raise JobError(f"the run in {folder} had a policy in Python, and cannot be resumed", "run it again")
