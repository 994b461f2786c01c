"""A log of writes whose truth is known, as the generators of `benches` make them."""

from dataclasses import dataclass, field

FAST = frozenset({"pslc", "link", "cpu", "host"})
"""Causes that are right for a cache that fills: the cells, or what feeds them."""
BEHIND = frozenset({"fold", "direct", "native"})
"""Causes that are right behind a cliff; one level alone does not tell them apart."""


@dataclass(frozen=True)
class TruePhase:
    """A stretch of a log, in bytes from its beginning, and the causes that are right for it."""

    from_bytes: float
    to_bytes: float
    causes: frozenset[str]


@dataclass(frozen=True)
class LogCase:
    """Text of a log as some program writes it, what its user gives beside it, and the truth."""

    shape: str
    seed: int
    files: dict[str, str]
    arguments: list[str]
    capacity_bytes: float
    ends: tuple[float, ...] = ()
    """Ends of the cache that are right, in bytes of the log; empty where the log has none."""
    phases: tuple[TruePhase, ...] = field(default=())
    has_cache: bool = True
