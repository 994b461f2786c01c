"""Commands of 4 KiB, one at a time, published and simulated: docs/accuracy/qd1.py writes qd1.md.

Each row of qd1.csv is a drive that `pslc drives new` makes, on which `pslc run jobs/qd1.fio` writes and reads at random
on one of the computers that pslc knows. Published writes set what a controller takes for a command; beside the
simulated ones stands what drives of other controllers predict. Nothing is set by reads.
"""

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import ledger
import measures
import pooled
from ledger import Row

from pslc.device.parts.forecast import Interval

PAGE = Path(__file__).parent / "qd1.md"
COMPUTER = "i3-1115g4"


def simulated_iops(row: Row) -> tuple[float, float]:
    """Writes and reads a second on the drive of a row, as the command measures them."""
    capacity = row["drive"].rpartition(" ")[2]
    jobs = measures.document(
        f"pslc drives new drive.toml --nand {row['nand']} --controller {row['controller']} --capacity {capacity}",
        f"pslc run {measures.JOBS}/qd1.fio --on sim:./drive.toml --computer {COMPUTER}",
    )["jobs"]
    write, read = (
        1e9 / float(job[kind]["lat_ns"]["mean"]) for job, kind in zip(jobs[1:], ("write", "read"), strict=True)
    )
    return write, read


def left_out(row: Row) -> Interval:
    """Seconds of a write, predicted by the drives of other controllers; 80 % lie between."""
    rest = [other for other in ledger.commands() if other["controller"] != row["controller"]]
    fit = pooled.fit([], [], rest)
    law = pooled.command(fit.design, row)
    return pooled.left_out(fit, law, 1 / float(row["write_iops"]), pooled.COMMAND_SD[row["kind"]])


def page() -> str:
    """The text of qd1.md: summaries, and a line a published drive; IOPS."""
    head = (
        "drive",
        "controller",
        "writes: published",
        "simulated",
        "other controllers",
        "reads: published",
        "simulated",
    )
    lines = [f"| {' | '.join(head)} |", "|---|---|---:|---:|---|---:|---:|"]
    names = ("writes, which their figures set", "writes, by drives of other controllers", "reads")
    errors: dict[str, list[float]] = {name: [] for name in names}
    of_writes, of_others, of_reads = errors.values()
    holds = []
    for row in ledger.commands():
        (write, read), interval = simulated_iops(row), left_out(row)
        published = float(row["write_iops"])
        of_writes.append(write / published - 1)
        of_others.append(1 / interval.median / published - 1)
        if row["read_iops"]:
            of_reads.append(read / float(row["read_iops"]) - 1)
        holds.append(interval.low <= 1 / published <= interval.high)
        cells = [row["drive"], row["controller"], f"{published:.0f}", f"{write:.0f}",
                 f"{1 / interval.median:.0f} ({1 / interval.high:.0f} to {1 / interval.low:.0f})", row["read_iops"],
                 f"{read:.0f}" if row["read_iops"] else ""]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    summary = [
        f"- {name}: {len(each)} figures, {min(each):+.0%} to {max(each):+.0%}, median of the error "
        f"{statistics.median(map(abs, each)):.0%}"
        for name, each in errors.items()
    ]
    summary.append(f"- {statistics.fmean(holds):.0%} of the writes within the 80 % of drives of other controllers")
    return "\n".join([*summary, "", *lines]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
