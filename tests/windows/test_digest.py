"""Windows writes down what Linux does."""

import sys

import pytest

from .digest import digests

# They change only when the model, the requests or the recorder do; say so in the changelog then.
GOLDEN = {
    "fill": "96fd451b7943a5e9",
    "loaded": "96fd451b7943a5e9",
    "mixed": "a215ea82e3975ef2",
    "zipf": "bed6eb0e1734bc7b",
    "trims": "673b0fba444e62d8",
    "windows": "37b3fa097baa8753",
}


def test_runs_write_down_the_same_on_every_system():
    assert digests() == GOLDEN


@pytest.mark.skipif(sys.platform != "win32", reason="on Windows alone: make windows")
@pytest.mark.parametrize("target", ["D:\\scratch.bin", "\\\\.\\PhysicalDrive1", "NUL"])
def test_a_real_drive_is_refused_in_words(target):
    import pslc
    from pslc.base.errors import PslcError

    with pytest.raises(PslcError, match=r"not measured on Windows yet|no target is named"):
        pslc.run("fill", on=target)
