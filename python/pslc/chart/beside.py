"""Files beside the output of recordings that were read from pictures: the pictures with what was read drawn over them,
and the curves as tables."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pslc.base.errors import user_error
from pslc.base.writer import Replace
from pslc.chart import overlay
from pslc.chart.reading import Reading
from pslc.formats._findings import ChartRecording
from pslc.recording.model import Recording


def write_overlays(recordings: Sequence[Recording], named: Path | None, output: Path | None) -> Iterator[Path]:
    """Draw what was read over each picture: into the file that is named, or beside an output, `page.chart.png` for
    `page.html`; nowhere where there is neither.

    Raises:
        PslcError: a picture cannot be written, or one file is named for several.
    """
    shown = pictures(recordings)
    if named is not None and len(shown) != 1:
        raise user_error(f"--overlay names one file for {len(shown)} pictures", "read one picture at a time")
    for number, picture in enumerate(shown, 1):
        if named is None and output is None:
            return
        end = ".chart.png" if len(shown) == 1 else f".chart-{number}.png"
        path = named or output.with_suffix(end)  # type: ignore[union-attr]
        overlay.write(picture, path, Replace.ANY if named else Replace.OURS)
        yield path


def write_tables(recordings: Sequence[Recording], path: Path) -> list[Path]:
    """Write the curves of a picture as tables.

    Raises:
        PslcError: there is no picture, or a file cannot be written.
    """
    shown = pictures(recordings)
    if not shown:
        raise user_error("--csv is for the curves of a picture", "the data are a table already")
    return overlay.write_tables(shown[0], path)


def pictures(recordings: Sequence[Recording]) -> list[Reading]:
    """Each picture once, though it may show several curves."""
    read = [of.reading.picture for of in recordings if isinstance(of, ChartRecording) and of.reading is not None]
    return list({id(picture): picture for picture in read}.values())
