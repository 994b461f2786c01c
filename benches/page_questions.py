"""Questions for the static page: every drive, every policy, random settings; and where `make web` has built it."""

import json
import random
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import isclose
from pathlib import Path
from typing import Any

import pslc
from pslc.base.errors import PslcError
from pslc.device import parts
from pslc.device.profiles import library
from pslc.lab import page_data

ROOT = Path(__file__).parents[1]
MODULE = ROOT / "target/wasm/wasm32-unknown-unknown/web/pslc_web.wasm"
PAGE = ROOT / "target/web/index.html"
FILL = "[fill]\nioengine=io_uring\nrw=write\nbs=1m\niodepth=32\nsize=100%\n"
SCALED = 16


@cache
def _parts() -> dict[str, str]:
    known = page_data.all_parts()
    of = {"nand": known["nands"], "controller": known["controllers"]}
    return {f"{kind}/{name}": json.dumps(part["part"]) for kind, some in of.items() for name, part in some.items()}


def question_of(
    profile: str, name: str = "drive", overrides: Sequence[tuple[str, str]] = (), denominator: int = 1
) -> dict[str, object]:
    """A question as the page asks it."""
    return {"profile": profile, "name": f"{name}.toml", "library": dict(library()), "parts": _parts(),
            "overrides": overrides, "job": FILL, "denominator": denominator}  # fmt: skip


def questions(count: int, seed: int) -> list[dict[str, object]]:
    """Every drive as sold, every policy on one, and random settings of random drives."""
    drives = {slug: page_data.drive(slug) for slug in library()}
    pick = random.Random(seed)

    def question(slug: str, overrides: list[tuple[str, str]], denominator: int) -> dict[str, object]:
        return question_of(drives[slug]["profile"], slug, overrides, denominator)

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
        asked.append(question_of(profile.text, denominator=SCALED))
    return asked


def answers(asked: Sequence[Mapping[str, object]]) -> list[dict[str, Any]]:
    """What the WebAssembly module answers under Node.js: each `answer`, with its `cpu_ms` and `memory_bytes`."""
    return _replies(["node", str(ROOT / "web/answers.mjs"), str(MODULE), "json"], asked)


def resolved(asked: Sequence[Mapping[str, object]]) -> list[dict[str, Any]]:
    """The whole `profile` of each drive, as the module derives it; by the native build."""
    return _replies(["cargo", "run", "--quiet", "--package", "pslc-web", "--example", "answers", "resolve"], asked)


def turned_at_random(slugs: Sequence[str], seed: int) -> list[tuple[str, list[tuple[str, str]]]]:
    """Each drive of a list with one knob or two at a random stop."""
    pick = random.Random(seed)
    knobs = {slug: page_data.drive(slug)["knobs"] for slug in slugs}
    turned = [(slug, pick.sample(list(knobs[slug]), pick.choice((1, 2)))) for slug in slugs]
    return [
        (slug, [pair for knob in some for pair in knob["pairs"][pick.choice(knob["stops"])]]) for slug, some in turned
    ]


def unlike_the_command(settings: Sequence[tuple[str, list[tuple[str, str]]]]) -> Iterator[str]:
    """Targets of which the page's fill is another than that of `pslc run fill`: one is refused and the other is not, or
    the time to the nanosecond or a count of bytes differs."""
    for slug, pairs in settings:
        spec = f"sim:{slug}" + "".join(f",{key}={value}" for key, value in pairs)
        try:
            [reply] = answers([question_of(library()[slug], slug, pairs)])
        except subprocess.CalledProcessError:
            yield f"{spec}: the page has no memory for it"
            continue
        answer = reply["answer"]
        try:
            recording = pslc.run("fill", on=spec)
        except PslcError:
            if "message" not in answer:
                yield f"{spec}: only the command refuses it"
            continue
        if "message" in answer:
            yield f"{spec}: only the page refuses it"
            continue
        took_s, counters = (answer["end_ns"] - answer["start_ns"]) / 1e9, answer["counters"]
        # The account of waits differs by some 1e-5 of what all requests waited.
        waits = {key for key in counters if key.startswith("waited_")}
        slack = 1e-4 * sum(counters[key] for key in waits)
        off = [key for key, of in counters.items() if abs(of - recording.totals[key]) > (key in waits) * slack]
        if off or not isclose(took_s, recording.drive_time_s, rel_tol=1e-9):
            yield f"{spec}: {took_s} s on the page, {recording.drive_time_s} s by the command; {', '.join(off)}"


def _replies(command: Sequence[str], asked: Sequence[Mapping[str, object]]) -> list[dict[str, Any]]:
    lines = "".join(json.dumps(question) + "\n" for question in asked)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, input=lines, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]
