"""Published against simulated, as ACCURACY.md: `make accuracy`."""

import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pslc.targets import published

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

INTRODUCTION = """
Published figures of real drives beside those of their simulated twins. `make accuracy` writes this page from
`python/pslc/targets/published.toml` and `docs/accuracy/measures.py`. `make test` fails when a figure of a fill is no
longer what the simulator does, `make test-all` when any is not.

*Fitted* figures were used to calibrate the profile, *predicted* ones were not. A fitted figure off by more than
5 %, or a predicted one by more than 15 %, is a miss. `>` marks figures published as lower bounds, `<` as upper ones:
being on the right side is no error. Prose rounds ('almost 5 GB/s'), so single figures may be off by 15 % themselves.
""".strip()

ANALYSIS = """
How often the analysis finds the end of the cache, and the cause of a phase without looking into the drive:
`make bench-analysis` writes these tables (docs/analysis.md says of what). A row is a cause in truth, a column an
answer.
""".strip()


REFITS = """
Twins that `pslc fit --published` makes of nothing but published figures, with capacity, link and whether the cells are
TLC or QLC, and what a fill of the twin by the reviewer's load then measures: `make refits` writes this table from
`docs/accuracy/reviews.csv` and `python/pslc/targets/published.toml`. *Given* figures were fitted to; a mean that was
*not given* is a prediction, as good as the reviewer's phases are round. A given figure that is off by more than 5 % is
a miss: HP's FX700 has a cache of two tiers, of which the model has one.
""".strip()

HIDDEN = """
Twins of simulated drives whose parameters the fit was not told: `make bench-fit` writes these tables (docs/twin.md says
how), these with `python -m benches.fit 36 --first 300`.
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


def line(row: dict[str, Any]) -> str:
    """The line of a figure in its table."""
    word = ("fitted" if row["fitted"] else "predicted") + (", **miss**" if row["miss"] else "")
    sign = "> " if row.get("at_least") else "< " if row.get("at_most") else ""
    changed = row["drive"].partition(",")[2].replace(",", ", ") or "as it is"
    error = row["simulated"] / row["value"] - 1
    value, simulated = sign + shown(row, row["value"]), shown(row, row["simulated"])
    what = row["what"] + (f" (`{row['measure']}`)" if row["measure"] else "")
    return f"| {what} | {changed} | {value} | {simulated} | {error:+.1%} | {word} |"


def document() -> str:
    """The text of ACCURACY.md."""
    table = rows()
    lines = ["# Accuracy", "", *INTRODUCTION.splitlines(), ""]
    for fitted, word in ((True, "fitted"), (False, "predicted")):
        errors = sorted(row["error"] for row in table if row["fitted"] == fitted)
        misses = sum(row["miss"] for row in table if row["fitted"] == fitted)
        ninety = errors[min(int(0.9 * len(errors)), len(errors) - 1)]
        median = statistics.median(errors)
        lines.append(
            f"- {word}: {len(errors)} figures, median error {median:.1%}, 90th percentile {ninety:.1%}, misses {misses}"
        )
    for drive in dict.fromkeys(row["drive"].partition(",")[0] for row in table):
        lines += [
            "",
            f"## {drive}",
            "",
            "| figure | on | published | simulated | error | |",
            "|---|---|---:|---:|---:|---|",
        ]
        for row in (row for row in table if row["drive"].partition(",")[0] == drive):
            lines.append(line(row))
    sources = published.document()["source"]
    lines += ["", "## Sources", "", *(f"- {drive}: {source}" for drive, source in sources.items())]
    reasons = [f"- {row['drive'].partition(',')[0]}, {row['what']}: {row['reason']}." for row in table if row["miss"]]
    if reasons:
        lines += ["", "## Misses", "", *reasons]
    lines += ["", *of_parts.section()]
    for title, about, name in (
        ("Twins of published figures", REFITS, "refits.md"),
        ("Twins of hidden drives", HIDDEN, "fit.md"),
    ):
        lines += ["", f"## {title}", "", *about.splitlines(), "", *(FOLDER / name).read_text().splitlines()]
    lines += ["", "## The analysis", "", *ANALYSIS.splitlines(), "", *(FOLDER / "analysis.md").read_text().splitlines()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (FOLDER.parent.parent / "ACCURACY.md").write_text(document())
