"""How well charts are read: a picture of a known curve, what was read of it, and how far that is off."""

import io
from dataclasses import dataclass
from itertools import pairwise, permutations

import numpy as np
from PIL import Image

from benches.charts.draw import Chart, Series
from pslc.base.errors import PslcError
from pslc.chart import axes, colors, plot_area, reading

MAX_CLIFF_ERROR, MAX_SPEED_ERROR = 0.015, 0.02
"""Of the width and of the height of the plot: what a chart that was read right is off by at most."""


@dataclass(frozen=True)
class Verdict:
    """How one chart went.

    Attributes:
        outcome: `right`, `refused` or `wrong`.
        cliff: largest error of a cliff's place, as a share of the width.
        speed: largest error of the speed of a stretch between cliffs, as a share of the height.
        why: what was refused, or is wrong.
    """

    outcome: str
    cliff: float
    speed: float
    why: str


def judge(chart: Chart) -> Verdict:
    """Read a chart and hold it against its curves."""
    pixels = np.array(Image.open(io.BytesIO(chart.data)).convert("RGB"))
    try:
        wanted = plot_area.Wanted(axes.parse(chart.x, "--x"), axes.parse(chart.y, "--y"))
        found = reading.read(pixels, wanted)
    except PslcError as error:
        return Verdict("refused", 0.0, 0.0, str(error).partition("\n")[0])
    if len(found.curves) != len(chart.series):
        names = ", ".join(curve.name for curve in found.curves)
        return Verdict("wrong", 1.0, 1.0, f"{len(found.curves)} curves ({names}) of {len(chart.series)}")
    pairs = zip(chart.series, _matched(chart.series, found.curves), strict=True)
    worst = [_errors(chart, series, curve, found.x.range.unit) for series, curve in pairs]
    cliff, speed = max(error[0] for error in worst), max(error[1] for error in worst)
    right = cliff <= MAX_CLIFF_ERROR and speed <= MAX_SPEED_ERROR
    return Verdict("right" if right else "wrong", cliff, speed, "" if right else "off")


def _matched(series: tuple[Series, ...], curves: tuple[reading.Curve, ...]) -> tuple[reading.Curve, ...]:
    """The curve of each series, by color: each once, as a thin curve in a JPEG is pale."""
    true = [colors.parse(one.color) or (0, 0, 0) for one in series]

    def apart(order: tuple[reading.Curve, ...]) -> float:
        return sum(float(np.linalg.norm(np.subtract(one.rgb, rgb))) for one, rgb in zip(order, true, strict=True))

    return min(permutations(curves), key=apart)


def _errors(chart: Chart, series: Series, curve: reading.Curve, unit: float) -> tuple[float, float]:
    """Errors of the cliffs' places and of the speeds of a series, as shares of the width and the height."""
    wide, high = (float(limits[1] - limits[0]) for limits in chart.limits)
    x, speed = curve.x / unit, curve.speed / 1e6
    cliffs = [_cliff_error(series, cliff, x, speed, wide) for cliff in series.cliffs]
    ends = [abs(x[0] - series.x[0]) / wide, abs(x[-1] - series.x[-1]) / wide]
    borders = [series.x[0], *series.cliffs, series.x[-1]]
    speeds = [0.0]
    for low, top in pairwise(borders):
        inner = low + 0.1 * (top - low), top - 0.1 * (top - low)
        true, read = (
            float(np.mean(values[(at >= inner[0]) & (at <= inner[1])]))
            for at, values in ((series.x, series.speed), (x, speed))
        )
        speeds.append(abs(true - read) / high)
    return max(*cliffs, *ends, 0.0), float(np.nan_to_num(max(speeds), nan=1.0))


def _cliff_error(series: Series, cliff: float, x: np.ndarray, speed: np.ndarray, wide: float) -> float:
    """How far the curve that was read falls through the middle of a cliff away from where the true one does."""
    near = 0.06 * wide
    before = np.median(series.speed[(series.x < cliff) & (series.x > cliff - near)])
    after = np.median(series.speed[(series.x > cliff) & (series.x < cliff + near)])
    middle = (before + after) / 2
    places = [
        float(at[window][np.flatnonzero(values[window] >= middle)[-1]]) if (values[window] >= middle).any() else np.inf
        for at, values in ((series.x, series.speed), (x, speed))
        for window in [np.abs(at - cliff) <= near]
    ]
    step = float(np.median(np.diff(series.x)))
    return max(0.0, abs(places[0] + step / 2 - places[1]) - step / 2) / wide
