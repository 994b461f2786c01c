"""The codes of errors: what a program knows a refusal by. Each is asked of the world here, not of a list."""

import ast
import email
import os
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from benches.small import PROFILE

import pslc
from pslc import _native
from pslc.base import failure, writer
from pslc.base.errors import Faults, GuardError, JobError, ProfileError, PslcError, RecordingError, TargetError
from pslc.device import condition
from pslc.device.target import RealOptions
from tests import forked

ROOT = Path(__file__).parent.parent
MB = 1 << 20


def scratch(path: Path, size: int = 16 * MB) -> None:
    _native.check_scratch(str(path), size)


def reused(path: Path) -> None:
    _native.RealDrive.existing(str(path), None, None)


def on_a_file_that_is_there(folder: Path) -> None:
    (folder / "there").write_bytes(b"precious")
    scratch(folder / "there")


def over_another_s_file(folder: Path) -> None:
    (folder / "data").write_bytes(bytes(MB))
    reused(folder / "data")


def over_a_file_with_two_names(folder: Path) -> None:
    (folder / "data").write_bytes(bytes(MB))
    os.link(folder / "data", folder / "other")
    reused(folder / "data")


def over_a_fifo(folder: Path) -> None:
    os.mkfifo(folder / "fifo")
    reused(folder / "fifo")


def over_a_file_that_is_held_open(folder: Path) -> None:
    (folder / "data").write_bytes(bytes(MB))
    with (folder / "data").open("rb"):
        reused(folder / "data")


def through_a_link(folder: Path) -> None:
    (folder / "below").mkdir()
    (folder / "data").write_bytes(bytes(MB))
    (folder / "below" / "link").symlink_to(folder / "data")
    reused(folder / "below" / "link")


def with_the_name_of_another(folder: Path) -> None:
    (folder / "data").write_bytes(bytes(MB))
    pslc.run("fill", on=str(folder / "data"), real=RealOptions(overwrite_file="other"))


def to_a_name_that_is_taken(folder: Path) -> None:
    (folder / "page").write_bytes(b"precious")
    writer.write(folder / "page", "new", writer.Replace.NEVER)


def to_a_link(folder: Path) -> None:
    (folder / "page").symlink_to(folder / "other")
    writer.write(folder / "page", "new", writer.Replace.ANY)


def of_what_is_no_drive(folder: Path) -> None:
    (folder / "disk").write_bytes(b"no drive at all, but text that is long enough for a header" * 9)
    _native.SimDrive.open(str(folder / "disk"))


def drive(text: str = PROFILE, *overrides: tuple[str, str]) -> _native.SimDrive:
    return _native.SimDrive("small.toml", text, {}, list(overrides))


def drive_in(folder: Path) -> Path:
    small = drive()
    small.save(str(folder / "disk"))
    small.close()
    return folder / "disk"


def of_a_drive_that_is_there(folder: Path) -> None:
    drive().save(str(drive_in(folder)))


def of_a_drive_that_is_held(folder: Path) -> None:
    disk = drive_in(folder)
    held = _native.SimDrive.open(str(disk))
    try:
        _native.SimDrive.open(str(disk))
    finally:
        held.close()


def of_a_drive_that_is_cut(folder: Path) -> None:
    disk = drive_in(folder)
    os.truncate(disk, disk.stat().st_size // 2)
    _native.SimDrive.open(str(disk))


def with_a_damaged_byte(folder: Path) -> None:
    disk = drive_in(folder)
    data = bytearray(disk.read_bytes())
    data[-1] ^= 1
    disk.write_bytes(data)
    _native.SimDrive.open(str(disk))


def with_the_key(key: str, value: str) -> Callable[[Path], object]:
    return lambda _: drive(PROFILE, (key, value))


def with_the_line(line: str) -> Callable[[Path], None]:
    def of_a_job(folder: Path) -> None:
        (folder / "job.fio").write_text(f"[w]\nrw=write\n{line}\n")
        pslc.run(folder / "job.fio", on="sim:pm871b-128gb")

    return of_a_job


def of_what_is_no_trace(folder: Path) -> None:
    (folder / "log").write_text("what is this, then\n")
    _native.TraceFile(str(folder / "log")).survey()


def of_a_trace_with_another_line(folder: Path) -> None:
    (folder / "log").write_text("fio version 2 iolog\n" + "/dev/x write 0 4096\n" * 9 + "what is this, then\n")
    _native.TraceFile(str(folder / "log")).survey()


def with_blocks_that_are_none(folder: Path) -> None:
    (folder / "job.fio").write_text("[w]\nrw=write\nbs=4k\noffset=100\nsize=64k\ndirect=1\n")
    pslc.run(folder / "job.fio", on=str(folder / "new"), real=RealOptions(size=16 * MB))


REFUSED: dict[str, tuple[Callable[[Path], object], type[PslcError]]] = {
    "scratch-exists": (on_a_file_that_is_there, GuardError),
    "scratch-name-taken": (scratch, GuardError),
    "scratch-no-space": (lambda folder: scratch(folder / "new", 1 << 60), GuardError),
    "scratch-too-small": (lambda folder: scratch(folder / "new", 512), GuardError),
    "kernel-file-system": (lambda _: scratch(Path("/sys/new")), GuardError),
    "system-failed": (lambda folder: scratch(folder / "gone" / "new"), GuardError),
    "file-not-written-by-pslc": (over_another_s_file, GuardError),
    "file-hard-links": (over_a_file_with_two_names, GuardError),
    "file-not-regular": (over_a_fifo, GuardError),
    "file-in-use": (over_a_file_that_is_held_open, GuardError),
    "file-link-out-of-folder": (through_a_link, GuardError),
    "file-not-named": (with_the_name_of_another, GuardError),
    "device-not-block": (lambda folder: _native.inspect_device(str(folder)), GuardError),
    "device-not-found": (lambda folder: _native.inspect_device(str(folder / "gone")), GuardError),
    "output-exists": (to_a_name_that_is_taken, GuardError),
    "output-is-link": (to_a_link, GuardError),
    "drive-foreign": (of_what_is_no_drive, TargetError),
    "drive-exists": (of_a_drive_that_is_there, TargetError),
    "drive-held": (of_a_drive_that_is_held, TargetError),
    "drive-no-file": (lambda _: drive().save(), TargetError),
    "drive-cut": (of_a_drive_that_is_cut, TargetError),
    "drive-damaged": (with_a_damaged_byte, TargetError),
    "profile-syntax": (lambda _: drive(PROFILE.replace('"', "")), ProfileError),
    "profile-unknown-key": (with_the_key("cache.mod", "fold"), ProfileError),
    "profile-unknown-word": (with_the_key("cache.mode", "fold"), ProfileError),
    "profile-bad-quantity": (with_the_key("capacity", "2GX"), ProfileError),
    "profile-bare-number": (with_the_key("capacity", "2"), ProfileError),
    "profile-bad-flush": (with_the_key("controller.flush", "2min"), ProfileError),
    "profile-capacity-too-large": (with_the_key("capacity", "9TB"), ProfileError),
    "job-unknown-option": (with_the_line("blocksise=4k"), JobError),
    "job-not-run": (with_the_line("profile=tiobench"), JobError),
    "job-no-size": (with_the_line("bs=4x"), JobError),
    "job-neither-word": (with_the_line("rate_process=x"), JobError),
    "job-past-end": (with_the_line("size=9t"), JobError),
    "job-variable-not-set": (with_the_line("bs=${PSLC_NOT_SET}"), JobError),
    "trace-no-format": (of_what_is_no_trace, RecordingError),
    "trace-no-request": (of_a_trace_with_another_line, RecordingError),
    "parts-unreadable": (lambda _: _native.derive_profile("{}"), ProfileError),
    "job-unaligned": (with_blocks_that_are_none, JobError),
}


@pytest.mark.parametrize("code", REFUSED)
def test_a_refusal_has_its_code_and_keeps_it_on_its_way(code, tmp_path):
    ask, kind = REFUSED[code]
    with pytest.raises(kind) as caught:
        ask(tmp_path)
    error = caught.value
    assert error.code == code, str(error)
    assert str(error) == f"{error.message}\n\nhint: {error.hint}"
    again = pickle.loads(pickle.dumps(error))
    assert (again.message, again.hint, again.code) == (error.message, error.hint, code)


def test_an_error_of_several_faults_keeps_the_code_of_each():
    with pytest.raises(ProfileError) as caught:
        _native.SimDrive("small.toml", PROFILE, {}, [("capacity", "2GX"), ("link", "sata1")])
    error = pickle.loads(pickle.dumps(caught.value))
    assert error.code == "several-faults"
    assert [type(fault) for fault in error.faults] == [ProfileError] * 2
    assert {fault.code for fault in error.faults} == {"profile-bad-quantity", "profile-unknown-link"}
    for fault in error.faults:
        assert f"  {fault.message} (hint: {fault.hint})" in error.message.splitlines()
        assert fault.faults == (fault,)


def test_faults_that_are_collected_keep_their_codes():
    faults = Faults(JobError, "the study")
    with faults.noted():
        raise ProfileError("x is 1", "2", "profile-bad-count")
    with pytest.raises(JobError) as single:
        faults.raise_if_any()
    assert (single.value.message, single.value.hint, single.value.code) == ("x is 1", "2", "profile-bad-count")
    faults.add("y is 1", "3")
    faults.add("y is 1", "3")
    with pytest.raises(JobError) as both:
        faults.raise_if_any()
    assert [fault.code for fault in both.value.faults] == ["profile-bad-count", None]
    assert both.value.code == "several-faults"
    assert both.value.message == "the study has 2 faults\n  x is 1 (hint: 2)\n  y is 1 (hint: 3)"


def several_faults_of_a_profile(folder):
    profile = 'base = "pm871b-128gb"\n[cache]\ndynamc = "3GB"\ndynamic = 7\n[foo]\na = 1\n'
    (folder / "several.toml").write_text(profile)
    return ["run", "fill", "--on", "sim:./several.toml"], {}


def several_faults_of_settings(folder):
    (folder / "pslc.toml").write_text("colour = 1\nfoo = 2\n")
    return ["report"], {"XDG_CONFIG_HOME": str(folder)}


SEVERAL_FAULTS = {
    "./several.toml: 3 faults": several_faults_of_a_profile,
    "the study has 2 faults": lambda _folder: (["study"], {}),
    "pslc.toml has 2 faults": several_faults_of_settings,
    "sn850-1tb.toml: 2 faults": lambda _folder: (["run", "fill", "--on", "sim:sn850-1tb,cache.x=1,cache.y=2"], {}),
}


@pytest.mark.parametrize("head", SEVERAL_FAULTS)
def test_each_of_several_faults_is_a_line_on_the_terminal(head, tmp_path):
    words, env = SEVERAL_FAULTS[head](tmp_path)
    done = forked.run(words, tmp_path, dict(os.environ) | env)
    first, *faults, empty, hint = done.stderr.splitlines()
    assert first.startswith("error: "), done.stderr
    assert first.endswith(head), done.stderr
    assert len(faults) == int(head.split()[-2]), done.stderr
    assert not [fault for fault in faults if not re.fullmatch(r"  \S.* \(hint: .+\)", fault)], done.stderr
    assert (empty, hint, done.returncode) == ("", "hint: each line says what to write instead", 2)


def test_a_line_break_in_a_name_among_several_faults_begins_no_line(tmp_path):
    (tmp_path / "a\n  error: b.toml").write_text('[foo]\na = 1\n[bar]\nb = 1\n"c\\nd" = 2\n')
    done = forked.run(["run", "fill", "--on", "sim:./a\n  error: b.toml"], tmp_path)
    lines = done.stderr.splitlines()
    assert len(lines) == int(lines[0].split()[-2]) + 3, done.stderr
    assert not any(line.startswith("  error") for line in lines), done.stderr


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pslc.analyze("fill.csv"), ['x is the path "fill.csv"', 'pslc.load("fill.csv")']),
        (lambda: pslc.plot("x"), ["recording is 'x'", "pslc.Recording"]),
        (lambda: pslc.run("fill", on="sim:sn850-1tb", seed="x"), ["seed is 'x'", "a whole number"]),
        (lambda: pslc.run("fill", on="sim:sn850-1tb", seed=-1), ["seed is -1", "from 0"]),
        (lambda: pslc.run("fill", on="sim:sn850-1tb", real=3), ["real is 3", "pslc.RealOptions("]),
        (
            lambda: pslc.run("fill", on="sim:sn850-1tb", options={"io_size": "1g"}),
            ["options is {", '[("io_size", "1g")]'],
        ),
    ],
)
def test_an_argument_of_another_kind_is_named_with_what_it_takes(call, words):
    with pytest.raises(PslcError) as caught:
        call()
    assert [word for word in words if word not in str(caught.value)] == []


def test_an_error_without_a_code_says_none():
    with pytest.raises(PslcError) as caught:
        pslc.run("fill", on="sim:no-such-drive")
    assert caught.value.code is None
    assert caught.value.faults == (caught.value,)


def codes_in_python() -> set[str]:
    """Codes that Python gives itself; each GuardError that it raises has one."""
    codes = set()
    for path in (ROOT / "python" / "pslc").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "GuardError":
                (code,) = [word.value for word in call.keywords if word.arg == "code"]
                assert isinstance(code, ast.Constant), f"{path}:{call.lineno}"
                codes.add(code.value)
    return codes


def test_the_page_on_python_lists_the_codes_that_there_are():
    native = _native.error_codes()
    assert len(set(native)) == len(native)
    section = (ROOT / "docs" / "api.md").read_text().partition("\n## Errors")[2]
    rows = [line.split(" | ")[2] for line in section.splitlines() if line.startswith("| ") and "`" in line]
    listed = [code for row in rows for code in re.findall(r"`([a-z0-9-]+)`", row)]
    assert len(set(listed)) == len(listed)
    assert set(listed) == set(native) | codes_in_python() | set(condition.CODES)
    assert set(REFUSED) <= set(listed)


def test_a_bug_is_reported_to_the_address_in_the_metadata_of_the_package(monkeypatch):
    urls = email.message_from_string("Project-URL: Home, https://a.test\nProject-URL: Issues, https://a.test/issues\n")
    monkeypatch.setattr("importlib.metadata.metadata", lambda name: urls)
    assert failure._tracker() == "https://a.test/issues"
