"""Colours of the curves in a chart, and which pixels are of which."""

import colorsys
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pslc.chart.lines import Floats, Pixels

Mask = NDArray[np.bool_]

MIN_INK_LEVELS: Final = 45.0
"""Difference of a pixel from the background, 0 to 441, from which on something is drawn there."""
MIN_BACKGROUND_RATIO: Final = 0.06
"""Smallest share of the frame that shows the background, where areas are filled nearly to the top."""
BINS: Final = 16
"""Bins of the colour histogram for each of red, green and blue."""
MAX_COLORS: Final = 14
MIN_PIXELS_RATIO: Final = 0.12
"""Pixels of a colour that is looked at, as a share of the frame's width."""
MIN_LINE_RATIO: Final = 0.3
"""Pixels of a curve's full contrast, as a share of the frame's width."""
MAX_ANGLE_RATIO: Final = 0.17
"""Largest distance of a colour's pixels from the line between background and colour, as a share of their contrast (10
degrees)."""
MIN_ASTRAY_LEVELS: Final = 22.0
CORE_RATIO: Final = 0.6
"""Share of a colour's contrast from which on a pixel is of the curve, not of its soft edge or its filled area."""
FRINGE_PX: Final = 2
MAX_FRINGE_RATIO: Final = 0.7
"""Share of a colour's pixels beside another one's from which on it is the soft edge of that."""
GREY_SPREAD: Final = 18
"""A colour is grey if its red, green and blue differ by less than this, of 255."""
MAX_GREY_RATIO: Final = 0.2
"""A colour is a grey of the background if red, green and blue differ from it by amounts that are equal within this
share of the contrast."""
MAX_NAMED_LEVELS: Final = 130.0
"""Largest distance of a curve's colour from the requested one, 0 to 441."""
MAX_SHADE_DEGREES: Final = 8.0
"""Largest distance of the hues of shades of one colour; the red and the brown of Matplotlib are 10 degrees apart."""
HUES: Final = (
    (14, "red"), (42, "orange"), (68, "yellow"), (160, "green"), (195, "cyan"), (255, "blue"), (292, "purple"),
    (340, "pink"), (361, "red"),
)  # fmt: skip
"""Degrees up to which a hue has this name."""


@dataclass(frozen=True)
class Color:
    """A colour that is drawn.

    Attributes:
        rgb: red, green and blue, 0 to 255.
        contrast: its difference from the background, 0 to 441.
        core: pixels that are of it, shape of the picture within the frame.
    """

    rgb: tuple[int, int, int]
    contrast: float
    core: Mask

    def is_grey(self, behind: Floats) -> bool:
        """Whether it is the background, lighter or darker, as labels and grids are."""
        return bool(greys(np.array(self.rgb, dtype=float), behind))

    def shares(self, area: Pixels, behind: Floats) -> Floats:
        """Share of each pixel that this colour covers, 0 to 1, where only the background is below it."""
        ray = np.array(self.rgb) - behind
        return np.clip((area - behind) @ (ray / (ray @ ray)), 0.0, 1.0)

    @property
    def hex(self) -> str:
        """The colour as HTML has it: `#1f77b4`."""
        return "#{:02x}{:02x}{:02x}".format(*self.rgb)


def background(area: Pixels) -> Floats:
    """The colour behind the curves: the most frequent one near the top of the frame, where no area is filled."""
    top = area[: max(3, len(area) // 40)].reshape(-1, 3)
    keys = (top // BINS).astype(int) @ np.array([BINS * BINS, BINS, 1])
    color = np.median(top[keys == np.bincount(keys).argmax()], axis=0)
    every = area.reshape(-1, 3)
    if (np.abs(every.astype(np.int16) - color).max(axis=1) <= BINS).mean() < MIN_BACKGROUND_RATIO:
        keys = (every // BINS).astype(int) @ np.array([BINS * BINS, BINS, 1])
        color = np.median(every[keys == np.bincount(keys).argmax()], axis=0)
    return np.asarray(color, dtype=float)


def greys(colors: NDArray[np.number], behind: Floats) -> Mask:
    """Mask of the colours that are shades of the background, lighter or darker; shape (..., 3) gives (...)."""
    away = colors - behind
    return np.asarray(np.ptp(away, axis=-1) <= MAX_GREY_RATIO * np.linalg.norm(away, axis=-1))


def find(area: Pixels, hidden: Mask) -> list[Color]:
    """The colours of an area, those with most pixels first.

    Args:
        hidden: pixels of the grid and the frame, which are of no curve.
    """
    behind = background(area)
    away = area.astype(np.float32) - behind.astype(np.float32)
    drawn = (np.einsum("...i,...i", away, away) > MIN_INK_LEVELS**2) & ~hidden
    points = away[drawn].astype(float)
    sizes = np.linalg.norm(points, axis=1)
    rays = _rays(points, sizes, area.shape[1])
    if not rays:
        return []
    colors = []
    nearest = _nearest(points, sizes, rays)
    for index, ray in enumerate(rays):
        core = np.zeros(drawn.shape, dtype=bool)
        core[drawn] = nearest == index
        colors.append(Color(_rgb(behind + ray), float(np.linalg.norm(ray)), core))
    return _without_fringes(colors, area.shape[1])


def _rays(points: Floats, sizes: Floats, wide: int) -> list[Floats]:
    """Differences of the colours of curves from the background, one colour after the other."""
    rays: list[Floats] = []
    while len(points) > MIN_PIXELS_RATIO * wide and len(rays) < MAX_COLORS:
        keys = ((points + 255) / 2 // BINS).astype(int) @ np.array([BINS * BINS, BINS, 1])
        weights = np.bincount(keys, weights=sizes)
        peak = np.median(points[keys == weights.argmax()], axis=0)
        astray, along = _off(points, peak)
        same = astray <= np.maximum(MAX_ANGLE_RATIO * np.abs(along), MIN_ASTRAY_LEVELS)
        if same.sum() < MIN_PIXELS_RATIO * wide:
            near = np.linalg.norm(points - peak, axis=1) < 2 * BINS
            points, sizes = points[~near], sizes[~near]
            continue
        full = _full_contrast(along[same], float(np.linalg.norm(peak)), wide)
        strong = np.abs(along[same] - full) <= 0.12 * full
        ray = np.median(points[same][strong], axis=0) if strong.any() else peak
        rays.append(ray)
        # What is much fainter may be a curve of a lighter shade.
        astray, along = _off(points, ray)
        size = float(np.linalg.norm(ray))
        taken = (astray <= np.maximum(MAX_ANGLE_RATIO * np.abs(along), MIN_ASTRAY_LEVELS)) & (along > CORE_RATIO * size)
        points, sizes = points[~taken], sizes[~taken]
    return rays


def _full_contrast(along: Floats, peak: float, wide: int) -> float:
    """The contrast of the curve itself among pixels of one hue: soft edges and filled areas have less.

    Args:
        wide: of the frame, in pixels: a line has as many, whatever is filled below it.
    """
    count = int(min(MIN_LINE_RATIO * wide, 0.3 * len(along)))
    return max(float(np.partition(along, -count)[-count]), peak) if count else peak


def _off(points: Floats, ray: Floats) -> tuple[Floats, Floats]:
    """Distances of points from the line along a ray, and along it."""
    unit = ray / np.linalg.norm(ray)
    along = points @ unit
    return np.linalg.norm(points - along[..., None] * unit, axis=-1), along


def _nearest(points: Floats, sizes: Floats, rays: list[Floats]) -> NDArray[np.int_]:
    """Index of the colour of each pixel; -1 for none."""
    distances = []
    for ray in rays:
        astray, along = _off(points, ray)
        # Between a colour and a lighter shade of it the nearer one.
        beyond = np.linalg.norm(points - ray, axis=1) * 0.25
        fits = (astray <= np.maximum(1.8 * MAX_ANGLE_RATIO * sizes, MIN_ASTRAY_LEVELS)) & (
            along > CORE_RATIO * np.linalg.norm(ray)
        )
        distances.append(np.where(fits, astray + beyond, np.inf))
    stack = np.array(distances)
    return np.where(np.isfinite(stack.min(axis=0)), stack.argmin(axis=0), -1)


def _without_fringes(colors: list[Color], wide: int) -> list[Color]:
    """Colours but those of the soft edges of others, which have less contrast."""
    left = [color for color in colors if color.core.sum() >= MIN_PIXELS_RATIO * wide]
    kept: list[Color] = []
    near = np.zeros(colors[0].core.shape, dtype=bool)
    for color in sorted(left, key=lambda candidate: -candidate.contrast):
        if (color.core & near).sum() <= MAX_FRINGE_RATIO * color.core.sum():
            kept.append(color)
            near |= widened(color.core, FRINGE_PX)
    return kept


def widened(mask: Mask, by: int) -> Mask:
    """True as well for pixels up to `by` rows or columns beside a true one."""
    wide = mask.copy()
    for axis in (0, 1):
        source = wide.copy()
        for shift in range(1, by + 1):
            ahead, back = [slice(None)] * 2, [slice(None)] * 2
            ahead[axis], back[axis] = slice(shift, None), slice(None, -shift)
            wide[tuple(ahead)] |= source[tuple(back)]
            wide[tuple(back)] |= source[tuple(ahead)]
    return wide


def name(rgb: tuple[int, int, int]) -> str:
    """Common name of a colour: `blue`, `light green`, `grey`."""
    red, green, blue = rgb
    if max(rgb) - min(rgb) < GREY_SPREAD:
        bright = sum(rgb) / 3
        return "black" if bright < 60 else "white" if bright > 225 else "grey"
    hue, light, saturation = colorsys.rgb_to_hls(red / 255, green / 255, blue / 255)
    word = next(word for limit, word in HUES if hue * 360 < limit)
    if word in ("red", "orange") and light < 0.45 and saturation < 0.55:
        return "brown"
    return f"light {word}" if light > 0.78 else f"dark {word}" if light < 0.2 else word


def share_hue(first: tuple[int, int, int], second: tuple[int, int, int]) -> bool:
    """Whether two colours may be one: a line is paler, or darker, where a JPEG mixes it with its background."""
    if min(np.ptp(first), np.ptp(second)) < GREY_SPREAD:
        return False
    hue, other_hue = (colorsys.rgb_to_hls(*(channel / 255 for channel in rgb))[0] for rgb in (first, second))
    return 360 * abs((hue - other_hue + 0.5) % 1 - 0.5) < MAX_SHADE_DEGREES


def _rgb(color: Floats) -> tuple[int, int, int]:
    red, green, blue = (int(np.clip(round(float(value)), 0, 255)) for value in color)
    return red, green, blue


def parse(word: str) -> tuple[int, int, int] | None:
    """The colour of a word: `#1f77b4` or a name of CSS; None where it is none."""
    from PIL import ImageColor

    try:
        return ImageColor.getrgb(word)[:3]
    except ValueError:
        return None
