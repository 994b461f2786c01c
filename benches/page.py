"""How soon the static page answers, and what the module takes: `make bench NAME=page`, which writes docs/speed/page.md.

Beside each wait stands the processor time of all processes of the browser meanwhile: that of a loaded machine is no
longer.
"""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Final

from playwright.sync_api import CDPSession, Page, sync_playwright

from benches import measured
from benches.page_questions import MODULE, PAGE, answers, question_of
from pslc.device.profiles import library

TABLE: Final = Path(__file__).parent.parent / "docs/speed/page.md"
OPENINGS: Final = 5
TURNS: Final = 20
ROUNDS: Final = 5
LAB: Final = "view=lab&drive=sn850-1tb"
COARSE: Final = ".run[data-denominator]"
"""A run whose first curve is drawn; `data-done` once it is of the whole drive."""
MODULE_ROWS: Final = (("SN850 1TB, whole", "sn850-1tb", 1), ("SN850 1TB, its first copy", "sn850-1tb", 16),
                      ("990 Pro 4TB, whole", "990-pro-4tb", 1))  # fmt: skip


def main() -> None:
    """Write the tables."""
    lines = ["| in Chromium | asked | wait | processor time |", "|---|---:|---:|---:|"]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        system, page = chromium.new_browser_cdp_session(), chromium.new_page(viewport={"width": 1280, "height": 900})
        opened = [_timed(system, lambda: _open(page, "")) for _ in range(OPENINGS)]
        lines.append(_row("the page opened from disk, to its first curve", 1500, opened))
        opened = [_timed(system, lambda: _open(page, LAB)) for _ in range(OPENINGS)]
        lines.append(_row("the lab opened with an SN850, to its first curve", 1500, opened))
        page.wait_for_selector(".run[data-done]", state="attached", timeout=120_000)
        turns = [_timed(system, lambda: _turn(page)) for _ in range(TURNS)]
        lines.append(_row("a knob moved, to the curve of the smaller copy", 100, turns))
        chromium.close()
    lines += ["", "| the module under Node.js | asked | processor time | memory |", "|---|---:|---:|---:|"]
    for name, slug, denominator in MODULE_ROWS:
        # Those behind the first find the module warm, as a page that is open does.
        asked = [question_of(library()[slug], slug, denominator=denominator)] * ROUNDS
        replies = answers(asked)[1:]
        spent, memory = median(reply["cpu_ms"] for reply in replies), max(reply["memory_bytes"] for reply in replies)
        aim = "2000 ms" if (slug, denominator) == ("sn850-1tb", 1) else ""
        lines.append(f"| {name} | {aim} | {spent:.0f} ms | {memory / 1e6:.0f} MB |")
    lines += ["", f"The module is {MODULE.stat().st_size / 1e3:.0f} kB, the page {PAGE.stat().st_size / 1e6:.1f} MB."]
    table = "\n".join(lines) + "\n"
    print(table)
    measured.write(TABLE, table)


def _row(name: str, asked_ms: int, times: list[tuple[float, float]]) -> str:
    waited, spent = (median(each) for each in zip(*times, strict=True))
    return f"| {name} | {asked_ms} ms | {1e3 * waited:.0f} ms | {1e3 * spent:.0f} ms |"


def _timed(system: CDPSession, work: Callable[[], None]) -> tuple[float, float]:
    """Seconds that work takes, and of the processor for all processes of the browser."""
    began, before = time.perf_counter(), _cpu_s(system)
    work()
    waited = time.perf_counter() - began
    return waited, sum(spent - before.get(process, 0.0) for process, spent in _cpu_s(system).items())


def _cpu_s(system: CDPSession) -> dict[int, float]:
    """Processor time so far of each process that runs, by its number."""
    processes = system.send("SystemInfo.getProcessInfo")["processInfo"]
    return {process["id"]: process["cpuTime"] for process in processes}


def _open(page: Page, address: str) -> None:
    page.goto("about:blank")
    page.goto(f"{PAGE.as_uri()}#{address}")
    page.wait_for_selector(COARSE, state="attached", timeout=120_000)


def _turn(page: Page) -> None:
    """A key on a knob, until the curve of the smaller copy is there."""
    page.evaluate("document.querySelector('.run').removeAttribute('data-denominator')")
    page.press("label[title='cache.dynamic'] input", "ArrowLeft")
    page.wait_for_selector(COARSE, state="attached", timeout=120_000)


if __name__ == "__main__":
    main()
