"""How long does the drive live, and would it live longer with another cache?

Six tenths of the drive are written, and the drive rests. Then random overwrites in 128 KiB requests follow, in bursts
of 1 % of the drive, with a minute of idle time after each. To compare, run it with another `cache.mode`.
"""

from pslc.base import words
from pslc.device.region import Region
from pslc.figures import curves
from pslc.figures.picture import Axis, Bars, Panel, Picture, Table
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import not_tried
from pslc.recording.wear import UNKNOWN, Wear, of_wear
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "an eighth of the writes"
COMPUTER = "none"
SHARE, QUICK_SHARE = 0.5, 1 / 16
"""Share of the drive that is overwritten, in a whole and in a quick run."""
FULL = 0.6
BURST = 0.01
SETTLE_S = 3600.0
DAILY_BYTES = 50e9
"""Bytes that an office machine writes in a day, generously; the basis of years of life."""


def steps(region: Region) -> Steps:
    """Old data, and a drive at rest; then the bursts."""
    old = region.share(FULL)
    # The shortest request there is, after an hour.
    settle = region.job("settle", rw="trim", bs="4k", offset=old, number_ios=1, pause=SETTLE_S)
    yield region.write("keep", old) + settle
    block = 128 << 10
    yield region.job(
        "bursts",
        rw="randwrite",
        bs=block,
        size=old,
        iodepth=8,
        norandommap=True,
        io_size=max(int(region.size * (QUICK_SHARE if region.quick else SHARE)) // block, 1) * block,
        thinktime="60s",
        thinktime_blocks=max(int(region.size * BURST) // block, 1),
        thinktime_blocks_type="issue",
    )


class Findings(Wear):
    """Findings of the suite, by name; `findings` describes them."""

    life_years: float | None
    life_fills: float | None
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Wear caused by the bursts; all null if the drive does not count it or its profile does not state its endurance.

    - `slc_per_host`, `direct_per_host`, `folded_per_host`, `collected_per_host`: the host's bytes in pSLC and
      native cells, those folded, and those moved by garbage collection, for each byte of the host; `waf`: all that was
      programmed, for each byte
    - `wear_main`, `wear_static`: share of their life that the blocks of each zone have lost, evenly spread
    - `life_bytes`: what the host can write until the first zone has none left; `life_years` at 50 GB a day;
      `life_fills`: over the capacity
    """
    if not recording.is_simulated:
        why = "a real drive tells its wear in whole percents: compare its SMART data over months"
        return _with_wear(recording, UNKNOWN, MeasurementWarning("wear-untold", why))
    if "native_cycles" not in recording.facts:
        why = "the profile has no [wear]: add slc_cycles and native_cycles"
        return _with_wear(recording, UNKNOWN, MeasurementWarning("wear-unknown", why))
    bursts = [part for part in recording.parts if part.written_bytes and part.jobs[0]["name"] == "bursts"]
    if not bursts:
        return _with_wear(recording, UNKNOWN, not_tried("the load"))
    return _with_wear(recording, of_wear(bursts[0]))


def _with_wear(recording: Recording, wear: Wear, *warnings: MeasurementWarning) -> Findings:
    life = wear["life_bytes"]
    return {
        **wear,
        "life_years": None if life is None else life / DAILY_BYTES / 365.25,
        "life_fills": None if life is None else life / recording.capacity_bytes,
        "warnings": list(warnings),
    }


def sentences(findings: Findings) -> list[str]:
    """The life, then what it is spent on."""
    years, fills, main, static = (findings[name] for name in ("life_years", "life_fills", "wear_main", "wear_static"))
    if findings["life_bytes"] is None or years is None or fills is None or main is None or static is None:
        return []
    # Where no static cache wears there is one area alone.
    first = f"; {'the static cache' if static > main else 'the main area'} wears out first" if static else ""
    lasts = words.years(years) if years > 1000 else f"{years:.0f} years" if years >= 2 else f"{12 * years:.0f} months"
    shares = {
        "as pSLC": findings["slc_per_host"],
        "direct to native cells": findings["direct_per_host"],
        "folded": findings["folded_per_host"],
        "by garbage collection": findings["collected_per_host"],
    }
    spent = ", ".join(f"{share:.2f} {word}" for word, share in shares.items() if share and share >= 0.005)
    return [
        f"Life under this load: {words.count(findings['life_bytes'] / 1e12)} TB, "
        f"{words.count(fills)} times the capacity, {lasts} at 50 GB a day{first}.",
        f"Write amplification {findings['waf']:.2f}{f': {spent}' if spent else ''}.",
    ]


def tables(findings: Findings) -> list[Table]:
    """Table of the bytes programmed for each byte of the host, by zone, and of the wear."""
    if findings["life_bytes"] is None:
        return []
    rows = [
        ["programmed", f"{findings['waf']:.3f}"],
        ["as pSLC", f"{findings['slc_per_host']:.3f}"],
        ["direct to native cells", f"{findings['direct_per_host']:.3f}"],
        ["folded", f"{findings['folded_per_host']:.3f}"],
        ["collected", f"{findings['collected_per_host']:.3f}"],
        ["wear of the main area", _worn(findings["wear_main"])],
        ["wear of the static cache", _worn(findings["wear_static"])],
    ]
    return [Table("Bytes for each byte of the host, and wear", ("", "figure"), rows, words=("",))]


def _worn(share: float | None) -> str:
    return f"{100 * share:.2g} %" if share else "none"


def pictures(recording: Recording) -> list[Picture]:
    """Bytes programmed for each byte of the host, by reason, then the pictures of any recording."""
    results = recording.findings.typed(Findings)
    reasons = {
        "into pSLC": results["slc_per_host"], "direct to native cells": results["direct_per_host"],
        "fold": results["folded_per_host"], "gc": results["collected_per_host"], "in all": results["waf"],
    }  # fmt: skip
    bars = Bars("bytes programmed", list(reasons.values()))
    panel = Panel(Axis("bytes programmed for each byte written"), bars=[bars])
    drawn = Picture("wear", "Write amplification by reason", Axis("reason", names=list(reasons)), (panel,))
    return [drawn, *curves.of_any(recording)]
