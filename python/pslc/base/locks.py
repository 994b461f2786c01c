"""Folders that are locked as long as a process lives, and how files are opened, on each system."""

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
BYTES: Final = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0)
"""Flags that open a lock file without translating its bytes, and not for child processes."""
READ: Final = os.O_RDONLY | BYTES | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
"""Without waiting: to open a pipe takes as long as nobody writes to it."""
CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | BYTES | NO_LINK

if sys.platform == "win32":
    import msvcrt

    LOCK_NAME: Final = ".lock"
    """Of the file that stands for its folder: a folder itself cannot be locked."""

    def lock_folder(path: Path) -> int | None:
        """A descriptor with the lock of a folder, which ends with it; None where it is another's, or gone."""
        if not path.is_dir() or path.is_symlink():
            return None
        with suppress(OSError):
            lock = os.open(path / LOCK_NAME, os.O_RDWR | os.O_CREAT | BYTES)
            try:
                msvcrt.locking(lock, msvcrt.LK_NBLCK, 1)
                return lock
            except OSError:
                os.close(lock)
        return None

    def is_ours(_: os.stat_result) -> bool:
        """Whether a folder among the temporary files is this user's, who has such files to himself here."""
        return True

else:
    import fcntl

    def lock_folder(path: Path) -> int | None:
        """A descriptor with the lock of a folder, which ends with it; None where it is another's, or gone."""
        with suppress(OSError):
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | NO_LINK | BYTES)
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(folder), path.lstat()):
                    return folder
            except OSError:
                pass
            os.close(folder)
        return None

    def is_ours(about: os.stat_result) -> bool:
        """Whether a folder among the temporary files is this user's."""
        return stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid()
