"""Recovery on a hundred random drives whose threshold, rate and residue are hidden: how often its 90 % intervals hold
them."""

import numpy as np
import pytest
from benches import intervals

pytestmark = pytest.mark.slow

SEEDS = range(2000, 2100)
"""Those below were looked at when the intervals were made."""


@pytest.mark.parametrize("quick", [False, True], ids=["whole", "quick"])
def test_recovery_is_right_as_often_as_it_says(quick, capsys):
    rows = []
    for seed in SEEDS:
        keys, truth = intervals.drive(seed)
        # The buffer of the small drive: what a larger one takes in hides where the pauses begin to help.
        del keys["controller.write_buffer"]
        findings = intervals.findings(keys, "recovery", quick=quick)
        nothing = intervals.gives_nothing_back(truth, findings)
        assert (findings["idle_threshold_s"] is None) == nothing, seed
        rows += intervals.rows_of("recovery", f"{seed}: {keys}", findings, truth)
    with capsys.disabled():
        print(f"\n{intervals.misses(rows)}")
    holds = {key: [row.holds for row in rows if row.key == key] for _, key in intervals.TRUTHS}
    seen = len({row.label for row in rows})
    for key in ("idle_threshold_s", "migration_bytes_per_s"):
        assert len(holds[key]) >= 0.97 * seen, f"{key} is not found on too many drives"
        assert 0.85 <= np.mean(holds[key]) <= 0.97, key
    assert np.mean(holds["residue_bytes"]) >= 0.85
