"""Facts about a file of another program that the file does not state."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pslc.base.errors import user_error
from pslc.schema.jobs import Job


@dataclass(frozen=True)
class ChartOptions:
    """Facts about a picture of a chart that the picture does not show.

    Attributes:
        series: colours of the curves that are read, `blue` or `#1f77b4`; empty: each.
        frame: `LEFT,TOP,RIGHT,BOTTOM`, the pixels where the axes' ranges begin and end; None: as it is seen.
        names: of the drives, one for each curve.
    """

    series: Sequence[str] = ()
    frame: str | None = None
    names: Sequence[str] = ()


@dataclass(frozen=True)
class ImportOptions:
    """Facts about a file that the file does not state.

    Attributes:
        x, y: columns of a table, `COLUMN` or `COLUMN=UNIT`; of a picture what its axes span, `0:2000GB`.
        celsius: its column of the drive's temperature; None: the one whose name says so, if any.
        skip_bad: leave lines out that cannot be read, and count them.
        device: of several.
        order: whether the jobs of several logs ran at the same time or one after the other; None: not given.
        interval_s: length of the intervals of a log that has no times; None: not given.
        capacity_bytes: of the drive.
        link_bytes_per_s: what the link of the drive carries of the host's data.
        random: whether the writes were random; None: not given.
        prefilled: the drive was full of other data before.
        jobs: what files beside this one tell of its jobs.
        chart: what else is said of a picture.
    """

    x: str | None = None
    y: str | None = None
    skip_bad: bool = False
    celsius: str | None = None
    device: str | None = None
    order: Literal["together", "serial"] | None = None
    interval_s: float | None = None
    capacity_bytes: float | None = None
    link_bytes_per_s: float | None = None
    random: bool | None = None
    prefilled: bool = False
    jobs: tuple[Job, ...] = ()
    chart: ChartOptions = ChartOptions()


def is_random(workload: str | None) -> bool | None:
    """Whether writes were random, as `--workload` says; None where it is not given.

    Raises:
        PslcError: it is neither of the two words.
    """
    if workload not in (None, "random", "sequential"):
        raise user_error(f'--workload is "{workload}"', "random or sequential")
    return None if workload is None else workload == "random"
