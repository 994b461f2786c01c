"""Outputs of a recording as fio prints them."""

import json

from pslc.fio import json_output, normal, terse
from pslc.recording.model import Recording

FORMATS = ("normal", "fio", "json+", "terse")


def text(recording: Recording, output_format: str) -> str:
    """The recording in one of `FORMATS`; `fio` is fio's JSON."""
    match output_format:
        case "normal":
            return "\n".join(normal.lines(recording))
        case "terse":
            return "\n".join(terse.lines(recording))
        case _:
            return json.dumps(json_output.document(recording, output_format == "json+"), indent=2)
