"""A picture of who imports whom in the Python package, from the bottom up.

The layers are those of CONTRIBUTING.md, and an arrow that points upwards would be right of the diagonal.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

HOUSE: Final = Path(__file__).parent.parent.parent
PACKAGE: Final = HOUSE / "python" / "pslc"
FACE: Final = "__init__"
NOT_PYTHON: Final = {"_native", "drives"}


def layers() -> list[str]:
    """Rooms and single files, from the bottom up, as CONTRIBUTING.md lists them."""
    text = (HOUSE / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = text.partition("\npython/pslc ")[2].partition("```")[0]
    return [name for name in re.findall(r"(\w+)(?:/|\.py\b)", listed) if name not in NOT_PYTHON]


def rooms() -> set[str]:
    """Those that there are."""
    found = {path.stem if path.is_file() else path.name for path in PACKAGE.iterdir() if not path.name.startswith(".")}
    there = {name for name in found if (PACKAGE / f"{name}.py").exists() or (PACKAGE / name / "__init__.py").exists()}
    return there - {"__main__"}


def imports() -> dict[str, set[str]]:
    """The rooms that each room imports, anywhere in its files and for types too."""
    there = rooms()
    found: dict[str, set[str]] = {name: set() for name in there}
    for path in PACKAGE.rglob("*.py"):
        inside = path.relative_to(PACKAGE)
        room = inside.parts[0].removesuffix(".py")
        if room in found:
            found[room] |= {of for of in _imported(path, there) if of in found} - {room}
    return found


def _imported(path: Path, there: set[str]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "pslc":
            # What is no file is a name of the face.
            modules = [f"pslc.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        else:
            continue
        for module in modules:
            package, _, rest = module.partition(".")
            if package == "pslc":
                first = rest.partition(".")[0]
                yield first if first in there | NOT_PYTHON else FACE


def file_imports() -> dict[str, set[str]]:
    """The modules of the package that each module imports, for types too; those of the face left out."""
    paths = {
        ".".join(("pslc", *path.relative_to(PACKAGE).with_suffix("").parts)): path for path in PACKAGE.rglob("*.py")
    }
    modules = {name.removesuffix(".__init__"): path for name, path in paths.items()}
    found: dict[str, set[str]] = {}
    for name, path in modules.items():
        imported = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                imported |= (inner & modules.keys()) or {node.module}
        found[name] = imported & modules.keys() - {name, "pslc"}
    return found


def picture() -> str:
    """A row for each layer, with an `o` in the column of each that it imports."""
    names, of = layers(), imports()
    rows = []
    for number, name in enumerate(names):
        dots = "".join("o" if other in of[name] else "\\" if other == name else "." for other in names[: number + 1])
        rows.append(f"{name:>12} {dots}")
    return "\n".join(rows)


if __name__ == "__main__":
    print(picture())
