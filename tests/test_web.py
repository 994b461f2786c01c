"""The static page: the same answers as the native build, and a page that works from a disk, by keyboard, on a phone."""

import html
import itertools
import json
import math
import random
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from types import SimpleNamespace

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from benches.page_questions import (
    MODULE,
    PAGE,
    ROOT,
    answers,
    drives_of_parts,
    question_of,
    questions,
    resolved,
    turned_at_random,
    unlike_the_command,
)

import pslc
from pslc.device import parts
from pslc.device.profiles import library
from pslc.device.target import find_target
from pslc.lab import page_data
from tests.conftest import needs_chromium
from tests.lab_client import LabClient

SIZES = {"MB": 1e6, "GB": 1e9, "TB": 1e12}
ROW = ".run > table tbody tr"

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not PAGE.is_file() or not shutil.which("node"), reason="make web has not built the page"),
]


def test_a_browser_computes_what_the_native_build_does_to_the_byte():
    lines = "".join(json.dumps(question) + "\n" for question in questions(60, 1))
    native = subprocess.run(["cargo", "run", "--quiet", "--package", "pslc-web", "--example", "answers"], cwd=ROOT,
                            input=lines, capture_output=True, text=True, check=True)  # fmt: skip
    browser = subprocess.run(["node", str(ROOT / "web/answers.mjs"), str(MODULE)], input=lines, capture_output=True,
                             text=True, check=True)  # fmt: skip
    assert native.stdout.split() == browser.stdout.split()
    assert len(set(native.stdout.split())) > 40


def _bins(answer):
    """Edges of its bins in bytes moved, and the speed of each bin."""
    curve = answer["curve"]
    widths = np.add(curve["write_bytes"], curve["read_bytes"])
    return np.concatenate(([0], np.cumsum(widths))), widths / np.diff([answer["start_ns"], *curve["end_ns"]]) * 1e9


@pytest.fixture(scope="module")
def fills():
    """Of drives, policies, random settings and drives of parts: questions, and answers that are not refusals."""
    asked = questions(30, 5) + drives_of_parts(30, 5)
    pairs = zip(asked, (reply["answer"] for reply in answers(asked)), strict=True)
    return [(question, answer) for question, answer in pairs if "curve" in answer]


def test_the_speed_of_a_phase_is_the_mean_of_the_curve_over_its_range(fills):
    assert len(fills) > 90
    for question, answer in fills:
        edges, speeds = _bins(answer)
        for phase in answer["phases"]:
            inside = (edges[:-1] >= phase["from_bytes"]) & (edges[1:] <= phase["to_bytes"])
            # A bin across an end has a speed in between.
            if inside.sum() > 4:
                inside[np.flatnonzero(inside)[[0, -1]]] = False
            if inside.any():
                seconds = np.diff(edges)[inside] / speeds[inside]
                mean = np.diff(edges)[inside].sum() / seconds.sum()
                assert phase["bytes_per_s"] == pytest.approx(mean, rel=0.04), (question["overrides"], phase)


def test_no_phase_is_of_two_speeds(fills):
    """A fiftieth of a curve within a phase has the phase's speed, but for ripple of a cache that is reused."""
    worst = []
    for _, answer in fills:
        edges, speeds = _bins(answer)
        times_s = np.concatenate(([0.0], np.cumsum(np.diff(edges) / speeds)))
        width = len(speeds) // 50
        for phase in answer["phases"]:
            first, last = np.add(np.searchsorted(edges, [phase["from_bytes"], phase["to_bytes"]]), (2, -3))
            starts = np.arange(first, last - width)
            if starts.size:
                means = (edges[starts + width] - edges[starts]) / (times_s[starts + width] - times_s[starts])
                worst.append(np.abs(np.log(means / phase["bytes_per_s"])).max())
    assert np.quantile(worst, 0.99) < 0.15
    assert max(worst) < 0.3


def test_phases_end_where_the_analysis_of_the_same_fill_ends_them(fills, tmp_path):
    """But for what memory takes in at the start, which fits into few bins of the page."""
    profile, off_bins = tmp_path / "drive.toml", []
    for question, answer in fills[:49]:
        profile.write_text(question["profile"])
        overrides = "".join(f",{key}={value}" for key, value in question["overrides"])
        recording = pslc.run("fill", on=f"sim:{profile},scale=1/{question['denominator']}{overrides}")
        edges, _ = _bins(answer)
        ends = np.array([phase["to_bytes"] for phase in answer["phases"]])
        edges, ends = (question["denominator"] * of for of in (edges, ends))
        phases = recording.findings["phases"]
        for phase, after in itertools.pairwise(phases):
            memory = phase["cause"] == "page-cache" or phase["to_bytes"] < edges[2]
            if not memory and abs(math.log(phase["bytes_per_s"] / after["bytes_per_s"])) > math.log(1.2):
                off_bins.append(np.abs(ends - phase["to_bytes"]).min() / np.diff(edges).max())
    assert len(off_bins) > 40
    assert np.quantile(off_bins, 0.9) < 1
    assert max(off_bins) < 5


def test_the_module_is_small():
    packed = subprocess.run(["gzip", "-9c", str(MODULE)], capture_output=True, check=True).stdout
    assert len(packed) <= 400_000


def test_a_drive_of_4_tb_and_the_copies_that_answer_first_take_at_most_200_mb():
    slugs = {"990-pro-4tb": 1, "990-evo-plus-2tb": 16, "nm790-2tb": 32, "t705-2tb": 32}
    asked = [question_of(library()[slug], slug, denominator=denominator) for slug, denominator in slugs.items()]
    megabytes = [reply["memory_bytes"] / 1e6 for reply in answers(asked)]
    assert max(megabytes) <= 200, megabytes


def test_the_page_runs_no_script_but_its_own():
    policy = re.findall(r'http-equiv="Content-Security-Policy" content="(.*?)"', PAGE.read_text())[0]
    default, scripts, workers, *_ = policy.split("; ")
    assert (default, workers) == ("default-src 'none'", "worker-src blob: data:")
    assert re.fullmatch(r"script-src 'sha256-[\w+/=]+' 'wasm-unsafe-eval'", scripts)


@pytest.fixture
def opened(chromium):
    """Open an address of the page from the disk, offline: `opened("view=lab")`. It complains of nothing."""
    contexts, complaints = [], []

    def show(address: str, width: int = 1280, scheme: str = "light"):
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda line: complaints.append(line.text) if line.type in ("error", "warning") else None)
        page.on("request", lambda request: None if request.url.startswith(("file:", "data:", "blob:")) else
                complaints.append(f"asked for {request.url}"))  # fmt: skip
        page.goto(f"{PAGE.as_uri()}#{address}")
        return page

    yield show
    for context in contexts:
        context.close()
    assert not complaints


def _await_run(page):
    page.wait_for_selector(".run[data-done]", state="attached", timeout=120_000)
    assert page.get_attribute(".run", "data-done") == "true", page.inner_text(".problem")
    assert "undefined" not in page.inner_text("main")


def _told(page, place=0):
    """The text of a part of a story, once its run is done."""
    part = page.locator(".part").nth(place)
    part.scroll_into_view_if_needed()
    part.focus()
    is_told = "place => document.querySelectorAll('.told')[place].textContent.length > 5"
    page.wait_for_function(is_told, arg=place, timeout=120_000)
    return part.locator(".told").inner_text()


@needs_chromium
@pytest.mark.parametrize("story", range(1, 8))
def test_each_part_of_a_story_is_told_with_numbers_of_its_run_and_locks_nothing(opened, story):
    page = opened(f"view=story&story={story}")
    for place in range(page.locator(".part").count()):
        text = _told(page, place)
        assert len(text) > 60
        assert not re.search("NaN|undefined|Infinity", text)
    assert page.locator("button:disabled").count() == 0


@needs_chromium
@pytest.mark.parametrize(
    ("drive", "said"),
    [
        ("", ["It falls twice: after 690 GB", "With one bit it is done much sooner", "At 690 GB the cache is full",
              "From 868 GB on"]),
        ("7450-max-800gb", ["it never falls", "no SLC cache", "there is none", "never has to fold"]),
        ("sn850-1tb", ["It falls once: after 281 GB", "With one bit", "while the drive moves cached data there, too",
                       "From 281 GB on the cache is full"]),
    ],
)  # fmt: skip
def test_a_story_is_true_of_any_drive(drive, said, opened):
    page = opened("view=story")
    _told(page)
    if drive:
        page.select_option(".parts select", drive)
        begins = "name => document.querySelector('.summary').innerText.startsWith(name)"
        page.wait_for_function(begins, arg=find_target(f"sim:{drive}").name, timeout=60_000)
        _await_run(page)
    for place, words in enumerate(said):
        assert re.search(words, _told(page, place)), (place, _told(page, place))


@needs_chromium
@pytest.mark.parametrize(("drive", "is_predicted"), [("990-pro-4tb", True), ("mx500-1tb", False)])
def test_the_lab_says_of_a_drive_of_parts_what_a_run_says_and_shows_its_band(drive, is_predicted, opened):
    page = opened(f"view=lab&drive={drive}")
    _await_run(page)
    sentence = page_data.fill(drive)["predicted"]
    assert (sentence.startswith("the speeds of this drive are predicted"), bool(sentence)) == (is_predicted,) * 2
    assert (f"Note: {sentence}." in page.inner_text(".summary")) == is_predicted
    assert ("drives of such parts" in page.inner_text(".plot")) == is_predicted


QUESTIONS = re.findall(r"^\| .*\? \| `(view=.*?)` \| (.*) \|$", (ROOT / "docs/page.md").read_text(), re.MULTILINE)


@needs_chromium
@pytest.mark.parametrize("address", dict.fromkeys(address for address, _ in QUESTIONS))
def test_the_page_answers_what_a_newcomer_asks(address, opened):
    page = opened(address)
    for place in range(page.locator(".part").count()):
        _told(page, place)
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    if "lab" in address:
        page.wait_for_selector(".run[data-rested]", state="attached", timeout=120_000)
    for answer in (words for where, words in QUESTIONS if where == address):
        assert answer in page.inner_text("main")


def _paused(pause_s, size, drive, folder):
    """What `pslc run` records of the page's job with a pause."""
    write = "ioengine=io_uring\nrw=write\nbs=1m\niodepth=32\n"
    again = f"[again]\nstonewall\npause={pause_s:.0f}s\n{write}offset=35%\noffset_align=256m\nsize={size}\n"
    (folder / "job.fio").write_text(f"[fill]\n{write}size=35%\n{again}")
    return pslc.run(str(folder / "job.fio"), on=f"sim:{drive}")


def _into_cache_after_pause(seconds, folder):
    """What `pslc run` writes into the cache after the pause of the page's job, in GB."""
    recording = _paused(seconds, "20%", "atom-50-1tb", folder)
    cached, written = recording.bytes["host_to_slc_bytes_total"], np.cumsum(recording.bytes["write_bytes"])
    return float(cached[-1] - np.interp(0.35 * recording.capacity_bytes, written, cached)) / 1e9


@needs_chromium
def test_what_a_pause_gives_back_is_what_the_command_says(opened, tmp_path):
    page = opened("view=story&story=2")
    for place, seconds in enumerate((30, 300)):
        gb = float(re.findall(r"([\d.]+) GB could be written fast", _told(page, place))[0])
        assert gb == pytest.approx(_into_cache_after_pause(seconds, tmp_path), rel=0.02)
    assert "takes about 15 min" in _told(page, 1) or "takes about 14." in _told(page, 1)
    assert "the cache was still full" in _told(page, 2)


@needs_chromium
def test_spare_space_counts_the_random_writes_alone(opened):
    page = opened("view=story&story=6")
    before, after = (float(re.findall(r"(\d\.\d)", _told(page, place))[0]) for place in (0, 1))
    assert (before, after) == (3.2, 1.3)


@needs_chromium
def test_heat_is_told_from_the_cache(opened):
    page = opened("view=story&story=7")
    assert re.search(r"The fall at 20\d GB, from 5578 MB/s to 2653 MB/s, is heat", _told(page, 0))
    assert "never below what its cells can do" in _told(page, 1)
    assert "Every fall that you see is the cache" in _told(page, 2)


def test_every_knob_of_every_drive_is_derived_as_pslc_run_derives_it():
    asked, specs = [], []
    for slug, text in library().items():
        for knob in page_data.drive(slug)["knobs"]:
            stops = knob["stops"]
            for stop in dict.fromkeys((stops[0], stops[len(stops) // 2], stops[-1])):
                asked.append(question_of(text, slug, knob["pairs"][stop]))
                specs.append(f"sim:{slug}" + "".join(f",{key}={value}" for key, value in knob["pairs"][stop]))
    for spec, reply in zip(specs, resolved(asked), strict=True):
        try:
            expected = find_target(spec).profile
        except pslc.PslcError:
            expected = None
        assert reply.get("profile") == expected, spec
    assert len(specs) > 2000


def test_a_fill_on_the_page_takes_as_long_as_the_command_and_moves_the_same_bytes():
    some = random.Random(3).sample(sorted(library()), 6)
    unlike = list(unlike_the_command(turned_at_random(some, 3)))
    # Without a write cache each page is mapped by itself, which takes 2 GB a TB.
    assert [text for text in unlike if not text.endswith("no memory for it") or "write_cache=off" not in text] == []


@needs_chromium
def test_the_table_of_drives_sorts_by_causes_and_drives_without_a_cache_come_last(opened):
    page = opened("view=gallery")
    page.wait_for_selector(".comparison .drawn")
    page.click("th button:has-text('Cache')")
    cells = page.locator("tbody tr td:nth-child(9)").all_inner_texts()
    sizes = [float(text.split()[0]) * SIZES[text.split()[1]] for text in cells if text != "none seen"]
    assert sizes == sorted(sizes, reverse=True)
    assert set(cells[len(sizes) :]) == {"none seen"}
    assert len(cells) == len(library())
    assert not [text for text in page.locator("tbody tr").all_inner_texts() if "NaN" in text]
    row = page.locator("tbody tr", has_text="WD Black SN850 1TB").inner_text()
    assert "281 GB" in row
    assert "5578 MB/s" in row
    assert "2020" in row
    [figure] = page_data.drive("kc3000-2tb")["figures"]
    off = abs(page_data.fill("kc3000-2tb")["mean_bytes_per_s"] / figure["value"] - 1)
    assert f"{100 * off:.0f} % (of 1)" in page.locator("tbody tr", has_text="KC3000").inner_text()
    page.fill("input[type=search]", "qlc intel")
    assert {text.split()[0] for text in page.locator("tbody th").all_inner_texts()} == {"Intel"}


@needs_chromium
def test_the_rest_that_a_cache_needs_is_what_recovery_says_and_sorts_and_filters(opened):
    page = opened("view=gallery")
    page.wait_for_selector(".comparison .drawn")
    names = page.locator("thead th").all_inner_texts()
    place = names.index("Back after a rest of") + 1
    for _ in range(2):
        page.click("th button:has-text('Back after')")
    cells = page.locator(f"tbody tr > :nth-child({place})").all_inner_texts()
    times = [_seconds(text)[0] for text in cells if text[-1] in "snh" and not text.startswith("no")]
    assert times == sorted(times)
    assert len(times) > 30
    assert {text.split()[0] for text in cells[len(times) :]} == {"none", "not"}
    report = page_data.recover("firecuda-510-1tb")
    row = page.locator("tbody tr", has_text="FireCuda 510").locator(f":nth-child({place})")
    assert _seconds(row.first.inner_text()) == pytest.approx([report["rest_s"]], abs=0.06)
    page.fill("input[type=search]", "not within")
    assert "Intel 660p 1TB" in page.locator("tbody th").all_inner_texts()


def test_years_are_of_drives_of_the_library():
    assert set(page_data.YEARS) < set(library())
    assert len(page_data.YEARS) == len(" ".join(page_data.LINES.values()).split())


@needs_chromium
@pytest.mark.parametrize(
    ("address", "label"),
    [("view=story", "Copy as command"), ("view=gallery&compare=sn850-1tb,p3-plus-1tb", "Copy as commands")],
)
def test_curves_of_stories_and_comparisons_are_copied_as_commands(address, label, opened):
    page = opened(address)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.wait_for_selector(".plot .drawn", timeout=120_000)
    page.locator("button", has_text=label).first.click()
    page.wait_for_selector("text=Copied.")
    drives = ["sn850-1tb", "p3-plus-1tb"] if "gallery" in address else ["aldrin-pro-2tb"]
    expected = [f"pslc run fill --on 'sim:{slug}'" for slug in drives]
    assert page.evaluate("navigator.clipboard.readText()").splitlines() == expected


@needs_chromium
@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("view=lab&drive=no-such", "the drive “no-such”"), ("view=lab&job=dance", "the job “dance”"),
        ("view=lab&cache.colour=red", "the key “cache.colour”"), ("view=story&step=99", "step “99”; there are 4"),
        ("view=cellar", "the view “cellar”"), ("view=gallery&compare=x,sn850-1tb", "No drive is named “x”"),
    ],
)  # fmt: skip
def test_an_address_that_the_page_does_not_know_is_said(address, said, opened):
    page = opened(address)
    assert said in page.inner_text("main > .refusal")


@needs_chromium
def test_the_back_button_goes_back_through_views_and_stories(opened):
    page = opened("view=story&story=2")
    page.click("nav >> text=Drives")
    page.wait_for_selector(".gallery")
    page.click("tbody button >> nth=0")
    page.wait_for_selector(".lab")
    page.go_back()
    page.wait_for_selector(".gallery")
    page.go_back()
    page.wait_for_selector(".story")
    assert "story=2" in page.url


@needs_chromium
def test_a_curve_is_copied_as_the_command_that_makes_it(opened):
    page = opened("view=lab&drive=sn850-1tb&cache.dynamic=100GB")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    _await_run(page)
    page.click("text=Copy as command")
    page.wait_for_selector("text=Copied.")
    words = shlex.split(page.evaluate("navigator.clipboard.readText()"))
    assert words == ["pslc", "run", "fill", "--on", "sim:sn850-1tb,cache.dynamic=100GB"]
    phases = pslc.run("fill", on=words[-1]).findings["phases"]
    shown = re.findall(r"(\d+) MB/s until", page.inner_text(".summary"))
    expected = [phase["bytes_per_s"] / 1e6 for phase in phases]
    assert [float(speed) for speed in shown] == pytest.approx(expected, rel=0.01)
    page.click("text=Copy link")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.endswith("#view=lab&drive=sn850-1tb&job=fill&cache.dynamic=100GB")
    page.click("text=Copy to embed")
    embedded = page.evaluate("navigator.clipboard.readText()")
    assert f'<iframe src="{html.escape(link)}" ' in embedded


@pytest.fixture
def lab(tmp_path):
    held = LabClient(tmp_path)
    yield held
    held.close()


@needs_chromium
def test_the_page_of_pslc_lab_shows_uploads_and_recordings_and_runs_suites(lab, chromium, tmp_path):
    context = chromium.new_context(viewport={"width": 400, "height": 900})
    page = context.new_page()
    complaints = []
    page.on("console", lambda line: complaints.append(line.text) if line.type in ("error", "warning") else None)
    page.goto(f"{lab.address}#view=lab&drive=pm871b-128gb")
    _await_run(page)
    page.select_option(".commands select", "burst")
    page.click(".run-suite")
    page.wait_for_selector(".task a", timeout=120_000)
    page.goto(f"{lab.address}#view=library")
    page.wait_for_selector("tbody tr")
    assert "burst" in page.inner_text("tbody tr")
    log = "".join(f"{ms}, {2_000_000 if ms < 30_000 else 500_000}, 1, 0, 0\n" for ms in range(100, 60_000, 100))
    (tmp_path / "fill_bw.1.log").write_text(log)
    page.set_input_files("input[type=file]", tmp_path / "fill_bw.1.log")
    page.wait_for_selector(".contents .drawn path")
    assert "The write cache probably ends after 61.2 GB" in page.inner_text(".contents")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    page.click("text=Lay over the lab's curve")
    page.wait_for_selector(".key:has-text('fill_bw')")
    page.goto(f"{lab.address}#view=library")
    page.once("dialog", lambda dialog: dialog.accept())
    page.click("text=Delete")
    page.wait_for_function("() => document.querySelectorAll('tbody tr').length === 0")
    assert not list(lab.folder.glob("runs/*/run.json"))
    assert complaints == []
    context.close()


@needs_chromium
def test_a_knob_by_keyboard_moves_the_cliff_and_the_address_holds_it(opened):
    page = opened("view=lab&drive=aldrin-pro-2tb")
    _await_run(page)
    before = page.inner_text(ROW)
    page.focus("label[title='cache.dynamic'] input")
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
    page.wait_for_function(
        "before => document.querySelector('.run > table tbody tr')?.innerText !== before", arg=before
    )
    _await_run(page)
    after = page.inner_text(ROW)
    assert "cache.dynamic=" in page.evaluate("location.hash")
    again = opened(page.evaluate("location.hash").lstrip("#"))
    _await_run(again)
    assert again.inner_text(ROW) == after != before


@needs_chromium
def test_a_drive_of_ones_own_is_a_file_and_its_address_a_link(opened, tmp_path):
    profile = tmp_path / "mine.toml"
    profile.write_text('name = "Mine"\nbase = "sn850-1tb"\n\n[cache]\nwhen_full = "direct-then-fold"\n')
    page = opened("view=lab&drive=660p-1tb")
    _await_run(page)
    page.set_input_files("input[type=file]", profile)
    page.wait_for_function("() => document.querySelector('.summary').innerText.startsWith('Mine:')")
    _await_run(page)
    phases = page.inner_text(".run > table tbody")
    turned = opened("view=lab&drive=sn850-1tb&cache.when_full=direct-then-fold")
    _await_run(turned)
    assert turned.inner_text(".run > table tbody") == phases
    again = opened(page.evaluate("location.hash").lstrip("#"))
    _await_run(again)
    assert again.inner_text(".summary").startswith("Mine:")
    assert again.inner_text(".run > table tbody") == phases


@needs_chromium
def test_a_drive_of_parts_is_the_one_that_pslc_makes(opened):
    page = opened("view=lab&drive=660p-1tb")
    _await_run(page)
    page.click(".parts summary")
    for label, value in (("NAND die", "micron-b47r-tlc-512g"), ("Controller", "phison-e18"), ("Cache", "dynamic")):
        page.select_option(f".parts label:has-text('{label}') select >> nth=0", value)
    page.fill(".parts label:has-text('Capacity') input", "2TB")
    page.fill(".parts label:has-text('Size of the cache') input", "nothing")
    page.click(".make")
    page.wait_for_selector(".lab .refusal:not([hidden])")
    assert page.inner_text(".lab .refusal").startswith('cache.dynamic is "nothing"')
    page.fill(".parts label:has-text('Size of the cache') input", "200GB")
    page.click(".make")
    page.wait_for_function("() => document.querySelector('.summary').innerText.startsWith('Phison')")
    _await_run(page)
    made = page.evaluate("new URLSearchParams(location.hash.slice(1)).get('profile')")
    assert len(page.evaluate("location.hash")) < 250, "a link is short"
    derived = parts.profile(
        nand="micron-b47r-tlc-512g", controller="phison-e18", capacity="2TB", cache={"dynamic": "200GB"}
    )
    short, whole = resolved([question_of(made), question_of(derived.text)])
    assert tomllib.loads(short["profile"])["nand"] == tomllib.loads(whole["profile"])["nand"]
    assert tomllib.loads(short["profile"])["cache"] == tomllib.loads(whole["profile"])["cache"]


@needs_chromium
@pytest.mark.parametrize(
    ("text", "slug", "said"),
    [
        ("WD_BLACK SN850X 2000GB", "sn850x-2tb", ""),
        ("(03) Samsung SSD 870 QVO 4TB : 4000,7 GB", "870-qvo-4tb", ""),
        ("          Model : Samsung SSD 990 PRO 4TB\n   Firmware : 4B2QJXD7", "990-pro-4tb", ""),
        ("Model : WD_BLACK SN850X 4000GB", "sn850x-2tb", "Of another capacity it has another cache"),
        ("CT1000MX500SSD1", "mx500-", "Of another capacity it has another cache"),
        ("CT500P310SSD8", "660p-1tb", "No drive of the library"),
        ("Samsung SSD", "660p-1tb", "No drive of the library"),
    ],
)
def test_a_drive_is_known_by_its_name_and_nobody_elses(text, slug, said, opened):
    page = opened("view=lab&drive=660p-1tb")
    _await_run(page)
    page.fill(".side textarea", text)
    page.wait_for_function("slug => location.hash.includes(slug)", arg=f"drive={slug}")
    assert said in page.inner_text(".lab .refusal") if said else page.is_hidden(".lab .refusal")


def _seconds(text):
    """Every time in a text, in seconds."""
    units = {"s": 1, "min": 60, "h": 3600}
    return [float(number) * units[unit] for number, unit in re.findall(r"([\d.]+) (s|min|h)\b", text)]


def _rested(opened, drive, words):
    """What the page says of rest, once it says so."""
    page = opened(f"view=lab&drive={drive}")
    page.wait_for_selector(".run[data-rested]", state="attached", timeout=120_000)
    text = page.inner_text(".summary").partition("Once its cache is full")[2]
    assert words in text, page.inner_text(".summary")
    return text


@needs_chromium
def test_a_drive_that_does_not_fold_in_an_hour_of_rest_is_not_said_to_be_fast_again(opened):
    page = opened("view=lab&drive=660p-1tb")
    page.wait_for_selector(".run[data-rested]", state="attached", timeout=120_000)
    assert "Rest does not make it fast again: after an hour" in page.inner_text(".summary")


@needs_chromium
@pytest.mark.parametrize("drive", ["p3-plus-1tb", "sn850-1tb"])
def test_the_rest_that_makes_a_drive_fast_again_is_as_long_as_the_command_needs(drive, opened, tmp_path):
    rest_s, next_s = _seconds(_rested(opened, drive, "makes it fast again"))

    def again(pause_s):
        done = _paused(pause_s, "95367m", drive, tmp_path).jobs[1]["write"]
        return done["io_bytes"] / done["runtime_ns"] * 1e9

    at_best = again(3600)
    assert 100e9 / at_best == pytest.approx(next_s, rel=0.03)
    assert again(0.25 * rest_s) < 0.85 * at_best
    assert again(rest_s) > 0.9 * at_best


@needs_chromium
def test_a_drive_is_shown_beside_those_that_are_built_alike(opened):
    page = opened("view=lab&drive=660p-1tb")
    _await_run(page)
    assert "2 drives alike: the middle, and all" in page.inner_text(".plot")
    assert page.locator(".plot path.band").count() == 1
    means = [page_data.fill(slug)["mean_bytes_per_s"] / 1e6 for slug in ("670p-2tb", "rocket-q-1tb")]
    texts = re.findall(
        r"Of 2 drives alike .* 2 are faster; all of them have (\d+) MB/s to (\d+)", page.inner_text(".summary")
    )
    assert [float(speed) for speed in texts[0]] == pytest.approx(sorted(means), abs=0.5)


def _fio_log(times_ms):
    return "".join(f"{ms}, {2_000_000 if ms <= 60_000 else 500_000}, 1, 0, 0\n" for ms in times_ms)


@needs_chromium
def test_a_pasted_log_is_laid_over_and_told_in_games(opened):
    page = opened("view=lab&drive=sn850-1tb")
    _await_run(page)
    page.fill(".side textarea", _fio_log(range(500, 300_500, 500)))
    page.wait_for_selector(".key:has-text('pasted')")
    _await_run(page)
    # 2,048,000,000 B/s for a minute, then a quarter of it.
    fast, slow = 60 * 2.048e9, 0.512e9
    first, second = 100e9 / 2.048e9, (fast - 100e9) / 2.048e9 + (200e9 - fast) / slow
    text = page.inner_text(".summary").partition("By pasted")[2]
    assert _seconds(text)[:2] == pytest.approx([first, second], rel=0.01)
    for times, words in [
        ((500, 1000, 1300, 9000), "not even"),
        ((500,), "needs two"),
        ((500, 1000, 500, 1000), "not even"),
    ]:
        page.fill(".side textarea", _fio_log(times))
        page.wait_for_function("words => document.querySelector('.lab .refusal').innerText.includes(words)", arg=words)


@needs_chromium
def test_the_picture_of_a_chart_is_read_where_its_reader_points(opened, tmp_path):
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4), dpi=100)
    axes.set_position((0.1, 0.1, 0.8, 0.8))
    axes.plot([0, 300, 301, 1000], [4000, 4000, 1000, 1000], color="#0068a8", linewidth=3)
    axes.set(xlim=(0, 1000), ylim=(0, 5000))
    figure.savefig(tmp_path / "chart.png")
    plt.close(figure)
    page = opened("view=lab&drive=sn850-1tb", width=1920)
    _await_run(page)
    page.set_input_files("input[type=file]", tmp_path / "chart.png")
    chart = page.locator(".chart canvas")
    scale = chart.evaluate("canvas => canvas.clientWidth / canvas.width")
    for x, y in ((80, 360), (720, 40), (180, 104)):
        chart.click(position={"x": x * scale, "y": y * scale})
    page.click("text=Read the chart")
    page.wait_for_selector(".lab .refusal:not([hidden])")
    assert "The x axis is" in page.inner_text(".lab .refusal")
    page.fill("[aria-label='x axis']", "0:1000GB")
    page.fill("[aria-label='y axis']", "0:5000MB/s")
    page.click("text=Read the chart")
    page.wait_for_selector(".key:has-text('chart.png')")
    _await_run(page)
    assert _seconds(page.inner_text(".summary").partition("By chart.png")[2])[:2] == pytest.approx([25, 25], rel=0.03)
    page.fill("[aria-label='Color of the curve']", "#00ff00")
    page.click("text=Read the chart")
    page.wait_for_selector(".lab .refusal:not([hidden])")
    assert "in 0 of 6" in page.inner_text(".lab .refusal")


@needs_chromium
def test_a_fill_is_told_as_people_feel_it_and_saved_as_a_picture(opened, tmp_path):
    page = opened("view=lab&drive=sn850-1tb")
    _await_run(page)
    recording = pslc.run("fill", on="sim:sn850-1tb")
    times, written = recording.bytes["end_ns"] / 1e9, np.cumsum(recording.bytes["write_bytes"]) / 1e9
    expected = [float(np.diff(np.interp([at, at + 100], written, times))[0]) for at in (0, 100, 900)]
    text = page.inner_text(".summary").partition("Onto the empty")[2].partition("In the mean")[0]
    assert _seconds(text) == pytest.approx(expected, rel=0.02)
    for button, width, height in (("PNG", 1600, 900), ("card", 1200, 630)):
        with page.expect_download() as download:
            page.click(f"text=Save as {button}")
        assert download.value.path().read_bytes()[16:24] == width.to_bytes(4, "big") + height.to_bytes(4, "big")


@needs_chromium
def test_a_curve_is_laid_over_and_what_is_no_curve_is_refused_in_words(opened, tmp_path):
    page = opened("view=lab&drive=sn850-1tb")
    _await_run(page)
    curve = tmp_path / "curve.csv"
    curve.write_text("written (GB),speed (MB/s),written error,speed error\n1,5300,1,10\n290,5300,1,10\n300,1800,1,10\n")
    page.set_input_files("input[type=file]", curve)
    page.wait_for_function(
        "() => [...document.querySelectorAll('.key')].some(key => key.textContent.includes('curve.csv'))"
    )
    _await_run(page)
    assert page.is_hidden(".lab .refusal")
    for content, words in [
        ("1000, 5300000, 1, 131072, 0\n", "pslc analyze"),
        ("written (GB),speed (MB/s)\n1,fast\n2,3\n", "line 2"),
        ("written (GB),speed (MB/s)\n2,30\n1,20\n", "line 3"),
    ]:
        curve.write_text(content)
        page.set_input_files("input[type=file]", curve)
        page.wait_for_function(
            "words => document.querySelector('.refusal').innerText.includes(words)", arg=words, timeout=10_000
        )


@needs_chromium
def test_what_cannot_be_is_refused_in_words_and_the_old_curve_is_dimmed(opened):
    page = opened("view=lab&drive=aldrin-pro-2tb&cache.dynamic=9000GB")
    page.wait_for_selector(".run[data-done=failed]", state="attached")
    assert "cache.dynamic" in page.inner_text(".problem")
    assert "stale" in page.get_attribute(".run", "class")


@needs_chromium
@pytest.mark.parametrize(("width", "scheme"), [(400, "light"), (1280, "dark"), (1920, "light")])
@pytest.mark.parametrize(
    "address", ["view=story", "view=lab&drive=sn850-1tb", "view=gallery&compare=sn850-1tb,660p-1tb"]
)
def test_a_reader_with_a_screen_reader_or_a_phone_gets_all_of_it(opened, address, width, scheme):
    page = opened(address, width, scheme)
    if "gallery" in address:
        page.wait_for_selector(".comparison .drawn", timeout=120_000)
    elif "lab" in address:
        _await_run(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_a_site_with_an_address_names_the_whole_address_of_the_picture_beside_a_link(monkeypatch):
    for name in ("mkdocs", "mkdocs.structure", "mkdocs.structure.files"):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(File=None, Files=None))
    hooks = runpy.run_path(str(ROOT / "docs/site/hooks.py"))
    assert 'og:image" content="https://pslc.example/drives/' in hooks["with_picture"]("https://pslc.example/")
    assert "og:image" not in hooks["with_picture"]("")


def test_the_package_writes_the_page(command, tmp_path):
    done = command.fine("lab", "--save", "site")
    assert done.stdout == "site/index.html\n"
    assert (tmp_path / "site/index.html").read_bytes() == PAGE.read_bytes()
