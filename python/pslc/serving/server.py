"""A served drive: its address, its server in the native part, and what is said and kept meanwhile."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Thread
from time import monotonic, time_ns
from typing import Final

from pslc._native import NbdServer, SimDrive
from pslc.base import words
from pslc.base.errors import TargetError
from pslc.device import arrays
from pslc.device.target import Target, find_target, is_drive, name_in
from pslc.recording.model import Common, Recording
from pslc.runner.step_runner import of_result
from pslc.schema.facts import Facts, Served, ServedStatus
from pslc.schema.results import Recorded, Result
from pslc.serving.faults import Faults, Loss
from pslc.serving.listening import Address, Listener
from pslc.serving.nvme import NvmeDrive
from pslc.serving.state import too_slow
from pslc.serving.ufs_files import UfsFiles

LOOK_EVERY_S: Final = 0.25
"""Interval in seconds between two looks at a drive in use."""
KEEP_EVERY_S: Final = 5.0
"""Interval in seconds at which the recording of a drive in use is saved."""
GRACE_S: Final = 5
"""Seconds for which clients may take to disconnect."""
MAX_JOURNAL_BYTES: Final = 64 << 20
"""Journal of a drive file from which on the drive is saved while it is served."""
UNFINISHED: Final = "the drive was served, and pslc serve has not ended"
"""Error of a recording that is kept while the drive is served."""

Look = Callable[[ServedStatus], None]
Say = Callable[[str], None]
Keep = Callable[[Recording], None]


class Server:
    """A drive that is served while a `with` lasts; `stop` ends it from a signal handler.

    Raises:
        PslcError: the drive, its data or the address cannot be used.
        KeyboardInterrupt: it was stopped while it began.
    """

    def __init__(
        self,
        spec: str,
        at: Address,
        data: str | None = None,
        speed: float = 1.0,
        sysfs: Path | None = None,
        faults: Faults | None = None,
    ) -> None:
        self.address, self._speed, self._faults = at, speed, faults
        self.nvme: NvmeDrive | None = None
        self._stops, self._full, self._file = 0, False, Path(spec).name
        self._is_socket_removed = False
        self._sysfs, self._files = sysfs, None  # type: Path | None, UfsFiles | None
        self._kept = ExitStack()
        self.status: ServedStatus | None = None
        if spec.startswith(arrays.PREFIX):
            hint = "serve each of its drives, pslc serve sim:NAME, and make the array of them with mdadm"
            raise TargetError(f"{spec} is an array, and pslc serves single drives", hint)
        if Path(spec).exists() and not is_drive(Path(spec)):
            what = "a real drive" if Path(spec).is_block_device() else "not a drive file"
            hint = "pslc drives create disk.pslc --like NAME makes one; qemu-nbd and nbdkit file serve real drives"
            raise TargetError(f"{spec} is {what}, and pslc serves simulated ones", hint)
        self.target: Target = find_target(spec)
        self.data = data or ("keep" if self.target.stays else "memory")
        if self.data == "keep" and not self.target.stays:
            hint = f"pslc drives create disk.pslc --like {spec.partition(':')[2]} makes one that stays"
            raise TargetError(f"{spec} does not outlast serve, so its data cannot be kept", f"--data memory; {hint}")
        if self.data != "keep" and faults is not None and faults.has_cut:
            hint = "pslc drives create disk.pslc --like NAME makes a drive that stays"
            raise TargetError("a power cut leaves what is in the cells, and only a drive in a file keeps that", hint)
        self._is_served = False

    def __enter__(self) -> Server:
        try:
            self._begin()
            # Nobody was told the address yet.
            if self._stops:
                raise KeyboardInterrupt
        except BaseException:
            self._kept.close()
            raise
        return self

    def _begin(self) -> None:
        drive = self.target.open()
        assert isinstance(drive, SimDrive)
        try:
            drive.check_save()
            self._listener = Listener(self.address)
            self._kept.callback(self._listener.close)
            number, about = self._listener.fileno(), self._described()
            self._native = NbdServer(drive, number, self.data, self._speed, about, MAX_JOURNAL_BYTES, self._faults)
            self._kept.callback(self._native.end)
        finally:
            drive.close()
        if self._sysfs is not None and (status := self._native.status()) is not None:
            # The journal of a drive file knows of no switch.
            switch = None if self.target.stays else self._native.switch_cache
            self._files = UfsFiles(self._sysfs, self.target.facts, status, switch)
            self._kept.callback(self._files.end)
        if self.address.nvme:
            self.nvme = NvmeDrive(self.address, self.target.name, Path(name_in(self.target.spec)).stem)
            self._kept.callback(self.nvme.take_back)
        self._begun, self._began_unix_ns = monotonic(), time_ns()
        self._is_served = True

    def __exit__(self, *_: object) -> None:
        self._kept.close()

    def stop(self) -> None:
        """End it: requests are refused, and the drive is saved once nobody is connected, or five seconds later. The
        second time it waits for nobody."""
        self._stops += 1
        if not self._is_served:
            return
        if self._stops == 1:
            if self.nvme is not None:
                self.nvme.take_back()
            self._listener.refuse()
            self._native.refuse()
        else:
            self._native.hurry()

    def run(self, look: Look, say: Say, keep: Keep | None = None, *, always: bool = False) -> Recording:
        """Serve until somebody stops it, from the main thread.

        Args:
            look: called several times a second while the drive is in use; also while it is not if `always`.
            say: called with what the user has to know.
            keep: called every `KEEP_EVERY_S` with what was recorded so far, while the drive is in use.

        Returns:
            What was served, with an error if the drive could not be saved.
        """
        recording = self.start(look, say, keep, always=always)
        _await(recording)
        return recording.result()

    def start(self, look: Look, say: Say, keep: Keep | None = None, *, always: bool = False) -> Future[Recording]:
        """Serve as `run` does, in a thread of its own."""
        recording: Future[Recording] = Future()

        def serve() -> None:
            try:
                recording.set_result(self._serve(look, say, keep, always))
            except BaseException as error:
                recording.set_exception(error)

        Thread(target=serve, daemon=True).start()
        return recording

    def _serve(self, look: Look, say: Say, keep: Keep | None, always: bool) -> Recording:
        kept_at, is_unkept = monotonic(), False
        # A cut at a time comes whether somebody asks or not.
        always |= self._files is not None or (self._faults is not None and self._faults.cut_s is not None)
        while status := self._native.watch(LOOK_EVERY_S, always or is_unkept):
            self._see(status, say)
            look(status)
            is_unkept = keep is not None
            if keep is not None and monotonic() > kept_at + KEEP_EVERY_S and (so_far := self._native.so_far()):
                keep(self._recording(so_far, UNFINISHED))
                kept_at, is_unkept = monotonic(), False
        return self._end(say)

    @property
    def writes(self) -> int:
        """Number of writes that came; 0 once it has ended."""
        status = self._native.status()
        return status["count"][1] if status else 0

    @property
    def loss(self) -> Loss | None:
        """Loss of data by a power cut; None if there was none."""
        loss = self._native.loss()
        return Loss(*loss) if loss else None

    def _end(self, say: Say) -> Recording:
        if loss := self.loss:
            say(loss.sentence)
            self._native.hurry()
        status = self._native.status()
        if status is not None:
            self._see(status, say)
            if status["clients"] and not loss:
                say(f"{_connected(status)}. Requests are refused from now on. The drive is saved once all are "
                    f"disconnected, in {GRACE_S} s, or at the next Ctrl-C")  # fmt: skip
                self._native.drain(GRACE_S)
        ended = self._native.end()
        assert ended is not None, "nobody else ends it"
        recorded, error, warnings = ended
        for warning in warnings:
            say(f"warning: {warning}")
        return self._recording(recorded, f"the drive could not be saved: {error}" if error else None)

    def _see(self, status: ServedStatus, say: Say) -> None:
        self.status = status
        if not self._is_socket_removed and self._listener.is_removed:
            self._is_socket_removed = True
            say(f"warning: {self.address.unix} was removed, so no further client can connect: start pslc serve anew")
        if self._files is not None:
            self._files.follow(status)
        for warning in status["warnings"]:
            say(f"warning: {warning}")
        if status["full"] and not self._full:
            self._full = True
            say(f"warning: the disk of {self._file} is full: writes are refused until there is room again; trims "
                "and flushes are not")  # fmt: skip

    def _described(self) -> str:
        what = {
            "keep": "its data stay",
            "memory": "its data are gone at the end",
            "none": "it holds no data: zeros are read",
        }
        speed = "" if self._speed == 1 else f", {self._speed:g} times as fast"
        return f"{self.target.name}, simulated by pslc{speed}; {what[self.data]}"

    def _recording(self, recorded: Recorded, error: str | None) -> Recording:
        result: Result = {**recorded, "wall_s": monotonic() - self._begun, "stalls": [], "gaps": []}
        if error is not None:
            result["error"] = error
        return of_result(self._common(), result)

    def _common(self) -> Common:
        served: Served = {"data": self.data, "speed": self._speed}
        if status := self.status:
            served |= {
                "way_s": status["way_s"],
                "replies": status["replies"],
                "late_s": status["late_s"],
                "late_p99_s": status["late_p99_s"],
                "drive_s": status["drive_s"],
                "turn_s": status["turn_s"],
                "busy": status["busy"],
                "too_slow": too_slow(status),
            }
        common = self.target.common("serve", began_unix_ns=self._began_unix_ns)
        return {**common, "facts": self.target.facts | Facts(served=served)}


def _await(recording: Future[Recording]) -> None:
    """Wait in the main thread, so that signals are heard whichever thread the system gives them to."""
    here, there = socket.socketpair()
    with here, there:
        there.setblocking(False)

        def wake(_: object) -> None:
            with suppress(OSError):
                there.send(b".")

        before = signal.set_wakeup_fd(there.fileno(), warn_on_full_buffer=False)
        recording.add_done_callback(wake)
        try:
            while not recording.done():
                here.recv(1)
        finally:
            signal.set_wakeup_fd(before)


def _connected(status: ServedStatus) -> str:
    """`2 clients are connected (fio, process 123; qemu-img, process 124)`."""
    count, named = status["clients"], [_process(name) if name.isdigit() else name for name in status["named"]]
    if named and (more := count - len(named)):
        named.append(f"{words.count(more)} more")
    verb = "client is" if count == 1 else "clients are"
    return f"{words.count(count)} {verb} connected" + (f" ({'; '.join(named)})" if named else "")


def _process(pid: str) -> str:
    with suppress(OSError):
        return f"{Path(f'/proc/{pid}/comm').read_text(errors='backslashreplace').strip()}, process {pid}"
    return f"process {pid}"
