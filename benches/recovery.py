"""How often `recovery` is right on random drives whose threshold, rate and residue are hidden: a table."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import pslc
from benches.small import PROFILE, Hidden, random_idle
from pslc.device.region import Scope

NAMES = {
    "idle_threshold_s": "threshold_s",
    "migration_bytes_per_s": "rate_bytes_per_s",
    "residue_bytes": "residue_bytes",
}
"""Findings, and what of `Hidden` each is."""


@dataclass(frozen=True)
class Told:
    """What was said of a drive, and what is true.

    Attributes:
        nothing: what the drive keeps is more than its cache holds when it is half full, so no pause frees anything.
    """

    seed: int
    keys: dict[str, str]
    hidden: Hidden
    findings: dict[str, Any]

    @property
    def nothing(self) -> bool:
        """Whether the residue fills the whole cache, so that nothing recovers."""
        cache = self.findings["cache_bytes"]
        return cache is not None and self.hidden.residue_bytes >= cache

    def holds(self, name: str) -> bool | None:
        """Whether the interval holds the truth; None where none is stated, or there is nothing to find. A least value
        is an interval without an end."""
        low, high = self.findings[f"{name}_low"], self.findings[f"{name}_high"]
        if low is None or self.nothing:
            return None
        true = getattr(self.hidden, NAMES[name])
        return bool(low <= true and (high is None or true <= high))

    def off(self, name: str) -> float:
        """How far the value is from the truth, relatively."""
        true = getattr(self.hidden, NAMES[name])
        return float(abs((self.findings[name] or 0.0) - true) / max(true, 1.0))


def one(seed: int, quick: bool) -> Told:
    """Truth and answer of the drive of a seed."""
    keys, hidden = random_idle(seed)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "small.toml"
        path.write_text(PROFILE)
        spec = ",".join([f"sim:{path}", *(f"{key}={value}" for key, value in keys.items())])
        findings = pslc.run("recovery", on=spec, scope=Scope(quick=quick)).findings
    return Told(seed, keys, hidden, dict(findings))


def right(found: list[Told], name: str) -> list[bool]:
    """Of the drives of which something was stated."""
    return [holds for one in found if (holds := one.holds(name)) is not None]


def table(runs: dict[str, list[Told]]) -> str:
    """A row a kind of run, as Markdown."""
    rows = ["| `recovery` | threshold held | rate held | residue held | nothing to find, and said so |"]
    rows.append("|---|---:|---:|---:|---:|")
    for name, found in runs.items():
        held = [f"{np.mean(some):.1%} of {len(some)}" for some in (right(found, one) for one in NAMES)]
        none = [one for one in found if one.nothing]
        said = sum(one.findings["idle_threshold_s"] is None for one in none)
        rows.append(f"| {len(found)} drives, {name} | {' | '.join(held)} | {said} of {len(none)} |")
    return "\n".join(rows)
