"""The pages in a real browser: Chromium without a window, through Playwright."""

import re
import struct
from datetime import datetime

import pytest

import pslc
from pslc.recording import comparison
from pslc.report import export, page, recording_view
from tests.conftest import fill, needs_chromium

pytestmark = needs_chromium
TARGET = "sim:aldrin-pro-2tb"
SIZES = {"desk": (1280, 900), "phone": (400, 844)}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A folder with a page of a run and one of a comparison."""
    folder = tmp_path_factory.mktemp("pages")
    page.write(recording_view.of_recording(fill(TARGET)), folder / "run.html")
    sides = [
        comparison.Side("usual", (fill(TARGET),)),
        comparison.Side("no cache", (pslc.run("fill", on=f"{TARGET},cache.mode=pure-xlc"),)),
    ]
    page.write_comparison(sides, comparison.compare(sides, {}), folder / "comparison.html")
    return folder


@pytest.fixture
def shown(chromium, pages):
    """Open a page: `shown("run.html", "phone", "dark")` gives it, and what it complained of."""
    contexts = []

    def show(name, size="desk", colours="light"):
        width, height = SIZES[size]
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme=colours, offline=True, is_mobile=size == "phone"
        )
        contexts.append(context)
        opened, complaints = context.new_page(), []
        opened.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        opened.on("pageerror", lambda error: complaints.append(str(error)))
        opened.on("request", lambda asked: None if asked.url.startswith(("file:", "data:", "blob:")) else
                  complaints.append(f"asked for {asked.url}"))  # fmt: skip
        opened.goto((pages / name).as_uri())
        opened.wait_for_function(
            "[...document.querySelectorAll('.plot')].every(plot => plot.querySelector('.main-svg') && plot.data)"
        )
        return opened, complaints

    yield show
    for context in contexts:
        context.close()


@pytest.mark.parametrize(
    ("name", "size", "colours"),
    [
        ("run.html", "desk", "light"),
        ("run.html", "phone", "dark"),
        ("comparison.html", "desk", "dark"),
        ("comparison.html", "phone", "light"),
    ],
)
def test_every_picture_is_drawn_without_a_complaint(name, size, colours, shown):
    opened, complaints = shown(name, size, colours)
    for plot in opened.query_selector_all(".plot"):
        lines = plot.query_selector_all(".scatterlayer .trace path.js-line")
        assert lines, plot.get_attribute("id")
        box = plot.bounding_box()
        assert box["width"] > 300
        assert box["height"] > 200
    assert complaints == []


@pytest.mark.parametrize("name", ["run.html", "comparison.html"])
def test_nothing_is_wider_than_a_phone(name, shown):
    opened, _ = shown(name, "phone")
    assert opened.evaluate("document.documentElement.scrollWidth") <= SIZES["phone"][0]
    # A sentence in a table is no tower of words either: the table scrolls.
    rows = opened.evaluate("Array.from(document.querySelectorAll('tr')).map(row => row.offsetHeight)")
    assert max(rows) < 150


def test_the_colours_follow_those_of_the_system(shown):
    papers = []
    for colours in ("light", "dark"):
        opened, _ = shown("run.html", colours=colours)
        ink, paper = (
            opened.evaluate(f"getComputedStyle(document.body).{name}") for name in ("color", "backgroundColor")
        )
        axis = opened.evaluate("getComputedStyle(document.querySelector('.xtick text')).fill")
        papers.append([sum(map(int, re.findall(r"\d+", colour)[:3])) / 765 for colour in (ink, paper, axis)])
    (ink, paper, axis), (dark_ink, dark_paper, dark_axis) = papers
    assert ink < 0.3 < 0.8 < paper
    assert dark_paper < 0.3 < 0.8 < dark_ink
    assert axis < 0.5 < dark_axis


def test_a_click_on_a_legend_hides_its_line(shown):
    opened, complaints = shown("comparison.html")
    plot = opened.locator("#speed-bytes")
    visible = "document.getElementById('speed-bytes').data.map(line => line.visible ?? true)"
    assert opened.evaluate(visible) == [True, True]
    plot.locator(".legendtoggle").nth(1).click()
    opened.wait_for_function(f"{visible}[1] === 'legendonly'")
    assert opened.evaluate(visible) == [True, "legendonly"]
    assert complaints == []


def _second_phase():
    """The word of the second phase, as a picture has it."""
    phase = fill(TARGET).findings["phases"][1]
    return f"{phase['cause']} {phase['bytes_per_s'] / 1e6:.0f}"


@pytest.mark.long
def test_each_picture_is_exported_with_drive_conditions_and_date_on_white(tmp_path):
    shown = recording_view.of_recording(fill(TARGET), "My drive")
    for kind, begins in (("png", b"\x89PNG"), ("svg", b"<svg")):
        files = export.write(shown.pictures, page.About.of(shown), tmp_path / kind, kind)
        assert sorted(file.stem for file in files) == sorted(
            picture.name for picture in shown.pictures if picture.lines
        )
        assert all(file.read_bytes().startswith(begins) for file in files)
    drawn = (tmp_path / "svg" / "speed-bytes.svg").read_text()
    for said in ("GB written", _second_phase(), "My drive: Speed against GB written", f"simulated as {TARGET}"):
        assert said in drawn
    assert f"{datetime.fromtimestamp(fill(TARGET).began_unix_ns / 1e9):%Y-%m-%d}" in drawn
    assert size_of((tmp_path / "png" / "speed-bytes.png").read_bytes()) == (1600, 900)


def size_of(png):
    """Width and height, of its first chunk."""
    return struct.unpack(">II", png[16:24])


def test_no_button_leaves_the_page_and_two_save_a_picture(shown, tmp_path):
    opened, complaints = shown("run.html", colours="dark")
    buttons = {button.get_attribute("data-title") for button in opened.query_selector_all(".modebar-btn")}
    assert buttons == {"Zoom", "Pan", "Reset axes"}
    for kind in ("png", "svg"):
        for white in (False, True):
            files = opened.locator("figure", has=opened.locator("#speed-bytes")).locator(".files")
            files.locator("input").set_checked(white)
            with opened.expect_download() as saved:
                files.locator(f"button[data-format={kind}]").click()
            path = tmp_path / f"{white}.{kind}"
            saved.value.save_as(path)
            assert saved.value.suggested_filename == f"speed-bytes.{kind}"
            if kind == "png":
                assert size_of(path.read_bytes()) == (1600, 900)
            else:
                assert ("rgb(255, 255, 255)" in path.read_text()) == white
    assert complaints == []


def test_a_table_that_goes_on_says_so_on_a_phone(shown):
    opened, _ = shown("run.html", "phone")
    wide = opened.locator(".wide.on").first
    assert opened.locator(".wide.on + .more").first.is_visible()
    wide.evaluate("box => box.scrollLeft = 1000")
    assert wide.evaluate("box => box.scrollLeft") > 0
    opened, _ = shown("run.html")
    assert opened.locator(".wide.on").count() == 0
    assert not opened.locator(".more").first.is_visible()


def test_without_a_browser_the_export_says_what_to_install(command, tmp_path):
    fill("sim:pm871b-128gb").save(tmp_path / "run")
    done = command("report", "run", "--png", "pictures", CHROME="/no/such/browser")
    assert done.returncode == 2
    assert "hint: install Chromium" in done.stderr
    assert (tmp_path / "run" / "report.html").exists()
