"""The page of the suites, docs/suites.md, from the docstrings of their modules: `make suites`."""

from pathlib import Path

from pslc import suites
from pslc.base import words
from pslc.device.cost import Cost, cost
from pslc.device.region import Scope, find_region
from pslc.device.target import Target, find_target

PAGE = Path(__file__).parent.parent / "suites.md"
DRIVE = "sim:sn850-1tb"

INTRODUCTION = Path(__file__).with_name("introduction.md")


def document() -> str:
    """The whole page."""
    target = find_target(DRIVE)
    head = ["| suite | question | writes | takes |", "|---|---|---|---|"]
    lines = [INTRODUCTION.read_text(encoding="utf-8").replace("DRIVE", f"`{DRIVE}`"), *head]
    for name in suites.names():
        found = _cost(name, target, quick=False)
        asks = suites.question(name)
        lines.append(f"| [{name}](#{name}) | {asks[: asks.index('?') + 1]} | {_writes(found)} | {_takes(found)} |")
    for name in suites.names():
        lines += ["", _section(name, target)]
    return "\n".join(lines) + "\n"


def _cost(name: str, target: Target, quick: bool) -> Cost:
    return cost(suites.expected(name, find_region(target, Scope(quick))), name, [], target)


def _writes(found: Cost) -> str:
    return words.size(found.write_bytes) + (" +" if found.writes_until_time else "")


def _takes(found: Cost) -> str:
    ends = (words.span(found.seconds(speed)) for speed in (5e9, 1e9))
    return " to ".join(dict.fromkeys(ends))


def _section(name: str, target: Target) -> str:
    suite = suites.load(name)
    quick = _cost(name, target, quick=True)
    # Its question stands in the table.
    text = suite.__doc__.partition("?")[2].strip()
    return f"## {name}\n\n{text}\n\n`--quick` takes {_takes(quick)}: {suite.QUICK}."


if __name__ == "__main__":
    PAGE.write_text(document())
