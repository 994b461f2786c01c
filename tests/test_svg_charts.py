"""Charts kept as SVG: the numbers in their lines, as several programs write them, and what is refused."""

import io
import random
import re

import pytest

from pslc import PslcError, formats
from pslc.schema.imports import ChartOptions, ImportOptions
from tests.formats import made

SPEEDS = [speed / 1e6 for speed in made.speeds()]
POINTS = list(enumerate(SPEEDS, 1))
SECONDS, LEVELS = range(0, 101, 25), range(0, 2001, 500)


def x(second, width=520):
    return second / 100 * width


def y(speed, height=400):
    return height - speed / 2000 * height


def path(points=POINTS, left=0.0, top=0.0):
    return "M" + " L".join(f"{left + x(s):.3f},{top + y(v):.3f}" for s, v in points)


def gnuplot():
    """Marks and labels in groups that are moved, the sample of the legend in the path of the line, long lines cut."""
    marks = "".join(
        f"<g><path stroke='black' d='M54,{16 + y(v)} L63,{16 + y(v)} M574,{16 + y(v)} L565,{16 + y(v)}'/>"
        f"<g transform='translate(45,{20 + y(v)})' text-anchor='end'><text><tspan> {v}</tspan></text></g></g>"
        for v in LEVELS
    ) + "".join(
        f"<g><path stroke='black' d='M{54 + x(s)},416 L{54 + x(s)},407'/>"
        f"<g transform='translate({54 + x(s)},438)' text-anchor='middle'><text><tspan> {s}</tspan></text></g></g>"
        for s in SECONDS
    )
    return (
        "<?xml version='1.0' encoding='utf-8'?><svg viewBox='0 0 600 480' xmlns='http://www.w3.org/2000/svg'>"
        f"<title>Gnuplot</title>{marks}<path stroke='black' d='M54,16 L54,416 L574,416 L574,16 L54,16 Z'/>"
        "<text transform='translate(17,230) rotate(270)'>Write speed (MB/s)</text><text x='9' y='470'>Time (s)</text>"
        f"<path fill='none' stroke='rgb(148,   0, 211)' d='M507,36 L550,36 {path(POINTS[:60], 54, 16)}'/>"
        f"<path fill='none' stroke='rgb(148,   0, 211)' d='{path(POINTS[59:], 54, 16)}'/></svg>"
    )


def plotly():
    """A grid without its outer lines, labels of thousands, and an area below the line."""
    labels = "".join(
        f'<text text-anchor="end" x="79" y="4.2" transform="translate(0,{100 + y(v)})">{v / 1000:g}k</text>'
        for v in LEVELS
    ) + "".join(
        f'<text text-anchor="middle" x="0" y="533" transform="translate({80 + x(s)},0)">{s}</text>' for s in SECONDS
    )
    grid = "".join(
        f'<path transform="translate(0,{100 + y(v)})" d="M80,0h520" style="stroke: #eee"/>' for v in LEVELS[1:4]
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 600">{grid}<g transform="translate(80,100)">'
        f'<path d="M0,400L{path()[1:]}L520,400Z" style="fill: rgb(31, 119, 180); stroke-width: 0;"/>'
        f'<path d="{path()}" style="fill: none; stroke: rgb(31, 119, 180); stroke-width: 2px"/></g>{labels}'
        '<text x="350" y="560">Time (s)</text>'
        '<text transform="rotate(-90,30,260)" x="30" y="260">Write (MB/s)</text></svg>'
    )


def d3():
    """Marks as lines, axes as brackets, numbers with commas, a named color."""
    ticks = "".join(f'<g transform="translate({x(s)},400)"><line y2="6"/><text y="9">{s}</text></g>' for s in SECONDS)
    ticks += "".join(f'<g transform="translate(0,{y(v)})"><line x2="-6"/><text x="-9">{v:,}</text></g>' for v in LEVELS)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="640"><g transform="translate(40,20)">'
        f'<g text-anchor="middle">{ticks}<path fill="none" stroke="#000" d="M0,406V400H520V406"/></g>'
        f'<path fill="none" stroke="steelblue" d="{path()}"/><text>write MB/s</text><text>time (s)</text></g></svg>'
    )


def matplotlib(labels=("Time (s)", "Write speed (MB/s)"), *, more=lambda axes: None):
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots()
    axes.plot(*zip(*POINTS, strict=True), label="A")
    axes.set(xlabel=labels[0], ylabel=labels[1])
    axes.legend()
    more(axes)
    out = io.StringIO()
    figure.savefig(out, format="svg")
    return out.getvalue()


PROGRAMS = {"gnuplot": gnuplot, "plotly": plotly, "d3": d3, "matplotlib": matplotlib}


def read(folder, text, *, series=(), **hints):
    file = folder / "chart.svg"
    file.write_text(text)
    return formats.read([file], ImportOptions(chart=ChartOptions(series=tuple(series)), **hints))


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_line_holds_the_numbers_that_were_drawn(program, tmp_path):
    data = read(tmp_path, PROGRAMS[program]())
    assert data.kind == "write"
    assert data.curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=2e-3)
    assert data.curve.total_seconds == pytest.approx(100, abs=0.01)
    assert data.curve.bytes_per_s / 1e6 == pytest.approx(SPEEDS, abs=2)
    assert "line of 100 points" in data.read_as


def test_points_that_were_left_out_of_a_straight_line_are_put_back(tmp_path):
    level = [(s, 1500.0) for s in range(1, 60)] + [(s, 300.0) for s in range(60, 101)]
    kept = [level[0], level[1], *level[58:60], level[-1]]
    data = read(tmp_path, d3().replace(path(), path(kept)))
    assert data.curve.bytes_per_s / 1e6 == pytest.approx([speed for _, speed in level], abs=1)


def test_units_are_those_of_the_titles_or_are_given_and_agree_with_the_labels(tmp_path):
    text = matplotlib(("Time", "Speed"))
    with pytest.raises(PslcError, match="no label tells the unit of --x"):
        read(tmp_path, text)
    data = read(tmp_path, text, x="0:100s", y="400:1800MB/s")
    assert data.curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=2e-3)
    with pytest.raises(PslcError, match=r"--x is 0:2000s, but its labels are not[\s\S]*--x 0:100GB"):
        read(tmp_path, text, x="0:2000s", y="400:1800MB/s")


def test_labels_with_units_need_no_title(tmp_path):
    text = re.sub(r"x=.-9.>([\d,]+)<", r'x="-9">\1 MB/s<', d3()).replace("write MB/s", "write")
    assert read(tmp_path, text).curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=2e-3)


def test_one_of_several_lines_is_named_by_its_color(tmp_path):
    text = matplotlib(more=lambda axes: axes.plot([1, 50, 100], [900, 900, 500]))
    with pytest.raises(PslcError, match="shows 2 curves: blue, orange"):
        read(tmp_path, text)
    assert read(tmp_path, text, series=["blue"]).curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=2e-3)


REFUSED = {
    "logarithmic": (lambda: matplotlib(more=lambda axes: axes.set_yscale("log")), "numbers along an y axis"),
    "second axis": (lambda: matplotlib(more=lambda axes: axes.twinx().plot([1, 100], [30, 70])), "no straight y axis"),
    "factor": (lambda: matplotlib(more=lambda axes: axes.plot([1, 9], [5e9, 4e9])), "1e9 beside an axis"),
    "bars": (lambda: d3().replace(path(), "M0,400V9H90V400Z"), "no line goes from the left to the right"),
    "marks": (lambda: d3().replace("<line", "<rect"), "no straight y axis"),
    "another plot": (lambda: d3().replace(path(), path([*POINTS[:50], (60, -9e3), (70, -9e3)])), "beyond"),
    "bits or bytes": (
        lambda: re.sub(r">([\d,]+)</text></g>", r">\1 Mb/s</text></g>", d3()).replace(" Mb/s", "", len(SECONDS)),
        "no label tells the unit of --y",
    ),
    "temperature": (
        lambda: d3().replace(
            "<text>write",
            "".join(
                f'<g transform="translate(520,{y(v)})"><line x2="6"/><text x="9">{v / 50} °C</text></g>' for v in LEVELS
            )
            + "<text>write",
        ),
        "two y axes",
    ),
    "clipped": (lambda: d3().replace(path(), path([*POINTS, (150, 400), (160, 400), (180, 400)])), "beyond its axes"),
    "entities": (lambda: '<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>', "declares entities"),
    "drawing": (lambda: d3().replace("<text>write", '<svg viewBox="0 0 1 1"/><text>write'), "drawing within a drawing"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_clear_is_refused_in_words(what, tmp_path):
    text, words = REFUSED[what]
    with pytest.raises(PslcError, match=words):
        read(tmp_path, text())


def test_a_damaged_chart_is_read_or_refused(tmp_path):
    pick = random.Random(58)
    for _ in range(100):
        text = PROGRAMS[pick.choice(("gnuplot", "plotly", "d3"))]()
        for _ in range(pick.choice((1, 3, 9))):
            at = pick.randrange(len(text))
            text = (
                text[:at]
                + pick.choice(("", "1e999", "-0", "nan", "99999999", "M", "z", "A", "<", '"'))
                + text[at + 2 :]
            )
        try:
            curve = read(tmp_path, text).curve
        except PslcError:
            continue
        assert curve is None or 0 < curve.total_bytes < 1e18
