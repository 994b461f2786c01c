"""Every file that pslc makes is made in one way: whole or not at all, and never over what is not pslc's."""

import ast
import os
import re
from pathlib import Path

import numpy as np
import pytest

import pslc
from pslc.base import writer
from pslc.base.writer import Replace
from pslc.recording import store
from pslc.recording.model import Recording
from pslc.runner.job_logs import JobLogs
from pslc.runner.options import RunOptions
from pslc.runner.run import run_with
from tests.conftest import ROOT
from tests.loops import reason
from tests.writers import (
    JOB,
    LINKS,
    ON,
    STANDS,
    WRITERS,
    create_drive,
    foreign,
    looks,
    open_drive,
    swapped,
    write_page,
)  # fmt: skip

RACES = 200
WRITES = re.compile(r"[wax+]")
ROOM = {"python/pslc/base/writer.py"}
DESCRIPTORS = {"python/pslc/cli/__init__.py"}
"""What opens the three streams by their number."""
KERNEL = {"python/pslc/serving/nvme.py"}
"""What makes folders in configfs, which are no files of anybody's."""
LOCKS = {"python/pslc/base/locks.py"}
"""What makes the file that stands for a folder of ours, where a system cannot lock the folder itself."""
MAKES = {"write_text", "write_bytes", "mkdir", "makedirs", "mkdtemp", "mkstemp", "TemporaryDirectory", "TemporaryFile",
         "NamedTemporaryFile", "copyfile", "copy2", "copytree", "symlink", "symlink_to", "hardlink_to", "touch",
         "mknod", "mkfifo"}  # fmt: skip
"""Calls that make a file or a folder, whatever they are of."""


def made_by(tree: ast.AST) -> list[int]:
    """The lines of calls that make or open files to write."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        said = ast.unparse(node)
        if name == "open" and "os.devnull" not in said:
            modes = [arg.value for arg in [*node.args, *(word.value for word in node.keywords if word.arg == "mode")]
                     if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]  # fmt: skip
            if any(len(mode) <= 3 and WRITES.search(mode) for mode in modes) or re.search(
                "O_(CREAT|WRONLY|RDWR)", said
            ):
                found.append(node.lineno)
        elif name in MAKES or said.startswith("os.link("):
            found.append(node.lineno)
    return found


def test_python_makes_files_in_the_room_for_it_alone():
    found = {}
    for path in sorted((ROOT / "python").rglob("*.py")):
        name = str(path.relative_to(ROOT))
        if name not in ROOM | DESCRIPTORS | KERNEL | LOCKS and (lines := made_by(ast.parse(path.read_text()))):
            found[name] = lines
    assert found == {}


def test_the_search_finds_what_it_looks_for():
    for line in ("open('a', 'w')", "path.open(mode='xb')", "os.open(p, os.O_WRONLY | os.O_CREAT)", "p.write_text('')",
                 "path.mkdir()", "tempfile.TemporaryDirectory()", "shutil.copyfile(a, b)"):  # fmt: skip
        assert made_by(ast.parse(line)), line
    for line in ("open('data')", "path.open('rb')", "os.open(p, os.O_RDONLY)", "text.replace('w', 'x')"):
        assert not made_by(ast.parse(line)), line


def test_rust_makes_files_in_the_room_for_it_alone():
    makes = re.compile(
        r"File::create|create_new\(|\.create\(true|fs::write|fs::rename|\bcreate_dir|fs::copy|hard_link|O_CREAT"
        r"|OFlags::CREATE|OFlags::TMPFILE"
    )
    # A scratch file has no name, or loses it at once, and takes none that is there.
    drive = "crates/drive/src"
    rooms = {
        f"{drive}/{name}.rs"
        for name in ("files/mod", "files/tests", "guard/scratch", "sys/unix", "sys/windows", "sys/overlapped")
    }
    found = {}
    for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        name = str(path.relative_to(ROOT))
        text = path.read_text().partition("#[cfg(test)]")[0]
        if name not in rooms and (lines := makes.findall(text)):
            found[name] = lines
    assert found == {}


DELETES = {
    "python/pslc/base/writer.py": (2, "the room itself"),
    "python/pslc/serving/nvme.py": (4, "folders of configfs that it made, which are the kernel's"),
    "python/pslc/serving/listening.py": (2, "sockets: its own by its number, and one at which nobody listens"),
    "python/pslc/fio/__main__.py": (2, "makes its target as long as the jobs need it, and shortens none"),
    "python/pslc/watch/traced.py": (1, "the folder of tracing that it made, which is the kernel's"),
}
"""What deletes: how often, and what."""


def deleted_by(tree: ast.AST) -> list[int]:
    """The lines of calls that remove or rename files or folders."""
    lines = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        name, of = node.func.attr, ast.unparse(node.func.value)
        if (
            name in ("unlink", "rmtree", "rmdir", "removedirs", "rename", "renames", "truncate")
            or (name in ("remove", "replace", "move") and of in ("os", "shutil"))
            or (name == "replace" and len(node.args) == 1 and not node.keywords and of != "dataclasses")
        ):
            lines.append(node.lineno)
    return lines


def test_python_deletes_in_the_room_for_it_alone():
    counts = {}
    for path in sorted((ROOT / "python").rglob("*.py")):
        if lines := deleted_by(ast.parse(path.read_text())):
            counts[str(path.relative_to(ROOT))] = len(lines)
    assert counts == {name: count for name, (count, _) in DELETES.items()}
    for line in ("p.unlink()", "shutil.rmtree(p)", "os.remove(p)", "os.replace(a, b)", "p.replace(q)", "p.rename(q)",
                 "shutil.move(a, b)", "os.truncate(p, 1)"):  # fmt: skip
        assert deleted_by(ast.parse(line)), line
    for line in ("text.replace('a', 'b')", "jobs.remove(1)", "replace(job, name='a')"):
        assert not deleted_by(ast.parse(line)), line


def test_rust_deletes_in_the_room_for_it_alone():
    deletes = re.compile(r"remove_file|remove_dir|\bunlinkat\(|fs::rename")
    counts = {}
    for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        text = path.read_text().partition("#[cfg(test)]")[0]
        if path.name != "tests.rs" and (count := len(deletes.findall(text))):
            counts[str(path.relative_to(ROOT))] = count
    # The room, its face for Python and where that is declared, and the name that a new scratch file gives up.
    assert counts == {
        "crates/drive/src/sys/unix.rs": 2,
        "crates/drive/src/sys/windows.rs": 2,
        "crates/python/src/files.rs": 1,
        "crates/python/src/lib.rs": 1,
        "crates/drive/src/guard/scratch.rs": 1,
    }


@pytest.fixture(scope="module")
def short(tmp_path_factory) -> Recording:
    path = tmp_path_factory.mktemp("short") / "a.fio"
    path.write_text(JOB)
    return pslc.run(path, on=ON)


@pytest.mark.parametrize("stands", STANDS, ids=lambda made: made.__name__)
@pytest.mark.parametrize("what", WRITERS)
def test_no_writer_goes_over_or_through_what_is_not_pslc_s(what, stands, short, tmp_path):
    name, write = WRITERS[what].name, WRITERS[what].write
    precious = tmp_path / "precious"
    precious.write_bytes(b"a thesis\n" * 100)
    folder = tmp_path / "folder"
    folder.mkdir()
    stands(folder / name, precious)
    before = looks(folder)
    if WRITERS[what].named and stands is foreign:
        write(folder / name, short)
        assert looks(folder)[name][2] != before[name][2]
        return
    with pytest.raises((pslc.PslcError, FileExistsError)) as caught:
        write(folder / name, short)
    assert "\n\nhint: " in str(caught.value) or isinstance(caught.value, FileExistsError)
    after = looks(folder)
    assert {key: after[key] for key in before} == before
    assert not [key for key in after if key.startswith(".pslc-")]
    assert precious.read_bytes() == b"a thesis\n" * 100


@pytest.mark.parametrize("stands", LINKS, ids=lambda made: made.__name__)
def test_what_the_command_line_names_is_replaced_but_through_no_link(stands, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("a thesis")
    at = tmp_path / "page.html"
    foreign(at, precious)
    writer.write(at, "a page", Replace.ANY)
    assert at.read_text() == "a page"
    at.unlink()
    stands(at, precious)
    with pytest.raises(pslc.PslcError):
        writer.write(at, "a page", Replace.ANY)
    assert precious.read_text() == "a thesis"


def test_pslc_s_own_are_replaced_and_copies_of_them(short, tmp_path):
    for _ in range(2):
        store.save(short, tmp_path / "run")
        write_page(tmp_path / "run" / "report.html", short)
    # A copy by hand has no attribute.
    (tmp_path / "copy").mkdir()
    for path in (tmp_path / "run").iterdir():
        (tmp_path / "copy" / path.name).write_bytes(path.read_bytes())
    store.save(short, tmp_path / "copy")
    write_page(tmp_path / "copy" / "report.html", short)
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == ["report.html", "run.json", "series.parquet"]


def test_a_link_that_is_put_there_meanwhile_is_not_written_through(tmp_path):
    """Under root or not: the names are swapped all the while."""
    (tmp_path / "folder").mkdir()
    precious, at = tmp_path / "precious", tmp_path / "folder" / "page.html"
    precious.write_text("a thesis")
    number = precious.stat().st_ino
    written = 0
    with swapped(at, precious):
        # On a busy machine the link may be there at every one of the first attempts.
        for attempt in range(20 * RACES):
            if attempt >= RACES and written:
                break
            try:
                writer.write(at, "a page", Replace.ANY)
                written += 1
            except pslc.PslcError:
                pass
    assert written
    assert not [path for path in (tmp_path / "folder").iterdir() if path.name.startswith(".pslc-")]
    assert (precious.read_text(), precious.stat().st_ino) == ("a thesis", number)


def test_the_token_of_the_lab_is_written_through_no_link(tmp_path, monkeypatch):
    from pslc.lab import server

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "pslc").mkdir()
    for stands in STANDS:
        precious, at = tmp_path / "precious", tmp_path / "pslc" / "lab-token"
        precious.write_text("a thesis")
        stands(at, precious)
        before = looks(at.parent)
        assert server.token() != server.token()
        assert looks(at.parent) == before
        assert precious.read_text() == "a thesis"
        at.unlink()
    assert server.token() == server.token()
    assert (tmp_path / "pslc" / "lab-token").stat().st_mode & 0o777 == 0o600


# ---- logs that job files name


@pytest.mark.parametrize("name", ["/dev/null", "/tmp/x", "../x", "sub/../../x", "away/x"])
def test_a_job_file_names_no_log_outside_the_current_folder(name, command, tmp_path):
    (tmp_path / "away").symlink_to(tmp_path.parent)
    (tmp_path / "a.fio").write_text(f"{JOB}write_iolog={name}\n")
    done = command.refused("run", "a.fio", "--on", ON)
    assert "is not below the current folder" in done.stderr
    assert "hint: --logs-to DIR" in done.stderr
    assert not (tmp_path / "runs").exists()
    (tmp_path / "logs").mkdir()
    if name != "away/x":
        done = command.fine("run", "a.fio", "--on", ON, "--logs-to", "logs")
        assert f"plan: writes the log logs/{Path(name).name}" in done.stderr
        assert (tmp_path / "logs" / Path(name).name).read_text().startswith("fio version 3 iolog")


def test_a_log_that_cannot_be_written_is_said_before_the_run(command, tmp_path):
    (tmp_path / "a.fio").write_text(f"{JOB}write_bw_log=nowhere/x\n")
    done = command.refused("run", "a.fio", "--on", ON)
    assert "the log nowhere/x_bw.1.log cannot be written: No such file or directory" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_the_logs_that_are_expected_are_those_that_are_written(command, tmp_path):
    text = ("[a]\nrw=write\nbs=64k\nsize=256k\nnumjobs=2\nwrite_lat_log=\n[b]\nrw=read\nsize=64k\n"
            "[c]\nrw=randrw\nsize=64k\nwrite_bw_log=b\nwrite_iolog=c.log\nper_job_logs=0\n")  # fmt: skip
    (tmp_path / "a.fio").write_text(text.replace("write_lat_log=\n", "write_lat_log=l\n"))
    done = command.fine("run", "a.fio", "--on", ON)
    expected = set(re.findall("plan: writes the log (.*)", done.stderr))
    assert expected == {path.name for path in tmp_path.glob("*.log")}
    assert len(expected) == 8


def test_logs_that_fail_after_the_run_leave_its_recording(short, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.fio").write_text(f"{JOB}write_iolog=sub/x.log\n")
    (tmp_path / "sub").mkdir()
    logs = JobLogs()
    found = run_with("a.fio", ON, RunOptions(logs=logs))
    (tmp_path / "sub").rmdir()
    assert found.written_bytes == 256 << 10
    (failed,) = logs.write()
    assert "sub/x.log is not written: No such file or directory" in failed


def test_what_is_printed_to_a_full_disk_leaves_no_half_file(command, small_disk, tmp_path):
    place = small_disk("64k")
    (place / "fill").write_bytes(bytes(48 << 10))
    output = place / "out.json"
    done = command("run", "fill", "--on", ON, "--json", "--output", str(output), "--save", "run")
    assert done.returncode == 3
    assert f"warning: --output is not written: {output}: No space left on device" in done.stderr
    assert store.load(tmp_path / "run").written_bytes
    assert [path.name for path in place.iterdir()] == ["fill"]
    (tmp_path / "a.iolog").write_text(
        "fio version 3 iolog\n0 f add\n0 f open\n"
        + "".join(f"{at} f write {at * 7919 % 65536 * 4096} 4096\n" for at in range(40_000))
    )
    for name in ("t.parquet", "t.iolog"):
        done = command.refused("trace", "convert", "a.iolog", "-o", str(place / name))
        assert "No space left on device" in done.stderr
        assert [path.name for path in place.iterdir()] == ["fill"]


# ---- the files of a drive


def test_a_new_drive_beside_the_data_or_the_journal_of_another_is_refused(tmp_path):
    for name in ("disk.pslc.data", "disk.pslc.journal"):
        (tmp_path / name).write_text("somebody's")
        with pytest.raises(pslc.PslcError, match=f"{name} is there, of a drive that is not"):
            create_drive(tmp_path / "disk.pslc")
        assert not (tmp_path / "disk.pslc").exists()
        assert (tmp_path / name).read_text() == "somebody's"
        (tmp_path / name).unlink()


@pytest.mark.parametrize("stands", [*LINKS, foreign], ids=lambda made: made.__name__)
def test_a_journal_that_is_not_the_drive_s_is_refused(stands, tmp_path):
    create_drive(tmp_path / "disk.pslc")
    precious = tmp_path / "precious"
    precious.write_text("a thesis that is longer than a header of a journal")
    stands(tmp_path / "disk.pslc.journal", precious)
    before = looks(tmp_path)
    with pytest.raises(pslc.PslcError, match="journal"):
        open_drive(tmp_path / "disk.pslc.journal")
    assert looks(tmp_path) == before


def test_two_drives_of_one_profile_are_two_drives(tmp_path):
    for name in ("a", "b"):
        create_drive(tmp_path / name)
    one, other = ((tmp_path / name).read_bytes() for name in ("a", "b"))
    # Their profiles are the same; the number that was drawn for each is not.
    assert one != other


# ---- what was measured on


def test_a_file_that_was_changed_with_its_times_set_back_is_not_pslc_s(tmp_path):
    from pslc.device.target import RealOptions, find_target

    path = tmp_path / "data.bin"
    path.write_bytes(np.random.default_rng(1).bytes(1 << 20))
    find_target(str(path), RealOptions(overwrite_file="data.bin")).open()
    assert find_target(str(path), RealOptions(reuse=True)).foreign is None
    about = path.stat()
    with path.open("r+b") as file:
        file.write(b"a thesis")
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert find_target(str(path), RealOptions(reuse=True)).foreign is not None


def test_the_name_of_a_link_allows_nothing_of_what_lies_behind(tmp_path):
    from pslc.device.target import RealOptions, find_target

    path = tmp_path / "data.bin"
    path.write_bytes(bytes(1 << 20))
    (tmp_path / "link.bin").symlink_to("data.bin")
    with pytest.raises(pslc.PslcError, match=r"link\.bin is not the name of data\.bin"):
        find_target(str(tmp_path / "link.bin"), RealOptions(overwrite_file="link.bin"))
    assert find_target(str(tmp_path / "link.bin"), RealOptions(overwrite_file="data.bin")).foreign is None


def test_a_job_file_destroys_no_disk(command, tmp_path):
    if reason() is not None:
        pytest.skip(str(reason()))
    from tests.loops import MB, loop_over, noise

    with loop_over(noise(tmp_path / "drive.img", 16 * MB)) as loop:
        before = (tmp_path / "drive.img").read_bytes()
        (tmp_path / "a.fio").write_text(f"{JOB}write_iolog={loop.path}\n")
        command.refused("run", "a.fio", "--on", ON)
        for words in (["--write_iolog=" + loop.path], ["--output", loop.path]):
            (tmp_path / "a.fio").write_text(JOB)
            command.refused("run", "a.fio", "--on", ON, *words)
        assert (tmp_path / "drive.img").read_bytes() == before
