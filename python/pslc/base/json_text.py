"""JSON as people read it: what lies deep in a document stands in the line of its row."""

import json
from typing import Any, Final

LEVELS: Final = 3
"""Levels with lines of their own. Deeper ones are left to the C code of json, which indents nothing: with every level
indented a run.json of thousands of jobs takes six times as long and twice the space."""


def text(value: Any, levels: int = LEVELS, margin: str = "\n") -> str:
    """The text of a document.

    Args:
        levels: levels with lines of their own.
        margin: end of a line, and how far this level is indented.
    """
    if not levels or not value or not isinstance(value, dict | list | tuple):
        return json.dumps(value)
    inner = f"{margin} "
    if isinstance(value, dict):
        lines = [f"{json.dumps(key)}: {text(of_key, levels - 1, inner)}" for key, of_key in value.items()]
        return f"{{{inner}{f',{inner}'.join(lines)}{margin}}}"
    return f"[{inner}{f',{inner}'.join(text(each, levels - 1, inner) for each in value)}{margin}]"
