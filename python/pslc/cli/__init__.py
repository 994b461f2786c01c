"""The command line: one file per command, found by listing this folder; extras bring more.

Each file has a `command`, or an `app` with commands of its own; files that begin with _ have neither. stdout is data,
stderr is talk. Exit codes: 0 done, 1 a comparison out of tolerance, 2 an error, 3 done but the recording is not where
it was to be, 130 interrupted.
"""

import io
import os
import pkgutil
import sys
from importlib import import_module
from typing import Any, cast

import typer

from pslc import extras
from pslc.base.console import Screen, discard
from pslc.cli import _bash_words, _groups, _usage_errors

NAMES = sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def module_of(name: str) -> Any:
    """The module of a command, of this folder or of an extra; None if there is none.

    Raises:
        PslcError: the extra that has it is absent.
    """
    return import_module(f"{__name__}.{name}") if name in NAMES else extras.command(name)


class _Commands(_groups.CommandGroup):
    """The commands of this folder, each imported when it is asked for."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; one whose reader has had enough, as `head` has, is done. typer would end it with 1."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            _leave(0)

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names, sorted."""
        return sorted([*NAMES, *extras.commands()])

    def suggestion(self, words: list[str]) -> str:
        """The meaning of a word as a suite or a drive."""
        return str(module_of("run").suggestion(words) or module_of("drives").suggestion_of_drive(words))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name; None if there is none."""
        if cmd_name not in self.commands:
            module = module_of(cmd_name)
            if module is None:
                return None
            self.commands[cmd_name] = _groups.command_of(module, cmd_name)
        return self.commands[cmd_name]


app = typer.Typer(
    cls=_Commands,
    help="A laboratory for SSD write caching: where a drive becomes slow, why, and which settings would change it\n\n"
    "Defaults of --on, --theme and the folder of recordings: ~/.config/pslc.toml (%APPDATA% on Windows)",
    pretty_exceptions_enable=False,
    # A list of commands needs no frames, for which typer imports rich, its Markdown and its tracebacks.
    rich_markup_mode=None,
    # What click colours would reach the filter of stdout, which shows escapes.
    context_settings={**_groups.HELP_OPTIONS, "color": False},
)


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and exit"),
    cite: bool = typer.Option(False, "--cite", help="Print how to cite pslc, as BibTeX, and exit"),
) -> None:
    if version or cite:
        from pslc.cli import _build

        typer.echo(_build.described() if version else _build.citation())
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), nl=False)


def main() -> None:
    """Run the command line; an error is a text on stderr and exit code 2, whatever it is."""
    try:
        _streams()
        _words(sys.argv[1:])
        if os.environ.get("_PSLC_COMPLETE") == "complete_bash":
            _bash_words.join()
        sys.exit(app(standalone_mode=False) or 0)
    except _usage_errors.SLIP as error:
        from pslc.base import failure

        _leave(failure.tell(_usage_errors.in_words(error)))
    except typer.Abort:
        typer.echo("aborted", err=True)
        _leave(1)
    except KeyboardInterrupt:
        _leave(130)
    except SystemExit as end:
        # What is still to be written may not find its way; Python would say so in words of its own.
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            _leave(0)
        except OSError as error:
            from pslc.base import failure

            _leave(failure.tell(error))
        raise end
    except BaseException as error:  # A panic of the native part is no Exception.
        from pslc.base import failure

        _leave(failure.tell(error))


def _streams() -> None:
    """A closed stream is one to nowhere, and what a stream cannot encode, or a terminal would obey, is replaced."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # The lowest that is free, so that no file of ours gets its number.
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))
    data, talk = (cast(io.TextIOWrapper, stream) for stream in (sys.stdout, sys.stderr))
    sys.stdout = Screen(data, data.encoding, "replace")
    # No run ends because stderr is full or closed.
    sys.stderr = Screen(talk, "utf-8", "backslashreplace", lossy=True)


def _words(arguments: list[str]) -> None:
    """Names have to be text: they go into recordings, reports and messages."""
    for word in arguments:
        try:
            word.encode()
        except UnicodeEncodeError:
            from pslc.base.errors import user_error

            shown = os.fsencode(word).decode(errors="backslashreplace")
            raise user_error(f'"{shown}" is no UTF-8', "rename the file or the folder") from None


def _leave(code: int) -> None:
    """End now, without another word about streams that cannot be written."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            discard(stream)
    sys.exit(code)
