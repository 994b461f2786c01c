"""Suites: one file per test. Its docstring begins with the question it asks, then names whose test it is. A new suite
is a new file here and a section in docs/suites.md.

    steps      its job files, one after the other; each may depend on what the one before it measured
    findings   its results, in base units
    sentences, tables, pictures   the results for people
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, cast, get_type_hints

from typing_extensions import is_typeddict

from pslc import extras
from pslc.analysis import AnalysisWarning
from pslc.base.errors import JobError, closest_match
from pslc.schema.unknown import unknown

if TYPE_CHECKING:
    from pslc.device.region import Region
    from pslc.figures.picture import Picture, Table
    from pslc.recording.model import Recording
    from pslc.schema.cache_setting import CacheSetting

Steps = Generator[str, "Recording | None", None]
"""Job files. What comes back for each is its recording, or None when nobody runs it: then the suite goes on with what
it would expect, so that its steps can be shown beforehand."""


class Suite(Protocol):
    """Interface of a suite's module."""

    __doc__: str
    __file__: str
    QUICK: str
    """Sentence on what `--quick` leaves out."""
    COMPUTER: str
    """Computer around a simulated drive, unless its target or its profile names one (`pslc.device.computers`)."""

    @staticmethod
    def steps(region: Region) -> Steps:
        """The steps, as fio job files."""

    @staticmethod
    def findings(recording: Recording) -> Mapping[str, Any]:
        """Findings of the recording in base units, by name; `warnings` among them."""

    @staticmethod
    def sentences(findings: Any) -> list[str]:
        """The findings in words, the most important first."""

    @staticmethod
    def tables(findings: Any) -> list[Table]:
        """The findings in rows."""

    @staticmethod
    def pictures(recording: Recording) -> list[Picture]:
        """The one that answers the question first."""


StartValues = list[dict[str, float]]
"""Values from which a fit may start, the likeliest first: natural values of a twin's parameters, by name."""


@dataclass(frozen=True)
class FitStart:
    """A twin that was fitted without a suite, for the `fit_hints` of that suite.

    Attributes:
        values: natural values of its parameters, by name.
        cache_bytes: its cache on the empty drive, in bytes.
        when_full: its rule for a full cache, as a profile writes it.
        equivalent: values of a drive that folds beside the host which the first write cannot tell apart; else empty.
    """

    values: Mapping[str, float]
    cache_bytes: float
    when_full: str
    equivalent: Sequence[Mapping[str, float]] = ()


PARTS = [*Suite.__annotations__, *(name for name, part in vars(Suite).items() if isinstance(part, staticmethod))]


NO_WARNINGS = "add warnings: list[MeasurementWarning] to its TypedDict, and return a list, empty where there are none"

PROGRAMS: Final = {
    "crystaldiskmark": "cdm", "asssd": "as-ssd", "asssdbenchmark": "as-ssd", "attodiskbenchmark": "atto",
    "hdtune": "hdtune", "hdtunepro": "hdtune",
}  # fmt: skip
"""Suites by the programs whose tests they are, in small letters alone."""
OF_FILES = ("trace",)
"""Suites of a file that users bring: it says what is done, so they have no steps, and `all` leaves them out."""


def meant_by(word: str) -> str | None:
    """The suite that a word probably means, by its name or that of the program whose test it is; None where none is
    alike."""
    if re.match(r"(seq|rnd)\s?\d+[km]", word.lower()):
        return "cdm"  # A test of CrystalDiskMark.
    plain = re.sub(r"[\W_]|\d+$", "", word.lower())
    return PROGRAMS.get(plain) or closest_match(word, [*names(), *OF_FILES])


@cache
def names() -> tuple[str, ...]:
    """The suites that need nothing but a drive, in alphabetical order: `qd-sweep` is the module `qd_sweep`."""
    modules = sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__))
    return tuple(name for name in modules if name not in OF_FILES)


def catalogue() -> list[str]:
    """Suites that `all` runs: all but suites of suites (`OF_SUITES`), whose parts are among them, those that switch the
    drive's buffer, and those that read what is on a real drive."""
    left_out = (lambda name: getattr(load(name), "OF_SUITES", False), switches, reads_back)
    return [name for name in names() if not any(test(name) for test in left_out)]


def switches(name: str) -> bool:
    """Whether the suite switches the drive's SLC buffer: it has a `setting`."""
    return hasattr(load(name), "setting")


def setting(name: str, step: str) -> CacheSetting | None:
    """Setting of the SLC buffer that a suite asks for in a step, by the name of its first job; None: as it is."""
    module = load(name)
    return cast("Callable[[str], CacheSetting]", module.setting)(step) if hasattr(module, "setting") else None


def reads_back(name: str) -> tuple[float, ...]:
    """Ages in seconds from which files are of another group, of a suite that reads what is on a real drive, and writes
    to simulated ones alone (`READS_BACK_S`); of others none."""
    return cast("tuple[float, ...]", getattr(load(name), "READS_BACK_S", ()))


def off_s(name: str, step: str) -> float:
    """Seconds for which a simulated drive is switched off before a step (`off_s` of the suite), by the name of its
    first job."""
    module = load(name)
    return cast("Callable[[str], float]", module.off_s)(step) if hasattr(module, "off_s") else 0.0


def load(name: str) -> Suite:
    """A suite by its name, one of `names()` or `OF_FILES`.

    Raises:
        PslcError: its module lacks something that a suite has; said before anything is measured.
    """
    file = f"{name.replace('-', '_')}.py"
    try:
        module = import_module(f"{__name__}.{file.removesuffix('.py')}")
    except (ImportError, SyntaxError) as error:
        hint = f"python -c 'import {__name__}.{file.removesuffix('.py')}' shows where"
        raise JobError(f"{file} cannot be imported: {getattr(error, 'msg', error)}", hint) from error
    stepless = ("QUICK", "COMPUTER", "steps") if name in OF_FILES else ()
    missing = [part for part in PARTS if part not in stepless and getattr(module, part, None) is None]
    if missing:
        hint = f"define {', '.join(missing)} in {module.__file__}, as suites/fill.py does"
        raise JobError(f"the suite {name} has no {' and no '.join(missing)}", hint)
    try:
        returned = get_type_hints(module.findings).get("return")
    except NameError as error:
        raise JobError(f"{file}: findings(): {error}", "import it at the top of the file") from error
    if not is_typeddict(returned):
        hint = "a TypedDict, as in suites/fill.py: def findings(recording: Recording) -> Findings"
        raise JobError(f"{file}: findings() does not say what it returns", hint)
    if "warnings" not in returned.__annotations__:
        raise JobError(f"{file}: what findings() returns has no warnings", NO_WARNINGS)
    return cast(Suite, module)


def findings_of(suite: Suite, recording: Recording) -> Mapping[str, Any]:
    """The findings of a recording of a suite: none of one that asks for a cache where no drive's cache can be seen.

    Raises:
        PslcError: they have no `warnings`.
    """
    from pslc.recording.writes.findings import no_cache_seen

    if asks_cache(recording.suite) and (reason := no_cache_seen(recording)) is not None:
        nothing: dict[str, Any] = unknown(get_type_hints(suite.findings)["return"])
        return nothing | {"warnings": [reason]}
    findings = suite.findings(recording)
    if "warnings" not in findings:
        raise JobError(f"{Path(suite.__file__).name}: what findings() returned has no warnings", NO_WARNINGS)
    return findings


def of(recording: Recording) -> Suite | None:
    """Suite that analyzes and shows a recording, or the module for a watched drive; None for a job file."""
    if "watch" in recording.facts:
        return cast(Suite, extras.service(extras.Service.WATCHED))
    if "trace" in recording.facts:
        return load("trace")
    return load(recording.suite) if recording.suite in names() else None


def asks_temperature(name: str) -> bool:
    """Whether a real drive is asked for its temperature while the suite runs (`ASKS_TEMPERATURE`): only one that never
    leaves the drive alone may do so, since asking can wake it."""
    return bool(getattr(load(name), "ASKS_TEMPERATURE", False))


def asks_cache(name: str) -> bool:
    """Whether all that a suite answers is of a drive's cache (`ASKS_CACHE`), unlike the speeds of others."""
    return name in names() and bool(getattr(load(name), "ASKS_CACHE", False))


def has_rests(name: str) -> bool:
    """Whether a suite's answer is of what a drive does while it is left alone between writes (`HAS_RESTS`)."""
    return bool(getattr(load(name), "HAS_RESTS", False))


def tells_nothing(recording: Recording) -> bool:
    """Whether the findings of a suite are none, as no drive's cache can be seen (`findings_of`)."""
    codes = [warning.code for warning in recording.findings.warnings]
    return asks_cache(recording.suite) and AnalysisWarning.SPEEDS_ONLY.code in codes


def unlike_scaled(name: str) -> str | None:
    """Reason why a suite gives other answers on a scaled drive (`UNLIKE_SCALED`, for `pslc.device.scaling`); None if it
    does not."""
    return cast("str | None", getattr(load(name), "UNLIKE_SCALED", None))


def fit_hints(name: str, findings: Mapping[str, Any], start: FitStart) -> list[StartValues]:
    """Initial values for a twin from the findings of a suite, in several sets (`fit_hints` of the suite).

    Empty for a suite that has none, and for what is no suite.
    """
    hints = getattr(load(name), "fit_hints", None) if name in names() else None
    return cast("list[StartValues]", hints(findings, start)) if hints else []


def question(name: str) -> str:
    """Question that a suite answers, as a sentence."""
    return load(name).__doc__.splitlines()[0]


def findings_text(name: str) -> str:
    """Description of a suite's findings for people: its docstring, or that of the analysis of writes if it names it."""
    from pslc.recording.writes.findings import of_writes

    text = cleandoc(load(name).findings.__doc__ or "")
    if "`pslc.recording.writes.findings.of_writes` describes" not in text:
        return text
    listed = cleandoc((of_writes.__doc__ or "").partition("\n")[2])
    return f"Findings of the write, in base units.\n\n{listed}"


def expected(name: str, region: Region) -> list[str]:
    """The steps of a suite as it would take them if everything came as expected."""
    return list(load(name).steps(region))
