"""Drawn mutants of the package, each asked of the tests nearest to it: `make mutants [MUTANT_SECONDS=1200] [SEED=1]`.

A mutant is a copy of the package in which an operator, a comparison, a constant, `min` or `max` is replaced. It is
killed where a test fails that `make quick` would run, of those that are begun within `BUDGET_CPU_S`. `python -m
tests.mutants SECONDS SEED FOLDER...` draws from other folders of the package than `FOLDERS`.
"""

import ast
import copy
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests import quick

FOLDERS: Final = ("analysis", "formats", "suites", "recording")
BUDGET_CPU_S: Final = 30.0
"""Processor time of the tests of one mutant, after which no further test file is begun."""
OPERATORS: Final = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or,
                    ast.Or: ast.And, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
                    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is}  # fmt: skip
NAMES: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}


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


def mutants(paths: list[Path], draw: random.Random) -> Iterator[tuple[Path, int, str, str]]:
    """Drawn mutants for ever: the file, the line, what stood there and what stands there now, and the source."""
    while True:
        path = draw.choice(paths)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        node = draw.choice([node for node in ast.walk(tree) if mutate(copy.deepcopy(node))] or [None])
        if node is not None:
            before = ast.unparse(node)
            mutate(node)
            yield path, node.lineno, f"{before} -> {ast.unparse(node)}", ast.unparse(tree)


def main() -> None:
    """Ask the tests until the time is over."""
    seconds, seed = (int(word) for word in (sys.argv[1:3] or ("1200", "1")))
    package = quick.ROOT / quick.PACKAGE
    paths = [path for folder in sys.argv[3:] or FOLDERS for path in sorted((package / folder).rglob("*.py"))]
    until, killed, count = time.monotonic() + seconds, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(package.parent, Path(folder) / "python", ignore=shutil.ignore_patterns("__pycache__"))
        os.environ |= {"PYTHONPATH": f"{folder}/python", "PYTEST_ADDOPTS": "-x -q -p no:cacheprovider"}
        for path, line, change, source in mutants(paths, random.Random(seed)):
            if time.monotonic() > until:
                break
            name = path.relative_to(quick.ROOT).as_posix()
            (Path(folder) / name).write_text(source, encoding="utf-8")
            near = quick.nearest([name])
            # 2: the first failure has stopped the workers.
            is_killed = bool(near) and quick.run(near, BUDGET_CPU_S) in (1, 2)
            print(f"{'killed' if is_killed else 'SURVIVES'} {name}:{line}: {change}", flush=True)
            shutil.copyfile(path, Path(folder) / name)
            killed, count = killed + is_killed, count + 1
    print(f"seed {seed}: {killed} of {count} mutants were killed")


if __name__ == "__main__":
    main()
