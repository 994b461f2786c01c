"""Whether plain data are what a TypedDict says: mypy reads the code, this what comes out of it."""

from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints

from typing_extensions import is_typeddict


def unlike(value: Any, kind: Any, where: str = "") -> list[str]:
    """Where and how a value is not of its type; empty where it is."""
    return list(_unlike(value, kind, where))


def _unlike(value: Any, kind: Any, where: str) -> Iterator[str]:
    origin, of = get_origin(kind), get_args(kind)
    if kind is Any:
        return
    if is_typeddict(kind):
        yield from _of_fields(value, kind, where)
    elif origin in (Union, UnionType):
        if all(unlike(value, one) for one in of):
            yield f"{where} is {value!r}, not {kind}"
    elif origin is Literal:
        if value not in of:
            yield f"{where} is {value!r}, not one of {of}"
    elif origin in (list, tuple, dict):
        yield from _of_items(value, kind, where)
    elif kind is float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            yield f"{where} is {value!r}, not a number"
    elif not isinstance(value, NoneType if kind is None else kind) or (kind is int and isinstance(value, bool)):
        yield f"{where} is {value!r}, not {kind}"


def _of_items(value: Any, kind: Any, where: str) -> Iterator[str]:
    origin, of = get_origin(kind), get_args(kind)
    if not isinstance(value, dict if origin is dict else (list, tuple)):
        yield f"{where} is {value!r}, not {kind}"
    elif origin is dict:
        for name, item in value.items():
            yield from _unlike(name, of[0], f"{where}: key {name!r}")
            yield from _unlike(item, of[1], f"{where}[{name!r}]")
    else:
        for number, item in enumerate(value):
            yield from _unlike(item, of[0] if origin is list else of[number], f"{where}[{number}]")


def _of_fields(value: Any, kind: Any, where: str) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{where} is {value!r}, not {kind.__name__}"
        return
    fields = get_type_hints(kind, include_extras=True)
    yield from (f"{where} has {name}, which {kind.__name__} has not" for name in value.keys() - fields.keys())
    for name, of in fields.items():
        left_out = get_origin(of) is NotRequired
        if name in value:
            yield from _unlike(value[name], get_args(of)[0] if left_out else of, f"{where}.{name}")
        elif not left_out and kind.__total__:
            yield f"{where} has no {name}, which {kind.__name__} has"
