"""One program for all benches, which it lists without a name: `make bench NAME=fit ARGS="12 --first 70008"` runs
`python -m benches fit 12 --first 70008`."""

import ast
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
MAKER: Final = FOLDER.parent / "docs" / "accuracy" / "make.py"
SECTIONS: Final = {"analysis": "The analysis", "fit": "Twins of hidden drives", "intervals": "Intervals of suites"}
"""Sections of ACCURACY.md that a bench decides: written anew after it."""


def benches() -> dict[str, str]:
    """What each bench says of itself first, by its name."""
    paths = {path.stem: path for path in FOLDER.glob("*.py") if path.stem != "__main__"}
    texts = {name: path.read_text() for name, path in (paths | {"charts": FOLDER / "charts" / "__main__.py"}).items()}
    docs = {name: ast.get_docstring(ast.parse(text)) or "" for name, text in texts.items() if "__main__" in text}
    return {name: " ".join(doc.split("\n\n")[0].split()) for name, doc in sorted(docs.items())}


def main() -> None:
    """Run a bench, or list them."""
    known = benches()
    if not sys.argv[1:]:
        print("\n".join(f"{name:{max(map(len, known))}}  {doc}" for name, doc in known.items()))
        return
    name = sys.argv.pop(1)
    if name not in known:
        sys.exit(f"no bench is named {name}; python -m benches lists them")
    runpy.run_module(f"benches.{name}", run_name="__main__", alter_sys=True)
    if name in SECTIONS:
        subprocess.run([sys.executable, str(MAKER), SECTIONS[name]], check=True)


if __name__ == "__main__":
    main()
