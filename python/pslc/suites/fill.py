"""Where is the cliff? Write the whole drive once, in sequence, and watch the speed.

As TechPowerUp, AnandTech and HD Tune's surface write do, with 1 MiB requests at queue depth 32.
"""

from dataclasses import replace
from typing import Final

import numpy as np

from pslc.analysis import Writes
from pslc.analysis import sentences as write_sentences
from pslc.device.region import Region
from pslc.figures import curves
from pslc.figures import tables as common
from pslc.figures.picture import Picture, Table
from pslc.recording.model import Recording
from pslc.recording.writes.findings import of_writes
from pslc.suites import Steps

QUICK = "half of the drive is written"
COMPUTER = "none"
BANDS: Final = {True: "band: 80 % of the drives of such parts", False: "band: perhaps; a part was never reviewed"}
"""Note of a picture whose drive is predicted from its parts, by whether reviewed drives have both."""


def steps(region: Region) -> Steps:
    """One step with one job that keeps enough requests under way to keep any drive busy."""
    yield region.write("fill", region.share(0.5) if region.quick else region.size)


def findings(recording: Recording) -> Writes:
    """Findings of the write; `pslc.recording.writes.findings.of_writes` describes them."""
    return of_writes(recording)


def sentences(findings: Writes) -> list[str]:
    """The cache, the fastest, the slowest, the mean."""
    return write_sentences.describe(findings)


def tables(findings: Writes) -> list[Table]:
    """Table of the phases."""
    return common.of_writes(findings)


def pictures(recording: Recording) -> list[Picture]:
    """Speed against GB written, with the band of drives of such parts, and what the drive did inside."""
    drawn = curves.of_writes(recording, recording.findings.typed(Writes)["phases"])
    return [_with_band(picture, recording) if picture.name == "speed-bytes" else picture for picture in drawn]


def _with_band(picture: Picture, recording: Recording) -> Picture:
    from pslc.device.parts import forecast

    drive = forecast.undecided(recording.profile, recording.provenance)
    if drive is None:
        return picture
    panel, (shares, of_shares) = picture.panels[0], zip(*drive.band, strict=True)
    line = panel.lines[0]
    steps = np.searchsorted(shares, line.points[0] / recording.drive_bytes, side="right") - 1
    low, high = (np.array([getattr(of, end) for of in of_shares])[steps] for end in ("low", "high"))
    banded = replace(panel, lines=[replace(line, low=low, high=high), *panel.lines[1:]])
    return replace(picture, panels=(banded,), note=BANDS[drive.is_known])
