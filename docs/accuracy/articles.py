"""The articles that pslc exists for, item by item, as docs/articles.md: `make articles`.

Each figure is what its command prints, and stands in built-in.csv, from which ACCURACY.md and the page are written. An
item is right when all of its figures are within the bounds, partly right when some are.
"""

import csv
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final

from pslc.base import words
from pslc.device import published

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import make  # noqa: E402
import measures  # noqa: E402

PAGE: Final = FOLDER.parent / "articles.md"
PICTURES: Final = FOLDER.parent / "pictures" / "articles"
BOUND, SAME, POINTS = 0.10, 0.05, 0.10
"""Bounds: of figures, of what is much the same, and of ratios (points, or a share of those above 1)."""
OF_ARTICLES: Final = "004"
"""The last of the five articles; what is beyond is of the same kind."""

INTRODUCTION = (FOLDER / "articles.txt").read_text(encoding="utf-8")

Row = dict[str, Any]


def of_articles() -> list[Row]:
    """Figures of items, with what stands in built-in.csv for them."""
    return [row for row in make.kept() if "item" in row]


def is_right(row: Row) -> bool | None:
    """Whether a figure is within its bound; None where nothing was published."""
    if "value" not in row:
        return None
    got, said = row["simulated"], row["value"]
    if isinstance(said, str) or isinstance(got, str):
        return bool(got == said)
    if row.get("at_least") or row.get("at_most"):
        return bool(got >= said if row.get("at_least") else got <= said)
    if row.get("same"):
        return bool(abs(got / said - 1) <= SAME)
    allowed = BOUND * said if row["unit"] else POINTS * max(said, 1.0)
    return bool(abs(got - said) <= allowed)


def verdict(item: published.Item, rows: list[Row]) -> str:
    """`right`, `partly`, `wrong` or `no command`."""
    if not rows:
        return "no command"
    known = [right for row in rows if (right := is_right(row)) is not None]
    return "right" if all(known) else "partly" if any(known) else "wrong"


def answer(template: str, rows: list[Row]) -> str:
    """An answer with the figures in place of their names: `{life}`, `{ratio:%}`, `{ratio:Longer|Shorter}`,
    `{verdict:yes=Yes|no=No}`, `{a>b:Yes|No}`."""
    of = {row["id"]: row for row in rows if "id" in row}

    def shown(match: re.Match[str]) -> str:
        name, _, choice = match[1].partition(":")
        first, _, second = name.partition(">")
        value = of[first]["simulated"]
        if choice == "%":
            return f"{abs(100 * (value - 1)):.0f} % {'more' if value > 1 else 'less'}"
        if "=" in choice:
            return dict(pair.split("=", 1) for pair in choice.split("|"))[value]
        if choice:
            yes, no = choice.split("|")
            return yes if value > (of[second]["simulated"] if second else 1.0) else no
        return told(of[first], value)

    return re.sub(r"\{([^}]+)\}", shown, template)


def told(row: Row, value: float | str) -> str:
    """A figure with its unit, as pslc prints it."""
    if isinstance(value, str):
        return value
    if not row["unit"]:
        return f"{value:.2f}"
    forms = {"B": words.size, "B/s": words.speed, "s": words.span}
    return forms[row["unit"]](value) if row["unit"] in forms else make.shown(row, value)


def section(
    item: published.Item, of_article: list[Row], drawn: dict[tuple[str, ...], Path], shown: tuple[str, ...]
) -> list[str]:
    """The lines of an item; its answer may name figures of its whole article. Commands that are `shown` above it are
    not repeated."""
    rows = [row for row in of_article if row["item"] == item["id"]]
    lines = [f"### {item['title']}", "", f"{verdict(item, rows).capitalize()}.", ""]
    commands = runs_of(item["id"], rows)
    if commands and commands != shown:
        lines += ["```sh", *commands, "```", ""]
    for runs in by_suite(commands):
        # Each picture stands once, with the first item that has its runs.
        if (picture := drawn.pop(runs, None)) and picture.is_file():
            lines += [f"![{item['title']}](pictures/articles/{picture.name})", ""]
    if said := [row for row in rows if "value" in row]:
        lines += ["| figure | article | pslc | |", "|---|---:|---:|---|"]
        lines += [f"| {row['what']} | {_said(row)} | {told(row, row['simulated'])} | "
                  f"{'right' if is_right(row) else 'miss'} |" for row in said]  # fmt: skip
        lines.append("")
    if "answer" in item:
        lines += [answer(item["answer"], of_article + rows), ""]
    reasons = [str(row["reason"]) for row in rows if "reason" in row and is_right(row) is False]
    reasons += [item["reason"]] if "reason" in item else []
    lines += [f"- Miss: {reason}." for reason in dict.fromkeys(reasons)]
    return [*lines, ""] if reasons else lines


def _said(row: Row) -> str:
    sign = "> " if row.get("at_least") else "< " if row.get("at_most") else ""
    return sign + ("much the same" if row.get("same") else told(row, row["value"]))


def counts(rows: list[Row], articles: bool = True) -> Counter[str]:
    """How many items of the five articles, or beyond them, have each verdict."""
    items = [item for item in published.document()["item"] if (item["id"].partition(".")[0] <= OF_ARTICLES) == articles]
    return Counter(verdict(item, [row for row in rows if row["item"] == item["id"]]) for item in items)


def document(rows: list[Row]) -> str:
    """The text of the page."""
    of, drawn = counts(rows), pictures(rows)
    told = ", ".join(f"{of[word]} {word}" for word in ("right", "partly", "wrong", "no command"))
    lines = [INTRODUCTION, "", f"Items of the five articles: {told} (of {of.total()})."]
    for article in published.document()["article"]:
        of_article = [row for row in rows if row["item"].startswith(f"{article['id']}.")]
        lines += ["", f"## {article['title']}", "", f"{article['on']}.", ""]
        shown: tuple[str, ...] = ()
        for item in published.document()["item"]:
            if item["id"].startswith(f"{article['id']}."):
                lines += section(item, of_article, drawn, shown)
                shown = runs_of(item["id"], of_article) or shown
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def runs_of(item: str, rows: list[Row]) -> tuple[str, ...]:
    """Commands of an item, each once."""
    return tuple(dict.fromkeys(each for row in rows if row["item"] == item for each in row["commands"] if each))


def pictures(rows: list[Row]) -> dict[tuple[str, ...], Path]:
    """The picture of the runs of one suite, named after the first item that has them."""
    drawn: dict[tuple[str, ...], Path] = {}
    for item in published.document()["item"]:
        for number, runs in enumerate(by_suite(runs_of(item["id"], rows))):
            drawn.setdefault(runs, PICTURES / f"{item['id']}{'bcd'[number - 1] if number else ''}.svg")
    return drawn


def by_suite(commands: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The commands of each suite, which share a picture."""
    suites = dict.fromkeys(command.split()[2] for command in commands)
    return [tuple(command for command in commands if command.split()[2] == suite) for suite in suites]


def draw(rows: list[Row]) -> None:
    """Draw them, of the recordings that the figures are from; where a figure is of none it is left out."""
    shutil.rmtree(PICTURES, ignore_errors=True)
    PICTURES.mkdir()
    for runs, target in pictures(rows).items():
        folders = [measures.recording(run) for run in runs]
        if all(folder.is_dir() for folder in folders):
            words = [sys.executable, "-m", "pslc", "picture", *map(str, folders), "-o", str(target)]
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def update(wanted: list[list[str]]) -> None:
    """Put rows into built-in.csv in place of those of the same figure; new ones stand at the end."""
    with make.FIGURES.open(newline="") as file:
        header, *kept = csv.reader(file)
    make.write(make.FIGURES, header, list({tuple(row[:5]): row for row in [*kept, *wanted]}.values()))


if __name__ == "__main__":
    update([make.record(row) for row in make.rows(lambda figure: "item" in figure)])
    figures = of_articles()
    if "--pictures" in sys.argv[1:]:
        draw(figures)
    PAGE.write_text(document(figures))
    make.PAGE.write_text(make.document(make.kept()))
    print(dict(counts(figures)))
