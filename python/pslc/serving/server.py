"""nbdkit with our plugin, which serves one drive."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from time import monotonic, time_ns
from typing import IO, Final
from urllib.parse import quote

from pslc._native import SimDrive, served_recording
from pslc.errors import RecordingError, TargetError
from pslc.facts import Facts, Served
from pslc.recording import Common, Recording
from pslc.results import Result
from pslc.runner.run import of_result
from pslc.serving.state import State, Told
from pslc.targets.target import Target, find_target

PLUGIN: Final = Path(__file__).parent.parent / "nbdkit-pslc-plugin.so"
OLDEST: Final = (1, 30)
"""nbdkit's version from which it tells clients our block size."""
THREADS: Final = 72
"""Of a connection: 64 requests are under way at once, and some are read or answered."""
CLIENTS: Final = 200
"""Connections at once. Each has its threads, of which a small machine's kernel gives 32768 to all programs."""
BLOCK_SIZES: Final = {"minimum": "512", "preferred": "4096", "maximum": "32M", "error-policy": "error"}
LONGEST_PATH: Final = 107
"""Of a unix socket."""


@dataclass(frozen=True)
class Address:
    """Where clients find the drive: a unix socket, or a TCP port of `listen`."""

    unix: Path | None = None
    tcp: int | None = None
    listen: str = "127.0.0.1"

    @property
    def uri(self) -> str:
        """As nbdinfo, qemu, fio and nbdfuse take it."""
        if self.unix is not None:
            return f"nbd+unix:///?socket={quote(str(self.unix.absolute()))}"
        host = f"[{self.listen}]" if ":" in self.listen else self.listen
        return f"nbd://{host}:{self.tcp}"


class Server:
    """nbdkit, serving one drive. Use it as a context; `stop` ends it from a signal handler.

    Raises:
        PslcError: the drive, its data or the address cannot be used, or nbdkit is not there.
    """

    def __init__(
        self, spec: str, at: Address, data: str | None = None, speed: float = 1.0, options: Sequence[str] = ()
    ) -> None:
        self.address, self._speed = at, speed
        self._nbdkit: subprocess.Popen[str] | None = None
        self._stopped = False
        self._said: deque[str] = deque(maxlen=20)
        self._kept = ExitStack()
        self.state: State | None = None
        self._ended = False
        program = _program()
        _free(at)
        self._target = find_target(spec)
        if self._target.is_real:
            raise TargetError(
                f"{spec} is a real drive", "qemu-nbd or nbdkit file serve these; pslc serves simulated ones"
            )
        self.data = data or ("keep" if self._target.stays else "memory")
        if self.data == "keep" and not self._target.stays:
            hint = f"pslc drives create disk.pslc --like {spec.partition(':')[2]} makes one that stays"
            raise TargetError(f"{spec} is gone afterwards, and so are its data", f"--data memory; {hint}")
        try:
            self._start(program, spec, options)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def target(self) -> Target:
        """The drive."""
        return self._target

    def stop(self) -> None:
        """End it: what is under way completes, and the drive is saved."""
        self._stopped = True
        if self._nbdkit is not None and self._nbdkit.poll() is None:
            self._nbdkit.send_signal(signal.SIGTERM)

    def run(self, look: Callable[[State], None]) -> Recording:
        """Serve until somebody stops it; `look` is called several times a second. What was served is a recording; one
        whose server was killed has an error."""
        assert self._nbdkit is not None
        for line in self._told:
            self._hear(line)
            if self.state is not None:
                look(self.state)
        code = self._nbdkit.wait()
        self._reader.join()
        try:
            found = served_recording(str(self._folder / "recording"))
        except RecordingError:
            raise TargetError(f"nbdkit ended: {self._why(code)}", "nothing was recorded") from None
        result: Result = {**found, "wall_s": monotonic() - self._begun}
        if not self._ended:
            result["error"] = f"nbdkit ended before the drive was saved: {self._why(code)}"
        return of_result(self._common(), result)

    def close(self) -> None:
        """End it if it has not ended."""
        if self._nbdkit is not None and self._nbdkit.poll() is None:
            self.stop()
            self._nbdkit.wait()
        if self.address.unix is not None and self._nbdkit is not None:
            with suppress(OSError):
                self.address.unix.unlink()
        self._kept.close()

    def _start(self, program: str, spec: str, options: Sequence[str]) -> None:
        drive = self._target.open()
        assert isinstance(drive, SimDrive)
        self._folder = Path(self._kept.enter_context(tempfile.TemporaryDirectory(prefix="pslc-")))
        path = Path(spec).absolute()
        if not self._target.stays:
            path = self._folder / "disk.pslc"
            drive.save(str(path))
        # From here on it is the plugin's.
        drive.close()
        reads, writes = os.pipe()
        said: dict[str, str] = {"drive": str(path), "data": self.data, "speed": repr(self._speed)}
        said |= {"recording": str(self._folder / "recording"), "tell": str(writes)}
        said |= {f"blocksize-{name}": value for name, value in BLOCK_SIZES.items()}
        said["limit"] = str(CLIENTS)
        said["exportdesc"] = f"fixed:{self._described()}"
        named = [option for option in options if not option.startswith("-")]
        command = [program, "--exit-with-parent", f"--threads={THREADS}"]
        command += ["--filter=limit", "--filter=blocksize-policy", "--filter=exportname", *self._listening()]
        command += [option for option in options if option.startswith("-")]
        command += [str(PLUGIN), *(f"{name}={value}" for name, value in said.items()), *named]
        self._begun, self._began_unix_ns = monotonic(), time_ns()
        # Ctrl-C is ours: nbdkit in a group of its own does not hear it, and ends with us.
        self._nbdkit = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            errors="replace", pass_fds=(writes,), start_new_session=True,
        )  # fmt: skip
        os.close(writes)
        self._told: IO[str] = self._kept.enter_context(os.fdopen(reads, encoding="utf-8"))
        self._reader = Thread(target=self._listen, args=(self._nbdkit.stderr,), daemon=True)
        self._reader.start()
        if not (first := self._told.readline()):
            code = self._nbdkit.wait()
            self._reader.join()
            raise TargetError(f"nbdkit does not start: {self._why(code)}", "see nbdkit(1); the command was nbdkit "
                          + " ".join(command[1:]))  # fmt: skip
        self._hear(first)
        if self.address.unix is not None:
            made = self._private / "socket"
            made.chmod(0o600)
            made.rename(self.address.unix)

    def _listening(self) -> list[str]:
        """Where nbdkit listens. A unix socket is made in a folder of our own, and has its name once nobody else may
        use it."""
        unix = self.address.unix
        if unix is None:
            return [f"--port={self.address.tcp}", f"--ipaddr={self.address.listen}"]
        try:
            made = tempfile.TemporaryDirectory(prefix=".pslc-", dir=unix.absolute().parent)
        except OSError as error:
            raise TargetError(
                f"{unix}: {error.strerror}", "give a socket in a folder that is there: --unix PATH"
            ) from None
        self._private = Path(self._kept.enter_context(made))
        return [f"--unix={self._private / 'socket'}"]

    def _described(self) -> str:
        what = {
            "keep": "its data stay",
            "memory": "its data are gone at the end",
            "none": "it holds no data: zeros are read",
        }
        speed = "" if self._speed == 1 else f", {self._speed:g} times as fast"
        return f"{self._target.name}, simulated by pslc{speed}; {what[self.data]}"

    def _hear(self, line: str) -> None:
        with suppress(ValueError):
            said: Told = json.loads(line)
            self._ended = self._ended or said["last"]
            self.state = State.of(said)

    def _listen(self, errors: IO[str]) -> None:
        for line in errors:
            self._said.append(line.rstrip())

    def _why(self, code: int) -> str:
        said = [line for line in self._said if line]
        killed = f"it was killed ({signal.Signals(-code).name})" if code < 0 else f"exit code {code}"
        return said[-1].removeprefix("nbdkit: ").removeprefix("error: ") if said and code >= 0 else killed

    def _common(self) -> Common:
        target, state = self._target, self.state
        served: Served = {"data": self.data, "speed": self._speed}
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


def _program() -> str:
    """nbdkit, of a version that will do."""
    program = shutil.which("nbdkit")
    install = "apt install nbdkit (Debian, Ubuntu), dnf install nbdkit (Fedora), zypper install nbdkit (openSUSE)"
    if program is None:
        raise TargetError("nbdkit is not installed, which serves the drive", install)
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout.split()
    numbers = tuple(int(part) for part in said[1].split(".")[:2] if part.isdigit()) if len(said) > 1 else ()
    if numbers < OLDEST:
        raise TargetError(
            f"nbdkit is of version {said[1] if len(said) > 1 else 'unknown'}", f"1.30 or later: {install}"
        )
    if not PLUGIN.exists():
        raise TargetError(f"{PLUGIN.name} is not there", "make build makes it, on Linux")
    return program


def _free(at: Address) -> None:
    """Whether nobody else is at the address.

    Raises:
        PslcError: somebody is, or it cannot be one.
    """
    if at.unix is None:
        return
    path = str(at.unix.absolute())
    if len(os.fsencode(path)) > LONGEST_PATH - len(".pslc-12345678/"):
        most = LONGEST_PATH - len(".pslc-12345678/")
        raise TargetError(f"{path} is too long for a socket", f"{most} bytes at most: --unix /tmp/disk.sock")
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise TargetError(f"{at.unix} exists and is no socket", "give another path: --unix PATH")
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1)
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            return  # left by one that was killed
        except OSError:
            pass
    raise TargetError(f"something listens at {at.unix}", "give another path: --unix PATH")
