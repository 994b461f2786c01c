"""Errors that a user can cause: what, the value, the limit, and after an empty line what to do next."""

from collections.abc import Iterable
from difflib import get_close_matches

from pslc._native import PslcError

__all__ = ["PslcError", "near", "refusal"]

ALIKE = 0.8
"""Likeness (difflib's ratio) from which one word is taken for another one misspelt."""


def refusal(what: str, hint: str) -> PslcError:
    """An error to raise; it ends the command with exit code 2 and nothing written."""
    return PslcError(f"{what}\n\nhint: {hint}")


def near(word: str, known: Iterable[str]) -> str | None:
    """The word that was probably meant; None where none is alike."""
    return next(iter(get_close_matches(word, list(known), n=1, cutoff=ALIKE)), None)
