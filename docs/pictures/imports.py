"""Who imports whom in the Python package: a picture from the bottom up, and what each command reaches.

The layers are those of CONTRIBUTING.md, and an arrow that points upwards would be right of the diagonal. `--reach`
prints the lines that a command imports on its way, at once or later, and their rooms.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

HOUSE: Final = Path(__file__).parent.parent.parent
PACKAGE: Final = HOUSE / "python" / "pslc"
FACE: Final = "__init__"
NOT_PYTHON: Final = {"_native", "drives"}
COMMANDS: Final = "pslc.cli"
"""Room whose files are commands: a command reaches its own file and what all of them share."""


def layers() -> list[str]:
    """Rooms and single files, from the bottom up, as CONTRIBUTING.md lists them."""
    text = (HOUSE / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = text.partition("\npython/pslc ")[2].partition("```")[0]
    return [name for name in re.findall(r"(\w+)(?:/|\.py\b)", listed) if name not in NOT_PYTHON]


def room_of(module: str) -> str:
    """Room of a module: `recording` of `pslc.recording.store`."""
    return module.split(".")[1] if "." in module else FACE


@cache
def modules() -> dict[str, Path]:
    """Path of each module of the package by its name."""
    names = {
        ".".join(("pslc", *path.relative_to(PACKAGE).with_suffix("").parts)): path
        for path in PACKAGE.rglob("*.py")
        if PACKAGE / "examples" not in path.parents
    }
    return {name.removesuffix(".__init__"): path for name, path in names.items()}


@cache
def tree(module: str) -> ast.Module:
    """Syntax tree of a module."""
    return ast.parse(modules()[module].read_text(encoding="utf-8"))


def imports() -> dict[str, set[str]]:
    """The rooms that each room imports, anywhere in its files and for types too."""
    found: dict[str, set[str]] = {room_of(name): set() for name in modules() if name != "pslc.__main__"}
    for name in modules():
        if room_of(name) in found:
            found[room_of(name)] |= {room_of(other) for other in _imported(name, types=True)} - {room_of(name)}
            found[room_of(name)] |= {FACE} if _takes_from_face(name) else set()
    return found


def _nodes(node: ast.AST, *, types: bool) -> Iterator[ast.AST]:
    """All nodes of a module; without `types` those that only a type checker sees are left out."""
    for child in ast.iter_child_nodes(node):
        if not types and isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from _nodes(child, types=types)


def _imported(module: str, *, types: bool) -> set[str]:
    """Modules that a module imports at once or later, itself and the face left out."""
    found: set[str] = set()
    for node in _nodes(tree(module), types=types):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (inner & modules().keys()) or {node.module}
    return found & modules().keys() - {module, "pslc"}


def _takes_from_face(module: str) -> bool:
    """Whether a module imports a name of the face, such as `pslc.run`."""
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import) and any(alias.name == "pslc" for alias in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and node.module == "pslc":
            names = {f"pslc.{alias.name}" for alias in node.names}
            if names - modules().keys() - {f"pslc.{name}" for name in NOT_PYTHON}:
                return True
    return False


@cache
def file_imports(types: bool = True) -> dict[str, set[str]]:
    """The modules of the package that each module imports; those of the face left out."""
    return {name: _imported(name, types=types) for name in modules()}


@cache
def imports_by_name() -> list[tuple[str, str]]:
    """Calls of `import_module`, each with its module and its argument."""
    return [
        (name, ast.unparse(node.args[0]))
        for name in modules()
        for node in ast.walk(tree(name))
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("import_module", "__import__")
    ]


def strings_naming_modules() -> list[tuple[str, str]]:
    """Strings that are the name of a module of the package, each with the module in which it stands."""
    return [
        (name, node.value)
        for name in modules()
        for node in ast.walk(tree(name))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in modules().keys() - {"pslc"}
    ]


def _lists_its_folder(module: str) -> bool:
    """Whether a room imports each file of its folder by name, so that who reaches the room reaches them all."""
    return module != COMMANDS and any(
        name == module and re.match(r"f['\"]\{__name__\}", argument) for name, argument in imports_by_name()
    )


def reach(*starts: str) -> set[str]:
    """Modules that are imported on the way from some modules, at once or later, and the packages that they are in."""
    steps = file_imports(types=False)
    listing = {name for name in modules() if name != "pslc" and _lists_its_folder(name)}
    reached: set[str] = set()
    edge = {"pslc", *starts}
    while edge:
        reached |= edge
        edge |= {parent for name in edge for parent in _packages(name)}
        edge |= {other for name in edge & listing for other in modules() if other.startswith(f"{name}.")}
        edge = ({other for name in edge for other in steps[name]} | edge) - reached
    return reached


def _packages(module: str) -> Iterable[str]:
    parts = module.split(".")
    return (".".join(parts[:count]) for count in range(1, len(parts)))


def commands() -> dict[str, str]:
    """Module of each command by its name."""
    return {
        name.rpartition(".")[2]: name
        for name in sorted(modules())
        if name.startswith(f"{COMMANDS}.") and not name.rpartition(".")[2].startswith("_")
    }


def lines(names: Iterable[str]) -> int:
    """Lines of some modules together."""
    return sum(len(modules()[name].read_text(encoding="utf-8").splitlines()) for name in names)


def reach_of(command: str) -> set[str]:
    """Modules that a command reaches."""
    return reach("pslc.__main__", COMMANDS, commands()[command])


RUST_USE: Final = re.compile(r"\buse\s+((?:crate|super|self)::[^;]+);")
RUST_PATH: Final = re.compile(r"\b(?:crate|super)(?:::\w+)+")


def crates() -> list[str]:
    """Names of the crates."""
    return sorted(path.parent.name for path in (HOUSE / "crates").glob("*/Cargo.toml"))


def rust_imports(crate: str) -> dict[tuple[str, ...], set[tuple[str, ...]]]:
    """Modules of a crate that each of its modules uses; a module and those within it count as one."""
    source = HOUSE / "crates" / crate / "src"
    paths = {path.relative_to(source).with_suffix("").parts: path for path in source.rglob("*.rs")}
    files = {parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts: path for parts, path in paths.items()}
    found: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for name, path in files.items():
        # Without tests and comments.
        text = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8").partition("#[cfg(test)]\nmod ")[0])
        words = [word for tree in RUST_USE.findall(text) for word in _expanded(tree)]
        words += RUST_PATH.findall(RUST_USE.sub("", text))
        used = {_module_of(word.split("::"), name, files) for word in words}
        found[name] = {other for other in used if other[: len(name)] != name and name[: len(other)] != other}
    return found


def _expanded(tree: str) -> list[str]:
    """Paths of a tree of `use`: `a::{b, c::d}` are `a::b` and `a::c::d`."""
    head, brace, rest = tree.partition("{")
    if not brace:
        return ["".join(tree.partition(" as ")[0].split())]
    parts, depth = [""], 0
    for character in rest.rpartition("}")[0]:
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [word for part in parts if part.strip() for word in _expanded(head.strip() + part.strip())]


def _module_of(words: list[str], name: tuple[str, ...], files: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Innermost module that a path names, as seen from the module `name`."""
    base = () if words[0] == "crate" else name
    for word in words:
        base = base[:-1] if word == "super" else base if word in ("crate", "self") else (*base, word)
    return next(base[:count] for count in range(len(base), -1, -1) if base[:count] in files)


def picture() -> str:
    """A row for each layer, with an `o` in the column of each that it imports."""
    names, of = layers(), imports()
    rows = []
    for number, name in enumerate(names):
        dots = "".join("o" if other in of[name] else "\\" if other == name else "." for other in names[: number + 1])
        rows.append(f"{name:>12} {dots}")
    return "\n".join(rows)


def table() -> str:
    """Lines that each command reaches, in all and by room."""
    rows = []
    for command in commands():
        reached = reach_of(command)
        rooms = {room: lines(name for name in reached if room_of(name) == room) for room in map(room_of, reached)}
        listed = ", ".join(f"{room} {count}" for room, count in sorted(rooms.items(), key=lambda item: -item[1]))
        rows.append(f"{command:>10} {lines(reached):6}  {listed}")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table() if "--reach" in sys.argv else picture())
