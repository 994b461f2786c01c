"""A small simulated drive whose hidden parameters the suites have to find: 8 GB of TLC, on which a fill takes 10 ms."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

PROFILE = (Path(__file__).parent / "small.toml").read_text(encoding="utf-8")


class Hidden(NamedTuple):
    """What `pslc run recovery` has to find."""

    threshold_s: float
    rate_bytes_per_s: float
    residue_bytes: float


def random_idle(seed: int) -> tuple[dict[str, str], Hidden]:
    """Keys of a random drive like the small one, of any policy, mode and reuse of its cache, and what they hide."""
    rng = np.random.default_rng(seed)

    def between(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    full = str(rng.choice(["fold", "direct-while-folding", "direct-then-fold"]))
    reuse = "as-freed" if full == "fold" else str(rng.choice(["as-freed", "when-empty", "after-idle"]))
    mode = str(rng.choice(["static-slc", "dynamic-slc", "hybrid-slc"]))
    size = min(between(200, 1000), 1000 if mode == "dynamic-slc" else 550)
    static = {"static-slc": 1.0, "hybrid-slc": 0.3, "dynamic-slc": 0.0}[mode]
    keys = {"mode": mode, "when_full": full, "reuse": reuse}
    keys |= {"static": f"{static * size:.0f}MB"} if static else {}
    keys |= {"dynamic": f"{(1 - static) * size:.0f}MB"} if static < 1 else {}
    dead = str(rng.choice(["free-at-once", "until-idle"]))
    keys |= {"dead": dead} if full != "fold" else {}
    keys |= {"host_share": f"{rng.integers(30, 80)}%", "fold_overhead": f"{rng.uniform(1, 2):.2f}"}
    milliseconds, rate = round(1000 * between(0.05, 120)), round(between(2, 100), 2)
    residue = round(float(rng.choice([0.0, rng.uniform(0.05, 0.8)])) * size)
    keys |= {"idle.threshold": f"{milliseconds}ms", "idle.rate": f"{rate}MB/s", "idle.residue": f"{residue}MB"}
    spec = {f"cache.{key}": value for key, value in keys.items()}
    spec["nand.native.program"] = f"{rng.uniform(700, 2000):.0f}us"
    return spec, Hidden(milliseconds / 1000, rate * 1e6, residue * 1e6)
