"""Processes that work for this one."""

import multiprocessing
import os
import signal
import sys
from multiprocessing import connection
from threading import Thread
from typing import Any

_stop: Any = None
"""In a worker: set when nobody waits for what it does any more."""


def cores() -> int:
    """Those this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def work_until(stop: Any) -> None:
    """In a worker, before anything: an interrupt is the parent's, which sets `stop`, an event of `multiprocessing`; and
    without it there is nothing to do."""
    global _stop
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()


def is_wanted() -> bool:
    """Whether somebody waits for what this process does."""
    return _stop is None or not _stop.is_set()


def end_with_parent() -> None:
    """In a worker, before anything: end when the process that it works for ends, even where that is killed. Without it
    a worker would wait for ever for a task that nobody hands over."""
    Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "only a worker has somebody to follow"
    connection.wait([parent.sentinel])
    os._exit(1)
