"""Groups of commands: `pslc` itself, and `drives`, `suites` and `trace` below it."""

import inspect
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from pslc.cli import _usage_errors

HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}
MIN_FRAME_COLUMNS = 70
"""Columns from which help is framed: in narrower frames names of options are cut."""


class _Direct:
    """A command that hands on what needs no conversion: for all else typer imports pydantic, and makes schemas."""

    rich_markup_mode: Any

    def get_params(self, ctx: Any) -> list[Any]:
        """Parameters of the command, `--help` among them."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False) and parameter.metavar is None:
                parameter.metavar = ""  # A flag takes no value; typer shows <bool>.
            described = getattr(parameter, "type_descriptor", None)
            if described is not None and hasattr(described, "parameter_info"):
                described.parameter_info.readable = False  # Who opens it says whose it is, and what helps.
            if not isinstance(parameter.process_value, partial):
                parameter.process_value = partial(_processed, parameter, parameter.process_value)
        return parameters

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, with frames only where they leave room for its words."""
        columns = shutil.get_terminal_size().columns
        if columns < MIN_FRAME_COLUMNS:
            self.rich_markup_mode = None
            # click wraps at 50 or more, and gives options 30 of them.
            formatter.width = columns - 2
            formatter.write_dl = partial(formatter.write_dl, col_max=columns // 3)
        super().format_help(ctx, formatter)  # type: ignore[misc]


def _processed(parameter: Any, process: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    """A parameter's value: as it is where it was not given, or is of the type that the command takes."""
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    if kind is Path and isinstance(value, str):
        value = Path(value)
    elif type(value) is not kind and (value is not None or parameter.required):
        return process(context, value)
    return parameter.callback(context, parameter, value) if parameter.callback else value


class _Command(_Direct, TyperCommand):
    """A command that is no group."""


class CommandGroup(_Direct, TyperGroup):
    """A group in which an unknown word gets an error that names the command that was probably meant."""

    def suggestion(self, words: list[str]) -> str:
        """The probable meaning of an unknown word and those after it; empty if nothing is known."""
        return ""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first argument names.

        Raises:
            PslcError: there is none.
        """
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            group, commands = ctx.command_path.partition(" ")[2], self.list_commands(ctx)
            raise _usage_errors.unknown_command(group, args, commands, self.suggestion(args))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands, each with the whole first paragraph of its help."""
        commands: dict[str, Any] = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.help.partition("\n\n")[0]) for name, command in commands.items()])


def command_of(module: Any, name: str) -> Any:
    """The command that a module of this folder has, or its group of commands."""
    if hasattr(module, "app"):
        app = module.app
    else:
        app = typer.Typer(add_completion=False)
        settings = getattr(module, "SETTINGS", None)
        app.command(name, cls=_Command, help=help_text(module.command), context_settings=settings)(module.command)
    command = get_command(app)
    command.name = name
    return command


def help_text(function: Callable[..., None]) -> str:
    """The docstring of a command, each paragraph on one line, so that the terminal wraps it."""
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def group(callback: Callable[..., None], suggest: Callable[[list[str]], str] | None = None) -> typer.Typer:
    """A group of commands; `callback` runs before each of them, and alone where none is named. `suggest` says what an
    unknown word probably means."""
    kind = type("Group", (CommandGroup,), {"suggestion": staticmethod(suggest)}) if suggest else CommandGroup
    return typer.Typer(
        cls=kind, callback=callback, help=help_text(callback), invoke_without_command=True, add_completion=False
    )
