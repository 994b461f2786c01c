"""Points on a cluster of Dask distributed that is there already. A point is a pure function of drive, job and seed, and
the texts of these go with it, so that any worker gives the same row and a lost one costs only its points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pslc import suites
from pslc._native import version
from pslc.base import gate, writer
from pslc.base.errors import JobError
from pslc.device.policy import source_of
from pslc.runner import job_file
from pslc.studies.points import GOVERNORS, PROFILE, Point
from pslc.studies.rows import Row
from pslc.studies.workers import AHEAD, by_drive, measure

if TYPE_CHECKING:
    from distributed import Client

EXTRA: Final = 'pip install "pslc[cluster]", here and where the workers run'
PATIENCE_S: Final = 10


def results(points: Sequence[Point], address: str) -> Generator[tuple[Point, Row], None, None]:
    """Run points on the cluster and give each with its row as it is done, in any order.

    Raises:
        PslcError: nobody answers at `address`, it has no workers, or they have another pslc.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise JobError("a cluster needs Dask distributed", EXTRA) from None
    try:
        client = Client(address, timeout=PATIENCE_S)
    except (OSError, TimeoutError, ValueError) as error:
        raise JobError(
            f"no scheduler answers at {address}: {error}",
            "start one with: dask scheduler; then --scheduler tcp://HOST:8786",
        ) from None
    with client:
        room = AHEAD * _threads(client, address)
        queue = list(reversed(by_drive(points)))
        drives = Counter(point.drive for point in points)
        under_way: dict[Any, Point] = {}

        def more() -> list[Any]:
            new = []
            while queue and len(under_way) < room:
                point = queue.pop()
                key, shared = f"pslc-{version()}-{hash(point)}", drives[point.drive] > 1
                future = client.submit(alone, point, _texts(point), shared, key=key, pure=True)
                under_way[future] = point
                new.append(future)
            return new

        done = as_completed(more())
        try:
            for future in done:
                point = under_way.pop(future)
                if (wrong := future.exception()) is not None:
                    yield point, {"wall_s": 0.0, "error": f"failed: {wrong}"}
                else:
                    row = future.result()
                    assert row is not None, "nobody stops a point of a cluster"
                    yield point, row
                done.update(more())
        finally:
            client.cancel(list(under_way))


def alone(point: Point, texts: dict[str, str], shared: bool) -> Row | None:
    """Run a point with the texts of its files, wherever that is."""
    with writer.temporary("pslc-point-") as folder:
        values = dict(point.values)
        for axis, text in texts.items():
            path = Path(folder) / ("drive.toml" if axis == "on" else Path(values["run"]).name)
            writer.write(path, text)
            rest = values["on"].partition(",")[2]
            if axis in GOVERNORS:
                path = Path(folder) / f"{axis}.py"
                values[axis] = f"{path}:{values[axis].rpartition(':')[2]}"
                writer.write(path, text)
                continue
            values[axis] = str(path) if axis == "run" else f"sim:{path}" + (f",{rest}" if rest else "")
        return measure(replace(point, values=tuple(values.items())), shared)


def _texts(point: Point) -> dict[str, str]:
    """By axis, what a file says that the point is made from."""
    from pslc.device.target import find_target, name_in

    values, texts = dict(point.values), {}
    name = name_in(values["on"])
    if "/" in name or name.endswith(".toml"):
        texts["on"] = find_target(f"sim:{name}").profile
    if values["run"] not in suites.names():
        texts["run"] = gate.text(Path(values["run"]), job_file.FILE)
    for axis, kind in GOVERNORS.items():
        if values.get(axis, PROFILE) != PROFILE:
            texts[axis] = source_of(values[axis], kind)
    return texts


def _threads(client: Client, address: str) -> int:
    """Of all workers, all of which have this pslc."""
    threads: dict[str, int] = client.nthreads()
    if not threads:
        raise JobError(
            f"the scheduler at {address} has no workers", f"start one on each machine: dask worker {address}"
        )
    try:
        theirs: dict[str, str] = client.run(version)
    except ImportError:
        raise JobError(f"a worker of {address} has no pslc", EXTRA) from None
    for worker, other in theirs.items():
        if other != version():
            raise JobError(f"the worker {worker} has pslc {other}, but this is {version()}", EXTRA)
    return sum(threads.values())
