"""Groups of commands: `pslc` itself, and `drives`, `suites` and `trace` below it."""

import inspect
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperGroup

from pslc.cli import _usage_errors

HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}


class CommandGroup(TyperGroup):
    """A group in which an unknown word gets an error that names the command that was probably meant."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first argument names.

        Raises:
            PslcError: there is none.
        """
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            raise _usage_errors.unknown_command(ctx.command_path.partition(" ")[2], args, self.list_commands(ctx))
        return super().resolve_command(ctx, args)


class SortedGroup(CommandGroup):
    """A group that lists its commands by name; others list them in the order in which they are made."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of the commands, sorted."""
        return sorted(super().list_commands(ctx))


def help_text(function: Callable[..., None]) -> str:
    """The docstring of a command, each paragraph on one line, so that the terminal wraps it."""
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def group(callback: Callable[..., None]) -> typer.Typer:
    """A group of commands; `callback` runs before each of them, and alone where none is named."""
    return typer.Typer(cls=CommandGroup, callback=callback, help=help_text(callback), invoke_without_command=True)
