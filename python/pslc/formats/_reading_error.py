"""Effect of the reading error of a picture, or of few rows, on findings: each interval becomes wider by it."""

import numpy as np

from pslc.analysis import Curve, Writes
from pslc.analysis.series import Floats
from pslc.formats import Exactness

MIN_SPEED_RATIO = 0.05
"""Smallest share of a speed at the low end of its interval, if its reading error exceeds the speed."""
MAX_CONFIDENCE = 0.95
"""Confidence at the most of what is concluded from a picture: of 59 charts that nothing was chosen on, `make bench
NAME=charts` refused 12 and read 1 wrong."""


def widen(findings: Writes, curve: Curve, exactness: Exactness) -> None:
    """Widen the interval of the cache's end, of each phase's start, of its speed, and of the mean speed, and bound what
    is sure."""

    def error_at(place: float) -> int:
        return round(float(np.interp(place, curve.edges_bytes[1:], exactness.position_error_bytes)))

    cache, low, high = (findings["cache_bytes"], findings["cache_bytes_low"], findings["cache_bytes_high"])
    if low is not None:
        findings["cache_bytes_low"] = max(0, low - error_at(low if cache is None else cache))
    if cache is not None and high is not None:
        findings["cache_bytes_high"] = high + error_at(cache)
    if "cache_confidence" in findings:
        findings["cache_confidence"] = min(findings["cache_confidence"], MAX_CONFIDENCE)
    for phase in findings["phases"]:
        phase["confidence"] = min(phase["confidence"], MAX_CONFIDENCE)
        if phase["from_bytes"] > 0:
            error = error_at(phase["from_bytes"])
            phase["from_low"] = max(0, phase["from_low"] - error)
            phase["from_high"] += error
        within = (curve.edges_bytes[1:] > phase["from_bytes"]) & (curve.edges_bytes[:-1] < phase["to_bytes"])
        phase["bytes_per_s_low"], phase["bytes_per_s_high"] = _means(curve, exactness.speed_error, within)
    if findings["fill_mean_bytes_per_s"] is not None:
        whole = np.ones(curve.seconds.size, dtype=bool)
        means = _means(curve, exactness.speed_error, whole)
        findings["fill_mean_bytes_per_s_low"], findings["fill_mean_bytes_per_s_high"] = means


def _means(curve: Curve, error: Floats, within: np.ndarray) -> tuple[float, float]:
    """The mean speed of some bins, were all of their speeds read too high, or too low."""
    widths, speed = curve.widths[within], curve.bytes_per_s[within]
    slow = np.maximum(speed - error[within], MIN_SPEED_RATIO * speed)
    total = float(widths.sum())
    return total / float((widths / slow).sum()), total / float((widths / (speed + error[within])).sum())
