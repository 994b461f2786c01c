"""Contents of a report as plain data: sentences, tables, pictures, warnings."""

from dataclasses import dataclass

from pslc.figures.picture import Picture, Table
from pslc.recording.model import Recording
from pslc.schema.warnings import MeasurementWarning


@dataclass(frozen=True)
class View:
    """A recording, ours or another program's, in words and pictures; the first picture is the one that matters most.

    Attributes:
        drive: what it is called.
        conditions: under which it was measured, and when, in a line; for pictures that leave their page.
        took: how much was moved in which time.
        recording: what is shown, where it is one of ours.
        question: what its suite asks; empty where there is none.
        measured: who measured, or what was simulated, in a sentence.
    """

    title: str
    drive: str
    conditions: str
    took: str
    sentences: list[str]
    tables: list[Table]
    pictures: list[Picture]
    warnings: list[MeasurementWarning]
    recording: Recording | None = None
    question: str = ""
    measured: str = ""

    def of_level(self, level: str) -> list[MeasurementWarning]:
        """Warnings of a level: `warning` or `note`."""
        return [warning for warning in self.warnings if warning.level == level]
