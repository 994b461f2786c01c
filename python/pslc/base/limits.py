"""Limits of this process, and what it took. Stands alone: the unpacker runs it by its path."""

import sys
from contextlib import suppress

if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    class _Limits(ctypes.Structure):
        """JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

        _fields_ = (
            ("process_time_100ns", ctypes.c_int64), ("job_time_100ns", ctypes.c_int64), ("flags", wintypes.DWORD),
            ("min_working_set", ctypes.c_size_t), ("max_working_set", ctypes.c_size_t),
            ("max_processes", wintypes.DWORD), ("affinity", ctypes.c_size_t), ("priority", wintypes.DWORD),
            ("scheduling", wintypes.DWORD), ("io", ctypes.c_uint64 * 6), ("process_bytes", ctypes.c_size_t),
            ("job_bytes", ctypes.c_size_t), ("peak_process_bytes", ctypes.c_size_t),
            ("peak_job_bytes", ctypes.c_size_t),
        )  # fmt: skip

    class _Memory(ctypes.Structure):
        """PROCESS_MEMORY_COUNTERS."""

        _fields_ = (
            ("size", wintypes.DWORD), ("faults", wintypes.DWORD), ("peak_working_set", ctypes.c_size_t),
            ("others", ctypes.c_size_t * 7),
        )  # fmt: skip

    _kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    _kernel.CreateJobObjectW.restype = wintypes.HANDLE
    _kernel.GetCurrentProcess.restype = wintypes.HANDLE
    _kernel.SetInformationJobObject.argtypes = (wintypes.HANDLE, ctypes.c_int, ctypes.c_void_p, wintypes.DWORD)
    _kernel.AssignProcessToJobObject.argtypes = (wintypes.HANDLE, wintypes.HANDLE)
    _kernel.K32GetProcessMemoryInfo.argtypes = (wintypes.HANDLE, ctypes.c_void_p, wintypes.DWORD)
    _EXTENDED_LIMITS, _BY_TIME, _BY_MEMORY = 9, 0x2, 0x100

    def limit(memory_bytes: int | None = None, seconds: int | None = None, private_bytes: int | None = None) -> bool:
        """Let this process take no more memory and processor time than that, from now on.

        Returns:
            Whether the system will see to it.
        """
        limits = _Limits()
        if memory_bytes is not None:
            limits.flags |= _BY_MEMORY
            limits.process_bytes = private_bytes or memory_bytes
        if seconds is not None:
            limits.flags |= _BY_TIME
            limits.process_time_100ns = seconds * 10_000_000
        job = _kernel.CreateJobObjectW(None, None)
        size = ctypes.sizeof(limits)
        set_up = job and _kernel.SetInformationJobObject(job, _EXTENDED_LIMITS, ctypes.byref(limits), size)
        return bool(set_up and _kernel.AssignProcessToJobObject(job, _kernel.GetCurrentProcess()))

    def peak_bytes() -> int:
        """The most memory that this process ever had; 0 where the system does not tell."""
        memory = _Memory(size=ctypes.sizeof(_Memory))
        _kernel.K32GetProcessMemoryInfo(_kernel.GetCurrentProcess(), ctypes.byref(memory), memory.size)
        return int(memory.peak_working_set)

    def used_bytes() -> int | None:
        """Nothing: the limit is of memory here, not of address space."""
        return 0

else:
    import resource

    def limit(memory_bytes: int | None = None, seconds: int | None = None, private_bytes: int | None = None) -> bool:
        """Let this process take no more memory and processor time than that, from now on, and leave no core file.

        Args:
            memory_bytes: of address space.
            seconds: of processor time.
            private_bytes: of data, where the system counts those apart.

        Returns:
            Whether the system will see to it.
        """
        _set("RLIMIT_CORE", 0)
        kept = [_set("RLIMIT_AS", memory_bytes)] if memory_bytes is not None else []
        kept += [_set("RLIMIT_CPU", seconds)] if seconds is not None else []
        if private_bytes is not None:
            _set("RLIMIT_DATA", private_bytes)
        return all(kept)

    def _set(name: str, value: int) -> bool:
        # Not every system has each, and a limit that is lower already stays.
        with suppress(AttributeError, OSError, ValueError):
            number = getattr(resource, name)
            hard_limit = resource.getrlimit(number)[1]
            value = value if hard_limit == resource.RLIM_INFINITY else min(value, hard_limit)
            resource.setrlimit(number, (value, value))
            return True
        return False

    def peak_bytes() -> int:
        """The most memory that this process ever had."""
        # Linux's getrusage begins with what the process had that started this one.
        with suppress(OSError, StopIteration), open("/proc/self/status", encoding="ascii") as file:
            return 1024 * int(next(line.split()[1] for line in file if line.startswith("VmHWM")))
        # Linux counts in kilobytes, macOS in bytes.
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

    def used_bytes() -> int | None:
        """Address space that this process has; None where the system does not tell."""
        with suppress(OSError, ValueError), open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
        return None
