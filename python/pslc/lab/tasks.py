"""Commands of pslc that the page begins, each in a process of its own, which can be stopped: runs, replays and fits."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from threading import Lock, Thread
from typing import Final, NotRequired

from typing_extensions import TypedDict

from pslc import suites, traces
from pslc.base import children, files, units, writer
from pslc.base.errors import JobError, PslcError, TargetError
from pslc.base.output_dirs import new_folder, runs_folder
from pslc.device.profiles import library
from pslc.device.target import find_target, is_drive
from pslc.lab import recordings
from pslc.lab.uploads import Uploads
from pslc.traces import Part

MAX_TASKS: Final = 4
"""Largest number of commands at once; each takes a processor or more."""
MAX_LINES: Final = 4
"""Lines of a command that failed: the error and its hint."""


class DriveJson(TypedDict):
    """A simulated drive: the `name` of a built-in one, the text of a `profile`, the name of a drive `file` in the
    current folder, or of an `upload`; and keys that win over its profile."""

    name: NotRequired[str]
    profile: NotRequired[str]
    file: NotRequired[str]
    upload: NotRequired[str]
    keys: NotRequired[list[tuple[str, str]]]


class TaskJson(TypedDict):
    """State of a command: the words of it, the last line that it said, its exit code once it has one, and the name of
    the recording or the text of the profile that it made."""

    id: int
    command: str
    status: str
    code: int | None
    recording: str
    profile: str
    errors: list[str]


@dataclass
class Task:
    """A command under way. `output`: the folder of its recording, or the file of its profile."""

    words: Sequence[str]
    output: Path
    process: children.Popen[str]
    lines: list[str] = field(default_factory=list)
    code: int | None = None

    def listen(self) -> None:
        """Keep what it says, until it ends."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines = [*self.lines, line.strip()][-MAX_LINES:] if line.strip() else self.lines
        self.code = self.process.wait()

    def document(self, number: int) -> TaskJson:
        """State of the command as JSON."""
        is_done, is_recording = self.code == 0, self.output.suffix != ".toml"
        return {
            "id": number,
            "command": " ".join(self.words),
            "status": self.lines[-1] if self.lines else "running",
            "code": self.code,
            "recording": self.output.relative_to(runs_folder()).as_posix() if is_done and is_recording else "",
            "profile": self.output.read_text(encoding="utf-8") if is_done and not is_recording else "",
            "errors": self.lines if self.code else [],
        }


@dataclass
class Tasks:
    """The commands of one page."""

    uploads: Uploads
    _tasks: dict[int, Task] = field(default_factory=dict)
    _numbers: count[int] = field(default_factory=lambda: count(1))
    _lock: Lock = field(default_factory=Lock)

    def run(self, suite: str, drive: DriveJson) -> TaskJson:
        """Run a suite on a drive; its recording goes into `runs/`.

        Raises:
            PslcError: there is no such suite or drive, or there are enough tasks.
        """
        if suite not in suites.names():
            raise JobError(f"no suite is named {suite[:60]}", f"one of {', '.join(suites.names())}")
        return self._begin(["run", suite, "--on", self._spec(drive)], suite)

    def replay(self, upload: str, drive: DriveJson) -> TaskJson:
        """Replay an uploaded trace on a drive; its recording goes into `runs/`. Of several devices it is the busiest,
        and addresses past the end of the drive start again at 0.

        Raises:
            PslcError: there is no such trace or drive, or there are enough tasks.
        """
        trace, spec = self.uploads.paths(upload)[0], self._spec(drive)
        options = self.uploads.readers.call(replay_options, trace, find_target(spec).capacity_bytes)
        return self._begin(["replay", str(trace), "--on", spec, *options], f"replay-{trace.stem}")

    def fit(self, upload: str, recording: str, capacity: str) -> TaskJson:
        """Fit a twin to an upload or a recording; its profile goes beside the profiles of this folder.

        Raises:
            PslcError: there is no such data, or there are enough tasks.
        """
        if capacity:
            units.size(capacity, "the capacity")
        data = [str(recordings.folder(recording))] if recording else self._fit_data(upload)
        output = _free(f"{Path(data[0]).stem.lower()}-twin")
        words = ["fit", *data, "-o", str(output)]
        return self._start([*words, f"--capacity={capacity}"] if capacity else words, output)

    def state(self, number: int) -> TaskJson:
        """
        Raises:
            PslcError: there is no such task.
        """
        if number not in self._tasks:
            raise PslcError(f"no task has the number {number}", "reload the page")
        return self._tasks[number].document(number)

    def stop(self, number: int) -> None:
        """End a task, and forget it."""
        task = self._tasks.pop(number, None)
        if task is not None and task.code is None:
            children.end_group(task.process)

    def close(self) -> None:
        """End all tasks."""
        for number in list(self._tasks):
            self.stop(number)

    def _begin(self, words: list[str], slug: str) -> TaskJson:
        folder = new_folder(f"{slug}-lab")
        return self._start([*words, "--save", str(folder)], folder)

    def _start(self, words: list[str], output: Path) -> TaskJson:
        with self._lock:
            if sum(task.code is None for task in self._tasks.values()) >= MAX_TASKS:
                raise PslcError(f"{MAX_TASKS} commands are running", "wait for one, or stop it")
            process = children.start(
                children.python("-m", "pslc", *words), own_group=True, stdin=children.DEVNULL,
                stdout=children.DEVNULL, stderr=children.PIPE, text=True,
            )  # fmt: skip
            number, task = next(self._numbers), Task(("pslc", *words), output, process)
            self._tasks[number] = task
        Thread(target=task.listen, daemon=True).start()
        return task.document(number)

    def _fit_data(self, upload: str) -> list[str]:
        paths = self.uploads.paths(upload)
        if any(path.name == "run.json" for path in paths):
            return [str(self.uploads.at(upload))]
        return [*map(str, paths), *self.uploads.chart_arguments(upload)]

    def _spec(self, drive: DriveJson) -> str:
        """The target that a command takes.

        Raises:
            PslcError: there is no such drive, or the page does not open it.
        """
        pairs = drive.get("keys", [])
        if any("," in text for pair in pairs for text in pair):
            raise TargetError("a key or a value has a comma", "a decimal point: 1.2ms")
        keys = "".join(f",{key}={value}" for key, value in pairs)
        match drive:
            case {"upload": name}:
                return str(self._copy(self.uploads.paths(name)[0]))
            case {"file": name} if Path(name).parent == Path() and name not in ("", ".."):
                return str(self._copy(Path(name)))
            case {"profile": text}:
                check_base(text)
                path = writer.lasting(within=self.uploads.folder) / "drive.toml"
                writer.write(path, text)
                return f"sim:{path}{keys}"
            case {"name": name} if name in library():
                return f"sim:{name}{keys}"
        raise TargetError("the page does not open that drive", "it opens built-in drives, profiles, and drive files "
                          "(disk.pslc) of its own folder")  # fmt: skip

    def _copy(self, path: Path) -> Path:
        """A copy of a drive file: a run would go on in the file itself."""
        if not is_drive(path):
            hint = "pslc drives create FILE --like NAME creates one"
            raise TargetError(f"{path.name[:60]} is not a drive file", hint)
        copy = writer.lasting(within=self.uploads.folder) / path.name
        writer.copy(path, copy)
        return copy


def replay_options(trace: Path, capacity_bytes: int) -> list[str]:
    """Options of `pslc replay` under which a trace fits onto a drive.

    Raises:
        PslcError: the trace cannot be read.
    """
    devices = traces.opened(trace, Part()).survey()["devices"]
    busiest = max(devices, key=lambda device: sum(device["bytes"].values()), default=None)
    if busiest is None:
        return []
    return [
        *(["--device", busiest["device"]] if len(devices) > 1 else []),
        *(["--addresses", "wrap"] if busiest["end_bytes"] > capacity_bytes else []),
    ]


def check_base(profile: str) -> None:
    """
    Raises:
        TargetError: a profile from the page names a file of this machine.
    """
    try:
        base = files.toml(profile).get("base")
    except tomllib.TOMLDecodeError:
        return  # Said by who reads it next, with the line.
    if isinstance(base, str) and base not in library():
        raise TargetError(
            f'the profile has the base "{base[:60]}", which is not built in',
            "give the whole profile: pslc drives show ./mine.toml prints it",
        )


def _free(stem: str) -> Path:
    path = Path(f"{stem}.toml")
    return path if not path.exists() else next(
        free for number in count(2) if not (free := Path(f"{stem}-{number}.toml")).exists()
    )  # fmt: skip
