"""Options of a picture's looks, and its colors. Nothing in here takes long to import."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final


class Theme(StrEnum):
    """Background of a picture."""

    WHITE = "white"
    DARK = "dark"


class Language(StrEnum):
    """Language of the words in a picture."""

    EN = "en"
    DE = "de"
    ES = "es"
    FR = "fr"
    PT = "pt"
    RU = "ru"
    ZH = "zh"


class Across(StrEnum):
    """Quantity on the x axis of a write curve."""

    BYTES = "bytes"
    PERCENT = "percent"
    TIME = "time"


@dataclass(frozen=True)
class Palette:
    """Colors of a theme; `hues` are of lines and bars, in order."""

    paper: str
    ink: str
    dim: str
    grid: str
    hues: tuple[str, ...]


PALETTES: Final = {
    Theme.WHITE: Palette("#ffffff", "#1c2024", "#5a6067", "#d9dde1", (
        "#0068a8", "#c04a00", "#00755a", "#a8437f", "#7a5c00", "#5b50b5", "#40484f", "#a01c1c", "#2f7d1f", "#0d7c8c",
    )),
    Theme.DARK: Palette("#14171a", "#e6e8ea", "#9aa2aa", "#343a40", (
        "#56b4e9", "#ff9a5c", "#3ddbb0", "#e8a3cd", "#f0d24c", "#b3a9ff", "#c3cad1", "#ff8a8a", "#9fe08a", "#6fd6e4",
    )),
}  # fmt: skip


def variables(theme: Theme) -> str:
    """Colors of a theme as custom properties of CSS."""
    palette = PALETTES[theme]
    own = {"paper": palette.paper, "ink": palette.ink, "dim": palette.dim, "line": palette.grid}
    own |= {f"hue{number}": hue for number, hue in enumerate(palette.hues)}
    return " ".join(f"--{name}: {color};" for name, color in own.items())


@dataclass(frozen=True)
class Style:
    """Style of a picture: colors, size, language, logo and watermark.

    Attributes:
        logo: a picture for the upper right corner; white where it is transparent.
        watermark: a text across the picture.
        colors: of the lines or the bars, in order, as Matplotlib names them (`#1f6fb4`); the rest has its own.
        title: in place of the picture's own.
        width: pixels of PNG; a vector picture has the same proportions.
        height: pixels; 0: as many as the bars need, 800 at least.
    """

    theme: Theme = Theme.WHITE
    language: Language = Language.EN
    logo: Path | None = None
    watermark: str = ""
    colors: tuple[str, ...] = field(default=())
    title: str = ""
    width: int = 1600
    height: int = 0
