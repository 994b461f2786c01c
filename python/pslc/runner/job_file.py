"""Job files as they are given: several, from stdin, with others included, some sections of them. One text comes of them
that stands for itself, so that a recording holds all of it. `#line N FILE` in it says where lines come from, and
`#line 0 FILE` that a further file begins."""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pslc import suites
from pslc._native import plan_jobs
from pslc.base import gate, units
from pslc.base.errors import JobError, closest_match
from pslc.schema.job_options import of_options
from pslc.traces import Part, Replay

STDIN = "-"
FILE = gate.Expected("give the path of an fio job file, or a suite: pslc run --list")
COMMAND_LINE = "--name"
"""Subject that stands for jobs given by options alone, in place of a job file (`text_of`)."""
SOURCES = {STDIN: "stdin", COMMAND_LINE: "the command line"}
"""Names of stdin and of the command line in messages."""
FURTHER = "#line 0 "
"""Before each file but the first: it has a [global] of its own, and its jobs run behind those of the files before."""
MAX_INCLUDE_DEPTH = 8
"""Depth of nested includes."""

MAX_PATTERN_BYTES = 64 << 10
PATTERNS = ("verify_pattern", "buffer_pattern")
"""Options whose value may name a file in single quotes."""
PATTERN_FILE = gate.Expected("a pattern takes the bytes of a file of up to 64 KiB", max_bytes=MAX_PATTERN_BYTES)
MAX_NAMED = 5
"""Sections that a hint names."""


def read(names: Sequence[str | Path], sections: Sequence[str] = ()) -> str:
    """The jobs of all files, each file's behind those of the one before; if `sections` are named, only these.

    Raises:
        PslcError: a file cannot be read, or there is no such section.
    """
    texts = [_included(str(file), "", 0) for file in names]
    parts = [f"{FURTHER}{file}\n{text}" for file, text in zip(names, texts, strict=True)]
    text = "".join([*texts[:1], *parts[1:]])
    return _sections(text, sections) if sections else text


def text_of(options: Sequence[tuple[str, str]]) -> str:
    """The job file of a command line of fio's: each `name` begins a job, and what stands before the first is for all.

    Raises:
        JobError: a value cannot stand in a job file.
    """
    lines = ["[global]"]
    for name, value in with_patterns(options):
        if "\n" in value or (name == "name" and "]" in value) or any(sign in value for sign in ";#"):
            raise JobError(f"--{name}={value!r} cannot stand in a job file", "remove ; # ] and line breaks")
        lines.append(f"[{value}]" if name == "name" else f"{name}={value}" if value else name)
    return "\n".join(lines) + "\n"


def of_command_line(options: Sequence[tuple[str, str]], more: Sequence[str | Path], sections: Sequence[str]) -> str:
    """The jobs that options alone tell; if `sections` are named, only these.

    Raises:
        JobError: there are job files, too.
    """
    if more:
        raise JobError(
            f"--name describes a job, but {more[0]} is a job file", "give one of them; --section picks jobs of a file"
        )
    text = text_of(options)
    return _sections(text, sections) if sections else text


def with_patterns(options: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Options with the bytes of a file, as `0x...`, in place of its name in single quotes, where a pattern has one.

    Raises:
        PslcError: the file cannot be read, is empty, or is larger than a pattern may be.
    """
    return [(name, _pattern(value) if name in PATTERNS else value) for name, value in options]


def _pattern(value: str) -> str:
    def bytes_of(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0]
        pattern = gate.data(Path(match[1]), PATTERN_FILE)
        if not pattern:
            raise PATTERN_FILE.refused(f"{match[1]} is empty")
        return f"0x{pattern.hex()}"

    return re.sub(r""""[^"]*"|'([^']+)'""", bytes_of, value)


def writing(text: str, overrides: Sequence[tuple[str, str]]) -> str | None:
    """The first job that writes or trims; None where all only read."""
    for name, options in jobs_in(text):
        rw = [value for option, value in [*options, *overrides] if option in ("rw", "readwrite")]
        if rw and rw[-1].partition(":")[0] not in ("read", "randread"):
            return name
    return None


def replayed(text: str, overrides: Sequence[tuple[str, str]], how: Replay) -> tuple[Path, Replay] | None:
    """The trace that a job file replays (`read_iolog`), and how: `replay_no_stall` and `replay_time_scale` say when,
    `replay_scale` and `replay_align` where, `replay_skip` what not, the engine and `iodepth` how many requests are
    under way; the rest is as in `how`. None where it replays none.

    Raises:
        JobError: it is not the only job, or asks for what is not done.
    """
    jobs = [{name: value or "1" for name, value in options} | dict(overrides) for _, options in jobs_in(text)]
    if not any("read_iolog" in job for job in jobs):
        return None
    _refuse_beside_trace(jobs)
    job = jobs[0]
    # Whatever else is in it is read as in any job file; the capacity does not matter to it.
    rest = [line for line in text.splitlines() if not line.strip().startswith(REPLAYS)]
    plan_jobs("\n".join(rest), "the job file", [pair for pair in overrides if not pair[0].startswith(REPLAYS)], 1 << 50)
    speed = _count(job, "replay_time_scale", 100, "a percentage: 200 is twice as fast")
    asap = job.get("replay_no_stall", "0") not in ("0", "false")
    part = _changed(how.part, job)
    depth = of_options(job)["iodepth"]
    how = replace(how, part=part, pace="asap" if asap else "original", speed=speed / 100, iodepth=depth)
    return Path(job["read_iolog"]), how


def _refuse_beside_trace(jobs: Sequence[Mapping[str, str]]) -> None:
    """Refuse what a replay does not do.

    Raises:
        JobError: there are several jobs, or the job asks for logs.
    """
    job = jobs[0]
    if len(jobs) != 1 or job.get("numjobs", "1") != "1":
        raise JobError("read_iolog stands beside other jobs", "a trace is replayed alone; --section NAME picks one job")
    if log := next((name for name in job if name in LOGS), None):
        hint = "leave it out; the recording holds the run, and pslc trace convert writes an iolog of the trace"
        raise JobError(f"{log} beside read_iolog: a replay writes no logs", hint)


REPLAYS = ("read_iolog", "replay_")
"""Prefixes of fio's options for traces."""
LOGS = ("write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log", "write_iolog")
"""Options that ask for logs of each request."""
SKIPS = {"read": "read", "write": "write", "trim": "trim", "sync": "flush"}
"""Words of `replay_skip`, and the kinds of requests that each leaves out."""


def _changed(part: Part, job: dict[str, str]) -> Part:
    """Job with what becomes of the requests of a trace."""
    align = _count(job, "replay_align", 1, "a power of 2 in bytes: 4k")
    if align & (align - 1):
        raise JobError(f"replay_align={align} is not a power of 2", "for example replay_align=4k")
    skipped = [word.strip() for word in job.get("replay_skip", "").split(",") if word.strip()]
    unknown = next((word for word in skipped if word not in SKIPS), None)
    if unknown is not None:
        raise JobError(f'replay_skip has "{unknown}"', f"of {', '.join(SKIPS)}")
    scale = _count(job, "replay_scale", 1, "offsets are divided by it: 4")
    return replace(part, without=tuple(SKIPS[word] for word in skipped), scale=scale, align=align)


def _count(job: dict[str, str], name: str, usual: int, hint: str) -> int:
    """A number with fio's suffixes; 0 is the usual one."""
    text = job.get(name, "0").lower()
    match = re.fullmatch(r"(\d{1,9})([kmg]?)i?b?", text)
    if match is None:
        raise JobError(f"{name}={text} is not a count", hint)
    return int(match[1]) * units.POWERS_OF_1024[match[2]] or usual


def jobs_in(text: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """The name of each job, and its options with their values behind those of its [global], whose `name` names nothing;
    a flag has an empty value."""
    common: list[tuple[str, str]] = []
    jobs: list[tuple[str, list[tuple[str, str]]]] = []
    options = common
    for line in text.splitlines():
        plain = line.split(";")[0].split("#")[0].strip()
        name, _, value = (word.strip() for word in plain.partition("="))
        if line.startswith(FURTHER):
            common = options = []
        elif plain.startswith("[global"):
            options = common
        elif plain.startswith("["):
            options = [pair for pair in common if pair[0] != "name"]
            jobs.append((plain.strip("[]"), options))
        elif name:
            options.append((name, value))
    return jobs


def path_of(name: str) -> Path:
    """Path of the job file named `name`.

    Raises:
        PslcError: the name can only mean a suite, and no suite has it.
    """
    path = Path(name)
    # `Path.exists` raises an error for a name that is too long.
    if not path.suffix and not os.path.exists(path):
        meant = suites.meant_by(name)
        hint = f"did you mean {meant}? pslc run --list lists all" if meant else "pslc run --list lists all"
        hint += "; a job file needs its extension, such as my.fio"
        raise JobError(f"unknown suite {name}", hint)
    return path


def _text(name: str) -> str:
    if name == STDIN:
        return sys.stdin.read(gate.MAX_TEXT_BYTES + 1)
    return gate.text(path_of(name), FILE)


def _included(name: str, including: str, depth: int) -> str:
    """The text of a file with those it includes in their places."""
    text = _text(name)
    source = "stdin" if name == STDIN else name
    included = [f"#line 1 {source}"] if including else []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip().split(maxsplit=1)
        if including and line.lstrip().startswith("["):
            what = f"{source}:{number}: a section begins in a file that {including} includes"
            raise JobError(what, "remove it: an included file holds options of the section before, as in fio")
        if len(words) != 2 or words[0] != "include":
            option, equals, value = line.partition("=")
            included.append(f"{option}={_pattern(value)}" if equals and option.strip() in PATTERNS else line)
            continue
        if depth == MAX_INCLUDE_DEPTH:
            raise JobError(
                f"{source}:{number}: includes are nested more than {MAX_INCLUDE_DEPTH} deep", "remove one include"
            )
        other = Path(words[1].strip())
        # As fio looks for it: from here, then beside the file that includes it.
        if not other.exists() and name != STDIN:
            other = Path(name).parent / other
        if not other.is_file():
            raise JobError(
                f"{source}:{number}: no such file to include: {words[1]}",
                "give a path relative to this folder, or to the folder of the job file",
            )
        included += [_included(str(other), name, depth + 1).rstrip("\n"), f"#line {number + 1} {source}"]
    return "\n".join(included) + "\n"


def _sections(text: str, wanted: Sequence[str]) -> str:
    """Without the sections that are not wanted; [global] stays."""
    kept, names, keep = [], [], True
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("[") and "]" in stripped:
            name = stripped[1 : stripped.index("]")]
            keep = name.startswith("global") or name in wanted
            names.append(name)
        # What is left out stays as an empty line, so that lines keep their numbers.
        kept.append(line if keep or stripped.startswith("#line ") else "")
    for name in wanted:
        if name not in names:
            meant = closest_match(name, names)
            hint = f"did you mean {meant}?" if meant else f"the first sections are {', '.join(names[:MAX_NAMED])}"
            raise JobError(f"no section is named [{name}]", hint)
    return "\n".join(kept) + "\n"
