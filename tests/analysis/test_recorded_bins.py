"""What the bins of a recording tell the analysis: a speed where requests came back, and nothing where none did."""

from dataclasses import replace

import numpy as np
import pytest
from benches.small import PROFILE

import pslc
from pslc.analysis import Phase
from pslc.recording.model import Recording
from pslc.recording.writes.curve import WriteTrack, write_curve
from pslc.recording.writes.evidence import measurement_context

REQUEST = 1 << 20
DEPTH = 8
JOB = f"[write]\nrw=write\nbs={REQUEST}\nioengine=io_uring\niodepth={DEPTH}\ndirect=1\nsize=64m\n"
BIN_S = 0.05


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """64 requests of 1 MiB, 8 at a time."""
    folder = tmp_path_factory.mktemp("bins")
    (folder / "drive.toml").write_text(PROFILE)
    (folder / "write.fio").write_text(JOB)
    return pslc.run(folder / "write.fio", on=f"sim:{folder}/drive.toml")


def in_bins(recording: Recording, counts: list[int], latency_s: float = 0.04) -> Recording:
    """The recording of a real drive, with so many requests that came back in each bin of 50 ms."""
    writes = np.array(counts, dtype=np.uint64)
    start = int(recording.jobs[0]["start_ns"])
    series = {name: np.zeros(len(writes), dtype=np.uint64) for name in recording.bytes}
    series |= {
        "end_ns": start + (np.arange(1, len(writes) + 1) * BIN_S * 1e9).astype(np.uint64),
        "write_bytes": writes * REQUEST,
        "writes": writes,
        "lat_sum_ns": writes * int(latency_s * 1e9),
        "lat_max_ns": (writes > 0) * np.uint64(latency_s * 1e9),
    }
    return replace(recording, profile="", facts={"notes": [], "device": None}, bytes=series)


def test_a_bin_in_which_nothing_came_back_is_no_speed_of_the_drive(written: Recording) -> None:
    """The time that it lasted is of what came back after it: no bin of the curve has a speed of 0."""
    counts = [8, 8, 0, 8, 8, 0, 0, 8, 8, 8]
    curve = write_curve(in_bins(written, counts))
    assert curve is not None
    assert curve.total_bytes == sum(counts) * REQUEST
    assert curve.total_seconds == pytest.approx(len(counts) * BIN_S)
    assert len(curve.seconds) == np.count_nonzero(counts)
    speeds = curve.widths / curve.seconds
    assert speeds == pytest.approx(8 * REQUEST / (BIN_S * np.array([1, 1, 2, 1, 3, 1, 1])))


def test_the_first_bin_of_a_real_drive_holds_a_whole_queue(written: Recording) -> None:
    """A part of what was asked for at once tells how long a request takes, which is no average speed."""
    curve = write_curve(in_bins(written, [1, 2, 3, 2, 8, 8]))
    assert curve is not None
    assert curve.widths[0] == DEPTH * REQUEST
    assert curve.seconds[0] == pytest.approx(4 * BIN_S)
    assert curve.total_bytes == 24 * REQUEST


def test_jobs_that_wait_for_each_other_ask_for_a_queue_each(written: Recording) -> None:
    """After a pause a suite writes to the end of its region and goes on at its beginning: two jobs, one queue."""
    recording = in_bins(written, [1, 2, 3, 2, 1, 1])
    later = {**recording.jobs[0], "groupid": 1}
    curve = write_curve(replace(recording, jobs=[recording.jobs[0], later]))
    assert curve is not None
    assert curve.widths[0] == DEPTH * REQUEST


def test_a_bin_in_which_nothing_came_back_is_in_no_average_of_latencies(written: Recording) -> None:
    counts = [8, 8, 0, 8, 0, 0, 8, 0, 0, 8, 0, 0]
    recording = in_bins(written, counts)
    total = float(sum(counts) * REQUEST)
    context = measurement_context(WriteTrack.of(recording), [Phase(0.0, total, total / 0.6, 0.0, 0.0, 0.0, 0.0)])
    assert context.first_request_extra_s == pytest.approx(0.0)
    assert context.mean_s == pytest.approx([0.04])
    assert context.fastest_s == pytest.approx([0.04])
    assert context.longest_s == pytest.approx([0.04])
    assert context.slowest_quantiles_s == [pytest.approx((0.04, 0.04, 0.04, 0.04))]
