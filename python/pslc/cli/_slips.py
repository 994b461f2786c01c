"""Slips on the command line, in our words: what was wrong, and what to write instead."""

from collections.abc import Sequence
from enum import Enum
from importlib import import_module
from typing import Any, Final

import typer

from pslc.errors import PslcError, near, refusal

# Its parser's errors are in a module that has moved from version to version.
_ERRORS: Final = import_module(typer.BadParameter.__module__)
SLIP: Final[type[Exception]] = _ERRORS.UsageError

EXAMPLES: Final = {
    "analyze": "pslc analyze fio_bw.1.log --capacity 1TB",
    "compare": "pslc compare runs/a runs/b",
    "probe": "pslc probe /dev/nvme0n1, or a file on the drive",
    "report": "pslc report runs/a -o page.html",
    "serve": "pslc serve sim:sn850-1tb",
    "trace": "pslc trace show work.trace",
    "watch": "pslc watch /dev/nvme0n1",
}
"""Of commands that need something, how they are called."""
DRIVE: Final = "sim:aldrin-pro-2tb"


def unknown_command(word: str, known: Sequence[str]) -> PslcError:
    """What may have been meant by a command that there is not."""
    from pslc import suites
    from pslc.targets.profiles import library

    drive = word.removeprefix("sim:")
    if word in (*suites.names(), "all"):
        hint = f"it is a suite: pslc run {word} --on {DRIVE}"
    elif drive in library():
        hint = f"it is a drive: pslc run fill --on sim:{drive}, or pslc drives show {drive}"
    elif meant := near(word, known):
        hint = f"did you mean pslc {meant}?"
    else:
        hint = f"the commands are {', '.join(known)}; pslc --help says what they do"
    return refusal(f"pslc has no command {word}", hint)


def in_words(error: Any) -> PslcError:
    """What the parser of the command line found."""
    command = error.ctx.command_path if error.ctx else "pslc"
    more = f"{command} --help lists what there is"
    if isinstance(error, _ERRORS.MissingParameter) and error.param is not None:
        example = EXAMPLES.get(command.rpartition(" ")[2], more)
        return refusal(f"{command} needs {_called(error.param)}", example)
    if isinstance(error, _ERRORS.NoSuchOption):
        meant = near(error.option_name, [name for of in error.ctx.command.params for name in of.opts])
        return refusal(f"{command} has no option {error.option_name}", f"did you mean {meant}?" if meant else more)
    if isinstance(error, typer.BadParameter) and error.param is not None:
        return _value(error, more)
    said = str(error.message).rstrip(".")
    return refusal(f"{command}: {said[:1].lower()}{said[1:]}", more)


def _called(parameter: Any) -> str:
    if parameter.param_type_name == "option":
        return str(parameter.opts[0])
    name = str(parameter.metavar or parameter.name)
    return name if "|" in name else name.upper()


LIMITS: Final = {
    "int_parsing": "a whole number",
    "float_parsing": "a number",
    "greater_than_equal": "{ge:g} or more",
    "less_than_equal": "{le:g} or less",
}
"""What a value has to be, by what pydantic, which typer asks, calls the slip."""


def _value(error: Any, more: str) -> PslcError:
    """A value that an option does not take."""
    name, cause = _called(error.param), error.__cause__
    if not hasattr(cause, "errors"):
        return refusal(f"{name}: {error.message}", more)
    found = cause.errors()[0]
    seen = found.get("ctx", {})
    limit = LIMITS.get(found["type"])
    choices = _choices(error.param)
    hint = limit.format(**seen) if limit else f"one of {', '.join(choices)}" if choices else str(found["msg"])
    return refusal(f'{name} is "{found["input"]}"', hint)


def _choices(parameter: Any) -> list[str]:
    """The words that an option takes, where it takes no others."""
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    return [str(one.value) for one in kind] if isinstance(kind, type) and issubclass(kind, Enum) else []
