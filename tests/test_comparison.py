"""Recordings beside each other: figures, ratios, what is beyond the noise."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import pslc
from pslc import suites
from pslc.device.region import Scope
from pslc.recording import comparison, metrics, store
from pslc.recording.phase_pairs import phase_names
from tests.conftest import fill
from tests.test_formats import cliff
from tests.test_results import FIXTURES


def test_recordings_are_compared_figure_by_figure(command, tmp_path):
    store.save(fill("sim:pm871b-128gb"), tmp_path / "a")
    store.save(fill("sim:pm871b-128gb"), tmp_path / "same")
    store.save(pslc.run("fill", on="sim:pm871b-128gb,cache.static=6GB"), tmp_path / "b")
    done = command("compare", "a", "same", "b", "--json")
    rows = {row["name"]: row for row in json.loads(done.stdout)["figures"]}
    assert rows["cache"]["ratios"] == pytest.approx([1, 1, 2], rel=0.03)
    assert rows["cache"]["differs"] == [False, False, True]
    assert rows["phase 2"]["differs"] == [False, False, False]
    shown = command("compare", "a", "b", "-o", "page.html")
    assert re.search(r"\+(9\d|10\d) % \*", shown.stdout)
    assert "* differs from the first by more than the noise" in shown.stdout
    assert "speed (MB/s)" in shown.stdout
    page = (tmp_path / "page.html").read_text()
    assert 'id="speed-bytes"' in page
    assert "* differs from the first by more than the noise." in page


def test_two_runs_of_a_suite_are_compared_by_its_findings_in_percent_and_a_sentence(command, tmp_path):
    first = pslc.run("cdm", on="sim:pm871b-128gb", scope=Scope(quick=True))
    store.save(first, tmp_path / "a")
    second = pslc.run("cdm", on="sim:pm871b-128gb,cache.mode=pure-xlc", scope=Scope(quick=True))
    store.save(second, tmp_path / "b")
    # The mix was not run on one side, and one test on neither.
    document = json.loads((tmp_path / "b" / "run.json").read_text())
    for row in document["findings"]["cdm"]:
        row["mix_bytes_per_s"] = 0.0
    (tmp_path / "b" / "run.json").write_text(json.dumps(document))
    shown = command("compare", "a", "b", "--label", "A", "--label", "B").stdout
    (row,) = re.findall(r"^SEQ1M Q8T1, write speed +(.*)$", shown, re.M)
    assert re.fullmatch(r"\d+ MB/s +\d+ MB/s  -\d\d % \*", row)
    (mix,) = re.findall(r"^SEQ1M Q8T1, mixed speed +(.*)$", shown, re.M)
    # What was not measured is "-", and no star is set where the other side has no value.
    assert re.fullmatch(r"\d+ MB/s +-", mix)
    assert "0.00 MB/s" not in shown
    figures = json.loads(command("compare", "a", "b", "--json").stdout)["figures"]
    assert not any(any(row["differs"]) for row in figures if None in row["values"])
    assert re.search(r"B differs from A in \d+ of \d+ figures: .*write.* -\d+.* %", shown.replace("\n", " "))
    assert not re.search(r"^(read|write) SEQ1M", shown, re.M)
    assert re.search(r"\((\d+) figures of single jobs with --all\)", shown)
    assert len(command("compare", "a", "b", "--all", "--table", "csv").stdout.splitlines()) > len(
        command("compare", "a", "b", "--table", "csv").stdout.splitlines()
    )


def test_a_suite_that_seeks_no_cache_is_not_said_to_have_none(command, tmp_path):
    store.save(fill("sim:pm871b-128gb"), tmp_path / "fill")
    store.save(pslc.run("burst", on="sim:pm871b-128gb", scope=Scope(quick=True)), tmp_path / "burst")
    assert "The cache of" not in command.fine("compare", "fill", "burst").stdout
    store.save(fill("sim:pm871b-128gb,cache.mode=pure-xlc"), tmp_path / "bare")
    assert "cache.mode=pure-xlc does not." in " ".join(command.fine("compare", "fill", "bare").stdout.split())


def test_no_axis_follows_a_bin_of_one_completion(tmp_path, command):
    """Of a real drive a bin may hold what came back within a microsecond."""
    recording = fill("sim:pm871b-128gb")
    series = {name: column.copy() for name, column in recording.bytes.items()}
    at = len(series["end_ns"]) // 2
    series["end_ns"][at] = series["end_ns"][at - 1] + 1000
    for name in ("a", "b"):
        store.save(replace(recording, target="/dev/sdx", facts={"device": None}, bytes=series), tmp_path / name)
    shown = command("compare", "a", "b").stdout
    chart = shown.partition("speed (MB/s)")[2].partition("figure ")[0]
    assert max(int(tick.replace(",", "")) for tick in re.findall(r"^ *([\d,]+) │", chart, re.M)) < 1000


def test_other_programs_data_are_compared_with_ours_and_with_each_other(command, tmp_path):
    cliff(tmp_path / "one_bw.1.log")
    cliff(tmp_path / "two_bw.1.log", share=0.5)
    rows = json.loads(command("compare", "one_bw.1.log", "two_bw.1.log", "--align", "bytes", "--json").stdout)[
        "figures"
    ]
    ratios = {row["name"]: row["ratios"][1] for row in rows}
    assert ratios["mean"] == pytest.approx(0.5, rel=0.01)
    assert ratios["phase 1"] == pytest.approx(0.5, rel=0.01)
    store.save(fill("sim:pm871b-128gb"), tmp_path / "run")
    command.fine("compare", "run", "one_bw.1.log", "-o", "page.html")
    assert 'id="speed-bytes"' in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("causes", "keys"),
    [
        (["pslc fold", "pslc fold"], ["1 2", "1 2"]),
        (["pslc fold", "pslc direct fold"], ["1 2", "1 direct 2"]),
        (["pslc direct fold", "pslc fold"], ["1 2 3", "1 3"]),
        (["pslc direct fold", "link fold direct"], ["1 2 3", "1 3 direct"]),
        (["pslc direct", "pslc fold gc"], ["1 2", "1 2 gc"]),
        (["pslc", "dram pslc gc pslc gc", "gc"], ["1", "dram 1 gc pslc gc_2", "gc"]),
        (["pslc thermal", "pslc direct", "unknown"], ["1 2", "1 direct", "1"]),
        (["", "pslc"], ["", "pslc"]),
    ],
)
def test_phases_are_paired_by_kind_then_by_order(causes, keys):
    names = phase_names([own.split() for own in causes])
    shown = [" ".join(name.key.removeprefix("phase ").replace(" ", "_") for name in own) for own in names]
    assert shown == keys


def test_a_phase_without_a_partner_is_named_and_a_shared_one_tells_the_causes_of_both(command, tmp_path):
    store.save(fill("sim:sn850-1tb,cache.when_full=fold"), tmp_path / "fold")
    store.save(fill("sim:sn850-1tb"), tmp_path / "sold")
    document = json.loads(command("compare", "fold", "sold", "--label", "a", "--label", "b", "--json").stdout)
    labels = {row["name"]: row["label"] for row in document["figures"]}
    assert labels["phase 2"] == "speed of phase 2, fold/direct"
    assert "In b, not in a: speed of extra phase, native." in document["verdicts"]


@pytest.mark.parametrize("faster", [1.0, 1.03])
def test_three_per_cent_of_a_phase_are_found_however_its_bins_scatter(faster, command, tmp_path):
    for seed, times in ((1, 1.0), (2, faster)):
        rng = np.random.default_rng(seed)
        speed = np.repeat([2000.0, 500.0 * times], [300, 500]) * np.exp(rng.normal(0.0, 0.06, 800))
        rows = [f"{number},{each:.2f}" for number, each in enumerate(speed, 1)]
        (tmp_path / f"{seed}.csv").write_text("\n".join(["time_s,write MB/s", *rows]) + "\n")
    rows = json.loads(command("compare", "1.csv", "2.csv", "--json").stdout)["figures"]
    differs = {row["name"]: row["differs"][1] for row in rows}
    assert (differs["phase 1"], differs["phase 2"]) == (False, faster > 1)


def test_results_without_a_series_are_compared_test_by_test(command, tmp_path):
    (tmp_path / "a.txt").write_text((FIXTURES / "cdm8.txt").read_text())
    (tmp_path / "b.txt").write_text((FIXTURES / "cdm8.txt").read_text().replace(" 5210.902 MB/s", " 2605.451 MB/s"))
    done = command("compare", "a.txt", "b.txt", "--json")
    rows = {row["name"]: row for row in json.loads(done.stdout)["figures"]}
    assert rows["cdm SEQ1M Q8T1, write speed"]["ratios"] == pytest.approx([1, 0.5])
    assert [name for name, row in rows.items() if row["differs"][1]] == ["cdm SEQ1M Q8T1, write speed"]


def test_flushes_are_compared_and_what_no_load_tells_is_not(command, tmp_path):
    for name, rate in (("a.txt", 1426.09), ("b.txt", 96.6)):
        (tmp_path / name).write_text(f"CPU BOGOMIPS: 6451.20\nFSYNCS/SECOND: {rate}\n")
    figures = {row["name"]: row for row in json.loads(command("compare", "a.txt", "b.txt", "--json").stdout)["figures"]}
    assert figures["fsync flush mean latency"]["values"] == pytest.approx([1 / 1426.09, 1 / 96.6])
    assert figures["fsync flush mean latency"]["differs"][1]
    rows = "".join(f"{1772363202 + second},0,9e8\n" for second in range(40))
    (tmp_path / "c.csv").write_text(f'"dstat 0.7"\n"epoch","dsk/sda",\n"epoch","read","writ"\n{rows}')
    labels = [row["label"] for row in json.loads(command("compare", "c.csv", "c.csv", "--json").stdout)["figures"]]
    assert "write, fastest" in labels
    assert not any("latency" in label for label in labels)


def test_repeats_are_pooled_with_their_spread(command, tmp_path):
    for seed in (1, 2):
        store.save(pslc.run("fill", on="sim:pm871b-128gb", seed=seed), tmp_path / f"seed{seed}")
    store.save(pslc.run("fill", on="sim:pm871b-128gb,cache.static=6GB"), tmp_path / "other")
    done = command("compare", "seed1", "other", "seed2", "--pool", "--json")
    document = json.loads(done.stdout)
    assert document["sides"] == [
        {"name": "Samsung PM871b 128GB", "repeats": 2, "engine": None},
        {"name": "Samsung PM871b 128GB, cache.static=6GB", "repeats": 1, "engine": None},
    ]
    cache = next(row for row in document["figures"] if row["name"] == "cache")
    assert cache["values"][0] == pytest.approx(np.mean(cache["samples"][0]))
    assert cache["low"][0] <= min(cache["samples"][0])
    assert cache["high"][0] >= max(cache["samples"][0])
    assert cache["differs"] == [False, True]
    assert "(n = 2)" in command("compare", "seed1", "other", "seed2", "--pool").stdout


def test_the_repeats_within_a_folder_belong_to_it(command, tmp_path):
    store.save(fill("sim:pm871b-128gb"), tmp_path / "run")
    store.save(fill("sim:pm871b-128gb"), tmp_path / "run" / "repeat-2")
    store.save(fill("sim:pm871b-128gb"), tmp_path / "other")
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
    store.save(fill("sim:pm871b-128gb"), tmp_path / "a")
    store.save(pslc.run("fill", on="sim:pm871b-128gb,cache.static=6GB"), tmp_path / "b")
    rows = json.loads(command("compare", "a", "b", "--align", align, "--json").stdout)["figures"]
    parts = [row for row in rows if " to " in row["name"]]
    assert len(parts) == 10
    # 3 GB more went in at 434 instead of 162 MB/s, all of it within the first tenth
    assert parts[0]["ratios"][1] > 1.1
    assert not [row for row in parts[1:] if row["ratios"][1] != pytest.approx(1, abs=0.02)]


def test_a_figure_out_of_tolerance_is_exit_code_1(command, tmp_path):
    store.save(fill("sim:pm871b-128gb"), tmp_path / "a")
    store.save(pslc.run("fill", on="sim:pm871b-128gb,cache.static=6GB"), tmp_path / "b")
    (tmp_path / "loose.toml").write_text('mean = "10%"\n')
    (tmp_path / "tight.toml").write_text('cache = "5%"\n"*" = "50%"\n')
    command.fine("compare", "a", "b", "--tolerance", "loose.toml")
    done = command("compare", "a", "b", "--tolerance", "tight.toml")
    assert done.returncode == 1
    assert "out of tolerance" in done.stdout
    for text, expected in (('speed = "5%"', "which no recording has"), ("mean = 5", "a percentage")):
        (tmp_path / "bad.toml").write_text(text)
        done = command.refused("compare", "a", "b", "--tolerance", "bad.toml")
        assert expected in done.stderr
    command.refused("compare", "a")


def test_what_is_shown_of_many_figures_fits_a_screen_and_says_what_is_left_out(command, tmp_path):
    for name in ("pm871b-128gb", "su630-480gb"):
        store.save(pslc.run("qd-sweep", on=f"sim:{name}", scope=Scope(quick=True)), tmp_path / name)
    figures = len(json.loads(command("compare", "pm871b-128gb", "su630-480gb", "--json").stdout)["figures"])
    (tmp_path / "limits.toml").write_text('"randwrite-64 write 99 % latency" = "0.1%"\n')
    done = command("compare", "pm871b-128gb", "su630-480gb", "--tolerance", "limits.toml")
    lines = done.stdout.splitlines()
    assert len(lines) <= 40
    assert max(len(line) for line in lines) <= 100
    assert "out of tolerance" in done.stdout, "what matters most is shown, however far down it is"
    left = sum(int(line[1:].split()[0]) for line in lines if "more figures" in line or "single jobs" in line)
    begin, end = (next(at for at, line in enumerate(lines) if line.startswith(word)) for word in ("figure ", "("))
    shown = end - begin - 1
    assert left + shown == figures


def names(command, *runs):
    done = command.fine("compare", *runs, "--json")
    return [side["name"] for side in json.loads(done.stdout)["sides"]]


def test_recordings_are_called_by_their_drive_and_by_as_little_more_as_tells_them_apart(command, tmp_path):
    for at in ("a/fill", "b/fill"):
        store.save(fill("sim:pm871b-128gb"), tmp_path / at)
    store.save(fill("sim:su630-480gb"), tmp_path / "c" / "fill")
    store.save(pslc.run("fill", on="sim:pm871b-128gb,cache.static=6GB"), tmp_path / "big")
    drive = "Samsung PM871b 128GB"
    assert names(command, "a/fill", "c/fill") == [drive, "ADATA SU630 480GB"]
    assert names(command, "a/fill", "big") == [drive, f"{drive}, cache.static=6GB"]
    assert names(command, "a/fill", "b/fill") == [f"{drive}, a/fill", f"{drive}, b/fill"]
    for at in ("a/bw.log", "b/bw.log"):
        cliff(tmp_path / at)
    assert names(command, "a/bw.log", "b/bw.log") == ["a/bw.log", "b/bw.log"]
    assert names(command, "a/fill", "a/fill") == [f"{drive}, 1", f"{drive}, 2"]
    assert names(command, "a/fill", "b/fill", "--label", "25 C", "--label", "40 C") == ["25 C", "40 C"]
    done = command.refused("compare", "a/fill", "b/fill", "--label", "25 C")
    assert "1 labels for 2 recordings" in done.stderr


def test_catalogues_are_compared_suite_by_suite(command, tmp_path):
    for catalogue, drive in (("a", "sim:pm871b-128gb"), ("b", "sim:pm871b-128gb,cache.static=6GB")):
        for suite in ("fill", "burst"):
            store.save(pslc.run(suite, on=drive, scope=Scope(quick=True)), tmp_path / catalogue / suite)
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
            store.save(pslc.run(suite, on=drive, scope=Scope(quick=True)), tmp_path / catalogue / suite)
    done = command.fine("compare", "a", "b", "-o", "page.html")
    page = (tmp_path / "page.html").read_text()
    assert len(page) < 1_000_000
    shown, figures = page.partition('<script id="figures" type="application/json">')[::2]
    figures = json.loads(figures.partition("</script>")[0])
    # One for all suites, and one each with the lines of both drives.
    assert figures[0]["id"] == "overall"
    assert {figure["id"].split("-")[0] for figure in figures[1:]} == {"atto", "cdm", "fill", "qd"}
    for figure in figures:
        names = " ".join(one["name"] for panel in figure["panels"] for one in (*panel["lines"], *panel["bars"]))
        assert "Samsung PM871b" in names
        assert "ADATA SU630" in names
    headers = re.findall(r"<th\b[^>]*>", shown)
    assert not [header for header in headers if 'scope="' not in header]
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
    falls = [{"kind": "write", "cause": "", "note": "", "at_s": at} for at in (60.0, 80.0)]
    assert metrics._told_apart(falls) == ["write, at 1 min", "write, at 1 min 20 s"]
    assert metrics._told_apart([{"depth": 1}, {"depth": 1}]) == ["queue depth 1 1", "queue depth 1 2"]


def test_what_cannot_be_compared_is_named_without_errno(command, tmp_path):
    store.save(fill("sim:pm871b-128gb"), tmp_path / "a" / "fill")
    (tmp_path / "empty").mkdir()
    for other, said in (("nothing", "no such folder or file"), ("empty", "has no series.parquet")):
        done = command.refused("compare", "a/fill", other)
        assert said in done.stderr
        assert "Errno" not in done.stderr
    done = command("analyze", "a")
    assert "a holds 1 recordings" in done.stderr
