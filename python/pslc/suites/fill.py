"""Where is the cliff? Write the whole drive once, in sequence, and watch the speed.

As TechPowerUp, AnandTech and HD Tune's surface write do it, with 1 MiB requests, 32 under way.
"""

from typing import Any

from pslc.findings import of_writes
from pslc.place import Place
from pslc.recording import Recording
from pslc.report import curves, words
from pslc.report import tables as common
from pslc.report.picture import Picture, Table
from pslc.suites import Steps

QUICK = "half of the drive is written, so the last phase may be missing"


def steps(place: Place) -> Steps:
    """One job: enough under way to keep any drive busy."""
    yield place.write("fill", place.share(0.5) if place.quick else place.size)


def findings(recording: Recording) -> dict[str, Any]:
    """See `pslc.findings.of_writes`."""
    return of_writes(recording)


def sentences(findings: dict[str, Any]) -> list[str]:
    """The cache, the fastest, the slowest, the mean."""
    return words.sentences(findings)


def tables(findings: dict[str, Any]) -> list[Table]:
    """The phases."""
    return common.of_writes(findings)


def pictures(recording: Recording) -> list[Picture]:
    """Speed against GB written, and what the drive did inside."""
    return curves.of_writes(recording, recording.findings["phases"])
