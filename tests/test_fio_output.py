"""What fio and pslc print of the same jobs, in each of fio's formats but plain JSON."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from tests import forked
from tests.conftest import ROOT
from tests.test_fio import FIO, ON

BOTH = (ROOT / "tests/fixtures/texts/outputs.fio").read_text()
"""Jobs that are run by both programs on the same file."""


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """What fio and pslc say of the same jobs, by format."""
    if FIO is None:
        pytest.skip("fio is not installed")
    folder = tmp_path_factory.mktemp("both")
    (folder / "data.bin").write_bytes(bytes(range(256)) * 16384)
    (folder / "both.fio").write_text(BOTH)
    said = {}
    for name in ("json+", "terse", "normal"):
        theirs = subprocess.run(
            [FIO, "both.fio", f"--output-format={name}"], cwd=folder, capture_output=True, text=True
        )
        ours = forked.run(["run", "both.fio", *ON, f"--output-format={name}"], folder)
        assert (theirs.returncode, ours.returncode) == (0, 0), theirs.stderr + ours.stderr
        said[name] = (theirs.stdout, ours.stdout)
    return said


def shape(value):
    """Keys and kinds of values; which bins there are, and which percentiles come with a value, is left open."""
    if isinstance(value, dict):
        return {key: "bins" if key == "bins" else shape(of) for key, of in value.items()}
    if isinstance(value, list):
        return [shape(of) for of in value]
    return type(value).__name__


def outline(text):
    """The text without numbers, their units, and what depends on the time that something took."""
    text = re.sub(r"\n\n?Disk stats.*", "", text[text.index("mixed: (groupid=0") :], flags=re.DOTALL)
    # Rates are sampled twice a second: a job of less has none, on a busy machine one of the two.
    timed = ("  lat (", "     | ", "   bw (", "   iops ")
    lines = [line for line in text.splitlines() if not line.startswith(timed)]
    found = [re.sub(r"\((nsec|usec|msec)\)", "(T)", re.sub(r"pid=.*", "pid=", line)) for line in lines]
    return [
        re.sub(r"[KMGkmg]i?B", "B", re.sub(r"(?<![a-z])\d[\d.]*k?", "N", re.sub(r"= +", "=", line))) for line in found
    ]


def test_the_normal_text_has_the_lines_of_fios(both):
    theirs, ours = map(outline, both["normal"])
    assert theirs == ours


def test_several_formats_are_printed_one_behind_the_other(command, tmp_path):
    (tmp_path / "j.fio").write_text("[j]\nrw=write\nsize=1m\n")
    said = command("run", "j.fio", "--on", "sim:pm871b-128gb", "--output-format=terse,normal").stdout
    assert said.startswith("3;fio-")
    assert "\nj: (groupid=0, jobs=1): err= 0: pid=" in said
    wrong = command("run", "j.fio", "--on", "sim:pm871b-128gb", "--output-format=terse,xml")
    assert '--output-format is "xml"' in wrong.stderr


def test_json_plus_has_the_keys_and_types_of_fios_and_its_sums(both):
    theirs, ours = (json.loads(text[text.index("{") :]) for text in both["json+"])
    assert shape(theirs) == shape(ours) | {"time": "str"}
    assert theirs["global options"] == ours["global options"]
    assert [job.get("desc") for job in theirs["jobs"]] == [job.get("desc") for job in ours["jobs"]]
    for their, our in zip(theirs["jobs"], ours["jobs"], strict=True):
        assert their["job options"] == our["job options"]
        for name in ("jobname", "groupid", "latency_depth"):
            assert their[name] == our[name]
        for document in (their, our):
            for kind in ("read", "write"):
                done = document[kind]
                assert done["io_kbytes"] == done["io_bytes"] // 1024 == 4 * done["total_ios"]
                assert done["lat_ns"]["N"] == done["clat_ns"]["N"] == done["total_ios"]
                assert done["lat_ns"]["mean"] == pytest.approx(
                    done["slat_ns"]["mean"] + done["clat_ns"]["mean"], rel=0.1, abs=1000
                )
                for latency in (done["slat_ns"], done["clat_ns"], done["lat_ns"]):
                    if "bins" in latency:
                        assert sum(latency["bins"].values()) == latency["N"]
                        bins = [int(ns) for ns in latency["bins"]]
                        assert latency["min"] * 0.98 <= bins[0] <= bins[-1] <= latency["max"] * 1.02
            assert document["sync"]["total_ios"] == document["sync"]["lat_ns"]["N"]
        if their["jobname"] != "timed":
            moved = [[of[kind]["io_bytes"] for kind in ("read", "write", "trim")] for of in (their, our)]
            assert sum(moved[0]) == sum(moved[1]) == 4 << 20
            assert their["sync"]["total_ios"] == pytest.approx(our["sync"]["total_ios"], rel=0.25)
    timed = [document["jobs"][1] for document in (theirs, ours)]
    # The sum of both clones.
    assert [job["job_runtime"] for job in timed] == pytest.approx([2000, 2000], rel=0.1)
    assert not [job for job in timed if not (job["sys_cpu"] > 0 and job["ctx"] > 0)]
    assert [disk["name"] for disk in theirs["disk_util"]] == [disk["name"] for disk in ours["disk_util"]]
    assert {
        name for disk in ours["disk_util"] for name, value in disk.items() if name == "write_ios" and not value
    } == set()


def test_the_values_of_bins_are_values_of_fios_bins(both):
    theirs, ours = (json.loads(text[text.index("{") :]) for text in both["json+"])

    def values(document):
        parts = ("slat_ns", "clat_ns", "lat_ns")
        found = (
            job[kind][part].get("bins", {}) for job in document["jobs"] for kind in ("read", "write") for part in parts
        )
        return {int(ns) for bins in found for ns in bins}

    # fio's bins of an octave are 64; a value is of one of them if it leaves the same rest.
    def rest(ns):
        octave = max(ns.bit_length() - 7, 0)
        return ns % (1 << octave) - ((1 << octave) >> 1)

    assert {rest(ns) for ns in values(theirs)} == {rest(ns) for ns in values(ours)} == {0}


def test_fios_own_script_makes_tables_of_our_json_plus(both, tmp_path):
    script = shutil.which("fio_jsonplus_clat2csv")
    assert script is not None, "it comes with fio"
    (tmp_path / "ours.json").write_text(both["json+"][1])
    subprocess.run(
        [sys.executable, script, "ours.json", "ours.csv"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    document = json.loads(both["json+"][1])
    for number, job in enumerate(document["jobs"][:2]):
        head, *rows = (line.split(", ") for line in (tmp_path / f"ours_job{number}.csv").read_text().splitlines())
        counts = [int(row[head.index("read_clat_ns_count")] or 0) for row in rows if row[0].isdigit()]
        assert sum(counts) == job["read"]["total_ios"]


def test_terse_lines_have_fios_fields(both):
    def fields(line):
        return [re.sub(r"(\d+\.)?\d+", "0", field) for field in line.split(";")]

    theirs, ours = (text.strip().splitlines() for text in both["terse"])
    assert len(theirs) == len(ours) == 3
    for their, our in zip(theirs, ours, strict=True):
        assert fields(their) == fields(our)
        # Version, program, name, group; KiB read and written, where chance plays no part.
        same = [0, 1, 2, 3] + ([5, 46] if their.split(";")[2] == "plain" else [])
        assert [their.split(";")[at] for at in same] == [our.split(";")[at] for at in same]
