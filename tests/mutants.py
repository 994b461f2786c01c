"""Drawn mutants, each asked of the tests nearest to it: `make mutants [MUTANT_SECONDS=1200] [SEED=1]`.

A mutant is a copy of the package, or of `crates/`, in which an operator, a comparison, a constant, `min` or `max` is
replaced. One in Python is killed where a test fails that `make quick` would run, of those that are begun within
`BUDGET_CPU_S`; one in Rust where a test of its crate fails, or does not end within `RUST_S`. `python -m tests.mutants
SECONDS SEED FOLDER...` draws from other folders than `FOLDERS`.
"""

import ast
import copy
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from tests import quick

FOLDERS: Final = (*(f"{quick.PACKAGE}/{name}" for name in ("analysis", "formats", "suites", "recording")),
                  "crates/ssd/src/ftl")  # fmt: skip
BUDGET_CPU_S: Final = 30.0
"""Processor time of the tests of one mutant, after which no further test file is begun."""
OPERATORS: Final = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or,
                    ast.Or: ast.And, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
                    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is}  # fmt: skip
NAMES: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}
ANSWERS: Final = {True: "killed", False: "SURVIVES", None: "not asked"}
RUST_S: Final = 180.0
"""Seconds that the tests of a crate may take, compiled; they take 30 on an idle machine."""
RUST: Final = {" + ": " - ", " - ": " + ", " * ": " / ", " / ": " * ", " < ": " <= ", " <= ": " < ", " > ": " >= ",
               " >= ": " > ", " == ": " != ", " != ": " == ", " && ": " || ", " || ": " && ", " += ": " -= ",
               " -= ": " += ", **{f".{name}(": f".{other}(" for name, other in NAMES.items()}}  # fmt: skip
TOKEN: Final = re.compile("|".join(map(re.escape, RUST)) + r"|(?<![\w.])\d+(?![\w.])")
NO_CODE: Final = re.compile(r"//.*|\"(?:[^\"\\]|\\.)*\"|#\[cfg\(test\)\](?s:.*)|#\[.*")
"""Comments, strings, attributes and tests in a file of Rust."""


def mutate(node: ast.AST) -> bool:
    """Make a node another one; returns whether it is of a kind that can be."""
    match node:
        case ast.BinOp(op=op) | ast.BoolOp(op=op) if type(op) in OPERATORS:
            node.op = OPERATORS[type(op)]()
        case ast.Compare(ops=[op]) if type(op) in OPERATORS:
            node.ops = [OPERATORS[type(op)]()]
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            node.value = value + 1 if isinstance(value, int) else 1.5 * value + 1e-9
        case ast.Call(func=ast.Name(id=name) as called) if name in NAMES:
            called.id = NAMES[name]
        case _:
            return False
    return True


def of_python(source: str, draw: random.Random) -> tuple[int, str, str] | None:
    """Drawn mutant: its line, what stood there and what stands there now, and the source; None: there is none."""
    tree = ast.parse(source)
    node = draw.choice([node for node in ast.walk(tree) if mutate(copy.deepcopy(node))] or [None])
    if node is None:
        return None
    before = ast.unparse(node)
    mutate(node)
    return node.lineno, f"{before} -> {ast.unparse(node)}", ast.unparse(tree)


def of_rust(source: str, draw: random.Random) -> tuple[int, str, str] | None:
    """Drawn mutant, as `of_python` gives it. It may not compile."""
    code = NO_CODE.sub(lambda other: re.sub(r"[^\n]", " ", other[0]), source)
    place = draw.choice([*TOKEN.finditer(code), None])
    if place is None:
        return None
    now = RUST.get(place[0]) or str(int(place[0]) + 1)
    mutant = source[: place.start()] + now + source[place.end() :]
    line = source.count("\n", 0, place.start())
    return line + 1, f"{source.splitlines()[line].strip()} -> {mutant.splitlines()[line].strip()}", mutant


def mutants(paths: list[Path], draw: random.Random) -> Iterator[tuple[str, int, str, str]]:
    """Drawn mutants for ever: the name of the file, and what `of_python` gives."""
    while True:
        path = draw.choice(paths)
        drawn = (of_rust if path.suffix == ".rs" else of_python)(path.read_text(encoding="utf-8"), draw)
        if drawn is not None:
            yield path.relative_to(quick.ROOT).as_posix(), *drawn


def is_killed(name: str, folder: Path) -> bool | None:
    """Whether a test finds the mutant in a copied file; None: it does not compile, or a near test was not begun."""
    if name.endswith(".py"):
        near = quick.nearest([name])
        code = quick.run(near, BUDGET_CPU_S) if near else 0
        # 2: the first failure has stopped the workers.
        return None if code == quick.INCOMPLETE else code in (1, 2)
    command = ["cargo", "test", "--quiet", "-p", f"pslc-{name.split('/')[1]}"]
    begin = partial(subprocess.Popen, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with begin([*command, "--no-run"]) as build:
        if build.wait() != 0:
            return None
    with begin(command, start_new_session=True) as tests:
        try:
            return tests.wait(RUST_S) != 0
        except subprocess.TimeoutExpired:
            os.killpg(tests.pid, signal.SIGKILL)
            return True


def main() -> None:
    """Ask the tests until the time is over."""
    seconds, seed = (int(word) for word in (sys.argv[1:3] or ("1200", "1")))
    roots = [quick.ROOT / folder for folder in sys.argv[3:] or FOLDERS]
    paths = [path for root in roots for path in sorted(root.rglob("*")) if path.suffix in (".py", ".rs")]
    until, killed, count = time.monotonic() + seconds, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        copy_of = Path(folder)
        for name in ("python", "crates"):
            shutil.copytree(quick.ROOT / name, copy_of / name, ignore=shutil.ignore_patterns("__pycache__"))
        for path in [*quick.ROOT.glob("Cargo.*"), quick.ROOT / "rust-toolchain.toml"]:
            shutil.copy(path, copy_of)
        os.environ |= {"PYTHONPATH": f"{folder}/python", "PYTEST_ADDOPTS": "-x -q -p no:cacheprovider",
                       "CARGO_TARGET_DIR": str(quick.ROOT / "target/mutants")}  # fmt: skip
        for name, line, change, source in mutants(paths, random.Random(seed)):
            if time.monotonic() > until:
                break
            (copy_of / name).write_text(source, encoding="utf-8")
            answer = is_killed(name, copy_of)
            shutil.copyfile(quick.ROOT / name, copy_of / name)
            print(f"{ANSWERS[answer]} {name}:{line}: {change}", flush=True)
            killed, count = killed + (answer or 0), count + (answer is not None)
    print(f"seed {seed}: {killed} of {count} mutants were killed")


if __name__ == "__main__":
    main()
