"""A note on runs of drives that follow from their parts: how far drives of such parts lie apart."""

from collections.abc import Iterable
from typing import Final

from pslc import suites
from pslc.recording.model import Recording
from pslc.schema.warnings import Level, MeasurementWarning, WarningCode

SYNC: Final = "sync"
"""Suite that asks for flushes; others flush for an end of theirs."""


class PredictedWarning(WarningCode):
    """Notes on figures that no review of the drive decides."""

    PREDICTED = (
        "the speeds of this drive are predicted from its parts: {figures}; {nearest}; pslc study --draws 100 runs "
        "drives that these parts may make"
    )
    FLUSH = "the profile only assumes how long a flush takes: drives without capacitors take {interval}"


def of_its_parts(recording: Recording) -> list[MeasurementWarning]:
    """The notes; none if the profile itself tells the figures, or nothing was written."""
    if not (recording.is_simulated and recording.written_bytes):
        return []
    if names_a_part(recording.provenance):
        from pslc.device.parts import forecast

        drive = forecast.undecided(recording.profile, recording.provenance)
        if drive is not None:
            figures = ", ".join(f"{name} {text}" for name, text in drive.in_words)
            return [_note(PredictedWarning.PREDICTED.of(figures=figures, nearest=drive.nearest))]
    is_asked = recording.suite == SYNC or recording.suite not in suites.names()
    is_synced = is_asked and any(job["sync"]["total_ios"] for job in recording.jobs)
    if is_synced and dict(recording.provenance).get("controller.flush", "").startswith("assumed"):
        from pslc.device.parts import forecast

        return [_note(PredictedWarning.FLUSH.of(interval=forecast.any_flush().text(1e-3, "ms", is_known=True)))]
    return []


def names_a_part(provenance: Iterable[tuple[str, str]]) -> bool:
    """Whether a value may come from a part, whose name is hyphenated: to look for it among all parts costs a start
    more than the request that is run."""
    origins = (origin.partition(":")[0] for _, origin in provenance)
    return any("-" in origin and " " not in origin for origin in origins)


def _note(warning: MeasurementWarning) -> MeasurementWarning:
    return MeasurementWarning(warning.code, str(warning), Level.NOTE)
