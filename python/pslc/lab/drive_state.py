"""State of a simulated drive at each moment of a write, and the cause of its speed, for the pointer on the curve."""

from __future__ import annotations

from typing import Final

import numpy as np
from typing_extensions import TypedDict

from pslc.analysis import cache_superblock_bytes, sentences
from pslc.base import words
from pslc.recording.context import began
from pslc.recording.store import Recording

MOMENTS: Final = 400
"""Largest number of moments of a curve; a screen has hardly more."""
COUNTERS: Final = {
    "host_to_slc_bytes_total": "to pSLC",
    "host_to_native_bytes_total": "to native cells",
    "folded_bytes_total": "folded",
    "gc_bytes_total": "collected",
}
"""Label of each counter of data that move into NAND cells."""


class Moments(TypedDict):
    """Columns of equal length: `gb` written, `mbps`; superblocks `free`, `pslc`, `folding`, `native`, which add up to
    `superblocks`; `sentences`, one a moment; `phase`, the number of its reason in `why`."""

    gb: list[float]
    mbps: list[float]
    superblocks: int
    free: list[int]
    pslc: list[int]
    folding: list[int]
    native: list[int]
    sentences: list[str]
    phase: list[int]
    why: list[str]


def of(recording: Recording) -> Moments | None:
    """State of the drive over the course of a write; None if nothing was written, or if the drive is real."""
    series = recording.bytes
    if not recording.is_simulated or not recording.written_bytes:
        return None
    written = np.cumsum(series["write_bytes"], dtype=np.float64)
    # The last of the bins that a moment stands for; the flows are of all of them.
    edges = np.unique(np.linspace(0, len(written), min(MOMENTS, len(written)) + 1).astype(int))
    last = edges[1:] - 1
    ends = np.concatenate([[began(recording)], series["end_ns"]]).astype(np.float64)[edges]
    seconds = np.maximum(np.diff(ends), 1.0) / 1e9
    moved = np.diff(np.concatenate([[0.0], written])[edges])
    flows = {
        name: np.diff(np.concatenate([[recording.before[key]], series[key]]).astype(np.float64)[edges])
        for key, name in COUNTERS.items()
    }
    facts = recording.facts
    total = facts["superblocks"]
    free, pslc = (series[f"{name}_superblocks"][last].astype(int) for name in ("free", "slc"))
    if recording.profile_keys["cache"]["mode"] == "pure-slc":
        # They are no cache then, but all of the drive.
        pslc = total - free
    # Those of the static cache that hold nothing are not among the free ones, as they are for the cache alone. So many
    # of the others must be that as native cells have not been given enough for, but for three that are being filled.
    static = facts["static_superblocks"]
    given = sum(series[f"{name}_bytes_total"][last] for name in ("host_to_native", "folded", "gc"))
    filled = np.ceil(given / facts["native_superblock_bytes"]).astype(int) + 3
    free = free + np.maximum(static - pslc, np.clip(total - free - pslc - filled, 0, static))
    # As many as the data that are folded come from: at least one while any are.
    folding = np.minimum(np.ceil(flows["folded"] / cache_superblock_bytes(facts)).astype(int), pslc)
    valid, limit = series["slc_valid_bytes"][last], series["cache_limit_bytes"][last]
    phases = recording.findings.get("phases", [])
    lines = [
        _sentence(written[at], moved[i] / seconds[i], {name: flow[i] / seconds[i] for name, flow in flows.items()},
              float(valid[i]), float(limit[i]))
        for i, at in enumerate(last)
    ]  # fmt: skip
    ends_of = [phase["to_bytes"] for phase in phases]
    return {
        "gb": [round(value / 1e9, 4) for value in written[last]],
        "mbps": [round(value / 1e6, 2) for value in moved / seconds],
        "superblocks": total,
        "free": free.tolist(),
        "pslc": (pslc - folding).tolist(),
        "folding": folding.tolist(),
        "native": np.maximum(total - free - pslc, 0).tolist(),
        "sentences": lines,
        "phase": np.minimum(np.searchsorted(ends_of, written[last]), max(len(phases) - 1, 0)).tolist(),
        "why": [_capital(f"{sentences.CAUSE.get(phase['cause'], 'unknown')}: {phase['because']}.") for phase in phases],
    }


def _capital(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def _sentence(at: float, speed: float, flows: dict[str, float], valid: float, limit: float) -> str:
    moving = [f"{words.speed(flow)} {name}" for name, flow in flows.items() if flow > 0]
    held = f"pSLC holds {words.size(valid)} of {words.size(limit)}" if limit else ""
    rest = "; ".join(filter(None, [", ".join(moving), held]))
    return f"After {words.size(at)}: {words.speed(speed)}. {f'{rest}.' if rest else ''}".strip()
