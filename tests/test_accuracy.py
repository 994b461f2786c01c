"""ACCURACY.md says what the simulator does."""

import importlib.util
import tomllib

from tests.conftest import ROOT


def test_the_page_is_what_make_accuracy_would_write():
    spec = importlib.util.spec_from_file_location("make_accuracy", ROOT / "docs" / "accuracy" / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (ROOT / "ACCURACY.md").read_text() == module.document(), "make accuracy"


def test_every_miss_has_a_reason():
    text = (ROOT / "ACCURACY.md").read_text()
    misses = text.count("**miss** |")
    figures = tomllib.loads((ROOT / "docs" / "accuracy" / "published.toml").read_text())["figure"]
    assert misses <= sum("reason" in row for row in figures)
