"""Questions for the static page: every drive, every policy, random settings; and where `make web` has built it."""

import json
import random
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pslc.base.errors import PslcError
from pslc.device import parts
from pslc.device.profiles import library
from pslc.lab import page_data

ROOT = Path(__file__).parents[1]
MODULE = ROOT / "target/wasm/wasm32-unknown-unknown/web/pslc_web.wasm"
PAGE = ROOT / "target/web/index.html"
FILL = "[fill]\nioengine=io_uring\nrw=write\nbs=1m\niodepth=32\nsize=100%\n"
SCALED = 16


def questions(count: int, seed: int) -> list[dict[str, object]]:
    """Every drive as sold, every policy on one, and random settings of random drives."""
    drives = {slug: page_data.drive(slug) for slug in library()}
    pick = random.Random(seed)

    def question(slug: str, overrides: list[tuple[str, str]], denominator: int) -> dict[str, object]:
        return {"profile": drives[slug]["profile"], "overrides": overrides, "job": FILL, "denominator": denominator}

    asked = [question(slug, [], SCALED) for slug in drives]
    knobs = {knob["key"]: knob for knob in drives["aldrin-pro-2tb"]["knobs"]}
    asked += [
        question("aldrin-pro-2tb", [("cache.when_full", word)], SCALED) for word in knobs["cache.when_full"]["stops"]
    ]
    asked += [question("aldrin-pro-2tb", [("cache.mode", word)], 1) for word in ("dynamic-slc", "pure-xlc")]
    for _ in range(count):
        slug = pick.choice(list(drives))
        turned = pick.sample(list(drives[slug]["knobs"]), 3)
        pairs = [pair for knob in turned for pair in knob["pairs"][pick.choice(list(knob["stops"]))]]
        asked.append(question(slug, pairs, SCALED))
    return asked


def drives_of_parts(count: int, seed: int) -> list[dict[str, object]]:
    """Fills of drives of random dies and controllers, as far as these can be together."""
    pick = random.Random(seed)
    asked: list[dict[str, object]] = []
    while len(asked) < count:
        die, controller = pick.choice(list(parts.nands())), pick.choice(list(parts.controllers()))
        try:
            profile = parts.profile(
                nand=die, controller=controller, capacity=pick.choice(["500GB", "1TB", "2TB"]), cache={}
            )
        except PslcError:
            continue
        asked.append({"profile": profile.text, "overrides": [], "job": FILL, "denominator": SCALED})
    return asked


def answers(asked: Sequence[Mapping[str, object]]) -> list[dict[str, Any]]:
    """What the WebAssembly module answers under Node.js: each `answer`, with its `cpu_ms` and `memory_bytes`."""
    done = subprocess.run(["node", str(ROOT / "web/answers.mjs"), str(MODULE), "json"], capture_output=True, text=True,
                          input="".join(json.dumps(question) + "\n" for question in asked), check=True)  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]
