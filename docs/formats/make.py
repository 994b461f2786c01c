"""docs/formats.md: what pslc reads of other programs, from the readers themselves. `make formats`."""

from pathlib import Path

from pslc.formats import registry

PAGE = Path(__file__).parents[1] / "formats.md"
TEMPLATE = Path(__file__).with_name("page.md")


def page() -> str:
    """The page, a row a format."""
    rows = [[about.program, about.what, about.content, about.command] for about in registry()]
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return TEMPLATE.read_text(encoding="utf-8").replace("ROWS", "\n".join(lines))


if __name__ == "__main__":
    PAGE.write_text(page())
