"""Published against simulated, as ACCURACY.md: `make accuracy`. Each line is a fill of the drive that it names."""

import functools
import statistics
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import pslc

FOLDER = Path(__file__).parent
BOUND = {True: 0.05, False: 0.15}
"""The largest error that is no miss, of figures that a profile was fitted to and of others."""
TWICE = "[global]\nrw=write\nbs=1m\niodepth=32\n[first]\n[again]\nstonewall\n"

INTRODUCTION = """
Published figures of real drives beside those of their simulated twins. `make accuracy` writes this page from
`docs/accuracy/published.toml`, and `make test` fails when it no longer says what the simulator does. Each line
is `pslc run fill --on sim:DRIVE`.

*Fitted* figures were used to calibrate the profile, *predicted* ones were not. A fitted figure off by more than
5 %, or a predicted one by more than 15 %, is a miss. `>` marks figures published as lower bounds: being above is
no error. Prose rounds ('almost 5 GB/s'), so single figures may be off by 15 % themselves.
""".strip()


@functools.cache
def fill(drive: str) -> pslc.Recording:
    """One fill of a fresh drive."""
    return pslc.run("fill", on=f"sim:{drive}")


def again(drive: str) -> float:
    """Speed over the first minute of the second fill."""
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder) / "twice.fio"
        job.write_text(TWICE)
        recording = pslc.run(job, on=f"sim:{drive}")
    written, ends = recording.time["write_bytes"].cumsum(), recording.time["end_ns"]
    begin = int((written < recording.capacity_bytes).sum())
    end = int((ends < ends[begin] + 60_000_000_000).sum())
    return float(written[end] - written[begin]) / float(ends[end] - ends[begin]) * 1e9


def later(phases: list[dict[str, Any]]) -> float:
    """Speed of the first phase that is as fast as the first again."""
    return next(phase["bytes_per_s"] for phase in phases[2:] if phase["bytes_per_s"] > 1.5 * phases[1]["bytes_per_s"])


def measure(drive: str, words: str) -> float:
    """What `measure` in published.toml names."""
    if words == "again":
        return again(drive)
    findings = fill(drive).findings
    phases = findings["phases"]
    name, _, number = words.partition(" ")
    if name == "cache":
        return float(findings["cache_bytes"])
    if name == "mean":
        return float(findings["fill_mean_bytes_per_s"])
    if name == "later":
        return later(phases)
    at = int(number) - 1 if int(number) > 0 else int(number)
    return float(phases[at][{"speed": "bytes_per_s", "end": "to_bytes"}[name]])


def rows() -> list[dict[str, Any]]:
    """Every published figure with the simulated one, and the error."""
    found = tomllib.loads((FOLDER / "published.toml").read_text())["figure"]
    for row in found:
        row["simulated"] = measure(row["drive"], row["measure"])
        error = row["simulated"] / row["value"] - 1
        row["error"] = max(-error, 0.0) if row.get("at_least") else abs(error)
        row["miss"] = row["error"] > BOUND[row["fitted"]]
    return list(found)


def shown(row: dict[str, Any], value: float) -> str:
    """GB for sizes, MB/s for speeds."""
    bytes_only = row["measure"] == "cache" or row["measure"].startswith("end")
    return f"{value / 1e9:.0f} GB" if bytes_only else f"{value / 1e6:.0f} MB/s"


def document() -> str:
    """The text of ACCURACY.md."""
    table = rows()
    lines = [
        "# Accuracy",
        "",
        *INTRODUCTION.splitlines(),
        "",
    ]
    for fitted, word in ((True, "fitted"), (False, "predicted")):
        errors = sorted(row["error"] for row in table if row["fitted"] == fitted)
        misses = sum(row["miss"] for row in table if row["fitted"] == fitted)
        ninety = errors[min(int(0.9 * len(errors)), len(errors) - 1)]
        median = statistics.median(errors)
        lines.append(
            f"- {word}: {len(errors)} figures, median error {median:.1%}, 90th percentile {ninety:.1%}, misses {misses}"
        )
    lines += ["", "| drive | figure | published | simulated | error | |", "|---|---|---:|---:|---:|---|"]
    for row in table:
        word = ("fitted" if row["fitted"] else "predicted") + (", **miss**" if row["miss"] else "")
        value = ("> " if row.get("at_least") else "") + shown(row, row["value"])
        simulated, error = shown(row, row["simulated"]), row["simulated"] / row["value"] - 1
        lines.append(f"| {row['drive']} | {row['what']} | {value} | {simulated} | {error:+.1%} | {word} |")
    sources = tomllib.loads((FOLDER / "published.toml").read_text())["source"]
    lines += ["", "## Sources", "", *(f"- {drive}: {source}" for drive, source in sources.items())]
    reasons = [f"- {row['drive']}, {row['what']}: {row['reason']}." for row in table if row["miss"]]
    if reasons:
        lines += ["", "## Misses", "", *reasons]
    lines += [
        "",
        "## Not simulated yet",
        "",
        "Figures of heat, power, mapping caches, host caches and the host's processor: the parts of the model",
        "that they need are not there (docs/model.md).",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (FOLDER.parent.parent / "ACCURACY.md").write_text(document())
