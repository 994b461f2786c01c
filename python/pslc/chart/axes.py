"""Axes of a chart: which value is at which pixel, from the range that the user gives and the marks that are drawn."""

import math
import re
from dataclasses import dataclass
from typing import Final, Literal

from pslc.base.columns import SIZES, SPEEDS, TIMES
from pslc.base.errors import RecordingError
from pslc.chart.lines import Floats

RANGE: Final = re.compile(r"\s*(-?[\d.]+(?:e\d+)?)\s*:\s*(-?[\d.]+(?:e\d+)?)\s*([^\d\s].*?)\s*", re.IGNORECASE)
STEPS: Final = (1.0, 1.2, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.5, 8.0, 1.28, 2.56, 5.12, 3.2, 6.4, 1.6)
"""Digits of the distance between two marks: what programs choose, minutes, and powers of two."""
USUAL_STEPS: Final = (1.0, 2.0, 2.5, 5.0)
"""Digits that a program chooses by itself."""
MAX_STEP_ERROR_RATIO: Final = 0.004
"""Largest error of the distance between two marks, as a share of it, if it is measured in pixels."""
MAX_ALIKE_RATIO: Final = 0.01
"""Between both readings of a range: with less it does not matter which is taken."""
MAX_OFFSET_RATIO: Final = 0.05
"""Largest distance of a mark from a multiple of the distance between two marks, as a share of that distance."""
AT_EDGE_PX: Final = 2.0
"""A mark that is as near to a side of the frame as this is on it."""


@dataclass(frozen=True)
class Range:
    """Range of an axis, as the user states it.

    Attributes:
        low, high: in bytes, seconds or bytes/s.
        unit: bytes, seconds or bytes/s of the unit it was given in.
        kind: of the quantity.
        label: name of the unit, as it was given.
        text: as it was given.
    """

    low: float
    high: float
    unit: float
    kind: Literal["bytes", "time", "speed"]
    label: str
    text: str


@dataclass(frozen=True)
class Axis:
    """A straight map from pixels to values.

    Attributes:
        at_low, at_high: pixels at which the range begins and ends.
        note: how the range was understood.
        spacing: from one mark to the next, in pixels; 0 where none were seen.
    """

    range: Range
    at_low: float
    at_high: float
    note: str
    spacing: float = 0.0

    @property
    def per_pixel(self) -> float:
        """Length of a pixel on this axis, in the axis's unit, above 0."""
        return (self.range.high - self.range.low) / abs(self.at_high - self.at_low)

    def values(self, places: Floats) -> Floats:
        """Values of the axis at pixels, shape (n,) in and out."""
        share = (places - self.at_low) / (self.at_high - self.at_low)
        return self.range.low + share * (self.range.high - self.range.low)

    def place(self, value: float) -> float:
        """The pixel of a value."""
        share = (value - self.range.low) / (self.range.high - self.range.low)
        return self.at_low + share * (self.at_high - self.at_low)


def parse(text: str | None, option: str, capacity_bytes: float | None = None) -> Range:
    """Read a range such as `0:2000GB`, `0:600s`, `0:100%` or `0:7000MB/s`.

    Args:
        capacity_bytes: of the drive, of which percents are.

    Raises:
        PslcError: it is none, or of another kind than `option` takes.
    """
    example = "--x 0:2000GB, --x 0:600s or --x 0:100%" if option == "--x" else "--y 0:7000MB/s"
    if text is None:
        raise RecordingError(
            f"a picture needs {option}: what its axis spans",
            f"for example {example}; save the results of a benchmark as text",
        )
    match = RANGE.fullmatch(text)
    if match is None:
        raise RecordingError(f'{option} "{text}" is no range of a picture\'s axis', f"for example {example}")
    unit = match[3].lower()
    scales: dict[str, float] = SPEEDS if option == "--y" else SIZES | TIMES
    if option == "--x" and unit == "%":
        if capacity_bytes is None:
            raise RecordingError(f"{option} {text} is a share of a capacity that is not known", "add --capacity 2TB")
        scales = {"%": capacity_bytes / 100}
    if unit not in scales:
        raise RecordingError(f'{option} "{text}" has no unit that is known', f"one of {', '.join(scales)}")
    low, high = _number(match[1], option, text) * scales[unit], _number(match[2], option, text) * scales[unit]
    if not low < high:
        raise RecordingError(f"{option} {text} does not rise", f"the lower end first: {example}")
    kind: Literal["bytes", "time", "speed"] = "speed" if option == "--y" else "time" if unit in TIMES else "bytes"
    return Range(low, high, scales[unit], kind, match[3], text.strip())


def _number(word: str, option: str, text: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise RecordingError(f'{option} "{text}": {word} is no number', "for example 0:2000GB") from None


def fitted(of: Range, option: str, sides: tuple[float, float], marks: Floats) -> Axis:
    """Lay a range over the frame, or over the marks within it, whichever gives the marks round values.

    Args:
        sides: pixels of the frame's lower and upper end of this axis.
        marks: pixels of grid lines or ticks, evenly spaced; may be empty.

    Raises:
        PslcError: neither or both do.
    """
    if len(marks) < 2:
        return Axis(of, *sides, f"{option} {of.text} spans the frame; no marks of this axis were seen")
    first, last = (marks[0], marks[-1]) if sides[0] < sides[1] else (marks[-1], marks[0])
    count = len(marks) - 1
    between = abs(last - first) / count
    step = (of.high - of.low) / of.unit / count
    by_marks = _is_round(step, 1e-6) and _is_multiple(of.low / of.unit, step)
    if abs(first - sides[0]) <= AT_EDGE_PX and abs(last - sides[1]) <= AT_EDGE_PX:
        if by_marks:
            return Axis(of, *sides, f"{option} {of.text} spans the frame, with a mark every {step:g}", between)
        raise _unclear(of, option, f"its {count + 1} marks would be {step:.4g} apart")
    whole = Axis(of, *sides, "")
    spacing = between * whole.per_pixel / of.unit
    start = float(whole.values(marks[:1])[0]) / of.unit
    by_frame = _is_round(spacing, MAX_STEP_ERROR_RATIO) and _is_multiple(start, spacing)
    if by_marks and by_frame:
        by_marks, by_frame = _more_usual(step, spacing)
    if by_marks and not by_frame:
        return Axis(of, first, last, f"{option} {of.text} spans the outermost marks, {step:g} apart", between)
    if by_frame and not by_marks:
        return Axis(of, *sides, f"{option} {of.text} spans the frame, with a mark every {spacing:.4g}", between)
    how = "either" if by_marks else "neither"
    raise _unclear(
        of, option, f"marks {step:.4g} apart if it spans the marks, {spacing:.4g} if it spans the frame: {how} may be"
    )


def _more_usual(step: float, spacing: float) -> tuple[bool, bool]:
    """Whether a range may span the marks, and whether the frame, where both put the marks at round values: the usual
    distance counts. Of two usual ones the marks', if both are nearly the same; else it stays unclear."""
    usual = _is_round(step, 1e-6, USUAL_STEPS), _is_round(spacing, MAX_STEP_ERROR_RATIO, USUAL_STEPS)
    return usual if usual[0] != usual[1] else (True, abs(spacing / step - 1) > MAX_ALIKE_RATIO)


def _unclear(of: Range, option: str, why: str) -> RecordingError:
    return RecordingError(
        f"{option} {of.text} does not fit the marks on its axis: {why}",
        f"give with {option} the first and the last label of the axis, and with --frame LEFT,TOP,RIGHT,BOTTOM the "
        "pixels where these are",
    )


def _is_round(step: float, tolerance: float, digits_of: tuple[float, ...] = STEPS) -> bool:
    digits = step / 10.0 ** math.floor(math.log10(step) + 1e-9)
    return any(abs(digits / of - 1) <= tolerance or abs(digits / of - 10) <= 10 * tolerance for of in digits_of)


def _is_multiple(value: float, step: float) -> bool:
    return abs(value / step - round(value / step)) <= MAX_OFFSET_RATIO


def parse_frame(text: str) -> tuple[float, float, float, float]:
    """Read `LEFT,TOP,RIGHT,BOTTOM` in pixels.

    Raises:
        PslcError: these are not four numbers, or they span nothing.
    """
    hint = "--frame LEFT,TOP,RIGHT,BOTTOM in pixels of the picture, for example --frame 80,40,760,520"
    try:
        left, top, right, bottom = (float(word) for word in text.split(","))
    except ValueError:
        raise RecordingError(f'--frame "{text}" is not four numbers', hint) from None
    if not (math.isfinite(left + top + right + bottom) and left + 10 <= right and top + 10 <= bottom):
        raise RecordingError(f'--frame "{text}" spans less than 10 pixels', hint)
    return left, top, right, bottom
