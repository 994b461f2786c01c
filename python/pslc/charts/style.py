"""Options of a chart's style. Nothing in here takes long to import."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class Theme(StrEnum):
    """Colours of a chart."""

    WHITE = "white"
    DARK = "dark"


class Language(StrEnum):
    """Language of the labels."""

    EN = "en"
    DE = "de"
    ES = "es"
    FR = "fr"


class Axis(StrEnum):
    """Quantity on the x axis of a curve chart."""

    BYTES = "bytes"
    PERCENT = "percent"
    TIME = "time"


@dataclass(frozen=True)
class Style:
    """Style of a chart: colours, size, language, logo and watermark.

    Attributes:
        logo: a picture for the upper right corner; white where it is transparent.
        watermark: a text across the chart.
        colors: of the curves or the bars, in order, as Matplotlib names them (`#1f6fb4`); the rest has its own.
        title: in place of the chart's own.
        width: pixels of PNG; a vector picture has the same proportions.
        height: pixels.
    """

    theme: Theme = Theme.WHITE
    language: Language = Language.EN
    logo: Path | None = None
    watermark: str = ""
    colors: tuple[str, ...] = field(default=())
    title: str = ""
    width: int = 1600
    height: int = 800
