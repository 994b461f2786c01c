"""Pictures: one spec that every renderer draws, its words in each language, and what each suite shows."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from dataclasses import replace
from io import BytesIO
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

import pslc
from pslc import suites
from pslc.analysis import CAUSES, sentences
from pslc.base import words
from pslc.base.errors import PslcError
from pslc.figures import draw, reduce, text, vocabulary
from pslc.figures.document import About, document
from pslc.figures.picture import Axis, Bars, Label, Line, Mark, Own, Panel, Picture, Strip
from pslc.figures.style import PALETTES, Across, Language, Style, Theme, variables
from pslc.recording import store
from pslc.recording.comparison import Side, named
from pslc.recording.writes.findings import of_writes
from pslc.runner import pictures
from tests.conftest import ROOT, fill

DRIVES = ("pm871b-128gb", "600p-512gb", "660p-1tb")
GOLDEN = ROOT / "tests" / "fixtures" / "pictures"
SCRIPT = ROOT / "python" / "pslc" / "figures" / "figure.js"
SPEED, TIME = Axis("speed", "B/s"), Axis("time", "s")


def test_a_fast_phase_that_is_as_narrow_as_its_mark_is_drawn():
    x = np.linspace(0.0, 100e9, 201)
    line = Line("write", x, np.where(x <= 0.5e9, 500e6, 100e6))
    end = Mark(0.5e9, None, Label("cache ends at {}", 0.5e9, "B"))
    picture = Picture("cliff", "Write speed", Axis("written", "B"), (Panel(SPEED, [line], marks=[end]),))
    for ascii_only, mark in ((False, "┊"), (True, ":")):
        first = [row[5] for row in text.drawn(picture, 60, ascii_only=ascii_only)[2:-3]]
        assert set(first) > {mark}
        assert sum(cell != mark for cell in first) > 5, "from 500 MB/s down to 100"


def curve_with_everything():
    """A cliff, a band, a gap, the end of a cache, stages, a strip, a second panel."""
    x = np.linspace(0.0, 400e9, 41)
    y = np.where(x <= 120e9, 12_400e6, 900e6 + 200e6 * (np.arange(41) % 2))
    y[20:24] = np.nan
    line = Line("write", x, y, low=y * 0.9, high=y * 1.1)
    stages = [
        Mark(0.0, 12_400e6, Label("pslc", 12_400e6, "B/s"), 120e9),
        Mark(120e9, 1e9, Label("fold", 1e9, "B/s"), 400e9),
    ]
    end = Mark(120e9, None, Label("cache ends at {}", 120e9, "B"))
    panels = (Panel(SPEED, [line], marks=[end, *stages]), Panel(Axis("power", "W"), [Line("power", x, 3 + x / 400e9)]))
    strip = Strip("data in the cache", x, np.linspace(0.0, 1.0, 40))
    return Picture("curve", "Write speed by data written", Axis("written", "B"), panels, strip)


def bars_with_a_test_that_did_not_run():
    names = Axis("test", names=(Own("SEQ1M Q8T1"), Own("RND4K Q1T1")))
    series = [Bars("read", [7000e6, 60e6], [6900e6, None], [7100e6, None]), Bars("write", [5000e6, None])]
    return Picture("bars", "CrystalDiskMark-compatible", names, (Panel(SPEED, bars=series),), note=pictures.WHISKERS)


def two_logarithmic_axes():
    depths = [1, 4, 16, 64, 256]
    lines = [Line("randread", depths, [5e-5, 6e-5, 9e-5, 3e-4, 1.2e-3], "points"),
             Line("randwrite", depths, [1e-5, 2e-5, 7e-5, 2.5e-4, 1e-3], "points")]  # fmt: skip
    panel = Panel(Axis("mean latency", "s", log=10), lines)
    return Picture("log", "Random IOPS and latency by queue depth", Axis("queue depth", log=2), (panel,))


def long_names():
    """A band below the mean that it is of, and a legend of two rows."""
    x = np.linspace(0.0, 1e9, 9)
    lines = [Line(Own(f"A drive with a long name, cache.mode={mode}"), x, x / 10 + at, dash=at)
             for at, mode in enumerate(("pure-xlc", "dynamic-slc", "pure-slc"))]  # fmt: skip
    above = replace(lines[0], y=np.full(9, 900e6), low=x * 0, high=x * 0 + 1e6)
    panel = Panel(SPEED, [above, *lines[1:]], title=Own("words " * 30))
    return Picture("long", "Write speed by data written", Axis("written", "B"), (panel,))


def test_a_legend_is_read_from_left_to_right_and_no_curve_leaves_the_picture():
    picture = long_names()
    with draw._settings(Language.EN, as_text=True):
        (axes,) = draw._Canvas(document(picture), Style()).figure.axes
        names = [text.get_text() for text in axes.get_legend().get_texts()]
        # Matplotlib fills a legend of two columns column by column.
        assert [name[name.index("=") + 1 :] for name in names] == ["pure-xlc", "pure-slc", "dynamic-slc"]
        (title,) = axes.findobj(lambda artist: getattr(artist, "get_text", str)().startswith("words"))
        assert title.get_window_extent().x1 <= axes.get_legend().get_window_extent().x0
        assert axes.get_ylim()[1] > 900
        assert [line.get_zorder() for line in axes.lines] == [3, 3.1, 3.1]


PICTURES = {"curve": curve_with_everything, "bars": bars_with_a_test_that_did_not_run, "log": two_logarithmic_axes}


def of_script(figure):
    """What figure.js draws, as every page does."""
    program = f'import {{ svg }} from "{SCRIPT.as_uri()}"; import {{ readFileSync }} from "fs";'
    program += "console.log(svg(JSON.parse(readFileSync(0)), 700, { heading: true }).text)"
    done = subprocess.run(["node", "--input-type=module", "-e", program], input=json.dumps(figure), text=True,
                          capture_output=True, check=True)  # fmt: skip
    return done.stdout


RENDERERS = {
    "json": lambda picture: (
        json.dumps(document(picture, About("A drive", "fill")), indent=1, ensure_ascii=False) + "\n"
    ),
    "txt": lambda picture: "\n".join(text.drawn(picture, 90)) + "\n",
    "ascii": lambda picture: "\n".join(text.drawn(picture, 90, ascii_only=True)) + "\n",
    "svg": lambda picture: of_script(document(picture, About("A drive", "fill"))),
}


@pytest.mark.parametrize(("name", "kind"), [
    (name, kind) for name in PICTURES for kind in RENDERERS if name != "bars" or kind not in ("txt", "ascii")
])  # fmt: skip
def test_each_renderer_draws_the_golden_picture(name, kind):
    """`GOLDEN=write pytest tests/test_pictures.py -k golden` writes them anew; look at the difference."""
    if kind == "svg" and shutil.which("node") is None:
        pytest.skip("node is not installed")
    drawn, path = RENDERERS[kind](PICTURES[name]()), GOLDEN / f"{name}.{kind}"
    if os.environ.get("GOLDEN") == "write":
        path.write_text(drawn)
    assert drawn == path.read_text()


def texts(picture, style=None, about=About("A drive", "fill")):  # noqa: B008 immutable
    """What a reader sees written on a picture: every text that is visible."""
    from matplotlib.text import Text

    style = style or Style()
    figure = document(picture, about, style.language)
    with draw._settings(style.language, as_text=True):
        canvas = draw._Canvas(figure, style).figure
        canvas.draw_without_rendering()
        return [text for text in canvas.findobj(Text) if text.get_visible() and text.get_text().strip()]


def strings(node):
    """Every text in a document of JSON, but for names of the program's own."""
    if isinstance(node, dict):
        return [s for key, value in node.items() if key not in ("id", "style", "language") for s in strings(value)]
    return [s for value in node for s in strings(value)] if isinstance(node, list | tuple) else (
        [node] if isinstance(node, str) else [])  # fmt: skip


ANSWERED = {
    "fill": "sim:pm871b-128gb", "cdm": "sim:pm871b-128gb", "as-ssd": "sim:pm871b-128gb", "copy": "sim:pm871b-128gb",
    "qd-sweep": "sim:pm871b-128gb", "overwrite": "sim:pm871b-128gb", "mixed": "sim:pm871b-128gb",
    "power": "sim:pm871b-128gb", "thermal": "sim:sn850-1tb,scale=1/32", "recovery": "sim:pm871b-128gb",
    "atto": "sim:pm871b-128gb", "apps": "sim:pm871b-128gb", "hdtune": "sim:pm871b-128gb", "burst": "sim:pm871b-128gb",
    "niobench": "sim:pm871b-128gb", "second-pass": "sim:pm871b-128gb", "range-sweep": "sim:pm871b-128gb",
}  # fmt: skip
"""Suites whose chart answers their question within seconds, and a drive of which it does."""


@pytest.fixture(scope="module")
def runs():
    """The quick run of a suite, once."""
    kept = {}

    def run(suite):
        if suite not in kept:
            kept[suite] = pslc.run(suite, on=ANSWERED[suite], scope=pslc.Scope(quick=suite != "fill"))
        return kept[suite]

    return run


@pytest.mark.parametrize("suite", ANSWERED)
def test_no_renderer_prints_a_word_that_is_not_in_the_table(suite, runs, monkeypatch):
    """With a table in which each word stands in brackets, and data in braces, nothing else is left but numbers: in the
    document, in a terminal, on a page and in Matplotlib."""
    recording = runs(suite)
    table = vocabulary.table()
    bracketed = {key: {"en": f"⟦{entry.get('en', key)}⟧" if entry.get("en", key) else ""}
                 for key, entry in table["words"].items()}  # fmt: skip
    units = {key: {"en": f"⟦{entry.get('en', key)}⟧"} for key, entry in table["units"].items()}
    monkeypatch.setattr(vocabulary, "table", lambda: {**table, "words": bracketed, "units": units})
    monkeypatch.setattr(Own, "__str__", lambda self: f"⟪{str.__str__(self)}⟫")
    for picture in suites.of(recording).pictures(recording):
        if picture.has_data:
            on_page = re.findall(r'>([^<]+)<|aria-label="([^"]*)"', html.unescape(of_script(document(picture))))
            in_matplotlib = [drawn.get_text() for drawn in texts(picture, about=None)]
            shown = [*strings(document(picture)), *text.drawn(picture, 400), *chain(*on_page), *in_matplotlib]
            bare = " ".join(map(unbracketed, shown))
            # x and o are markers of lines in a terminal.
            found = {word for word in re.findall(r"[^\W\d_]+", bare) if not re.fullmatch("[xo]+", word)}
            assert found <= {"KiB", "MiB", "GiB", "B"}, picture.name


def unbracketed(string):
    """A text without what stands in brackets and braces."""
    while (shorter := re.sub(r"⟦[^⟦⟧]*⟧|⟪[^⟪⟫]*⟫", "", string)) != string:
        string = shorter
    return string


def test_every_word_is_in_every_language_and_each_cause_is_a_word():
    table = tomllib.loads(vocabulary.FILE.read_text())
    for word, entry in table["words"].items():
        missing = set(Language) - {Language.EN} - set(entry)
        assert not missing or not entry, (word, missing)
        for language, said in entry.items():
            assert said.count("{}") == word.count("{}"), (word, language)
    assert set(CAUSES) <= set(table["words"])


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ["Write speed by data written", "6,000", "speed (MB/s)", "cache ends at 3.02 GB", "pSLC cache"]),
        ("de", ["geschrieben (GB)", "Cache endet bei 3,02 GB", "direkt in native Zellen"]),
        ("pt", ["Velocidade de gravação por dados gravados", "cache termina em 3,02 GB"]),
        ("ru", ["записано (ГБ)", "кэш кончается на 3,02 ГБ", "ГБ"]),
        ("zh", ["已写入 (GB)", "缓存在 3.02 GB 用尽", "pSLC 缓存"]),
        ("es", ["la caché termina a los 3,02 GB"]),
        ("fr", ["écrit (Go)", "fin du cache à 3,02 Go"]),
    ],
)
def test_the_command_draws_in_the_language_of_lang_or_of_its_option(language, expected, folders, command, tmp_path):
    for number, (options, environment) in enumerate(
        [(["--language", language], {"LANG": "C"}), ([], {"LANG": f"{language}_XX.UTF-8", "LC_ALL": ""})]
    ):
        path = tmp_path / f"{number}.html"
        command.fine("picture", str(folders / DRIVES[0]), *options, "-o", str(path), **environment)
        page = path.read_text()
        assert f'<html lang="{language}">' in page
        shown = re.search(r'aria-label="([^"]*)"', page)[1] + "".join(t.get_text() for t in texts(
            pictures.of_sides(sides(DRIVES[0])), Style(language=Language(language))))  # fmt: skip
        for word in expected:
            assert word in shown or word == "6,000", word


def sides(*drives):
    return named([Side(drive, (fill(f"sim:{drive}"),)) for drive in drives])


@pytest.mark.parametrize("drive", DRIVES)
def test_a_fill_has_drive_conditions_cache_and_the_speed_of_each_phase_written_on_it(drive):
    recording = fill(f"sim:{drive}")
    drawing = pslc.plot(recording)
    shown = "\n".join(text.get_text() for text in texts(drawing.picture, about=drawing.about))
    assert recording.drive in shown
    assert recording.conditions in shown
    assert "ambient 25 °C" in recording.conditions
    assert f"cache ends at {words.size(recording.findings['cache_bytes'])}" in shown
    for phase in recording.findings["phases"]:
        assert words.speed(phase["bytes_per_s"]) in shown


def test_no_label_lies_over_another_and_none_leaves_the_picture():
    for picture in (pslc.plot(fill(f"sim:{DRIVES[0]}")).picture, pictures.of_sides(sides(*DRIVES), Across.PERCENT),
                    curve_with_everything(), bars_with_a_test_that_did_not_run(), long_names()):  # fmt: skip
        visible = texts(picture)
        for text_ in visible:
            box = text_.get_window_extent()
            assert box.x0 >= 0, text_
            assert box.y0 >= 0, text_
            assert box.x1 <= 1600, text_
            assert box.y1 <= 800, text_
        labels = [text.get_window_extent() for text in visible if getattr(text, "xyann", None)]
        for at, box in enumerate(labels):
            assert not any(box.overlaps(other) for other in labels[at + 1 :])


def test_the_curve_that_is_drawn_passes_through_the_speeds_of_the_phases():
    recording = fill(f"sim:{DRIVES[0]}")
    panel = pslc.plot(recording).picture.panels[0]
    x, y = panel.lines[0].points
    stages = [mark for mark in panel.marks if mark.end is not None]
    assert len(stages) == len(recording.findings["phases"])
    for stage in stages:
        inside = (x > stage.x) & (x < stage.end)
        assert np.nanmedian(y[inside]) == pytest.approx(stage.y, rel=0.1)


def test_smoothing_moves_no_level_of_a_region_that_is_overwritten(runs):
    """PM871b: 437 MB/s in its cache, 163 past it, with no phase that the suite tells."""
    recording = runs("overwrite")
    by_region, each, *_ = suites.of(recording).pictures(recording)
    rewritten, fast, slow = by_region.lines
    assert rewritten.points[1].tolist() == [row["bytes_per_s"] for row in recording.findings["overwrite"]]
    assert (fast.points[1][0], slow.points[1][0]) == pytest.approx((437e6, 163e6), rel=0.06)
    assert len(each.lines) > 1
    for line in each.lines:
        x, y = line.points
        assert y[(x > 0.3e9) & (x < 2.9e9)] == pytest.approx(437e6, rel=0.03)
        assert y[x > 3.3e9] == pytest.approx(163e6, rel=0.06)


@pytest.mark.parametrize("borders", [[1234.0], []])
def test_smoothing_keeps_cliffs_where_they_are_and_the_mean_between_the_ends_of_the_band(borders):
    x = np.arange(1.0, 3001.0)
    random = np.random.default_rng(1)
    y = np.where(x <= 1234, 3000.0, np.where(np.arange(3000) % 2, 400.0, 600.0)) + random.normal(0, 5, 3000)
    line = reduce.smoothed(Line("a", x, y), np.ones(3000), borders)
    (at, mean), low, high = line.points, line.low, line.high
    assert len(at) < 300
    assert (np.diff(at) > 0).all()
    assert (low <= mean).all()
    assert (mean <= high).all()
    assert mean[at <= 1220] == pytest.approx(3000, abs=10)
    assert ((mean[at > 1250] > 380) & (mean[at > 1250] < 620)).all()
    assert low[at > 1300] == pytest.approx(400, abs=20)
    assert high[at > 1300] == pytest.approx(600, abs=20)


@pytest.mark.parametrize("across", [Across.TIME, Across.BYTES])
def test_the_line_of_a_drive_that_stalls_is_its_bytes_over_its_time(across):
    recording = fill("sim:sn850-1tb,scale=1/32,cache.when_full=fold")
    x, y = pslc.plot(recording, across).picture.panels[0].lines[0].points
    steps, means = np.diff(x), (y[1:] + y[:-1]) / 2
    if across is Across.TIME:
        assert np.sum(steps * means) == pytest.approx(recording.written_bytes, rel=0.03)
    else:
        assert np.sum(steps / means) == pytest.approx(recording.drive_time_s, rel=0.03)


def test_thinning_keeps_peaks_and_gaps():
    y = np.sin(np.arange(10_000) / 900)
    y[5000], y[7000:7100] = 9.0, np.nan
    thin = reduce.thinned(Line("a", np.arange(10_000), y), 400)
    assert len(thin.points[0]) < 600
    assert np.nanmax(thin.points[1]) == 9.0
    assert np.isnan(thin.points[1]).any()


PAUSE = "[a]\nrw=write\nbs=128k\nsize=200m\n[b]\nstonewall\nstartdelay=20\nrw=write\nbs=128k\nsize=200m\n"


def test_time_without_work_is_a_gap_in_every_renderer(tmp_path, command):
    (tmp_path / "pause.fio").write_text(PAUSE)
    done = command("run", "pause.fio", "--on", f"sim:{DRIVES[0]}", "--save", "run")
    rows = [line.partition("│")[2] for line in done.stdout.splitlines() if "│" in line]
    columns = [all(row[at : at + 1] in ("", " ") for row in rows) for at in range(95)]
    assert columns.count(True) > 70, done.stdout
    # The mean is of the time in which there was work, not of 20 s of silence.
    assert re.search(r"Average while writing: 4\d\d MB/s", done.stdout), done.stdout
    figure = pslc.plot(pslc.load(tmp_path / "run"), "time").document()
    (line,) = figure["panels"][0]["lines"]
    assert None in line["y"]
    if shutil.which("node"):
        assert len(re.findall(r'<path class="stroke"[^>]*d="M', of_script(figure))) >= 2


def of_jobs(folder, text):
    """Recording of a job file that is called the same in each test."""
    (folder / "jobs.fio").write_text(text)
    return pslc.run(folder / "jobs.fio", on="sim:pm871b-128gb")


def test_a_pause_of_the_host_is_no_part_of_a_mean_but_a_stall_of_the_drive_is(tmp_path):
    paused, mixed = of_jobs(tmp_path, PAUSE), of_jobs(tmp_path, "[a]\nrw=rw\nbs=128k\nsize=4g\n")
    assert 400e6 < paused.findings["fill_mean_bytes_per_s"] < 500e6
    stalled = replace(paused, facts=paused.facts | {"stalls": [{"at_s": 1.0, "duration_s": 15.0, "step": 0}]})
    assert of_writes(stalled)["fill_mean_bytes_per_s"] == pytest.approx(paused.written_bytes / 15.9, rel=0.02)
    nothing = np.zeros_like(mixed.time["reads"])
    silence = mixed.time | dict.fromkeys(("reads", "writes", "trims"), nothing)
    same = of_writes(replace(mixed, time=silence))["fill_mean_bytes_per_s"]
    assert same == mixed.findings["fill_mean_bytes_per_s"], "no job paused, so what is empty is the drive's"


def test_a_mean_of_writes_is_of_the_time_of_the_jobs_that_wrote(tmp_path):
    write, read = ("rw={}\nbs={}\nsize=200m\n".format(*each) for each in (("write", "128k"), ("read", "4k")))
    alone, beside = (of_jobs(tmp_path, f"[a]\n{write}[b]\nstonewall\n{kind}") for kind in (write, read))
    assert beside.drive_time_s > 3 * alone.drive_time_s
    means = [each.findings["fill_mean_bytes_per_s"] for each in (alone, beside)]
    assert means[1] == pytest.approx(means[0], rel=0.15)
    assert "Average while writing: " in " ".join(sentences.describe(dict(beside.findings)))


def test_an_axis_of_time_has_the_unit_and_the_ticks_that_suit_it():
    for seconds, title, tick in (
        (100e-6, "time (µs)", "100"), (0.5, "time (ms)", "500"), (90, "time (s)", "60"), (1500, "time (min)", "20"),
        (7200, "time (min)", "120"), (5 * 3600, "time (h)", "5"), (9 * 86400, "time (days)", "8"),
    ):  # fmt: skip
        line = Line("write", [0.0, seconds], [1e6, 1e6])
        axis = document(Picture("a", "Speed over time", TIME, (Panel(SPEED, [line]),)))["x"]
        assert axis["title"] == title
        assert tick in [text for _, text in axis["ticks"]]
        assert axis["high"] * axis["by"] == pytest.approx(seconds, rel=0.02)


def test_a_logarithmic_axis_has_whole_decades_and_at_least_one():
    def ends(*values):
        panel = Panel(Axis("latency", "s", log=10), [Line("mean", np.arange(len(values)), values)])
        axis = document(Picture("a", "Mean latency over time", TIME, (panel,)))["panels"][0]["y"]
        return [text for _, text in axis["ticks"]]

    assert ends(3e-6, 450e-6) == ["1 µs", "10 µs", "100 µs", "1 ms"]
    assert ends(12e-3, 0.1) == ["10 ms", "100 ms"]
    assert ends(2.0, 300.0) == ["1 s", "10 s", "1 min", "10 min"]
    assert ends(5e-3, 5e-3) == ["1 ms", "10 ms"]


# Several runs of a suite.


def test_curves_of_modes_have_each_end_marked():
    targets = [f"sim:pm871b-128gb{more}" for more in ("", ",cache.mode=pure-xlc", ",cache.mode=pure-slc")]
    drawn = pictures.of_sides(named([Side("x", (fill(target),)) for target in targets]))
    marks = [[vocabulary.say(mark.label) for mark in line.marks] for line in drawn.panels[0].lines]
    slc = fill(targets[2])
    assert marks[0] == [f"cache ends at {words.size(fill(targets[0]).findings['cache_bytes'])}"]
    assert f"ends at {words.size(slc.written_bytes)}" in marks[2]
    assert len({line.hue for line in drawn.panels[0].lines}) == 3
    names = [vocabulary.say(line.name) for line in drawn.panels[0].lines]
    assert names == ["Samsung PM871b 128GB", "cache.mode=pure-xlc, no cache", "cache.mode=pure-slc, all cells as pSLC"]
    assert pictures.about(named([Side("x", (fill(target),)) for target in targets])).drive == "Samsung PM871b 128GB"


@pytest.mark.parametrize(("across", "shown"), [(Across.BYTES, "ends at 64.0 GB"), (Across.PERCENT, "ends at 50 %")])
def test_a_curve_that_ends_before_the_others_says_where_in_the_unit_of_its_axis(across, shown, tmp_path):
    part = of_jobs(tmp_path, "[w]\nrw=write\nbs=1m\nsize=50%\n")
    drawn = pictures.of_sides([Side("all", (fill("sim:pm871b-128gb"),)), Side("half", (part,))], across)
    assert shown in [vocabulary.say(mark.label) for mark in drawn.panels[0].lines[1].marks]


def test_a_preparation_tells_runs_of_one_drive_apart():
    empty = fill("sim:pm871b-128gb")
    half = replace(empty, scope={"fill_first": 50})
    together = named([Side("x", (empty,)), Side("y", (half,))])
    assert pictures.about(together).conditions.count("simulated") == 1
    assert [side.name for side in together] == [
        "Samsung PM871b 128GB", "Samsung PM871b 128GB, 50 % filled first",
    ]  # fmt: skip


def test_the_ratios_of_a_panel_have_as_many_digits_as_each_other():
    shares = Panel(Axis("bytes programmed"), bars=[Bars("write", [1.0, 0.0512, None])])
    names = Axis("reason", names=("fold", "gc", "in all"))
    (bars,) = document(Picture("a", "Write amplification", names, (shares,)))["panels"][0]["bars"]
    assert bars["texts"] == ["1.00", "0.05", "-"]


def test_one_job_file_that_writes_and_reads_has_no_picture_of_both_and_says_so(tmp_path):
    reads, writes = (of_jobs(tmp_path, f"[w]\nrw={rw}\nbs=1m\nsize=1g\n") for rw in ("read", "write"))
    with pytest.raises(PslcError, match="reads: nothing was written"):
        pictures.of_sides([Side("writes", (writes,)), Side("reads", (reads,))])


def test_two_runs_of_a_table_are_bars_beside_each_other_with_their_values(runs):
    first = runs("cdm")
    second = replace(first, findings=type(first.findings)(first.findings))
    not_run = {"write_bytes_per_s": 0.0}
    second.findings["cdm"] = [row | (not_run if not at else {}) for at, row in enumerate(first.findings["cdm"][:2])]
    drawn = pictures.of_sides([Side("A", (first,)), Side("B", (second,))])
    by_title = {panel.title: panel for panel in drawn.panels}
    assert list(by_title) == ["read", "write", "mix"]
    rows = first.findings["cdm"]
    rest = [None] * (len(rows) - 2)
    assert by_title["read"].bars[0].values == [row["read_bytes_per_s"] for row in rows]
    assert by_title["read"].bars[1].values == [
        *(row["read_bytes_per_s"] for row in rows[:2]),
        *[None] * (len(rows) - 2),
    ]
    # A row without any bar is not drawn.
    mixed = [at for at, row in enumerate(rows) if "mix_bytes_per_s" in row]
    assert [panel["rows"] for panel in document(drawn)["panels"]] == [list(range(len(rows)))] * 2 + [mixed]
    # What did not run has no bar and is "-", never 0.00.
    shown = [text.get_text() for text in texts(drawn)]
    assert "-" in shown
    assert not any(text.startswith("0.00") for text in shown)
    assert by_title["write"].bars[1].values == [None, rows[1]["write_bytes_per_s"], *rest]


def test_of_a_suite_that_one_run_could_not_answer_the_other_is_drawn(runs):
    with_cache = runs("recovery")
    without = replace(with_cache, findings=type(with_cache.findings)(with_cache.findings | {"recovery": []}))
    drawn = pictures.of_sides([Side("with", (with_cache,)), Side("without", (without,))])
    assert drawn.name == "recovery"
    assert vocabulary.say(drawn.note) == "no data, without"


def test_a_picture_with_a_band_says_what_it_is(runs):
    figure = pslc.plot(runs("thermal")).document()
    has_band = any(line["low"] for panel in figure["panels"] for line in panel["lines"])
    assert figure["note"].startswith("line: mean; band: 10 to 90 %, grey: the host writes or reads") == has_band
    assert has_band


def test_what_runs_do_not_share_and_what_limits_their_figures_stands_in_their_picture():
    targets = ("sim:pm871b-128gb,scale=1/64,computer=one-thread", "sim:600p-512gb,scale=1/64")
    shown = named([Side("x", (pslc.run("random-steady", on=on, scope=pslc.Scope(quick=True)),)) for on in targets])
    drawn = pictures.of_sides(shown)
    names = [line.name[0] for line in drawn.lines]
    assert {"Samsung PM871b 128GB, computer=one-thread", "Intel SSD 600p 512GB"} <= set(names)
    below = document(drawn, pictures.about(shown))["conditions"].splitlines()[1]
    assert below.startswith("Samsung PM871b 128GB, computer=one-thread: the drive is scaled to 1/64, ")
    drawn_texts = [of.get_text() for of in texts(drawn, about=pictures.about(shown))]
    assert [text for text in drawn_texts if below.startswith(text[:60])]


CHARTS = {
    "copy": ("bars", "duration"), "qd-sweep": ("queue depth", "IOPS", "mean latency"),
    "cdm": ("bars", "speed", "speed"), "thermal": ("time", "temperature", "power"),
    "recovery": ("idle time", "recovered cache"), "niobench": ("iteration", "speed", "speed", "speed"),
    "mixed": ("bars", "latency"), "power": ("bars", "power"),
}  # fmt: skip


@pytest.mark.parametrize("suite", CHARTS)
def test_the_picture_of_a_benchmark_is_its_own_chart(suite, runs):
    drawn = pslc.plot(runs(suite)).picture
    assert ("bars" if drawn.has_bars else drawn.x.word, *(panel.y.word for panel in drawn.panels)) == CHARTS[suite]
    assert drawn.name not in pictures.ANY_RUN


def test_the_times_at_which_a_hot_drive_worked_are_named_in_its_picture(runs):
    temperature, power = pslc.plot(runs("thermal")).picture.panels
    assert [mark.label for mark in temperature.marks] == ["writing what will be read", "writing", "reading"]
    assert [(mark.x, mark.end) for mark in temperature.marks] == [(mark.x, mark.end) for mark in power.marks]
    for mark in temperature.marks:
        start, end = np.interp([mark.x, mark.end], *temperature.lines[0].points)
        assert end > start + 5
    both = pictures.of_sides([Side("A", (runs("thermal"),)), Side("B", (runs("thermal"),))])
    marks = [[vocabulary.say(mark.label) for line in panel.lines for mark in line.marks] for panel in both.panels]
    assert marks == [["writing what will be read", "writing", "reading"] * 2, []]
    assert min(mark.y for line in both.panels[0].lines for mark in line.marks) > 20, "the drive is no colder than that"


def test_what_only_one_run_says_is_not_in_the_title_of_several(runs):
    recording = runs("as-ssd")
    changed = recording.findings | {"total_score": 1, "access_read_s": 1.0}
    edited = replace(recording, findings=type(recording.findings)(changed))
    titles = [vocabulary.say(pslc.plot(run).picture.title) for run in (recording, edited)]
    scores = [words.count(run.findings["total_score"]) for run in (recording, edited)]
    assert titles == [f"AS-SSD-compatible, speed of each test, score {score}" for score in scores]
    drawn = pictures.of_sides([Side("A", (recording,)), Side("B", (edited,))])
    assert vocabulary.say(drawn.title) == "AS-SSD-compatible, speed of each test"
    assert not drawn.note


def test_several_runs_of_niobench_are_bars_of_their_medians(runs):
    recording = runs("niobench")
    drawn = pictures.of_sides([Side("A", (recording,)), Side("B", (recording,))])
    assert [panel.title for panel in drawn.panels] == ["read", "write", "copy"]
    rows = [row for row in recording.findings["niobench"] if row["operation"] == "read"]
    places = [f"{row['scenario']}, {row['iterations']} iterations" for row in rows]
    assert [vocabulary.say(name) for name in drawn.x.names] == places
    assert [bars.values for bars in drawn.panels[0].bars] == [[row["median_bytes_per_s"] for row in rows]] * 2


def test_charts_of_suites_without_an_axis_in_common_are_not_drawn_as_a_third(runs):
    sides = [Side("A", (runs("fill"),)), Side("B", (runs("cdm"),))]
    with pytest.raises(PslcError, match="charts of fill and cdm") as refused:
        pictures.of_sides(sides)
    assert "--axis bytes" in refused.value.hint
    assert pictures.of_sides(sides, Across.BYTES).name == "speed-bytes"


def test_results_of_other_programs_become_bars(command, tmp_path):
    for name in ("cdm.txt", "asssd.txt"):
        shutil.copy(GOLDEN / name, tmp_path)
    command.fine("picture", "asssd.txt", "cdm.txt", "-o", "both.html")
    label = re.search(r'aria-label="([^"]*)"', (tmp_path / "both.html").read_text())[1]
    for said in ("Seq 507 MB/s", "4K 22.1 MB/s", "SEQ1M Q8T1 6982 MB/s", "RND4K Q1T1 250 MB/s", "asssd.txt", "cdm.txt"):
        assert said in label
    assert "Access" not in label
    assert " 0.00" not in label


# Bars of one figure.


def test_bars_are_sorted_with_the_best_first_and_show_the_spread_of_repeats_alone():
    (bars,) = pictures.bars_of_sides(sides(*DRIVES), "mean").panels[0].bars
    assert list(bars.values) == sorted(bars.values, reverse=True)
    assert set(bars.low) == {None}
    repeated = replace(fill(f"sim:{DRIVES[0]}"), seed=1)
    repeated.findings = type(repeated.findings)(repeated.findings | {"fill_mean_bytes_per_s": 190e6})
    drawn = pictures.bars_of_sides([Side("twice", (fill(f"sim:{DRIVES[0]}"), repeated))], "mean")
    (bars,) = drawn.panels[0].bars
    assert bars.low[0] < bars.values[0] < bars.high[0]
    assert vocabulary.say(drawn.note) == "whiskers: 90 % interval, n = 2"
    (times,) = pictures.bars_of_sides(sides(*DRIVES[:2]), "throttled").panels[0].bars
    assert list(times.values) == sorted(times.values)
    with pytest.raises(PslcError, match='did you mean "mean"'):
        pictures.bars_of_sides(sides(*DRIVES[:2]), "maen")


# Files.


@pytest.mark.parametrize(("kind", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"),
                                              ("html", b"<!doctype html>")])  # fmt: skip
def test_each_format_is_drawn_without_a_browser_and_the_same_again(kind, begins, monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", None)
    drawing = pslc.plot(fill(f"sim:{DRIVES[0]}"))
    data = drawing.to_bytes(kind)
    assert data.startswith(begins)
    assert drawing.to_bytes(kind) == data


def test_a_page_of_one_picture_needs_nothing_and_says_what_it_shows():
    recording = fill(f"sim:{DRIVES[0]}")
    page = pslc.plot(recording).to_bytes("html").decode()
    assert not re.search(r'(src|href)="(?!#)', re.sub(r"<metadata>.*?</metadata>", "", page, flags=re.S))
    alt = re.search(r'aria-label="([^"]*)"', page)[1]
    assert f"cache ends at {words.size(recording.findings['cache_bytes'])}" in alt


def test_a_picture_is_as_large_as_was_asked_and_bars_get_the_height_they_need(runs):
    from PIL import Image

    data = pslc.plot(fill(f"sim:{DRIVES[0]}"), style=Style(width=1200, height=630)).to_bytes()
    assert Image.open(BytesIO(data)).size == (1200, 630)
    both = pictures.of_sides([Side("A", (runs("cdm"),)), Side("B", (runs("cdm"),))])
    assert Image.open(BytesIO(draw.render(document(both), "png"))).size[1] > 800


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
    palette = PALETTES[theme]
    assert contrast(palette.ink, palette.paper) > 7
    assert contrast(palette.dim, palette.paper) > 4.5
    assert not [hue for hue in palette.hues if not (contrast(hue, palette.paper) > 3)]
    assert variables(theme).count("--hue") == int(re.search(r"HUES = (\d+)", SCRIPT.read_text())[1])


@pytest.mark.parametrize(("style", "fault"), [
    (Style(colors=("blu",)), '"blu" is no color'),
    (Style(width=99), "a width of 99 pixels"),
    (Style(logo=Path(__file__)), "is no picture"),
])  # fmt: skip
def test_a_style_that_cannot_be_drawn_is_refused(style, fault):
    with pytest.raises(PslcError, match=fault):
        pslc.plot(fill(f"sim:{DRIVES[0]}"), style=style).to_bytes()


def test_names_are_text_and_no_markup():
    line = Line(Own("$x^2$ <b>&"), [0.0, 1e9], [1e8, 1e8])
    picture = Picture("a", Own("$a$ <script>"), Axis("written", "B"), (Panel(SPEED, [line, line]),))
    figure = document(picture, About("&amp;", "</script>"))
    ET.fromstring(draw.render(figure, "svg").decode())
    assert "<script" not in draw.render(figure, "html").decode()
    if shutil.which("node"):
        ET.fromstring(of_script(figure))


def test_thirteen_curves_and_none_are_refused():
    line = Line("write", [0.0, 1.0], [100.0, 100.0])
    for count, fault in ((13, "13 curves"), (0, "nothing to draw")):
        with pytest.raises(PslcError, match=fault):
            draw.render(document(Picture("a", "", TIME, (Panel(SPEED, [line] * count),))), "png")


def test_an_axis_that_is_none_is_refused():
    recording = fill(f"sim:{DRIVES[0]}")
    ends = {across: pslc.plot(recording, across).picture.panels[0].lines[0].points[0][-1] for across in Across}
    assert ends[Across.BYTES] == pytest.approx(recording.written_bytes)
    assert ends[Across.PERCENT] == pytest.approx(1, abs=0.01)
    assert ends[Across.TIME] == pytest.approx(recording.drive_time_s, rel=0.01)
    with pytest.raises(PslcError, match="no axis"):
        pslc.plot(recording, "furlongs")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    place = tmp_path_factory.mktemp("runs")
    for drive in DRIVES[:2]:
        store.save(fill(f"sim:{drive}"), place / drive)
    return place


def test_the_command_draws_one_and_several(folders, command, tmp_path):
    runs = [str(folders / drive) for drive in DRIVES[:2]]
    for name, options in {
        "one.svg": runs[:1], "two.pdf": [*runs, "--axis", "percent", "--theme", "dark"],
        "time.png": [*runs, "--axis", "time"],
        "bars.html": [*runs, "--bars", "mean", "--label", "A", "--label", "B"],
    }.items():  # fmt: skip
        done = command.fine("picture", *options, "-o", str(tmp_path / name))
        assert done.stdout.strip() == str(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 4000
    refused = command.refused("picture", runs[0], "-o", str(tmp_path / "one.gif"))
    assert "pslc draws html, pdf, png, svg, not gif" in refused.stderr


def test_a_log_of_another_program_is_drawn_in_percent_once_its_capacity_is_known(command, folders, tmp_path):
    command("export", str(folders / DRIVES[0]), "--as", "fio", "-o", str(tmp_path))
    log = str(tmp_path / "agg-write_bw.log")
    refused = command.refused("picture", log, "--axis", "percent", "-o", str(tmp_path / "a.svg"))
    assert "give --capacity 1TB" in refused.stderr
    command.fine("picture", log, "--axis", "percent", "--capacity", "128GB", "-o", str(tmp_path / "a.html"))
    assert "share of the drive written" in (tmp_path / "a.html").read_text()
    for options, ends in (([], True), (["--workload", "random"], False), (["--link", "sata300"], False)):
        command.fine("picture", log, "--capacity", "128GB", *options, "-o", str(tmp_path / "b.html"))
        assert ("cache ends" in (tmp_path / "b.html").read_text()) == ends, options


def test_a_terminal_without_braille_gets_the_chart_in_ascii(folders):
    program = Path(sys.executable).parent / "pslc"
    done = subprocess.run([program, "compare", *(folders / drive for drive in DRIVES[:2])], capture_output=True,
                          env=os.environ | {"PYTHONIOENCODING": "ascii"}, check=True)  # fmt: skip
    shown = done.stdout.decode("ascii")
    assert "speed (MB/s)" in shown
    assert "?" not in shown
