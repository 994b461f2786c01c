"""Computers around a simulated drive: processor, slot and memory of a part, as keys of a target.

Programs show the drive and the computer together. A target names its computer, `sim:NAME,computer=i5-8400`; without
one it has the computer that the suite assumes, unless the profile has a table `host`. Keys `host.*` of a target win
over both. `computer=none` is the bare drive.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pslc.base import units, words
from pslc.base.errors import TargetError

if TYPE_CHECKING:
    from pslc.device.parts import Computer

KEY: Final = "computer"
NONE: Final = "none"
MAX_CACHED_DRIVE_BYTES: Final = 4096 * (2**32 - 1)
"""Capacity from which on no page cache is before a drive: the simulated one numbers its pages with 32 bits."""


def with_computer(spec: str, name: str | None) -> str:
    """The target `spec` in the computer `name`; as it is without one.

    Raises:
        PslcError: there is no such computer, or the target is no simulated drive.
    """
    if name is None:
        return spec
    if not spec.startswith("sim:"):
        hint = f"of a drive file: pslc drives create FILE --like NAME,computer={name}; of another target leave it out"
        raise TargetError(f"--computer {name} is for simulated drives sim:NAME, and {spec} is none", hint)
    find(name)
    return f"{spec},{KEY}={name}"


def find(name: str) -> Computer | None:
    """A computer by its name; None for `none`.

    Raises:
        PslcError: there is none of that name.
    """
    from pslc.device import parts

    return None if name == NONE else parts.computer(name)


def keys(name: str, profile: str, stated: Sequence[str]) -> list[tuple[str, str]]:
    """Keys that put a drive with this profile into the computer `name`, without those that its target states."""
    of = find(name)
    if of is None:
        return []
    values = tomllib.loads(profile)
    host = {"cores": str(of.cores), "read": f"{of.read}ns", "write": f"{of.write}ns"}
    cache_bytes = _page_cache_bytes(of, units.size(str(values["capacity"]), "capacity"))
    if cache_bytes and of.memory and of.background and "host.driver_cache" not in stated:
        host |= {"page_cache": f"{cache_bytes // 10**6}MB", "memory": f"{of.memory // 10**6}MB/s"}
        host["background"] = f"{of.background}B"
    slower = _slower(str(values["link"]), of.link)
    pairs = [*((f"host.{key}", value) for key, value in host.items()), *([("link", slower)] if slower else [])]
    return [pair for pair in pairs if pair[0] not in stated]


def _page_cache_bytes(of: Computer, capacity_bytes: int) -> int:
    """Size of the computer's page cache before a drive of this capacity; 0 if it has none."""
    return of.page_cache if of.page_cache and capacity_bytes < MAX_CACHED_DRIVE_BYTES else 0


def _slower(drive: str, slot: str) -> str | None:
    """Link of a drive in a slot of an older PCIe than its own; None where the slot does not hold it back."""
    own, fastest = (re.fullmatch(r"pcie(\d)x(\d+)", link) for link in (drive, slot))
    if own is None or fastest is None:
        return None
    generation, lanes = (min(int(own[n]), int(fastest[n])) for n in (1, 2))
    link = f"pcie{generation}x{lanes}"
    return link if link != drive else None


def note(name: str, capacity_bytes: int, *, assumed: bool) -> str:
    """Note for recordings of a drive of this capacity in the computer `name`, which the suite assumes or its user
    named."""
    of = find(name)
    sentence = "computer: none, the bare drive"
    if of is not None:
        traits = [f"{of.cores} core{'s' if of.cores > 1 else ''}"]
        traits += [f"{words.span(of.read / 1e9)} a read, {words.span(of.write / 1e9)} a write"]
        traits += [f"PCIe {of.link[4]}.0 x{of.link[6:]}"] if of.link else []
        if cache_bytes := _page_cache_bytes(of, capacity_bytes):
            traits.append(f"{words.size(cache_bytes)} for files")
        elif of.page_cache:
            traits.append(f"no memory for files: pslc has none before drives from {words.size(MAX_CACHED_DRIVE_BYTES)}")
        sentence = f"computer: {of.model} ({', '.join(traits)})"
    return f"{sentence}; the suite assumes it, --computer NAME sets another" if assumed else sentence
