"""The static page: the same answers as the native build, and a page that works from a disk, by keyboard, on a phone."""

import itertools
import json
import math
import re
import shutil
import subprocess
import tomllib

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from benches.page_questions import MODULE, PAGE, ROOT, answers, drives_of_parts, questions

import pslc
from pslc.device import parts
from tests.conftest import needs_chromium

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
        phases = recording.findings["phases"]
        for phase, after in itertools.pairwise(phases):
            memory = phase["cause"] == "dram" or phase["to_bytes"] < edges[2]
            if not memory and abs(math.log(phase["bytes_per_s"] / after["bytes_per_s"])) > math.log(1.2):
                off_bins.append(np.abs(ends - phase["to_bytes"]).min() / np.diff(edges).max())
    assert len(off_bins) > 40
    assert np.quantile(off_bins, 0.9) < 1
    assert max(off_bins) < 5


def test_the_module_is_small():
    packed = subprocess.run(["gzip", "-9c", str(MODULE)], capture_output=True, check=True).stdout
    assert len(packed) <= 400_000


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


def _steps(page):
    return int(re.findall(r"of (\d+)\)", page.inner_text("h2"))[0])


@needs_chromium
@pytest.mark.parametrize("story", range(1, 8))
def test_each_step_of_a_story_ends_in_words_with_numbers_of_its_run(opened, story):
    for step in itertools.count(1):
        page = opened(f"view=story&story={story}&step={step}")
        if page.query_selector(".quiz"):
            assert page.inner_text(".told") == ""
            page.click(".quiz button >> nth=0")
        _await_run(page)
        text = page.inner_text(".told")
        assert len(text) > 60
        assert "NaN" not in text
        assert "undefined" not in text
        assert page.is_disabled(".next") == (step == _steps(page))
        if step == _steps(page):
            break


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
    page.wait_for_function("document.querySelector('.summary').innerText.startsWith('Mine:')")
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
    page.wait_for_function("document.querySelector('.summary').innerText.startsWith('Phison')")
    _await_run(page)
    made = tomllib.loads(page.evaluate("new URLSearchParams(location.hash.slice(1)).get('profile')"))
    derived = parts.profile(
        nand="micron-b47r-tlc-512g", controller="phison-e18", capacity="2TB", cache={"dynamic": "200GB"}
    )
    assert made == tomllib.loads(derived.text)


@needs_chromium
def test_a_curve_is_laid_over_and_what_is_no_curve_is_refused_in_words(opened, tmp_path):
    page = opened("view=lab&drive=sn850-1tb")
    _await_run(page)
    curve = tmp_path / "curve.csv"
    curve.write_text("written (GB),speed (MB/s),written error,speed error\n1,5300,1,10\n290,5300,1,10\n300,1800,1,10\n")
    page.set_input_files("input[type=file]", curve)
    page.wait_for_function("document.querySelector('.u-legend')?.innerText.includes('curve.csv')")
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
        every_card = "[...document.querySelectorAll('.cards > li')].every(card => card.querySelector('.sparkline'))"
        page.wait_for_function(every_card, timeout=120_000)
    elif "lab" in address:
        _await_run(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_the_package_writes_the_page(command, tmp_path):
    done = command("lab", "--static", "site")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "site/index.html\n"
    assert (tmp_path / "site/index.html").read_bytes() == PAGE.read_bytes()
