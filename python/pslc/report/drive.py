"""A simulated drive on a terminal: its geometry drawn, and what follows from it."""

import textwrap

from pslc.base import files, words
from pslc.device.parts import forecast
from pslc.device.parts.forecast import Forecast, two_digits
from pslc.device.parts.schema import above
from pslc.device.target import Target
from pslc.schema.facts import Facts

LIMITS = {"data-path": "the controller's data path carries", "buffer": "the write buffer has programs under way"}
"""Limits on writes into cells besides the dies and the channels, in words."""
WIDTH = 98
MOST_CHANNELS = 8
MOST_DIES = 4


def text(target: Target) -> str:
    """Description of a drive and its limits as text, in lines of at most 100 characters."""
    title = f"{target.name}, {words.size(target.capacity_bytes)}"
    notes = [f"note: {note}" for note in target.facts["notes"]]
    limits = _limits(target.facts, target.capacity_bytes)
    of_drive = forecast.of_target(target.profile, dict(target.provenance))
    of_parts = forecast_lines(of_drive) if of_drive else []
    rest = [*of_parts, *_defaults(target), *notes]
    return "\n".join([title, "", *_drawing(target.facts), "", *limits, *rest])


def _row(name: str, value: str) -> list[str]:
    return textwrap.wrap(value, WIDTH, initial_indent=f"{name:<17} ", subsequent_indent=" " * 18)


def forecast_lines(drive: Forecast) -> list[str]:
    """The phases of a drive of parts with their intervals, its cache as kinds, and what is known of the parts."""
    rows = drive.in_words
    kinds = "; ".join(
        f"{kind.probability:.0%}: {kind.name}, {low} to {high} GB"
        for kind in drive.caches
        for low, high in [(two_digits(size / 1e9) for size in (kind.size.low, kind.size.high))]
    )
    rows += [("cache, by others", kinds)] if kinds else []
    share = "80 % of such drives lie within" if drive.is_known else "no percentage: a stand-in may be wrong by more"
    return [line for row in [*rows, ("nearest", f"{drive.nearest}; {share}")] for line in _row(*row)]


def _defaults(target: Target) -> list[str]:
    """Each key that neither the profile nor its provenance names, with the value that holds."""
    named = dict(target.provenance)
    values = {key: value for key, value in files.keys(target.profile).items() if not key.startswith("provenance.")}
    # Neither half of a pair stands alone at the end of a line.
    silent = [
        f"{key}\u00a0=\u00a0{value}" for key, value in values.items() if not any(name in named for name in above(key))
    ]
    lines = _row("by default", ", ".join(silent)) if silent else []
    return [line.replace("\u00a0", " ") for line in lines]


def _drawing(facts: Facts) -> list[str]:
    """The controller over its channels with their dies, as many as fit."""
    channels, rows = facts["channels"], facts["dies"] // facts["channels"]
    shown = min(channels, MOST_CHANNELS)
    cell = 8
    more = f" ... {channels} channels" if channels > shown else ""
    held = facts["map_cache_bytes"]
    holds = "the whole map" if held is None else f"{words.size(held)} of the map"
    buffer = words.size(facts["write_buffer_bytes"])
    lines = [
        f"host === {words.speed(facts['link_bytes_per_s'])} === controller: {buffer} of write buffer, {holds}",
        "".join(f"{f'|ch{number}':<{cell}}" for number in range(shown)) + more,
    ]
    for row in range(min(rows, MOST_DIES)):
        lines.append("".join(f"{f'[die{row * channels + number:>2}]':<{cell}}" for number in range(shown)))
    if rows > MOST_DIES:
        lines.append("".join(f"{'  ...':<{cell}}" for _ in range(shown)) + f" {rows} dies a channel")
    mlc_bytes = facts.get("mlc_superblock_bytes")
    two_bits = f", at two bits a cell {words.size(mlc_bytes)}" if mlc_bytes else ""
    planes, blocks, pages = facts["planes"], facts["blocks_per_plane"], facts["pages_per_block"]
    size = facts["page_bytes"] // 1024
    lines += [
        "",
        f"a die         {planes} planes x {blocks} blocks x {pages} pages of {size} KiB; "
        f"{facts['bits_per_cell']} bits a cell",
        f"a superblock  a block of every plane of every die: {words.size(facts['native_superblock_bytes'])}, as pSLC "
        f"{words.size(facts['slc_superblock_bytes'])}{two_bits}; there are {facts['superblocks']}",
    ]
    return lines


LAWS = {1: ("S + Raw - nS - reserve", "Rx / (1 + k/(n-1))"), 2: ("S + Raw - nS/2 - reserve", "Rx / (1 + 2k/(n-2))")}
"""Laws of where the space ends and how fast folding goes, by the bits of a cell of the dynamic cache."""


def _limits(facts: Facts, capacity_bytes: int) -> list[str]:
    """Raw speeds, ceilings, and the laws of docs/model.md in figures."""
    raw, bits, cache = facts["native_raw_bytes"], facts["bits_per_cell"], facts["cache_bytes"]
    native = facts["native_limit_bytes_per_s"]
    mlc = facts.get("mlc_write_bytes_per_s")
    held, two_bits = (2, f"{words.speed(mlc)} at two bits, ") if mlc else (1, "")
    rows = [
        ("raw space", f"{words.size(raw)} native, {words.size(facts['slc_raw_bytes'])} if all of it were pSLC"),
        (
            "dies program",
            f"{words.speed(facts['slc_write_bytes_per_s'])} as pSLC, {two_bits}"
            f"{words.speed(facts['native_write_bytes_per_s'])} native",
        ),
        ("channels carry", words.speed(facts["bus_bytes_per_s"])),
        (
            "link carries",
            f"{words.speed(facts['link_bytes_per_s'])} written, {words.speed(facts['link_read_bytes_per_s'])} read",
        ),
        ("controller takes", f"{facts['read_iops']:,.0f} reads or {facts['write_iops']:,.0f} writes a second"),
    ]
    if facts["slc_limit"] in LIMITS:
        slc = words.speed(facts["slc_limit_bytes_per_s"])
        rows.append(("pSLC writes", f"{slc}, as much as {LIMITS[facts['slc_limit']]}"))
    if facts["native_limit"] in LIMITS:
        rows.append(("native writes", f"{words.speed(native)}, as much as {LIMITS[facts['native_limit']]}"))
    if cache:
        reserve = max(facts["reserve_superblocks"] * facts["native_superblock_bytes"], facts["fold_below_bytes"])
        static = facts["static_superblocks"] * facts["slc_superblock_bytes"]
        direct = cache + raw - bits * static - bits / held * (cache - static) - reserve
        folding = native / (1 + facts["fold_overhead"] * held / (bits - held))
        rows.append(("cache", f"{words.size(cache)} when empty"))
        space, law = LAWS[held]
        if cache < direct < capacity_bytes:
            rows.append(("space ends at", f"{words.size(direct)}, with nothing folded: {space}"))
            rows.append(("direct + folding", f"{words.speed(folding)} when data wait for space: {law}"))
    if facts["map_cache_bytes"]:
        rows.append(("map held covers", f"{words.size(facts['map_cache_bytes'] * 1024)} of the drive"))
    return [f"{name:<17} {value}" for name, value in rows]
