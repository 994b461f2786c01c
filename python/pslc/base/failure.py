"""Error reporting of commands: a sentence for an error of the user or the system, a report to send for a bug in pslc,
never a traceback."""

import errno
import os
import platform
import sys
import tempfile
import traceback
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from pslc.base.errors import PslcError

EXIT = 2
ISSUES = "the issue tracker of pslc"


def tell(error: BaseException) -> int:
    """Say on stderr what went wrong, and return the exit code."""
    # Where it cannot be said there is nobody to tell.
    with suppress(OSError):
        _say(in_words(error))
    return EXIT


def in_words(error: BaseException) -> PslcError:
    """Convert an exception to an error with a message and a hint. The report of a bug is saved to a file."""
    if isinstance(error, PslcError):
        return error
    if isinstance(error, OSError):
        return _of_the_system(error)
    if isinstance(error, MemoryError):
        return PslcError(
            "there is not enough memory", "less at once: a smaller drive, iodepth or numjobs, or ulimit -v"
        )
    what = f"{type(error).__name__}: {error}".partition("\n")[0]
    if (theirs := getattr(error, "pslc_policy", None)) is not None:
        return _BugError(f"{theirs} raised {what}", _their_traceback(error))
    return _BugError(f"{what}; this is a bug in pslc", _where(_report(error)))


def _their_traceback(error: BaseException) -> str:
    """The traceback from where a policy in Python was asked."""
    frames = error.__traceback__
    for step, _ in traceback.walk_tb(error.__traceback__):
        if step.f_globals.get("__name__") == "pslc.device.policy":
            break
        frames = frames.tb_next if frames is not None else None
    text = "".join(traceback.format_exception(type(error), error, frames))
    return f"correct it, and run again\n{text.rstrip()}"


class _BugError(PslcError):
    """A bug of ours, or of a policy's author; its hint may be a whole report."""


def _say(error: PslcError) -> None:
    from pslc.base.console import line
    from pslc.base.rich_console import Console

    console = Console(stderr=True, soft_wrap=True)
    console.print("error: ", style="bold red", end="")
    # A name with a new line in it could go on as what looks like another error.
    console.print(f"{line(error.message)}\n\nhint: {error.hint if isinstance(error, _BugError) else line(error.hint)}")


def _of_the_system(error: OSError) -> PslcError:
    names = [os.fsdecode(name) for name in (error.filename, error.filename2) if isinstance(name, str | bytes)]
    where = " and ".join(names) or "a file"
    hints = {
        errno.ENOSPC: "make room, or write to another place",
        errno.ENOENT: "it was removed meanwhile, or never there; a folder may be gone in which this shell still is",
        errno.EMFILE: "raise the limit of open files: ulimit -n",
        errno.EFBIG: "raise the limit of the size of files: ulimit -f",
    }
    if error.filename is None and error.errno == errno.ENOSPC:
        where = "the output"
    return PslcError(f"{where}: {error.strerror or error}", hints.get(error.errno or 0, "look whether it can be used"))


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


def _where(report: str) -> str:
    from pslc.base import writer

    name = writer.unguessable(f"pslc-bug-{datetime.now():%Y%m%d-%H%M%S}-", ".txt")
    for folder in (Path(), Path(tempfile.gettempdir())):
        try:
            writer.write(folder / name, report, writer.Replace.NEVER, private=True)
        except (OSError, PslcError):
            continue
        return f"please send {folder / name} to {ISSUES}; it holds the command line and no data"
    return f"please send this to {ISSUES}:\n{report}"
