"""Memory that is still free for this process."""

import os
import sys
from pathlib import Path


def free_bytes() -> int | None:
    """Memory that this process can still get, in bytes, within the limits of its control group and of `ulimit -v`; None
    if the system states no limit."""
    linux = _field("/proc/meminfo", "MemAvailable:")
    limits = [free for free in (linux, _windows(), _group(), _limit()) if free is not None]
    return max(min(limits), 0) if limits else None


def _windows() -> int | None:
    """Windows: physical memory that nobody has."""
    if sys.platform != "win32":
        return None
    import ctypes

    words = (ctypes.c_uint64 * 8)(64)
    return int(words[2]) if ctypes.WinDLL("kernel32").GlobalMemoryStatusEx(words) else None


def _group() -> int | None:
    """Free memory of the control group and those around it, with what the page cache holds."""
    smallest = None
    for line in _lines("/proc/self/cgroup"):
        if not line.startswith("0::"):
            continue
        folder = Path("/sys/fs/cgroup") / line.removeprefix("0::").lstrip("/")
        for group in (folder, *folder.parents):
            if not group.is_relative_to("/sys/fs/cgroup"):
                break
            limit, used = _number(group / "memory.max"), _number(group / "memory.current")
            if limit is not None and used is not None:
                cached = _field(str(group / "memory.stat"), "inactive_file", 1) or 0
                free = limit - used + cached
                smallest = free if smallest is None else min(smallest, free)
    return smallest


def _limit() -> int | None:
    try:
        import resource
    except ImportError:
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    pages = next(iter(_lines("/proc/self/statm")), "0").split()[0]
    return int(limit - int(pages) * os.sysconf("SC_PAGE_SIZE"))


def _field(path: str, name: str, unit: int = 1024) -> int | None:
    return next((int(line.split()[1]) * unit for line in _lines(path) if line.split()[:1] == [name]), None)


def _number(path: Path) -> int | None:
    text = next(iter(_lines(str(path))), "")
    return int(text) if text.isdigit() else None


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
