"""Power cuts at drawn writes of a command, each on a new drive, and a check of what is left."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pslc.base import children, words, writer
from pslc.base.errors import TargetError, user_error
from pslc.device import drive_files
from pslc.recording.model import Recording
from pslc.serving.faults import Faults, Loss
from pslc.serving.listening import Address
from pslc.serving.server import Server

SEED: Final = 1
"""Seed of the drawn writes and faults where none is given."""
MAX_SECONDS: Final = 600.0
"""Time limit of a command, in seconds."""
LEAVE_S: Final = 20.0
"""Time that a command has to end once the power is cut, in seconds."""
MOUNT_S: Final = 10.0
COLUMNS: Final = ("cut at write", "at risk", "lost", "check")

Say = Callable[[str], None]


@dataclass(frozen=True)
class Trial:
    """Commands that are tried, and their drive.

    Attributes:
        on: the simulated drive, `sim:NAME[,KEY=VALUE...]`.
        command: words of the command whose writes are cut off; `{disk}` and `{uri}` stand for the drive.
        check: command for the shell that ends with 0 if what is left is sound.
        prepare: command for the shell that makes ready a new drive, if any.
        faults: what goes wrong beside the cut.
    """

    on: str
    command: tuple[str, ...]
    check: str
    prepare: str | None
    faults: Faults


@dataclass(frozen=True)
class Outcome:
    """Outcome of one power cut.

    Attributes:
        write: the write at which the power was cut.
        at_risk, lost: writes that could be lost, and those that were; None if the command ended before the cut.
        lost_bytes: what is lost.
        code: exit code of the check.
        says: the last line that the check printed.
    """

    write: int
    at_risk: int | None
    lost: int | None
    lost_bytes: int
    code: int
    says: str

    @property
    def row(self) -> list[str]:
        """The cells of `COLUMNS`."""
        if self.lost is None:
            lost = "the command had ended"
        else:
            lost = f"{words.count(self.lost)} writes, {words.size(self.lost_bytes)}"
        at_risk = "" if self.at_risk is None else words.count(self.at_risk)
        return [words.count(self.write), at_risk, lost, f"fails: {self.says}" if self.code else "passes"]


def cut_again_and_again(trial: Trial, cuts: int | Sequence[int], say: Say) -> Iterator[Outcome]:
    """Cut the power at some writes, drawn over the whole command if only their number is given.

    Raises:
        PslcError: the command writes nothing, or a command fails without a power cut.
    """
    with writer.temporary("pslc-crash-") as name:
        folder = Path(name)
        if isinstance(cuts, int):
            count = _count_writes(trial, folder)
            cuts = random.Random(trial.faults.seed).sample(range(1, count + 1), min(cuts, count))
            say(f"without a power cut the command makes {words.count(count)} writes, and the check passes")
        for number, write in enumerate(cuts, 1):
            outcome = _cut(trial, folder, write)
            _, _, lost, check = outcome.row
            say(f"power cut {number} of {len(cuts)}, at write {words.count(write)}: lost {lost}; the check {check}")
            yield outcome


def _count_writes(trial: Trial, folder: Path) -> int:
    """Writes of the whole command; the check must pass behind it."""
    with _new_drive(trial, folder) as drive:
        with _Power(drive, replace(trial.faults, eio=0.0, hang_s=0.0)) as power:
            _check_success(power.run(trial.command), " ".join(trial.command))
            count = power.writes
        if not count:
            raise user_error("the command writes nothing to the drive", "it finds it at {disk} or {uri}")
        with _Power(drive) as power:
            _check_success(power.run(_in_shell(trial.check)), trial.check)
    return count


def _cut(trial: Trial, folder: Path, write: int) -> Outcome:
    with _new_drive(trial, folder) as drive:
        with _Power(drive, replace(trial.faults, cut_write=write)) as power:
            power.run(trial.command)
        loss = power.loss
        with _Power(drive) as power:
            code, says = power.run(_in_shell(trial.check))
    if loss is None:
        return Outcome(write, None, None, 0, code, says)
    return Outcome(write, loss.at_risk, loss.lost, loss.lost_bytes, code, says)


@contextmanager
def _new_drive(trial: Trial, folder: Path) -> Iterator[Path]:
    """A new drive in a file, made ready."""
    if not trial.on.startswith("sim:"):
        raise TargetError(f"{trial.on} is not a single simulated drive", "for example --on sim:sn850-1tb")
    with writer.temporary("drive-", folder) as name:
        drive = Path(name) / "drive.pslc"
        drive_files.create(drive, trial.on.removeprefix("sim:")).close()
        if trial.prepare:
            with _Power(drive) as power:
                _check_success(power.run(_in_shell(trial.prepare)), trial.prepare)
        yield drive


def _in_shell(text: str) -> tuple[str, ...]:
    return "sh", "-c", text


def _check_success(ended: tuple[int, str], command: str) -> None:
    code, says = ended
    if code:
        raise user_error(f"{command} ends with exit code {code} without a power cut: {says}", "try it on a whole drive")


class _Power:
    """The drive is on: it is served, and commands may use it until the power is cut or this ends.

    Attributes:
        loss: what a power cut did; None without one.
        writes: number of writes that came.
    """

    def __init__(self, drive: Path, faults: Faults | None = None) -> None:
        self._folder, self._address = drive.parent, Address(drive.with_suffix(".sock"))
        self._server = Server(str(drive), self._address, "keep", faults=faults)
        self.loss: Loss | None = None
        self.writes = 0

    def __enter__(self) -> _Power:
        self._server.__enter__()
        self._served: Future[Recording] = self._server.start(lambda _: None, lambda _: None)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()
        wait([self._served])
        self.loss = self._server.loss
        self._server.__exit__()

    def run(self, command: Sequence[str]) -> tuple[int, str]:
        """Exit code of a command, and the last line that it printed; one that goes on after a power cut is ended."""
        text, printed = "\0".join(command), writer.lasting("out-", self._folder) / "out"
        with writer.Growing(printed) as out, self._mounted(needed="{disk}" in text) as disk:
            filled = text.replace("{disk}", str(disk)).replace("{uri}", self._address.uri).split("\0")
            process = children.start(filled, own_group=True, stdin=children.DEVNULL, stdout=out, stderr=out)
            try:
                until = time.monotonic() + MAX_SECONDS
                while process.poll() is None and time.monotonic() < until:
                    if self._served.done():
                        until = min(until, time.monotonic() + LEAVE_S)
                    time.sleep(0.02)
            finally:
                children.end_group(process)
                children.end(process)
            lines = printed.read_text(errors="replace").split("\n")
            self.writes = self._server.writes
        return process.returncode, next((line.strip() for line in reversed(lines) if line.strip()), "")

    @contextmanager
    def _mounted(self, *, needed: bool) -> Iterator[Path | None]:
        """A file that is the drive."""
        if not needed:
            yield None
            return
        # One that the command did not let go of stays where it was.
        mount = writer.lasting("disk-", self._folder)
        disk = mount / "disk"
        try:
            fuse = children.start(["nbdfuse", str(disk), self._address.uri], own_group=True, stderr=children.DEVNULL)
        except FileNotFoundError:
            hint = "apt install libnbd-bin; or let the command use {uri}"
            raise user_error("{disk} needs nbdfuse, which is not installed", hint) from None
        try:
            until = time.monotonic() + MOUNT_S
            while not disk.exists() and fuse.poll() is None and time.monotonic() < until:
                time.sleep(0.02)
            if not disk.exists():
                raise TargetError("nbdfuse does not offer the drive as a file", "is FUSE there (/dev/fuse)?")
            yield disk
        finally:
            children.end_group(fuse)
            with suppress(TimeoutError):
                children.wait(fuse, MOUNT_S)
            children.end(fuse)
            if os.path.ismount(mount) or not os.path.isdir(mount):
                children.run(["fusermount", "-u", "-z", str(mount)])
