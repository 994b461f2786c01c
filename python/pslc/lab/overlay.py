"""Line that is laid over the curves of the lab page: a recording in `runs/`, an uploaded file, or the figures of a
review."""

from __future__ import annotations

from typing import Final

from pslc.analysis import Curve
from pslc.base.errors import PslcError, RecordingError
from pslc.device.published import in_words, source
from pslc.figures.picture import Line
from pslc.lab import recordings
from pslc.lab.uploads import Drops
from pslc.lab.workspace import Drive
from pslc.recording.writes import write_curve
from pslc.twin import published_curve

RUN, DROP, PUBLISHED, REVIEW = "run:", "drop:", "published:", "review:"
"""Prefixes of an overlay in the page's address, before the recording's name, the upload's folder, the figures, or the
name of the drive that was reviewed."""
HINT: Final = "a fill, or a log of writes"


def line(over: str, drops: Drops, capacity_bytes: int) -> Line | None:
    """The line of it; None where nothing is laid over.

    Args:
        drops: what was dropped.
        capacity_bytes: of the drive that figures are of.

    Raises:
        PslcError: it is not there, or tells of no curve.
    """
    if not over:
        return None
    if over.startswith(PUBLISHED):
        return _drawn("published", published_curve.curve(over.removeprefix(PUBLISHED), capacity_bytes)[0])
    if over.startswith(REVIEW):
        words = in_words(over.removeprefix(REVIEW))
        return _drawn("published", published_curve.curve(words, capacity_bytes)[0])
    if over.startswith(RUN):
        name = over.removeprefix(RUN)
        return drops.readers.kept(recordings.changed_ns(name), recorded, name)
    upload = drops.read(over.removeprefix(DROP))
    return _drawn(f"measured: {upload.name}", upload.curve)


def recorded(name: str) -> Line:
    """The line of a recording in `runs/`.

    Raises:
        PslcError: there is none, or it tells of no curve.
    """
    return _drawn(f"recorded: {name}", write_curve(recordings.load(name)))


def review(drive: Drive) -> str:
    """Address of the overlay with the drive's published fill; empty if the published figures do not make a curve."""
    name = drive.source.removeprefix("sim:")
    try:
        if published_curve.stated_cache_bytes(in_words(name)) is None:
            # What would be inferred is not published.
            return ""
        published_curve.curve(in_words(name), drive.base().capacity_bytes)
    except PslcError:
        return ""
    return f"{REVIEW}{name}"


def note(over: str) -> str:
    """Source of the overlay, as a sentence; empty if its name tells."""
    return f"Published: {source(over.removeprefix(REVIEW))}." if over.startswith(REVIEW) else ""


def _drawn(name: str, curve: Curve | None) -> Line:
    if curve is None:
        raise RecordingError(f"{name} has no curve of writes", HINT)
    return Line(name, curve.edges_bytes[1:] / 1e9, curve.bytes_per_s / 1e6, "dotted")
