"""Every reader says what it reads, and docs/formats.md says the same."""

from pathlib import Path

import pytest
from docs.formats import make

from pslc import PslcError, formats
from pslc.formats import ImportOptions
from pslc.recording import imported
from tests.conftest import ROOT

CORPUS = ROOT / "fuzz" / "corpus" / "file"
FIXTURES = ROOT / "tests" / "fixtures"


def test_the_page_of_formats_is_that_of_the_readers():
    assert make.PAGE.read_text() == make.page(), "make formats"


def test_every_format_has_a_row():
    assert len(formats.registry()) == len(formats.names())
    table = make.page().partition("\n| program |")[2].partition("\n\n")[0]
    assert table.count("\n| ") == len(formats.names())


def test_the_error_names_every_program(tmp_path):
    (tmp_path / "x.bin").write_bytes(b"\x00\x01\x02")
    with pytest.raises(PslcError) as error:
        formats.read([tmp_path / "x.bin"], ImportOptions())
    for about in formats.registry():
        assert about.program in str(error.value)


@pytest.mark.parametrize("name", [name for name in formats.names() if name != "chart"])
def test_each_format_knows_its_own_and_no_other(name):
    """A file of each is in the corpus of the fuzzer, called as the format, or as the format and its kind; a
    picture has tests of its own."""
    own = [path for path in CORPUS.iterdir() if path.name == name or path.name in OTHER_KINDS.get(name, ())]
    assert own, f"no file of {name} in {CORPUS}"
    for path in own:
        assert formats._format(path) == name


OTHER_KINDS = {"diskspd": ("diskspd_xml",), "smartctl": ("smartctl_nvme",)}


@pytest.mark.parametrize("path", sorted(CORPUS.iterdir()), ids=lambda path: path.name)
def test_how_a_file_was_understood_is_told_by_every_format(path: Path):
    given = {"x": "GB=GB", "y": "MB/s=MB/s"} if path.name == "table" else {}
    # The fuzzer begins these two with files that are damaged.
    path = {"iometer": FIXTURES / "iometer.csv", "niobench": FIXTURES / "niobench.txt"}.get(path.name, path)
    data = formats.read([path], ImportOptions(**given))
    gives = formats.load(formats._format(path)).ABOUT.gives
    if gives == "curve":
        assert data.curve is not None
    elif gives == "load":
        assert data.load is not None
    elif gives == "results":
        assert data.rows
    elif gives == "health":
        assert data.health
    else:
        assert data.jobs
    if path.name != "fio_job":
        assert data.read_as
    if not data.at_work and path.name != "fio_job":
        imported.analyzed(data)
