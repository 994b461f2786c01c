"""Arguments of `pslc run`: what is to be run, and fio's options among them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pslc.cli import _defaults

if TYPE_CHECKING:
    from pslc.base.errors import PslcError
    from pslc.device.region import Budget, Expected

UNLIMITED_BYTES = 1 << 60
"""Capacity of a drive that is not named, where jobs are only read."""
FILE_UNIT_BYTES = 4096
"""Scratch files are whole pages."""
COMMAND_LINE = "--name"
"""Subject that stands for jobs given by options alone, in place of a suite or a job file (`job_file.COMMAND_LINE`)."""
ALL = "all"
"""Subject that stands for the whole catalogue of suites (`campaign.ALL`)."""
SETTINGS = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Settings of a typer command that lets fio's options through unchanged."""


@dataclass
class JobArguments:
    """Subject of a run: a suite, job files, or jobs given as fio options.

    Attributes:
        subject: a suite, a job file, `ALL` or `COMMAND_LINE`; None: nothing was named.
        files: job files after the first.
        options: fio options as pairs of name and value.
        sections: sections of the job files to run.
    """

    subject: str | None
    files: list[str]
    options: list[tuple[str, str]]
    sections: list[str] = field(default_factory=list)

    def is_catalogue_name(self) -> bool:
        """Whether the subject is a suite, or all of them."""
        from pslc import suites

        return self.subject in (*suites.names(), ALL)

    def take_size(self, size: str, on: str | None) -> bool:
        """Make `--size` the size of every job, if it means that: for jobs given by options, and on a simulated drive,
        which has a size of its own. Returns whether it does. GB is 10^9 bytes here, too; `16m` is fio's.

        Raises:
            PslcError: there are several jobs, and it could be of one of them.
        """
        from pslc.base import units
        from pslc.base.errors import user_error
        from pslc.device.target import is_drive, is_new

        if self.subject is None:
            return False
        if self.subject != COMMAND_LINE:
            is_simulated = on is not None and (is_new(on) or is_drive(Path(on)))
            if not is_simulated or self.is_catalogue_name():
                return False
        elif sum(name == "name" for name, _ in self.options) > 1:
            raise user_error("--size with several --name is ambiguous", "write a job file with a size for each job")
        exact = size.strip().lstrip("0123456789. ") in units.UNITS
        self.options.append(("size", str(units.size(size, "--size")) if exact else size))
        return True

    def new_file_bytes(self, on: str | None) -> int | None:
        """Size of the new scratch file that jobs given by options need; None if there is to be none.

        Raises:
            PslcError: the jobs do not say how much they write.
        """
        from pslc._native import plan_jobs
        from pslc.device.target import is_new

        if self.subject != COMMAND_LINE or on is None or is_new(on) or Path(on).exists():
            return None
        from pslc.base.errors import user_error
        from pslc.runner import job_file

        text = job_file.text_of(self.options)
        end = plan_jobs(text, job_file.SOURCES[COMMAND_LINE], [], UNLIMITED_BYTES)["end_bytes"]
        if end >= UNLIMITED_BYTES:
            raise user_error(f"the scratch file {on} needs a size", "for example --size=1g; pslc removes it at the end")
        return -(-end // FILE_UNIT_BYTES) * FILE_UNIT_BYTES

    def check(self, on: str | None, *, readonly: bool, wipes: bool) -> None:
        """Read the jobs as a run would.

        Raises:
            PslcError: they cannot be run, they are a suite, or, with `readonly`, one of them writes or
                `--wipe-signatures` does.
        """
        from pslc._native import plan_jobs
        from pslc.base.errors import user_error
        from pslc.device.target import RealOptions, find_target, is_new
        from pslc.runner import job_file

        if self.subject is None:
            return
        if self.is_catalogue_name():
            raise user_error(f"{self.subject} is a suite", "--readonly and --parse-only are for job files")
        if readonly and wipes:
            raise user_error("--wipe-signatures writes, but --readonly is given", "remove one of them")
        options = self.options
        if self.subject == COMMAND_LINE:
            text, options = job_file.of_command_line(options, self.files, self.sections), []
        else:
            text, options = job_file.read([self.subject, *self.files], self.sections), job_file.with_patterns(options)
        is_simulated = on is not None and is_new(on)
        capacity = find_target(on, RealOptions()).capacity_bytes if on is not None and is_simulated else UNLIMITED_BYTES
        plan_jobs(text, job_file.SOURCES.get(self.subject, self.subject), options, capacity, is_simulated)
        if readonly and (name := job_file.writing(text, options)):
            raise user_error(
                f"job {name} writes or trims, but --readonly is given", "remove --readonly, or use rw=read"
            )

    def missing(self, on: str | None) -> "PslcError":
        """The error for a command line without a subject, or without a drive."""
        from pslc.base.errors import user_error
        from pslc.device.profiles import library

        if on is not None:
            example = f"for example: pslc run fill --on {on}"
            return user_error("no suite or job file given", f"{example}; pslc run --list lists all")
        words = [self.subject, *self.files] if self.subject else []
        drives = [word for word in words if word.startswith(("sim:", "array:", "/dev/")) or word in library()]
        subject = next((word for word in words if word not in drives), "fill")
        if drives:
            spec = f"sim:{drives[0]}" if drives[0] in library() else drives[0]
            return user_error(f"{drives[0]} is a drive, and needs --on", f"pslc run {subject} --on {spec}")
        drive = _defaults.DRIVE
        if not words:
            example = f"for example: pslc run fill --on {drive}"
            return user_error("no suite or job file given", f"{example}; pslc run --list lists all suites")
        return user_error(f"{subject} needs a drive", f"add --on {drive}; pslc drives lists simulated drives")


def parse(context: typer.Context, subject: str | None, on: str | None, sections: list[str] | None) -> JobArguments:
    """Sort the arguments that are no options of pslc.

    Raises:
        PslcError: one of them is neither a file nor an option of fio, or a suite does not take it.
    """
    from pslc import suites
    from pslc.base.errors import user_error

    subject, arguments = _subject_and_rest(subject, context.args)
    files = [word for word in arguments if not word.startswith("--")]
    _refuse_short_options(files)
    if subject == ALL and (files or sections):
        extra = [*files, *(sections or [])][0]
        problem = f"all runs every suite: unexpected argument {extra}"
        raise user_error(problem, "several files and --section are for job files")
    if on is not None and subject in suites.names():
        _check_words(arguments, on)
    options = _overrides([word for word in arguments if word.startswith("--")], _option_names(context))
    if subject is None and any(name == "name" for name, _ in options):
        subject = COMMAND_LINE
    return JobArguments(subject, files, options, sections or [])


def _option_names(context: typer.Context) -> list[str]:
    """Names of the command's own options, without dashes."""
    return [name.lstrip("-") for parameter in context.command.params for name in parameter.opts]


def _refuse_short_options(words: Sequence[str]) -> None:
    """Refuse options of one letter; a lone `-` is stdin.

    Raises:
        PslcError: there is one.
    """
    from pslc.base.errors import user_error

    short = next((word for word in words if word.startswith("-") and word != "-"), None)
    if short is not None:
        hint = "--save DIR keeps the recording, --output FILE what is printed"
        raise user_error(f"pslc run has no option {short}", hint if short == "-o" else "pslc run --help lists all")


def _subject_and_rest(subject: str | None, arguments: list[str]) -> tuple[str | None, list[str]]:
    """The subject and the other arguments: the parser takes the first of fio's options for the subject."""
    if subject is None or not subject.startswith("--"):
        return subject, arguments
    arguments = [subject, *arguments]
    subject = next((word for word in arguments if not word.startswith("-")), None)
    if subject is not None:
        arguments.remove(subject)
    return subject, arguments


def _check_words(words: Sequence[str], on: str) -> None:
    """Refuse a word beside a suite: it belongs to the option before it, or to the drive.

    Raises:
        PslcError: there is one.
    """
    from pslc.base.errors import user_error

    for before, word in pairwise(["", *words]):
        if word.startswith("--"):
            continue
        if before.startswith("--") and "=" not in before:
            raise user_error(f"{before} {word}: fio's options take = before the value", f"{before}={word}")
        if "=" in word:
            raise user_error(f"{word} is not part of a drive", f"join it to the name: --on {on},{word}")


def _overrides(words: Sequence[str], pslc_options: Sequence[str]) -> list[tuple[str, str]]:
    """fio options given as `--name=value`, or as `--name` for a flag.

    Raises:
        PslcError: a word is no option, or nearly one of pslc's own.
    """
    from pslc.base.errors import closest_match, user_error

    pairs = []
    for word in words:
        name, _, value = word.removeprefix("--").partition("=")
        if not name:
            raise user_error(f'"{word}" is not an option', "fio options are given as --bs=4k")
        match = closest_match(name, pslc_options)
        if match is not None:
            raise user_error(f"unknown option --{name}", f"did you mean --{match}? pslc run --help lists all options")
        pairs.append((name, value))
    return pairs


def budget(text: str, subject: str | None) -> "Budget":
    """Parse `--budget` of the suite twin: bytes to write, or seconds.

    Raises:
        PslcError: the text is neither a size nor a time, or another suite is run.
    """
    from pslc.base import units
    from pslc.base.errors import PslcError, user_error
    from pslc.device.region import Budget

    if subject != "twin":
        raise user_error("--budget is for the suite twin", "pslc run twin --budget 400GB")
    if text.rstrip().endswith("B"):
        return Budget(bytes=units.size(text, "--budget"))
    try:
        return Budget(seconds=units.seconds(text, "--budget"))
    except PslcError:
        raise user_error(f'--budget is "{text}", neither a size nor a time', "for example 400GB or 2h") from None


def explained(path: Path, subject: str | None) -> "tuple[Expected, ...]":
    """Explanations of the recording or the log in `--explains` of the suite check.

    Raises:
        PslcError: it cannot be read, or another suite is run.
    """
    from pslc.base.errors import user_error
    from pslc.runner.load import NOTHING_STATED, load, read_one
    from pslc.suites import check

    if subject != "check":
        raise user_error("--explains is for the suite check", f"pslc run check --explains {path}")
    recording = load(path) if path.is_dir() else read_one([path], NOTHING_STATED)
    if "cache_bytes" not in recording.findings or not recording.findings.get("phases"):
        raise user_error(f"{path} says nothing of a cache", "give a recording or a log of a long write")
    return check.explanations(recording.findings)
