"""`pslc lab --save`: the page that runs simulated drives in a browser, without pslc."""

from pathlib import Path
from typing import Final

from pslc.base import writer
from pslc.base.errors import user_error

PAGE: Final = Path(__file__).parent / "page.html"
"""Path of the page that `make web` built; it comes with the packages, not with the source."""


def text() -> str:
    """The page.

    Raises:
        PslcError: this install has none.
    """
    if not PAGE.is_file():
        raise user_error("this install has no page: it was built from the source", "make web builds it")
    return PAGE.read_text(encoding="utf-8")


def write(folder: Path) -> Path:
    """Write the page as `index.html` in a folder, which is made where it is missing. Returns the file.

    Raises:
        PslcError: this install has no page, or the folder cannot be written.
    """
    content = text()
    writer.folder(folder)
    page = folder / "index.html"
    writer.write(page, content, writer.Replace.OURS)
    return page
