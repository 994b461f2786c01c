"""Commands of 4 KiB, one at a time, published and simulated: docs/accuracy/qd1.py writes qd1.md.

Each row of qd1.csv is a drive that `pslc drives new` makes, on which `pslc run jobs/qd1.fio` writes and reads at random
on one of the computers that pslc knows. The figures set what a controller takes for a command and a die for a read;
beside the simulated ones stands what drives of other controllers and dies predict.
"""

import math
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
WORDS = {"write_iops": "writes", "read_iops": "reads", "mean_iops": "mean of both"}


def simulated_iops(row: Row, figure: str) -> float:
    """Commands a second on the drive of a row, as the command measures them."""
    capacity = row["drive"].rpartition(" ")[2]
    jobs = measures.document(
        f"pslc drives new drive.toml --nand {row['nand']} --controller {row['controller']} --capacity {capacity}",
        f"pslc run {measures.JOBS}/qd1.fio --on sim:./drive.toml --computer {COMPUTER}",
    )["jobs"]
    latencies = (float(job[kind]["lat_ns"]["mean"]) for job, kind in zip(jobs[1:], ("write", "read"), strict=True))
    logs = (share * math.log(1e9 / ns) for ns, share in zip(latencies, pooled.COMMANDS[figure], strict=True))
    return math.exp(sum(logs))


def left_out(row: Row, figure: str) -> Interval:
    """Seconds of a command, predicted by the drives of other controllers and dies; 80 % lie between."""
    rest = [
        other for other in ledger.commands() if not any(other[part] == row[part] for part in ("controller", "nand"))
    ]
    fit = pooled.fit([], [], rest)
    law = pooled.command(fit.design, row, figure)
    return pooled.left_out(fit, law, 1 / float(row[figure]), pooled.command_sd(row, figure))


def line(row: Row, figure: str, simulated: float) -> str:
    """A published figure beside the simulated one and that of drives of other parts; IOPS."""
    unseen = left_out(row, figure)
    cells = [row["drive"], row["controller"], WORDS[figure], f"{float(row[figure]):.0f}", f"{simulated:.0f}",
             f"{1 / unseen.median:.0f} ({1 / unseen.high:.0f} to {1 / unseen.low:.0f})"]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def page() -> str:
    """The text of qd1.md: summaries, and a line a published figure."""
    lines = ["| drive | controller | figure | published | simulated | other controllers and dies |",
             "|---|---|---|---:|---:|---|"]  # fmt: skip
    summary = []
    for figure, words in WORDS.items():
        of_parts, of_others, holds = [], [], []
        for row in (row for row in ledger.commands() if row[figure]):
            published, simulated, interval = float(row[figure]), simulated_iops(row, figure), left_out(row, figure)
            of_parts.append(simulated / published - 1)
            of_others.append(1 / interval.median / published - 1)
            holds.append(interval.low <= 1 / published <= interval.high)
            lines.append(line(row, figure, simulated))
        own, unseen = (
            f"{min(errors):+.0%} to {max(errors):+.0%}, median {statistics.median(map(abs, errors)):.0%}"
            for errors in (of_parts, of_others)
        )
        within = f"{statistics.fmean(holds):.0%} within 80 %"
        by = f"by other controllers and dies: {unseen}, {within}"
        summary.append(f"- {words}: {len(holds)} figures, which set them: {own}; {by}")
    return "\n".join([*summary, "", *lines]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
