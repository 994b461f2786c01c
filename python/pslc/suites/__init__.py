"""Suites: one file a test. Its docstring begins with the question it asks; `jobs` says what it does to a drive, as an
fio job file; `findings` says what came of it. A new suite is a new file here and nothing else."""

import pkgutil
from importlib import import_module
from typing import Any, Protocol, cast

from pslc.recording import Recording
from pslc.target import Target


class Suite(Protocol):
    """What a suite's module has."""

    __doc__: str

    @staticmethod
    def jobs(target: Target) -> str:
        """The text of an fio job file."""

    @staticmethod
    def findings(recording: Recording) -> dict[str, Any]:
        """What the recording says, in base units, by name."""


def names() -> list[str]:
    """The suites there are, in alphabetical order."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load(name: str) -> Suite:
    """A suite by its name, one of `names()`."""
    return cast(Suite, import_module(f"{__name__}.{name}"))


def question(name: str) -> str:
    """What a suite asks, in a sentence."""
    return load(name).__doc__.splitlines()[0]
