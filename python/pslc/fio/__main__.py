"""`pslc-fio`: jobs under fio's own command line, for scripts that call fio.

Jobs of `ioengine=null` run on a simulated drive, all others on the one file that they name. A new file is made, laid
out where jobs read it, and kept, as fio does; a file that pslc did not write last is not overwritten, and no block
device is touched. Exit codes are fio's: 0 done, 1 an error.
"""

import io
import json
import os
import secrets
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NoReturn

from pslc._native import inspect_file, plan_jobs, version
from pslc.base import failure, writer
from pslc.base.ends import hear
from pslc.base.errors import JobError, PslcError, TargetError
from pslc.cli._progress import Bar
from pslc.device.names import is_device
from pslc.device.target import NO_CONSENT, RealOptions
from pslc.fio import json_output as fio
from pslc.fio import normal as fio_normal
from pslc.fio import terse as fio_terse
from pslc.recording.model import Recording
from pslc.runner import fio_logs, job_file
from pslc.runner.job_logs import JobLogs
from pslc.runner.options import RunOptions
from pslc.runner.run import run_with
from pslc.schema.results import Silence

NULL_DRIVE: Final = "sim:aldrin-pro-2tb"
"""Stands for fio's null engine: the largest drive of the library."""
UNLIMITED_BYTES: Final = 1 << 60
PAGE_BYTES: Final = 4096
READS: Final = ("read", "randread")
FORMATS: Final = ("normal", "json", "json+", "terse")
VALUED: Final = (
    "output", "output-format", "section", "max-jobs", "debug", "terse-version", "aux-path", "eta", "eta-interval",
    "eta-newline", "status-interval", "alloc-size",
)  # fmt: skip
"""Options of fio's command line that take a value, as this word or the next."""
UNHEARD: Final = ("eta", "eta-interval", "eta-newline", "status-interval", "alloc-size", "warnings-fatal", "aux-path")
"""Options of fio's command line that change neither the run nor the final output."""
REFUSED: Final = {
    **dict.fromkeys(("server", "client", "remote-config", "daemonize"), "pslc runs in one process"),
    **dict.fromkeys(("trigger", "trigger-file", "trigger-timeout", "trigger-remote"), "pslc runs no programs"),
    **dict.fromkeys(("crctest", "cpuclock-test", "idle-prof"), "it measures no drive"),
    **dict.fromkeys(("cmdhelp", "enghelp", "help"), "see fio's HOWTO, and docs/fio.md for what pslc does of it"),
    "append-terse": "use --output-format=normal,terse",
    "showcmd": "pslc run --dry-run prints the command",
    "merge-blktrace-only": "one trace at a time",
    "inflate-log": "logs are never compressed",
}


@dataclass
class Command:
    """A command line of fio's.

    Attributes:
        options: of jobs, in their order; each `name` begins a job, those before the first are for all.
        settings: options of the command itself, with their values.
    """

    options: list[tuple[str, str]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    sections: list[str] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def formats(self) -> list[str]:
        """Output formats of `--output-format`, in the order in which they are printed.

        Raises:
            PslcError: fio has no such format.
        """
        text = "terse" if "minimal" in self.settings else self.settings.get("output-format", "normal")
        words = list(dict.fromkeys(word.strip() for word in text.split(",")))
        for word in words:
            if word not in FORMATS:
                raise JobError(f'--output-format is "{word}"', f"one of {', '.join(FORMATS)}")
        return [word for word in ("terse", "json", "json+", "normal") if word in words]


def parsed(words: Sequence[str]) -> Command:
    """Parse fio's command line.

    Raises:
        PslcError: it has an option of fio's that pslc does not support.
    """
    command, rest = Command(), list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            if word.startswith("-") and word != job_file.STDIN:
                raise JobError(f"{word} is no option of fio's", "they begin with two: --output=FILE")
            command.files.append(word)
            continue
        name, equals, value = word[2:].partition("=")
        if name in REFUSED:
            raise JobError(f"--{name} is not done here", REFUSED[name])
        if name in VALUED and not equals:
            if not rest:
                raise JobError(f"--{name} needs a value", f"--{name}=VALUE")
            value = rest.pop(0)
        if name == "section":
            command.sections.append(value)
        elif name in VALUED or name in ("readonly", "parse-only", "bandwidth-log", "minimal", "version", *UNHEARD):
            command.settings[name] = value
        else:
            command.options.append((name, value))
    return command


def text_of(command: Command) -> str:
    """The jobs as one job file; options before the first `--name` are defaults of all of them.

    Raises:
        PslcError: there are none, or a file cannot be read.
    """
    has_jobs = any(name == "name" for name, _ in command.options)
    if has_jobs or not command.files:
        if not has_jobs:
            raise JobError("no job is given", "a job file, or --name=x --rw=read --bs=4k --size=1g")
        return job_file.of_command_line(command.options, command.files, command.sections)
    text = job_file.read(command.files, command.sections)
    if not command.options:
        return text
    common = job_file.text_of(command.options)
    lines = [f"{common}#line 1 {command.files[0]}"]
    for line in text.splitlines():
        lines.append(f"{line}\n{common}#line 1 {line.removeprefix(job_file.FURTHER)}"
                     if line.startswith(job_file.FURTHER) else line)  # fmt: skip
    return "\n".join(lines) + "\n"


@dataclass
class Place:
    """Drive or file that jobs run on, with the options it needs.

    Attributes:
        path: the file; None on a simulated drive.
        options: over those of every job.
        is_new: the file was not there before.
    """

    target: str
    path: Path | None = None
    options: list[tuple[str, str]] = field(default_factory=list)
    real: RealOptions | None = None
    is_new: bool = False

    def remove(self) -> None:
        """Delete the file, if there is one."""
        if self.path is not None:
            writer.remove(self.path, writer.Replace.ANY)


def place_of(text: str, jobs: Sequence[dict[str, str]], names: Sequence[str], readonly: bool) -> Place:
    """The target of all jobs, made ready: a new file is made as large as they need it.

    Raises:
        PslcError: they need several, or one that is not to be overwritten.
    """
    if {job.get("ioengine", "psync") for job in jobs} == {"null"}:
        return _null_place(jobs)
    is_trace = any("read_iolog" in job for job in jobs)
    need = UNLIMITED_BYTES if is_trace else plan_jobs(text, "the jobs", [], UNLIMITED_BYTES)["end_bytes"]
    path = _path(jobs, names)
    if is_device(path):
        raise TargetError(NO_CONSENT.format(device=path), f"pslc run JOBFILE --on {path} asks for it")
    if not path.exists() and (readonly or need >= UNLIMITED_BYTES):
        raise TargetError(f"{path} is not there", "a size tells how large it is to be: --size=1g, without --readonly")
    agreed = _made_as_large(path, 0 if need >= UNLIMITED_BYTES else -(-need // PAGE_BYTES) * PAGE_BYTES)
    real = RealOptions(reuse=True, overwrite_file=path.name if agreed else None)
    return Place(str(path), path, [], real, agreed)


def _null_place(jobs: Sequence[dict[str, str]]) -> Place:
    """A drive that takes no time, for jobs of `ioengine=null`."""
    deep = any(job.get("iodepth", "1") != "1" for job in jobs)
    return Place(NULL_DRIVE, options=[("ioengine", "libaio" if deep else "psync")])


def _made_as_large(path: Path, need: int) -> bool:
    """Make or enlarge the file so that it has `need` bytes; returns whether that was done.

    Raises:
        TargetError: it is too small, and another program's.
    """
    if not path.exists():
        with writer.Growing(path) as file:
            file.truncate(need)
        return True
    if need <= path.stat().st_size:
        return False
    if not inspect_file(str(path))["ours"]:
        raise TargetError(f"{path} has {path.stat().st_size} bytes, and the jobs need {need}", "another --filename")
    os.truncate(path, need)
    return True


def _path(jobs: Sequence[dict[str, str]], names: Sequence[str]) -> Path:
    """The one file of all jobs: jobs that name none share that of the first.

    Raises:
        JobError: they name several.
    """
    named = {Path(job.get("directory", "."), job["filename"]) for job in jobs if job.get("filename")}
    several = len(named) > 1 or (named and any(not job.get("filename") for job in jobs))
    several = several or any(":" in path.name.replace("\\:", "") for path in named)
    if several or any(job.get("nrfiles", job.get("nr_files", "1")) not in ("", "1") for job in jobs):
        raise JobError("the jobs are of several files", "pslc measures one file or drive: one --filename for all jobs")
    return next(iter(named), Path(jobs[0].get("directory", "."), f"{names[0]}.0.0"))


def main(words: Sequence[str]) -> int:
    """Run what a command line of fio's says; returns the exit code."""
    try:
        command = parsed(words)
        if "version" in command.settings:
            print(f"fio-{fio.VERSION} (pslc {version()})")
            return 0
        return _run(command)
    except (PslcError, OSError) as error:
        failure.tell(error)
        return 1
    except KeyboardInterrupt:
        return 130


def _run(command: Command) -> int:
    formats, text = command.formats, text_of(command)
    sections = job_file.jobs_in(text)
    names, jobs = [name for name, _ in sections], [dict(options) for _, options in sections]
    _check(command, text, jobs)
    if "parse-only" in command.settings:
        _check_jobs(text, jobs)
        return 0
    readonly = "readonly" in command.settings
    seed = _seed(jobs)
    logs = JobLogs(named={name for name, _ in command.options})
    with writer.temporary() as folder:
        merged = Path(folder, "jobs.fio")
        writer.write(merged, text)
        place = place_of(text, jobs, names, readonly)
        layout = place.path is not None and not readonly
        options = RunOptions(seed=seed, options=place.options, real=place.real, layout=layout, logs=logs)
        recording = _recorded(merged, place, options)
    for failed in logs.write():
        print(f"pslc: {failed}", file=sys.stderr)
    if "bandwidth-log" in command.settings:
        fio_logs.write_aggregate(recording, Path())
    if any(job.get("unlink", "0") not in ("0", "") for job in jobs):
        place.remove()
    seeds = list(_seeds(seed, jobs)) if "random" in command.settings.get("debug", "") else []
    _print(command, formats, recording, seeds)
    if recording.error:
        failure.tell(TargetError(recording.error, "what came before is printed"))
        return 1
    return 130 if recording.interrupted else 0


def _check_jobs(text: str, jobs: Sequence[dict[str, str]]) -> None:
    """Read the jobs as a run would; a trace is not read.

    Raises:
        PslcError: they cannot be run.
    """
    if not any("read_iolog" in job for job in jobs):
        plan_jobs(text, "the jobs", [], UNLIMITED_BYTES)


def _recorded(jobs: Path, place: Place, options: RunOptions) -> Recording:
    """Run the jobs of a file until a signal; a new file of a run that fails is removed."""
    with Bar("pslc-fio", _leave) as bar:
        hear(lambda *_: bar.interrupt())
        try:
            return run_with(jobs, place.target, replace(options, progress=bar))
        except BaseException:
            if place.is_new:
                place.remove()
            raise
        finally:
            hear(signal.SIG_IGN)


def _leave(silence: Silence) -> NoReturn:
    """End while the drive does not answer."""
    print(f"pslc-fio: left with {silence['under_way']} under way; nothing is printed of the run", file=sys.stderr)
    os._exit(130)


def _check(command: Command, text: str, jobs: Sequence[dict[str, str]]) -> None:
    """Limits that the command itself sets.

    Raises:
        JobError: the jobs are beyond one.
    """
    if "readonly" in command.settings and (name := job_file.writing(text, [])):
        raise JobError(f"job {name} writes or trims, and --readonly forbids it", "leave --readonly out, or rw=read")
    if command.settings.get("terse-version", "3") != "3":
        raise JobError(f"--terse-version={command.settings['terse-version']}", "3 is written")
    max_jobs = command.settings.get("max-jobs", "")
    clones = sum(int(job.get("numjobs", "1")) for job in jobs if job.get("numjobs", "1").isdigit())
    if max_jobs and (not max_jobs.isdigit() or clones > int(max_jobs)):
        raise JobError(f"--max-jobs={max_jobs}, and there are {clones} jobs", "fewer numjobs")


def _seed(jobs: Sequence[dict[str, str]]) -> int:
    """With `randrepeat=0` each run has requests of its own."""
    once = any(job.get(name, "1") in ("0", "false") for job in jobs for name in ("randrepeat", "allrandrepeat"))
    return secrets.randbits(63) if once else 0


def _seeds(seed: int, jobs: Sequence[dict[str, str]]) -> Iterator[str]:
    """Seeds of each job's requests, as `--debug=random` shows them."""
    for job in jobs:
        yield f"random   {os.getpid()} FIO_RAND_NR_OFFS=1"
        yield f"random   {os.getpid()} rand_seeds[0]={job.get('randseed', seed)}"


def _print(command: Command, formats: Sequence[str], recording: Recording, head: Sequence[str]) -> None:
    """To stdout or the file. Notes come first, where no program reads stdout as data."""
    notes = [*head, *(f"note: {note}" for note in recording.warnings if note.level == "note")]
    path = command.settings.get("output")
    out = io.StringIO() if path else sys.stdout
    talk = sys.stderr if formats != ["normal"] and not path else sys.stdout
    if head and path:
        talk = out
    for line in notes:
        print(line, file=talk)
    for word in formats:
        print("\n".join(_lines(word, recording)), file=out)
    if path and isinstance(out, io.StringIO):
        writer.write(Path(path), out.getvalue(), writer.Replace.ANY)


def _lines(word: str, recording: Recording) -> Iterator[str]:
    if word == "normal":
        yield from fio_normal.lines(recording)
    elif word == "terse":
        yield from fio_terse.lines(recording)
    else:
        yield json.dumps(fio.document(recording, word == "json+"), indent=2)


def script() -> None:
    """The program `pslc-fio`."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    script()
