"""Charts that are published as they are: what is written on them was measured, in each format, without a browser."""

import re
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

import pslc
from pslc.base import words
from pslc.base.errors import PslcError
from pslc.charts import draw, labels
from pslc.charts.chart import Bar, BarChart, Curve, CurveChart, smoothed
from pslc.charts.style import Axis, Language, Style, Theme
from pslc.recording import charting
from pslc.recording.comparison import Side, named
from tests.conftest import fill

DRIVES = ("pm871b-128gb", "600p-512gb", "660p-1tb")


def texts(chart, style=None):
    """What a reader sees written on a chart: every text that is visible."""
    from matplotlib.text import Text

    with draw._settings():
        figure = draw._figure(chart, style or Style())
        figure.draw_without_rendering()
        return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]


def sides(*drives):
    return named([Side(drive, (fill(f"sim:{drive}"),)) for drive in drives])


@pytest.mark.parametrize("drive", DRIVES)
def test_a_fill_has_drive_conditions_cache_and_the_speed_of_each_phase_written_on_it(drive):
    recording = fill(f"sim:{drive}")
    shown = "\n".join(text.get_text() for text in texts(recording.chart()))
    assert recording.drive in shown
    assert words.size(recording.drive_bytes) in shown
    assert recording.conditions in shown
    assert f"cache ends at {words.size(recording.findings['cache_bytes'])}" in shown
    for phase in recording.findings["phases"]:
        assert words.speed(phase["bytes_per_s"]) in shown


def test_no_label_lies_over_another_and_none_leaves_the_picture():
    for chart in (fill(f"sim:{DRIVES[0]}").chart(), charting.of_sides(sides(*DRIVES), Axis.PERCENT)):
        # Matplotlib has labels of ticks beyond the axis too, which it does not draw.
        visible = [text for text in texts(chart) if not text.get_text().isdigit()]
        boxes = [text.get_window_extent() for text in visible]
        for box in boxes:
            assert box.x0 >= 0
            assert box.y0 >= 0
            assert box.x1 <= 1600
            assert box.y1 <= 800
        labels_of_curve = [text.get_window_extent() for text in visible if getattr(text, "xyann", None)]
        for at, box in enumerate(labels_of_curve):
            assert not any(box.overlaps(other) for other in labels_of_curve[at + 1 :])


def test_the_curve_that_is_drawn_passes_through_the_speeds_of_the_phases():
    recording = fill(f"sim:{DRIVES[0]}")
    (curve,) = recording.chart().curves
    for stage in curve.stages:
        inside = (curve.x > stage.start) & (curve.x < stage.end)
        assert np.nanmedian(curve.y[inside]) == pytest.approx(stage.mb_per_s, rel=0.1)


@pytest.mark.parametrize(("kind", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"),
                                              ("html", b"<!doctype html>")])  # fmt: skip
def test_each_format_is_drawn_without_a_browser_and_the_same_again(kind, begins, monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", None)
    chart = fill(f"sim:{DRIVES[0]}").chart()
    data = draw.render(chart, kind)
    assert data.startswith(begins)
    assert draw.render(chart, kind) == data


def test_a_page_of_one_picture_needs_nothing_and_says_what_it_shows():
    recording = fill(f"sim:{DRIVES[0]}")
    page = draw.render(recording.chart(), "html").decode()
    assert not re.search(r'(src|href)="(?!#)', re.sub(r"<metadata>.*?</metadata>", "", page, flags=re.S))
    alt = re.search(r'aria-label="([^"]*)"', page)[1]
    assert f"cache ends at {words.size(recording.findings['cache_bytes'])}" in alt


def test_a_picture_is_as_large_as_was_asked():
    from io import BytesIO

    from PIL import Image

    data = draw.render(fill(f"sim:{DRIVES[0]}").chart(), "png", Style(width=1200, height=630))
    assert Image.open(BytesIO(data)).size == (1200, 630)


def test_smoothing_keeps_cliffs_where_they_are_and_the_mean_between_the_ends_of_the_band():
    x = np.arange(1.0, 3001.0)
    random = np.random.default_rng(1)
    y = np.where(x <= 1234, 3000.0, np.where(np.arange(3000) % 2, 400.0, 600.0)) + random.normal(0, 5, 3000)
    at, mean, low, high = smoothed(x, y, np.ones(3000), [1234.0])
    assert len(at) < 300
    assert (np.diff(at) > 0).all()
    assert (low <= mean).all()
    assert (mean <= high).all()
    assert mean[at <= 1234] == pytest.approx(3000, abs=10)
    assert ((mean[at > 1234] > 380) & (mean[at > 1234] < 620)).all()
    assert low[at > 1300] == pytest.approx(400, abs=20)
    assert high[at > 1300] == pytest.approx(600, abs=20)


@pytest.mark.parametrize("axis", [Axis.TIME, Axis.BYTES])
def test_the_line_of_a_drive_that_stalls_is_its_bytes_over_its_time(axis):
    recording = fill("sim:sn850-1tb,scale=1/32,cache.when_full=fold")
    (curve,) = charting.of_recording(recording, axis, "").curves
    steps, levels = np.diff(curve.x), (curve.y[1:] + curve.y[:-1]) / 2
    if axis is Axis.TIME:
        assert np.sum(steps * 60 * levels) * 1e6 == pytest.approx(recording.written_bytes, rel=0.03)
    else:
        assert np.sum(steps * 1e9 / (levels * 1e6)) == pytest.approx(recording.drive_time_s, rel=0.03)


def test_a_short_curve_over_time_has_an_axis_of_seconds():
    chart = charting.of_recording(fill("sim:sn850-1tb,scale=1/32,cache.when_full=fold"), Axis.TIME, "")
    assert "seconds" in text_of(chart)
    long = replace(chart, curves=tuple(replace(curve, x=curve.x * 100) for curve in chart.curves))
    assert "minutes" in text_of(long)


def text_of(chart) -> list[str]:
    """What is written on the chart."""
    return [text.get_text() for text in texts(chart)]


def test_recordings_of_one_drive_are_told_apart_by_the_keys_that_differ():
    names = [f"sim:sn850-1tb,scale=1/32{more}" for more in ("", ",cache.when_full=fold")]
    sides = named([Side("x", (fill(name),)) for name in names])
    assert [side.name for side in sides] == ["WD Black SN850 1TB", "WD Black SN850 1TB, cache.when_full=fold"]
    chart = charting.of_sides(sides, Axis.BYTES)
    assert chart.title == "WD Black SN850 1TB"
    assert "scale=1/32" in chart.conditions.split(", ")


def test_a_sparse_curve_is_drawn_as_it_is():
    x, y = np.arange(1.0, 21.0), np.linspace(100.0, 10.0, 20)
    at, same, low, high = smoothed(x, y, np.ones(20))
    assert (at is x, same is y, low, high) == (True, True, None, None)


def test_a_second_without_a_request_is_a_gap(tmp_path):
    job = tmp_path / "pause.fio"
    job.write_text("[a]\nrw=write\nbs=128k\nsize=200m\n[b]\nstonewall\nstartdelay=20\nrw=write\nbs=128k\nsize=200m\n")
    recording = pslc.run(job, on=f"sim:{DRIVES[0]}")
    minutes, speed = charting.speed_by_time(recording, "write")
    within = (minutes > 2 / 60) & (minutes < 19 / 60)
    if within.any():
        assert np.isnan(speed[within]).all()
    assert np.isfinite(speed).any()


def test_bars_are_sorted_with_the_best_first_and_show_the_spread_of_repeats_alone():
    chart = charting.bars_of_sides(sides(*DRIVES), "mean")
    values = [bar.value for bar in chart.bars]
    assert values == sorted(values, reverse=True)
    assert all(bar.low == bar.value == bar.high for bar in chart.bars)
    by_name = {side.name: side.recording.findings["fill_mean_bytes_per_s"] / 1e6 for side in sides(*DRIVES)}
    assert {bar.name: bar.value for bar in chart.bars} == pytest.approx(by_name)
    repeated = replace(fill(f"sim:{DRIVES[0]}"), seed=1)
    repeated.findings = type(repeated.findings)(repeated.findings | {"fill_mean_bytes_per_s": 190e6})
    pooled = [Side("twice", (fill(f"sim:{DRIVES[0]}"), repeated))]
    (bar,) = charting.bars_of_sides(pooled, "mean").bars
    assert bar.low < bar.value < bar.high


def test_times_have_the_smallest_at_the_top():
    chart = charting.bars_of_sides(sides(*DRIVES[:2]), "throttled")
    assert [bar.value for bar in chart.bars] == sorted(bar.value for bar in chart.bars)


def test_crystal_disk_mark_is_bars_of_its_table():
    recording = pslc.run("cdm", on=f"sim:{DRIVES[0]}", scope=pslc.Scope(quick=True))
    chart = recording.chart()
    assert isinstance(chart, BarChart)
    expected = {
        (row["test"], kind): row[f"{kind}_bytes_per_s"] / 1e6
        for row in recording.findings["cdm"]
        for kind in ("read", "write")
    }
    assert {(bar.name, bar.series): bar.value for bar in chart.bars} == pytest.approx(expected)
    shown = [text.get_text() for text in texts(chart)]
    assert all(words.speed(1e6 * value) in shown for value in expected.values())


def test_the_axis_is_bytes_percent_or_time():
    recording = fill(f"sim:{DRIVES[0]}")
    ends = {axis: recording.chart(axis).curves[0].x[-1] for axis in Axis}
    assert ends[Axis.BYTES] == pytest.approx(recording.written_bytes / 1e9)
    assert ends[Axis.PERCENT] == pytest.approx(100, abs=1)
    assert ends[Axis.TIME] == pytest.approx(recording.drive_time_s / 60, rel=0.01)
    with pytest.raises(PslcError, match="no axis"):
        recording.chart("furlongs")


@pytest.mark.parametrize("language", list(Language))
def test_every_language_has_every_word(language):
    assert set(labels.AXES[language]) == set(Axis)
    assert set(labels.CAUSES[Language.EN]) - {"unknown"} <= set(labels.CAUSES[language])
    for table in (labels.CACHE_END, labels.BAND, labels.SPREAD):
        assert table[language]
    shown = [text.get_text() for text in texts(fill(f"sim:{DRIVES[0]}").chart(), Style(language=language))]
    assert labels.AXES[language][Axis.BYTES] in shown


def contrast(color, ground):
    """Of WCAG 2: the ratio of relative luminances."""
    from matplotlib.colors import to_rgb

    def luminance(name):
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(name)]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(color), luminance(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", list(Theme))
def test_texts_and_curves_stand_out_from_the_ground(theme):
    palette = draw.PALETTES[theme]
    assert contrast(palette.ink, palette.ground) > 7
    assert contrast(palette.dim, palette.ground) > 4.5
    for number in range(len(draw.COLORS)):
        assert contrast(draw._color(Style(theme=theme), number), palette.ground) > 2.5


@pytest.mark.parametrize(("style", "fault"), [
    (Style(colors=("blu",)), '"blu" is no color'),
    (Style(width=99), "a width of 99 pixels"),
])  # fmt: skip
def test_a_style_that_cannot_be_drawn_is_refused(style, fault):
    with pytest.raises(PslcError, match=fault):
        draw.render(fill(f"sim:{DRIVES[0]}").chart(), "png", style)


def test_a_logo_that_is_no_picture_is_refused(tmp_path):
    (tmp_path / "logo.png").write_text("no picture")
    with pytest.raises(PslcError, match="is no picture"):
        draw.render(fill(f"sim:{DRIVES[0]}").chart(), "png", Style(logo=tmp_path / "logo.png"))


def test_names_are_text_and_no_markup():
    curve = Curve("$x^2$ <b>&", np.array([0.0, 1.0]), np.array([100.0, 100.0]))
    svg = draw.render(CurveChart("$a$ <script>", "&amp;", Axis.BYTES, (curve, curve)), "svg").decode()
    ET.fromstring(svg)
    page = draw.render(CurveChart("$a$ <script>", "", Axis.BYTES, (curve,)), "html").decode()
    assert "<script" not in page


def test_thirteen_curves_and_none_are_refused():
    curve = Curve("a", np.array([0.0, 1.0]), np.array([100.0, 100.0]))
    with pytest.raises(PslcError, match="13 curves"):
        draw.render(CurveChart("", "", Axis.BYTES, (curve,) * 13), "png")
    with pytest.raises(PslcError, match="no curve"):
        draw.render(CurveChart("", "", Axis.BYTES, ()), "png")
    with pytest.raises(PslcError, match="no figure"):
        draw.render(BarChart("", "", "", "", ()), "png")


def test_a_missing_figure_suggests_the_closest():
    with pytest.raises(PslcError, match='did you mean "mean"'):
        charting.bars_of_sides(sides(*DRIVES[:2]), "maen")


def test_bars_without_a_value_are_drawn():
    assert draw.render(BarChart("", "", "time", "s", (Bar("a", 0.0, 0.0, 0.0),)), "svg")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    place = tmp_path_factory.mktemp("runs")
    for drive in DRIVES[:2]:
        fill(f"sim:{drive}").save(place / drive)
    return place


def test_the_command_draws_one_and_several(folders, command, tmp_path):
    runs = [str(folders / drive) for drive in DRIVES[:2]]
    for name, options in {
        "one.svg": runs[:1], "two.pdf": [*runs, "--x", "percent", "--theme", "dark"],
        "time.png": [*runs, "--x", "time"],
        "bars.html": [*runs, "--bars", "mean", "--label", "A", "--label", "B"],
    }.items():  # fmt: skip
        done = command("picture", *options, "-o", str(tmp_path / name))
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() == str(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 4000
    refused = command("picture", runs[0], "-o", str(tmp_path / "one.gif"))
    assert refused.returncode == 2
    assert "pslc draws html, pdf, png, svg, not gif" in refused.stderr


def test_a_log_of_another_program_is_drawn_in_percent_once_its_capacity_is_known(command, folders, tmp_path):
    command("export", str(folders / DRIVES[0]), "--to", "fio", "-o", str(tmp_path))
    log = str(tmp_path / "agg-write_bw.log")
    refused = command("picture", log, "--x", "percent", "-o", str(tmp_path / "a.svg"))
    assert refused.returncode == 2
    assert "give --capacity 1TB" in refused.stderr
    done = command("picture", log, "--x", "percent", "--capacity", "128GB", "-o", str(tmp_path / "a.html"))
    assert done.returncode == 0, done.stderr
    assert "128 GB. write: cache ends at 3.0" in (tmp_path / "a.html").read_text()
