"""Check picture of a chart that was read: frame, axes and curves drawn over the original, so that a person can judge
them; and the curves as tables."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from pslc.base import writer
from pslc.base.errors import RecordingError
from pslc.chart.reading import Curve, Reading

if TYPE_CHECKING:
    from PIL import Image

FRAME_COLOR: Final = (255, 0, 200)
FADED_RATIO: Final = 0.55
"""Share of the picture's contrast that remains below the overlay."""
MARK_PX: Final = 9


def draw(reading: Reading) -> bytes:
    """A PNG of the picture, pale, with the frame, the ends of the axes' ranges and the curves as they were read."""
    out = io.BytesIO()
    _drawn(reading).save(out, "PNG")
    return out.getvalue()


def _drawn(reading: Reading) -> "Image.Image":
    from PIL import Image, ImageDraw

    pale = 255 - (255 - reading.pixels.astype(float)) * FADED_RATIO
    picture = Image.fromarray(np.round(pale).astype(np.uint8))
    pen = ImageDraw.Draw(picture)
    frame = reading.frame
    pen.rectangle((frame.left, frame.top, frame.right, frame.bottom), outline=FRAME_COLOR)
    for place in (reading.x.at_low, reading.x.at_high):
        pen.line((place, frame.bottom - MARK_PX, place, frame.bottom + MARK_PX), FRAME_COLOR, 3)
    for place in (reading.y.at_low, reading.y.at_high):
        pen.line((frame.left - MARK_PX, place, frame.left + MARK_PX, place), FRAME_COLOR, 3)
    for curve in reading.curves:
        points = list(zip(curve.columns.tolist(), curve.rows.tolist(), strict=True))
        # In its own colour, over the pale picture: where the reading is off, the pale curve is beside it.
        pen.line(points, (255, 255, 255), 4)
        pen.line(points, curve.rgb, 2)
    return picture


def write(reading: Reading, path: Path, replace: writer.Replace) -> None:
    """Write the PNG of `draw`.

    Raises:
        PslcError: what has the name may not be replaced, or no file can be written there.
    """
    try:
        writer.write(path, draw(reading), replace)
    except OSError as error:
        raise RecordingError(f"{path}: {error.strerror}", "name a file that can be written") from None


def write_tables(reading: Reading, path: Path) -> list[Path]:
    """Write the curves as CSV, with the reading error of each value: one file, or one for each of several curves,
    `curve-blue.csv` for `curve.csv`.

    Raises:
        PslcError: see `write`.
    """
    written = []
    for curve in reading.curves:
        end = "" if len(reading.curves) == 1 else f"-{curve.name.lstrip('#').replace(' ', '-')}"
        place = path.with_name(f"{path.stem}{end}{path.suffix}")
        try:
            writer.write(place, table(reading, curve), writer.Replace.ANY)
        except OSError as error:
            raise RecordingError(f"{place}: {error.strerror}", "name a file that can be written") from None
        written.append(place)
    return written


def table(reading: Reading, curve: Curve) -> str:
    """A curve as CSV, which pslc reads again."""
    x, y = reading.x.range, reading.y.range
    what = "time" if x.kind == "time" else "written"
    unit = "GB" if x.kind == "bytes" else "s"
    scale = 1e9 if x.kind == "bytes" else 1.0
    speeds, errors = curve.speed / y.unit, curve.speed_error / y.unit
    lines = [f"{what} ({unit}),speed ({y.label}),{what} error,speed error"]
    lines += [
        f"{at / scale:.6g},{max(speed, 0.0):.6g},{x_error / scale:.3g},{error:.3g}"
        for at, speed, x_error, error in zip(curve.x, speeds, curve.x_error, errors, strict=True)
    ]
    return "\n".join(lines) + "\n"
