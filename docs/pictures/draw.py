"""Draw the pictures of the documents anew: `make picture`. Every curve is a run of the simulated drive it names, as
`pslc picture` draws it."""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import sync_playwright

import pslc
from pslc.figures.style import Style

FOLDER = Path(__file__).parent
LOOKS = Style(width=1440, height=620)


def fill() -> None:
    """The README's first picture: `pslc run fill --on sim:aldrin-pro-2tb`, then `pslc picture`."""
    pslc.plot(pslc.run("fill", on="sim:aldrin-pro-2tb"), style=LOOKS).save(FOLDER / "fill.svg")


def compare(name: str, title: str, targets: dict[str, str]) -> None:
    """Fills of targets, by their labels, in one picture."""
    recordings = [pslc.run("fill", on=target) for target in targets.values()]
    style = replace(LOOKS, title=title)
    pslc.compare(*recordings, labels=list(targets)).plot(style=style).save(FOLDER / name)


def modes() -> None:
    """One drive in its three modes."""
    names = ("dynamic-slc", "pure-xlc", "pure-slc")
    targets = {f"cache.mode={mode}": f"sim:aldrin-pro-2tb,cache.mode={mode}" for mode in names}
    compare("modes.svg", "Pichau Aldrin Pro 2TB in three cache modes", targets)


def policies() -> None:
    """What firmware does when the cache is full, on the same NAND."""
    base = "sim:sn850-1tb,cache.shrink_from=100%"
    targets = {
        "direct-then-fold": f"{base},cache.when_full=direct-then-fold",
        "direct-while-folding": f"{base},cache.when_full=direct-while-folding",
        "fold": f"{base},cache.when_full=fold,cache.reuse=as-freed",
    }
    compare("policies.svg", "WD Black SN850 1TB under three cache policies", targets)


def lab() -> None:
    """The lab page after its cache slider was turned: what a browser shows of `pslc lab`."""
    environment = os.environ | {"BROWSER": "true"}
    command = [str(Path(sys.executable).parent / "pslc"), "lab", "--port", "0"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as server,
        sync_playwright() as playwright,
    ):
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROME", shutil.which("chromium")))
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{address}#view=lab&drive=aldrin-pro-2tb")
        page.wait_for_selector(".run[data-done]", timeout=120_000)
        page.locator("label[title='cache.dynamic'] input").fill("32")
        page.wait_for_selector(".run:not([data-done])", timeout=120_000)
        page.wait_for_selector(".run[data-done]", timeout=120_000)
        page.screenshot(path=FOLDER / "lab.png")
        browser.close()
        server.terminate()


if __name__ == "__main__":
    fill()
    modes()
    policies()
    lab()
