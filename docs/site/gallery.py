"""The gallery of the site, a page and a picture for each drive that pslc brings along: `make docs`.

Every page is what a fill of the simulated drive gave, and what its profile says of itself.
"""

import json
import sys
import tomllib
from pathlib import Path

import matplotlib.pyplot as plt

import pslc
from pslc.base import words
from pslc.device.profiles import library
from pslc.device.target import find_target
from pslc.figures.picture import Table
from pslc.recording.writes import write_curve
from pslc.report import drive, recording_view

STATIC_PAGE = Path(__file__).parents[2] / "target/web/index.html"
"""As `make web` builds it."""

INDEX = """# Drives

pslc brings along {count} drives. Here each is filled once. Their profiles hold geometry, times and rules of the
firmware; the speeds come out of the simulation. [Accuracy](../ACCURACY.md) compares them with published figures.

<div class="grid cards" markdown>

{cards}

</div>
"""

PAGE = """---
description: {summary}
image: drives/{slug}.png
---
# {name}

{remark}

![Speed against GB written while {name} is filled]({slug}.svg)

{sentences}

{tables}

This is `pslc run fill --on sim:{slug}`.{lab}

## What follows from its parts

```text
{facts}
```

## Where each value comes from

{provenance}

## Profile

`pslc drives show {slug}` prints it. A drive of your own may build on it: [How-to](../how-to.md#change-a-drive).

```toml
{profile}
```
"""


CARD_INCHES, CARD_DPI = (6.0, 3.15), 200
"""1200 x 630 pixels, as sites want that show a picture beside a link."""
LAB = " [Turn its knobs](../page/index.html#view=lab&drive={slug}) in the browser."


def picture(recording: pslc.Recording, path: Path, inches: tuple[float, float] = (9, 3.2), title: str = "") -> None:
    """Speed against what was written; the same curve gives the same file."""
    curve = write_curve(recording)
    assert curve is not None, "a fill writes"
    figure, axes = plt.subplots(figsize=inches)
    axes.set_title(title, loc="left")
    axes.plot(curve.edges_bytes[1:] / 1e9, curve.bytes_per_s / 1e6, color="#1f6fb4", linewidth=1.6)
    axes.set(xlabel="GB written", ylabel="MB/s")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    figure.tight_layout()
    figure.savefig(path, dpi=CARD_DPI, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(figure)


def markdown(table: Table) -> str:
    """A table as Markdown."""
    lines = [table.columns, ["---"] * len(table.columns), *table.rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def page(slug: str, text: str, folder: Path) -> str:
    """Write the page of a drive and its picture; its card for the index."""
    target, recording = find_target(f"sim:{slug}"), pslc.run("fill", on=f"sim:{slug}")
    picture(recording, folder / f"{slug}.svg")
    picture(recording, folder / f"{slug}.png", CARD_INCHES, f"{target.name}: filled once, simulated")
    shown = recording_view.of_recording(recording)
    remark = " ".join(
        line.removeprefix("#").strip() for line in text.splitlines()[: text.split("\n").index(first(text))]
    )
    rows = sorted(target.provenance.items()) if isinstance(target.provenance, dict) else list(target.provenance)
    content = PAGE.format(
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
    plt.rcParams["svg.hashsalt"] = "pslc"
    profiles = library()
    cards = [page(slug, text, folder) for slug, text in profiles.items()]
    (folder / "index.md").write_text(INDEX.format(count=len(cards), cards="\n\n".join(cards)), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
