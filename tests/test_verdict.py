"""`pslc compare` says whether anything changed: right about random repeats whose truth is known."""

import json
from dataclasses import replace

import numpy as np

import pslc
from pslc.recording import store
from pslc.recording.change_summary import BY_CHANCE, verdicts
from pslc.recording.comparison import Compared, Side, _mean, apart, compare, rate
from pslc.recording.metrics import Figure
from tests.conftest import fill

SHOWN = {"drive": "x", "suite": "fill"}
OWN = pslc.run("burst", on="sim:pm871b-128gb,scale=1/64", scope=pslc.Scope(quick=True))


def compared(samples):
    """Rows of two sides from samples of each figure: shape (2, figures, repeats)."""
    rows = []
    for number, (one, other) in enumerate(zip(*samples, strict=True)):
        figures = [_mean([rate(value, 0.0) for value in of]) for of in (one, other)]
        rows.append(Compared(f"figure {number}", "B/s", figures, [False, apart(*figures)], None))
    return rows


def sides(repeats):
    return [Side(name, (OWN,) * repeats) for name in ("old", "new")]


def test_repeats_of_the_same_are_called_the_same():
    random = np.random.default_rng(1)
    called, of = 0, 300
    for _ in range(of):
        rows = compared(random.normal(1e9, 1e8, (2, 4, 5)))
        called += verdicts(sides(5), rows)[0].startswith("new differs")
    # Four figures, each wrong by chance once in fifty times at most.
    assert called / of < 1.5 * (1 - (1 - BY_CHANCE) ** 4)


def test_a_change_of_one_figure_is_found_and_its_ratio_lies_within_what_is_said():
    random = np.random.default_rng(2)
    found = held = 0
    for _ in range(200):
        samples = random.normal(1e9, 2e7, (2, 4, 5))
        samples[1, 2] *= 1.3
        row = next(row for row in compared(samples) if row.name == "figure 2")
        said = verdicts(sides(5), compared(samples))[0]
        found += "figure 2 +" in said
        first, other = row.figures
        held += other.low / first.high <= 1.3 <= other.high / first.low
    assert found == 200
    assert held / 200 > 0.9


def test_an_interval_without_a_width_is_not_shown():
    exact = [Figure(value, value, value) for value in (1e9, 1.3e9)]
    text = verdicts(sides(1), [Compared("figure", "B/s", exact, [False, True], None)])[0]
    assert text.endswith("figure +30 %.")


def test_what_two_computers_were_set_to_is_said_where_it_differs():
    facts = {"engine": "io_uring", "device": {"scheduler": "none"}, "host": {"governor": "performance"}, "power": {}}
    host = {"huge_pages": "always"}
    other = {**facts, "engine": "threads", "device": {"scheduler": "mq-deadline"}, "host": host}
    real = [
        Side(name, (replace(OWN, profile="", facts={**OWN.facts, **of}),))
        for name, of in (("old", facts), ("new", other))
    ]
    assert (
        "new was measured with engine threads instead of io_uring, I/O scheduler mq-deadline instead of none, CPU "
        "governor unknown instead of performance, huge pages always instead of unknown."
    ) in verdicts(real, [])
    assert not [line for line in verdicts([real[0], real[0]], []) if "measured with" in line]
    assert not [line for line in verdicts([sides(1)[0], real[1]], []) if "measured with" in line], "one is simulated"


def test_what_would_have_shown_is_what_does():
    # As far apart as the sentence says, and a little more, is a change; a little less is none.
    one = rate(1e9)
    rows = [Compared("mean", "B/s", [one, one], [False, False], None)]
    assert "more than 2 % would have shown in mean" in verdicts(sides(5), rows)[0]
    assert apart(one, rate(1.021e9))
    assert not apart(one, rate(1.019e9))


def test_a_figure_that_only_one_has_is_named_with_the_one_that_has_it():
    rows = [Compared("mean", "B/s", [rate(1e9), rate(1e9)], [False, False], None),
            Compared("cache", "B", [rate(1e9), None], [False, True], None),
            Compared("phase 3", "B/s", [None, rate(1e9)], [False, True], None)]  # fmt: skip
    seeks = replace(OWN, findings={**OWN.findings, "cache_bytes": None})
    said = verdicts([Side(name, (seeks,) * 5) for name in ("old", "new")], rows)
    assert said[0] == "The cache of old ends within the run, that of new does not."
    assert "In old, not in new: cache." in said
    assert "In new, not in old: phase 3." in said


def test_the_first_sentence_is_what_a_person_would_say():
    both = [Side("sold", (fill("sim:sn850-1tb"),)), Side("bare", (fill("sim:sn850-1tb,cache.mode=pure-xlc"),))]
    assert verdicts(both, compare(both, {}))[0] == (
        "bare writes 34 % faster than sold in the mean: 2083 MB/s instead of 1550 MB/s. The cache of sold ends within "
        "the run, that of bare does not. The first 100 GB take 48.0 s instead of 17.9 s."
    )
    slower = verdicts(both[::-1], compare(both[::-1], {}))[0]
    assert slower.startswith("sold writes 26 % slower than bare in the mean: 1550 MB/s instead of 2083 MB/s.")


def test_the_command_says_that_firmware_changed_and_that_it_did_not(command, tmp_path):
    small = "sim:pm871b-128gb,scale=1/4"
    for name, target in (("old", small), ("same", small), ("new", f"{small},cache.static=6GB")):
        store.save(pslc.run("fill", on=target), tmp_path / name)
    same = json.loads(command("compare", "old", "same", "--json").stdout)["verdicts"]
    assert "does not differ from" in same[0]
    assert same[-1].startswith("Single runs")
    plain = json.loads(command("compare", "old", "new", "--json").stdout)["verdicts"][0]
    assert "cache.static=6GB ends after 6.03 GB instead of 3.04 GB. The first 100 GB take " in plain
    new = command("compare", "old", "new", "-o", "page.html")
    assert " differs from " in " ".join(new.stdout.split())
    assert " differs from " in (tmp_path / "page.html").read_text()
