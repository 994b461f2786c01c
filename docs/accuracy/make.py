"""Published against simulated, as ACCURACY.md: `make accuracy`."""

import csv
import re
import statistics
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pslc.device import published

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import measures  # noqa: E402
import parts as of_parts  # noqa: E402

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
"""Drives none of whose figures is further off are counted in one line."""
SUMS = ("all", "with an end", "no end in the log", "no cache")
"""First cells of rows that sum up the shapes of a table."""
PAGE = FOLDER.parent.parent / "ACCURACY.md"
FIGURES = FOLDER / "built-in.csv"
PARTS = FOLDER / "parts.csv"

PROSE: dict[str, str] = tomllib.loads((FOLDER / "prose.toml").read_text(encoding="utf-8"))
"""What is said around the tables of each section."""

OF_A_FILL = ("cache", "speed", "end", "mean")
"""Measures that one fill of the whole drive gives."""
Row = dict[str, Any]


def rows(wanted: Callable[[Row], bool] = lambda figure: True) -> list[Row]:
    """Every figure that is wanted with what pslc gives for it, its unit, and the error of those that are published as
    numbers."""
    found = [dict(row) for row in published.document()["figure"] if wanted(dict(row))]
    measures.run_ahead(found)
    for row in found:
        measures.ASKED.clear()
        row["simulated"], row["unit"] = measures.value(row), measures.unit(row)
        row["commands"] = [*dict.fromkeys(measures.ASKED), ""][:2] if "over" in row else [measures.ASKED[0], ""]
        if isinstance(row.get("value"), (int, float)):
            _set_error(row)
    return found


def kept() -> list[Row]:
    """Every figure, with what stands in built-in.csv for it."""
    with FIGURES.open(newline="") as file:
        records = list(csv.DictReader(file))
    table = [dict(row) for row in published.document()["figure"]]
    for row in table:
        row["unit"] = measures.unit(row)
        record = next(each for each in records if _is_of(row, each))
        row["commands"] = [record["command"], record["over"]]
        text = record["value"]
        row["simulated"] = float(text) if re.fullmatch(r"-?[\d.]+(e[+-]?\d+)?", text) else text
        if is_published(row):
            _set_error(row)
    return table


def _is_of(row: Row, record: dict[str, str]) -> bool:
    """Whether a row of built-in.csv is of the drive, the run and the finding of a figure."""
    finding = str(row.get("find", row.get("measure"))).replace("findings.", "")
    names = (str(row["drive"]).partition(",")[0], str(row["what"]), finding)
    if (record["drive"], record["figure"], record["finding"]) != names or bool(record["over"]) != ("over" in row):
        return False
    return "run" not in row or f"{record['command']} ".startswith(measures.command(row))


def is_published(figure: Row) -> bool:
    """Whether a figure is a number that somebody published, so that there is an error."""
    return isinstance(figure.get("value"), (int, float))


def is_of_a_fill(figure: Row) -> bool:
    """Whether one fill of the whole drive gives a figure."""
    return is_published(figure) and str(figure.get("measure", "")).split(" ")[0] in OF_A_FILL


def _set_error(row: Row) -> None:
    error = row["simulated"] / row["value"] - 1
    low, high = (max(-error, 0.0), max(error, 0.0))
    row["error"] = low if row.get("at_least") else high if row.get("at_most") else low + high
    row["miss"] = row["error"] > BOUND[row["fitted"]]


def shown(row: dict[str, Any], value: float) -> str:
    """A figure with its unit: `691 GB`, `x0.32`, `5.4 W`."""
    unit = row["unit"]
    if isinstance(value, str):
        return value
    if not unit:
        return f"x{value:.2f}"
    if unit == "s":
        for scale, name in ((60.0, "min"), (1.0, "s"), (1e-3, "ms")):
            if value >= scale:
                return f"{value / scale:.3g} {name}"
        return f"{value * 1e6:.3g} us"
    scale, name = SHOWN[unit]
    return f"{value / scale:.0f} {name}" if value >= 100 * scale else f"{value / scale:.3g} {name}"


def record(row: Row) -> list[str]:
    """The row of a figure in built-in.csv: numbers in the unit named beside them, errors in percent, the value itself
    in base units."""
    sign = ">" if row.get("at_least") else "<" if row.get("at_most") else ""
    name = row["drive"].partition(",")[0]
    is_number = "error" in row
    said = f"{sign} {shown(row, row['value'])}".strip() if "value" in row else ""
    return [
        name,
        row["what"],
        *row["commands"],
        str(row.get("find", row.get("measure"))).replace("findings.", ""),
        said,
        shown(row, row["simulated"]),
        f"{row['simulated'] / row['value'] - 1:+.1%}" if is_number else "",
        ("fitted" if row["fitted"] else "predicted") if is_number else "",
        "miss" if row.get("miss") else "",
        row.get("reason", "") if row.get("miss") else "",
        published.document()["source"].get(name, ""),
        row["simulated"] if isinstance(row["simulated"], str) else f"{row['simulated']:.6g}",
    ]


HEADER = (
    "drive", "figure", "command", "over", "finding", "published", "simulated", "error", "kind", "miss", "reason",
    "source", "value",
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
    lines = ["## Built-in drives", "", *PROSE["built_in"].splitlines(), ""]
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
        lines += ["", f"No figure of {len(close)} other drives is {MIN_SHOWN_ERROR:.0%} off."]
    misses = [row for row in table if row["miss"]]
    reasons = [f"- {row['drive'].partition(',')[0]}, {row['what']}: {row['reason']}."
               for row in misses if "item" not in row]  # fmt: skip
    head = (
        f"Misses, beside {len(misses) - len(reasons)} of [the articles](docs/articles.md), where their reasons stand:"
    )
    return [*lines, "", head, "", *reasons]


def parts_section() -> list[str]:
    """The section on drives from parts: forecasts of what is left out come first."""
    lines = ["## Drives not seen", "", *PROSE["parts"].splitlines(), "", *of_parts.left_out_table(), ""]
    return [*lines, *PROSE["stretched"].splitlines(), "", *of_parts.summary()]


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
    """The section on the analysis: the sums of its tables, without that of causes against causes, which is too wide."""
    parts = (FOLDER / "analysis.md").read_text().strip().split("\n\n")
    link = "Which were taken for which: [analysis.md](docs/accuracy/analysis.md)."
    return "\n\n".join(link if part.startswith("| in truth") else _sums(part) for part in parts).splitlines()


def _sums(part: str) -> str:
    """A table of many shapes as its last rows, which sum them up, and without its column of seeds."""
    rows = part.splitlines()
    sums = [row for row in rows if row.split(" | ")[0].removeprefix("| ") in SUMS]
    return "\n".join("|".join(row.split("|")[:-2]) + "|" for row in [*rows[:2], *sums]) if sums else part


def hidden_drives() -> list[str]:
    """The section on twins of hidden drives: what its page says before its first heading."""
    text, _, _ = (FOLDER / "fit.md").read_text().partition("\n## ")
    return [*PROSE["hidden"].splitlines(), "", *text.strip().splitlines()]


SECTIONS: dict[str, Callable[[], list[str]]] = {
    "Drives for servers": lambda: [*PROSE["servers"].splitlines(), *summary_of("ssd_iq.md")],
    "After idle time": lambda: [*PROSE["idle"].splitlines(), "", *summary_of("idle.md")],
    "Synced writes": lambda: [*PROSE["flushes"].splitlines(), "", *summary_of("flushes.md")],
    "One command at a time": lambda: [*PROSE["commands"].splitlines(), "", *summary_of("qd1.md")],
    "Twins of published figures": lambda: [*PROSE["refits"].splitlines(), "", *summary_of("refits.md")],
    "Twins of hidden drives": hidden_drives,
    "Intervals of suites": lambda: [
        *PROSE["intervals"].splitlines(),
        "",
        *(FOLDER / "intervals.md").read_text().splitlines(),
    ],
    "Long runs": long_runs,
    "The analysis": lambda: [*PROSE["analysis"].splitlines(), "", *analysis()],
}
"""Sections that a page beside this one decides, in their order: the lines below the title."""


def document(table: Sequence[dict[str, Any]]) -> str:
    """The text of ACCURACY.md."""
    table = [row for row in table if is_published(row)]
    lines = ["# Accuracy", "", *PROSE["introduction"].splitlines(), "", *parts_section(), "", *built_in(table)]
    for title, section in SECTIONS.items():
        lines += ["", f"## {title}", "", *section()]
    return "\n".join([*lines, "", "## What this does not tell", "", *PROSE["limits"].splitlines()]) + "\n"


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
    if sections := sys.argv[1:]:
        for title in sections:
            PAGE.write_text(with_section(PAGE.read_text(), title))
        sys.exit()
    write(FIGURES, HEADER, [record(row) for row in rows()])
    write(PARTS, of_parts.HEADER, of_parts.records())
    PAGE.write_text(document(kept()))
