"""The one way in which pslc makes files and folders: whole or not at all, and never over what is not its own.

A file is written without a name, or with one that nobody guesses, and gets its own when it is whole and on the disk, so
that a power cut leaves the file before or the new one. Links, files with
several names, devices, pipes, sockets and read-only files are never replaced. The work is the native part's
(`crates/drive/src/files`)."""

import errno
import io
import os
import shutil
import sys
import tempfile
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from pslc._native import NewFile, check_file, hand_over, remove_file, write_file
from pslc.base import gate, locks
from pslc.base.errors import TargetError, user_error


class Replace(StrEnum):
    """Existing files that may be replaced: none; only files that pslc wrote and nobody changed since; or any regular
    file, because the command line names it."""

    NEVER = "never"
    OURS = "ours"
    ANY = "any"


STDOUT: Final = Path("-")
"""The name of stdout, where the command line names it."""
OUTLIVES_RESTART: Final = Path("/var/tmp")
"""Folder of temporary files that a restart does not empty, unlike /tmp."""
PAGE: Final = "<!doctype html>\n<!-- A page of pslc, which it may replace. -->\n"
"""First lines of each HTML page that pslc writes."""
DRIVE_FILE: Final = gate.Expected(
    "pslc drives create FILE --like NAME makes the file of a drive", TargetError, sys.maxsize
)
"""A drive in a file, whose length the native part has judged before."""
BEGINNINGS: Final = {".html": PAGE.encode(), ".json": b'{\n "schema": ', ".parquet": b"PAR1"}
"""First bytes of pslc's own files, by the end of their name. Copies are recognized by them, and files where no mark is
possible."""


def write(path: Path, data: str | bytes, replace: Replace = Replace.OURS, *, private: bool = False) -> None:
    """Make a file of a text (in UTF-8) or of bytes. It is on the disk afterwards, under its name.

    Args:
        private: nobody else may read it.

    Raises:
        GuardError: what has the name may not be replaced.
        OSError: the file cannot be written; what was there is as it was.
    """
    raw = data.encode("utf-8", errors="backslashreplace") if isinstance(data, str) else data
    if path == STDOUT and replace is Replace.ANY:
        sys.stdout.flush()
        with open(1, "wb", closefd=False) as stdout:
            stdout.write(raw)
        return
    write_file(str(path), raw, replace.value, _beginning(path, replace), private)


def check(path: Path, replace: Replace = Replace.OURS) -> None:
    """Find out whether `write` could make a file of a block; nothing is left there.

    Raises:
        GuardError: what has the name may not be replaced.
        OSError: no file can be written there.
    """
    check_file(str(path), replace.value, _beginning(path, replace))


def check_ending(path: Path, *endings: str) -> None:
    """Check that a name fits the form of what is written; `-` is stdout.

    Raises:
        PslcError: it has another ending.
    """
    if path != STDOUT and path.suffix not in endings:
        raise user_error(f"{path} does not end in {' or '.join(endings)}", f"-o {path.with_suffix(endings[0])}")


def remove(path: Path, replace: Replace = Replace.OURS) -> None:
    """Remove a file that `write` might replace, or nothing where there is none.

    Raises:
        GuardError: what has the name may not be removed.
        OSError: it cannot be removed.
    """
    remove_file(str(path), replace.value, _beginning(path, replace))


def remove_folder(path: Path) -> None:
    """Remove a folder that pslc made for itself alone, and all that is in it; what cannot be removed stays. Links are
    removed, never followed."""
    shutil.rmtree(path, ignore_errors=True)


def remove_locked(path: Path, lock: int) -> None:
    """Remove a folder whose lock this process has, and all that is in it; then the lock ends."""
    if sys.platform == "win32":
        # A file that is open cannot be removed.
        os.close(lock)
        remove_folder(path)
    else:
        remove_folder(path)
        os.close(lock)


def remove_empty(path: Path) -> None:
    """Remove a folder if nothing is in it.

    Raises:
        OSError: something is, or it cannot be removed.
    """
    path.rmdir()


def _beginning(path: Path, replace: Replace) -> bytes | None:
    """Beginning of a file of that name if it is pslc's."""
    return BEGINNINGS.get(Path(path.name.removesuffix(".part")).suffix) if replace is Replace.OURS else None


class Stream:
    """A file that is written piece by piece and gets its name at the end of a `with`; none where that ends in an error.

    Raises:
        GuardError: what has the name may not be replaced.
        OSError: the file cannot be written.
    """

    def __init__(self, path: Path, replace: Replace = Replace.OURS) -> None:
        self._file = NewFile(str(path), replace.value)
        self._bytes = 0
        self.error: OSError | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None or self.error is not None:
            self._file.discard()
        if kind is None and self.error is not None:
            raise self.error
        if kind is None:
            self._file.commit()

    def write(self, data: bytes) -> int:
        """Append bytes. After an error nothing more is written: some writers do not survive one, so it is raised at the
        end."""
        if self.error is None:
            try:
                self._file.write(bytes(data))
            except OSError as error:
                self.error = error
        self._bytes += len(data)
        return len(data)

    def tell(self) -> int:
        """Bytes written so far."""
        return self._bytes

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Position in the stream, in bytes. The stream is written at its end only.

        Raises:
            OSError: anything else is asked for.
        """
        if (offset, whence) not in ((0, os.SEEK_CUR), (0, os.SEEK_END), (self._bytes, os.SEEK_SET)):
            raise OSError(errno.ESPIPE, os.strerror(errno.ESPIPE))
        return self._bytes

    def flush(self) -> None:
        """There is nothing to be flushed."""

    def close(self) -> None:
        """The end of the `with` closes it."""


class Growing(io.FileIO):
    """A new file that others may read while it grows.

    Raises:
        OSError: it cannot be made, something has the name, or it cannot be written, with its name.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        super().__init__(path, "wb", opener=lambda name, _: os.open(name, locks.CREATE, 0o666))
        _hand_over(path)

    def write(self, data: Any) -> int:
        """Append bytes, as many as there is room for."""
        try:
            return super().write(data)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._path)) from None


def tell_kernel(path: Path, value: str) -> None:
    """Write a setting to one of the kernel's own files, which is there.

    Raises:
        OSError: it is not, or the kernel does not take it.
    """
    number = os.open(path, os.O_WRONLY | os.O_TRUNC | locks.NO_LINK | locks.BYTES)
    try:
        os.write(number, value.encode())
    finally:
        os.close(number)


def folder(path: Path, *, new: bool = False) -> None:
    """Make a folder and those above it.

    Args:
        new: it may not be there.

    Raises:
        OSError: it cannot be made.
    """
    missing = [above for above in (path, *path.parents) if not above.exists()]
    if not missing:
        path.mkdir(exist_ok=not new)
    for created in reversed(missing):
        created.mkdir(exist_ok=not (new and created == path))
        if sys.platform == "win32":
            continue
        # Whatever the umask: what follows is made in it.
        created.chmod(created.stat().st_mode | 0o700)
        _hand_over(created)
        # Else a power cut takes the folder with all that is in it.
        number = os.open(created.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _hand_over(path: Path) -> None:
    """Give what was made in a folder of theirs to who became root by sudo."""
    if "SUDO_UID" in os.environ:
        hand_over(str(path))


def temporary(prefix: str = "pslc-", within: Path | None = None) -> tempfile.TemporaryDirectory[str]:
    """A folder with a name that nobody guesses, removed with all that is in it at the end of a `with`."""
    created = tempfile.TemporaryDirectory(prefix=prefix, dir=within)
    Path(created.name).chmod(0o700)
    return created


def lasting(prefix: str = "pslc-", within: Path | None = None) -> Path:
    """Make a folder with a name that nobody guesses, where a restart of the machine leaves it (default: in /var/tmp,
    or TMPDIR). It stays until somebody removes it.

    Raises:
        OSError: it cannot be made.
    """
    if within is None and "TMPDIR" not in os.environ and os.access(OUTLIVES_RESTART, os.W_OK | os.X_OK):
        within = OUTLIVES_RESTART
    created = Path(tempfile.mkdtemp(prefix=prefix, dir=within))
    # Whatever the umask.
    created.chmod(0o700)
    return created


def copy(path: Path, to: Path) -> None:
    """Copy the file of a drive to where there is none.

    Raises:
        TargetError: it is no regular file.
        OSError: it cannot be copied.
    """
    with gate.opened(path, DRIVE_FILE) as source, Growing(to) as out:
        shutil.copyfileobj(source, out)


def unguessable(start: str, end: str) -> str:
    """A name of a file that nobody guesses."""
    return f"{start}{os.urandom(4).hex()}{end}"
