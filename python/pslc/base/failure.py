"""Error reporting of commands: a sentence for an error of the user or the system, a report to send for a bug in pslc,
never a traceback."""

import errno
import json
import os
import platform
import sys
import tempfile
import traceback
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from pslc.base import rights
from pslc.base.errors import PolicyError, PslcError

EXIT = 2
ISSUES_URL = "Issues"
"""Name in `project.urls` of pyproject.toml, and so in the installed package, of where bugs are reported."""
NO_THREAD = ("can't start new thread", "failed to spawn thread")
"""Words of Python and of Rust where the system starts no thread; neither gives a number."""


def tell(error: BaseException) -> int:
    """Say on stderr what went wrong, beside `--json` on stdout too with its code, and return the exit code."""
    # Where it cannot be said there is nobody to tell.
    with suppress(OSError):
        report = in_words(error)
        if "--json" in sys.argv[1:]:
            faults = [_document(fault) for fault in report.faults if fault is not report]
            print(json.dumps({"error": {**_document(report), "faults": faults}}, indent=1), flush=True)
        _say(report)
    return EXIT


def _document(error: PslcError) -> dict[str, str | None]:
    return {"code": error.code, "message": error.message, "hint": error.hint}


def in_words(error: BaseException) -> PslcError:
    """Convert an exception to an error with a message and a hint. The report of a bug is saved to a file."""
    if (expected := no_bug(error)) is not None:
        return expected
    return _BugError(f"{_type_and_text(error)}; this is a bug in pslc", _where(_report(error)))


def sentence(error: BaseException) -> str:
    """Describe an exception without a report: what is tried again may fail again."""
    expected = no_bug(error)
    return _type_and_text(error) if expected is None else expected.message


def no_bug(error: BaseException) -> PslcError | None:
    """The error of the user or the system that an exception stands for; None for a bug in pslc."""
    if isinstance(error, PslcError):
        return error
    if isinstance(error, OSError):
        return _of_the_system(error)
    if isinstance(error, MemoryError) or (isinstance(error, ImportError) and "failed to map" in str(error)):
        less = "less at once: a smaller drive, iodepth or numjobs, or a larger ulimit -v"
        return PslcError("there is not enough memory", limit_hint(errno.ENOMEM) or less)
    if any(words in str(error) for words in NO_THREAD):
        return PslcError("no thread can be started", limit_hint(errno.EAGAIN) or "end other programs: ps -eL")
    return None


def _type_and_text(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".partition("\n")[0]


class _BugError(PslcError):
    """A bug of ours; its hint may be a whole report."""


def _say(error: PslcError) -> None:
    from pslc.base.console import line

    hint = error.hint if isinstance(error, _BugError | PolicyError) else line(error.hint)
    text = "\n".join([*_lines(error), "", f"hint: {hint}"])
    if not sys.stderr.isatty():
        # Without rich, for which there may be no memory.
        print(f"error: {text}", file=sys.stderr, flush=True)
        return
    from pslc.base.rich_console import Console

    console = Console(stderr=True, soft_wrap=True)
    console.print("error: ", style="bold red", end="")
    console.print(text)


def _lines(error: PslcError) -> list[str]:
    """The message, and below it a line for each fault where there are several."""
    from pslc.base.console import line

    if error.faults == (error,):
        # A name with a new line in it could go on as what looks like another error.
        return [line(error.message)]
    below = "".join(f"\n  {fault.message} (hint: {fault.hint})" for fault in error.faults)
    lines = [line(error.message.removesuffix(below))]
    for fault in error.faults:
        first, *rest = _lines(fault)
        lines += [f"  {first} (hint: {line(fault.hint)})", *(f"  {further}" for further in rest)]
    return lines


def _of_the_system(error: OSError) -> PslcError:
    paths = (str, bytes, os.PathLike)
    names = [os.fsdecode(name) for name in (error.filename, error.filename2) if isinstance(name, paths)]
    where = " and ".join(names) or "a file"
    if error.filename is None and error.errno == errno.ENOSPC:
        where = "the output"
    hint = remedy(error, Path(names[0]) if names else None) or "look whether it can be used"
    return PslcError(f"{where}: {error.strerror or error}", hint)


def remedy(error: OSError, path: Path | None) -> str | None:
    """The remedy for an error of the system, which concerned `path`; None where nothing in particular does."""
    if error.errno == errno.EACCES and path is not None:
        return rights.hint(path)
    hints = {
        errno.ENOSPC: "make room, or write to another place",
        errno.ENOENT: "the file is missing, or the current folder was deleted",
    }
    return limit_hint(error.errno or 0) or hints.get(error.errno or 0)


def limit_hint(number: int) -> str | None:
    """The limit of this process (`ulimit`) that stopped something with this `errno`, and what raises it."""
    # There may be no memory for the native part.
    with suppress(ImportError, MemoryError):
        from pslc import _native

        return _native.limit_hint(number)
    return None


def _report(error: BaseException) -> str:
    """All that helps to find the bug. Nothing in it is of the user's files but their names."""
    from pslc._native import last_panic, version

    lines = [
        f"pslc {version()} on Python {platform.python_version()}, {platform.platform()}",
        f"command: {sys.argv[1:]}",
        "",
        "".join(traceback.format_exception(error)),
    ]
    panic = last_panic()
    return "\n".join([*lines, f"the native part: {panic}\n"] if panic else lines)


def _tracker() -> str:
    """The address for reports of bugs; without one in this build, those who may know it."""
    from importlib import metadata

    with suppress(metadata.PackageNotFoundError):
        urls = dict(url.split(", ", 1) for url in metadata.metadata("pslc").get_all("Project-URL") or [])
        if ISSUES_URL in urls:
            return str(urls[ISSUES_URL])
    return "those who gave you pslc, as this build names no issue tracker"


def _where(report: str) -> str:
    from pslc.base import writer

    name = writer.unguessable(f"pslc-bug-{datetime.now():%Y%m%d-%H%M%S}-", ".txt")
    for folder in (Path(), Path(tempfile.gettempdir())):
        try:
            writer.write(folder / name, report, writer.Replace.NEVER, private=True)
        except (OSError, PslcError):
            continue
        return f"please send {folder / name} to {_tracker()}; it holds the command line, paths and the error"
    return f"please send this to {_tracker()}:\n{report}"
