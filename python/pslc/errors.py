"""Errors that a user can cause: what, the value, the limit, and after an empty line what to do next."""

from pslc._native import PslcError

__all__ = ["PslcError", "refusal"]


def refusal(what: str, hint: str) -> PslcError:
    """An error to raise; it ends the command with exit code 2 and nothing written."""
    return PslcError(f"{what}\n\nhint: {hint}")
