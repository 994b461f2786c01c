"""Windows writes down what Linux does."""

import sys

import pytest

from .digest import digests

# They change only when the model, the requests or the recorder do; say so in the changelog then.
GOLDEN = {
    "fill": "4d7f5515422a9211",
    "loaded": "4d7f5515422a9211",
    "mixed": "e016dab4b1feda3f",
    "zipf": "db51d141c0bcb018",
    "trims": "b6e6cdf16b5c8520",
    "windows": "11b171a1ced22adb",
}


def test_runs_write_down_the_same_on_every_system():
    assert digests() == GOLDEN


@pytest.mark.skipif(sys.platform != "win32", reason="on Windows alone: make windows")
@pytest.mark.parametrize("target", ["NUL", "D:\\none\\scratch.bin"])
def test_what_is_no_place_for_a_file_is_refused_in_words(target):
    import pslc
    from pslc.base.errors import PslcError

    with pytest.raises(PslcError, match=r"no target is named|no such folder|needs a size"):
        pslc.run("fill", on=target)


@pytest.mark.skipif(sys.platform != "win32", reason="on Windows alone: make windows")
def test_a_scratch_file_is_measured_on_and_leaves_nothing_behind(tmp_path):
    import pslc
    from pslc.device.target import RealOptions

    job = tmp_path / "job.fio"
    job.write_text("[a]\nrw=randwrite\nbs=16k\nioengine=windowsaio\niodepth=8\nnumber_ios=300\ndirect=1\n")
    scratch = tmp_path / "scratch.bin"
    recording = pslc.run(job, on=str(scratch), real=RealOptions(size=16 << 20))
    assert recording.error is None
    assert recording.jobs[0]["write"]["total_ios"] == 300
    assert [path.name for path in tmp_path.iterdir()] == ["job.fio"]
