"""docs/questions.md: what people ask, the command that answers, and its answer on two drives: `make questions`."""

from __future__ import annotations

import re
import shlex
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any, Final

import pslc
from pslc import view
from pslc.report import study as page
from pslc.studies.answers import answers
from pslc.studies.points import Study
from pslc.studies.study import complete

HOUSE: Final = Path(__file__).parent.parent.parent
PAGE: Final = HOUSE / "docs" / "questions.md"
MOST: Final = 3
"""Sentences of an answer."""

INTRODUCTION = """# Questions

What people ask of a drive, and the one command that answers. Each answer is what the command says, on an SN850 of TLC
and on a 660p of QLC, both a sixteenth of the size ([what that changes](model.md#scaled-drives)); `make questions` asks
again.
"""


def main() -> None:
    asked = tomllib.loads((Path(__file__).parent / "questions.toml").read_text())
    parts = [INTRODUCTION]
    for number, question in enumerate(asked["question"], 1):
        print(f"{number}: {question['ask']}", file=sys.stderr, flush=True)
        parts.append(f"## {number}. {question['ask']}\n\n```sh\n{question['command']}\n```\n")
        for name, spec in asked["drives"].items():
            for sentence in sentences(question["command"].replace(asked["drives"]["SN850"], spec)):
                parts.append(f"- {name}: {sentence}")
        parts.append(f"\nRests on: {question['rests_on']}\n")
    parts.append("## Not answered yet\n\n" + "\n".join(f"- {line}" for line in asked["not_answered"]) + "\n")
    PAGE.write_text("\n".join(parts))


def sentences(command: str) -> list[str]:
    """The first sentences of what a command says."""
    words = shlex.split(command)
    options: dict[str, list[str]] = {}
    for at, word in enumerate(words):
        if word.startswith("--"):
            options.setdefault(word, []).append(words[at + 1] if word != "--quick" else "")
    quick = "--quick" in options
    if words[1] == "run":
        run = str(HOUSE / words[2]) if words[2].endswith(".fio") else words[2]
        recording = pslc.run(run, on=options["--on"][0], scope=pslc.Scope(quick=quick))
        return [plain(sentence) for sentence in view.of_recording(recording).sentences[:MOST]]
    said: dict[str, Any] = {
        "on": options["--on"],
        "run": [str(HOUSE / run) if run.endswith(".fio") else run for run in options["--run"][0].split(",")],
        "vary": dict(axis.split("=", 1) for axis in options.get("--vary", [])),
        "quick": quick,
    }
    study = Study.of(said)
    with tempfile.TemporaryDirectory() as folder:
        rows = complete(study.points(), Path(folder), 2).rows
    refused = [f"{row['error']}." for row in rows if row["error"]]
    told = answers(study, rows, options.get("--finding", []))
    return [plain(sentence) for sentence in [*page.verdicts(told)[:MOST], *refused[:1]]]


def plain(sentence: str) -> str:
    return re.sub(r"\s+", " ", sentence).replace(str(HOUSE) + "/", "")


if __name__ == "__main__":
    main()
