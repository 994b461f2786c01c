"""Errors that a user can cause: what, the value, the limit, and what to do next.

The native part raises them as well, so this module must not import it before it is there itself.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

__all__ = [
    "Faults",
    "GuardError",
    "JobError",
    "PolicyError",
    "ProfileError",
    "PslcError",
    "RecordingError",
    "TargetError",
    "closest_match",
    "user_error",
]


POLICY_FAILED: Final = "policy-failed"
"""The code of an error of a policy in Python, and of a recording that it ended."""
SEVERAL_FAULTS: Final = "several-faults"
"""The code of an error of several faults."""


class PslcError(Exception):
    """Ends a command with exit code 2. Its text is the message, an empty line, and `hint: ` with the hint.

    Attributes:
        message: what is wrong, with file and line where it is in one.
        hint: the next step.
        code: what a program knows the error by, such as `device-in-use`; a message may be reworded, a code stays. None
            where an error has no code. Of an error of several faults it is `several-faults`.
        faults: the errors that one of several faults consists of, each with a code of its own; of any other the error
            itself.
    """

    def __init__(self, message: str, hint: str, code: str | None = None) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint
        self.code = code
        self._faults: tuple[PslcError, ...] = ()

    @property
    def faults(self) -> "tuple[PslcError, ...]":
        """The errors that this one consists of, at least one."""
        return self._faults or (self,)

    @faults.setter
    def faults(self, faults: "tuple[PslcError, ...]") -> None:
        self._faults = faults

    def __str__(self) -> str:
        return f"{self.message}\n\nhint: {self.hint}"


class ProfileError(PslcError):
    """A profile, or a part of a drive, that cannot be used."""


class JobError(PslcError):
    """A job file, a suite or an option of theirs that cannot be run."""


class PolicyError(JobError):
    """A policy or a victim rule in Python raised an error, gave an answer that is none, or harmed its process. The hint
    ends with its author's traceback.

    Attributes:
        recording: the `pslc.Recording` of the run so far, with this error; None if nothing was recorded.
    """

    recording: Any = None

    def __init__(self, message: str, hint: str, code: str = POLICY_FAILED) -> None:
        super().__init__(message, hint, code)


class Interrupted(BaseException):
    """Raised in a policy in Python that is running when its run is to end."""


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
        self._faults: list[PslcError] = []

    def add(self, what: str, hint: str) -> None:
        """Note a fault, with the path of its key, and what to write instead."""
        self.note(self._error(what, hint))

    def note(self, fault: PslcError) -> None:
        """Note a fault that was raised, unless its like is noted already."""
        if all((fault.message, fault.hint) != (other.message, other.hint) for other in self._faults):
            self._faults.append(fault)

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note what the block raises as a PslcError, and go on behind it."""
        try:
            yield
        except PslcError as error:
            self.note(error)

    def raise_if_any(self) -> None:
        """Raise them.

        Raises:
            PslcError: there are faults: a single one with its message, hint and code; several in one message with a
                line for each, and in `faults`.
        """
        if not self._faults:
            return
        if len(self._faults) == 1:
            fault = self._faults[0]
            raised = self._error(fault.message, fault.hint, fault.code)
            raised.faults = fault.faults if len(fault.faults) > 1 else ()
            raise raised
        lines = [f"  {fault.message} (hint: {fault.hint})" for fault in self._faults]
        message = "\n".join([f"{self._place} has {len(lines)} faults", *lines])
        raised = self._error(message, "each line says what to write instead", SEVERAL_FAULTS)
        raised.faults = tuple(self._faults)
        raise raised


def closest_match(word: str, candidates: Iterable[str]) -> str | None:
    """The word that was probably meant; None where none is alike."""
    from pslc._native import nearest  # It raises what is above, so it is not there yet while this module is read.

    return nearest(word, list(candidates))
