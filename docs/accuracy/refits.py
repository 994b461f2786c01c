"""Twins fitted to published figures and asked for them again, as a section of ACCURACY.md: `make refits`.

Given are the figures of `reviews.csv` (a row a drive), and those of the phases of each built-in profile in
`python/pslc/device/published.toml`: with the capacity, the link and whether it is TLC or QLC. The twin is then filled
as the reviewer did, and its phases are held against the figures. Writes refits.md as it goes; a killed run goes on
where it was, as long as the twin's sources are the same.
"""

import csv
import hashlib
import json
import statistics
import sys
import tempfile
import tomllib
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

import pslc
from pslc.base import work
from pslc.base.errors import PslcError
from pslc.device.profiles import library
from pslc.device.published import FILE as FIGURES
from pslc.device.published import of_a_fill
from pslc.device.target import find_target
from pslc.twin import priors, profile_writer, published_curve
from pslc.twin.datasets import Floats, dataset_of_curve
from pslc.twin.pipeline import fit_datasets
from pslc.twin.review import Drive

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
PAGE = FOLDER / "refits.md"
TARGET = 0.05
MARGIN = 0.02
"""Share of a phase left out at either border."""


@dataclass(frozen=True)
class Figure:
    """A published figure and the twin's; bytes or bytes a second."""

    what: str
    published: float
    twin: float
    given: bool

    @property
    def error(self) -> float:
        """Relative."""
        return self.twin / self.published - 1


@dataclass
class Refit:
    """Of one drive; `left_out` says why there is none."""

    drive: str
    of: str
    words: str
    error: float
    figures: list[Figure]
    left_out: str = ""


def reviewed() -> list[dict[str, str]]:
    """The rows of reviews.csv."""
    with (FOLDER / "reviews.csv").open() as file:
        return list(csv.DictReader(file))


def built_in() -> list[dict[str, str]]:
    """The published phases of each built-in profile, as rows like those."""
    rows = []
    for name in library():
        own = of_a_fill(name)
        drive = find_target(f"sim:{name}")
        row = {"drive": name, "capacity_GB": f"{drive.capacity_bytes / 1e9:g}", "tool": "qd32",
               "link": tomllib.loads(drive.profile)["link"],
               "cells": {1: "slc", 2: "mlc", 3: "tlc", 4: "qlc"}[drive.facts["bits_per_cell"]]}  # fmt: skip
        told = {key: (own[word], unit) for key, (word, unit) in KEYS.items() if word in own}
        row |= {key: str(value / (1e9 if unit == "GB" else 1e6)) for key, (value, unit) in told.items()}
        rows.append(row)
    return rows


def words_of(row: dict[str, str]) -> str:
    """As `pslc fit --published` takes them.

    Raises:
        ValueError: what is published makes no curve.
    """
    if row.get("left_out"):
        raise ValueError(row["left_out"])
    given = {key: row.get(key) or "" for key in KEYS}
    if sum(map(bool, given.values())) < 2:
        raise ValueError("one figure")
    if not given["speed1_MBps"]:
        raise ValueError("no speed of the first phase")
    if not given["cache_GB"] and (given["speed2_MBps"] or given["mean_MBps"]):
        raise ValueError("nobody says where the first phase ends")
    if given["speed3_MBps"] and not given["end2_GB"]:
        raise ValueError("nobody says where the second phase ends")
    told = [f"{word}={given[key]}{unit}" for key, (word, unit) in KEYS.items() if given[key]]
    last = "speed3" if given["end2_GB"] else "speed2"
    if any(one.startswith(last) for one in told):
        # The phases tell it all; the mean is held against the twin.
        told = [one for one in told if not one.startswith("mean")]
    return " ".join(told)


KEYS = {"cache_GB": ("cache", "GB"), "speed1_MBps": ("speed1", "MB/s"), "speed2_MBps": ("speed2", "MB/s"),
        "end2_GB": ("end2", "GB"), "speed3_MBps": ("speed3", "MB/s"), "mean_MBps": ("mean", "MB/s")}  # fmt: skip


def one(row: dict[str, str]) -> Refit:
    """Fit a row and fill its twin."""
    try:
        words = words_of(row)
    except ValueError as error:
        return Refit(row["drive"], row["of"], "", 0.0, [], str(error))
    capacity = round(float(row["capacity_GB"]) * 1e9)
    bits = priors.bits_of(row["cells"])
    try:
        curve, _ = published_curve.curve(words, capacity, Drive(capacity, bits or 3))
    except PslcError as error:
        return Refit(row["drive"], row["of"], words, 0.0, [], error.message)
    fastest = float(curve.bytes_per_s.max())
    job, host = priors.LOADS[row["tool"]]
    if fastest > 1 / (1 / priors.link_rate(row["link"], capacity) + host * 1e-9 / 2**20):
        # No such load gets so much through the link.
        job, host = priors.LOADS["qd32"]
    facts = priors.collect_priors(capacity, fastest, link=row["link"], nand=row["cells"], host_request_ns=host)
    facts = replace(facts, cache_bytes=published_curve.stated_cache_bytes(words))
    fitted = fit_datasets([dataset_of_curve(curve, job)], facts, workers=1)
    keys = "" if host == 0 else f",host.cores=4,host.read={host}ns,host.write={host}ns"
    options = [
        (name, value) for name, _, value in (line.partition("=") for line in job.splitlines()) if name == "iodepth"
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "twin.toml"
        path.write_text(profile_writer.to_toml(fitted, row["drive"]))
        recording = pslc.run("fill", on=f"sim:{path}{keys}", options=options)
    rms = fitted.best.rms_log_error
    return Refit(row["drive"], row["of"], words, rms, figures(row, words, recording, capacity))


def figures(row: dict[str, str], words: str, recording: pslc.Recording, capacity: float) -> list[Figure]:
    """The published figures of a drive and those of a fill of its twin."""
    given = {key: float(row[key]) for key in KEYS if row.get(key)}
    written = np.cumsum(recording.bytes["write_bytes"]).astype(float)
    at = (recording.bytes["end_ns"].astype(float) - recording.start_ns) / 1e9
    phases = recording.findings["phases"]
    cache, end = given.get("cache_GB", 0.0) * 1e9, given.get("end2_GB", 0.0) * 1e9
    borders = [0.0, *(one for one in (cache, end) if one), capacity]
    found = []
    for number, (first, last) in enumerate(pairwise(borders), 1):
        key = f"speed{number}_MBps"
        if key in given:
            margin = MARGIN * (last - first)
            ends = np.array([first + margin, last - margin])
            seconds = float(np.diff(np.interp(ends, written, at))[0])
            found.append(Figure(f"speed {number}", given[key] * 1e6, float(ends[1] - ends[0]) / seconds, True))
    if cache:
        # What reviews call the cache ends with the first phase; that of two tiers goes on.
        first = phases[0]["to_bytes"] if end and len(phases) > 1 else recording.findings["cache_bytes"]
        found.append(Figure("cache", cache, float(first or _step(written, at)), True))
    if end and len(phases) > 1:
        found.append(Figure("end 2", end, float(phases[1]["to_bytes"]), True))
    if "mean_MBps" in given:
        mean = float(recording.findings["fill_mean_bytes_per_s"])
        found.append(Figure("mean", given["mean_MBps"] * 1e6, mean, "mean=" in words))
    return found


def _step(written: Floats, at: Floats) -> float:
    """Where two speeds explain a curve best, for steps that the analysis takes for no cliff."""
    speeds = np.log(np.diff(written, prepend=0.0) / np.diff(at, prepend=0.0))
    count = np.arange(1, len(speeds))
    sums, squares = np.cumsum(speeds), np.cumsum(speeds**2)
    left = squares[:-1] - sums[:-1] ** 2 / count
    right = squares[-1] - squares[:-1] - (sums[-1] - sums[:-1]) ** 2 / (len(speeds) - count)
    return float(written[int(np.argmin(left + right))])


def table(refits: list[Refit]) -> str:
    """As Markdown."""
    lines = []
    for of, title in (
        ("profile", "built-in profiles, from their own published phases"),
        ("review", "rows of reviews.csv"),
    ):
        some = [refit for refit in refits if refit.of == of]
        done = [refit for refit in some if not refit.left_out]
        given = [figure for refit in done for figure in refit.figures if figure.given]
        errors = [abs(figure.error) for figure in given]
        whole = sum(all(abs(f.error) <= TARGET for f in refit.figures if f.given) for refit in done)
        checks = [abs(f.error) for refit in done for f in refit.figures if not f.given]
        if not errors:
            continue
        lines.append(
            f"- {title}: {len(done)} of {len(some)} fitted, {whole} with every given figure within {TARGET:.0%}; "
            f"{len(errors)} figures, median error {statistics.median(errors):.1%}, 90th percentile "
            f"{np.quantile(errors, 0.9):.1%}"
            + (
                f"; means that were not given: {len(checks)}, median error {statistics.median(checks):.0%}"
                if checks
                else ""
            )
        )
    lines += ["", "| drive | given figures | largest error | means that were not given |", "|---|---:|---:|---:|"]
    reasons: dict[str, list[str]] = {}
    for refit in refits:
        if refit.left_out:
            reasons.setdefault(refit.left_out, []).append(refit.drive)
            continue
        errors = [abs(figure.error) for figure in refit.figures if figure.given]
        miss = " **miss**" if max(errors) > TARGET else ""
        means = ", ".join(f"{figure.error:+.1%}" for figure in refit.figures if not figure.given)
        lines.append(f"| {refit.drive} | {len(errors)} | {max(errors):.1%}{miss} | {means} |")
    lines += ["", "Left out:", "", *(f"- {reason}: {', '.join(drives)}" for reason, drives in reasons.items())]
    return "\n".join(lines) + "\n"


def version() -> str:
    """Of what is fitted and with what."""
    sources = [Path(__file__), FOLDER / "reviews.csv", FIGURES,
               *sorted((ROOT / "python" / "pslc" / "twin").glob("*.py"))]  # fmt: skip
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:8]


def numbered(task: tuple[int, dict[str, str]]) -> Refit:
    """As `one`, of a row with its number."""
    return one(task[1])


def main() -> None:
    """Fit what is left, and write the page as it grows."""
    asked = [row | {"of": "profile"} for row in built_in()] + [row | {"of": "review"} for row in reviewed()]
    kept = ROOT / "target" / f"refits-{version()}.jsonl"
    kept.parent.mkdir(exist_ok=True)
    done: dict[int, Refit] = {}
    for line in kept.read_text().splitlines() if kept.exists() else []:
        at, refit = json.loads(line)
        done[at] = Refit(**refit | {"figures": [Figure(**figure) for figure in refit["figures"]]})
    left = [(at, row) for at, row in enumerate(asked) if at not in done]
    with kept.open("a") as file:
        for (at, _), refit in work.run(left, numbered, work.Local(2, grace_s=0)):
            if isinstance(refit, Exception):
                raise refit
            done[at] = refit
            file.write(json.dumps([at, asdict(refit)]) + "\n")
            file.flush()
            off = ", ".join(f"{figure.what} {figure.error:+.1%}" for figure in refit.figures)
            sys.stderr.write(f"{len(done)} of {len(asked)}: {refit.drive}: {refit.left_out or off}\n")
            part = PAGE.with_suffix(".md.part")
            part.write_text(table([done[at] for at in sorted(done)]))
            part.replace(PAGE)
    sys.stdout.write(PAGE.read_text())


if __name__ == "__main__":
    main()
