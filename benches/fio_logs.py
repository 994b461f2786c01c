"""Random runs of fio, whose logs pslc reads and holds against fio's own JSON of the run.

    python benches/fio_logs.py [COUNT] [--seed N] [--keep DIR]

Each run draws its jobs (rw, block size, rate, pauses, clones, stonewalls, a ramp) and how they are logged (averaged or
not, one file a job or one for all, times since 1970). Its logs are read alone, and with the JSON or the job file beside
them. An answer is right where bytes and mean speed are within 1 % of fio's for the time that the log covers (fio does
not log its last, incomplete interval), refused where pslc says why, warned where it names what may be wrong, and wrong
otherwise.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pslc import PslcError, formats
from pslc.formats import FileContents
from pslc.schema.imports import ImportOptions

MAX_DIFFERENCE_SHARE: Final = 0.01
TAIL_SPREAD: Final = 0.25
AT_ONCE: Final = 3
"""Runs beside each other: most of the time a run waits for its rate."""
WAYS: Final = ("logs alone", "with the JSON", "with the job file")


@dataclass(frozen=True)
class Run:
    """A job file to run.

    Attributes:
        direction: whose bytes the log is read for.
    """

    number: int
    job_file: str
    direction: str


@dataclass
class Verdict:
    """What came of one way to read the logs of a run."""

    run: Run
    way: str
    outcome: str
    error_share: float = 0.0
    said: str = ""
    files: list[str] = field(default_factory=list)


def draw(number: int, seed: int) -> Run:
    """A random run of one to three sections, of 1 to 3 s."""
    rng = random.Random(f"{seed}/{number}")
    rw = rng.choice(["write"] * 4 + ["randwrite", "randwrite", "read", "randread", "rw", "randrw"])
    average = rng.choice([0, 0, 50, 100, 100, 250, 250, 500, 500, 1000])
    bs = rng.choice(["4k", "16k", "64k", "128k", "1m", "4k-64k"])
    mixed = rw.endswith("rw")
    rate = rng.choice([1, 5, 20, 60, 200])
    if average == 0 and bs in ("4k", "4k-64k"):
        rate = min(rate, 20)
    lines = ["[global]", "bs=" + bs, "rw=" + rw, "size=32m", "time_based"]
    lines += [f"runtime={rng.choice(['1500ms', '2s', '2300ms', '3s'])}"]
    lines += ["ioengine=null"] if rng.random() < 0.7 else ["ioengine=psync", "filename=scratch"]
    if rng.random() < 0.85:
        lines += [f"rate={rate}m"] if not mixed else [f"rate={rate}m,{max(rate // 2, 1)}m"]
    else:
        lines += ["thinktime=200us", "bs=64k"]
    if average:
        lines += [f"log_avg_msec={average}"]
    optional = {
        "log_unix_epoch=1": 0.15, "ramp_time=1": 0.15, "log_offset=1": 0.1, "log_prio=1": 0.1, "log_entries=2048": 0.15,
        "bwavgtime=200": 0.1, "thinktime=150ms": 0.08, "thinktime=400ms": 0.08, "thinktime_blocks=20": 0.15,
        "group_reporting": 0.15, "per_job_logs=0": 0.2, "startdelay=300ms": 0.05, "log_max_value=1": 0.03,
    }  # fmt: skip
    lines += [option for option, share in optional.items() if rng.random() < share]
    own_names, stone = rng.random() < 0.3, rng.random() < 0.3
    if not own_names:
        lines += ["write_bw_log=run"]
    for section in range(rng.choice([1, 1, 2, 3])):
        lines += [f"[job{section}]", f"numjobs={rng.choice([1, 1, 1, 2, 4])}"]
        lines += [f"write_bw_log=job{section}"] if own_names else []
        lines += ["stonewall"] if stone and section else []
    return Run(number, "\n".join(lines) + "\n", "read" if rw in ("read", "randread") else "write")


def made(run: Run, folder: Path) -> tuple[list[Path], Path, Path]:
    """Run fio: its logs, its JSON and the job file.

    Raises:
        RuntimeError: fio ended with an error.
    """
    job, document = folder / "run.fio", folder / "run.json"
    if document.exists():
        return sorted(folder.glob("*_bw*.log")), document, job
    folder.mkdir()
    job.write_text(run.job_file)
    command = ["fio", "--output-format=json", f"--output={document}", job.name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        raise RuntimeError(f"fio ended with {done.returncode}: {done.stderr.strip()}\n{run.job_file}")
    return sorted(folder.glob("*_bw*.log")), document, job


def held_against(run: Run, logs: Sequence[Path], document: Path, job: Path) -> list[Verdict]:
    """The verdict on each way to read the logs."""
    truth = json.loads(document.read_text())["jobs"]
    beside: dict[str, list[Path]] = {WAYS[0]: [], WAYS[1]: [document], WAYS[2]: [job]}
    verdicts = []
    for way, more in beside.items():
        verdict = Verdict(run, way, "right", files=[path.name for path in [*logs, *more]])
        try:
            data = formats.read([*logs, *more], ImportOptions())
            verdict.error_share, verdict.said = difference(data, truth, run.direction)
            wrong = verdict.error_share > MAX_DIFFERENCE_SHARE
            if wrong:
                verdict.outcome = "warned" if data.of_level("warning") else "wrong"
                verdict.said += f"; {'; '.join([data.read_as, *data.warnings])}"
        except PslcError as error:
            verdict.outcome, verdict.said = "refused", str(error).partition("\n")[0]
        verdicts.append(verdict)
    return verdicts


def difference(data: FileContents, jobs: Sequence[dict[str, Any]], direction: str) -> tuple[float, str]:
    """How far bytes and mean are from fio's, as a share, and both in words.

    fio does not log what ends after the last whole interval. So the log may hold all bytes, or those of the time that
    it covers. What it does not cover is taken to be as fast as the run's mean or the last row, to a
    quarter, and to hold whole requests. Pauses count as time, as they do in fio's mean.
    """
    moved = float(sum(job[direction]["io_bytes"] for job in jobs))
    if data.curve is None:
        return (1.0 if moved else 0.0), f"nothing, but fio {moved / 1e6:.2f} MB"
    held, seconds = data.curve.total_bytes, data.curve.total_seconds + data.idle_s
    groups: dict[int, float] = {}
    for job in jobs:
        groups[job["groupid"]] = max(groups.get(job["groupid"], 0.0), job[direction]["runtime"] / 1000)
    lasted = sum(groups.values())
    if len(groups) > 1 and "since 1970" in data.read_as:
        # Between the groups lie what was not logged, and fio's own time.
        seconds = data.curve.total_seconds
    said = f"{held / 1e6:.2f} of {moved / 1e6:.2f} MB, {seconds:.2f} of {lasted:.2f} s"
    unlogged = max(lasted - seconds, 0.0) / lasted
    largest = sum(job[direction]["io_bytes"] / max(job[direction]["total_ios"], 1) for job in jobs) / moved
    whole = max(abs(held / moved - 1) - (largest if unlogged else 0.0), 0.0)
    if whole <= MAX_DIFFERENCE_SHARE and seconds <= (1 + MAX_DIFFERENCE_SHARE) * lasted + 0.01:
        return whole, said
    off = abs(held / seconds / (moved / lasted) - 1)
    at_the_end = held + max(lasted - seconds, 0.0) * float(data.curve.bytes_per_s[-1])
    off = min(off - TAIL_SPREAD * unlogged, abs(at_the_end / moved - 1) - TAIL_SPREAD * unlogged)
    return max(off - (largest if unlogged else 0.0), 0.0), said


def table(verdicts: Sequence[Verdict]) -> list[str]:
    """A line for each way, with the count of each outcome."""
    outcomes = ("right", "refused", "warned", "wrong")
    lines = [f"{'':20}" + "".join(f"{outcome:>10}" for outcome in outcomes)]
    for way in WAYS:
        counts = Counter(verdict.outcome for verdict in verdicts if verdict.way == way)
        lines.append(f"{way:20}" + "".join(f"{counts[outcome]:>10}" for outcome in outcomes))
    return lines


def main() -> int:
    """Run, print the table and the worst ten, and fail where one is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", nargs="?", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for the runs (default: a temporary one)")
    asked = parser.parse_args()
    if shutil.which("fio") is None:
        sys.exit("fio is not installed")
    with tempfile.TemporaryDirectory() as temporary:
        place = asked.keep or Path(temporary)
        place.mkdir(exist_ok=True, parents=True)

        def one(number: int) -> tuple[Run, list[Path], Path, Path]:
            run = draw(number, asked.seed)
            return run, *made(run, place / f"{number:03}")

        with ThreadPoolExecutor(AT_ONCE) as pool:
            runs = list(pool.map(one, range(asked.count)))
        verdicts = [verdict for run in runs for verdict in held_against(*run)]
    print("\n".join(table(verdicts)))
    rank = {"wrong": 0, "warned": 1, "right": 2, "refused": 3}
    worst = sorted(verdicts, key=lambda of: (rank[of.outcome], -of.error_share))[:10]
    for verdict in worst:
        off = f"{100 * verdict.error_share:.1f} %"
        print(f"\n{verdict.run.number}, {verdict.way}: {verdict.outcome}, {off}, {verdict.said}")
        print("   " + " ".join(verdict.run.job_file.split("\n")))
    refusals = Counter(verdict.said for verdict in verdicts if verdict.outcome == "refused")
    print("\nrefused:", *(f"  {count} times: {said}" for said, count in refusals.most_common(12)), sep="\n")
    return 1 if any(verdict.outcome == "wrong" for verdict in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
