"""Runs in workers: the suites of the catalogue in parallel, each on a simulated drive of its own, and runs under a
policy in Python, whatever that does."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import replace
from time import monotonic
from typing import Any, Final, NamedTuple, cast

from pslc.base import memory, work
from pslc.base.errors import PolicyError, PslcError
from pslc.base.workers import is_wanted, report
from pslc.device.cost import Cost, cost
from pslc.device.region import Region, Scope, find_region
from pslc.device.target import find_target
from pslc.recording.model import Recording
from pslc.runner.job_logs import JobLogs
from pslc.runner.load import analysed
from pslc.runner.options import RunOptions
from pslc.runner.plan import DAY, expected
from pslc.runner.run import run_with
from pslc.runner.subject import JobFile, Suite, Trace
from pslc.schema.results import Progress as NativeProgress
from pslc.schema.results import StepProgress

PROCESS_BYTES: Final = 300 << 20
"""Memory of a process beside its run."""
MAX_END_S: Final = 60.0
"""Seconds in which a run without a policy, which ends at its next progress, is analysed and handed over."""
WORD_S: Final = 3.0
"""Seconds after an interrupt until what is waited for is named."""
NOTHING_DONE: Final[NativeProgress] = {
    "done_bytes": 0, "total_bytes": 0, "drive_time_ns": 0, "total_time_ns": 0, "bytes_per_s": 0.0
}  # fmt: skip


class Task(NamedTuple):
    """A run of `subject` on the simulated drive `on`. Its options have no callbacks; their `logs` take what the run
    logs, and the caller writes them."""

    subject: str | Suite | JobFile | Trace
    on: str
    options: RunOptions

    @property
    def logs(self) -> JobLogs:
        """Logs that the run writes into."""
        assert self.options.logs is not None
        return self.options.logs

    @property
    def name(self) -> str:
        """Name of the subject."""
        return self.subject if isinstance(self.subject, str) else str(getattr(self.subject, "name", "trace"))


class _Begun(NamedTuple):
    """State of a run: it begins."""


class _Logged(NamedTuple):
    """State of a run: a line for people."""

    line: str


_State = _Begun | _Logged | Recording | dict[str, Any]
"""State of a run: the recording so far, or its `StepProgress`."""


def workers(tasks: Sequence[Task]) -> tuple[list[Task], int]:
    """Order the suites of one drive, longest first, and count how many of them this machine can run at once.

    The count is 1 if one of them takes days, which needs consent first, or cannot be planned.
    """
    if len(tasks) < 2:
        return list(tasks), 1
    try:
        region = find_region(find_target(tasks[0].on), tasks[0].options.scope or Scope())
        costs = {task.name: _cost(task, region) for task in tasks}
    except PslcError:
        return list(tasks), 1
    if any(task_cost.least_s >= DAY for task_cost in costs.values()):
        return list(tasks), 1
    task_bytes = PROCESS_BYTES + max(task_cost.memory_bytes for task_cost in costs.values())
    free = memory.free_bytes()
    count = min(work.cores(), len(tasks), free // task_bytes if free is not None else 1)
    return sorted(tasks, key=lambda task: -costs[task.name].least_s), max(count, 1)


def _cost(task: Task, region: Region) -> Cost:
    steps = expected(task.name, region, task.options.scope or Scope())
    return cost(steps, f"{task.name}.fio", list(task.options.options), region.target)


def results(
    tasks: Sequence[Task], count: int, options: RunOptions, on_start: Callable[[str], None]
) -> Generator[tuple[Task, Recording | Exception], None, None]:
    """Run `count` tasks at a time and give each with its recording, or with its error, as it ends.

    Once `options.progress` returns False, running ones end where they are and no further one starts; under a policy
    that does not let its run end, the recording so far is what is given. Closing the iterator ends them too.

    Args:
        options: callbacks: progress of what has been running longest, each checkpoint, and lines.
        on_start: called with each subject as it starts.
    """
    watched = _Watched(options, on_start, len(tasks) > 1)
    grace_s = work.GRACE_S if any(task.options.is_governed for task in tasks) else MAX_END_S
    outcomes = work.run(tasks, _run, work.Local(count, grace_s), watched.take, watched.interrupts)
    with closing(outcomes):
        for task, outcome in outcomes:
            if isinstance(outcome, Exception):
                yield task, watched.left_by(task, outcome)
            else:
                recording, logs = outcome
                task.logs.take(logs)
                yield task, recording
            watched.forget(task)
    for task, so_far in watched.unfinished:
        if options.log is not None and task.options.is_governed:
            options.log(f"{task.name} did not end within {work.GRACE_S:g} s: its policy does not return")
        if so_far is not None:
            yield task, analysed(replace(so_far, interrupted=True))


class _Watched:
    """Progress that running tasks have reported; of several each says in its progress which one it is."""

    def __init__(self, options: RunOptions, on_start: Callable[[str], None], several: bool) -> None:
        self._options, self._on_start, self._several = options, on_start, several
        self._running: dict[int, tuple[Task, StepProgress]] = {}
        self._so_far: dict[int, Recording] = {}
        self._interrupted_at: float | None = None
        self._is_wait_named = False

    def take(self, task: Task, state: _State) -> None:
        """Take a state of a task."""
        match state:
            case _Begun():
                self._running[id(task)] = task, {**NOTHING_DONE, "step": task.name if self._several else ""}
                self._on_start(task.name)
            case _Logged():
                if self._options.log is not None:
                    self._options.log(state.line)
            case Recording():
                self._so_far[id(task)] = state
                if self._options.on_checkpoint is not None:
                    self._options.on_checkpoint(state)
            case _:
                step = f"{task.name} {state['step']}" if self._several else state["step"]
                self._running[id(task)] = task, cast("StepProgress", {**state, "step": step})

    def left_by(self, task: Task, error: Exception) -> Recording | Exception:
        """The recording so far of a task whose worker was killed, with its error; else the error."""
        so_far = self._so_far.get(id(task))
        if so_far is None or not isinstance(error, PslcError) or error.code != work.KILLED:
            return error
        return analysed(replace(so_far, error=error.message, error_code=error.code))

    def forget(self, task: Task) -> None:
        """Forget a task that has ended."""
        self._running.pop(id(task), None)

    def interrupts(self) -> int:
        """Interrupts, as of `pslc.base.work`. It asks however little is reported: a policy may never return, and a
        worker may hang before it begins.

        Raises:
            KeyboardInterrupt: there were two.
        """
        progress = self._options.progress
        if progress is None:
            return 0
        _, state = next(iter(self._running.values()), (None, cast("StepProgress", {**NOTHING_DONE, "step": ""})))
        if not progress(state) and self._interrupted_at is None:
            self._interrupted_at = monotonic()
        if self._interrupted_at is None:
            return 0
        if monotonic() - self._interrupted_at > WORD_S and not self._is_wait_named:
            self._is_wait_named = True
            self._name_wait()
        return 1

    def _name_wait(self) -> None:
        """Log once what the end waits for."""
        names = " and ".join(task.name for task, _ in self._running.values()) or "a process that has not begun"
        if self._options.log is not None:
            self._options.log(f"interrupted; waiting for the end of {names}; interrupt again to leave at once")

    @property
    def unfinished(self) -> list[tuple[Task, Recording | None]]:
        """Tasks that began and were ended, and the recording of each so far."""
        return [(task, self._so_far.get(number)) for number, (task, _) in self._running.items()]


def _run(task: Task) -> tuple[Recording, JobLogs]:
    """Run a task, in a worker. What a policy that failed leaves is a recording with its error."""
    report(_Begun())

    def progress(state: StepProgress) -> bool:
        report(dict(state))
        return is_wanted()

    checkpoint = report if task.options.is_governed else None
    options = replace(task.options, progress=progress, on_checkpoint=checkpoint, log=lambda line: report(_Logged(line)))
    try:
        recording = run_with(task.subject, task.on, options)
    except PolicyError as error:
        if error.recording is None:
            raise
        recording = analysed(error.recording)
    return recording, task.logs
