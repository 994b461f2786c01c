"""Curves are read back from pictures of charts, or refused in words."""

import importlib
import io
import json
import re

import numpy as np
import pytest
from benches.charts.draw import chart
from benches.charts.judge import judge
from PIL import Image

from pslc import formats
from pslc.base import gate
from pslc.base.errors import PslcError
from pslc.chart import refusals
from pslc.chart.colors import Color
from pslc.formats import _findings as imported
from pslc.schema.imports import ChartOptions, ImportOptions
from tests.conftest import ROOT

EXAMPLE = ROOT / "examples" / "chart.png"
RANGES = ("--x", "0:2000GB", "--y", "0:7000MB/s")
KINDS = (
    {"style": "default", "extra": "line"},
    {"style": "dark_background", "extra": "line"},
    {"style": "excel", "extra": "line"},
    {"style": "calc", "extra": "markers"},
    {"style": "plotly", "extra": "thick"},
    {"style": "plotly_dark", "extra": "line"},
    {"style": "sheets", "extra": "dots"},
    {"style": "seaborn-v0_8-darkgrid", "extra": "dashed"},
    {"style": "slate", "extra": "markers"},
    {"style": "bmh", "extra": "dots"},
    {"style": "default", "extra": "area"},
    {"style": "fast", "extra": "filled"},
)


def hints(**chart_options: object) -> ImportOptions:
    return ImportOptions("0:2000GB", "0:7000MB/s", chart=ChartOptions(**chart_options))  # type: ignore[arg-type]


def error(path, options: ImportOptions) -> str:
    with pytest.raises(PslcError) as raised:
        formats.read_each([path], options)
    return str(raised.value)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(kind.values()))
def test_a_chart_of_each_kind_is_read_within_a_percent_and_a_half_of_the_width_and_two_of_the_height(kind):
    verdict = judge(chart(SEEDS.get(tuple(kind.values()), 1), curves=1, size=(800, 500), **kind))
    assert verdict.outcome == "right", verdict


SEEDS: dict[tuple[str, ...], int] = {("plotly_dark", "line"): 3}
"""Seeds other than 1: there a thin curve in a JPEG is refused."""


@pytest.mark.parametrize(
    ("seed", "words"),
    [
        (8, "the legend seems to name 5 curves"),
        (118, "hidden by others"),
        (236, "is yellow is all over the plot"),
        (5819, "shades of one color, which may be one curve: #d61f24 (red), #993941 (brown)"),
    ],
)
def test_a_curve_behind_another_or_in_two_shades_is_refused_and_not_miscounted_in_silence(seed, words):
    verdict = judge(chart(seed))
    assert verdict.outcome == "refused", verdict
    assert words in verdict.why


@pytest.mark.parametrize("seed", [92, 38])
def test_a_curve_above_the_last_label_is_read_where_the_plot_has_no_upper_side(seed):
    verdict = judge(chart(seed))
    assert verdict.outcome == "right", verdict


@pytest.mark.parametrize("seed", [24, 49, 63])
def test_areas_that_are_filled_below_lines_are_no_curves_of_their_own(seed):
    verdict = judge(chart(seed))
    assert verdict.outcome == "right", verdict


def test_each_color_is_a_curve_with_its_cliff():
    curves = formats.read_each([EXAMPLE], hints())
    ends = {data.chart.name: imported.analyzed(data) for data in curves}
    assert ends["blue"]["cache_bytes_low"] < 440e9 < ends["blue"]["cache_bytes_high"]
    assert ends["orange"]["phases"][0]["bytes_per_s"] == pytest.approx(5050e6, rel=0.01)


def test_the_reading_error_is_in_every_interval():
    (data,) = formats.read_each([EXAMPLE], hints(series=["blue"]))
    found = imported.analyzed(data)
    pixel = 2000e9 / 687
    assert found["cache_bytes_high"] - found["cache_bytes_low"] > 2 * pixel
    assert found["fill_mean_bytes_per_s_low"] < found["fill_mean_bytes_per_s"] < found["fill_mean_bytes_per_s_high"]
    for phase in found["phases"]:
        assert phase["bytes_per_s_high"] - phase["bytes_per_s_low"] > 7000e6 / 355
        assert phase["from_bytes"] == 0 or phase["from_high"] - phase["from_low"] > 2 * pixel


@pytest.mark.parametrize("word", ["blue", "#1f77b4", "#2070b0", "steelblue"])
def test_a_curve_is_named_by_its_color(word):
    (data,) = formats.read_each([EXAMPLE], hints(series=[word]))
    assert data.chart.name == "blue"


def test_a_color_that_is_no_curve_is_refused_with_those_that_are():
    said = error(EXAMPLE, hints(series=["green"]))
    assert "--series green" in said
    assert "blue (#1f77b4)" in said


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        (None, "0:7000MB/s", "--x"),
        ("0:2000GB", None, "--y"),
        ("2000:0GB", "0:7000MB/s", "does not rise"),
        ("0:2000parsecs", "0:7000MB/s", "unit"),
        ("0:100%", "0:7000MB/s", "--capacity"),
        ("written=GB", "0:7000MB/s", "no range"),
        ("0:1.2.3GB", "0:7000MB/s", "no number"),
    ],
)
def test_what_the_axes_span_is_asked_for_in_words(x, y, words):
    said = error(EXAMPLE, ImportOptions(x, y))
    assert words in said
    assert "hint: " in said


def test_a_range_that_does_not_fit_the_marks_is_refused():
    assert "does not fit the marks" in error(EXAMPLE, ImportOptions("0:1700GB", "0:7000MB/s"))


def test_a_frame_that_is_given_is_where_the_ranges_are():
    whole = hints(series=["blue"])
    half = ImportOptions("0:1000GB", "0:7000MB/s", chart=ChartOptions(series=["blue"], frame="80,37,423.5,391"))
    ends = [imported.analyzed(formats.read_each([EXAMPLE], one)[0])["cache_bytes"] for one in (whole, half)]
    assert ends[1] == pytest.approx(ends[0], rel=0.01)


@pytest.mark.parametrize("frame", ["1,2,3", "a,b,c,d", "10,10,12,300", "nan,0,100,100"])
def test_a_frame_that_is_none_is_refused(frame):
    assert "--frame" in error(EXAMPLE, hints(frame=frame))


def test_time_and_percent_of_the_drive_are_axes_too():
    timed = formats.read_each([EXAMPLE], ImportOptions("0:2000s", "0:7000MB/s", chart=ChartOptions(["blue"])))[0]
    assert timed.curve.total_seconds == pytest.approx(2000, rel=0.01)
    options = ImportOptions("0:100%", "0:7000MB/s", capacity_bytes=2e12, chart=ChartOptions(["blue"]))
    share = formats.read_each([EXAMPLE], options)[0]
    assert share.curve.total_bytes == pytest.approx(2e12, rel=0.01)


def picture(path, pixels):
    Image.fromarray(np.asarray(pixels, dtype=np.uint8)).save(path)
    return path


def test_a_picture_without_a_chart_is_refused(tmp_path):
    noise = np.random.default_rng(1).integers(0, 255, (400, 600, 3))
    assert "frame" in error(picture(tmp_path / "noise.png", noise), hints())
    assert "frame" in error(picture(tmp_path / "white.png", np.full((400, 600, 3), 255)), hints())
    assert "at least 200" in error(picture(tmp_path / "icon.png", np.zeros((64, 64, 3))), hints())


def test_two_curves_of_one_color_are_refused(tmp_path):
    drawn = np.array(Image.open(EXAMPLE).convert("RGB")).astype(int)
    orange = np.abs(drawn - (255, 127, 14)).max(axis=2) < 100
    drawn[orange & (drawn[..., 0] - drawn[..., 2] > 60)] = (31, 119, 180)
    assert "curve" in error(picture(tmp_path / "one.png", drawn), hints())


def test_a_logarithmic_axis_is_refused(tmp_path):
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 5), dpi=100)
    axes.plot([0, 1000, 1010, 2000], [6000, 6000, 900, 900])
    axes.set_yscale("log")
    axes.set_xlim(0, 2000)
    axes.set_ylim(100, 10000)
    axes.grid(which="both")
    figure.savefig(tmp_path / "log.png")
    plt.close(figure)
    said = error(tmp_path / "log.png", ImportOptions("0:2000GB", "100:10000MB/s"))
    assert "marks" in said


def test_without_pillow_the_error_says_what_to_install(monkeypatch):
    module = importlib.import_module("pslc.chart")
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    said = error(EXAMPLE, hints())
    assert 'pip install "pslc[pictures]"' in said


def test_damaged_and_hostile_pictures_end_in_an_error_of_one_process(tmp_path):
    whole = EXAMPLE.read_bytes()
    (tmp_path / "cut.png").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.png").write_text("not a picture")
    (tmp_path / "empty.jpg").write_bytes(b"")
    bomb = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(bomb, "PNG")
    (tmp_path / "bomb.png").write_bytes(bomb.getvalue())
    for name in ("cut.png", "text.png", "empty.jpg", "bomb.png"):
        assert "no picture that can be read" in error(tmp_path / name, hints()), name
    assert "16,000,000" in error(tmp_path / "bomb.png", hints())


def test_a_transparent_picture_is_laid_over_white(tmp_path):
    Image.new("RGBA", (300, 200), (255, 0, 0, 0)).save(tmp_path / "clear.png")
    assert (gate.picture(tmp_path / "clear.png", formats.FILE) == 255).all()


def test_analyze_writes_the_overlay_and_the_tables_which_pslc_reads_again(command, tmp_path):
    words = ("analyze", str(EXAMPLE), *RANGES, "--overlay", "read.png", "--csv", "curve.csv", "--json")
    done = command.fine(*words, "--label", "Drive A", "--label", "Drive B")
    documents = json.loads(done.stdout)
    assert [document["name"] for document in documents] == ["Drive A", "Drive B"]
    overlay = np.array(Image.open(tmp_path / "read.png"))
    assert overlay.shape == np.array(Image.open(EXAMPLE).convert("RGB")).shape
    again = json.loads(command("analyze", "curve-blue.csv", "--json").stdout)
    ends = {round(document["findings"]["cache_bytes"] / 5e9) for document in (*documents, again)}
    assert len(ends) == 2


def test_compare_and_report_take_a_picture_as_recordings(command, tmp_path):
    done = command.fine("compare", str(EXAMPLE), *RANGES, "--json")
    assert len(json.loads(done.stdout)["sides"]) == 2
    done = command.fine("report", str(EXAMPLE), *RANGES, "--series", "blue", "--label", "Drive A", "-o", "page.html")
    assert "Drive A" in (tmp_path / "page.html").read_text()
    assert (tmp_path / "page.chart.png").exists()
    done = command.refused("report", str(EXAMPLE), *RANGES)
    assert "-o" in done.stderr


def test_a_fit_of_several_curves_asks_for_one(command):
    done = command.refused("fit", str(EXAMPLE), *RANGES, "--capacity", "2TB")
    assert "--series" in done.stderr


def plot(path, draw):
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 5), dpi=100)
    axes.set(xlim=(0, 600), ylim=(0, 7000))
    axes.grid()
    draw(axes)
    figure.savefig(path)
    plt.close(figure)
    return path


def two_axes(axes):
    axes.plot([0, 59, 60, 600], [6000, 6000, 1500, 1500])
    right = axes.twinx()
    right.plot(range(601), [35 + 40 * (1 - 2.718 ** (-s / 120)) for s in range(601)], "C3")
    right.set_ylim(20, 90)


def test_a_second_axis_is_said_and_its_curve_is_no_speed(tmp_path):
    path = plot(tmp_path / "dual.png", two_axes)
    options = ImportOptions("0:600s", "0:7000MB/s")
    assert "the right axis has marks of its own" in error(path, options)
    (curve,) = formats.read_each([path], ImportOptions("0:600s", "0:7000MB/s", chart=ChartOptions(["blue"])))
    assert curve.curve.total_bytes == pytest.approx(60 * 6e9 + 540 * 1.5e9, rel=0.02)


def test_bars_are_no_curve(tmp_path):
    path = plot(tmp_path / "bars.png", lambda axes: axes.bar([80, 190, 300, 410, 520], [6e3, 6e3, 4e3, 3e3, 3e3], 70))
    assert "5 blue bars, which are no curve" in error(path, ImportOptions("0:600s", "0:7000MB/s"))


def test_marks_in_narrow_groups_are_no_bars():
    core = np.zeros((40, 60), dtype=bool)
    core[10:, 4:17:4] = core[10:, 34:47:4] = True
    refusals.refuse_bars([(Color((0, 0, 255), 255.0, core), None)])  # type: ignore[list-item]


SECONDS = np.arange(0, 601, 5.0)
FALLING = np.where(SECONDS < 200, 5000.0, 1500.0)


def stacked(axes):
    axes.stackplot(SECONDS, np.full(SECONDS.size, 800.0), FALLING)


def above_another_panel(axes):
    axes.set_position((0.1, 0.55, 0.8, 0.4))
    axes.grid(visible=False)
    axes.plot(SECONDS, FALLING)
    below = axes.figure.add_axes((0.1, 0.08, 0.8, 0.4), xlim=(0, 600), ylim=(0, 90))
    below.plot(SECONDS, 40 + SECONDS / 30, "C3")


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (stacked, "is an area with a lower edge"),
        (above_another_panel, "as in a picture of several panels"),
    ],
)
def test_a_picture_with_more_than_one_curve_over_one_axis_is_refused(tmp_path, draw, words):
    assert words in error(plot(tmp_path / "chart.png", draw), ImportOptions("0:600s", "0:7000MB/s"))


def test_a_window_around_a_chart_is_no_frame(tmp_path):
    chart_path = plot(tmp_path / "chart.png", lambda axes: (axes.grid(visible=False), axes.plot(SECONDS, FALLING)))
    window = Image.new("RGB", (1600, 1000), (240, 240, 240))
    window.paste(Image.open(chart_path), (30, 80))
    assert "may be another box" in error(
        picture(tmp_path / "window.png", window), ImportOptions("0:600s", "0:7000MB/s")
    )


def test_one_panel_of_several_is_read_by_its_frame(tmp_path):
    path = plot(tmp_path / "panels.png", above_another_panel)
    (curve,) = formats.read_each(
        [path], ImportOptions("0:600s", "0:7000MB/s", chart=ChartOptions(frame="90,25,810,225"))
    )
    assert curve.curve.total_bytes == pytest.approx(200 * 5e9 + 400 * 1.5e9, rel=0.02)


def test_a_curve_that_waves_within_a_pixel_says_how_far_its_mean_may_be_off(tmp_path):
    speeds = np.random.default_rng(58).uniform(1000, 4000, 6000)
    path = plot(tmp_path / "band.png", lambda axes: axes.plot(np.linspace(0, 600, 6000), speeds, lw=0.5))
    (curve,) = formats.read_each([path], ImportOptions("0:600s", "0:7000MB/s"))
    (caution,) = curve.of_level("warning")
    assert re.search(r"goes up and down within a pixel, so its mean may be off by 1\d{3} MB/s", caution)
    assert np.median(curve.chart.speed_error) > 1e9


def cliff(fast: float, end: float, folding: tuple[float, float]) -> tuple[list[float], list[float]]:
    """A curve over 600 GB whose speed falls at `end`, and then turns to and fro."""
    x, speeds = [0.0, end], [fast, fast]
    for number in range(12):
        start, to = end + 1 + number * (599 - end) / 12, end + (number + 1) * (599 - end) / 12
        x += [start, to]
        speeds += [folding[number % 2]] * 2
    return x, speeds


def black_with_dips(axes):
    axes.plot([0, 60, 65, 70, 270, 275, 280, 300, 302, 600], [5600, 5600, 900, 5600, 5600, 900, 5600, 5600, 1700, 1700],
              color="#222222", lw=3)  # fmt: skip


def turns_over_a_dotted_grid(axes):
    axes.grid(ls=":", color="#cccccc")
    axes.plot(*cliff(2100, 300, (850, 400)), color="#0b5394", lw=2)


def turns_beside_dots(axes):
    axes.set_facecolor("#0b0a32")
    axes.figure.set_facecolor("#ece9d8")
    axes.grid(color="#3a3a6a")
    places = np.random.default_rng(2).uniform((0, 0), (600, 1400), (250, 2)).T
    axes.plot(*places, ".", color="#ffff00", ms=2)
    axes.plot(*cliff(5900, 300, (2000, 950)), color="#71cbf8", lw=2.5)


@pytest.mark.parametrize("draw", [black_with_dips, turns_over_a_dotted_grid, turns_beside_dots])
@pytest.mark.parametrize("suffix", ["png", "jpg"])
def test_grids_and_dots_are_no_curve_and_the_cache_ends_where_the_drawn_one_does(tmp_path, draw, suffix):
    path = plot(tmp_path / f"chart.{suffix}", draw)
    dotted = ["#71cbf8"] if draw is turns_beside_dots else []
    (curve,) = formats.read_each([path], ImportOptions("0:600GB", "0:7000MB/s", chart=ChartOptions(dotted)))
    findings = imported.analyzed(curve)
    assert curve.curve.total_bytes == pytest.approx(600e9, rel=0.01)
    assert findings["cache_bytes_low"] <= 301e9 <= findings["cache_bytes_high"], findings
    assert findings["cache_bytes"] == pytest.approx(301e9, rel=0.01)


def test_a_picture_makes_nothing_surer_than_charts_are_read_right(tmp_path):
    path = plot(tmp_path / "sure.png", lambda axes: axes.plot([0, 300, 310, 600], [6e3, 6e3, 1e3, 1e3]))
    findings = imported.analyzed(formats.read([path], ImportOptions("0:600GB", "0:7000MB/s")))
    assert max(findings["cache_confidence"], *(phase["confidence"] for phase in findings["phases"])) == 0.95
    assert findings["cache_bytes_high"] - findings["cache_bytes_low"] >= 10e9
