"""Tasks on a cluster of Dask distributed that is there already: see `work`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, Final

from pslc._native import version
from pslc.base import install
from pslc.base.errors import JobError

if TYPE_CHECKING:
    from distributed import Client

PATIENCE_S: Final = 10
AHEAD: Final = 4
"""Tasks a thread that are handed over before they are needed."""
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
        room, queue, under_way = AHEAD * _threads(client, address), deque(tasks), dict[Any, Any]()
        try:
            while (queue or under_way) and not interrupts():
                while queue and len(under_way) < room:
                    task = queue.popleft()
                    under_way[client.submit(function, task, pure=False)] = task
                try:
                    done = wait(list(under_way), timeout=POLL_S, return_when="FIRST_COMPLETED").done
                except TimeoutError:
                    continue
                for future in done:
                    yield under_way.pop(future), future.exception() or future.result()
        finally:
            client.cancel(list(under_way))


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
