"""Axes of a study: a key and the values it takes, as lists or ranges, and conditions between them."""

import math
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from pslc.base import units
from pslc.base.errors import JobError

MOST_VALUES: Final = 100_000
NUMBER: Final = r"([0-9]{1,30}(?:\.[0-9]{1,30})?)\s*([A-Za-z%/]*)"
COMPARISONS: Final = {
    "<=": operator.le, ">=": operator.ge, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "=": operator.eq,
}  # fmt: skip


@dataclass(frozen=True)
class Axis:
    """A key of the profile (or `on`, `run`, `seed`, `scale`), and its values as a target writes them."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Span:
    """A key and the values that samples take between two of them, evenly or in equal ratios.

    Attributes:
        low, high: in the smallest unit of their kind, which `kind` names.
    """

    key: str
    low: Fraction
    high: Fraction
    kind: str
    logarithmic: bool


def span(key: str, text: object) -> Span | None:
    """`50GB:700GB` or `1ms:10s:log`, from which only samples take values; None: it is an axis of values."""
    match = re.fullmatch(rf"({NUMBER}):({NUMBER})(:log)?", text.strip()) if isinstance(text, str) else None
    if match is None:
        return None
    low, high = quantity(match[1]), quantity(match[4])
    example = f"{key}=50GB:700GB, or {key}=1ms:10s:log"
    if low is None or high is None or low[1] != high[1] or low[0] >= high[0] or (match[7] and low[0] <= 0):
        raise JobError(f"the span {text} of {key} is empty, or mixes units", example)
    return Span(key, low[0], high[0], low[1], bool(match[7]))


def axis(key: str, stated: object) -> Axis:
    """An axis of a list, or of a text: `fold,direct-then-fold`, `50GB:700GB:50GB` (from, to, step; both ends are in),
    `1ms:10s:log5` (five values in equal ratios).

    Raises:
        PslcError: it is neither, or has no values.
    """
    if isinstance(stated, str):
        values = [value for part in stated.split(",") for value in _range(key, part.strip())]
    elif isinstance(stated, Sequence):
        values = [value for part in stated for value in (_range(key, part) if isinstance(part, str) else [str(part)])]
    else:
        values = [str(stated)]
    values = list(dict.fromkeys(values))
    if not values or "" in values:
        raise JobError(f'the axis {key} is "{stated}", which has an empty value', "values between commas, or a range")
    return Axis(key, tuple(values))


def _range(key: str, text: str) -> list[str]:
    """The values of `from:to:step` or `from:to:logN`; of anything else itself. A target has colons too."""
    parts = text.split(":")
    if len(parts) != 3 or not all(re.fullmatch(NUMBER, part.strip()) for part in parts[:2]):
        return [text]
    called, example = f"the range {text} of {key}", f"{key}=50GB:700GB:50GB, or {key}=1ms:10s:log5"
    low, high = (quantity(part) for part in parts[:2])
    logarithmic = re.fullmatch(r"log([0-9]{1,5})", parts[2].strip())
    step = None if logarithmic else quantity(parts[2])
    if low is None or high is None or low[1] != high[1] or (step and step[1] != low[1]):
        raise JobError(f"{called} mixes units, or has an unknown one", example)
    ends = _Ends(called, example, low[0], high[0], low[1])
    if ends.first > ends.last:
        raise JobError(f"{called} ends before its start", example)
    return ends.in_ratios(int(logarithmic[1])) if logarithmic else ends.in_steps(step[0] if step else None)


@dataclass(frozen=True)
class _Ends:
    """Both ends of a range of values.

    Attributes:
        called: the range in messages.
        example: ranges of the same key that are right.
        first, last: in the smallest unit of their kind, which `kind` names.
    """

    called: str
    example: str
    first: Fraction
    last: Fraction
    kind: str

    def in_ratios(self, count: int) -> list[str]:
        """Values in a geometric row.

        Raises:
            PslcError: there is no such ratio.
        """
        if count < 2 or self.first <= 0:
            raise JobError(f"{self.called} has no ratio", f"give two values or more, above 0: {self.example}")
        ratio = math.log(self.last / self.first) / (count - 1)
        values = [float(self.first) * math.exp(ratio * at) for at in range(count)]
        # A step of a logarithmic range is worth three digits.
        return [written(Fraction(f"{value:.2e}"), self.kind) for value in values]

    def in_steps(self, step: Fraction | None) -> list[str]:
        """The first value, and every `step` behind it up to the last.

        Raises:
            PslcError: `step` is none, or does not rise, or takes more than `MOST_VALUES` steps.
        """
        if step is None or step <= 0 or (self.last - self.first) / step > MOST_VALUES:
            raise JobError(f"{self.called} has no step, or over {MOST_VALUES} values", self.example)
        return [written(self.first + step * at, self.kind) for at in range(int((self.last - self.first) / step) + 1)]


def quantity(text: str) -> tuple[Fraction, str] | None:
    """A number in the smallest unit of its kind, and that; None: it is none."""
    match = re.fullmatch(NUMBER, text.strip())
    if match is None:
        return None
    unit = match[2]
    for kind, table in (("B", units.UNITS), ("ns", units.NANOSECONDS)):
        if unit in table:
            return Fraction(match[1]) * table[unit], kind
    return Fraction(match[1]), unit


def written(value: Fraction, kind: str) -> str:
    """A number in the largest unit in which it is a number of at most three decimals, as a profile reads it."""
    table: Mapping[str, int] = {"B": units.UNITS, "ns": units.NANOSECONDS}.get(kind, {kind: 1})
    if kind in ("B", "ns"):
        value = Fraction(round(value))
    ordered = sorted((unit for unit in table if unit not in ("KB", "min", "h")), key=lambda unit: -table[unit])
    for unit in ordered:
        scaled = value / table[unit]
        if 1000 % scaled.denominator == 0 and (scaled >= 1 or unit == ordered[-1]):
            return f"{_decimal(scaled)}{unit}"
    return f"{_decimal(value)}{kind}"


def _decimal(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.9f}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Condition:
    """Condition on the axes of a point: `cache.static<cache.dynamic`, `cache.when_full!=fold`."""

    left: str
    sign: str
    right: str

    @classmethod
    def of(cls, text: str, keys: Sequence[str]) -> "Condition":
        """Read one.

        Raises:
            PslcError: it compares nothing with an axis.
        """
        match = re.fullmatch(r"([^<>=!]+)(<=|>=|!=|<|>|=)([^<>=!]+)", text.replace("==", "="))
        if match is None or match[1].strip() not in keys:
            hint = f"an axis, one of {' '.join(COMPARISONS)}, and an axis or a value; the axes are {', '.join(keys)}"
            raise JobError(f'"{text}" is not a condition', hint)
        return cls(match[1].strip(), match[2], match[3].strip())

    def holds(self, values: Mapping[str, str]) -> bool:
        """Whether a point is kept.

        Raises:
            PslcError: the two have no order.
        """
        left, right = values[self.left], values.get(self.right, self.right)
        first, second = quantity(left), quantity(right)
        if first is not None and second is not None and first[1] == second[1]:
            return bool(COMPARISONS[self.sign](first[0], second[0]))
        if self.sign not in ("=", "!="):
            raise JobError(f"{left} {self.sign} {right} compares words, which have no order", "use = or !=")
        return bool(COMPARISONS[self.sign](left, right))
