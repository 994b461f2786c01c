"""Destinations of the logs that jobs write (`write_bw_log` and its kin): checked before the run, written after it.

What a job file names lies below the current folder and replaces nothing but pslc's own logs; what the command line
names is anywhere, and replaces any file.
"""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from pslc.base import writer
from pslc.base.errors import GuardError, JobError
from pslc.base.writer import Replace
from pslc.runner import fio_logs
from pslc.runner.job_file import jobs_in
from pslc.schema.job_options import of_options
from pslc.schema.results import Dump, Log

MAX_LISTED: Final = 12
"""Logs that a plan names one by one."""
ROWS_AT_ONCE: Final = 1 << 16
"""Lines that are put together before they are written."""

Options = Sequence[tuple[str, str]]


class JobLogs:
    """The logs of a run.

    Attributes:
        named: options whose names the command line gave.
        written: the files that there are.
    """

    def __init__(self, to: Path | None = None, named: Iterable[str] = ()) -> None:
        """`to` is a folder for all logs; of a name that leads out of a folder the last part counts then."""
        self._to = to
        self.named = set(named)
        self._blocks: dict[Path, bytes] = {}
        self._target = ""
        self._logs: list[tuple[list[Log], int]] = []
        self.written: list[Path] = []

    def begin(self, texts: Sequence[str], options: Options, target: str) -> list[str]:
        """Look whether the logs of these job files can be written; returns what a plan says of them.

        Args:
            options: of the command line, which win over those of every job.
            target: what an iolog calls the drive.

        Raises:
            JobError: a job file names a place outside the current folder, or a log cannot be written.
            GuardError: a log would replace what is not pslc's.
        """
        self._target = target
        logs = dict.fromkeys(pair for text in texts for pair in self._expected(text, options))
        for path, replaces in logs:
            try:
                writer.check(path, replaces)
            except OSError as error:
                hint = "create its folder and free some space, or give another folder: --logs-to DIR"
                raise JobError(f"the log {path} cannot be written: {error.strerror}", hint) from None
        paths = [str(path) for path, _ in logs]
        more = [f"{len(paths) - MAX_LISTED} further logs"] if len(paths) > MAX_LISTED else []
        return [f"writes the log {path}" for path in paths[:MAX_LISTED]] + [f"writes {text}" for text in more]

    def beside(self) -> "JobLogs":
        """Empty ones for a run in another process, to the same folder; `take` brings them here."""
        return JobLogs(self._to, self.named)

    def take(self, other: "JobLogs") -> None:
        """Add the logs that another run of the same drive gave; what it calls the same takes its place."""
        self.named |= other.named
        self._target = other._target or self._target
        self._logs += other._logs
        self._blocks |= other._blocks

    def add(self, logs: Sequence[Log], clock_zero_unix_ns: int) -> None:
        """The logs of a step; what a later one calls the same takes its place.

        Args:
            clock_zero_unix_ns: when the drive's clock was 0, in ns since 1970.
        """
        if logs:
            self._logs.append((list(logs), clock_zero_unix_ns))

    def add_wrong_block(self, dump: Dump, name: str) -> None:
        """A block as it was read and as it was written, in files called as fio calls them (`verify_dump`)."""
        here = self._to or Path()
        self._blocks[here / f"{name}.{dump['offset']}.received"] = dump["received"]
        if dump["expected"] is not None:
            self._blocks[here / f"{name}.{dump['offset']}.expected"] = dump["expected"]

    def write_or_warn(self) -> None:
        """Write them, with a Python warning for each that could not be written."""
        for failed in self.write():
            warnings.warn(failed, stacklevel=3)

    def write(self) -> list[str]:
        """Write them. Returns what could not be written, a sentence each."""
        failed = []
        files: dict[tuple[Path, str], Iterator[str]] = {}
        for logs, clock_zero_unix_ns in self._logs:
            files |= fio_logs.contents(logs, self._place, self._target, clock_zero_unix_ns)
        self._logs.clear()
        pieces = [(path, self._replaces(option), _pieces(lines)) for (path, option), lines in files.items()]
        pieces += [(path, Replace.OURS, iter([block])) for path, block in self._blocks.items()]
        self._blocks.clear()
        for path, replaces, parts in pieces:
            try:
                with writer.Stream(path, replaces) as out:
                    for part in parts:
                        out.write(part)
            except OSError as error:
                failed.append(f"the log {path} is not written: {error.strerror}")
            except GuardError as error:
                failed.append(f"the log is not written: {error.message}")
            else:
                self.written.append(path)
        return failed

    def _expected(self, text: str, options: Options) -> Iterator[tuple[Path, Replace]]:
        number = 0
        for section, own in jobs_in(text):
            values = dict(own) | dict(options)
            requested = [option for option in ("write_iolog", *fio_logs.KINDS) if option in values]
            clones = of_options(values)["numjobs"] if requested else 1
            for option in requested:
                for path in fio_logs.paths(
                    option, values, values.get("name", section), range(number + 1, number + clones + 1)
                ):
                    yield self._place(option, path), self._replaces(option)
            number += clones

    def _replaces(self, option: str) -> Replace:
        return Replace.ANY if option in self.named and self._to is None else Replace.OURS

    def _place(self, option: str, name: str) -> Path:
        """Path of a log of that name.

        Raises:
            JobError: a job file names a place outside the current folder.
        """
        path = Path(name)
        leads_out = path.is_absolute() or ".." in path.parts
        if self._to is not None:
            return self._to / (path.name if leads_out else path)
        if option in self.named:
            return path
        here = Path.cwd().resolve()
        if leads_out or not (here / path.parent).resolve().is_relative_to(here):
            what = f"{option} of the job file leads to {name}, which is not below the current folder"
            raise JobError(
                what,
                f"--logs-to DIR puts all logs into one folder; --{option}=... on the command line may lead anywhere",
            )
        return path


def _pieces(lines: Iterator[str]) -> Iterator[bytes]:
    rows: list[str] = []
    for line in lines:
        rows.append(line)
        if len(rows) == ROWS_AT_ONCE:
            yield "".join(rows).encode()
            rows.clear()
    yield "".join(rows).encode()
