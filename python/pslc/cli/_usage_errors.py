"""Errors of the command line's parser, in the words of pslc, each with what to write instead."""

from collections.abc import Sequence
from enum import Enum
from importlib import import_module
from typing import Any, Final

import typer

from pslc.base.errors import PslcError, closest_match, user_error

# Its parser's errors are in a module that has moved from version to version.
_ERRORS: Final = import_module(typer.BadParameter.__module__)
SLIP: Final[type[Exception]] = _ERRORS.UsageError

EXAMPLES: Final = {
    "advise": "pslc advise runs/20260504-020000-watch-nvme0n1",
    "analyze": "pslc analyze fio_bw.1.log --capacity 1TB",
    "compare": "pslc compare runs/a runs/b",
    "crash": "pslc crash --on sim:sn850-1tb --check 'sh check.sh {disk}' -- sh work.sh {disk}",
    "probe": "pslc probe /dev/nvme0n1, or a file on the drive",
    "replay": "pslc replay work.trace --on sim:sn850-1tb",
    "serve": "pslc serve sim:sn850-1tb",
    "drives age": "pslc drives age disk.pslc --idle 8h",
    "drives create": "pslc drives create disk.pslc --like aldrin-pro-2tb",
    "drives format": "pslc drives format disk.pslc --mode pure-slc",
    "drives show": "pslc drives show aldrin-pro-2tb; pslc drives lists them all",
    "trace show": "pslc trace show work.trace",
    "trace convert": "pslc trace convert work.trace -o work.parquet, or -o work.iolog for fio",
    "watch": "pslc watch /dev/nvme0n1",
}
"""Example of each command that needs arguments."""

OF_RECORDINGS: Final = {
    name: f"it is an option of pslc run: pslc run fill --on sim:sn850-1tb --save a, then pslc {name} a{more}"
    for name, more in (("picture", " -o a.png"), ("report", ""), ("export", " --as csv"), ("compare", " b"))
}
"""Hint of each command that takes recordings, for an option of the command that makes them."""


def unknown_command(group: str, words: Sequence[str], commands: Sequence[str], suggested: str) -> PslcError:
    """The error for a word that is no command of a group, with the command that was probably meant.

    Args:
        group: the group's name, empty for `pslc` itself.
        words: what follows it; the first is the unknown one.
        commands: commands of the group.
        suggested: what the group itself suggests; empty: nothing.
    """
    listed = f"the commands are {', '.join(commands)}; pslc {group} --help".replace("  ", " ") + " explains them"
    asked = {"help": ["pslc", *words[1:], "--help"], "version": ["pslc", "--version"]}.get("" if group else words[0])
    hint = " ".join(asked) if asked else suggested or listed
    meant = closest_match(words[0], commands)
    if meant and hint is listed:
        hint = f"did you mean {' '.join(filter(None, ('pslc', group, meant)))}?"
    return user_error(f"{f'pslc {group}'.strip()} has no command {words[0]}", hint)


def in_words(error: Any) -> PslcError:
    """An error of the parser of the command line in the words of pslc."""
    command = error.ctx.command_path if error.ctx else "pslc"
    more = f"{command} --help lists arguments and options"
    if isinstance(error, _ERRORS.MissingParameter) and error.param is not None:
        example = EXAMPLES.get(command.removeprefix("pslc "), more)
        return user_error(f"{command} needs {_called(error.param)}", example)
    if isinstance(error, _ERRORS.NoSuchOption):
        meant = closest_match(error.option_name, [name for of in error.ctx.command.params for name in of.opts])
        hint = f"did you mean {meant}?" if meant else _of_run(error) or more
        return user_error(f"{command} has no option {error.option_name}", hint)
    if isinstance(error, typer.BadParameter) and error.param is not None:
        return _value(error, more)
    message = str(error.message).rstrip(".")
    return user_error(f"{command}: {message[:1].lower()}{message[1:]}", more)


def _of_run(error: Any) -> str:
    """Hint on an option of `pslc run` that a command of its recordings lacks; empty otherwise."""
    name, root = error.ctx.info_name, error.ctx.find_root()
    if name not in OF_RECORDINGS:
        return ""
    run = root.command.get_command(root, "run")
    return OF_RECORDINGS[name] if any(error.option_name in of.opts for of in run.params) else ""


def _called(parameter: Any) -> str:
    if parameter.param_type_name == "option":
        return str(max(parameter.opts, key=len))
    name = str(parameter.metavar or parameter.name).partition("[,")[0]
    return name if "|" in name else name.upper()


LIMITS: Final = {
    "int_parsing": "a whole number",
    "float_parsing": "a number",
    "greater_than_equal": "{ge:g} or more",
    "less_than_equal": "{le:g} or less",
}
"""Requirement on a value, by pydantic's code for the error; typer validates with pydantic."""


def _value(error: Any, more: str) -> PslcError:
    """A value that an option does not take."""
    name, cause = _called(error.param), error.__cause__
    if not hasattr(cause, "errors"):
        return user_error(f"{name}: {error.message}", more)
    slip = cause.errors()[0]
    limits = slip.get("ctx", {})
    limit = LIMITS.get(slip["type"])
    choices = _choices(error.param)
    hint = limit.format(**limits) if limit else f"one of {', '.join(choices)}" if choices else str(slip["msg"])
    return user_error(f'{name} is "{slip["input"]}"', hint)


def _choices(parameter: Any) -> list[str]:
    """The words that an option takes, where it takes no others."""
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    return [str(choice.value) for choice in kind] if isinstance(kind, type) and issubclass(kind, Enum) else []
