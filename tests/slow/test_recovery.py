"""Recovery on a hundred random drives whose threshold, rate and residue are hidden: how often its 90 % intervals hold
them."""

import pytest
from benches.recovery import NAMES, one, right

pytestmark = pytest.mark.slow

DRIVES = 100
FIRST = 2000
"""Of the seeds: those below were looked at when the intervals were made."""


@pytest.mark.parametrize("quick", [False, True], ids=["whole", "quick"])
def test_recovery_is_right_as_often_as_it_says(quick, capsys):
    found = [one(seed, quick) for seed in range(FIRST, FIRST + DRIVES)]
    seen = [told for told in found if not told.nothing]
    wrong = [(told.off(name), name, told) for told in seen for name in NAMES if told.holds(name) is False]
    with capsys.disabled():
        for off, name, told in sorted(wrong, key=lambda row: -row[0])[:10]:
            print(f"\n{told.seed}: {name} {told.findings[name]}, off by {off:.2g}: {told.hidden} {told.keys}", end="")
    for told in found:
        assert (told.findings["idle_threshold_s"] is None) == told.nothing, told.seed
    for name in ("idle_threshold_s", "migration_bytes_per_s"):
        assert len(right(found, name)) >= 0.97 * len(seen), f"{name} is not found on too many drives"
        assert 0.85 <= sum(right(found, name)) / len(right(found, name)) <= 0.97, name
    assert sum(right(found, "residue_bytes")) >= 0.85 * len(right(found, "residue_bytes"))
