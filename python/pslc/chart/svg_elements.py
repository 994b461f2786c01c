"""Lines and texts of an SVG file, in the coordinates of the page."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import numpy as np

from pslc.base import gate
from pslc.base.errors import RecordingError
from pslc.chart.lines import Floats
from pslc.formats import FILE, decoded

NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
COMMAND: Final = re.compile(r"([MLHVCSQTZAmlhvcsqtza])([^MLHVCSQTZAmlhvcsqtza]*)")
COUNTS: Final = {"m": 2, "l": 2, "h": 1, "v": 1, "c": 6, "s": 4, "q": 4, "t": 2}
"""Numbers that each command of a path takes."""
TRANSFORM: Final = re.compile(r"(matrix|translate|scale|rotate)\s*\(([^()]*)\)")
UNSEEN: Final = {"defs", "clipPath", "symbol", "marker", "mask", "pattern", "metadata", "style", "title", "desc"}
STYLES: Final = ("stroke", "fill", "stroke-width", "text-anchor", "display", "visibility")
TICK: Final = re.compile(r"([xy])tick_\d+")
"""Names that matplotlib gives the groups of a mark and its label."""
MAX_BYTES: Final = 16_000_000


@dataclass(frozen=True)
class Text:
    """Words with their anchor; `axis` is x or y where the file says so, and `at` then is the mark's place."""

    words: str
    at: Floats
    axis: str
    is_centered: bool


@dataclass(frozen=True)
class Stroke:
    """A line through points, shape (n, 2), or the place of a symbol; an area is closed, or has no stroke."""

    points: Floats
    color: str
    is_area: bool
    element: int


@dataclass(frozen=True)
class _Group:
    matrix: Floats
    style: dict[str, str]
    axis: str = ""
    tick: list[Floats] = field(default_factory=list)


def read(path: Path) -> tuple[list[Text], list[Stroke]]:
    """Read the texts and the lines of an SVG file.

    Raises:
        PslcError: it is no XML, declares entities, has a drawing within a drawing, or is too large.
    """
    text = decoded(gate.data(path, replace(FILE, max_bytes=MAX_BYTES)))
    if "<!ENTITY" in text:
        raise RecordingError(f"{path} declares entities, which pslc does not expand", "save the chart as PNG")
    builder = ElementTree.TreeBuilder(insert_comments=True)
    try:
        root = ElementTree.fromstring(text, ElementTree.XMLParser(target=builder))
    except (ElementTree.ParseError, ValueError) as error:
        raise RecordingError(f"{path} is damaged: {error}", "save the chart again, or as PNG") from None
    with np.errstate(all="ignore"):
        return _elements(path, root)


def _elements(path: Path, root: ElementTree.Element) -> tuple[list[Text], list[Stroke]]:
    texts: list[Text] = []
    strokes: list[Stroke] = []
    stack = [(root, _Group(np.eye(3), {}))]
    while stack:
        element, above = stack.pop()
        tag = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else "comment"
        group = _group(element, above)
        is_hidden = group.style.get("display") == "none" or group.style.get("visibility") == "hidden"
        if tag in UNSEEN or is_hidden or element.get("id", "").startswith("legend"):
            continue
        if element is not root and "viewBox" in element.attrib:
            raise RecordingError(f"{path} has a drawing within a drawing", "save the chart as PNG")
        if tag in ("text", "comment"):
            texts.append(_text(element, group))
            continue
        number = len(strokes)
        for points, closed in _points(tag, element):
            strokes.append(_stroke(points @ group.matrix[:2, :2].T + group.matrix[:2, 2], closed, group, number))
            group.tick.append(strokes[-1].points[0])
        stack += [(child, group) for child in reversed(element)]
    return texts, strokes


def _group(element: ElementTree.Element, above: _Group) -> _Group:
    own = {key: element.get(key, "") for key in STYLES if key in element.attrib}
    own |= {key: value.strip() for key, value in re.findall(r"([\w-]+)\s*:\s*([^;]+)", element.get("style", ""))}
    matrix = above.matrix @ _matrix(element.get("transform", ""))
    tick = TICK.fullmatch(element.get("id", ""))
    return _Group(matrix, above.style | own, tick[1] if tick else above.axis, [] if tick else above.tick)


def _text(element: ElementTree.Element, group: _Group) -> Text:
    """Words with the place of the first that has one; those of a comment, which matplotlib draws as outlines."""
    placed = next((part for part in element.iter() if "x" in part.attrib), element)
    at = group.matrix @ [_number(placed, "x"), _number(placed, "y"), 1.0]
    if group.axis and group.tick:
        at = group.tick[0]
    return Text(
        " ".join("".join(element.itertext() if isinstance(element.tag, str) else element.text or "").split()),
        at[:2],
        group.axis,
        group.style.get("text-anchor") == "middle",
    )


def _stroke(points: Floats, closed: bool, group: _Group, number: int) -> Stroke:
    stroke, fill = group.style.get("stroke", ""), group.style.get("fill", "none")
    bare = stroke == "none" or (fill != "none" and (not stroke or group.style.get("stroke-width") == "0"))
    return Stroke(points, stroke, closed or bare, number)


def _number(element: ElementTree.Element, name: str) -> float:
    match = NUMBER.match(element.get(name, "0").strip())
    return float(match[0]) if match else 0.0


def _matrix(text: str) -> Floats:
    """The matrix of a list of transformations, shape (3, 3)."""
    whole = np.eye(3)
    for name, arguments in TRANSFORM.findall(text):
        numbers = [*map(float, NUMBER.findall(arguments)), 0.0, 0.0, 0.0]
        own, (a, b, c) = np.eye(3), numbers[:3]
        if name == "matrix":
            own[:2] = np.reshape([*numbers, 0.0, 0.0, 0.0][:6], (3, 2)).T
        elif name == "translate":
            own[:2, 2] = a, b
        elif name == "scale":
            own[0, 0], own[1, 1] = a, b if len(numbers) > 4 else a
        else:
            cos, sin = np.cos(np.radians(a)), np.sin(np.radians(a))
            own[:2] = [[cos, -sin, b - cos * b + sin * c], [sin, cos, c - sin * b - cos * c]]
        whole = whole @ own
    return whole


def _points(tag: str, element: ElementTree.Element) -> Iterator[tuple[Floats, bool]]:
    """Lines of an element, each with whether it is closed; of a symbol its place."""
    if tag == "path":
        yield from _subpaths(element.get("d", ""))
    elif tag == "use":
        yield np.array([[_number(element, "x"), _number(element, "y")]]), False
    elif tag == "line":
        yield np.array([[_number(element, f"{name}{end}") for name in "xy"] for end in "12"]), False
    elif tag == "polyline" and len(words := NUMBER.findall(element.get("points", ""))) > 1:
        yield np.array(words[: len(words) // 2 * 2], dtype=float).reshape(-1, 2), False


def _subpaths(path: str) -> Iterator[tuple[Floats, bool]]:
    """Lines of a path through the ends of its pieces, up to the first arc."""
    points: list[tuple[float, float]] = []
    x, y = 0.0, 0.0
    for letter, arguments in COMMAND.findall(path):
        kind, numbers = letter.lower(), [*map(float, NUMBER.findall(arguments))]
        if kind in "mz" and points:
            yield np.array(points), kind == "z"
            (x, y), points = points[0] if kind == "z" else (x, y), []
        if kind == "a":
            return
        size = COUNTS.get(kind, len(numbers) + 1)
        for at in range(0, len(numbers) - size + 1, size):
            points = points or ([] if kind == "m" else [(x, y)])
            base_x, base_y = (x, y) if letter.islower() else (0.0, 0.0)
            x = x if kind == "v" else base_x + numbers[at + size - (1 if kind == "h" else 2)]
            y = y if kind == "h" else base_y + numbers[at + size - 1]
            points.append((x, y))
    if points:
        yield np.array(points), False
