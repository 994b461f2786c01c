"""The write curve every analysis starts from: how long each stretch of bytes took."""

from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MIN_SILENCE_S: Final = 10.0
"""Time without writes from which a host was silent, and a cache may have emptied; below it the drive stalled."""
MIN_CLOCK_GAP_S: Final = 30.0
MIN_CLOCK_GAP_ROWS: Final = 20.0
"""A step between rows of a log of speeds that is longer than both, in seconds and in usual steps, is one in which the
logger did not run: nothing is known to have been written in it."""


def median(values: Floats) -> float:
    """The median of values without NaN, at least one. `np.median` is the same, and imports numpy.ma."""
    ordered, half = np.sort(values), values.size // 2
    return float(ordered[half] if values.size % 2 else (ordered[half - 1] + ordered[half]) / 2)


@dataclass(frozen=True)
class Curve:
    """Time against bytes written, in bins.

    Bins are usually of equal bytes; a wider one (missing samples) is allowed anywhere.

    Args:
        edges_bytes: cumulative bytes at the bin borders, strictly ascending, shape (n + 1,), n >= 1.
        seconds: time each bin took, > 0, shape (n,).
        silent_s: time before each bin in which the host wrote nothing, shape (n,); empty: none.

    Raises:
        ValueError: the arrays do not describe such a curve.
    """

    edges_bytes: Floats
    seconds: Floats
    silent_s: Floats = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        if not self.silent_s.size:
            object.__setattr__(self, "silent_s", np.zeros(self.seconds.shape))
        if self.seconds.ndim != 1 or self.edges_bytes.shape != (self.seconds.size + 1,):
            raise ValueError(
                f"a curve of shapes {self.edges_bytes.shape} and {self.seconds.shape} has no bins to pair\n\n"
                "hint: n bins need n + 1 edges and n times, n >= 1"
            )
        if self.seconds.size == 0:
            raise ValueError("the curve has 0 bins but at least 1 is needed\n\nhint: nothing was recorded")
        bad = np.flatnonzero(~(np.isfinite(self.seconds) & (self.seconds > 0)))
        if bad.size:
            raise ValueError(
                f"bin {bad[0]} took {self.seconds[bad[0]]} s but a time must be finite and above 0\n\n"
                "hint: join empty bins with their neighbours"
            )
        bad = np.flatnonzero(~(np.isfinite(self.widths) & (self.widths > 0)))
        if bad.size:
            raise ValueError(
                f"bin {bad[0]} holds {self.widths[bad[0]]} bytes but a width must be finite and above 0\n\n"
                "hint: edges are cumulative bytes, strictly ascending"
            )

    @classmethod
    def of_samples(cls, positions: Floats, bytes_per_s: Floats, by: Literal["bytes", "time"]) -> "Curve":
        """A curve of speeds, each of which holds from the sample before it to itself; see `of_rows`.

        Where the clock runs on without rows, nothing is known to have been written.

        Args:
            positions: bytes written so far, or seconds, at the end of each sample, ascending, shape (n,).
            bytes_per_s: shape (n,).

        Raises:
            ValueError: the shapes differ, or no sample is left.
        """
        if positions.ndim != 1 or positions.shape != bytes_per_s.shape:
            raise ValueError(
                f"samples of shapes {positions.shape} and {bytes_per_s.shape} do not pair\n\n"
                "hint: two rows of the same length"
            )
        steps = np.diff(positions, prepend=0.0)
        if by == "time":
            usual = float(np.median(steps[steps > 0])) if (steps > 0).any() else 0.0
            gap = steps > max(MIN_CLOCK_GAP_S, MIN_CLOCK_GAP_ROWS * usual)
            gap[:1] = False
            silent = np.where(gap, steps - usual, 0.0)
            return cls.of_rows((steps - silent) * bytes_per_s, steps - silent, silent)
        # The speed of a stretch whose sample is 0 is not known: the next sample holds for it.
        good = np.isfinite(bytes_per_s) & (bytes_per_s > 0) & (steps >= 0)
        steps = np.diff(positions[good], prepend=0.0)
        return cls.of_rows(steps, steps / bytes_per_s[good])

    @classmethod
    def of_rows(cls, widths: Floats, seconds: Floats, silent_s: Floats | None = None) -> "Curve":
        """A curve of a logger's rows. Time in which nothing was written is silence from `MIN_SILENCE_S` on, and else
        belongs to the next bytes; rows without time join the next. Behind the last bytes the writer may have ended:
        that time belongs to them only if the drive stood still for as long before.

        Args:
            widths, seconds: bytes and time of each row, shape (n,).
            silent_s: time before each row in which nothing was written, shape (n,); None: none.

        Raises:
            ValueError: no row is left.
        """
        good = np.isfinite(widths) & np.isfinite(seconds) & (seconds >= 0) & (widths >= 0)
        silent = np.zeros(seconds.shape) if silent_s is None else silent_s
        rows: list[tuple[float, float, float]] = []
        idle = taken = still = longest_s = 0.0
        for width, span, before in zip(widths[good], seconds[good], silent[good], strict=True):
            idle += before
            if not width:
                still += span
            elif not span:
                taken += width
            else:
                idle, still = (idle + still, 0.0) if still >= MIN_SILENCE_S else (idle, still)
                rows.append((taken + width, still + span, idle))
                longest_s = max(longest_s, still)
                idle = taken = still = 0.0
        if 0 < still <= longest_s:
            rows[-1] = (rows[-1][0], rows[-1][1] + still, rows[-1][2])
        columns = np.array(rows).reshape(-1, 3).T
        return cls(np.concatenate(([0.0], np.cumsum(columns[0]))), *_beside_silences(*columns))

    @property
    def widths(self) -> Floats:
        """Bytes in each bin, shape (n,)."""
        return np.diff(self.edges_bytes)

    @property
    def bytes_per_s(self) -> Floats:
        """Mean speed within each bin, shape (n,)."""
        return self.widths / self.seconds

    @property
    def total_bytes(self) -> float:
        """Bytes between the first and the last edge."""
        return float(self.edges_bytes[-1] - self.edges_bytes[0])

    @property
    def total_seconds(self) -> float:
        """Time between the first and the last edge in which the host wrote."""
        return float(self.seconds.sum())

    @property
    def duration_s(self) -> float:
        """Time between the first and the last edge, silences included."""
        return self.total_seconds + float(self.silent_s.sum())

    def seconds_at(self, at_bytes: Floats) -> Floats:
        """Time from the start until each byte position was reached, a bin being of one speed throughout."""
        elapsed = np.concatenate(([0.0], np.cumsum(self.seconds)))
        return np.interp(at_bytes, self.edges_bytes, elapsed)


def _beside_silences(widths: Floats, seconds: Floats, silent_s: Floats) -> tuple[Floats, Floats]:
    """Times of rows and of the silences before them, where the part of a row in which the host was silent already, or
    still, counts as silence: its bytes took as long as at the speed of the row beside it."""
    seconds, silent_s = seconds.copy(), silent_s.copy()
    for row in np.flatnonzero(silent_s):
        for edge, beside in ((row, row + 1), (row - 1, row - 2)):
            if 0 <= beside < seconds.size and not silent_s[max(edge, beside)]:
                idle = seconds[edge] - widths[edge] * seconds[beside] / widths[beside]
                if idle > 0:
                    seconds[edge] -= idle
                    silent_s[row] += idle
    return seconds, silent_s
