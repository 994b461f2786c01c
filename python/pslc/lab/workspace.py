"""Workspace of the lab page, and the address that holds all of it:
`?suite=fill&on=sim:aldrin-pro-2tb,cache.dynamic=320GB`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final, NoReturn
from urllib.parse import parse_qsl, urlencode

from pslc import suites
from pslc.base import files
from pslc.base.errors import JobError, PslcError, TargetError
from pslc.device.profiles import library, read
from pslc.device.target import Target, find_target, is_drive, name_in
from pslc.lab import replays
from pslc.lab.files import is_dropped, is_here, stamp
from pslc.lab.knobs import EVERY, Knob, positions

MAX_DRIVES: Final = 4
"""Largest number of drives on the page at once."""
FIRST: Final = "sim:aldrin-pro-2tb"


@dataclass(frozen=True)
class Drive:
    """A drive and what was turned on it.

    Attributes:
        source: `sim:NAME`, `sim:./mine.toml` or `disk.pslc`.
        keys: keys of its profile, in the order in which a target names them.
    """

    source: str
    keys: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, spec: str) -> Drive:
        """Parse a target such as `sim:sn850-1tb,cache.mode=pure-slc`."""
        source, *pairs = spec.split(",")
        keys = [(key.strip(), value.strip()) for key, _, value in (pair.partition("=") for pair in pairs)]
        return cls(source, tuple(keys))

    @property
    def spec(self) -> str:
        """The target that `pslc run --on` takes."""
        return ",".join([self.source, *(f"{key}={value}" for key, value in self.keys)])

    @property
    def is_kept(self) -> bool:
        """Whether it is a simulated drive in a file, whose knobs were set when it was made."""
        return not self.source.startswith("sim:")

    def turned(self, knob: Knob, text: str) -> Drive:
        """This drive with a knob at another value. Default values are not named.

        Raises:
            PslcError: there is no such drive.
        """
        # A decimal comma, which would begin another key.
        text = text.strip().replace(",", ".")
        own = {key for word in knob.choices for key, _ in knob.pairs(word)} if knob.stops is None else {knob.key}
        own |= {knob.off[1][0]} if knob.off else set()
        rest = replace(self, keys=tuple((key, value) for key, value in self.keys if key not in own))
        pairs = () if text in ("", rest.at(knob)) else knob.pairs(text)
        order = list(EVERY)
        keys = sorted([*rest.keys, *pairs], key=lambda pair: order.index(pair[0]) if pair[0] in order else len(order))
        return replace(self, keys=tuple(keys))

    def at(self, knob: Knob) -> str:
        """The value that a knob has.

        Raises:
            PslcError: there is no such drive.
        """
        try:
            now = self.target()
        except PslcError:
            now = None
        return positions(self.base(), dict(self.keys), now)[knob.key].text

    def base(self) -> Target:
        """The drive without what was turned.

        Raises:
            PslcError: there is no such drive.
        """
        return find(self.source)

    def target(self) -> Target:
        """The drive.

        Raises:
            PslcError: there is none, or it cannot be what it was turned to.
        """
        return find(self.spec)

    def blamed(self) -> str | None:
        """The knob without which the drive could be made; None where no single one is to blame."""
        for key, _ in reversed(self.keys):
            keys = tuple(pair for pair in self.keys if pair[0] != key)
            try:
                replace(self, keys=keys).target()
            except PslcError:
                continue
            return next(
                (name for name, knob in EVERY.items() if key == name or (knob.off and key == knob.off[1][0])), None
            )
        return None


def find(spec: str) -> Target:
    """A simulated drive, to be looked at: its profile and what follows from it.

    Raises:
        PslcError: there is none, or it is a real one: the page writes to no drive.
    """
    path = Path(name_in(spec))
    is_file = not spec.startswith("sim:") or "/" in name_in(spec) or path.suffix == ".toml"
    if is_file and not (is_here(path) or is_dropped(path)):
        raise TargetError(
            f"the page does not open {path}",
            "it opens built-in drives, profiles (./mine.toml) and drive files (disk.pslc) of its own folder, and what "
            "is dropped on it",
        )
    return _looked_at(spec, stamp(path))


@lru_cache(maxsize=256)
def _looked_at(spec: str, changed_ns: int) -> Target:
    if not spec.startswith("sim:") and not is_drive(Path(spec)):
        raise TargetError(f"{spec} is not a simulated drive", "the page runs sim:NAME, sim:./mine.toml and disk.pslc")
    _check_base(Path(name_in(spec)))
    target = find_target(spec)
    if target.stays:
        target.open().close()  # type: ignore[union-attr]
    # The drive itself is large, and nobody runs this one.
    return replace(target, open=_not_to_be_run)


def _check_base(path: Path) -> None:
    """A profile that was dropped names no other file of this machine.

    Raises:
        TargetError: it does.
    """
    if path.suffix != ".toml" or not is_dropped(path):
        return
    try:
        base = files.toml(read(str(path))).get("base")
    except tomllib.TOMLDecodeError:
        return  # Said by who reads it next, with the line.
    if isinstance(base, str) and base not in library():
        raise TargetError(
            f'{path.name} has the base "{base}", which is not built in',
            "give the whole profile: pslc drives show ./mine.toml prints it",
        )


def _not_to_be_run() -> NoReturn:
    raise AssertionError("a drive that was only looked at")


@dataclass(frozen=True)
class Bench:
    """State of the page: its suite, its drives, the knob last turned and the overlay.

    Attributes:
        suite: what is run on every drive: a suite, or the path of a trace.
        at: the drive that is looked into.
        before: a drive by its number and the target it was before a knob was turned.
        knob: that knob.
        over: what is laid over the curves: see `pslc.lab.overlay`.
    """

    suite: str = "fill"
    drives: tuple[Drive, ...] = (Drive(FIRST),)
    at: int = 0
    before: tuple[int, str] | None = None
    knob: str = ""
    over: str = ""

    @classmethod
    def of_address(cls, search: str) -> Bench:
        """Parse an address; the default is a fill of the first drive.

        Raises:
            PslcError: it names a drive, suite or trace that does not exist, or too many drives.
        """
        pairs = parse_qsl(search.removeprefix("?"))
        query = dict(pairs)
        drives = tuple(Drive.of(value) for name, value in pairs if name == "on") or (Drive(FIRST),)
        if len(drives) > MAX_DRIVES:
            raise TargetError(f"the bench has {len(drives)} drives", f"at most {MAX_DRIVES} are possible")
        suite = query.get("suite", "fill")
        if "/" in suite and not replays.is_trace(suite):
            raise JobError(f"no trace is named {suite}", "drop it again: dropped files stay until pslc lab ends")
        if "/" not in suite and suite not in suites.names():
            raise JobError(f"no suite is named {suite}", f"one of {', '.join(suites.names())}")
        number, _, spec = query.get("before", "").partition(":")
        before = (int(number), spec) if number.isdigit() and int(number) < len(drives) and spec else None
        at = query.get("at", "0")
        index = int(at) if at.isdigit() and int(at) < len(drives) else 0
        return cls(suite, drives, index, before, query.get("knob", ""), query.get("over", ""))

    @property
    def address(self) -> str:
        """Address of this workspace, as `of_address` parses it."""
        pairs = [("suite", self.suite), *(("on", drive.spec) for drive in self.drives)]
        pairs += [("at", str(self.at))] if self.at else []
        pairs += [("before", f"{self.before[0]}:{self.before[1]}")] if self.before else []
        pairs += [("knob", self.knob)] if self.knob else []
        pairs += [("over", self.over)] if self.over else []
        return f"?{urlencode(pairs, safe=':,/=')}"

    def turned(self, number: int, key: str, text: str) -> Bench:
        """This workspace with a knob of a drive at another value. The drive's state before the knob was first turned
        stays visible while the same knob is turned.

        Raises:
            PslcError: there is no such drive.
        """
        old = self.drives[number]
        new = old.turned(EVERY[key], text)
        if new == old:
            return self
        drives = (*self.drives[:number], new, *self.drives[number + 1 :])
        same = self.knob == key and self.before is not None and self.before[0] == number
        before = self.before if same else (number, old.spec)
        return replace(self, drives=drives, at=number, knob=key, before=before)

    def with_drive(self, number: int, drive: Drive) -> Bench:
        """This workspace with another drive at a place, or after the last one."""
        drives = [*self.drives]
        drives[number : number + 1] = [drive]
        return replace(self, drives=tuple(drives[:MAX_DRIVES]), at=min(number, MAX_DRIVES - 1), before=None, knob="")

    def without(self, number: int) -> Bench:
        """This workspace without one of its drives; the last one stays."""
        drives = (*self.drives[:number], *self.drives[number + 1 :]) or self.drives
        return replace(self, drives=drives, at=min(self.at, len(drives) - 1), before=None, knob="")
