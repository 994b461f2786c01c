"""How often an end of a cache that is inferred from speeds alone agrees with the drive's own report:
`make bench NAME=reported_cache`, into docs/accuracy/reported_cache.md.

Random small drives are filled on a slow clock. Their caches are shown as Linux shows a UFS drive's, once a second.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

import pslc
from benches.small import PROFILE, random_idle
from pslc.device.cache_report import cache_report, free_tenths
from pslc.device.sensors import Sensor
from pslc.recording.model import Recording
from pslc.recording.writes.findings import of_writes
from pslc.recording.writes.reported_end import reported_end
from pslc.schema.facts import CACHE_FREE_TENTHS, ServedStatus
from pslc.serving.ufs_files import UfsFiles

DRIVES: Final = 100
MIN_COVERAGE: Final = 0.95
TABLE: Final = Path("docs/accuracy/reported_cache.md")
SECOND_NS: Final = 1_000_000_000


def slowed(recording: Recording, seconds: float) -> Recording:
    """The same fill on a clock on which it takes so long."""
    factor = seconds / recording.drive_time_s

    def slow(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        since = columns["end_ns"].astype(np.float64) - recording.start_ns
        return {**columns, "end_ns": (recording.start_ns + since * factor).astype(np.uint64)}

    return replace(recording, drive_time_s=seconds, time=slow(recording.time), bytes=slow(recording.bytes))


def reported(recording: Recording, folder: Path, rng: np.random.Generator) -> Recording:
    """The fill with what the drive's files said of its cache, each second and up to a tenth later."""
    columns = recording.bytes

    def status(row: int) -> ServedStatus:
        return {"columns": {name: int(column[row]) for name, column in columns.items()}}  # type: ignore[typeddict-item]

    limit = {"cache_limit_bytes": int(columns["cache_limit_bytes"][0])}
    empty = dict.fromkeys(("slc_valid_bytes", "slc_superblocks", "folded_bytes_total"), 0) | limit
    files = UfsFiles(folder, recording.facts, {"columns": empty})  # type: ignore[typeddict-item]
    disk = folder / "disk"
    recording.facts["before"] = {"cache": cache_report(disk)}  # type: ignore[typeddict-item]
    since = columns["end_ns"].astype(np.int64) - recording.start_ns
    samples: list[tuple[int, float]] = [(0, free_tenths(disk) or 0)]
    at_ns = 0
    while (at_ns := at_ns + SECOND_NS + int(rng.integers(SECOND_NS // 10))) < since[-1]:
        if (row := int(np.searchsorted(since, at_ns, side="right")) - 1) >= 0:
            files.follow(status(row))
        samples.append((at_ns, free_tenths(disk) or 0))
    return Sensor(CACHE_FREE_TENTHS, lambda: None, True, samples).on(recording)


def true_end(recording: Recording) -> tuple[float, float] | None:
    """Bytes written before and after the bin in which data first went elsewhere than into free cache."""
    written = np.cumsum(recording.bytes["write_bytes"], dtype=np.float64)
    elsewhere = recording.bytes["host_to_native_bytes_total"] + recording.bytes["folded_bytes_total"]
    after = np.flatnonzero(elsewhere > elsewhere[0])
    return (float(written[max(after[0] - 1, 0)]), float(written[after[0]])) if after.size else None


def overlap(low: tuple[float, float] | None, high: tuple[float, float] | None) -> bool:
    """Whether two intervals have something in common; what is not there has nothing."""
    return low is not None and high is not None and low[0] <= high[1] and high[0] <= low[1]


def stated(findings: Mapping[str, Any]) -> tuple[float, float] | None:
    """Interval of the end of a cache in findings; None where they name none."""
    ends = findings["cache_bytes"] is not None
    return (findings["cache_bytes_low"], findings["cache_bytes_high"]) if ends else None


def main() -> None:
    """Fill the drives, print the table, and keep it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("drives", type=int, nargs="?", default=DRIVES)
    parser.add_argument("--first", type=int, default=1, help="seed of the first drive")
    asked = parser.parse_args()
    counts, misses = Counter[str](), []  # type: Counter[str], list[str]
    with TemporaryDirectory() as name:
        (Path(name) / "small.toml").write_text(PROFILE)
        for seed in range(asked.first, asked.first + asked.drives):
            rng = np.random.default_rng(seed)
            keys = "".join(f",{key}={value}" for key, value in random_idle(seed)[0].items())
            fill = slowed(pslc.run("fill", on=f"sim:{name}/small.toml{keys}"), float(rng.uniform(60, 300)))
            shown = reported(fill, Path(name) / str(seed), rng)
            end, truth = reported_end(shown), true_end(fill)
            inferred = stated(of_writes(fill, outside=True))
            answers = {
                "report, true end": overlap(end, truth),
                "report, end by the drive's counters": overlap(end, stated(fill.findings)),
                "report, end by the speeds alone": overlap(end, inferred),
                "speeds alone: another end": inferred is not None and not overlap(end, inferred),
                "speeds alone: no end": inferred is None,
            }
            counts.update(name for name, is_so in answers.items() if is_so)
            misses += [f"{seed}: report {end}, truth {truth}, by speed {inferred}: {keys}"] * (
                not overlap(end, inferred)
            )
            lines = [f"| {name} | {counts[name]} |" for name in answers]
            TABLE.write_text(
                "\n".join([f"| agree | of {seed - asked.first + 1} drives |", "|---|---:|", *lines]) + "\n"
            )
    print(TABLE.read_text(), *misses, sep="\n")
    sys.exit(counts["report, true end"] < MIN_COVERAGE * asked.drives)


if __name__ == "__main__":
    main()
