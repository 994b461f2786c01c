"""The analysis from Python: typed objects, and arrays."""

import json

import numpy as np
import pytest

import pslc
from pslc.analysis import ExplainedPhase, WriteAnalysis
from tests.conftest import fill

GB, MB = 1e9, 1e6


def cliff() -> tuple[np.ndarray, np.ndarray]:
    """GB written at the end of each of 500 samples, and bytes/s: 4 GB/s up to 150 GB, then 1 GB/s up to 500."""
    written = np.arange(1, 501) * GB
    return written, np.where(written <= 150 * GB, 4000 * MB, 1000 * MB)


def test_the_findings_of_a_run_are_typed_objects_and_the_same_in_json() -> None:
    recording = fill("sim:pm871b-128gb")
    found = recording.findings
    assert found.cache is not None
    assert found.cache.bytes == recording.findings["cache_bytes"]
    assert not [phase for phase in found.phases if not isinstance(phase, ExplainedPhase)]
    assert [phase.cause for phase in found.phases] == ["pslc", "direct"]
    assert found.mean_bytes_per_s == found["fill_mean_bytes_per_s"]
    written = WriteAnalysis.of_document(found)
    assert written.document() | {"throttled_s": 0.0} == json.loads(json.dumps(found))
    assert WriteAnalysis.of_document(written.document()) == written


def test_a_part_of_a_fill_and_a_drive_without_a_cliff_survive_json() -> None:
    written, _ = cliff()
    for capacity, seen in ((6000 * GB, False), (500 * GB, None)):
        found = pslc.analyze(written, np.full(500, 2.7e9), capacity_bytes=capacity)
        assert (found.cache.seen_end if found.cache else None) is seen
        again = WriteAnalysis.of_document(found.document())
        assert (again.cache.low if again.cache else None) == (500 * GB if found.cache else None)


@pytest.mark.parametrize("by", ["bytes", "time"])
def test_arrays_are_analysed_by_bytes_and_by_time(by: str) -> None:
    written, speed = cliff()
    x = written if by == "bytes" else np.cumsum(np.diff(written, prepend=0) / speed)
    found = pslc.analyze(x, speed, by=by, capacity_bytes=500 * GB)  # type: ignore[arg-type]
    assert found.cache is not None
    assert found.cache.bytes == pytest.approx(150 * GB, rel=1e-3)
    assert [phase.bytes_per_s for phase in found.phases] == pytest.approx([4e9, 1e9], rel=1e-3)
    assert found.phases[0].cause == "pslc"


def test_lists_will_do_and_the_link_is_used_where_it_is_known() -> None:
    written, speed = cliff()
    found = pslc.analyze(written.tolist(), speed.tolist(), capacity_bytes=500 * GB, link_bytes_per_s=4050 * MB)
    assert found.phases[0].cause == "link"


def test_arrays_that_make_no_curve_are_refused_with_a_hint() -> None:
    for x, y in (([1e9, 2e9], [1e9]), ([], []), ([1e9], [0.0])):
        with pytest.raises(ValueError, match="hint:"):
            pslc.analyze(x, y)
