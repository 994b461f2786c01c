"""Run the tests of what was changed since `main`, those nearest to it first: `make quick`.

It takes less than a minute, after cargo has compiled the crates that were changed.

A test file reaches what it imports, the commands and suites that it names, and whatever those import. Its distance is
the length of the shortest such path to a changed file. What there was no time for is counted at the end.
"""

from __future__ import annotations

import ast
import itertools
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = "python/pslc/"
BUDGET_S = 35
"""Time after the first test after which no further one begins; the rest of the minute is to start and to end."""
MAX_SOURCE_BYTES = 300_000
"""Size of all chosen test files, a third of what there is: reading them takes about ten seconds."""
MAX_DISTANCE = 3
"""Longest path that a test is chosen by: nearly every test reaches every file in four steps."""

Graph = dict[str, set[str]]


def changed(base: str = "main") -> list[str]:
    """Files that differ from where this branch left `base`, committed or not, relative to the tree."""
    start = _git("merge-base", base, "HEAD") or ["HEAD"]
    return sorted({*_git("diff", "--name-only", start[0]), *_git("ls-files", "--others", "--exclude-standard")})


def _git(*words: str) -> list[str]:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.splitlines()


def graph() -> Graph:
    """The files that each Python file of the package and of the tests reaches in one step."""
    of_package = runpy.run_path(str(ROOT / "docs" / "pictures" / "imports.py"))["file_imports"]()
    files = {name: _file(name) for name in of_package}
    steps = {files[name]: {files[other] for other in others} for name, others in of_package.items()}
    for path in files.values():
        if "pslc._native" in (ROOT / path).read_text(encoding="utf-8"):
            steps[path].add("crates/python")
    for path in sorted((ROOT / "tests").rglob("*.py")):
        steps[path.relative_to(ROOT).as_posix()] = set(_of_test(path, files))
    return steps


def _file(module: str) -> str:
    path = "python/" + module.replace(".", "/")
    return f"{path}/__init__.py" if (ROOT / path).is_dir() else f"{path}.py"


def _of_test(path: Path, files: dict[str, str]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        match node:
            case ast.Import():
                names = [alias.name for alias in node.names]
            case ast.ImportFrom(module=str(module)):
                names = [module, *(f"{module}.{alias.name}" for alias in node.names)]
            case ast.Constant(value=str(text)) if text.isascii() and len(text) < 100:
                # A command, a suite, or a file by its name.
                word = text.replace("-", "_")
                names = [f"pslc.cli.{word}", f"pslc.suites.{word}", text.rpartition("/")[2]]
        for name in names:
            if name in files and name != "pslc":
                yield files[name]
            elif name.startswith("tests.") and name != "tests.conftest":
                yield name.replace(".", "/") + ".py"
            elif "." in name and " " not in name:
                yield name


def distances(changes: Iterable[str], steps: Graph) -> dict[str, int]:
    """Steps from each test file to the nearest of the changed files, up to MAX_DISTANCE."""
    backwards: Graph = {}
    for path, others in steps.items():
        for other in others:
            backwards.setdefault(other, set()).add(path)
    near: dict[str, int] = {}
    edge = {start for path in changes for start in _starts(path)}
    for distance in range(MAX_DISTANCE + 1):
        near |= {path: distance for path in edge if path not in near}
        edge = {before for path in edge for before in backwards.get(path, ())} - near.keys()
    return {path: count for path, count in near.items() if re.fullmatch(r"tests/(\w+/)*test_\w+\.py", path)}


def _starts(path: str) -> Iterator[str]:
    """What stands for a changed file: itself, its name, and the Python package that reads it if it is no module."""
    yield path
    yield path.rpartition("/")[2]
    if path.startswith("crates/"):
        yield "crates/python"
    if path.startswith(PACKAGE) and not path.endswith(".py"):
        rooms = (f"{parent}/__init__.py" for parent in Path(path).parents)
        yield from (room for room in rooms if (ROOT / room).exists())
    if path.endswith(".md"):
        yield "tests/test_documents.py"


def crates(changes: Iterable[str]) -> list[str]:
    """Packages of Cargo whose files were changed."""
    return sorted({f"pslc-{match[1]}" for path in changes if (match := re.match(r"crates/(\w+)/", path))})


def nearest(changes: Iterable[str]) -> list[str]:
    """The test files nearest to the changed files, small ones first, up to MAX_SOURCE_BYTES in all."""
    near = distances(changes, graph())
    sizes = {path: (ROOT / path).stat().st_size for path in near if (ROOT / path).exists()}
    chosen = sorted(sizes, key=lambda path: (near[path], sizes[path]))
    ends = itertools.accumulate(sizes[path] for path in chosen)
    return [path for path, end in zip(chosen, ends, strict=True) if end <= MAX_SOURCE_BYTES]


def main() -> int:
    """Run cargo, then pytest; returns 0 if all tests passed."""
    changes = changed()
    chosen = nearest(changes)
    if not chosen and not crates(changes):
        print("no test reaches what was changed since main" if changes else "nothing was changed since main")
        return 0
    for crate in crates(changes):
        print(f"compiling and running the tests of {crate}", flush=True)
        if subprocess.run(["cargo", "test", "--quiet", "--package", crate], cwd=ROOT, check=False).returncode:
            return 1
    if not chosen:
        return 0
    print(f"{len(changes)} files changed since main; running the {len(chosen)} nearest test files", flush=True)
    words = ["-n", "auto", "--dist", "loadscope", "--no-loadscope-reorder", "--instafail", "--timeout=60"]
    env = os.environ | {"PSLC_QUICK_S": str(BUDGET_S)}
    done = subprocess.run([sys.executable, "-m", "pytest", *words, *chosen], cwd=ROOT, env=env, check=False)
    # 5: everything that was chosen is marked long or slow.
    return 0 if done.returncode == 5 else done.returncode


if __name__ == "__main__":
    sys.exit(main())
