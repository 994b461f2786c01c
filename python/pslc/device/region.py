"""Region of a drive that a suite works on, its scope, and job sections for that region."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final, Unpack, cast

from typing_extensions import TypedDict

from pslc.base import units, words
from pslc.base.errors import TargetError
from pslc.device.target import Target

if TYPE_CHECKING:
    from pslc.recording.model import ScopeDocument

MIB: Final = 1 << 20
PAGE: Final = 4096
FULL: Final = 100
MIN_REGION_BYTES: Final = 4 * MIB
"""Smaller regions give too few samples for any suite."""


class Options(TypedDict, total=False):
    """fio's options that suites give to their jobs: True for a flag, None or False for one that is left out. `copy_to`:
    where each block that was read is written, within the region."""

    bs: str | int
    bssplit: str
    copy_to: int
    direct: int
    end_fsync: int | None
    files: int | None
    fsync: int
    group_reporting: bool
    io_size: str | int
    iodepth: int
    loops: int
    norandommap: bool
    number_ios: int
    numjobs: int
    offset_increment: int
    randrepeat: int
    rate: int
    runtime: str
    rwmixread: int | None
    thinktime: str
    thinktime_blocks: int
    thinktime_blocks_type: str


@dataclass(frozen=True)
class Budget:
    """Budget of a suite: bytes to write, or seconds; the other is 0."""

    bytes: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True)
class Expected:
    """An explanation of another recording, for the suite check.

    Attributes:
        text: in a few words.
        cache_bytes: where its cache ends; None where it has no end.
        confidence: how likely it is, from 0 to 1; None where the drive's own counters say it.
    """

    text: str
    cache_bytes: float | None
    confidence: float | None


@dataclass(frozen=True)
class Scope:
    """Scope of a suite: the part of the drive and the effort. Every suite understands it.

    Attributes:
        quick: take a sample only, as the suite's `QUICK` describes it.
        region: bytes of the drive to stay within, from and to; None: all of it.
        fill_first: percent of the drive, from its start, that is written first; the suite works behind it, and on a
            drive that is filled to 100 % on what was written.
        idle_s: seconds for which the drive is left idle before the suite.
        budget: bytes or seconds that the suite may spend; None: as much as it needs.
        explains: explanations that the suite check tells apart.
    """

    quick: bool = False
    region: tuple[int, int] | None = None
    fill_first: int = 0
    idle_s: float = 0.0
    budget: Budget | None = None
    explains: tuple[Expected, ...] = ()

    def document(self) -> ScopeDocument:
        """The scope as run.json holds it."""
        region, explains = list(self.region) if self.region else None, [asdict(each) for each in self.explains]
        return cast("ScopeDocument", asdict(self) | {"region": region, "explains": explains})

    @classmethod
    def of(cls, document: ScopeDocument) -> Scope:
        """Build the scope from its form in run.json. Keys that an old recording lacks get their defaults."""
        region, budget = document.get("region"), document.get("budget")
        return cls(
            document.get("quick", False),
            (region[0], region[1]) if region else None,
            document.get("fill_first", 0),
            document.get("idle_s", 0.0),
            Budget(**budget) if budget else None,
            tuple(Expected(**each) for each in document.get("explains", ())),
        )


@dataclass(frozen=True)
class Region:
    """The part of a drive that a suite may use: `size` bytes from `offset`, both whole MiB.

    Attributes:
        quick: less of the suite, for the same answers less closely.
        sparing: less still: what a fit needs, which explains all of it at once, and no more.
    """

    target: Target
    offset: int
    size: int
    quick: bool = False
    sparing: bool = False
    budget: Budget | None = None
    explains: tuple[Expected, ...] = ()

    def share(self, part: float) -> int:
        """Size of a share of the region, in whole MiB."""
        return int(self.size * part) // MIB * MIB

    def job(  # noqa: PLR0913 keywords as in a job file
        self,
        name: str,
        *,
        rw: str,
        offset: int = 0,
        size: int | None = None,
        pause: float = 0.0,
        alongside: bool = False,
        seconds: float | None = None,
        **options: Unpack[Options],
    ) -> str:
        """A section of a job file.

        Args:
            offset, size: bytes within the region; all of what is behind `offset` if no size is given.
            pause: seconds for which the drive is left alone before.
            alongside: it begins with the job before, not after it.
            seconds: it goes on for that long, however often it goes round.
        """
        size = self.size - offset if size is None else size
        # A request that begins in the region must not end behind it.
        whole = _largest(str(options.get("bs", "4k")))
        size = size // whole * whole or size
        lines = [f"[{name}]"] if alongside else [f"[{name}]", "stonewall"]
        lines += [f"rw={rw}", f"offset={self.offset + offset}", f"size={size}"]
        if "copy_to" in options:
            options["copy_to"] += self.offset
        lines += ["direct=1"] if "direct" not in options else []
        lines += [f"pause={round(pause * 1e6)}us"] if pause else []
        lines += ["ioengine=io_uring"]
        lines += ["time_based", f"runtime={round(seconds * 1e6)}us"] if seconds is not None else []
        given = {option: value for option, value in options.items() if value is not None and value is not False}
        lines += [option if value is True else f"{option}={value}" for option, value in given.items()]
        return "\n".join(lines) + "\n"

    def write(self, name: str, size: int, *, offset: int = 0, pause: float = 0.0, **options: Unpack[Options]) -> str:
        """A sequential write that keeps any drive busy."""
        given: Options = {"bs": "1m", "iodepth": 32, **options}
        return self.job(name, rw="write", offset=offset, size=size, pause=pause, **given)

    def trim(self, name: str = "trim", offset: int = 0, size: int | None = None) -> str:
        """The drive forgets what the region holds, or those bytes of it; one that takes that for a while is left alone
        after it."""
        size = self.size - offset if size is None else size
        return self.job(name, rw="trim", bs=trim_bytes(size), offset=offset, size=size)


def trim_bytes(size: int) -> int:
    """Size of a trim request: about 64 MiB, such that whole requests cover `size` bytes."""
    min_pieces = -(-size // (64 * MIB))
    pieces = next((n for n in range(min_pieces, 8 * min_pieces + 64) if size % (n * PAGE) == 0), None)
    return size // pieces if pieces else MIB


def _largest(bs: str) -> int:
    """Bytes of the largest of several block sizes, as fio writes them."""
    return max(int(size.rstrip("kmg")) * units.POWERS_OF_1024.get(size[-1:], 1) for size in bs.split(",") if size)


def find_region(target: Target, scope: Scope) -> Region:
    """The part of `target` that the scope leaves.

    Raises:
        PslcError: it is too small, or not on the drive.
    """
    filled = scope.fill_first % FULL
    start, end = scope.region or (target.capacity_bytes * filled // 100, target.capacity_bytes)
    start, end = -(-start // MIB) * MIB, end // MIB * MIB
    if end > target.capacity_bytes:
        raise TargetError(f"the region ends at {words.size(end)}, but the drive at {words.size(target.capacity_bytes)}",
                      "for example --region 10GB-50GB, or --region 40GB from the start")  # fmt: skip
    if end - start < MIN_REGION_BYTES:
        raise TargetError(
            f"the suite has {words.size(max(end - start, 0))}, but needs {words.size(MIN_REGION_BYTES)}",
            "give a larger --region, or a smaller --fill-first",
        )
    return Region(target, start, end - start, scope.quick, budget=scope.budget, explains=scope.explains)


def preparation(region: Region, scope: Scope) -> str:
    """Job file that prepares the drive for a suite (trim, first fill, idle time); empty if there is nothing to do."""
    # Each suite begins with a drive that holds nothing, as one that was just made does.
    text = (
        Region(region.target, 0, region.target.capacity_bytes).trim("forget") if region.target.kind == "device" else ""
    )
    if scope.fill_first:
        whole = Region(region.target, 0, region.target.capacity_bytes * scope.fill_first // 100 // MIB * MIB)
        text += whole.write("fill-first", whole.size)
    if scope.idle_s:
        # The shortest request there is, after the pause.
        text += region.job("idle", rw="trim", bs="4k", number_ios=1, pause=scope.idle_s)
    return text
