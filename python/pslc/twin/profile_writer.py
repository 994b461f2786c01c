"""The twin as a profile: TOML that loads everywhere, with the provenance of each value."""

import re
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pslc.base import words
from pslc.recording.model import FITTED
from pslc.twin.fit_result import FitResult
from pslc.twin.identifiability import PARTLY_IDENTIFIED_SHARE, informative_suites
from pslc.twin.model import PARAMETERS, UNSEEN_NATIVE_LIMIT, Parameter, in_words, parameters_of
from pslc.twin.observations import observed_priors
from pslc.twin.optimizer import Candidate
from pslc.twin.small_io import SMALL_IO_PARAMETERS

READABLE_UNITS: Final = {
    "ns": ((1, "ns"), (10**3, "us"), (10**6, "ms"), (10**9, "s")),
    "B": ((1, "B"), (10**3, "kB"), (10**6, "MB"), (10**9, "GB")),
    "kB/s": ((1, "kB/s"), (10**3, "MB/s"), (10**6, "GB/s")),
}
"""Units of a profile, and how many of the first each is."""
BINARY_UNITS: Final = (("KiB", 10), ("MiB", 20), ("GiB", 30))
"""Units of sizes that are a power of two, and the logarithm of each."""
Z90: Final = 1.645
"""Half the width of a 90 % interval in standard deviations."""


@dataclass(frozen=True)
class Estimate:
    """A value of the twin.

    Attributes:
        what: description of the parameter.
        value: natural; shares of the capacity or of the cache are given in bytes.
        low, high: 90 % interval; None if the value is assumed, `high` also where it may be any larger.
        source: `fitted`, `assumed` or `part`.
        suites: suites that determined it.
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
        """Value and interval as text: `691 GB (689 GB to 693 GB)`, `569 MB/s (514 MB/s or more)`."""
        text = _quantity(self.value, self.unit)
        if self.name == "ceiling" and self.value >= UNSEEN_NATIVE_LIMIT:
            return "no limit"
        if self.low is None:
            return text
        if self.high is None:
            return f"{text} ({_quantity(self.low, self.unit)} or more)"
        return f"{text} ({_quantity(self.low, self.unit)} to {_quantity(self.high, self.unit)})"

    def document(self) -> dict[str, object]:
        """The estimate for JSON."""
        return vars(self) | {"suites": list(self.suites)}


def _quantity(value: float, unit: str) -> str:
    if unit in ("B", "B/s", "s"):
        return words.quantity(value, unit)
    return words.share(value) if unit == "share" else f"{value:.3g}"


def estimates(result: FitResult) -> list[Estimate]:
    """Values of the best candidate, in the order of `PARAMETERS`."""
    return [_estimate(result, PARAMETERS[name]) for name in parameters_of(result.best.firmware)]


def _estimate(result: FitResult, parameter: Parameter) -> Estimate:
    name, fit = parameter.name, _fit_of(result, parameter)
    kind = "part" if name in {prior for prior, _, _ in result.priors.part_priors} else "assumed"
    low: float | None = None
    high: float | None = None
    free = name in fit.problem.free
    if free and fit.covariance is not None:
        index = list(fit.problem.free).index(name)
        sd = float(np.sqrt(fit.covariance[index, index]))
        # What a suite measured is of the data, not of what was known before them.
        is_observed = name in observed_priors(result.datasets)
        before = parameter.prior_sd if is_observed else fit.problem.prior_of(name)[1]
        if sd < PARTLY_IDENTIFIED_SHARE * before and not is_hidden(result, name):
            kind = "fitted"
        low, high = _interval(result, fit, parameter, sd)
    unit, factor = _unit_of(result, parameter)
    if kind == "assumed" and not free:
        low = high = None
    low, high = (None if end is None else end * factor for end in (low, high))
    suites = tuple(dataset.suite for dataset in fit.problem.datasets) if kind == "fitted" else ()
    return Estimate(name, parameter.description, result.best.values[name] * factor, low, high, unit, kind, suites)


def _fit_of(result: FitResult, parameter: Parameter) -> Candidate:
    """The fit that determined a parameter: that to small requests, or to large writes."""
    small_io = result.best.small_io_fit
    if small_io and parameter.name in SMALL_IO_PARAMETERS and parameter.name in small_io.problem.free:
        return small_io
    return result.best


def _interval(result: FitResult, fit: Candidate, parameter: Parameter, sd: float) -> tuple[float, float | None]:
    """The 90 % interval of a free parameter, natural; of all indistinguishable candidates, too."""
    at = _point(parameter, fit)
    points = [at]
    if fit is result.best:
        points = [_point(parameter, other) for other in result.indistinguishable
                  if parameter.name in other.problem.free]  # fmt: skip
    ends = [min(at, *points) - Z90 * sd, max(at, *points) + Z90 * sd]
    natural = np.clip(np.exp(ends) if parameter.scale == "log" else ends, parameter.low, parameter.high)
    return _widened(result, parameter, float(natural[0]), float(natural[1]))


def _unit_of(result: FitResult, parameter: Parameter) -> tuple[str, float]:
    """Unit of an estimate, and the factor from the parameter's natural value to it."""
    best, capacity = result.best, float(result.priors.capacity_bytes)
    if parameter.unit == "capacity":
        return "B", capacity
    if parameter.unit == "of the cache":
        share = best.values["dynamic"] if parameter.name == "dynamic_min" else best.cache_share
        return "B", share * result.priors.capacity_bytes
    return ("share" if parameter.name == "host_share" else parameter.unit), 1.0


def _widened(result: FitResult, parameter: Parameter, low: float, high: float) -> tuple[float, float | None]:
    """An interval widened to what is really known.

    Behind a link no write shows how fast the cells are. The idle threshold is known to superblocks that come back in a
    pause, of which the twin's are not the drive's: it includes the interval of `recovery`.
    """
    if is_hidden(result, parameter.name):
        return low, None
    if parameter.name != "idle_threshold":
        return low, high
    for dataset in result.datasets:
        if longest := dataset.findings.get("idle_threshold_s_high"):
            shortest = dataset.findings.get("idle_threshold_s_low") or 0.0
            low, high = min(low, max(shortest, parameter.low)), max(high, longest)
    return low, high


def _point(parameter: Parameter, candidate: Candidate) -> float:
    return float(candidate.x[list(candidate.problem.free).index(parameter.name)])


def to_toml(result: FitResult, name: str) -> str:
    """The profile of the best candidate as TOML."""
    model = replace(result.best.problem.model, geometry=result.geometry, scale=1.0, host_request_ns=0)
    keys = model.keys(result.best.values)
    keys["name"] = f'"{_quotable(name)}"'
    tables: dict[str, list[str]] = {"": []}
    for key, value in keys.items():
        table, _, last = key.rpartition(".")
        text = _readable(value, is_exact=not table.startswith("cache"))
        tables.setdefault(table, []).append(f"{last} = {text}")
    lines = [
        f"# {name}: a twin, fitted by pslc fit to {', '.join(_suites(result))}.",
        f"# Firmware: {in_words(result.firmware_models)}.",
        f"# Error: {100 * result.best.rms_log_error:.1f} % (root mean square over what was measured).",
        *tables.pop(""),
    ]
    for table, rows in tables.items():
        lines += ["", f"[{table}]", *rows]
    lines += ["", "[provenance]"]
    lines += [f'"{key}" = "{_quotable(note)}"' for key, note in provenance(result).items()]
    return "\n".join(lines) + "\n"


def _readable(value: str, *, is_exact: bool = False) -> str:
    """A time, size or rate of a profile in the largest unit that it fills: `"2.6s"`, `"8.06GB"`, `"16KiB"`.

    Times and rates have four digits and sizes six; with `is_exact` a size that has more stays in bytes, as a capacity
    or a buffer must be no other.
    """
    match = re.fullmatch(r'"(\d+)(ns|B|kB/s)"', value)
    if match is None or match[1] == "0":
        return value
    number, steps = int(match[1]), READABLE_UNITS[match[2]]
    factor, unit = next((step for step in reversed(steps) if number >= step[0]), steps[0])
    if match[2] != "B":
        return f'"{float(f"{number / factor:.4g}"):g}{unit}"'
    binary = next((f'"{number >> shift}{unit}"' for unit, shift in BINARY_UNITS
                   if number % (1 << shift) == 0 and number >> shift < 1024), "")  # fmt: skip
    text = f"{number / factor:.6g}"
    decimal = f'"{text}{unit}"'
    if round(float(text) * factor) != number:
        return binary or (value if is_exact else decimal)
    return min([decimal, binary or value], key=len)


def _quotable(text: str) -> str:
    return text.replace("\\", " ").replace('"', "'")


def _suites(result: FitResult) -> list[str]:
    return sorted({dataset.suite for dataset in result.datasets})


def is_hidden(result: FitResult, parameter: str) -> bool:
    """Whether the link hides a parameter: it is slower than the cells."""
    return parameter == "slc_rate" and result.curve_summary.is_link_limited


def missing_suites(result: FitResult, parameter: str) -> list[str]:
    """Suites that were not measured and would determine a parameter, those that write least first."""
    if is_hidden(result, parameter):
        return []
    measured = _suites(result)
    return [suite for suite in informative_suites(parameter) if suite not in measured]


def provenance(result: FitResult) -> dict[str, str]:
    """Source of each key of the profile."""
    sources = {"name": "given to pslc fit", "capacity": "stated", "link": "stated, or assumed for its speed"}
    sources |= dict(result.geometry.sources)
    sources["nand.bits_per_cell"] = "stated" if result.priors.bits_per_cell else "assumed, for its slowest speed"
    sources |= _rule_sources(result)
    for estimate in estimates(result):
        for key in PARAMETERS[estimate.name].keys:
            if estimate.source == "fitted":
                sources[key] = f"{FITTED} {', '.join(estimate.suites)}: {estimate.words}, 90 % interval"
            elif estimate.source == "part":
                sources.setdefault(key, "from a part")
            else:
                suites = " or ".join(missing_suites(result, estimate.name)) or "nothing"
                sources[key] = f"assumed; {suites} would tell"
    return sources


def _rule_sources(result: FitResult) -> dict[str, str]:
    """Provenance of the rules of the firmware."""
    firmware, *alternatives = result.firmware_models
    suites = ", ".join(_suites(result))
    sources = {}
    for key in ("mode", "when_full", "reuse") if firmware.has_cache else ("mode",):
        also = sorted({getattr(model, key) for model in alternatives} - {getattr(firmware, key)})
        sources[f"cache.{key}"] = f"{FITTED} {suites}" + (f"; {' or '.join(also)} fits as well" if also else "")
    if firmware.has_two_tiers:
        sources["cache.dynamic_cells"] = "assumed: two bits a cell explain the speed of a second tier"
        sources["nand.mlc"] = "assumed: read and erase as pSLC"
    return sources
