"""How much of its map does the controller hold? Latency of random reads against the span they are spread over.

The whole drive is written, then read at random within spans from 64 MiB up, each warmed first. Without DRAM, reads
beyond the held part of the map also read the map from flash. Reads may also differ by place, because some data are
still in pSLC, so the smallest span is read in sixteen other places too; that difference is not attributed to the map.
"""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from typing_extensions import TypedDict

from pslc.analysis.series import Floats
from pslc.base import words
from pslc.device.region import MIB, Region
from pslc.figures import curves
from pslc.figures.picture import Axis, Line, Panel, Picture, Table
from pslc.figures.tables import of_rows
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import jobs, latency
from pslc.schema.unknown import unknown
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "every second span, half as many reads"
COMPUTER = "none"
UNLIKE_SCALED = "spans begin at 64 MiB, which may be more than its map then covers"
SMALLEST = 64 * MIB
PER_OCTAVE = 2
READS = 4000
ENTRY = 4 * MIB
"""Bytes that a page of the map maps: reads that warm a span touch each of these several times."""
WARM_TIMES = 6
MOST_WARM = 2_000_000
REST_S = 600.0
REACH = 8
"""Times the span at which latency rises; as far the knee is fitted."""
PARTS = 16
"""Equal parts of the region, each of which the smallest span is read in as well."""
STEP = 1.1
"""Above this ratio of latencies there is a knee."""


def steps(region: Region) -> Steps:
    """Everything is written and left to settle; then each span."""
    text = region.write("lay-out", region.size)
    octaves = int(np.log2(region.size / SMALLEST)) if region.size > SMALLEST else 0
    every = 1 if region.quick else PER_OCTAVE
    sizes = [SMALLEST * 2 ** (n / every) for n in range(octaves * every + 1)]
    # As many passes as it takes, each in another order.
    read = partial(region.job, rw="randread", bs="4k", norandommap=True, io_size="1t", randrepeat=0)
    first = True
    for span in [int(size) // MIB * MIB for size in sizes if size < region.share(0.9)] + [region.share(1.0)]:
        warm = min(WARM_TIMES * span // ENTRY + 1000, MOST_WARM)
        text += read(f"warm-{span // MIB}m", size=span, iodepth=64, number_ios=warm, pause=REST_S if first else 0)
        text += read(f"span-{span // MIB}m", size=span, iodepth=1, number_ios=READS // 2 if region.quick else READS)
        first = False
    warm = WARM_TIMES * SMALLEST // ENTRY + 1000
    for number, at in enumerate(_places(region.size)):
        place = partial(read, size=SMALLEST, offset=at)
        text += place(f"warm-place-{number}", iodepth=64, number_ios=warm)
        text += place(f"place-{number}", iodepth=1, number_ios=READS // 8)
    yield text


def _places(size: int) -> list[int]:
    """Offsets at which the smallest span is read too: in the middles of equal parts of the region, and of what each
    doubling of the span adds within the first of them."""
    if size < 4 * PARTS * SMALLEST:
        return []
    first = size // PARTS
    doubled = [SMALLEST << n for n in range((first // SMALLEST).bit_length())]
    edges = [*(edge for edge in doubled if edge + SMALLEST <= first), *(first * n for n in range(1, PARTS + 1))]
    return [((start + end - SMALLEST) // 2) // MIB * MIB for start, end in pairwise(edges)]


class Span(TypedDict):
    """Latencies of reads within one span."""

    span_bytes: int
    mean_s: float
    median_s: float
    p99_s: float


class Elsewhere(TypedDict):
    """Latency in the smallest span at another place of the drive."""

    at_bytes: int
    mean_s: float


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    range_sweep: list[Span]
    places: list[Elsewhere]
    hit_s: float | None
    miss_s: float | None
    mapped_bytes: int | None
    mapped_bytes_low: int | None
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `range_sweep`: `span_bytes`, `mean_s`, `median_s`, `p99_s`
    - `places`: `at_bytes`, `mean_s` of the smallest span elsewhere
    - `hit_s`, `miss_s`: mean latency while the map is held, and what a look at the rest of it adds
    - `mapped_bytes`: the span whose map the controller holds; null when there is no knee
    - `mapped_bytes_low`: the same, or null where it may be less: no span was small enough to tell

    Reads at random over a span S of which M is mapped miss the map with probability 1 - M/S, so the mean is
    hit + miss (1 - M/S) beyond M: M is where this fits best. What the places within S take above its beginning is
    taken off before.
    """
    rows: list[Span] = []
    for name, job in jobs(recording):
        if name.startswith("span-"):
            rows.append(
                {
                    "span_bytes": int(job["options"]["size"]),
                    "mean_s": latency(job, "read"),
                    "median_s": latency(job, "read", 50),
                    "p99_s": latency(job, "read", 99),
                }
            )
    start = min((int(job["options"].get("offset", 0)) for _, job in jobs(recording)), default=0)
    places: list[Elsewhere] = [
        {"at_bytes": int(job["options"]["offset"]) - start, "mean_s": latency(job, "read")}
        for name, job in jobs(recording)
        if name.startswith("place-")
    ]
    result = unknown(Findings)
    result |= {"range_sweep": rows, "places": places}
    if len(rows) < 3:
        result["warnings"] = [
            MeasurementWarning("few-spans", "there are too few spans to find a knee: give the suite more of the drive")
        ]
        return result
    spans, means = np.array([[row["span_bytes"], row["mean_s"]] for row in rows], dtype=float).T
    result["hit_s"] = float(means[0])
    if places:
        everywhere = [float(means[0]), *(place["mean_s"] for place in places)]
        quickest, slowest = min(everywhere), max(everywhere)
        if slowest > STEP * quickest:
            reason = f"a read takes {words.span(quickest)} in one place and {words.span(slowest)} in another"
            result["warnings"] = [
                MeasurementWarning(
                    "unlike-places", f"{reason}, whatever the span: their cells differ, and that was taken off"
                )
            ]
        means = means - _of_place(places, float(means[0]), spans)
    if means[-1] < STEP * means[0]:
        return result
    knee = _knee(spans, means)
    if knee is not None:
        result |= {"hit_s": knee.hit_s, "miss_s": knee.miss_s, "mapped_bytes": knee.mapped_bytes}
        result["mapped_bytes_low"] = knee.mapped_bytes if knee.mapped_bytes > spans[0] else None
    return result


@dataclass(frozen=True, slots=True)
class _Knee:
    hit_s: float
    miss_s: float
    mapped_bytes: int


def _knee(spans: np.ndarray, means: np.ndarray) -> _Knee | None:
    """Span at which `hit + miss (1 - M/S)` fits mean latencies over spans best; None where no miss takes longer."""
    # Beyond, other things may begin, such as reads of cells that are slower to read.
    rise = spans[int(np.argmax(means >= STEP * means[0]))]
    spans, means = spans[spans <= REACH * rise], means[spans <= REACH * rise]
    best, knee = np.inf, None
    for mapped in np.geomspace(spans[0], spans[-1], 600):
        missed = np.maximum(0.0, 1 - mapped / spans)
        design = np.stack([np.ones_like(missed), missed], axis=1)
        (hit, miss), *_ = np.linalg.lstsq(design / means[:, None], np.ones_like(means), rcond=None)
        error = float((((design @ np.array([hit, miss])) / means - 1) ** 2).sum())
        if error < best and miss > 0:
            best, knee = error, _Knee(float(hit), float(miss), round(float(mapped)))
    return knee


def _of_place(places: list[Elsewhere], first_s: float, spans: Floats) -> Floats:
    """Seconds by which reads over each span take longer than over the first because of where they are: each byte takes
    what the place nearest to it does."""
    at = np.array([0.0, *(place["at_bytes"] for place in places)])
    longer = np.array([0.0, *(place["mean_s"] - first_s for place in places)])
    order = np.argsort(at)
    edges = np.array([0.0, *((at[order][:-1] + at[order][1:] + SMALLEST) / 2), np.inf])
    within = np.clip(spans[:, None] - edges[:-1], 0.0, np.diff(edges))
    average: Floats = within @ longer[order] / spans
    return average


def sentences(findings: Findings) -> list[str]:
    """The knee, or none."""
    if findings["hit_s"] is None:
        return []
    if findings["mapped_bytes"] is None or findings["miss_s"] is None:
        takes, slowest = findings["hit_s"], max(row["mean_s"] for row in findings["range_sweep"])
        held = f"A random read takes {words.span(takes)} over any span: the controller holds the whole map."
        if slowest < STEP * takes:
            return [held]
        differ = f"A random read takes {words.span(takes)} to {words.span(slowest)}, as cells elsewhere are slower"
        return [f"{differ}: the controller holds the whole map."]
    held, miss = words.size(findings["mapped_bytes"]), words.span(findings["miss_s"])
    if findings["mapped_bytes_low"] is None:
        shortest, longest = (words.span(findings["range_sweep"][n]["mean_s"]) for n in (0, -1))
        widest = words.size(findings["range_sweep"][-1]["span_bytes"])
        return [f"Holds the map of {held} or less: a random read takes {shortest} there, {longest} over {widest}."]
    return [f"Holds the map of {held}: a random read takes {words.span(findings['hit_s'])} there, {miss} more beyond."]


def tables(findings: Findings) -> list[Table]:
    """Table with a row for each span."""
    columns = {"span": "span_bytes", "mean": "mean_s", "median": "median_s", "99 %": "p99_s"}
    return [of_rows("Spans", findings["range_sweep"], columns)]


def pictures(recording: Recording) -> list[Picture]:
    """Read latency against span."""
    rows = recording.findings.typed(Findings)["range_sweep"]
    spans = [row["span_bytes"] for row in rows]
    lines = [Line("mean", spans, [row["mean_s"] for row in rows], "points"),
             Line("median", spans, [row["median_s"] for row in rows], "points")]  # fmt: skip
    panel = Panel(Axis("latency", "s"), lines if rows else [])
    title = "Latency of random reads by span"
    return [Picture("spans", title, Axis("span", "block", log=2), (panel,)), *curves.of_any(recording)]
