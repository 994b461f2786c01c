"""The gallery of the site, a page and a picture for each drive that pslc brings along: `make docs`.

Every page is what a fill of the simulated drive gave, and what its profile says of itself.
"""

import json
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pslc
from pslc.base import words
from pslc.device.profiles import library
from pslc.device.target import find_target
from pslc.figures.picture import Table
from pslc.figures.style import Style
from pslc.report import drive, recording_view

STATIC_PAGE = Path(__file__).parents[2] / "target/web/index.html"
"""As `make web` builds it."""

INDEX = Path(__file__).with_name("index.md")

PAGE = Path(__file__).with_name("drive.md")


CURVE, CARD = Style(width=1440, height=560), Style(width=1200, height=630)
"""Looks of the picture on a page, and of the one beside a link, whose size sites ask for."""
LAB = " [Turn its knobs](../page/index.html#view=lab&drive={slug}) in the browser."


def markdown(table: Table) -> str:
    """A table as Markdown."""
    lines = [table.columns, ["---"] * len(table.columns), *table.rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def page(slug: str, text: str, folder: Path) -> str:
    """Write the page of a drive and its picture; its card for the index."""
    target, recording = find_target(f"sim:{slug}"), pslc.run("fill", on=f"sim:{slug}")
    pslc.plot(recording, style=CURVE).save(folder / f"{slug}.svg")
    card = replace(CARD, title=f"{target.name}: filled once, simulated")
    pslc.plot(recording, style=card).save(folder / f"{slug}.png")
    shown = recording_view.of_recording(recording)
    remark = " ".join(
        line.removeprefix("#").strip() for line in text.splitlines()[: text.split("\n").index(first(text))]
    )
    rows = sorted(target.provenance.items()) if isinstance(target.provenance, dict) else list(target.provenance)
    content = PAGE.read_text(encoding="utf-8").format(
        name=target.name,
        slug=slug,
        summary=json.dumps(shown.sentences[0]),
        lab=LAB.format(slug=slug) if STATIC_PAGE.is_file() else "",
        remark=remark,
        sentences="\n\n".join(shown.sentences),
        tables="\n\n".join(markdown(table) for table in shown.tables),
        facts=drive.text(target),
        provenance="\n".join(f"- `{key}`: {source}" for key, source in rows),
        profile=text.rstrip(),
    )
    (folder / f"{slug}.md").write_text(content, encoding="utf-8")
    bits = tomllib.loads(target.profile)["nand"]["bits_per_cell"]
    kind = {2: "MLC", 3: "TLC", 4: "QLC"}.get(bits, f"{bits} bits a cell")
    about = f"{words.size(target.capacity_bytes)}, {kind}. {shown.sentences[0]}"
    return f"-   [![]({slug}.svg)]({slug}.md)\n\n    **[{target.name}]({slug}.md)**\n\n    {about}"


def first(text: str) -> str:
    """The first line that is no remark."""
    return next(line for line in text.split("\n") if not line.startswith("#"))


def main(folder: Path) -> None:
    """Write all pages into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    profiles = library()
    cards = [page(slug, text, folder) for slug, text in profiles.items()]
    (folder / "index.md").write_text(
        INDEX.read_text(encoding="utf-8").format(count=len(cards), cards="\n\n".join(cards)), encoding="utf-8"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
