"""Programs that tell figures instead of a series."""

import pytest

from pslc import PslcError
from tests.formats import made

DISKSPD = """
Command Line: diskspd.exe -b1M -d60 -o8 -t1 -w100 -L -Sh -c64G D:\\test.dat

Results for timespan 1:
*******************************************************************************

actual test time:\t60.00s

Total IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
-----------------------------------------------------------------------------------------------------
     0 |     72477573120 |        69120 |    1152.00 |    1152.00 |    6.944 |     1.234 | D:\\test.dat (64GiB)
-----------------------------------------------------------------------------------------------------
total:       72477573120 |        69120 |    1152.00 |    1152.00 |    6.944 |     1.234

Read IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
total:                 0 |            0 |       0.00 |       0.00 |    0.000 |       N/A

Write IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
total:       72477573120 |        69120 |    1152.00 |    1152.00 |    6.944 |     1.234
"""
XML = """<Results><System><ComputerName>X</ComputerName></System>
<Profile><TimeSpans><TimeSpan><Targets><Target><BlockSize>1048576</BlockSize><RequestCount>8</RequestCount>
<WriteRatio>100</WriteRatio></Target></Targets></TimeSpan></TimeSpans></Profile>
<TimeSpan><TestTimeSeconds>60.00</TestTimeSeconds><Thread><Id>0</Id><Target><Path>D:\\test.dat</Path>
<BytesCount>72477573120</BytesCount><IOCount>69120</IOCount><ReadBytes>0</ReadBytes><ReadCount>0</ReadCount>
<WriteBytes>72477573120</WriteBytes><WriteCount>69120</WriteCount>
<AverageWriteLatencyMilliseconds>6.944</AverageWriteLatencyMilliseconds></Target></Thread></TimeSpan></Results>
"""


@pytest.mark.parametrize(
    "text", [DISKSPD, DISKSPD.partition("Read IO")[0], XML], ids=["text", "the total alone", "XML"]
)
def test_diskspd(text, tmp_path):
    (row,) = made.read(tmp_path, text).rows
    assert row.kind == "write"
    assert row.bytes_per_s == pytest.approx(72_477_573_120 / 60)
    assert row.iops == pytest.approx(1152)
    assert row.latency_s == pytest.approx(6.944e-3)
    assert "8 outstanding" in row.test


def test_several_reports_of_diskspd_in_a_file(tmp_path):
    rows = made.read(tmp_path, DISKSPD + DISKSPD.replace("-b1M", "-b4K -r")).rows
    assert [row.test for row in rows] == [
        "sequential 1M, 8 outstanding, 1 thread",
        "random 4K, 8 outstanding, 1 thread",
    ]


HD_TUNE = """HD Tune Pro: EXAMPLE SSD 1TB Benchmark

Test capacity: full

{}Transfer Rate Minimum : 301.0 MB/s
Transfer Rate Maximum : 449.1 MB/sec
Transfer Rate Average : 408.1 MB/s
Access Time           : 0.043 ms
Burst Rate            : 196.7 MB/s
CPU Usage             : 2.2%
"""


@pytest.mark.parametrize(("words", "kind"), [("", "read"), ("Write transfer rate\n", "write")])
def test_hd_tune(words, kind, tmp_path):
    data = made.read(tmp_path, HD_TUNE.format(words))
    assert data.name == "EXAMPLE SSD 1TB"
    assert {row.kind for row in data.rows} == {kind}
    assert data.rows[0].bytes_per_s == 301e6
    assert data.rows[1].bytes_per_s == 449.1e6
    assert data.rows[3].latency_s == pytest.approx(43e-6)


@pytest.mark.parametrize("rate", ["41.9.2", "1.234,5", "12,34"])
def test_a_rate_of_atto_that_is_no_number_is_refused(tmp_path, rate):
    with pytest.raises(PslcError, match="is no rate"):
        made.read(tmp_path, f"ATTO Disk Benchmark\nsize, write (MB/s), read (MB/s)\n8 KB | {rate} | 500\n")


def test_atto_by_its_line_of_names(tmp_path):
    text = "ATTO Disk Benchmark 4.01\nSize, Write (MB/s), Read (MB/s)\n512 B, 30.5, 41.25\n1 MB, 2,500.0, 3,100\n"
    rows = made.read(tmp_path, text.replace(", ", " | ").replace("2 | 500", "2,500")).rows
    assert [(row.test, row.kind, row.bytes_per_s) for row in rows[:2]] == [
        ("512 B", "write", 30.5e6), ("512 B", "read", 41.25e6)
    ]  # fmt: skip
    assert rows[2].bytes_per_s == 2500e6
    with pytest.raises(PslcError, match="whose layout is not public"):
        made.read(tmp_path, "x", "run.bmk")


CDM_LINES = """EXAMPLE SSD 1TB

[Read]
Sequential 1MiB (Q=  8, T= 1):  6800.000 MB/s [   6485.0 IOPS] <  1230.00 us>

[Write]
Sequential 1MiB (Q=  8, T= 1):  5000.000 MB/s [   4768.4 IOPS] <  1670.00 us>
"""


def test_lines_copied_from_crystaldiskmark_without_its_head(tmp_path):
    rows = made.read(tmp_path, CDM_LINES).rows
    assert [(row.kind, row.bytes_per_s) for row in rows] == [("read", 6.8e9), ("write", 5e9)]


def test_results_of_two_drives_in_a_file_are_refused(tmp_path):
    with pytest.raises(PslcError, match="holds several results of Sequential 1MiB"):
        made.read(tmp_path, CDM_LINES + CDM_LINES)
