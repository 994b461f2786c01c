"""Commands as lines that a person copies into a shell."""

import re
import shlex
from collections.abc import Iterable


def line(words: Iterable[str]) -> str:
    """Line of a POSIX shell with these words, quoted where it needs that. Letters of any language stay as they are."""
    return " ".join(word if re.fullmatch(r"[\w@%+=:,./-]+", word) else shlex.quote(word) for word in words)
