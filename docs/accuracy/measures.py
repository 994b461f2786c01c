"""What stands beside a published figure: what the commands that a user types print.

A figure of `python/pslc/device/published.toml` names a run and a finding (or the sum or the quotient of two), `run =
"cdm --computer i5-8400"` and `find = "findings.cdm[test=SEQ1M Q8T1].write_bytes_per_s"`, or a measure of a fill,
`measure = "speed 1"`. This file has no job and no computer of its own: each value is what a process of `pslc ...
--json` prints.
"""

import functools
import hashlib
import json
import operator
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

JOBS: Final = Path(__file__).parent / "jobs"
RUNS: Final = Path(__file__).parents[2] / "target" / "accuracy"
"""Where the recording of each command is kept, for pictures."""
AT_ONCE: Final = 2
UNITS: dict[str, str] = {}
"""Unit of each measure: `B`, `B/s`, or none."""
MEASURES: dict[str, Callable[..., float]] = {}
SUFFIXES: Final = {"bytes_per_s_per_watt": "B/J", "bytes_per_s": "B/s", "bytes": "B", "iops": "IOPS", "watts": "W",
                   "seconds": "s", "s": "s", "c": "C"}  # fmt: skip
"""Units of findings, by how their names end."""
KEPT: Final = ("findings", "capacity_bytes", "jobs")
"""Parts of a run's document that figures are found in."""


def measure(unit: str) -> Callable[[Callable[..., float]], Callable[..., float]]:
    """Make a function one of `MEASURES`."""

    def enter(function: Callable[..., float]) -> Callable[..., float]:
        MEASURES[function.__name__] = function
        UNITS[function.__name__] = unit
        return function

    return enter


def command(figure: Mapping[str, Any], drive: str = "") -> str:
    """The command that gives a figure, of its own drive or of the one it is compared with."""
    suite, _, options = str(figure.get("run", "fill")).partition(" ")
    return f"pslc run {suite} --on sim:{drive or figure['drive']} {options}".strip()


ASKED: list[str] = []
"""Commands of the figure that is asked for, as a user types them in this folder's house."""


def document(*commands: str) -> dict[str, Any]:
    """What the last of some commands prints with --json, all of them in one empty folder."""
    ASKED.append(" && ".join(commands).replace(str(JOBS), "docs/accuracy/jobs"))
    return _document(*commands)


def recording(*commands: str) -> Path:
    """Folder of the recording of the last of some commands, once they were run."""
    return RUNS / hashlib.sha256(" && ".join(commands).encode()).hexdigest()[:16]


@functools.cache
def _document(*commands: str) -> dict[str, Any]:
    kept = recording(*commands)
    shutil.rmtree(kept, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        for line in commands:
            last = ["--json", "--no-report", "--save", str(kept)] if line == commands[-1] else []
            words = [sys.executable, "-m", "pslc", *shlex.split(line)[1:], *last]
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"{line}\n{done.stderr}")
    found = json.loads(done.stdout)
    return {key: found[key] for key in KEPT if key in found}


def run_ahead(figures: Iterable[Mapping[str, Any]]) -> None:
    """Run the commands of some figures, `AT_ONCE` beside each other."""
    commands = sorted({command(figure, str(figure[key])) for figure in figures if "find" in figure
                       for key in ("drive", "over") if key in figure})  # fmt: skip
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for number, _ in enumerate(pool.map(_document, commands), 1):
            print(f"{number} of {len(commands)}: {commands[number - 1]}", flush=True)


def pick(found: Any, path: str) -> Any:
    """A value of a document: `findings.cdm[test=SEQ1M Q8T1].read_bytes_per_s`, `findings.phases[-1].bytes_per_s`.

    Raises:
        KeyError, IndexError, StopIteration: there is no such value.
    """
    for name, row in re.findall(r"([^.\[\]]+)|\[([^\]]*)\]", path):
        if name:
            found = found[name]
        elif "=" in row:
            wanted = dict(pair.split("=", 1) for pair in row.split(","))
            found = next(each for each in found if all(str(each[key]) == value for key, value in wanted.items()))
        else:
            found = found[int(row)]
    return found


def unit(figure: Mapping[str, Any]) -> str:
    """Unit of a figure; none of a ratio."""
    if "unit" in figure:
        return str(figure["unit"])
    if "over" in figure or " / " in str(figure.get("find")):
        return ""
    if "measure" in figure:
        return UNITS[str(figure["measure"]).split()[0]]
    name = re.sub(r"_(low|high)$", "", str(figure["find"]).rpartition(".")[2])
    return next((unit for suffix, unit in SUFFIXES.items() if name.endswith(f"_{suffix}") or name == suffix), "")


def value(figure: Mapping[str, Any]) -> Any:
    """What pslc gives for a figure: a number in base units, or a word."""
    values = [_of_drive(figure, figure[key]) for key in ("drive", "over") if key in figure]
    return values[0] if len(values) == 1 else values[0] / values[1]


def _of_drive(figure: Mapping[str, Any], drive: str) -> Any:
    if "measure" in figure:
        name, *arguments = str(figure["measure"]).split()
        return MEASURES[name](drive, *arguments)
    found = document(command(figure, drive))
    find = str(figure["find"])
    for sign, join in ((" + ", operator.add), (" / ", operator.truediv)):
        if sign in find:
            return functools.reduce(join, (pick(found, path) for path in find.split(sign)))
    return pick(found, find)


# ---- fills


def fill(drive: str) -> dict[str, Any]:
    """Findings of one fill of a fresh drive."""
    findings: dict[str, Any] = document(f"pslc run fill --on sim:{drive}")["findings"]
    return findings


def phase(drive: str, number: str) -> dict[str, Any]:
    """The N-th phase of a fill, from 1; -1 is the last."""
    at = int(number)
    return dict(fill(drive)["phases"][at - 1 if at > 0 else at])


@measure("B")
def cache(drive: str) -> float:
    """Bytes written before the speed first fell."""
    return float(fill(drive)["cache_bytes"])


@measure("B/s")
def speed(drive: str, number: str) -> float:
    """Of the N-th phase."""
    return float(phase(drive, number)["bytes_per_s"])


@measure("B")
def end(drive: str, number: str) -> float:
    """Of the N-th phase."""
    return float(phase(drive, number)["to_bytes"])


@measure("B/s")
def mean(drive: str) -> float:
    """Of the whole fill."""
    return float(fill(drive)["fill_mean_bytes_per_s"])


@measure("B")
def capacity(drive: str) -> float:
    """What the drive can hold."""
    return float(document(f"pslc run fill --on sim:{drive}")["capacity_bytes"])


def _rises_again(drive: str, times: float) -> dict[str, Any]:
    """The first phase after the second that is so many times as fast as that."""
    phases = fill(drive)["phases"]
    return next(phase for phase in phases[2:] if phase["bytes_per_s"] > times * phases[1]["bytes_per_s"])


@measure("B/s")
def later(drive: str) -> float:
    """Speed of the first phase after the second that is half as fast again as that."""
    return float(_rises_again(drive, 1.5)["bytes_per_s"])


@measure("B")
def later_begins(drive: str) -> float:
    """Where the first phase after the second begins that is a fifth faster than that."""
    return float(_rises_again(drive, 1.2)["from_bytes"])


# ---- drives that several commands work on


def _random_volume(drive: str, span: str, hot: str) -> dict[str, Any]:
    """The last volume of two of random writes, on a drive whose data were written in order and then mixed by one volume
    of uniform writes to all of them."""
    runs = [f"first.fio --size={span}", f"volume.fio --size={span} --seed 1", f"volume.fio {hot} --seed 2",
            f"volume.fio {hot} --seed 3"]  # fmt: skip
    return document(f"pslc drives create disk.pslc --like {drive}",
                    *(f"pslc run {JOBS}/{run} --on disk.pslc" for run in runs))  # fmt: skip


@measure("")
def waf(drive: str, span: str, theta: str = "") -> float:
    """Bytes programmed for each of the host's, of writes to so much of the drive, uniform or by Zipf's law."""
    hot = f"--size={span}" + (f" --random_distribution=zipf:{theta}" if theta else "")
    return float(_random_volume(drive, span, hot)["findings"]["waf"])


@measure("")
def waf_read_only(drive: str, share: str) -> float:
    """Bytes programmed for each of the host's, where such a share of the full drive is not written any more."""
    left = 100 - int(share.rstrip("%"))
    return float(_random_volume(drive, "100%", f"--size={left}% --loops=2")["findings"]["waf"])


@measure("B/s")
def collecting(drive: str, span: str) -> float:
    """Speed of uniform random writes to so much of the drive."""
    (job,) = _random_volume(drive, span, f"--size={span}")["jobs"]
    return float(job["write"]["io_bytes"] / job["write"]["runtime_ns"] * 1e9)


def _formatted(drive: str) -> dict[str, Any]:
    """The first phase of what a drive takes that was formatted, one request at a time."""
    return dict(
        document(
            f"pslc drives create disk.pslc --like {drive}",
            "pslc drives format disk.pslc --mode dynamic-slc --yes",
            f"pslc run {JOBS}/first.fio --on disk.pslc --size=64g --iodepth=1",
        )["findings"]["phases"][0]
    )


@measure("B")
def slow_start(drive: str) -> float:
    """What a formatted drive takes slowly."""
    return float(_formatted(drive)["to_bytes"])


@measure("B/s")
def slow_start_speed(drive: str) -> float:
    """How fast it takes that."""
    return float(_formatted(drive)["bytes_per_s"])
