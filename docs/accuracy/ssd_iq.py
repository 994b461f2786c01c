"""Write amplification under skewed and partly read-only writes, against the median of SSD-iq's drives: `make ssd-iq`.

`ssd_iq.csv` has five drives for servers (gabriel-haas/ssdiq-pub, logs of the runs): what each programs for each byte of
the host's, over what it programs where writes are uniform over all of it. Of the 7450 MAX that is by its own counters,
of the others by their speed. The simulated drive is the built-in 7450 MAX with a write buffer in which rewrites are
merged, as Zipf 1.0 below 1 asks for. Writes ssd_iq.md, which ACCURACY.md sums up.
"""

import csv
import statistics
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

from measures import waf, waf_read_only  # noqa: E402

PAGE = FOLDER / "ssd_iq.md"
DRIVE = "7450-max-800gb,scale=1/16,controller.rewrites=merged,controller.write_buffer=4MiB"
TARGET = 0.07
NOT_ASKED = "90% read-only"
"""Drives tell hot from cold there, each in its own way; it is shown, and counts nowhere."""


def medians() -> dict[str, float]:
    """By kind of work, the median of the published drives."""
    with (FOLDER / "ssd_iq.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {work: statistics.median(float(row[work]) for row in rows) for work in rows[0] if work != "drive"}


def simulated(work: str, uniform: float) -> float:
    """Write amplification of a kind of work over that of uniform writes."""
    kind, of = work.split()
    # Zipf's law with 1 itself is not defined in fio.
    own = waf(DRIVE, "100%", {"1.0": "0.999"}.get(of, of)) if kind == "zipf" else waf_read_only(DRIVE, kind)
    return own / uniform


def main() -> None:
    """Write the page, a row at a time."""
    uniform = waf(DRIVE, "100%")
    lines, within, asked = ["| writes | median of five drives | simulated | error |", "|---|---:|---:|---:|"], 0, 0
    for work, median in medians().items():
        value = simulated(work, uniform)
        error = value / median - 1
        mark = "**" if abs(error) > TARGET and work != NOT_ASKED else ""
        lines.append(f"| {work} | {median:.2f} | {value:.2f} | {mark}{error:+.1%}{mark} |")
        print(lines[-1], flush=True)
        asked += work != NOT_ASKED
        within += work != NOT_ASKED and not mark
    target = f"{TARGET:.0%}".replace("%", " %")
    head = [
        f"Within {target} of the median drive: {within} of {asked} kinds of work. Figures are bytes programmed for",
        "each of the host's, over those of uniform 4 KiB writes to a full drive; of 90 % read-only nothing is asked.",
    ]
    PAGE.write_text("\n".join([*head, "", *lines]) + "\n")


if __name__ == "__main__":
    main()
