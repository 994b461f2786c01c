"""Charts as reviews publish them, drawn by matplotlib from curves that are known: themes, sizes, JPEG, labels."""

import io
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray

mpl.use("Agg")
from matplotlib import pyplot as plt
from PIL import Image

Floats = NDArray[np.float64]
STYLES: Final = (
    "default", "ggplot", "seaborn-v0_8-darkgrid", "seaborn-v0_8-whitegrid", "dark_background", "fivethirtyeight", "bmh",
    "fast", "excel", "calc", "plotly", "plotly_dark", "sheets", "slate",
)  # fmt: skip
OWN: Final[dict[str, dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("themes.toml").read_text(encoding="utf-8")
)
"""Settings of themes that matplotlib does not bring along: spreadsheets', plotly's, a dark one."""
PALETTES: Final = (
    ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd"),
    ("#4472C4", "#ED7D31", "#70AD47", "#FFC000", "#7030A0"),
    ("#e41a1c", "#377eb8", "#4daf4a", "#984ea3", "#ff7f00"),
    ("#004586", "#ff420e", "#ffd320", "#579d1c", "#7e0021"),
    ("#636efa", "#EF553B", "#00cc96", "#ab63fa", "#FFA15A"),
    ("#0000ff", "#ff0000", "#00aa00", "#ff00ff", "#00aaaa"),
)
EXTRAS: Final = ("line", "line", "thick", "thin", "filled", "area", "markers", "dots", "dashed")
NAMES: Final = ("SN850X", "990 Pro", "P5 Plus", "KC3000", "FX700")


@dataclass(frozen=True)
class Series:
    """A drive's curve in a chart: speed in MB/s at x, both shape (n,)."""

    color: str
    x: Floats
    speed: Floats
    cliffs: tuple[float, ...]


@dataclass(frozen=True)
class Chart:
    """A picture, what is in it, and what a person would type who looks at it.

    Attributes:
        data: the file, a PNG or a JPEG.
        x, y: ranges of the axes as they can be read off.
        limits: what the whole plot spans in x and in y, in the units of `x` and `y`.
        box: left, top, right and bottom of the plot in pixels.
    """

    data: bytes
    suffix: str
    series: tuple[Series, ...]
    x: str
    y: str
    limits: tuple[tuple[float, float], tuple[float, float]]
    box: tuple[float, float, float, float]
    about: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """How a chart is drawn."""

    rng: np.random.Generator
    style: str
    extra: str
    size: tuple[int, int]
    dpi: int
    x_max: float
    y_max: float
    tight: bool
    curves: int


def curve(rng: np.random.Generator, x_max: float, top: float, samples: int) -> tuple[Floats, Floats, tuple[float, ...]]:
    """A write curve with known cliffs: x, MB/s, and where it falls."""
    end = x_max * (1.0 if rng.random() < 0.75 else rng.uniform(0.45, 0.95))
    x = np.linspace(0.0, end, samples)
    kind = rng.choice(["cliff", "cliff", "steps", "flat", "waves"])
    fast = top * rng.uniform(0.55, 0.97)
    speed = np.full(samples, fast)
    cliffs: tuple[float, ...] = ()
    if kind != "flat":
        first = end * rng.uniform(0.06, 0.6)
        cliffs = (first,)
        speed[x > first] = fast * rng.uniform(0.1, 0.6)
    if kind == "steps":
        second = first + (end - first) * rng.uniform(0.3, 0.7)
        cliffs = (first, second)
        speed[x > second] = speed[-1] * rng.uniform(0.3, 0.7)
    if kind == "waves":
        behind = x > first
        speed[behind] *= 1.0 + 0.25 * np.sign(np.sin((x[behind] - first) * 2 * np.pi / (end * rng.uniform(0.03, 0.1))))
    noise = rng.choice([0.0, 0.005, 0.02, 0.04])
    return x, speed * (1.0 + noise * rng.standard_normal(samples)), cliffs


def chart(seed: int, **wanted: Any) -> Chart:
    """Draw the chart of a seed; `wanted` sets fields of its `Plan`."""
    rng = np.random.default_rng([seed, 39])
    width = int(rng.choice([600, 720, 800, 1000, 1280, 1600, 1920]))
    height = round(width * rng.uniform(0.45, 0.75))
    drawn: dict[str, Any] = {
        "style": str(rng.choice(STYLES)),
        "extra": str(rng.choice(EXTRAS)),
        "size": (width, height),
        "dpi": round(width / rng.uniform(7.0, 11.0)),
        "x_max": float(rng.choice([100, 250, 500, 1000, 1200, 2000, 600, 120])),
        "y_max": float(rng.choice([500, 600, 2500, 3500, 5000, 7000, 12000])),
        "tight": bool(rng.random() < 0.6),
        "curves": int(rng.choice([1, 1, 1, 2, 3, 4, 5])),
    }
    plan = Plan(rng, **(drawn | wanted))
    style: Any = ["default", OWN[plan.style]] if plan.style in OWN else plan.style
    with plt.style.context(style):
        return _drawn(plan)


def _drawn(plan: Plan) -> Chart:
    rng = plan.rng
    figure, axes = plt.subplots(figsize=(plan.size[0] / plan.dpi, plan.size[1] / plan.dpi), dpi=plan.dpi)
    count = plan.curves
    if plan.extra in ("area", "filled", "dots"):
        count = min(count, 2 if plan.extra == "filled" else 1)
    palette = PALETTES[int(rng.integers(len(PALETTES)))]
    series = []
    for index in range(count):
        samples = int(rng.choice([100, 200, 500, 2000])) if plan.extra not in ("markers", "dots") else 60
        x, speed, cliffs = curve(rng, plan.x_max, plan.y_max, samples)
        series.append(Series(palette[index], x, speed, cliffs))
        _line(plan, axes, series[-1], NAMES[index])
    _axes(plan, axes)
    _decorated(plan, figure, axes, series)
    figure.tight_layout()
    figure.canvas.draw()
    first, second = _ticks(axes.get_xticks(), axes.get_xlim()), _ticks(axes.get_yticks(), axes.get_ylim())
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=plan.dpi)
    limits, box = (axes.get_xlim(), axes.get_ylim()), axes.get_window_extent()
    high = figure.get_size_inches()[1] * plan.dpi
    plt.close(figure)
    data, suffix, quality = _encoded(rng, picture)
    in_time = rng.random() < 0.2
    ranges = (f"{first[0]:g}:{first[1]:g}{'s' if in_time else 'GB'}", f"{second[0]:g}:{second[1]:g}MB/s")
    return Chart(
        data, suffix, tuple(series), *ranges,
        limits, (box.x0 - 0.5, high - box.y1 - 0.5, box.x1 - 0.5, high - box.y0 - 0.5),
        {"style": plan.style, "extra": plan.extra, "size": plan.size, "count": count, "quality": quality,
         "tight": plan.tight, "time": in_time},
    )  # fmt: skip


def _line(plan: Plan, axes: Any, of: Series, name: str) -> None:
    width = {"thick": plan.rng.uniform(2.5, 4), "thin": plan.rng.uniform(0.7, 1.0)}.get(
        plan.extra, plan.rng.uniform(1.2, 2.2)
    )
    options: dict[str, Any] = {"color": of.color, "linewidth": width, "label": name}
    if plan.extra == "area":
        axes.fill_between(of.x, of.speed, color=of.color, label=name, linewidth=0, alpha=plan.rng.choice([1.0, 0.7]))
        return
    if plan.extra == "filled":
        axes.fill_between(of.x, of.speed, color=of.color, alpha=plan.rng.uniform(0.15, 0.45), linewidth=0)
    if plan.extra == "markers":
        options |= {"marker": "o", "markersize": plan.rng.uniform(3, 6)}
    if plan.extra == "dots":
        options |= {"marker": "o", "markersize": plan.rng.uniform(3, 5), "linestyle": "none"}
    if plan.extra == "dashed":
        options |= {"linestyle": "--"}
    axes.plot(of.x, of.speed, **options)


def _axes(plan: Plan, axes: Any) -> None:
    axes.set_xlabel("Written")
    axes.set_ylabel("MB/s")
    if plan.tight:
        axes.set_xlim(0, plan.x_max)
        axes.set_ylim(0, _round(plan.y_max))
    else:
        axes.set_ylim(bottom=0)
    if plan.style in ("default", "fast", "dark_background") and plan.rng.random() < 0.6:
        axes.grid(alpha=float(plan.rng.choice([0.3, 1.0])))
    if plan.rng.random() < 0.15:
        axes.minorticks_on()


def _decorated(plan: Plan, figure: Any, axes: Any, series: list[Series]) -> None:
    rng = plan.rng
    if rng.random() < 0.6:
        axes.set_title("Sustained sequential write")
    if len(series) > 1 or rng.random() < 0.4:
        where: Callable[[], Any] = axes.legend
        if plan.style in ("excel", "calc") or rng.random() < 0.2:
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncol=5, frameon=False)
        else:
            where()
    if rng.random() < 0.3:
        figure.text(0.5, 0.5, "review.example", fontsize=30, color="grey", alpha=0.2, ha="center", rotation=20)
    if rng.random() < 0.3:
        of = series[0]
        at = int(len(of.x) * rng.uniform(0.1, 0.9))
        axes.annotate(f"{of.speed[at]:.0f} MB/s", (of.x[at], of.speed[at]), ha="center", va="center", fontsize=8)
    if plan.style == "excel":
        figure.patch.set_linewidth(1.5)


def _round(value: float) -> float:
    """The next value that an axis ends at."""
    step = 10.0 ** np.floor(np.log10(value)) / 2
    return float(np.ceil(value * 1.02 / step) * step)


def _ticks(ticks: Floats, limits: tuple[float, float]) -> tuple[float, float]:
    """What a person reads off: the outermost labels that are within the plot."""
    slack = 1e-6 * (limits[1] - limits[0])
    inside = [tick for tick in ticks if limits[0] - slack <= tick <= limits[1] + slack]
    return float(inside[0]), float(inside[-1])


def _encoded(rng: np.random.Generator, picture: io.BytesIO) -> tuple[bytes, str, int]:
    """The file: a PNG, or a JPEG of some quality; 0 is the quality of a PNG."""
    quality = int(rng.choice([0, 0, 60, 75, 85, 92]))
    if not quality:
        return picture.getvalue(), ".png", 0
    out = io.BytesIO()
    Image.open(picture).convert("RGB").save(out, "JPEG", quality=quality)
    return out.getvalue(), ".jpg", quality
