"""The pages in a real browser: Chromium without a window, through Playwright."""

import re
import shutil

import pytest

import pslc
from pslc import view
from pslc.findings import comparison
from pslc.report import export, page
from tests.conftest import fill

CHROMIUM = next((path for path in map(shutil.which, export.BROWSERS) if path), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=f"none of {', '.join(export.BROWSERS)} is installed")
TARGET = "sim:aldrin-pro-2tb"
SIZES = {"desk": (1280, 900), "phone": (390, 844)}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A folder with a page of a run and one of a comparison."""
    folder = tmp_path_factory.mktemp("pages")
    page.write(view.of_recording(fill(TARGET)), folder / "run.html")
    sides = [
        comparison.Side("usual", (fill(TARGET),)),
        comparison.Side("no cache", (pslc.run("fill", on=f"{TARGET},cache.mode=pure-xlc"),)),
    ]
    page.write_comparison(sides, comparison.compare(sides, {}), folder / "comparison.html")
    return folder


@pytest.fixture(scope="module")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        yield browser
        browser.close()


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
            "document.querySelectorAll('.plot .main-svg').length >= document.querySelectorAll('.plot').length"
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


def test_each_picture_is_exported(tmp_path):
    pictures = view.of_recording(fill(TARGET)).pictures
    for kind, begins in (("png", b"\x89PNG"), ("svg", b"<svg")):
        files = export.write(pictures, tmp_path / kind, kind)
        assert sorted(file.stem for file in files) == sorted(picture.name for picture in pictures if picture.lines)
        assert all(file.read_bytes().startswith(begins) for file in files)
    drawn = (tmp_path / "svg" / "speed-bytes.svg").read_text()
    assert "GB written" in drawn
    assert "direct 2158" in drawn


def test_without_a_browser_the_export_says_what_to_install(command, tmp_path):
    fill("sim:pm871b-128gb").save(tmp_path / "run")
    done = command("report", "run", "--png", "pictures", CHROME="/no/such/browser")
    assert done.returncode == 2
    assert "hint: install Chromium" in done.stderr
    assert (tmp_path / "run" / "report.html").exists()
