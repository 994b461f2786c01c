"""What fio and pslc ask of the system for the same job on the same file, which says what the page cache is told."""

import re
import sys
from pathlib import Path

import pytest

from tests.test_fio import FIO, ON, needs_fio
from tests.traced import traced


def asked(job: str, calls: str, folder: Path, *options: str) -> list[str]:
    """Strace's lines of these calls, fio's first, for a job in requests of 64 KiB."""
    (folder / "data.bin").write_bytes(bytes(4 << 20))
    (folder / "j.fio").write_text(job)
    theirs = [str(FIO), "j.fio", "--filename=data.bin"]
    ours = [sys.executable, "-m", "pslc", "run", "j.fio", *ON, "--json"]
    return [traced(command, calls, folder, *options)[0] for command in (theirs, ours)]


def calls(other: str, lines: str) -> list[str]:
    """Names of the calls that move a block, and of another one, in their order."""
    matches = re.findall(rf"{other}|(pread64|pwrite64)\(\d+, .*, 65536, \d+\)", lines)
    return [word for call in matches for word in call if word]


CACHED = [
    "rw=read\nio_size=768k",
    "rw=randread\nloops=3",
    "rw=randread\nnorandommap\nloops=3",
    "rw=read\ntime_based\nruntime=1\nthinktime=40ms",
    "rw=randread\ntime_based\nruntime=1\nthinktime=40ms",
    "rw=write\nverify=crc32c\nloops=2",
    "rw=read\nloops=2\ninvalidate=0",
]


@needs_fio
@pytest.mark.parametrize("options", CACHED)
def test_the_page_cache_forgets_when_fio_makes_it_forget(options, tmp_path):
    """Before each pass over the region, before what is verified, and where a timed job begins the region anew."""
    traces = asked(f"[j]\nbs=64k\nsize=256k\n{options}\n", "fadvise64,pread64,pwrite64", tmp_path)
    theirs, ours = (calls(r"(fadvise64)\(\d+, 0, 262144, POSIX_FADV_DONTNEED", lines) for lines in traces)
    assert "fadvise64" in theirs or "invalidate=0" in options
    shared = (min if "time_based" in options else max)(len(theirs), len(ours))
    assert shared >= 8
    assert theirs[:shared] == ours[:shared]


CLOSED = [
    "fsync_on_close=1",
    "fsync_on_close=1\nloops=3",
    "fsync_on_close=1\nend_fsync=1\nio_size=700k\nfsync=3",
    "fsync_on_close=1\nverify=crc32c\nloops=2",
    "fsync_on_close=1\nverify=crc32c\ndo_verify=0\nloops=2",
    "fsync_on_close=1\nrw=read\nloops=2",
    "end_fsync=1\nloops=2",
    "end_fsync=1\nverify=crc32c",
]


@needs_fio
@pytest.mark.parametrize("options", CLOSED)
def test_the_file_is_flushed_when_fio_closes_it(options, tmp_path):
    """By the system's calls, for fio writes down only some of these flushes, and counts none."""
    traces = asked(f"[j]\nrw=write\nbs=64k\nsize=256k\n{options}\n", "fsync,pread64,pwrite64", tmp_path, "-y")
    named = f"<{tmp_path / 'data.bin'}>, "
    theirs, ours = (calls(r"(fsync)\(\d+<.*data.bin>\)", lines.replace(named, ", ")) for lines in traces)
    assert len(theirs) >= 4
    assert theirs == ours


ADVISED = ["rw=read", "rw=randread", "rw=read\nfadvise_hint=0", "rw=read\nfadvise_hint=random",
           "rw=randread\nfadvise_hint=sequential", "rw=read\n[k]\nstonewall\nrw=randread"]  # fmt: skip


@needs_fio
@pytest.mark.parametrize("options", ADVISED)
def test_the_page_cache_is_told_of_each_job_what_fio_tells(options, tmp_path):
    """What the system reads ahead depends on it: libblkid, which looks for labels, turns that off for its own reads."""
    found = []
    for lines in asked(f"[global]\nbs=64k\nsize=256k\n[j]\n{options}\n", "openat,fadvise64,pread64", tmp_path):
        advice: dict[str, str] = {}
        told = []
        for line in lines.splitlines():
            if opened := re.search(r"openat\(.* = (\d+)$", line):
                advice.pop(opened[1], None)
            elif hint := re.search(r"fadvise64\((\d+), .*POSIX_FADV_(RANDOM|SEQUENTIAL)\)", line):
                advice[hint[1]] = hint[2]
            elif read := re.search(r"pread64\((\d+), .*, 65536, \d+\)", line):
                told.append(advice.get(read[1]))
        found.append(told)
    assert len(found[0]) >= 4
    assert found[0] == found[1]


DIRECT = ["direct=1", "buffered=0", "direct=1\nbuffered=1", "direct=0", "direct=1\nioengine=mmap"]


@needs_fio
@pytest.mark.parametrize("options", DIRECT)
def test_the_page_cache_is_passed_by_where_fio_passes_by_it(options, tmp_path):
    found = []
    for lines in asked(f"[j]\nrw=read\nbs=64k\nsize=256k\n{options}\n", "openat,pread64", tmp_path):
        flags: dict[str, str] = {}
        direct = set()
        for line in lines.splitlines():
            if opened := re.search(r"openat\(.*, (O_\S*?)(?:, 0\d+)?\) = (\d+)", line):
                flags[opened[2]] = opened[1]
            elif read := re.search(r"pread64\((\d+), .*, 65536, \d+\)", line):
                direct.add("O_DIRECT" in flags[read[1]])
        found.append(direct or {False})
    # fio maps the file, whatever `direct` says.
    assert found[0] == found[1]
