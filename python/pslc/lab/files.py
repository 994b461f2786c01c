"""Files that may change while the page is open."""

from pathlib import Path


def stamp(path: Path) -> int:
    """When a file changed last; 0 where there is none."""
    return path.stat().st_mtime_ns if path.is_file() else 0
