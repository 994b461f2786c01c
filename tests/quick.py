"""Run the tests of what was changed since `main`, those nearest to it first: `make quick`.

It takes about a minute of processor time, after cargo has compiled the crates that were changed.

A test file reaches what it imports, the commands and suites that it names, and whatever those import. Its distance is
the length of the shortest such path to a changed file. A file that was begun is run to its end. Where one at distance 0
or 1 was not begun, the last line begins with "incomplete" and the exit code is 3.
"""

import ast
import functools
import itertools
import os
import re
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pslc.extras import OWN

ROOT = Path(__file__).parent.parent
PACKAGE = "python/pslc/"
BUDGET_CPU_S = 60.0
"""Processor time of all tests, and of what they start, after which no further file is begun."""
WORKERS = max(len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1, 1)
MAX_SOURCE_BYTES = 300_000
"""Size of the chosen test files beyond NEAR, a third of what there is: reading them takes about ten seconds."""
NEAR = 1
"""Distance up to which each file has to be run for the answer to count."""
INCOMPLETE = 3
"""Exit code where it does not."""
MAX_DISTANCE = 3
"""Longest path that a test is chosen by, unless none is as near: nearly every test reaches every file in four steps."""

Graph = dict[str, set[str]]


def changed(base: str = "main") -> list[str]:
    """Files that differ from where this branch left `base`, committed or not, relative to the tree."""
    start = _git("merge-base", base, "HEAD") or ["HEAD"]
    return sorted({*_git("diff", "--name-only", start[0]), *_git("ls-files", "--others", "--exclude-standard")})


def _git(*words: str) -> list[str]:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.splitlines()


@functools.cache
def graph() -> Graph:
    """The files that each Python file of the package and of the tests reaches in one step."""
    of_package = runpy.run_path(str(ROOT / "docs" / "pictures" / "imports.py"))["file_imports"]()
    files = {name: _file(name) for name in of_package}
    steps = {files[name]: {files[other] for other in others} for name, others in of_package.items()}
    for path in steps.keys() - set().union(*steps.values()):
        # What nobody imports its room loads by name.
        steps.get(f"{Path(path).parent}/__init__.py", set()).add(path)
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
    of_extras = {command: f"pslc.{extra}.command" for extra, commands in OWN.items() for command in commands}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        match node:
            case ast.Import():
                names = [alias.name for alias in node.names]
            case ast.ImportFrom(module=str(module)):
                names = [module, *(f"{module}.{alias.name}" for alias in node.names)]
            case ast.Constant(value=str(text)) if text.isascii() and len(text) < 100:
                # A command, a suite, a format by the name of an example, or a file by its name.
                word = Path(text).stem.replace("-", "_")
                rooms = (f"pslc.{room}.{word}" for room in ("cli", "suites", "formats"))
                names = [of_extras.get(word, ""), *rooms, text.rpartition("/")[2]]
        for name in names:
            if name in files and name != "pslc":
                yield files[name]
            elif name.startswith("tests.") and name != "tests.conftest":
                yield name.replace(".", "/") + ".py"
            elif "." in name and " " not in name:
                yield name


def distances(changes: Iterable[str], steps: Graph) -> dict[str, int]:
    """Steps from each test file to the nearest of the changed files, up to MAX_DISTANCE or to the first there is."""
    backwards: Graph = {}
    for path, others in steps.items():
        for other in others:
            backwards.setdefault(other, set()).add(path)
    near: dict[str, int] = {}
    edge = {start for path in changes for start in _starts(path)}
    tests: dict[str, int] = {}
    distance = 0
    while edge and (distance <= MAX_DISTANCE or not tests):
        near |= dict.fromkeys(edge, distance)
        tests |= {path: distance for path in edge if re.fullmatch(r"tests/(\w+/)*test_\w+\.py", path)}
        edge = {before for path in edge for before in backwards.get(path, ())} - near.keys()
        distance += 1
    return tests


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


def nearest(changes: Iterable[str]) -> dict[str, int]:
    """The test files nearest to the changed files, with their distances: those named as a changed file first, then
    small ones, and beyond NEAR up to MAX_SOURCE_BYTES in all."""
    changes = list(changes)
    near = distances(changes, graph())
    sizes = {path: (ROOT / path).stat().st_size for path in near if (ROOT / path).exists()}
    stems = {Path(path).stem.strip("_") for path in changes}
    chosen = sorted(sizes, key=lambda path: (near[path], Path(path).stem[len("test_") :] not in stems, sizes[path]))
    ends = itertools.accumulate(sizes[path] for path in chosen)
    return {
        path: near[path]
        for path, end in zip(chosen, ends, strict=True)
        if near[path] <= NEAR or end <= MAX_SOURCE_BYTES
    }


def main() -> int:
    """Run cargo, then pytest; returns 0 if all tests passed, 1 if one failed, INCOMPLETE if a near one was not run."""
    changes = changed()
    chosen = nearest(changes)
    if not chosen and not crates(changes):
        print("no test reaches what was changed since main" if changes else "nothing was changed since main")
        return INCOMPLETE if changes else 0
    for crate in crates(changes):
        print(f"compiling and running the tests of {crate}", flush=True)
        if subprocess.run(["cargo", "test", "--quiet", "--package", crate], cwd=ROOT, check=False).returncode:
            return 1
    if not chosen:
        return 0
    print(f"{len(changes)} files changed since main; running the {len(chosen)} nearest test files", flush=True)
    return run(chosen)


def run(chosen: Mapping[str, int], budget_cpu_s: float = BUDGET_CPU_S) -> int:
    """Run test files in their order, with their distances, within a budget; returns as `main` does."""
    words = ["-n", str(WORKERS), "--dist", "loadfile", "--no-loadscope-reorder", "--instafail", "--timeout=300"]
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"PSLC_QUICK_CPU_S": str(budget_cpu_s / WORKERS), "PSLC_QUICK_LEFT": folder}
        done = subprocess.run([sys.executable, "-m", "pytest", *words, *chosen], cwd=ROOT, env=env, check=False)
        left = {path.read_text(encoding="utf-8") for path in Path(folder).iterdir()}
    # 5: everything that was chosen is marked long or slow.
    if done.returncode not in (0, 5):
        return done.returncode
    near = sorted(path for path in left if chosen[path] <= NEAR)
    if near:
        print(f"incomplete: {len(near)} test files next to the change were not begun, such as {near[0]}; run make test")
        return INCOMPLETE
    if left:
        print(f"{len(left)} test files further away were not begun; make test runs all of them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
