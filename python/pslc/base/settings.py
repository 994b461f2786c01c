"""Defaults of the person who uses pslc, from `pslc.toml` in the folder of settings: a command line flag wins."""

import os
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pslc.base import files, gate
from pslc.base.errors import Faults, PslcError, closest_match

FILE_NAME: Final = "pslc.toml"
EXPECTED: Final = gate.Expected('settings are TOML, such as on = "sim:sn850-1tb"')
THEMES: Final = ("white", "dark")
"""Values of `theme` (`pslc.figures.style.Theme`)."""


@dataclass(frozen=True)
class Settings:
    """Defaults that the user sets in a file; the command line overrides them.

    Attributes:
        path: of the file; there may be none.
        on: simulated drive of `pslc run` and `pslc replay`.
        theme: of `pslc picture`, one of `THEMES`.
        folder: of new recordings, and where `pslc report` and `lab` look for them.
    """

    path: Path
    on: str | None = None
    theme: str | None = None
    folder: Path | None = None


KEYS: Final = ("on", "theme", "folder")


def settings_path() -> Path:
    """Path of the settings file: in `XDG_CONFIG_HOME`, else in `~/.config`; on Windows in `%APPDATA%`."""
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming") / FILE_NAME
    base = os.environ.get("XDG_CONFIG_HOME", "")
    # The specification ignores a relative path.
    return (Path(base) if base.startswith("/") else Path.home() / ".config") / FILE_NAME


def load() -> Settings:
    """Read the settings; without a file there are none.

    Raises:
        PslcError: the file cannot be read, or has faults: all of them are told.
    """
    path = settings_path()
    if not path.is_file():
        return Settings(path)
    try:
        table = files.toml(gate.text(path, EXPECTED))
    except tomllib.TOMLDecodeError as error:
        raise EXPECTED.refused(f"{path} is no TOML: {error}") from None
    faults = Faults(PslcError, str(path))
    for key, value in table.items():
        if key not in KEYS:
            meant = closest_match(key, KEYS)
            faults.add(f"{path}: unknown key {key}", f"did you mean {meant}?" if meant else f"keys: {', '.join(KEYS)}")
        elif not isinstance(value, str) or not value:
            faults.add(f"{path}: {key} is no text", f'{key} = "..."')
    on, theme, folder = (value if isinstance(value := table.get(key), str) else None for key in KEYS)
    _check_values(faults, on, theme, folder)
    faults.raise_if_any()
    return Settings(path, on, theme, Path(folder).expanduser() if folder else None)


def _check_values(faults: Faults, on: str | None, theme: str | None, folder: str | None) -> None:
    """Add a fault for each value that its key does not take."""
    path = settings_path()
    if on and not on.startswith("sim:"):
        faults.add(f"{path}: on is {on}", "a simulated drive, sim:NAME; a real one is named on the command line alone")
    if theme and theme not in THEMES:
        faults.add(f"{path}: theme is {theme}", f"one of {', '.join(THEMES)}")
    if folder and not Path(folder).expanduser().is_absolute():
        faults.add(f"{path}: folder is {folder}", "a whole path, such as ~/pslc-runs")
