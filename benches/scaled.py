"""What a scaled drive answers beside the whole one: the table in docs/model.md, written by `make bench NAME=scaled`."""

import re
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pslc
from benches.small import PROFILE

MODEL = Path(__file__).parent.parent / "docs" / "model.md"
SCALES = (Fraction(1), Fraction(1, 4), Fraction(1, 16))
FILLS = ("sn850-1tb", "pm871b-128gb", "aldrin-pro-2tb")
CACHED = "sn850-1tb"
RANDOM = "TLC drive of 8 GB"
"""The one in benches/small.py, of which the whole takes seconds."""
TWICE = (Path(__file__).parent / "twice.fio").read_text(encoding="utf-8")
"""4 KiB writes over all of a full drive: two and a half times what it holds, of which the last fifth is measured."""

MIN_SHOWN_ERROR = 0.01
"""Figures that are nearer than this to the whole drive's on each scale share one row."""
Row = tuple[str, float]
"""Where and what, and the value."""


def _fill(drive: str, on: str) -> Iterator[Row]:
    found = pslc.run("fill", on=on).findings
    where = f"`fill`, {drive}"
    yield f"{where}: end of the cache", found["cache_bytes"]
    for number, phase in enumerate(found["phases"], 1):
        yield f"{where}: speed of phase {number}", phase["bytes_per_s"]
    yield f"{where}: mean speed", found["fill_mean_bytes_per_s"]


def _recovery(drive: str, on: str) -> Iterator[Row]:
    found = pslc.run("recovery", on=on).findings
    where = f"`recovery`, {drive}"
    yield f"{where}: idle threshold", found["idle_threshold_s"]
    yield f"{where}: migration while idle", found["migration_bytes_per_s"]
    yield f"{where}: cache in use", found["cache_bytes"]


def _second_pass(drive: str, on: str) -> Iterator[Row]:
    found = pslc.run("second-pass", on=on).findings
    where = f"`second-pass`, {drive}"
    yield f"{where}: cache of the full drive", found["cache_bytes"]
    yield f"{where}: mean speed", found["fill_mean_bytes_per_s"]


def _fill_levels(drive: str, on: str) -> Iterator[Row]:
    found = pslc.run("fill-levels", on=on).findings
    where = f"`fill-levels`, {drive}"
    for row in found["levels"][::4]:
        if row["cache_bytes"]:
            yield f"{where}: cache at {100 * row['full']:.0f} %", row["cache_bytes"]


def _overwrite(drive: str, on: str) -> Iterator[Row]:
    where = f"`overwrite`, {drive}"
    for row in pslc.run("overwrite", on=on).findings["overwrite"][1::3]:
        yield f"{where}: rewriting {row['of_cache']:g} times the cache", row["bytes_per_s"]


def _random(drive: str, on: str) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "level.fio"
        path.write_text(TWICE)
        recording = pslc.run(path, on=on)
    level = recording.jobs[-1]
    ends = recording.time["end_ns"] > level["start_ns"]
    moved = {
        name: float(recording.time[name][ends][-1] - recording.time[name][ends][0])
        for name in ("host_write_bytes_total", "slc_programmed_bytes_total", "native_programmed_bytes_total")
    }
    programmed = moved["slc_programmed_bytes_total"] + moved["native_programmed_bytes_total"]
    where = f"random 4 KiB writes on the full {drive}"
    yield f"{where}: IOPS", level["write"]["total_ios"] / level["write"]["runtime_ns"] * 1e9
    yield f"{where}: write amplification", programmed / moved["host_write_bytes_total"]


def table() -> list[str]:
    """How far each figure is from the whole drive's, in Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.toml"
        small.write_text(PROFILE)
        measures = [(_fill, drive, drive) for drive in FILLS]
        measures += [(measure, CACHED, CACHED) for measure in (_second_pass, _fill_levels, _overwrite, _recovery)]
        measures += [(_random, RANDOM, str(small))]
        lines, close = ["| | 1/4 | 1/16 |", "|---|---:|---:|"], 0
        for measure, drive, on in measures:
            whole, *others = [dict(measure(drive, f"sim:{on}" + (f",scale={by}" if by != 1 else ""))) for by in SCALES]
            for what, value in whole.items():
                errors = [rows[what] / value - 1 if what in rows else None for rows in others]
                if all(error is not None and abs(error) < MIN_SHOWN_ERROR for error in errors):
                    close += 1
                    continue
                cells = ["not seen" if error is None else f"{error:+.1%}" for error in errors]
                lines.append(f"| {what} | {' | '.join(cells)} |")
        lines.append(f"| {close} other figures | below {MIN_SHOWN_ERROR:.0%} | below {MIN_SHOWN_ERROR:.0%} |")
    return lines


def main() -> None:
    """Put the table between its marks."""
    text = MODEL.read_text(encoding="utf-8")
    marks = r"(<!-- make bench NAME=scaled -->\n).*?(<!-- end -->)"
    new = "\n".join(table())
    MODEL.write_text(re.sub(marks, lambda m: f"{m[1]}{new}\n{m[2]}", text, flags=re.S), encoding="utf-8")


if __name__ == "__main__":
    main()
