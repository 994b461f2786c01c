"""What Windows tells of the drive below a folder gets into a recording, or is unknown there."""

import sys

import pytest
from pydantic import TypeAdapter

import pslc
from pslc.device import probe
from pslc.device.target import RealOptions
from pslc.schema.facts import Facts

pytestmark = pytest.mark.skipif(sys.platform != "win32", reason="on Windows alone: make windows")


def test_the_facts_of_a_folder_are_words_and_numbers_or_unknown(tmp_path):
    facts = probe.facts(tmp_path / "scratch.bin")
    facts["now"] = probe.moment(facts)
    TypeAdapter(Facts).validate_python(facts, strict=True)
    assert facts["host"]["cpu"]
    system = facts["file_system"]
    assert system is not None
    assert tmp_path.anchor.upper() == system["mount"].upper()
    assert 0 < system["free_bytes"] <= system["bytes"]
    assert not [name for name in facts["stack"] if not name.startswith("PhysicalDrive")]


def test_a_recording_of_a_scratch_file_holds_them(tmp_path):
    job = tmp_path / "job.fio"
    job.write_text("[a]\nrw=write\nbs=64k\nsize=4m\n")
    recording = pslc.run(job, on=str(tmp_path / "scratch.bin"), real=RealOptions(size=4 << 20))
    facts = recording.facts
    assert facts["file_system"] is not None
    assert set(facts["before"]) == set(facts["after"]) == {"temperature_c", "smart"}
    warnings = recording.findings["warnings"]
    assert any("is unknown" in warning for warning in warnings) == (facts["device"] is None)
