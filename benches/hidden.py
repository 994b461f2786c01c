"""Hidden drives: simulated ones with a build, a firmware and values of their own, measured with noise."""

from dataclasses import replace
from typing import Any

import numpy as np

from pslc.recording.model import Recording, join
from pslc.runner.load import analysed
from pslc.schema.jobs import Job
from pslc.twin.model import FirmwareModel, Geometry, Model, typical_dies, typical_native_rate

NOISE = 0.03
ERASES = 0.043
"""Time of an erase over that of programming the block as pSLC, the median of `pslc drives`, which are 0.005 to 0.14."""
MIX = (
    *(FirmwareModel("dynamic-slc", "direct-then-fold", reuse) for reuse in ("after-idle", "when-empty", "as-freed")),
    *(
        FirmwareModel("dynamic-slc", "direct-while-folding", reuse)
        for reuse in ("after-idle", "when-empty", "as-freed")
    ),
    *(FirmwareModel("dynamic-slc", "fold", "as-freed") for _ in range(2)),
    FirmwareModel("static-slc", "direct-then-fold", "after-idle"),
    FirmwareModel("static-slc", "direct-while-folding", "after-idle"),
    FirmwareModel("static-slc", "fold", "as-freed"),
    FirmwareModel("pure-xlc"),
)


def hidden(seed: int) -> tuple[Model, dict[str, float]]:
    """A drive of 120 to 500 GB whose dies are half, as or twice as large as usual, and up to twice as fast or slow."""
    rng = np.random.default_rng(seed)

    def log(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    bits = int(rng.choice([3, 3, 3, 4]))
    firmware = replace(MIX[seed % len(MIX)], bits_per_cell=bits)
    capacity = int(log(120e9, 500e9)) // 10**9 * 10**9
    dies = max(2 ** (round(np.log2(typical_dies(capacity, bits))) + int(rng.choice([-1, 0, 1]))), 2)
    planes = int(rng.choice([2, 4]))
    channels = min(int(rng.choice([4, 8])), dies)
    superblocks = rng.uniform(350, 1000)
    link = str(rng.choice(["sata600", "pcie3x4", "pcie4x4"]))
    native = typical_native_rate(capacity, bits) * log(0.5, 2)
    slc = native * log(2.5, 9)
    geometry = built(Geometry(capacity, link, bits, channels, dies, planes, 0), superblocks, slc)
    small = firmware.mode == "static-slc"
    values = {
        "slc_rate": slc, "native_rate": native, "dynamic": log(0.03, 0.9 / bits), "static": log(0.01, 0.03),
        "dynamic_min": float(rng.choice([1.0, rng.uniform(0.05, 0.9)])), "over_provisioning": log(0.04, 0.15),
        "fold_overhead": log(1.0, 3.0), "host_share": rng.uniform(0.3, 0.8), "idle_threshold": log(0.05, 10.0),
        "idle_rate": native * log(0.1, 0.7), "residue": float(rng.choice([0.0, rng.uniform(0.0, 0.2)])),
        "erase": geometry.erase_s * log(0.5, 2), "buffer": log(8e6, 3.2e7), "command": log(1e-6, 4e-6),
        "slc_read": log(2e-5, 4e-5), "native_read": log(4e-5, 9e-5),
    }  # fmt: skip
    if small:
        values["over_provisioning"] = log(0.04, 0.1)
    return Model(geometry, firmware), values


def built(parts: Geometry, superblocks: float, slc_rate: float) -> Geometry:
    """These parts as so many superblocks."""
    bits, program = parts.bits_per_cell, parts.program_bytes
    pages = max(round(parts.capacity_bytes / superblocks / program / bits), 4) * bits
    return replace(parts, pages_per_block=pages, bus_mts=max(800, int(1.5 * slc_rate / parts.channels / 1e6)),
                   erase_s=ERASES * (program * pages // bits / slc_rate))  # fmt: skip


def sheet(model: Model, values: dict[str, float], seed: int) -> tuple[tuple[str, float, float], ...]:
    """What the sheets of its parts would say of a drive, as wrong as `pslc.twin.priors` takes them to be."""
    rng = np.random.default_rng(seed + 1_000_000)
    spreads = {
        "slc_rate": 0.5,
        "native_rate": 0.7,
        "slc_read": 0.2,
        "native_read": 0.2,
        "over_provisioning": 0.3,
        "command": 0.5,
    }
    return tuple((name, values[name] * float(np.exp(rng.normal(0, spread))), spread)
                 for name, spread in spreads.items())  # fmt: skip


def noisy(recording: Recording, seed: int) -> Recording:
    """The time of each bin off by some per cent, as on real drives; bytes and idle time stay."""
    rng = np.random.default_rng(seed)
    parts = []
    for part in recording.parts:
        ends = np.r_[float(part.start_ns), part.time["end_ns"].astype(float)]
        took = np.diff(ends)
        busy = (part.time["write_bytes"] > 0) | (part.time["read_bytes"] > 0)
        took = took * np.exp(np.where(busy, rng.normal(0.0, NOISE, len(took)), 0.0))
        warped = np.r_[ends[0], ends[0] + np.cumsum(took)]

        def at(time: Any, ends: Any = ends, warped: Any = warped) -> Any:
            # Beyond the last bin the clock goes on as it was.
            return np.interp(time, ends, warped) + np.maximum(time - ends[-1], 0.0)

        def moved(job: Job, at: Any = at) -> Job:
            start, end = (int(at(float(time))) for time in (job["start_ns"], job["start_ns"] + job["elapsed_ns"]))
            return {**job, "start_ns": start, "elapsed_ns": end - start}

        by_time, by_bytes = (
            {**axis, "end_ns": at(axis["end_ns"].astype(float)).astype(np.uint64)} for axis in (part.time, part.bytes)
        )
        parts.append(replace(part, jobs=[moved(job) for job in part.jobs], time=by_time, bytes=by_bytes))
    return analysed(join(parts)) if len(parts) > 1 else analysed(parts[0])
