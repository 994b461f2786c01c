"""Every suite on every built-in drive in several states, its findings held against that drive: `make contradictions`.

Drives are scaled, and suites quick. Cells are asked in an order drawn by `SEED`, that of the day if none is stated,
until `SECONDS` are over; the page says how many were asked of how many.
"""

import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pslc
from pslc import suites
from pslc.base import work
from pslc.base.errors import JobError, ProfileError, TargetError
from pslc.device import drive_files, profiles
from pslc.device.region import Scope
from pslc.device.target import find_target
from pslc.recording.warnings import RecordingWarning
from tests import scaled

PAGE: Final = Path("docs/contradictions.md")
INTRODUCTION: Final = """
# Contradictions

For those who work on suites: where their findings are held against the drive itself.

A simulated drive knows what a suite infers from outside: its idle threshold, its cache and the tiers of it, its write
buffer, its link, its temperature, its cycles. After each simulated run pslc holds the findings against the drive
(`pslc.recording.contradictions`); a finding that the drive refutes is an error of pslc, and the warning `contradiction`
says so. This page counts them: every suite but `old-data` with `--quick` on every built-in drive, scaled down, in
several states, of cells drawn by a seed that changes from day to day (`make contradictions`).
""".strip()


@dataclass(frozen=True)
class Cell:
    """A suite on a drive in a state."""

    suite: str
    drive: str
    state: str

    def contradictions(self) -> list[str] | None:
        """Contradictions of its findings; None where the suite refuses to run in this state."""
        with TemporaryDirectory() as folder:
            try:
                target, scope = STATES[self.state](scaled.spec(self.drive), Path(folder))
                recording = pslc.run(self.suite, on=target, scope=scope)
            except (JobError, ProfileError, TargetError):
                return None
        code = RecordingWarning.CONTRADICTION.code
        return [str(warning) for warning in recording.findings.warnings if warning.code == code]


Prepared = tuple[str, Scope]
QUICK: Final = Scope(quick=True)
AGED_S: Final = 365 * 86_400.0
"""Time without power of a full drive, in seconds."""
SECONDS, DRAWN = 1200.0, 400
"""Time that the matrix takes at most; cells that a test asks."""


def _formatted(spec: str, folder: Path) -> Prepared:
    drive = drive_files.create(folder / "drive.pslc", spec.removeprefix("sim:"))
    drive_files.format_drive(drive, drive_files.mode_of(drive), {})
    drive.save()
    drive.close()
    return str(folder / "drive.pslc"), QUICK


def _aged(spec: str, folder: Path) -> Prepared:
    drive_files.create(folder / "drive.pslc", spec.removeprefix("sim:")).close()
    pslc.run("fill", on=str(folder / "drive.pslc"))
    drive = drive_files.open_kept(folder / "drive.pslc")
    drive_files.switch_off(drive, AGED_S, drive_files.REFERENCE_C)
    drive.save()
    drive.close()
    return str(folder / "drive.pslc"), QUICK


def _behind_bridge(spec: str, _: Path) -> Prepared:
    link = next(line for line in find_target(spec).profile.splitlines() if line.startswith("link = "))
    behind = link.removeprefix("link = ").strip('"')
    if behind.startswith("usb"):
        raise JobError("the drive is on USB itself", "")
    return f"{spec},link=usb10g,usb.behind={behind}", QUICK


STATES: Final[dict[str, Callable[[str, Path], Prepared]]] = {
    "as delivered": lambda spec, _: (spec, QUICK),
    "formatted": _formatted,
    "aged": _aged,
    "half full": lambda spec, _: (spec, Scope(quick=True, fill_first=50)),
    "full, 8 h idle": lambda spec, _: (spec, Scope(quick=True, fill_first=100, idle_s=8 * 3600.0)),
    "behind a USB bridge": _behind_bridge,
    "without its cache": lambda spec, _: (f"{spec},cache.mode=pure-xlc", QUICK),
    "with a static cache": lambda spec, _: (f"{spec},cache.mode=static-slc,cache.static=20GB", QUICK),
    "scaled to 1/16": lambda spec, _: (f"{spec.partition(',')[0]},scale=1/16", QUICK),
}
"""The target and the scope of a suite on a drive in each state."""


def held() -> list[str]:
    """Suites whose findings a drive can refute: all but those of the age of its data."""
    return [name for name in suites.names() if not suites.reads_back(name)]


def cells(seed: int) -> list[Cell]:
    """Cells of the matrix, in an order drawn by the seed."""
    every = [Cell(suite, drive, state) for drive in profiles.library() for state in STATES for suite in held()]
    random.Random(seed).shuffle(every)
    return every


def seed_of_today() -> int:
    """Seed that is stated, or that of the day."""
    return int(os.environ.get("SEED") or time.time() // 86_400)


def page(counts: Counter[tuple[str, str]], lines: Sequence[str], seed: int) -> str:
    """The page: how many cells were asked, by suite and state, and what contradicts."""
    drawn = f"drawn with SEED={seed} from {len(cells(seed))}, without those that a suite refuses"
    sentence = f"Of {counts.total()} cells {len(lines)} contradict ({drawn})."
    by_suite = "; ".join(f"`{suite}` {sum(counts[suite, state] for state in STATES)}" for suite in held())
    by_state = "; ".join(f"{state} {sum(counts[suite, state] for suite in held())}" for state in STATES)
    asked = f"- By suite: {by_suite}.\n- By state: {by_state}."
    return "\n\n".join([INTRODUCTION, sentence, asked, *(f"- {line}" for line in lines)]) + "\n"


def main(seconds: float) -> None:
    """Ask cells for so long, on two cores, and write the page."""
    counts, lines, seed = Counter[tuple[str, str]](), list[str](), seed_of_today()
    until = time.monotonic() + seconds
    where = work.Local(2, grace_s=0)
    for cell, refuted in work.run(cells(seed), Cell.contradictions, where, None, lambda: time.monotonic() > until):
        if isinstance(refuted, Exception):
            raise refuted
        if refuted is not None:
            counts[cell.suite, cell.state] += 1
        if refuted:
            lines.append(f"`{cell.suite}` on {cell.drive}, {cell.state}: {'; '.join(refuted)}")
            print(lines[-1], file=sys.stderr, flush=True)
    PAGE.write_text(page(counts, sorted(lines), seed), encoding="utf-8")


if __name__ == "__main__":
    main(float(sys.argv[1]) if sys.argv[1:] else SECONDS)
