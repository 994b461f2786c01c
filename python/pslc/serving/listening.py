"""Listening socket of a served drive. It outlives the process that answers."""

from __future__ import annotations

import errno
import os
import socket
import stat
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import quote

from pslc.base.errors import TargetError

MAX_PATH_BYTES: Final = 107
"""Longest path of a unix socket, in bytes (unix(7))."""
WAITING: Final = 4096
"""Clients that may wait to be answered; the kernel's own limit (net.core.somaxconn) is lower or the same."""


@dataclass(frozen=True)
class Address:
    """Address of a served drive: a unix socket, or a TCP port of `listen`."""

    unix: Path | None = None
    tcp: int | None = None
    listen: str = "127.0.0.1"

    @property
    def uri(self) -> str:
        """NBD URI of the address, as nbdinfo, qemu, fio and nbdfuse accept it."""
        if self.unix is not None:
            return f"nbd+unix:///?socket={quote(str(self.unix.absolute()))}"
        host = f"[{self.listen}]" if ":" in self.listen else self.listen
        return f"nbd://{host}:{self.tcp}"

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return self.unix is not None or ip_address(self.listen).is_loopback
        except ValueError:
            return self.listen == "localhost"


class Listener:
    """A socket that listens at an address. It outlives the program that answers there: who connects while none does
    waits.

    Raises:
        PslcError: somebody else listens there, or nobody can.
    """

    def __init__(self, at: Address) -> None:
        self._path = at.unix.absolute() if at.unix is not None else None
        self._socket = _unix(at.unix) if at.unix is not None else _tcp(at)
        self._socket.listen(WAITING)
        self._inode = self._number()

    def fileno(self) -> int:
        """File descriptor of the socket."""
        return self._socket.fileno()

    def refuse(self) -> None:
        """Refuse new connections from now on, even if other processes hold this socket."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Nobody can connect any more, and the path of a unix socket is free."""
        self.refuse()
        self._socket.close()
        if self._path is not None and self._inode is not None and self._number() == self._inode:
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
        hint = "give a socket in a folder that is there: --unix PATH"
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
        flags = socket.AI_PASSIVE | socket.AI_NUMERICSERV
        addresses = socket.getaddrinfo(at.listen, at.tcp, type=socket.SOCK_STREAM, flags=flags)
        family, kind, protocol, _, where = addresses[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
    except OSError as error:
        if listener is not None:
            listener.close()
        hint = "give another port or address: --tcp PORT --listen ADDRESS"
        raise TargetError(f"{at.listen}, port {at.tcp}: {error.strerror}", hint) from None
    return listener
