"""Did it change? What a comparison says in a sentence, with what it is uncertain by: of firmware before and after, say.

Two figures differ where their 90 % intervals do not touch. Of two that are the same such intervals miss each other once
in fifty times, so with many figures one may differ by chance; that is said.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from pslc.base import words
from pslc.recording import results
from pslc.recording.comparison import Compared, Side, without_jobs
from pslc.recording.metrics import Figure, Origin
from pslc.recording.model import Recording
from pslc.recording.writes.curve import write_curve
from pslc.schema.facts import Device, FileSystem, Host

BY_CHANCE: Final = 0.02
"""Probability that two 90 % intervals of the same value, equally wide, do not overlap: |z| > 2 x 1.645 / sqrt(2)."""
GAME_BYTES: Final = 100e9
"""Size of a large game, which is copied at once."""
MAX_NAMED: Final = 3
"""Figures that are named."""
NEAR: Final = 10.0
"""Ratio up to which a change is told in percent; of more both figures are."""


def verdicts(sides: Sequence[Side], rows: Sequence[Compared]) -> list[str]:
    """Sentences for each side but the first: what a person would say, whether it differs from the first, in what and by
    how much."""
    lines = [plain for index in range(1, len(sides)) for plain in _plainly(sides, rows, index)]
    lines += [sentence for index in range(1, len(sides)) for sentence in _lines_of(sides, rows, index)]
    lines += [sentence for index in range(1, len(sides)) for sentence in _set_otherwise(sides[0], sides[index])]
    of_results = all(results.of_imported(side.recording) for side in sides)
    if any(len(side.repeats) == 1 for side in sides) and not of_results:
        lines.append("Single runs: their intervals are those of each curve, or 2 %. Repeats (--repeat 5) say more.")
    return lines


def settings(recording: Recording) -> dict[str, object]:
    """Settings of the computer that a real drive was measured with; empty of a simulated one, and of data of another
    program."""
    facts = recording.facts
    if recording.is_simulated or "measured_by" in facts:
        return {}
    device, host = facts.get("device") or Device(), facts.get("host", Host())
    power, system = facts.get("power", {}), facts.get("file_system") or FileSystem()
    return {
        "engine": recording.engine,
        "I/O scheduler": device.get("scheduler"),
        "CPU governor": host.get("governor"),
        "huge pages": host.get("huge_pages"),
        "kernel": host.get("kernel"),
        "longest wake from NVMe power saving, in us": power.get("nvme_ps_max_latency_us"),
        "SATA link power": power.get("sata_link_power"),
        "PCIe power saving": power.get("pcie_aspm"),
        "file system": system.get("type"),
    }


def _set_otherwise(first: Side, other: Side) -> list[str]:
    """Sentence on settings in which the computers of two measurements differ; none where they do not, or are not known
    of both."""
    before, now = settings(first.recording), settings(other.recording)
    differing = [
        f"{name} {now[name] or 'unknown'} instead of {value or 'unknown'}"
        for name, value in before.items()
        if now and now[name] != value
    ]
    return [f"{other.name} was measured with {', '.join(differing)}."] if differing else []


def _plainly(sides: Sequence[Side], rows: Sequence[Compared], index: int) -> list[str]:
    """Sentence on a side beside the first: its mean speed, its cache, and how long a game takes; none if neither
    differs."""
    by_name = {row.name: row for row in rows if not row.suite}
    lines = [*_mean_change(sides, by_name.get("mean"), index), *_cache_change(sides, by_name.get("cache"), index)]
    first_s, now_s = _game_s(sides[0]), _game_s(sides[index])
    if lines and first_s is not None and now_s is not None:
        before, now = words.span(first_s), words.span(now_s)
        lines.append(f"The first 100 GB take {now}{' on both' if now == before else f' instead of {before}'}.")
    return [" ".join(lines)] if lines else []


def _mean_change(sides: Sequence[Side], mean: Compared | None, index: int) -> list[str]:
    """Sentence on the mean speed; none if it is the same."""
    if mean is None or not mean.figures[0] or not mean.figures[index] or not mean.differs[index]:
        return []
    old, new = (figure.value for figure in _pair(mean, index))
    way = f"{100 * abs(new / old - 1):.0f} % {'faster' if new > old else 'slower'}"
    speeds = f"{words.speed(new)} instead of {words.speed(old)}"
    return [f"{sides[index].name} writes {way} than {sides[0].name} in the mean: {speeds}."]


def _cache_change(sides: Sequence[Side], cache: Compared | None, index: int) -> list[str]:
    """Sentence on the end of the cache; none if it is the same."""
    if cache is None:
        return []
    name, first = sides[index].name, sides[0].name
    if (cache.figures[0] is None) != (cache.figures[index] is None):
        owner, none = (name, first) if cache.figures[index] else (first, name)
        if any("cache_bytes" not in side.recording.findings for side in (sides[0], sides[index])):
            return []  # another suite, which does not look for the end of a cache
        return [f"The cache of {owner} ends within the run, that of {none} does not."]
    if not cache.differs[index]:
        return []
    before, now = (words.size(figure.value) for figure in _pair(cache, index))
    return [f"The cache of {name} ends after {now} instead of {before}."]


def _game_s(side: Side) -> float | None:
    """Seconds of the first bytes of a game; None of a shorter write."""
    curve = write_curve(side.recording)
    if curve is None or curve.edges_bytes[-1] < GAME_BYTES:
        return None
    return float(np.interp(GAME_BYTES, curve.edges_bytes, np.concatenate(([0.0], np.cumsum(curve.seconds)))))


def headlines(rows: Sequence[Compared]) -> dict[str, Compared]:
    """The figure to name for each suite that differs: of its findings, or of their rows, the one that differs most.
    Latencies and bare numbers come last: tails and queue depths differ the most and say the least."""
    rows_by_name: dict[str, Compared] = {}
    for row in _headline(rows):
        if (
            any(row.differs)
            and all(row.figures)
            and (row.suite not in rows_by_name or _rank(row) > _rank(rows_by_name[row.suite]))
        ):
            rows_by_name[row.suite] = row
    return rows_by_name


def _rank(row: Compared) -> tuple[bool, bool, float]:
    return row.origin is Origin.FINDING, row.unit not in ("s", ""), _change_size(row)


def _headline(rows: Sequence[Compared]) -> list[Compared]:
    """The findings alone, where there are any: what single jobs did is told by them."""
    return [row for row in without_jobs(rows) if not (row.suite and row.origin is Origin.JOB)]


def _change_size(row: Compared) -> float:
    sizes = [_size(row, index) for index in range(1, len(row.figures))]
    # What is nothing on one side is no number of times as much.
    return max((size for size in sizes if math.isfinite(size)), default=0.0)


def _largest(changed: Sequence[Compared], index: int) -> str:
    """The largest changes. The same cache, measured by several suites, is named once."""
    named = sorted(headlines(changed).values(), key=_rank, reverse=True) if changed and changed[0].suite else changed
    once: dict[tuple[str, ...], Compared] = {}
    for row in named:
        once.setdefault(tuple(words.quantity(figure.value, row.unit) for figure in _pair(row, index)), row)
    return "; ".join(_change(row, index) for row in [*once.values()][:MAX_NAMED])


def _agreement(both: Sequence[Compared], index: int) -> str:
    """Sentence that figures agree, with the change that would have been noticed."""
    finite = [row for row in both if math.isfinite(_relative_size(row, index))] or both
    widest, narrowest = (extreme(finite, key=lambda row: _relative_size(row, index)) for extreme in (max, min))
    agreement = f"all {len(both)} figures agree" if len(both) > 1 else "their only figure agrees"
    noticed = f"{_percent(_relative_size(narrowest, index))} would have shown in {narrowest.called}"
    if widest is not narrowest:
        noticed += f", of more than {_percent(_relative_size(widest, index))} in {widest.called}"
    return f"{agreement} within the noise. A change of more than {noticed}."


def _lines_of(sides: Sequence[Side], rows: Sequence[Compared], index: int) -> list[str]:
    first, name = sides[0].name, sides[index].name
    rows = _headline(rows)
    both = [row for row in rows if row.figures[0] and row.figures[index]]
    changed = sorted((row for row in both if row.differs[index]), key=lambda row: -_size(row, index))
    if not both:
        return [f"{name} and {first} have no figure in common."]
    lines = [f"{name} differs from {first} in {len(changed)} of {len(both)} figures: {_largest(changed, index)}."]
    if not changed:
        lines = [f"{name} does not differ from {first}: {_agreement(both, index)}"]
    elif len(changed) <= BY_CHANCE * len(both):
        chance = f"{BY_CHANCE * len(both):.0f} of {len(both)}"
        lines.append(f"By chance {chance} would differ: repeat the run before you believe it.")
    findings = [row for row in rows if row.origin is not Origin.ROW]
    return [*lines, *_only_in(sides, findings, index, 0), *_only_in(sides, findings, 0, index)]


def _only_in(sides: Sequence[Side], findings: Sequence[Compared], owner: int, other: int) -> list[str]:
    """Names the findings that side `owner` has and side `other` lacks; empty if there are none."""
    own = [row.called for row in findings if row.figures[owner] and not row.figures[other]]
    return [f"In {sides[owner].name}, not in {sides[other].name}: {_listed(own)}."] if own else []


def _change(row: Compared, index: int) -> str:
    """`speed +24 % (+20 to +28 %)`, `+24 %` where the interval has no width, `cache 3.02 GB instead of 281 GB`."""
    low, ratio, high = _ratio(row, index)
    if not 1 / NEAR <= ratio <= NEAR:
        first, other = (words.quantity(figure.value, row.unit) for figure in _pair(row, index))
        return f"{row.called} {other} instead of {first}"
    change, change_low, change_high = (f"{100 * (factor - 1):+.3g}" for factor in (ratio, low, high))
    interval = f" ({change_low} to {change_high} %)" if change_low != change_high else ""
    return f"{row.called} {change} %{interval}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMED
    return ", ".join(names[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def _pair(row: Compared, index: int) -> tuple[Figure, Figure]:
    first, other = row.figures[0], row.figures[index]
    assert first is not None
    assert other is not None
    return first, other


def _ratio(row: Compared, index: int) -> tuple[float, float, float]:
    """Ratio of a figure to the first, with the ends that both intervals allow."""
    first, other = _pair(row, index)
    if first.low <= 0 or other.value <= 0:
        return 0.0, math.inf, math.inf
    return max(other.low, 0.0) / first.high, other.value / first.value, other.high / first.low


def _size(row: Compared, index: int) -> float:
    ratio = _ratio(row, index)[1]
    return abs(math.log(ratio)) if 0 < ratio < math.inf else math.inf


def _relative_size(row: Compared, index: int) -> float:
    """The relative change from which on two such intervals would not touch."""
    first, other = _pair(row, index)
    return ((first.high - first.low) + (other.high - other.low)) / 2 / abs(first.value) if first.value else math.inf


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if math.isfinite(share) else "any size"
