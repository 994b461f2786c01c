"""`pslc.serve`: a simulated drive for other programs, from a script."""

from __future__ import annotations

from concurrent.futures import wait
from pathlib import Path
from types import TracebackType
from typing import Self

from pslc.recording.model import Recording
from pslc.runner.load import analysed
from pslc.serving.listening import Address
from pslc.serving.server import Server


def serve(
    on: str, *, unix: str | Path | None = None, tcp: int | None = None, data: str | None = None, speed: float = 1.0
) -> ServedDrive:
    """Serve a simulated drive in real time as a network block device, for as long as a `with` lasts.

    Args:
        on: `sim:NAME[,key=value...]` or the file of a drive.
        unix: path of the socket (default: as `pslc serve`, in the current folder; on Windows port 10809).
        tcp: port on this machine, in place of the socket.
        data: `keep`, `memory` or `none` (default: `keep` for a file, else `memory`).
        speed: drive seconds in a second.

    Returns:
        What a `with` starts: `uri` is its address, and `recording` what was served, once the `with` ended.

    Raises:
        PslcError: the drive or the address cannot be used.
    """
    name = Path(on.partition(":")[2].partition(",")[0] or on).stem
    address = Address.choose(name, None if unix is None else Path(unix), None if tcp is None else str(tcp))
    return ServedDrive(Server(on, address, data, speed))


class ServedDrive:
    """A drive that is served while a `with` lasts.

    Attributes:
        recording: what was served, with its findings; None until the `with` ended, or where nobody asked for anything.
        warnings: sentences on what happened meanwhile.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self.recording: Recording | None = None
        self.warnings: list[str] = []

    @property
    def uri(self) -> str:
        """NBD URI of the drive: `nbd+unix:///?socket=...`."""
        return self._server.address.uri

    def __enter__(self) -> Self:
        self._server.__enter__()
        self._served = self._server.start(lambda _: None, self.warnings.append)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.stop()
        wait([self._served])
        self._server.__exit__()
        if kind is None:
            self.recording = analysed(self._served.result())
