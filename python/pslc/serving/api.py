"""`pslc.serve`: a simulated drive for other programs, from a script."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Self

from pslc.base.errors import TargetError
from pslc.recording.store import Recording
from pslc.runner.load import analysed
from pslc.serving.listening import Address
from pslc.serving.server import Server


def serve(
    on: str, *, unix: str | Path | None = None, tcp: int | None = None, data: str | None = None, speed: float = 1.0
) -> ServedDrive:
    """Serve a simulated drive in real time as a network block device, for as long as a `with` lasts.

    Args:
        on: `sim:NAME[,key=value...]` or the file of a drive.
        unix: path of the socket (default: a name in the current folder, as `pslc serve` makes it).
        tcp: port on this machine, in place of the socket.
        data: `keep`, `memory` or `none` (default: `keep` for a file, else `memory`).
        speed: drive seconds in a second.

    Returns:
        What a `with` starts: `uri` is its address, and `recording` what was served, once the `with` ended.

    Raises:
        PslcError: the drive or the address cannot be used, or nbdkit is not installed.
    """
    if unix is not None and tcp is not None:
        raise TargetError("unix and tcp exclude each other", "give one of them")
    name = Path(on.partition(":")[2].partition(",")[0] or on).stem
    address = Address(Path(unix) if unix is not None else Path(f"{name}.sock")) if tcp is None else Address(None, tcp)
    return ServedDrive(Server(on, address, data, speed))


class ServedDrive:
    """A drive that is served while a `with` lasts.

    Attributes:
        recording: what was served, with its findings; None until the `with` ended, or where nobody asked for anything.
        warnings: sentences on what happened meanwhile.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._kept = ExitStack()
        self._thread = Thread(target=self._run, daemon=True)
        self._error: BaseException | None = None
        self.recording: Recording | None = None
        self.warnings: list[str] = []

    @property
    def uri(self) -> str:
        """NBD URI of the drive: `nbd+unix:///?socket=...`."""
        return self._server.address.uri

    def __enter__(self) -> Self:
        self._kept.enter_context(self._server)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.stop()
        self._thread.join()
        self._kept.close()
        if self._error is not None and kind is None:
            raise self._error

    def _run(self) -> None:
        try:
            self.recording = analysed(self._server.run(lambda _: None, self.warnings.append))
        except BaseException as error:
            self._error = error
