"""Mutated input for the Python parsers: `make fuzz SECONDS=60`, or `python -m benches.mutate 60 [SEED [MOST [NAME]]]`.

Each parser gets texts of fuzz/corpus with pieces replaced, repeated and taken from each other, for so many seconds, at
most so many; recordings get values of their run.json replaced, and the bytes of their series changed. What comes is an
answer or a `PslcError`, within a second and without a warning; what is neither goes to fuzz/artifacts.
"""

import hashlib
import json
import random
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benches.inputs import CORPUS, target, words
from pslc import Scope, run, traces
from pslc.base.errors import PslcError
from pslc.device import drive_files, parts
from pslc.device.parts import schema
from pslc.lab import uploads
from pslc.recording import comparison, store
from pslc.report import page, recording_view
from pslc.runner.load import opened, read_side
from pslc.studies import points
from pslc.studies.results import Results
from pslc.studies.results import table as rows_table
from pslc.studies.rows import Row
from pslc.traces import Part

FOUND: Final = CORPUS.parent / "artifacts"
MOST_S: Final = 1.0
LONGEST: Final = 20_000
Mutate = Callable[[list[str], random.Random], str]
ENOUGH: Final = 10
"""Finds of one parser."""
STUDY: Final = (Path(__file__).parent / "study.toml").read_text(encoding="utf-8")
SAMPLE: Final = (
    'on = "sim:sn850-1tb"\nrun = "recovery"\nquick = true\nsample = "lhs:8"\n[vary.cache]\ndynamic = "1GB:9GB"\n'
)
PIECES: Final = (
    "[]", "{}", "null", "-1", "1e999", "NaN", "inf", '"x"', "²", "٣", "9" * 50, "\x00", "\u200b", ",", ";", ":", "\n",
    "\t", "=", "%", "[" * 500, "1,5", "0x10", "GB", "MB/s", "us", "'", "\\", "#", "é", ".", "1e30TB",
)  # fmt: skip


RENDERED: Final = 8
"""One recording in so many is drawn and compared as well, which takes ten times as long as to read it."""
SEPARATOR: Final = "\n----\n"
"""Between files that are dropped together."""
BYTES: Final = "latin-1"
"""Encoding under which the letters of a text are the bytes of a file."""
ODD: Final[tuple[Any, ...]] = (
    None, True, -1, 0, 1, 2**63, 2**64, 10**30, 1e30, 0.5, -0.5, 1e-300, "", "x", "\x00", "\x1b[2J", "é" * 300, [], {},
    [[]], [None], {"": None}, [1, 2], ["a", "b"], "2026-01-01", "NaN",
)  # fmt: skip
"""Values that one of a document is replaced with."""
SMARTCTL: Final = """{"json_format_version": [1, 0], "smart_status": {"passed": true}, "temperature": {"current": 38},
"nvme_smart_health_information_log": {"critical_warning": 0, "temperature": 38, "available_spare": 100,
"available_spare_threshold": 10, "percentage_used": 3, "data_units_read": 4523452, "data_units_written": 34523452,
"host_reads": 45234523, "power_on_hours": 934, "media_errors": 0, "temperature_sensors": [38, 45]}}"""
NVME: Final = """{"critical_warning": 0, "temperature": 311, "avail_spare": 100, "spare_thresh": 10, "percent_used": 3,
"data_units_read": 4523452, "data_units_written": "34523452", "power_on_hours": 934, "media_errors": 0}"""


@dataclass(frozen=True)
class Recorded:
    """A recording on disk, of which one file is changed.

    Attributes:
        folder: the recording.
        document, series: its files as they were written.
    """

    folder: Path
    document: str
    series: bytes

    def read_document(self, text: str) -> None:
        """All that a command does with a recording of another run.json."""
        (self.folder / "run.json").write_text(text, encoding="utf-8", errors="replace")
        (self.folder / "series.parquet").write_bytes(self.series)
        self._used(len(text) % RENDERED == 0)

    def read_series(self, text: str) -> None:
        """The same with another series, which run.json does not deny."""
        raw = text.encode(BYTES, errors="replace")
        (self.folder / "series.parquet").write_bytes(raw)
        said = json.loads(self.document) | {"series_sha256": hashlib.sha256(raw).hexdigest()}
        (self.folder / "run.json").write_text(json.dumps(said), encoding="utf-8")
        self._used(len(text) % RENDERED == 0)

    def _used(self, rendered: bool) -> None:
        recording = opened(self.folder)
        shown = recording_view.of_recording(recording)
        json.dumps(recording.document(), allow_nan=False)
        if not rendered:
            return
        page.render(shown)
        side = read_side(self.folder)
        comparison.compare(comparison.named([side, side]), {})


def recorded(folder: Path) -> list[Recorded]:
    """Recordings of a suite and of a job file, on a small drive."""
    found = []
    job = folder / "mixed.fio"
    job.write_text("[a]\nrw=randrw\nbs=64k\nsize=200m\n")
    for number, what in enumerate(("fill", str(job), "burst")):
        recording = run(what, on="sim:pm871b-128gb,scale=1/16", scope=Scope(quick=number == 2))
        at = folder / f"recording-{number}"
        store.save(recording, at)
        found.append(Recorded(at, (at / "run.json").read_text(), (at / "series.parquet").read_bytes()))
    return found


def another_value(texts: list[str], choice: random.Random) -> str:
    """One of some JSON documents, with a few of its values others, gone or twice there."""
    found = json.loads(choice.choice(texts))
    for _ in range(choice.randint(1, 3)):
        inside, at = found, None
        while isinstance(inside, dict | list) and inside and (at is None or choice.random() < 0.8):
            held, at = inside, choice.choice(list(inside) if isinstance(inside, dict) else range(len(inside)))
            inside = held[at]
        if at is None:
            continue
        kind = choice.randrange(4)
        if kind == 0:
            del held[at]
        elif kind == 1 and isinstance(held, list):
            held.append(deepcopy(held[at]))
        else:
            held[at] = deepcopy(choice.choice(ODD))
    return json.dumps(found, indent=1)


def foreign(folder: Path) -> dict[str, tuple[Callable[[str], object], list[str], Mutate]]:
    """Files that people send each other: by name the reader, what to begin with, and how it is changed."""

    def of_bytes(read: Callable[[Path], object], path: Path) -> Callable[[str], None]:
        def parse(text: str) -> None:
            path.write_bytes(text.encode(BYTES, errors="replace"))
            read(path)

        return parse

    of = recorded(folder)
    found: dict[str, tuple[Callable[[str], object], list[str], Mutate]] = {}
    for one in of:
        found[f"run.json, {one.folder.name}"] = (one.read_document, [one.document], another_value)
    found["run.json, text"] = (of[0].read_document, [of[0].document], mutated)
    found["series of a recording"] = (of[0].read_series, [of[0].series.decode(BYTES)], mutated)
    trace, packed = folder / "trace", folder / "trace.parquet"
    trace.write_bytes((CORPUS / "trace" / "msr").read_bytes()[1:])
    traces.write_parquet(trace, Part(), packed)
    found["Parquet trace"] = (
        of_bytes(lambda path: traces.opened(path, Part()).survey(), folder / "mutated.parquet"),
        [packed.read_bytes().decode(BYTES)], mutated,
    )  # fmt: skip
    study = folder / "study"
    study.mkdir()
    results = folder / "points.parquet"
    write_rows(results)
    found["study results"] = (
        of_bytes(lambda path: Results(path.parent), study / "points.parquet"),
        [results.read_bytes().decode(BYTES)], mutated,
    )  # fmt: skip
    drive = folder / "whole.pslc"
    drive_files.create(drive, "pm871b-128gb,scale=1/64").close()
    found["drive file"] = (
        of_bytes(lambda path: drive_files.open_kept(path).close(), folder / "mutated.pslc"),
        [drive.read_bytes().decode(BYTES)], mutated,
    )  # fmt: skip
    found["lab upload"] = (dropped(folder / "drops"), uploads_of(of[0], trace, drive), mutated)
    found["smartctl"] = (of_bytes(read_side, folder / "smartctl.json"), [SMARTCTL], another_value)
    found["nvme"] = (of_bytes(read_side, folder / "nvme.json"), [NVME], another_value)
    return found


def dropped(folder: Path) -> Callable[[str], None]:
    """What the lab does with files that are dropped on its page: a text of `NAME`, a new line, and what is in it, or of
    several of these behind each other with `SEPARATOR` between them."""
    folder.mkdir()

    def parse(text: str) -> None:
        files = [part.partition("\n") for part in text.split(SEPARATOR)]
        contents = [content.encode(BYTES, errors="replace") for _, _, content in files]
        name = uploads.keep(folder, [name for name, _, _ in files], contents)
        try:
            uploads.read(folder, name)
        finally:
            shutil.rmtree(folder / name, ignore_errors=True)

    return parse


def uploads_of(recording: Recorded, trace: Path, drive: Path) -> list[str]:
    """Files of each kind that the page takes."""
    given = {path.name: path.read_bytes().decode(BYTES) for path in sorted((CORPUS / "file").iterdir())}
    given |= {f"{path.stem}.toml": path.read_bytes().decode(BYTES) for path in sorted((CORPUS / "profile").iterdir())}
    given |= {"trace": trace.read_bytes().decode(BYTES), "disk.pslc": drive.read_bytes().decode(BYTES)}
    whole = f"run.json\n{recording.document}{SEPARATOR}series.parquet\n{recording.series.decode(BYTES)}"
    return [*(f"{name}\n{content}" for name, content in given.items()), whole]


def write_rows(path: Path) -> None:
    """A table of results as a study writes it."""
    from arro3.io import write_parquet

    row: Row = {
        "cache": "1GB",
        "seed": 1,
        "command": "pslc run",
        "stands_on": "",
        "version": "0",
        "error": None,
        "wall_s": 1.5,
    }
    rows: list[Row] = []
    for number in range(20):
        rows.append({**row, "waf": 1.0 + number, "ok": number > 2, "phases": number})
    write_parquet(rows_table(rows), path)


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
        text = (text[:start] + piece + text[end:])[: max([LONGEST, *map(len, texts)])]
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


def main(seconds: float, seed: int = 1, most: int = sys.maxsize, only: str = "") -> bool:
    """Whether nothing was found; `only`: in parsers whose names hold this."""
    good = True
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        every = {name: (*of, mutated) for name, of in parsers(Path(folder)).items()} | foreign(Path(folder))
        for name, (parse, texts, change) in every.items():
            if only not in name:
                continue
            # What is loaded once is not what an input takes.
            for text in texts:
                tried(parse, text)
            choice, count, found, until = random.Random(seed), 0, 0, time.monotonic() + seconds
            while time.monotonic() < until and found < ENOUGH and count < most:
                text = change(texts, choice)
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
    seconds, seed, most, name = ([*sys.argv[1:], "", "", ""])[:4]
    sys.exit(not main(float(seconds), int(seed or 1), int(most or sys.maxsize), name))
