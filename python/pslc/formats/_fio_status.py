"""The lines in which fio tells how far it is: the only curve in a text for people, rounded, and there even where fio
was stopped before its report.

Jobs: 1 (f=1): [W(1)][4.9%][w=1968MiB/s][w=1968 IOPS][eta 03m:14s]
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from pslc.analysis import Curve
from pslc.base import units

LINE: Final = re.compile(
    r"Jobs: \d+ \(f=\d+\): \[[^\]]*\]\[(?P<percent>\d+\.\d)%\]"
    r"\[(?:r=(?P<read>[\d.]+[KMGT]?i?B)/s)?,?(?:w=(?P<write>[\d.]+[KMGT]?i?B)/s)?[^\]]*\]"
    r"(?:\[[^\[\]]*\])*\[eta (?P<eta>[\d:dhms]+)"
)
SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)([kKMGTP]?)i?[bB]?")
INTERVAL: Final = re.compile(r"--eta-newline[= ](\d{1,4})s?\b")
SECONDS: Final = {"d": 86_400, "h": 3600, "m": 60, "s": 1}
MIN_ROWS: Final = 4
MAX_UNEVEN: Final = 0.25
"""Largest usual difference between the time from line to line and a whole number of seconds, as a share of it."""


@dataclass(frozen=True)
class Status:
    """Curve of the status lines, and what it is of.

    Attributes:
        interval_s: seconds from line to line.
        is_told: fio's command line tells them; else they follow from its shares and its estimates of the rest.
    """

    curve: Curve
    kind: Literal["read", "write"]
    interval_s: float
    is_told: bool


def status(text: str) -> Status | None:
    """The curve of a text's status lines; None where there are none, or nothing tells how long after each other they
    came."""
    rows = list(LINE.finditer(text))
    if len(rows) < MIN_ROWS:
        return None
    command = INTERVAL.search(text)
    interval_s = float(command[1]) if command else _interval_s(rows)
    rates = {kind: np.array([size(row[kind] or "") for row in rows]) for kind in ("read", "write")}
    kind: Literal["read", "write"] = "write" if rates["write"].sum() >= rates["read"].sum() else "read"
    moved = rates[kind] > 0
    if not interval_s or moved.sum() < MIN_ROWS:
        return None
    curve = Curve.of_rows(rates[kind] * interval_s, np.full(len(rows), interval_s))
    return Status(curve, kind, interval_s, command is not None)


def _interval_s(rows: list[re.Match[str]]) -> float:
    """Seconds between two lines, from the share that is done and the time that the rest is to take; 0: they are not
    even, or of several runs."""
    shares = np.array([float(row["percent"]) / 100 for row in rows])
    if np.any(np.diff(shares) < 0):
        return 0.0
    within = (shares > 0.01) & (shares < 0.99)
    left = np.array([_span_s(row["eta"]) for row in rows])
    elapsed = left[within] * shares[within] / (1 - shares[within])
    if elapsed.size < MIN_ROWS:
        return 0.0
    steps = np.diff(elapsed) / np.diff(np.flatnonzero(within))
    usual = max(float(np.rint(np.median(steps))), 1.0)
    return usual if np.median(np.abs(steps - usual)) <= MAX_UNEVEN * usual else 0.0


def _span_s(text: str) -> float:
    return float(sum(int(part[:-1]) * SECONDS[part[-1]] for part in text.split(":")))


def size(word: str) -> float:
    """Bytes of `55.9GiB`; of fio 2's `20480MB` as well, whose KB are 1024. 0 where it is no size."""
    match = SIZE.fullmatch(word)
    return float(match[1]) * units.POWERS_OF_1024[match[2].lower()] if match else 0.0
