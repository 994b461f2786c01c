"""Words of a line that bash wants completed."""

import os
import re

before = ""
"""Beginning of the word that stands on the line and that bash leaves as it is: it splits words at `:` and `=`."""


def join() -> None:
    """Join what bash split at `:` and `=`, which are letters of `--on=sim:NAME`, and drop what is behind the cursor."""
    global before
    words = os.environ.get("COMP_WORDS", "").split("\n")
    split = "\n".join(words[: int(os.environ.get("COMP_CWORD", "0")) + 1])
    joined = re.sub(r"\n?([:=])\n?", r"\1", split)
    if joined == split:
        return
    *whole, last = joined.split("\n")
    option, before, rest = re.fullmatch(r"(--[\w-]+=)?(.*[:=])?([^:=]*)", last).groups("")  # type: ignore[union-attr]
    os.environ |= {"COMP_WORDS": "\n".join([*whole, option + rest]), "COMP_CWORD": str(len(whole))}
