"""`pslc export`: the series of a recording for other programs."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pslc.base.console import say

if TYPE_CHECKING:
    from pslc.recording.model import Recording


class Format(StrEnum):
    """Format of an exported recording."""

    CSV = "csv"
    PARQUET = "parquet"
    FIO = "fio"


def command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder")],
    to: Annotated[Format, typer.Option("--as", help="csv, parquet, or fio: bandwidth logs in fio's format")],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="File to write; a folder with --as fio (default: in the run folder)"
        ),
    ] = None,
) -> None:
    """Write the series of a recording as CSV, Parquet or fio logs.

    CSV and Parquet have a row for each bin and the column axis: time or bytes; the last column of a real drive, engine,
    tells through which its requests went. pslc prints the name of each file.
    """
    from pslc.base import writer
    from pslc.base.errors import user_error
    from pslc.recording import store

    recording = store.load(run)
    if output is not None and to is not Format.FIO:
        writer.check_ending(output, f".{to}")
    elif output == writer.STDOUT:
        raise user_error("fio's logs are several files, which stdout cannot hold", "-o FOLDER")
    path = output or (run if to is Format.FIO else run / f"export.{to}")
    try:
        for place in _written(recording, to, path, is_named=output is not None):
            if place != writer.STDOUT:
                say(str(place))
    except OSError as error:
        raise user_error(f"{path}: {error.strerror}", "give -o a place that can be written") from None


def _written(recording: "Recording", to: Format, path: Path, *, is_named: bool) -> list[Path]:
    """The files that were written."""
    from pslc.base import tabular, writer
    from pslc.runner import fio_logs

    if to is Format.FIO:
        writer.folder(path)
        return fio_logs.write_aggregate(recording, path)
    data = tabular.to_csv(recording.exported) if to is Format.CSV else tabular.to_parquet(recording.exported)
    # Of names that pslc gives, only Parquet can be known again as its own: a CSV that is there stays.
    writer.write(path, data, writer.Replace.ANY if is_named else writer.Replace.OURS)
    return [path]
