"""Parts: dies and controllers with sources, and the drives they make."""

import random

import pytest

from pslc import PslcError, parts
from pslc._native import SimDrive
from pslc.parts.schema import read_controller, read_nand

DIE = (parts.FOLDER / "nand" / "bics5-tlc-512g.toml").read_text()
CHIP = (parts.FOLDER / "controllers" / "phison-e16.toml").read_text()


def drive(text: str) -> SimDrive:
    return SimDrive("drive.toml", text, {}, [])


def test_the_library_is_as_broad_as_promised():
    assert len(parts.nands()) >= 25
    assert len(parts.controllers()) >= 20
    makers = {parts.controller(name).maker for name in parts.controllers()}
    assert {"Phison", "Silicon Motion", "InnoGrit", "Realtek", "Maxio", "Samsung", "WD"} <= makers
    assert {parts.nand(name).bits_per_cell for name in parts.nands()} >= {2, 3, 4}
    assert any(name.startswith("ymtc") for name in parts.nands())


@pytest.mark.parametrize("name", parts.nands())
def test_a_die_programs_faster_at_one_bit_and_its_blocks_hold_what_it_says(name):
    die = parts.nand(name)
    assert die.slc_bytes_per_s > die.native_bytes_per_s
    assert die.slc.read < die.native.read
    assert die.pages_per_block % die.bits_per_cell == 0
    assert die.slc_cycles > die.native_cycles
    assert die.native_bytes_per_s < die.bus_mts * 1e6


@pytest.mark.parametrize("seed", range(200))
def test_any_die_with_any_controller_is_a_drive(seed):
    dice = random.Random(seed)
    said = {
        "nand": dice.choice(parts.nands()),
        "controller": dice.choice(parts.controllers()),
        "capacity": dice.choice(["120GB", "240GB", "256GB", "480GB", "525GB", "960GB", "1TB", "2TB", "4TB", "8TB"]),
    }
    derived = parts.profile(**said)
    made = drive(derived.text)
    assert made.capacity_bytes > 119e9, said
    facts = made.facts()
    assert facts["slc_raw_bytes"] * facts["bits_per_cell"] == facts["native_raw_bytes"]
    assert facts["dies"] % facts["channels"] == 0
    assert facts["channels"] <= parts.controller(said["controller"]).channels
    assert derived.how.keys() == derived.values.keys()
    # What was read back is what was said: nothing of a drive is left to defaults that nobody sees.
    assert [key for key, _ in made.provenance()] == sorted(derived.how)


def test_the_dies_follow_from_the_capacity_and_all_else_from_the_dies():
    small = parts.profile(nand="bics5-tlc-512g", controller="phison-e16", capacity="500GB")
    large = parts.profile(nand="bics5-tlc-512g", controller="phison-e16", capacity="2TB")
    assert (small.values["nand.dies"], large.values["nand.dies"]) == (8, 32)
    speeds = [drive(made.text).facts()["native_write_bytes_per_s"] for made in (small, large)]
    assert speeds[1] == pytest.approx(4 * speeds[0])
    given = parts.profile(nand="bics5-tlc-512g", controller="phison-e16", capacity="500GB", given={"nand.dies": 12})
    assert (given.values["nand.dies"], given.values["nand.channels"]) == (12, 6)
    assert given.how["nand.dies"] == "given"


def test_the_slower_of_die_and_controller_sets_the_bus():
    for nand, controller, bus in (
        ("bics5-tlc-512g", "phison-e16", 800),
        ("bics5-tlc-512g", "phison-e26", 1200),
    ):
        derived = parts.profile(nand=nand, controller=controller, capacity="1TB")
        assert derived.values["nand.bus"] == f"{bus}MT/s"
        assert nand in derived.how["nand.bus"] if bus == 1200 else controller in derived.how["nand.bus"]


def test_the_mode_follows_from_the_sizes_that_are_given():
    said = {"nand": "bics5-tlc-512g", "controller": "phison-e16", "capacity": "1TB"}
    for cache, mode in (
        ({"static": "6GB"}, "static-slc"),
        ({"dynamic": "60GB"}, "dynamic-slc"),
        ({"static": "6GB", "dynamic": "60GB"}, "hybrid-slc"),
        ({"mode": "pure-xlc"}, "pure-xlc"),
    ):
        derived = parts.profile(**said, cache=cache)
        assert derived.values["cache.mode"] == mode
        drive(derived.text)


def test_a_firmware_that_cannot_write_qlc_directly_may_write_tlc_directly():
    tlc = parts.profile(nand="bics3-tlc-256g", controller="phison-e12", capacity="1TB")
    qlc = parts.profile(nand="micron-n28a-qlc-1t", controller="phison-e12", capacity="1TB")
    assert (tlc.values["cache.when_full"], qlc.values["cache.when_full"]) == ("direct-then-fold", "fold")
    assert qlc.values["cache.reuse"] == "as-freed"


def test_the_beginning_of_a_name_is_enough_where_only_one_part_begins_so():
    assert parts.nand("bics6-qlc").name == "bics6-qlc-1t"
    with pytest.raises(PslcError, match="bics4-tlc-256g, bics4-tlc-512g"):
        parts.nand("bics4-tlc")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"nand": "bics55-tlc-512g"}, ["unknown NAND die bics55-tlc-512g", "did you mean bics5-tlc-512g?"]),
        ({"controller": "phison-e116"}, ["unknown controller phison-e116", "did you mean phison-e16?"]),
        ({"capacity": "1000"}, ['capacity is "1000"', "a number with a unit"]),
        ({"cache": {"static": "24"}}, ['cache.static is "24"', "a number with a unit"]),
        ({"given": {"nand.dies": "many"}}, ["nand.dies is many", "a whole number"]),
    ],
)
def test_a_mistake_is_named_with_a_hint(said, words):
    with pytest.raises(PslcError) as error:
        parts.profile(**{"nand": "bics5-tlc-512g", "controller": "phison-e16", "capacity": "1TB"} | said)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("text", "change", "words"),
    [
        (DIE, ("planes = 2", "plane = 2"), ["planes is missing", "instead of plane?"]),
        (DIE, ("planes = 2", "planes = 2\nlayer = 3"), ["unknown key layer", "leave it out"]),
        (DIE, ('bus = "1200MT/s"', 'bus = "1200"'), ['bus is "1200"', "MT/s"]),
        (DIE, ('bus = "1200MT/s"', 'bus = "1200MB/s"'), ['bus is "1200MB/s"', "MT/s"]),
        (DIE, ("planes = 2", "planes = 0"), ["planes is 0", "above 0"]),
        (DIE, ('planes = "assumed', 'plane = "assumed'), ["planes has no source", "assumed"]),
        (DIE, ('[source]', '[source]\nheight = "assumed"'), ["[source] names height", "leave it out"]),
        (DIE, ('"together"', '"apart"'), ["plane_reads is 'apart'", "independent, together"]),
        (DIE, ("planes = 2", "planes = two"), ["drive.toml", "text goes in quotes"]),
        (CHIP, ("limit = 8", "limit = 8\nat = 3"), ["unknown key suspend.at"]),
        (CHIP, ('map = "dram"', 'map = "64"'), ['map is "64"', "MiB"]),
    ],
)  # fmt: skip
def test_part_files_are_strict(text, change, words, tmp_path):
    assert change[0] in text
    path = tmp_path / "drive.toml"
    path.write_text(text.replace(*change, 1))
    with pytest.raises(PslcError) as error:
        (read_nand if text is DIE else read_controller)(path)
    for word in words:
        assert word in str(error.value)
