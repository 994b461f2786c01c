"""Processes that work for this one."""

import multiprocessing
import os
from multiprocessing import connection
from threading import Thread


def end_with_parent() -> None:
    """In a worker, before anything: end when the process that it works for ends, even where that is killed. Without it
    a worker would wait for ever for a task that nobody hands over."""
    Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "only a worker has somebody to follow"
    connection.wait([parent.sentinel])
    os._exit(1)
