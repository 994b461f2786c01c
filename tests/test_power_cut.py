"""A power cut at any moment: what a command asked of the system until then, on a disk that keeps only what was synced.

The disk keeps of a file what it held at its last fsync, and of a folder the names that it had at its own. A file system
may keep later names, too; then their files hold no more than what was synced.
"""

import ast
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

import pslc
from tests.traced import traced

CALLS = "openat,linkat,renameat2,unlinkat,fsync,fdatasync,mkdir,write"
CALL = re.compile(r"(?P<thread>\d+) +(?P<name>\w+)\((?P<arguments>.*)\) += (?P<result>\d+)(?:<(?P<path>[^>]*)>)?")
WHOLE = re.compile(r"(run\.json|run\.json\.part|series\.parquet|points\.parquet|report\.html|\.pslc)$")
"""Names of files that are whole whenever they are there."""


@dataclass
class File:
    """What was written to a file, what of that is on the disk, and what it held when it got a name."""

    data: bytes = b""
    synced: bytes = b""
    whole: bytes = b""


@dataclass
class Disk:
    """The files below a folder by their names: those that it has now, and those that a power cut leaves."""

    root: str
    opened: dict[tuple[str, str], File] = field(default_factory=dict)
    """By thread and descriptor."""
    now: dict[str, File] = field(default_factory=dict)
    kept: dict[str, File] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    """Folders that were made, and whose names are not on the disk."""

    def do(self, call: re.Match[str]) -> None:
        """What the system does for a call that succeeded."""
        words = [word for word in re.findall(r'"(?:[^"\\]|\\.)*"|[^,"]+', call["arguments"]) if word.strip()]
        numbers = [word.strip().partition("<") for word in words]
        key = (call["thread"], numbers[0][0])
        match call["name"]:
            case "openat":
                self.opened.pop((call["thread"], call["result"]), None)
                if "O_TMPFILE" in call["arguments"] and str(call["path"]).startswith(self.root):
                    self.opened[call["thread"], call["result"]] = File()
            case "write" if key in self.opened:
                self.opened[key].data += ast.literal_eval("b" + words[1].strip())
            case "fsync" | "fdatasync" if key in self.opened:
                self.opened[key].synced = self.opened[key].data
            case "fsync":
                self._sync_folder(numbers[0][2].rstrip(">"))
            case "linkat":
                file = self.opened[call["thread"], words[1].strip(' "').rpartition("/")[2]]
                file.whole = file.data
                self.now[_path(words[2:])] = file
            case "renameat2" if (old := _path(words)) in self.now:
                new = _path(words[2:])
                before, self.now[new] = self.now.get(new), self.now.pop(old)
                if before is not None:
                    self.now[old] = before
            case "unlinkat":
                self.now.pop(_path(words), None)
            case "mkdir":
                self.lost.add(str(Path(self.root, words[0].strip('"'))))

    def _sync_folder(self, path: str) -> None:
        inside = lambda name: str(Path(name).parent) == path  # noqa: E731
        self.kept = {name: file for name, file in self.kept.items() if not inside(name)}
        self.kept |= {name: file for name, file in self.now.items() if inside(name)}
        self.lost = {name for name in self.lost if not inside(name)}

    def after_a_cut(self) -> Iterator[tuple[bool, dict[str, File]]]:
        """What is there at least, with the names that were synced, and (False) what may be, with those of now."""
        for names in (self.kept, self.now):
            yield (
                names is self.kept,
                {name: file for name, file in names.items() if not any(name.startswith(f"{of}/") for of in self.lost)},
            )


def _path(words: list[str]) -> str:
    """The path of a name in an open folder."""
    return str(Path(words[0].partition("<")[2].rstrip("> "), words[1].strip(' "')))


def cuts(words: list[str], folder: Path) -> Iterator[tuple[bool, dict[str, File]]]:
    """What is on the disk if the power is cut after each call of a command."""
    command = [Path(sys.executable).parent / "pslc", *words]
    lines, _ = traced(command, CALLS, folder, "-y", "-s", "8000000")
    disk = Disk(str(folder))
    for call in filter(None, map(CALL.match, lines.splitlines())):
        disk.do(call)
        yield from disk.after_a_cut()


JOB = ["w.fio", "--save", "deep/r"]
COMMANDS = {
    "a file": ["run", *JOB, "--on", "scratch.bin", "--size", "32MB", "--yes"],
    "a simulated drive": ["run", "burst", "--quick", "--on", "sim:pm871b-128gb", "--save", "r"],
    "a drive file": ["drives", "create", "disk.pslc", "--like", "pm871b-128gb"],
    "a study": [
        "study", "--vary", "scale=1/64,1/32", "--on", "sim:pm871b-128gb", "--run", "fill", "--quick", "--save", "s",
    ],
}  # fmt: skip


@cache
def written_bytes(files: frozenset[tuple[str, bytes]], folder: Path) -> int:
    """Bytes that a recording of these files says were written; most calls change none of them."""
    place = folder / "cut"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for name, content in files:
        (place / name).write_bytes(content)
    return pslc.load(place).written_bytes


@pytest.mark.parametrize("kind", COMMANDS)
def test_after_a_power_cut_each_file_is_whole_and_a_recording_opens(kind, tmp_path):
    (tmp_path / "w.fio").write_text("[w]\nrw=write\nbs=64k\nrate=2m\nruntime=4s\ntime_based\nsize=8m\n")
    seen, opened = set[str](), set[int]()
    for is_kept, state in cuts(COMMANDS[kind], tmp_path):
        for name, file in state.items():
            if WHOLE.search(name):
                seen |= {Path(name).name} if is_kept else set()
                assert file.synced == file.whole, f"{name} has {len(file.synced)} of {len(file.whole)} bytes"
        recording = {Path(name).name: file for name, file in state.items() if WHOLE.search(name)}
        if "run.json" in recording or opened:
            written = written_bytes(frozenset((name, file.synced) for name, file in recording.items()), tmp_path)
            if is_kept:
                assert written >= max(opened, default=0), "what was on the disk once stays there"
                opened.add(written)
    if kind == "a file":
        assert len(opened) > 1, "it was saved during the run"
    assert seen >= {"a drive file": {"disk.pslc"}, "a study": {"points.parquet"}}.get(
        kind, {"run.json", "series.parquet"}
    )
