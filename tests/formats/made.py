"""Measurements that are known, in the forms of other programs: a curve with a cliff, second by second."""

from pathlib import Path

import numpy as np

from pslc import formats
from pslc.formats import FileContents
from pslc.schema.imports import ImportOptions

FIXTURES = Path(__file__).parents[1] / "fixtures"
CACHE_BYTES, CACHE_SPEED, CELL_SPEED, SECONDS = 24.0e9, 1.8e9, 0.42e9, 100


def speeds(cache: float = CACHE_BYTES, fast: float = CACHE_SPEED, slow: float = CELL_SPEED, seconds: int = SECONDS):
    """Bytes/s of each second: `fast` until `cache` bytes are written, then `slow`, with 2 % of noise."""
    rng = np.random.default_rng(7)
    found, written = [], 0.0
    for noise in 1 + 0.02 * rng.standard_normal(seconds):
        share = min(max((cache - written) / (fast * noise), 0.0), 1.0)
        found.append((share * fast + (1 - share) * slow) * noise)
        written += found[-1]
    return found


TOTAL_BYTES = sum(speeds())


def example(name: str) -> str:
    """A file of another program."""
    return (FIXTURES / name).read_text(encoding="utf-8")


def read(folder: Path, text: str | bytes, name: str = "file.txt", **hints: object) -> FileContents:
    """What pslc reads of a file."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_file(path, **hints)


def read_file(path: Path, **hints: object) -> FileContents:
    """What pslc reads of a file."""
    return formats.read([path], ImportOptions(**hints))
