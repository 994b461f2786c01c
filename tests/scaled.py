"""Drives of the library, so much smaller that a suite takes seconds, and its answers stay those of the whole one."""

from pslc.device.target import find_target

LEAST_BYTES = 30e9
"""Capacity below which files of a benchmark fill a drive that they would not fill."""
LEAST_BUFFERS = 100
"""Write buffers that a cache holds, or its end is not told from the buffer's (docs/model.md)."""


def spec(name: str) -> str:
    """The target of `name`, halved as often as both allow, and the pages of its blocks."""
    target = find_target(f"sim:{name}")
    facts, capacity = target.facts, target.capacity_bytes
    cache = facts["cache_bytes"] or capacity
    most = min(capacity / LEAST_BYTES, cache / facts["write_buffer_bytes"] / LEAST_BUFFERS)
    share = 1
    while 2 * share <= most and facts["pages_per_block"] % (2 * share * facts["bits_per_cell"]) == 0:
        share *= 2
    return f"sim:{name},scale=1/{share}" if share > 1 else f"sim:{name}"
