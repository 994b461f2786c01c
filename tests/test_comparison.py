"""Recordings beside each other: figures, ratios, what is beyond the noise."""

import json
import re

import numpy as np
import pytest

import pslc
from pslc import suites
from pslc.device.region import Scope
from pslc.recording import comparison, metrics
from pslc.report.page import LARGEST
from tests.conftest import fill
from tests.test_formats import cliff
from tests.test_results import FIXTURES


def test_recordings_are_compared_figure_by_figure(command, tmp_path):
    fill("sim:pm871b-128gb").save(tmp_path / "a")
    fill("sim:pm871b-128gb").save(tmp_path / "same")
    pslc.run("fill", on="sim:pm871b-128gb,cache.static=6GB").save(tmp_path / "b")
    done = command("compare", "a", "same", "b", "--json")
    rows = {row["name"]: row for row in json.loads(done.stdout)["figures"]}
    assert rows["cache"]["ratios"] == pytest.approx([1, 1, 2], rel=0.03)
    assert rows["cache"]["differs"] == [False, False, True]
    assert rows["phase 2"]["differs"] == [False, False, False]
    shown = command("compare", "a", "b", "-o", "page.html")
    assert re.search(r"\b(1\.9|2\.0)\d+ times \*", shown.stdout)
    assert "* differs from the first by more than the noise" in shown.stdout
    assert "MB/s against GB written" in shown.stdout
    page = (tmp_path / "page.html").read_text()
    assert 'id="speed-bytes"' in page
    assert "* differs from the first by more than the noise." in page


def test_other_programs_data_are_compared_with_ours_and_with_each_other(command, tmp_path):
    cliff(tmp_path / "one_bw.1.log")
    cliff(tmp_path / "two_bw.1.log", share=0.5)
    rows = json.loads(command("compare", "one_bw.1.log", "two_bw.1.log", "--align", "bytes", "--json").stdout)[
        "figures"
    ]
    ratios = {row["name"]: row["ratios"][1] for row in rows}
    assert ratios["mean"] == pytest.approx(0.5, rel=0.01)
    assert ratios["phase 1"] == pytest.approx(0.5, rel=0.01)
    fill("sim:pm871b-128gb").save(tmp_path / "run")
    shown = command("compare", "run", "one_bw.1.log", "-o", "page.html")
    assert shown.returncode == 0, shown.stderr
    assert 'id="speed-bytes"' in (tmp_path / "page.html").read_text()


def test_results_without_a_series_are_compared_test_by_test(command, tmp_path):
    (tmp_path / "a.txt").write_text((FIXTURES / "cdm8.txt").read_text())
    (tmp_path / "b.txt").write_text((FIXTURES / "cdm8.txt").read_text().replace(" 5210.902 MB/s", " 2605.451 MB/s"))
    done = command("compare", "a.txt", "b.txt", "--json")
    rows = {row["name"]: row for row in json.loads(done.stdout)["figures"]}
    assert rows["cdm SEQ1M Q8T1, write speed"]["ratios"] == pytest.approx([1, 0.5])
    assert [name for name, row in rows.items() if row["differs"][1]] == ["cdm SEQ1M Q8T1, write speed"]


def test_repeats_are_pooled_with_their_spread(command, tmp_path):
    for seed in (1, 2):
        pslc.run("fill", on="sim:pm871b-128gb", seed=seed).save(tmp_path / f"seed{seed}")
    pslc.run("fill", on="sim:pm871b-128gb,cache.static=6GB").save(tmp_path / "other")
    done = command("compare", "seed1", "other", "seed2", "--pool", "--json")
    document = json.loads(done.stdout)
    assert document["sides"] == [
        {"name": "Samsung PM871b 128GB", "repeats": 2},
        {"name": "Samsung PM871b 128GB, cache.static=6GB", "repeats": 1},
    ]
    cache = next(row for row in document["figures"] if row["name"] == "cache")
    assert cache["values"][0] == pytest.approx(np.mean(cache["samples"][0]))
    assert cache["low"][0] <= min(cache["samples"][0])
    assert cache["high"][0] >= max(cache["samples"][0])
    assert cache["differs"] == [False, True]
    assert "(n = 2)" in command("compare", "seed1", "other", "seed2", "--pool").stdout


def test_the_repeats_within_a_folder_belong_to_it(command, tmp_path):
    fill("sim:pm871b-128gb").save(tmp_path / "run")
    fill("sim:pm871b-128gb").save(tmp_path / "run" / "repeat-2")
    fill("sim:pm871b-128gb").save(tmp_path / "other")
    document = json.loads(command("compare", "run", "other", "--json").stdout)
    assert [side["repeats"] for side in document["sides"]] == [2, 1]


def test_a_mean_of_repeats_is_known_as_well_as_they_agree():
    def figure(value):
        return {"mean": ("B/s", comparison.Figure(value, value, value))}

    (_, one) = comparison._pooled([figure(100.0), figure(104.0), figure(96.0)])["mean"]
    assert one.value == 100
    # Student's 2.92 times the deviation of 4 over the root of 3
    assert one.high - one.value == pytest.approx(2.92 * 4 / 3**0.5)


@pytest.mark.parametrize("align", ["bytes", "time"])
def test_curves_are_laid_over_each_other_by_bytes_or_time(align, command, tmp_path):
    fill("sim:pm871b-128gb").save(tmp_path / "a")
    pslc.run("fill", on="sim:pm871b-128gb,cache.static=6GB").save(tmp_path / "b")
    rows = json.loads(command("compare", "a", "b", "--align", align, "--json").stdout)["figures"]
    parts = [row for row in rows if " to " in row["name"]]
    assert len(parts) == 10
    # 3 GB more went in at 434 instead of 162 MB/s, all of it within the first tenth
    assert parts[0]["ratios"][1] > 1.1
    assert all(row["ratios"][1] == pytest.approx(1, abs=0.02) for row in parts[1:])


def test_a_figure_out_of_tolerance_is_exit_code_1(command, tmp_path):
    fill("sim:pm871b-128gb").save(tmp_path / "a")
    pslc.run("fill", on="sim:pm871b-128gb,cache.static=6GB").save(tmp_path / "b")
    (tmp_path / "loose.toml").write_text('mean = "10%"\n')
    (tmp_path / "tight.toml").write_text('cache = "5%"\n"*" = "50%"\n')
    assert command("compare", "a", "b", "--tolerance", "loose.toml").returncode == 0
    done = command("compare", "a", "b", "--tolerance", "tight.toml")
    assert done.returncode == 1
    assert "out of tolerance" in done.stdout
    for text, expected in (('speed = "5%"', "which no recording has"), ("mean = 5", "a percentage")):
        (tmp_path / "bad.toml").write_text(text)
        done = command("compare", "a", "b", "--tolerance", "bad.toml")
        assert done.returncode == 2
        assert expected in done.stderr
    assert command("compare", "a").returncode == 2


def test_what_is_shown_of_many_figures_fits_a_screen_and_says_what_is_left_out(command, tmp_path):
    for name in ("pm871b-128gb", "su630-480gb"):
        pslc.run("qd-sweep", on=f"sim:{name}", scope=Scope(quick=True)).save(tmp_path / name)
    figures = len(json.loads(command("compare", "pm871b-128gb", "su630-480gb", "--json").stdout)["figures"])
    (tmp_path / "limits.toml").write_text('"randwrite-64 write 99 % latency" = "0.1%"\n')
    done = command("compare", "pm871b-128gb", "su630-480gb", "--tolerance", "limits.toml")
    lines = done.stdout.splitlines()
    assert len(lines) <= 40
    assert max(len(line) for line in lines) <= 100
    assert "out of tolerance" in done.stdout, "what matters most is shown, however far down it is"
    (left,) = (int(line[1:].split()[0]) for line in lines if "more figures" in line)
    begin, end = (next(at for at, line in enumerate(lines) if line.startswith(word)) for word in ("figure ", "("))
    shown = end - begin - 1
    assert left + shown == figures


def names(command, *runs):
    done = command("compare", *runs, "--json")
    assert done.returncode == 0, done.stderr
    return [side["name"] for side in json.loads(done.stdout)["sides"]]


def test_recordings_are_called_by_their_drive_and_by_as_little_more_as_tells_them_apart(command, tmp_path):
    for at in ("a/fill", "b/fill"):
        fill("sim:pm871b-128gb").save(tmp_path / at)
    fill("sim:su630-480gb").save(tmp_path / "c" / "fill")
    pslc.run("fill", on="sim:pm871b-128gb,cache.static=6GB").save(tmp_path / "big")
    drive = "Samsung PM871b 128GB"
    assert names(command, "a/fill", "c/fill") == [drive, "ADATA SU630 480GB"]
    assert names(command, "a/fill", "big") == [drive, f"{drive}, cache.static=6GB"]
    assert names(command, "a/fill", "b/fill") == [f"{drive}, a/fill", f"{drive}, b/fill"]
    assert names(command, "a/fill", "a/fill") == [f"{drive}, 1", f"{drive}, 2"]
    assert names(command, "a/fill", "b/fill", "--label", "25 C", "--label", "40 C") == ["25 C", "40 C"]
    done = command("compare", "a/fill", "b/fill", "--label", "25 C")
    assert done.returncode == 2
    assert "1 labels for 2 recordings" in done.stderr


def test_catalogues_are_compared_suite_by_suite(command, tmp_path):
    for catalogue, drive in (("a", "sim:pm871b-128gb"), ("b", "sim:pm871b-128gb,cache.static=6GB")):
        for suite in ("fill", "burst"):
            pslc.run(suite, on=drive, scope=Scope(quick=True)).save(tmp_path / catalogue / suite)
    done = command("compare", "a", "b", "-o", "page.html", "--json")
    rows = {row["name"]: row for row in json.loads(done.stdout)["figures"]}
    assert rows["fill: cache"]["ratios"] == pytest.approx([1, 2], rel=0.03)
    assert "burst: buffer_bytes" in rows
    assert "Samsung PM871b 128GB: 2 suites on sim:pm871b-128gb\n" in command("compare", "a", "b").stdout
    labelled = command("compare", "a", "b", "--label", "old", "--label", "new").stdout
    assert "old: 2 suites on Samsung PM871b 128GB, sim:pm871b-128gb\n" in labelled
    page = (tmp_path / "page.html").read_text()
    assert page.index('id="summary"') < page.index('<section id="burst"') < page.index('<section id="fill"')
    assert 'id="fill-speed-bytes"' in page
    assert "figures of single jobs are left out" in page
    # One suite of a catalogue beside a run of it.
    rows = {row["name"] for row in json.loads(command("compare", "a", "b/burst", "--json").stdout)["figures"]}
    assert "burst: buffer_bytes" in rows
    assert not any(name.startswith("fill") for name in rows)


def test_a_page_of_catalogues_says_what_differs_and_folds_away_what_does_not(command, tmp_path):
    for catalogue, drive in (("a", "sim:pm871b-128gb"), ("b", "sim:su630-480gb")):
        for suite in ("atto", "cdm", "fill", "qd-sweep"):
            pslc.run(suite, on=drive, scope=Scope(quick=True)).save(tmp_path / catalogue / suite)
    done = command("compare", "a", "b", "-o", "page.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text()
    assert len(page) <= LARGEST
    drawn, shown = page.partition("const figures = ")[::2][::-1]
    shown = shown.partition("<body>")[2].partition("<script>")[0]
    figures, _ = json.JSONDecoder().raw_decode(drawn)
    # One for all suites, and one each with the lines of both drives.
    assert figures[0]["id"] == "overall"
    assert {figure["id"].split("-")[0] for figure in figures[1:]} == {"atto", "cdm", "fill", "qd"}
    for figure in figures:
        assert sum(line["showlegend"] for line in figure["data"]) <= 10
        if figure["id"] != "overall":
            names = " ".join(line["name"] for line in figure["data"])
            assert "Samsung PM871b" in names
            assert "ADATA SU630" in names
    headers = re.findall(r"<th\b[^>]*>", shown)
    assert all('scope="' in header for header in headers)
    assert shown.count("<table>") == shown.count("<caption")
    labels = re.findall(r'<th scope="row"[^>]*>([^<]*)', shown)
    assert "SEQ1M Q8T1, read speed" in labels
    assert "random read, queue depth 16, IOPS" in labels
    assert not [label for label in labels if "_" in label], "no key is shown"
    assert len(labels) < 250, "what single jobs did is left out"
    assert "the same within the noise</summary>" in shown
    lines = done.stdout.splitlines()
    assert len(lines) <= 40
    assert any(line.startswith("fill: ") for line in lines)
    assert any(line.startswith("qd-sweep: ") and "queue depth" not in line for line in lines)


@pytest.mark.parametrize("suite", suites.catalogue())
def test_every_finding_with_a_unit_has_a_name_for_people(suite):
    keys = {key for key in suite_keys(suite) if metrics._ending(key)[1] is not None}
    for key in keys:
        assert "_" not in metrics.label(key), key


def suite_keys(suite):
    """The keys that the docstrings of its findings name."""
    return re.findall(r"`([a-z0-9_]+)`", suites.load(suite).findings.__doc__ or "")


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("cache_bytes", "cache"),
        ("p99_s", "99 % latency"),
        ("write_score", "write score"),
        ("randread_most_iops", "random read highest IOPS"),
        ("min_bytes_per_s", "lowest speed"),
    ],
)
def test_a_finding_is_called_as_people_call_it(key, said):
    assert metrics.label(key) == said


def test_rows_are_told_apart_by_their_words_and_as_few_numbers_as_it_takes():
    rows = [
        {"kind": "randread", "depth": 1, "iops": 5.0, "verdict": "no"},
        {"kind": "randread", "depth": 4, "iops": 5.0, "verdict": "yes"},
    ]
    assert metrics._told_apart(rows) == ["random read, queue depth 1", "random read, queue depth 4"]
    assert metrics._told_apart([{**row, "test": str(row["depth"])} for row in rows])[0] == "random read, 1"
    assert metrics._told_apart([{"depth": 1}, {"depth": 1}]) == ["queue depth 1 1", "queue depth 1 2"]


def test_what_cannot_be_compared_is_named_without_errno(command, tmp_path):
    fill("sim:pm871b-128gb").save(tmp_path / "a" / "fill")
    (tmp_path / "empty").mkdir()
    for other, said in (("nothing", "no such folder or file"), ("empty", "has no series.parquet")):
        done = command("compare", "a/fill", other)
        assert done.returncode == 2
        assert said in done.stderr
        assert "Errno" not in done.stderr
    done = command("analyze", "a")
    assert "a holds 1 recordings" in done.stderr
