"""Subjects of a run: a suite, job files or a trace. Each type implements what a run needs of it."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pslc import suites
from pslc.base import gate
from pslc.base.errors import JobError
from pslc.device.region import FULL, Region, Scope, find_region
from pslc.device.target import Target
from pslc.recording.model import ScopeDocument
from pslc.runner import job_file
from pslc.runner.options import Overrides, RunOptions
from pslc.schema.cache_setting import CacheSetting
from pslc.traces import Replay, is_trace

TRACE: Final = gate.Expected("give the file of a trace; pslc trace formats lists the formats", max_bytes=sys.maxsize)
RUN: Final = "pslc run {} runs it; --pace, --from and the like are for traces"
ONLY_JOB_FILES: Final = "several files and --section are for job files"

MAX_DEPTH: Final = 65536
"""Requests of a trace in flight, at most; the native part takes a queue of that length."""


@dataclass(frozen=True)
class Suite:
    """A suite of the catalogue, which works in a region of the drive.

    Attributes:
        name: one of `suites.names()`.
        overrides: fio options that override those of every job.
    """

    name: str
    overrides: Overrides = ()

    lays_out = False
    """A suite writes itself what it reads."""

    @property
    def source(self) -> str:
        """Name of the jobs in messages."""
        return f"{self.name}.fio"

    @property
    def computer(self) -> str:
        """Computer that a simulated drive without one is put into."""
        return suites.load(self.name).COMPUTER

    @property
    def asks_temperature(self) -> bool:
        """Whether a real drive is asked for its temperature during the run."""
        return suites.asks_temperature(self.name)

    @property
    def switches(self) -> bool:
        """Whether its steps switch the drive's SLC buffer."""
        return suites.switches(self.name)

    def setting(self, step: str) -> CacheSetting | None:
        """Setting of the buffer in a step, by the name of its first job; None: as it is."""
        return suites.setting(self.name, step)

    def off_s(self, step: str) -> float:
        """Seconds for which a simulated drive is switched off before a step, by the name of its first job."""
        return suites.off_s(self.name, step)

    def region(self, target: Target, scope: Scope) -> Region:
        """The part of the drive that the scope leaves.

        Raises:
            PslcError: it is too small, or not on the drive, or the suite would trim the drive that was filled for it.
        """
        region = find_region(target, scope)
        if scope.fill_first == FULL and any("rw=trim" in text for text in suites.expected(self.name, region)):
            raise JobError(f"{self.name} trims what it works on, so the drive would not stay full",
                           "--fill-first 95% leaves it room")  # fmt: skip
        return region

    def expected_steps(self, region: Region | None) -> list[str]:
        """Job files of the suite, if each measurement comes out as expected."""
        return suites.expected(self.name, region) if region else []

    def steps(self, region: Region | None) -> suites.Steps:
        """Job files of the suite, each of which may depend on the recording of the one before."""
        assert region is not None
        yield from suites.load(self.name).steps(region)

    def scope_document(self, scope: Scope) -> ScopeDocument:
        """The scope as run.json has it."""
        return scope.document()


@dataclass(frozen=True)
class JobFile:
    """Job files, or the jobs of a command line, as one text.

    Attributes:
        text: the jobs.
        name: the path of the first file, or what stands for it.
        overrides: fio options that override those of every job.
        lays_out: whether what they read and do not write is written first.
    """

    text: str
    name: str
    overrides: Overrides = ()
    lays_out: bool = True

    computer = None
    asks_temperature = False
    switches = False

    @property
    def source(self) -> str:
        """Name of the jobs in messages."""
        return job_file.SOURCES.get(self.name, self.name)

    def setting(self, step: str) -> None:
        """Setting of the drive's SLC buffer: as it is."""

    def off_s(self, step: str) -> float:
        """Seconds for which a simulated drive is switched off: none."""
        return 0.0

    def region(self, target: Target, scope: Scope) -> Region | None:
        """The whole drive if it is prepared first, else None: jobs state themselves where they work.

        Raises:
            JobError: a real drive was to be prepared.
        """
        if scope == Scope():
            return None
        if target.is_real:
            raise JobError(
                f"job files take --fill-first and --idle on simulated drives only, not on {target.spec}",
                "let the first job write: rw=write, size=50%",
            )
        return find_region(target, Scope())

    def expected_steps(self, region: Region | None) -> list[str]:
        """Job files to run: one text."""
        return [self.text]

    def steps(self, region: Region | None) -> suites.Steps:
        """Job files to run: one text."""
        yield self.text

    def scope_document(self, scope: Scope) -> ScopeDocument:
        """The scope as run.json has it: empty if nothing was asked for."""
        return {} if scope == Scope() else scope.document()


@dataclass(frozen=True)
class Trace:
    """A trace of requests in a file, and how it is replayed."""

    path: Path
    replay: Replay


def resolve(subject: str | Path, on: str, options: RunOptions) -> Suite | JobFile | Trace:
    """The suite, the job files or the trace that a text names.

    Args:
        subject: name of a suite, path of a file, or `job_file.COMMAND_LINE`.
        on: the target, for hints.
        options: of the run.

    Raises:
        PslcError: there is no such suite or file, or it does not take one of the options.
    """
    files: list[str | Path] = [subject, *options.more]
    if str(subject) in suites.OF_FILES:
        if not options.more:
            raise JobError(f"the suite {subject} needs a file", f"for example: pslc replay work.trace --on {on}")
        files = list(options.more)
    name = str(files[0])
    if name in suites.names():
        return _suite(name, files[1:], replace(options, options=job_file.with_patterns(options.options)))
    scope = options.scope or Scope()
    if scope != Scope(fill_first=scope.fill_first, idle_s=scope.idle_s):
        raise JobError(f"{name} is a job file", "--quick and --region are for suites")
    replay = options.replay or Replay()
    if is_trace(Path(name), replay.part):
        _refuse_preparation(name, scope)
        _refuse_more(f"{name} is a trace", files[1:], options.sections)
        return Trace(Path(name), _with_depth(replay, options.options))
    return _jobs(files, options)


def _suite(name: str, more: Sequence[str | Path], options: RunOptions) -> Suite:
    _refuse_more(f"{name} is a suite", more, options.sections)
    _refuse_replay(name, options.replay, RUN.format(name))
    return Suite(name, options.options)


def _jobs(files: Sequence[str | Path], options: RunOptions) -> JobFile | Trace:
    """Job files; or the trace that a job of them replays."""
    name, overrides = str(files[0]), options.options
    if name == job_file.COMMAND_LINE:
        text, overrides = job_file.of_command_line(overrides, files[1:], options.sections), ()
    else:
        if options.replay is not None and name != job_file.STDIN:
            with gate.opened(Path(name), TRACE):
                pass
        text, overrides = job_file.read(files, options.sections), job_file.with_patterns(overrides)
    replayed = job_file.replayed(text, overrides, options.replay or Replay())
    if replayed is not None:
        _refuse_preparation(name, options.scope or Scope())
        _refuse_pace(name, options.replay or Replay())
        trace, replay = replayed
        if trace.is_file() and not is_trace(trace, replay.part):
            # Whoever reads the message may not be whoever may read that file, so nothing of it is shown.
            hint = "pslc trace formats lists those that are; what read_iolog names is a trace"
            raise JobError(f"{name}: read_iolog={trace} is not a trace that pslc knows", hint)
        return Trace(trace, replay)
    _refuse_replay(name, options.replay, RUN.format(name) if "\n[" in f"\n{text}" else TRACE.hint)
    return JobFile(text, name, overrides, options.layout)


def _refuse_more(what: str, more: Sequence[str | Path], sections: Sequence[str]) -> None:
    if more or sections:
        raise JobError(f"{what}: unexpected argument {[*more, *sections][0]}", ONLY_JOB_FILES)


def _refuse_replay(name: str, replay: Replay | None, hint: str) -> None:
    if replay is not None:
        raise JobError(f"{name} is not a trace", hint)


def _refuse_pace(name: str, replay: Replay) -> None:
    if replay != replace(replay, pace="original", speed=1.0, iodepth=None):
        hint = "write replay_no_stall=1, replay_time_scale=200 or iodepth=8 into it"
        raise JobError(f"{name} sets the pace of its trace itself", hint)


def _refuse_preparation(name: str, scope: Scope) -> None:
    if scope != Scope():
        raise JobError(
            f"{name} is a trace", "--fill-first and --idle are for suites and job files; a trace has --prefill"
        )


def _with_depth(replay: Replay, overrides: Overrides) -> Replay:
    """The replay with the only fio option that a trace takes: its depth.

    Raises:
        JobError: there is another option, or the depth is not one.
    """
    for name, value in overrides:
        if name != "iodepth" or not value.isdigit() or not 0 < int(value) <= MAX_DEPTH:
            raise JobError(
                f"a trace does not take --{name}={value}",
                f"of fio's options a trace takes --iodepth=N, up to {MAX_DEPTH}; pslc replay --help lists the others",
            )
        replay = replace(replay, iodepth=int(value))
    return replay
