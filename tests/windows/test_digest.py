"""Windows writes down what Linux does."""

import sys

import pytest

from .digest import digests

# They change only when the model, the requests or the recorder do; say so in the changelog then.
GOLDEN = {
    "fill": "a9bfbc9f8f7acb0a",
    "loaded": "a9bfbc9f8f7acb0a",
    "mixed": "33d2bbb872a68187",
    "zipf": "56023736a301fea3",
    "trims": "d9285cc3015f1433",
    "windows": "f20c623793d46dcf",
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
