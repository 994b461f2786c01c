"""A fitted drive as a profile: TOML that loads everywhere, with where each value comes from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pslc import words
from pslc.twin import told
from pslc.twin.fit import Fitted
from pslc.twin.model import PARAMETERS, UNSEEN_CEILING, Model, Parameter, in_words, of_firmware
from pslc.twin.search import Solution
from pslc.twin.singles import SINGLE

Z90: Final = 1.645


@dataclass(frozen=True)
class Estimate:
    """A value of the twin.

    Attributes:
        value: natural; shares of the capacity are given in bytes.
        low, high: 90 % interval; None where it is assumed, `high` also where it may be any more.
        source: `fitted`, `assumed`, `stated` or `part`.
        suites: that told it.
    """

    name: str
    what: str
    value: float
    low: float | None
    high: float | None
    unit: str
    source: str
    suites: tuple[str, ...]

    @property
    def words(self) -> str:
        """`691 GB (689 GB to 693 GB)`, `569 MB/s (514 MB/s or more)`."""
        text = _word(self.value, self.unit)
        if self.name == "ceiling" and self.value >= UNSEEN_CEILING:
            return "no limit"
        if self.low is None:
            return text
        if self.high is None:
            return f"{text} ({_word(self.low, self.unit)} or more)"
        return f"{text} ({_word(self.low, self.unit)} to {_word(self.high, self.unit)})"

    def document(self) -> dict[str, object]:
        """For JSON."""
        return {"name": self.name, "what": self.what, "value": self.value, "low": self.low, "high": self.high,
                "unit": self.unit, "source": self.source, "suites": list(self.suites)}  # fmt: skip


def _word(value: float, unit: str) -> str:
    if unit in ("B", "B/s", "s"):
        return words.quantity(value, unit)
    return words.share(value) if unit == "share" else f"{value:.3g}"


def whole(fitted: Fitted, found: Solution) -> Model:
    """The drive of a solution at its full size, without the host that measured."""
    return replace(found.problem.model, build=fitted.build, scale=1.0, host_request_ns=0)


def estimates(fitted: Fitted) -> list[Estimate]:
    """Each value of the best drive, in the order of `PARAMETERS`."""
    best = fitted.best
    found = []
    for name in of_firmware(best.problem.model.firmware):
        found.append(_estimate(fitted, best, PARAMETERS[name]))
    return found


def _estimate(fitted: Fitted, best: Solution, one: Parameter) -> Estimate:
    source = best.single if best.single and one.name in SINGLE and one.name in best.single.problem.free else best
    value = best.values[one.name]
    suites = tuple(trial.suite for trial in source.problem.trials)
    expected = {name for name, _, _ in fitted.known.expected}
    kind = "part" if one.name in expected else "assumed"
    low: float | None = None
    high: float | None = None
    if one.name in source.problem.free and source.covariance is not None:
        index = list(source.problem.free).index(one.name)
        deviation = float(np.sqrt(source.covariance[index, index]))
        if deviation < told.PARTLY * source.problem.expected(one.name)[1] and not is_hidden(fitted, one.name):
            kind = "fitted"
        at = source.x[index]
        # Of the firmwares that fit as well, too.
        also = [at] if source is not best else [_point(one, other) for other in fitted.named
                                                if one.name in other.problem.free]  # fmt: skip
        ends = [min(at, *also) - Z90 * deviation, max(at, *also) + Z90 * deviation]
        natural = np.clip(np.exp(ends) if one.scale == "log" else ends, one.low, one.high)
        low, high = _at_least(fitted, one, float(natural[0]), float(natural[1]))
    unit, factor = one.unit, 1.0
    if unit == "capacity":
        unit, factor = "B", float(fitted.known.capacity_bytes)
    elif unit == "of the cache":
        unit, factor = (
            "B",
            (best.values["dynamic"] if one.name == "least" else best.cache_share) * fitted.known.capacity_bytes,
        )
    elif one.name == "share":
        unit = "share"
    low, high = (None if end is None or (kind == "assumed" and one.name not in source.problem.free) else end * factor
                 for end in (low, high))  # fmt: skip
    return Estimate(one.name, one.what, value * factor, low, high, unit, kind, suites if kind == "fitted" else ())


def _at_least(fitted: Fitted, one: Parameter, low: float, high: float) -> tuple[float, float | None]:
    """An interval as wide as is known: behind a link no write tells how fast the cells are, and what comes back in a
    pause comes back by superblocks, of which the twin's are not the drive's."""
    if is_hidden(fitted, one.name):
        return low, None
    if one.name != "threshold":
        return low, high
    for trial in fitted.trials:
        if most := trial.findings.get("idle_threshold_s_high"):
            least = trial.findings.get("idle_threshold_s_low") or 0.0
            low, high = min(low, max(least, one.low)), max(high, most)
    return low, high


def _point(one: Parameter, found: Solution) -> float:
    return float(found.x[list(found.problem.free).index(one.name)])


def text(fitted: Fitted, name: str, found: Solution | None = None) -> str:
    """The profile of the best drive, or of another solution, as TOML."""
    found = found or fitted.best
    model = whole(fitted, found)
    keys = model.keys(found.values)
    keys["name"] = '"' + name.replace("\\", " ").replace('"', "'") + '"'
    tables: dict[str, list[str]] = {"": []}
    for key, value in keys.items():
        table, _, word = key.rpartition(".")
        tables.setdefault(table, []).append(f"{word} = {value}")
    lines = [
        f"# {name}: a twin, fitted by pslc fit to {', '.join(sorted({t.suite for t in fitted.trials}))}.",
        f"# Firmware: {in_words(fitted.firmwares)}.",
        f"# Error: {100 * fitted.best.error:.1f} % (root mean square over what was measured).",
        *tables.pop(""),
    ]
    for table, rows in tables.items():
        lines += ["", f"[{table}]", *rows]
    lines += ["", "[provenance]"]
    for key, note in provenance(fitted).items():
        quoted = note.replace("\\", " ").replace('"', "'")
        lines.append(f'"{key}" = "{quoted}"')
    return "\n".join(lines) + "\n"


def is_hidden(fitted: Fitted, name: str) -> bool:
    """Whether the link is slower than what a value says."""
    return name == "slc_rate" and fitted.seen.bound


def telling(fitted: Fitted, name: str) -> list[str]:
    """Suites that were not given and would tell a value, those that write least first."""
    given = {trial.suite for trial in fitted.trials}
    return [] if is_hidden(fitted, name) else [suite for suite in told.telling(name) if suite not in given]


def provenance(fitted: Fitted) -> dict[str, str]:
    """Where each key of the profile comes from."""
    found = {"name": "given to pslc fit", "capacity": "stated", "link": "stated, or assumed for its speed"}
    found |= dict(fitted.build.sources)
    found["nand.bits_per_cell"] = "stated" if fitted.known.bits_per_cell else "assumed, for its slowest speed"
    firmware, *others = fitted.firmwares
    suites = ", ".join(sorted({trial.suite for trial in fitted.trials}))
    for key in ("mode", "when_full", "reuse"):
        if firmware.mode == "pure-xlc" and key != "mode":
            continue
        also = sorted({getattr(one, key) for one in others} - {getattr(firmware, key)})
        found[f"cache.{key}"] = f"fitted to {suites}" + (f"; {' or '.join(also)} fits as well" if also else "")
    for one in estimates(fitted):
        for key in PARAMETERS[one.name].keys:
            if one.source == "fitted":
                found[key] = f"fitted to {', '.join(one.suites)}: {one.words}, 90 % interval"
            elif one.source == "part":
                found.setdefault(key, "from a part")
            else:
                found[key] = f"assumed; {' or '.join(telling(fitted, one.name)) or 'nothing'} would tell"
    return found
