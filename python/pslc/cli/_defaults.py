"""Defaults from `pslc.toml` (`pslc.base.settings`), each of which is told on stderr where it changes an answer."""

from pathlib import Path
from typing import Final

from pslc.base.console import say

DRIVE: Final = "sim:aldrin-pro-2tb"
"""Drive of examples in messages."""


def drive(on: str | None) -> str | None:
    """The drive of `--on`, or that of the settings."""
    if on is not None:
        return on
    from pslc.base import settings

    stated = settings.load()
    if stated.on is not None:
        _tell(f"--on {stated.on}", stated.path)
    return stated.on


def theme(option: str | None) -> str:
    """The theme of `--theme`, or that of the settings; else white."""
    if option is not None:
        return option
    from pslc.base import settings

    stated = settings.load()
    if stated.theme is not None:
        _tell(f"--theme {stated.theme}", stated.path)
    return stated.theme or settings.THEMES[0]


def runs_folder() -> Path:
    """Folder that recordings are looked up in. Prints a line if the settings name it."""
    from pslc.base import output_dirs, settings

    stated = settings.load()
    if stated.folder is not None:
        _tell(f"recordings in {stated.folder}", stated.path)
    return output_dirs.runs_folder(stated)


def _tell(what: str, path: Path) -> None:
    say(f"note: {what}, from {path}", err=True)
