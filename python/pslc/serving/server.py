"""A served drive: its socket, its folder, and nbdkit, which is started again where it dies."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from time import monotonic, time_ns
from typing import Final

from pslc._native import SimDrive, served_recording
from pslc.base import words
from pslc.base.errors import RecordingError, TargetError
from pslc.device.target import Target, find_target
from pslc.recording.store import Common, Recording
from pslc.runner.step_runner import of_result
from pslc.schema.facts import Facts, Served
from pslc.schema.results import Result
from pslc.serving.folders import WorkingFolder
from pslc.serving.listening import Address, Listener
from pslc.serving.nbdkit import Nbdkit, program
from pslc.serving.state import PluginStatus, State

MIN_LIFE_S: Final = 1.0
"""A life of nbdkit that is shorter counts as a start that failed."""
MAX_SHORT_LIVES: Final = 5
"""Number of short-lived nbdkit processes in a row after which it is not started again."""
GRACE_S: Final = 5
"""Seconds for which the plugin waits for clients to disconnect (`GRACE` in crates/nbd/src/served.rs)."""

MAX_ASKED: Final = 2
"""Times that somebody asks for an end and waits for it."""

KEEP_EVERY_S: Final = 5.0
"""Interval in seconds at which the plugin writes its recording (`KEEP` in crates/nbd/src/served.rs), and at which pslc
saves it."""
UNFINISHED: Final = "the drive was served, and pslc serve has not ended"
"""Error of a recording that is kept while the drive is served."""

Say = Callable[[str], None]
Keep = Callable[[Recording], None]


class Server:
    """nbdkit, serving one drive. Use it as a context, which starts it; `stop` ends it from a signal handler.

    Raises:
        PslcError: the drive, its data or the address cannot be used, or nbdkit is not there.
        KeyboardInterrupt: it was stopped while it started.
    """

    def __init__(
        self, spec: str, at: Address, data: str | None = None, speed: float = 1.0, options: Sequence[str] = ()
    ) -> None:
        self.address, self._speed, self._options = at, speed, options
        self._nbdkit: Nbdkit | None = None
        self._asked, self._answered = 0, 0
        self._ended = False
        self._starts, self._short_lives = 0, 0
        self._full = False
        self._kept = ExitStack()
        self.state: State | None = None
        self._program = program()
        self._target = find_target(spec)
        if self._target.is_real:
            raise TargetError(
                f"{spec} is a real drive, and pslc serves simulated ones", "qemu-nbd and nbdkit file serve real drives"
            )
        self.data = data or ("keep" if self._target.stays else "memory")
        if self.data == "keep" and not self._target.stays:
            hint = f"pslc drives create disk.pslc --like {spec.partition(':')[2]} makes one that stays"
            raise TargetError(f"{spec} does not outlast serve, so its data cannot be kept", f"--data memory; {hint}")
        try:
            self._prepare(spec)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Server:
        try:
            self._start(wanted=lambda: not self._asked)
            if self._asked:
                raise KeyboardInterrupt
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def target(self) -> Target:
        """Target that is served: a simulated drive."""
        return self._target

    def stop(self) -> None:
        """End it: what is under way completes, and the drive is saved once nobody is connected, or five seconds later.
        The second time it waits for nobody; the third time nbdkit is killed, and what was flushed is in the journal."""
        self._asked += 1
        if self._nbdkit is None:
            return
        if self._asked == 1:
            self._nbdkit.terminate()
            self._listener.refuse()
        elif self._asked == 2:
            self._nbdkit.hurry()
        else:
            self._nbdkit.kill()

    def run(self, look: Callable[[State], None], say: Say, keep: Keep | None = None) -> Recording:
        """Serve until somebody stops it; `look` is called several times a second, `say` with what the user has to know,
        `keep` every `KEEP_EVERY_S` with what was recorded so far. What was served is a recording; one whose drive could
        not be saved has an error."""
        error = self._serve(look, say, keep)
        assert self._nbdkit is not None
        try:
            return self._recorded(f"nbdkit ended before the drive was saved: {error}" if error else None)
        except RecordingError:
            raise TargetError(f"nbdkit ended: {error or self._nbdkit.why}", "nothing was recorded") from None

    def _recorded(self, error: str | None) -> Recording:
        """What the plugin has recorded.

        Raises:
            RecordingError: it has not written anything down.
        """
        recorded = served_recording(str(self._folder.path / "recording"))
        result: Result = {**recorded, "wall_s": monotonic() - self._begun}
        if error is not None:
            result["error"] = error
        return of_result(self._common(), result)

    def close(self) -> None:
        """End it if it has not ended."""
        if self._nbdkit is not None:
            self._nbdkit.end()
        self._kept.close()

    def _prepare(self, spec: str) -> None:
        """All that outlives nbdkit: the drive's file, the data of one that is in memory, the socket."""
        drive = self._target.open()
        assert isinstance(drive, SimDrive)
        self._folder = self._kept.enter_context(WorkingFolder())
        self._path = Path(spec).absolute()
        if not self._target.stays:
            self._path = self._folder.path / "disk.pslc"
            drive.save(str(self._path))
        # From here on it is the plugin's.
        drive.close()
        self._descriptors = {"lock": self._folder.lock}
        if self.data == "memory":
            memory = os.memfd_create("pslc")
            self._kept.callback(os.close, memory)
            self._descriptors["memory"] = memory
        self._listener = Listener(self.address)
        self._kept.callback(self._listener.close)
        self._begun, self._began_unix_ns = monotonic(), time_ns()

    def _start(self, wanted: Callable[[], bool]) -> None:
        settings = {"drive": str(self._path), "data": self.data, "speed": repr(self._speed)}
        settings["recording"] = str(self._folder.path / "recording")
        settings["exportdesc"] = f"fixed:{self._described()}"
        if self.address.unix is not None:
            settings["unix"] = "true"
        self._nbdkit = Nbdkit(self._program, self._listener, settings, self._options, self._descriptors, wanted)
        self._starts += 1
        self._hear(self._nbdkit.first)

    def _serve(self, look: Callable[[State], None], say: Say, keep: Keep | None) -> str | None:
        """Returns why the drive could not be saved, if it could not."""
        kept_at = monotonic()
        while True:
            assert self._nbdkit is not None
            for line in self._nbdkit.lines():
                self._hear(line)
                if self.state is not None:
                    look(self.state)
                self._say(say)
                if keep is not None and monotonic() > kept_at + KEEP_EVERY_S:
                    kept_at = monotonic()
                    with suppress(RecordingError):
                        keep(self._recorded(UNFINISHED))
            code = self._nbdkit.wait()
            if self._ended or code == 0:
                for warning in self._nbdkit.warnings:
                    say(f"warning: {warning}")
                return None
            if self._asked and (code > 0 or self._asked > MAX_ASKED):
                return self._nbdkit.why
            # Also where it is to end: the drive goes from its journal into its file.
            error = self._again(say)
            if error is not None:
                return error

    def _again(self, say: Say) -> str | None:
        """Start nbdkit after its death; returns why that cannot be."""
        assert self._nbdkit is not None
        died = self._nbdkit
        self._short_lives = self._short_lives + 1 if monotonic() - died.began < MIN_LIFE_S else 0
        if self._short_lives >= MAX_SHORT_LIVES:
            return died.why
        last = "".join(f"\n  {line}" for line in died.last_lines)
        say(f"warning: nbdkit ended: {died.why}. It is started again on the journal, clients have to connect again. "
            f"What they had flushed is there{':' if last else '.'}{last}")  # fmt: skip
        died.end()
        try:
            self._start(wanted=lambda: True)
        except TargetError as error:
            return f"{died.why}; {error.message}"
        assert self._nbdkit is not None
        if self._asked:
            self._nbdkit.terminate()
        return None

    def _say(self, say: Say) -> None:
        """What has to be known now."""
        state = self.state
        if state is not None and state.full and not self._full:
            self._full = True
            say(f"warning: the disk of {self._path.name} is full: writes are refused until there is room again; trims "
                "and flushes are not")  # fmt: skip
        if self._asked <= self._answered:
            return
        self._answered = self._asked
        if self._asked == 1 and state is not None and state.clients:
            say(f"{_connected(state)}. Requests are refused from now on. The drive is saved once all are disconnected, "
                f"in {GRACE_S} s, or at the next Ctrl-C")  # fmt: skip
        elif self._asked == 2:
            say("the drive is saved; the next Ctrl-C kills nbdkit, and leaves what was flushed in the journal")

    def _described(self) -> str:
        what = {
            "keep": "its data stay",
            "memory": "its data are gone at the end",
            "none": "it holds no data: zeros are read",
        }
        speed = "" if self._speed == 1 else f", {self._speed:g} times as fast"
        return f"{self._target.name}, simulated by pslc{speed}; {what[self.data]}"

    def _hear(self, line: str | None) -> None:
        if line is None:
            return
        with suppress(ValueError):
            status: PluginStatus = json.loads(line)
            self._ended = self._ended or status["last"]
            self.state = State.of(status)

    def _common(self) -> Common:
        target, state = self._target, self.state
        served: Served = {"data": self.data, "speed": self._speed, "deaths": self._starts - 1}
        if state is not None:
            served = {
                **served,
                "way_s": state.way_s,
                "replies": state.replies,
                "late_s": state.late_s,
                "late_p99_s": state.late_p99_s,
                "drive_s": state.drive_s,
                "turn_s": state.turn_s,
                "busy": state.busy,
                "too_slow": state.too_slow,
            }
        common = target.common("serve", began_unix_ns=self._began_unix_ns)
        return {**common, "facts": target.facts | Facts(served=served)}


def _connected(state: State) -> str:
    """`2 clients are connected (fio, process 123; qemu-img, process 124)`."""
    named = [_process(name) if name.isdigit() else name for name in state.named if name]
    more = state.clients - len(named)
    if named and more:
        named.append(f"{words.count(more)} more")
    verb = "client is" if state.clients == 1 else "clients are"
    return f"{words.count(state.clients)} {verb} connected" + (f" ({'; '.join(named)})" if named else "")


def _process(pid: str) -> str:
    with suppress(OSError):
        return f"{Path(f'/proc/{pid}/comm').read_text(errors='backslashreplace').strip()}, process {pid}"
    return f"process {pid}"
