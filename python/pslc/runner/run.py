"""A run: a suite or a job file on a target, step by step, and the recording that comes of it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Thread
from time import monotonic, time_ns

import numpy as np

from pslc import suites
from pslc._native import RealDrive, SimDrive, engine_ceiling
from pslc.base import words
from pslc.base.errors import JobError, PslcError
from pslc.device import hosts, probe
from pslc.device.region import Scope, find_region, preparation
from pslc.device.sensors import Thermometer
from pslc.device.target import RealOptions, Target, find_target
from pslc.recording.store import Columns, Common, Recording, join
from pslc.runner import job_file
from pslc.runner.callbacks import Confirm, Keep, Progress
from pslc.runner.job_logs import JobLogs
from pslc.runner.plan import plan
from pslc.runner.precondition_cache import Given, Prepared, leaves_nothing_to_chance
from pslc.schema.results import Progress as Now
from pslc.schema.results import Result
from pslc.schema.warnings import MeasurementWarning
from pslc.traces import Replay, is_trace

ONLY_JOB_FILES = "several files and --section are for job files"

KEEP_EVERY_S = 5.0
MOST_DEPTH = 65536
"""Requests of a trace that can be under way."""


def run(  # noqa: C901, PLR0913 public: keywords as the options of pslc run
    what: str | Path,
    *,
    on: str,
    seed: int = 0,
    options: Sequence[tuple[str, str]] = (),
    scope: Scope | None = None,
    real: RealOptions | None = None,
    how: Replay | None = None,
    progress: Progress | None = None,
    confirm: Confirm | None = None,
    keep: Keep | None = None,
    done: Recording | None = None,
    tell: Callable[[str], None] | None = None,
    more: Sequence[str | Path] = (),
    sections: Sequence[str] = (),
    layout: bool = True,
    prepared: Prepared | None = None,
    logs: JobLogs | None = None,
) -> Recording:
    """Run a suite (`"fill"`), an fio job file (`"my.fio"`) or a trace (`"work.trace"`, or the suite `"trace"` with
    `more=["work.trace"]`) on a target and analyse what it did.

    Args:
        on: the target: `sim:NAME[,key=value...]`, a file, a block device.
        seed: of every random choice; the same seed gives the same requests.
        options: fio options, which win over those of every job.
        scope: which part of the drive, how thoroughly, after which preparation; of suites only.
        real: what must be said before anything is written to a real drive.
        how: how a trace is replayed.
        progress: see `Progress`.
        confirm: see `Confirm`.
        keep: see `Keep`.
        done: a run of the same that was interrupted; its finished steps are not repeated where their data are still
            there. A simulated drive and a new scratch file have to come to be as they were first.
        tell: called with a line for each step of several.
        more: job files that run after the first.
        sections: the only ones of a job file to run; none: all.
        layout: what a job file reads and does not write is written first on a simulated drive, as fio lays out files.
        prepared: drives of runs before this one, to begin with where it begins as they did.
        logs: takes the logs that jobs ask for, for who calls to write them; without it they are written at the end,
            with a warning for each that could not be.

    Raises:
        PslcError: the target, the suite or the job file cannot be used.
        DeclinedError: `confirm` returned False.
    """
    if str(what) in suites.OF_FILES:
        if not more:
            raise JobError(f"the suite {what} is of a file", f"give it: pslc run {what} work.trace --on {on}")
        what, *more = more
    job_logs = logs or JobLogs()
    job_logs.named |= {name for name, _ in options}
    suite = str(what) if str(what) in suites.names() else None
    scope = scope or Scope()
    if suite is None and scope != Scope(fill_first=scope.fill_first, idle_s=scope.idle_s):
        raise JobError(f"{what} is a job file", "--quick and --region are for suites")
    if suite and (more or sections):
        raise JobError(f"{what} is a suite, and takes no {[*more, *sections][0]}", ONLY_JOB_FILES)
    alone = scope == Scope()
    if suite is None and is_trace(Path(what), (how or Replay()).part):
        _first_is_for_jobs(what, alone)
        if more or sections:
            raise JobError(f"{what} is a trace, and takes no {[*more, *sections][0]}", ONLY_JOB_FILES)
        return _replayed(Path(what), on, how or Replay(), options, progress, keep, real, confirm)
    if what == job_file.COMMAND_LINE:
        text: str | None = job_file.of_command_line(options, more, sections)
        options = ()
    else:
        options = job_file.with_patterns(options)
        text = None if suite else job_file.read([what, *more], sections)
    if text is not None and (trace := job_file.replayed(text, options, how or Replay())) is not None:
        _first_is_for_jobs(what, alone)
        return _replayed(trace[0], on, trace[1], (), progress, keep, real, confirm)
    if how is not None and how != Replay():
        raise JobError(f"{what} is no trace", "--pace, --speed, --fit and the like are for traces")
    target = find_target(on, real, hosts.DESKTOP if suite and suites.on_a_desktop(suite) else ())
    with _held(target):
        if target.is_real and not suite and not alone:
            hint = "let its first job write: rw=write, size=50%"
            raise JobError(f"--fill-first and --idle of a job file are for simulated drives, not for {on}", hint)
        # A suite works behind what is filled first, a job file where it says.
        region = find_region(target, scope if suite else Scope()) if suite or not alone else None
        before = preparation(region, scope) if region else ""
        expected = suites.expected(suite, region) if suite and region else [str(text)]
        source = f"{suite}.fio" if suite else job_file.SOURCES.get(str(what), str(what))
        made = plan(target, [before, *expected] if before else expected, source, list(options), layout and not suite)
        outputs = job_logs.begin([before, *expected], options, target.spec)
        made = replace(made, sentences=[*made.sentences, *outputs])
        if tell is not None and not (target.is_real or made.takes_days):
            for sentence in outputs:
                tell(f"plan: {sentence}")
        if confirm is not None and (target.is_real or made.takes_days):
            if not confirm(made):
                raise DeclinedError
            target = target.agreed()
        # These take longer to import than most drives to fill, and the simulation leaves the interpreter alone.
        imports = Thread(target=_import_ahead, daemon=True)
        imports.start()
        bench = _Bench(target, target.open(), source, list(options), seed, progress, keep, prepared, job_logs)
        bench.common["suite"] = suite or source
        bench.common["scope"] = scope.document() if suite or not alone else {}
        kept = _finished(done, target, real)
        with _watched(bench, suite):
            if before and not kept and not bench.prepare(before):
                raise KeyboardInterrupt
            unread = 0 if suite else bench.before(str(text), layout)
            steps = suites.load(suite).steps(region) if suite and region else _one(str(text))
            recording = join(list(_walk(bench, steps, kept, tell if len(expected) > 1 else None)))
        if isinstance(bench.drive, SimDrive) and target.stays:
            recording = _left(bench.drive, recording)
        imports.join()
        from pslc.runner.load import analysed

        recording = analysed(recording)
        if unread:
            never = f"{words.size(unread)} of what was read had never been written, and took no flash"
            doubt = MeasurementWarning("not-laid-out", f"{never}: leave --no-layout out")
            recording.findings.doubts = (doubt, *recording.findings.doubts)
        if logs is None:
            job_logs.write_or_warn()
        return recording


def _first_is_for_jobs(what: str | Path, alone: bool) -> None:
    if not alone:
        hint = "--fill-first and --idle are for suites and job files; a trace has --prefill"
        raise JobError(f"{what} is a trace", hint)


def _left(drive: SimDrive, recording: Recording) -> Recording:
    """Put the drive back into its file as the run left it. Where that fails the recording says so."""
    try:
        drive.save()
    except PslcError as error:
        return replace(recording, error=recording.error or error.message)
    return recording


@contextmanager
def _watched(bench: _Bench, suite: str | None) -> Iterator[None]:
    """What goes on in the machine around a real drive goes into the facts: before, meanwhile and after."""
    drive, facts = bench.drive, bench.common["facts"]
    if not isinstance(drive, RealDrive):
        yield
        return
    facts["before"], facts["engine_ceiling_iops"] = probe.moment(facts), engine_ceiling()
    counters = probe.Counters(facts)
    if suite and suites.asks_temperature(suite) and facts["device"]:
        bench.thermometer = Thermometer.of(partial(probe.temperature, facts["device"]["name"]))
    yield
    if counts := counters.so_far():
        facts["disk_counts"] = counts
    facts["after"], facts["engine"] = probe.moment(facts), drive.engine


@contextmanager
def _held(target: Target) -> Iterator[None]:
    """However the run ends, a drive that stays is let go."""
    try:
        yield
    finally:
        drive = target.open() if target.stays else None
        if isinstance(drive, SimDrive):
            drive.close()


def _replayed(  # noqa: PLR0913 keywords of one call, passed on
    path: Path,
    on: str,
    how: Replay,
    options: Sequence[tuple[str, str]],
    progress: Progress | None,
    keep: Keep | None,
    real: RealOptions | None,
    confirm: Confirm | None,
) -> Recording:
    """A trace, of fio's options with its depth alone."""
    from pslc.runner.load import analysed
    from pslc.runner.replay import replay

    for name, value in options:
        if name != "iodepth" or not value.isdigit() or not 0 < int(value) <= MOST_DEPTH:
            hint = f"of fio's options a trace takes --iodepth=N, up to {MOST_DEPTH}; pslc run --help lists its own"
            raise JobError(f"--{name}={value} says nothing to a trace", hint)
        how = replace(how, iodepth=int(value))
    found = replay(path, on, how, of_result, progress, keep, real, confirm)
    if found is None:
        raise DeclinedError
    return analysed(found)


def _finished(done: Recording | None, target: Target, real: RealOptions | None) -> list[Recording]:
    """The steps that need not be done again: those whose data are still where they were written."""
    if done is None or not (target.kind == "device" or (real and real.reuse)):
        return []
    return [part for part in done.parts if not part.interrupted and not part.error]


class DeclinedError(Exception):
    """The run was not made: nobody wanted it after having seen the plan."""


def _one(text: str) -> suites.Steps:
    yield text


def _walk(
    bench: _Bench, steps: suites.Steps, kept: list[Recording], tell: Callable[[str], None] | None
) -> Generator[Recording, None, None]:
    """Run the steps, those in `kept` excepted, and give the recording of each."""
    done: list[Recording] = []
    last = None
    while last is None or not (last.interrupted or last.error):
        try:
            text = next(steps) if last is None else steps.send(last)
        except StopIteration:
            return
        bench.done = done
        name = f"step {len(done) + 1}: {_title(text)}"
        if tell is not None:
            tell(f"{name}, done before" if kept else name)
        last = kept.pop(0) if kept else bench.run(text, name)
        done.append(last)
        yield last


def _title(text: str) -> str:
    """The name of the first job."""
    return text.partition("[")[2].partition("]")[0]


@dataclass
class _Bench:
    """A drive that is open, and what every step on it shares."""

    target: Target
    drive: SimDrive | RealDrive
    source: str
    options: list[tuple[str, str]]
    seed: int
    progress: Progress | None
    keep: Keep | None
    prepared: Prepared | None = None
    logs: JobLogs | None = None
    thermometer: Thermometer | None = None

    def __post_init__(self) -> None:
        self.begun = None
        if self.prepared and isinstance(self.drive, SimDrive) and not self.target.stays and not self.options:
            self.begun = self.prepared.of(self.drive)
        self.done: list[Recording] = []
        self.notes: list[str] = []
        self.kept_at = monotonic()
        self.common: Common = {
            **self.target.common(self.source),
            "seed": self.seed,
            "capacity_bytes": self.drive.capacity_bytes,
            "overrides": self.options,
        }

    def before(self, text: str, layout: bool) -> int:
        """Lay out what jobs read and nobody wrote. Returns the bytes that they will read unwritten of a simulated
        drive; reading those of a real file is an error."""
        drive = self.drive
        if not layout:
            return drive.unwritten_bytes(text, self.source, self.options) if isinstance(drive, SimDrive) else 0
        laid_out = self._step(f"layout of\n{text}", True, lambda: drive.lay_out(text, self.source, self.options))
        if laid_out:
            size = words.size(laid_out)
            self.notes = [f"{size} were written first: what is read has to be there, and fio lays it out, too"]
        return 0

    def _step(self, name: str, sure: bool, make: Callable[[], Given]) -> Given:
        """What `make` gives, or gave to a run that began as this one does; the drive is then as it was there."""
        if self.begun is None or not isinstance(self.drive, SimDrive):
            return make()
        self.drive, given = self.begun.step(name, sure, self.drive, make)
        return given

    def prepare(self, text: str) -> bool:
        """Bring the drive into the state to begin with, whatever is said of the jobs. Returns whether that is done."""
        return not self.run(text, "preparation", []).interrupted

    def run(self, text: str, name: str, options: list[tuple[str, str]] | None = None) -> Recording:
        """Run one job file, with the options of all unless there are others."""
        options = self.options if options is None else options
        common: Common = {**self.common, "job_file": text, "began_unix_ns": time_ns()}
        # Each step has requests of its own.
        seed = (self.seed + len(self.done)) % 2**64

        if self.thermometer is not None:
            self.thermometer.begin()

        def progress(state: Now) -> bool:
            if self.thermometer is not None:
                self.thermometer.look(state["drive_time_ns"])
            return self.progress is None or self.progress({**state, "step": name})

        def keep(so_far: Result) -> None:
            assert self.keep is not None
            self.keep(join([*self.done, recorded(so_far)]))

        def recorded(result: Result) -> Recording:
            part = of_result(common, result)
            return part if self.thermometer is None else self.thermometer.on(part)

        drive, keeping = self.drive, keep if self.keep else None
        sure = self.begun is not None and leaves_nothing_to_chance(text)
        found = self._step(text, sure, lambda: drive.run(text, self.source, options, seed, progress, keeping))
        if self.logs is not None:
            self.logs.add(found["logs"])
            if "dump" in found:
                self.logs.add_wrong_block(found["dump"], Path(self.target.spec).name)
        recording = recorded(found)
        for job in recording.jobs:
            job["notes"] = self.notes + job["notes"]
        if self.keep is not None and monotonic() > self.kept_at + KEEP_EVERY_S:
            self.kept_at = monotonic()
            self.keep(join([*self.done, recording]))
        return recording


def of_result(common: Common, result: Result) -> Recording:
    """A recording of what is common to all, and of what the native part gives."""
    return Recording(
        **common,
        wall_s=result["wall_s"],
        drive_time_s=result["drive_time_ns"] / 1e9,
        interrupted=result["interrupted"],
        error=result["error"],
        start_ns=result["start_ns"],
        jobs=result["jobs"],
        unbegun=result["unbegun"],
        before=result["before"],
        totals=result["totals"],
        time=_columns(result["series"]["time"]),
        bytes=_columns(result["series"]["bytes"]),
    )


def _columns(raw: dict[str, bytes]) -> Columns:
    return {name: np.frombuffer(values, dtype="<u8") for name, values in raw.items()}


def _import_ahead() -> None:
    for module in ("arro3.io", "pslc.runner.load"):
        import_module(module)
