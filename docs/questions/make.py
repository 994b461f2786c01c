"""docs/questions.md: what people ask, the command that answers, and its answer on two drives: `make questions`."""

import json
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any, Final

import pslc
from pslc.report import recording_view
from pslc.studies import page
from pslc.studies.analysis import answers
from pslc.studies.points import Study
from pslc.studies.study import complete
from pslc.traces import Replay

HOUSE: Final = Path(__file__).parent.parent.parent
PAGE: Final = HOUSE / "docs" / "questions.md"
MOST: Final = 3
"""Sentences of an answer."""

INTRODUCTION = """# Questions

For those with a question about a drive: seventeen, each with the command that answers it.

Each answer is what the command says, on an SN850 of TLC and on a 660p of QLC, simulated at a sixteenth of the size
([what that changes](model.md#scaled-drives)), or on the drive that it names.
Put your drive and your work in their place.
"""


def main(only: list[int]) -> None:
    """Ask all, or only those of these numbers, which must be on the page already."""
    asked = tomllib.loads((Path(__file__).parent / "questions.toml").read_text())
    before = dict(zip(range(1, 100), PAGE.read_text().split("\n## ")[1:], strict=False)) if only else {}
    parts = [INTRODUCTION]
    for number, question in enumerate(asked["question"], 1):
        if only and number not in only:
            parts.append(f"## {before[number].rstrip()}\n")
            continue
        print(f"{number}: {question['ask']}", file=sys.stderr, flush=True)
        command = question["command"].strip()
        parts.append(f"## {number}. {question['ask']}\n\n```sh\n{command}\n```\n")
        shown = asked["drives"]["SN850"]
        # What names neither of the two drives is answered once.
        drives = asked["drives"] if shown in command else {question["drive"]: shown}
        for name, spec in drives.items():
            for sentence in sentences(command.replace(shown, spec)):
                parts.append(f"- {name}: {sentence}")
        parts.append(f"\nRests on: {question['rests_on']}\n")
    PAGE.write_text("\n".join(parts))


def sentences(command: str) -> list[str]:
    """The first sentences of what a command says, the last of a trace."""
    if "\n" in command:
        return compared(command.splitlines())
    words = shlex.split(command)
    options: dict[str, list[str]] = {}
    for at, word in enumerate(words):
        if word.startswith("--"):
            options.setdefault(word, []).append(words[at + 1] if word != "--quick" else "")
    quick = "--quick" in options
    if words[1] == "replay":
        replayed = pslc.run(HOUSE / words[2], on=options["--on"][0], replay=Replay(what_if=True))
        sentences = recording_view.of_recording(replayed).sentences
        # How full the cache was comes first; what is asked here is said at the end.
        return [plain(sentence) for sentence in [sentences[0], *sentences[1 - MOST :]]]
    if words[1] == "run":
        run = str(HOUSE / words[2]) if words[2].endswith(".fio") else words[2]
        on = options["--on"][0].replace("sim:./", f"sim:{HOUSE}/")
        recording = pslc.run(run, on=on, scope=pslc.Scope(quick=quick))
        return [plain(sentence) for sentence in recording_view.of_recording(recording).sentences[:MOST]]
    said: dict[str, Any] = {
        "on": [on.replace("sim:./", f"sim:{HOUSE}/") for on in options["--on"]],
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


def compared(lines: list[str]) -> list[str]:
    """What the last of several commands says of what the others made."""
    with tempfile.TemporaryDirectory() as folder:
        for line in lines:
            words = [str(Path(sys.executable).parent / "pslc"), *shlex.split(line)[1:]]
            more = ["--json"] if words[1] == "compare" else []
            done = subprocess.run([*words, *more], cwd=folder, check=True, capture_output=True, text=True)
    return [plain(sentence) for sentence in json.loads(done.stdout)["verdicts"][:MOST]]


def plain(sentence: str) -> str:
    """Put a sentence on one line, without the path of this tree."""
    return re.sub(r"\s+", " ", sentence).replace(str(HOUSE) + "/", "")


if __name__ == "__main__":
    main([int(number) for number in sys.argv[1:]])
