"""The command line: one file a command, found by listing this folder; each has a `command`. stdout is data, stderr is
talk; exit 0 done, 1 a comparison out of tolerance, 2 an error, 130 interrupted."""

import pkgutil
import sys
from importlib import import_module

import typer

app = typer.Typer(
    help="A laboratory for SSD write caching: where is the cliff of a drive, why, and what would move it.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _options(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    if version:
        from pslc._native import version as of

        typer.echo(f"pslc {of()}")
        raise typer.Exit


for _module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
    _command = import_module(f"{__name__}.{_module.name}")
    app.command(_module.name, context_settings=getattr(_command, "SETTINGS", None))(_command.command)


def main() -> None:
    """Run the command line; an error is a text on stderr and exit code 2."""
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        app()
    except BrokenPipeError:
        # Whoever read our output has had enough, as `head` does.
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        from pslc.errors import PslcError

        if not isinstance(error, PslcError):
            raise
        from rich.console import Console

        console = Console(stderr=True, soft_wrap=True, highlight=False)
        console.print("[bold red]error:[/] ", end="")
        console.print(str(error), markup=False)
        sys.exit(2)
