"""The size of the cache that is told of simulated drives whose speed something else decides too: the host, its page
cache, a slow link, heat, data from before, or requests one at a time. The truth is what the drive's counters say."""

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import pslc
from benches.curves import simulated
from pslc.device.region import Scope
from pslc.recording.model import Recording

CLOSE = 0.01
SEEN_FALL = 0.75
"""A fall of a fifth is a cliff; one of about as much may be told either way."""
KINDS = ("page cache", "processor", "link", "heat", "prefilled", "one at a time")


@dataclass(frozen=True)
class Told:
    """What was said of a fill, and what is true, in bytes; None: no end.

    Attributes:
        falls: the speed fell by a fifth or more there, so that it can be seen.
        unseen: what nobody can tell apart: the drive's buffer, which takes in as much before it slows down, a bin, and
            the superblock whose room a drive makes before its cache is full. Of a whole drive these are some MB.
    """

    seed: int
    kind: str
    true: float | None
    said: float | None
    at_least: float | None
    falls: bool
    unseen: float

    @property
    def right(self) -> bool:
        """Within 1 %, or what nobody can tell apart. Where no speed shows an end, none is stated nor too much claimed,
        and an end that is stated all the same has to be right."""
        if self.said is not None and self.true is not None:
            return abs(self.said - self.true) <= max(CLOSE * self.true, self.unseen)
        if self.said is not None:
            return False
        return not self.falls and (self.at_least is None or self.true is None or self.at_least <= self.true)


def fill(seed: int, folder: Path) -> tuple[str, Recording]:
    """A fill of a random drive in which something plays a part."""
    rng = np.random.default_rng([seed, 21])
    kind = KINDS[seed % len(KINDS)]
    text, options, scope = simulated.profile(rng, 0.25), {}, None
    if kind == "page cache":
        text += f'[host]\npage_cache = "{rng.uniform(1, 4):.1f}GB"\n'
        options = {"direct": "0", "bs": "1m", "iodepth": "1"}
    elif kind == "processor":
        text += f'[host]\ncores = 1\nread = "5us"\nwrite = "{rng.integers(20, 400)}us"\n'
    elif kind == "link":
        link = rng.choice(["sata150", "sata300", "pcie1x1", "pcie3x1"])
        text = "\n".join(f'link = "{link}"' if line.startswith("link") else line for line in text.splitlines()) + "\n"
    elif kind == "heat":
        text += re.sub(r'speed = "\d+%"', f'speed = "{rng.integers(10, 70)}%"', simulated.hot(rng))
    elif kind == "prefilled":
        scope = Scope(fill_first=int(rng.integers(5, 80)))
    else:
        options = {"iodepth": "1", "bs": str(rng.choice(["64k", "256k", "1m"]))}
    drive = folder / "random.toml"
    drive.write_text(text)
    return kind, pslc.run("fill", on=f"sim:{drive}", seed=seed, scope=scope, options=tuple(options.items()))


def told(seed: int, kind: str, recording: Recording) -> Told:
    """Truth and answer of a fill."""
    done = simulated.Fill(recording.bytes, recording.before, recording.drive_bytes or 0)
    borders, _ = simulated.states(done)
    first = slice(0, max(1, len(done.written) // 400))
    elsewhere = done.change("host_to_native_bytes_total") + done.change("folded_bytes_total")
    at_once = elsewhere[first].sum() > 0.1 * np.diff(done.written)[first].sum()
    true = None if len(borders) < 2 or at_once else _full(done, borders[0], recording.facts["slc_superblock_bytes"])
    falls = true is not None and _falls(done, true)
    unseen = recording.facts["write_buffer_bytes"] + float(np.diff(done.written).max())
    if true is not None and done.change("folded_bytes_total")[: np.searchsorted(_reached(done), true)].any():
        unseen += recording.facts["slc_superblock_bytes"]
    findings = recording.findings
    return Told(seed, kind, true, findings["cache_bytes"], findings["cache_bytes_low"], falls, unseen)


def _falls(done: simulated.Fill, true: float) -> bool:
    """Whether the speed fell where so much had reached the cells; what memory took in before does not count."""
    speed = np.diff(done.written) / np.maximum(np.diff(done.seconds), 1e-9)
    reached = _reached(done)
    at = int(np.searchsorted(reached, true))
    beside = max(3, len(speed) // 50)
    memory = np.flatnonzero(np.diff(reached)[:at] < 0.5 * np.diff(done.written)[:at])
    start = max(0, at - beside, int(memory[-1]) + 1 if memory.size else 0)
    before, after = speed[min(start, max(at - 3, 0)) : at], speed[at + 1 : at + 1 + beside]
    return bool(before.size and after.size and np.median(after) <= SEEN_FALL * np.median(before))


def _reached(done: simulated.Fill) -> NDArray[np.float64]:
    """Bytes that had reached the cells at the borders of the bins: a page cache holds the others."""
    placed = done.change("host_to_slc_bytes_total") + done.change("host_to_native_bytes_total")
    return np.concatenate([[0.0], np.cumsum(placed)])


def _full(done: simulated.Fill, left: float, superblock: int) -> float:
    """Bytes in the cache when the first went past it. Folding is handed out by the superblock, a little before the
    cache is full or behind that, so where it begins is near, and the first byte past the cache is exact. Under a policy
    that writes nothing past it there is no such byte, and the cache is full where it holds what it may."""
    past = np.flatnonzero(done.change("host_to_native_bytes_total"))
    if past.size:
        full = float(np.cumsum(done.change("host_to_slc_bytes_total"))[past[0]])
    else:
        full = float(done.series["cache_limit_bytes"][np.searchsorted(_reached(done)[1:], left)])
    return full if abs(full - left) <= 2 * superblock else left


def one(seed: int) -> Told:
    """Truth and answer of the fill of a seed."""
    with tempfile.TemporaryDirectory() as folder:
        return told(seed, *fill(seed, Path(folder)))


def table(found: list[Told]) -> str:
    """A row a kind, as Markdown."""
    rows = ["| fills | with an end that the speed shows | right | wrong seeds |", "|---|---:|---:|---|"]
    for kind in KINDS:
        some = [one for one in found if one.kind == kind]
        wrong = ", ".join(str(one.seed) for one in some if not one.right)
        right = f"{np.mean([one.right for one in some]):.1%}"
        rows.append(f"| {len(some)} {kind} | {sum(one.falls for one in some)} | {right} | {wrong} |")
    rows.append(f"| all | {sum(one.falls for one in found)} | {np.mean([one.right for one in found]):.1%} | |")
    return "\n".join(rows)
