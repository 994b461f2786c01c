"""`pslc examples`: the files that commands of the documents use."""

from pathlib import Path
from typing import Annotated

import typer

from pslc.base.console import say

EXAMPLES = Path(__file__).parents[1] / "examples"


def command(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder to write them to (default: examples)", show_default=False)
    ] = Path("examples"),
) -> None:
    """Write the examples that the documents use: job files, logs, a trace, a chart, notebooks.

    No existing file is replaced.
    """
    from pslc.base import writer

    files = [path for path in sorted(EXAMPLES.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    for path in files:
        target = directory / path.relative_to(EXAMPLES)
        writer.folder(target.parent)
        writer.write(target, path.read_bytes(), writer.Replace.NEVER)
    say(f"{directory}: {len(files)} files")
