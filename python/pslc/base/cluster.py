"""Tasks on a cluster of Dask distributed that is there already: see `work`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from pslc._native import version
from pslc.base import install
from pslc.base.errors import JobError

if TYPE_CHECKING:
    from distributed import Client, Future

PATIENCE_S: Final = 10
AHEAD: Final = 4
"""Batches a thread that are handed over before they are needed."""
BATCH_S: Final = 5.0
"""Seconds that a batch of short tasks takes: a scheduler needs about a millisecond for each, and hands out as many."""
MAX_BATCH: Final = 100
POLL_S: Final = 0.2


def run(
    tasks: Sequence[Any], function: Callable[[Any], Any], address: str, interrupts: Callable[[], int]
) -> Generator[tuple[Any, Any], None, None]:
    """Run a function on each task and give each task with its result, or with its error, as it ends. An interrupt ends
    it: what is under way is no longer awaited.

    Raises:
        PslcError: nobody answers at `address`, it has no workers, or they have another pslc.
    """
    try:
        from distributed import Client, wait
    except ImportError:
        raise JobError("a cluster needs Dask distributed", _hint()) from None
    try:
        client = Client(address, timeout=PATIENCE_S)
    except (OSError, TimeoutError, ValueError) as error:
        raise JobError(
            f"no scheduler answers at {address}: {error}",
            "start one with: dask scheduler; then --scheduler tcp://HOST:8786",
        ) from None
    with client:
        threads = _threads(client, address)
        queue, alone, under_way, size = deque(tasks), deque[Any](), dict[Any, list[Any]](), 1
        try:
            while (queue or alone or under_way) and not interrupts():
                while (queue or alone) and len(under_way) < AHEAD * threads:
                    # Near the end no thread waits for a long batch of another.
                    count = min(size, 1 + len(queue) // (AHEAD * threads))
                    batch = [alone.popleft()] if alone else [queue.popleft() for _ in range(min(count, len(queue)))]
                    under_way[client.submit(_results, function, batch, pure=False)] = batch
                try:
                    done = wait(list(under_way), timeout=POLL_S, return_when="FIRST_COMPLETED").done
                except TimeoutError:
                    continue
                for future in done:
                    batch = under_way.pop(future)
                    seconds, results = _of_future(future, len(batch))
                    if results:
                        size = max(1, min(MAX_BATCH, int(BATCH_S * len(batch) / max(seconds, 1e-9))))
                    else:
                        alone.extend(batch)
                    yield from zip(batch, results, strict=False)
        finally:
            client.cancel(list(under_way))


def _of_future(future: Future, tasks: int) -> tuple[float, list[Any]]:
    """Seconds and results of a batch. None where one of several tasks ended its worker, or where the results were lost
    with a worker and do not come again: each may run alone."""
    try:
        failure = future.exception(timeout=PATIENCE_S)
        seconds, results = future.result(timeout=PATIENCE_S) if failure is None else (0.0, [failure])
    except TimeoutError:
        return 0.0, []
    return seconds, results if failure is None or tasks == 1 else []


def _results(function: Callable[[Any], Any], batch: Sequence[Any]) -> tuple[float, list[Any]]:
    """Seconds that a batch took, and what the function returned for each task, or the exception that it raised."""
    began, results = monotonic(), list[Any]()
    for task in batch:
        try:
            results.append(function(task))
        except Exception as error:
            results.append(error)
    return monotonic() - began, results


def _threads(client: Client, address: str) -> int:
    """Threads of all workers, all of which have this pslc."""
    threads: dict[str, int] = client.nthreads()
    if not threads:
        raise JobError(
            f"the scheduler at {address} has no workers", f"start one on each machine: dask worker {address}"
        )
    try:
        theirs: dict[str, str] = client.run(version)
    except ImportError:
        raise JobError(f"a worker of {address} has no pslc", _hint()) from None
    for worker, other in theirs.items():
        if other != version():
            raise JobError(f"the worker {worker} has pslc {other}, but this is {version()}", _hint())
    return sum(threads.values())


def _hint() -> str:
    return f"{install.command('pslc[cluster]')}, here and where the workers run"
