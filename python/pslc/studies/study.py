"""A study from its words to its table."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pslc.base import work, writer
from pslc.base.errors import JobError, PslcError
from pslc.policy.governor import Policy, VictimRule, reference
from pslc.studies import points as of_points
from pslc.studies.points import Point, Study
from pslc.studies.results import Results, table
from pslc.studies.rows import Row
from pslc.studies.workers import measure, tasks_of

if TYPE_CHECKING:
    from arro3.core import Table

Policies = type[Policy | VictimRule] | str | Sequence[type[Policy | VictimRule] | str] | None
Progress = Callable[[int, int], None]
"""Callback that takes the number of finished points and of all points to run, at first with 0."""


def study(  # noqa: PLR0913 public: keywords as in a study's file
    file: str | Path | None = None,
    *,
    on: str | Sequence[str] | None = None,
    run: str | Sequence[str] | None = None,
    vary: Mapping[str, object] | None = None,
    where: str | Sequence[str] | None = None,
    seed: int | Sequence[int] | None = None,
    fill_first: str | Sequence[str] | None = None,
    computer: str | Sequence[str] | None = None,
    quick: bool | None = None,
    sample: str | None = None,
    draws: int | None = None,
    policy: Policies = None,
    victim_rule: Policies = None,
    workers: int | None = None,
    scheduler: str | None = None,
    save: str | Path | None = None,
    progress: Progress | None = None,
) -> Table:
    """Run every point of a study and give back a row per point.

    Args:
        file: a study in TOML; what is said here as well wins over it.
        on: simulated drives.
        run: suites and job files.
        vary: values by key of the profile: lists, or texts as of `pslc study --vary`.
        where: conditions between axes, such as `cache.static<cache.dynamic`.
        seed: one or several.
        fill_first: percentages of the drive that are written before, such as `50%`.
        computer: computers around the drives, `none` among them (default: as each suite assumes).
        policy: policies of the cache, as classes in files or `mine.py:Mine`; `profile` is that of the drive.
        victim_rule: rules of garbage collection, likewise.
        sample: `lhs:64`, `sobol:64` or `saltelli:64`: points drawn from spans such as `50GB:700GB` instead of a grid.
        workers: processes; as many as there are cores where it is None.
        scheduler: `tcp://host:8786`, of a Dask cluster that runs the points instead.
        draws: drives that are drawn of what the parts of each leave open.
        save: a folder that keeps the rows, and in which those that are there are not run again.

    Returns:
        An Arrow table, which `pandas.DataFrame.from_arrow` and `polars.DataFrame` take: the axes; `command`, which runs
        the point alone; `error` (null: none); `wall_s`; findings with their units in their names.

    Raises:
        PslcError: the study cannot be read, or names what is not there.
    """
    given = {"on": on, "run": run, "vary": vary, "where": where, "seed": seed, "quick": quick, "sample": sample}
    given |= {"draws": draws, "fill_first": fill_first, "computer": computer}
    given |= {"policy": _references(policy), "victim_rule": _references(victim_rule)}
    document = of_points.read(Path(file)) if file is not None else {}
    planned = Study.of(document | {key: value for key, value in given.items() if value is not None}).points()
    if not planned:
        raise JobError("the study has no points", "its conditions exclude all of them")
    if save is None:
        with writer.temporary("pslc-study-") as folder:
            return complete(planned, Path(folder), workers, progress, scheduler=scheduler).table
    return complete(planned, Path(save), workers, progress, scheduler=scheduler).table


def _references(stated: Policies) -> list[str] | None:
    """The texts by which the processes of a study load classes."""
    if stated is None or stated == []:
        return None
    return [reference(of) for of in ([stated] if isinstance(stated, str | type) else stated)]


@dataclass(frozen=True)
class StudyRows:
    """Rows of a study.

    Attributes:
        rows: of the points that were run, in their order.
        interrupted: whether points are missing.
    """

    rows: list[Row]
    interrupted: bool

    @property
    def table(self) -> Table:
        """The rows as an Arrow table."""
        return table(self.rows)


def complete(
    planned: Sequence[Point],
    folder: Path,
    workers: int | None = None,
    progress: Progress | None = None,
    interrupts: work.Interrupts = lambda: 0,
    scheduler: str | None = None,
) -> StudyRows:
    """Run the points that the results in `folder` lack.

    Args:
        interrupts: see `pslc.base.work`.
        scheduler: of a Dask cluster, instead of processes.
    """
    kept = Results(folder)
    missing = [point for point in planned if not kept.has(point)]
    count = max(min(workers or work.cores(), len(missing)), 1)
    done = 0
    if progress:
        progress(0, len(missing))
    try:
        with closing(_rows(missing, count, scheduler, interrupts)) as rows:
            for point, row in rows:
                kept.add(point, row)
                done += 1
                if progress:
                    progress(done, len(missing))
    finally:
        kept.write()
    if done == len(missing):
        kept.finish(planned)
    return StudyRows(kept.of(planned), done < len(missing))


def _rows(
    missing: Sequence[Point], count: int, scheduler: str | None, interrupts: work.Interrupts
) -> Generator[tuple[Point, Row], None, None]:
    """Each point with its row, as it is done. What was stopped has none."""
    tasks = tasks_of(missing)
    outcomes: Generator[tuple[Any, Any], None, None]
    if scheduler is None:
        outcomes = work.run(tasks, measure, work.Local(count), interrupts=interrupts)
    else:
        from pslc.studies.cluster import measure_remote, with_texts

        remote = [with_texts(task) for task in tasks]
        outcomes = work.run(remote, measure_remote, work.Dask(scheduler), interrupts=interrupts)
    with closing(outcomes):
        for task, result in outcomes:
            if isinstance(result, Exception):
                message = result.message if isinstance(result, PslcError) else str(result)
                result = {"wall_s": 0.0, "error": f"failed: {message}"}
            if result is not None:
                yield task.point, result
