"""Parts: dies and controllers with sources, and the drives they make."""

import json
import os
import pty
import random
import re
import subprocess
import tomllib

import pytest

import pslc
from pslc import PslcError
from pslc._native import SimDrive
from pslc.base import units
from pslc.device import parts
from pslc.device.parts import identify
from pslc.device.parts.log_fit import Fill
from pslc.device.parts.schema import read_controller, read_nand
from pslc.device.target import Target, find_target
from pslc.recording import store
from tests import forked

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
    if units.size(said["capacity"], "") < parts.nand(said["nand"]).bytes / 2:
        said["capacity"] = "256GB"
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
    for nand, controller, bus in (("bics5-tlc-512g", "phison-e16", 800), ("bics5-tlc-512g", "phison-e26", 1200)):
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


@pytest.mark.parametrize("policy", ["fold", "fold-cost-benefit"])
def test_a_habit_of_another_policy_does_not_refuse_one_that_frees_dead_data_first(policy):
    said = {"nand": "micron-n18a-qlc-1t", "controller": "maxio-mas0902", "capacity": "480GB"}
    usual = parts.profile(**said)
    folding = parts.profile(**said, cache={"static": "2.4GB", "when_full": policy})
    assert (usual.values["cache.dead"], "cache.dead" in folding.values) == ("until-idle", False)
    drive(folding.text)


@pytest.mark.parametrize(
    ("name", "of", "part"),
    [
        ("Phison PS5018-E18", parts.controller, "phison-e18"),
        ("E18", parts.controller, "phison-e18"),
        ("InnoGrit IG5236", parts.controller, "innogrit-ig5236"),
        ("MAP1602A", parts.controller, "maxio-map1602"),
        ("Samsung Pascal (S4LV008)", parts.controller, "samsung-pascal"),
        ("SM2262EN", parts.controller, "smi-sm2262en"),
        ("B47R", parts.nand, "micron-b47r-tlc-512g"),
        ("Micron B47R", parts.nand, "micron-b47r-tlc-512g"),
        ("Micron 176-layer TLC", parts.nand, "micron-b47r-tlc-512g"),
        ("Kioxia TLC 112L", parts.nand, "bics5-tlc-1t, bics5-tlc-512g"),
        ("Micron TLC (B58R)", parts.nand, "micron-b58r-tlc-1t"),
        ("Samsung E18", parts.controller, None),
        ("Phison", parts.controller, "phison-e12, phison-e12s"),
        ("(B47R)", parts.nand, None),
    ],
)
def test_a_part_is_the_one_that_has_each_word_of_a_name(name, of, part):
    if part in parts.nands() + parts.controllers():
        assert of(name).name == part
        return
    with pytest.raises(PslcError, match=part or "unknown"):
        of(name)


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
        (DIE, ('"independent"', '"apart"'), ["plane_reads is 'apart'", "independent, together"]),
        (DIE, ("planes = 2", "planes = two"), ["drive.toml", "text goes in quotes"]),
        (CHIP, ("limit = 8", "limit = 8\nat = 3"), ["unknown key suspend.at"]),
        (CHIP, ("limit = 8", "limit = inf"), ["suspend.limit is inf", "above 0"]),
        (CHIP, ("limit = 8", 'limit = "x"'), ["suspend.limit is 'x'", "above 0"]),
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


def phases_of(tmp_path, **said) -> list[tuple[str, float, float]]:
    """Cause, speed in MB/s and end in GB of each phase of a fill."""
    (tmp_path / "drive.toml").write_text(parts.profile(**said).text)
    found = pslc.run("fill", on=f"sim:{tmp_path / 'drive.toml'}").findings["phases"]
    return [(phase["cause"], phase["bytes_per_s"] / 1e6, phase["to_bytes"] / 1e9) for phase in found]


def test_a_controller_brings_its_ceiling_into_native_cells(tmp_path):
    said = {"nand": "bics4-tlc-512g", "controller": "phison-e12", "capacity": "1TB", "cache": {"static": "10GB"}}
    dies = 16 * parts.nand("bics4-tlc-512g").native_bytes_per_s / 1e6
    assert phases_of(tmp_path, **said | {"given": {"controller.native_write": "none"}})[-1][1] == pytest.approx(
        dies, rel=0.02
    )
    assert phases_of(tmp_path, **said | {"given": {"controller.native_write": "500MB/s"}})[-1][1] == pytest.approx(
        500, rel=0.02
    )
    more = said | {"given": {"nand.dies": 32}}
    ceiling = parts.controller("phison-e12").native_write["TLC"] / 1e6
    assert phases_of(tmp_path, **more)[-1][1] == pytest.approx(ceiling, rel=0.02), "the dies could more"
    assert "fitted to all drives" in parts.profile(**said).how["controller.native_write"]


def test_the_direct_phase_ends_at_the_capacity_less_n_minus_1_caches(tmp_path):
    said = {
        "nand": "micron-b47r-tlc-512g",
        "controller": "phison-e18",
        "capacity": "500GB",
        "cache": {"dynamic": "50GB"},
    }
    pslc_, direct, fold = phases_of(tmp_path, **said)
    assert (pslc_[0], direct[0], fold[0]) == ("pslc", "direct", "fold")
    assert pslc_[2] == pytest.approx(50, rel=0.03)
    assert direct[2] == pytest.approx(400, rel=0.02)


def test_a_cache_with_a_static_part_takes_the_spare_space_for_its_dynamic_one(tmp_path):
    said = {"nand": "samsung-v4-tlc-256g", "controller": "samsung-phoenix", "capacity": "500GB"}
    hybrid, dynamic = (
        parts.profile(**said, cache=sizes).values
        for sizes in ({"static": "4GB", "dynamic": "18GB"}, {"dynamic": "18GB"})
    )
    assert "cache.fold_below" not in hybrid
    assert dynamic["cache.fold_below"] != "0B"
    phases = phases_of(tmp_path, **said, cache={"static": "4GB", "dynamic": "18GB"})
    assert [phase[0] for phase in phases] == ["pslc", "direct"]


# ---- profiles that name parts

THREE_LINES = 'nand = "bics5-tlc-512g"\ncontroller = "phison-e16"\ncapacity = "1TB"\n'
CACHE = '[cache]\ndynamic = "150GB"\nwhen_full = "direct-while-folding"\n'


def resolved(tmp_path, text: str, overrides: str = "") -> Target:
    (tmp_path / "mine.toml").write_text(text)
    return find_target(f"sim:{tmp_path / 'mine.toml'}{overrides}")


def test_a_drive_in_three_lines_is_what_the_library_derives(tmp_path):
    target = resolved(tmp_path, THREE_LINES + CACHE)
    cache = {"dynamic": "150GB", "when_full": "direct-while-folding"}
    derived = parts.profile(nand="bics5-tlc-512g", controller="phison-e16", capacity="1TB", cache=cache)
    assert target.facts == drive(derived.text).facts()
    said = dict(target.provenance)
    assert said["nand.dies"] == derived.how["nand.dies"]
    assert said["cache.dynamic"].startswith("set in ")
    assert said.keys() == derived.how.keys()


def test_what_is_said_in_the_profile_or_over_it_moves_what_follows(tmp_path):
    target = resolved(tmp_path, THREE_LINES, ",capacity=4TB,nand.native.program=2ms")
    assert target.facts["dies"] == 64
    assert dict(target.provenance)["nand.native.program"] == "given"
    other = resolved(tmp_path, THREE_LINES, ",nand=micron-n28a-qlc-1t")
    assert (other.facts["bits_per_cell"], other.facts["dies"]) == (4, 8)
    tables = THREE_LINES.replace('nand = "bics5-tlc-512g"\n', "") + '[nand]\npart = "bics5-tlc-512g"\ndies = 24\n'
    assert resolved(tmp_path, tables).facts["dies"] == 24


def test_a_drive_of_parts_may_be_the_base_of_another(tmp_path):
    (tmp_path / "parts.toml").write_text(THREE_LINES)
    target = resolved(tmp_path, 'base = "parts.toml"\nname = "larger"\ncapacity = "2TB"\n')
    assert (target.name, target.facts["dies"]) == ("larger", 32)


def test_other_dies_may_be_put_into_a_drive_of_the_library():
    target = find_target("sim:sn850-1tb,nand=bics6-tlc-1t,controller=wd-g2")
    assert (target.facts["dies"], target.facts["planes"]) == (8, 4)
    assert "WD Black SN850 1TB" in target.name


@pytest.mark.parametrize(("text", "read"), [(DIE, read_nand), (CHIP, read_controller)], ids=["die", "controller"])
def test_all_faults_of_a_part_file_are_one_message_with_a_line_each(text, read, tmp_path):
    values, _, sources = text.partition("[source]\n")
    keys = re.findall(r'^"?([\w.]+)"? = ', sources, re.MULTILINE)
    values = values.replace("MT/s", "").replace('maker = "', 'makre = "')
    path = tmp_path / "part.toml"
    path.write_text(f'{values}[source]\n{keys[-1]} = "x"\nnope = "y"\n')
    with pytest.raises(PslcError) as caught:
        read(path)
    first, *lines = caught.value.message.splitlines()
    assert first == f"part.toml has {len(lines)} faults"
    assert not [line for line in lines if not (line.startswith("  part.toml: ") and "(hint: " in line)]
    message = caught.value.message
    assert message.count("has no source") >= len(keys) - 5
    for words in (
        "maker is missing (hint: instead of makre?)", "bus is \"", "a number with a unit (MT/s)", "unknown key makre",
        "[source] names nope, which is not there",
    ):  # fmt: skip
        assert words in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (THREE_LINES.replace("bics5", "bics55"), ["unknown NAND die bics55-tlc-512g", "did you mean bics5-tlc-512g?"]),
        (THREE_LINES.replace('controller = "phison-e16"\n', ""), ["no controller", "pslc drives parts"]),
        (THREE_LINES.replace('nand = "bics5-tlc-512g"\n', ""), ["no nand", "pslc drives parts"]),
        (THREE_LINES.replace("1TB", "1000"), ['capacity is "1000"', "a number with a unit"]),
        (THREE_LINES.replace('capacity = "1TB"\n', ""), ["needs its capacity"]),
        (THREE_LINES + "nands = 3\n", ["mine.toml:4: unknown key nands", "prints every key"]),
        (THREE_LINES + '[cache]\ndynamic = "1TB"\n', ["mine.toml:5: cache.dynamic is 1000GB but the drive can hold"]),
        (THREE_LINES + "[cache\n", ["mine.toml:4: "]),
        ('base = "none.toml"\n', ['mine.toml:1: base is "none.toml", which is no file']),
    ],
)
def test_a_mistake_in_a_profile_of_parts_names_file_and_line(text, words, tmp_path):
    with pytest.raises(PslcError) as error:
        resolved(tmp_path, text)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("overrides", "notes"),
    [
        ("cache.host_share=30%", ["cache.host_share has no effect: cache.when_full is direct-then-fold"]),
        ("cache.static=30GB", ["cache.static has no effect: cache.mode is dynamic-slc"]),
        ("cache.mode=pure-xlc,cache.idle.threshold=2s", ["cache.idle.threshold has no effect: cache.mode is pure-xlc"]),
        ("capacity_pure_slc=600GB", ["capacity_pure_slc has no effect: cache.mode is dynamic-slc"]),
        ("controller.map_access=1us", ["controller.map_access has no effect: the whole map is in DRAM"]),
        ("cache.mode=pure-slc,capacity_pure_slc=600GB", []),
        ("cache.when_full=direct-while-folding,cache.host_share=30%", []),
        ("cache.mode=hybrid-slc,cache.static=30GB", []),
    ],
)
def test_keys_that_change_nothing_are_noted(overrides, notes):
    assert find_target(f"sim:aldrin-pro-2tb,{overrides}").facts["notes"] == notes


def test_a_note_is_right_the_key_changes_nothing():
    from tests.conftest import fill

    plain, noted = fill("sim:pm871b-128gb"), fill("sim:pm871b-128gb,cache.host_share=20%,cache.dynamic=9GB")
    assert sum("has no effect" in str(warning) for warning in noted.warnings) == 2
    assert not [name for name in plain.time if not (plain.time[name] == noted.time[name]).all()]


# ---- pslc drives


def test_drives_show_says_which_defaults_hold(tmp_path, command):
    (tmp_path / "mine.toml").write_text(THREE_LINES.replace("phison-e16", "phison-e21t"))
    shown = " ".join(line.strip("# ") for line in command("drives", "show", "./mine.toml").stdout.splitlines())
    assert "cache.dead = free-at-once" in shown
    built_in = " ".join(line.strip("# ") for line in command("drives", "show", "600p-512gb").stdout.splitlines())
    assert "cache.host_share = 50%" in built_in
    assert "80 %" not in built_in


def test_new_drives_are_made_of_flags_and_predicted(command, tmp_path):
    flags = ("--nand", "bics5-tlc-512g", "--controller", "phison-e16", "--capacity", "250GB")
    done = command.fine("drives", "new", "mine.toml", *flags, "--set-cache", "dynamic=40GB,fold_overhead=1.5")
    assert "speed (MB/s)" in done.stdout
    assert "The write cache ends after" in done.stdout
    assert "assumed; pslc drives show ./mine.toml" in done.stderr
    shown = command("drives", "show", "./mine.toml")
    assert '"nand.dies" = "derived: 250GB over dies of 64 GB' in shown.stdout
    (tmp_path / "copy.toml").write_text(shown.stdout)
    document = json.loads(command("drives", "show", "./copy.toml", "--json").stdout)
    assert document["facts"] == json.loads(command("drives", "show", "./mine.toml", "--json").stdout)["facts"]
    again = command.refused("drives", "new", "mine.toml", *flags)
    assert "is not overwritten" in again.stderr


def test_new_drives_ask_for_what_was_not_said(tmp_path):
    main, end = pty.openpty()
    words = ["drives", "new", "--capacity", "120GB"]
    process = forked.Popen(words, cwd=tmp_path, stdin=end, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.write(main, b"bics5-tlc-512g\nphison-e16\ndynamic=15GB\nasked.toml\n")
    shown, asked = process.communicate(timeout=120)
    assert process.returncode == 0, asked
    for question in ("die", "controller", "cache, such as", "file"):
        assert question in asked
    assert "micron-b58r-tlc-1t" in shown, "the parts to choose from"
    assert "values follow from the parts, " in asked
    assert "The write cache ends after" in shown
    assert tomllib.loads((tmp_path / "asked.toml").read_text()) == {
        "nand": "bics5-tlc-512g", "controller": "phison-e16", "capacity": "120GB", "cache": {"dynamic": "15GB"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("mine.toml", "--capacity", "1TB"), ["needs --nand, --controller", "hint: pslc drives new"]),
        (("mine.toml", "--set-cache", "dynamic=9TB"), ["cache.dynamic is 9000GB but the drive can hold"]),
        (("mine.toml", "--set-cache", "dynamic"), ['"dynamic" is not KEY=VALUE']),
        (("mine.toml", "--set-cache", "size=9GB"), ["mine.toml:6: unknown key cache.size"]),
        (("mine",), ["does not end in .toml"]),
        (
            ("mine.toml", "--capacity", "10MB", "--nand", "bics5-tlc-512g", "--controller", "phison-e16"),
            ["capacity is 10MB, less than half a die of 64GB", "at least 32GB"],
        ),
        (
            ("mine.toml", "--capacity", "20TB", "--nand", "bics5-tlc-512g", "--controller", "phison-e16"),
            ["mine.toml, as its parts make it: the geometry has", "mapping units"],
        ),
    ],
)
def test_a_new_drive_that_cannot_be_is_refused_and_leaves_no_file(arguments, words, command, tmp_path):
    flags = () if "--capacity" in arguments else ("--nand", "bics5", "--controller", "phison-e16", "--capacity", "1TB")
    flags = tuple("bics5-tlc-512g" if flag == "bics5" else flag for flag in flags)
    done = command.refused("drives", "new", *arguments, *flags)
    for word in words:
        assert word in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_parts_are_listed_and_printed(command):
    listed = command("drives", "parts").stdout
    assert not [name for name in parts.nands() + parts.controllers() if name not in listed]
    assert "…" not in listed
    assert "PS5018-E18" in listed
    assert command("drives", "parts", "phison-e12").stdout == parts.text(parts.controller("phison-e12"))
    assert json.loads(command("drives", "parts", "bics6-qlc", "--json").stdout)["planes"] == 4
    assert "did you mean phison-e16?" in command("drives", "parts", "phisom-e16").stderr
    assert "hint: pslc drives parts lists all parts" in command("drives", "parts", "nothing").stderr


def test_a_drive_of_parts_loads_wherever_others_do(command, tmp_path):
    (tmp_path / "mine.toml").write_text(THREE_LINES.replace("1TB", "120GB") + CACHE.replace("150", "15"))
    for arguments in (
        ("run", "recovery", "--on", "sim:./mine.toml", "--quick", "--save", "a", "--no-report"),
        ("run", "fill", "--on", "sim:./mine.toml,cache.when_full=fold", "--save", "b", "--no-report"),
        ("compare", "a", "b"),
        ("analyze", "b"),
        ("report", "b"),
    ):
        command.fine(*arguments)
    assert store.load(tmp_path / "b").findings["phases"][1]["cause"] == "fold"


FLASH_ID = """v0.78a
Model: Patriot Burst Elite 480GB
Size : 457862 MB [480.1 GB]
Controller    : SM2259XT
FlashID: 0x2c,0xd3,0x1c,0x32,0xc6,0x0,0x0,0x0 - Micron 96L(N28A) QLC 1024Gb/CE 1024Gb/die
"""
SMARTCTL = """Model Number:                       Samsung SSD 970 EVO 1TB
Total NVM Capacity:                 1,000,204,886,016 [1.00 TB]
"""
NAND_STRING = """Model: Lexar SSD NM790 2TB
Size : 1953514 MB [2048.4 GB]
Controller    : MAP1602 - ES02
FlashID: 0x9b,0xc5,0x58,0x71,0x30,0x0 - YMTC 3dv4-232L(x3-9070) TLC 16k 1024Gb/CE 1024Gb/die
"""
DISK_INFO = """           Model : Crucial P1 CT1000P1SSD8
       Disk Size : 1000.2 GB
"""
ID_CTRL = "mn        : Lexar SSD NM790 2TB\ntnvmcap   : 2048408248320\nctrl : MAP1602A, NAND 232L TLC\n"


@pytest.mark.parametrize(
    ("report", "nand", "controller", "capacity"),
    [
        (FLASH_ID, "micron-n28a-qlc-1t", "smi-sm2259xt", "480GB"),
        (FLASH_ID.replace("SM2259XT", "PS3112-S12"), "micron-n28a-qlc-1t", "", "480GB"),
        (DISK_INFO, "micron-n18a-qlc-1t", "smi-sm2263", "1000GB"),
        ("Model: Nobody's SSD\n", "", "", ""),
        (NAND_STRING, "ymtc-x3-9070-tlc-1t", "maxio-map1602", "2048GB"),
        ('{"mn": "CT2000T500SSD8   ", "tnvmcap": 2000398934016}', "micron-b58r-tlc-1t", "phison-e25", "2000GB"),
        ('{"model_name": "INTEL SSDPEKNW010T8", "user_capacity": {"bytes": 1024209543168}}',
         "micron-n18a-qlc-1t", "smi-sm2263", "1024GB"),
        ("Model Number: WD_BLACK SN850X 2000GB\n", "bics5-tlc-512g", "wd-g2", ""),
        ("Controller: Samsung Pascal\nNAND: Samsung V8 TLC\n", "samsung-v8-tlc-1t", "samsung-pascal", ""),
    ],
)  # fmt: skip
def test_a_report_of_a_tool_names_the_parts(report, nand, controller, capacity):
    found = identify.of_report(report)
    assert (found.nand, found.controller, found.capacity) == (nand, controller, capacity)


@pytest.mark.parametrize(
    "model", ["WD_BLACK SN7100 1TB", "WD Blue SN5000 1TB", "Corsair MP700 PRO", "Sabrent Rocket 5", "CT1000P3PSSD8",
              "KIOXIA-EXCERIA G2 SSD"],
)  # fmt: skip
def test_a_model_with_a_word_more_is_another_drive(model):
    """WD Black, Corsair MP700, Sabrent Rocket and Kioxia Exceria are in the ledger."""
    identity = identify.of_report(f"Model : {model}\n")
    assert (identity.nand, identity.controller) == ("", "")
    assert f"no reviewed drive is named {model}" in identity.notes[0]


@pytest.mark.parametrize("report", [SMARTCTL, ID_CTRL])
def test_a_report_that_fits_several_dies_is_refused_with_their_names(report):
    with pytest.raises(PslcError, match=r"kinds of NAND|dies fit") as error:
        identify.of_report(report)
    assert "--nand" in error.value.hint


def test_a_drive_is_made_from_a_report(command, tmp_path):
    (tmp_path / "p1.txt").write_text(DISK_INFO)
    done = command("drives", "new", "mine.toml", "--facts", "p1.txt")
    assert "NAND die micron-n18a-qlc-1t, controller smi-sm2263, capacity 1000GB" in done.stderr
    assert "past the cache" in done.stdout
    (tmp_path / "nv2.txt").write_text("Model Number: KINGSTON SNV2S1000G\n[1.00 TB]\n")
    done = command.refused("drives", "new", "nv2.toml", "--facts", "nv2.txt")
    assert "no reviewed drive is named KINGSTON SNV2S1000G" in done.stderr
    assert "flash-id tool" in done.stderr.partition("hint: ")[2]
    assert "phison" not in done.stderr, "the parts of another drive are no hint"
    (tmp_path / "evo.txt").write_text(SMARTCTL)
    done = command.refused("drives", "new", "evo.toml", "--facts", "evo.txt")
    assert "was sold with 2 kinds of NAND" in done.stderr
    command("drives", "new", "evo.toml", "--facts", "evo.txt", "--nand", "samsung-v4-tlc-256g")


def test_a_log_beside_a_report_says_whether_it_fits_the_parts_or_which_cells_it_behaves_like(command, tmp_path):
    (tmp_path / "id.txt").write_text("Model : KINGSTON SKC3000D2048G\nDisk Size : 2048.4 GB\n")
    for drive in ("fx700-2tb", "kc3000-2tb"):
        command("run", "fill", "--on", f"sim:{drive},scale=1/8", "--save", drive, "--no-report")
    swapped = command("drives", "new", "a.toml", "--facts", "id.txt", "--log", "fx700-2tb")
    assert "reviewed drives of this name have micron-b47r-tlc-512g; yours may not" in swapped.stderr
    assert "This drive behaves like QLC" in swapped.stdout
    assert "past the cache 130 MB/s, where such drives write" in swapped.stdout
    document = json.loads(
        command("drives", "new", "b.toml", "--facts", "id.txt", "--log", "kc3000-2tb", "--json").stdout
    )
    assert document["log"].startswith("The log fits micron-b47r-tlc-512g")
    (tmp_path / "no.csv").write_text("time,watts\n1,2\n")
    refused = command.refused("drives", "new", "d.toml", "--facts", "id.txt", "--log", "no.csv")
    assert "no.csv" in refused.stderr
    assert not (tmp_path / "d.toml").exists()


def test_a_log_chooses_among_the_dies_of_a_name(tmp_path):
    report = "Model : Crucial P2 1TB\nDisk Size : 1000.2 GB\n"
    with pytest.raises(PslcError, match="Crucial P2 1TB was sold with 2 kinds of NAND"):
        identify.of_report(report)
    for speed, die in ((40e6, "micron-n28a-qlc-1t"), (900e6, "micron-b27a-tlc-512g")):
        identity = identify.of_report(report, measured=Fill(1900e6, speed, None))
        assert identity.nand == die
        assert "times as likely" in identity.notes[0]
