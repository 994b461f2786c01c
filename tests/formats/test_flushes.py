"""The administrator's verdict: how soon a flush is answered, and what that tells of the drive."""

import pytest

import pslc
from pslc import PslcError, suites
from pslc.device.region import Scope
from pslc.recording import flushes
from tests.formats import made

PVEPERF = "CPU BOGOMIPS:      57600.00\nBUFFERED READS:    1543.40 MB/sec\nFSYNCS/SECOND:     {}\nDNS EXT: 31.83 ms\n"
DISKINFO = "/dev/ada0\n\nSynchronous random writes:\n\t 0.5 kbytes:   {} usec/IO =      0.2 Mbytes/s\n"
PG_TEST = (
    "5 seconds per test\n\nCompare file sync methods using one 8kB write:\n(fdatasync is Linux's default)\n"
    "    fdatasync          {} ops/sec    3038 usecs/op\n    fsync    9000.739 ops/sec    3042 usecs/op\n"
    "    fsync_writethrough            {}\n\nusing two 8kB writes:\n    fdatasync    99.000 ops/sec    9 usecs/op\n"
)
ETCD = "".join(
    f'etcd_disk_wal_fsync_duration_seconds_bucket{{le="{end}"}} {count}\n'
    for end, count in (("0.001", 0), ("0.002", 600), ("0.016", 980), ("0.032", 991), ("+Inf", 1000))
)
IOPING = (
    "4 KiB {0} . (ext4 /dev/sda1 9.1 GiB): request=1 time=158.1 us\n\n--- . (ext4 /dev/sda1) ioping statistics ---\n"
    "9 requests completed in 2.18 ms, 36 KiB, 4.13 k iops, 16.1 MiB/s\n"
    "min/avg/max/mdev = 158.1 us / 242.3 us / 412.2 us / 69.2 us\n"
)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (PVEPERF.format("238.18"), "A flush is answered in 4.20 ms, as by drives without power-loss protection."),
        (PVEPERF.format("7521.44"), "A flush is answered in 133 µs, as by drives with power-loss protection"),
        (PVEPERF.format("38.20"), "A flush is answered in 26.2 ms, slower than a hard disk"),
        (DISKINFO.format("2091.8"), "A flush is answered in 2.09 ms, as by drives without"),
        (PG_TEST.format("329.207", "n/a"), "A flush is answered in 3.04 ms, as by drives without"),
        (PG_TEST.format("25315,125", "55,117 ops/sec   18143 usecs/op"), "A flush is answered in 18.1 ms, slower than"),
        (ETCD, "in 2.00 ms, as by drives without power-loss protection. 99 % take at most 32.0 ms, too slow for etcd"),
    ],
)
def test_a_program_that_times_flushes_tells_of_power_loss_protection(text, verdict, tmp_path, command):
    (tmp_path / "a.txt").write_text(text)
    assert verdict in " ".join(command("analyze", "a.txt").stdout.split())


def test_flushes_of_several_members_of_etcd_are_not_mixed(tmp_path):
    with pytest.raises(PslcError, match="several members"):
        made.read(tmp_path, ETCD * 2)


@pytest.mark.parametrize(("arrow", "kind"), [("<<<", "read"), (">>>", "write")])
def test_ioping_times_requests_and_no_flushes(arrow, kind, tmp_path, command):
    (job,) = made.read(tmp_path, IOPING.format(arrow)).jobs
    assert (job[kind]["total_ios"], job[kind]["lat_ns"]["mean"]) == (9, pytest.approx(242_300))
    assert "flush" not in command("analyze", "file.txt").stdout


@pytest.mark.parametrize(
    ("usual_s", "p99_s", "words"),
    [
        (0.1e-3, 0.2e-3, "enough for etcd"), (4.3e-3, 16.6e-3, "too slow for etcd, which asks for 10.0 ms"),
        (4.3e-3, None, "without power-loss protection."), (89e-3, None, "too slow for etcd"),
    ],
)  # fmt: skip
def test_the_verdict_is_held_against_known_drives_and_etcd(usual_s, p99_s, words):
    assert words in flushes.verdict(usual_s, p99_s)


@pytest.mark.parametrize(("drive", "words"), [("sn850-1tb", "without power-loss"), ("pm9a3-7tb", "with power-loss")])
def test_the_suite_tells_drives_with_power_loss_protection(drive, words):
    recording = pslc.run("sync", on=f"sim:{drive}", scope=Scope(quick=True))
    findings = recording.findings
    assert [row["bytes"] >> 10 for row in findings["sync"]] == [4, 16, 64]
    assert words in suites.load("sync").sentences(findings)[0]
    times = [row["write_s"] + row["flush_s"] for row in findings["sync"]]
    assert [1 / row["per_s"] for row in findings["sync"]] == pytest.approx(times, rel=0.05)
