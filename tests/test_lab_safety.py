"""What somebody gives `pslc lab`, or asks it for, brings down neither page nor machine, and opens nothing else."""

import base64
import itertools
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pyarrow as pa
import pytest
from benches.small import PROFILE
from pyarrow import parquet

import pslc
from pslc.base import gate
from pslc.base.errors import PslcError
from pslc.lab import apart, app, files, fits, overlay, recordings, replays, server, uploads
from pslc.lab.apart import Readers
from pslc.lab.runs import Runs
from pslc.lab.uploads import Drops
from pslc.lab.workspace import Bench, Drive

EXECUTABLE = Path(sys.executable).parent / "pslc"
LOG = "".join(f"{ms}, {2_000_000 if ms < 30_000 else 500_000}, 1, 0, 0\n" for ms in range(100, 60_000, 100))


@pytest.fixture(scope="module")
def readers():
    found = Readers()
    yield found
    found.close()


@pytest.fixture
def drops(tmp_path, readers):
    folder = tmp_path / "drops"
    folder.mkdir()
    files.admit(folder)
    return Drops(folder, readers)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The folder that the page was started in."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "small.toml").write_text(PROFILE)
    return folder


def address_of(data):
    """A file as the browser sends it."""
    return f"data:application/octet-stream;base64,{base64.b64encode(data).decode()}"


def put(drops, name, data):
    return drops.keep([name], [address_of(data)])


def abort():
    os.abort()


def sleep():
    time.sleep(60)


def fill_memory():
    return len(bytearray(apart.MAX_BYTES + (64 << 20)))


def refuse():
    raise PslcError("what", "hint")


def shout():
    os.write(1, b"\x1b]0;OWNED\x07")
    os.write(2, b"\x1b]0;OWNED\x07")
    return os.getpid()


@pytest.mark.parametrize(
    ("what", "said"),
    [(abort, "SIGABRT"), (sleep, "more than 1 s"), (fill_memory, "more than 1.5 GB of memory"), (refuse, "what")],
)
def test_a_reader_that_dies_or_takes_too_much_is_an_error_in_words(what, said, readers, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(apart, "MAX_SECONDS", 1 if what is sleep else 30)
        with pytest.raises(PslcError, match=said):
            readers.call("", what)
    assert readers.call("", shout) != os.getpid(), "the next one is read"


def test_what_a_reader_writes_to_its_streams_reaches_no_terminal(readers, capfd):
    readers.call("", shout)
    assert capfd.readouterr() == ("", "")


def test_a_parquet_file_that_aborts_its_reader_leaves_the_page_and_is_not_kept(drops):
    table = pa.table({"time_us": [1, 2], "a\0b": [1, 2], "op": ["write", "write"], "offset": [0, 4096], "size": [1, 1]})
    parquet.write_table(table, drops.folder / "bad.parquet")
    name = put(drops, "bad.parquet", (drops.folder / "bad.parquet").read_bytes())
    with pytest.raises(PslcError):
        drops.read(name)
    assert not (drops.folder / name).exists(), "?suite= would make the server read it"


def test_what_is_too_large_is_refused_with_both_numbers_before_it_is_decoded(drops, monkeypatch):
    monkeypatch.setattr(uploads, "MAX_BYTES", 1_000_000)
    with pytest.raises(PslcError, match=r"have 2 MB, but the page reads at most 1 MB\n\nhint: pslc analyze"):
        put(drops, "a.csv", bytes(2_000_000))
    assert list(drops.folder.iterdir()) == []


@pytest.mark.parametrize("name", ["..", "../..", ".", "", "0123456789abcdef", "0123456789ABCDEF", "/etc", "x\0y"])
def test_an_id_of_what_was_dropped_names_nothing_else(name, drops):
    (drops.folder.parent / "secret_bw.1.log").write_text(LOG)
    for ask in (lambda: drops.read(name), lambda: overlay.line(f"{overlay.DROP}{name}", drops, 10**12)):
        with pytest.raises(PslcError, match="the dropped files are gone"):
            ask()
    assert (drops.folder.parent / "secret_bw.1.log").exists()


def test_an_address_names_only_what_the_warning_names(here, drops):
    """Drives that pslc brings along, profiles and drives of this folder, runs/, and what was dropped."""
    (here.parent / "secret.toml").write_text(PROFILE)
    (here / "below").mkdir()
    (here / "below" / "secret.toml").write_text(PROFILE)
    (here.parent / "secret.csv").write_text("time_us,op,offset,size\n" + "1,write,0,4096\n" * 20)
    (here.parent / "disk.pslc").write_bytes(b"")
    name = put(drops, "mine.toml", PROFILE.encode())
    for spec in ("sim:./small.toml", "sim:small.toml", "sim:sn550-1tb", f"sim:{drops.folder}/{name}/mine.toml"):
        assert Drive.of(spec).target().capacity_bytes
    for spec in (
        "sim:../secret.toml", f"sim:{here.parent}/secret.toml", "sim:./below/secret.toml", f"sim:{here}/small.toml",
        "sim:./below/../small.toml", "../disk.pslc", str(here.parent / "disk.pslc"), "/dev/sda", "/dev/zero", "..",
        f"sim:{drops.folder}/{name}/../../../secret.toml", f"sim:{drops.folder}/../secret.toml", "sim:..", "sim:/",
        "sim:/dev/zero", f"sim:{drops.folder}/{name}/..",
    ):  # fmt: skip
        with pytest.raises(PslcError) as refused:
            Drive.of(spec).target()
        assert refused.value.message.startswith(("the page does not open ", "unknown drive")), spec
    for suite in ("../secret.csv", str(here.parent / "secret.csv"), f"{drops.folder}/../secret.csv", "/dev/zero"):
        assert not replays.is_trace(suite)
        with pytest.raises(PslcError, match="no trace is named"):
            Bench.of_address(f"?suite={suite}")
    for run in ("../..", "..", "/etc", "."):
        with pytest.raises(PslcError, match="no recording is named"):
            overlay.line(f"{overlay.RUN}{run}", drops, 10**12)


@pytest.mark.parametrize("base", ["../secret.toml", "/etc/secret.toml", "./small.toml", "other.toml"])
def test_a_profile_that_was_dropped_stands_on_no_file_of_this_machine(base, here, drops):
    (here.parent / "secret.toml").write_text(PROFILE)
    name = put(drops, "mine.toml", f'base = "{base}"\n'.encode())
    with pytest.raises(PslcError, match="which is not built in"):
        drops.read(name)
    assert drops.read(put(drops, "good.toml", b'base = "sn550-1tb"\n')).source.endswith("good.toml")


def test_a_recording_that_is_deleted_takes_nothing_else_with_it(here):
    good = pslc.run("fill", on="sim:./small.toml")
    for name in ("alone", "beside", "other"):
        good.save(here / "runs" / name)
    (here / "runs" / "beside" / "thesis.txt").write_text("a thesis")
    (here / "runs" / "other" / "report.html").write_text("a page of somebody's")
    recordings.delete("alone")
    recordings.delete("beside")
    with pytest.raises(PslcError):
        recordings.delete("other")
    assert sorted(path.relative_to(here / "runs").as_posix() for path in (here / "runs").rglob("*")) == [
        "beside", "beside/thesis.txt", "other", "other/report.html", "other/run.json", "other/series.parquet",
    ]  # fmt: skip


def test_one_bad_recording_does_not_empty_the_list(here):
    good = pslc.run("fill", on="sim:./small.toml")
    good.save(here / "runs" / "good")
    said = json.loads((here / "runs" / "good" / "run.json").read_text())
    bad = {
        "no-json": "{", "nested": "[" * 100_000, "list": "[]", "number": "1", "begun": said | {"began_unix_ns": 1e300},
        "begun-nan": said | {"began_unix_ns": float("nan")}, "suite": said | {"suite": ["a"]},
        "drive": said | {"drive": 3}, "findings": said | {"findings": []},
        "cache": said | {"findings": {"cache_bytes": "many"}},
        "infinite": said | {"findings": {"cache_bytes": float("inf")}}, "digits": '{"began_unix_ns": ' + "9" * 5000,
    }  # fmt: skip
    for name, what in bad.items():
        (here / "runs" / name).mkdir()
        (here / "runs" / name / "run.json").write_text(what if isinstance(what, str) else json.dumps(what))
    for name in ("pipe", "link", "folder", "zero", "large", "latin"):
        (here / "runs" / name).mkdir()
    os.mkfifo(here / "runs" / "pipe" / "run.json")
    (here / "runs" / "link" / "run.json").symlink_to("nowhere")
    (here / "runs" / "folder" / "run.json").mkdir()
    (here / "runs" / "zero" / "run.json").symlink_to("/dev/zero")
    with (here / "runs" / "large" / "run.json").open("w") as large:
        large.truncate(gate.MAX_LOG_BYTES + 1)
    (here / "runs" / "latin" / "run.json").write_bytes(b"\xff\xfe")
    for by, falling in itertools.product((*recordings.COLUMNS, "no such", "__class__"), (False, True)):
        found, unreadable = recordings.entries("", by, falling)
        assert [entry.name for entry in found] == ["good"]
        assert unreadable == sorted([*bad, "pipe", "folder", "zero", "large", "latin"])


class Panic(BaseException):
    """As one of the native part's: no Exception."""


def test_a_panic_in_a_callback_is_answered_in_words_and_in_a_job_it_ends_the_job(here, monkeypatch):
    held = Runs()
    try:
        page = app.make(held, "/t/")

        def panic(*_, **__):
            raise Panic("index out of bounds")

        monkeypatch.setattr(held, "live", panic)
        monkeypatch.setattr(pslc, "run", panic)
        output = next(name for name in page.callback_map if name.startswith("..drawn.data"))
        asked = {"address": "?on=sim:./small.toml", "number": 1, "fine": True, "lines": None}
        names = [dict(zip(("id", "property"), of.split("."), strict=True)) for of in output.strip(".").split("...")]
        answer = page.server.test_client().post("/t/_dash-update-component", json={
            "output": output, "outputs": names, "changedPropIds": ["coarse.data"],
            "inputs": [{"id": "coarse", "property": "data", "value": asked}],
            "state": [{"id": "tab", "property": "data", "value": "one"}],
        })  # fmt: skip
        assert "index out of bounds; this is a bug in pslc" in answer.text
        job = held.start(Bench.of_address("?on=sim:./small.toml"), "one")
        for _ in range(100):
            if job.done:
                break
            time.sleep(0.05)
        assert "index out of bounds" in job.error.message
    finally:
        held.close()


class Page:
    """`pslc lab` in a folder of its own, with its temporary files in another one."""

    def __init__(self, folder, *arguments):
        self.folder, self.temporary = folder / "here", folder / "tmp"
        for made in (self.folder, self.temporary):
            made.mkdir()
        (self.folder / "small.toml").write_text(PROFILE)
        environment = os.environ | {
            "BROWSER": "true", "XDG_STATE_HOME": str(folder), "TMPDIR": str(self.temporary), "PYTHONUNBUFFERED": "1"
        }  # fmt: skip
        self.process = subprocess.Popen(
            [EXECUTABLE, "lab", "--port", "0", *arguments], cwd=self.folder, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True,
        )  # fmt: skip
        self.address = self.process.stdout.readline().strip()
        self.port = int(self.address.split(":")[2].split("/")[0])

    def get(self, path=""):
        with urllib.request.urlopen(self.address + path, timeout=20) as answer:
            return answer.headers, answer.read().decode()

    def ask(self, changed, outputs, inputs, state):
        """Call back as the page does; `outputs` is one of what the callback changes."""
        known = json.loads(self.get("_dash-dependencies")[1])
        output = next(of["output"] for of in known if outputs in of["output"])
        names = [dict(zip(("id", "property"), of.rsplit(".", 1), strict=True)) for of in output.strip(".").split("...")]
        names = names if output.startswith("..") else names[0]
        body = {"output": output, "outputs": names, "changedPropIds": [changed], "inputs": inputs, "state": state}
        asked = urllib.request.Request(f"{self.address}_dash-update-component", json.dumps(body).encode(),
                                       {"Content-Type": "application/json"})  # fmt: skip
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return answer.read().decode()

    def drop(self, name, data, tab="one"):
        return self.ask(
            "drop.contents",
            "dropped.children",
            [{"id": "drop", "property": "contents", "value": [address_of(data)]}],
            [
                {"id": "drop", "property": "filename", "value": [name]},
                {"id": "bench", "property": "data", "value": "?on=sim:./small.toml"},
                {"id": "tab", "property": "data", "value": tab},
            ],
        )

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


@pytest.fixture
def page(tmp_path):
    held = Page(tmp_path)
    yield held
    held.close()


def test_the_page_runs_no_script_but_its_own_and_reports_ask_it_for_nothing(page):
    policy = page.get()[0]["Content-Security-Policy"]
    assert re.search(r"default-src 'none'; script-src 'self'( 'sha256-[\w+/=]+')+;", policy)
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
    assert "connect-src 'self'" in policy
    recording = pslc.run("fill", on=f"sim:{page.folder}/small.toml")
    recording.save(page.folder / "runs" / "one")
    recording.save(page.folder / "runs" / "two")
    for path in ("report/one", "compare?run=one&run=two"):
        headers, text = page.get(path)
        assert text.startswith("<!doctype html>")
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("sandbox allow-scripts")
        assert "allow-same-origin" not in policy
        assert "connect-src" not in policy, "default-src 'none' holds"


def test_more_connections_than_are_kept_are_told_that_it_is_busy(page):
    held = [socket.create_connection(("127.0.0.1", page.port)) for _ in range(server.MAX_CONNECTIONS)]
    time.sleep(0.5)
    with socket.create_connection(("127.0.0.1", page.port)) as more:
        assert more.recv(100).startswith(b"HTTP/1.1 503 ")
    assert psutil.Process(page.process.pid).num_threads() < server.MAX_CONNECTIONS + 20
    for connection in held:
        connection.close()
    time.sleep(0.5)
    assert "pslc lab" in page.get()[1]


def test_a_request_that_is_too_large_is_refused_unread(page):
    with socket.create_connection(("127.0.0.1", page.port), timeout=20) as connection:
        path = f"/{page.address.split('/')[3]}/_dash-update-component"
        connection.sendall(
            f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            f"Content-Length: {app.MAX_REQUEST_BYTES + 1}\r\n\r\n".encode()
        )
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")


def test_a_page_answers_others_while_it_reads_what_was_dropped(page):
    """A table of 20 MB, which takes seconds."""
    rows = "".join(f"{s},{2000 if s < 1_000_000 else 500}\n" for s in range(1, 1_700_000))
    before = psutil.Process(page.process.pid).memory_info().rss
    with ThreadPoolExecutor(1) as pool:
        dropping = pool.submit(page.drop, "big.csv", f"seconds,MB/s\n{rows}".encode())
        took = []
        while not dropping.done():
            began = time.monotonic()
            page.get()
            took.append(time.monotonic() - began)
            time.sleep(0.1)
        assert '"dropped"' in dropping.result()
    assert len(took) > 5
    assert max(took) < 2
    assert psutil.Process(page.process.pid).memory_info().rss - before < 300e6


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_removes_temporary_files_and_ends_workers(number, page):
    assert "cache ends after" in page.drop("fill_bw.1.log", LOG.encode())
    folder = next(page.temporary.glob("pslc-lab-*"))
    name = next(folder.glob("*")).name
    identity = json.dumps({"of": name, "type": "fit"}, separators=(",", ":"))
    page.ask(
        f"{identity}.n_clicks", "fit.children",
        [[{"id": {"type": "fit", "of": name}, "property": "n_clicks", "value": 1}]],
        [[{"id": {"type": "capacity", "of": name}, "property": "value", "value": "1TB"}],
         {"id": "tab", "property": "data", "value": "one"}],
    )  # fmt: skip
    workers = psutil.Process(page.process.pid).children(recursive=True)
    assert any("fit" in worker.cmdline() for worker in workers)
    page.process.send_signal(number)
    time.sleep(0.05)
    # Whoever is impatient sends another one.
    page.process.send_signal(number)
    said = page.process.communicate(timeout=20)
    assert page.process.returncode == 0, said
    assert said[1] == ""
    assert list(page.temporary.iterdir()) == []
    assert psutil.wait_procs(workers, timeout=10)[1] == []


def test_a_port_that_is_taken_leaves_no_temporary_files(page, tmp_path):
    temporary = tmp_path / "a-temporary-folder-of-so-long-a-name-that-no-socket-of-unix-could-have-a-place-in-it"
    temporary.mkdir()
    done = subprocess.run([EXECUTABLE, "lab", "--port", str(page.port)], capture_output=True, text=True, check=False,
                          env=os.environ | {"TMPDIR": str(temporary)})  # fmt: skip
    assert done.returncode == 2
    assert "hint: --port" in done.stderr
    assert list(temporary.iterdir()) == []


def test_what_a_killed_page_left_is_removed_by_the_next_and_what_a_living_one_holds_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    living = files.new_folder("pslc-lab-")
    left, young, other = (tmp_path / name for name in ("pslc-lab-left", "pslc-lab-young", "other"))
    for folder in (left, young, other):
        folder.mkdir()
        (folder / "a").write_text("a")
    (tmp_path / "pslc-lab-link").symlink_to(other)
    long_ago = time.time() - 2 * files.MIN_AGE_S
    for folder in (living, left, other):
        os.utime(folder, (long_ago, long_ago))
    made = files.new_folder("pslc-lab-")
    assert sorted(tmp_path.iterdir()) == sorted([living, made, young, other, tmp_path / "pslc-lab-link"])
    assert (other / "a").exists()


def test_no_more_fits_are_begun_than_a_machine_can_do(monkeypatch):
    held = fits.Fits()
    monkeypatch.setattr(fits.subprocess, "Popen", lambda *_, **__: pytest.fail("one more is begun"))
    for number in range(fits.MAX_FITS):
        held._of[f"tab {number}"] = fits.Fit("", Path("x"), None)
    with pytest.raises(PslcError, match="4 fits are running"):
        held.start("another", "", "drive", [], "")
