"""A note on runs of drives that follow from their parts: how far drives of such parts lie apart."""

from pslc.device.parts import forecast
from pslc.recording.model import Recording
from pslc.schema.warnings import Level, MeasurementWarning, WarningCode


class PredictedWarning(WarningCode):
    """Notes on speeds that no review of the drive decides."""

    PREDICTED = (
        "the speeds of this drive are predicted from its parts: {phases}; {nearest}; pslc study --draws 100 runs "
        "drives that these parts may make"
    )


def of_its_parts(recording: Recording) -> list[MeasurementWarning]:
    """The note; none if the profile itself tells its speeds, or nothing was written."""
    if not (recording.is_simulated and recording.written_bytes):
        return []
    drive = forecast.of_target(recording.profile, dict(recording.provenance))
    if drive is None or not drive.is_open:
        return []
    phases = ", ".join(f"{name} {text}" for name, text in drive.phases)
    warning = PredictedWarning.PREDICTED.of(phases=phases, nearest=drive.nearest)
    return [MeasurementWarning(warning.code, str(warning), Level.NOTE)]
