"""Work of a simulated drive that is done by the end of each bin of time.

Its counters grow when work is begun: one request may begin the fold of a whole superblock, and many requests are handed
over at once.

```text
  die time    begun  |‾‾‾‾‾‾‾‾      executed      _/‾‾
                    |                          _/
                 ___|                       __/        as steep as all dies together
```
"""

from __future__ import annotations

import tomllib
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from pslc.base import units
from pslc.recording.store import Recording

Floats = NDArray[np.float64]

DIE_TIME: Final = "die_busy_ns_total"
LINK_TIME: Final = "link_busy_ns_total"
ENERGY: Final = "energy_nj_total"
OVER_LINK: Final[dict[str, Literal["link_read_bytes_per_s", "link_bytes_per_s"]]] = {
    "host_read_bytes_total": "link_read_bytes_per_s", "host_write_bytes_total": "link_bytes_per_s",
}  # fmt: skip
"""Counters of what the link carries, and the fact that says how fast. Other work is the dies'."""
ORDER_NS: Final = 1e-3
"""Busy time by which bins without work are told apart, to keep their order."""
DIE_POWERS: Final = ("die_read", "die_program", "die_erase")


def executed(recording: Recording, counter: str) -> Floats:
    """Return what a counter grew by until the end of each bin of time, as far as it can have been done by then.

    Work is done in the order in which it was begun, by all dies together, or by the link. The last bin ends below the
    recording's total if some was still to be done. Of a real drive, the counter itself.
    """
    begun = _growth(recording, counter)
    if DIE_TIME not in recording.time or not recording.facts.get("dies"):
        return begun
    if counter == ENERGY:
        parts = _energy_parts(recording, begun)
        # The rest passes with time.
        rest = begun - sum(parts.values())
        return np.asarray(rest + sum(_done(recording, part, name) for name, part in parts.items()), dtype=np.float64)
    return _done(recording, begun, counter if counter in (*OVER_LINK, LINK_TIME) else DIE_TIME)


def _growth(recording: Recording, counter: str) -> Floats:
    return recording.time[counter].astype(np.float64) - float(recording.before[counter])


def _done(recording: Recording, begun: Floats, work: str) -> Floats:
    """Return how much of what was begun until the end of each bin was done by then, in step with the counter `work`."""
    facts, ends_ns = recording.facts, recording.time["end_ns"].astype(np.float64) - recording.start_ns
    # Per nanosecond: die time, bytes, or time of the link.
    pace = facts[OVER_LINK[work]] / 1e9 if work in OVER_LINK else float(facts["dies"]) if work == DIE_TIME else 1.0
    due_ns = _growth(recording, work) / pace
    # All is done wherever what could be done since there was nothing to do reaches what was begun.
    done_ns = ends_ns + np.minimum(np.minimum.accumulate(due_ns - ends_ns), 0.0)
    steps = ORDER_NS * np.arange(1, len(ends_ns) + 1)
    done = np.interp(done_ns + steps, np.append(0.0, due_ns + steps), np.append(0.0, begun))
    return np.asarray(done, dtype=np.float64)


def _energy_parts(recording: Recording, energy_nj: Floats) -> dict[str, Floats]:
    """Return what work drew until the end of each bin, by the counter that it goes with: of the dies, and of data."""
    power = tomllib.loads(recording.profile or "").get("power", {})
    # A milliwatt for a nanosecond is a picojoule.
    die_mw = max(
        (1e3 * units.watts(str(power[key]), f"power.{key}") for key in DIE_POWERS if key in power), default=0.0
    )
    pj_per_byte = float(str(power.get("data", "0pJ/B")).removesuffix("pJ/B"))
    left, parts = np.diff(energy_nj, prepend=0.0), dict[str, Floats]()
    for name, each in ((DIE_TIME, die_mw), *((name, pj_per_byte) for name in OVER_LINK)):
        drawn = np.minimum(each * np.diff(_growth(recording, name), prepend=0.0) / 1e3, left)
        left = left - drawn
        parts[name] = np.cumsum(drawn)
    return parts
