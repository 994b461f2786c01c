"""Draws pictures with Matplotlib, into PNG, SVG, PDF and HTML; the same picture gives the same bytes."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pslc.base import gate, install, writer
from pslc.base.console import short
from pslc.base.errors import RecordingError, user_error
from pslc.figures.document import MAX_NAMED, BarsJson, FigureJson, LineJson, MarkJson, PanelJson, StripJson
from pslc.figures.picture import Floats
from pslc.figures.scale import AxisJson
from pslc.figures.style import PALETTES, Language, Style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.patheffects import AbstractPathEffect
    from matplotlib.text import Text as DrawnText
    from matplotlib.transforms import Bbox

LOGO: Final = gate.Expected("a logo is a PNG or JPEG", RecordingError, gate.MAX_PICTURE_BYTES)
MIN_PAGE_PX: Final = 800
"""Width below which a picture on a page scrolls: its text, of 7.5 points in 16 inches, would be under 5 pixels high."""
FORMATS: Final = ("html", "pdf", "png", "svg")
DPI: Final = 160
"""Pixels of an inch, which sets how large 10 points are: a picture of 1600 pixels is read at half of its width."""
MAX_PIXELS: Final = 16_000
"""Width or height of a picture; Matplotlib draws up to 2^16."""
MAX_LINES: Final = 12
"""Lines of a panel, and recordings of a comparison: with more, neither colors nor labels can be told apart."""
LEGEND_LETTER_PX, LEGEND_MARGINS_PX = 11, 176
"""Width of a letter of a legend, and what is beside the panel under it."""
OF_JOBS: Final = ("histogram", "slowest")
"""Pictures with a line for each job, however many there are."""
DASHES: Final = ("solid", (0, (6, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))
"""Dashes by number, so that lines differ by more than their color."""
BAR_PX, PANEL_PX, LINES_PX, MIN_HEIGHT = 26, 90, 360, 800
"""Pixels for the height of a bar with its value, around a panel of bars, of a panel of lines, and of a picture."""
TITLE_PX, AXIS_PX = 56, 64
"""Pixels between panels of bars: for the title of the lower one, and for an axis of the upper one."""
MIN_FONT_POINTS: Final = 7.0
"""Smallest font size of a title or a line of conditions; a longer text is cut."""
EDGE_PX: Final = 6
"""Pixels between the edge of a picture and the last label of its x axis, and between a title and a legend."""
LABEL_GAP_POINTS: Final = 5.0
"""Between a label and its line."""
CHINESE_FONTS: Final = (
    "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei",
    "Microsoft YaHei", "SimHei", "PingFang SC", "Heiti SC", "Arial Unicode MS", "Droid Sans Fallback",
)  # fmt: skip
"""Fonts with Chinese characters, the first that is installed is used."""


def check_installed() -> None:
    """Raise an error that names the extra, unless Matplotlib is there.

    Raises:
        PslcError: it is not.
    """
    if not is_installed():
        hint = install.command("pslc[pictures]")
        raise user_error("pslc draws pictures with Matplotlib, which is not installed", hint)


def is_installed() -> bool:
    """Whether pictures can be drawn."""
    return find_spec("matplotlib") is not None


def write(
    figure: FigureJson, path: Path, style: Style | None = None, replaces: writer.Replace = writer.Replace.ANY
) -> None:
    """Write a picture as the end of the name says: `.png`, `.svg`, `.pdf`, `.html`.

    Raises:
        PslcError: Matplotlib is missing, the format is none of these, or the file cannot be written.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise user_error(f"{path}: pslc draws {', '.join(FORMATS)}, not {kind or 'a file without an end'}",
                         f"-o {path.stem}.svg")  # fmt: skip
    try:
        writer.write(path, render(figure, kind, style), replaces)
    except OSError as error:
        raise user_error(f"{path}: {error.strerror}", "give -o a file that can be written") from None


def render(figure: FigureJson, kind: str, style: Style | None = None) -> bytes:
    """A picture as a file of a kind of `FORMATS`.

    Raises:
        PslcError: Matplotlib is missing, there is nothing to draw, or too much, or the style cannot be used.
    """
    check_installed()
    style = style or Style()
    _check(figure, style)
    with _settings(Language(figure["language"]), as_text=kind in ("svg", "html")):
        drawn = _Canvas(figure, style).figure
        memory = io.BytesIO()
        format_ = "svg" if kind == "html" else kind
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": "pslc"}}[format_]
        drawn.savefig(memory, format=format_, dpi=DPI, metadata=metadata, facecolor=drawn.get_facecolor())
    return _page(figure, memory.getvalue().decode(), style) if kind == "html" else memory.getvalue()


def _check(figure: FigureJson, style: Style) -> None:
    from matplotlib.colors import is_color_like

    if not figure["panels"]:
        raise user_error("there is nothing to draw", "pslc run fill records a curve")
    if (count := max(len(panel["lines"]) for panel in figure["panels"])) > MAX_LINES and figure["id"] not in OF_JOBS:
        raise user_error(f"a picture of {count} curves, at most {MAX_LINES} can be distinguished",
                         "draw fewer, or bars: --bars mean")  # fmt: skip
    for color in style.colors:
        if not is_color_like(color):
            raise user_error(f'"{color}" is no color', "for example --color '#1f6fb4' or --color teal")
    for name, pixels in (("width", style.width), ("height", style.height or MIN_HEIGHT)):
        if not 300 <= pixels <= MAX_PIXELS:
            raise user_error(f"a {name} of {pixels} pixels, from 300 to {MAX_PIXELS} are drawn", f"--{name} 800")


@contextmanager
def _settings(language: Language, *, as_text: bool) -> Iterator[None]:
    """Matplotlib's own settings, whatever the reader's file of them says; names in SVG follow from the picture.

    Args:
        as_text: the file may hold text, which is drawn with the fonts of its reader.
    """
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({"svg.hashsalt": "pslc", "font.size": 10.0, "axes.unicode_minus": False})
        if language is Language.ZH:
            font = _chinese_font()
            if font is None and not as_text:
                hint = "apt install fonts-noto-cjk, draw .svg, or --language en"
                raise user_error("no font with Chinese characters is installed", hint)
            matplotlib.rcParams["font.family"] = [*([font] if font else []), "DejaVu Sans"]
            if font is None:
                matplotlib.rcParams["svg.fonttype"] = "none"
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph")
            yield


def _chinese_font() -> str | None:
    """Name of an installed font that has Chinese characters; without one, boxes would be drawn."""
    from matplotlib import font_manager

    installed = {font.name for font in font_manager.fontManager.ttflist}
    return next((name for name in CHINESE_FONTS if name in installed), None)


def _shown(text: str) -> str:
    """A text as it is, if it is not too long: Matplotlib would set what stands between two dollars as a formula."""
    return short(text).replace("$", r"\$")


class _Canvas:
    """A picture in one style; `figure` is drawn."""

    def __init__(self, picture: FigureJson, style: Style) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.picture, self.style, self.palette, self.panels = picture, style, PALETTES[style.theme], picture["panels"]
        self.has_bars = any(panel["bars"] for panel in self.panels)
        bars = [len(panel["rows"]) * (len(panel["bars"]) + 0.5) for panel in self.panels]
        needed = sum(BAR_PX * share + PANEL_PX for share in bars) + PANEL_PX
        height = style.height or max(MIN_HEIGHT, round(needed) if self.has_bars else LINES_PX * len(self.panels))
        self.figure = Figure(figsize=(style.width / DPI, height / DPI), dpi=DPI, facecolor=self.palette.paper)
        FigureCanvasAgg(self.figure)
        shares = [*(bars if self.has_bars else [1.0] * len(self.panels)), *([0.06] if picture["strip"] else [])]
        every = self.figure.subplots(len(shares), 1, squeeze=False, height_ratios=shares)[:, 0].tolist()
        self.legend_columns = self._caption()
        for number, (axes, panel) in enumerate(zip(every, self.panels, strict=False)):
            self._frame(axes)
            (self._draw_bars if self.has_bars else self._draw_lines)(axes, panel)
            if not number or self._names(panel) != self._names(self.panels[number - 1]):
                self._legend(axes, self._names(panel))
            title = axes.set_title(_shown(panel["title"]), loc="left", size=10, weight="bold", pad=3)
            title.set_color(self.palette.ink)
            self._widen_left(axes)
            beside = legend.get_window_extent().width if (legend := axes.get_legend()) else 0.0
            _shrink(title, axes.get_window_extent().width - beside - EDGE_PX)
        if picture["strip"]:
            self._strip(every[-1], picture["strip"])
        self._share_axes(every)

    def _share_axes(self, every: Sequence[Axes]) -> None:
        """Write an axis below the last panel that it is of, and titles of y axes under each other."""
        has_own = [self.has_bars and a["y"] != b["y"] for a, b in pairwise(self.panels)]
        for axes, own in zip(every[:-1], has_own + [False] * len(every), strict=False):
            if not own:
                axes.tick_params(labelbottom=False)
                axes.set_xlabel("")
        self.figure.align_ylabels(every)
        gap = TITLE_PX + AXIS_PX * any(has_own)
        room = sum(axes.get_window_extent().height for axes in every)
        hspace = gap * len(every) / max(room, 1.0) if self.has_bars else 0.22
        self.figure.subplots_adjust(hspace=hspace)

    def color(self, number: int) -> str:
        """Color of a line or of bars."""
        colors = [*self.style.colors, *self.palette.hues[len(self.style.colors) :]]
        return colors[number % len(colors)]

    def _caption(self) -> int:
        """Write title, conditions and note into margins of the same width in every size; return the columns of the
        legend."""
        inch_x, inch_y = 1 / self.figure.get_figwidth(), 1 / self.figure.get_figheight()
        conditions = self.picture["conditions"].splitlines() or [""]
        names = max((self._names(panel) for panel in self.panels), key=lambda some: sum(map(len, some)))
        letters = (self.style.width - LEGEND_MARGINS_PX) // LEGEND_LETTER_PX
        columns = max(min(letters // (max(map(len, names), default=1) + 7), len(names)), 1)
        legend_rows = -(-len(names) // columns)
        # A note stands below the title of the axis.
        bottom = 0.74 if self.picture["note"] else 0.62
        self.figure.subplots_adjust(left=0.8 * inch_x, right=1 - 0.3 * inch_x, bottom=bottom * inch_y,
                                    top=1 - (0.53 + 0.19 * (len(conditions) + legend_rows)) * inch_y)  # fmt: skip
        room = (1 - 0.4 * inch_x - self._logo()) * self.figure.get_figwidth() * DPI
        heading = self.style.title or ": ".join(filter(None, (self.picture["drive"], self.picture["title"])))
        for down, text, size, weight, color in (
            (0.14, heading, 15, "bold", self.palette.ink),
            *((0.47 + 0.19 * row, line, 9, "normal", self.palette.dim) for row, line in enumerate(conditions)),
        ):
            place = (0.2 * inch_x, 1 - down * inch_y)
            _shrink(self.figure.text(*place, _shown(text), color=color, size=size, weight=weight, va="top"), room)
        note = self.figure.text(1 - 0.3 * inch_x, 0.06 * inch_y, _shown(self.picture["note"]), ha="right", size=7.5,
                                color=self.palette.dim)  # fmt: skip
        _shrink(note, room)
        if self.style.watermark:
            self.figure.text(0.5, 0.5, _shown(self.style.watermark), size=44, color=self.palette.ink, alpha=0.09,
                             ha="center", va="center", rotation=18, weight="bold")  # fmt: skip
        return columns

    def _logo(self) -> float:
        """Draw the logo in the upper right corner; its share of the width is returned."""
        if self.style.logo is None:
            return 0.0
        pixels = gate.picture(self.style.logo, LOGO)
        across, down = self.figure.get_figwidth(), self.figure.get_figheight()
        width, height = min(0.46 * pixels.shape[1] / pixels.shape[0] / across, 0.3), 0.46 / down
        place = self.figure.add_axes((1 - width - 0.2 / across, 1 - height - 0.14 / down, width, height))
        place.imshow(pixels)
        place.set_axis_off()
        return float(width)

    def _frame(self, axes: Axes) -> None:
        axes.set_facecolor(self.palette.paper)
        for spine in axes.spines.values():
            spine.set_color(self.palette.dim)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(colors=self.palette.dim, labelcolor=self.palette.ink)
        axes.grid(color=self.palette.grid, linewidth=0.7)
        axes.set_axisbelow(True)

    def _scale(self, axes: Axes, which: str, scale: AxisJson) -> None:
        """Ends, ticks and title of an axis."""
        axis = axes.xaxis if which == "x" else axes.yaxis
        axes.set(**{f"{which}scale": "log"} if scale["log"] else {})
        axes.set(**{f"{which}lim": (scale["low"], scale["high"])})
        axis.set_ticks([place for place, _ in scale["ticks"]], [_shown(text) for _, text in scale["ticks"]])
        axis.set_ticks([], minor=True)
        axis.set_label_text(_shown(scale["title"]), color=self.palette.ink)
        last = axis.get_ticklabels()[-1] if which == "x" and scale["ticks"] else None
        if last is not None and last.get_window_extent().x1 > self.figure.bbox.x1 - EDGE_PX:
            last.set_horizontalalignment("right")

    def _names(self, panel: PanelJson) -> list[str]:
        """Names in the legend of a panel, which has one if it has several lines or bars; of many jobs some, and how
        many more there are."""
        names = [series["name"] for series in (*panel["lines"], *panel["bars"])]
        if self.picture["id"] in OF_JOBS and len(names) > MAX_NAMED:
            return [*names[:MAX_NAMED], self.picture["more"]]
        return names if len(names) > 1 else []

    def _legend(self, axes: Axes, names: Sequence[str]) -> None:
        """Names of several lines or bars above the panel, where they cover nothing, read from left to right."""
        from matplotlib.patches import Patch

        if names:
            handles: list[Artist] = list(axes.get_legend_handles_labels()[0])
            if len(handles) > len(names):
                handles = [*handles[: len(names) - 1], Patch(alpha=0, label=names[-1])]
            columns = self.legend_columns
            by_column = [handle for column in range(columns) for handle in handles[column::columns]]
            axes.legend(handles=by_column, loc="lower right", bbox_to_anchor=(1.0, 0.99), ncols=columns, frameon=False,
                        borderaxespad=0.2, labelcolor=self.palette.ink, fontsize=8.5)  # fmt: skip

    def _widen_left(self, axes: Axes) -> None:
        """Make room for the labels of the y axis, however long they are."""
        widest = max((label.get_window_extent().width for label in axes.get_yticklabels()), default=0.0) / DPI
        left = (widest + 0.42) / self.figure.get_figwidth()
        if left > self.figure.subplotpars.left:
            self.figure.subplots_adjust(left=min(left, 0.5))

    def _draw_lines(self, axes: Axes, panel: PanelJson) -> None:
        self._scale(axes, "x", self.picture["x"])
        self._scale(axes, "y", panel["y"])
        for number, line in enumerate(panel["lines"]):
            self._line(axes, line, number)
        self._labels(axes, panel)

    def _line(self, axes: Axes, line: LineJson, number: int) -> None:
        x, y, low, high = (_floats(line[key]) for key in ("x", "y", "low", "high"))
        color = self.color(line["hue"])
        # Lines with gaps over those without, which are seen through them.
        zorder = 3.1 if line["dash"] or line["style"] == "dotted" else 3
        looks: dict[str, Any] = {"color": color, "linewidth": 1.8, "zorder": zorder, "label": _shown(line["name"])}
        if line["style"] == "dots":
            axes.plot(x, y, linestyle="none", marker="o", markersize=4, **looks)
            return
        looks["linestyle"] = "dotted" if line["style"] == "dotted" else DASHES[line["dash"] % len(DASHES)]
        if line["style"] == "points":
            looks |= {"marker": "osD^vP*"[number % 7], "markersize": 5, "clip_on": False}
        axes.plot(x, y, drawstyle="steps-post" if line["style"] == "steps" else "default", **looks)
        if low.size:
            axes.fill_between(x, low, high, color=color, alpha=0.22, linewidth=0)
        elif line["style"] == "filled":
            axes.fill_between(x, y, color=color, alpha=0.15, linewidth=0)

    def _strip(self, axes: Axes, strip: StripJson) -> None:
        """Shares as shades of the first color, named above."""
        from matplotlib.colors import LinearSegmentedColormap
        from matplotlib.patches import Patch

        shades = LinearSegmentedColormap.from_list("strip", [self.palette.paper, self.color(0)])
        cells = _floats(strip["shares"])[None, :]
        axes.pcolormesh(_floats(strip["edges"]), [0, 1], cells, cmap=shades, vmin=0, vmax=1, edgecolors="face")
        self._frame(axes)
        axes.grid(visible=False)
        axes.set_ylim(0, 1)
        self._scale(axes, "x", self.picture["x"])
        axes.set_yticks([])
        ends = [Patch(facecolor=shades(share), edgecolor=self.palette.dim, label=f"{share:.0%}".replace("%", " %"))
                for share in (0.0, 1.0)]  # fmt: skip
        axes.legend(handles=[Patch(alpha=0, label=_shown(strip["name"])), *ends], loc="lower right", ncols=3,
                    bbox_to_anchor=(1.0, 0.9), frameon=False, borderaxespad=0.2, labelcolor=self.palette.ink,
                    fontsize=8.5)  # fmt: skip

    def _labels(self, axes: Axes, panel: PanelJson) -> None:
        """Labels of marks, none over another: at the top of a vertical line, over a stretch, beside a point."""
        taken: list[Bbox] = []
        for mark in panel["marks"]:
            if mark["end"] is not None and mark["y"] is not None:
                note = self._note(axes, mark, 9.5, self.palette.ink)
                for line in panel["lines"]:
                    _raise_above(axes, note, line)
                _avoid(axes, note, taken)
                continue
            axes.axvline(mark["x"], color=self.palette.dim, linewidth=1.0, linestyle=(0, (4, 3)), zorder=2)
            axes.axvspan(mark["x"], mark["end"] or mark["x"], color=self.palette.dim, alpha=0.15, linewidth=0)
            note = self._note(axes, mark, 10.5, self.palette.ink)
            taken.append(note.get_window_extent())
        for line in panel["lines"]:
            for mark in line["marks"]:
                color = self.color(line["hue"])
                axes.plot(mark["x"], mark["y"] or 0.0, marker="o", markersize=5, color=color, zorder=4, label="_mark")
                _avoid(axes, self._note(axes, mark, 8.5, color), taken)

    def _note(self, axes: Axes, mark: MarkJson, size: float, color: str) -> DrawnText:
        """The label of a mark; one that would run out of the picture stands at the left."""
        at_top = mark["y"] is None
        height = axes.get_ylim()[1] if at_top else mark["y"]
        note = axes.annotate(
            _shown("\n".join(mark["texts"])), (mark["x"], height), (5, -3 if at_top else LABEL_GAP_POINTS),
            textcoords="offset points", size=size, color=color, va="top" if at_top else "bottom",
            weight="bold" if at_top else "normal", path_effects=_halo(axes),
        )  # fmt: skip
        if note.get_window_extent().x1 > axes.get_window_extent().x1:
            note.set(ha="right", position=(-5, note.get_position()[1]))
        return note

    def _draw_bars(self, axes: Axes, panel: PanelJson) -> None:
        """Bars from the top down, with their values at their ends."""
        names, rows = self.picture["x"], panel["rows"]
        ticks = [(float(place), names["ticks"][row][1]) for place, row in enumerate(rows)]
        self._scale(axes, "x", panel["y"])
        self._scale(axes, "y", names | {"low": len(rows) - 0.4, "high": -0.6, "title": "", "ticks": ticks})
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        thickness = 0.76 / len(panel["bars"])
        for number, bars in enumerate(panel["bars"]):
            places = np.arange(len(rows), dtype=np.float64) + (number - (len(panel["bars"]) - 1) / 2) * thickness
            self._bars(axes, bars, rows, places, thickness)

    def _bars(self, axes: Axes, bars: BarsJson, rows: Sequence[int], places: Floats, thickness: float) -> None:
        values = _floats(bars["values"])[rows]
        ends = np.nan_to_num(values)
        axes.barh(places, ends, height=thickness * 0.92, color=self.color(bars["hue"]), zorder=2,
                  label=_shown(bars["name"]))  # fmt: skip
        if bars["low"]:
            low, high = _floats(bars["low"])[rows], _floats(bars["high"])[rows]
            some = (low < values) & (values < high)
            axes.errorbar(values[some], places[some], xerr=[(values - low)[some], (high - values)[some]], fmt="none",
                          ecolor=self.palette.ink, capsize=3, linewidth=1.2, zorder=3)  # fmt: skip
            ends = np.where(some, high, ends)
        for place, end, row in zip(places, ends, rows, strict=True):
            axes.annotate(_shown(bars["texts"][row]), (end, place), (5, 0), textcoords="offset points", va="center",
                          size=9, color=self.palette.ink)  # fmt: skip


def _floats(values: Any) -> Floats:
    """Numbers, not a number in a gap."""
    return np.array(values, dtype=np.float64)


def _shrink(text: DrawnText, pixels: float) -> None:
    """Make a line of text small enough for its room, and cut what is too long for a readable size."""
    # In steps: the widths of a font that is hinted are no multiple of its size.
    while text.get_window_extent().width > pixels and (size := float(text.get_fontsize())) > MIN_FONT_POINTS:
        text.set_fontsize(max(0.97 * size, MIN_FONT_POINTS))
    while text.get_window_extent().width > pixels and len(text.get_text()) > 1:
        text.set_text(text.get_text()[:-2].rstrip(" ,/:") + "…")


def _halo(axes: Axes) -> list[AbstractPathEffect]:
    """An edge of the ground's color, so that a label can be read where it lies over a line."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.5, foreground=axes.get_facecolor())]


def _raise_above(axes: Axes, note: DrawnText, line: LineJson) -> None:
    """Lift a label over what of the line would run through it."""
    box = note.get_window_extent()
    (left, _), (right, _) = axes.transData.inverted().transform([(box.x0, box.y0), (box.x1, box.y1)])
    x, top = _floats(line["x"]), _floats(line["high"] or line["y"])
    inside = (x >= left) & (x <= right) & np.isfinite(top)
    if not inside.any():
        return
    highest = float(axes.transData.transform((0.0, float(top[inside].max())))[1])
    # Only over a wave of the same phase: a cliff at the label's left is not beneath it.
    step = highest + LABEL_GAP_POINTS * DPI / 72 - box.y0
    if 0 < step < 3 * box.height:
        _lift(note, step)


def _lift(note: DrawnText, pixels: float) -> None:
    x, y = note.get_position()
    note.set_position((x, y + pixels * 72 / DPI))


def _avoid(axes: Axes, note: DrawnText, taken: list[Bbox]) -> None:
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


def _page(figure: FigureJson, svg: str, style: Style) -> bytes:
    """A page of one picture that needs nothing else."""
    title, alt = escape(style.title or figure["drive"] or figure["title"]), escape(figure["label"])
    body = svg[svg.index("<svg") :].replace("<svg", f'<svg role="img" aria-label="{alt}"', 1)
    return (
        f'{writer.PAGE}<html lang="{figure["language"]}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{title}</title>\n'
        f"<style>body {{ margin: 0; background: {PALETTES[style.theme].paper} }} div {{ overflow-x: auto }} "
        f"svg {{ display: block; margin: auto; width: 100%; height: auto; max-width: 1600px; "
        f"min-width: {MIN_PAGE_PX}px }}</style>\n"
        f'</head>\n<body>\n<div tabindex="0">{body}</div></body>\n</html>\n'
    ).encode()
