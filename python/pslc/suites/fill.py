"""Where is the cliff? Write the whole drive once, in sequence, and watch the speed.

As TechPowerUp, AnandTech and HD Tune's surface write do, with 1 MiB requests at queue depth 32.
"""

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
    """Speed against GB written, and what the drive did inside."""
    return curves.of_writes(recording, recording.findings.typed(Writes)["phases"])
