"""Mutated input for the Python parsers: `make fuzz SECONDS=60`, or `python -m benches.mutate 60 [SEED [MOST]]`.

Each parser gets texts of fuzz/corpus with pieces replaced, repeated and taken from each other, for so many seconds, at
most so many. What comes is an answer or a `PslcError`, within a second and without a warning; what is neither goes to
fuzz/artifacts.
"""

from __future__ import annotations

import hashlib
import random
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benches.inputs import CORPUS, target, words
from pslc import parts
from pslc.errors import PslcError
from pslc.findings import comparison
from pslc.opened import read_side
from pslc.parts import schema
from pslc.studies import points

FOUND: Final = CORPUS.parent / "artifacts"
MOST_S: Final = 1.0
LONGEST: Final = 20_000
ENOUGH: Final = 10
"""Finds of one parser."""
STUDY: Final = """on = ["sim:pm871b-128gb,scale=1/4", "sim:sn850-1tb,scale=1/16"]
run = ["fill"]
seed = [0, 1]
fill_first = ["0%", "50%"]
where = ["cache.static<cache.dynamic"]
[vary]
"cache.static" = "1GB:3GB:2GB"
"cache.dynamic" = ["2GB", "4GB"]
"""
SAMPLE: Final = (
    'on = "sim:sn850-1tb"\nrun = "recovery"\nquick = true\nsample = "lhs:8"\n[vary.cache]\ndynamic = "1GB:9GB"\n'
)
PIECES: Final = (
    "[]", "{}", "null", "-1", "1e999", "NaN", "inf", '"x"', "²", "٣", "9" * 50, "\x00", "\u200b", ",", ";", ":", "\n",
    "\t", "=", "%", "[" * 500, "1,5", "0x10", "GB", "MB/s", "us", "'", "\\", "#", "é", ".", "1e30TB",
)  # fmt: skip


def parsers(folder: Path) -> dict[str, tuple[Callable[[str], object], list[str]]]:
    """By name: the parser, and the texts to begin with."""

    def of_file(read: Callable[[Path], object], suffix: str = ".txt") -> Callable[[str], None]:
        path = folder / f"mutated{suffix}"

        def parse(text: str) -> None:
            path.write_text(text, encoding="utf-8", errors="replace")
            read(path)

        return parse

    found: dict[str, tuple[Callable[[str], object], list[str]]] = {}
    for path in sorted((CORPUS / "file").iterdir()):
        found[path.name] = (of_file(read_side), [path.read_text(encoding="utf-8")])
    found["tolerance"] = (of_file(comparison.read_tolerance), ['mean = "3%"\nwaf = 0.1\n', 'p99 = "10 %"\n'])
    found["study"] = (of_file(lambda path: points.Study.of(points.read(path)).points(), ".toml"), [STUDY, SAMPLE])
    for kind, read in (("nand", schema.read_nand), ("controllers", schema.read_controller)):
        some = sorted((parts.FOLDER / kind).glob("*.toml"))[:5]
        found[f"part, {kind}"] = (of_file(read, ".toml"), [path.read_text(encoding="utf-8") for path in some])
    found["size"] = (words, ["1.5GiB", "200ms", "12.5%", "1GB:2GB", "10GB-20GB"])
    found["target"] = (target, ["cache.dynamic=1GB", "scale=1/16", "heat.ambient=40C,link=sata600"])
    return found


def mutated(texts: list[str], choice: random.Random) -> str:
    """One of them, a few times changed."""
    text = choice.choice(texts)
    for _ in range(choice.randint(1, 4)):
        start = choice.randint(0, len(text))
        end = min(start + int(choice.expovariate(0.2)), len(text))
        kind = choice.randrange(5)
        if kind == 0:
            piece = choice.choice(PIECES)
        elif kind == 1:
            piece = text[start:end] * choice.choice((0, 2, 3, 200))
        elif kind == 2:
            piece = chr(choice.choice((choice.randrange(128), choice.randrange(0xD800), choice.randrange(32))))
        elif kind == 3:
            other = choice.choice(texts)
            at = choice.randint(0, len(other))
            piece = other[at : at + choice.randint(0, 40)]
        else:
            piece = "".join(chr(ord(letter) ^ (1 << choice.randrange(7))) for letter in text[start:end])
        text = (text[:start] + piece + text[end:])[:LONGEST]
    return text


def tried(parse: Callable[[str], object], text: str) -> str | None:
    """What is wrong with what came of it; None: nothing."""
    wrong, took = _timed(parse, text, time.perf_counter)
    if took > MOST_S:
        # The machine may have been busy; to ask for the processor's own time takes longer than most parsers.
        wrong, took = _timed(parse, text, time.process_time)
    return wrong or (f"it took {took:.1f} s" if took > MOST_S else None)


def _timed(parse: Callable[[str], object], text: str, clock: Callable[[], float]) -> tuple[str | None, float]:
    wrong, begun = None, clock()
    try:
        parse(text)
    except PslcError:
        pass
    except Exception as error:
        wrong = f"{type(error).__name__}: {error}"
    return wrong, clock() - begun


def main(seconds: float, seed: int = 1, most: int = sys.maxsize) -> bool:
    """Whether nothing was found."""
    good = True
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        for name, (parse, texts) in parsers(Path(folder)).items():
            # What is loaded once is not what an input takes.
            for text in texts:
                tried(parse, text)
            choice, count, found, until = random.Random(seed), 0, 0, time.monotonic() + seconds
            while time.monotonic() < until and found < ENOUGH and count < most:
                text = mutated(texts, choice)
                wrong = tried(parse, text)
                count += 1
                if wrong:
                    good, found = False, found + 1
                    FOUND.mkdir(parents=True, exist_ok=True)
                    path = FOUND / f"{name}-{hashlib.sha256(text.encode(errors='replace')).hexdigest()[:8]}"
                    path.write_text(text, encoding="utf-8", errors="replace")
                    print(f"{name}: {wrong[:200]} ({path})", flush=True)
            print(f"{name}: {count} executions", flush=True)
    return good


if __name__ == "__main__":
    warnings.simplefilter("error")
    sys.exit(not main(float(sys.argv[1]), *map(int, sys.argv[2:])))
