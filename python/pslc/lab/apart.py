"""Files of others are read in a process of their own: one that crashes, takes too long or too much memory is ended, and
the page goes on."""

import os
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore, Lock
from time import monotonic
from typing import Any, Final, TypeVar

from pslc.base import failure, limits
from pslc.base.errors import PslcError, RecordingError
from pslc.base.workers import Error, Inbox, Result, Worker, unpickled

MAX_SECONDS: Final = 30
"""Time limit of a call, in seconds."""
MAX_BYTES: Final = 1_500_000_000
"""Memory limit of a reader, in bytes beyond what it has at its start."""
MAX_READERS: Final = 4
"""Largest number of readers at once; a later one waits."""
HINT: Final = "pslc analyze reads it without these limits"

_T = TypeVar("_T")


class _Reader:
    """A process that reads files of others. It first calls `prepare`, for what that imports."""

    def __init__(self, prepare: Callable[[None], None]) -> None:
        self.inbox: Inbox = SimpleQueue()
        self.worker = Worker(self.inbox, prepare)
        self.worker.call(prepare, None)

    def result(self, what: Callable[..., Any], of: tuple[Any, ...]) -> Any:
        """What a call returns.

        Raises:
            Empty: it takes longer than `MAX_SECONDS`.
            EOFError: the process has ended.
        """
        self.worker.call(_answer, (what, of))
        until, prepared = monotonic() + MAX_SECONDS, False
        while True:
            _, message = self.inbox.get(timeout=max(until - monotonic(), 0))
            if message is None:
                raise EOFError
            if isinstance(message, Result | Error):
                value = unpickled(message)
                if isinstance(value, Exception):
                    raise value
                if prepared:
                    return value
                prepared = True


class Readers:
    """The processes that read for a page."""

    def __init__(self, prepare: Callable[[None], None]) -> None:
        self._prepare = prepare
        self._turn, self._lock = BoundedSemaphore(MAX_READERS), Lock()
        self._spare: _Reader | None = None
        self._running: set[_Reader] = set()
        self._closed = False

    def call(self, what: Callable[..., _T], *of: Any) -> _T:
        """Call a function of a module in a separate process and return its result.

        Raises:
            PslcError: the function raised it, its process died, or it took longer than `MAX_SECONDS`.
        """
        with self._turn:
            with self._lock:
                if self._closed:
                    raise RecordingError("pslc lab is ending", "start it again: pslc lab")
                # The next call finds one that is ready.
                reader, self._spare = self._spare or _Reader(self._prepare), _Reader(self._prepare)
                self._running.add(reader)
            try:
                error, result = reader.result(what, of)
            except Empty:
                raise RecordingError(f"reading takes more than {MAX_SECONDS} s", HINT) from None
            except EOFError:
                why = f"it cannot be read: what reads it was ended by it ({reader.worker.death})"
                raise RecordingError(why, "it is damaged, or made to do that") from None
            finally:
                with self._lock:
                    self._running.discard(reader)
                reader.worker.close()
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]

    def close(self) -> None:
        """End them all; none begins any more."""
        with self._lock:
            self._closed = True
            for reader in (*self._running, self._spare):
                if reader is not None:
                    reader.worker.close()


def _answer(call: tuple[Callable[..., Any], tuple[Any, ...]]) -> tuple[PslcError | None, Any]:
    """Answer to a call, or its error, made in the process."""
    # What a library says as it dies has passed no filter.
    null = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(null, number)
    _limit()
    what, of = call
    try:
        return None, what(*of)
    except MemoryError:
        return RecordingError(f"reading takes more than {MAX_BYTES / 1e9:g} GB of memory", HINT), None
    except BaseException as error:  # A panic of the native part is no Exception.
        return failure.in_words(error), None


def _limit() -> None:
    """Less memory, and no core file."""
    used = limits.used_bytes()
    limits.limit(None if used is None else used + MAX_BYTES)
