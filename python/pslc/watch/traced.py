"""Every request of a drive while it is watched, as the kernel's block events: a trace that replays on a twin.

They are taken from tracefs, in an instance of its own, so that no other tracing on the machine is disturbed, and no
program is needed. blktrace asks for the same events in another way.
"""

import os
import select
from pathlib import Path
from threading import Event, Thread
from typing import Final

from pslc.base import writer
from pslc.base.errors import TargetError
from pslc.device import probe

PLACES: Final = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
BUFFER_KIB: Final = 8192
"""Trace buffer for each processor, in KiB: about 100 000 requests, which are read every half second or sooner."""
EVENT: Final = "events/block/block_rq_issue"
OPTIONS: Final = ("nobin", "nohex", "noraw", "noverbose", "context-info")
"""A new instance is born with the options of the whole machine's tracing, whoever has set them; these give lines."""


class Traced:
    """Writes the requests of a drive into a file, from now on until `close`."""

    def __init__(self, number: int, into: Path) -> None:
        """`number` is that of the device, as in `st_rdev`; of a partition all of its drive is traced.

        Raises:
            PslcError: the kernel shows no events of it.
        """
        disks = [path for path in probe.stack(number) if not (path / "partition").exists()]
        if not disks or disks[0].name.startswith(("dm-", "md")):
            below = f": pslc watch /dev/{disks[-1].name} --trace" if disks else ""
            raise TargetError("only physical drives can be traced, not devices made of them", f"trace the drive{below}")
        place = next((path for path in PLACES if (path / "instances").is_dir()), None)
        if place is None:
            raise TargetError(
                "--trace needs the kernel's tracefs, which is not mounted, or not readable without root",
                "mount -t tracefs none /sys/kernel/tracing, as root; or use blktrace: pslc replay takes its files",
            )
        major, _, minor = (disks[0] / "dev").read_text().strip().partition(":")
        self._instance = place / "instances" / f"pslc-{os.getpid()}"
        try:
            writer.folder(self._instance, new=True)
            for option in OPTIONS:
                self._tell("trace_options", option)
            self._tell("buffer_size_kb", str(BUFFER_KIB))
            # The kernel's own number, with 20 bits for the minor one.
            self._tell(f"{EVENT}/filter", f"dev == {int(major) << 20 | int(minor)}")
            self._pipe = os.open(self._instance / "trace_pipe", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            self._file = writer.Growing(into)
            self._tell(f"{EVENT}/enable", "1")
        except OSError as error:
            self._remove()
            raise TargetError(
                f"--trace: {error.filename or self._instance}: {error.strerror}", "run it as root, into a new folder"
            ) from None
        self.error: str | None = None
        self._ended = Event()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def close(self) -> None:
        """No more of them; what the kernel still holds is written."""
        try:
            self._tell(f"{EVENT}/enable", "0")
        finally:
            self._ended.set()
            self._reader.join()
            os.close(self._pipe)
            self._file.close()
            self._remove()

    def _tell(self, name: str, value: str) -> None:
        writer.tell_kernel(self._instance / name, value)

    def _remove(self) -> None:
        if self._instance.is_dir():
            self._instance.rmdir()

    def _write(self, data: bytes) -> None:
        """Append to the file, up to the first error; what comes after it is read, and kept nowhere."""
        if self.error is None:
            try:
                self._file.write(data)
            except OSError as error:
                self.error = f"{error.filename}: {error.strerror}"

    def _read(self) -> None:
        while True:
            last = self._ended.is_set()
            select.select([self._pipe], [], [], 0 if last else 0.5)
            try:
                while data := os.read(self._pipe, 1 << 20):
                    self._write(data)
            except BlockingIOError:
                pass
            if last:
                return
