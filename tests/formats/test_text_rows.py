"""Text with a row per moment, as programs that copy and benchmarks print it: what is taken, and what is asked."""

import time

import pytest

from pslc import PslcError
from pslc.base import quantities, words
from tests.formats import made

SPEEDS = made.speeds()
DONE = [sum(SPEEDS[: second + 1]) for second in range(len(SPEEDS))]
ROWS = list(enumerate(zip(SPEEDS, DONE, strict=True), 1))
RADOS = (
    "Maintaining 16 concurrent writes of 4194304 bytes to objects of size 4194304 for up to 100 seconds or 0 objects\n"
    "  sec Cur ops   started  finished  avg MB/s  cur MB/s last lat(s)  avg lat(s)\n"
    "    0       0         0         0         0         0           -           0\n"
)


def clock(second):
    return f"{second // 60}:{second % 60:02}"


VDBENCH = "* vdbench flatfile\n tod Run interval rate MB/sec bytes/io rdpct resp\n" + "".join(
    f"12:{clock(s):0>5}.000 rd1 {s} {v / 131072:.2f} {v / 2**20:.2f} 131072 {{share}} 0.50\n" for s, (v, _) in ROWS
)
PROGRAMS = {
    "dd": "\r".join(f"{d:.0f} bytes ({d / 1e9:.1f} GB) copied, {s} s, {d / s / 1e6:.0f} MB/s" for s, (_, d) in ROWS),
    "dd in German": "\r".join(
        f"{d:.0f} Bytes ({d / 1e9:.1f} GB) kopiert, {s} s, {d / s / 1e9:.1f} GB/s".replace(".", ",")
        for s, (_, d) in ROWS
    ),
    "dd in French": "\r".join(f"{d:.0f} octets copiés, {s} s, {d / s / 1e6:.0f} Mo/s" for s, (_, d) in ROWS),
    "pv": "\r".join(
        f"{d / 2**30:.3g}GiB 0:{s // 60:02}:{s % 60:02} [{v / 2**20:.0f}MiB/s] [==>    ] {s}% ETA 0:01:{s % 60:02}"
        for s, (v, d) in ROWS
    ),
    "rsync": "\r".join(f"{d:17,.0f} {s:3}%  {v / 2**20:.2f}MB/s    0:{clock(100 - s):0>5}" for s, (v, d) in ROWS),
    "pv -n": "".join(f"{s}.0003 {d:.0f}\n" for s, (_, d) in ROWS),
    "pv -n with speeds": "".join(f"{s}.0000 {d:.0f} {v:.0f} {d / s:.0f} {s}\n" for s, (v, d) in ROWS),
    "columns of blanks": "".join(f"12:{clock(s):0>5}   {v / 1e6:.1f}   MB/s\n" for s, (v, _) in ROWS),
    "restic": "\r".join(f"[{clock(s)}] {s}.00%  9 files {d / 2**30:.3f} GiB, total 9 files" for s, (_, d) in ROWS),
    "sysbench": "sysbench 1.0.20 (LuaJIT 2.1.0-beta3)\n\n"
    + "".join(
        f"[ {s}s ] reads: 0.00 MiB/s writes: {v / 2**20:.2f} MiB/s fsyncs: 9.00/s latency (ms,95%): 1.352\n"
        for s, (v, _) in ROWS
    ),
    "rados bench": RADOS
    + "".join(
        f"{s:5} {16:7} {d / 2**22:9.0f} {d / 2**22:9.0f} {d / s / 2**20:9.6g} {v / 2**20:9.5g} {0.05:11} {0.09:11}\n"
        for s, (v, d) in ROWS
    ),
    "vdbench": VDBENCH.format(share="0.00"),
    "InfluxDB": "".join(
        f"diskio,host=a,name=sda read_bytes={s}i,write_bytes={d:.0f}i {1772363202000000000 + s * 10**9}\n"
        for s, (_, d) in ROWS
    ),
    "a log": "".join(f"2026-03-01 12:{clock(s):0>5},123 INFO copied {d / 2**20:.1f} MiB\n" for s, (_, d) in ROWS),
    "scp": "\r".join(
        f"a.raw  {s}% {d / 2**20:.0f}MB {v / 2**20:6.1f}MB/s   0:{clock(100 - s):0>5} ETA" for s, (v, d) in ROWS
    ),
    "vzdump": "INFO: starting new backup job: vzdump 100\n" + "".join(
        f"INFO: {s:3}% ({d / 2**30:.1f} GiB of 99.0 GiB) in {s}s, "
        f"read: {9 * v / 2**20 if s > 1 else d / 2**20:.1f} MiB/s, write: {v / 2**20:.1f} MiB/s\n" for s, (v, d) in ROWS
    ),
    "bytes of each row": "".join(
        f"[2026/03/01 12:{clock(s):0>5}] written {v / 1e6:.1f} MB in the last 1.0 s\n" for s, (v, _) in ROWS
    ),
    "Chinese": "".join(f"第 {s} 秒 写入 {v / 1e6:.1f} MB/秒\n" for s, (v, _) in ROWS),
    "Russian": "".join(f"{s} с: запись {v / 1e6:.1f} МБ/с\n" for s, (v, _) in ROWS),  # noqa: RUF001
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_time_and_bytes_are_found_in_the_rows_of_any_program(program, tmp_path):
    data = made.read(tmp_path, PROGRAMS[program])
    assert data.kind == "write"
    assert data.curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=0.015)
    assert data.curve.total_seconds == pytest.approx(100, abs=1.1)
    at_cliff = float(data.curve.seconds_at(made.CACHE_BYTES))
    assert at_cliff == pytest.approx(made.CACHE_BYTES / made.CACHE_SPEED, abs=1.1)
    assert data.read_as.startswith(("99 rows such as", "100 rows such as", "101 rows such as"))


def test_seconds_without_a_finished_request_count_under_a_shell_s_prompt(tmp_path):
    rows = "".join(
        f"{s:5}  16  9  9  9.9  {0 if s % 3 else 400:4}  {'-' if s % 3 else 0.05:>9}  0.1\n" for s in range(1, 13)
    )
    data = made.read(tmp_path, f"[root@node1 ~]# rados bench -p rbd 12 write\nhints = 1\n{RADOS}{rows}")
    assert data.curve.total_bytes == pytest.approx(4 * 400 * 2**20)
    assert data.curve.total_seconds == pytest.approx(12)
    assert any("nothing moved in 8.00 s of 12.0 s" in text for text in data.of_level("warning"))


@pytest.mark.parametrize(
    ("text", "kind", "speed"),
    [
        ("# dd if=/dev/sdc | pv | dd of=/a\n 223GiB 0:19:46 [ 192MiB/s] [   <=>  ]\n", "write", 223 * 2**30 / 1186),
        ("$ pv big.iso > /dev/null\n2.10GiB 0:00:03 [ 692MiB/s] [==>   ] 48% ETA 0:00:03\n", "read", 0.7 * 2**30),
        ("  5,268,953,088 100%   87.36MB/s    0:00:57 (xfr#1, to-chk=0/1)\n", "write", 5268953088 / 57),
    ],
)
def test_the_last_line_of_a_copy_is_a_test(text, kind, speed, tmp_path):
    (row,) = made.read(tmp_path, text).rows
    assert (row["kind"], row["bytes_per_s"]) == (kind, pytest.approx(speed))


def test_a_loop_of_dd_is_a_test_for_each_copy_and_its_counts_of_records_are_none(tmp_path):
    ends = "10240+0 records in\n10240+0 records out\n10737418240 bytes (11 GB, 10 GiB) copied, {} s, {}\n"
    loop = "$ for i in 1 2 3; do dd if=/dev/zero of=/mnt/test$i bs=1M count=10240 oflag=direct; done\n"
    text = loop + ends.format(5.5149, "1.9 GB/s") + ends.format(25.51, "421 MB/s") + ends.format(125.51, "85.6 MB/s")
    speeds = [row["bytes_per_s"] for row in made.read(tmp_path, text).rows]
    assert speeds == pytest.approx([10737418240 / seconds for seconds in (5.5149, 25.51, 125.51)])


@pytest.mark.parametrize(("share", "kind", "warned"), [("100.0", "read", False), ("30.0", "write", True)])
def test_the_share_of_reads_tells_what_a_speed_is_of(share, kind, warned, tmp_path):
    data = made.read(tmp_path, VDBENCH.format(share=share))
    assert data.kind == kind
    assert any("30 % of the requests were reads" in text for text in data.of_level("warning")) == warned


def test_several_tests_of_vdbench_are_no_curve(tmp_path):
    each = "12:00:00.000 Starting RD={}; I/O rate: 100\n" + VDBENCH.format(share="0.00")
    assert made.read(tmp_path, each.format("rd1")).kind == "write"
    with pytest.raises(PslcError, match="has 2 tests of vdbench: SD_format, rd1"):
        made.read(tmp_path, each.format("SD_format") + each.format("rd1"))


@pytest.mark.parametrize(("head", "names"), [("", ("1", "2")), ("time speed\n", ("time", "speed"))])
def test_numbers_without_units_between_blanks_ask_for_them(head, names, tmp_path):
    rows = head + "".join(f"{s} {v / 1e6:.0f}\n" for s, (v, _) in ROWS)
    with pytest.raises(PslcError, match=rf"no column tells a unit[\s\S]*the columns are {', '.join(names)}"):
        made.read(tmp_path, rows)
    data = made.read(tmp_path, rows, x=f"{names[0]}=s", y=f"{names[1]}=MB/s")
    assert data.curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=0.01)


def test_a_mean_since_the_start_is_no_speed(tmp_path):
    rows = "".join(f"{s} s: {d / 1e9:.0f} GB written, {d / s / 1e6:.0f} MB/s\n" for s, (_, d) in ROWS)
    assert "GB the bytes of writes so far" in made.read(tmp_path, rows).read_as


def test_which_of_two_speeds_is_meant_is_asked(tmp_path):
    rows = "".join(f"{s} s: disk one {v / 1e6:.0f} MB/s, disk two {v / 2e6:.0f} MB/s\n" for s, (v, _) in ROWS)
    with pytest.raises(PslcError, match="has 2 columns of speed: disk one, disk two"):
        made.read(tmp_path, rows)
    assert made.read(tmp_path, rows, y="disk two=B/s").curve.total_bytes == pytest.approx(
        made.TOTAL_BYTES / 2, rel=0.01
    )


def test_rows_without_time_ask_how_far_they_are_apart(tmp_path):
    rows = "\r".join(f"Jobs: 1 (f=1): [W(1)][w={v / 2**20:.0f}MiB/s][w=9 IOPS]" for _, (v, _) in ROWS)
    with pytest.raises(PslcError, match=r"tell a speed, but no time[\s\S]*--interval 1s"):
        made.read(tmp_path, rows)
    data = made.read(tmp_path, rows, interval_s=0.5)
    assert data.curve.total_seconds == pytest.approx(50)


def test_memory_that_is_used_is_not_written(tmp_path):
    rows = "".join(f"12:{clock(s):0>5} Mem: 15 GiB, used {3 + s / 100:.2f} GiB\n" for s, _ in ROWS)
    with pytest.raises(PslcError, match=r"Mem is 16.1 GB in every row[\s\S]*give a column with its speed"):
        made.read(tmp_path, rows)


def test_prose_with_numbers_is_no_rows(tmp_path):
    text = "The drive wrote 500 MB/s.\nIt took 30 s for 20 GB.\nAfter 2 GB it was slow.\n"
    with pytest.raises(PslcError, match="is of no known format"):
        made.read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,234,567 bytes", [1234567]), ("1,5 GiB", [1.5 * 2**30]), ("80.5MB/s", [80.5e6]), ("3 ms", [0.003]),
        ("12:00:01,123 x", [43201.123]), ("1.0.20 x86", []), ("sda1 5", [5]), ("2026-03-01 00:00:00", [739676 * 86400]),
    ],
)  # fmt: skip
def test_a_number_has_its_unit(text, values):
    assert [field.value for field in quantities.fields(text)] == pytest.approx(values)


@pytest.mark.parametrize("text", [" " * 900_000 + "x1", "1," * 400_000 + "x\n", "[=" * 400_000])
def test_what_is_no_text_of_rows_is_seen_at_once(text, tmp_path):
    start = time.process_time()
    with pytest.raises(PslcError):
        made.read(tmp_path, text)
    assert time.process_time() - start < 10


DD = "1073741824 bytes (1.1 GB, 1.0 GiB) copied, {s} s, {speed}\n"


@pytest.mark.parametrize("count", [1, 2, 4])
def test_the_lines_that_dd_ends_with_are_tests_and_their_size_is_doubted(count, tmp_path):
    speeds = [5711, 2767, 2999, 980][:count]
    text = "1024+0 records in\n1024+0 records out\n".join(
        DD.format(s=round(1073.741824 / speed, 6), speed=f"{speed / 1000:.1f} GB/s") for speed in speeds
    )
    data = made.read(tmp_path, text)
    assert [round(row["bytes_per_s"] / 1e6) for row in data.rows] == pytest.approx(speeds, rel=0.001)
    notes = [str(warning) for warning in data.warnings]
    assert any("memory only" in note for note in notes)
    assert any("a test of 1.07 GB fits into the SLC cache" in note for note in notes)


def test_a_speed_that_is_not_its_bytes_over_its_time_is_no_test(tmp_path):
    with pytest.raises(PslcError, match="of no known format"):
        made.read(tmp_path, DD.format(s=0.188, speed="1.1 GB/s"))


def test_a_copy_to_nowhere_is_a_read(tmp_path):
    line = DD.format(s=0.5, speed="2.1 GB/s")
    text = f"$ dd if=/dev/zero of=data bs=1M\n{line}$ dd if=data of=/dev/null bs=1M\n1024+0 records in\n{line}"
    assert [row["kind"] for row in made.read(tmp_path, text).rows] == ["write", "read"]


def test_the_lines_of_results_that_were_picked_out_of_fio_s_text_are_tests(tmp_path):
    line = "old-{day}:  write: IOPS=255, BW=256MiB/s (268MB/s)(32.0GiB/128135msec); 0 zone resets\n"
    rows = made.read(tmp_path, "".join(line.format(day=day) for day in range(3))).rows
    assert [row["bytes_per_s"] for row in rows] == pytest.approx([32 * 2**30 / 128.135] * 3)


COPY = (
    "$ dd if=/dev/zero of=a bs=1M count={count} oflag=direct status=progress\n{progress}"
    "{count}+0 records in\n{count}+0 records out\n{last}"
)


def copy(seconds, speed):
    """The lines of a `dd` that shows its progress each second."""
    rows = [f"{s * speed} bytes (9 GB) copied, {s} s, {speed / 1e6:.0f} MB/s" for s in (*range(1, seconds), seconds)]
    return COPY.format(count=seconds, progress="".join(f"{row}\n" for row in rows[:-1]), last=f"{rows[-1]}\n")


@pytest.mark.parametrize("seconds", [[2], [3, 2], [1, 2, 4], [2, 3, 4]])
def test_the_progress_of_a_copy_is_no_test_beside_its_end(seconds, tmp_path):
    data = made.read(tmp_path, "".join(copy(count, 500_000_000) for count in seconds))
    assert [row["test"] for row in data.rows] == [
        f"{place}: {words.size(count * 5e8)}" for place, count in enumerate(seconds, 1)
    ]


def test_the_progress_of_one_copy_is_a_curve(tmp_path):
    assert made.read(tmp_path, copy(4, 500_000_000)).curve.total_bytes == pytest.approx(2e9)
