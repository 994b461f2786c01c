"""The documents as a site, as `make docs` builds it."""

import re
import subprocess
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from pslc.device.profiles import library
from tests.conftest import ROOT, needs_chromium

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site() -> Path:
    """The site; a broken link ends the build."""
    subprocess.run(["make", "docs"], cwd=ROOT, check=True)
    return ROOT / "target" / "site"


def test_every_link_and_picture_leads_somewhere(site):
    broken, looked = [], 0
    for page in site.rglob("*.html"):
        if page.name == "404.html":  # its links begin at the root of a server
            continue
        for link in re.findall(r'(?:href|src)="([^"]+)"', page.read_text(encoding="utf-8")):
            address, fragment = urldefrag(unescape(link))
            if re.match(r"[a-z]+:", link):
                continue
            target = (page.parent / unquote(address)) if address else page
            target = target / "index.html" if target.is_dir() else target
            looked += 1
            if not target.exists():
                broken.append((page.name, link))
            elif fragment and target.suffix == ".html" and not fragment.startswith("__"):
                text = target.read_text(encoding="utf-8")
                if f'id="{fragment}"' not in text and f'name="{fragment}"' not in text:
                    broken.append((page.name, link))
    assert looked > 1000
    assert not broken


def test_each_drive_has_a_page_with_its_curve(site):
    gallery = (site / "drives" / "index.html").read_text()
    for name in library():
        page = (site / "drives" / f"{name}.html").read_text()
        assert f'src="{name}.svg"' in page
        assert f"pslc run fill --on sim:{name}" in page
        assert f'href="{name}.html"' in gallery
        assert (site / "drives" / f"{name}.svg").stat().st_size > 5000


@needs_chromium
def test_the_search_answers_from_disk(site, chromium):
    page = chromium.new_page()
    page.goto((site / "safety.html").as_uri())
    page.get_by_placeholder("Search").first.press_sequentially("idle threshold")
    page.locator(".md-search-result__item").first.wait_for(timeout=20_000)


def test_the_reference_says_what_every_public_name_takes_and_gives(site):
    page = (site / "api.html").read_text()
    for name in ("run", "Recording", "save", "Scope", "analyze", "study", "errors.PslcError"):
        assert f'id="pslc.{name}"' in page


FETCHED = re.compile(r'<(?:script|img|iframe)[^>]*src="https?:|<link[^>]*rel="stylesheet"[^>]*href="https?:')


def test_nothing_is_fetched_from_elsewhere(site):
    for page in site.rglob("*.html"):
        assert not FETCHED.search(page.read_text(encoding="utf-8")), page


def test_a_broken_link_ends_the_build(tmp_path):
    docs, config = tmp_path / "docs", ROOT / "target" / "broken.yml"
    subprocess.run(["cp", "-r", ROOT / "docs", docs], check=True)
    (docs / "concepts.md").write_text((docs / "concepts.md").read_text() + "\n[nowhere](nothing.md)\n")
    text = (ROOT / "mkdocs.yml").read_text()
    for own, other in (
        ("site_dir: target/site", f"site_dir: {tmp_path / 'site'}"),
        ("docs_dir: docs", f"docs_dir: {docs}"),
        ("paths: [python]", "paths: [../python]"),
        ("docs/site/hooks.py", "../docs/site/hooks.py"),
    ):
        assert own in text
        text = text.replace(own, other)
    config.write_text(text)
    words = [ROOT / ".venv/bin/mkdocs", "build", "--strict", "--config-file", config]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "nothing.md" in done.stderr
