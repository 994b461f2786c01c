"""The ledger of published figures that set the constants of parts (docs/accuracy/calibration.csv)."""

import csv
import importlib
import re
import sys
import types
from collections import Counter
from dataclasses import replace

import pytest

from pslc.device import parts
from pslc.device.parts.derive import FOLD_OVERHEADS
from tests.conftest import ROOT

FOLDER = ROOT / "docs" / "accuracy"


def module(name: str) -> types.ModuleType:
    """A module of docs/accuracy."""
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
    return importlib.import_module(name)


calibration = module("calibration")
LEDGER = calibration.read()
DRIVES = {row["drive"]: row for row in calibration.drives()}


def test_the_ledger_holds_each_figure_that_a_drive_sets_and_no_other():
    wanted = Counter((row["drive"], *pair) for row in DRIVES.values() for pair in calibration.sets_of(row))
    assert Counter((entry.drive, entry.figure, entry.sets) for entry in LEDGER) == wanted
    for entry in LEDGER:
        row = DRIVES[entry.drive]
        assert entry.source == row["source"], entry
        assert calibration.published_rate(entry) == calibration.published(row, entry.figure), entry
        assert entry.part == (row["nand"] if entry.sets.startswith("nand.") else row["controller"]), entry


@pytest.mark.parametrize("name", DRIVES)
def test_each_constant_of_the_parts_of_a_drive_is_what_the_ledger_gives(name):
    row = DRIVES[name]
    habits = parts.controller(row["controller"]).habits
    if calibration.cells(row["nand"]) == "QLC":
        habits = {**habits, **parts.controller(row["controller"]).habits_qlc}
    derived = parts.profile(nand=row["nand"], controller=row["controller"], capacity=row["capacity"])
    wanted = calibration.Constants(LEDGER).of(row, str(habits["when_full"]))
    key_of = {"nand.slc.program": parts.schema.TIMES, "nand.native.program": parts.schema.TIMES}
    for key, value in wanted.items():
        shown = derived.values.get(key, "none")
        if key in key_of:
            assert parts.schema.quantity(shown, key_of[key], key) == parts.schema.quantity(value, key_of[key], key)
        elif key == "cache.fold_overhead":
            assert float(shown) == float(value), key
        elif "none" in (shown, value):
            assert shown == value, key
        else:
            units = {**parts.schema.RATES, **parts.schema.BYTES, **parts.schema.SHARE}
            assert parts.schema.quantity(shown, units, key) == parts.schema.quantity(value, units, key), key


def test_the_overheads_of_folding_are_the_medians_of_the_ledger():
    constants = calibration.Constants(LEDGER)
    for (way, cells), overhead in FOLD_OVERHEADS.items():
        median, _ = constants.fold_overhead("", "", cells, way)
        assert overhead == pytest.approx(float(calibration.text("cache.fold_overhead", median))), (way, cells)


def test_a_source_that_names_the_ledger_names_drives_of_it():
    models = {calibration.model(entry.drive) for entry in LEDGER}
    for name in (*parts.controllers(), *parts.nands()):
        for key, source in parts.part(name).source.items():
            match = re.fullmatch(r"calibrated on (.+?)(?: and \d+ more)? \(docs/accuracy/calibration\.csv\)", source)
            if match:
                assert set(match[1].split(", ")) <= models, (name, key)
            elif key.rpartition(".")[2] in ("program", "slc_write", "copy_in", "native_write", "fold_overhead"):
                assert "page 6 of" not in source, f"{name}: {key} was read from a review that the ledger does not hold"


def test_what_is_left_out_of_a_prediction_sets_nothing_in_it():
    row = DRIVES["HP FX900 1TB"]
    wrong = {"cache.fold_overhead": "1.23", "nand.native.program": "123us"}
    mine = [entry for entry in LEDGER if calibration.model(entry.drive) == "HP FX900 1TB"]
    others = [entry for entry in LEDGER if entry not in mine]
    other = [*others, *(replace(entry, value=wrong[entry.sets]) for entry in mine if entry.sets in wrong)]
    assert other != list(LEDGER)
    predicted = [
        calibration.Constants(ledger, without="HP FX900 1TB").of(row, "direct-then-fold") for ledger in (LEDGER, other)
    ]
    assert predicted[0] == predicted[1]
    assert calibration.Constants(other).of(row, "direct-then-fold") != predicted[0]


def test_no_reserved_drive_sets_or_is_held_against_anything():
    with (FOLDER / "reserved.csv").open() as file:
        reserved = {row["drive"] for row in csv.DictReader(file)}
    assert len(reserved) >= 28
    bare = {name.lower() for name in reserved}
    assert bare.isdisjoint({calibration.model(name).lower() for name in DRIVES})
    assert bare.isdisjoint({name.lower() for name in DRIVES})
    for name in (*parts.controllers(), *parts.nands()):
        text = parts.text(parts.part(name)).lower()
        assert [drive for drive in bare if drive in text] == [], name


@pytest.mark.parametrize(
    ("drive", "key"),
    [("Lexar NM620 1TB", "cache.fold_overhead"), ("Lexar NM790 2TB", "nand.native.program"),
     ("Lexar NM800 Pro 2TB", "controller.copy_in")],
)  # fmt: skip
def test_an_entry_is_what_makes_a_fill_of_the_drive_give_the_figure(drive, key):
    entry = next(entry for entry in LEDGER if (entry.drive, entry.sets) == (drive, key))
    row = DRIVES[drive]
    given = calibration.Constants(LEDGER).of(row, row["when_full"])
    simulated = module("parts").simulate(row, entry.figure, {**given, key: entry.value})
    assert simulated == pytest.approx(calibration.published_rate(entry), rel=0.04)
