"""The points of a study: which runs on which drives with which seeds."""

import hashlib
import io
import itertools
import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from pslc import suites
from pslc.base import files, gate, shell, units
from pslc.base.errors import Faults, JobError, ProfileError, PslcError, closest_match
from pslc.device import computers
from pslc.device.target import find_target, name_in
from pslc.policy.governor import Policy, VictimRule, source_of
from pslc.runner import job_file
from pslc.studies.axes import MOST_VALUES, Axis, Condition, Span, axis, span
from pslc.studies.samples import Sample
from pslc.traces import FILE as TRACE
from pslc.traces import Part, is_trace

FILE: Final = gate.Expected("a study is a TOML file: on, run, and a table [vary]")

RESERVED: Final = ("on", "run", "seed", "fill_first", "policy", "victim_rule")
"""Axes that are no keys of a target."""
GOVERNORS: Final[dict[str, type[Policy | VictimRule]]] = {"policy": Policy, "victim_rule": VictimRule}
"""Axes whose values name classes in files, or `profile`: what the profile says."""
PROFILE: Final = "profile"
NEEDED: Final = {"on": ("which drive it is about", "sim:sn850-1tb"), "run": ("what is run", "fill")}
"""Keys without which nothing can be run: what they say, and an example."""
KEYS: Final = (*RESERVED, computers.KEY, "vary", "where", "quick", "sample", "draws")
SCALE: Final = re.compile(r"[,:]scale=([0-9/.]+)")
DRAW: Final = "draw"
"""Axis that numbers the draws of a drive made of parts."""


@dataclass(frozen=True)
class Point:
    """A single run of a study. Its result follows from its values alone, so any process may run it.

    Attributes:
        values: of every axis, `on`, `run` and `seed` first.
        quick: `--quick`.
        stands_on: a digest of the files it is made from, empty where it needs none.
    """

    values: tuple[tuple[str, str], ...]
    quick: bool
    stands_on: str = ""

    @property
    def spec(self) -> str:
        """The target, with the profile's keys."""
        keys = [f"{key}={value}" for key, value in self.values if key not in (*RESERVED, DRAW)]
        return ",".join([dict(self.values)["on"], *keys])

    @property
    def drive(self) -> tuple[str, str]:
        """Initial drive of the run: the target, and its fill level."""
        return self.spec, dict(self.values).get("fill_first", "")

    @property
    def command(self) -> str:
        """Shell command that runs this point alone."""
        values = dict(self.values)
        words = ["pslc", "run", values["run"], "--on", self.spec, "--seed", values["seed"]]
        words += ["--fill-first", values["fill_first"]] if "fill_first" in values else []
        for key in GOVERNORS:
            words += [f"--{key.replace('_', '-')}", values[key]] if values.get(key, PROFILE) != PROFILE else []
        return shell.line([*words, *(["--quick"] if self.quick else [])])


def _check_document(document: Mapping[str, object], faults: Faults) -> None:
    """Note keys that no study has, and those without which nothing can be run."""
    for key in document:
        if key not in KEYS:
            meant = closest_match(key, KEYS)
            listed = f"keys are {', '.join(KEYS)}; those of a drive go into [vary]"
            faults.add(f"unknown key {key} in a study", f"did you mean {meant}?" if meant else listed)
    for key, (what, example) in NEEDED.items():
        if not document.get(key):
            faults.add(f"the study does not say {what}", f'{key} = "{example}" in its file, or --{key} {example}')


def _conditions(where: object, keys: Sequence[str], faults: Faults) -> tuple[Condition, ...]:
    """Conditions on axes: a list of them, or a single one. What is wrong with one is noted as a fault."""
    conditions = []
    for text in where if isinstance(where, list | tuple) else [where]:
        with faults.noted():
            conditions.append(Condition.of(str(text), keys))
    return tuple(conditions)


def _axes_of_runs(declared: Mapping[str, object], faults: Faults) -> list[Axis | Span]:
    """Drives, runs, seeds and shares filled before. What is wrong with them is noted as a fault."""
    drives = declared.get("on") or []
    on = Axis("on", tuple(str(spec) for spec in (drives if isinstance(drives, list | tuple) else [drives])))
    for spec in on.values:
        if not spec.startswith("sim:"):
            faults.add(f"{spec} is not a simulated drive", "a study runs on single drives, such as sim:sn850-1tb")
    axes: list[Axis | Span] = [on]
    for key, values in (
        ("run", declared.get("run")),
        ("seed", declared.get("seed", [0])),
        ("fill_first", declared.get("fill_first")),
        *((key, declared.get(key)) for key in (*GOVERNORS, computers.KEY)),
    ):
        if values or key == "seed":
            with faults.noted():
                axes.append(axis(key, values))
                for value in axes[-1].values if isinstance(axes[-1], Axis) else ():
                    _check_value(key, value, faults)
    return axes


def _check_value(key: str, value: str, faults: Faults) -> None:
    if key == "seed" and (not value.isdecimal() or int(value) >= 2**64):
        faults.add(f"{value} is not a seed", "whole numbers from 0 to 2^64 - 1: seed = [0, 1, 2]")
    if key == "fill_first":
        with faults.noted():
            units.percent(value, "fill_first")
    if key == computers.KEY:
        with faults.noted():
            computers.find(value)
    if key in GOVERNORS and value != PROFILE:
        with faults.noted():
            source_of(value, GOVERNORS[key])


def _axes_of_drives(vary: Mapping[str, object], grid: bool, faults: Faults) -> list[Axis | Span]:
    """Keys of the profile. A grid needs a step for each range; what is wrong is noted as a fault."""
    axes: list[Axis | Span] = []
    for key, values in files.dotted(vary):
        with faults.noted():
            range_of = span(key, values)
            if range_of and grid:
                hint = f"{key}=50GB:700GB:50GB has a step; or --sample lhs:64 draws from the span"
                faults.add(f"the range of {key} has no step", hint)
            axes.append(range_of or axis(key, values))
    return axes


@dataclass(frozen=True)
class Study:
    """Axes and the conditions between them."""

    axes: tuple[Axis | Span, ...]
    where: tuple[Condition, ...] = ()
    quick: bool = False
    sample: Sample | None = None
    draws: int = 0

    @classmethod
    def of(cls, document: Mapping[str, object]) -> "Study":
        """A study in the words of its file: `on`, `run`, `seed`, `fill_first`, `computer` (values), `vary` (a table of
        axes), `where` (a list of conditions), `quick`, `sample`, `draws` (of drives made of parts).

        Raises:
            PslcError: words are unknown, or have no sensible value; all of them in one message.
        """
        faults = Faults(JobError, "the study")
        _check_document(document, faults)
        sample = None
        if document.get("sample"):
            with faults.noted():
                sample = Sample.of(str(document["sample"]))
        vary = document.get("vary", {})
        if not isinstance(vary, Mapping):
            faults.add("vary is not a table", 'write [vary], and below it "cache.dynamic" = "50GB:700GB:50GB"')
            vary = {}
        axes = [*_axes_of_runs(document, faults), *_axes_of_drives(vary, not document.get("sample"), faults)]
        stated = [key for key in (*RESERVED, computers.KEY) if key in document or key == "seed"]
        keys = [*stated, *(key for key, _ in files.dotted(vary))]
        for key in sorted({key for key in keys if keys.count(key) > 1}):
            faults.add(f"{key} is given twice", "give all its values at once, separated by commas")
        conditions = _conditions(document.get("where", []), list(dict.fromkeys(keys)), faults)
        draws = document.get("draws", 0)
        if not isinstance(draws, int) or draws < 0:
            faults.add(f"draws is {draws!r}", "a whole number: draws = 100")
        faults.raise_if_any()
        return cls(tuple(axes), conditions, bool(document.get("quick", False)), sample, int(str(draws)))

    def points(self) -> list[Point]:
        """Points of the study, in the order of the axes, the last one fastest, or of the sample; without those that the
        conditions exclude.

        Raises:
            PslcError: a suite, a job file or a drive does not exist, or there are more points than anyone waits for.
        """
        digests: dict[tuple[str, ...], str] = {}
        points = []
        keys = [of.key for of in self.axes]
        for combination in self._combinations():
            values = dict(zip(keys, combination, strict=True))
            if not all(condition.holds(values) for condition in self.where):
                continue
            files_of = (values["on"], values["run"], *(values.get(key, PROFILE) for key in GOVERNORS))
            if files_of not in digests:
                digests[files_of] = _digest(*files_of)
                _check_keys(values)
            if self.quick and values["run"] not in suites.names():
                raise JobError(f"{values['run']} is a job file", "quick works on suites only")
            points += [Point(tuple(each.items()), self.quick, digests[files_of]) for each in self._drawn(values)]
        # A sample may draw the same values twice.
        return list(dict.fromkeys(points))

    def _drawn(self, values: dict[str, str]) -> list[dict[str, str]]:
        """These values, once for each draw of a drive made of parts."""
        if not self.draws:
            return [values]
        from pslc.device.parts import draws, forecast

        # Of a scaled drive the sizes are those of the whole one.
        target = find_target(SCALE.sub("", Point(tuple(values.items()), self.quick).spec))
        profile = forecast.parts_of(target.profile, dict(target.provenance))
        if profile is None:
            hint = "pslc drives new makes drives of parts; --draws varies what their parts leave open"
            raise JobError(f"{values['on']} is not made of parts", hint)
        drawn = draws.settings(profile, self.draws)
        return [{**values, DRAW: str(number), **settings, **values} for number, settings in enumerate(drawn)]

    def intervals(self) -> list[str]:
        """A sentence for each drive of parts that is not drawn: what its figures lie between."""
        from pslc.device.parts import forecast

        sentences = []
        names = next((of.values for of in self.axes if isinstance(of, Axis) and of.key == "on"), ())
        for name in () if self.draws else names:
            target = find_target(SCALE.sub("", name))
            drive = forecast.undecided(target.profile, target.provenance)
            if drive is not None:
                phases = ", ".join(f"{phase} {text}" for phase, text in drive.in_words)
                about = "each figure has an interval, --draws 100 runs drives of such parts"
                sentences.append(f"{name}: {about}: {phases}")
        return sentences

    def _combinations(self) -> Iterable[tuple[str, ...]]:
        if self.sample:
            return self.sample.draw(self.axes)
        axes = [of for of in self.axes if isinstance(of, Axis)]
        count = math.prod(len(of.values) for of in axes) * max(self.draws, 1)
        if count > MOST_VALUES:
            raise JobError(
                f"the study has {count} points", f"at most {MOST_VALUES} are possible; use larger steps, or fewer axes"
            )
        return itertools.product(*(of.values for of in axes))


def read(path: Path) -> dict[str, object]:
    """Read the file of a study.

    Raises:
        PslcError: it cannot be read, or is not TOML.
    """
    text = gate.text(path, FILE)
    try:
        return files.toml(text)
    except tomllib.TOMLDecodeError as error:
        raise JobError(f"{path}: {error}", 'text needs quotes: "cache.dynamic" = "50GB:700GB:50GB"') from None


def _check_keys(values: Mapping[str, str]) -> None:
    """Refuse keys that no profile has: a point may be refused for its value, but of such a key all would be.

    Raises:
        PslcError: no profile has such a key.
    """
    faults = Faults(JobError, "the study")
    for key, value in values.items():
        if key in (*RESERVED, computers.KEY, "scale"):
            continue
        with suppress(PslcError):
            find_target(values["on"])
            try:
                find_target(f"{values['on']},{key}={value}")
            except ProfileError as error:
                # Other errors are of this point alone, and are in its row.
                for fault in error.faults:
                    if fault.code == "profile-unknown-key":
                        faults.note(fault)
    faults.raise_if_any()


def _digest(on: str, run: str, *governors: str) -> str:
    """Digest of the texts of a drive's file, with what it is based on, of a job file and of policies: another text is
    another point."""
    parts = []
    name = name_in(on)
    if "/" in name or name.endswith(".toml"):
        parts.append(find_target(on).profile)
    if run not in suites.names():
        path = job_file.path_of(run)
        parts.append(_contents(path) if is_trace(path, Part()) else gate.text(path, job_file.FILE))
    for text, kind in zip(governors, GOVERNORS.values(), strict=True):
        parts += [source_of(text, kind)] if text != PROFILE else []
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16] if parts else ""


def _contents(path: Path) -> str:
    """Digest of a trace, which may be long or no text."""
    with gate.opened(path, TRACE) as file:
        return hashlib.file_digest(cast(io.BufferedReader, file), "sha256").hexdigest()


def varied(study: Study) -> list[str]:
    """The axes with more than one value."""
    return [of.key for of in study.axes if isinstance(of, Span) or len(of.values) > 1]
