"""Pictures of charts, as reviews publish them: PNG, JPEG, WebP, GIF or BMP, or SVG. `--x 0:2000GB --y 0:7000MB/s` say
what the axes span; each colour is a curve. See docs/charts.md."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from pslc.analysis import Curve
from pslc.base import gate, install
from pslc.base.errors import RecordingError
from pslc.chart import svg
from pslc.formats import FILE, HEAD_BYTES, About, ChartReading, FileContents, decoded
from pslc.schema.imports import ImportOptions
from pslc.schema.warnings import notes

if TYPE_CHECKING:
    from pslc.chart import reading

ABOUT: Final = About(
    program="any review",
    what="picture of a chart, or SVG",
    content="each curve, with the error of its reading; needs --x 0:2000GB --y 0:7000MB/s, unless an SVG has units",
    command="save the picture",
    gives="curve",
)
MAGIC: Final = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"RIFF")
"""First bytes of picture files."""
SUFFIXES: Final = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp")
MIN_SPEED_PX: Final = 0.5
"""Height of a curve above the bottom of the plot: a speed of nothing would take for ever."""
LEAD_RATIO: Final = 0.02
"""Share of the axis' range: a curve that begins this near to 0 begins at 0."""


def matches(path: Path, head: str) -> bool:
    """A file that begins as a picture does, or is called as one."""
    return svg.matches(head) or path.suffix.lower() in SUFFIXES or gate.head(path, FILE, 4).startswith(MAGIC[:3])


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The one curve of a chart.

    Raises:
        PslcError: see `read_each`; or there are several.
    """
    curves = read_each(paths, hints)
    if len(curves) > 1:
        names = [data.chart.name if data.chart else data.name.rpartition(", ")[2] for data in curves]
        raise RecordingError(
            f"{paths[0]} shows {len(curves)} curves: {gate.listed(names)}", f"name one, for example --series {names[0]}"
        )
    return curves[0]


def read_each(paths: Sequence[Path], hints: ImportOptions) -> list[FileContents]:
    """The curves of a chart, those with most contrast first, or those that were asked for.

    Raises:
        PslcError: Pillow is not installed; the picture is damaged or too large; or the frame, the axes or a curve are
            not clear.
    """
    if len(paths) > 1:
        raise RecordingError(f"{len(paths)} pictures at once", "give one; pslc compare sets several beside each other")
    (path,) = paths
    if svg.matches(decoded(gate.head(path, FILE, HEAD_BYTES))):
        return svg.read_each(path, hints)
    if find_spec("PIL") is None:
        hint = install.command("pslc[pictures]")
        raise RecordingError("pslc reads pictures with Pillow, which is not installed", hint)
    from pslc.chart import axes, plot_area, reading

    chart = hints.chart
    wanted = plot_area.Wanted(
        axes.parse(hints.x, "--x", hints.capacity_bytes),
        axes.parse(hints.y, "--y"),
        axes.parse_frame(chart.frame) if chart.frame else None,
        chart.series,
    )
    result = reading.read(gate.picture(path, FILE), wanted)
    if chart.names and len(chart.names) != len(result.curves):
        raise RecordingError(
            f"{len(chart.names)} names for {len(result.curves)} curves", "give --label once for each, in order"
        )
    several = len(result.curves) > 1
    names = chart.names or [f"{path.name}, {curve.name}" if several else path.name for curve in result.curves]
    return [_imported(name, result, curve) for name, curve in zip(names, result.curves, strict=True)]


def _imported(name: str, result: reading.Reading, curve: reading.Curve) -> FileContents:
    """A curve as data of a run, with its reading error."""
    x, y = result.x, result.y
    speed = np.maximum(curve.speed, MIN_SPEED_PX * y.per_pixel)
    steps = np.full(curve.x.size, x.per_pixel)
    lead = curve.x[0] - max(x.range.low, 0.0)
    texts = [note + "." for note in result.notes]
    if abs(lead) <= LEAD_RATIO * (x.range.high - x.range.low):
        steps[0] = max(lead, x.per_pixel / 2)
    else:
        texts.append(f"The curve begins {100 * lead / (x.range.high - x.range.low):.0f} % to the right of the origin.")
    timed = x.range.kind == "time"
    widths, seconds = (steps * speed, steps) if timed else (steps, steps / speed)
    place_error = curve.x_error * (speed if timed else 1.0)
    texts.append(
        f"Read from a picture, the {curve.name} curve: a pixel is {x.per_pixel / x.range.unit:.3g} "
        f"{x.range.label} and {y.per_pixel / y.range.unit:.3g} {y.range.label}."
    )
    if curve.is_area:
        texts.append("The area is read by its upper edge; a curve that falls to 0 again and again looks alike.")
    edges = np.concatenate(([0.0], np.cumsum(widths)))
    data = FileContents(
        name,
        Curve(edges, seconds),
        warnings=notes(texts),
        chart=ChartReading(place_error, curve.speed_error, curve.name, result),
    )
    data.warn(*filter(None, [curve.caution]))
    return data
