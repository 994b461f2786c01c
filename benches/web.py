"""How soon the static page answers, and whether random settings do: `make bench-web`. It takes minutes."""

import json
import random
import shutil
import subprocess
import time
from statistics import median

from playwright.sync_api import Page, sync_playwright

from benches.page_questions import MODULE, PAGE, ROOT, questions
from pslc.device.profiles import library
from pslc.lab import page_data

SETTINGS = 100
QUESTIONS = 200
OPENINGS = 5


def main() -> None:
    """Print a line for each measurement."""
    lines = "".join(json.dumps(question) + "\n" for question in questions(QUESTIONS, 2))
    native = _answers(["cargo", "run", "--quiet", "--release", "--package", "pslc-web", "--example", "answers"], lines)
    browser = _answers(["node", str(ROOT / "web/answers.mjs"), str(MODULE)], lines)
    same = sum(a == b for a, b in zip(native, browser, strict=True))
    print(f"answers like the native build, to the byte: {same} of {len(native)}", flush=True)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        firsts, wholes = zip(*(_open(page) for _ in range(OPENINGS)), strict=True)
        print(
            f"first picture after opening (SN850): {median(firsts):.2f} s, the whole drive: {median(wholes):.2f} s",
            flush=True,
        )
        print(f"coarse answer after a knob's move: {1e3 * median(_turn(page) for _ in range(20)):.0f} ms", flush=True)
        _walk(page)
        chromium.close()


def _answers(command: list[str], lines: str) -> list[str]:
    done = subprocess.run(command, cwd=ROOT, input=lines, capture_output=True, text=True, check=True)
    return done.stdout.split()


def _open(page: Page) -> tuple[float, float]:
    """Seconds until the first curve is there, and that of the whole drive."""
    page.goto("about:blank")
    began = time.perf_counter()
    page.goto(f"{PAGE.as_uri()}#view=lab&drive=sn850-1tb")
    page.wait_for_selector(".run[data-denominator]", state="attached")
    first = time.perf_counter() - began
    page.wait_for_selector(".run[data-done]", state="attached")
    return first, time.perf_counter() - began


def _turn(page: Page) -> float:
    """Seconds from a key on a knob to the curve of the smaller copy."""
    page.evaluate("document.querySelector('.run').removeAttribute('data-denominator')")
    began = time.perf_counter()
    page.press("label[title='cache.dynamic'] input", "ArrowLeft")
    page.wait_for_selector(".run[data-denominator]", state="attached")
    return time.perf_counter() - began


def _walk(page: Page) -> None:
    """Random drives with random knobs: each is answered, or refused in words."""
    pick = random.Random(1)
    drives = [page_data.drive(slug) for slug in library()]
    refused = failed = 0
    for _ in range(SETTINGS):
        drive = pick.choice(drives)
        turned = pick.sample(list(drive["knobs"]), 2)
        knobs = "".join(f"&{knob['key']}={pick.choice(list(knob['stops']))}" for knob in turned)
        page.goto("about:blank")
        page.goto(f"{PAGE.as_uri()}#view=lab&drive={drive['slug']}{knobs}")
        page.wait_for_selector(".run[data-done]", state="attached", timeout=120_000)
        if page.get_attribute(".run", "data-done") != "true":
            refused += 1
            words = page.inner_text(".problem")
            if not words or "bug in pslc" in words:
                failed += 1
                print(f"FAILED {drive['slug']}{knobs}: {words}", flush=True)
    print(f"random settings: {SETTINGS - refused} answered, {refused - failed} refused in words, {failed} failed")


if __name__ == "__main__":
    main()
