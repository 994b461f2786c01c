"""Constants of parts, fitted to published figures (docs/accuracy/pooled.py), and the forecasts that they make."""

import csv
import functools
import importlib
import itertools
import json
import math
import sys
import types

import numpy as np
import pytest

import pslc
from pslc.device import parts
from pslc.device.parts import constants, forecast, laws
from pslc.device.parts.schema import RATES, TIMES, quantity
from pslc.device.profiles import library
from pslc.device.target import find_target
from pslc.runner.predicted import names_a_part
from tests.conftest import ROOT

FOLDER = ROOT / "docs" / "accuracy"


def module(name: str) -> types.ModuleType:
    """A module of docs/accuracy."""
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
    return importlib.import_module(name)


ledger, pooled = module("ledger"), module("pooled")


@functools.cache
def fitted():
    """A fit of all rows."""
    return pooled.fit(ledger.reviews())


def test_the_tables_are_what_make_calibration_would_write():
    kept = constants.table()
    for name, part, median, sd in pooled.table(fitted()):
        assert (kept[name, part].median, kept[name, part].sd) == pytest.approx((median, sd), rel=2e-3, abs=6e-4), part
    assert list(forecast.lines()) == pooled.lines(ledger.reviews())


def test_every_part_has_its_constants_and_each_profile_has_their_medians():
    for chip, die in itertools.product(parts.controllers()[::9], parts.nands()[::7]):
        values = parts.profile(nand=die, controller=chip, capacity="2TB", cache={"dynamic": "50GB"}).values
        told = constants.of(parts.controller(chip), parts.nand(die))
        for key, name, scales in (("controller.native_write", "native_write", RATES),
                                  ("nand.slc.program", "slc_program", TIMES)):  # fmt: skip
            assert quantity(values[key], scales, key) == pytest.approx(told[name].median, rel=6e-3), (chip, die)
    for name, part in {(n, p) for n, p, *_ in pooled.table(fitted())}:
        assert constants.table()[name, part].sd > 0


def test_a_part_that_no_table_has_is_as_its_class_and_less_certain():
    chip = parts.published_controller("maxio-map1602")
    features = constants.of_controller(chip, "TLC")
    measured, stranger = (constants.constant("slc_write", name, features) for name in (chip.name, "example-x4"))
    assert stranger.sd > 2 * measured.sd
    assert stranger.median == pytest.approx(measured.median, rel=0.6)
    faster = constants.constant("slc_write", "example-x4", {**features, "link": features["link"] + math.log(2)})
    assert faster.median > 1.3 * stranger.median


@pytest.fixture(scope="module")
def left_out():
    """Each figure as the drives of other lines predict it: a fit for each line."""
    return list(module("parts").left_out("line"))


def test_what_is_left_out_of_a_forecast_sets_nothing_in_it(left_out):
    mine = [one for one in ledger.reviews() if one.line == "HP FX900"]
    rest = [one for one in ledger.reviews() if one.line != "HP FX900"]
    of_parts = module("parts")
    without = list(of_parts.predicted(mine, rest))
    assert [one for one in left_out if one.review in mine] == without
    learned = list(of_parts.predicted(mine, ledger.reviews()))
    assert sum(one.high - one.low for one in learned) < 0.97 * sum(one.high - one.low for one in without)


def test_leave_outs_are_as_near_and_their_intervals_as_wide_as_promised(left_out):
    scored = left_out
    first = [one for one in scored if one.figure == "speed1"]
    speeds = [one for one in scored if one.figure.startswith("speed")]
    median, ninety = np.quantile([abs(one.error) for one in first], [0.5, 0.9])
    assert (median, ninety) < (0.12, 0.31)
    assert np.median([abs(one.error) for one in speeds]) < 0.155
    assert np.mean([one.score for one in speeds]) < 1.35
    for group in (first, speeds, [one for one in speeds if one not in first]):
        assert 0.75 < np.mean([one.holds for one in group]) < 0.91


def test_a_copy_tells_little_of_the_die_and_the_slower_limit_tells_nearly_all():
    drive = laws.Drive(3450e6, 16, 3, 32768, 1e12, 0.0, 60e9)
    logs = {name: math.log(value) for name, value in
            {"slc_write": 2000e6, "copy_time": 2e5, "native_write": 900e6, "folding": 1.4, "slc_program": 1e5,
             "native_program": 1.5e6}.items()}  # fmt: skip

    def moved(name: str, *, is_single: bool) -> float:
        of = laws.Drive(**{**drive.__dict__, "is_single": is_single})
        low, high = (laws.speeds(of, "direct-then-fold", {**logs, name: logs[name] + d}) for d in (0.0, 0.1))
        return abs(math.log(float(high.first) / float(low.first)))

    assert moved("slc_program", is_single=True) < 0.1 * moved("copy_time", is_single=True)
    assert moved("slc_write", is_single=False) > 0.09
    assert moved("copy_time", is_single=False) == 0


FILLS = ("Pichau Aldrin Pro 2TB", "Lexar NM620 1TB", "Crucial P1 1TB", "Kingston XS2000 500GB")


@pytest.mark.parametrize("name", FILLS)
def test_the_laws_say_what_a_fill_of_the_drive_does(name):
    review = next(one for one in ledger.reviews() if one.row["drive"] == name)
    logs = {key: np.log(c.median) for key, c in constants.of(review.chip, review.die).items()}
    factor = 1.0 if review.way == constants.WAYS[0] else constants.table()["folding", f"way {review.way}"].median
    # Slow firmware has a pace of its own, whatever native cells take.
    cost = math.log(factor) + (0.0 if review.way == "slow-fold" else logs["folding"])
    speeds = laws.speeds(review.drive, review.way, {**logs, "folding": cost})
    halved = {
        "native_write": logs["native_write"] - math.log(2),
        "native_program": logs["native_program"] + math.log(2),
    }
    slower = laws.speeds(review.drive, review.way, {**logs, **halved, "folding": cost})
    assert (slower.second > 0.95 * speeds.second) == (review.way == "slow-fold")
    told = dict(zip(("speed 1", "speed 2", "speed 3"), (speeds.first, speeds.second, speeds.third), strict=True))
    for figure in module("parts").of_fill(review.row):
        if figure.what in told:
            assert figure.simulated == pytest.approx(float(told[figure.what]), rel=0.16), figure


def test_no_reserved_drive_sets_or_is_held_against_anything():
    with (FOLDER / "reserved.csv").open() as file:
        reserved = {row["drive"].lower() for row in csv.DictReader(file)}
    assert len(reserved) >= 28
    assert reserved.isdisjoint({ledger.model(row["drive"]).lower() for row in ledger.rows()})
    for name in (*parts.controllers(), *parts.nands()):
        text = parts.text(parts.part(name)).lower()
        assert [drive for drive in reserved if drive in text] == [], name


def test_ways_and_caches_follow_the_drives_that_share_the_most():
    chip, die = parts.controller("maxio-map1602"), parts.nand("ymtc-x3-9070-tlc-1t")
    own = forecast.lines()
    assert forecast.ways(chip, "QLC", "dynamic", own)["fold"] > 0.5 > forecast.ways(chip, "TLC", "dynamic", own)["fold"]
    first = forecast.caches(chip, die, 1e12, own)[0]
    assert (first.name, first.probability > 0.6) == ("part", True)
    # No drive of the ledger has these controllers on TLC: the firmware of others of their makers is what is known.
    silicon_motion, phison = (forecast.ways(parts.controller(name), "TLC", "dynamic", own)["slow-fold"]
                              for name in ("smi-sm2268xt2", "phison-e28"))  # fmt: skip
    assert silicon_motion > 0.25 > 4 * phison
    others = [line for line in own if line.controller != chip.name]
    assert forecast.caches(chip, die, 1e12, others)[0].probability < first.probability


def test_forecasts_stay_as_they_were_and_a_review_scores_them():
    forecasts = module("forecasts")
    table = forecasts.rows()
    assert (ROOT / "docs" / "forecasts.md").read_text() == forecasts.page(table)
    in_ledger = {ledger.model(row["drive"]) for row in ledger.rows()}
    assert len(table) >= 12
    assert in_ledger.isdisjoint(row["drive"] for row in table)
    low, high = float(table[0]["first_low"]), float(table[0]["first_high"])
    when = {"reviewed": "2027-01-31 in a test"}
    reviewed = [{**table[0], **when, "first_measured": str(figure)} for figure in (low * 1.01, high * 0.99, high * 2)]
    assert forecasts.needed(reviewed[0], "first") == pytest.approx(1, abs=0.05)
    assert forecasts.needed(reviewed[2], "first") > 1.5
    assert any("| first | 3 | 67% |" in line for line in forecasts.scores(reviewed))
    for strange in ({"reviewed": "2026-11-27 too early"}, {"reviewed": ""}, {"first_measured": ""}):
        with pytest.raises(SystemExit, match=f"{table[0]['drive']}: a review has figures, and begins with a date"):
            forecasts.scores([{**reviewed[0], **strange}])


# ---- as a user sees it


@pytest.mark.parametrize(
    ("drive", "published_us", "codes"),
    [
        ("990-pro-4tb", (891, 1643), ["predicted"]), ("t500-2tb", (450, 980), ["flush"]),
        ("970-evo-500gb", (2193, 2604), []),
        ("pm9a3-7tb", (12, 58), ["predicted"]), ("p5520-4tb", (12, 58), ["predicted"]),
    ],
)  # fmt: skip
def test_a_synced_write_takes_what_was_published(drive, published_us, codes, command, tmp_path):
    """flushes.csv, and Small Datum, January 2026, for drives with capacitors."""
    sync = (
        "[lay]\nrw=write\nbs=1m\nsize=2g\n[sync]\nstonewall\nrw=randwrite\nbs=16k\nsize=2g\nnumber_ios=300\nfsync=1\n"
    )
    (tmp_path / "sync.fio").write_text(f"[global]\ndirect=1\nioengine=io_uring\n{sync}")
    document = json.loads(command("run", "sync.fio", "--on", f"sim:{drive}", "--json").stdout)
    warnings = document["findings"]["warnings"]
    assert [note["code"] for note in warnings if note["code"] in ("predicted", "flush")] == codes
    job = document["jobs"][-1]
    took_us = (job["write"]["lat_ns"]["mean"] + job["sync"]["lat_ns"]["mean"]) / 1e3
    low, high = published_us
    assert low / 1.5 < took_us < high * 1.5


def test_the_page_of_synced_writes_says_what_the_command_measures():
    flushes = module("flushes")
    row = flushes.of_parts()[-1]
    assert flushes.line(row, flushes.simulated_s(row)) in flushes.PAGE.read_text(), "python docs/accuracy/flushes.py"


def test_a_flush_is_predicted_by_drives_of_other_controllers_as_surely_as_pslc_says(monkeypatch):
    flushes = module("flushes")
    row = next(row for row in ledger.flushes() if row["controller"] == "samsung-phoenix")
    own, rows = flushes.left_out(row), ledger.flushes()
    intervals = [(float(each["sync_us"]) / 1e6, flushes.left_out(each)) for each in rows]
    assert np.mean([of.low <= published <= of.high for published, of in intervals]) >= 0.8
    assert np.median([of.high / of.low for _, of in intervals]) < 8
    slower = tuple({**each, "sync_us": "90000"} if each["controller"] == row["controller"] else each for each in rows)
    monkeypatch.setattr(ledger, "flushes", lambda: slower)
    assert flushes.left_out({**row, "sync_us": "1"}).median == pytest.approx(own.median)


def test_a_command_at_a_time_takes_what_drives_of_other_parts_say(monkeypatch):
    qd1, rows = module("qd1"), ledger.commands()
    asked = [(row, figure) for figure in pooled.COMMANDS for row in rows if row[figure]]
    assert sum(figure == "read_iops" for _, figure in asked) >= 20
    intervals = [(float(row[figure]), qd1.left_out(row, figure)) for row, figure in asked]
    assert np.mean([of.low <= 1 / published <= of.high for published, of in intervals]) > 0.85
    near = [of.median * published for published, of in intervals]
    assert 0.45 < min(near) < 1 < max(near) < 1.5
    assert np.median(np.abs(np.log(near))) < 0.15
    slower = tuple({**row, "write_iops": "9000"} if row["controller"] == "samsung-pascal" else row for row in rows)
    monkeypatch.setattr(ledger, "commands", lambda: slower)
    own, other = (next(row for row in rows if row["controller"] == name) for name in ("samsung-pascal", "samsung-mex"))
    slow = [qd1.left_out(row, "write_iops").median * float(row["write_iops"]) for row in (own, other)]
    before = [near[asked.index((row, "write_iops"))] for row in (own, other)]
    assert slow[0] == pytest.approx(before[0])
    assert slow[1] > 1.02 * before[1]


def test_the_page_of_single_commands_says_what_the_command_measures():
    qd1 = module("qd1")
    row = next(row for row in ledger.commands() if row["drive"].startswith("Crucial P3"))
    simulated = {figure: qd1.simulated_iops(row, figure) for figure in ("write_iops", "read_iops")}
    for figure, iops in simulated.items():
        assert qd1.line(row, figure, iops) in qd1.PAGE.read_text(), "python docs/accuracy/qd1.py"
    assert simulated["read_iops"] == pytest.approx(float(row["read_iops"]), rel=0.2)


@pytest.mark.parametrize(
    ("controller", "nearest", "is_known"),
    [
        ("innogrit-ig5236", "2 reviewed lines with both parts", True),
        ("phison-e16", "controller and die known, apart", True),
    ],
)
def test_a_new_drive_is_told_with_intervals_and_with_what_is_known(controller, nearest, is_known, command, tmp_path):
    flags = ("--nand", "ymtc-x2-9060-tlc-512g", "--controller", controller, "--capacity", "250GB")
    out = command("drives", "new", "mine.toml", *flags).stdout
    shown = " ".join(line.strip("# ") for line in command("drives", "show", "./mine.toml").stdout.splitlines())
    document = json.loads(command("drives", "show", "./mine.toml", "--json").stdout)["forecast"]
    for text in (out, shown):
        for row in ("first phase", "past the cache", "mean of a fill", "flush", "cache, by others"):
            assert row in text
        assert nearest in text
        assert ("(80 %: " in text) == is_known
    assert 0 < document["past"]["low"] < document["past"]["median"] < document["past"]["high"]
    assert sum(kind["probability"] for kind in document["caches"]) == pytest.approx(1, abs=0.08)


def test_a_drive_that_collects_while_idle_comes_back_as_its_reviewer_saw_and_one_that_does_not_stays_slow():
    idle = module("idle")
    row = next(row for row in ledger.read("idle.csv") if row["drive"] == "Crucial MX500 1TB")
    never, collected = (abs(idle.error(row, idle.speeds((row, share)))) for share in idle.SHARES)
    assert collected < 0.1 < 0.4 < never


def test_no_reserved_drive_is_in_the_ledger_of_idle_time():
    with (FOLDER / "reserved.csv").open() as file:
        reserved = {row["drive"].lower() for row in csv.DictReader(file)}
    assert reserved.isdisjoint(ledger.model(row["drive"]).lower() for row in ledger.read("idle.csv"))


def test_a_profile_that_states_its_link_itself_is_made_of_its_parts(command):
    command("examples")
    document = json.loads(command("drives", "show", "./examples/parts.toml", "--json").stdout)
    assert document["forecast"]["first"]["low"] < document["forecast"]["first"]["high"]


def test_drives_of_parts_are_looked_for_by_a_name_of_a_part_alone():
    for name in library():
        target = find_target(f"sim:{name}")
        if forecast.parts_of(target.profile, dict(target.provenance)):
            assert names_a_part(target.provenance), name
    assert [name for name in (*parts.nands(), *parts.controllers()) if "-" not in name] == []


@pytest.mark.parametrize(("drive", "is_predicted"), [("990-pro-4tb", True), ("mx500-1tb", False)])
def test_a_fill_of_a_drive_of_parts_says_that_it_is_predicted_and_its_picture_has_the_band(
    drive, is_predicted, command, tmp_path
):
    printed = command("run", "fill", "--on", f"sim:{drive},scale=1/8", "--save", "run", "--no-report").stdout
    assert ("note: the speeds of this drive are predicted from its parts: first phase" in printed) == is_predicted
    recording = pslc.load(tmp_path / "run")
    levels = [warning.level for warning in recording.findings.warnings if warning.code == "predicted"]
    assert levels == (["note"] if is_predicted else [])
    picture = pslc.plot(recording).document()
    assert (picture["note"] == "band: 80 % of the drives of such parts") == is_predicted
    line = picture["panels"][0]["lines"][0]
    if is_predicted:
        predicted = forecast.of_target(recording.profile, dict(recording.provenance))
        assert line["high"][0] == pytest.approx(predicted.first.high / 1e6, rel=0.02)
        assert line["low"][-1] < predicted.past.median / 1e6 < line["high"][-1]
        assert line["x"][-1] == pytest.approx(4000, rel=0.01)
        # The band steps where the cache ends, and not at the next fiftieth.
        assert [x for x, y, low, high in zip(*(line[of] for of in ("x", "y", "low", "high")), strict=True)
                if not low <= y <= high] == []  # fmt: skip
