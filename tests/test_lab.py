"""The lab page in a real browser, beside the command line: it has to say the same."""

import json
import os
import random
import re
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from benches.small import PROFILE

import pslc
from pslc.base.errors import PslcError
from pslc.cli import lab as command_of_lab
from pslc.device.target import open_simulated
from pslc.lab import drive_state, knobs, server
from tests.conftest import ROOT, needs_chromium

pytestmark = needs_chromium
EXECUTABLE = Path(sys.executable).parent / "pslc"
SMALL = "sim:./small.toml"
SETTLED = """() => document.body.getAttribute('aria-busy') === 'false' && document.body.dataset.bench !== undefined && (
  document.body.dataset.shown === document.body.dataset.bench || document.querySelector('.said .doubt, .refused .doubt')
  || document.querySelector('#job button'))"""
OPEN = "() => document.querySelectorAll('.card details').forEach(group => { group.open = true; })"
"""All groups of knobs."""
WALKS = 12
"""Random turns of knobs in every test run; the slow test makes 200."""


class Server:
    """`pslc lab` in a folder of its own."""

    def __init__(self, folder, *arguments):
        self.folder = folder
        (folder / "small.toml").write_text(PROFILE)
        self.log = folder / "log.txt"
        environment = os.environ | {"BROWSER": "true", "XDG_STATE_HOME": str(folder)}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [EXECUTABLE, "lab", "--port", "0", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=log,
                text=True, env=environment,
            )  # fmt: skip
        self.address = self.process.stdout.readline().strip()

    def close(self):
        self.process.terminate()
        return self.process.wait(20)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server, which has nothing to complain of in the end."""
    held = Server(tmp_path_factory.mktemp("lab"))
    assert held.address.startswith("http://127.0.0.1:")
    yield held
    assert held.close() == 0
    assert held.log.read_text() == ""


@pytest.fixture
def tab(chromium, served):
    """Open a tab: `tab("?suite=fill")`. No tab complains, or asks anyone else for anything."""
    contexts, complaints = [], []

    def show(search=f"?on={SMALL}", size=(1280, 900), colours="light", wait=True):
        width, height = size
        context = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=colours)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        contexts.append(context)
        opened = context.new_page()
        opened.set_default_timeout(30_000)
        opened.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        opened.on("pageerror", lambda error: complaints.append(str(error)))
        opened.on("response", lambda got: complaints.append(f"{got.status} {got.url}") if got.status >= 400 else None)
        opened.on("request", lambda asked: complaints.append(f"asked for {asked.url}")
                  if not asked.url.startswith((served.address.partition("//")[0] + "//127.0.0.1:", "data:", "blob:"))
                  else None)  # fmt: skip
        opened.goto(served.address + search)
        if wait:
            settle(opened)
        return opened

    yield show
    for context in contexts:
        context.close()
    assert complaints == []


def part(page, kind, key, drive=0):
    """A knob's text (`knob`), its slider (`slide`) or what is said of it (`said`)."""
    name = json.dumps({"drive": drive, "key": key, "type": kind}, separators=(",", ":"))
    return page.locator(f"[id='{name}']")


def settle(page):
    """Wait until what was turned is answered, and nothing follows from it."""
    calm = 0
    while calm < 3:
        page.wait_for_function(SETTLED)
        page.wait_for_timeout(60)
        calm = calm + 1 if page.evaluate(SETTLED) else 0


def write(page, key, text, drive=0):
    """Give a knob a value by its text."""
    part(page, "knob", key, drive).fill(text)
    part(page, "knob", key, drive).press("Enter")
    settle(page)


def choose(page, key, word, drive=0):
    """Give a knob one of its words."""
    part(page, "knob", key, drive).get_by_text(word, exact=True).click()
    settle(page)


def findings(page):
    """The findings that the page saves, as bytes."""
    with page.expect_download() as saved:
        page.get_by_role("button", name="Findings as JSON").click()
    return Path(saved.value.path()).read_bytes()


def copied(page, what):
    """What a button puts into the clipboard."""
    page.get_by_role("button", name=what).click()
    page.wait_for_function("() => document.getElementById('copied').textContent === 'copied'")
    return page.evaluate("navigator.clipboard.readText()")


def run(served, *arguments):
    """The findings of `pslc run`, as the page saves them."""
    done = subprocess.run([EXECUTABLE, *arguments, "--json"], cwd=served.folder, capture_output=True, check=True)
    return json.dumps(json.loads(done.stdout)["findings"], indent=1).encode()


def test_the_cliff_moves_with_the_slider_to_where_the_command_puts_it(tab, served):
    page = tab()
    slide = part(page, "slide", "cache.dynamic")
    before = part(page, "knob", "cache.dynamic").input_value()
    assert before == "800MB"
    for _ in range(15):
        slide.press("ArrowRight")
    settle(page)
    text = part(page, "knob", "cache.dynamic").input_value()
    assert knobs.number(text) > 8e8
    found = findings(page)
    assert found == run(served, "run", "fill", "--on", f"{SMALL},cache.dynamic={text}")
    assert found != run(served, "run", "fill", "--on", SMALL)
    said = page.locator(".change").inner_text()
    assert re.match(r"Cache 80\d MB -> 1\.\d\d GB, mean \d+ -> \d+ MB/s", said), said
    assert page.evaluate("document.getElementById('main').data.map(line => line.name)") == ["write", "before: write"]


def test_copy_as_command_makes_the_same_findings(tab, served):
    page = tab()
    choose(page, "cache.when_full", "direct-then-fold")
    page.evaluate(OPEN)
    write(page, "nand.native.program", "1,2ms")
    program, *words = shlex.split(copied(page, "Copy as command"))
    assert program == "pslc"
    assert words[-1] == f"{SMALL},cache.when_full=direct-then-fold,nand.native.program=1.2ms"
    assert findings(page) == run(served, *words)


def test_copy_as_profile_makes_the_same_findings(tab, served):
    page = tab()
    choose(page, "cache.mode", "pure-xlc")
    (served.folder / "copied.toml").write_text(copied(page, "Copy as profile"))
    assert findings(page) == run(served, "run", "fill", "--on", "sim:./copied.toml")


def test_the_address_holds_all_of_it(tab):
    page = tab()
    write(page, "cache.dynamic", "1.5GB")
    choose(page, "cache.reuse", "as-freed")
    page.get_by_role("button", name="Add a drive").click()
    settle(page)
    choose(page, "cache.mode", "pure-slc", drive=1)
    address = copied(page, "Copy address")
    page.wait_for_timeout(300)
    assert page.url == address
    found, change = findings(page), page.locator(".change").inner_text()
    page.reload()
    settle(page)
    assert part(page, "knob", "cache.dynamic").input_value() == "1.5GB"
    assert part(page, "knob", "cache.reuse").locator("input:checked").input_value() == "as-freed"
    assert part(page, "knob", "cache.mode", drive=1).locator("input:checked").input_value() == "pure-slc"
    assert findings(page) == found
    assert page.locator(".change").inner_text() == change
    other = tab("?" + address.partition("?")[2])
    assert findings(other) == found


def test_a_refused_combination_says_why_beside_the_knob_in_the_words_of_the_check(tab, served):
    page = tab()
    write(page, "cache.dynamic", "900GB")
    done = subprocess.run([EXECUTABLE, "run", "fill", "--on", f"{SMALL},cache.dynamic=900GB", "--json"],
                          cwd=served.folder, capture_output=True, text=True, check=False)  # fmt: skip
    what, _, hint = done.stderr.strip().removeprefix("error: ").partition("\n\n")
    assert part(page, "said", "cache.dynamic").locator("p").all_inner_texts() == [what, hint]
    assert page.locator("#state").inner_text().startswith("refused")
    write(page, "cache.dynamic", "1GB")
    assert part(page, "said", "cache.dynamic").inner_text() == ""
    assert page.locator("#state").inner_text() == "exact"
    choose(page, "cache.when_full", "fold")
    choose(page, "cache.reuse", "after-idle")
    assert "cache.when_full" in part(page, "said", "cache.reuse").inner_text()
    # A number that is none.
    write(page, "cache.static", "much")
    assert "cache.static" in part(page, "said", "cache.static").inner_text()


def test_a_knob_that_moves_with_another_is_not_named(tab):
    page = tab()
    choose(page, "cache.when_full", "fold")
    assert part(page, "knob", "cache.reuse").locator("input:checked").input_value() == "as-freed"
    choose(page, "cache.when_full", "direct-while-folding")
    assert part(page, "knob", "cache.reuse").locator("input:checked").input_value() == "after-idle"
    assert page.locator("#command").text_content() == f"pslc run fill --on {SMALL}"


def test_knobs_without_effect_say_so(tab):
    page = tab()
    assert part(page, "said", "cache.static").inner_text() == "No effect: cache.mode is dynamic-slc."
    choose(page, "cache.mode", "hybrid-slc")
    assert part(page, "said", "cache.static").inner_text() == ""


def test_two_tabs_do_not_mix(tab, served):
    one, other = tab(), tab()
    for index, size in enumerate(("1GB", "1.1GB", "1.2GB", "1.3GB")):
        part(one, "knob", "cache.dynamic").fill(size)
        part(one, "knob", "cache.dynamic").press("Enter")
        part(other, "knob", "cache.dynamic").fill(f"{500 + 10 * index}MB")
        part(other, "knob", "cache.dynamic").press("Enter")
    settle(one), settle(other)
    assert findings(one) == run(served, "run", "fill", "--on", f"{SMALL},cache.dynamic=1.3GB")
    assert findings(other) == run(served, "run", "fill", "--on", f"{SMALL},cache.dynamic=530MB")


def test_drives_beside_each_other_have_lines_of_their_own(tab):
    page = tab(f"?on={SMALL}&on={SMALL},cache.mode=pure-xlc&on={SMALL},cache.mode=pure-slc")
    names = page.evaluate("document.getElementById('main').data.map(line => line.name)")
    assert names == ["small", "small, cache.mode=pure-xlc", "small, cache.mode=pure-slc"]
    page.get_by_role("button", name="Remove drive 2").click()
    settle(page)
    assert len(page.evaluate("document.getElementById('main').data")) == 2
    page.get_by_role("button", name="Add a drive").click()
    settle(page)
    page.get_by_role("button", name="Add a drive").click()
    settle(page)
    assert page.get_by_role("button", name="Add a drive").is_disabled()


def test_a_bad_address_is_said_in_the_page(tab):
    page = tab("?suite=nothing")
    assert "no suite is named nothing" in page.locator("#trouble").inner_text()
    page = tab("?on=sim:no-such-drive")
    assert "unknown drive no-such-drive" in page.locator(".refused").inner_text()
    page = tab("?on=/dev/sda")
    assert "the page does not open /dev/sda" in page.locator(".refused").inner_text()


@pytest.mark.parametrize("count", [WALKS, pytest.param(200, marks=pytest.mark.slow)])
def test_random_walks_over_the_knobs_end_in_a_curve_or_a_reason(count, tab, served):
    page = tab()
    drawn = random.Random(count)
    page.evaluate(OPEN)
    for _ in range(count):
        key, knob = drawn.choice(list(knobs.EVERY.items()))
        if knob.stops is None:
            words = part(page, "knob", key).locator("label").all()
            drawn.choice(words).click()
        else:
            slide = part(page, "slide", key)
            slide.press(drawn.choice(["ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Home", "End"]))
        if drawn.random() < 0.3:
            continue  # Sometimes the hand is faster than the answer.
        settle(page)
        assert page.locator("#trouble").inner_text() == ""
        if drawn.random() < 0.2:
            page.reload()
            settle(page)
            page.evaluate(OPEN)
    settle(page)
    assert served.log.read_text() == ""


def test_what_takes_long_has_a_button_progress_and_a_stop(tab):
    page = tab("?suite=recovery&on=sim:aldrin-pro-2tb")
    page.get_by_role("button", name="Run it").click()
    page.get_by_role("progressbar", name="Progress of the run").wait_for()
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Run it").wait_for()


def test_without_its_token_there_is_nothing(served):
    base = served.address.rsplit("/", 2)[0]
    for path in ("", "/", "/assets/lab.js", "/_dash-layout", "/wrong/", "/wrong/_dash-layout"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(base + path)
        assert refused.value.code == 404
    with urllib.request.urlopen(served.address) as page:
        assert page.headers["Referrer-Policy"] == "no-referrer"


def test_only_this_machine_is_served_unless_asked_otherwise(served, tmp_path):
    port = int(served.address.split(":")[2].split("/")[0])
    found = Path(f"/proc/{served.process.pid}/net/tcp").read_text()
    listening = [line.split()[1] for line in found.splitlines() if f":{port:04X} 00000000:0000 0A" in line]
    assert listening == [f"0100007F:{port:04X}"]
    assert server.is_local("127.0.0.2")
    assert server.is_local("::1")
    assert not server.is_local("0.0.0.0")
    wide = Server(tmp_path, "--host", "0.0.0.0")
    assert wide.close() == 0
    assert "anyone who can reach 0.0.0.0" in wide.log.read_text()
    assert not list(Path("/tmp").glob(f"pslc-lab-*/{wide.process.pid}"))


def test_a_port_that_is_taken_is_an_error_with_a_way_out(command):
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        done = command("lab", "--port", str(port), BROWSER="true")
    assert done.returncode == 2
    assert f"hint: --port {port + 1}" in done.stderr
    done = command("lab", "--host", "192.0.2.1", BROWSER="true")
    assert done.returncode == 2
    assert "hint: --host is an address of this machine" in done.stderr


def test_without_dash_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(command_of_lab, "find_spec", lambda name: None)
    with pytest.raises(PslcError, match=r"hint: pip install 'pslc\[lab\]'"):
        command_of_lab.command()


@pytest.mark.slow
def test_the_first_picture_comes_in_2_s_and_an_answer_in_1_s_for_a_fill_of_2_tb(tab):
    tab("")  # Whoever comes first also starts the browser.
    begun = time.monotonic()
    page = tab("?on=sim:aldrin-pro-2tb,cache.dynamic=600GB", wait=False)
    page.wait_for_function("() => document.querySelector('#main .scatterlayer .trace')")
    assert time.monotonic() - begun < 2
    settle(page)
    for _ in range(10):
        part(page, "slide", "cache.dynamic").press("ArrowLeft")
    begun = time.monotonic()
    page.wait_for_function("() => /^(coarse|exact)/.test(document.getElementById('state').textContent)")
    assert time.monotonic() - begun < 1


def test_findings_are_dimmed_while_the_curve_above_them_is_another(tab):
    page = tab()
    page.evaluate(
        """() => {
            const findings = document.getElementById("findings");
            window.dimmed = 0;
            new MutationObserver(() => { window.dimmed += findings.classList.contains("stale"); })
                .observe(findings, { attributeFilter: ["class"] });
        }"""
    )
    write(page, "cache.dynamic", "1GB")
    page.wait_for_function("() => window.dimmed > 0")
    settle(page)
    assert "stale" not in (page.locator("#findings").get_attribute("class") or "")


def test_every_other_picture_is_drawn_once_it_is_looked_at(tab):
    page = tab()
    page.get_by_text("More pictures").click()
    page.wait_for_function("() => document.querySelectorAll('#more .plot .main-svg').length > 5")
    settle(page)
    for plot in page.locator("#more .plot").all():
        assert plot.locator(".scatterlayer .trace").count() > 0, plot.get_attribute("id")
    write(page, "cache.dynamic", "1GB")
    page.wait_for_function("() => document.querySelectorAll('#more .plot .main-svg').length > 5")


def test_the_pointer_tells_cause_and_counters_and_the_drive_fills_and_folds(tab):
    page = tab()
    box = page.locator("#main .plotly .draglayer").first.bounding_box()
    said = []
    for share in (0.03, 0.2, 0.9):
        page.mouse.move(box["x"] + share * box["width"], box["y"] + 0.5 * box["height"])
        page.wait_for_timeout(400)
        said.append([page.locator(name).inner_text() for name in ("#said", "#why", "#strip-said")])
    assert [why.partition(":")[0] for _, why, _ in said][:2] == ["Limited by the link", "Folding"]
    assert len({tuple(words) for words in said}) == 3
    assert "to pSLC" in said[0][0]
    assert "folded" in said[1][0]
    cells = [[int(count) for count in re.findall(r"(\d+) (?:native|folding|pSLC|free)", strip)] for _, _, strip in said]
    assert all(sum(of) == 780 for of in cells)
    assert cells[0][3] > cells[2][3]
    assert cells[1][1] > 0
    page.locator("#moment").fill("0")
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("() => Number(document.getElementById('moment').value) > 5")
    page.get_by_role("button", name="Pause").click()


@pytest.mark.parametrize("mode", ["pure-xlc", "static-slc", "dynamic-slc", "hybrid-slc", "pure-slc"])
def test_native_superblocks_hold_what_went_to_native_cells(mode, tmp_path):
    recording = pslc.run(
        "fill", on=f"sim:{_put(tmp_path / 'small.toml', PROFILE)},cache.mode={mode},cache.static=200MB"
    )
    found, series, facts = drive_state.of(recording), recording.bytes, recording.facts
    written = np.cumsum(series["write_bytes"])
    went = sum(series[f"{name}_bytes_total"] for name in ("host_to_native", "folded", "gc"))
    at = np.searchsorted(written, np.array(found["gb"]) * 1e9 - 1e5)
    native = np.array(found["native"])
    assert (native * facts["native_superblock_bytes"] <= went[at] + 4 * facts["native_superblock_bytes"]).all()
    assert (native[-1] > 0) == (mode != "pure-slc")


LOG = "".join(f"{ms}, {2_000_000 if ms < 30_000 else 500_000}, 1, 0, 0\n" for ms in range(100, 60_000, 100))


def drop(page, *paths):
    """Drop files onto the page."""
    page.locator("#drop input[type=file]").set_input_files([str(path) for path in paths])
    page.wait_for_function("() => document.getElementById('dropped').textContent.length > 5")
    settle(page)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One of each kind that can be dropped."""
    folder = tmp_path_factory.mktemp("files")
    recording = pslc.run("fill", on=f"sim:{_put(folder / 'mine.toml', PROFILE)}")
    recording.save(folder / "run")
    open_simulated(f"sim:{folder / 'mine.toml'}").save(str(folder / "disk.pslc"))
    _put(folder / "fill_bw.1.log", LOG)
    _put(folder / "fill.csv", "seconds,MB/s\n" + "".join(f"{s},{2000 if s < 30 else 500}\n" for s in range(1, 61)))
    _put(folder / "work.iolog", "fio version 3 iolog\n" + "".join(
         f"{ms} /dev/x write {ms * 4096} 4096\n" for ms in range(100)))  # fmt: skip
    shutil.copy(ROOT / "tests" / "fixtures" / "cdm8.txt", folder)
    _put(folder / "bad.log", "what is this?\n")
    (folder / "bad.toml").write_bytes(b"\xff\xfe\x00")
    return folder


def _put(path, text):
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["fill_bw.1.log"], "The write cache ends after"),
        (["fill.csv"], "The write cache ends after"),
        (["work.iolog"], "100 requests"),
        (["cdm8.txt"], "6812 MB/s"),
        (["run/run.json", "run/series.parquet"], "The write cache ends after"),
        (["mine.toml"], "mine.toml is on the bench"),
        (["disk.pslc"], "disk.pslc is on the bench"),
        (["bad.log"], "hint: pslc reads"),
        (["bad.toml"], "hint:"),
    ],
)
def test_what_is_dropped_is_analysed_or_refused_in_words(names, said, tab, files):
    page = tab()
    drop(page, *(files / name for name in names))
    assert said in page.locator("#dropped").inner_text()
    lines = page.evaluate("document.getElementById('main').data.map(line => line.name)")
    has_curve = names[0] in ("fill_bw.1.log", "fill.csv", "run/run.json")
    assert any(name.startswith("measured") for name in lines) == has_curve
    if names == ["disk.pslc"]:
        before = (files / "disk.pslc").read_bytes()
        assert findings(page)
        assert (files / "disk.pslc").read_bytes() == before


def test_a_picture_of_a_chart_is_read_with_what_its_axes_span(tab):
    page = tab()
    page.locator("#drop input[type=file]").set_input_files(str(ROOT / "examples" / "chart.png"))
    page.locator("#chart-picture").wait_for()
    fields = {what: page.locator(f"input[id*='chart-{what}']") for what in ("x", "y", "series", "frame")}
    read = page.get_by_role("button", name="Read the chart")
    answered = page.locator("[id*='chart-read']")
    for ranges, said in ((("", ""), "hint:"), (("0:2000GB", "0:7000MB/s"), "--series")):
        for what, text in zip(("x", "y"), ranges, strict=True):
            fields[what].fill(text)
        read.click()
        answered.get_by_text(said).first.wait_for()
    fields["series"].fill("blue")
    read.click()
    answered.get_by_text("The write cache ends after").wait_for()
    assert "Measured" not in answered.inner_text()
    shown = answered.locator("img")
    assert shown.get_attribute("src") != page.locator("#chart-picture").get_attribute("src")
    assert shown.evaluate("picture => picture.naturalWidth") > 0
    settle(page)
    lines = page.evaluate("document.getElementById('main').data.map(line => line.name)")
    assert any(name.startswith("measured") for name in lines)


def test_two_clicks_into_a_picture_are_the_corners_of_its_plot(tab):
    page = tab()
    page.locator("#drop input[type=file]").set_input_files(str(ROOT / "examples" / "chart.png"))
    picture = page.locator("#chart-picture")
    picture.wait_for()
    natural = picture.evaluate("picture => [picture.naturalWidth, picture.naturalHeight]")
    box = picture.bounding_box()
    for share in (0.75, 0.25):
        picture.click(position={"x": share * box["width"], "y": share * box["height"]})
    frame = page.locator("input[id*='chart-frame']")
    page.wait_for_function("() => document.querySelector(\"input[id*='chart-frame']\").value")
    edges = [int(word) for word in frame.input_value().split(",")]
    expected = [share * side for share in (0.25, 0.75) for side in natural]
    assert edges == pytest.approx(expected, abs=2 * natural[0] / box["width"])


def test_what_is_too_large_is_said_before_it_is_sent(tab, tmp_path):
    page = tab()
    assert "At most 64 MB at once." in page.locator("#most").inner_text()
    for name in ("a.csv", "b.csv"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(40_000_000)
    sent = []
    page.on("request", lambda asked: sent.append(len(asked.post_data or "")))
    drop(page, tmp_path / "a.csv", tmp_path / "b.csv")
    assert "have 80 MB, but the page reads at most 64 MB" in page.locator("#dropped").inner_text()
    assert max(sent, default=0) < 1_000_000
    # The next one is taken.
    drop(page, _put(tmp_path / "fill_bw.1.log", LOG))
    page.wait_for_function("() => document.getElementById('dropped').textContent.includes('The write cache ends')")


def names(page):
    """Of the lines of the main picture."""
    return page.evaluate("document.getElementById('main').data.map(line => line.name)")


def test_what_is_published_of_a_drive_is_laid_over_its_curve(tab, served):
    page = tab("?on=sim:pm871b-128gb")
    button = page.get_by_role("button", name="As published")
    assert button.is_hidden(), "nobody says where its cache ends"
    page.get_by_label("Drive", exact=True).select_option("sim:aldrin-pro-2tb")
    settle(page)
    button.click()
    settle(page)
    assert names(page) == ["write", "published"]
    x, y = page.evaluate("(line => [line.x, line.y])(document.getElementById('main').data[1])")
    speed = [next(y for x, y in zip(x, y, strict=True) if x > gb) for gb in (100, 800, 1500)]
    assert speed == [6579, 2159, 863]
    assert "Published: the article on the Aldrin Pro's cache modes" in page.locator("#findings").inner_text()
    # The firmware's other rules do not change what was published.
    choose(page, "cache.mode", "pure-xlc")
    assert names(page) == ["write", "before: write", "published"]
    page.reload()
    settle(page)
    assert "published" in names(page)
    button.click()
    settle(page)
    assert "published" not in names(page)


def test_a_trace_that_is_dropped_is_drawn_and_replayed_on_the_drives_of_the_bench(tab, served, tmp_path):
    """Of two devices the one that moves more; it reaches beyond the second drive."""
    draw = random.Random(4)
    rows = [f"{us},{draw.choice(('read', 'write', 'write'))},{draw.randrange(5_000_000) * 4096},65536,big"
            for us in range(0, 40_000_000, 20_000)]  # fmt: skip
    text = "\n".join(["time_us,op,offset,size,device", "0,write,0,512,small", *rows])
    work = _put(tmp_path / "work of mine.csv", text)
    page = tab(f"?on=sim:sn550-1tb&on={SMALL}")
    drop(page, work)
    page.wait_for_function("() => document.querySelectorAll('#dropped .js-plotly-plot').length === 3")
    page.get_by_role("button", name="Replay it on the bench").click()
    page.wait_for_function("() => document.body.dataset.bench.includes('work')")
    settle(page)
    assert page.locator("#suite").evaluate("list => list.selectedOptions[0].textContent") == "trace: work of mine.csv"
    assert "Would this work ever meet the cliff?" in page.locator("#question").inner_text()
    commands = [shlex.split(line) for line in copied(page, "Copy as command").splitlines()]
    assert [command[3:] for command in commands] == [
        ["--device", "big", "--on", "sim:sn550-1tb"], ["--device", "big", "--addresses", "wrap", "--on", SMALL],
    ]  # fmt: skip
    assert findings(page) == run(served, *commands[0][1:])
    page.locator("#at").get_by_text("2: ./small.toml").click()
    settle(page)
    assert findings(page) == run(served, *commands[1][1:])
    assert "start again at 0" in page.locator("#findings").inner_text()
    # A knob turned is another answer to the same trace; and back to a suite.
    choose(page, "cache.mode", "pure-xlc", drive=1)
    assert "WAF" in page.locator("#findings").inner_text()
    page.reload()
    settle(page)
    assert "work%20of%20mine" in page.url or "work+of+mine" in page.url
    page.get_by_label("Suite", exact=True).select_option("fill")
    settle(page)
    assert "No cliff" in page.locator("#findings").inner_text()
    assert "no trace is named /tmp/gone.csv" in tab("?suite=/tmp/gone.csv").locator("#trouble").inner_text()


def test_two_buttons_of_each_picture_save_it(tab, tmp_path):
    page = tab(colours="dark")
    page.get_by_text("More pictures").click()
    page.wait_for_function("() => document.querySelectorAll('#more .plot .main-svg').length > 5")
    for figure in (page.locator("#main-figure"), page.locator("#more figure").first):
        files = figure.locator(".files")
        for kind in ("png", "svg"):
            for white in (False, True):
                files.locator("input").set_checked(white)
                with page.expect_download() as saved:
                    files.locator(f"button[data-format={kind}]").click()
                path = tmp_path / f"{white}.{kind}"
                saved.value.save_as(path)
                assert saved.value.suggested_filename.endswith(f".{kind}")
                if kind == "png":
                    assert struct.unpack(">II", path.read_bytes()[16:24]) == (1600, 900)
                else:
                    drawn = path.read_text()
                    assert drawn.startswith("<svg")
                    assert ("rgb(255, 255, 255)" in drawn) == white


def test_figures_of_a_review_are_laid_over_the_curve(tab):
    page = tab()
    page.locator("#published").fill("cache=1GB speed1=800MB/s speed2=300MB/s")
    page.locator("#published").press("Enter")
    settle(page)
    assert page.evaluate("document.getElementById('main').data.map(line => line.name)") == ["write", "published"]
    page.reload()
    settle(page)
    assert page.evaluate("document.getElementById('main').data.map(line => line.name)") == ["write", "published"]
    page.locator("#published").fill("cache=1GB quick")
    page.locator("#published").press("Enter")
    settle(page)
    assert "quick" in page.locator("#findings").inner_text()
    page.get_by_role("button", name="Nothing over it").click()
    settle(page)
    assert page.evaluate("document.getElementById('main').data.map(line => line.name)") == ["write"]


def test_recordings_are_kept_sorted_filtered_compared_and_deleted_after_a_question(tab, served):
    page = tab()
    for key, word in (("cache.mode", "pure-xlc"), ("cache.mode", "dynamic-slc")):
        choose(page, key, word)
        page.get_by_role("button", name="Keep in runs/").click()
        page.wait_for_function("() => document.getElementById('kept').textContent.includes('kept as')")
        settle(page)
    page.get_by_text("Recordings").click()
    rows = page.locator("#recordings tbody tr")
    rows.nth(1).wait_for()
    assert rows.count() == len(list((served.folder / "runs").glob("*/run.json"))) == 2
    page.locator("#recordings").get_by_role("button", name="target").click()
    page.wait_for_function("() => document.querySelector('th[aria-sort=ascending], th[aria-sort=descending]')"
                           ".textContent.startsWith('target')")  # fmt: skip
    targets = rows.locator("td:nth-child(5)").all_inner_texts()
    assert targets == sorted(targets)
    page.locator("#filter").fill("pure-xlc")
    page.wait_for_function("() => document.querySelectorAll('#recordings tbody tr').length === 1")
    page.locator("#filter").fill("")
    page.wait_for_function("() => document.querySelectorAll('#recordings tbody tr').length === 2")
    for pick in page.locator("#recordings input[type=checkbox]").all():
        pick.check()
    page.wait_for_function("() => !document.getElementById('compare').hidden")
    with urllib.request.urlopen(served.address + page.locator("#compare").get_attribute("href")) as compared:
        assert b"Comparison of" in compared.read()
    with urllib.request.urlopen(
        served.address + page.get_by_role("link", name=re.compile("^Open ")).first.get_attribute("href")
    ) as report:
        assert b"How it was measured" in report.read()
    asked = []
    page.once("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    page.get_by_role("button", name=re.compile("^Delete ")).first.click()
    page.wait_for_timeout(1500)
    assert "This cannot be undone" in asked[0]
    assert rows.count() == 2
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name=re.compile("^Delete ")).first.click()
    page.wait_for_function("() => document.querySelectorAll('#recordings tbody tr').length === 1")
    assert len(list((served.folder / "runs").glob("*/run.json"))) == 1
    for name in ("..", "../..", "no-such"):
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"{served.address}report/{name}")


@pytest.mark.slow
def test_a_twin_of_a_dropped_recording_is_fitted_and_put_on_the_bench(tab, served, files):
    page = tab()
    drop(page, files / "run/run.json", files / "run/series.parquet")
    page.get_by_role("button", name="Fit a twin").click()
    page.get_by_role("progressbar", name="Progress of the fit").wait_for()
    page.get_by_text("The twin is on the bench").wait_for(timeout=600_000)
    settle(page)
    assert part(page, "knob", "cache.dynamic").input_value()
    assert "twin.toml" in page.url
    assert list(served.folder.glob("*twin.toml"))
    names = page.evaluate("document.getElementById('main').data.map(line => line.name)")
    assert any(name.startswith("measured") for name in names)


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_has_no_serious_finding_and_nothing_is_cut_on_a_phone(colours, tab):
    page = tab(f"?on={SMALL}&on={SMALL},cache.mode=pure-xlc", size=(400, 844), colours=colours)
    page.evaluate("() => document.querySelectorAll('details').forEach(part => { part.open = true; })")
    page.wait_for_function("() => document.querySelectorAll('#more .plot .main-svg').length > 5")
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    found = Axe().run(page).response["violations"]
    serious = [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in found
               if one["impact"] in ("serious", "critical")]  # fmt: skip
    assert serious == []


def test_the_keyboard_reaches_every_control(tab):
    page = tab()
    page.evaluate("() => document.querySelectorAll('details').forEach(part => { part.open = true; })")
    wanted = page.evaluate("""() => [...document.querySelectorAll('main input, main button, main summary')]
      .filter(one => one.offsetParent !== null && !one.disabled && one.type !== 'file').length""")
    reached = set()
    page.locator("body").click(position={"x": 1, "y": 1})
    for _ in range(3 * wanted):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate("""() => { const one = document.activeElement;
          one.dataset.reached = one.dataset.reached || Math.random(); return one.dataset.reached; }""")
        )
    # Of words that exclude each other one stop stands for all.
    radios = page.evaluate("document.querySelectorAll('main input[type=radio]:not(:checked)').length")
    assert len(reached) >= wanted - radios


def test_another_suite_and_another_drive_are_chosen_from_lists(tab, served):
    page = tab()
    for label, word, said in (
        ("Suite", "second-pass", "suite=second-pass"),
        ("Suite", "fill", "suite=fill"),
        ("Drive", "sim:pm871b-128gb", "pm871b-128gb"),
    ):
        page.get_by_label(label, exact=True).select_option(word)
        page.wait_for_function("said => document.body.dataset.bench.includes(said)", arg=said)
        settle(page)
    assert findings(page) == run(served, "run", "fill", "--on", "sim:pm871b-128gb")
