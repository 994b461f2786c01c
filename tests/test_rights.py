"""What an ordinary user meets: looking needs no right, and what needs one says which, with a command that helps."""

import os
import re
import resource
import shlex
import sys
from pathlib import Path

import pytest

from pslc.device import probe, sysfs
from tests.loops import MB, loop_over, reason, sh
from tests.users import NOBODY, as_user, home, needs_root

DISK = 6
SIM = "sim:pm871b-128gb,scale=1/16"
needs_loops = pytest.mark.skipif(reason() is not None, reason=str(reason()))


@pytest.fixture
def mine():
    with home() as folder:
        yield folder


@pytest.fixture
def device(tmp_path):
    """A loop device of mode 660 and a group that is not root's."""
    image = tmp_path / "drive.img"
    with image.open("wb") as file:
        file.truncate(64 * MB)
    with loop_over(image) as loop:
        before = os.stat(loop.path)
        os.chown(loop.path, 0, DISK)
        os.chmod(loop.path, 0o660)
        yield loop
        # The node and its state outlive what it is over.
        sh("blockdev", "--setrw", loop.path)
        os.chown(loop.path, before.st_uid, before.st_gid)
        os.chmod(loop.path, before.st_mode & 0o777)


@needs_loops
@pytest.mark.parametrize(
    ("mode", "groups", "says"),
    [
        (0o600, (), "may not read it"),
        (0o640, (DISK,), "may read it, but not write to it"),
        (0o644, (), "may read it, but not write to it"),
        (0o660, (), "may not read it"),
        (0o660, (DISK,), ""),
        (0o666, (), ""),
    ],
)
@pytest.mark.parametrize("flags", [("--yes",), ("--dry-run",)])
def test_the_rights_of_a_node_decide_and_are_named(device, mine, mode, groups, says, flags):
    os.chmod(device.path, mode)
    consent = ("--destroy-data", device.image)
    done = as_user(mine, "run", "fill", "--on", device.path, *consent, *flags, groups=groups)
    if not says:
        assert done.returncode == 0, done.stderr
        return
    assert done.returncode == 2
    assert says in done.stderr
    assert re.search(rf"is {mode:o} root:\w+:", done.stderr)
    assert ("sudo usermod -aG" in done.stderr) == (mode == 0o660)
    assert "sudo $(command -v pslc) ..." in done.stderr
    assert "ERASES" not in done.stdout


@needs_loops
def test_looking_at_a_drive_needs_no_right_and_hints_lead_on(device, mine):
    """Each hint that is a command is followed, as the user who got it."""
    refused = as_user(mine, "run", "fill", "--on", device.path)
    assert "consent to lose everything on it" in refused.stderr
    assert "may not read it" in refused.stderr
    (consent,) = re.findall(r"--destroy-data \S+", refused.stderr)
    done = as_user(mine, "run", "fill", "--on", device.path, *shlex.split(consent.rstrip(";")), "--yes", groups=(DISK,))
    assert done.returncode == 0, done.stderr

    shown = as_user(mine, "probe", device.path)
    assert shown.returncode == 0
    assert str(device.image) in shown.stdout
    assert "67.1 MB" in shown.stdout
    assert re.search(r"holds +unknown: .* may not read it: sudo usermod -aG", shown.stdout)
    assert "only your own are seen" in shown.stdout
    watched = as_user(mine, "watch", device.path, "--for", "1s", "--no-report")
    assert watched.returncode == 0, watched.stderr

    elsewhere = as_user(mine, "watch", ".", "--for", "1s")
    if hint := re.search(r"pslc (watch /dev/\w+)", elsewhere.stderr):
        assert as_user(mine, *hint[1].split(), "--for", "1s", "--no-report").returncode == 0


@needs_loops
def test_a_device_that_the_kernel_keeps_from_writes_says_so(device, mine):
    sh("blockdev", "--setro", device.path)
    done = as_user(mine, "run", "fill", "--on", device.path, "--destroy-data", device.image, groups=(DISK,))
    assert f"sudo blockdev --setrw {device.path}" in done.stderr


@needs_loops
@pytest.mark.parametrize("limit", [5, 6, 8, 10])
@pytest.mark.parametrize("words", [("run", "fill", "--yes", "--on"), ("probe",), ("watch", "--for", "1s")])
def test_a_device_that_too_few_descriptors_can_look_at_is_not_unknown(device, mine, limit, words):
    os.chmod(device.path, 0o666)
    consent = ("--destroy-data", device.image) if words[0] == "run" else ()
    done = as_user(mine, *words, device.path, *consent, shell=f"ulimit -n {limit}")
    assert done.returncode == 2
    assert f"a process may have {limit} open files at most (ulimit -n); this raises it: " in done.stderr
    assert "serial number" not in done.stderr + done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="sysfs is Linux's")
def test_a_value_that_cannot_be_read_for_want_of_a_descriptor_is_no_missing_one():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            sysfs.text(Path("/proc/self/comm"))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert sysfs.text(Path("/proc/self/comm"))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (None, "smartctl is not installed"),
        ('{"smartctl": {"messages": [{"string": "open device: Permission denied"}]}}', "it takes root: sudo "),
        ('{"smartctl": {"messages": [{"string": "Unable to detect device type"}]}}', "none from it: Unable to detect"),
    ],
)
def test_no_health_log_is_explained(monkeypatch, tmp_path, answer, why):
    if answer is not None:
        (tmp_path / "smartctl").write_text(f"#!/bin/sh\necho '{answer}'\nexit 2\n")
        (tmp_path / "smartctl").chmod(0o755)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("pslc.base.children.SYSTEM", (str(tmp_path),))
    assert why in probe.without_health("vdz")


def test_an_nvme_drive_is_asked_by_root_itself(monkeypatch):
    monkeypatch.setattr(probe.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(probe.sys, "platform", "linux")
    assert "sudo $(command -v pslc) watch /dev/nvme7n1" in str(probe.unasked("nvme7n1", "watch"))


@pytest.mark.parametrize(
    ("text", "says", "helps"),
    [
        ("", "is empty", "as root, with sudo"),
        ("/dev/nvme0n1: Permission denied\n", 'no data: "/dev/nvme0n1: Permission denied"', "as root, with sudo"),
        ("bash: nvme: command not found\n", "nvme: command not found", "install that program"),
    ],
)
def test_a_log_that_holds_only_a_refusal_says_so(command, tmp_path, text, says, helps):
    (tmp_path / "health.txt").write_text(text)
    refused = command.refused("analyze", "health.txt")
    assert says in refused.stderr
    assert helps in refused.stderr


@needs_root
def test_under_sudo_all_that_is_made_belongs_to_the_caller(command, mine):
    command.folder = mine
    sudo = {"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY)}
    command.fine("run", "fill", "--on", SIM, **sudo)
    command.fine("run", "fill", "--on", "./scratch", "--size", "8MB", "--yes", **sudo)
    command.fine("drives", "create", "disk.pslc", "--like", SIM.removeprefix("sim:"), **sudo)
    command.fine("report", str(next(mine.glob("runs/*"))), "-o", "page.html", **sudo)
    owners = {path: path.stat().st_uid for path in mine.rglob("*")}
    assert len(owners) > 8
    assert set(owners.values()) == {NOBODY}
    root_s = mine / "of root"
    root_s.mkdir()
    command.fine("drives", "create", str(root_s / "disk.pslc"), "--like", SIM.removeprefix("sim:"), **sudo)
    assert (root_s / "disk.pslc").stat().st_uid == 0, "a folder that is not the caller's"


@needs_root
def test_runs_of_roots_are_named_with_the_command_that_gives_them(command, mine):
    command.folder = mine
    command.fine("run", "fill", "--on", SIM)
    done = as_user(mine, "run", "fill", "--on", SIM)
    remedy = f"sudo chown -R $USER {shlex.quote(str(mine / 'runs'))}"
    assert done.returncode == 3
    assert remedy in done.stderr
    kept = Path(re.findall(r"recording: (\S+),", done.stderr)[0])
    assert kept.parent == Path("/var/tmp")
    assert as_user(mine, "report", kept, "-o", "page.html").returncode == 0

    (mine / "runs").chmod(0o700)
    listed = as_user(mine, "report")
    assert listed.returncode == 2
    assert remedy in listed.stderr
    assert "no recordings" not in listed.stderr
    (mine / "runs").chmod(0o755)
    (run,) = (mine / "runs").iterdir()
    run.chmod(0o700)
    assert run.name in as_user(mine, "report", COLUMNS="300").stdout
    os.system(remedy.removeprefix("sudo ").replace("$USER", str(NOBODY)))
    assert as_user(mine, "run", "fill", "--on", SIM).returncode == 0


@needs_root
@pytest.mark.parametrize(("mode", "owner"), [(0o444, NOBODY), (0o644, 0)])
def test_a_drive_that_is_read_only_is_shown_and_not_changed(command, mine, mode, owner):
    command.folder = mine
    command.fine("drives", "create", "disk.pslc", "--like", SIM.removeprefix("sim:"))
    disk = mine / "disk.pslc"
    disk.chmod(mode)
    os.chown(disk, owner, owner)
    before = disk.read_bytes(), disk.stat()
    age, fill, serve = "drives age disk.pslc --idle 1h", "run fill --on disk.pslc", "serve disk.pslc --unix ./s.sock"
    for words in (age.split(), fill.split(), serve.split()):
        done = as_user(mine, *words)
        assert done.returncode == 2
        assert "is read-only (mode" in done.stderr
        place = shlex.quote(str(disk))
        own = "" if owner == NOBODY else f"sudo chown $USER {place} && "
        assert f"hint: {own}chmod u+w {place} makes it writable" in done.stderr
    assert (disk.read_bytes(), disk.stat()) == before
    assert as_user(mine, "probe", "disk.pslc").returncode == 0
    disk.chmod(0o666)
    mine.chmod(0o555)
    folder = as_user(mine, "drives", "age", "disk.pslc", "--idle", "1h")
    assert f"chmod -R u+rwX {shlex.quote(str(mine))}" in folder.stderr
    mine.chmod(0o700)


def ports_are_free() -> bool:
    """Whether anybody may listen on ports below 1024, as in containers."""
    first = Path("/proc/sys/net/ipv4/ip_unprivileged_port_start")
    return first.exists() and int(first.read_text()) < 1024


SCRATCH = ("run", "fill", "--on", "./s", "--size", "8MB", "--yes")


@pytest.mark.skipif(sys.platform != "linux" or ports_are_free(), reason="the limits of a login on Linux")
@pytest.mark.parametrize(
    ("shell", "words", "says"),
    [
        ("ulimit -f 1000", SCRATCH, "a file may have 1024000 bytes at most (ulimit -f); this raises it: sudo prlimit"),
        ("ulimit -S -f 1000", SCRATCH, "this raises it: ulimit -S -f unlimited"),
        ("ulimit -f 10", ("run", "fill", "--on", SIM), "File too large (a file may have 10240 bytes at most (ulimit"),
        ("ulimit -v 60000", ("drives",), "a process may have 61440000 bytes of memory at most (ulimit -v)"),
        ("ulimit -u 1", ("run", "all", "--on", SIM), "this user may have 1 threads at most (ulimit -u)"),
        ("", ("lab", "--port", "80"), "ports below 1024 are root's: --port 8719"),
        ("", ("serve", SIM, "--tcp", "127.0.0.1:81"), "ports below 1024 are root's: --tcp 10809"),
        ("", ("serve", SIM, "--unix", "/usr/s.sock"), "use a folder of your own"),
        (": > log.csv; chmod 0 log.csv", ("analyze", "log.csv"), "chmod u+r "),
        ("mkdir f; chmod 555 f", ("drives", "create", "f/d.pslc", "--like", SIM[4:]), "chmod -R u+rwX"),
        (": > pslc.toml; chmod 0 pslc.toml", ("report",), "chmod u+r "),
        ("umask 777", ("run", "fill", "--on", SIM, "--save", "/nowhere/x"), "recording: /var/tmp/pslc-"),
    ],
)
def test_a_limit_is_named_with_what_raises_it(mine, shell, words, says):
    done = as_user(mine, *words, shell=shell, XDG_CONFIG_HOME=str(mine))
    assert done.returncode in (2, 3)
    assert says in done.stderr


def test_a_limit_below_the_size_of_a_file_stops_a_run_before_it_writes(mine):
    (mine / "t").write_bytes(old := bytes(8 * MB))
    if os.geteuid() == 0:
        os.chown(mine / "t", NOBODY, NOBODY)
    words = ("run", "fill", "--on", "./t", "--overwrite-file", "t", "--yes")
    done = as_user(mine, *words, shell="ulimit -f 1000")
    assert done.returncode == 2
    assert "a file may have 1024000 bytes at most (ulimit -f); this raises it: sudo prlimit" in done.stderr
    assert (mine / "t").read_bytes() == old


READ_ONLY = f"pslc drives create d.pslc --like {SIM[4:]} && chmod 400 d.pslc"


@pytest.mark.skipif(sys.platform != "linux" or ports_are_free(), reason="the limits of a login on Linux")
@pytest.mark.parametrize(
    ("shell", "words"),
    [
        ("mkdir runs; chmod 0 runs", ("report",)),
        ("mkdir -p runs/x; chmod 0 runs/x", ("report", "runs/x")),
        ("mkdir 'a b'; : > 'a b/log.csv'; chmod 0 'a b'", ("analyze", "a b/log.csv")),
        (READ_ONLY, ("drives", "age", "d.pslc", "--idle", "1h")),
        (READ_ONLY, ("run", "fill", "--on", "d.pslc")),
        (": > file", ("watch", "file", "--for", "1s", "--no-report")),
        ("", ("undo",)),
        ("", ("probe", "-x")),
        ("", ("serve", SIM, "--tcp", "127.0.0.1:81")),
        ("", ("serve", SIM, "--unix", "/usr/s.sock")),
        ("", ("lab", "--port", "80")),
        ("ulimit -S -f 1", ("drives", "create", "d.pslc", "--like", SIM[4:])),
    ],
)
def test_a_hint_that_is_a_command_or_an_option_helps(mine, shell, words):
    """It is followed to the letter, by the user who got it; what then serves on is stopped after 3 s."""
    pslc = f'pslc() {{ "{sys.executable}" -P -m pslc "$@"; }} >&2\n'
    refused = as_user(mine, *words, shell=f"{pslc}{shell}")
    assert refused.returncode == 2
    reason, hint = refused.stderr.replace("python -m pslc", "pslc").rpartition("error: ")[2].split("\n\nhint: ")
    follow = re.search(r"pslc (?!user).*?(?= lists|; |\n|$)|chmod \S+ .*?(?= makes|; |\n)|ulimit -S.*|--\w+ \S+", hint)
    again = words
    if follow is None:
        assert "use a folder of your own" in hint
        again, shell = (*words, "--unix", "s.sock"), ""
    elif follow[0].startswith("--"):
        again, shell = (*words, *shlex.split(follow[0])), ""
    elif follow[0].startswith("pslc "):
        again, shell = (*shlex.split(follow[0])[1:], *words[2:]), ""
    else:
        shell = follow[0]
    done = as_user(mine, *again, shell=f'{shell or ":"}; set -- timeout -s INT 3 "$@"', BROWSER="true")
    assert reason not in done.stderr.replace("python -m pslc", "pslc"), done.stderr
    assert "ermission denied" not in done.stderr
    assert "lists arguments and options" not in done.stderr
    assert "Traceback" not in done.stderr
