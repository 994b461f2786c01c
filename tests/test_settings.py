"""Defaults from pslc.toml: what they change is said, a flag wins, and a slip in the file is refused."""

import json
from pathlib import Path

import pytest

from pslc.base import settings
from pslc.figures.style import Theme

ON = "sim:pm871b-128gb,scale=1/16"


@pytest.fixture
def configured(command, tmp_path):
    """Run pslc with a pslc.toml of this text."""

    def run(text: str, *arguments: str):
        folder = tmp_path / "config"
        folder.mkdir(exist_ok=True)
        (folder / "pslc.toml").write_text(text)
        return command(*arguments, XDG_CONFIG_HOME=str(folder), APPDATA=str(folder))

    return run


def test_a_run_takes_its_drive_from_the_settings_and_says_so(configured):
    done = configured(f'on = "{ON}"', "run", "fill", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["target"] == ON
    assert f"note: --on {ON}, from " in done.stderr


def test_a_flag_wins_over_the_settings_and_nothing_is_said(configured):
    done = configured('on = "sim:no-such-drive"', "run", "fill", "--on", ON, "--json")
    assert json.loads(done.stdout)["target"] == ON
    assert "pslc.toml" not in done.stderr


def test_recordings_go_to_the_folder_of_the_settings_and_are_found_there(configured, tmp_path):
    text = f'on = "{ON}"\nfolder = "{tmp_path / "kept"}"'
    assert configured(text, "run", "fill", "--no-report").returncode == 0
    (run,) = (tmp_path / "kept").iterdir()
    assert not (tmp_path / "runs").exists()
    listed = configured(text, "report", "--json")
    assert [entry["folder"] for entry in json.loads(listed.stdout)] == [str(run)]
    assert f"recordings in {tmp_path / 'kept'}" in listed.stderr


def test_a_picture_has_the_theme_of_the_settings_unless_a_flag_says_another(configured, tmp_path):
    assert configured("", "run", "fill", "--on", ON, "--save", "a", "--no-report").returncode == 0
    dark = 'theme = "dark"'
    drawn = {}
    for name, text, options in (("none", "", ()), ("dark", dark, ()), ("flag", dark, ("--theme", "white"))):
        done = configured(text, "picture", "a", "-o", f"{name}.svg", *options)
        assert done.returncode == 0, done.stderr
        assert ("note: --theme dark" in done.stderr) == (name == "dark")
        drawn[name] = (tmp_path / f"{name}.svg").read_text().count("#ffffff")
    assert drawn["none"] == drawn["flag"] != drawn["dark"]


def test_an_unknown_key_is_refused_with_the_one_that_was_meant(configured):
    done = configured('them = "dark"', "run", "fill")
    assert done.returncode == 2
    assert "unknown key them" in done.stderr
    assert "did you mean theme?" in done.stderr


def test_all_faults_are_told_and_a_real_drive_is_none_to_be_a_default(configured):
    done = configured('on = "/dev/sda"\ntheme = "blue"\nfolder = 3', "run", "fill")
    assert done.returncode == 2
    for fault in ("on is /dev/sda", "theme is blue", "folder is no text"):
        assert fault in done.stderr


def test_the_themes_are_those_of_the_charts():
    assert tuple(Theme) == settings.THEMES


def test_the_file_lies_where_the_system_keeps_settings(monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/somewhere")
    assert settings.settings_path() == Path("/somewhere/pslc.toml")
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert settings.settings_path() == Path.home() / ".config" / "pslc.toml"
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("APPDATA", "/appdata")
    assert settings.settings_path() == Path("/appdata/pslc.toml")
