"""The page of a study in a real browser: readable, nothing cut, every point leads to its command."""

import re

import pytest

from pslc.studies import analysis, page
from pslc.studies.points import Study
from tests.conftest import needs_chromium

pytestmark = needs_chromium
WIDTHS = {"desk": 1280, "phone": 400}
SERIOUS = {"serious", "critical"}


def row(size, threshold, policy, number):
    speed = 1e9 + number * 1e7 + (2e8 if policy == "fold" else 0)
    axes = {"on": "sim:sn850-1tb", "run": "fill", "seed": 0, "cache.dynamic": size, "cache.idle.threshold": threshold}
    command = f"pslc run fill --on sim:sn850-1tb,cache.dynamic={size},cache.idle.threshold={threshold} --seed 0"
    own = {"command": f"{command} # {policy}", "stands_on": "", "version": "0", "error": None, "wall_s": 1.0}
    found = {"fill_mean_bytes_per_s": speed, "recovery_s": 100.0 - number, "write_amplification": 1 + number / 50}
    return axes | {"cache.when_full": policy} | own | found


@pytest.fixture(scope="module")
def study_page(tmp_path_factory):
    """Two axes over each other in maps of single points, a third of two words."""
    sizes, thresholds = [f"{n}GB" for n in range(50, 401, 50)], ["100ms", "1s", "10s"]
    vary = {"cache.dynamic": sizes, "cache.idle.threshold": thresholds, "cache.when_full": ["fold", "direct-then-fold"]}
    study = Study.of({"on": "sim:sn850-1tb", "run": "fill", "vary": vary})
    values = [(a, b, c) for a in sizes for b in thresholds for c in vary["cache.when_full"]]
    rows = [row(*of, number) for number, of in enumerate(values)]
    folder = tmp_path_factory.mktemp("study")
    page.write(analysis.answers(study, rows), "sizes", folder / "study.html", {})
    few = Study.of({"on": "sim:sn850-1tb", "run": "fill", "vary": {k: vary[k] for k in list(vary)[:2]}})
    page.write(analysis.answers(few, rows[::2]), "few", folder / "few.html", {})
    return folder


@pytest.fixture
def shown(chromium, study_page):
    contexts = []

    def show(name, size, colours):
        context = chromium.new_context(
            viewport={"width": WIDTHS[size], "height": 900}, color_scheme=colours, is_mobile=size == "phone"
        )
        contexts.append(context)
        opened = context.new_page()
        opened.goto((study_page / name).as_uri())
        opened.wait_for_function(
            "document.querySelectorAll('.plot svg').length >= document.querySelectorAll('.plot').length"
        )
        return opened

    yield show
    for context in contexts:
        context.close()


@pytest.mark.parametrize(("size", "colours"), [("desk", "dark"), ("phone", "light")])
def test_axe_has_no_serious_finding_and_nothing_is_wider_than_the_screen(size, colours, shown):
    from axe_playwright_python.sync_playwright import Axe

    opened = shown("study.html", size, colours)
    found = Axe().run(opened).response["violations"]
    assert [(wrong["id"], wrong["nodes"][0]["html"]) for wrong in found if wrong["impact"] in SERIOUS] == []
    assert opened.evaluate("document.documentElement.scrollWidth") <= WIDTHS[size]


def test_a_saved_picture_says_of_what_and_when_and_every_table_has_a_cue(shown):
    opened = shown("study.html", "phone", "light")
    texts = opened.evaluate(
        "JSON.parse(document.getElementById('figures').textContent).map(figure => figure.conditions)"
    )
    assert len(texts) > 1
    for text in texts:
        assert re.fullmatch(r"fill on sim:sn850-1tb, 48 points, 20\d\d-\d\d-\d\d, pslc [\d.]+", text)
    opened.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    opened.evaluate("window.dispatchEvent(new Event('resize'))")
    without = """[...document.querySelectorAll('.wide')].filter(table => table.scrollWidth > table.clientWidth + 1 &&
        !table.nextElementSibling?.checkVisibility()).map(table => table.getAttribute('aria-label'))"""
    assert opened.evaluate(without) == []


def test_a_point_of_a_map_leads_to_its_command(shown):
    opened = shown("few.html", "desk", "light")
    link = opened.locator("td a", has_text="MB/s").first
    link.click()
    target = opened.locator(link.get_attribute("href"))
    assert target.is_visible()
    assert target.locator("code").inner_text().startswith("pslc run fill --on sim:sn850-1tb,cache.dynamic=50GB")
