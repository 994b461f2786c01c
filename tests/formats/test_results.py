"""Programs that tell figures instead of a series."""

import pytest

from pslc import PslcError
from tests.formats import made

DISKSPD = made.example("texts/diskspd.txt")
XML = made.example("texts/diskspd.xml")


@pytest.mark.parametrize(
    "text", [DISKSPD, DISKSPD.partition("Read IO")[0], XML], ids=["text", "the total alone", "XML"]
)
def test_diskspd(text, tmp_path):
    (row,) = made.read(tmp_path, text).rows
    assert row["kind"] == "write"
    assert row["bytes_per_s"] == pytest.approx(72_477_573_120 / 60)
    assert row["iops"] == pytest.approx(1152)
    assert row["latency_s"] == pytest.approx(6.944e-3)
    assert "8 outstanding" in row["test"]


def test_diskspd_of_linux_says_only_test_time_and_mb(tmp_path):
    data = made.read(tmp_path, DISKSPD.replace("actual test time:\t60.00s", "test time: 30s").replace("MiB/s", "MB/s"))
    assert [row["bytes_per_s"] for row in data.rows] == [72477573120 / 30]


def test_the_buckets_of_diskspd_are_a_curve_where_they_make_up_what_was_moved(tmp_path):
    speeds = [1400] * 30 + [900] * 30
    buckets = "".join(
        f'<Bucket SampleMillisecond="{1000 * number}" Read="0" Write="{speed}" Total="{speed}"/>\n'
        for number, speed in enumerate(speeds, 1)
    )
    whole = XML.replace("</TimeSpan></Results>", f"<Iops>{buckets}</Iops></TimeSpan></Results>")
    assert whole != XML
    data = made.read(tmp_path, whole)
    assert data.curve.total_bytes == sum(speeds) * 2**20
    assert data.curve.seconds == pytest.approx([1.0] * 60)
    assert "by the counts of -D, 1.00 s apart" in data.read_as
    other = made.read(tmp_path, whole.replace("1400", "400"))
    assert other.curve is None
    assert "do not add up" in str(other.warnings[0])


def test_several_reports_of_diskspd_in_a_file(tmp_path):
    rows = made.read(tmp_path, DISKSPD + DISKSPD.replace("-b1M", "-b4K -r")).rows
    assert [row["test"] for row in rows] == [
        "sequential 1M, 8 outstanding, 1 thread",
        "random 4K, 8 outstanding, 1 thread",
    ]


SYSBENCH = (
    "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\n{}File operations:\n    reads/s:     0.00\n"
    "    writes/s:    1000.00\n    fsyncs/s:    1280.50\n\nThroughput:\n    read, MiB/s:     0.00\n"
    "    written, MiB/s:  15.62\n\nLatency (ms):\n    avg:    0.44\n"
)
ELBENCHO = (
    "$ elbencho -w -r -b 4M {} -s 10g /mnt/f\nOPERATION   RESULT TYPE         FIRST DONE   LAST DONE\n"
    "MKDIRS      Elapsed time     :        37ms        37ms\n            Dirs/s           :    26       26\n---\n"
    "WRITE       Elapsed time     :     11.559s     12.559s\n            IOPS             :         221         203\n"
    "            Throughput MiB/s :         885         815\n---\n"
    "READ        Elapsed ms       :        5559\n            Throughput MiB/s :        1842\n---\n"
)


YABS = (
    "fio Disk Speed Tests (Partition /dev/sda1):\n---------\nBlock Size | 4k            (IOPS) | 64k           (IOPS)\n"
    "  ------   | ---            ----  | ----           ---\nRead       | 273.14 MB/s  (68.2k) | 1.77 GB/s    (27.7k)\n"
    "Total      | 547.00 MB/s (136.7k) | 3.56 GB/s    (55.6k)\n"
)
CARD = "| Block Size | 4k (IOPS) |\n|---|---|\n| Randwrite | 8.67 MB/s (2167) |\n"


@pytest.mark.parametrize(
    ("text", "results", "is_direct"),
    [
        (SYSBENCH.format(""), [("write", 15.62 * 2**20, 1000)], False),
        (SYSBENCH.format("Extra file open flags: directio\n"), [("write", 15.62 * 2**20, 1000)], True),
        ("Read 0b  Written 2Gb  Total transferred 2Gb  (177.56Mb/sec)\n", [("write", 177.56 * 2**20, None)], False),
        ("Read 1Gb  Written 2Gb  Total transferred 3Gb  (1.5Gb/sec)\n", [("mixed", 1.5 * 2**30, None)], False),
        (ELBENCHO.format("--direct"), [("write", 815 * 2**20, 203), ("read", 1842 * 2**20, None)], True),
        (YABS, [("read", 273.14e6, 68200), ("read", 1.77e9, 27700)], True),
        (YABS + CARD, [("read", 273.14e6, 68200), ("read", 1.77e9, 27700), ("write", 8.67e6, 2167)], True),
        (ELBENCHO.format("--dirs 4"), [("write", 815 * 2**20, 203), ("read", 1842 * 2**20, None)], False),
    ],
    ids=lambda case: case.split()[0] if isinstance(case, str) else "",
)
def test_summaries_are_results_and_say_whether_memory_may_be_measured(text, results, is_direct, tmp_path):
    data = made.read(tmp_path, text)
    assert [(row["kind"], row["bytes_per_s"], row["iops"]) for row in data.rows] == results
    assert {row["latency_s"] for row in data.rows} == {None}
    assert any("memory may be measured" in warning for warning in data.of_level("warning")) != is_direct


def test_a_summary_without_reads_and_writes_is_refused(tmp_path):
    with pytest.raises(PslcError, match=r"no results of reads and writes[\s\S]*rndwr, or -w"):
        made.read(tmp_path, ELBENCHO.format("").partition("WRITE")[0])


HD_TUNE = made.example("texts/hd_tune.txt")


@pytest.mark.parametrize(("words", "kind"), [("", "read"), ("Write transfer rate\n", "write")])
def test_hd_tune(words, kind, tmp_path):
    data = made.read(tmp_path, HD_TUNE.format(words))
    assert data.name == "EXAMPLE SSD 1TB"
    assert {row["kind"] for row in data.rows} == {kind}
    assert data.rows[0]["bytes_per_s"] == 301e6
    assert data.rows[1]["bytes_per_s"] == 449.1e6
    assert data.rows[3]["latency_s"] == pytest.approx(43e-6)


@pytest.mark.parametrize("rate", ["41.9.2", "1.234,5", "12,34"])
def test_a_rate_of_atto_that_is_no_number_is_refused(tmp_path, rate):
    with pytest.raises(PslcError, match="is no rate"):
        made.read(tmp_path, f"ATTO Disk Benchmark\nsize, write (MB/s), read (MB/s)\n8 KB | {rate} | 500\n")


def test_atto_by_its_line_of_names(tmp_path):
    text = "ATTO Disk Benchmark 4.01\nSize, Write (MB/s), Read (MB/s)\n512 B, 30.5, 41.25\n1 MB, 2,500.0, 3,100\n"
    rows = made.read(tmp_path, text.replace(", ", " | ").replace("2 | 500", "2,500")).rows
    assert [(row["test"], row["kind"], row["bytes_per_s"]) for row in rows[:2]] == [
        ("512 B", "write", 30.5e6), ("512 B", "read", 41.25e6)
    ]  # fmt: skip
    assert rows[2]["bytes_per_s"] == 2500e6
    with pytest.raises(PslcError, match="whose layout is not public"):
        made.read(tmp_path, "x", "run.bmk")


CDM_LINES = made.example("texts/cdm_lines.txt")


def test_lines_copied_from_crystaldiskmark_without_its_head(tmp_path):
    rows = made.read(tmp_path, CDM_LINES).rows
    assert [(row["kind"], row["bytes_per_s"]) for row in rows] == [("read", 6.8e9), ("write", 5e9)]


def test_results_of_two_drives_in_a_file_are_refused(tmp_path):
    with pytest.raises(PslcError, match="holds several results of Sequential 1MiB"):
        made.read(tmp_path, CDM_LINES + CDM_LINES)


@pytest.mark.parametrize(("size", "noted"), [("1 GiB", True), ("512 MiB", True), ("64 GiB", False)])
def test_a_test_that_fits_into_any_cache_says_so(size, noted, tmp_path):
    text = (
        "CrystalDiskMark 8.0.4 x64\n[Write]\n  SEQ    1MiB (Q=  8, T= 1):  5210.902 MB/s\n   Test: {} (x5) [D: 12%]\n"
    )
    notes = made.read(tmp_path, text.format(size)).of_level("note")
    assert any("fits into the SLC cache" in note for note in notes) == noted
