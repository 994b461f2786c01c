"""The page of fio's options, docs/fio.md, from the one table in crates/load/src/job/options.rs: `make fio-page`."""

import re
import subprocess
from pathlib import Path

from pslc._native import fio_words
from pslc.fio.json_output import VERSION

PAGE = Path(__file__).parent.parent / "fio.md"

INTRODUCTION = Path(__file__).with_name("introduction.md")


def row(names: list[str], verdict: str, why: str) -> str:
    """A line of the table."""
    first, *others = (f"`{name}`" for name in names)
    also = f" ({', '.join(others)})" if others else ""
    text = why.replace("|", "\\|")
    if verdict == "on real drives":
        text = f"ignored on a simulated one: {text}"
    return f"| {first}{also} | {verdict} | {text} |"


def document() -> str:
    """The page."""
    options, engines = fio_words()
    introduction = INTRODUCTION.read_text(encoding="utf-8").replace("FIO_VERSION", VERSION)
    lines = [introduction, "## Options", "", "| option | is | and |", "|---|---|---|"]
    lines += [row(*option) for option in sorted(options)]
    lines += ["", "## Engines", "", "| engine | is | and |", "|---|---|---|"]
    lines += [row(*engine) for engine in engines]
    return "\n".join(lines) + "\n"


def installed() -> set[str]:
    """Every option that the fio on this machine knows."""
    done = subprocess.run(["fio", "--cmdhelp=all"], capture_output=True, text=True, check=True)
    return set(re.findall(r"^\s*(\S+?)\s*:", done.stdout, flags=re.MULTILINE))


if __name__ == "__main__":
    PAGE.write_text(document(), encoding="utf-8")
