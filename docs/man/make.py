"""Man pages and shell completions, from what the commands say of themselves.

python docs/man/make.py TARGET: writes TARGET/man/man1/pslc*.1, TARGET/completions/pslc.bash, _pslc, pslc.fish and
pslc.ps1.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import typer
from typer._completion_shared import get_completion_script

from pslc._native import version
from pslc.cli import app

SHELLS: Final = {"bash": "pslc.bash", "zsh": "_pslc", "fish": "pslc.fish", "powershell": "pslc.ps1"}
"""File of each shell's completion, as that shell looks for it."""
EXIT: Final = (
    ("0", "done"),
    ("1", "a comparison is out of tolerance"),
    ("2", "an error"),
    ("3", "done, but something could not be written where it was to be"),
    ("130", "interrupted"),
)
"""As in docs/how-to.md."""


def commands(command: Any, parent: Any = None) -> Iterator[tuple[str, Any, Any]]:
    """Each command with its full name and context, groups before what is in them."""
    context = command.make_context(command.name, [], parent=parent, resilient_parsing=True)
    yield context.command_path, command, context
    if hasattr(command, "list_commands"):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if not below.hidden:
                yield from commands(below, context)


def page(path: str, command: Any, context: Any) -> str:
    """A command's man page, in man(7)'s macros."""
    name = path.replace(" ", "-")
    head, _, rest = (command.help or "").partition("\n\n")
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [
        f'.TH "{name.upper()}" "1" "" "pslc {version()}" "pslc"',
        ".SH NAME",
        f"{escaped(name)} \\- {escaped(head[:1].lower() + head[1:].rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {escaped(path)}",
        escaped(usage),
    ]
    if rest:
        lines += [".SH DESCRIPTION", *(f"{escaped(text)}\n.PP" for text in rest.split("\n\n"))]
    lines += _parameters(command, context)
    lines += _below(path, command, context)
    lines += [".SH EXIT STATUS", *(line for code, text in EXIT for line in (".TP", f".B {code}", escaped(text)))]
    return "\n".join(lines) + "\n"


def _parameters(command: Any, context: Any) -> list[str]:
    """Arguments, then options, each with its help."""
    parameters = [parameter for parameter in command.get_params(context) if not getattr(parameter, "hidden", False)]
    lines = []
    for title, kind in (("ARGUMENTS", "argument"), ("OPTIONS", "option")):
        rows = [parameter for parameter in parameters if parameter.param_type_name == kind]
        lines += [f".SH {title}"] if rows else []
        for parameter in rows:
            names, text = parameter.get_help_record(context)
            lines += [".TP", f".B {escaped(names)}", escaped(text.rstrip("."))]
    return lines


def _below(path: str, command: Any, context: Any) -> list[str]:
    """The commands of a group, and where a command belongs."""
    if not hasattr(command, "list_commands"):
        return [".SH SEE ALSO", f".BR {escaped(path.rpartition(' ')[0].replace(' ', '-'))} (1)"]
    lines = [".SH COMMANDS"]
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        if not below.hidden:
            head = (below.help or "").partition("\n\n")[0]
            lines += [".TP", f".BR {escaped(f'{path} {name}'.replace(' ', '-'))} (1)", escaped(head)]
    return lines


def escaped(text: str) -> str:
    """A text in which troff sees no command of its own."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text).replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in plain.splitlines())


def write(target: Path) -> list[Path]:
    """Write all pages and completions; returns their paths."""
    root = typer.main.get_command(app)
    root.name = "pslc"
    texts = {
        target / "man" / "man1" / f"{path.replace(' ', '-')}.1": page(path, command, context)
        for path, command, context in commands(root)
    }
    for shell, file in SHELLS.items():
        texts[target / "completions" / file] = get_completion_script(
            prog_name="pslc", complete_var="_PSLC_COMPLETE", shell=shell
        )
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if text.endswith("\n") else f"{text}\n", encoding="utf-8")
    return list(texts)


if __name__ == "__main__":
    for written in write(Path(sys.argv[1] if len(sys.argv) > 1 else "target")):
        print(written)
