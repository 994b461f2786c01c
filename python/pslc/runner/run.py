"""A run: a suite, job files or a trace on a drive, step by step, and its recording."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Unpack

from pslc._native import RealDrive, SimDrive, engine_ceiling
from pslc.base import words
from pslc.base.errors import PslcError
from pslc.device import probe
from pslc.device.policy import governed
from pslc.device.region import Scope, preparation
from pslc.device.sensors import Thermometer
from pslc.device.target import Target, find_target
from pslc.recording.store import Recording, join
from pslc.runner.callbacks import DeclinedError
from pslc.runner.job_logs import JobLogs
from pslc.runner.options import RunKeywords, RunOptions
from pslc.runner.plan import Plan, plan
from pslc.runner.step_runner import StepRunner
from pslc.runner.subject import JobFile, Suite, Trace, resolve
from pslc.schema.warnings import MeasurementWarning


def run(subject: str | Path, *, on: str, **options: Unpack[RunKeywords]) -> Recording:
    """Run a suite, fio job files or a trace on a drive, and analyze the recording.

    Args:
        subject: a suite (`"fill"`), an fio job file (`"my.fio"`) or a trace (`"work.trace"`).
        on: the drive: `sim:NAME[,key=value...]`, a file, a block device.
        **options: fields of `pslc.runner.options.RunOptions`, each optional: `seed`, `options` (fio options),
            `scope` (`pslc.Scope`), `real` (consent to write to a real drive), `replay` (how a trace is replayed),
            `progress` (called ten times a second), `policy` (`pslc.Policy`) and so on.

    Returns:
        The recording with its findings. A run that was interrupted or that failed halfway has `interrupted` or `error`.

    Raises:
        PslcError: the drive, the suite, the job file or the trace cannot be used.
        DeclinedError: `confirm` returned False.
        TypeError: an option has another name.
    """
    return run_with(subject, on, RunOptions(**options))


def run_with(subject: str | Path, on: str, options: RunOptions) -> Recording:
    """Run `subject` on the drive `on`, see `run`."""
    job_logs = options.logs or JobLogs()
    job_logs.named |= {name for name, _ in options.options}
    resolved = resolve(subject, on, options)
    if isinstance(resolved, Trace):
        from pslc.runner.replay import replay

        return _analyze(replay(resolved, on, options))
    target = governed(find_target(on, options.real, resolved.host), options.policy, options.victim_rule)
    with _released(target):
        recording = _run_jobs(target, resolved, options, job_logs)
    if options.logs is None:
        job_logs.write_or_warn()
    return recording


def _analyze(recording: Recording) -> Recording:
    """The recording with its findings."""
    from pslc.runner.load import analysed

    return analysed(recording)


def _run_jobs(target: Target, subject: Suite | JobFile, options: RunOptions, job_logs: JobLogs) -> Recording:
    """Plan, ask, then run the steps. Nothing is written before consent."""
    scope = options.scope or Scope()
    region = subject.region(target, scope)
    prepares = preparation(region, scope) if region else ""
    steps = subject.expected_steps(region)
    files = [text for text in (prepares, *steps) if text]
    planned = plan(target, files, subject.source, list(subject.overrides), subject.lays_out)
    outputs = job_logs.begin(files, subject.overrides, target.spec)
    planned = replace(planned, sentences=[*planned.sentences, *outputs])
    target = _agreed(target, planned, outputs, options)
    # These take longer to import than most drives to fill, and the simulation leaves the interpreter alone.
    imports = Thread(target=_import_ahead, daemon=True)
    imports.start()
    runner = StepRunner(target, target.open(), subject, options, job_logs)
    finished = _finished_steps(target, options)
    unwritten_bytes = 0
    with _surroundings(runner):
        if prepares and not finished and not runner.prepare(prepares):
            raise KeyboardInterrupt
        if isinstance(subject, JobFile):
            unwritten_bytes = runner.lay_out(subject.text)
        recording = join(list(runner.walk(subject.steps(region), finished, log=len(steps) > 1)))
    if isinstance(runner.drive, SimDrive) and target.stays:
        recording = _saved(runner.drive, recording)
    imports.join()
    recording = _analyze(recording)
    if unwritten_bytes:
        text = f"{words.size(unwritten_bytes)} of what was read had never been written, and took no flash"
        warning = MeasurementWarning("not-laid-out", f"{text}: leave --no-layout out")
        recording.findings.doubts = (warning, *recording.findings.doubts)
    return recording


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
    stays_written = target.kind == "device" or (options.real is not None and options.real.reuse)
    if options.interrupted is None or not stays_written:
        return []
    return [part for part in options.interrupted.parts if not part.interrupted and not part.error]


def _saved(drive: SimDrive, recording: Recording) -> Recording:
    """Save the drive to its file as the run left it. If that fails, the recording has the error."""
    try:
        drive.save()
    except PslcError as error:
        return recording if recording.error else replace(recording, error=error.message, error_code=error.code)
    return recording


@contextmanager
def _surroundings(runner: StepRunner) -> Iterator[None]:
    """Record facts about the machine around a real drive: before, during and after the run."""
    drive, facts = runner.drive, runner.common["facts"]
    if not isinstance(drive, RealDrive):
        yield
        return
    facts["before"], facts["engine_ceiling_iops"] = probe.moment(facts), engine_ceiling()
    counters = probe.Counters(facts)
    if runner.subject.asks_temperature and facts["device"]:
        runner.thermometer = Thermometer.of(partial(probe.temperature, facts["device"]["name"]))
    yield
    if counts := counters.so_far():
        facts["disk_counts"] = counts
    facts["after"], facts["engine"] = probe.moment(facts), drive.engine


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
    for module in ("arro3.io", "pslc.runner.load"):
        import_module(module)
