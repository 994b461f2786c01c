"""Arrays of simulated drives, as Linux md makes them, read from a target.

    array:LEVEL[,chunk=64k][,failed=N][,rebuild=N],MEMBER...

LEVEL is raid0, raid1, raid5, raid6 or raid10; MEMBER is a simulated drive with its keys, and `4x` in front of it means
four of them. What stands before the first member is the array's.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from pslc._native import ArrayDrive
from pslc.base import units
from pslc.base.errors import TargetError
from pslc.device import computers
from pslc.schema.facts import ArrayFacts, Facts

PREFIX: Final = "array:"
EXAMPLE: Final = "for example array:raid5,chunk=64k,4xmx500-1tb"
DEFAULT_CHUNK: Final = "512k"
"""Chunk of an array for which none is named: mdadm's own."""
SUMMED: Final = (
    *(f"{mode}_{what}" for mode in ("slc", "mlc", "native") for what in ("superblock_bytes", "raw_bytes")),
    *("channels", "dies", "bus_bytes_per_s", "link_read_bytes_per_s", "cache_bytes", "fold_below_bytes"),
    *("write_buffer_bytes", "read_iops", "write_iops"),
)
"""Facts that all members have together."""
SHARED: Final = (
    "link_bytes_per_s",
    *(f"{mode}_{what}_bytes_per_s" for mode in ("slc", "mlc", "native") for what in ("write", "limit")),
)
"""Rates of writes, of which parity and copies take their share."""


@dataclass(frozen=True)
class ArraySpec:
    """An array as its target names it.

    Attributes:
        members: target of each member, `sim:NAME[,key=value...]`.
        failed: numbers of the members that are missing, from 0 on.
        rebuild: number of the member that is a spare and is rebuilt.
    """

    level: str
    chunk_bytes: int
    members: tuple[str, ...]
    failed: tuple[int, ...]
    rebuild: int | None

    @classmethod
    def of(cls, spec: str) -> "ArraySpec":
        """Read a target.

        Raises:
            TargetError: it names no array.
        """
        level, *words = spec.removeprefix(PREFIX).split(",")
        if level not in ArrayDrive.LEVELS:
            hint = f"one of {', '.join(ArrayDrive.LEVELS)}; {EXAMPLE}"
            raise TargetError(f"{spec}: {level or 'nothing'} is no level", hint)
        own: dict[str, str] = {}
        members: list[tuple[int, str]] = []
        for word in words:
            key, equals, value = word.partition("=")
            if not equals:
                count, name = re.fullmatch(r"(?:(\d{1,4})x)?(.*)", word, re.DOTALL).groups()  # type: ignore[union-attr]
                members.append((int(count or 1), f"sim:{name.removeprefix('sim:')}"))
            elif not members:
                own[key] = value
            elif key == computers.KEY:
                hint = "leave it out: the page cache lies above md, and pslc models none there"
                raise TargetError(f"{spec}: a member of an array has no computer of its own", hint)
            else:
                members[-1] = (members[-1][0], f"{members[-1][1]},{word}")
        if unknown := set(own) - {"chunk", "failed", "rebuild"}:
            hint = f"keys of the array are chunk, failed and rebuild; those of a drive follow its name; {EXAMPLE}"
            raise TargetError(f"{spec}: an array has no key {min(unknown)}", hint)
        return cls(
            level,
            _chunk_bytes(own.get("chunk", DEFAULT_CHUNK), spec),
            tuple(name for count, name in members for _ in range(count)),
            tuple(_number(text, spec) for text in own["failed"].split("+")) if "failed" in own else (),
            _number(own["rebuild"], spec) if "rebuild" in own else None,
        )

    def facts(self, members: Sequence[Facts], member_bytes: int, capacity_bytes: int) -> Facts:
        """Facts of the array of drives with these facts, of each of which it uses `member_bytes`.

        Raises:
            TargetError: the members are scaled differently.
        """
        first = members[0]
        if len(scales := {of.get("scale") for of in members}) > 1:
            raise TargetError(
                f"members of an array are of one scale, not of {', '.join(sorted(map(str, scales)))}",
                "give each the same scale=, or none",
            )
        total: dict[str, object] = {**first}
        data_share = capacity_bytes / (len(members) * member_bytes)
        for key in (*SUMMED, *SHARED):
            if key in first:
                values = [cast(float, of.get(key, 0)) for of in members]
                total[key] = type(first[key])(sum(values) * (data_share if key in SHARED else 1))  # type: ignore[literal-required]
        total["plp"] = all(of["plp"] for of in members)
        total["array"] = ArrayFacts(
            level=self.level,
            chunk_kib=self.chunk_bytes >> 10,
            member_bytes=member_bytes,
            members=list(self.members),
            failed=list(self.failed),
            rebuild=self.rebuild,
        )
        total["notes"] = list(dict.fromkeys(note for of in members for note in of["notes"]))
        return total  # type: ignore[return-value]


def _number(text: str, spec: str) -> int:
    if not re.fullmatch(r"\d{1,4}", text):
        hint = "members are counted from 0 on, as they are listed: failed=1, failed=0+2, rebuild=1"
        raise TargetError(f'{spec}: "{text}" is not the number of a member', hint)
    return int(text)


def _chunk_bytes(text: str, spec: str) -> int:
    """Bytes of mdadm's `64k` or `1m`, or of a size with its unit."""
    return units.size(re.sub(r"[kKmM]$", lambda suffix: f"{suffix[0].upper()}iB", text), f"{spec}: chunk")
