"""The notebook in examples/ runs from beginning to end, and shows what it says."""

import shutil

import nbformat
import pytest

from tests.conftest import ROOT

NOTEBOOK = ROOT / "examples" / "analysis.ipynb"


@pytest.mark.long
def test_the_notebook_runs_and_finds_the_cache(tmp_path):
    from nbclient import NotebookClient

    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path / "examples")}}).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = ["".join(out.get("text", "") for out in cell.outputs) for cell in cells]
    assert any("281 GB" in text for text in shown)
    assert any("image/png" in out.get("data", {}) for cell in cells for out in cell.outputs)


def test_the_notebook_is_kept_without_its_outputs():
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
