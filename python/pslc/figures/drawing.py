"""A picture with its looks, as a notebook shows it and a script saves it."""

import base64
from dataclasses import dataclass
from pathlib import Path

from pslc.figures import draw
from pslc.figures.document import About, FigureJson, document
from pslc.figures.picture import Picture
from pslc.figures.style import Style


@dataclass(frozen=True)
class Drawing:
    """A picture that is ready to be shown.

    Attributes:
        about: the drive, or what is compared, and the conditions.
        style: its looks; None: on white, 1600 x 800 pixels.
    """

    picture: Picture
    about: About
    style: Style | None = None

    def __post_init__(self) -> None:
        draw.check_installed()

    def save(self, path: str | Path) -> None:
        """Write it as the end of the name says: `.png`, `.svg`, `.pdf` or `.html`; a file of that name is replaced.

        Raises:
            PslcError: it is none of these, or the file cannot be written.
        """
        draw.write(self.document(), Path(path), self.style)

    def to_bytes(self, kind: str = "png") -> bytes:
        """The picture as a file of this kind (`png`, `svg`, `pdf`, `html`)."""
        return draw.render(self.document(), kind, self.style)

    def document(self) -> FigureJson:
        """The picture as plain data, as figure.js draws it."""
        return document(self.picture, self.about, (self.style or Style()).language)

    def _repr_png_(self) -> bytes:
        """PNG for notebooks."""
        return self.to_bytes()

    def to_img(self) -> str:
        """The picture as an HTML element that holds it, with a text for who cannot see it."""
        from html import escape

        data = base64.b64encode(self.to_bytes("svg")).decode()
        alt = escape(self.document()["label"])
        return f'<img alt="{alt}" style="max-width: 800px; width: 100%" src="data:image/svg+xml;base64,{data}">'
