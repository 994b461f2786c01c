"""pslc beside MQSim (Tavakkol et al., FAST 2018), in processor time a request: `make bench NAME=mqsim ARGS=folder`,
where the folder is a checkout that was built (github.com/CMU-SAFARI/MQSim, `make`).

Each kind of work runs with two numbers of requests, and the difference is divided by theirs: neither start-up nor
what is written before is counted. The two programs take turns, and each has its best of `TURNS`, as other work on a
machine only lengthens a time. MQSim's drive is its own `ssdconfig.xml`, of 550 GB, with the whole map in memory as
pslc's has it; pslc's is the Aldrin Pro 2TB."""

import argparse
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

TURNS: Final = 2
SECTOR_BYTES: Final = 512


@dataclass(frozen=True)
class Kind:
    """A kind of work, in words and in the terms of both programs."""

    words: str
    reads: bool
    random: bool
    block_bytes: int
    queue_depth: int
    counts: tuple[int, int]
    mqsim_counts: tuple[int, int]
    aim: int


KINDS: Final = (
    Kind("sequential writes of 128 KiB", False, False, 131072, 32, (1_000_000, 5_000_000), (5_000, 25_000), 200),
    Kind("random reads of 4 KiB", True, True, 4096, 32, (1_000_000, 5_000_000), (50_000, 250_000), 70),
    Kind("random writes of 4 KiB, fresh drive", False, True, 4096, 32, (1_000_000, 5_000_000), (50_000, 250_000), 30),
)

FLOW: Final = (Path(__file__).parent / "mqsim.xml").read_text(encoding="utf-8")


def processor_seconds(command: list[str], folder: Path) -> float:
    """What a command takes of the processor, in its own code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, input=b"\n")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


WHOLE_MAP: Final = {"Ideal_Mapping_Table": "true"}


def answer(program: Path, folder: Path, settings: Mapping[str, object], flow: str) -> tuple[float, str]:
    """Processor seconds of MQSim for a flow on its own drive with some other settings, and what it answers."""
    drive = (program / "ssdconfig.xml").read_text()
    for key, value in settings.items():
        drive = re.sub(rf"<{key}>[^<]*</{key}>", f"<{key}>{value}</{key}>", drive)
    (folder / "drive.xml").write_text(drive)
    (folder / "flow.xml").write_text(flow)
    seconds = processor_seconds([str(program / "MQSim"), "-i", "drive.xml", "-w", "flow.xml"], folder)
    return seconds, (folder / "flow_scenario_1.xml").read_text()


def mqsim(kind: Kind, count: int, program: Path, folder: Path) -> float:
    """Processor seconds of MQSim for `count` requests.

    Raises:
        SystemExit: it made another number of requests.
    """
    order = "RANDOM_UNIFORM" if kind.random else "STREAMING"
    sectors = kind.block_bytes // SECTOR_BYTES
    reads = 100 if kind.reads else 0
    flow = FLOW.format(reads=reads, order=order, sectors=sectors, queue_depth=kind.queue_depth, count=count)
    seconds, result = answer(program, folder, WHOLE_MAP, flow)
    reported = re.search(r"<Request_Count>(\d+)</Request_Count>", result)
    if reported is None or int(reported[1]) != count:
        raise SystemExit(f"MQSim made {reported[1] if reported else 'no'} requests, not {count}")
    return seconds


def ours(kind: Kind, count: int, _program: Path, folder: Path) -> float:
    """Processor seconds of pslc for `count` requests; reads find the drive's first 16 GB written."""
    job = ["[global]", "direct=1", "ioengine=io_uring", f"iodepth={kind.queue_depth}"]
    if kind.reads:
        job += ["[before]", "rw=write", "bs=1m", "size=16g"]
    job += ["[job]", "stonewall", f"rw={'rand' * kind.random}{'read' if kind.reads else 'write'}"]
    job += [f"bs={kind.block_bytes}", f"number_ios={count}", f"size={'16g' if kind.reads else '100%'}"]
    job += ["norandommap", "io_size=100t"] if kind.random else []
    (folder / "kind.fio").write_text("\n".join(job) + "\n")
    pslc = [sys.executable, "-m", "pslc", "run", "kind.fio", "--on", "sim:aldrin-pro-2tb", "--json"]
    return processor_seconds(pslc, folder)


def request_seconds(
    run: Callable[[Kind, int, Path, Path], float], kind: Kind, counts: tuple[int, int], program: Path, folder: Path
) -> float:
    """Processor seconds of one request."""
    fewer, more = (run(kind, count, program, folder) for count in counts)
    return (more - fewer) / (counts[1] - counts[0])


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path, help="a built checkout of MQSim")
    program = parser.parse_args().program.resolve()
    print("| kind of work | MQSim | pslc | ratio | aim |\n|---|---:|---:|---:|---:|")
    for kind in KINDS:
        theirs, own = [], []
        with tempfile.TemporaryDirectory() as name:
            for _ in range(TURNS):
                theirs.append(request_seconds(mqsim, kind, kind.mqsim_counts, program, Path(name)))
                own.append(request_seconds(ours, kind, kind.counts, program, Path(name)))
        ratio = min(theirs) / min(own)
        cells = [kind.words, f"{min(theirs) * 1e6:.2f} us", f"{min(own) * 1e9:.0f} ns", f"{ratio:.0f}", f"{kind.aim}"]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
