"""Texts of the user's: job files, profiles, tolerances."""

from pathlib import Path
from typing import Final

from pslc.errors import refusal

MOST_BYTES: Final = 16_000_000


def text(path: Path, what: str) -> str:
    """The text of a file.

    Args:
        what: what it should be, for the hint: "a profile is a TOML file".

    Raises:
        PslcError: it cannot be read, is no regular file (a device or a pipe may never end), is longer than
            `MOST_BYTES`, or is no UTF-8.
    """
    try:
        if path.exists() and not path.is_file():
            raise refusal(f"{path} is a {'folder' if path.is_dir() else 'device or a pipe'}", what)
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise refusal(f"{path} has {size} bytes; at most {MOST_BYTES}", what)
        # Some files of the kernel's say that they have 0 bytes.
        with path.open("rb") as file:
            return file.read(MOST_BYTES).decode("utf-8")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a text file"
        raise refusal(f"{path}: {why}", what) from None
