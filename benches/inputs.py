"""What the worst input of 200 kB costs each parser, in processor time and memory: `make bench NAME=inputs`.

Each input is read in a process of its own, after the parser has read a small one: what it costs is not what starting
costs. Refusing it is an answer too."""

import os
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pslc._native import SimDrive, TraceFile, plan_jobs
from pslc.base import units
from pslc.base.errors import PslcError
from pslc.device.parts.schema import Reader
from pslc.device.target import find_target
from pslc.recording import comparison
from pslc.runner.load import read_side
from pslc.studies import points

LENGTH: Final = 200_000
MOST_S, MOST_BYTES = 1.0, 500e6
"""What no input of `LENGTH` may take: seconds of a processor, and memory."""
PATIENCE_S: Final = 20
"""Seconds of a processor after which an input is given up."""
CAPACITY: Final = 1 << 40
CORPUS: Final = Path(__file__).parent.parent / "fuzz" / "corpus"
SHAPES: Final = {
    "one long line": "a",
    "digits": "9",
    "a number of fractions": "1.",
    "brackets": "[",
    "braces": '{"a":',
    "parentheses": "(",
    "commas": "1,",
    "colons": "1:",
    "quotes": '"',
    "spaces": " ",
    "empty lines": "\n",
    "short lines": "a\n",
    "keys": "k{n}=1\n",
    "sections": "[s{n}]\nrw=write\n",
    "nested tables": "[a{n}.b.c.d]\nx=1\n",
    "assignments": "a=",
    "superscripts": "\u00b2",
    "zeroes": "\0",
    "variables": "${{A}}",
    "a key of many parts": "a.",
}
"""Of which an input of any parser may consist, over and over."""
JOBS: Final = {
    "options": "rw=write\nbs=4k\niodepth=2\n",
    "a long list": "",
    "sections of a long [global]": "",
    "numjobs": "[a{n}]\nrw=write\nnumjobs=1000\n",
    "comments": "# a\n",
    "names unlike any": "optoin{n}=1\n",
}
MANY_LINES: Final = {
    "fio_log": "{n}, 1000, 1, 4096\n",
    "iostat": "11/21/26 22:52:20\nDevice r/s rkB/s w/s wkB/s %util\nvda {n}.00 58.25 10.5 1000.0 31.0\n\n",
    "sar": "22:52:20 DEV tps rkB/s wkB/s %util\n22:52:21 vda {n}.0 144.0 380.0 20.4\n\n",
    "table": "{n},2000\n",
    "blkparse": "  8,0  3  {n}  {n}.5  697  C  WS {n} + 56 [0]\n",
    "crystal_disk_mark": " SEQ 1MiB (Q=8, T=1): 5024.9 MB/s [ 4792.2 IOPS] < 1667.96 us>\n",
    "as_ssd": "4K:\n---\nRead: {n}.21 MB/s\nWrite: 1066.48 MB/s\n",
    "niobench": " 50,30         46,66         23,22  M                  {n}           102,26     97,27 M   42,47 M\n",
    "iometer": "ALL,All,Seq Write,{n}.5,0,4231.5,500,0,500\n",
    "nvme_smart_log": '"k{n}":0,',
    "fio_json": '{{"jobname": "a{n}", "write": {{"io_bytes": 1, "runtime": 5}}}},',
}
HEADS: Final = {
    "iostat": "Linux 6.1 (a) 11/21/26 _x86_64_ (2 CPU)\n\n",
    "table": "GB,MB/s\n",
    "crystal_disk_mark": "CrystalDiskMark 8\n[Read]\n",
    "as_ssd": "AS SSD Benchmark 2.0\n---\n",
    "niobench": "Java NIOBench v0.54\n Read   Tag    Write  Tag    Copy   Tag    Iteration   Read      Write    Copy\n",
    "iometer": "'Results\n'Target Type,Target Name,Access Specification Name,IOps,Read IOps,Write IOps,"
    "MBps (Decimal),Read MBps (Decimal),Write MBps (Decimal)\n",
    "nvme_smart_log": '{"critical_warning":0,"temperature":316,"avail_spare":100,"data_units_written":"1",',
    "fio_json": '{"fio version": "fio-3.33", "jobs": [',
}
TAILS: Final = {"nvme_smart_log": '"a":0}', "fio_json": '{"jobname": "z"}]}'}


@dataclass(frozen=True)
class Cost:
    """Seconds of a processor, and memory in bytes beside that of a small input, of one input; None: it crashed, or took
    too much."""

    parser: str
    shape: str
    seconds: float
    memory_bytes: float
    ended: bool

    @property
    def good(self) -> bool:
        """Within what is promised."""
        return self.ended and self.seconds <= MOST_S and self.memory_bytes <= MOST_BYTES


def repeated(piece: str, head: str = "", tail: str = "") -> str:
    """So many of these that it is `LENGTH` bytes or a little less, each with its number."""
    found, size, number = [], len(head) + len(tail), 0
    plain = "{n}" not in piece and "{{" not in piece
    while size < LENGTH - 200:
        text = piece * 100 if plain and len(piece) < 3 else piece if plain else piece.format(n=number)
        found.append(text)
        size += len(text.encode())
        number += 1
    return head + "".join(found) + tail


def job(text: str) -> None:
    """A job file."""
    plan_jobs(text, "worst.fio", [], CAPACITY)


def options(text: str) -> None:
    """A value of the options that take sizes, times and lists."""
    for option in ("size", "bs", "bssplit", "bsrange", "runtime", "rate", "random_distribution", "thinktime"):
        with suppress(PslcError):
            plan_jobs("[a]\nrw=write\n", "worst.fio", [(option, text)], CAPACITY)


def profile(text: str) -> None:
    """A profile."""
    SimDrive("worst.toml", text, {}, [])


def words(text: str) -> None:
    """A size, a time, a share and a region of the command line."""
    for parse in (units.size, units.seconds, units.percent, units.region):
        with suppress(PslcError):
            parse(text, "--option")


def target(text: str) -> None:
    """What `--on` names."""
    find_target(f"sim:pm871b-128gb,{text}")


def _file(read: Callable[[Path], object], suffix: str = ".txt") -> Callable[[str], None]:
    def parse(text: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"worst{suffix}"
            path.write_text(text, encoding="utf-8", errors="surrogateescape")
            read(path)

    return parse


def _profile(path: Path) -> None:
    find_target(f"sim:{path}")


def _trace(path: Path, name: str | None = None) -> None:
    trace = TraceFile(str(path), name)
    with suppress(PslcError):
        trace.survey()
    for _ in trace.read(1 << 16):
        pass


def inputs() -> Iterator[tuple[str, str, Callable[[str], None], str]]:
    """Every parser with every input: its name, the input's, the parser and the input."""
    general: dict[str, Callable[[str], None]] = {
        "job file": job, "job option": options, "profile": profile, "size": words, "target": target,
        "profile's file": _file(_profile, ".toml"), "study": _file(points.read), "part": _file(Reader.of),
        "tolerance": _file(comparison.read_tolerance), "another program's file": _file(read_side),
        "trace": _file(_trace),
    }  # fmt: skip
    for name, parse in general.items():
        for shape, piece in SHAPES.items():
            yield name, shape, parse, repeated(piece)
    for shape, piece in JOBS.items():
        head = "[global]\n"
        if shape == "a long list":
            text = head + "bssplit=" + repeated("4k/1:")[: LENGTH - 40] + "\n[a]\nrw=write\n"
        elif shape == "sections of a long [global]":
            text = head + repeated("write_bw_log=a\n")[: LENGTH // 2] + repeated("[a{n}]\n")[: LENGTH // 2]
        else:
            text = repeated(piece, "[a]\n")
        yield "job file", shape, job, text
    yield "profile", "a deep value", profile, "x = " + "[" * (LENGTH // 2) + "]" * (LENGTH // 2)
    yield "tolerance", "a deep value", general["tolerance"], "mean = " + "[" * (LENGTH // 2) + "]" * (LENGTH // 2)
    yield "fio_json", "depth", _file(read_side), HEADS["fio_json"] + "[" * (LENGTH // 2) + "]" * (LENGTH // 2) + "]}"
    yield "table", "columns", _file(read_side), ",".join(f"c{n}" for n in range(LENGTH // 14)) + "\n" + "1," * 55_000
    for name, line in MANY_LINES.items():
        head, tail = HEADS.get(name, ""), TAILS.get(name, "")
        yield name, "many lines", _file(read_side), repeated(line, head, tail)
        yield name, "digits after its head", _file(read_side), repeated("9", head)
        yield name, "brackets after its head", _file(read_side), repeated("[", head)
    for path in sorted((CORPUS / "trace").iterdir()):
        body = path.read_bytes()[1:]
        many = (body * (LENGTH // len(body) + 1))[:LENGTH].decode(errors="surrogateescape")
        yield f"trace {path.name}", "many lines", _file(_trace), many
        half = body.splitlines(keepends=True)[0].decode(errors="surrogateescape") + "9" * LENGTH
        yield f"trace {path.name}", "one long line", _file(_trace), half[:LENGTH]


def cost(parser: str, shape: str, parse: Callable[[str], None], text: str) -> Cost:
    """Of one input, in a process of its own."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE_S, PATIENCE_S))
        with suppress(PslcError):
            parse("a")
        before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        code = 0
        try:
            parse(text)
        except PslcError:
            pass
        except BaseException as error:
            print(f"{parser}, {shape}: {type(error).__name__}: {str(error)[:200]}", flush=True)
            code = 1
        taken = time.process_time() - start
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        os.write(writes, f"{taken} {grown * 1024}".encode())
        os._exit(code)
    os.close(writes)
    with os.fdopen(reads, "rb") as pipe:
        told = pipe.read().split()
    _, status = os.waitpid(child, 0)
    seconds, memory = map(float, told) if told else (float("inf"), float("inf"))
    return Cost(parser, shape, seconds, memory, status == 0)


def costs() -> list[Cost]:
    """Of all inputs."""
    return [cost(*one) for one in inputs()]


def table(found: list[Cost]) -> str:
    """The worst of each parser, as Markdown."""
    rows = ["| parser | inputs | most time | of | most memory | of |", "|---|---:|---:|---|---:|---|"]
    for name in dict.fromkeys(one.parser for one in found):
        some = [one for one in found if one.parser == name]
        slow, large = max(some, key=lambda one: one.seconds), max(some, key=lambda one: one.memory_bytes)
        rows.append(
            f"| {name} | {len(some)} | {1e3 * slow.seconds:.0f} ms | {slow.shape} "
            f"| {large.memory_bytes / 1e6:.0f} MB | {large.shape} |"
        )
    return "\n".join(rows)


if __name__ == "__main__":
    print(table(costs()))
