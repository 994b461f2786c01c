"""A simulated drive on a terminal: its geometry drawn, and what follows from it."""

from pslc.base import words
from pslc.device.target import Target
from pslc.schema.facts import Facts

LIMITS = {"data-path": "the controller's data path carries", "buffer": "the write buffer has programs under way"}
"""What may hold native writes back, where neither the dies nor the channels do."""
MOST_CHANNELS = 8
MOST_DIES = 4


def text(target: Target) -> str:
    """All of it, in lines of at most 100 characters."""
    title = f"{target.name}, {words.size(target.capacity_bytes)}"
    notes = [f"note: {note}" for note in target.facts["notes"]]
    return "\n".join([title, "", *_drawing(target.facts), "", *_limits(target.facts, target.capacity_bytes), *notes])


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
    planes, blocks, pages = facts["planes"], facts["blocks_per_plane"], facts["pages_per_block"]
    size = facts["page_bytes"] // 1024
    lines += [
        "",
        f"a die         {planes} planes x {blocks} blocks x {pages} pages of {size} KiB; "
        f"{facts['bits_per_cell']} bits a cell",
        f"a superblock  a block of every plane of every die: {words.size(facts['native_superblock_bytes'])}, as pSLC "
        f"{words.size(facts['slc_superblock_bytes'])}; there are {facts['superblocks']}",
    ]
    return lines


def _limits(facts: Facts, capacity_bytes: int) -> list[str]:
    """Raw speeds, ceilings, and the laws of docs/model.md in figures."""
    raw, bits, cache = facts["native_raw_bytes"], facts["bits_per_cell"], facts["cache_bytes"]
    native = facts["native_limit_bytes_per_s"]
    rows = [
        ("raw space", f"{words.size(raw)} native, {words.size(facts['slc_raw_bytes'])} if all of it were pSLC"),
        (
            "dies program",
            f"{words.speed(facts['slc_write_bytes_per_s'])} as pSLC, "
            f"{words.speed(facts['native_write_bytes_per_s'])} native",
        ),
        ("channels carry", words.speed(facts["bus_bytes_per_s"])),
        (
            "link carries",
            f"{words.speed(facts['link_bytes_per_s'])} written, {words.speed(facts['link_read_bytes_per_s'])} read",
        ),
        ("controller takes", f"{facts['read_iops']:,.0f} reads or {facts['write_iops']:,.0f} writes a second"),
    ]
    if facts["native_limit"] in LIMITS:
        rows.append(("native writes", f"{words.speed(native)}, as much as {LIMITS[facts['native_limit']]}"))
    if cache:
        reserve = max(facts["reserve_superblocks"] * facts["native_superblock_bytes"], facts["fold_below_bytes"])
        direct = cache + raw - bits * cache - reserve
        folding = native / (1 + facts["fold_overhead"] / (bits - 1))
        rows.append(("cache", f"{words.size(cache)} when empty"))
        if cache < direct < capacity_bytes:
            rows.append(("space ends at", f"{words.size(direct)}, with nothing folded: S + Raw - nS - reserve"))
            rows.append(("direct + folding", f"{words.speed(folding)} when data wait for space: Rx / (1 + k/(n-1))"))
    if facts["map_cache_bytes"]:
        rows.append(("map held covers", f"{words.size(facts['map_cache_bytes'] * 1024)} of the drive"))
    return [f"{name:<17} {value}" for name, value in rows]
