"""Findings of which nothing is known yet."""

from typing import Any, TypeVar, get_origin, get_type_hints

Dict = TypeVar("Dict")


def unknown(of: type[Dict]) -> Dict:
    """A TypedDict of this type with None for each value, and an empty list for each list."""
    nothing: Any = {key: [] if get_origin(kind) is list else None for key, kind in get_type_hints(of).items()}
    return nothing  # type: ignore[no-any-return]
