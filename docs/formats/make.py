"""docs/formats.md: what pslc reads of other programs, from the readers themselves. `make formats`."""

from pathlib import Path

from pslc.formats import registry

PAGE = Path(__file__).parents[1] / "formats.md"
HEAD = """# What pslc reads

`pslc analyze FILE...`, `compare` and `report` read what other programs write. What a file holds tells its format,
not its name. The line *read as* of the answer says which columns or rows were taken, and as what. What is not
understood is refused, with what to give instead.

| program | file | what is read | how to make it |
|---|---|---|---|
"""


def page() -> str:
    """The page, a row a format."""
    rows = [[about.program, about.what, about.content, about.command] for about in registry()]
    return HEAD + "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in rows)


if __name__ == "__main__":
    PAGE.write_text(page())
