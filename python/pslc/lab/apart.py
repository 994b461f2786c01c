"""Files of others are read in a process of their own: one that crashes, takes too long or too much memory is ended, and
the page goes on."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext
from multiprocessing.process import BaseProcess
from threading import BoundedSemaphore, Lock
from typing import Any, Final, TypeVar

from pslc.base import failure, limits
from pslc.base.errors import PslcError, RecordingError
from pslc.base.processes import end_with_parent

MAX_SECONDS: Final = 30
"""Time limit of a call, in seconds."""
MAX_BYTES: Final = 1_500_000_000
"""Memory limit of a reader, in bytes beyond what it has at its start."""
MAX_READERS: Final = 4
"""Largest number of readers at once; a later one waits."""
MAX_ANSWERS: Final = 16
"""Kept, for what is asked again with each turn of a knob."""
HINT: Final = "pslc analyze reads it without these limits"

_T = TypeVar("_T")


class Readers:
    """The processes that read for a page."""

    def __init__(self) -> None:
        self._context = _context()
        self._turn, self._lock = BoundedSemaphore(MAX_READERS), Lock()
        self._running: dict[str, BaseProcess] = {}
        self._answers: OrderedDict[Any, Any] = OrderedDict()
        self._closed = False

    def kept(self, stamp: int, what: Callable[..., _T], *of: Any, tab: str = "") -> _T:
        """Call a function as `call` does, or return the result of the last call if `stamp` has not changed."""
        key = (what.__module__, what.__qualname__, of, stamp)
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
                return self._answers[key]  # type: ignore[no-any-return]
        result = self.call(tab, what, *of)
        with self._lock:
            self._answers[key] = result
            while len(self._answers) > MAX_ANSWERS:
                self._answers.popitem(last=False)
        return result

    def call(self, tab: str, what: Callable[..., _T], *of: Any) -> _T:
        """Call a function of a module in a separate process and return its result. A call that still runs for the same
        tab is ended.

        Args:
            tab: of the browser; empty: no other call is ended.

        Raises:
            PslcError: the function raised it, its process died, or it took longer than `MAX_SECONDS`.
        """
        self._end(tab)
        with self._turn:
            ours, its = self._context.Pipe(duplex=False)
            process = self._context.Process(target=_answer, args=(its, what, of), daemon=True)
            key = tab or f"reader {id(process)}"
            with self._lock:
                if self._closed:
                    raise RecordingError("pslc lab is ending", "start it again: pslc lab")
                process.start()
                self._running[key] = process
            its.close()
            try:
                if not ours.poll(MAX_SECONDS):
                    raise RecordingError(f"reading takes more than {MAX_SECONDS} s", HINT)
                error, result = ours.recv()
            except (EOFError, OSError):
                raise RecordingError(*self._death(key, process)) from None
            finally:
                with self._lock:
                    if self._running.get(key) is process:
                        del self._running[key]
                process.kill()
                process.join()
                ours.close()
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]

    def close(self) -> None:
        """End them all; none begins any more."""
        with self._lock:
            self._closed = True
            running = list(self._running.values())
        for process in running:
            process.kill()
            process.join()

    def _end(self, tab: str) -> None:
        with self._lock:
            process = self._running.pop(tab, None)
        if process is not None:
            process.kill()

    def _death(self, key: str, process: BaseProcess) -> tuple[str, str]:
        if self._running.get(key) is not process:
            return "its reading was stopped", "something else was dropped meanwhile"
        process.join(5)
        name = signal.Signals(-code).name if (code := process.exitcode or 0) < 0 else f"exit code {code}"
        return f"it cannot be read: what reads it was ended by it ({name})", "it is damaged, or made to do that"


if sys.platform == "win32":
    _Context = SpawnContext

    def _context() -> _Context:
        """How readers begin."""
        return multiprocessing.get_context("spawn")

else:
    from multiprocessing import forkserver
    from multiprocessing.context import ForkServerContext

    _Context = ForkServerContext | SpawnContext

    def _context() -> _Context:
        """How readers begin: as copies of a process that has imported what they need."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["pslc.lab.uploads", "pslc.lab.overlay", "pslc.report.page"])
        try:
            forkserver.ensure_running()
        except OSError:
            # Its socket has no place, as where the folder of temporary files has a long name: a second more each.
            return multiprocessing.get_context("spawn")
        return context


def _answer(into: Connection, what: Callable[..., Any], of: tuple[Any, ...]) -> None:
    """In the process."""
    # An interrupt of the terminal's is for the page, which ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    # What a library says as it dies has passed no filter.
    for number in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    _limit()
    answer: tuple[PslcError | None, Any]
    try:
        answer = None, what(*of)
    except MemoryError:
        answer = RecordingError(f"reading takes more than {MAX_BYTES / 1e9:g} GB of memory", HINT), None
    except BaseException as error:  # A panic of the native part is no Exception.
        answer = failure.in_words(error), None
    with suppress(BrokenPipeError):
        into.send(answer)


def _limit() -> None:
    """Less memory, and no core file."""
    used = limits.used_bytes()
    limits.limit(None if used is None else used + MAX_BYTES)
