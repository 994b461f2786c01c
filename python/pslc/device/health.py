"""Health log of a simulated drive under smartctl's names (NVMe: SMART / Health Information, log page 02h), and internal
values that no real drive reports."""

from typing_extensions import TypedDict

from pslc._native import SimDrive
from pslc.device.probe import NVME_DATA_UNIT


class SimHealth(TypedDict):
    """Health log of a simulated drive, under smartctl's names of NVMe's. None is unknown."""

    critical_warning: int
    temperature: int | None
    available_spare: int
    percentage_used: int | None
    data_units_read: int
    data_units_written: int
    power_cycles: int
    power_on_hours: int
    unsafe_shutdowns: int
    media_errors: int


class Inside(TypedDict):
    """Internal state of a simulated drive; see `inside`."""

    mapped_bytes: int
    cache_bytes: int
    cache_used_bytes: int
    buffer_bytes: int
    lost_bytes: int
    waf: float | None
    slc_per_host: float | None
    folded_per_slc: float | None
    collected_per_host: float | None
    slc_erases: int
    native_erases: int
    throttle_level: int
    energy_j: float | None
    slc_cycles_left: int | None
    native_cycles_left: int | None


def health(drive: SimDrive) -> SimHealth:
    """The log of a drive as it is now. What its profile does not give is None.

    `percentage_used` is the mean of all blocks: erases in either mode over the cycles that a block stands in it.
    `unsafe_shutdowns` counts how often whoever served it was killed. No block fails: `available_spare` stays at 100,
    `media_errors` are 0.
    """
    counters = drive.counters()
    used = wear(drive)
    heat = counters["temperature_millicelsius"]
    return {
        "critical_warning": 0,
        "temperature": round(heat / 1000) if heat else None,
        "available_spare": 100,
        "percentage_used": None if used is None else min(int(100 * used), 255),
        "data_units_read": -(-counters["host_read_bytes_total"] // NVME_DATA_UNIT),
        "data_units_written": -(-counters["host_write_bytes_total"] // NVME_DATA_UNIT),
        "power_cycles": counters["power_cycles"],
        "power_on_hours": int(drive.now_ns / 3.6e12),
        "unsafe_shutdowns": counters["unsafe_shutdowns"],
        "media_errors": 0,
    }


def inside(drive: SimDrive) -> Inside:
    """Internal state of a simulated drive, in base units. A ratio is None while its denominator is 0.

    `waf` is all that was programmed over what the host wrote. Of what: `slc_per_host` went to pSLC, `folded_per_slc` of
    that was moved on to native cells, `collected_per_host` was moved by collection.
    """
    counters = drive.counters()
    host, slc = counters["host_write_bytes_total"], counters["host_to_slc_bytes_total"]
    programmed = counters["slc_programmed_bytes_total"] + counters["native_programmed_bytes_total"]

    def per(part: str, whole: int) -> float | None:
        return counters[part] / whole if whole else None

    used = wear(drive)
    facts = drive.facts()

    def left(cycles: int | None) -> int | None:
        return None if used is None or cycles is None else max(0, round(cycles * (1 - used)))

    return {
        "mapped_bytes": counters["mapped_bytes"],
        "cache_bytes": counters["cache_limit_bytes"],
        "cache_used_bytes": counters["slc_valid_bytes"],
        "buffer_bytes": counters["buffer_bytes"],
        "lost_bytes": counters["lost_bytes"],
        "waf": programmed / host if host else None,
        "slc_per_host": per("host_to_slc_bytes_total", host),
        "folded_per_slc": per("folded_bytes_total", slc),
        "collected_per_host": per("gc_bytes_total", host),
        "slc_erases": counters["slc_erases_total"],
        "native_erases": counters["native_erases_total"],
        "throttle_level": counters["throttle_level"],
        "energy_j": counters["energy_nj_total"] / 1e9 or None,
        "slc_cycles_left": left(facts.get("slc_cycles")),
        "native_cycles_left": left(facts.get("native_cycles")),
    }


def wear(drive: SimDrive) -> float | None:
    """The share of their life that the blocks have had, on average; None where the profile has no [wear]."""
    facts, counters = drive.facts(), drive.counters()
    if "native_cycles" not in facts:
        return None
    blocks = facts["superblocks"] * facts["dies"] * facts["planes"]
    slc: float = counters["slc_erases_total"] / facts["slc_cycles"]
    native: float = counters["native_erases_total"] / facts["native_cycles"]
    return (slc + native) / float(blocks)
