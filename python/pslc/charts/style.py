"""What can be chosen of a chart, without anything that takes long to import."""

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
    """What the curves are drawn against."""

    BYTES = "bytes"
    PERCENT = "percent"
    TIME = "time"


@dataclass(frozen=True)
class Style:
    """How a chart looks.

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
