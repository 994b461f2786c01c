"""The page of the suites, docs/suites.md, from the docstrings of their modules: `make suites`."""

from pathlib import Path

from pslc import suites
from pslc.base import words
from pslc.device.cost import Cost, cost
from pslc.device.region import Scope, find_region
from pslc.device.target import Target, find_target

PAGE = Path(__file__).parent.parent / "suites.md"
DRIVE = "sim:sn850-1tb"

INTRODUCTION = """
# Suites

A *suite* is a test that asks one question about a drive, simulated or real, and answers with findings. `pslc suites`
lists all suites. `pslc suites show NAME` prints the section below, and with `--fio` the jobs as an fio job file.

```sh
pslc suites --on sim:sn850-1tb
pslc suites show recovery
pslc suites show recovery --fio
pslc run recovery --on sim:pm871b-128gb
pslc run burst --on sim:pm871b-128gb --quick --repeat 3
pslc run fill --on sim:pm871b-128gb --fill-first 50% --idle 10min
pslc run sustained --on sim:pm871b-128gb --quick --region 10GB-50GB
pslc run all --on sim:pm871b-128gb --quick --save everything
```

All suites take the same options:

| option | effect |
|---|---|
| `--quick` | runs the short form; the report names what it leaves out |
| `--region 10GB-50GB` | uses only this part of the drive |
| `--fill-first 50%` | fills this share of the drive first; the suite works behind it, a job file where it says |
| `--idle 5min` | leaves the drive idle first |
| `--repeat 5` | runs five times, each with its own seed and folder; the finding `repeats` is their spread |
| `--resume RUN` | resumes an interrupted run |

A simulated drive has no computer around it. Suites that imitate a program (`cdm`, `as-ssd`, `atto`, `hdtune`,
`niobench`, `apps`) add a desktop processor, because such programs measure drive and computer together. It has eight
cores (assumed); a read costs 4.26 us and a write 5 us, which keeps the two cores of a Core i3-1115G4 busy at 470,000
reads or 400,000 writes a second. A `host` table in the profile or the target overrides it, and `host=none` removes
it:

```sh
pslc run cdm --on sim:sn850-1tb,host=none --quick
```

`pslc run all` runs the whole catalogue and writes one page. If a suite fails, the others still run, and the end names
it. Each suite starts with a new simulated drive, a new scratch file, or a trimmed device. On a simulated drive,
suites run in parallel as far as cores and memory allow.

`--resume` never repeats finished suites of a catalogue. On a device, and on a file with `--reuse`, it does not repeat
finished steps either. A simulated drive and a scratch file are gone, so their steps are repeated first.

From Python:

```python
import pslc

findings = pslc.run("recovery", on="sim:pm871b-128gb", scope=pslc.Scope(quick=True)).findings
print(findings["idle_threshold_s"], findings["migration_bytes_per_s"], findings["residue_bytes"])
```

A suite consists of steps, and a step may depend on what the one before it measured. Waiting takes real time on a real
drive; an hour of idle time costs nothing on a simulated one. Sizes are in bytes, times in seconds, rates per second.
`doubts` are the warnings: what may be wrong and what to do about it, each with a `code` to filter by and a `text`.

The table is for DRIVE, with the steps as expected; measurements may change them. `+` means that the suite also writes
until a time is over.
""".strip()


def document() -> str:
    """The whole page."""
    target = find_target(DRIVE)
    head = ["| suite | question | writes | takes |", "|---|---|---|---|"]
    lines = [INTRODUCTION.replace("DRIVE", f"`{DRIVE}`"), "", *head]
    for name in suites.names():
        found = _cost(name, target, quick=False)
        asks = suites.question(name)
        lines.append(f"| [{name}](#{name}) | {asks[: asks.index('?') + 1]} | {_writes(found)} | {_takes(found)} |")
    for name in suites.names():
        lines += ["", _section(name, target)]
    return "\n".join(lines) + "\n"


def _cost(name: str, target: Target, quick: bool) -> Cost:
    return cost(suites.expected(name, find_region(target, Scope(quick))), name, [], target)


def _writes(found: Cost) -> str:
    return words.size(found.write_bytes) + (" +" if found.writes_until_time else "")


def _takes(found: Cost) -> str:
    ends = (words.span(found.seconds(speed)) for speed in (5e9, 1e9))
    return " to ".join(dict.fromkeys(ends))


def _section(name: str, target: Target) -> str:
    suite = suites.load(name)
    quick = _cost(name, target, quick=True)
    sample = f"`--quick` takes {_takes(quick)}: {suite.QUICK}."
    return f"## {name}\n\n{suite.__doc__.strip()}\n\n{sample}\n\n{suites.findings_text(name)}"


if __name__ == "__main__":
    PAGE.write_text(document())
