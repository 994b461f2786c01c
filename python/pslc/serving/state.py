"""What the plugin of nbdkit tells several times a second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from pslc import words

LATE_SHARE: Final = 0.05
LATE_S: Final = 10e-6
"""Replies that are later than both, on average, are told."""
ENOUGH: Final = 200
"""Replies of which an average is taken."""


@dataclass(frozen=True)
class State:
    """What the plugin tells several times a second: totals since the beginning, seconds, and the drive's columns
    as they are."""

    clock_s: float
    bytes: tuple[int, int, int]
    count: tuple[int, int, int]
    latency_s: tuple[float, float] | None
    queue: int
    way_s: float
    replies: int
    late_s: float
    late_p99_s: float
    drive_s: float
    columns: dict[str, int]

    @classmethod
    def of(cls, said: dict[str, Any]) -> State:
        """From a line of JSON."""
        late = said["late"]
        some = (said["p50_ns"] / 1e9, said["p99_ns"] / 1e9) if said["p50_ns"] else None
        return cls(said["clock_ns"] / 1e9, tuple(said["bytes"]), tuple(said["count"]), some, said["under_way"],
                   said["way_ns"] / 1e9, late["count"], late["mean_ns"] / 1e9, late["p99_ns"] / 1e9,
                   late["of_ns"] / 1e9, said["columns"])  # fmt: skip

    @property
    def too_slow(self) -> str | None:
        """That the host is too slow for the drive, and by how much; None where it is not."""
        if self.replies < ENOUGH or self.late_s < max(LATE_S, LATE_SHARE * self.drive_s):
            return None
        said = f"replies leave {words.span(self.late_s)} late on average (99 % within {words.span(self.late_p99_s)})"
        return f"{said}, where the drive takes {words.span(self.drive_s)}"
