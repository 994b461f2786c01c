"""What the page on compatibility promises: kept samples are opened, newer formats are refused in words."""

import json
import re
import shutil

import pytest

import pslc
from pslc.recording.model import SCHEMA
from tests.conftest import ROOT
from tests.drive_heads import head_of, with_head

KEPT = ROOT / "tests" / "fixtures" / "kept"
VERSION = int(re.search(r"const VERSION: u32 = (\d+)", (ROOT / "crates/ssd/src/state/mod.rs").read_text())[1])


def test_there_is_a_sample_of_each_present_format():
    assert head_of((KEPT / "drive-0.1.0.pslc").read_bytes())["state"]["version"] == VERSION
    assert (KEPT / f"recording-{SCHEMA}" / "run.json").is_file()


@pytest.mark.parametrize("sample", sorted(KEPT.glob("drive-*.pslc")), ids=lambda path: path.name)
def test_a_kept_drive_goes_on(sample, command, tmp_path):
    shutil.copy(sample, tmp_path / "disk.pslc")
    done = command.fine("run", "fill", "--on", "disk.pslc", "--save", "run", "--no-report", "--json")
    assert json.loads(done.stdout)["before"]["host_write_bytes_total"] == 20 << 20


@pytest.mark.parametrize("sample", sorted(KEPT.glob("recording-*")), ids=lambda path: path.name)
def test_a_kept_recording_is_read(sample):
    recording = pslc.load(sample)
    assert recording.written_bytes == 20 << 20
    assert recording.time["write_bytes"].sum() == 20 << 20


def test_a_newer_drive_is_refused_in_words(command, tmp_path):
    content = (KEPT / "drive-0.1.0.pslc").read_bytes()
    (tmp_path / "disk.pslc").write_bytes(with_head(content, state_version=VERSION + 1))
    done = command.refused("probe", "disk.pslc", "--json")
    assert json.loads(done.stdout)["error"]["code"] == "drive-too-new"
    assert f"its state is of version {VERSION + 1}, and this pslc reads {VERSION}" in done.stderr


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (SCHEMA + 1, f"of schema {SCHEMA + 1}, newer than this pslc, which reads {SCHEMA}"),
        (SCHEMA - 1, "hint: it is older than what the first release wrote: run it again"),
    ],
)
def test_a_recording_of_another_schema_is_refused_in_words(schema, words, command, tmp_path):
    shutil.copytree(KEPT / f"recording-{SCHEMA}", tmp_path / "run")
    document = tmp_path / "run" / "run.json"
    document.write_text(document.read_text().replace(f'"schema": {SCHEMA}', f'"schema": {schema}'))
    done = command.refused("analyze", "run")
    assert f"of schema {schema}, " in done.stderr
    assert words in done.stderr


def test_each_test_that_the_page_names_is_there():
    named = set(re.findall(r"`(test_\w+\.py)`", (ROOT / "docs" / "compatibility.md").read_text()))
    assert len(named) > 5
    assert [name for name in named if not (ROOT / "tests" / name).is_file()] == []
