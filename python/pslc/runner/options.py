"""Options of a run: one list for the command line, the catalogue, studies and Python."""

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, SupportsIndex, TypedDict

from pslc import extras
from pslc.base.errors import JobError
from pslc.device.region import Scope
from pslc.device.target import RealOptions, Target
from pslc.extras import Service
from pslc.recording.model import Recording
from pslc.runner.callbacks import Confirm, Log, OnCheckpoint, Progress
from pslc.runner.job_logs import JobLogs
from pslc.runner.precondition_cache import PreconditionedDrives
from pslc.traces import Replay

Overrides = Sequence[tuple[str, str]]
"""fio options that override those of every job, as pairs of name and value."""
MAX_SEED: Final = 2**64 - 1
"""Largest seed that the generator of the native part takes."""


class RunKeywords(TypedDict, total=False):
    """Keywords of `pslc.run`, each a field of `RunOptions`."""

    seed: int
    options: Overrides
    scope: Scope | None
    real: RealOptions | None
    replay: Replay | None
    more: Sequence[str | Path]
    sections: Sequence[str]
    layout: bool
    progress: Progress | None
    confirm: Confirm | None
    on_checkpoint: OnCheckpoint | None
    log: Log | None
    preconditioned: PreconditionedDrives | None
    policy: object
    victim_rule: object


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of a run of a suite, of job files or of a trace.

    Attributes:
        seed: seed of every random choice; the same seed gives the same requests.
        options: fio options, which override those of every job.
        scope: part of the drive, thoroughness and preparation. Job files take its preparation alone, traces nothing.
        real: consent to what a run does to a real drive.
        replay: how a trace is replayed; for traces only.
        more: job files that run after the first; for the suite `trace`, the trace.
        sections: sections of the job files to run (default: all).
        layout: first write what jobs read and do not write, as fio lays out files.
        progress: see `pslc.runner.callbacks`, as for the next three.
        confirm: consent to a plan.
        on_checkpoint: takes the recording so far.
        log: takes a line for each step.
        interrupted: an interrupted recording of the same run. Its finished steps are not repeated if their data are
            still there: a simulated drive and a new scratch file have to be written again.
        preconditioned: drives of earlier runs, to fork from if this run begins as they did.
        policy: a `pslc.Policy` in place of the profile's `cache.when_full`; on a fresh simulated drive only. A text
            names a class in a file, `mine.py:Mine`; `pslc.runner.campaign` runs that in a process of its own.
        victim_rule: a `pslc.VictimRule` in place of the profile's `ftl.gc`, likewise.
        logs: takes the logs that jobs write; the caller writes them. Without it the run writes them at its end and
            warns about each that it cannot write.
    """

    seed: int = 0
    options: Overrides = ()
    scope: Scope | None = None
    real: RealOptions | None = None
    replay: Replay | None = None
    more: Sequence[str | Path] = ()
    sections: Sequence[str] = ()
    layout: bool = True
    progress: Progress | None = None
    confirm: Confirm | None = None
    on_checkpoint: OnCheckpoint | None = None
    log: Log | None = None
    interrupted: Recording | None = None
    preconditioned: PreconditionedDrives | None = None
    policy: object = None
    victim_rule: object = None
    logs: JobLogs | None = None

    def __post_init__(self) -> None:
        """Refuse values of other kinds.

        Raises:
            JobError: `seed`, `options` or `real` is of another kind.
        """
        if not isinstance(self.seed, SupportsIndex) or not 0 <= operator.index(self.seed) <= MAX_SEED:
            raise JobError(f"seed is {self.seed!r}", f"seed takes a whole number from 0 to {MAX_SEED}")
        pairs = [
            isinstance(pair, tuple | list) and [type(each) for each in pair] == [str, str] for pair in self.options
        ]
        if not all(pairs):
            raise JobError(f"options is {self.options!r}", 'options takes pairs of text: [("io_size", "1g")]')
        if not isinstance(self.real, RealOptions | None):
            raise JobError(f"real is {self.real!r}", "real takes pslc.RealOptions(size=20 * 10**9)")

    @property
    def is_governed(self) -> bool:
        """Whether something in Python decides in place of the profile."""
        return self.policy is not None or self.victim_rule is not None

    @property
    def is_governed_by_file(self) -> bool:
        """Whether all that decides is named by a text."""
        return self.is_governed and all(of is None or isinstance(of, str) for of in (self.policy, self.victim_rule))

    def governed(self, target: Target) -> Target:
        """The target, which asks what decides in Python in place of its profile.

        Raises:
            PslcError: it cannot, or there is nothing that lets it.
        """
        if not self.is_governed:
            return target
        governed: Target = extras.service(Service.POLICIES).governed(target, self.policy, self.victim_rule)
        return governed
