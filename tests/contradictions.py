"""Every suite on every built-in drive in several states, its findings held against that drive: `make contradictions`.

Drives are scaled, and suites quick. As delivered each drive runs every suite; in each other state a sixth of them,
another sixth from drive to drive. The page is written after each drive.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pslc
from pslc import suites
from pslc.base.errors import JobError
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
buffer, its link, its temperature, its cycles. After each simulated run pslc holds the findings against the profile and
the counters of that drive (`pslc.recording.contradictions`); a finding that they refute is an error of pslc, and the
warning `contradiction` says so. This page counts them: every suite with `--quick` on every built-in drive, scaled down,
as delivered and in other states. `make contradictions` writes it, `make test-long` asks a sixth of the cells.
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
            except JobError:
                return None
        code = RecordingWarning.CONTRADICTION.code
        return [str(warning) for warning in recording.findings.warnings if warning.code == code]


Prepared = tuple[str, Scope]
QUICK: Final = Scope(quick=True)


def _formatted(spec: str, folder: Path) -> Prepared:
    drive = drive_files.create(folder / "drive.pslc", spec.removeprefix("sim:"))
    drive_files.format_drive(drive, drive_files.mode_of(drive), {})
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
    "half full": lambda spec, _: (spec, Scope(quick=True, fill_first=50)),
    "full, 8 h idle": lambda spec, _: (spec, Scope(quick=True, fill_first=100, idle_s=8 * 3600.0)),
    "behind a USB bridge": _behind_bridge,
    "without its cache": lambda spec, _: (f"{spec},cache.mode=pure-xlc", QUICK),
}
"""The target and the scope of a suite on a drive in each state."""


def cells(drives: Sequence[str] = ()) -> Iterator[Cell]:
    """Cells of the matrix, drive by drive."""
    for number, drive in enumerate(profiles.library()):
        for shift, state in enumerate(STATES):
            for index, suite in enumerate(suites.names()):
                if (not drives or drive in drives) and (shift == 0 or (number + shift + index) % 6 == 0):
                    yield Cell(suite, drive, state)


def page(counts: Counter[tuple[str, str]], lines: Sequence[str]) -> str:
    """The page: how many cells were asked, by suite and state, and what contradicts."""
    rows = [f"| suite | {' | '.join(STATES)} |", f"|---|{'---:|' * len(STATES)}"]
    for suite in suites.names():
        rows.append(f"| `{suite}` | {' | '.join(str(counts[suite, state]) for state in STATES)} |")
    sentence = f"Of {counts.total()} cells {len(lines)} contradict. Cells asked:"
    return "\n\n".join([INTRODUCTION, sentence, "\n".join(rows), *(f"- {line}" for line in lines)]) + "\n"


def main(drives: Sequence[str]) -> None:
    """Ask all cells, or those of some drives, and write the page as far as it is known."""
    counts, lines, before = Counter[tuple[str, str]](), list[str](), ""
    for cell in cells(drives):
        if cell.drive != before:
            PAGE.write_text(page(counts, lines))
            before = cell.drive
            print(f"{counts.total()} cells, {len(lines)} contradict; {cell.drive}", file=sys.stderr, flush=True)
        refuted = cell.contradictions()
        if refuted is not None:
            counts[cell.suite, cell.state] += 1
            lines += [f"`{cell.suite}` on {cell.drive}, {cell.state}: {'; '.join(refuted)}"] if refuted else []
    PAGE.write_text(page(counts, lines))


if __name__ == "__main__":
    main(sys.argv[1:])
