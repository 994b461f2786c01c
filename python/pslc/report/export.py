"""Pictures as PNG or SVG files: the page's own, drawn by a browser without a window. Nothing is fetched."""

import base64
import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote_to_bytes

from pslc.base import writer
from pslc.base.errors import RecordingError
from pslc.figures.picture import Picture
from pslc.report.page import About, environment, figure, plotly

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
LONGEST_S = 120


def browser() -> str:
    """The browser that is installed, or the one that the environment names as `CHROME`.

    Raises:
        PslcError: there is none.
    """
    wanted = os.environ.get("CHROME")
    program = shutil.which(wanted) if wanted else next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        what = f"CHROME is {wanted}, which is not a program" if wanted else "no browser to draw pictures with"
        hint = "install Chromium or Chrome (apt install chromium), or name one: CHROME=/path/to/it; the page needs none"
        raise RecordingError(what, hint)
    return program


def write(pictures: Sequence[Picture], about: About, folder: Path, kind: str) -> list[Path]:
    """Write each picture into `folder` as `NAME.png` or `NAME.svg`, 1600 x 900 on white, and say which files these are.

    Args:
        kind: `png` or `svg`.

    Raises:
        PslcError: there is no browser, it failed, or the files cannot be written.
    """
    program = browser()
    figures = [figure(picture.in_fitting_units(), about) for picture in pictures if picture.lines]
    page = environment().get_template("export.html.jinja").render(figures=figures, kind=kind, plotly=plotly())
    drawn = _draw(program, page)
    try:
        writer.folder(folder)
        files = []
        for name, address in drawn.items():
            files.append(folder / f"{name}.{kind}")
            writer.write(files[-1], _data(address))
    except OSError as error:
        raise RecordingError(f"{folder}: {error.strerror}", "give a folder that can be written") from None
    return files


def _draw(program: str, page: str) -> dict[str, str]:
    """The pictures as data addresses, by name."""
    with writer.temporary() as place:
        path = Path(place) / "page.html"
        writer.write(path, page)
        command = [
            program,
            "--headless",
            "--disable-gpu",
            "--virtual-time-budget=60000",
            f"--user-data-dir={place}/data",
        ]
        # Chromium refuses to run as root in its sandbox; the page is our own.
        command += ["--no-sandbox"] if sys.platform != "win32" and os.geteuid() == 0 else []
        try:
            done = subprocess.run(
                [*command, "--dump-dom", path.as_uri()], capture_output=True, timeout=LONGEST_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RecordingError(
                f"{program} drew nothing: {error}", "try it alone: it has to run with --headless"
            ) from None
    match = re.search(r'<pre id="out">(.*?)</pre>', done.stdout.decode("utf-8", errors="replace"), flags=re.S)
    if match is None:
        last = done.stderr.decode("utf-8", errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
        raise RecordingError(f"{program} drew nothing: {last[0]}", "try it alone: it has to run with --headless")
    drawn: dict[str, str] = json.loads(html.unescape(match[1]))
    return drawn


def _data(address: str) -> bytes:
    """What a data address holds."""
    head, _, body = address.partition(",")
    return base64.b64decode(body) if head.endswith(";base64") else unquote_to_bytes(body)
