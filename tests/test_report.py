"""Reports: what they say, and that they need nothing but themselves."""

import json
import re
from dataclasses import replace

import jinja2
import numpy as np
import pytest

import pslc
from pslc.analysis import sentences
from pslc.base import words
from pslc.device.region import Scope
from pslc.figures.document import About, document
from pslc.figures.picture import Axis, Line, Own, Panel, Picture
from pslc.fio import json_output as fio
from pslc.recording import store
from pslc.report import page, recording_view
from tests.conftest import fill

TARGET = "sim:pm871b-128gb"


def test_the_page_needs_no_network_and_has_every_picture():
    html = page.render(recording_view.of_recording(fill(TARGET)))
    outside = re.sub(r"<script>.*?</script>", "", html, flags=re.S)
    assert not re.search(r"(src|href)=", outside)
    for name in ("speed-bytes", "speed-time", "occupancy", "free", "amplification", "latency", "histogram"):
        assert f'id="{name}"' in html
    assert "The write cache ends after 3.0" in html
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html


@pytest.mark.parametrize(("is_kept", "folder"), [(True, "."), (False, "."), (True, "missing")])
def test_templates_are_compiled_once_where_python_may_keep_modules(is_kept, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "COMPILED", tmp_path / folder)
    monkeypatch.setattr("sys.dont_write_bytecode", not is_kept)
    make = page.environment.__wrapped__
    first = make().get_template("run.html.jinja")
    assert bool(list(tmp_path.glob("*.jinja"))) == (is_kept and folder == ".")
    if list(tmp_path.glob("*.jinja")):
        monkeypatch.setattr(jinja2.Environment, "_generate", None)
        again = make().get_template("run.html.jinja")
        assert again.root_render_func.__code__ == first.root_render_func.__code__


def test_the_pictures_hold_finite_numbers_of_one_length():
    for picture in recording_view.of_recording(fill(TARGET)).pictures:
        figure = document(picture, About("a drive", "a run"))
        for line in [line for panel in figure["panels"] for line in panel["lines"]]:
            assert len(line["x"]) == len(line["y"]) > 1
            assert {len(line["low"]), len(line["high"])} <= {0, len(line["x"])}
        json.dumps(figure, allow_nan=False)


def test_latencies_over_time_and_their_spread_are_those_of_the_run():
    recording = fill(TARGET)
    (job,) = recording.jobs
    latencies = job["write"]["lat_ns"]
    pictures = {picture.name: picture for picture in recording_view.of_recording(recording).pictures}
    over_time = {line.name: line.points[1] for line in pictures["latency"].lines}
    assert list(over_time) == ["mean", "median", "99 %", "99.9 %", "longest"]
    for lower, upper in (("median", "99 %"), ("99 %", "99.9 %"), ("99.9 %", "longest")):
        assert (over_time[lower] <= over_time[upper] * (1 + 1e-9)).all()
    (spread,) = pictures["histogram"].lines
    seconds, share = spread.points
    assert share.sum() == pytest.approx(1)
    assert latencies["min"] / 1e9 < seconds[share > 0].max() < 1.1 * latencies["max"] / 1e9
    half = seconds[np.searchsorted(np.cumsum(share), 0.5)]
    assert half == pytest.approx(latencies["percentile"]["50.000000"] / 1e9, rel=0.1)


def test_write_amplification_of_a_fold_is_one_and_a_half():
    pictures = {picture.name: picture for picture in recording_view.of_recording(fill("sim:aldrin-pro-2tb")).pictures}
    now, overall = (line.points[1] for line in pictures["amplification"].lines)
    assert abs(now[-1] - 1.5) < 0.02
    assert 1.2 < overall[-1] < 1.4


def test_a_page_of_a_run_without_writes_has_its_pictures(tmp_path):
    job = tmp_path / "read.fio"
    job.write_text("[a]\nrw=read\nbs=128k\nsize=1g\n")
    recording = pslc.run(job, on=TARGET)
    assert [picture.name for picture in recording_view.of_recording(recording).pictures] == [
        "speed-time", "latency", "histogram", "slowest", "heat",
    ]  # fmt: skip
    assert '<script type="module">' in page.render(recording_view.of_recording(recording))


def test_the_text_of_a_job_file_is_escaped(tmp_path):
    job = tmp_path / "odd.fio"
    job.write_text("[<b>odd</b>]\nrw=read\nbs=128k\nsize=1m\n")
    html = page.render(recording_view.of_recording(pslc.run(job, on=TARGET)))
    assert "<b>odd</b>" not in html
    assert "&lt;b&gt;odd" in html


def test_sizes_speeds_and_times_are_as_people_write_them():
    assert [words.size(n) for n in (0, 999, 4096, 3.02e9, 691e9, 2e12, 2e13)] == [
        "0 B", "999 B", "4.10 kB", "3.02 GB", "691 GB", "2000 GB", "20.0 TB",
    ]  # fmt: skip
    assert words.speed(6.6317e9) == "6632 MB/s"
    spans = {3e-7: "300 ns", 38.3e-6: "38.3 µs", 1.5e-3: "1.50 ms", 12.3: "12.3 s", 59.94: "59.9 s", 59.96: "1 min",
             74.54: "1 min 15 s", 119.6: "2 min", 1494: "24 min 54 s", 3599.6: "1 h", 7199: "2 h", 7300: "2 h 2 min",
             359_971: "4.17 days"}  # fmt: skip
    assert [words.span(seconds) for seconds in spans] == list(spans.values())


@pytest.mark.parametrize("on", ["sim:sn850-1tb,cache.mode=pure-xlc", "array:raid5,chunk=64k,4xmx500-1tb,scale=1/64"])
def test_a_drive_without_a_cliff_is_said_to_have_none(on):
    said = sentences.describe(fill(on).findings)
    assert said[0].startswith("No cliff")


def test_a_cache_that_was_full_from_the_start_is_no_drive_without_a_cliff():
    found = pslc.run("fill", on="sim:sn850-1tb", scope=Scope(fill_first=50)).findings
    assert sentences.describe(found)[0] == "No write cache is left: it was full from the start."
    assert [warning.code for warning in found["warnings"]] == ["used-up"]


def test_a_fall_that_is_no_cache_s_end_is_not_said_to_be_none():
    seconds = np.arange(1.0, 1201.0)
    falls = np.where(seconds < 300, 900e6, 300e6) * np.random.default_rng(1).normal(1, 0.02, seconds.size)
    found = pslc.analyze(seconds, falls, by="time", capacity_bytes=400e9, workload="random")
    assert sentences.describe(found.document())[0] == "No end of a cache: the speed fell for other reasons."
    level = pslc.analyze(seconds[:200], falls[:200], by="time", capacity_bytes=400e9, workload="random")
    assert sentences.describe(level.document())[0].startswith("No cliff")
    # Of a drive written at random no later phases of a fill are missing.
    assert [warning.code for warning in level.warnings] == ["random"]


def test_few_phases_are_told_one_after_the_other_and_of_many_the_extremes():
    findings = fill("sim:sn850-1tb").findings
    said = " ".join(sentences.describe(findings))
    speeds = [words.speed(phase.bytes_per_s) for phase in findings.phases]
    assert f"SLC cache {speeds[0]}; then mostly direct to native cells {speeds[1]}; then " in said
    assert f" {speeds[2]}. " in said
    assert f"Average: {words.speed(findings['fill_mean_bytes_per_s'])}." in said
    assert "No thermal throttling." in said
    cool = "Thermal throttling: 12.0 s, though no phase was slower for it."
    assert cool in " ".join(sentences.describe(findings | {"throttled_s": 12.0}))
    hot = findings | {"throttled_s": 12.0, "phases": [phase | {"cause": "thermal"} for phase in findings["phases"]]}
    assert "Thermal throttling: 12.0 s." in " ".join(sentences.describe(hot))
    assert "throttling" not in " ".join(sentences.describe(findings | {"throttled_s": None}))
    memory = findings["phases"][0] | {"cause": "dram", "bytes_per_s": 9e9}
    assert "9000" not in " ".join(sentences.describe(findings | {"phases": [memory, *2 * findings["phases"]]}))
    many = " ".join(sentences.describe(findings | {"phases": 2 * findings["phases"]}))
    assert f"Slowest: {speeds[1]} (mostly direct to native cells), " in many


def test_fios_json_has_the_figures_of_the_run(tmp_path):
    job = tmp_path / "mix.fio"
    job.write_text("[mix]\nrw=randrw\nrwmixread=70\nbs=4k\nsize=256m\nioengine=io_uring\niodepth=4\n")
    recording = pslc.run(job, on=TARGET)
    document = fio.document(recording)
    assert document["fio version"].startswith("pslc-")
    (found,) = document["jobs"]
    read, write = found["read"], found["write"]
    assert read["io_bytes"] + write["io_bytes"] == 256 << 20
    assert read["total_ios"] * 4096 == read["io_bytes"]
    seconds = recording.drive_time_s
    assert abs(read["bw_bytes"] / (read["io_bytes"] / seconds) - 1) < 0.01
    assert abs(read["iops"] * seconds / read["total_ios"] - 1) < 0.01
    latency = read["clat_ns"]
    assert latency["min"] <= latency["percentile"]["50.000000"] <= latency["percentile"]["99.000000"] <= latency["max"]
    assert latency["N"] == read["total_ios"]
    levels = found["latency_ns"] | found["latency_us"] | found["latency_ms"]
    assert sum(sum(found[f"latency_{unit}"].values()) for unit in ("ns", "us", "ms")) > 99.9, levels
    assert sum(found["iodepth_level"].values()) > 99.9


def test_pslc_report_makes_a_page_of_one_run_of_several_and_of_a_catalogue(command, tmp_path):
    for name in ("a", "b", "all/fill"):
        store.save(fill(TARGET), tmp_path / name)
    assert command("report", "a").stdout == "a/report.html\n"
    assert "The write cache ends after 3.0" in (tmp_path / "a" / "report.html").read_text()
    done = command.refused("report", "a", "b")
    assert "hint: add -o page.html" in done.stderr
    command.fine("report", "a", "b", "-o", "both.html")
    assert '<th scope="col" class="number">Samsung PM871b 128GB, b</th>' in (tmp_path / "both.html").read_text()
    command.fine("report", "a", "b", "-o", "both.html", "--label", "WD SN850, 25 C", "--label", "b")
    assert '<th scope="col" class="number">WD SN850, 25 C</th>' in (tmp_path / "both.html").read_text()
    command.refused("report", "a", "--label", "one", "--label", "two")
    command.fine("report", "all")
    html = (tmp_path / "all" / "report.html").read_text()
    assert "every test" in html
    assert html.index('id="summary"') < html.index('<section id="fill"')
    command.refused("report", "nothing")


def test_lines_differ_by_more_than_their_color_and_a_legend_names_ten():
    lines = [Line(Own(f"line {n}"), [0, 1], [n, n]) for n in range(14)]
    picture = Picture("p", "Speed over time", Axis("time", "s"), (Panel(Axis("speed", "B/s"), lines),))
    drawn = document(picture)
    assert len({(line["hue"], line["dash"]) for line in drawn["panels"][0]["lines"]}) == 14
    assert drawn["more"] == "4 more"
    ragged = Line("write", np.arange(1000.0), [1.0, 2.0] * 500)
    assert [replace(ragged, dash=dash).looks(3) for dash in (None, 2)] == [(3, 0), (3, 0)]


def test_a_page_is_small_whatever_its_lines():
    lines = [Line("write", np.arange(3000.0), np.random.default_rng(n).random(3000)) for n in range(60)]
    picture = Picture("p", "Speed over time", Axis("time", "s"), (Panel(Axis("speed", "B/s"), lines),))
    shown = recording_view.of_recording(fill(TARGET))
    assert len(page.render(shown)) < 300_000
    assert len(page.render(replace(shown, pictures=[picture]))) < 2_000_000


def test_the_tables_of_a_page_name_their_rows_and_columns():
    html = page.render(recording_view.of_recording(fill(TARGET)))
    for table in re.findall(r"<table>.*?</table>", html, flags=re.S):
        assert "<caption" in table
        assert 'scope="col"' in table
        assert 'scope="row"' in table
        assert not re.search(r"<th(?![^>]*scope=)(?!ead)", table)
    assert len(re.findall(r'role="figure" aria-label="[^"]+: [^"]+"', html)) == html.count('class="plot"')


def test_a_label_stands_for_the_drive(command, tmp_path):
    store.save(fill(TARGET), tmp_path / "a")
    command.fine("report", "a", "--label", "WD SN850, 25 C")
    html = (tmp_path / "a" / "report.html").read_text()
    assert "<h1>fill on WD SN850, 25 C</h1>" in html
    assert '"drive": "WD SN850, 25 C"' in html


def test_a_speed_of_next_to_nothing_is_not_0():
    assert [words.speed(speed) for speed in (0.0, 4096.0, 123456.0, 6632e6)] == [
        "0.00 MB/s",
        "4.10 kB/s",
        "0.12 MB/s",
        "6632 MB/s",
    ]


def test_no_two_pictures_of_power_have_one_name():
    recording = pslc.run("power", on="sim:pm871b-128gb", scope=Scope(quick=True))
    names = [picture.name for picture in recording_view.of_recording(recording).pictures]
    assert len(set(names)) == len(names)
