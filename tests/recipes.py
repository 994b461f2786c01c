"""The recipes of docs/extending.md: the patch under each heading."""

import re
from pathlib import Path

from tests.conftest import ROOT

DOCUMENT = ROOT / "docs" / "extending.md"
RECIPES = dict(re.findall(r"^## (.*?)\n.*?^```diff\n(.*?)^```", DOCUMENT.read_text(), re.DOTALL | re.MULTILINE))


def files(recipe: str) -> list[str]:
    """The files that a recipe adds or changes, relative to the tree."""
    return re.findall(r"^\+\+\+ b/(.*)$", RECIPES[recipe], re.MULTILINE)


def added(recipe: str, file: str) -> int:
    """Lines that a recipe adds to a file."""
    return len(
        re.findall(r"^\+(?!\+\+ )", RECIPES[recipe].partition(f"+++ b/{file}\n")[2].partition("\n--- ")[0], re.M)
    )


def is_native(recipe: str) -> bool:
    """Whether a recipe changes Rust, so that it needs a build."""
    return all(Path(file).parts[0] == "crates" for file in files(recipe))
