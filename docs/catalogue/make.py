"""The page of the suites, docs/suites.md, from what their modules say of themselves: `make suites`."""

import inspect
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

Each asks one question of a drive, simulated or real, and answers with findings. `pslc suites` lists them, `pslc suites
show NAME` prints what is said here, and with `--fio` the jobs as an fio job file.

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

All take the same options:

| option | does |
|---|---|
| `--quick` | a sample; the report says what was left out |
| `--region 10GB-50GB` | stays within that part of the drive |
| `--fill-first 50%` | writes that much of the drive before, and works behind it; a job file goes where it says |
| `--idle 5min` | leaves the drive alone before |
| `--repeat 5` | so many times, each with a seed and a folder of its own; `repeats` in the findings is the spread |
| `--resume RUN` | goes on with a run that was interrupted |

A simulated drive is bare, but for suites that imitate a program (`cdm`, `as-ssd`, `atto`, `hdtune`, `niobench`,
`apps`): they show drive and computer together, so they give it the processor of a desktop, eight cores on which a read
costs 4.26 us and a write 5 us (what keeps the two cores of a Core i3-1115G4 busy at 470 000 reads or 400 000 writes a
second; eight such cores are assumed). A `host` of the profile or of the target wins, and `host=none` is the bare drive:

```sh
pslc run cdm --on sim:sn850-1tb,host=none --quick
```

`pslc run all` runs the whole catalogue and writes one page; a suite that fails is named at the end and does not keep
the others from running. Each suite begins with a new simulated drive, a new scratch file, or a device that was trimmed;
on a simulated one as many run at once as there are cores and memory for.
On a device, and on a file with `--reuse`, `--resume` does not repeat the steps that were finished; a simulated drive
and a scratch file are gone, and first come to be as they were. Suites of a catalogue that were finished are never
repeated.

From Python:

```python
import pslc

found = pslc.run("recovery", on="sim:pm871b-128gb", scope=pslc.Scope(quick=True)).findings
print(found["idle_threshold_s"], found["migration_bytes_per_s"], found["residue_bytes"])
```

A suite goes by steps, and a step may follow from what the one before it measured. Waiting is real on a real drive; on a
simulated one an hour of idle costs nothing. Sizes are in bytes, times in seconds, rates per second. `doubts` among the
findings say what may be wrong and what to do about it. Each has a `code` to filter by and a `text`.

Every figure in the table is of DRIVE, with the steps as expected: what is measured may change them. `+` stands for
what is written until a time is over.
""".strip()


def document() -> str:
    """The whole page."""
    target = find_target(DRIVE)
    lines = [INTRODUCTION.replace("DRIVE", f"`{DRIVE}`"), "", "| suite | asks | writes | takes |", "|---|---|---|---|"]
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
    findings = inspect.cleandoc(suite.findings.__doc__ or "")
    if findings.startswith("See"):
        findings = inspect.cleandoc((_of_writes() or "").partition("\n")[2])
    return f"## {name}\n\n{suite.__doc__.strip()}\n\n{sample} Findings:\n\n{findings}"


def _of_writes() -> str | None:
    from pslc.recording.writes import of_writes

    return of_writes.__doc__


if __name__ == "__main__":
    PAGE.write_text(document())
