"""A run: a suite, job files or a trace on a drive, step by step, and its recording."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Unpack

from pslc import suites
from pslc._native import RealDrive, SimDrive, engine_ceiling
from pslc.base import words
from pslc.base.errors import JobError, PslcError
from pslc.device import cache_switch, condition, ends, probe
from pslc.device.cache_report import free_tenths
from pslc.device.computers import with_computer
from pslc.device.kernel_log import KernelLog
from pslc.device.region import Region, Scope, preparation
from pslc.device.sensors import TEMPERATURE, Sensor
from pslc.device.target import Target, find_target, is_drive
from pslc.recording import stalls
from pslc.recording.model import Recording, join
from pslc.runner.callbacks import DeclinedError, SilenceNotice
from pslc.runner.job_logs import JobLogs
from pslc.runner.options import RunKeywords, RunOptions
from pslc.runner.plan import Plan, plan
from pslc.runner.step_runner import StepRunner, engine_of
from pslc.runner.subject import JobFile, Suite, Trace, resolve
from pslc.schema.facts import CACHE_FREE_TENTHS
from pslc.schema.results import StepProgress
from pslc.schema.warnings import MeasurementWarning


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C during `run`, after the recording was kept: a loop over drives ends too.

    Attributes:
        recording: what was measured until then, with its findings.
    """

    def __init__(self, recording: Recording) -> None:
        super().__init__(f"the run on {recording.drive} was interrupted")
        self.recording = recording


def run(subject: str | Path, *, on: str, computer: str | None = None, **options: Unpack[RunKeywords]) -> Recording:
    """Run a suite, fio job files or a trace on a drive, and analyze the recording.

    Args:
        subject: a suite (`"fill"`), an fio job file (`"my.fio"`) or a trace (`"work.trace"`).
        on: the drive: `sim:NAME[,key=value...]`, a file, a block device.
        computer: around a simulated drive: `i5-8400`, `none` (default: as the target says, else as the suite assumes).
        **options: fields of `pslc.runner.options.RunOptions`, each optional: `seed`, `options` (fio options),
            `scope` (`pslc.Scope`), `real` (consent to write to a real drive), `replay` (how a trace is replayed),
            `progress` (called ten times a second), `policy` (`pslc.Policy`) and so on.

    Returns:
        The recording with its findings. One that `progress` ended by returning False has `interrupted`, one that failed
        halfway has `error`.

    Raises:
        RunInterrupted: Ctrl-C; it has the recording.
        PslcError: the drive, the suite, the job file, the trace or an option cannot be used.
        TypeError: an option has another name.
    """
    asked = options.get("progress") or SilenceNotice()
    answers = [True]

    def progress(state: StepProgress) -> bool:
        answers[0] = asked(state)
        return answers[0]

    options["progress"] = progress
    recording = run_with(subject, with_computer(on, computer), RunOptions(**options))
    if recording.interrupted and answers[0]:
        raise RunInterrupted(recording)
    return recording


def run_with(subject: str | Path | Suite | JobFile | Trace, on: str, options: RunOptions) -> Recording:
    """Run `subject` on the drive `on`, see `run`."""
    resolved = resolve(subject, on, options) if isinstance(subject, str | Path) else subject
    if isinstance(resolved, Trace):
        from pslc.runner.replay import replay

        return _analyze(replay(resolved, on, options))
    is_real = not on.startswith("sim:") and not is_drive(Path(on))
    if isinstance(resolved, Suite) and suites.reads_back(resolved.name) and is_real:
        from pslc.runner.read_back import read_back

        return _analyze(read_back(resolved, on, options))
    return run_on(options.governed(find_target(on, options.real, resolved.computer)), resolved, options)


def run_on(target: Target, subject: Suite | JobFile, options: RunOptions) -> Recording:
    """Run a suite or job files on a drive that was found."""
    job_logs = options.logs or JobLogs()
    job_logs.named |= {name for name, _ in options.options}
    with _released(target):
        recording = _run_jobs(target, subject, options, job_logs)
    if options.logs is None:
        job_logs.write_or_warn()
    return recording


def _analyze(recording: Recording) -> Recording:
    """The recording with its findings."""
    from pslc.runner.load import analysed

    return analysed(recording)


def _run_jobs(target: Target, subject: Suite | JobFile, options: RunOptions, job_logs: JobLogs) -> Recording:
    """Plan, ask, then run the steps. Nothing is written before consent."""
    region, prepares, steps, planned = planned_run(target, subject, options.scope or Scope())
    files = [text for text in (prepares, *steps) if text]
    outputs = job_logs.begin(files, subject.overrides, target.spec)
    planned = replace(planned, sentences=[*planned.sentences, *_switch(target, subject, options), *outputs])
    target = _agreed(target, planned, outputs, options)
    # These take longer to import than most drives to fill, and the simulation leaves the interpreter alone.
    imports = Thread(target=_import_ahead, daemon=True)
    imports.start()
    drive = target.open()
    if isinstance(drive, SimDrive):
        drive.check_save()
    runner = StepRunner(target, drive, subject, options, job_logs)
    finished = _finished_steps(target, options)
    unwritten_bytes = 0
    with _switched(runner), _surroundings(runner):
        if prepares and not finished and not runner.prepare(prepares):
            raise KeyboardInterrupt
        if isinstance(subject, JobFile):
            unwritten_bytes = runner.lay_out(subject.text)
        recording = join(list(runner.walk(subject.steps(region), finished, log=len(steps) > 1)))
        if target.is_real:
            recording.facts.update(stalls.joined([recording.facts, runner.outages]))
    if target.is_real and recording.error:
        recording = _with_fault(recording)
    if isinstance(runner.drive, SimDrive) and target.stays:
        recording = _saved(runner.drive, recording)
    imports.join()
    recording = _analyze(recording)
    if unwritten_bytes:
        text = f"{words.size(unwritten_bytes)} of what was read had never been written, and took no flash"
        warning = MeasurementWarning("not-laid-out", f"{text}: leave --no-layout out")
        recording.findings.warnings = (warning, *recording.findings.warnings)
    return recording


def planned_run(target: Target, subject: Suite | JobFile, scope: Scope) -> tuple[Region | None, str, list[str], Plan]:
    """The region of a run, its preparation, the job files that are expected, and the plan of them all.

    Raises:
        PslcError: the drive cannot be used so, or has no SLC buffer that could be switched for the subject.
    """
    if subject.switches and target.is_real:
        cache_switch.check(probe.reporting(target.facts))
    if subject.switches and "array" in target.facts:
        raise JobError(
            f"{subject.source} switches the SLC buffer, and an array has none", "run it on a member: sim:NAME"
        )
    region = subject.region(target, scope)
    prepares = preparation(region, scope) if region else ""
    steps = subject.expected_steps(region)
    files = [text for text in (prepares, *steps) if text]
    return region, prepares, steps, plan(target, files, subject.source, list(subject.overrides), subject.lays_out)


def _agreed(target: Target, planned: Plan, outputs: list[str], options: RunOptions) -> Target:
    """The target after consent to the plan, where the plan needs consent.

    Raises:
        DeclinedError: there was none.
    """
    if not (target.is_real or planned.takes_days):
        if options.log is not None:
            for sentence in outputs:
                options.log(f"plan: {sentence}")
        return target
    if options.confirm is None:
        return target
    if not options.confirm(planned):
        raise DeclinedError
    return target.agreed()


def _finished_steps(target: Target, options: RunOptions) -> list[Recording]:
    """The steps of an interrupted run whose data are still where they were written."""
    stays_written = target.kind == "device" or (options.real is not None and options.real.takes_existing)
    if options.interrupted is None or not stays_written:
        return []
    return [part for part in options.interrupted.parts if not part.interrupted and not part.error]


def _with_fault(recording: Recording) -> Recording:
    """A recording that ended early, with the fault of its drive if that shows one: requests fail in many ways then."""
    if fault := condition.fault(recording.facts):
        return replace(recording, error=f"{fault.sentence}; {recording.error}", error_code=fault.code)
    return recording


def _saved(drive: SimDrive, recording: Recording) -> Recording:
    """Save the drive to its file as the run left it. If that fails, the recording has the error."""
    try:
        drive.save()
    except PslcError as error:
        return recording if recording.error else replace(recording, error=error.message, error_code=error.code)
    return recording


def _switch(target: Target, subject: Suite | JobFile, options: RunOptions) -> list[str]:
    """Sentence of the plan on the switch of the SLC buffer.

    Raises:
        JobError: the subject switches it, and so does an option.
    """
    setting = options.real.cache if options.real is not None else None
    if subject.switches and setting is not None:
        raise JobError(f"{subject.source} switches the SLC buffer itself", "leave --buffer out")
    if subject.switches and target.is_real:
        return ["switches the SLC buffer of the drive, and back at the end"]
    return [f"sets the SLC buffer of the drive to {setting}, and back at the end"] if setting is not None else []


def _switched(runner: StepRunner) -> AbstractContextManager[None]:
    """Switch the SLC buffer of a real drive, where that is asked for, as long as it runs."""
    real = runner.options.real
    return nullcontext() if real is None or real.cache is None else runner.switched(real.cache)


@contextmanager
def _surroundings(runner: StepRunner) -> Iterator[None]:
    """Record facts about the machine around a real drive: before, during and after the run."""
    drive, facts = runner.drive, runner.common["facts"]
    if not isinstance(drive, RealDrive):
        yield
        return
    facts["before"], facts["engine_ceiling_iops"] = probe.moment(facts), engine_ceiling()
    counters, log = probe.Counters(facts), KernelLog(facts)
    names, place = probe.drives(facts), _file_number(runner.target.spec)
    if runner.subject.asks_temperature:
        runner.sensors += Sensor.of(TEMPERATURE, partial(probe.hottest_millicelsius, names))
    if (disk := probe.reporting(facts)) is not None:
        runner.sensors += Sensor.of(CACHE_FREE_TENTHS, partial(free_tenths, disk), held=True)
    yield
    facts.update(counters.so_far())
    facts["kernel"] = log.close()
    if (real := runner.options.real) is not None and real.ends is not None and runner.target.kind == "device":
        ends.note_after(drive, real.ends)
    facts["after"] = probe.moment(facts)
    facts.update(engine_of(drive))
    if place is not None and place != _file_number(runner.target.spec):
        note = f"{runner.target.spec} was removed or replaced during the run; the figures are of the file that it was"
        facts["notes"] = [*facts.get("notes", []), note]


def _file_number(spec: str) -> tuple[int, int] | None:
    """Device and number of the file at a path; None where there is none."""
    with suppress(OSError):
        about = os.stat(spec)
        return about.st_dev, about.st_ino
    return None


@contextmanager
def _released(target: Target) -> Iterator[None]:
    """Close a drive in a file however the run ends, so that other commands can use it."""
    try:
        yield
    finally:
        drive = target.open() if target.stays else None
        if isinstance(drive, SimDrive):
            drive.close()


def _import_ahead() -> None:

    from pslc.runner import load  # noqa: F401
