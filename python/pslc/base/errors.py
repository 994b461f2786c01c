"""Errors that a user can cause: what, the value, the limit, and what to do next.

The native part raises them as well, so this module must not import it before it is there itself.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

__all__ = [
    "Faults",
    "GuardError",
    "JobError",
    "ProfileError",
    "PslcError",
    "RecordingError",
    "TargetError",
    "closest_match",
    "user_error",
]


class PslcError(Exception):
    """Ends a command with exit code 2. Its text is the message, an empty line, and `hint: ` with the hint.

    Attributes:
        message: what is wrong, with file and line where it is in one.
        hint: the next step.
        code: what a program knows the error by, such as `device-in-use`; a message may be reworded, a code stays. None
            where an error has no code: only those of real drives and of files have one.
    """

    def __init__(self, message: str, hint: str, code: str | None = None) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint
        self.code = code

    def __str__(self) -> str:
        return f"{self.message}\n\nhint: {self.hint}"


class ProfileError(PslcError):
    """A profile, or a part of a drive, that cannot be used."""


class JobError(PslcError):
    """A job file, a suite or an option of theirs that cannot be run."""


class GuardError(PslcError):
    """A real drive or a file that pslc must not write to as it was asked to."""


class RecordingError(PslcError):
    """A recording, or what another program measured, that cannot be read or compared."""


class TargetError(PslcError):
    """A target that is not there, or cannot be what it is to be."""


def user_error(what: str, hint: str) -> PslcError:
    """An error of none of these kinds, such as an option of the command line."""
    return PslcError(what, hint)


class Faults:
    """The faults of one file or study, which are raised together."""

    def __init__(self, error: type[PslcError], place: str) -> None:
        """Faults of `place`, to be raised as `error`."""
        self._error = error
        self._place = place
        self._faults: list[tuple[str, str]] = []

    def add(self, what: str, hint: str) -> None:
        """Note a fault, with the path of its key, and what to write instead."""
        if (what, hint) not in self._faults:
            self._faults.append((what, hint))

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note what the block raises as a PslcError, and go on behind it."""
        try:
            yield
        except PslcError as error:
            self.add(error.message, error.hint)

    def raise_if_any(self) -> None:
        """Raise them.

        Raises:
            PslcError: there are faults: a single one as it is, several in one message with a line for each.
        """
        if len(self._faults) == 1:
            raise self._error(*self._faults[0])
        if self._faults:
            lines = [f"  {what} (hint: {hint})" for what, hint in self._faults]
            raise self._error(
                "\n".join([f"{self._place} has {len(lines)} faults", *lines]), "each line says what to write instead"
            )


def closest_match(word: str, candidates: Iterable[str]) -> str | None:
    """The word that was probably meant; None where none is alike."""
    from pslc._native import nearest  # It raises what is above, so it is not there yet while this module is read.

    return nearest(word, list(candidates))
