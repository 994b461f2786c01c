"""Programs whose files pslc knows but does not read: each is refused by its name, with what to give instead."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Unread(NamedTuple):
    """A program by how its files look, and what its user can give instead."""

    what: str
    pattern: str
    hint: str


@cache
def _all() -> tuple[Unread, ...]:
    """Programs that are not read, from a file that is opened only where a file is of no format."""
    text = Path(__file__).with_name("unread.toml").read_text(encoding="utf-8")
    return tuple(Unread(**row) for row in tomllib.loads(text)["program"])


def recognized(head: str) -> Unread | None:
    """The program that a file begins like, of those that are not read."""
    return next((each for each in _all() if re.search(each.pattern, head, re.MULTILINE)), None)
