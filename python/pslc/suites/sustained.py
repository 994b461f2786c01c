"""What is left after half an hour of writing without a pause? Sequential writes around the drive.

Iometer's sustained write: 1 MiB, sequential, at queue depth 32, for as long as reviewers run it.
"""

import numpy as np

from pslc.analysis import AnalysisWarning, Writes
from pslc.analysis import sentences as write_sentences
from pslc.base import words
from pslc.device.region import Region
from pslc.figures import curves
from pslc.figures import tables as common
from pslc.figures.picture import Picture, Table
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import sums
from pslc.recording.writes.findings import of_writes
from pslc.suites import Steps

QUICK = "3 minutes instead of 30"
COMPUTER = "none"
MINUTES, QUICK_MINUTES = 30, 3
LAST = 1 / 6
"""The share of the time that is the end of it."""


def steps(region: Region) -> Steps:
    """One step with one job that writes for as long as the suite runs."""
    minutes = QUICK_MINUTES if region.quick else MINUTES
    yield region.job("sustained", rw="write", bs="1m", iodepth=32, seconds=60.0 * minutes)


class Findings(Writes):
    """Findings of the suite, by name; `findings` describes them."""

    steady_bytes_per_s: float | None
    steady_spread: float | None


def findings(recording: Recording) -> Findings:
    """Size of the cache, and the speed that is sustained.

    - the findings of `fill`; each phase has `from_s` and `to_s` as well
    - `steady_bytes_per_s`: over the last sixth of the time; `steady_spread`: its fastest tenth
      minus its slowest, divided by their mean; null when nothing was recorded
    """
    writes = of_writes(recording)
    seconds, written = sums(recording, "write_bytes")
    for phase in writes["phases"]:
        at = np.interp([phase["from_bytes"], phase["to_bytes"]], written, seconds)
        phase |= {"from_s": float(at[0]), "to_s": float(at[1])}
    end = float(seconds[-1])
    if not end:
        return {**writes, "steady_bytes_per_s": None, "steady_spread": None}
    tenths = np.diff(np.interp(np.linspace((1 - LAST) * end, end, 11), seconds, written)) / (LAST * end / 10)
    mean = float(tenths.mean())
    return {**writes, "steady_bytes_per_s": mean, "steady_spread": float(np.ptp(tenths)) / mean if mean else 0.0}


def sentences(findings: Findings) -> list[str]:
    """The sustained speed, then the speeds before it."""
    steady, spread = findings["steady_bytes_per_s"], findings["steady_spread"]
    if steady is None or spread is None:
        return write_sentences.describe(findings)
    varies = f"by {100 * spread:.0f} %" if spread >= 0.01 else "by less than 1 %"
    # What was not written may be slower.
    so_far = " so far" if any(warning.code == AnalysisWarning.PART.code for warning in findings["warnings"]) else ""
    sentence = f"Sustained{so_far}: {words.speed(steady)} (varies {varies})."
    return [sentence, *write_sentences.describe(findings)]


def tables(findings: Findings) -> list[Table]:
    """The phases, by time and by bytes."""
    rows = [
        [words.span(p["from_s"]), words.span(p["to_s"]), words.speed(p["bytes_per_s"]), p["cause"]]
        for p in findings["phases"]
    ]
    times = Table("Phases over time", ("from", "to", "speed", "cause"), rows, words=("cause",))
    return [times, *common.of_writes(findings)]


def pictures(recording: Recording) -> list[Picture]:
    """Write speed against time."""
    speed = curves.speed_by_bytes(recording, recording.findings.typed(Findings)["phases"])
    first, *rest = curves.of_any(recording)
    return [first, speed, *rest]
