"""Recordings, uploads and traces as the page shows them: JSON of sentences, tables, pictures, and a curve."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from enum import StrEnum
from typing import Any, Final

import numpy as np
from typing_extensions import TypedDict

from pslc.analysis import Curve
from pslc.figures import reduce
from pslc.figures.document import About, FigureJson, document
from pslc.figures.picture import Line, Own, Table
from pslc.figures.view import View

MAX_PICTURES: Final = 3


class Kind(StrEnum):
    """Kinds of recordings and uploads; each can be used in its own way."""

    RECORDING = "recording"
    LOG = "log"
    TRACE = "trace"
    DRIVE = "drive"
    CHART = "chart"


class CurveJson(TypedDict):
    """A write curve: bytes written, and bytes a second."""

    label: str
    x: list[float]
    y: list[float]


class ViewJson(TypedDict):
    """Contents of a recording or an upload.

    Attributes:
        name: under which the page asks for it again.
        curve: None if it has no curve of writes.
        picture: address of the picture of a chart, with what was read drawn over it; empty of everything else.
    """

    name: str
    kind: Kind
    title: str
    sentences: Sequence[str]
    warnings: Sequence[str]
    notes: Sequence[str]
    tables: Sequence[dict[str, Any]]
    figures: Sequence[FigureJson]
    curve: CurveJson | None
    picture: str


def of_view(view: View, name: str, kind: Kind, curve: Curve | None, picture: str = "") -> ViewJson:
    """Contents of a report; `curve` is its write curve."""
    about = About(view.drive, view.conditions)
    pictures = [replace(shown, name=f"shown-{shown.name}") for shown in view.pictures if shown.has_data]
    return {
        "name": name,
        "kind": kind,
        "title": f"{view.title}: {view.took}",
        "sentences": view.sentences,
        "warnings": [str(warning) for warning in view.of_level("warning")],
        "notes": [str(note) for note in view.of_level("note")],
        "tables": [_table(table) for table in view.tables],
        "figures": [document(shown, about) for shown in pictures[:MAX_PICTURES]],
        "curve": None if curve is None else _points(view.drive, curve),
        "picture": picture,
    }


def bare(name: str, kind: Kind, title: str, picture: str = "") -> ViewJson:
    """Something that nothing is said of yet."""
    return {
        "name": name, "kind": kind, "title": title, "sentences": [], "warnings": [], "notes": [], "tables": [],
        "figures": [], "curve": None, "picture": picture,
    }  # fmt: skip


def _table(table: Table) -> dict[str, Any]:
    return {key: value for key, value in asdict(table).items() if key != "bars"}


def _points(label: str, curve: Curve) -> CurveJson:
    line = reduce.thinned(Line(Own(label), curve.edges_bytes[1:], curve.bytes_per_s))
    x, y = line.points
    is_there = np.isfinite(x) & np.isfinite(y)
    return {"label": label, "x": x[is_there].tolist(), "y": y[is_there].tolist()}
