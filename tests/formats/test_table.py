"""Tables of anyone's: which columns are taken, what their units are, and what is no curve."""

import json

import pytest

from pslc import PslcError
from pslc.base.columns import column
from pslc.formats import table
from pslc.formats._findings import analyzed
from tests.formats import made


def csv(names, *rows, separator=","):
    return "\n".join([separator.join(names), *(separator.join(map(str, row)) for row in rows)]) + "\n"


def curve(names=("time_s", "write MB/s"), cell=lambda speed: f"{speed / 1e6:.2f}", time=str):
    return csv(names, *((time(second), cell(speed)) for second, speed in enumerate(made.speeds(), 1)))


SECONDS = ("Zeit (s)", "write MB/s")
GERMAN = str.maketrans(",._", ";,.")
"""A table with semicolons, decimal commas and points between thousands."""


@pytest.mark.parametrize(
    ("name", "unit", "direction"),
    [
        ("MBps", "mb/s", ""), ("MB/sec", "mb/s", ""), ("Speed in MB/s (write)", "mb/s", "write"),
        ("write_mb_s", "mb/s", "write"), ("speed_mbs", "mb/s", ""), ("Write Rate [MB/s]", "mb/s", "write"),
        ("writeMibs", "mib/s", "write"), ("wkB/s", "kb/s", "write"), ("Read BW (KiB/s)", "kib/s", "read"),
        ("Mbit/s", "mbit/s", ""), ("Mbps", "Mb/s", ""), ("Disk Write Bytes/sec", "b/s", "write"),
        ("bw_mib_s", "mib/s", ""), ("Hastighet för skrivning (MB/s)", "mb/s", "write"),
        ("Débit en écriture (Mo/s)", "mb/s", "write"), ("Скорость записи, МБ/сек", "mb/s", "write"),
        ("Скорость чтения (Мбит/сек)", "mbit/s", "read"), ("写入速度 (MB/秒)", "mb/s", "write"),
        ("Geschwindigkeit für Lesen (MB/s)", "mb/s", "read"), ("Schreibrate [МиБ/сек]", "mib/s", "write"),
    ],
)  # fmt: skip
def test_a_name_tells_the_unit_of_a_speed(name, unit, direction):
    found = column(0, name)
    assert (found.kind, found.unit, found.direction) == ("speed", unit, direction)


@pytest.mark.parametrize("name", ["Zeit (s)", "Temps (s)", "Время, сек", "時間 (秒)", "czas [s]"])
def test_a_name_tells_time_in_any_language(name):
    assert (column(0, name).kind, column(0, name).unit) == ("time", "s")


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
        curve(("second", "write MB/s")),
        curve(("time", "write MB/s")),
        "sep=;\n" + curve(SECONDS).translate(GERMAN),
        curve(SECONDS, lambda speed: f"{speed / 1e6:_.2f}").translate(GERMAN),
    ],
    ids=["MBps", "units in cells", "thousands", "ISO dates", "a clock over midnight", "ms since 1970", "comments",
         "reads before writes", "bytes over time", "UTF-16", "second", "time without a unit",
         "Excel's line of its separator", "thousands of Germany"],
)  # fmt: skip
def test_a_table_is_read_whatever_its_form(text, tmp_path):
    data = made.read(tmp_path, text, "table.csv")
    assert data.kind == "write"
    assert data.curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=0.002)
    assert data.curve.total_seconds == pytest.approx(100, rel=0.02)
    assert "column" in data.read_as
    assert ("in s (assumed)" in data.read_as) == str(text).startswith("time,")


def test_numbers_below_time_are_seconds_only_as_far_apart_as_samples_are(tmp_path):
    data = made.read(tmp_path, curve(("time", "MB/s")).replace(",", "\t"), "rows.txt")
    assert "time in s (assumed)" in data.read_as
    for time in (lambda s: str(1000 * s), lambda s: str(s % 10)):
        with pytest.raises(PslcError, match=r"hint: for example --x time=s"):
            made.read(tmp_path, curve(("time", "write MB/s"), time=time), "table.csv")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (curve(("Time", "Write speed"), time=lambda s: f"10:{s // 60:02}:{s % 60:02}"), "--y 'Write speed=MB/s'"),
        (curve(("a", "v")), "--x a=s --y v=MB/s"),
        (curve().partition("\n")[2].replace(",", ";").replace(".", ","), 'such as "time_s;speed_MB/s"'),
    ],
)
def test_what_a_table_lacks_is_shown_ready_to_copy(text, hint, tmp_path):
    with pytest.raises(PslcError) as error:
        made.read(tmp_path, text, "table.csv")
    assert hint in error.value.hint


def test_missing_cells_are_counted_and_are_no_numbers(tmp_path):
    rows = [(s, "nan" if s % 17 == 0 else f"{v / 1e6:.2f}") for s, v in enumerate(made.speeds(), 1)]
    data = made.read(tmp_path, csv(("time_s", "write MB/s"), *rows), "table.csv")
    assert data.curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=0.01)
    assert data.of_level("note")[0].startswith("5 of 100 rows have no value")


def test_a_position_begins_at_its_first_value_and_says_so(tmp_path):
    rows, written = [], 100.0
    for speed in made.speeds():
        written += speed / 1e9
        rows.append((f"{written:.4f}", f"{speed / 1e6:.2f}"))
    data = made.read(tmp_path, csv(("Total Host Writes [GB]", "Write Rate [MB/s]"), *rows), "table.csv")
    assert data.curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=0.01)
    assert "begins at 102 GB, which counts as the beginning" in data.of_level("note")[0]


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
    assert (in_parts.of_level("note"), in_parts.read_as) == (whole.of_level("note"), whole.read_as)
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
    ("begin", "words"), [(b"\x1f\x8b\x08", "packed by gzip"), (b"PK\x03\x04\x14", "a spreadsheet or a zip archive")]
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


@pytest.mark.parametrize(
    ("text", "seconds", "taken"),
    [
        (csv(("time_s", "MB/s"), *((s, 500 if s % 10 < 5 else 0) for s in range(100))), 100, "speed of writes"),
        (csv(("time_s", "written_gb"), *((s, 2 if s % 3 else 0.5) for s in range(1, 91))), 90, "writes in each row"),
        (csv(("time_s", "written_gb"), *((s, s // 5) for s in range(1, 101))), 99, "bytes of writes so far"),
        (csv(("elapsed_s", "mb_written"), *((s, s // 5 * 40) for s in range(1, 101))), 99, "bytes of writes so far"),
    ],
)
def test_a_row_in_which_nothing_or_little_moved_has_its_time(text, seconds, taken, tmp_path):
    data = made.read(tmp_path, text, "table.csv")
    assert data.curve.duration_s == pytest.approx(seconds, abs=5.1)
    assert taken in data.read_as
    assert ("nothing moved" in str(data.of_level("warning"))) == ("each row" not in taken)


def test_a_pause_at_the_end_counts_only_where_the_drive_paused_as_long_before(tmp_path):
    stalls = csv(("time_s", "MB/s"), *((s, 500 if s % 10 < 5 else 0) for s in range(100)))
    assert made.read(tmp_path, stalls, "table.csv").curve.total_seconds == pytest.approx(99)
    ends = csv(("time_s", "MB/s"), *((s, 500 if s < 95 else 0) for s in range(100)))
    assert made.read(tmp_path, ends, "table.csv").curve.total_seconds == pytest.approx(94)


@pytest.mark.parametrize(
    ("still", "level", "ending"),
    [({*range(50, 53)}, "note", ""), ({*range(50, 80)}, "warning", "a cause may be wrong"),
     ({s for s in range(20, 80) if s % 10 < 5}, "warning", "no cause is given")],
    ids=["brief", "a silence", "stalls"],
)  # fmt: skip
def test_a_standstill_is_noted_and_stalls_have_no_cause_and_no_cache(tmp_path, still, level, ending):
    rows = csv(("time_s", "MB/s"), *((s, 0 if s in still else 500) for s in range(1, 101)))
    data = made.read(tmp_path, rows, "table.csv")
    (text,) = map(str, data.of_level(level))
    assert text.startswith(f"nothing moved in {len(still)}")
    assert text.endswith(ending)
    findings = analyzed(data)
    assert ({phase["cause"] for phase in findings["phases"]} == {"unknown"}) == ending.startswith("no")
    assert (findings["cache_bytes"], "kind" in findings) == (None, False)


def test_the_direction_of_a_speed_is_that_of_a_word_in_every_row_or_of_what_moved(tmp_path):
    rows = [(s, v / 1e6, 0, "READ") for s, v in enumerate(made.speeds(), 1)]
    phases = csv(("time_s", "MB/s", "done", "Phase"), *rows)
    assert made.read(tmp_path, phases).kind == "read"
    assert made.read(tmp_path, phases.replace("READ", "WRITE")).kind == "write"
    idle = made.read(tmp_path, csv(("time_s", "read MB/s", "write MB/s"), *(row[:3] for row in rows)))
    assert (idle.kind, idle.curve.total_bytes) == ("read", pytest.approx(made.TOTAL_BYTES, rel=0.001))


def test_a_minimum_beside_a_maximum_is_no_time_in_minutes(tmp_path):
    text = csv(("MB", "min", "avg", "max"), *((76 * s, 400 + s % 7, 800, 900) for s in range(1, 30)))
    with pytest.raises(PslcError, match=r"no column tells a unit[\s\S]*the columns are MB, min, avg, max"):
        made.read(tmp_path, text, "table.csv")
    assert made.read(tmp_path, text, "table.csv", y="avg=MB/s").curve.total_bytes == pytest.approx(29 * 76e6)


def test_a_counter_that_falls_is_refused(tmp_path):
    rows = [(s, s if s < 60 else s - 60) for s in range(1, 101)]
    with pytest.raises(PslcError, match="counts up, but falls in 1 of 99 rows"):
        made.read(tmp_path, csv(("time_s", "written_gb"), *rows), "table.csv")


def test_a_time_that_goes_back_once_is_refused_by_its_row(tmp_path):
    rows = [(5 if s == 20 else s, 3000) for s in range(1, 101)]
    with pytest.raises(PslcError, match=r"time_s goes back from 19\.0 s to 5\.00 s in row 20"):
        made.read(tmp_path, csv(("time_s", "write MB/s"), *rows), "table.csv")


@pytest.mark.parametrize("first", [0, 1])
def test_a_first_row_at_0_is_said_to_be_left_out(first, tmp_path):
    data = made.read(tmp_path, csv(("time_s", "write MB/s"), *((s, 500) for s in range(first, 101))), "table.csv")
    assert data.curve.total_bytes == pytest.approx(100 * 500e6)
    assert data.read_as.endswith("each row is of the time before it; the first, at 0, is left out") == (first == 0)


def test_bytes_that_fall_in_one_row_of_three_are_each_row_s_own_and_in_one_of_five_no_counter(tmp_path):
    rows = {period: csv(("time_s", "written_gb"), *((s, s % period + 1) for s in range(1, 101))) for period in (3, 5)}
    assert made.read(tmp_path, rows[3], "table.csv").curve.total_bytes == pytest.approx(201e9, rel=0.02)
    with pytest.raises(PslcError, match="counts up, but falls in 20 of 99 rows"):
        made.read(tmp_path, rows[5], "table.csv")


def test_a_speed_of_nothing_takes_that_of_the_next_row(tmp_path):
    rows = [(gb, 0 if gb == 50 else 500) for gb in range(1, 101)]
    curve = made.read(tmp_path, csv(("written_gb", "MB/s"), *rows), "table.csv").curve
    assert (curve.total_bytes, curve.total_seconds) == pytest.approx((100e9, 200))


def hwinfo(columns, wide=0):
    names = ["Date", "Time", *(f"Core {at} Clock [MHz]" for at in range(wide)), *(f"{name} [MB/s]" for name in columns)]
    rows = [["1.5.2026", f"12:00:{s:02}.100", *["900"] * wide, *(str(v * (s > 1)) for v in columns.values())]
            for s in range(60)]  # fmt: skip
    return csv([f'"{name}"' if "[" in name else name for name in names], *rows)


def test_the_rate_of_a_wide_log_of_sensors_is_seen(tmp_path):
    data = made.read(tmp_path, hwinfo({"Read Rate": 0, "Write Rate": 520}, wide=1000), "wide.csv")
    assert data.curve.total_bytes == pytest.approx(58 * 520e6)


def test_units_stand_in_the_cells_and_may_differ(tmp_path):
    rows = [
        (f"2026-03-01 11:{s // 60:02}:{s % 60:02}", f"{v / 1e9:.4f} GB/s" if s % 2 else f"{v / 1e6:.1f} MB/s", "0 B/s")
        for s, v in enumerate(made.speeds(), 1)
    ]
    data = made.read(tmp_path, csv(('"Time"', '"sda written"', '"sda read"'), *rows), "grafana.csv")
    assert data.curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=0.001)


AT = 1772363202
DONE = [int(sum(made.speeds()[:second])) for second in range(101)]
KIB = [[AT + s, 0, -round(v / 1024)] for s, v in enumerate(made.speeds(), 1)]
SERIES = {
    "InfluxDB's CSV": ("#group,false\n" + "".join(
        ",result,table,_time,_value,_field,name\n"
        + "".join(f",_result,{table},2026-03-01T11:{s // 60:02}:{s % 60:02}Z,{n * done},{field},sda\n"
                  for s, done in enumerate(DONE)) + "\n"
        for table, (n, field) in enumerate([(9, "read_bytes"), (1, "write_bytes")])), {}),
    "InfluxDB's JSON": (json.dumps({"results": [{"series": [{"name": "diskio", "tags": {"name": "sda"},
        "columns": ["time", "write_bytes"], "values": [[AT + s, done] for s, done in enumerate(DONE)]}]}]}), {}),
    "Prometheus": (json.dumps({"data": {"resultType": "matrix", "result": [
        {"metric": {"__name__": f"node_disk_{kind}_bytes_total", "device": "sda"},
         "values": [[AT + s, str(n * done)] for s, done in enumerate(DONE)]}
        for n, kind in [(9, "read"), (1, "written")]]}}), {}),
    "a rate of Prometheus": (json.dumps([{"metric": {"device": device}, "values":
        [[AT + s, str(n * v)] for s, v in enumerate(made.speeds(), 1)]} for n, device in [(9, "sda"), (1, "sdb")]]),
        {"y": "sdb=B/s"}),
    "netdata": (json.dumps({"labels": ["time", "reads", "writes"], "data": KIB[::-1]}), {"y": "writes=KiB/s"}),
    "netdata with the chart": (json.dumps({"id": "disk.sda", "result": {"labels": ["time", "reads", "writes"],
                                                                       "data": KIB[::-1]}}), {}),
    "netdata of today": (json.dumps({"result": {"labels": ["time", "reads", "writes"], "data": [
        [1000 * at, [read, 0, 0], [write, 0, 0]] for at, read, write in KIB]}, "db": {"units": "KiB/s"}}), {}),
    "netdata's CSV, the newest first": (csv(("time", "reads", "writes"), *(
        (f"2026-03-01 11:{s // 60:02}:{s % 60:02}", 0, KIB[s - 1][2]) for s in range(100, 0, -1))),
        {"y": "writes=KiB/s"}),
}  # fmt: skip


@pytest.mark.parametrize("program", SERIES)
def test_the_answers_of_databases_are_curves(program, tmp_path):
    text, hints = SERIES[program]
    data = made.read(tmp_path, text, "answer.csv" if "CSV" in program else "answer.json", **hints)
    assert data.kind == "write"
    assert data.curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=0.001)
    assert data.curve.total_seconds == pytest.approx(100, abs=0.01)
    assert float(data.curve.seconds_at(made.CACHE_BYTES)) == pytest.approx(made.CACHE_BYTES / made.CACHE_SPEED, abs=0.5)
    if hints:
        words = "no column tells a unit" if hints["y"][0] == "w" else "is of 2 drives: sda, sdb, the busiest first"
        with pytest.raises(PslcError, match=words):
            made.read(tmp_path, text, "answer.txt")


def test_bytes_so_far_are_those_of_writes_and_of_one_drive(tmp_path):
    rows = [(s, 7 * done, done) for s, done in enumerate(DONE)]
    data = made.read(tmp_path, csv(("time_s", "read_bytes", "write_bytes"), *rows))
    assert (data.kind, data.curve.total_bytes) == ("write", pytest.approx(made.TOTAL_BYTES))
    text = csv(("time_s", "sda written_bytes", "sdb written_bytes"), *rows)
    with pytest.raises(PslcError, match="2 columns of bytes: sda written_bytes, sdb written_bytes"):
        made.read(tmp_path, text)
    assert made.read(tmp_path, text, y="3=B").curve.total_bytes == pytest.approx(made.TOTAL_BYTES)


def test_a_column_of_bytes_can_be_named(tmp_path):
    rows = [(f"2026-03-01T11:{s // 60:02}:{s % 60:02}Z", int(sum(made.speeds()[:s]))) for s in range(101)]
    text = "#group,false\n" + csv(("_time", "_value"), *rows)
    data = made.read(tmp_path, text, "influx.csv", x="_time", y="_value=bytes")
    assert data.curve.total_bytes == pytest.approx(made.TOTAL_BYTES)


def test_speeds_below_nothing_are_those_of_a_chart(tmp_path):
    text = csv(("time_s", "reads", "writes"), *((s, 0, -500) for s in range(1, 61)))
    data = made.read(tmp_path, text, "netdata.csv", y="writes=KiB/s")
    assert data.curve.total_bytes == pytest.approx(60 * 500 * 1024)
    assert "is drawn below 0" in data.of_level("note")[0]


DRAWN = {
    "Markdown": ("| time (s) | write (MB/s) |", "|---|--:|", "| {} | **{:,.2f}** |", ""),
    "MySQL": ("| time (s) | write (MB/s) |", "+---+---+", "| {} | {:.2f} |", "+---+---+"),
    "psql": (" time (s) | write (MB/s) ", "---+---", " {} | {:.2f} ", ""),
    "rich": ("┃ time (s) ┃ write (MB/s) ┃", "┡━━━╇━━━┩", "│ {} │ {:.2f} │", "└───┴───┘"),
}


def drawn(program):
    names, rule, row, end = DRAWN[program]
    rows = [row.format(s, v / 1e6) for s, v in enumerate(made.speeds(), 1)]
    return "\n".join(["My drive of 2 TB:", "", names, rule, *rows, end, "It took 100 s for 58 GB; 1, 2, 3.", ""])


@pytest.mark.parametrize("program", DRAWN)
def test_a_table_drawn_with_bars_is_read_among_other_text(program, tmp_path):
    data = made.read(tmp_path, drawn(program), "notes.md")
    assert data.curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=1e-4)
    assert data.curve.total_seconds == 100


def test_of_two_drawn_tables_none_is_taken(tmp_path):
    with pytest.raises(PslcError, match=r"has 2 tables: lines 3 to 104 and lines 109 to 210"):
        made.read(tmp_path, drawn("Markdown") * 2, "notes.md")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (curve(time=lambda s: f"{s},5", cell=lambda speed: f"{speed / 1e6:.2f}".replace(".", ",")),
         r"a\.csv:2: 4 numbers below 2 names"),
        (curve(SECONDS, lambda speed: f"{speed / 1e6:_.0f}").translate(GERMAN),
         r"1\.\d{3} in write MB/s may be 1\d{3} or 1\."),
        (curve(("Zeit (s)", "write KB/s"), lambda speed: f"{speed / 1e3:_.0f}").translate({44: ";", 95: ","}),
         r"\d{3},\d{3} in write KB/s may be \d{6} or"),
        (csv(("test", "MB/s"), ("a", "2.100"), ("b", "480"), separator=";"), r"2\.100 in MB/s may be 2100 or 2\.100"),
    ],
)  # fmt: skip
def test_a_number_that_may_be_another_is_refused(text, what, tmp_path):
    with pytest.raises(PslcError, match=what):
        made.read(tmp_path, text, "a.csv")


def test_minutes_without_seconds_are_read_with_a_warning(tmp_path):
    data = made.read(tmp_path, curve(("Time", "write MB/s"), time=lambda s: f"{s // 60}:{s % 60:02}"), "a.csv")
    assert any("0:01 is read as a minute" in str(warning) for warning in data.warnings)


def test_a_decimal_comma_in_a_drawn_table_is_no_comma_of_thousands(tmp_path):
    with pytest.raises(PslcError, match="cannot be read"):
        made.read(tmp_path, drawn("psql").replace(".", ","), "notes.md")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "is empty"),
        ("written_GB,speed_MBps\n", "has a line of names and no rows"),
        ("written_GB,speed_MBps\n" + "".join(f"{gb},{400 if gb < 60 else -500}\n" for gb in range(100)),
         "speed_MBps is below 0 in 40 of 100 rows"),
    ],
)  # fmt: skip
def test_a_file_without_rows_or_with_speeds_below_0_is_refused(text, what, tmp_path):
    with pytest.raises(PslcError, match=what):
        made.read(tmp_path, text, "a.csv")
