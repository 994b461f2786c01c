"""The write curve every analysis starts from: how long each stretch of bytes took."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """Time against bytes written, in bins.

    Bins are usually of equal bytes; a wider one (missing samples) is allowed anywhere.

    Args:
        edges_bytes: cumulative bytes at the bin borders, strictly ascending, shape (n + 1,), n >= 1.
        seconds: time each bin took, > 0, shape (n,).

    Raises:
        ValueError: the arrays do not describe such a curve.
    """

    edges_bytes: Floats
    seconds: Floats

    def __post_init__(self) -> None:
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
        """A curve of speeds, each of which holds from the sample before it to itself.

        Samples in which nothing was written, or that took no time, are left out.

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
        with np.errstate(divide="ignore", invalid="ignore"):
            widths, seconds = (steps, steps / bytes_per_s) if by == "bytes" else (steps * bytes_per_s, steps)
        good = np.isfinite(seconds) & np.isfinite(widths) & (seconds > 0) & (widths > 0)
        return cls(np.concatenate(([0.0], np.cumsum(widths[good]))), seconds[good])

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
        """Time between the first and the last edge."""
        return float(self.seconds.sum())

    def seconds_at(self, at_bytes: Floats) -> Floats:
        """Time from the start until each byte position was reached, a bin being of one speed throughout."""
        elapsed = np.concatenate(([0.0], np.cumsum(self.seconds)))
        return np.interp(at_bytes, self.edges_bytes, elapsed)
