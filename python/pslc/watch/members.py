"""Members of a pool, and the one that limits it: md, dm and LVM by /sys, ZFS by `zpool`; a Ceph OSD is a link to one of
these."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np

from pslc.analysis.load import Load
from pslc.base import children, words
from pslc.base.errors import TargetError
from pslc.device import probe
from pslc.recording import place
from pslc.schema.facts import FileSystem

WORKING: Final = 0.5
"""Share of a second from which a member that is busy for so long makes it one in which the pool works."""
MIN_WORKING_S: Final = 10
BUSY: Final = 0.8
"""A member that holds others back is busy for at least this share of such seconds."""
AHEAD: Final = 0.6
"""The others are then busy for at most this share of its."""
UNEVEN: Final = 1.5
"""Ratio of bytes from which the load itself is uneven."""


def members(path: Path) -> list[Path]:
    """The drives below a block device, a folder or a ZFS pool; the device itself where nothing lies below.

    Raises:
        PslcError: it is a pool that cannot be resolved, or a folder below which no drive is seen.
    """
    if path.is_block_device():
        return [Path("/dev") / name for name in probe.leaves(path.stat().st_rdev)] or [path]
    if path.is_dir():
        return _of_folder(path)
    if not path.exists() and len(path.parts) == 1 and not str(path).startswith("sim:"):
        return _of_zpool(str(path))
    return [path]


def _of_folder(path: Path) -> list[Path]:
    """The drives of a folder, of an overlay those of its upper layer."""
    facts = probe.facts(path)
    while "below" in facts and not probe.drives(facts):
        facts = facts["below"]
    system = facts["file_system"] or FileSystem()
    if system.get("type") == "zfs":
        return _of_zpool(system["source"].partition("/")[0])
    if not (names := probe.drives(facts)):
        raise TargetError(f"no drive is seen below {path}: it is {place.down(facts)}", "lsblk lists the block devices")
    return [Path("/dev") / name for name in names]


def _of_zpool(pool: str) -> list[Path]:
    named = [Path(word) for line in _zpool_lines(pool) for word in line.split()[:1] if word.startswith("/dev/")]
    devices = [device for device in named if device.is_block_device()]
    if not devices or len(devices) < len(named):
        missing = ", ".join(str(device) for device in named if device not in devices) or "any drive"
        raise TargetError(f"{pool}: zpool does not say where {missing} is", "name the drives: pslc watch /dev/A /dev/B")
    return list(dict.fromkeys(leaf for device in devices for leaf in members(device)))


def _zpool_lines(pool: str) -> list[str]:
    """Lines of `zpool list` on a pool.

    Raises:
        TargetError: there is no such program, or no such pool.
    """
    if children.find("zpool") is None:
        raise TargetError(f"{pool} is no device, and there is no zpool to ask for a pool", "lsblk lists the devices")
    done = children.run(["zpool", "list", "-vHPL", pool], timeout_s=30)
    if done.code:
        reason = done.errors.decode(errors="replace").strip() or f"zpool ended with {done.code}"
        raise TargetError(f"{pool} is no device and no pool: {reason}", "zpool list names the pools")
    return done.text.splitlines()


def held_back(loads: Mapping[str, Load]) -> str:
    """Sentence that names the member which limits the pool, or says why it cannot be named."""
    length = min(load.seconds.size for load in loads.values())
    busy = {name: (load.busy_s[:length] / load.seconds[:length]).clip(0, 1) for name, load in loads.items()}
    working = np.max(list(busy.values()), axis=0) >= WORKING if length else np.zeros(0, dtype=bool)
    if working.sum() < MIN_WORKING_S:
        text = "No drive of the pool can be named as the slowest"
        return f"{text}: they worked for {working.sum()} s, and {MIN_WORKING_S} s are needed."
    share = {name: float(part[working].mean()) for name, part in busy.items()}
    first, second = sorted(share, key=lambda name: -share[name])[:2]
    if share[first] < BUSY:
        text = f"No drive of the pool slows down the others: {first} was the busiest"
        return f"{text}, for {words.share(share[first])} of the time."
    if share[second] > AHEAD * share[first]:
        return (
            f"No single drive slows down the pool: {first} was busy for {words.share(share[first])} of the time, "
            f"{second} for {words.share(share[second])}."
        )

    def moved(name: str) -> float:
        load = loads[name]
        return float((load.read_bytes + load.write_bytes)[:length][working].sum())

    text = (
        f"{first} slows down the pool: it was busy for {words.share(share[first])} of the time in which they worked, "
        f"{second} for {words.share(share[second])}{_latencies(loads[first], loads[second])}."
    )
    if moved(first) > UNEVEN * moved(second):
        ratio = words.three(moved(first) / max(moved(second), 1.0))
        text += f" It moved {ratio} times as much: perhaps the load is uneven."
    return text


def _latencies(first: Load, second: Load) -> str:
    for kind in ("write", "read"):
        counts = [float(getattr(load, f"{kind}s").sum()) for load in (first, second)]
        if all(counts):
            times = [getattr(load, f"{kind}_s").sum() / n for load, n in zip((first, second), counts, strict=True)]
            return f"; a {kind} took {words.span(times[0])} there and {words.span(times[1])} on the other"
    return ""
