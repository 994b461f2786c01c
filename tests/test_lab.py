"""What `pslc lab` answers to its page, beside the command line: it has to say the same."""

import json
import os
import random
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from benches.small import PROFILE

import pslc
from pslc import suites
from pslc.device.target import open_simulated
from pslc.lab import static_page
from pslc.lab.api import Api
from pslc.recording import store
from tests.conftest import ROOT
from tests.lab_client import LabClient, uploaded

LOG = "".join(f"{ms}, {2_000_000 if ms < 30_000 else 500_000}, 1, 0, 0\n" for ms in range(100, 60_000, 100))
SMALL = "sim:./small.toml"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A server, which has nothing to complain of in the end."""
    held = LabClient(tmp_path_factory.mktemp("lab"))
    open_simulated(f"sim:{held.folder / 'small.toml'}").save(str(held.folder / "disk.pslc"))
    yield held
    held.process.terminate()
    assert held.process.wait(20) == 0
    assert [line for line in held.log.read_text().splitlines() if "there is no page" not in line] == []


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One of each kind that can be uploaded."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "mine.toml").write_text(PROFILE)
    store.save(pslc.run("fill", on=f"sim:{folder / 'mine.toml'}"), folder / "run")
    open_simulated(f"sim:{folder / 'mine.toml'}").save(str(folder / "disk.pslc"))
    rows = "".join(f"{s},{2000 if s < 30 else 500}\n" for s in range(1, 61))
    requests = "".join(f"{ms} /dev/x write {ms * 4096} 4096\n" for ms in range(100))
    (folder / "fill_bw.1.log").write_text(LOG)
    (folder / "fill.csv").write_text(f"seconds,MB/s\n{rows}")
    (folder / "work.iolog").write_text(f"fio version 3 iolog\n{requests}")
    shutil.copy(ROOT / "tests" / "fixtures" / "cdm8.txt", folder)
    return folder


@pytest.mark.parametrize(
    ("names", "kind", "said", "has_curve"),
    [
        (["fill_bw.1.log"], "log", "The write cache probably ends after", True),
        (["fill.csv"], "log", "The write cache probably ends after", True),
        (["work.iolog"], "trace", "100 requests", False),
        (["cdm8.txt"], "log", "6812 MB/s", False),
        (["run/run.json", "run/series.parquet"], "recording", "The write cache ends after", True),
        (["disk.pslc"], "drive", "disk.pslc", False),
    ],
)
def test_what_is_uploaded_is_analysed(names, kind, said, has_curve, lab, files):
    answer = lab.upload(*(files / name for name in names))
    assert answer["kind"] == kind
    assert said in json.dumps(answer)
    assert (answer["curve"] is not None) == has_curve
    if has_curve:
        assert max(answer["curve"]["y"]) > 3 * min(answer["curve"]["y"])
        assert answer["figures"][0]["panels"][0]["lines"]


@pytest.mark.parametrize("content", [b"what is this?\n", b"\xff\xfe\x00", b""])
def test_what_cannot_be_read_is_refused_in_words_and_not_kept(content, lab, tmp_path):
    (tmp_path / "bad.log").write_bytes(content)
    status, said = lab.refusal("api/upload", uploaded(tmp_path / "bad.log"))
    assert status == 400
    assert "hint: " in said
    assert not list(lab.temporary.glob("pslc-lab-*/*/bad.log"))


def test_a_picture_of_a_chart_is_read_with_what_its_axes_span(lab):
    answer = lab.upload(ROOT / "examples" / "chart.png")
    assert answer["kind"] == "chart"
    stated = {"name": answer["name"], "x": "", "y": "", "series": "", "frame": ""}
    for more, said in (({}, "hint:"), ({"x": "0:2000GB", "y": "0:7000MB/s"}, "--series")):
        stated |= more
        assert said in lab.refusal("api/chart", json.dumps(stated).encode())[1]
    read = lab.post("api/chart", **stated | {"series": "blue"})
    assert "The write cache ends after" in " ".join(read["sentences"])
    assert read["picture"].startswith("data:image/png;base64,")
    assert read["picture"] != answer["picture"]
    assert read["curve"]["x"]


@pytest.mark.parametrize(
    ("drive", "spec"),
    [
        ({"name": "pm871b-128gb", "keys": [["scale", "1/64"], ["cache.mode", "pure-xlc"]]},
         "sim:pm871b-128gb,scale=1/64,cache.mode=pure-xlc"),
        ({"profile": PROFILE, "keys": [["cache.dynamic", "1.5GB"]]}, f"{SMALL},cache.dynamic=1.5GB"),
        ({"file": "disk.pslc"}, SMALL),
    ],
)  # fmt: skip
def test_a_run_from_the_page_finds_what_the_command_finds(drive, spec, lab):
    before = (lab.folder / "disk.pslc").read_bytes()
    task = lab.post("api/run", suite="fill", drive=drive)
    assert task["command"].startswith("pslc run fill --on ")
    assert lab.findings(task) == lab.command("run", "fill", "--on", spec)
    assert (lab.folder / "disk.pslc").read_bytes() == before


def test_an_uploaded_drive_is_run_as_a_copy(lab, files):
    name = lab.upload(files / "disk.pslc")["name"]
    found = lab.findings(lab.post("api/run", suite="fill", drive={"upload": name}))
    assert found == lab.command("run", "fill", "--on", SMALL)


def test_a_trace_is_replayed_as_the_command_replays_it(lab, tmp_path):
    """Of two devices the one that moves more; it reaches beyond the small drive."""
    draw = random.Random(4)
    rows = [f"{us},{draw.choice(('read', 'write', 'write'))},{draw.randrange(5_000_000) * 4096},65536,big"
            for us in range(0, 10_000_000, 20_000)]  # fmt: skip
    work = lab.folder / "work of mine.csv"
    work.write_text("\n".join(["time_us,op,offset,size,device", "0,write,0,512,small", *rows]))
    name = lab.upload(work)["name"]
    found = lab.findings(lab.post("api/run", upload=name, drive={"profile": PROFILE}))
    words = ["--device", "big", "--addresses", "wrap", "--on", SMALL]
    assert found == lab.command("replay", work.name, *words)


@pytest.mark.parametrize(
    ("request_of", "said"),
    [
        ({"suite": "nothing", "drive": {"name": "sn850-1tb"}}, "no suite is named nothing"),
        ({"suite": "--help", "drive": {"name": "sn850-1tb"}}, "no suite is named --help"),
        ({"suite": "fill", "drive": {"name": "no-such"}}, "the page does not open that drive"),
        ({"suite": "fill", "drive": {}}, "the page does not open that drive"),
        ({"suite": "fill", "drive": {"name": "sn850-1tb", "keys": [["cache.mode", "pure-xlc,base=x"]]}}, "comma"),
        ({"suite": "fill"}, "the request is not understood"),
    ],
)
def test_a_run_of_what_is_not_there_is_refused(request_of, said, lab):
    assert said in lab.refusal("api/run", json.dumps(request_of).encode())[1]


def test_a_command_that_fails_says_why_and_one_can_be_stopped(lab):
    task = lab.post("api/run", suite="fill", drive={"name": "sn850-1tb", "keys": [["cache.dynamic", "900TB"]]})
    failed = lab.done(task)
    assert failed["code"] == 2
    assert "cache.dynamic" in failed["errors"][0]
    assert any(line.startswith("hint:") for line in failed["errors"])
    task = lab.post("api/run", suite="recovery", drive={"name": "aldrin-pro-2tb"})
    assert task["code"] is None
    lab.post("api/stop", task=task["id"])
    assert "no task has the number" in lab.refusal(f"api/task?name={task['id']}")[1]


def test_recordings_are_listed_shown_compared_and_deleted(lab):
    for mode in ("pure-xlc", "dynamic-slc"):
        store.save(pslc.run("fill", on=f"sim:{lab.folder}/small.toml,cache.mode={mode}"), lab.folder / "runs" / mode)
    listed = {entry["name"]: entry for entry in lab.get("api/library")["recordings"]}
    assert listed["dynamic-slc"]["cache_bytes"] == pytest.approx(8e8, rel=0.1)
    shown = lab.get("api/recording", name="dynamic-slc")
    assert any(sentence.startswith("The write cache ends after") for sentence in shown["sentences"])
    assert shown["curve"]["x"][-1] > 1e9
    assert b"How it was measured" in lab.open("report?name=dynamic-slc")[1]
    assert b"Comparison of" in lab.open("compare?name=pure-xlc&name=dynamic-slc")[1]
    lab.post("api/delete", name="pure-xlc")
    assert not (lab.folder / "runs" / "pure-xlc").exists()
    for name in ("..", "../..", "no-such", "pure-xlc"):
        assert "no recording is named" in lab.refusal(f"report?name={name}")[1]


def test_the_library_has_suites_profiles_and_drive_files_of_this_folder(lab):
    library = lab.get("api/library")
    assert library["profiles"]["small.toml"] == PROFILE
    assert library["drive_files"] == ["disk.pslc"]
    assert library["suites"]["fill"] == suites.question("fill")
    found = {Path("/dev") / path.parent.name for path in Path("/sys/block").glob("*/device")}
    assert {Path(device["path"]) for device in lab.get("api/devices")} <= found


@pytest.mark.slow
def test_a_twin_of_an_upload_is_fitted_into_a_profile(lab, files):
    name = lab.upload(files / "run/run.json", files / "run/series.parquet")["name"]
    fitted = lab.done(lab.post("api/fit", upload=name))
    assert fitted["code"] == 0, fitted["errors"]
    assert "[provenance]" in fitted["profile"]
    assert list(lab.folder.glob("*twin.toml"))


def test_the_page_is_told_of_its_server_and_may_stand_in_no_frame(tmp_path, monkeypatch):
    monkeypatch.setattr(static_page, "PAGE", tmp_path / "page.html")
    (tmp_path / "page.html").write_text('<!doctype html>\n<html lang="en"><body>pslc</body></html>')
    api = Api.new()
    try:
        reply = api.get("", {})
        assert b'<html data-lab="" lang="en">' in reply.body
        assert reply.headers["Content-Security-Policy"] == "frame-ancestors 'none'"
    finally:
        api.close()


def test_no_argument_of_the_browser_holds_the_token(lab):
    """Everybody may read them; the file that they name leads to the page, and is this user's alone."""
    opened = lab.folder.parent / "opened"
    lab.get("api/library")
    assert lab.address.split("/")[3] not in opened.read_text()
    page = Path(unquote(urlsplit(opened.read_text().strip()).path))
    assert f"url={lab.address}" in page.read_text()
    assert [path.stat().st_mode & 0o777 for path in (page, page.parent)] == [0o600, 0o700]


def test_an_address_of_another_machine_is_an_error_with_a_way_out(command):
    done = command.refused("lab", "--host", "192.0.2.1", BROWSER="true")
    assert "hint: --host is an address of this machine" in done.stderr


def test_only_this_machine_is_served_unless_asked_otherwise(lab, tmp_path):
    found = Path(f"/proc/{lab.process.pid}/net/tcp").read_text()
    listening = [line.split()[1] for line in found.splitlines() if f":{lab.port:04X} 00000000:0000 0A" in line]
    assert listening == [f"0100007F:{lab.port:04X}"]
    wide = LabClient(tmp_path, "--host", "0.0.0.0")
    wide.process.terminate()
    assert wide.process.wait(20) == 0
    assert "anyone who can reach 0.0.0.0" in wide.log.read_text()
    assert os.listdir(wide.temporary) == []
