"""Data of the static page: every drive of the library with its profile, its published figures and its knobs.

The page in `web/` takes all of it from here, so that no key, word or unit is typed twice.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Final, TypedDict

import pslc
from pslc.analysis import CAUSES
from pslc.base import files, units, work
from pslc.device import parts, published
from pslc.device.parts import forecast
from pslc.device.profiles import library
from pslc.device.region import Scope
from pslc.device.target import Target, find_target
from pslc.figures.vocabulary import say
from pslc.lab import knobs
from pslc.recording.model import Recording
from pslc.suites import recovery

CELLS = {1: "SLC", 2: "MLC", 3: "TLC", 4: "QLC", 5: "PLC"}
START = {"nand": "bics5-tlc-512g", "controller": "phison-e16", "capacity": "1TB"}
"""Initial values of the form that builds a drive from parts."""

LINES: Final[Mapping[int, str]] = {
    2014: "p3700-2tb",
    2016: "600p-512gb",
    2017: "mx500-1tb mx500-4tb pm871b-128gb",
    2018: "660p-1tb 970-evo-500gb bx500-240gb bx500-512gb su630-480gb sx8200-pro-1tb",
    2019: "970-evo-plus-1tb firecuda-510-1tb sn550-1tb",
    2020: "870-qvo-4tb 980-pro-1tb cm6-30tb sn850-1tb",
    2021: "670p-2tb firecuda-530-2tb kc3000-2tb",
    2022: "7450-max-800gb 990-pro-4tb p3-plus-1tb p44-pro-2tb p5520-4tb sn770-1tb sn850x-2tb",
    2023: "d5-p5336-61tb mp700-2tb nm790-2tb t500-2tb x10-pro-2tb",
    2024: "990-evo-plus-2tb mp600-elite-2tb sn7100-1tb t705-2tb",
}
"""Drives of the library by the year in which the maker announced their line. That is general knowledge, for which no
page was read; the others have none."""
YEARS: Final = {slug: year for year, slugs in LINES.items() for slug in slugs.split()}


class KnobData(TypedDict):
    """A knob as it stands on a drive.

    Attributes:
        value: as the profile has it.
        stops: values of its slider or words of its list, in order.
        pairs: what each stop sets, keys and values of the profile.
        idle: why turning it changes nothing; empty where it does.
    """

    key: str
    group: str
    label: str
    value: str
    is_slider: bool
    stops: Sequence[str]
    pairs: Mapping[str, Sequence[tuple[str, str]]]
    idle: str


class FillData(TypedDict):
    """A fill of the drive as sold, in bytes and seconds; `cache_bytes` is None where no end of a cache shows.

    Attributes:
        phases: end and speed of each.
        past_bytes_per_s: mean of all that was written past the cache.
        idle_s: idle time after which it folds; None if it never does.
        predicted: what a run says of a drive that its parts alone decide; else empty.
        band: what drives of such parts lie between: bytes written, and from there on median, low and high speed.
    """

    phases: Sequence[tuple[float, float]]
    cache_bytes: float | None
    cached_bytes_per_s: float | None
    past_bytes_per_s: float | None
    mean_bytes_per_s: float
    link: str
    link_bytes_per_s: float
    map: str
    idle_s: float | None
    predicted: str
    band: Sequence[tuple[int, int, int, int]]


class RecoveryData(TypedDict):
    """The return of a drive's cache, as `pslc run recovery --quick` says it, in seconds.

    Attributes:
        rest_s: idle time after which all is free that can be freed; None where no pause gave anything back.
        tried_s: the longest pause that gave nothing back; None where there is no cache.
        is_shown: a pause was long enough to give all of it back; the rest is extrapolated where none was.
    """

    rest_s: float | None
    tried_s: float | None
    is_shown: bool


class DriveData(TypedDict):
    """A drive of the library.

    Attributes:
        profile: TOML as pslc brings it along; the module derives the rest of the drive, as `pslc run` does.
        pages_per_block, bits_per_cell: of its dies, which decide how small a copy can be.
        year: in which its line was announced; None where that is not known.
        figures: published figures in base units, by name.
    """

    slug: str
    name: str
    capacity_bytes: int
    profile: str
    pages_per_block: int
    bits_per_cell: int
    year: int | None
    source: str
    figures: Sequence[Mapping[str, object]]
    knobs: Sequence[KnobData]


NO_CACHE: Final[RecoveryData] = {"rest_s": None, "tried_s": None, "is_shown": False}


def drive(slug: str) -> DriveData:
    """Data of one drive for the static page."""
    target = find_target(f"sim:{slug}")
    # Items of articles name figures without a value of their own.
    figures = [
        dict(figure)
        for figure in published.document()["figure"]
        if figure["drive"] == slug and {"measure", "value"} <= figure.keys()
    ]
    return {
        "slug": slug,
        "name": target.name,
        "capacity_bytes": target.capacity_bytes,
        "profile": library()[slug],
        "pages_per_block": target.facts["pages_per_block"],
        "bits_per_cell": target.facts["bits_per_cell"],
        "year": YEARS.get(slug),
        "source": published.source(slug),
        "figures": figures,
        "knobs": list(_knobs(target)),
    }


def fill(slug: str) -> FillData:
    """A fill of one drive, simulated now."""
    recording = pslc.run("fill", on=f"sim:{slug}")
    findings = recording.findings
    keys = {key: str(value) for key, value in files.keys(recording.profile).items()}
    phases = [(phase["to_bytes"], phase["bytes_per_s"]) for phase in findings["phases"]]
    cache, written = findings["cache_bytes"], recording.written_bytes
    edges = [0.0, *(end for end, _ in phases)]
    spent = [(end - start) / speed for start, (end, speed) in zip(edges, phases, strict=False)]
    cached = [at for at, (end, _) in enumerate(phases) if cache is not None and end <= cache * 1.001]
    cached_s = sum(spent[at] for at in cached)
    threshold = keys.get("cache.idle.threshold")
    predicted, band = _of_parts(recording)
    return {
        "phases": phases,
        "cache_bytes": cache,
        "cached_bytes_per_s": cache / cached_s if cached_s else None,
        "past_bytes_per_s": (written - cache) / (sum(spent) - cached_s) if cached_s and cache < written else None,
        "mean_bytes_per_s": findings["fill_mean_bytes_per_s"],
        "link": keys["link"],
        "link_bytes_per_s": find_target(f"sim:{slug}").facts["link_bytes_per_s"],
        "map": "DRAM" if keys["controller.map"] == "dram" else f"{keys['controller.map']} of it",
        "idle_s": units.seconds(threshold, "threshold") if threshold else None,
        "predicted": predicted,
        "band": band,
    }


def _of_parts(recording: Recording) -> tuple[str, list[tuple[int, int, int, int]]]:
    """`FillData.predicted` and `FillData.band` of a recording."""
    notes = [str(note) for note in recording.findings.warnings if note.code == "predicted"]
    drive = forecast.undecided(recording.profile, recording.provenance)
    steps = drive.band if drive else ()
    band = [
        (round(share * recording.drive_bytes), round(of.median), round(of.low), round(of.high)) for share, of in steps
    ]
    return "".join(notes), band


def recover(slug: str) -> RecoveryData:
    """Recovery of one drive's cache, simulated now."""
    findings = pslc.run("recovery", on=f"sim:{slug}", scope=Scope(quick=True)).findings.typed(recovery.Findings)
    return {
        "rest_s": recovery.whole_s(findings),
        "tried_s": findings["idle_threshold_s_low"],
        "is_shown": findings["residue_bytes"] is not None,
    }


def _knobs(target: Target) -> list[KnobData]:
    positions = knobs.positions(target)
    groups = {knob.key: group for group, members in knobs.KNOBS.items() for knob in members}
    return [
        {
            "key": key,
            "group": groups[key],
            "label": position.knob.label,
            "value": position.text,
            "is_slider": position.knob.stops is not None,
            "stops": list(position.stops),
            "pairs": {stop: [*position.knob.pairs(stop)] for stop in position.stops},
            "idle": position.idle,
        }
        for key, position in positions.items()
        if position.stops
    ]


class PartData(TypedDict):
    """A die or a controller: what a list calls it, and its fields as the native part takes them."""

    label: str
    part: Mapping[str, object]


class PartsData(TypedDict):
    """Dies and controllers by name, and the drive that a form begins with."""

    nands: Mapping[str, PartData]
    controllers: Mapping[str, PartData]
    start: Mapping[str, str]


def all_parts() -> PartsData:
    """Data of every die and controller for the static page."""
    dies = (parts.nand(name) for name in parts.nands())
    chips = (parts.controller(name) for name in parts.controllers())
    return {
        "nands": {
            die.name: {
                "label": f"{die.maker} {die.generation}, {CELLS[die.bits_per_cell]} {die.bytes // 2**27} Gb",
                "part": asdict(die),
            }
            for die in dies
        },
        "controllers": {
            chip.name: {"label": f"{chip.maker} {chip.model}, {chip.link}", "part": asdict(chip)} for chip in chips
        },
        "start": START,
    }


def _on_page(slug: str) -> dict[str, object]:
    """A drive with its fill and its recovery; what a stop of a knob sets is said where it is more than the knob's own
    key."""
    data, filled = drive(slug), fill(slug)
    # Where a fill finds no cache there is none to recover, and the largest drives take a minute to say so.
    recovered = NO_CACHE if filled["cache_bytes"] is None else recover(slug)
    turned = [
        {**knob, "pairs": {stop: pairs for stop, pairs in knob["pairs"].items() if pairs != [(knob["key"], stop)]}}
        for knob in data["knobs"]
    ]
    return {**data, "knobs": turned, "fill": filled, "recovery": recovered}


def page_data() -> str:
    """Data of the static page, as JSON."""
    causes = {code: say(code) or code for code in CAUSES}
    with work.Pool(work.Local(work.cores())) as pool:
        drives = pool.map(_on_page, list(library()))
    document = {"drives": drives, "parts": all_parts(), "causes": causes}
    return json.dumps(document, separators=(",", ":"))


if __name__ == "__main__":
    print(page_data())
