"""A smaller drive that behaves like the whole one: `sim:NAME,scale=1/16`.

A block has fewer pages, and every size is smaller in proportion. So the number of superblocks, the share of spare space
and of the cache, the policy, speeds, idle rates and the time that an erase takes per byte stay as they are; how long
anything takes that goes over the whole drive does not.
"""

import re
import tomllib
from fractions import Fraction

from pslc.base import files, units, words
from pslc.base.errors import TargetError

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
    before = dict(files.dotted(tomllib.loads(whole)))
    if scaled is None:
        pages, bits = int(before["nand.pages_per_block"]), int(before["nand.bits_per_cell"])
        lines = pages // bits
        near = [d for d in range(2, lines + 1) if lines % d == 0]
        some = ", ".join(f"1/{d}" for d in near[:: max(len(near) // 8, 1)])
        raise TargetError(
            f"scale is {by} in {spec}, but its blocks have {pages} pages in {lines} word lines of {bits}",
            f"scales that keep whole word lines: {some}" if near else "remove scale: a block is one word line",
        )
    after = files.dotted(tomllib.loads(scaled))
    return [(key, str(value)) for key, value in after if value != before.get(key) and not key.startswith("provenance.")]


SMALLEST = 100
"""Smallest ratio of cache to write buffer at which a fill of a scaled drive shows the end of the cache: the buffer is
not scaled."""


def unlike(profile: str) -> str | None:
    """Reason why a scaled drive fills differently from the full-size one; None if it fills alike."""
    values = dict(files.dotted(tomllib.loads(profile)))
    sizes = [units.size(str(values.get(f"cache.{key}", "0B")), f"cache.{key}") for key in ("static", "dynamic")]
    cache, buffer = sum(sizes), units.size(str(values["controller.write_buffer"]), "controller.write_buffer")
    if values["cache.mode"].startswith("pure") or cache >= SMALLEST * buffer:
        return None
    return f"its cache of {words.size(cache)} is no longer large beside its write buffer of {words.size(buffer)}"


def note(by: Fraction) -> str:
    """Note for recordings of a drive that is scaled by `by`."""
    return (
        f"the drive is scaled to {by}: speeds, shares and write amplification apply as shown; "
        f"sizes, lifetimes and fill times are {by} of the full-size drive's"
    )
