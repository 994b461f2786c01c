"""Shades and mixes of colours: which pixels are of one curve although they differ, and which colours are of none."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from pslc.chart import colors, trace
from pslc.chart.colors import Color, Mask
from pslc.chart.lines import Floats, Pixels

MAX_BLEND_LEVELS: Final = 30.0
"""Largest distance of a colour from a mix of the background and two others, 0 to 441."""
MIN_FULL_RATIO: Final = 0.9
"""Smallest share of a line's contrast at which a colour is neither its soft edge nor a half transparent area below
it."""
MIN_PARALLEL: Final = 0.8
"""Cosine between the differences of two shades of one colour from the background."""
MAX_SHADE_RATIO: Final = 0.025
"""Largest part of a column that a paler shade of a line covers, as a share of the frame's height."""
MIN_JOINED_RATIO: Final = 0.75
"""Smallest share of the pixels of two shades of one colour that lie on one curve."""


def joined(colored: list[Color], area: Pixels, behind: Floats, ruled: Mask) -> list[Color]:
    """Colours, with two shades of one as one where both are on one curve: a thin curve is paler where it is level, and
    a JPEG blurs colours.

    Args:
        ruled: rows and columns of the grid.
    """
    kept: list[Color] = []
    for color in sorted(colored, key=lambda candidate: -candidate.contrast):
        whole = None if color.is_grey(behind) else _whole(color, kept, area, behind, ruled)
        if whole is None:
            kept.append(color)
        else:
            kept[whole[0]] = whole[1]
    return kept


def _whole(color: Color, kept: Sequence[Color], area: Pixels, behind: Floats, ruled: Mask) -> tuple[int, Color] | None:
    """Stronger colour that another one is a shade of, and both as one; None: it is a colour of its own."""
    ray = np.array(color.rgb) - behind
    for number, other in enumerate(kept):
        stronger = np.array(other.rgb) - behind
        alike = float(ray @ stronger) / float(np.linalg.norm(ray) * np.linalg.norm(stronger))
        if colors.name(color.rgb) != colors.name(other.rgb) or alike < MIN_PARALLEL or other.is_grey(behind):
            continue
        union = Color(other.rgb, other.contrast, color.core | other.core)
        none = np.zeros_like(union.core)
        path = trace.follow(union.core, union.shares(area, behind), none, ruled)
        one_area = color.contrast >= MIN_FULL_RATIO * other.contrast
        if not one_area and _reach(color) > MAX_SHADE_RATIO * len(area):
            continue
        if (
            path is not None
            and (one_area or not path.filled)
            and min(_on(path, color), _on(path, other)) >= MIN_JOINED_RATIO
        ):
            return number, union
    return None


def _reach(color: Color) -> float:
    """Number of pixels of a colour in most of its columns: few, unless an area is filled with it."""
    counts = color.core.sum(axis=0)
    return float(np.percentile(counts[counts > 0], 90))


def _on(path: trace.Trace, color: Color) -> float:
    """Share of a colour's pixels that are on a curve."""
    rows, columns = np.nonzero(color.core)
    top, bottom = (
        np.interp(columns, path.columns, edge, left=np.inf, right=-np.inf) for edge in (path.tops, path.bottoms)
    )
    return float(((rows >= top - 1) & (rows <= bottom + 1)).mean())


def is_blend(color: Color, stronger: Sequence[Color], behind: Floats) -> bool:
    """Whether a colour is a mix of the background with one or two others, as where areas lie over each other."""
    ray = np.array(color.rgb) - behind
    rays = [np.array(other.rgb) - behind for other in stronger]
    for number, first in enumerate(rays):
        for second in rays[number:]:
            base = np.stack([first, second], axis=1)
            share = np.clip(np.linalg.lstsq(base, ray, rcond=None)[0], 0.0, 1.0)
            if np.linalg.norm(base @ share - ray) <= MAX_BLEND_LEVELS:
                return True
    return False
