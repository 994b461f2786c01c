"""What would SNIA's performance test for clients show? IOPS, throughput, latency, saturation and host idle recovery.

SNIA-PTS-compatible, shortened: purge (trim), the drive written twice in sequence, then rounds with 32 requests in
flight until the last five differ by at most 20 % of their mean and their fitted line by at most 10 %. A point takes a
second where the rule has a minute, saturation 20 rounds of 3 s, and host idle recovery 8 cycles where the rule has
360. Steady counts only after twice the raw capacity was written.
"""

import numpy as np
from typing_extensions import TypedDict

from pslc.base import words
from pslc.device.region import Region
from pslc.figures import curves
from pslc.figures.picture import Axis, Line, Panel, Picture, Table
from pslc.figures.tables import Columns, of_rows
from pslc.recording import warnings as checks
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import jobs, mean_latency, not_tried, rate, snia_steady, speed
from pslc.schema.jobs import MOVED, Job, Kind
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "a fifth of a second a point, five rounds, four mixes by three sizes, a drive written once"
COMPUTER = "none"
UNLIKE_SCALED = "its waits give back more of a scaled drive"
MIXES, QUICK_MIXES = (100, 95, 65, 50, 35, 5, 0), (100, 65, 35, 0)
SIZES, QUICK_SIZES = (1 << 20, 131072, 65536, 32768, 16384, 8192, 4096, 512), (131072, 8192, 4096)
SECONDS, QUICK_SECONDS = 1.0, 0.2
ROUNDS, QUICK_ROUNDS = 8, 5
WINDOW = 5
"""Rounds over which it is judged whether they are steady."""
WSAT_ROUNDS, WSAT_SECONDS = 20, 3.0
WAITS = (5, 10, 15, 25, 50)
CYCLES, QUICK_CYCLES = 8, 3
ALIKE = 1.5
"""Rates without pauses that are further apart are no measure of a gain."""
HIR_SECONDS = 5.0


def steps(region: Region) -> Steps:
    """Preparation, then a step a round; recovery on the drive as it then is, and saturation last."""
    seconds = QUICK_SECONDS if region.quick else SECONDS
    passes = region.write("prepare", region.size, bs="128k", loops=1 if region.quick else 2)
    yield region.trim("purge") + passes
    yield from _steady_rounds(region, seconds)
    yield _recovery(region, seconds)
    saturation = (_small(region, f"wsat {number}", WSAT_SECONDS * seconds) for number in range(WSAT_ROUNDS))
    yield region.trim("purge again") + "".join(saturation)


def _steady_rounds(region: Region, seconds: float) -> Steps:
    """Rounds of all mixes and sizes, until five of 4 KiB random writes are steady."""
    tracked: list[float] = []
    for number in range(QUICK_ROUNDS if region.quick else ROUNDS):
        part = (
            yield _iops(region, number, seconds)
            + _throughput(region, number, seconds)
            + _latency(region, number, seconds)
        )
        if part is not None:
            tracked += [rate(job, "write") for name, job in jobs(part) if name.startswith("iops ") and " 0/" in name
                        and name.endswith(" 4096")]  # fmt: skip
        if len(tracked) >= WINDOW and snia_steady(np.array(tracked)):
            return


def _small(region: Region, name: str, seconds: float, pause: float = 0.0) -> str:
    """4 KiB random writes, 32 in flight."""
    return region.job(name, rw="randwrite", bs="4k", iodepth=32, norandommap=True, seconds=seconds, pause=pause)


def _recovery(region: Region, seconds: float) -> str:
    """Bursts with each pause between them, and one without right after."""
    text = ""
    for wait in WAITS:
        for cycle in range(QUICK_CYCLES if region.quick else CYCLES):
            text += _small(region, f"hir {wait} {cycle}", HIR_SECONDS * seconds, wait if cycle else 0.0)
        text += _small(region, f"baseline {wait}", HIR_SECONDS * seconds)
    return text


class _Mix(TypedDict):
    """Mix of reads and writes, in fio's words."""

    rw: str
    rwmixread: int | None


def _mix(read: int) -> _Mix:
    pure = {0: "randwrite", 100: "randread"}.get(read)
    return {"rw": pure or "randrw", "rwmixread": None if pure else read}


def _iops(region: Region, number: int, seconds: float) -> str:
    text = ""
    for read in QUICK_MIXES if region.quick else MIXES:
        for bs in QUICK_SIZES if region.quick else SIZES:
            if bs >= 4096 or not region.target.is_real:
                text += region.job(f"iops {number} {read}/{100 - read} {bs}", bs=bs, iodepth=16, numjobs=2,
                                  norandommap=True, group_reporting=True, seconds=seconds, **_mix(read))  # fmt: skip
    return text


def _throughput(region: Region, number: int, seconds: float) -> str:
    return "".join(
        region.job(f"tp {number} {kind} {bs}", rw=kind, bs=bs, iodepth=32, seconds=seconds)
        for bs in (131072, 1 << 20)
        for kind in ("read", "write")
    )


def _latency(region: Region, number: int, seconds: float) -> str:
    sizes = [bs for bs in (512, 4096, 8192) if bs >= 4096 or not region.target.is_real]
    return "".join(
        region.job(f"lat {number} {read}/{100 - read} {bs}", bs=bs, norandommap=True, seconds=seconds, **_mix(read))
        for read in (100, 65, 0)
        for bs in sizes
    )


class Rate(TypedDict):
    """A mix of reads and writes of one size."""

    read_percent: int
    request_bytes: int
    iops: float


class Throughput(TypedDict):
    """Sequential requests of one size."""

    kind: Kind
    request_bytes: int
    bytes_per_s: float


class Latency(TypedDict):
    """Latency of requests made one at a time."""

    read_percent: int
    request_bytes: int
    mean_s: float
    max_s: float


class Recovery(TypedDict):
    """Bursts with pauses between them."""

    wait_s: int
    iops: float
    baseline_iops: float
    gain: float


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    rounds: int
    steady: bool | None
    tracked_iops: list[float]
    iops: list[Rate]
    throughput: list[Throughput]
    latency: list[Latency]
    wsat: list[float]
    hir: list[Recovery]
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings over the steady-state window, which is the last five rounds:

    - `iops`: `read_percent`, `request_bytes`, `iops`; `throughput`: `kind`, `request_bytes`, `bytes_per_s`
    - `latency`: `read_percent`, `request_bytes`, `mean_s`, `max_s`
    - `rounds`, `steady`: null before five rounds; `tracked_iops`: 4 KiB random writes of each round
    - `wsat`: `iops` of each round after a purge
    - `hir`: `wait_s`, `iops` with pauses (mean of the cycles but the first), `baseline_iops` right after, `gain`
    """
    tests = _jobs_by_test(recording)
    tracked = [_both(job) for job in tests["iops"].get(("0/100", 4096), [])]
    raw = float(recording.facts.get("native_raw_bytes") or recording.capacity_bytes)
    written = sum(part.written_bytes for part in recording.parts if part.jobs[0]["name"].startswith(("purge", "iops")))
    flat = snia_steady(np.array(tracked))
    steady = flat and written >= 2 * raw if len(tracked) >= WINDOW else None
    return {
        "rounds": len(tracked),
        "steady": steady,
        "tracked_iops": tracked,
        **_matrices(tests),
        "wsat": [rate(job, "write") for name, job in jobs(recording) if name.split()[0] == "wsat"],
        "hir": _recoveries(recording),
        "warnings": _unsteady(recording, len(tracked), flat, written, raw),
    }


JobsByTest = dict[str, dict[tuple[str, int], list[Job]]]
"""Rounds of each test (`iops`, `tp`, `lat`) by mix and request size."""


class _Matrices(TypedDict):
    """Figures by mix and request size."""

    iops: list[Rate]
    throughput: list[Throughput]
    latency: list[Latency]


def _jobs_by_test(recording: Recording) -> JobsByTest:
    tests: JobsByTest = {"iops": {}, "tp": {}, "lat": {}}
    for name, job in jobs(recording):
        test, *words_of = name.split()
        if test in tests:
            tests[test].setdefault((words_of[1], int(words_of[2])), []).append(job)
    return tests


def _recoveries(recording: Recording) -> list[Recovery]:
    cycles: dict[int, list[float]] = {}
    baselines: dict[int, list[float]] = {}
    for name, job in jobs(recording):
        test, *words_of = name.split()
        if test == "hir" and int(words_of[1]):
            cycles.setdefault(int(words_of[0]), []).append(rate(job, "write"))
        elif test == "baseline":
            baselines.setdefault(int(words_of[0]), []).append(rate(job, "write"))
    recoveries: list[Recovery] = []
    for wait in (wait for wait in cycles if wait in baselines):
        paused, base = float(np.mean(cycles[wait])), float(np.mean(baselines[wait]))
        gain = paused / max(base, 1e-9)
        recoveries.append({"wait_s": wait, "iops": paused, "baseline_iops": base, "gain": gain})
    return recoveries


def _matrices(table: JobsByTest) -> _Matrices:
    iops: list[Rate] = [
        {"read_percent": int(mix.split("/")[0]), "request_bytes": bs, "iops": _mean([_both(job) for job in done])}
        for (mix, bs), done in table["iops"].items()
    ]
    throughput: list[Throughput] = [
        {"kind": kind, "request_bytes": bs, "bytes_per_s": _mean([speed(job, kind) for job in done])}
        for (word, bs), done in table["tp"].items()
        for kind in MOVED
        if kind == word
    ]
    latencies: list[Latency] = [
        {"read_percent": int(mix.split("/")[0]), "request_bytes": bs,
         "mean_s": _mean([mean_latency(job) for job in done]),
         "max_s": max(job[k]["lat_ns"]["max"] for job in done[-5:] for k in MOVED) / 1e9}
        for (mix, bs), done in table["lat"].items()
    ]  # fmt: skip
    return {"iops": iops, "throughput": throughput, "latency": latencies}


def _unsteady(recording: Recording, rounds: int, flat: bool, written: int, raw: float) -> list[MeasurementWarning]:
    """Warnings of the last rounds: they still change, or less than twice the raw capacity was written before."""
    more = checks.longer(recording, "see whether the last rounds still change")
    if rounds < WINDOW:
        return [not_tried(f"round {WINDOW}")]
    if not flat:
        return [
            MeasurementWarning(
                "unsteady", f"the rounds did not become steady, and the figures are of the last five: {more}"
            )
        ]
    if written < 2 * raw:
        less = f"level, but {words.size(written)} written is less than twice the raw capacity, which steady needs"
        return [MeasurementWarning("plateau", f"{less}: {more}")]
    return []


def _both(job: Job) -> float:
    return rate(job, "read") + rate(job, "write")


def _mean(values: list[float]) -> float:
    return float(np.mean(values[-5:]))


def sentences(findings: Findings) -> list[str]:
    """Steady or not, 4 KiB, and what pauses give."""
    by = {(row["read_percent"], row["request_bytes"]): row["iops"] for row in findings["iops"]}
    state = "steady" if findings["steady"] else "not steady"
    rounds = f"{findings['rounds']} rounds"
    lines = [f"SNIA-PTS-compatible: {f'{state} after {rounds}' if findings['steady'] is not None else rounds}."]
    if (100, 4096) in by and (0, 4096) in by:
        lines.append(f"4 KiB: {words.count(by[100, 4096])} IOPS reading, {words.count(by[0, 4096])} writing.")
    bases = [row["baseline_iops"] for row in findings["hir"]]
    if bases and max(bases) > ALIKE * min(bases):
        span = f"{words.count(min(bases))} to {words.count(max(bases))} IOPS"
        lines.append(f"What pauses between bursts of writes gain is uncertain: without them it made {span}.")
    elif bases:
        best = max(findings["hir"], key=lambda row: row["gain"])
        if best["gain"] >= 1.05:
            lines.append(
                f"Pauses of {best['wait_s']} s between bursts of writes make them {best['gain']:.1f} times as fast."
            )
        elif len(bases) == len(WAITS):
            lines.append("Pauses between bursts of writes do not make them faster.")
    return lines


def tables(findings: Findings) -> list[Table]:
    """IOPS as a matrix, then the others."""
    rows = findings["iops"]
    mixes = sorted({row["read_percent"] for row in rows}, reverse=True)
    sizes = sorted({row["request_bytes"] for row in rows}, reverse=True)
    by = {(row["read_percent"], row["request_bytes"]): words.count(row["iops"]) for row in rows}
    cells = [[words.block(bs), *(by.get((mix, bs), "") for mix in mixes)] for bs in sizes]
    matrix = Table("IOPS by share of reads", ["request", *(f"{mix} %" for mix in mixes)], cells)
    size: Columns = {"request": ("request_bytes", words.block)}
    throughput = of_rows("Throughput", findings["throughput"], {"kind": "kind", **size, "speed": "bytes_per_s"})
    latency = {"reads %": "read_percent", **size, "mean": "mean_s", "longest": "max_s"}
    takes = of_rows("Latency", findings["latency"], latency)
    waits = {"pause": "wait_s", "IOPS": "iops", "without": "baseline_iops"}
    return [matrix, of_rows("Host idle recovery", findings["hir"], waits), throughput, takes]


def pictures(recording: Recording) -> list[Picture]:
    """Saturation, then the rounds."""
    results = recording.findings.typed(Findings)
    drawn = []
    series = {"wsat": ("Write saturation", results["wsat"]),
              "rounds": ("Rounds to the steady state", results["tracked_iops"])}  # fmt: skip
    for name, (title, iops) in series.items():
        line = Line("4 KiB random writes", np.arange(1, len(iops) + 1), iops, "points")
        drawn.append(Picture(name, title, Axis("round"), (Panel(Axis("IOPS", "/s"), [line] if iops else []),)))
    return [*drawn, *curves.of_any(recording)]
