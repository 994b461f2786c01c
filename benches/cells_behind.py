"""How often folding and direct writes behind a cache are told apart: `python -m benches.cells_behind 4242 60`, the seed
and the number of drives.

Drives are drawn from parts; half of them fold, and half write to native cells directly. Half of each is written, and a
log of that in three forms is read as `pslc analyze` does.
"""

import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

import pslc
from pslc.base import units
from pslc.base.errors import PslcError
from pslc.device import parts
from pslc.recording.model import Recording
from pslc.runner.fio_logs import write_aggregate

POLICIES: Final = ("fold,cache.reuse=as-freed", "direct-then-fold,cache.reuse=after-idle")
KINDS: Final = ("fold", "direct")
MIN_SHARE: Final = 0.6
"""Share of its time from which a phase is of one kind in truth."""


def answers(seed: int, count: int, folder: Path) -> Iterator[tuple[str, str, float]]:
    """True kind of each phase behind a cache, the stated one, and its confidence, in logs of drawn drives."""
    dice, number = random.Random(seed), 0
    while number < count:
        profile = folder / "drawn.toml"
        nand, controller = dice.choice(parts.nands()), dice.choice(parts.controllers())
        capacity = dice.choice(["250GB", "500GB", "1TB", "2TB"])
        if parts.nand(nand).bits_per_cell < 3 or units.size(capacity, "") < 8 * parts.nand(nand).bytes:
            continue
        profile.write_text(parts.profile(nand=nand, controller=controller, capacity=capacity).text)
        try:
            target = f"sim:{profile},cache.when_full={POLICIES[number % 2]}"
            run = pslc.run("fill", on=target, seed=number, scope=pslc.Scope(quick=True))
        except PslcError:
            continue  # This pair cannot have such a cache.
        if _kind(run, run.written_bytes):
            number += 1
            yield from _answers(run, folder)


def _kind(run: Recording, place: float) -> str:
    """The true kind of the phase behind the cache, at a place in bytes; empty if it is of no kind."""
    for phase in run.findings["phases"][1:]:
        if phase["from_bytes"] <= place <= phase["to_bytes"] and phase["confidence"] >= MIN_SHARE:
            return phase["cause"] if phase["cause"] in KINDS else ""
    return ""


def _answers(run: Recording, folder: Path) -> Iterator[tuple[str, str, float]]:
    for path in _logs(run, folder):
        for phase in pslc.load(path).findings["phases"][1:]:
            kind = _kind(run, (phase["from_bytes"] + phase["to_bytes"]) / 2)
            if kind and phase["cause"] in KINDS:
                yield kind, phase["cause"], phase["confidence"]


def _logs(run: Recording, folder: Path) -> Iterator[Path]:
    """Logs of fio, of speeds each second, and of 200 positions."""
    seconds = np.append(0.0, run.bytes["end_ns"] / 1e9)
    written = np.append(0.0, np.cumsum(run.bytes["write_bytes"], dtype=float))
    clock = np.arange(0.0, seconds[-1], max(1.0, seconds[-1] / 2000))
    places = np.linspace(0.0, written[-1], 201)
    steps = {
        "time_s,write MB/s": (clock, np.interp(clock, seconds, written), clock),
        "Position (GB),Write (MB/s)": (places / 1e9, places, np.interp(places, written, seconds)),
    }
    yield next(path for path in write_aggregate(run, folder) if "write" in path.name)
    for head, (column, at_bytes, at_seconds) in steps.items():
        speeds = np.diff(at_bytes) / np.diff(at_seconds) / 1e6
        rows = (f"{place:.3f},{speed:.1f}" for place, speed in zip(column[1:], speeds, strict=True))
        (folder / "log.csv").write_text("\n".join([head, *rows]) + "\n")
        yield folder / "log.csv"


def main() -> None:
    """Print the table of a set."""
    seed, count = map(int, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        scores = [(right == answer, sure) for right, answer, sure in answers(seed, count, Path(folder))]
    print("| stated | phases | mean | right |\n|---|---:|---:|---:|")
    for low in np.arange(0.3, 1.0, 0.1):
        own = [score for score in scores if low <= score[1] < low + 0.1]
        if own:
            right, sure = np.mean(own, axis=0)
            print(f"| {low:.1f} to {low + 0.1:.1f} | {len(own)} | {100 * sure:.0f} % | {100 * right:.0f} % |")
    right, sure = np.mean(scores, axis=0)
    print(f"| all | {len(scores)} | {100 * sure:.0f} % | {100 * right:.0f} % |")


if __name__ == "__main__":
    main()
