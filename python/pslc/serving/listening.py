"""Address of a served drive, and the socket that listens there."""

import errno
import os
import socket
import stat
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self
from urllib.parse import quote

from pslc.base import rights
from pslc.base.errors import TargetError
from pslc.base.http_server import is_local

MAX_PATH_BYTES: Final = 107
"""Longest path of a unix socket, in bytes (unix(7))."""
MAX_WAITING: Final = 4096
"""Clients that may wait to be answered; the kernel's own limit (net.core.somaxconn) is lower or the same."""
HAS_UNIX_SOCKETS: Final = hasattr(socket, "AF_UNIX")
NBD_PORT: Final = 10809
"""The port of NBD, by IANA."""


@dataclass(frozen=True)
class Address:
    """Address of a served drive on this machine: a unix socket, or a TCP port of `host`; `nvme` says whether it is an
    NVMe drive as well."""

    unix: Path | None = None
    tcp: int | None = None
    host: str = "127.0.0.1"
    nvme: bool = False

    @classmethod
    def choose(cls, name: str, unix: Path | None, tcp: str | None, nvme: bool = False) -> Self:
        """The address that somebody asks for: a path, `PORT` or `HOST:PORT`; without either a socket called `name`, or
        NBD's port where there are no unix sockets.

        Raises:
            TargetError: it is none, or other machines could reach it.
        """
        if unix is not None and tcp is not None:
            raise TargetError("a unix socket and a TCP port exclude each other", "give --unix or --tcp")
        if unix is not None and not HAS_UNIX_SOCKETS:
            raise TargetError("this system has no unix sockets for Python", f"--tcp {NBD_PORT}")
        if tcp is None and HAS_UNIX_SOCKETS:
            return cls(unix or Path(f"{name}.sock"), nvme=nvme)
        host, _, port = (tcp or str(NBD_PORT)).rpartition(":")
        if not port.isdecimal() or not 0 < int(port) < 1 << 16:
            raise TargetError(f"{tcp} is no TCP port", f"a port is a number from 1 to 65535, for example {NBD_PORT}")
        host = host.strip("[]") or cls.host
        if not is_local(host):
            raise TargetError(
                f"other machines can reach {host}, and NBD asks nobody for a password: pslc serves this machine only",
                f"on the other machine: ssh -N -L {port}:127.0.0.1:{port} THIS_MACHINE; here: --tcp {port}",
            )
        return cls(None, int(port), host, nvme)

    @property
    def uri(self) -> str:
        """NBD URI of the address, as nbdinfo, qemu, fio and nbdfuse accept it."""
        if self.unix is not None:
            return f"nbd+unix:///?socket={quote(str(self.unix.absolute()))}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"nbd://{host}:{self.tcp}"


class Listener:
    """A socket that listens at an address.

    Raises:
        PslcError: somebody else listens there, or nobody can.
    """

    def __init__(self, at: Address) -> None:
        self._path = at.unix.absolute() if at.unix is not None else None
        self._socket = _unix(at.unix) if at.unix is not None else _tcp(at)
        self._socket.listen(MAX_WAITING)
        self._inode = self._number()

    def fileno(self) -> int:
        """File descriptor of the socket."""
        return self._socket.fileno()

    def refuse(self) -> None:
        """Refuse new connections from now on."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    @property
    def is_removed(self) -> bool:
        """Whether somebody removed or replaced the unix socket, so that nobody can connect."""
        return self._path is not None and self._number() != self._inode

    def close(self) -> None:
        """Nobody can connect any more, and the path of a unix socket is free."""
        self.refuse()
        self._socket.close()
        if self._path is not None and not self.is_removed:
            with suppress(OSError):
                self._path.unlink()

    def _number(self) -> tuple[int, int] | None:
        if self._path is None:
            return None
        try:
            about = os.lstat(self._path)
        except OSError:
            return None
        return about.st_dev, about.st_ino


def _unix(path: Path) -> socket.socket:
    name = str(path.absolute())
    if len(os.fsencode(name)) > MAX_PATH_BYTES:
        raise TargetError(
            f"{name} is too long for a socket", f"at most {MAX_PATH_BYTES} bytes, for example --unix /tmp/disk.sock"
        )
    listener = socket.socket(socket.AF_UNIX)
    # It is the owner's alone from its first moment on.
    before = os.umask(0o177)
    try:
        try:
            listener.bind(name)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            _make_free(path)
            listener.bind(name)
    except OSError as error:
        listener.close()
        denied = isinstance(error, PermissionError)
        hint = rights.hint(path.parent) if denied else "give a socket in a folder that is there: --unix PATH"
        raise TargetError(f"{path}: {error.strerror}", hint) from None
    except TargetError:
        listener.close()
        raise
    finally:
        os.umask(before)
    return listener


def _make_free(path: Path) -> None:
    """Remove the socket of a server that was killed.

    Raises:
        PslcError: it is no socket, or somebody listens there.
    """
    name = str(path.absolute())
    if not stat.S_ISSOCK(os.lstat(name).st_mode):
        raise TargetError(f"{path} exists and is not a socket", "give another path: --unix PATH")
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1)
        try:
            probe.connect(name)
        except ConnectionRefusedError:
            os.unlink(name)
            return
        except OSError:
            pass
    raise TargetError(f"another program listens at {path}", "give another path: --unix PATH")


def _tcp(at: Address) -> socket.socket:
    listener = None
    try:
        [(family, kind, protocol, _, where), *_] = socket.getaddrinfo(at.host, at.tcp, type=socket.SOCK_STREAM)
        listener = socket.socket(family, kind, protocol)
        # On Windows this would share the port with whoever has it.
        if sys.platform != "win32":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
    except OSError as error:
        if listener is not None:
            listener.close()
        hint = rights.port_hint(error, "--tcp 10809", "give another port: --tcp PORT")
        raise TargetError(f"{at.host}, port {at.tcp}: {error.strerror}", hint) from None
    return listener
