"""The rules of docs/style.md that a machine can check. What breaks them today is counted in ratchet.json."""

import pytest

from tests import ratchet

PACKAGE = {
    path.relative_to(ratchet.ROOT).as_posix(): path
    for path in sorted((ratchet.ROOT / "python" / "pslc").rglob("*.py*"))
    if path.suffix in (".py", ".pyi")
}


@pytest.mark.parametrize("rule", ratchet.COUNTS)
def test_no_file_breaks_a_rule_more_often_than_the_table_allows(rule):
    assert not ratchet.growth(ratchet.COUNTS[rule](), ratchet.allowed(rule))


def test_names_count_wherever_python_binds_them():
    text = """
import json as told
class Found:
    made: int
def one(said, *seen, known=0, **least):
    self.most = [others for others in said]
    print(found, len(x).one)  # these only use a name
"""
    bound = [name.lower() for name in ratchet.python_names(text)]
    assert set(bound) == ratchet.EVERYDAY_WORDS | {"found", "one"}
    assert ratchet.everyday_words("pslc/found.py", text) == len(bound) + 1


def test_names_count_wherever_rust_binds_them():
    text = """
// one known, told
fn found(seen: u64, (a, b): (u64, u64)) -> Made {
    let mut one = "least: most";
    for others in said.iter().map(|most| most + one) { Self { made: 1 } }
    if let Some(found) = a::b::<C>() {}
    told::seen(known)
}
"""
    bound = [name for name in ratchet.rust_names(text) if name in ratchet.EVERYDAY_WORDS]
    assert bound == ["found", "seen", "one", "others", "most", "made", "found"]


def test_a_function_is_as_long_as_its_body():
    python = 'def f(\n    a,\n    b,\n):\n    """Add."""\n    c = a\n    return c + b\n'
    rust = "trait A {\n    fn e();\n    fn f(\n        a: u8,\n    ) {\n        if a {\n        }\n    }\n}\n"
    assert list(ratchet.python_bodies(python)) == [2]
    assert list(ratchet.rust_bodies(rust)) == [2]


@pytest.mark.parametrize(
    ("rule", "text", "count"),
    [
        (
            ratchet.wide_signatures,
            "def f(a, b, c, d, /, e, f, g, *, h): 1\ndef g(a, b, c, d, /, e, f, g, *, h, i): 1\n",
            1,
        ),
        (ratchet.silent_asserts, "assert all(a for a in b)\nassert all([a])\nassert not [a for a in b if not a]\n", 1),
        (ratchet.private_subjects, 'def _f():\n    """What it is."""\ndef _g():\n    """Size."""\n', 1),
    ],
)
def test_signatures_asserts_and_private_docstrings_are_counted(rule, text, count):
    assert rule("python/pslc/a.py", text) == count


def test_a_complexity_counts_what_radon_counts():
    text = """
def f(a, b):
    if a and b or a:  # 1 if, 2 operators
        return [c for c in a if c]  # 1 loop, 1 condition
    def g():
        return 1 if a else 2
    try:
        return b if a else a  # 1
    except ValueError:  # 1
        assert a
    for _ in a:  # 1 and its else
        pass
    else:
        match a:
            case 1:  # 1
                pass
            case _:
                pass
"""
    assert ratchet.decisions(ratchet.ast.parse(text).body[0]) == 1 + 3 + 2 + 1 + 1 + 2 + 1


def test_a_help_text_names_its_default_in_brackets():
    text = 'Option(help="Size."), Option(help="Size; all without it"), Option(help="Size (default: all)")'
    assert ratchet.help_texts("python/pslc/cli/run.py", text) == 2


def test_a_moved_or_split_file_draws_on_what_others_no_longer_use():
    table = {"a.py": 5, "b.py": 3}
    assert not ratchet.growth({"a.py": 5}, table)
    assert not ratchet.growth({"c.py": 5, "b.py": 3}, table)
    assert not ratchet.growth({"a.py": 1, "new/a.py": 4, "b.py": 3}, table)
    assert set(ratchet.growth({"a.py": 2, "c.py": 4, "b.py": 3}, table)) == {"c.py"}
    assert set(ratchet.growth({"a.py": 1, "b.py": 4}, table)) == {"b.py"}


def test_the_table_is_never_raised():
    assert ratchet.lowered({"c.py": 4, "b.py": 1}, {"a.py": 5, "b.py": 3}) == {"b.py": 1, "c.py": 4}
    with pytest.raises(ValueError, match=r"a\.py"):
        ratchet.lowered({"a.py": 6}, {"a.py": 5, "b.py": 3})


def test_a_public_docstring_begins_with_its_subject():
    docs = {name: ratchet.public_docstrings(path.read_text(encoding="utf-8")) for name, path in PACKAGE.items()}
    assert not [
        f"{name}: {where}: {doc[:60]}"
        for name, docs_of in docs.items()
        for where, doc in docs_of
        if ratchet.lacks_subject(name, doc)
    ]


@pytest.mark.parametrize(
    "doc",
    ["What a run says.", "Where the cache ended.", "Of a drive.", "See `findings`.", "- `a`: of it", "Those of it."],
)
def test_a_docstring_without_a_subject_is_noticed(doc):
    text = f'class A:\n    """Drive."""\n\n    b = 1\n    """{doc}"""\n\n    def _c(self):\n        """What."""\n'
    assert [where for where, text_of in ratchet.public_docstrings(text) if ratchet.lacks_subject("a.py", text_of)] == [
        "A.b"
    ]


def test_only_a_suite_may_begin_with_its_question():
    doc = "Where is the cliff? Write the whole drive once."
    assert ratchet.lacks_subject("python/pslc/analysis/cache.py", doc)
    assert not ratchet.lacks_subject("python/pslc/suites/fill.py", doc)
    assert ratchet.lacks_subject("python/pslc/suites/fill.py", "Where the cliff is. Write the whole drive once.")


def test_a_docstring_names_only_parameters_and_attributes_that_exist():
    slips = {name: list(ratchet.unknown_names(path.read_text(encoding="utf-8"))) for name, path in PACKAGE.items()}
    assert not {name: unknown for name, unknown in slips.items() if unknown}


def test_a_parameter_that_a_docstring_made_up_is_noticed():
    doc = "Add.\n\n    Args:\n        a, c: numbers: two of them.\n        b: another\n    "
    text = f'def f(a, *, b=1):\n    """{doc}"""\n'
    assert list(ratchet.unknown_names(text)) == ["f: c"]
