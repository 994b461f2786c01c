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
    text = why.replace("|", "\\|")
    if verdict == "on real drives":
        text = f"ignored on a simulated one: {text}"
    return f"| {', '.join(f'`{name}`' for name in names)} | {verdict} | {text} |"


def document() -> str:
    """The page."""
    options, engines = fio_words()
    introduction = INTRODUCTION.read_text(encoding="utf-8").replace("FIO_VERSION", VERSION)
    plain = sorted(name for names, verdict, why in options if verdict == "obeyed" and not why for name in names)
    lines = [introduction, "## Options", "", f"Obeyed as in fio: {', '.join(f'`{name}`' for name in plain)}.", ""]
    lines += ["| option | is | and |", "|---|---|---|"]
    # Options with the same verdict and reason share a row, those of all engines that are refused among them.
    rows: dict[tuple[str, str], list[str]] = {}
    for names, verdict, why in sorted(options):
        if why:
            shared = "of an engine that is refused" if why.startswith("of the engine") else why
            rows.setdefault((verdict, shared), []).extend(names)
    lines += [row(names, *reason) for reason, names in rows.items()]
    lines += ["", "## Engines", "", "| engine | is | and |", "|---|---|---|"]
    lines += [row(*engine) for engine in engines]
    return "\n".join(lines) + "\n"


def installed() -> set[str]:
    """Every option that the fio on this machine knows."""
    done = subprocess.run(["fio", "--cmdhelp=all"], capture_output=True, text=True, check=True)
    return set(re.findall(r"^\s*(\S+?)\s*:", done.stdout, flags=re.MULTILINE))


if __name__ == "__main__":
    PAGE.write_text(document(), encoding="utf-8")
