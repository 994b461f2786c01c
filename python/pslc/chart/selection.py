"""Selection of the curves that the user names by their colours."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pslc.base import gate
from pslc.base.errors import RecordingError
from pslc.chart import colors, shades, trace
from pslc.chart.colors import Color
from pslc.chart.refusals import LARGER
from pslc.chart.tracing import SHADOW_PX, Traced

MIN_SEEN_APART_RATIO: Final = 0.25
"""Smallest share of the frame's width in which two curves in shades of one colour are both visible, one above the
other."""


@dataclass(frozen=True)
class NamedCurve:
    """A colour with its curve and its name."""

    name: str
    color: Color
    path: trace.Trace


def named_curves(traced: Traced) -> list[NamedCurve]:
    """Curves with the names of their colours; the code of the colour where two have one name."""
    names = [colors.name(color.rgb) for color, _ in traced]
    return [
        NamedCurve(name if names.count(name) == 1 else color.hex, color, path)
        for name, (color, path) in zip(names, traced, strict=True)
    ]


def selected(curves: list[NamedCurve], series: Sequence[str]) -> list[NamedCurve]:
    """The curves of the colours that were asked for, in that order; all where none was.

    Raises:
        PslcError: there are none of them, or several.
    """
    alike = [entry for entry in curves if not all(_are_apart(entry, other) for other in curves if other is not entry)]
    if alike and not series:
        names = gate.listed(f"{entry.color.hex} ({colors.name(entry.color.rgb)})" for entry in alike)
        raise RecordingError(
            f"shades of one color, which may be one curve: {names}",
            f"name the curves to be read, for example --series '{alike[0].color.hex}'",
        )
    if not curves:
        hint = LARGER if series else "say which colour it has: --series blue or --series '#1f77b4'"
        raise RecordingError("no curve was found in the chart", hint)
    return [_of_color(curves, word) for word in series] if series else curves


def _are_apart(entry: NamedCurve, other: NamedCurve) -> bool:
    """Whether two curves are of different colours, or are two for sure: both are seen beside each other."""
    if colors.name(entry.color.rgb) != colors.name(other.color.rgb) and not colors.share_hue(
        entry.color.rgb, other.color.rgb
    ):
        return True
    common, first, second = np.intersect1d(entry.path.columns, other.path.columns, return_indices=True)
    visible = entry.path.visible[first] & other.path.visible[second]
    away = (
        np.abs(entry.path.rows[first] - other.path.rows[second]) > max(entry.path.stroke, other.path.stroke) + SHADOW_PX
    )
    clear = all(
        min(path.explained, path.visible.mean()) >= shades.MIN_JOINED_RATIO and path.leaps < trace.MAX_LEAPS_RATIO / 2
        for path in (entry.path, other.path)
    )
    return bool(clear and (visible & away).sum() > MIN_SEEN_APART_RATIO * entry.color.core.shape[1] and len(common))


def _of_color(curves: list[NamedCurve], word: str) -> NamedCurve:
    names = f"the curves are {gate.listed(f'{curve.name} ({curve.color.hex})' for curve in curves)}"
    named = [curve for curve in curves if word.lower() in (curve.name, colors.name(curve.color.rgb))]
    if len(named) == 1:
        return named[0]
    rgb = colors.parse(word)
    if named or rgb is None:
        raise RecordingError(f"--series {word} fits {'several curves' if named else 'no curve'}", names)
    distances = [float(np.linalg.norm(np.subtract(curve.color.rgb, rgb))) for curve in curves]
    near, *far = np.argsort(distances)
    if distances[near] > colors.MAX_NAMED_LEVELS or (far and distances[far[0]] < 1.5 * distances[near]):
        raise RecordingError(f"--series {word} fits no curve", names)
    return curves[int(near)]
