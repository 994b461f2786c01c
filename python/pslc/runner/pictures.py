"""The picture of one recording or several: the chart of their suite, their write curves, or bars of one figure."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from pslc import suites
from pslc.base import words
from pslc.base.errors import RecordingError, closest_match
from pslc.figures import classic, curves
from pslc.figures.document import About
from pslc.figures.drawing import Drawing
from pslc.figures.overlay import overlaid
from pslc.figures.picture import Axis, Bars, Label, Own, Panel, Picture, Text
from pslc.figures.style import Across, Style
from pslc.recording import results
from pslc.recording.comparison import Compared, Side, compare, keys
from pslc.recording.model import Recording
from pslc.schema.facts import Imported

LOWER_IS_BETTER: Final = ("s", "W", "C")
"""Units of which the smallest value is the best."""
CAPACITY: Final = re.compile(r"\d ?[GT]B\b")
"""A capacity in the name of a drive."""
CACHE_MODE: Final = re.compile(r"\bcache\.mode=([\w-]+)")
ANY_RUN: Final = ("speed-bytes", "speed-time")
"""Pictures that are of no suite."""
WHISKERS: Final = "whiskers: 90 % interval"


def of_sides(sides: Sequence[Side], across: Across | None = None) -> Picture:
    """One picture of all sides.

    Args:
        across: x axis of write curves; None: the chart that answers the question of the suite.

    Raises:
        PslcError: one of them has nothing to draw over this axis, or the charts of their suites are unlike.
    """
    several = len(sides) > 1
    names = _legend(sides)
    drawn = [_write_picture(side, across) if across else _own_picture(side, several) for side in sides]
    if len({_kind(picture) for picture in drawn}) == 1:
        return overlaid(names, drawn)
    charts = [_kind(picture) for picture in drawn if picture.name not in ANY_RUN]
    if not charts:
        return overlaid(names, [_write_picture(side, Across.BYTES) for side in sides])
    unlike = list(dict.fromkeys(side.recording.suite for side in sides))
    if len(unlike) > 1:
        hint = "draw the runs of each suite apart, or their write curves with --axis bytes"
        raise RecordingError(f"the charts of {' and '.join(unlike)} have no axis in common", hint)
    return _of_charts(names, drawn, charts[0])


def _of_charts(names: Sequence[Text], drawn: Sequence[Picture], chart: tuple[object, ...]) -> Picture:
    """The pictures of one chart, where the suite had nothing to answer with on some drives."""
    own = [(name, picture) for name, picture in zip(names, drawn, strict=True) if _kind(picture) == chart]
    lacking = [name for name, picture in zip(names, drawn, strict=True) if _kind(picture) != chart]
    together = overlaid([name for name, _ in own], [picture for _, picture in own])
    return replace(together, note=("no data", *lacking))


def _legend(sides: Sequence[Side]) -> list[Text]:
    """Names in a legend: without the drive where the title names it, with a word for a mode of the cache."""
    names = [side.name for side in sides]
    if _are_of_one_drive(sides):
        names = [name.removeprefix(f"{side.recording.drive}, ") for name, side in zip(names, sides, strict=True)]
    modes = [CACHE_MODE.search(name) for name in names]
    return [(Own(name), mode[1]) if mode else Own(name) for name, mode in zip(names, modes, strict=True)]


def _are_of_one_drive(sides: Sequence[Side]) -> bool:
    """Whether several sides are called by the one drive that all are of."""
    drive = sides[0].recording.drive
    return len(sides) > 1 and all(side.recording.drive == drive and side.name.startswith(drive) for side in sides)


def of_comparison(sides: Sequence[Side]) -> list[Picture]:
    """The charts of a comparison, with a line for each repeat: that of the suite, as far as all sides have one, then
    speed over time."""
    each = [
        replace(side, name=f"{side.name} ({number})" if len(side.repeats) > 1 else side.name, repeats=(recording,))
        for side in sides
        for number, recording in enumerate(side.repeats, 1)
    ]
    drawn = []
    with suppress(RecordingError):
        drawn.append(of_sides(each))
    moved = [side for side in each if curves.speed_by_time(side.recording).has_data]
    if moved and all(picture.name != "speed-time" for picture in drawn):
        over_time = [curves.speed_by_time(side.recording) for side in moved]
        drawn.append(overlaid(_legend(moved), over_time))
    return drawn


def _kind(picture: Picture) -> tuple[object, ...]:
    """Axes of a picture: those of the same kind have a place in one."""
    units = [panel.y.unit for panel in picture.panels]
    return (True, *dict.fromkeys(units)) if picture.has_bars else (False, picture.x.word, *units)


def _own_picture(side: Side, several: bool) -> Picture:
    """The chart of a side's suite, or of its results; else its write curve, or its speed over time.

    Args:
        several: there are other sides, beside which bars are read best.
    """
    imported = side.recording.facts.get("imported")
    if imported is not None and imported["rows"] and (drawn := _of_results(imported)).has_data:
        return drawn
    recording = side.recording
    suite = suites.of(recording)
    own = [picture for picture in suite.pictures(recording) if picture.has_data] if suite else []
    if own:
        return next((picture for picture in own if several and picture.has_bars), own[0])
    return _write_picture(side, Across.BYTES if recording.findings.get("phases") else Across.TIME)


def _of_results(imported: Imported) -> Picture:
    """Results of another program without a series, called as pslc's suite of the same tests calls them."""
    suite, rows = imported["suite"], imported["rows"]
    tests: dict[str, dict[str, object]] = {}
    for row in rows:
        if row["bytes_per_s"] is None:
            continue
        own, names = results.KEYS[suite](row) if suite in results.KEYS else ("", {})
        key = f"{results.MIX.get(row['kind'], row['kind'])}_bytes_per_s"
        test = own if own and names.get("bytes_per_s") == key else row["test"]
        tests.setdefault(test, {"test": test})[key] = row["bytes_per_s"]
    drawn = classic.bars(suite or "results", "Results", list(tests.values()))
    if drawn.has_data:
        return drawn
    bars = Bars("IOPS", [row["iops"] for row in rows])
    x = Axis("test", names=[(Own(row["test"]), row["kind"]) for row in rows])
    return Picture("results", "Results", x, (Panel(Axis("IOPS", "/s"), bars=[bars]),))


def _write_picture(side: Side, across: Across) -> Picture:
    recording = side.recording
    if across is Across.TIME:
        drawn = curves.speed_by_time(recording)
    else:
        drawn = curves.speed_by_bytes(recording, recording.findings.get("phases", []), across)
    if not drawn.has_data:
        lacks, hint = ("nothing was written, so there is no write curve", "draw --axis time")
        if across is Across.TIME:
            lacks, hint = "it has no series, so there is no curve", "leave --axis out"
        raise RecordingError(f"{side.name}: {lacks}", hint)
    return drawn


def bars_of_sides(sides: Sequence[Side], figure: str) -> Picture:
    """Bars of one figure of each side, the best first, with its interval.

    Args:
        figure: as `pslc compare` calls it: `mean`, `cache`, a row of a table.

    Raises:
        PslcError: no recording has this figure.
    """
    row = _row_called(figure, compare(sides, {}))
    measured = [(side.name, value) for side, value in zip(sides, row.figures, strict=True) if value is not None]
    measured.sort(key=lambda pair: pair[1].value, reverse=row.unit not in LOWER_IS_BETTER)
    # An interval that was measured: by repeats, or by the analysis of the cache's end.
    low, high = (
        [getattr(value, end) if len(value.samples) > 1 or row.unit == "B" else None for _, value in measured]
        for end in ("low", "high")
    )
    bars = Bars(Own(row.called), [value.value for _, value in measured], low, high)
    repeats = min(len(side.repeats) for side in sides)
    count = (Label("n = {}", repeats, ""),) if repeats > 1 else ()
    has_spread = any(a is not None and b is not None and a < b for a, b in zip(low, high, strict=True))
    title, axis = Own(f"{row.called[:1].upper()}{row.called[1:]}"), Axis(Own(row.called), row.unit)
    names = Axis("recording", names=[Own(name) for name, _ in measured])
    note = (WHISKERS, *count) if has_spread else ""
    return Picture("bars", title, names, (Panel(axis, bars=[bars]),), note=note)


def _row_called(figure: str, rows: Sequence[Compared]) -> Compared:
    """The row of a comparison with this name or label.

    Raises:
        RecordingError: there is none.
    """
    row = next((row for row in rows if figure in (row.name, row.called)), None)
    if row is None:
        names = [name for row in rows for name in dict.fromkeys((row.name, row.called))]
        close = closest_match(figure, names)
        hint = f'did you mean "{close}"?' if close else f"there are {', '.join(dict.fromkeys(r.name for r in rows))}"
        raise RecordingError(f'no recording has a figure "{figure}"', hint)
    return row


MAX_TITLE_LETTERS: Final = 48
"""Letters of the names of several recordings in a title; the legend has them, too."""


def about(sides: Sequence[Side]) -> About:
    """Caption of a picture of all sides: the drive, or what is compared, and the conditions that all have; in a line
    below what is to be known of their figures."""
    drive, conditions = _drive_and_conditions(sides)
    warnings = dict.fromkeys(
        f"{f'{side.name}: ' if len(sides) > 1 else ''}{str(warning).partition(': ')[0]}"
        for side in sides
        for warning in side.recording.findings.warnings
    )
    return About(drive, "\n".join(filter(None, (conditions, "; ".join(warnings)))))


def _drive_and_conditions(sides: Sequence[Side]) -> tuple[str, str]:
    first, *rest = (side.recording for side in sides)
    if not rest:
        is_told = CAPACITY.search(sides[0].name) or not first.drive_bytes
        size = "" if is_told else words.size(first.drive_bytes)
        return ", ".join(filter(None, (sides[0].name, size))), first.conditions
    # The legend tells apart what is of one drive.
    if _are_of_one_drive(sides):
        return first.drive, _shared_conditions(first, rest)
    names = " / ".join(side.name for side in sides)
    return names if len(names) <= MAX_TITLE_LETTERS else f"{len(sides)} recordings", _shared_conditions(first, rest)


def _shared_conditions(first: Recording, rest: Sequence[Recording]) -> str:
    """Conditions that all of several recordings have in common: the picture names the drives itself."""
    recordings = [first, *rest]
    lists = [recording.conditions.split(", ") for recording in recordings]
    shared = [condition for condition in lists[0] if all(condition in other for other in lists)]
    simulated: list[str] = []
    # Drives that are the same stand among the conditions.
    if all(recording.is_simulated for recording in recordings) and first.conditions.split(", ")[1] not in shared:
        simulated = ["simulated"] + [key for key in keys(first) if all(key in keys(recording) for recording in rest)]
    return ", ".join([*shared[:1], *simulated, *shared[1:]])


def plot(recording: Recording, across: str | None = None, *, style: Style | None = None) -> Drawing:
    """The picture of a recording, which a notebook shows: `pslc.plot(recording).save("fill.png")`.

    Args:
        across: x axis of the write curve: `bytes`, `percent` (of the drive) or `time`; None: what suits the suite.
        style: theme, language, logo and size.

    Raises:
        PslcError: Matplotlib is not installed (`pip install 'pslc[pictures]'`), nothing was written, or `recording` is
            none.
    """
    if not isinstance(recording, Recording):
        hint = "recording takes a pslc.Recording, as pslc.run and pslc.load return it"
        raise RecordingError(f"recording is {recording!r}", hint)
    side = Side(recording.drive, (recording,))
    return Drawing(of_sides([side], across_of(across)), about([side]), style)


def across_of(word: str | None) -> Across | None:
    """X axis by its name.

    Raises:
        PslcError: there is no such axis.
    """
    if word is not None and word not in list(Across):
        raise RecordingError(f'"{word}" is no axis of a picture', f"one of {', '.join(Across)}")
    return Across(word) if word else None
