"""Recovery on a hundred random drives whose threshold, rate and residue are hidden: how often its 90 % intervals hold
them."""

from pathlib import Path

import pytest

import pslc
from pslc.targets.region import Scope
from tests.small import PROFILE, Hidden, random_idle

pytestmark = pytest.mark.slow

DRIVES = 100
NAMES = ("idle_threshold_s", "migration_bytes_per_s", "residue_bytes")


def holds(found: dict, name: str, truth: float) -> "bool | None":
    """Whether the interval holds the truth; None when there is none. A least value is an interval without an end."""
    low, high = found[f"{name}_low"], found[f"{name}_high"]
    if low is None:
        return None
    return bool(low <= truth and (high is None or truth <= high))


@pytest.mark.parametrize("quick", [False, True], ids=["whole", "quick"])
def test_recovery_is_right_as_often_as_it_says(quick, tmp_path: Path, capsys):
    path = tmp_path / "small.toml"
    path.write_text(PROFILE)
    held: dict[str, list[bool]] = {name: [] for name in NAMES}
    off: list[tuple[float, str]] = []
    for seed in range(DRIVES):
        keys, hidden = random_idle(seed)
        spec = f"sim:{path}," + ",".join(f"{key}={value}" for key, value in keys.items())
        found = pslc.run("recovery", on=spec, scope=Scope(quick=quick)).findings
        for name, truth in zip(NAMES, hidden, strict=True):
            right = holds(found, name, truth)
            if right is not None:
                held[name].append(right)
            value = found[name]
            if right is False:
                said = f"{name} {value} ({found[f'{name}_low']} to {found[f'{name}_high']}), truth {truth}"
                off.append((abs((value or 0.0) - truth) / max(truth, 1.0), f"{seed}: {said} {Hidden._fields} {keys}"))
    with capsys.disabled():
        for name, right in held.items():
            print(f"\n{name}: {sum(right)} of {len(right)} intervals hold the truth, of {DRIVES} drives", end="")
        print("\nthe worst:", *(said for _, said in sorted(off, reverse=True)[:10]), sep="\n")
    for name in NAMES[:2]:
        assert len(held[name]) >= 0.97 * DRIVES, f"{name} is not found on too many drives"
        assert 0.85 <= sum(held[name]) / len(held[name]) <= 0.97, name
    assert sum(held[NAMES[2]]) / len(held[NAMES[2]]) >= 0.85
