"""Results of other programs that have no series, and traces of blkparse."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslc import PslcError, formats
from pslc.formats import _files
from pslc.schema.imports import ImportOptions
from pslc.schema.results import Measured, measured
from tests.conftest import search

FIXTURES = Path(__file__).parent / "fixtures"
FILES = sorted(path for path in FIXTURES.iterdir() if path.is_file())
RESULTS = [path for path in FILES if path.name not in ("blkparse.txt", "fill.csv", "fill_bw.1.log")]


def rows(name: str) -> list[Measured]:
    return formats.read([FIXTURES / name], ImportOptions()).rows


@pytest.mark.parametrize(
    ("name", "count", "expected"),
    [
        ("cdm8.txt", 7, measured("SEQ 1MiB (Q=8, T=1)", "write", 5210.902e6, 4969.5, 1606.88e-6)),
        ("cdm8.txt", 7, measured("SEQ 1MiB (Q=8, T=1)", "mixed", 4301.118e6, 4101.9, 1948.13e-6)),
        ("cdm5.txt", 6, measured("Random 4KiB (Q=32,T=1)", "read", 402.915e6, 98367.9)),
        ("kdiskmark.txt", 2, measured("Sequential 1 MiB (Q=8, T=1)", "read", 1024e6, 976.6, 8191.9e-6)),
        ("as_ssd.txt", 8, measured("4K-64Threads", "write", 1066.48e6)),
        ("as_ssd.txt", 8, measured("Access Times", "read", latency_s=90e-6)),
        ("iometer.csv", 3, measured("128K Seq Write, queue 32", "write", 3312.5 * 131072, 3312.5, 32 / 3312.5)),
    ],
)
def test_the_figures_are_those_of_the_file(name, count, expected):
    found = rows(name)
    assert len(found) == count
    (row,) = [row for row in found if (row["test"], row["kind"]) == (expected["test"], expected["kind"])]
    for figure in ("bytes_per_s", "iops", "latency_s"):
        told = expected[figure]
        assert row[figure] == (told if told is None else pytest.approx(told, rel=1e-6)), figure


def test_the_megabytes_of_niobench_depend_on_its_version():
    read, write, copy = rows("niobench_legacy.txt")
    assert (read["kind"], write["kind"], copy["kind"]) == ("read", "write", "copy")
    # Each median is the mean of the two iterations marked M.
    assert read["bytes_per_s"] == pytest.approx((410.20 + 415.00) / 2 * 2**20)
    assert write["bytes_per_s"] == pytest.approx((160.00 + 160.20) / 2 * 2**20)
    assert write["samples"] == pytest.approx([speed * 2**20 for speed in (321.80, 160.20, 158.30, 160.00)])
    assert rows("niobench.txt")[1]["bytes_per_s"] == pytest.approx(916.66e6)


def test_text_that_windows_wrote_in_two_bytes_a_letter_is_read(tmp_path):
    (tmp_path / "wide.txt").write_text((FIXTURES / "cdm8.txt").read_text(), encoding="utf-16")
    assert formats.read([tmp_path / "wide.txt"], ImportOptions()).rows == rows("cdm8.txt")


def test_results_are_shown_and_given_as_json(command):
    shown = command("analyze", str(FIXTURES / "niobench_legacy.txt"))
    assert "1024 MB, Unbuffered native  write  168 MB/s  166 MB/s  337 MB/s  4" in shown.stdout
    assert "warning: the data were zeroes" in shown.stdout
    document = json.loads(command("analyze", str(FIXTURES / "as_ssd.txt"), "--json").stdout)
    assert document["rows"][0]["bytes_per_s"] == pytest.approx(2863.65e6)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("cdm8.txt", " 5210.902 MB/s", " fast MB/s"),
        ("as_ssd.txt", "Read: 790,21 MB/s", "Read: quick"),
        ("niobench.txt", "970,27    422,47 M", "970,27"),
        ("niobench_legacy.txt", "158,30        120,40", "158,30"),
        ("iometer.csv", "70000.000000,30000", "x,30000"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_and_can_be_left_out(name, good, bad, command, tmp_path):
    text = (FIXTURES / name).read_text()
    assert good in text
    (tmp_path / name).write_text(text.replace(good, bad, 1))
    line = text[: text.index(good)].count("\n") + 1
    done = command.refused("analyze", name)
    assert f"{name}:{line}:" in done.stderr
    assert "is expected" in done.stderr
    document = json.loads(command("analyze", name, "--skip-bad", "--json").stdout)
    assert document["bad_lines"] == 1
    assert 0 < len(document["rows"]) <= len(rows(name))


def test_a_file_without_results_says_what_to_give(command, tmp_path):
    for path in RESULTS:
        lines = path.read_text().splitlines()[: 4 if path.name != "kdiskmark.txt" else 2]
        (tmp_path / path.name).write_text("\n".join(lines))
        done = command.refused("analyze", path.name)
        assert "hint:" in done.stderr
        assert "holds no" in done.stderr, done.stderr


HOSTILE = st.binary(max_size=40) | st.sampled_from(
    [b"9" * 30, b"-1", b"nan", b"inf", b"1e400", b"\n\n", b",,,,", b" + "]
)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@search(300, deadline=None)
@given(st.sampled_from(FILES), st.integers(0, 2500), st.integers(0, 200), HOSTILE, st.booleans())
def test_a_damaged_file_is_read_or_refused_in_words(tmp_path_factory, path, at, length, put, skip):
    data = path.read_bytes()
    folder = tmp_path_factory.getbasetemp()
    damaged = folder / path.name
    damaged.write_bytes(data[:at] + put + data[at + length :])
    try:
        _files.read([damaged], ImportOptions(skip_bad=skip, capacity_bytes=10**12))
    except PslcError as error:
        assert "hint:" in str(error)  # noqa: PT017


def events(path: Path, *, action: str = "C", device: str = "259,0", scale: float = 1.0) -> Path:
    """A trace of 20 s: 2 GB/s up to 10 GB, then 500 MB/s, in requests of 1 MiB, with a read and a message between."""
    lines, written, at, number = [], 0, 0.0, 0
    while at < 20:
        number += 1
        at += 2**20 / (2e9 if written < 10e9 else 0.5e9)
        written += 2**20
        sector = 2048 * number
        for what, when in (("Q", at - 1e-4), (action, at)):
            lines.append(f"{device}    3 {number:8d} {when * scale:5.9f}   697  {what}  WS {sector} + 2048 [fio]")
    lines.insert(5, f"{device}    1        1     0.000000001   697  m   N cfq697S / alloced")
    lines.insert(9, f"{device}    3       77     0.000400000   697  {action}   R 8 + 4096 [0]")
    summary = ["CPU3 (259,0):", " Reads Queued:           0,        0KiB", "", "Events (259,0): 12 entries"]
    path.write_text("\n".join(lines + summary) + "\n")
    return path


def test_the_cliff_of_a_trace_of_blkparse_is_found(command, tmp_path):
    events(tmp_path / "trace.txt")
    findings = json.loads(command("analyze", "trace.txt", "--capacity", "256GB", "--json").stdout)["findings"]
    assert findings["cache_bytes"] == pytest.approx(10e9, rel=0.01)
    assert [phase["bytes_per_s"] for phase in findings["phases"]] == pytest.approx([2e9, 0.5e9], rel=0.02)


def test_a_trace_without_completions_is_read_by_its_issues_and_says_so(tmp_path):
    foreign = formats.read([events(tmp_path / "trace.txt", action="D")], ImportOptions())
    assert foreign.curve is not None
    assert np.isclose(foreign.curve.total_seconds, 20, rtol=0.01)
    assert "no completions" in foreign.of_level("note")[0]


def test_a_trace_of_several_devices_or_with_other_lines_is_refused(command, tmp_path):
    one, other = events(tmp_path / "a.txt"), events(tmp_path / "b.txt", device="8,0")
    done = command.refused("analyze", str(one), str(other))
    assert "259,0 and 8,0" in done.stderr
    lines = one.read_text().splitlines()
    lines[3] = "259,0 what is this"
    one.write_text("\n".join(lines))
    done = command("analyze", str(one))
    assert "a.txt:4:" in done.stderr
    assert json.loads(command("analyze", str(one), "--skip-bad", "--json").stdout)["bad_lines"] == 1
