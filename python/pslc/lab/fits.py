"""Twins of what was dropped, fitted by `pslc fit` in a process of its own: it takes a minute, and can be stopped."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Final

from pslc.base import processes
from pslc.base.errors import PslcError

MAX_FITS: Final = 4
"""Largest number of fits at once; each takes a processor or more for minutes."""


@dataclass
class Fit:
    """A fit under way.

    Attributes:
        over: what it is fitted to, as a bench lays it over its curves.
        output: the profile, once it is done.
        status: its last line.
        code: its exit code; None while it runs.
    """

    over: str
    output: Path
    process: subprocess.Popen[str]
    status: str = "beginning"
    code: int | None = None
    lines: list[str] = field(default_factory=list)

    def stop(self) -> None:
        """End it, and the processes that it started."""
        processes.end_group(self.process)


@dataclass
class Fits:
    """The fit of each tab."""

    _of: dict[str, Fit] = field(default_factory=dict)

    def start(self, tab: str, over: str, name: str, given: Sequence[str], capacity: str) -> Fit:
        """Fit a twin to what is given, files and how to read them; its profile goes beside the profiles of this folder.

        Raises:
            PslcError: others are fitted already, `MAX_FITS` of them.
        """
        self.stop(tab)
        if sum(fit.code is None for fit in self._of.values()) >= MAX_FITS:
            raise PslcError(f"{MAX_FITS} fits are running", "wait for one, or stop it")
        output = _free(f"{re.sub(r'[^A-Za-z0-9]+', '-', name).strip('-').lower() or 'drive'}-twin")
        words = [sys.executable, "-m", "pslc", "fit", *given, "-o", str(output)]
        words += [f"--capacity={capacity}"] if capacity else []
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            **processes.group_of_its_own(),
        )  # fmt: skip
        fit = self._of[tab] = Fit(over, output, process)
        Thread(target=_listen, args=(fit,), daemon=True).start()
        return fit

    def of(self, tab: str) -> Fit | None:
        """Fit of this tab; None without one."""
        return self._of.get(tab)

    def stop(self, tab: str) -> None:
        """End it, or forget it."""
        fit = self._of.pop(tab, None)
        if fit is not None and fit.code is None:
            fit.stop()

    def close(self) -> None:
        """End all fits."""
        for tab in list(self._of):
            self.stop(tab)


def _listen(fit: Fit) -> None:
    assert fit.process.stderr is not None
    for line in fit.process.stderr:
        if line.strip():
            fit.status = line.strip()
            fit.lines.append(fit.status)
    fit.code = fit.process.wait()


def _free(stem: str) -> Path:
    number, path = 1, Path(f"{stem}.toml")
    while path.exists():
        number += 1
        path = Path(f"{stem}-{number}.toml")
    return path
