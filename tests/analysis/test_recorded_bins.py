"""What the bins of a recording tell the analysis: a speed where requests came back, and nothing where none did."""

from dataclasses import replace

import numpy as np
import pytest
from benches.small import PROFILE

import pslc
from pslc.analysis import Phase
from pslc.figures.curves import speed_by_time as speed_picture
from pslc.recording.model import Recording, join
from pslc.recording.rates import speed_by_time
from pslc.recording.writes.curve import WriteTrack, write_curve
from pslc.recording.writes.evidence import measurement_context
from pslc.recording.writes.findings import of_writes

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


def in_bins(recording: Recording, counts: list[int]) -> Recording:
    """The recording of a real drive, with so many requests that came back in each bin of 50 ms."""
    writes = np.array(counts, dtype=np.uint64)
    start = int(recording.jobs[0]["start_ns"])
    series = {name: np.zeros(len(writes), dtype=np.uint64) for name in recording.bytes}
    series |= {
        "end_ns": start + (np.arange(1, len(writes) + 1) * BIN_S * 1e9).astype(np.uint64),
        "write_bytes": writes * REQUEST,
        "writes": writes,
        "lat_sum_ns": writes * 40_000_000,
        "lat_max_ns": (writes > 0) * np.uint64(40_000_000),
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


@pytest.mark.parametrize(("gaps", "phases"), [([], 3), ([5.0], 1), ([15.0], 3)], ids=["none", "there", "elsewhere"])
def test_a_spurt_behind_a_gap_is_no_phase_and_no_missing_sample(written: Recording, gaps: list[float], phases: int):
    """Threads that were stopped wake on one core, and are for some time faster or slower than before."""
    recording = in_bins(written, [8] * 100 + [24] * 5 + [8] * 295)
    recording.facts["gaps"] = [{"at_s": at, "duration_s": 3.0, "step": 0} for at in gaps]
    findings = of_writes(recording)
    assert len(findings["phases"]) == phases
    assert "gaps" not in [warning.code for warning in findings["warnings"]]
    first, second = join([recording, recording]).parts
    assert (first.facts["gaps"], second.facts["gaps"]) == (recording.facts["gaps"], [])


def test_a_line_has_a_gap_where_pslc_did_not_run(written: Recording) -> None:
    """Else the line would go on across time of which nothing is recorded."""
    recording = in_bins(written, [8] * 100)
    recording = replace(recording, time=recording.bytes)
    recording.facts["gaps"] = [{"at_s": 1.0, "duration_s": 3.0, "step": 0}, {"at_s": 9.0, "duration_s": 3.0, "step": 0}]
    x, y = speed_by_time(recording, "write")
    assert x[np.isnan(y)] == pytest.approx([1.0])
    assert [mark.x for mark in speed_picture(recording).panels[0].marks] == [1.0, 9.0]


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
