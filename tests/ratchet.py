"""What breaks the rules of docs/style.md today, counted in each file, and the committed counts that may only shrink.

`python -m tests.ratchet` lowers tests/ratchet.json to the counts of today. It never raises a number.
"""

import ast
import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
TABLE = Path(__file__).with_suffix(".json")

EVERYDAY_WORDS = {"found", "known", "least", "made", "most", "one", "others", "said", "seen", "told"}
SUBJECTLESS_WORDS = {
    *("What", "Why", "Where", "How", "When", "Which", "Who"),
    *("Of", "Those", "That", "It", "Its", "And", "So", "See", "As", "In", "On", "At", "By", "From", "For", "-"),
}
"""First words of a docstring whose reader has to know the code around it."""
MAX_BODY_LINES = 60
MAX_COMPLEXITY = 15
MAX_PARAMETERS = 8

RUST_COMMENT_OR_STRING = re.compile(r'//[^\n]*|"(?:\\.|[^"\\])*"')
RUST_NAME = re.compile(
    r"\b(?:fn|mod|struct|enum|const|static|type)\s+(\w+)"  # an item
    r"|\b(?:let|for|mut|ref)\s+(?:mut\s+)?(?:[\w:]*\()*&?(?:mut\s+)?(\w+)"  # a variable, Some(variable)
    r"|(?<!:)\b(\w+)\s*:(?!:)"  # a field, a parameter
    r"|[(,|]\s*&?(\w+)\s*(?=\|)"  # the last parameter of a closure
)
SAME_WITHOUT_NOUN = re.compile(r"same(?:[,:;.]| (?:after|as|at|for|if|in|of|where|which|with|without)\b)")
SECTION = re.compile(r"^(?:Args|Attributes):\n(?:    .*\n?|\n)+", re.MULTILINE)
SECTION_NAMES = re.compile(r"^    (\*{0,2}\w+(?:, \w+)*): ", re.MULTILINE)
RUST_FUNCTION = re.compile(
    r"^( *)(?:pub(?:\([a-z]+\))? )?(?:const |unsafe |extern \"C\" )*fn (?:(?!;$).)*?\{$(.*?)^\1\}$",
    re.MULTILINE | re.DOTALL,
)


def python_names(text: str) -> Iterator[str]:
    """Names that Python source binds: variables, fields, parameters, functions, classes and aliases, once a binding."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(ctx=ast.Store(), id=name) | ast.Attribute(ctx=ast.Store(), attr=name) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(asname=str(name)) | ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                yield name


def rust_names(text: str) -> Iterator[str]:
    """Names that Rust source binds, as far as its words show: items, variables, fields and parameters."""
    for match in RUST_NAME.finditer(RUST_COMMENT_OR_STRING.sub("", text)):
        yield match[match.lastindex or 0]


def python_bodies(text: str) -> Iterator[int]:
    """Lines of each Python function's body. Its signature is left out: of a command it is the table of its options."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[ast.get_docstring(node) is not None :] or node.body
            yield (node.end_lineno or 0) - body[0].lineno + 1


def rust_bodies(text: str) -> Iterator[int]:
    """Lines of each Rust function's body, in source that rustfmt has formatted."""
    for match in RUST_FUNCTION.finditer(text):
        yield match[2].count("\n") - 1


def everyday_words(name: str, text: str) -> int:
    """How many names of a file, its own among them, are everyday words instead of nouns of the field."""
    bound = python_names(text) if name.endswith(".py") else rust_names(text)
    return sum(word.strip("_").lower() in EVERYDAY_WORDS for word in (Path(name).stem, *bound))


def long_functions(name: str, text: str) -> int:
    """How many functions of a file have a body of over MAX_BODY_LINES lines."""
    return sum(lines > MAX_BODY_LINES for lines in (python_bodies if name.endswith(".py") else rust_bodies)(text))


def help_texts(name: str, text: str) -> int:
    """How many helps of options end with a full stop, or describe a default as what happens without the option."""
    calls = (
        node
        for node in ast.walk(ast.parse(text) if "/cli/" in name or name.endswith("/command.py") else ast.Module([], []))
    )
    texts = (
        keyword.value.value
        for node in calls
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "help" and isinstance(keyword.value, ast.Constant)
    )
    return sum(str(help_text).endswith(".") or "without it" in str(help_text) for help_text in texts)


def public_docstrings(text: str) -> Iterator[tuple[str, str]]:
    """Name and docstring of a module, and of what is public in it: classes, functions, constants and fields."""
    module = ast.parse(text)
    if doc := ast.get_docstring(module):
        yield "module", doc
    yield from _docstrings_within(module, "")


def _docstrings_within(node: ast.Module | ast.ClassDef, prefix: str) -> Iterator[tuple[str, str]]:
    for before, item in itertools.pairwise([None, *node.body]):
        match item:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                if name.startswith("_"):
                    continue
                if doc := ast.get_docstring(item):
                    yield prefix + name, doc
                if isinstance(item, ast.ClassDef):
                    yield from _docstrings_within(item, f"{prefix}{name}.")
            case ast.Expr(value=ast.Constant(value=str(doc))) if isinstance(before, ast.Assign | ast.AnnAssign):
                target = ast.unparse(before.targets[0] if isinstance(before, ast.Assign) else before.target)
                if not target.startswith("_"):
                    yield prefix + target, doc


def lacks_subject(name: str, doc: str) -> bool:
    """Whether a docstring begins with a word of SUBJECTLESS_WORDS. A suite's module begins with its question."""
    first, _, rest = doc.partition(" ")
    if "/suites/" in name and "?" in doc.partition("\n")[0]:
        return False
    return first in SUBJECTLESS_WORDS or bool(first == "The" and SAME_WITHOUT_NOUN.match(rest))


def unknown_names(text: str) -> Iterator[str]:
    """Names below "Args:" and "Attributes:" of docstrings that are no parameter and no field."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        section = SECTION.search(ast.get_docstring(node) or "")
        names = [name for entry in SECTION_NAMES.findall(section[0] if section else "") for name in entry.split(", ")]
        yield from (f"{node.name}: {name}" for name in names if name.lstrip("*") not in _fields_or_parameters(node))


def _fields_or_parameters(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> set[str]:
    functions = [node] if not isinstance(node, ast.ClassDef) else [
        item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"
    ]  # fmt: skip
    names = {argument.arg for of in functions for argument in ast.walk(of.args) if isinstance(argument, ast.arg)}
    if isinstance(node, ast.ClassDef):
        names |= {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
        names |= {ast.unparse(item.target) for item in node.body if isinstance(item, ast.AnnAssign)}
        names |= {item.attr for item in ast.walk(node) if isinstance(item, ast.Attribute)}
    return names


PYTHON_FOLDERS = ("python/pslc", "tests", "benches", "docs")


def _in_sources(count: Callable[[str, str], int]) -> Counter[str]:
    python = [path for folder in PYTHON_FOLDERS for path in (ROOT / folder).rglob("*.py")]
    rust = [path for folder in ("src", "tests", "benches") for path in (ROOT / "crates").glob(f"*/{folder}/**/*.rs")]
    names = {path.relative_to(ROOT).as_posix(): path for path in (*python, *rust)}
    return +Counter({name: count(name, path.read_text(encoding="utf-8")) for name, path in names.items()})


def decisions(function: ast.AST) -> int:
    """Complexity of a function as radon counts it, asserts left out: with comprehensions, Boolean operators and
    conditional values."""
    total = 1
    for node in _own_nodes(function):
        match node:
            case ast.If() | ast.IfExp():
                total += 1
            case ast.For(orelse=orelse) | ast.While(orelse=orelse) | ast.AsyncFor(orelse=orelse):
                total += 1 + bool(orelse)
            case ast.Try(handlers=handlers, orelse=orelse):
                total += len(handlers) + bool(orelse)
            case ast.BoolOp(values=values):
                total += len(values) - 1
            case ast.comprehension(ifs=ifs):
                total += 1 + len(ifs)
            case ast.Match(cases=cases):
                total += sum(not (isinstance(case.pattern, ast.MatchAs) and not case.pattern.pattern) for case in cases)
    return total


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes below a function, without those of functions and classes within it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield child
            yield from _own_nodes(child)


def intricate_functions(name: str, text: str) -> int:
    """How many Python functions of a file have a complexity over MAX_COMPLEXITY, as radon counts it."""
    nodes = ast.walk(ast.parse(text if name.endswith(".py") else ""))
    functions = (node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return sum(decisions(function) > MAX_COMPLEXITY for function in functions)


def wide_signatures(name: str, text: str) -> int:
    """How many Python functions of a file take more than MAX_PARAMETERS; of a command these are its options."""
    nodes = ast.walk(ast.parse(text if name.endswith(".py") else ""))
    signatures = (node.args for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return sum(len(of.posonlyargs + of.args + of.kwonlyargs) > MAX_PARAMETERS for of in signatures)


def silent_asserts(name: str, text: str) -> int:
    """How many asserts of a file show no more than the address of a generator when they fail."""
    nodes = ast.walk(ast.parse(text if name.endswith(".py") else ""))
    calls = (node.test for node in nodes if isinstance(node, ast.Assert) and isinstance(node.test, ast.Call))
    return sum(ast.unparse(call.func) == "all" and isinstance(call.args[0], ast.GeneratorExp) for call in calls)


def private_subjects(name: str, text: str) -> int:
    """How many docstrings of a file's private functions and classes lack a subject."""
    nodes = ast.walk(ast.parse(text if name.startswith("python/") else ""))
    named = (node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef))
    return sum(node.name.startswith("_") and lacks_subject(name, ast.get_docstring(node) or "") for node in named)


def lint_exceptions() -> Counter[str]:
    """How many exceptions to the limits of complexity and of parameters each Python file names."""
    paths = [path for folder in PYTHON_FOLDERS for path in (ROOT / folder).rglob("*.py")]
    exception = re.compile(r"# noqa: [^#\n]*\b(C901|PLR0913)\b")
    counts = {path.relative_to(ROOT).as_posix(): len(exception.findall(path.read_text("utf-8"))) for path in paths}
    return +Counter(counts)


COUNTS: dict[str, Callable[[], Counter[str]]] = {
    "everyday words": lambda: _in_sources(everyday_words),
    "functions of over 60 lines": lambda: _in_sources(long_functions),
    "helps with a full stop or 'without it'": lambda: _in_sources(help_texts),
    "functions of a complexity over 15": lambda: _in_sources(intricate_functions),
    "functions of over 8 parameters": lambda: _in_sources(wide_signatures),
    "private docstrings without a subject": lambda: _in_sources(private_subjects),
    "asserts that show a generator": lambda: _in_sources(silent_asserts),
    "exceptions to lints": lint_exceptions,
}


def allowed(rule: str) -> dict[str, int]:
    """The committed counts of a rule, by file."""
    table: dict[str, dict[str, int]] = json.loads(TABLE.read_text())
    return table[rule]


def growth(today: dict[str, int], table: dict[str, int]) -> dict[str, str]:
    """Files that break a rule more often than the table allows, with both counts.

    A file that is new, moved or split draws on what the files of the table no longer use.
    """
    unused = sum(max(count - today.get(name, 0), 0) for name, count in table.items())
    new = sum(count for name, count in today.items() if name not in table)
    return {
        name: f"{count}, allowed are {table.get(name, 0)}"
        for name, count in today.items()
        if count > table.get(name, 0) and (name in table or new > unused)
    }


def lowered(today: dict[str, int], table: dict[str, int]) -> dict[str, int]:
    """The table for the counts of today. Raises ValueError if one of them is above what the table allows."""
    if more := growth(today, table):
        raise ValueError(more)
    return dict(sorted(today.items()))


if __name__ == "__main__":
    lower = {rule: lowered(count(), allowed(rule)) for rule, count in COUNTS.items()}
    TABLE.write_text(json.dumps(lower, indent=1) + "\n")
