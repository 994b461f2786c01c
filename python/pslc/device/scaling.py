"""A smaller drive that behaves like the whole one: `sim:NAME,scale=1/16`.

A block has fewer pages, and every size is smaller in proportion. So the number of superblocks, the share of spare space
and of the cache, the policy, speeds, idle rates and the time that an erase takes per byte stay as they are; how long
anything takes that goes over the whole drive does not. `whole` multiplies back what is smaller.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pslc.base import files, units, words
from pslc.base.errors import TargetError
from pslc.schema.warnings import MeasurementWarning

if TYPE_CHECKING:
    from pslc.recording.model import Recording

KEY = "scale"


def factor(text: str, spec: str) -> Fraction:
    """Parse the value of `scale=`, a fraction above 0 and at most 1.

    Raises:
        PslcError: it is no such fraction.
    """
    match = re.fullmatch(r"([0-9]{1,6})(?:/([0-9]{1,6}))?", text)
    fraction = Fraction(int(match[1]), int(match[2] or 1)) if match and int(match[2] or 1) else Fraction(0)
    if not 0 < fraction <= 1:
        raise TargetError(f'scale is "{text}" in {spec}', "a fraction of the drive, such as scale=1/16; at most 1")
    return fraction


def overrides(whole: str, scaled: str | None, by: Fraction, spec: str) -> list[tuple[str, str]]:
    """The keys that make a drive `by` times as large: what its scaled profile has instead of its own.

    Raises:
        PslcError: there is no scaled profile, as a block has not that many pages.
    """
    before = files.keys(whole)
    if scaled is None:
        pages, bits = int(before["nand.pages_per_block"]), int(before["nand.bits_per_cell"])
        lines = pages // bits
        near = [d for d in range(2, lines + 1) if lines % d == 0]
        some = ", ".join(f"1/{d}" for d in near[:: max(len(near) // 8, 1)])
        raise TargetError(
            f"scale is {by} in {spec}, but its blocks have {pages} pages in {lines} word lines of {bits}",
            f"scales that keep whole word lines: {some}" if near else "remove scale: a block is one word line",
        )
    after = files.keys(scaled).items()
    return [(key, str(value)) for key, value in after if value != before.get(key) and not key.startswith("provenance.")]


SMALLEST = 100
"""Smallest ratio of cache to write buffer at which a fill of a scaled drive shows the end of the cache: the buffer is
not scaled."""


def unlike(profile: str) -> str | None:
    """Reason why a scaled drive fills differently from the full-size one; None if it fills alike."""
    values = files.keys(profile)
    sizes = [units.size(str(values.get(f"cache.{key}", "0B")), f"cache.{key}") for key in ("static", "dynamic")]
    cache, buffer = sum(sizes), units.size(str(values["controller.write_buffer"]), "controller.write_buffer")
    if values["cache.mode"].startswith("pure") or cache >= SMALLEST * buffer:
        return None
    return f"its cache of {words.size(cache)} is no longer large beside its write buffer of {words.size(buffer)}"


def note(by: Fraction, capacities_bytes: Sequence[int]) -> str:
    """Note for recordings of a drive, or of the members of an array, that are scaled by `by`, to these capacities."""
    sizes = " and ".join(dict.fromkeys(map(words.size, capacities_bytes)))
    return (
        f"simulated at {by} of the size, {sizes}: suites multiply sizes and times back, except "
        "write buffers and latencies"
    )


EXTENTS: Final = re.compile(
    r"reads|writes|trims|total_ios|suspends_total|(start|end|elapsed|worked|runtime|lat_sum)_ns|(from|to|held|drive_time)_s"
    r"|from_(low|high)|life_years|\w+_(bytes|ns|nj)_total|\w+_bytes(_low|_high|_empty|_fullest)?"
)
"""Names of what is as many times as large on the whole drive: counts, sizes, and times over sizes."""
ALIKE: Final = re.compile(
    r"(write_)?buffer_bytes(_low|_high)?|page(_cache|_cache_dirty)?_bytes|migrated_\w+|request_bytes"
)
"""Names among them that are the same on both: the write buffer, the computer, and what a suite states."""
PARTS: Final = (
    "start_ns",
    "drive_time_s",
    "capacity_bytes",
    "facts",
    "jobs",
    "steps",
    "before",
    "totals",
    "time",
    "bytes",
    "findings",
)
"""Fields of a recording that have such names."""


def whole(recording: "Recording") -> "Recording":
    """The recording of a suite on a scaled drive, with its findings, as that of the whole one.

    A copy does in a second what the whole drive does in `1/scale`. A pause is the threshold, which is the same on both,
    and then as much longer as what is moved in it is larger.
    """
    factor = 1 / Fraction(recording.facts["scale"])
    times = {name: _times(name, getattr(recording, name), factor) for name in PARTS}
    threshold_s = recording.findings.get("idle_threshold_s") or 0.0
    for row in times["findings"].get("recovery", ()):
        row["idle_s"] += float(factor - 1) * max(row["idle_s"] - threshold_s, 0.0)
    return replace(recording, **{**times, "findings": type(recording.findings)(times["findings"])})


def _times(name: str, value: Any, factor: Fraction) -> Any:
    """A value of this name, or the values of names in it, on the whole drive."""
    if isinstance(value, MeasurementWarning):
        return value.times(float(factor))
    if isinstance(value, Mapping):
        return {key: _times(key, each, factor) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_times(name, each, factor) for each in value]
    if not EXTENTS.fullmatch(name) or ALIKE.fullmatch(name):
        return value
    if isinstance(value, np.ndarray):
        return value * np.uint64(factor.numerator) // np.uint64(factor.denominator)
    if isinstance(value, int) and not isinstance(value, bool):
        return value * factor.numerator // factor.denominator
    return float(factor) * value if isinstance(value, float) else value
