"""The pages in a real browser: Chromium without a window, through Playwright."""

import re
import struct

import pytest
from benches.small import PROFILE

import pslc
from pslc.recording import comparison, store
from pslc.report import page, recording_view
from tests.conftest import fill, needs_chromium

pytestmark = needs_chromium
TARGET = "sim:aldrin-pro-2tb"
SIZES = {"desk": (1280, 900), "phone": (400, 844)}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A folder with pages of a curve, of bars, and of a comparison."""
    folder = tmp_path_factory.mktemp("pages")
    page.write(recording_view.of_recording(fill(TARGET)), folder / "run.html")
    (folder / "small.toml").write_text(PROFILE)
    bars = pslc.run("as-ssd", on=f"sim:{folder}/small.toml")
    page.write(recording_view.of_recording(bars), folder / "bars.html")
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
        opened.evaluate("document.querySelectorAll('details.pictures').forEach(fold => fold.open = true)")
        opened.wait_for_function(
            "[...document.querySelectorAll('.plot')].every(plot => plot.querySelector('svg') || !plot.clientWidth)"
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
        lines = plot.query_selector_all(".drawn path.stroke")
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


def lightness(opened):
    """Of text, paper, an axis' label and the first line, from 0 (black) to 1."""
    colors = opened.evaluate("""() => [[document.body, "color"], [document.body, "backgroundColor"],
        [document.querySelector(".ytick"), "fill"], [document.querySelector(".stroke"), "stroke"]]
        .map(([element, name]) => getComputedStyle(element)[name])""")
    return [sum(map(int, re.findall(r"\d+", color)[:3])) / 765 for color in colors]


def test_the_colors_follow_the_system_without_a_new_drawing_and_paper_is_white(shown):
    opened, _ = shown("run.html", colours="dark")
    ink, paper, label, line = lightness(opened)
    assert paper < 0.3 < 0.8 < min(ink, label)
    drawn = opened.evaluate("document.querySelector('.plot svg').outerHTML")
    for media in ({"color_scheme": "light"}, {"color_scheme": "dark", "media": "print"}):
        if "media" in media:
            assert opened.evaluate("document.querySelector('.plot svg').outerHTML") == drawn
        opened.emulate_media(**media)
        light_ink, light_paper, light_label, light_line = lightness(opened)
        assert max(light_ink, light_label) < 0.3 < 0.9 < light_paper, media
        assert light_line < line


def test_labels_of_axes_are_within_the_picture_and_cover_no_other(shown):
    for name, size in (
        ("run.html", "phone"),
        ("bars.html", "phone"),
        ("bars.html", "desk"),
        ("comparison.html", "desk"),
    ):
        opened, _ = shown(name, size)
        cut = opened.evaluate("""() => [...document.querySelectorAll(".plot svg")].flatMap(svg => {
            const frame = svg.getBoundingClientRect();
            return [...svg.querySelectorAll("text")].filter(text => { const box = text.getBoundingClientRect();
                return box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1; })
                .map(text => text.textContent); })""")
        assert cut == []


def test_a_click_on_a_legend_hides_its_line_and_pointing_tells_values(shown):
    opened, complaints = shown("comparison.html")
    plot = opened.locator("#speed-bytes")
    assert plot.locator(".drawn:not(.off)").count() == 2
    plot.locator(".key").nth(1).click()
    assert plot.locator(".drawn:not(.off)").count() == 1
    box = plot.locator("svg").bounding_box()
    opened.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + box["height"] * 0.5)
    assert re.fullmatch(
        r"written \d+(\.\d)? GB; usual 6,63\d MB/s; no cache 2,1\d\d MB/s", plot.locator(".readout").inner_text()
    )
    assert complaints == []


def test_each_picture_is_exported_with_drive_conditions_and_date(command, tmp_path):
    store.save(fill(TARGET), tmp_path / "run")
    shown = recording_view.of_recording(fill(TARGET), "My drive")
    for kind, begins in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        command.fine("report", "run", f"--{kind}", kind, "--label", "My drive", "-o", "a.html")
        files = list((tmp_path / kind).iterdir())
        assert sorted(file.stem for file in files) == sorted(p.name for p in shown.pictures if p.has_data)
        assert not [file for file in files if not file.read_bytes().startswith(begins)]
    assert size_of((tmp_path / "png" / "speed-bytes.png").read_bytes()) == (1600, 900)


def size_of(png):
    """Width and height, of its first chunk."""
    return struct.unpack(">II", png[16:24])


def test_two_buttons_save_a_picture(shown, tmp_path):
    opened, complaints = shown("run.html", colours="dark")
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
                text = path.read_text()
                assert ("--paper: #ffffff" in text) == white
                for said in ("written (GB)", "cache ends at", f"simulated as {TARGET}", "Pichau Aldrin Pro 2TB"):
                    assert said in text
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
