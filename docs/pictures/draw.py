"""Draw the pictures of the documents anew: `make picture`. Every curve is a run of the simulated drive it names."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from playwright.sync_api import sync_playwright

import pslc
from pslc.recording.writes import write_curve
from pslc.report import export

FOLDER = Path(__file__).parent
WORDS = {"pslc": "pSLC cache", "direct": "straight to TLC", "fold": "folding", "native": "native TLC", "link": "link"}


def step(axes: Axes, target: str, label: str, colour: str) -> pslc.Recording:
    """Speed against GB written of a fill of `target`."""
    recording = pslc.run("fill", on=target)
    curve = write_curve(recording)
    assert curve is not None, "a fill writes"
    axes.plot(curve.edges_bytes[1:] / 1e9, curve.bytes_per_s / 1e9, label=label, color=colour, linewidth=1.8)
    return recording


def save(figure: Figure, axes: Axes, name: str) -> None:
    """Write the picture; the same curve gives the same file."""
    axes.set_xlabel("GB written")
    axes.set_ylabel("GB/s")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    figure.tight_layout()
    figure.savefig(FOLDER / name, metadata={"Date": None})


def fill() -> None:
    """The README's first picture: `pslc run fill --on sim:aldrin-pro-2tb`."""
    figure, axes = plt.subplots(figsize=(9, 3.6))
    recording = step(axes, "sim:aldrin-pro-2tb", "", "#1f6fb4")
    for phase in recording.findings["phases"]:
        start, speed = phase["from_bytes"] / 1e9, phase["bytes_per_s"] / 1e9
        text = f"{WORDS[phase['cause']]}\n{speed * 1000:.0f} MB/s"
        axes.annotate(text, (start + 15, speed + 0.2), fontsize=9)
    axes.set_ylim(top=8)
    save(figure, axes, "fill.svg")


def modes() -> None:
    """One drive in its three modes."""
    figure, axes = plt.subplots(figsize=(9, 3.6))
    for mode, colour in (("dynamic-slc", "#1f6fb4"), ("pure-xlc", "#c2571a"), ("pure-slc", "#2e8b57")):
        step(axes, f"sim:aldrin-pro-2tb,cache.mode={mode}", f"cache.mode={mode}", colour)
    axes.legend(frameon=False)
    save(figure, axes, "modes.svg")


def policies() -> None:
    """What firmware does when the cache is full, on the same NAND."""
    figure, axes = plt.subplots(figsize=(9, 3.6))
    base = "sim:sn850-1tb,cache.shrink_from=100%"
    for text, label, colour in (
        ("cache.when_full=direct-then-fold", "direct-then-fold", "#1f6fb4"),
        ("cache.when_full=direct-while-folding", "direct-while-folding", "#c2571a"),
        ("cache.when_full=fold,cache.reuse=as-freed", "fold", "#2e8b57"),
    ):
        step(axes, f"{base},{text}", label, colour)
    axes.legend(frameon=False)
    save(figure, axes, "policies.svg")


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
        browser = playwright.chromium.launch(executable_path=export.browser())
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{address}?on=sim:aldrin-pro-2tb,cache.dynamic=320GB&before=0:sim:aldrin-pro-2tb&knob=cache.dynamic")
        drawn = "document.body.dataset.shown && document.querySelector('#main .scatterlayer .trace')"
        page.wait_for_function(drawn, timeout=120_000)
        page.locator("#moment").fill("200")
        page.wait_for_function("document.getElementById('said').textContent.startsWith('After')")
        page.screenshot(path=FOLDER / "lab.png")
        browser.close()
        server.terminate()


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "pslc"
    fill()
    modes()
    policies()
    lab()
