"""What was not tried is not stated as found: a cut recording says nothing that the whole one does not bear out."""

import re
from functools import cache

import pytest

import pslc
from pslc import suites
from pslc.device import scaling
from pslc.device.region import Scope
from pslc.report import recording_view
from pslc.runner.load import analysed
from tests.cut import cut

DRIVES = {
    "static": "sim:pm871b-128gb,capacity=12GB,cache.static=4GB,scale=1/32",
    "dynamic": "sim:sn850-1tb,scale=1/64",
    "without": "sim:pm871b-128gb,capacity=12GB,cache.mode=pure-xlc,scale=1/32",
}
"""A cache that stays as it is, one that shrinks as the drive fills, and none."""
NEGATIVE = re.compile(
    r"\b(no|not|never|nothing|neither|none|unknown|as much|as you like|whole|every|any|at most)\b", re.I
)
"""Words of a claim about what was not seen, or about all there is."""
WITHIN = re.compile(r"The drive does not free its cache within ([\d.]+ m?s) of idle time\.")
TOLERANCE = 0.25


@pytest.fixture(autouse=True)
def copies(monkeypatch):
    """A recording is cut, and analysed, as the scaled drive's that it is."""
    monkeypatch.setattr(scaling, "whole", lambda recording: recording)


@cache
def whole(suite: str, drive: str) -> pslc.Recording:
    return pslc.run(suite, on=DRIVES[drive], scope=Scope(quick=True))


def cuts(recording: pslc.Recording) -> list[pslc.Recording]:
    """Up to the end of each step but the last, and of the first ones to their middle as well."""
    took = recording.end_ns - recording.start_ns
    ends = [(part.end_ns - recording.start_ns) / took for part in recording.parts[:-1]]
    middles = [(part.start_ns + part.end_ns - 2 * recording.start_ns) / 2 / took for part in recording.parts[:12]]
    return [analysed(cut(recording, share)) for share in sorted({*ends, *middles})]


def said(recording: pslc.Recording) -> list[str]:
    return recording_view.of_recording(recording).sentences


def is_borne_out(sentence: str, recording: pslc.Recording) -> bool:
    """Whether a claim of a cut recording that the whole one does not make is true by it."""
    if within := WITHIN.fullmatch(sentence):
        number, unit = within[1].split()
        threshold_s = recording.findings["idle_threshold_s_high"] or recording.findings["idle_threshold_s_low"]
        return float(number) * {"ms": 1e-3, "s": 1.0}[unit] <= threshold_s
    if at_most := re.match(r"The drive frees its cache after at most (.*) of idle time, perhaps at once", sentence):
        return recording.findings["idle_threshold_s"] is not None and bool(at_most)
    number = re.compile(r"\d+(?:\.\d+)?")
    for other in said(recording):
        if number.sub("#", other) == number.sub("#", sentence):
            pairs = zip(number.findall(sentence), number.findall(other), strict=True)
            return all(abs(float(a) - float(b)) <= TOLERANCE * float(b) for a, b in pairs)
    return False


@pytest.mark.parametrize("drive", DRIVES)
@pytest.mark.parametrize("suite", suites.names())
def test_a_cut_recording_claims_nothing_that_the_whole_one_does_not_show(suite, drive):
    full = whole(suite, drive)
    sentences = said(full)
    for recording in cuts(full):
        steps = len(recording.parts)
        for sentence in said(recording):
            if NEGATIVE.search(sentence) and sentence not in sentences:
                assert is_borne_out(sentence, full), (steps, sentence, sentences)
        assert "incomplete" in [warning.code for warning in recording.findings["warnings"]]


SCALARS = {
    "recovery": ("cache_bytes", "idle_threshold_s", "migration_bytes_per_s", "residue_bytes"),
    "fill-levels": ("cache_bytes_empty",),
    "overwrite": ("cache_bytes", "verdict"),
    "power": ("idle_watts", "most_watts"),
    "second-pass": ("cache_bytes", "cache_share"),
    "endurance": ("life_bytes", "waf"),
    "mixed": ("slower_folding", "as_ssd_read_bytes_per_s"),
    "burst": ("buffer_bytes",),
}
"""Findings that a cut recording has either not at all, or as the whole one has them."""


@pytest.mark.parametrize("drive", DRIVES)
@pytest.mark.parametrize("suite", SCALARS)
def test_a_finding_of_a_cut_recording_is_that_of_the_whole_one_or_is_none(suite, drive):
    full = whole(suite, drive)
    ended = [recording for recording in cuts(full) if not recording.parts[-1].interrupted]
    for recording in ended:
        for name in SCALARS[suite]:
            value, right = recording.findings[name], full.findings[name]
            if isinstance(value, str):
                assert value == right, (len(recording.parts), name)
            elif value is not None:
                low = full.findings.get(f"{name}_low")
                assert right is not None or low is not None, (len(recording.parts), name, value)
                near = right if right is not None else low
                assert abs(value - near) <= TOLERANCE * near, (len(recording.parts), name, value, right)


def test_a_recovery_that_ended_before_its_first_pause_says_nothing_of_pauses():
    full = whole("recovery", "static")
    assert "The drive frees its cache after 1.01 s of idle time" in said(full)[0]
    first = next(number for number, part in enumerate(full.parts) if part.jobs[0]["name"].startswith("after-"))
    for recording in cuts(full):
        if len(recording.parts) <= first:
            assert not any("idle time" in sentence for sentence in said(recording)), said(recording)
            assert recording.findings["idle_threshold_s_low"] is None
            assert "not-tried" in [warning.code for warning in recording.findings["warnings"]]
