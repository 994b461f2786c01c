"""Draws charts with Matplotlib, into PNG, SVG, PDF and HTML; the same chart gives the same bytes."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from pslc.base import gate, words, writer
from pslc.base.errors import RecordingError, user_error
from pslc.charts import labels
from pslc.charts.chart import MAX_CURVES, Bar, BarChart, Chart, Curve, CurveChart
from pslc.charts.style import Axis, Style, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patheffects import AbstractPathEffect
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

LOGO: Final = gate.Expected("a logo is a PNG or JPEG", RecordingError, gate.MAX_PICTURE_BYTES)
MIN_MINUTES: Final = 3.0
"""A curve over less time has an axis of seconds, as a page of a recording has (`pslc.figures.picture`)."""
MIN_PAGE_PX: Final = 800
"""Width below which a picture on a page scrolls: its text, of 7.5 points in 16 inches, would be under 5 pixels high."""
FORMATS: Final = ("html", "pdf", "png", "svg")
DPI: Final = 160
"""Pixels of an inch, which sets how large 10 points are: a chart of 1600 pixels is read at half of its width."""
MAX_PIXELS: Final = 16_000
"""Width or height of a picture; Matplotlib draws up to 2^16."""
COLORS: Final = (
    "#1f6fb4", "#d1610f", "#2e8b57", "#a03c9c", "#b8860b", "#17a0b5", "#c2304b", "#6a5acd", "#7a8b1f", "#8c5a3c",
    "#5f6b7a", "#e377a8",
)  # fmt: skip
"""Colours of the curves, in order. The first six differ for readers who do not tell red from green."""
DASHES: Final = ("solid", (0, (6, 2)), (0, (1.5, 1.5)))
"""Line styles of the first four curves, the next four and the last four, so that they differ by more than their
colour."""
DARK_LIGHTENING: Final = 0.28
"""Share of white in a curve's colour on a dark ground, where the colours for white have too little contrast."""
HEADROOM: Final = 1.22
"""Height of the axis over the highest value: room for the labels above the curve."""
MIN_FONT_POINTS: Final = 7.0
"""Smallest font size of a title or a line of conditions; a longer text is cut."""
LABEL_GAP_POINTS: Final = 5.0
"""Between a label and its curve."""


@dataclass(frozen=True)
class Palette:
    """Colours of a theme."""

    ground: str
    ink: str
    dim: str
    grid: str


PALETTES: Final = {
    Theme.WHITE: Palette("#ffffff", "#1a1d21", "#5b6470", "#d9dde2"),
    Theme.DARK: Palette("#15181c", "#eceff3", "#a3adba", "#343a42"),
}


def check_installed() -> None:
    """Raise an error that names the extra, unless Matplotlib is there.

    Raises:
        PslcError: it is not.
    """
    if not is_installed():
        raise user_error("pslc draws pictures with Matplotlib, which is not installed", "pip install 'pslc[pictures]'")


def is_installed() -> bool:
    """Whether charts can be drawn."""
    return find_spec("matplotlib") is not None


def write(chart: Chart, path: Path, style: Style | None = None) -> None:
    """Write a chart as the end of the name says: `.png`, `.svg`, `.pdf`, `.html`.

    Raises:
        PslcError: Matplotlib is missing, the format is none of these, or the file cannot be written.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise user_error(f"{path}: pslc draws {', '.join(FORMATS)}, not {kind or 'a file without an end'}",
                         f"-o {path.stem}.svg")  # fmt: skip
    try:
        writer.write(path, render(chart, kind, style), writer.Replace.ANY)
    except OSError as error:
        raise user_error(f"{path}: {error.strerror}", "give -o a file that can be written") from None


def render(chart: Chart, kind: str, style: Style | None = None) -> bytes:
    """A chart as a file of a kind of `FORMATS`.

    Raises:
        PslcError: Matplotlib is missing, there is nothing to draw, or too much, or the style cannot be used.
    """
    check_installed()
    style = style or Style()
    _check(chart, style)
    with _settings():
        figure = _figure(chart, style)
        memory = io.BytesIO()
        drawn = "svg" if kind == "html" else kind
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": "pslc"}}[drawn]
        figure.savefig(memory, format=drawn, dpi=DPI, metadata=metadata, facecolor=figure.get_facecolor())
    return _page(chart, memory.getvalue().decode(), style) if kind == "html" else memory.getvalue()


def _check(chart: Chart, style: Style) -> None:
    from matplotlib.colors import is_color_like

    if isinstance(chart, CurveChart) and not chart.curves:
        raise user_error("there is no curve to draw", "pslc run fill records one")
    if isinstance(chart, BarChart) and not chart.bars:
        raise user_error("there is no figure to draw", "pslc compare RUN... lists the figures that recordings have")
    if isinstance(chart, CurveChart) and len(chart.curves) > MAX_CURVES:
        raise user_error(f"a chart of {len(chart.curves)} curves, at most {MAX_CURVES} can be distinguished",
                         "draw fewer, or bars: --bars mean")  # fmt: skip
    for color in style.colors:
        if not is_color_like(color):
            raise user_error(f'"{color}" is no color', "for example --color '#1f6fb4' or --color teal")
    for name, pixels in (("width", style.width), ("height", style.height)):
        if not 300 <= pixels <= MAX_PIXELS:
            raise user_error(f"a {name} of {pixels} pixels, from 300 to {MAX_PIXELS} are drawn", f"--{name} 800")


@contextmanager
def _settings() -> Iterator[None]:
    """Matplotlib's own settings, whatever the reader's file of them says; names in SVG follow from the chart alone."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({"svg.hashsalt": "pslc", "font.size": 10.0, "axes.unicode_minus": False})
        yield


def _figure(chart: Chart, style: Style) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    palette = PALETTES[style.theme]
    figure = Figure(figsize=(style.width / DPI, style.height / DPI), dpi=DPI, facecolor=palette.ground)
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set_facecolor(palette.ground)
    for spine in axes.spines.values():
        spine.set_color(palette.dim)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=palette.dim, labelcolor=palette.ink)
    axes.grid(color=palette.grid, linewidth=0.7)
    axes.set_axisbelow(True)
    _place(figure, axes, chart, style)
    if isinstance(chart, CurveChart):
        _draw_curves(axes, chart, style)
    else:
        _draw_bars(figure, axes, chart, style)
    return figure


def _place(figure: Figure, axes: Axes, chart: Chart, style: Style) -> None:
    """Title, conditions and margins, which have the same width in every size of a picture."""
    palette = PALETTES[style.theme]
    inch_x, inch_y = 1 / figure.get_figwidth(), 1 / figure.get_figheight()
    figure.subplots_adjust(left=0.75 * inch_x, right=1 - 0.3 * inch_x, top=1 - 0.82 * inch_y, bottom=0.62 * inch_y)
    left, top = 0.2 * inch_x, 1 - 0.14 * inch_y
    logo_width = _draw_logo(figure, style)
    title = figure.text(left, top, _shown(style.title or chart.title), color=palette.ink, size=15, weight="bold",
                        va="top")  # fmt: skip
    conditions = figure.text(left, top - 0.33 * inch_y, _shown(chart.conditions), color=palette.dim, size=9, va="top")
    room = (1 - 0.4 * inch_x - logo_width) * figure.get_figwidth() * DPI
    for text in (title, conditions):
        _shrink(text, room)
    if style.watermark:
        middle = axes.get_position()
        figure.text((middle.x0 + middle.x1) / 2, (middle.y0 + middle.y1) / 2, _shown(style.watermark), size=44,
                    color=palette.ink, alpha=0.09, ha="center", va="center", rotation=18, weight="bold")  # fmt: skip


def _shown(text: str) -> str:
    """A text as it is: Matplotlib would set what stands between two dollars as a formula."""
    return text.replace("$", r"\$")


def _shrink(text: Text, pixels: float) -> None:
    """Make a line of text small enough for its room, and cut what is too long for a readable size."""
    width = text.get_window_extent().width
    if width > pixels:
        text.set_fontsize(max(float(text.get_fontsize()) * pixels / width, MIN_FONT_POINTS))
    while text.get_window_extent().width > pixels and len(text.get_text()) > 1:
        text.set_text(text.get_text()[:-2].rstrip(" ,/:") + "…")


def _draw_logo(figure: Figure, style: Style) -> float:
    """Draw the logo in the upper right corner; its share of the width is returned."""
    if style.logo is None:
        return 0.0
    pixels = gate.picture(style.logo, LOGO)
    height = 0.46 / figure.get_figheight()
    width = min(float(height) * pixels.shape[1] / pixels.shape[0] * figure.get_figheight() / figure.get_figwidth(), 0.3)
    place = figure.add_axes((1 - width - 0.2 / figure.get_figwidth(), 1 - height - 0.14 / figure.get_figheight(),
                             width, height))  # fmt: skip
    place.imshow(pixels)
    place.set_axis_off()
    return float(width)


def _color(style: Style, number: int) -> str:
    from matplotlib.colors import to_hex, to_rgb

    if number < len(style.colors):
        return to_hex(style.colors[number])
    red, green, blue = to_rgb(COLORS[number % len(COLORS)])
    if style.theme is Theme.WHITE:
        return to_hex((red, green, blue))
    return to_hex((_lighter(red), _lighter(green), _lighter(blue)))


def _lighter(channel: float) -> float:
    return channel + DARK_LIGHTENING * (1 - channel)


def _with_unit(chart: CurveChart, style: Style) -> tuple[CurveChart, str]:
    """The chart with its x axis in the unit that is drawn, and that unit."""
    if chart.axis is not Axis.TIME or max(float(curve.x[-1]) for curve in chart.curves) >= MIN_MINUTES:
        return chart, labels.AXES[style.language][chart.axis]
    curves = tuple(replace(curve, x=curve.x * 60) for curve in chart.curves)
    return replace(chart, curves=curves), labels.SECONDS[style.language]


def _draw_curves(axes: Axes, chart: CurveChart, style: Style) -> None:
    palette = PALETTES[style.theme]
    tops = [curve.y if curve.high is None else curve.high for curve in chart.curves]
    highest = max((float(np.nanmax(top)) for top in tops if np.isfinite(top).any()), default=1.0) or 1.0
    scale, unit = (1e3, "GB/s") if highest >= 2000 else (1.0, "MB/s")
    chart, label = _with_unit(chart, style)
    has_band = False
    for number, curve in enumerate(chart.curves):
        color = _color(style, number)
        dash = DASHES[number // 4 % len(DASHES)]
        axes.plot(curve.x, curve.y / scale, color=color, linewidth=1.8, linestyle=dash, label=_shown(curve.name),
                  zorder=3)  # fmt: skip
        band = curve.wide_band(highest)
        if band is not None:
            has_band = True
            axes.fill_between(curve.x, band[0] / scale, band[1] / scale, color=color, alpha=0.22, linewidth=0)
    axes.set_ylim(0, highest / scale * HEADROOM)
    axes.set_xlim(0, max(float(curve.x[-1]) for curve in chart.curves) * 1.01)
    axes.set_xlabel(label, color=palette.ink)
    axes.set_ylabel(unit, color=palette.ink)
    if has_band:
        axes.text(1.0, -0.115, labels.BAND[style.language], transform=axes.transAxes, ha="right", va="top", size=7.5,
                  color=palette.dim)  # fmt: skip
    if len(chart.curves) == 1:
        _label_stages(axes, chart.curves[0], scale, style)
        return
    legend = axes.legend(loc="upper right", frameon=True, facecolor=palette.ground, edgecolor="none", framealpha=0.85,
                         labelcolor=palette.ink, fontsize=8.5, ncols=2 if len(chart.curves) > 6 else 1)  # fmt: skip
    taken = [legend.get_window_extent()]
    for number, curve in enumerate(chart.curves):
        _label_end(axes, curve, scale, _color(style, number), taken)


def _label_stages(axes: Axes, curve: Curve, scale: float, style: Style) -> None:
    """Write cause and speed at each phase, and the end of the cache at a dashed line."""
    palette = PALETTES[style.theme]
    taken: list[Bbox] = []
    if curve.cache_end is not None:
        axes.axvline(curve.cache_end, color=palette.dim, linewidth=1.0, linestyle=(0, (4, 3)), zorder=2)
        text = labels.CACHE_END[style.language].format(size=curve.cache_text)
        left = curve.cache_end < 0.75 * axes.get_xlim()[1]
        note = axes.annotate(text, (curve.cache_end, axes.get_ylim()[1]), (6 if left else -6, -3),
                             textcoords="offset points", ha="left" if left else "right", va="top", size=10.5,
                             weight="bold", color=palette.ink)  # fmt: skip
        taken.append(note.get_window_extent())
    words_by_cause = labels.CAUSES[style.language]
    for stage in curve.stages:
        cause = words_by_cause.get(stage.cause, stage.cause)
        text = "\n".join(filter(None, (cause, words.speed(stage.mb_per_s * 1e6))))
        # Over the highest point that the label will cover, so that no later step runs through it.
        note = axes.annotate(text, (stage.start, stage.mb_per_s / scale), (4, LABEL_GAP_POINTS),
                             textcoords="offset points", size=9.5, va="bottom", color=palette.ink,
                             path_effects=_halo(axes))  # fmt: skip
        _fit_inside(axes, note)
        _raise_above(axes, note, curve, scale)
        _avoid(axes, note, taken)


def _halo(axes: Axes) -> list[AbstractPathEffect]:
    """An edge of the ground's colour, so that a label can be read where it lies over a line."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.5, foreground=axes.get_facecolor())]


def _fit_inside(axes: Axes, note: Text) -> None:
    """Set a label that would run out of the chart to the left of its place."""
    if note.get_window_extent().x1 > axes.get_window_extent().x1:
        note.set_horizontalalignment("right")


def _raise_above(axes: Axes, note: Text, curve: Curve, scale: float) -> None:
    """Lift a label over what of the curve would run through it."""
    box = note.get_window_extent()
    inverse = axes.transData.inverted()
    (left, _), (right, _) = inverse.transform([(box.x0, box.y0), (box.x1, box.y1)])
    top = curve.y if curve.high is None else curve.high
    inside = (curve.x >= left) & (curve.x <= right) & np.isfinite(top)
    if not inside.any():
        return
    highest = float(axes.transData.transform((0.0, float(top[inside].max()) / scale))[1])
    # Only over a wave of the same phase: a cliff at the label's left is not beneath it.
    step = highest + LABEL_GAP_POINTS * DPI / 72 - box.y0
    if 0 < step < 3 * box.height:
        _lift(note, step)


def _lift(note: Text, pixels: float) -> None:
    x, y = note.get_position()
    note.set_position((x, y + pixels * 72 / DPI))


def _avoid(axes: Axes, note: Text, taken: list[Bbox]) -> None:
    """Lift a label over the labels that are there already; one that finds no room is left out."""
    top = axes.get_window_extent().y1 + 4
    for _ in range(20):
        box = note.get_window_extent()
        hit = [other for other in taken if box.overlaps(other)]
        if not hit:
            break
        _lift(note, max(other.y1 for other in hit) - box.y0 + 3)
    if note.get_window_extent().y1 > top:
        note.set_visible(False)
        return
    taken.append(note.get_window_extent())


def _label_end(axes: Axes, curve: Curve, scale: float, color: str, taken: list[Bbox]) -> None:
    """Mark the end of a curve's cache with a point and its size."""
    if curve.cache_end is None:
        return
    before = curve.y[(curve.x <= curve.cache_end) & np.isfinite(curve.y)]
    height = float(before[-1] if before.size < 3 else np.median(before[-3:])) / scale if before.size else 0.0
    axes.plot([curve.cache_end], [height], marker="o", markersize=5, color=color, zorder=4)
    note = axes.annotate(curve.cache_text, (curve.cache_end, height), (4, 4), textcoords="offset points", size=8.5,
                         weight="bold", color=color, path_effects=_halo(axes))  # fmt: skip
    _fit_inside(axes, note)
    _avoid(axes, note, taken)


def _draw_bars(figure: Figure, axes: Axes, chart: BarChart, style: Style) -> None:
    """Bars from the top down, with their values at their ends."""
    palette = PALETTES[style.theme]
    names = list(dict.fromkeys(bar.name for bar in chart.bars))
    series = list(dict.fromkeys(bar.series for bar in chart.bars))
    thickness = 0.72 / len(series)
    highest = max(max(bar.high, bar.value) for bar in chart.bars) or 1.0
    for bar in chart.bars:
        number = series.index(bar.series)
        place = names.index(bar.name) + (number - (len(series) - 1) / 2) * thickness
        color = _color(style, number if len(series) > 1 else names.index(bar.name) if style.colors else 0)
        axes.barh(place, bar.value, height=thickness * 0.92, color=color, zorder=2)
        if _has_spread(bar):
            axes.errorbar(bar.value, place, xerr=[[bar.value - bar.low], [bar.high - bar.value]], color=palette.ink,
                          capsize=3, linewidth=1.2, zorder=3)  # fmt: skip
        end = bar.high if _has_spread(bar) else bar.value
        axes.annotate(_value_text(bar, chart.unit), (end, place), (5, 0), textcoords="offset points", va="center",
                      size=9, color=palette.ink)  # fmt: skip
    axes.set_yticks(range(len(names)), [_shown(name) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(0, highest * 1.15)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(", ".join(filter(None, (chart.label, chart.unit))), color=palette.ink)
    widest = max(label.get_window_extent().width for label in axes.get_yticklabels()) / DPI
    figure.subplots_adjust(left=min((widest + 0.35) / figure.get_figwidth(), 0.5))
    if len(series) > 1:
        _draw_legend(axes, series, style)
    if note := _spread_note(chart, style):
        figure.text(1 - 0.3 / figure.get_figwidth(), 0.02, note, ha="right", size=7.5, color=palette.dim)


def _draw_legend(axes: Axes, series: Sequence[str], style: Style) -> None:
    """Name the colour of each series of bars."""
    from matplotlib.patches import Patch

    handles = [Patch(color=_color(style, number), label=_shown(name)) for number, name in enumerate(series)]
    ink = PALETTES[style.theme].ink
    axes.legend(handles=handles, loc="lower right", frameon=False, labelcolor=ink, fontsize=9)


def _value_text(bar: Bar, unit: str) -> str:
    """The value of a bar with its unit."""
    return words.speed(bar.value * 1e6) if unit == "MB/s" else words.quantity(bar.value, unit)


def _spread_note(chart: BarChart, style: Style) -> str:
    """What the intervals of the bars are; empty where no bar has one."""
    if not any(_has_spread(bar) for bar in chart.bars):
        return ""
    return labels.SPREAD[style.language] + (f", n = {chart.repeats}" if chart.repeats > 1 else "")


def _has_spread(bar: Bar) -> bool:
    return bar.low < bar.value < bar.high


def _page(chart: Chart, svg: str, style: Style) -> bytes:
    """A page of one picture that needs nothing else."""
    palette = PALETTES[style.theme]
    title = escape(style.title or chart.title)
    body = svg[svg.index("<svg") :].replace("<svg", f'<svg role="img" aria-label="{escape(described(chart))}"', 1)
    return (
        f'{writer.PAGE}<html lang="{style.language}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{title}</title>\n'
        f"<style>body {{ margin: 0; background: {palette.ground} }} "
        "div { overflow-x: auto } "
        f"svg {{ display: block; margin: auto; width: 100%; height: auto; max-width: 1600px; "
        f"min-width: {MIN_PAGE_PX}px }}</style>\n"
        f'</head>\n<body>\n<div tabindex="0">{body}</div></body>\n</html>\n'
    ).encode()


def described(chart: Chart) -> str:
    """Describe a chart in words, for people who cannot see it."""
    if isinstance(chart, BarChart):
        return f"{chart.title}. {chart.label}: " + "; ".join(
            f"{' '.join(filter(None, (bar.name, bar.series)))} {bar.value:.4g} {chart.unit}" for bar in chart.bars
        )
    return f"{chart.title}. " + "; ".join(_described(curve) for curve in chart.curves)


def _described(curve: Curve) -> str:
    stages = ", ".join(f"{stage.mb_per_s:.0f} MB/s from {stage.start:.4g}" for stage in curve.stages)
    end = f"cache ends at {curve.cache_text}" if curve.cache_end is not None else ""
    return ": ".join(filter(None, (curve.name, ", ".join(filter(None, (end, stages))))))


def with_order(bars: Sequence[Bar], *, ascending: bool) -> tuple[Bar, ...]:
    """Bars sorted by their values, the best first: the largest, or the smallest of times."""
    return tuple(sorted((replace(bar) for bar in bars), key=lambda bar: bar.value, reverse=not ascending))
