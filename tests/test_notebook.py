"""The notebooks in examples/ run from beginning to end, and show what they say."""

import shutil

import nbformat
import pytest

from tests.conftest import ROOT

SHOWN = {"analysis": "281 GB", "published": "(published 6579, ", "study": "cache.when_full"}
"""What the output of each notebook holds."""


def test_every_notebook_is_in_the_list():
    assert {path.stem for path in (ROOT / "examples").glob("*.ipynb")} == set(SHOWN)


@pytest.mark.long
@pytest.mark.parametrize("name", SHOWN)
def test_the_notebook_runs_and_shows_what_it_says(name, tmp_path):
    from nbclient import NotebookClient

    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    notebook = nbformat.read(ROOT / "examples" / f"{name}.ipynb", as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path / "examples")}}).execute()
    outputs = [out for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs]
    texts = [out.get("text", "") + str(out.get("data", {}).get("text/plain", "")) for out in outputs]
    assert SHOWN[name] in "".join(texts)
    kinds = {kind for out in outputs for kind in out.get("data", {})}
    assert {"image/png", "text/html"} & kinds


@pytest.mark.parametrize("name", SHOWN)
def test_the_notebook_is_kept_without_its_outputs(name):
    for cell in nbformat.read(ROOT / "examples" / f"{name}.ipynb", as_version=4).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
