"""Published against simulated, as ACCURACY.md: `make accuracy`."""

import csv
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pslc.device import published

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import parts as of_parts  # noqa: E402
from measures import MEASURES, UNITS  # noqa: E402

BOUND = {True: 0.05, False: 0.15}
"""The largest error that is no miss, of figures that a profile was fitted to and of others."""
SHOWN = {
    "B": (1e9, "GB"),
    "B/s": (1e6, "MB/s"),
    "IOPS": (1e3, "k IOPS"),
    "W": (1.0, "W"),
    "C": (1.0, "C"),
    "B/J": (1e6, "MB/J"),
}

MIN_SHOWN_ERROR = 0.1
"""Drives none of whose figures is further off share one line."""
FIGURES = FOLDER / "built-in.csv"
PARTS = FOLDER / "parts.csv"
WORST = 3
"""Rows of the tables of largest errors."""

INTRODUCTION = """
How close pslc comes to figures that somebody else measured, and how often its answers are right where the truth is
known. `make accuracy` writes this page and the tables beside it. `make test` fails when a figure of a fill is no
longer what the simulator does, `make test-all` when any figure is not.
""".strip()

BUILT_IN = """
Published figures of real drives beside those of the built-in profiles. *Fitted* figures calibrated the profile;
*predicted* ones did not. A fitted figure more than 5 % off, or a predicted one more than 15 % off, is a miss. Figures
published as a bound ("over 5000 MB/s") count as right on the right side of it. Reviews round in prose, so single
figures may be 15 % off themselves. Every figure, with its source: [built-in.csv](docs/accuracy/built-in.csv).
""".strip()

OF_PARTS = """
Drives predicted from their parts as a user's own would be: NAND die, controller, capacity and cache size are given, and
everything else follows from other drives. The constants of the parts (`pslc drives parts`) are medians over the rows of
[calibration.csv](docs/accuracy/calibration.csv), the ledger of every published figure that set one; here each drive is
left out of them, whoever reviewed it, and so is what its firmware does when the cache is full. Where no other drive is
on a part, the medians of its class stand in. Every figure, with its sources: [parts.csv](docs/accuracy/parts.csv). No
figure of the drives of [reserved.csv](docs/accuracy/reserved.csv) sets or tests anything.

The 90th percentile is that of second phases, which firmware sets. The same drive told by two reviewers differs by up to
150 % (Crucial P1: 60 and 150 MB/s; SN550: 466 and 842). A 600p writes 30 MB/s past its cache, an SU800 with half of its
dies 50; over 16 dies controllers without DRAM write 250 (M700) to 2000 MB/s (Atom 50). Of an E21T with TLC and of an
RTS5763DL one drive each is known, from which nothing follows for it.
""".strip()

ANALYSIS = """
How often the analysis finds the end of the cache, and the cause of a phase without looking into the drive, on curves
whose truth is known. `make bench-analysis` writes these tables; docs/analysis.md describes the curves.
""".strip()

REFITS = """
Twins that `pslc fit --published` makes from published figures alone, with capacity, link and cell type, filled with
the reviewer's load: does the twin reproduce what it was given? A given figure more than 5 % off is a miss. A mean
that was not given is a prediction. HP's FX700 is a miss because its cache has two tiers and a twin has one. `make
refits` writes [refits.md](docs/accuracy/refits.md), a row a figure.
""".strip()

SERVERS = """
Write amplification of skewed and partly read-only writes, beside five drives of SSD-iq (`make ssd-iq`); a row a kind of
work is in [ssd_iq.md](docs/accuracy/ssd_iq.md).
""".strip()

INTERVALS = """
Suites give 90 % intervals. Drives with hidden values are measured, and each interval is held against what the
drive hides, a cache to a superblock. Below 85 % an interval promises too much, above 97 % it says less than was
measured. `make bench-intervals` prints every interval that does not hold; these seeds were not looked at before.
""".strip()

HIDDEN = """
Twins of simulated drives whose parameters the fit was not told, so every error is known. `make bench-fit` writes this
section and [fit.md](docs/accuracy/fit.md), a row a drive, a figure and a value; docs/twin.md describes the test.
""".strip()

LIMITS = """
- Published figures are few, rounded and of single drives; a firmware update or another batch may differ by more.
- A profile is calibrated on a sequential fill. Latencies, mixed work and temperature are predictions, and only some
  of them could be compared.
- The simulated half of these tables is deterministic: it says nothing about the scatter of a real drive.
- Hidden drives are drawn from the model itself. A real drive can do what no drive of the model does.
""".strip()


OF_A_FILL = ("cache", "speed", "end", "mean", "flatness")
"""Measures that one fill of the whole drive gives."""


def rows(measures: Sequence[str] = tuple(MEASURES), drives: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Every published figure of these measures, or of these drives alone, with the simulated one, and the error."""
    # Each with the simulated one beside it, which belongs to this table alone.
    found: list[dict[str, Any]] = [dict(row) for row in published.document()["figure"]]
    found = [row for row in found if row["measure"].split()[0] in measures]
    found = [row for row in found if not drives or row["drive"].partition(",")[0] in drives]
    for row in found:
        name, *arguments = row["measure"].split()
        value = MEASURES[name](row["drive"], *arguments)
        if "over" in row:
            value /= MEASURES[name](row["over"], *arguments)
        row["simulated"], row["unit"] = value, "" if "over" in row else UNITS[name]
        error = value / row["value"] - 1
        if row.get("at_least"):
            row["error"] = max(-error, 0.0)
        elif row.get("at_most"):
            row["error"] = max(error, 0.0)
        else:
            row["error"] = abs(error)
        row["miss"] = row["error"] > BOUND[row["fitted"]]
    return found


def shown(row: dict[str, Any], value: float) -> str:
    """A figure with its unit: `691 GB`, `x0.32`, `5.4 W`."""
    unit = row["unit"]
    if not unit:
        return f"x{value:.2f}"
    if unit == "s":
        for scale, name in ((60.0, "min"), (1.0, "s"), (1e-3, "ms")):
            if value >= scale:
                return f"{value / scale:.3g} {name}"
        return f"{value * 1e6:.3g} us"
    scale, name = SHOWN[unit]
    return f"{value / scale:.0f} {name}" if value >= 100 * scale else f"{value / scale:.3g} {name}"


def settings(row: dict[str, Any]) -> str:
    """What differs from the profile, as in `sim:NAME,...`; empty where nothing does."""
    return str(row["drive"]).partition(",")[2]


def record(row: dict[str, Any]) -> list[str]:
    """The row of a figure in built-in.csv: numbers in the unit named beside them, errors in percent."""
    sign = ">" if row.get("at_least") else "<" if row.get("at_most") else ""
    name = row["drive"].partition(",")[0]
    error = row["simulated"] / row["value"] - 1
    return [
        name,
        row["what"],
        row["measure"],
        settings(row),
        f"{sign} {shown(row, row['value'])}".strip(),
        shown(row, row["simulated"]),
        f"{error:+.1%}",
        "fitted" if row["fitted"] else "predicted",
        "miss" if row["miss"] else "",
        row.get("reason", "") if row["miss"] else "",
        published.document()["source"][name],
    ]


HEADER = (
    "drive", "figure", "measure", "settings", "published", "simulated", "error", "kind", "miss", "reason", "source",
)  # fmt: skip


def drive_line(name: str, table: Sequence[dict[str, Any]]) -> str:
    """The line of a drive: how many figures, the largest fitted error, median and worst of the predicted ones."""
    errors = {kind: [row for row in table if row["fitted"] == kind] for kind in (True, False)}
    fitted = max((row["error"] for row in errors[True]), default=None)
    worst = max(errors[False], key=lambda row: row["error"], default=None)
    cells = [name, str(len(errors[True])), "" if fitted is None else f"{fitted:.1%}", str(len(errors[False]))]
    if worst is None:
        cells += ["", ""]
    else:
        median = statistics.median(row["error"] for row in errors[False])
        cells += [f"{median:.1%}", f"{worst['error']:.1%}: {worst['what']}" if worst["error"] else "none is off"]
    return f"| {' | '.join(cells)} |"


def built_in(table: Sequence[dict[str, Any]]) -> list[str]:
    """The section on built-in profiles."""
    lines = ["## Built-in drives", "", *BUILT_IN.splitlines(), ""]
    for fitted, word in ((True, "fitted"), (False, "predicted")):
        errors = [row["error"] for row in table if row["fitted"] == fitted]
        misses = sum(row["miss"] for row in table if row["fitted"] == fitted)
        median, ninety = of_parts.spread(errors)
        errors_are = f"median error {median:.1%}, 90th percentile {ninety:.1%}, misses {misses}"
        lines.append(f"- {word}: {len(errors)} figures, {errors_are}")
    lines += ["", "| drive | fitted | largest error | predicted | median error | worst |"]
    lines.append("|---|---:|---:|---:|---:|---|")
    close = []
    for name in dict.fromkeys(row["drive"].partition(",")[0] for row in table):
        rows = [row for row in table if row["drive"].partition(",")[0] == name]
        if max(row["error"] for row in rows) < MIN_SHOWN_ERROR:
            close.append(name)
        else:
            lines.append(drive_line(name, rows))
    if close:
        lines += ["", f"No figure of these is {MIN_SHOWN_ERROR:.0%} off: {', '.join(close)}."]
    reasons = [f"- {row['drive'].partition(',')[0]}, {row['what']}: {row['reason']}." for row in table if row["miss"]]
    return [*lines, "", "Misses:", "", *reasons] if reasons else lines


def parts_section() -> list[str]:
    """The section on drives from parts."""
    lines = ["## Drives from parts", "", *OF_PARTS.splitlines(), "", *of_parts.summary(), ""]
    figures = [figure for figure in of_parts.all_figures() if figure.what != "cache"]
    worst = sorted(figures, key=lambda figure: -abs(figure.error))[:WORST]
    lines += [f"The {WORST} largest errors:", ""]
    lines += ["| drive | figure | published | simulated | error |", "|---|---|---:|---:|---:|"]
    for figure in worst:
        both = " | ".join(of_parts.in_units(figure))
        lines.append(f"| {figure.drive} | {figure.what} | {both} | {figure.error:+.0%} |")
    return lines


def summary_of(name: str) -> list[str]:
    """A generated page up to its first table, without empty lines at its end."""
    text, _, _ = (FOLDER / name).read_text().partition("\n| ")
    return text.strip().splitlines()


def long_runs() -> list[str]:
    """The section on long runs: how many agree, and the rows of those that do not."""
    about, table, count = (FOLDER / "long_runs.md").read_text().strip().split("\n\n")
    head, rule, *runs = table.splitlines()
    misses = [run for run in runs if "**" in run]
    link = "Every drive: [long_runs.md](docs/accuracy/long_runs.md)."
    return [*about.splitlines(), "", f"{count} {link}", *(["", head, rule, *misses] if misses else [])]


def analysis() -> list[str]:
    """The section on the analysis: all tables but that of causes against causes, which is too wide for a page."""
    parts = (FOLDER / "analysis.md").read_text().strip().split("\n\n")
    link = "Which were taken for which: [analysis.md](docs/accuracy/analysis.md)."
    return "\n\n".join(link if part.startswith("| in truth") else part for part in parts).splitlines()


def hidden_drives() -> list[str]:
    """The section on twins of hidden drives: what its page says before its first heading."""
    text, _, _ = (FOLDER / "fit.md").read_text().partition("\n## ")
    return [*HIDDEN.splitlines(), "", *text.strip().splitlines()]


SECTIONS: dict[str, Callable[[], list[str]]] = {
    "Drives for servers": lambda: [*SERVERS.splitlines(), *summary_of("ssd_iq.md")],
    "Twins of published figures": lambda: [*REFITS.splitlines(), "", *summary_of("refits.md")],
    "Twins of hidden drives": hidden_drives,
    "Intervals of suites": lambda: [*INTERVALS.splitlines(), "", *(FOLDER / "intervals.md").read_text().splitlines()],
    "Long runs": long_runs,
    "The analysis": lambda: [*ANALYSIS.splitlines(), "", *analysis()],
}
"""Sections that a page beside this one decides, in their order: the lines below the title."""


def document(table: Sequence[dict[str, Any]]) -> str:
    """The text of ACCURACY.md."""
    lines = ["# Accuracy", "", *INTRODUCTION.splitlines(), "", *built_in(table), "", *parts_section()]
    for title, section in SECTIONS.items():
        lines += ["", f"## {title}", "", *section()]
    return "\n".join([*lines, "", "## What this does not tell", "", *LIMITS.splitlines()]) + "\n"


def with_section(text: str, title: str) -> str:
    """ACCURACY.md with one of `SECTIONS` written anew."""
    before, heading, rest = text.partition(f"\n## {title}\n")
    if not heading:
        sys.exit(f'ACCURACY.md has no section "{title}"; make accuracy writes all of it')
    _, following, after = rest.partition("\n## ")
    return f"{before}{heading}\n" + "\n".join(SECTIONS[title]()) + f"\n{following}{after}"


def write(path: Path, header: Sequence[str], records: Sequence[Sequence[str]]) -> None:
    """A table as CSV."""
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *records])


if __name__ == "__main__":
    page = FOLDER.parent.parent / "ACCURACY.md"
    if sections := sys.argv[1:]:
        for title in sections:
            page.write_text(with_section(page.read_text(), title))
        sys.exit()
    figures = rows()
    write(FIGURES, HEADER, [record(row) for row in figures])
    write(PARTS, of_parts.HEADER, of_parts.records())
    of_parts.write_spread()
    page.write_text(document(figures))
