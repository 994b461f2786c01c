"""A curve refuses what is not one, and says why."""

import subprocess
import sys

import numpy as np
import pytest

from pslc.analysis import Curve


def test_speed_and_totals_follow_from_the_bins() -> None:
    curve = Curve(np.array([0.0, 10.0, 30.0]), np.array([1.0, 4.0]))
    assert curve.bytes_per_s.tolist() == [10.0, 5.0]
    assert (curve.total_bytes, curve.total_seconds) == (30.0, 5.0)


@pytest.mark.parametrize(
    ("edges", "seconds", "says"),
    [
        ([0.0, 1.0], [1.0, 1.0], "has no bins to pair"),
        ([0.0], [], "the curve has 0 bins"),
        ([0.0, 1.0, 2.0], [1.0, 0.0], "bin 1 took 0.0 s"),
        ([0.0, 1.0, 2.0], [1.0, float("nan")], "bin 1 took nan s"),
        ([0.0, 1.0, 1.0], [1.0, 1.0], "bin 1 holds 0.0 bytes"),
    ],
)
def test_a_bad_curve_is_refused_with_a_hint(edges: list[float], seconds: list[float], says: str) -> None:
    with pytest.raises(ValueError, match=says) as error:
        Curve(np.array(edges), np.array(seconds))
    assert "\n\nhint: " in str(error.value)


def test_importing_the_analysis_pulls_in_neither_ruptures_nor_scipy() -> None:
    code = "import sys, pslc.analysis; print(sorted({'ruptures', 'scipy'} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
