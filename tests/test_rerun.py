"""A recording of a simulated drive is repeated by one command, to the byte."""

import pytest

SMALL = "sim:pm871b-128gb,scale=1/32"
JOB = "[a]\nrw=randwrite\nbs=4k\nsize=50m\n"


@pytest.mark.parametrize(
    "words", [["fill"], ["burst", "--quick"], ["a.fio", "--iodepth=4", "--seed", "3"]], ids=" ".join
)
def test_a_recording_is_repeated_to_the_byte(words, command, tmp_path):
    (tmp_path / "a.fio").write_text(JOB)
    command.fine("run", *words, "--on", SMALL, "--save", "run", "--no-report")
    assert command.fine("rerun", "run").stdout == "run: the same to the byte\n"


@pytest.mark.parametrize("change", ["edited", "moved", "kept", "older"])
def test_the_drive_is_that_of_the_recording_whatever_became_of_its_file(change, command, tmp_path):
    profile = tmp_path / "mine.toml"
    flags = ("--controller", "phison-e18", "--nand", "micron-b47r-tlc-512g", "--capacity", "2TB")
    command.fine("drives", "new", "mine.toml", *flags)
    command.fine("run", "fill", "--on", "sim:./mine.toml,scale=1/64", "--save", "run", "--no-report")
    match change:
        case "edited":
            profile.write_text(profile.read_text() + '[cache]\ndynamic = "100GB"\n')
        case "moved":
            profile.rename(tmp_path / "other.toml")
        case "older":  # The profile lacks a key that was added since.
            document = tmp_path / "run" / "run.json"
            before, after = document.read_text().split("retry_growth = 1.5\\n")
            document.write_text(before + after)
    assert command.fine("rerun", "run").stdout == "run: the same to the byte\n"


def test_what_comes_out_otherwise_is_named(command, tmp_path):
    (tmp_path / "a.fio").write_text(JOB)
    command.fine("run", "a.fio", "--on", SMALL, "--save", "run", "--no-report")
    document = tmp_path / "run" / "run.json"
    document.write_text(document.read_text().replace("size=50m", "size=40m"))
    done = command("rerun", "run")
    assert done.returncode == 1
    assert done.stdout.startswith("run: this pslc gives another ")
    assert "jobs" in done.stdout
    assert "series.parquet" in done.stdout


def test_what_a_recording_does_not_hold_is_refused(command):
    command.fine("drives", "create", "disk.pslc", "--like", "pm871b-128gb,scale=1/32")
    command.fine("run", "fill", "--on", "disk.pslc", "--save", "run", "--no-report")
    assert "is of a drive in a file" in command.refused("rerun", "run").stderr
