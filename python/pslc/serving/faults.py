"""Faults of a served drive: `--faults torn,eio=1e-6` and `--power-cut 1200`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from pslc.base import units, words
from pslc.base.errors import PslcError, user_error

FLAGS: Final = ("torn", "reorder", "lie-flush")
HINT: Final = "for example --faults seed=7,torn,reorder,lie-flush,eio=1e-6,hang=30s"


@dataclass(frozen=True)
class Faults:
    """Faults of a served drive, drawn from a seed: the same each time for the same requests.

    Attributes:
        seed: of all that is drawn.
        torn: one of the writes that a power cut takes stays in part.
        reorder: a drawn half of the writes that a power cut takes stays, later ones without earlier ones.
        lie_flush: flushes are answered at once and do nothing, and FUA is ignored.
        eio: share of reads and writes that fail.
        hang_s: seconds that one drawn request of the first thousand takes longer.
        cut_write: the power is cut as this write comes, counted from 1.
        cut_s: the power is cut after so many seconds of the drive's time.
    """

    seed: int = 0
    torn: bool = False
    reorder: bool = False
    lie_flush: bool = False
    eio: float = 0.0
    hang_s: float = 0.0
    cut_write: int | None = None
    cut_s: float | None = None

    @property
    def has_cut(self) -> bool:
        """Whether the power is cut at all."""
        return self.cut_write is not None or self.cut_s is not None

    def with_cut(self, text: str) -> Faults:
        """The same faults with a power cut at a write (`1200`) or a time (`30s`).

        Raises:
            PslcError: the text is neither.
        """
        at = text.removeprefix("at=")
        if at.isdecimal() and int(at) > 0:
            return replace(self, cut_write=int(at))
        try:
            return replace(self, cut_s=units.seconds(at, "--power-cut"))
        except PslcError:
            hint = "for example --power-cut 1200, as the 1200th write comes, or --power-cut 30s"
            raise user_error(f'--power-cut "{text}" is neither a number of a write nor a time', hint) from None


@dataclass(frozen=True)
class Loss:
    """Loss of data by a power cut.

    Attributes:
        writes: writes that had come.
        at_risk: writes that were neither in the cells nor flushed.
        lost: those of them that are lost, in whole or in part.
        lost_bytes: what is lost of them.
    """

    writes: int
    at_risk: int
    lost: int
    lost_bytes: int

    @property
    def sentence(self) -> str:
        """The loss in words."""
        of = f"{self.lost} of {self.at_risk} writes that were neither in the cells nor flushed"
        return f"the power was cut at write {self.writes}: {words.size(self.lost_bytes)} are lost, {of}"


def parse(text: str) -> Faults:
    """Faults as a user lists them: `seed=7,torn,reorder,lie-flush,eio=1e-6,hang=30s`.

    Raises:
        PslcError: a word is none of these, or its value is not what it takes.
    """
    faults = Faults()
    for word in text.replace(" ", "").split(","):
        name, _, value = word.partition("=")
        try:
            if word in FLAGS:
                faults = replace(faults, **{name.replace("-", "_"): True})
            elif name == "seed" and value.isdecimal() and int(value) < 1 << 64:
                faults = replace(faults, seed=int(value))
            elif name == "eio" and 0.0 <= float(value) <= 1.0:
                faults = replace(faults, eio=float(value))
            elif name == "hang":
                faults = replace(faults, hang_s=units.seconds(value, "hang"))
            else:
                raise ValueError
        except ValueError:
            raise user_error(f'--faults does not take "{word}"', HINT) from None
    return faults


def of_options(faults: str | None, power_cut: str | None) -> Faults | None:
    """Faults of both options; None if neither is given."""
    wrong = parse(faults) if faults else None
    return (wrong or Faults()).with_cut(power_cut) if power_cut else wrong
