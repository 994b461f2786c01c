"""How fast the simulated drive is, in a table: `make bench`. One core; each line is the median of several runs."""

import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pslc
from pslc import suites, traces
from pslc._native import SimDrive
from pslc.device.region import Scope
from pslc.device.target import open_simulated
from pslc.schema.surveys import Asked

FILL = "[fill]\nrw=write\nbs=1m\nioengine=io_uring\niodepth=32\nsize=100%\n"
ALDRIN = "sim:aldrin-pro-2tb"
FULL = f"{ALDRIN},capacity=1000GB,nand.blocks_per_plane=353,cache.dynamic=300GB"
SPARE = f"{ALDRIN},capacity=500GB,nand.blocks_per_plane=353,cache.dynamic=100GB"
EIGHT = f"{ALDRIN},capacity=8000GB,nand.blocks_per_plane=2820"


def fill_seconds(spec: str) -> float:
    """Seconds to simulate one fill of a fresh drive."""
    drive = open_simulated(spec)
    return float(drive.run(FILL, "bench", [], 0)["wall_s"])


def command_seconds() -> float:
    """Seconds of the whole `pslc run fill`, report included."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        executable = Path(sys.executable).parent / "pslc"
        arguments = [str(executable), "run", "fill", "--on", ALDRIN, "--save", f"{folder}/run"]
        subprocess.run(arguments, check=True, capture_output=True)
        return time.perf_counter() - start


def steady(spec: str, kind: str, warm: int) -> tuple[float, float, float]:
    """Requests/s, requests and page moves/s, and write amplification on a full drive after `warm` such requests."""
    drive = open_simulated(spec)
    drive.run(FILL, "bench", [], 0)
    found = []
    for seed, count in enumerate([warm] + [5_000_000] * 5):
        job = f"[a]\nrw={kind}\nbs=4k\nioengine=io_uring\niodepth=32\nnorandommap\nio_size=1p\nnumber_ios={count}\n"
        done = drive.run(job, "bench", [], seed)
        change = {name: done["totals"][name] - done["before"][name] for name in done["totals"]}
        moved = (change["gc_bytes_total"] + change["folded_bytes_total"]) / 4096
        found.append((count / done["wall_s"], (count + moved) / done["wall_s"], 1 + moved / count))
    rate, moves, amplification = (statistics.median(column) for column in zip(*found[1:], strict=True))
    return rate, moves, amplification


def kept(spec: str, job: str) -> str:
    """Size of a drive's file after a job, and how fast it is saved and opened: the median of three times each, in a
    file system in memory if there is one, as the speed of a disk is another question, and so is that of memory which a
    virtual machine has from its host for the first time."""
    drive = open_simulated(spec)
    drive.run(job, "bench", [], 0)
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        path = Path(folder) / "disk.pslc"
        saved = []
        for _ in range(3):
            path.unlink(missing_ok=True)
            saved.append(_seconds(lambda: drive.save(str(path))))
        drive.close()
        opened = [_seconds(lambda: SimDrive.open(str(path)).close()) for _ in range(3)]
        size = path.stat().st_size
    medians = [statistics.median(seconds) for seconds in (saved, opened)]
    if size < 10e6:
        return f"{size / 1e6:.1f} MB, saved in {medians[0] * 1e3:.0f} ms, opened in {medians[1] * 1e3:.0f} ms"
    speeds = (f"{size / 1e9 / seconds:.2f} GB/s" for seconds in medians)
    return f"{size / 1e6:.1f} MB, saved at {next(speeds)}, opened at {next(speeds)}"


def _seconds(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def catalogue(quick: bool) -> tuple[float, str]:
    """Seconds to run every suite on a 1 TB drive, reports not included, and the one that takes longest."""
    times = {}
    for name in suites.names():
        start = time.perf_counter()
        pslc.run(name, on="sim:sn850-1tb", scope=Scope(quick=quick))
        times[name] = time.perf_counter() - start
    return sum(times.values()), max(times, key=lambda name: times[name])


def eight_terabytes() -> float:
    """Peak MB of a process that fills 8 TB in sequence, the interpreter included."""
    code = f"from benches.table import *; fill_seconds({EIGHT!r}); print(limits.peak_bytes() / 1e6)"
    root = Path(__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    return float(done.stdout)


def trace_rates() -> list[float]:
    """Requests/s of a replay of 1 M cached writes of 4 KiB, the simulation included: from text, from Parquet."""
    with tempfile.TemporaryDirectory() as folder:
        text, parquet = Path(folder) / "a.csv", Path(folder) / "a.parquet"
        lines = (f"7,W,{i * 7919 % 1_000_000 * 4096},4096,{40 * i}" for i in range(1_000_000))
        text.write_text("\n".join(lines) + "\n")
        traces.write_parquet(text, traces.Part(), parquet)
        how: Asked = {
            "pace": "original", "speed": 1.0, "iodepth": 1024, "fit": "exact", "span_bytes": 0, "prefill": False,
            "largest_bytes": 4096, "survey": False,
        }  # fmt: skip
        found = []
        for path in (text, parquet):
            done = open_simulated("sim:sn850-1tb").replay(traces.opened(path, traces.Part()), how)
            found.append(1e6 / float(done["wall_s"]))
        return found


def processor() -> str:
    """The machine's processor, as it calls itself."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.processor())


def main() -> None:
    """Print the table."""
    print(f"{processor()}, one core\n")
    rows: list[tuple[str, str, str]] = []
    seconds = statistics.median(fill_seconds(ALDRIN) for _ in range(5))
    requests = open_simulated(ALDRIN).capacity_bytes / (1 << 20) / seconds / 1e6
    rows.append(("2 TB fill with folding, 1 MiB", f"{seconds:.2f} s, {requests:.1f} M requests/s", "0.5 s"))
    flat = statistics.median(fill_seconds(f"{ALDRIN},cache.mode=pure-xlc") for _ in range(5))
    rows.append(("2 TB fill without a cache", f"{flat:.2f} s, {seconds / flat:.2f} times faster", ""))
    rows.append(("pslc run fill, all of it", f"{statistics.median(command_seconds() for _ in range(3)):.2f} s", "3 s"))
    for name, spec, warm, target in (
        ("random 4 KiB writes, full 1 TB, QD32", FULL, 300_000_000, "5 M/s"),
        ("the same with as much spare as data", SPARE, 200_000_000, "10 M/s"),
    ):
        rate, moves, amplification = steady(spec, "randwrite", warm)
        words = f"{moves / 1e6:.1f} M writes and moves/s, {rate / 1e6:.1f} M writes/s at WAF {amplification:.2f}"
        rows.append((name, words, target))
    rows.append(("random 4 KiB reads, QD32", f"{steady(FULL, 'randread', 1_000_000)[0] / 1e6:.1f} M/s", "10 M/s"))
    for name, quick, target in (
        ("every suite on 1 TB (SN850)", False, "300 s"),
        ("the same with --quick", True, "60 s"),
    ):
        took, longest = catalogue(quick)
        rows.append((name, f"{took:.0f} s, most of it {longest}", target))
    rows.append(("the file of a 2 TB drive, filled", kept(ALDRIN, FILL), "20 MB"))
    scattered = "[a]\nrw=randwrite\nbs=4k\nioengine=io_uring\niodepth=32\nsize=100%\n"
    rows.append(("the file of a 1 TB drive, at random", kept(FULL, scattered), "2.2 GB, 1 GB/s"))
    for name, rate, target in zip(("text", "Parquet"), trace_rates(), ("2 M/s", "4 M/s"), strict=True):
        rows.append((f"a trace of cached writes, from {name}", f"{rate / 1e6:.1f} M requests/s", target))
    rows.append(("memory of an 8 TB fill", f"{eight_terabytes():.0f} MB", "200 MB"))
    width = [max(len(row[i]) for row in rows) for i in range(3)]
    print(f"{'':{width[0]}}  {'measured':{width[1]}}  target")
    for name, measured, target in rows:
        print(f"{name:{width[0]}}  {measured:{width[1]}}  {target}".rstrip())


if __name__ == "__main__":
    main()
