"""Data on a real drive, read past the page cache: files of a folder, or places of a whole device. Nothing is
written, and where the kernel lets us no access time either."""

import errno
import mmap
import os
import random
import stat
from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter, time
from typing import Final, NamedTuple

from pslc._native import created_unix_s
from pslc.base.errors import TargetError

REQUEST_BYTES: Final = 1 << 20
MIN_FILE_BYTES, MAX_FILE_BYTES = 4 << 20, 64 << 20
"""Smallest file whose speed is that of its data, and what is read of a larger one."""
GROUP_BYTES: Final = 1 << 30
"""Bytes that are read of the files of one age."""
PLACES, PLACE_BYTES = 256, 16 << 20
"""Places of a device, evenly over its address, and what is read at each."""
QUICK_RATIO: Final = 8
HINT: Final = "give a folder with files of 4 MiB or more, or a block device: pslc run old-data --on /home"


class Extent(NamedTuple):
    """Bytes to read. `at` is the age in seconds of a file, the address on a device."""

    path: Path
    offset: int
    bytes: int
    at: float


Choice = tuple[list[Extent], int]
"""Extents to read, and the number of files left out since their data may be of several ages."""


def choose(path: Path, borders_s: Sequence[float], look: Callable[[int], None], *, seed: int, quick: bool) -> Choice:
    """Choose what to read of a device, or of a folder: files drawn by the seed, as many bytes of each age.

    Args:
        borders_s: ages from which files are of another group.
        look: called for each folder, with the bytes of the files so far.

    Raises:
        TargetError: there is nothing to read.
    """
    if not hasattr(os, "O_DIRECT"):
        raise TargetError("this system cannot read past its page cache", "run old-data on Linux, or on sim:NAME")
    ratio = QUICK_RATIO if quick else 1
    try:
        if path.is_block_device():
            chosen, mixed = list(_places(path, PLACE_BYTES // ratio)), 0
        else:
            chosen, mixed = _of_files(path, borders_s, GROUP_BYTES // ratio, random.Random(seed), look)
    except OSError as error:
        is_denied = error.errno in (errno.EACCES, errno.EPERM)
        hint = f"sudo $(command -v pslc) run old-data --on {path}" if is_denied else HINT
        raise TargetError(f"{path}: {error.strerror}", hint) from None
    if not chosen:
        left_out = f"; files changed long after they were made: {mixed}" if mixed else ""
        raise TargetError(f"{path} holds nothing of 4 MiB or more that can be read{left_out}", HINT)
    return chosen, mixed


def _places(device: Path, size: int) -> Iterator[Extent]:
    number = _opened(device)
    end = os.lseek(number, 0, os.SEEK_END)
    os.close(number)
    size = min(size, end // PLACES) // REQUEST_BYTES * REQUEST_BYTES
    for place in range(PLACES if size else 0):
        offset = end // PLACES * place // REQUEST_BYTES * REQUEST_BYTES
        yield Extent(device, offset, size, offset)


def _of_files(
    folder: Path, borders_s: Sequence[float], limit: int, rng: random.Random, look: Callable[[int], None]
) -> Choice:
    """Files of each age up to a limit of bytes, in an order that mixes the ages: what drifts is shared by all.

    Data were written between the file's birth and its last change. Where these are of two groups, as of a database, of
    a file that was renamed or got a link, the age of its data is not known, and it is left out.
    """
    files, total = list[tuple[Extent, float]](), 0
    for own in _folders(folder, folder.stat().st_dev):
        files += own
        total += sum(extent.bytes for extent, _ in own)
        look(total)
    certain = sorted(extent for extent, born_s in files if bisect(borders_s, extent.at) == bisect(borders_s, born_s))
    rng.shuffle(certain)
    left, chosen = [limit] * (len(borders_s) + 1), []
    for extent in certain:
        group = bisect(borders_s, extent.at)
        if left[group] > 0:
            left[group] -= extent.bytes
            chosen.append(extent)
    return chosen, len(files) - len(certain)


def _folders(folder: Path, device: int) -> Iterator[list[tuple[Extent, float]]]:
    """Large regular files without holes, and their ages since birth: of a folder, then of each folder in it. `at` is
    the age of the last change (ctime): an older mtime is that of what was copied or unpacked."""
    now, folders, files = time(), list[Path](), list[tuple[Extent, float]]()
    for entry in os.scandir(folder):
        try:
            about = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        if about.st_dev != device or not os.access(entry.path, os.R_OK):
            continue
        if stat.S_ISDIR(about.st_mode) and os.access(entry.path, os.X_OK):
            folders.append(Path(entry.path))
        elif stat.S_ISREG(about.st_mode) and about.st_blocks * 512 >= about.st_size >= MIN_FILE_BYTES:
            size = min(about.st_size, MAX_FILE_BYTES) // REQUEST_BYTES * REQUEST_BYTES
            born = created_unix_s(entry.path) or about.st_ctime
            changed_s, born_s = (max(now - at, 0.0) for at in (about.st_ctime, born))
            files.append((Extent(Path(entry.path), 0, size, changed_s), born_s))
    yield files
    for inner in folders:
        yield from _folders(inner, device)


def _opened(path: Path) -> int:
    flags = os.O_RDONLY | os.O_DIRECT | os.O_NONBLOCK
    try:
        return os.open(path, flags | os.O_NOATIME)
    except PermissionError:
        # The file is another user's.
        return os.open(path, flags)


def read(extent: Extent, buffer: mmap.mmap) -> tuple[int, float]:
    """Read an extent, one request after the other: bytes, and the time of the reads alone.

    Raises:
        OSError: it cannot be read.
    """
    number = _opened(extent.path)
    done, seconds, size = 0, 0.0, 1
    try:
        while done < extent.bytes and size:
            began = perf_counter()
            size = os.preadv(number, [buffer], extent.offset + done)
            seconds += perf_counter() - began
            done += size
    finally:
        os.close(number)
    return done, seconds
