"""Random jobs that verify: written by fio or by pslc, in half of them one byte changed, and checked by both. Each says
of the data what the other says. 20 with `make test`, 300 with `make test-long`.

fio's verdict is what it prints: of a request of several blocks its exit code tells the last alone, unless it is told
to stop at the first (`verify_fatal`)."""

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

from pslc._native import RealDrive, inspect_file
from pslc.base.errors import PslcError
from tests.conftest import ALL_EXAMPLES

FIO = shutil.which("fio")
FILE = 1 << 20
COUNT = 300 if ALL_EXAMPLES else 20
SUMS = ["meta", "md5", "crc64", "crc32", "crc32c", "crc32c-intel", "crc16", "crc7", "sha1", "sha256", "sha3-224",
        "sha3-256", "sha3-384", "sha3-512", "xxhash", "pattern", None]  # fmt: skip
PATTERNS = ["0xdeadbeef", '"abcd"', "-1024", "0", "%o", '0xab%o"xyz"', '"0123456789abc"']
SIZES = [
    "bs=4k",
    "bs=512",
    "bs=8k",
    "bs=64k",
    "bsrange=4k-16k",
    "bsrange=1k-8k",
    "bssplit=4k/50:16k/50",
    "bssplit=2k:6k:8k",
]
WRITING = [["rw=write"], ["rw=randwrite"], ["rw=write", "ioengine=libaio", "iodepth=8"],
           ["rw=randwrite", "ioengine=io_uring", "iodepth=16"]]  # fmt: skip
CHECKING = [["rw=read"], ["rw=randread"], ["rw=read", "ioengine=libaio", "iodepth=8"], ["rw=write", "verify_only"]]
T = TypeVar("T")

pytestmark = pytest.mark.skipif(FIO is None, reason="fio is not installed")


@dataclass(frozen=True)
class Case:
    """Who writes, and with which options; what both add; which byte is changed, if one is."""

    writer: str
    options: tuple[str, ...]
    writing: tuple[str, ...]
    checking: tuple[str, ...]
    flipped: int | None

    @property
    def common(self) -> str:
        return "\n".join(["[a]", f"size={FILE}", *self.options])


def case_of(number: int) -> Case:
    """A random case; of four in a row each program writes two, and one byte is changed in one of these."""
    rng = np.random.default_rng(number)

    def pick(of: Sequence[T]) -> T:
        return of[rng.integers(len(of))]

    by, size = pick(SUMS), pick(SIZES)
    options = [size] + ([f"verify={by}"] if by else [])
    patterned = by in ("pattern", None) or rng.random() < 0.25
    if patterned:
        # Where each request of many sizes began is not told: such a pattern is one that is the same everywhere.
        options.append(f"verify_pattern={pick(PATTERNS if size.startswith('bs=') else PATTERNS[:4])}")
    if rng.random() < 0.5:
        options.append(f"verify_interval={pick(['512', '1k', '4k'])}")
    compared = patterned and by in ("meta", "pattern", None)
    if not compared and rng.random() < 0.3:
        options.append(f"verify_offset={pick([120, 128, 300])}")
    writing = list(pick(WRITING))
    if not patterned and rng.random() < 0.25:
        writing.append(f"buffer_compress_percentage={pick([10, 50, 100])}")
    # What is read has to be cut as it was written: of many sizes by blocks, one after the other.
    checking = pick(CHECKING) if size.startswith("bs=") else ["rw=read"]
    flipped = int(rng.integers(FILE)) if number % 2 else None
    return Case(("fio", "pslc")[number // 2 % 2], tuple(options), tuple(writing), tuple(checking), flipped)


def by_fio(text: str, path: Path) -> bool | None:
    """Whether all is as it was written; `None`: it refuses the job."""
    job = path.with_name("job.fio")
    job.write_text(f"{text}\nfilename={path}\n")
    done = subprocess.run([str(FIO), str(job), "--minimal"], capture_output=True, text=True, cwd=path.parent)
    said = done.stdout + done.stderr
    if "verify" in done.stderr or "bad pattern" in done.stderr or "verify:" in said:
        return False
    return None if done.returncode else True


def by_pslc(text: str, path: Path) -> tuple[bool | None, int]:
    """The same, and how many bytes were verified."""
    drive = RealDrive.existing(str(path), agreed=inspect_file(str(path))["identity"])
    try:
        found = drive.run(text, "verify.fio", [], 1)
    except PslcError:
        return None, 0
    if found["error"] is not None:
        assert found["error"].startswith("verify: "), found["error"]
    return found["error"] is None, sum(job["verified"]["bytes"] for job in found["jobs"])


def outcome(case: Case, path: Path) -> str:
    """What became of it; both say the same."""
    path.write_bytes(np.random.default_rng(0).bytes(FILE))
    writing = "\n".join([case.common, *case.writing, "do_verify=0"])
    wrote = by_fio(writing, path) if case.writer == "fio" else by_pslc(writing, path)[0]
    if not wrote:
        return f"refused by {case.writer}"
    if case.flipped is not None:
        with path.open("r+b") as file:
            file.seek(case.flipped)
            byte = file.read(1)[0]
            file.seek(case.flipped)
            file.write(bytes([byte ^ 1]))
    checking = "\n".join([case.common, *case.checking])
    theirs, (ours, verified) = by_fio(checking, path), by_pslc(checking, path)
    assert theirs == ours, f"fio {theirs}, pslc {ours}, byte {case.flipped}:\n{writing}\n{checking}"
    if ours:
        assert verified >= FILE - (16 << 10), f"{verified} bytes:\n{checking}"
    state = "changed" if case.flipped is not None else "whole"
    return f"written by {case.writer}, {state}: {'right' if ours else 'wrong'}"


@pytest.mark.search
def test_each_says_of_data_what_the_other_says(tmp_path: Path):
    done = Counter(outcome(case_of(number), tmp_path / "data.bin") for number in range(COUNT))
    print(*(f"{count:4} {what}" for what, count in sorted(done.items())), sep="\n")
    assert not [what for what in done if what.startswith("refused")]
    for who in ("fio", "pslc"):
        # Of a changed byte verify=meta says nothing, and others say nothing of where a header was put by itself.
        assert done[f"written by {who}, changed: wrong"] > 3 * done[f"written by {who}, changed: right"]
        assert done[f"written by {who}, whole: right"] > 0
        assert not done[f"written by {who}, whole: wrong"]


def test_reads_of_a_mixed_job_that_race_its_writes_are_not_judged(tmp_path: Path):
    """fio verifies what was written, at the end, and never the ordinary reads."""
    path = tmp_path / "data.bin"
    path.write_bytes(np.random.default_rng(0).bytes(FILE))
    drive = RealDrive.existing(str(path), agreed=inspect_file(str(path))["identity"])
    for seed in range(6):
        text = f"[v]\nioengine=libaio\nrw=readwrite\nverify=md5\ndirect=1\niodepth=32\nsize={FILE}\nbs=4k\n"
        found = drive.run(text, "mixed.fio", [], seed)
        assert found["error"] is None
        (job,) = found["jobs"]
        assert job["verified"]["bytes"] == job["write"]["io_bytes"] > 0
        assert job["verified"]["unjudged_bytes"] == job["verified"]["unseen_bytes"] == 0
        assert job["read"]["io_bytes"] == FILE


def test_jobs_that_write_the_same_blocks_judge_only_their_own(tmp_path: Path):
    path = tmp_path / "data.bin"
    path.write_bytes(bytes(FILE))
    drive = RealDrive.existing(str(path), agreed=inspect_file(str(path))["identity"])
    common = f"[global]\nioengine=libaio\niodepth=8\nsize={FILE}\nrw=randwrite\n"
    found = drive.run(common + "[a]\nverify=md5\n[b]\nverify=crc32c\n[c]\nbs=512\n", "both.fio", [], 1)
    assert found["error"] is None
    verified = [job["verified"] for job in found["jobs"] if "verified" in job]
    assert [of["bytes"] + of["unjudged_bytes"] for of in verified] == [FILE, FILE]
    assert not [of for of in verified if not of["unjudged_bytes"]]


def test_nothing_is_called_verified_that_was_not(command, tmp_path: Path):
    (tmp_path / "v.fio").write_text("[v]\nrw=write\nverify=md5\nsize=1m\nbs=4k\n")
    done = command("run", "v.fio", "--on", "sim:pm871b-128gb")
    assert "v: nothing was verified; 1.05 MB were read again, but the drive keeps no data." in done.stdout
    assert "nothing is verified, for a simulated drive keeps no data" in done.stderr + done.stdout
    (tmp_path / "data.bin").write_bytes(bytes(8 * FILE))
    on = ["--on", "./data.bin", "--overwrite-file", "data.bin", "--yes"]
    done = command("run", "v.fio", *on)
    assert "v: 256 blocks are as they were written (md5, 1.05 MB)." in done.stdout
    (tmp_path / "v.fio").write_text("[v]\nrw=write\nverify=null\nsize=1m\nbs=4k\n")
    assert (
        "v: nothing was verified; 1.05 MB were read again, but verify=null compares nothing."
        in command("run", "v.fio", *on).stdout
    )


@pytest.mark.parametrize("how", ["rw=randwrite\nnorandommap=1", "rw=randrw\nnorandommap=1", "rw=write:4k", "rw=write"])
def test_blocks_that_are_written_twice_are_right_with_experimental_verify_too(command, tmp_path: Path, how: str):
    (tmp_path / "v.fio").write_text(f"[v]\n{how}\nverify=md5\nsize={FILE}\nbs=4k\nexperimental_verify=1\n")
    (tmp_path / "data.bin").write_bytes(bytes(FILE))
    done = command.fine("run", "v.fio", "--on", "./data.bin", "--overwrite-file", "data.bin", "--yes")
    assert "blocks are as they were written" in done.stdout


def test_a_block_that_is_wrong_ends_its_job_and_no_other_as_in_fio(command, tmp_path: Path):
    job = f"rw=write\nverify=md5\nsize={FILE}\nbs=8k\nioengine=psync\nfilename=data.bin\nstonewall\n"
    check = job.replace("rw=write", "rw=read") + "verify_fatal=1\n"
    mangle = f"rw=write\nsize={FILE}\nbs=8k\noffset={FILE // 2}\nnumber_ios=1\nfilename=data.bin\nstonewall\n"
    jobs = {"lay": job, "right": check, "mangle": mangle, "wrong": check, "again": check}
    (tmp_path / "v.fio").write_text("".join(f"[{name}]\n{text}" for name, text in jobs.items()))
    (tmp_path / "data.bin").write_bytes(bytes(FILE))
    fio = subprocess.run(["fio", "v.fio", "--output-format=json"], cwd=tmp_path, capture_output=True, text=True)
    on = ["--on", "./data.bin", "--overwrite-file", "data.bin", "--yes"]
    ours = command("run", "v.fio", *on, "--output-format=fio")
    texts = (text[text.index("{") :] for text in (fio.stdout, ours.stdout))
    theirs, own = ({of["jobname"]: of["error"] for of in json.loads(text)["jobs"]} for text in texts)
    assert theirs == own == {"lay": 0, "right": 0, "mangle": 0, "wrong": 84, "again": 84}
    assert (fio.returncode != 0, ours.returncode) == (True, 2)
    assert "is not what was written" in ours.stderr or "no header of a verifying job is there" in ours.stderr


def test_a_block_that_is_wrong_is_kept_as_fio_keeps_it(command, tmp_path: Path):
    path = tmp_path / "data.bin"
    path.write_bytes(bytes(8 * FILE))
    write = f"[v]\nrw=write\nverify=md5\nsize={FILE}\nbs=8k\nverify_interval=4k\ndo_verify=0\n"
    assert by_fio(write, path)
    right = path.read_bytes()
    wrong = bytearray(right)
    wrong[400_000] ^= 1
    path.write_bytes(wrong)
    read = write.replace("rw=write", "rw=read") + "verify_dump=1\n"
    (tmp_path / "v.fio").write_text(read)
    done = command.refused("run", "v.fio", "--on", "./data.bin", "--overwrite-file", "data.bin", "--yes")
    assert "byte 400000 is not what was written" in done.stderr
    block = slice(397_312, 401_408)
    ours = [(tmp_path / f"data.bin.397312.{what}").read_bytes() for what in ("received", "expected")]
    assert ours == [bytes(wrong[block]), right[block]]
    for what in ("received", "expected"):
        (tmp_path / f"data.bin.397312.{what}").unlink()
    assert by_fio(read, path) is False
    received, expected = ((tmp_path / f"data.bin.397312.{what}").read_bytes() for what in ("received", "expected"))
    # fio's header of what it expects has the time of the check, and no number.
    assert (received, expected[56:]) == (ours[0], ours[1][56:])


BOOLS = [
    "direct",
    "buffered",
    "invalidate",
    "end_fsync",
    "fsync_on_close",
    "randrepeat",
    "do_verify",
    "verify_fatal",
    "verify_dump",
    "experimental_verify",
    "scramble_buffers",
    "clat_percentiles",
    "overwrite",
    "create_only",
    "unlink",
    "gtod_reduce",
    "stats",
]
FLAGS = ["time_based", "group_reporting", "norandommap", "stonewall", "thread", "zero_buffers", "verify_only"]
NUMBERS = ["verify_interval", "verify_offset", "verify_backlog"]
WORDS = [
    "verify",
    "rw",
    "sync",
    "fallocate",
    "mem",
    "clocksource",
    "file_service_type",
    "random_generator",
    "rate_process",
    "zonemode",
    "continue_on_error",
    "write_hint",
    "unified_rw_reporting",
    "fadvise_hint",
    "verify_pattern",
    "io_submit_mode",
    "thinktime_blocks_type",
]
SLIPS = [
    *(f"{name}=2" for name in BOOLS),
    *(f"{name}=x" for name in FLAGS + NUMBERS),
    *(f"{name}=nonsense" for name in WORDS),
    *("verify=md55", "size=$pagesize+", "size=4k*$pagesize", 'verify_pattern="abc', "verify_interval=16"),
]
"""An option, and a value that says nothing."""
SIZED = [
    "8192*$pagesize",
    "$pagesize*3/2",
    "($pagesize+4096)*2",
    "1.5*$pagesize",
    "$pagesizek",
    "2^3*$pagesize",
    "4096*$mb_memory",
    "$ncpus*1048576",
    "-1*-$pagesize",
]


@pytest.mark.parametrize("rw", ["write", "randwrite", "rw", "randrw"])
@pytest.mark.parametrize("more", ["", "norandommap\n", "random_generator=lfsr\n", "bsrange=4k-16k\n"])
@pytest.mark.parametrize("engine", ["psync", "libaio", "io_uring"])
def test_a_job_that_writes_over_what_is_still_to_be_read_finds_nothing_wrong(
    engine: str, more: str, rw: str, tmp_path: Path
):
    """Time ends the job, and the backlog is longer than its region."""
    path = tmp_path / "data.bin"
    path.write_bytes(bytes(FILE))
    text = f"[a]\nrw={rw}\nioengine={engine}\niodepth=16\nbs=4k\nsize=400k\nverify=md5\n{more}"
    for backlog in ("", "verify_backlog=300\n", "verify_backlog=70\nverify_backlog_batch=20\n"):
        whole, _ = by_pslc(f"{text}time_based\nruntime=100ms\n{backlog}", path)
        assert whole, backlog


@pytest.mark.parametrize("pattern", ["'bytes'", "0xab'bytes'\"'\"-1", "\"'\"'bytes''bytes'"])
def test_a_pattern_may_have_the_bytes_of_a_file(pattern: str, command, tmp_path: Path):
    (tmp_path / "bytes").write_bytes(np.random.default_rng(1).bytes(150))
    data = tmp_path / "data.bin"
    on = ["--on", "data.bin", "--overwrite-file", "data.bin", "--yes"]
    writing = f"[a]\nrw=write\nbs=4k\nsize=64k\nverify=pattern\ndo_verify=0\nverify_pattern={pattern}\n"
    checking = writing.replace("rw=write", "rw=read").replace("do_verify=0\n", "")
    data.write_bytes(bytes(1 << 20))
    (tmp_path / "w.fio").write_text(writing)
    command.fine("run", "w.fio", *on, "--json")
    ours = data.read_bytes()
    assert by_fio(checking, data)
    (tmp_path / "c.fio").write_text(checking)
    command.fine("run", "c.fio", *on, "--json")
    data.write_bytes(ours[:5000] + bytes([ours[5000] ^ 1]) + ours[5001:])
    assert by_fio(checking, data) is False
    assert command("run", "c.fio", *on, "--json").returncode != 0
    # What the command line names is read, too.
    data.write_bytes(bytes(1 << 20))
    (tmp_path / "w.fio").write_text(writing.replace(f"verify_pattern={pattern}", "verify_pattern=0"))
    command.fine("run", "w.fio", *on, "--json", f"--verify_pattern={pattern}")
    assert data.read_bytes() == ours


def test_the_bytes_of_a_buffer_pattern_are_those_that_fio_writes(command, tmp_path: Path):
    (tmp_path / "bytes").write_bytes(np.random.default_rng(2).bytes(100))
    options = "size=1m\nioengine=libaio\niodepth=4\n"
    (tmp_path / "a.fio").write_text(f"[a]\n{options}rw=write\nbs=6k\nbuffer_pattern=0xab'bytes'-7\n")
    files = [tmp_path / "fio.bin", tmp_path / "pslc.bin"]
    for file in files:
        file.write_bytes(bytes(1 << 20))
    subprocess.run([str(FIO), "a.fio", "--filename=fio.bin"], cwd=tmp_path, check=True, capture_output=True)
    command.fine("run", "a.fio", "--on", "pslc.bin", "--overwrite-file", "pslc.bin", "--yes", "--json")
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize(("size", "what"), [(0, "is empty"), (65537, "the limit is 65,536"), (None, "no such file")])
def test_a_file_that_is_no_pattern_is_refused(size: int | None, what: str, command, tmp_path: Path):
    if size is not None:
        (tmp_path / "bytes").write_bytes(bytes(size))
    (tmp_path / "a.fio").write_text("[a]\nrw=write\nsize=4k\nverify=pattern\nverify_pattern='bytes'\n")
    done = command("run", "a.fio", "--on", "new.bin", "--size", "1MiB", "--yes")
    assert (done.returncode, what in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "new.bin").exists()


def test_a_pattern_behind_headers_has_the_name_that_later_fios_give_it(tmp_path: Path):
    path = tmp_path / "data.bin"
    path.write_bytes(bytes(FILE))
    text = "[a]\nrw=write\nbs=4k\nsize=64k\nverify_pattern=0xabcdef\n"
    assert by_pslc(f"{text}verify=pattern_hdr", path)[0]
    # fio 3.33 has it where there is a pattern and no `verify`.
    assert by_fio(text.replace("rw=write", "rw=read"), path)


@pytest.mark.parametrize("line", SLIPS)
def test_a_value_that_fio_refuses_is_refused(line: str, command, tmp_path: Path):
    (tmp_path / "a.fio").write_text(f"[a]\nioengine=null\nrw=write\nsize=4k\nfilename=x\n{line}\n")
    done = subprocess.run([str(FIO), "--parse-only", "a.fio"], capture_output=True, cwd=tmp_path)
    assert done.returncode, "fio takes it"
    ours = command.refused("run", "a.fio", "--on", "sim:pm871b-128gb")
    assert line.partition("=")[0] in ours.stderr
    assert "hint:" in ours.stderr


@pytest.mark.parametrize("size", SIZED)
def test_arithmetic_with_a_keyword_is_what_fio_makes_of_it(size: str, command, tmp_path: Path):
    (tmp_path / "a.fio").write_text(f"[a]\nrw=write\nbs=2k\nsize={size}\n")
    theirs = [str(FIO), "a.fio", "--ioengine=null", "--filename=x", "--output-format=json"]
    output = subprocess.run(theirs, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    ours = command("run", "a.fio", "--on", "sim:sn850-1tb", "--output-format=fio").stdout
    moved = [json.loads(text[text.index("{") :])["jobs"][0]["write"]["io_bytes"] for text in (output, ours)]
    assert moved[0] == moved[1] > 0


@pytest.mark.parametrize("size", ["8192*2", "8192-1", "8192/2", "4k+4k", "(4k*2)", "8k)", "8192_000", "1.5"])
def test_a_size_is_not_cut_off_at_a_sign(size: str, command, tmp_path: Path):
    (tmp_path / "a.fio").write_text(f"[a]\nrw=write\nbs=512\nsize={size}\n")
    done = command("run", "a.fio", "--on", "sim:pm871b-128gb")
    assert (done.returncode, f'"{size}" is no size' in done.stderr) == (2, True)


@pytest.mark.parametrize("sizes", ["bsrange=512-4k", "bsrange=4k-64k", "bssplit=4k/50:16k/50", "bs=8k"])
@pytest.mark.parametrize("rw", ["trimwrite", "randtrimwrite"])
def test_a_block_that_was_trimmed_is_written(rw: str, sizes: str, command, tmp_path: Path):
    (tmp_path / "t.fio").write_text(f"[t]\nrw={rw}\nsize=8m\n{sizes}\nnumber_ios=100\nwrite_iolog=t.log\n")
    command.fine("run", "t.fio", "--on", "sim:pm871b-128gb")
    lines = [line.split()[-3:] for line in (tmp_path / "t.log").read_text().splitlines()]
    done = [line for line in lines if line[0] in ("trim", "write")]
    assert len(done) == 200
    for trim, write in zip(done[::2], done[1::2], strict=True):
        assert (trim[0], write[0], trim[1:]) == ("trim", "write", write[1:])
