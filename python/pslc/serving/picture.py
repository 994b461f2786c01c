"""A drive that is served, as lines on a terminal, on its own clock."""

from pslc.base import words
from pslc.base.live_lines import Trail
from pslc.schema.facts import ServedStatus
from pslc.serving.state import too_slow

WIDTH = 40
"""Width of a trail and of a bar, in characters."""


class Picture:
    """Draws states one after the other."""

    def __init__(self, title: str) -> None:
        self._title, self._before = title, None  # type: str, ServedStatus | None
        self._trails = {kind: Trail(WIDTH) for kind in ("read", "write")}

    def lines(self, now: ServedStatus) -> list[str]:
        """Lines of the live view: traffic since the last state, and the fill level of the cache."""
        before = self._before or now
        self._before = now
        took = now["clock_s"] - before["clock_s"]

        def per_s(change: float) -> float:
            return change / took if took > 0 else 0.0

        lines = [f"{self._title}, {words.span(round(now['clock_s']))} old; Ctrl-C ends it"]
        for at, (kind, trail) in enumerate(self._trails.items()):
            speed, rate = per_s(now["bytes"][at] - before["bytes"][at]), per_s(now["count"][at] - before["count"][at])
            lines.append(f"{kind:>8} {words.speed(speed):>11} {words.count(round(rate)):>8} IOPS {trail.add(speed)}")
        some = "-"
        if now["latency_s"] is not None:
            some = f"{words.span(now['latency_s'][0])}, 99 % within {words.span(now['latency_s'][1])}"
        lines.append(f" latency {some}, queue depth {now['queue']}")
        columns, old = now["columns"], before["columns"]
        if limit := columns["cache_limit_bytes"]:
            held = columns["slc_valid_bytes"]
            lines.append(f"   cache {_bar(held / limit)} {words.size(held)} of {words.size(limit)}")
        moved = {"folding": "folded_bytes_total", "collection": "gc_bytes_total"}
        parts = [f"{name} {words.speed(per_s(columns[of] - old[of]))}" for name, of in moved.items()]
        parts += [f"{columns['temperature_millicelsius'] / 1000:.0f} C"] if columns["temperature_millicelsius"] else []
        parts += [f"throttled (step {columns['throttle_level']})"] if columns["throttle_level"] else []
        lines.append("         " + ", ".join(parts))
        late = too_slow(now)
        return [*lines, f"   late: {late}"] if late else lines


def _bar(share: float) -> str:
    """A share of 0 to 1."""
    full = round(min(max(share, 0.0), 1.0) * WIDTH)
    return "#" * full + "." * (WIDTH - full)
