"""Fits the constants of parts to published figures, into calibration.csv and the part files: `make calibration`.

A pass fits each figure with the other constants as the pass before left them; two are enough from the ledger as it is.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from pslc.base.processes import end_with_parent

sys.path.insert(0, str(Path(__file__).parent))

import calibration
import parts as of_parts
from calibration import Entry, Row

PASSES = 2


def fitted(row: Row) -> list[Entry]:
    """What a row sets, with the ledger as it is on disk."""
    return of_parts.fits(row, calibration.read())


def run() -> None:
    """Two passes over all drives, and the part files."""
    for number in range(1, PASSES + 1):
        with ProcessPoolExecutor(
            of_parts.WORKERS, mp_context=get_context("spawn"), initializer=end_with_parent
        ) as pool:
            ledger = []
            for row, entries in zip(calibration.drives(), pool.map(fitted, calibration.drives()), strict=True):
                ledger += entries
                shown = ", ".join(f"{entry.sets} {entry.value}" for entry in entries)
                sys.stdout.write(f"{number}/{PASSES} {row['drive']}: {shown}\n")
                sys.stdout.flush()
        calibration.write(ledger)
    calibration.apply()


if __name__ == "__main__":
    run()
