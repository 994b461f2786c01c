"""Python API of advice: from a watched load to requests, drives, replays and an answer."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from pslc import traces
from pslc.advice import drives, report
from pslc.advice.replays import Outcome, Task, outcomes
from pslc.advice.subject import Subject, Watched
from pslc.base import writer
from pslc.base.errors import TargetError
from pslc.device.computers import with_computer
from pslc.device.target import find_target
from pslc.schema.warnings import notes
from pslc.traces import Replay
from pslc.watch.requests import Order, likely_order, make_requests

OTHER: Final[dict[Order, Order]] = {"sequential": "random", "random": "sequential"}


def advise(
    subject: Subject,
    on: Sequence[str] = (),
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    *,
    computer: str | None = None,
) -> report.Advice:
    """Replay what was watched on several drives, and say which of them would do and what to change.

    Args:
        on: simulated drives, `sim:NAME[,KEY=VALUE...]`; none: a spread of built-in drives.
        workers: processes (default: one per core).
        progress: called with the replays that are done and that there are.
        computer: around each drive, `i5-8400` (default: the bare drive, and the time of the host as it was watched).

    Raises:
        PslcError: a drive is unknown, real, or none is as large.
    """
    specs = list(dict.fromkeys(on)) or drives.spread(subject.needed_bytes)
    for spec in specs:
        if not spec.startswith("sim:"):
            raise TargetError(f"{spec} is no simulated drive", "--on sim:NAME; pslc drives lists them")
    specs = [with_computer(spec, computer) for spec in specs]
    targets = [find_target(spec) for spec in specs]
    with writer.temporary("pslc-advice-") as folder:
        smallest = min(target.capacity_bytes for target in targets)
        tasks = _tasks(subject, specs, smallest, Path(folder))
        results: dict[Task, Outcome] = {}
        for outcome in outcomes(tasks, workers):
            results[outcome.task] = outcome
            if progress is not None:
                progress(len(results), len(tasks))
    advice = report.advise(subject, [results[task] for task in tasks])
    return advice if on else replace(advice, warnings=[*advice.warnings, *notes([drives.choice(len(specs))])])


def _tasks(subject: Subject, specs: Sequence[str], span_bytes: int, folder: Path) -> list[Task]:
    """The replays, on each drive with the likelier order of addresses first."""
    of = subject.of
    if not isinstance(of, Watched):
        reads = any(device["count"]["read"] for device in of.survey["devices"])
        replay = Replay(of.part, prefill=reads)
        return [Task(spec, of.path, replay, None, (), True) for spec in specs]
    likely = likely_order(of.load)
    tasks = []
    for order in (likely, OTHER[likely]):
        requests = make_requests(of.load, span_bytes, order)
        path = folder / f"{order}.parquet"
        traces.write_requests(path, ["watched"], requests.tables())
        replay = Replay(iodepth=requests.iodepth, prefill=bool(of.load.read_bytes.any()))
        tasks += [Task(spec, path, replay, order, tuple(of.stretches), order == likely) for spec in specs]
    return tasks
