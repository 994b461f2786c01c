"""Tables of anyone's: which columns are taken, what their units are, and what is no curve."""

import json

import pytest

from pslc import PslcError
from pslc.formats import table
from pslc.formats._columns import column
from tests.formats import made


def csv(names, *rows, separator=","):
    return "\n".join([separator.join(names), *(separator.join(map(str, row)) for row in rows)]) + "\n"


def curve(names=("time_s", "write MB/s"), cell=lambda speed: f"{speed / 1e6:.2f}", time=str):
    return csv(names, *((time(second), cell(speed)) for second, speed in enumerate(made.speeds(), 1)))


@pytest.mark.parametrize(
    ("name", "unit", "direction"),
    [
        ("MBps", "mb/s", ""), ("MB/sec", "mb/s", ""), ("Speed in MB/s (write)", "mb/s", "write"),
        ("write_mb_s", "mb/s", "write"), ("speed_mbs", "mb/s", ""), ("Write Rate [MB/s]", "mb/s", "write"),
        ("writeMibs", "mib/s", "write"), ("wkB/s", "kb/s", "write"), ("Read BW (KiB/s)", "kib/s", "read"),
        ("Mbit/s", "mbit/s", ""), ("Mbps", "Mb/s", ""), ("Disk Write Bytes/sec", "b/s", "write"),
        ("bw_mib_s", "mib/s", ""),
    ],
)  # fmt: skip
def test_a_name_tells_the_unit_of_a_speed(name, unit, direction):
    found = column(0, name)
    assert (found.kind, found.unit, found.direction) == ("speed", unit, direction)


@pytest.mark.parametrize(
    "name", ["p99_us", "clat mean (ms)", "Mean latency (us)", "Access (ms)", "await_ms", "99.9 % (us)"]
)
def test_a_latency_is_no_time(name):
    assert column(0, name).kind in ("latency", "number")


@pytest.mark.parametrize(
    "text",
    [
        curve(("time_s", "MBps")),
        curve(cell=lambda speed: f"{speed / 1e6:.2f} MB/s"),
        curve(cell=lambda speed: f'"{speed / 1e6:,.1f}"'),
        curve(("timestamp", "write MB/s"), time=lambda s: f"2026-05-01T12:{s // 60:02}:{s % 60:02}"),
        curve(("Time", "write MB/s"), time=lambda s: f"{('23:59', '00:00', '00:01')[s // 60]}:{s % 60:02}"),
        curve(("timestamp", "write MB/s"), time=lambda s: str(1_777_636_800_000 + 1000 * s)),
        "# drive under test\n# 2026-05-01\n" + curve(),
        csv(("time_s", "read MB/s", "write MB/s"), *((s, 2.1, v / 1e6) for s, v in enumerate(made.speeds(), 1))),
        csv(("time_s", "written_gb"), *((s, f"{sum(made.speeds()[:s]) / 1e9:.4f}") for s in range(1, 101))),
        curve().encode("utf-16"),
    ],
    ids=["MBps", "units in cells", "thousands", "ISO dates", "a clock over midnight", "ms since 1970", "comments",
         "reads before writes", "bytes over time", "UTF-16"],
)  # fmt: skip
def test_a_table_is_read_whatever_its_form(text, tmp_path):
    data = made.read(tmp_path, text, "table.csv")
    assert data.kind == "write"
    assert data.curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=0.002)
    assert data.curve.total_seconds == pytest.approx(100, rel=0.02)
    assert "column" in data.read_as


def test_missing_cells_are_counted_and_are_no_numbers(tmp_path):
    rows = [(s, "nan" if s % 17 == 0 else f"{v / 1e6:.2f}") for s, v in enumerate(made.speeds(), 1)]
    data = made.read(tmp_path, csv(("time_s", "write MB/s"), *rows), "table.csv")
    assert data.curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=0.01)
    assert data.notes[0].startswith("5 of 100 rows have no value")


def test_a_position_begins_at_its_first_value_and_says_so(tmp_path):
    rows, written = [], 100.0
    for speed in made.speeds():
        written += speed / 1e9
        rows.append((f"{written:.4f}", f"{speed / 1e6:.2f}"))
    data = made.read(tmp_path, csv(("Total Host Writes [GB]", "Write Rate [MB/s]"), *rows), "table.csv")
    assert data.curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=0.01)
    assert "begins at 102 GB, which counts as the beginning" in data.notes[0]


def test_a_share_of_the_drive_needs_its_size(tmp_path):
    text = csv(("position %", "write MB/s"), *((i, 1800 if i <= 40 else 420) for i in range(1, 101)))
    with pytest.raises(PslcError, match="share of the drive"):
        made.read(tmp_path, text, "table.csv")
    assert made.read(tmp_path, text, "table.csv", capacity_bytes=1e12).curve.total_bytes == pytest.approx(1e12)


TESTS = {
    "a row a drive": csv(("Drive", "Seq Read (MB/s)", "Access (ms)"), ("A", 520, 0.05), ("B", 3400, 0.04)),
    "a row a test": csv(
        ("Test", "Mode", "Block", "Depth", "Mean latency (us)", "Read BW (KiB/s)", "Write BW (KiB/s)"),
        (1, "read", "4k", 32, 1990.0, 219169, 0), (2, "write", "4k", 1, 3973.4, 0, 108104),
    ),
    "a row a pod": csv(("pod", "read_iops", "clat mean (ms)"), ("bench-0", 13053, 1.4), ("bench-1", 13996, 2.4)),
    "with a column of time": csv(
        ("time_s", "case", "rw", "bs", "bw_mib_s"), (30, "a", "write", "128k", 1210), (60, "b", "read", "128k", 2380)
    ),
    "numbers alone": csv(("iodepth", "bw_mib_s", "lat_us"), (1, 100, 10), (4, 300, 13), (2, 200, 11)),
}  # fmt: skip


@pytest.mark.parametrize("name", TESTS)
def test_a_table_of_tests_is_shown_as_one_and_is_no_curve(name, tmp_path, command):
    data = made.read(tmp_path, TESTS[name], "results.csv")
    assert data.curve is None
    assert data.rows
    shown = command("analyze", "results.csv")
    assert shown.returncode == 0, shown.stderr
    assert "a table of tests, a row each, not a curve" in shown.stdout
    assert "cache" not in shown.stdout


LONG = {
    "tests": csv(("test", "iodepth", "write MB/s"), *((f"case {row}", row % 8, 100 + row) for row in range(60))),
    "a date and a clock": csv(
        ("date", "time", "write MB/s"), *(("2024-05-01", f"12:00:{second:02}", 900 - second) for second in range(60))
    ),
    "blank lines": curve(("time_s", "write MB/s")).replace("\n", "\n\n"),
}


@pytest.mark.parametrize("name", LONG)
def test_a_table_that_is_read_in_parts_is_read_whole(name, tmp_path, monkeypatch):
    whole = made.read(tmp_path, LONG[name], "table.csv")
    monkeypatch.setattr(table, "PART_LINES", 17)
    in_parts = made.read(tmp_path, LONG[name], "table.csv")
    assert in_parts.rows == whole.rows
    assert (in_parts.notes, in_parts.read_as) == (whole.notes, whole.read_as)
    assert (in_parts.curve is None) == (whole.curve is None) == (name == "tests")
    if whole.curve is not None:
        assert list(in_parts.curve.seconds) == list(whole.curve.seconds)
        assert list(in_parts.curve.edges_bytes) == list(whole.curve.edges_bytes)


def test_a_bad_line_behind_the_first_part_of_a_table_is_named_by_its_number(tmp_path, monkeypatch):
    rows = [f"{second},500" for second in range(1, 41)]
    lines = ["time_s,write MB/s", *rows[:8], "", "", *rows[8:], "41,oops"]
    monkeypatch.setattr(table, "PART_LINES", 10)
    with pytest.raises(PslcError, match=rf"table\.csv:{len(lines)}: \"41,oops\" cannot be read"):
        made.read(tmp_path, "\n".join(lines) + "\n", "table.csv")


def test_which_of_two_equal_columns_is_meant_is_asked(tmp_path, command):
    made_of = csv(("time_s", "A write MB/s", "B write MB/s"), *((s, 1800, 900) for s in range(1, 40)))
    (tmp_path / "two.csv").write_text(made_of)
    done = command("analyze", "two.csv")
    assert done.returncode == 2
    assert "2 columns of write speed: A write MB/s, B write MB/s" in done.stderr
    found = json.loads(command("analyze", "two.csv", "--y", "B write MB/s", "--json").stdout)
    assert found["findings"]["fill_mean_bytes_per_s"] == pytest.approx(900e6)


def test_a_unit_of_bits_or_bytes_is_asked(tmp_path):
    text = curve(("time_s", "Mbps"))
    with pytest.raises(PslcError, match="megabits or megabytes"):
        made.read(tmp_path, text, "table.csv")
    assert made.read(tmp_path, text, "table.csv", y="Mbps=Mbit/s").curve.total_bytes == pytest.approx(
        made.TOTAL_BYTES / 8, rel=0.01
    )


def test_columns_without_names_are_called_by_numbers(tmp_path):
    text = curve().partition("\n")[2]
    with pytest.raises(PslcError, match="no column tells a unit"):
        made.read(tmp_path, text, "table.csv")
    data = made.read(tmp_path, text, "table.csv", x="1=s", y="2=MB/s")
    assert data.curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=0.002)


def test_a_text_with_a_comma_is_no_table(tmp_path):
    with pytest.raises(PslcError, match="is of no known format"):
        made.read(tmp_path, "The drive, as it came.\nIt was slow, and hot.\nThen it died, alas.\n", "notes.txt")


@pytest.mark.parametrize(
    ("begin", "words"),
    [(b"\x1f\x8b\x08", "packed by gzip"), (b"PK\x03\x04\x14", "a spreadsheet or a zip archive")],
)
def test_a_packed_file_is_called_so(tmp_path, begin, words):
    with pytest.raises(PslcError, match=words):
        made.read(tmp_path, begin + bytes(200), "fill.csv.gz")


def test_hwinfo_logs_one_drive_of_several(tmp_path):
    names = (
        'Date,Time,"CPU [°C]","Read Rate [MB/s]","Write Rate [MB/s]","Total Host Writes [GB]","Drive Temperature [°C]"'
    )
    rows = [f"1.5.2026,12:{s // 60:02}:{s % 60:02}.250,50,0.000,{v / 1e6:.3f},{90 + s},{45 + s // 10}"
            for s, v in enumerate(made.speeds(), 1)]  # fmt: skip
    last = '"Date","Time","CPU: X"' + ',"Drive: EXAMPLE SSD"' * 4
    text = "\n".join([names, *rows, names, last, ""]).encode("cp1252")
    data = made.read(tmp_path, text, "sensors.csv")
    assert data.curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=0.01)
    assert data.curve.total_seconds == pytest.approx(100)
    assert "Write Rate [MB/s]" in data.read_as
