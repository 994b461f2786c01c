"""What somebody gives `pslc lab`, or asks it for, brings down neither page nor machine, and opens nothing else."""

import itertools
import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psutil
import pyarrow as pa
import pytest
from benches.small import PROFILE
from pyarrow import parquet

import pslc
from pslc.base import gate, http_server
from pslc.base.errors import PslcError
from pslc.lab import apart, api, files, recordings, server, tasks, uploads
from pslc.lab.apart import Readers
from pslc.lab.tasks import Task, Tasks
from pslc.lab.uploads import Uploads
from pslc.recording import store
from tests.lab_client import EXECUTABLE, LabClient

LOG = "".join(f"{ms}, {2_000_000 if ms < 30_000 else 500_000}, 1, 0, 0\n" for ms in range(100, 60_000, 100))


@pytest.fixture(scope="module")
def readers():
    found = Readers(prepare)
    yield found
    found.close()


@pytest.fixture
def given(tmp_path, readers):
    folder = tmp_path / "uploads"
    folder.mkdir()
    return Uploads(folder, readers)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The folder that the page was started in."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "small.toml").write_text(PROFILE)
    return folder


def prepare(_):
    """A reader imports this module."""


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
            readers.call(what)
    assert readers.call(shout) != os.getpid(), "the next one is read"


def test_what_a_reader_writes_to_its_streams_reaches_no_terminal(readers, capfd):
    readers.call(shout)
    assert capfd.readouterr() == ("", "")


def test_a_parquet_file_that_aborts_its_reader_leaves_the_page_and_is_not_kept(given, tmp_path):
    table = pa.table({"time_us": [1, 2], "a\0b": [1, 2], "op": ["write", "write"], "offset": [0, 4096], "size": [1, 1]})
    parquet.write_table(table, tmp_path / "bad.parquet")
    with pytest.raises(PslcError):
        given.put(["bad.parquet"], [(tmp_path / "bad.parquet").read_bytes()])
    assert list(given.folder.iterdir()) == []


@pytest.mark.parametrize(
    "names", [["a/b", "b"], ["x"] * 2, [""], [".."], [".chart.json"], ["x\0y"], ["\udc80"], ["a" * 300], []]
)
def test_names_that_no_file_can_have_are_refused(names, given):
    with pytest.raises(PslcError):
        given.put(names, [b"a"] * len(names))
    assert list(given.folder.iterdir()) == []


@pytest.mark.parametrize("name", ["..", "../..", ".", "", "0123456789abcdef", "0123456789ABCDEF", "/etc", "x\0y"])
def test_the_name_of_an_upload_names_nothing_else(name, given):
    (given.folder.parent / "secret_bw.1.log").write_text(LOG)
    held = Tasks(given)
    for ask in (
        lambda: given.put_chart(name, uploads.ChartInputs("", "")),
        lambda: held.fit(name, "", ""),
        lambda: held.replay(name, {"name": "pm871b-128gb"}),
        lambda: held.run("fill", {"upload": name}),
    ):
        with pytest.raises(PslcError, match="the uploaded files are gone"):
            ask()
    assert (given.folder.parent / "secret_bw.1.log").exists()


@pytest.mark.parametrize(
    "file", ["../disk.pslc", "/dev/sda", "/dev/zero", "..", "", ".", "below/disk.pslc", "small.toml", "pipe"]
)
def test_a_run_opens_only_drive_files_of_its_own_folder(file, here, given):
    (here / "below").mkdir()
    for folder in (here.parent, here / "below"):
        (folder / "disk.pslc").write_bytes(b"")
    os.mkfifo(here / "pipe")
    with pytest.raises(PslcError, match=r"the page does not open that drive|is not a drive file"):
        Tasks(given).run("fill", {"file": file})
    for name in ("../..", "..", "/etc", "."):
        with pytest.raises(PslcError, match="no recording is named"):
            Tasks(given).fit("", name, "")


@pytest.mark.parametrize("base", ["../secret.toml", "/etc/secret.toml", "./small.toml", "other.toml"])
def test_a_profile_from_the_page_stands_on_no_file_of_this_machine(base, here, given):
    (here.parent / "secret.toml").write_text(PROFILE)
    with pytest.raises(PslcError, match="which is not built in"):
        Tasks(given).run("fill", {"profile": f'base = "{base}"\n'})


def test_a_recording_that_is_deleted_takes_nothing_else_with_it(here):
    good = pslc.run("fill", on="sim:./small.toml")
    for name in ("alone", "beside", "other"):
        store.save(good, here / "runs" / name)
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
    store.save(good, here / "runs" / "good")
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
    readable, unreadable = recordings.entries()
    assert [entry.name for entry in readable] == ["good"]
    assert unreadable == sorted([*bad, "pipe", "folder", "zero", "large", "latin"])


@pytest.fixture
def page(tmp_path):
    held = LabClient(tmp_path)
    yield held
    held.close()


GARBAGE = [
    b"", b"{", b"[]", b"null", b"1e999", b"\xff\xfe", b"[" * 100_000, b'{"name": 3}', b'{"drive": "x"}',
    b'{"names": ["a"], "sizes": [-1]}\n', b'{"names": ["a"], "sizes": [1e30]}\n', b'{"task": 1e400}',
    b'{"names": ["a", "b"], "sizes": [1]}\nx', bytes(range(256)) * 40,
]  # fmt: skip
"""Bodies of requests that no page sends."""


def test_garbage_is_refused_in_words_and_leaves_no_word_on_the_terminal(page):
    for path, body in itertools.product([*api.REQUESTS, "api/upload"], GARBAGE):
        status, said = page.refusal(path, body)
        assert status == 400, (path, body[:40])
        assert "bug in pslc" not in said, (path, body[:40], said)
    for path in (
        "api/task?name=x",
        f"api/task?name={'9' * 5000}",
        "api/recording?name=%00",
        "report?name=..",
        "compare",
    ):
        assert page.refusal(path)[0] == 400
    assert page.refusal("api/nothing")[0] == page.refusal("api/nothing", b"{}")[0] == 404
    for raw in (b"GET /", b"\xff\xfe", b"POST / HTTP/1.1\r\nContent-Length: x", b"BREW / HTTP/9"):
        with socket.create_connection(("127.0.0.1", page.port), timeout=20) as connection:
            connection.sendall(raw + b"\r\n\r\n")
            connection.recv(100)
    page.process.send_signal(signal.SIGTERM)
    assert page.process.wait(20) == 0
    assert [line for line in page.log.read_text().splitlines() if "there is no page" not in line] == []


def test_a_panic_is_answered_in_words(monkeypatch, tmp_path):
    class Panic(BaseException):
        """As one of the native part's: no Exception."""

    def panic(*_):
        raise Panic("index out of bounds")

    # The report of a bug goes into the current folder.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(api, "_library", panic)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    answers = api.Api.new()
    held = server._bound("127.0.0.1", 0, answers, "t")
    threading.Thread(target=held.serve_forever, daemon=True).start()
    try:
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"http://127.0.0.1:{held.port}/t/api/library")
        assert "index out of bounds; this is a bug in pslc" in refused.value.read().decode()
    finally:
        held.shutdown()
        held.server_close()
        answers.close()


def test_without_its_token_there_is_nothing(page):
    base, secret, _ = page.address.rsplit("/", 2)
    for path in ("", "/", "/api/library", "/wrong/", "/wrong/api/library", f"/wrong/../{secret}/api/library"):
        for data in (None, b"{}"):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(base + path, data)
            assert refused.value.code == 404
            assert b"there is nothing of that address" in refused.value.read()
    headers = page.open("api/library")[0]
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Server"] == "pslc", "no versions"


def test_a_report_asks_the_lab_for_nothing(page):
    recording = pslc.run("fill", on=f"sim:{page.folder}/small.toml")
    store.save(recording, page.folder / "runs" / "one")
    store.save(recording, page.folder / "runs" / "two")
    for path in ("report?name=one", "compare?name=one&name=two"):
        headers, text = page.open(path)
        assert text.startswith(b"<!doctype html>")
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("sandbox allow-scripts")
        assert "allow-same-origin" not in policy
        assert "connect-src" not in policy, "default-src 'none' holds"


def test_half_requests_lock_nobody_out(page):
    path = f"/{page.address.split('/')[3]}/api/library"
    held = [socket.create_connection(("127.0.0.1", page.port)) for _ in range(2 * server.MAX_CONNECTIONS)]
    for number, connection in enumerate(held):
        connection.settimeout(5)
        with suppress(OSError):
            connection.sendall((b"", b"GET /", f"GET {path} HTTP/1.1\r\nX: ".encode())[number % 3])
    begun = time.monotonic()
    for _ in range(5):
        assert page.get("api/library")["suites"]
    assert time.monotonic() - begun < 5
    assert psutil.Process(page.process.pid).num_threads() < server.MAX_CONNECTIONS + 20
    for connection in held:
        connection.close()


def test_one_connection_too_many_is_told_that_it_is_busy():
    answer = threading.Event()

    class Slow(http_server.Handler):
        def get(self):
            answer.wait(20)
            self.reply(200, "text/plain", b"done")

    held = http_server.Server(("127.0.0.1", 0), Slow, 1)
    threading.Thread(target=held.serve_forever, daemon=True).start()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(urllib.request.urlopen, f"http://127.0.0.1:{held.port}/")
        time.sleep(0.3)
        with socket.create_connection(("127.0.0.1", held.port)) as more:
            assert more.recv(100).startswith(b"HTTP/1.1 503 ")
        answer.set()
        assert first.result().read() == b"done"
    held.shutdown()
    held.server_close()


def test_a_request_that_is_too_large_is_refused_unread(page, given, monkeypatch):
    with socket.create_connection(("127.0.0.1", page.port), timeout=20) as connection:
        path = f"/{page.address.split('/')[3]}/api/upload"
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {api.MAX_BODY_BYTES + 1}\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.0 413 ")
    assert page.get("api/library")["max_upload_bytes"] == uploads.MAX_BYTES
    monkeypatch.setattr(uploads, "MAX_BYTES", 1_000_000)
    with pytest.raises(PslcError, match=r"have 2 MB, but the page reads at most 1 MB\n\nhint: pslc analyze"):
        given.put(["a.csv"], [bytes(2_000_000)])
    assert list(given.folder.iterdir()) == []


def test_a_page_answers_others_while_it_reads_an_upload(page, tmp_path):
    """A table of 12 MB, which takes seconds."""
    rows = "".join(f"{s / 1000},{2000 if s < 100_000 else 500}{' ' * 60}\n" for s in range(1, 160_000))
    (tmp_path / "big.csv").write_text(f"seconds,MB/s\n{rows}")
    before = psutil.Process(page.process.pid).memory_info().rss
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(page.upload, tmp_path / "big.csv")
        took = []
        while not reading.done():
            began = time.monotonic()
            page.get("api/library")
            took.append(time.monotonic() - began)
            time.sleep(0.1)
        assert reading.result()["curve"]
    assert len(took) > 5
    assert max(took) < 10
    assert psutil.Process(page.process.pid).memory_info().rss - before < 300e6


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_removes_temporary_files_and_ends_workers(number, page):
    (page.folder / "fill_bw.1.log").write_text(LOG)
    name = page.upload(page.folder / "fill_bw.1.log")["name"]
    assert next(page.temporary.glob("pslc-lab-*/*")).name == name
    page.post("api/fit", upload=name, capacity="1TB")
    workers = psutil.Process(page.process.pid).children(recursive=True)
    assert any("fit" in worker.cmdline() for worker in workers)
    page.process.send_signal(number)
    time.sleep(0.05)
    # Whoever is impatient sends another one.
    page.process.send_signal(number)
    assert page.process.wait(20) == 0
    assert [line for line in page.log.read_text().splitlines() if "there is no page" not in line] == []
    assert list(page.temporary.iterdir()) == []
    assert psutil.wait_procs(workers, timeout=10)[1] == []


def test_a_port_that_is_taken_leaves_no_temporary_files(page, tmp_path):
    temporary = tmp_path / "a-temporary-folder-of-so-long-a-name-that-no-socket-of-unix-could-have-a-place-in-it"
    temporary.mkdir()
    done = subprocess.run([EXECUTABLE, "lab", "--port", str(page.port)], capture_output=True, text=True, check=False,
                          env=os.environ | {"TMPDIR": str(temporary)})  # fmt: skip
    assert done.returncode == 2
    assert f"hint: --port {page.port + 1}" in done.stderr
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


def test_no_more_commands_are_begun_than_a_machine_can_do(monkeypatch, given):
    held = Tasks(given)
    monkeypatch.setattr(tasks.children, "start", lambda *_, **__: pytest.fail("one more is begun"))
    for number in range(tasks.MAX_TASKS):
        held._tasks[number] = Task((), given.folder, None)
    with pytest.raises(PslcError, match="4 commands are running"):
        held.run("fill", {"name": "pm871b-128gb"})
