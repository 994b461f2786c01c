"""Steps of a run on one open drive: its layout, its preparation, its job files, and what each of them recorded."""

import re
import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic, time_ns
from typing import Final

import numpy as np

from pslc import suites
from pslc._native import ArrayDrive, RealDrive, SimDrive
from pslc.base import words
from pslc.device import cache_switch, drive_files, probe
from pslc.device.region import Scope
from pslc.device.sensors import Sensor
from pslc.device.target import Target
from pslc.recording import stalls
from pslc.recording.model import Columns, Common, Recording, join
from pslc.runner.job_logs import JobLogs
from pslc.runner.options import Overrides, RunOptions
from pslc.runner.precondition_cache import Result as StepResult
from pslc.runner.precondition_cache import leaves_nothing_to_chance
from pslc.runner.subject import JobFile, Suite
from pslc.schema.cache_setting import CacheSetting
from pslc.schema.facts import Facts
from pslc.schema.results import Progress as DriveProgress
from pslc.schema.results import Result

SECTION: Final = re.compile(r"^\[(.+?)\]", re.MULTILINE)
CHECKPOINT_INTERVAL_S: Final = 5.0
"""Between two checkpoints at the end of steps; within a step the native part keeps its own time."""


@dataclass
class StepRunner:
    """An open drive, and what all steps on it share."""

    target: Target
    drive: SimDrive | ArrayDrive | RealDrive
    subject: Suite | JobFile
    options: RunOptions
    logs: JobLogs
    sensors: list[Sensor] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._overrides = list(self.subject.overrides)
        self._history = None
        drives = None if self.options.is_governed else self.options.preconditioned
        stays = self.target.stays or self.subject.switches
        if drives and isinstance(self.drive, SimDrive) and not stays and not self._overrides:
            self._history = drives.follow(self.drive)
        self._finished: list[Recording] = []
        self.outages = stalls.joined([])
        self._notes: list[str] = []
        self._checkpoint_at = monotonic()
        self.common: Common = {
            **self.target.common(self.subject.source),
            "suite": self.subject.name if isinstance(self.subject, Suite) else self.subject.source,
            "seed": self.options.seed,
            "capacity_bytes": self.drive.capacity_bytes,
            "overrides": self._overrides,
            "scope": self.subject.scope_document(self.options.scope or Scope()),
        }

    def lay_out(self, text: str) -> int:
        """Write what jobs read and do not write, if the subject lays out.

        Returns:
            Bytes that the jobs will read unwritten from a simulated drive. Reading those of a real file is an error.

        Raises:
            KeyboardInterrupt: the progress callback returned False.
        """
        drive, source, overrides = self.drive, self.subject.source, self._overrides
        if not self.subject.lays_out:
            return 0 if isinstance(drive, RealDrive) else drive.unwritten_bytes(text, source, overrides)

        def lay_out() -> int | None:
            if isinstance(drive, RealDrive):
                return drive.lay_out(text, source, overrides, self._progress("layout"))
            return drive.lay_out(text, source, overrides)

        laid_out = self._step(f"layout of\n{text}", True, lay_out)
        if laid_out is None:
            raise KeyboardInterrupt
        if laid_out:
            size = words.size(laid_out)
            self._notes = [f"{size} were written first: what is read has to be there, and fio lays it out, too"]
        return 0

    def prepare(self, text: str) -> bool:
        """Bring the drive into the state to begin with, without the overrides; returns whether that was finished."""
        recording = self._run(text, "preparation", ())
        # The run begins where the preparation ends.
        for at in (*self.outages["stalls"], *self.outages["gaps"]):
            at["at_s"] -= recording.drive_time_s
        return not recording.interrupted

    def walk(self, steps: suites.Steps, finished: list[Recording], log: bool) -> Generator[Recording, None, None]:
        """Run the steps and give the recording of each, until one is interrupted or fails.

        Args:
            steps: job files.
            finished: recordings of the first steps, which are not run again.
            log: report each step.
        """
        with ExitStack() as buffer:
            yield from self._walk(steps, finished, log, buffer)

    def _walk(
        self, steps: suites.Steps, finished: list[Recording], log: bool, buffer: ExitStack
    ) -> Generator[Recording, None, None]:
        recording, setting = None, None
        while recording is None or not (recording.interrupted or recording.error):
            try:
                text = next(steps) if recording is None else steps.send(recording)
            except StopIteration:
                return
            if (asked := self.subject.setting(_title(text))) != setting and not finished:
                buffer.close()
                setting = asked
                if setting is not None:
                    buffer.enter_context(self.switched(setting))
            if (off_s := self.subject.off_s(_title(text))) and not finished:
                self._switch_off(off_s)
            name = f"step {len(self._finished) + 1}: {_title(text)}"
            if log and self.options.log is not None:
                self.options.log(f"{name}, done before" if finished else name)
            recording = finished.pop(0) if finished else self._run(text, name, self._overrides)
            self._finished.append(recording)
            yield recording

    def switched(self, setting: CacheSetting) -> AbstractContextManager[None]:
        """Switch the drive's SLC buffer for as long as a `with` lasts."""
        if isinstance(self.drive, SimDrive):
            return cache_switch.simulated(self.drive, setting)
        disk, real = probe.reporting(self.target.facts), self.options.real
        assert disk is not None, "planned_run checks it"
        return cache_switch.switched(disk, setting, real.ends if real else None)

    def _switch_off(self, seconds: float) -> None:
        """Leave a simulated drive switched off, so that its data age."""
        drive = self.drive
        assert isinstance(drive, SimDrive), "a suite that reads a real drive back has no steps there"
        self._step(f"{seconds} s off", True, lambda: drive_files.switch_off(drive, seconds, drive_files.REFERENCE_C))

    def _step(self, name: str, deterministic: bool, make: Callable[[], StepResult]) -> StepResult:
        """The result of `make`, or of the same step of a run that began as this one did."""
        if self._history is None or not isinstance(self.drive, SimDrive):
            return make()
        self.drive, result = self._history.step(name, deterministic, self.drive, make)
        return result

    def _run(self, text: str, name: str, overrides: Overrides) -> Recording:
        """Run one job file."""
        common: Common = {**self.common, "job_file": text, "began_unix_ns": time_ns()}
        # Each step has requests of its own.
        seed = (self.options.seed + len(self._finished)) % 2**64
        sensors, on_checkpoint = self.sensors, self.options.on_checkpoint
        for sensor in sensors:
            sensor.begin()
        progress = self._progress(name)

        def checkpoint(so_far: Result) -> None:
            self._checkpoint(recorded(so_far), so_far)

        def recorded(result: Result) -> Recording:
            recording = of_result(common, result)
            for sensor in sensors:
                recording = sensor.on(recording)
            return recording

        drive, source = self.drive, self.subject.source
        keep = checkpoint if on_checkpoint else None
        deterministic = self._history is not None and leaves_nothing_to_chance(text)
        result = self._step(text, deterministic, lambda: drive.run(text, source, list(overrides), seed, progress, keep))
        self.logs.add(result["logs"], common["began_unix_ns"] - result["start_ns"])
        if "dump" in result:
            self.logs.add_wrong_block(result["dump"], Path(self.target.spec).name or self.target.slug)
        recording = recorded(result)
        notes = self._notes + _layout_notes(drive)
        for job in recording.jobs:
            job["notes"] = notes + job["notes"]
        raise_if_policy_failed(result, [*self._finished, recording])
        is_due = self.target.is_real or monotonic() > self._checkpoint_at + CHECKPOINT_INTERVAL_S
        if on_checkpoint is not None and is_due:
            self._checkpoint_at = monotonic()
            self._checkpoint(recording, result)
        self.outages = self._with_this_step(result)
        return recording

    def _progress(self, name: str) -> Callable[[DriveProgress], bool]:
        """The progress callback of a step."""
        on_progress, sensors = self.options.progress, self.sensors

        def progress(state: DriveProgress) -> bool:
            for sensor in sensors if "silence" not in state else []:
                sensor.look(state["drive_time_ns"], state["done_bytes"])
            return on_progress is None or on_progress({**state, "step": name})

        return progress

    def _checkpoint(self, last: Recording, result: Result) -> None:
        """Hand over the steps so far; what is still added to the facts is not added to those."""
        assert self.options.on_checkpoint is not None
        so_far = join([*self._finished, last])
        facts: Facts = {**so_far.facts}
        if self.target.is_real:
            facts.update(self._with_this_step(result))
        self.options.on_checkpoint(replace(so_far, facts=facts))

    def _with_this_step(self, result: Result) -> Facts:
        step, of_it = len(self._finished), stalls.joined([result])
        here = Facts(
            stalls=[{**stall, "step": step} for stall in of_it["stalls"]],
            gaps=[{**gap, "step": step} for gap in of_it["gaps"]],
        )
        return stalls.joined([self.outages, here])


def engine_of(drive: RealDrive) -> Facts:
    """The engine of the last run on a drive, and why it took the place of the system's own, if it did."""
    own = Facts() if drive.engine is None else Facts(engine=drive.engine)
    return own if drive.substitutes is None else {**own, "engine_substitutes": drive.substitutes}


def _layout_notes(drive: SimDrive | ArrayDrive | RealDrive) -> list[str]:
    """Notes on what was written to a new file by no job, and what that does to the drive."""
    if not isinstance(drive, RealDrive) or not drive.laid_out_bytes:
        return []
    size = words.size(drive.laid_out_bytes)
    who = ", which Windows lets an administrator leave out" if sys.platform == "win32" else ""
    return [
        f"{size} were written before the first job, because the file system writes zeros in front of a write beyond "
        f"the end of a file{who}: the drive's cache may not have been empty"
    ]


def _title(text: str) -> str:
    """The name of the first job; one that only prepares gives a step no name, unless there is no other."""
    names = [name for name in SECTION.findall(text) if name != "global"]
    return next((name for name in names if name != "trim"), next(iter(names), ""))


def raise_if_policy_failed(result: Result, recordings: list[Recording]) -> None:
    """Raise the error of a policy that ended a step, with the recordings of the steps so far.

    Raises:
        PolicyError: it failed.
    """
    if "raised" in result:
        result["raised"].recording = join(recordings)
        raise result["raised"]


def of_result(common: Common, result: Result) -> Recording:
    """A recording of a result of the native part, and of what all recordings of its run share."""
    raised = result.get("raised")
    if raised is not None:
        common = {**common, "facts": {**common["facts"], "policy_error": raised.hint}}
    return Recording(
        **common,
        wall_s=result["wall_s"],
        drive_time_s=result["drive_time_ns"] / 1e9,
        interrupted=result["interrupted"],
        error=raised.message if raised else result["error"],
        error_code=raised.code if raised else result.get("error_code"),
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
