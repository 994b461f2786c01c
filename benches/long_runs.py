"""Whether a drive's cache is the same however long the run is: `make bench NAME=long_runs`, a table.

Every built-in drive, scaled down, is written in sequence once and up to 100 times over; the end of its cache and the
speed until there are held against those of a single pass. Until there it is that of the cache: before it a scaled drive
may have a phase of its write buffer, which is not divided, and which the whole drive's cache hides.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pslc
from pslc.base import work
from pslc.base.errors import PslcError

PASSES: Final = (1, 2, 4, 10, 100)
SCALES: Final = ("1/16", "1/8", "1/4")
"""The first that cuts no word line of the drive is taken."""
MAX_DIFFERENCE: Final = 0.01
DRIVES: Final = Path("python/pslc/drives")
TABLE: Final = Path("docs/accuracy/long_runs.md")
JOB: Final = """[write]
rw=write
bs=1m
iodepth=32
loops={passes}
"""


@dataclass(frozen=True)
class Start:
    """What a run says of its beginning.

    Attributes:
        cache_bytes: where the cache ends; None where no end is stated.
        bytes_per_s: the speed until there, or of the first phase where no end is stated.
    """

    cache_bytes: float | None
    bytes_per_s: float


@dataclass(frozen=True)
class Row:
    """A drive, its scale, and what runs of each length say."""

    drive: str
    scale: str
    starts: dict[int, Start]

    def differences(self) -> dict[int, tuple[float, float]]:
        """By the number of passes, relative differences from a single one: of the cache, infinite where only one of the
        runs states it, and of the speed."""
        once = self.starts[PASSES[0]]
        return {
            passes: (_difference(start.cache_bytes, once.cache_bytes), abs(start.bytes_per_s / once.bytes_per_s - 1))
            for passes, start in self.starts.items()
            if passes > PASSES[0]
        }


def _difference(size: float | None, once: float | None) -> float:
    if size is None or once is None:
        return 0.0 if size is once else float("inf")
    return abs(size / once - 1)


def start(drive: str, scale: str, passes: int) -> Start:
    """What a run of so many passes says."""
    with TemporaryDirectory() as folder:
        job = Path(folder) / "write.fio"
        job.write_text(JOB.format(passes=passes))
        findings = pslc.run(job, on=f"sim:{drive},scale={scale}").findings
    phases, cache = findings["phases"], findings["cache_bytes"]
    before = phases[0] if cache is None else [phase for phase in phases if phase["from_bytes"] < cache][-1]
    return Start(cache, before["bytes_per_s"])


def row(drive: str, lengths: Sequence[int] = PASSES) -> Row:
    """Every length on a drive.

    Raises:
        PslcError: no scale fits it.
    """
    for scale in SCALES:
        try:
            return Row(drive, scale, {passes: start(drive, scale, passes) for passes in lengths})
        except PslcError as error:
            if scale == SCALES[-1] or not str(error).startswith("scale is"):
                raise
    raise AssertionError(SCALES)


def table(rows: Sequence[Row]) -> str:
    """A row a drive, as Markdown."""
    lengths = [str(passes) for passes in PASSES[1:]]
    lines = [
        f"| drive | scale | cache | its speed | {' | '.join(f'{length} passes' for length in lengths)} |",
        f"|---|---:|---:|---:|{'---:|' * len(lengths)}",
    ]
    for of in rows:
        once = of.starts[PASSES[0]]
        cache = "none" if once.cache_bytes is None else f"{once.cache_bytes / 1e9:.2f} GB"
        cells = " | ".join(_cell(*difference) for difference in of.differences().values())
        lines.append(f"| {of.drive} | {of.scale} | {cache} | {once.bytes_per_s / 1e6:.0f} MB/s | {cells} |")
    held = [max(difference) <= MAX_DIFFERENCE for of in rows for difference in of.differences().values()]
    return "\n".join([*lines, "", f"Within {MAX_DIFFERENCE:.0%}: {sum(held)} of {len(held)} runs.", ""])


def _cell(cache: float, speed: float) -> str:
    worst = max(cache, speed)
    if worst <= MAX_DIFFERENCE:
        return f"{worst:.1%}"
    return "**cache lost**" if cache == float("inf") else f"**cache {cache:.1%}, speed {speed:.1%}**"


def rows(drives: Sequence[str]) -> Iterator[Row]:
    """Of each drive, made side by side."""
    with work.Pool(work.Local(work.cores())) as pool:
        yield from pool.map(row, drives)


def main(drives: Sequence[str]) -> None:
    """Print the table; write it where all drives were asked."""
    head = (
        "What runs of 2 to 100 passes over a drive say of its cache and its speed: the larger of the two differences\n"
        "from a single pass (`make bench NAME=long_runs`; target: within 1 %).\n\n"
    )
    text = head + table(list(rows(drives or sorted(path.stem for path in DRIVES.glob("*.toml")))))
    print(text)
    if not drives:
        TABLE.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
