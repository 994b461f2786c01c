"""The page of fio's options, docs/fio.md, from the one table in crates/load/src/job/options.rs: `make fio-page`."""

import re
import subprocess
from pathlib import Path

from pslc._native import fio_words
from pslc.report.fio import VERSION

PAGE = Path(__file__).parent.parent / "fio.md"
PARTS = [Path(__file__).parent / name for name in ("census.md", "own_tests.md")]
"""What `make fio-census` and `make fio-tests` write."""

INTRODUCTION = f"""
# fio's words

`pslc run my.fio --on TARGET` does what `fio --filename=TARGET my.fio` does: every file of a job file is the target.
Each option of fio {VERSION} is obeyed, ignored with a note on stderr that says why that is harmless, or refused with an
error that names the line. This page is made from the table that the parser reads (`make fio-page`), and a test holds
that table against the options of the fio that is installed.

```sh
pslc run examples/mixed.fio --on sim:sn850-1tb --section lay-out --section mixed
```

- Several files run one after the other, as behind a `stonewall`, each with a [global] of its own; `-` is stdin;
  `--section` picks jobs, of all files (in fio: of the first); `include` works; `--output FILE` prints to a file.
- Logs (`write_bw_log` and its kin) that a job file names go below the current folder and replace no file but pslc's
  own; `..` and absolute names are refused. `--logs-to DIR` puts all of them into a folder; what the command line names
  (`--write_bw_log=/tmp/x`) is written there. They are tried before the run, and written after its recording.
- Of several clones (`numjobs`) the second is, in logs and reports, the one with one `offset_increment`; in fio it is
  the last.
- Offsets, sizes, counts and their order are fio's, request by request, where they are not left to chance; random ones
  come from another generator, so the same `randseed` gives other places. `tests/test_fio_property.py` runs random job
  files with both and compares what each did: request by request where nothing is drawn; else the blocks of a random
  map, counts and bytes, and by Kolmogorov and Smirnov how sizes and places are spread. Of 300 files none differs.
- With several requests under way a flush (`fsync=1`) waits, as in fio, until something has come back since the last:
  `libaio` leaves out those that are due while the queue fills, `io_uring` makes one again until it is back. `fdatasync`
  is not counted as a request. Trims are made one at a time.
- Between two passes (`loops`, `io_size` past the `size`) the queue runs empty.
- Without `ioengine` a job runs under psync, one request at a time, whatever its `iodepth`, as in fio.
- `startdelay` counts from the beginning of the run, also behind a `stonewall`. A pause between two jobs is a job of
  `ioengine=null` with a `runtime`, in both programs; or `pause=5`, which is ours.
- `steadystate` ends a job after the first `ss_dur` seconds that meet its criterion, and `latency_target` finds the
  depth that keeps a latency, as fio does, on drives of either kind; fio's JSON shows what came of them. Seconds count
  from the beginning of the job (behind `ramp_time`), where fio's are those of a clock of its own.
- A job slower than its `rate_min` ends the run with an error; in fio it ends the job, and the others go on.
- `zonemode=strided` goes from zone to zone to the end of the target, also where that is past the `size`, as in fio.
- `verify` writes and checks blocks with the headers and checksums of fio 3.33, so that each program checks what the
  other wrote. As in fio, a job that writes verifies what it wrote, at the end or by `verify_backlog`, and no ordinary
  read of a mix; one that only reads verifies all that it reads. `tests/test_fio_verify.py` has 300 random jobs written
  by one and checked by both, one byte changed in half of them: both say the same of each. Beyond fio, a wrong block
  that is not the last of its request sets the exit code, too; a job judges only what no other wrote since, and nothing
  that two writes under way at the same time left. Results say how many blocks were right (`verified` in run.json), and
  how much was read and not judged. A simulated drive keeps no data: nothing is verified on it, and the result says
  that; under `pslc serve` it keeps them.
- `$pagesize`, `$mb_memory` and `$ncpus` are the machine's, and arithmetic with one of them is what `bc` makes of it.
  Without one it is refused, where fio would read `8192*2` as 8192.
- `eta` is 0 in the JSON, as of what has ended; fio prints 2147483647 where that took less than about 3 s.
- What a job file reads of a simulated drive, or of a new file, and does not write is written first, as fio lays out
  files; `--no-layout` leaves that out. Then a warning says how much was read that a simulated drive never held, and
  of a new file it is an error.
- Logs leave out what comes back in `ramp_time`, and their times count from its end. The last row of an averaged log is
  of a window as long as the job was in it; one of a rate over less than `bwavgtime` is left out, as in fio.
- `--output-format` takes fio's words, and several of them: `normal` (fio's text), `terse`, `json+`, and for fio's JSON
  `fio`, as `json` is pslc's own document. `--readonly`, `--parse-only` and `--section` are fio's. `--size` is fio's
  `size` on a simulated drive; on a real one it is the size of the scratch file.
- Of 192 public job files that fio runs, 172 were the same in counts, bytes, sizes, extents, flushes, run times and
  errors, 19 were refused with a reason, and 1 read more while it verified: there fio calls blocks wrong that it wrote
  itself (`verify` with `loops=2` and `bssplit` of a mix). `make bench-fio-public FOLDER=jobs` compares
  a folder of files.
- A rate is waited for until the `runtime` is over and a think time to its end, as in fio.
- `log_unix_epoch` and `log_alternate_epoch` add the time since 1970 to the times of logs, as fio does. On a simulated
  drive it is that of the start of the run plus the drive's own time.
- `nrfiles` and a list of files name one range, the target. In fio a job in sequence goes through its files by turns,
  each from its own beginning; here it goes through the range once. `python -m pslc.fio` refuses several files.
- One thread makes the requests of all jobs; fio has one for each. `make bench-fio` runs both on one file. On an ext4
  file on an idle virtual machine of two processors (medians of 9 pairs) 4 jobs x QD8 of random reads had 1.00 of
  fio's IOPS and 0.91 of its processor time a request, 4 jobs x QD1 0.99 and 1.05, random writes at QD32 1.01 and
  1.14. On tmpfs, where the machine is the limit and fio may use a processor a job, it was 0.95 and 1.13, 0.69 and
  0.92, 1.17 and 0.85. A thread for each job was tried: 0.99 and 1.00 on the file, 1.11 and 1.05 on tmpfs with 4 jobs
  x QD8, but a p99 of 1.8 times fio's there. Of samples of random writes on tmpfs 84 % were in the kernel (fio: 79 %).
  We enter the kernel 0.29 times a request, fio once.
- To hand a request to a simulated drive takes no time: where an engine does not wait, `slat` is 0 ns.

Options alone tell a job, as on fio's command line; those before the first `--name` are for all jobs:

```sh
pslc run --name=x --rw=randread --bs=4k --io_size=16m --on sim:sn850-1tb --output-format=normal
```

A script that calls fio can call `python -m pslc.fio` instead, with the same words. Jobs of `ioengine=null` then run on
a simulated drive, all others on the one file that they name, which stays. A file that pslc did not write last is not
overwritten, a block device never, and what is not done is refused with exit code 1.

```sh
python -m pslc.fio --name=x --ioengine=null --rw=randwrite --size=64m --output-format=terse
```
"""


def row(names: list[str], verdict: str, why: str) -> str:
    """A line of the table."""
    first, *others = (f"`{name}`" for name in names)
    also = f" ({', '.join(others)})" if others else ""
    text = why.replace("|", "\\|")
    if verdict == "on real drives":
        text = f"ignored on a simulated one: {text}"
    return f"| {first}{also} | {verdict} | {text} |"


def document() -> str:
    """The page."""
    options, engines = fio_words()
    lines = [INTRODUCTION.strip(), "", "## Options", "", "| option | is | and |", "|---|---|---|"]
    lines += [row(*option) for option in sorted(options)]
    lines += ["", "## Engines", "", "| engine | is | and |", "|---|---|---|"]
    lines += [row(*engine) for engine in engines]
    for part in PARTS:
        if part.exists():
            lines += ["", part.read_text(encoding="utf-8").strip()]
    return "\n".join(lines) + "\n"


def installed() -> set[str]:
    """Every option that the fio on this machine knows."""
    done = subprocess.run(["fio", "--cmdhelp=all"], capture_output=True, text=True, check=True)
    return set(re.findall(r"^\s*(\S+?)\s*:", done.stdout, flags=re.MULTILINE))


if __name__ == "__main__":
    PAGE.write_text(document(), encoding="utf-8")
