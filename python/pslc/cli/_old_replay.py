"""Until 1.0: traces that `pslc run` is given, as it replayed them before `pslc replay`."""

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from pslc.base.console import say

if TYPE_CHECKING:
    from pslc.runner.campaign import CampaignSpec

NEW_NAMES = {"--fit": "--addresses", "--skip-broken": "--skip-bad"}


def warn(context: typer.Context, spec: "CampaignSpec") -> None:
    """Print the command with `pslc replay` if the subject is a trace."""
    from pathlib import Path

    from pslc import suites
    from pslc.traces import Part, is_trace

    files = [spec.subject, *map(str, spec.options.more)]
    if spec.subject in suites.OF_FILES:
        files = files[1:]
    replay = spec.options.replay
    if not files or not is_trace(Path(files[0]), replay.part if replay else Part()):
        return
    words = [word for pair in _options(context) for word in pair]
    fio_options = [f"--{name}={value}" for name, value in spec.options.options]
    new = shlex.join(["pslc", "replay", files[0], *words, *fio_options])
    say(f"note: traces have a command of their own: {new} (pslc run replays them until 1.0)", err=True)


def _options(context: typer.Context) -> Iterator[list[str]]:
    """Each option that was given, as words, under its new name."""
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if parameter.param_type_name != "option" or source is None or source.name != "COMMANDLINE":
            continue
        value: Any = context.params[str(parameter.name)]
        name = max(parameter.opts, key=len) if len(parameter.opts) > 1 else parameter.opts[0]
        name = NEW_NAMES.get(parameter.opts[0], name)
        yield [name] if value is True else [name, str(getattr(value, "value", value))]
