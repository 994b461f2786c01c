"""Files of other programs as recordings."""

from collections.abc import Sequence
from pathlib import Path

from pslc import formats
from pslc.formats._findings import as_recording
from pslc.formats._health_logs import by_drive
from pslc.recording.model import Recording
from pslc.schema.imports import ImportOptions


def read(paths: Sequence[Path], options: ImportOptions) -> list[Recording]:
    """Recordings of the files of one run, whatever their format; of a picture one for each curve, of health logs one
    for each drive.

    Raises:
        PslcError: a file cannot be read, or is of no known format, or they do not belong together.
    """
    if len(paths) > 1 and formats.are_health_logs(paths):
        contents = by_drive([(path, formats.read([path], options)) for path in paths])
    else:
        contents = formats.read_each(paths, options)
    return [as_recording(data, data.path or paths[0], options) for data in contents]
