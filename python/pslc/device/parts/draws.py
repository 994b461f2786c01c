"""Drives that parts may make: draws of what a forecast leaves open, as keys of profiles for `pslc study --draws`."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import compress
from typing import Final

import numpy as np

from pslc.device.parts import constants, forecast, laws
from pslc.device.parts.constants import HOST_NS, MIB, MIN_COPY_NS, SD_80, SPEEDS, WAYS
from pslc.device.parts.forecast import Evidence, Profile
from pslc.device.parts.laws import Drive

MAX_OVERHEAD: Final = 40.0
"""Largest fold overhead that a profile may hold."""
COMMANDS: Final = ("latency", "slc_read")
"""Constants of one small command at a time, which no speed depends on."""
CACHE_KEYS: Final = ("cache.mode", "cache.static", "cache.dynamic")


def settings(of: Profile, count: int) -> list[dict[str, str]]:
    """Settings of so many drives of these parts. What the profile gives itself stays as it is.

    The bias of a phase, and the stretch of intervals, are in the constants that make the phase.
    """
    evidence, dice = Evidence.of(*of), np.random.default_rng(0)
    logs = evidence.logs(count, dice)
    # Two drives of a model, and two reviews of one, differ by as much.
    noise = np.array([constants.table()[phase, "noise single"].sd for phase in forecast.PHASES])
    logs[-len(noise) :] += noise[:, None] * dice.standard_t(forecast.NOISE_DOF, (len(noise), count))
    middle = np.median(logs, axis=1, keepdims=True)
    names = (*SPEEDS, *WAYS[1:], *forecast.PHASES)
    drawn = dict(zip(names, np.exp(middle + evidence.stretch * (logs - middle)), strict=True))
    flush = evidence.flush
    spread = np.log(flush.high / flush.median) / SD_80
    drawn["flush"] = 1e9 * flush.median * np.exp(spread * dice.standard_normal(count))
    own = constants.of(evidence.chip, evidence.die)
    for name in COMMANDS:
        drawn[name] = own[name].median * np.exp(evidence.stretch * own[name].sd * dice.standard_normal(count))
    ways = dice.choice(len(WAYS), count, p=list(evidence.ways.values()))
    drive = evidence.with_caches(count, dice)
    statics, dynamics = (np.broadcast_to(size, count) for size in (drive.static, drive.dynamic))
    result = []
    for at in range(count):
        value = {name: float(column[at]) for name, column in drawn.items()}
        rows = _of_constants(evidence, value)
        if evidence.drive.cache:
            static, dynamic = float(statics[at]), float(dynamics[at])
            rows |= _of_folding(value, WAYS[ways[at]], replace(drive, static=static, dynamic=dynamic))
            rows |= _of_cache(static, dynamic)
        # A key that belongs to one that is given is given, too.
        is_open = [_owner(key, of[0]) in evidence.open for key in rows]
        result.append(dict(compress(rows.items(), is_open)))
    return result


def _owner(key: str, values: Mapping[str, object]) -> str:
    """The key whose origin decides whether this one is open."""
    if key in CACHE_KEYS:
        return "cache.mode"
    if key in ("cache.fold_overhead", "cache.host_share"):
        return "cache.host_share" if "cache.host_share" in values else "cache.fold_overhead"
    return "controller.slc_write" if key == "controller.copy_in" else key


def _of_constants(evidence: Evidence, value: Mapping[str, float]) -> dict[str, str]:
    latency_ns = max(0.0, value["latency"] - evidence.chip.write)
    copy_ns = value["copy_time"] / value["first"] - HOST_NS - evidence.chip.write - latency_ns
    return {
        "controller.slc_write": f"{value['slc_write'] * value['first'] / 1e6:.0f}MB/s",
        "controller.copy_in": f"{MIB / copy_ns * 1e3:.0f}MB/s" if copy_ns > MIN_COPY_NS else "none",
        "controller.native_write": f"{value['native_write'] * value['past'] / 1e6:.0f}MB/s",
        "controller.flush": f"{value['flush']:.0f}ns",
        "controller.latency": f"{latency_ns:.0f}ns",
        "nand.slc.read": f"{value['slc_read']:.0f}ns",
        "nand.slc.program": f"{value['slc_program'] / value['first']:.0f}ns",
        "nand.native.program": f"{value['native_program'] / value['past']:.0f}ns",
    }


def _of_folding(value: Mapping[str, float], way: str, drive: Drive) -> dict[str, str]:
    cost = value["folding"] * value.get(way, 1.0)
    if way == "direct-while-folding":
        share = min(max(round(100 / (1 + cost)), 1), 99)
        return {"cache.when_full": way, "cache.fold_overhead": "1.0", "cache.host_share": f"{share}%"}
    overhead = laws.slow_overhead(drive, value, value[way]) if way == WAYS[-1] else cost * (drive.bits - 1)
    return {
        "cache.when_full": way.removeprefix("slow-"),
        "cache.fold_overhead": f"{min(overhead, MAX_OVERHEAD):.3f}",
    }


def _of_cache(static: float, dynamic: float) -> dict[str, str]:
    used, size, other = ("static", static, "dynamic") if static else ("dynamic", dynamic, "static")
    return {"cache.mode": f"{used}-slc", f"cache.{used}": f"{size / 1e6:.0f}MB", f"cache.{other}": "0MB"}
