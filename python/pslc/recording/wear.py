"""Wear caused by writing: bytes programmed for each byte of the host, and the life that remains."""

from dataclasses import dataclass

import numpy as np
from typing_extensions import TypedDict

from pslc.recording.model import Recording

YEAR_S = 365.25 * 86400
WRITTEN = "host_write_bytes_total"


class Wear(TypedDict):
    """Wear of a simulated drive in one step; see `of_wear`."""

    slc_per_host: float | None
    direct_per_host: float | None
    folded_per_host: float | None
    collected_per_host: float | None
    waf: float | None
    wear_main: float | None
    wear_static: float | None
    life_bytes: float | None


class Load(TypedDict):
    """Wear caused by a load; see `of_load`."""

    waf: float | None
    life_bytes: float | None
    life_years: float | None


UNKNOWN: Wear = {
    "slc_per_host": None, "direct_per_host": None, "folded_per_host": None, "collected_per_host": None, "waf": None,
    "wear_main": None, "wear_static": None, "life_bytes": None,
}  # fmt: skip


def of_wear(part: Recording) -> Wear:
    """Compute the wear of a simulated drive in one step; all null if nothing was written or its profile has no
    `[wear]`.

    - `slc_per_host`, `direct_per_host`, `folded_per_host`, `collected_per_host`: the host's bytes in pSLC and
      native cells, those folded, and those moved by garbage collection, for each byte of the host; `waf`: all that was
      programmed, for each byte
    - `wear_main`, `wear_static`: share of their life that the blocks of each zone have lost, evenly spread
    - `life_bytes`: what the host can write until the first zone has none left
    """
    facts = part.facts
    change = {name: float(part.totals[name] - part.before[name]) for name in part.before if name.endswith("_total")}
    host = change.get(WRITTEN, 0.0)
    if not host or "native_cycles" not in facts:
        return {**UNKNOWN}
    slc, native = change["slc_programmed_bytes_total"], change["native_programmed_bytes_total"]
    static, all_blocks = facts["static_superblocks"], facts["superblocks"]
    block, main = facts["slc_superblock_bytes"], all_blocks - static
    if "mlc_superblock_bytes" in facts:
        # Each erase of the static part makes room for a superblock more than there was at first. Cells of two bits wear
        # as native ones do.
        filled = static + change["static_erases_total"] / (facts["dies"] * facts["planes"])
        of_static = min(filled * block / slc, 1.0) if slc else 0.0
        wear_main = slc * (1 - of_static) / (main * facts["mlc_superblock_bytes"]) / facts["native_cycles"]
    else:
        # pSLC data are shared between the zones as its erases are; before the first, the static part has them all.
        erases = change["slc_erases_total"]
        of_static = change["static_erases_total"] / erases if erases else float(static > 0)
        wear_main = slc * (1 - of_static) / (main * block) / facts["slc_cycles"]
    wear_static = slc * of_static / (static * block) / facts["slc_cycles"] if static else 0.0
    wear_main += native / (main * facts["native_superblock_bytes"]) / facts["native_cycles"]
    worst = max(wear_main, wear_static)
    return {
        "slc_per_host": slc / host,
        "direct_per_host": change["host_to_native_bytes_total"] / host,
        "folded_per_host": change["folded_bytes_total"] / host,
        "collected_per_host": change["gc_bytes_total"] / host,
        "waf": (slc + native) / host,
        "wear_main": wear_main,
        "wear_static": wear_static,
        "life_bytes": host / worst if worst else None,
    }


@dataclass(frozen=True)
class Spent:
    """End of a drive's life within a run.

    Attributes:
        after_s, written_bytes: time since the start of the run, and bytes written, until then.
        lives: how many times over the drive's cycles were spent at the end of the run.
    """

    after_s: float
    written_bytes: float
    lives: float


def spent(recording: Recording) -> Spent | None:
    """Return when the cycles of a simulated drive were spent; None: they were not.

    Until then all that is programmed counts alike.
    """
    wear = of_wear(recording)
    lives = max(wear["wear_main"] or 0.0, wear["wear_static"] or 0.0)
    if lives <= 1.0:
        return None
    names = ("slc_programmed_bytes_total", "native_programmed_bytes_total")
    before = float(sum(recording.before[name] for name in names))
    programmed = sum(recording.time[name].astype(np.float64) for name in names) - before
    total = float(sum(recording.totals[name] for name in names)) - before
    seconds = (recording.time["end_ns"].astype(np.float64) - recording.start_ns) / 1e9
    written = recording.time[WRITTEN].astype(np.float64) - float(recording.before[WRITTEN])
    after_s, written_bytes = (float(np.interp(total / lives, programmed, of)) for of in (seconds, written))
    return Spent(after_s, written_bytes, lives)


def life_years(life_bytes: float | None, written_bytes: float, seconds: float) -> float | None:
    """Life in years of a drive that endures `life_bytes`, if `written_bytes` are written every `seconds`; None if a
    value is missing or 0."""
    if life_bytes is None or not written_bytes or not seconds:
        return None
    return life_bytes / (written_bytes / seconds) / YEAR_S


def of_load(recording: Recording) -> Load:
    """Compute the wear that a job file causes on a simulated drive: `waf` as in `of_wear`; `life_bytes` and
    `life_years` if the load goes on all the time, including the later folding of data that are still in the cache. Null
    where unknown."""
    wear, facts = of_wear(recording), recording.facts
    if wear["wear_main"] is None or wear["wear_static"] is None or not wear["life_bytes"]:
        return {"waf": wear["waf"], "life_bytes": None, "life_years": None}
    grown = {name: recording.totals[name] - recording.before[name] for name in ("slc_valid_bytes", WRITTEN)}
    main = (facts["superblocks"] - facts["static_superblocks"]) * facts["native_superblock_bytes"]
    worn = wear["wear_main"] + max(grown["slc_valid_bytes"], 0) / main / facts["native_cycles"]
    life = grown[WRITTEN] / max(worn, wear["wear_static"])
    years = life_years(life, grown[WRITTEN], recording.drive_time_s)
    return {"waf": wear["waf"], "life_bytes": life, "life_years": years}
