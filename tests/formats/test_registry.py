"""Every reader says what it reads, and docs/formats.md says the same."""

from pathlib import Path

import pytest
from docs.formats import make

from pslc import PslcError, formats
from pslc.formats import _findings as imported
from pslc.schema.imports import ImportOptions
from tests.conftest import ROOT

CORPUS = ROOT / "fuzz" / "corpus" / "file"
FIXTURES = ROOT / "tests" / "fixtures"


def test_the_page_of_formats_is_that_of_the_readers():
    assert make.PAGE.read_text() == make.page(), "make formats"


def test_every_format_has_a_row():
    assert len(formats.registry()) == len(formats.names())
    table = make.page().partition("\n| program |")[2].partition("\n\n")[0]
    assert table.count("\n| ") == len(formats.names())


@pytest.mark.parametrize(
    ("text", "program", "hint"),
    [
        ("\n/dev/sda:\n Timing buffered disk reads: 1602 MB in  3.00 seconds = 533.85 MB/sec\n", "hdparm", "pslc run"),
        ("    kB  reclen    write  rewrite    read\n102400       4     3877     5004     5184\n", "iozone", "pslc run"),
        ("4 KiB <<< . (ext4 /dev/sda1): request=2 time=3.33 ms\n" * 5, "ioping", "min/avg/max/mdev"),
        ("TIME(s)     COMM           PID    DISK    T SECTOR     BYTES   LAT(ms)\n", "biosnoop", "pslc trace show"),
        ('"Time of Day","Process Name","PID"\n"10:29:05.05 AM","a.exe","2900"\n', "Process Monitor", "pslc trace show"),
        ("4.0 KiB from /a (zfs a): request=28 time=186.9 ms\n" * 5, "ioping", "min/avg/max/mdev"),
        ("Transferred:   166.996 MBytes (4.194 MBytes/s)\nElapsed time:  39.8s\n" * 3, "rclone", "--stats-one-line"),
        ("fillrandom   :       3.175 micros/op 314982 ops/sec;  245.1 MB/s\n", "RocksDB", "iostat -xt 1"),
        ("[2026/08/16 23:30:18]  notice:   I/O block size       = 4194304\n", "nwipe", "iostat -xt 1"),
        ('2015/04/11 14:20:00 Writing file "/a/TST_0025" size 1000000000\n' * 3, "stressdisk", "iostat -xt 1"),
        ("Duration:   2:55:35\nBytes scrubbed:   26.86GiB\nRate:  2.61MiB/s\n", "btrfs scrub", "iostat -xt 1"),
        (
            "NAME  DISC-ALN DISC-GRAN DISC-MAX DISC-ZERO\nsda          0        4K       1G         0\n",
            "lsblk",
            "probe",
        ),
        ("NVME Identify Controller:\nvid       : 0x144d\nssvid     : 0x144d\n", "nvme id-ctrl", "--facts FILE"),
        ("get-feature:0x06 (Volatile Write Cache), Current value:0x00000001\n", "nvme get-feature", "probe"),
        ("\nDeviceId Temperature ReadErrorsUncorrected Wear\n-------- ---\n0   35 1 1\n", "StorageReliab", "smartctl"),
        ("=====\n  Extended CSD rev 1.8 (MMC 5.1)\n=====\n", "mmc extcsd", "pslc probe"),
        ("2026-11-20 10:00:00;\t5;100;0;\t9;99;1234;\n", "smartd", "smartctl -x"),
        ("Drive,/dev/nvme0n1\nModel,X\nSerial,1\nAvailCapacity,931,GiB\n\nIOPS,localhost\n1\n2\n", "ezFIO", "details"),
        ("/dev/sda -d sat # /dev/sda [SAT], ATA device\n", "smartctl --scan", "smartctl -x"),
        ("Node    SN       Model      Namespace\n------- ----\n/dev/nvme0n1 S1 X 1\n", "nvme list", "smart-log"),
        ("  pool: tank\n state: ONLINE\nconfig:\n", "zpool status", "zpool iostat"),
        ("   8       0 sda 75498 5216 4903122 36822 129875 97814 8011 151 0 7 189\n", "diskstats", "iostat -xt 1"),
        ("\nNumber FriendlyName  SerialNumber MediaType\n------ ----\n0  X  0025 SSD\n", "PhysicalDisk", "smartctl"),
        ("HDD Device  0: /dev/sda\nHDD Model ID : X\n", "Hard Disk Sentinel", "CrystalDiskInfo"),
        ('12:00:00.000001 pwrite64(3, "x"..., 4096, 0) = 4096 <0.00010>\n', "strace", "watch --trace"),
        ("BeginHeader\nDiskRead, TimeStamp\nEndHeader\nDiskRead, 1\n", "xperf", "trace formats"),
        ("Additional Smart Log for NVME device:nvme0\nkey  normalized raw\n", "nvme intel", "nvme smart-log"),
        ("dT: 1.002s  w: 1.000s\x1b[2;1H L(q)  ops/s\x1b[3;1H    0\n", "gstat", "gstat -C"),
        ("1\n2\n3\n5\n", "pv -n", "pv -tbn"),
        ("09:58:39.014   avg_2-60  1500.0  300.00  131072\n" * 3, "vdbench", "flatfile.html"),
        ("Total time run:  62.366\nTotal writes made:  102\nWrite size: 1048576\n", "rados bench", "sec Cur ops"),
        ("\t/dev/sdb:\n\t Timing O_DIRECT disk reads:   2 MB in 19.21 seconds = 106.63 kB/sec\n", "hdparm", "pslc run"),
        ("Validating file 1.h2w ... 2097152/  0/  0/  0\nAverage reading speed: 143.34 MB/s\n", "f3", "pslc run"),
        ("$ atop | grep DSK\nDSK |   sda | busy 2% | read 0 | write 92 | avio 2.39 ms |\n" * 3, "atop", "iostat -xt 1"),
        ("1.98,2.00,SERVER,1,1693984997,63808M,,8192,5,200,98,387908,64\n", "bonnie", "pslc run"),
        ("DISKREAD,Disk Read KB/s a,sda\nDISKREAD,T0001,0.0\nDISKREAD,T0002,1.0\n", "nmon", "CSV"),
        ('[{"runnable_procs": 2, "uninterruptible_sleeping_procs": 0, "blocks_out": 5}]', "vmstat", "vmstat -t 1"),
        (
            "pool    total_wait     disk_wait\nlatency  read  write   read  write\n",
            "zpool iostat -r",
            "zpool iostat -Td",
        ),
        ("transferred 0.0 B of 32.0 GiB (0.00%)\n" * 3, "import of Proxmox", "iostat -xt 1"),
        ("   Speed :  112,345,678 Bytes/sec.\n", "robocopy", "typeperf"),
        ("Windows System Assessment Tool\n> Disk  Sequential 64.0 Read   523.11 MB/s   8.2\n", "winsat", "typeperf"),
        ("       Value     Percentile TotalCount 1/(1-Percentile)\n\n 2.1 0.000 1 1.00\n", "HdrHistogram", "bandwidth"),
        ('{"metadata": {"benchmark_config": {"selected_pools": ["fire"]}}}', "tn-bench", "_report.md"),
        ("<html>\n<body><table><tr><td>512 MB/s</td></tr></table>\n", "a web page", "CSV beside it"),
        (
            "   TIME(s)     COMM           PID    DISK    T SECTOR\n" + "   6.98 fio 1 sda W 3 4096 3.1\n" * 4,
            "biosnoop",
            "show",
        ),
        ("Test finished without errors.\nWriting speed: 27.5 MByte/s\nH2testw v1.4\n", "h2testw", "pslc run"),
        ("iorate version 3.12\nTest 1: seq write\n", "iorate", "iostat -xt 1"),
        ("disk- ------------reads------------ ---writes---\nsda 15257 100 841035 8395\n", "vmstat -d", "vmstat -t 1"),
        ("COMM  PID  TYPE DEV   BLOCK    BYTES  LATms\ntar 14 RM 202,1 84 4096 7.53\n", "iosnoop", "blktrace"),
        ("64 bytes from 10.0.0.1: icmp_seq=1 ttl=61 time=1.20 ms\n" * 4, "ping", "network"),
        ("2020-10-20 12:15:23 W | wal: sync duration of 1.01s, expected less than 1s\n" * 3, "etcd", "/metrics"),
    ],
)
def test_a_program_that_is_not_read_is_named_with_what_to_give_instead(text, program, hint, tmp_path):
    (tmp_path / "x.txt").write_text(text)
    with pytest.raises(PslcError, match=rf"is the output of .*{program}[\s\S]*{hint}"):
        formats.read([tmp_path / "x.txt"], ImportOptions())


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ("419,W,{place},16384,{us}", "alibaba"), ("{s},{at},8,1,1063", "tencent"), ("0,{at},8192,W,0.55{at}", "spc"),
        ("{us}0 42 nfsd {at} 8 W 6 0 0123456789abcdef0123456789abcdef", "fiu"),
    ],
)  # fmt: skip
def test_a_trace_is_named_and_no_curve_and_no_log_of_fio(row, kind, tmp_path):
    rows = [
        row.format(at=12910 + 8 * at, place=4096 * at, us=1577808144360767 + at, s=1538323200 + at // 4)
        for at in range(40)
    ]
    (tmp_path / "x.csv").write_text("\n".join(rows) + "\n")
    with pytest.raises(PslcError, match=rf"is a trace of requests \({kind}\)[\s\S]*pslc trace show"):
        formats.read([tmp_path / "x.csv"], ImportOptions())


@pytest.mark.parametrize("name", [name for name in formats.names() if name != "chart"])
def test_each_format_knows_its_own_and_no_other(name):
    """A file of each is in the corpus of the fuzzer, called as the format, or as the format and its kind; a
    picture has tests of its own."""
    own = [path for path in CORPUS.iterdir() if path.name == name or path.name in OTHER_KINDS.get(name, ())]
    assert own, f"no file of {name} in {CORPUS}"
    for path in own:
        assert formats._format(path) == name


OTHER_KINDS = {"diskspd": ("diskspd_xml",), "smartctl": ("smartctl_nvme",)}


@pytest.mark.parametrize("path", sorted(CORPUS.iterdir()), ids=lambda path: path.name)
def test_how_a_file_was_understood_is_told_by_every_format(path: Path):
    options = {"x": "GB=GB", "y": "MB/s=MB/s"} if path.name == "table" else {}
    # The fuzzer begins these two with files that are damaged.
    path = {"iometer": FIXTURES / "iometer.csv", "niobench": FIXTURES / "niobench.txt"}.get(path.name, path)
    data = formats.read([path], ImportOptions(**options))
    gives = formats.load(formats._format(path)).ABOUT.gives
    if gives == "curve":
        assert data.curve is not None
    elif gives == "load":
        assert data.load is not None
    elif gives == "results":
        assert data.rows
    elif gives == "health":
        assert data.health
    else:
        assert data.jobs
    if path.name != "fio_job":
        assert data.read_as
    if not data.at_work and path.name != "fio_job":
        imported.analyzed(data)
