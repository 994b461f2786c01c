"""Whatever the input is, what comes is an answer or a PslcError. Every bug found so is in BUGS, and is tried again."""

from contextlib import suppress
from pathlib import Path

import pytest
from benches import mutate
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import pslc
from pslc import traces
from pslc._native import SimDrive, plan_jobs, trace_formats
from pslc.base import units
from pslc.device.target import find_target
from pslc.recording import comparison
from pslc.runner.load import read_side
from pslc.traces import Part, survey_view
from tests.conftest import search

DIGITS = st.sampled_from(["1", "0", "9" * 40, "1.5", "²", "٣", "-1", "1e999", "nan", "inf", ""])
UNITS = st.sampled_from([*units.UNITS, *units.TIMES, "%", "", "²", "-", "\u200b"])
VALUES = st.one_of(st.text(max_size=30), st.tuples(DIGITS, UNITS).map("".join))
OFTEN = search(200, deadline=1000, suppress_health_check=[HealthCheck.function_scoped_fixture])

CORPUS = Path(__file__).parent.parent / "fuzz" / "corpus"
STARTS = {path.name: path.read_text(encoding="utf-8") for path in sorted((CORPUS / "file").iterdir())}
PIECES = st.sampled_from(
    ["[]", "{}", "null", "-1", "1e999", "NaN", '"x"', "²", "9" * 50, "\x00", ",", ":", "\n", "[" * 2000]
)


def answers(call, *arguments) -> None:
    with suppress(pslc.PslcError):
        call(*arguments)


def test_sizes_times_shares_and_regions_are_exact_and_have_units():
    sizes = {"20GB": 20 * 10**9, "1.5 GiB": 3 << 29, "4096B": 4096, "0.1GB": 10**8, "9223372036854775807B": 2**63 - 1}
    assert {text: units.size(text, "") for text in sizes} == sizes
    assert [units.seconds(text, "--idle") for text in ("500ms", "1.5h")] == [0.5, 5400]
    assert units.percent("50 %", "--fill-first") == 50
    assert units.region("40GB", "--region") == (0, 40 * 10**9)
    for text in ("20", "20G", "GB", "-1GB", "1e9B", "1e30TB", "²GB"):
        with pytest.raises(pslc.PslcError, match="a number with a unit"):
            units.size(text, "--size")


@OFTEN
@given(VALUES)
def test_any_size_time_share_or_region_is_read_or_refused(text):
    for parse in (units.size, units.seconds, units.percent, units.region):
        answers(parse, text, "--option")


@OFTEN
@given(VALUES)
def test_any_tolerance_is_read_or_refused(tmp_path, text):
    path = tmp_path / "tolerance.toml"
    path.write_text(f'mean = "{text}"\n', encoding="utf-8", errors="replace")
    answers(comparison.read_tolerance, path)


@OFTEN
@given(st.one_of(st.text(max_size=30), st.tuples(st.text(max_size=12), VALUES).map("=".join)))
def test_any_key_of_a_simulated_drive_is_obeyed_or_refused(text):
    answers(find_target, f"sim:pm871b-128gb,{text}")


@pytest.mark.parametrize("name", STARTS)
@OFTEN
@given(data=st.data())
def test_any_file_of_another_program_is_read_or_refused(name, tmp_path, data):
    text = STARTS[name]
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 12)))
        text = text[:start] + data.draw(st.one_of(PIECES, st.text(max_size=5))) + text[end:]
    path = tmp_path / "file.txt"
    path.write_text(text, encoding="utf-8", errors="replace")
    answers(read_side, path)


CORPUS = Path(__file__).parent.parent / "fuzz" / "corpus"
TRACES = sorted(CORPUS.glob("trace/*"))
FORMATS = [name for name, _ in trace_formats()]
BYTES = st.binary(max_size=12) | PIECES.map(str.encode)


def read_trace(path: Path, part: Part) -> None:
    """All that Python's side does with a trace."""
    if not traces.is_trace(path, part):
        return
    file = traces.opened(path, part)
    survey = file.survey()
    batches = list(file.read(1000))
    assert sum(len(batch["op"]) for batch in batches) == survey_view.requests(survey)
    survey_view.of_file(path, survey)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> dict[str, bytes]:
    """A trace of each format, as the fuzzer begins with them; there a byte before each says how it is read."""
    found = {path.name: path.read_bytes()[1:] for path in TRACES}
    folder = tmp_path_factory.mktemp("whole")
    (folder / "msr").write_bytes(found["msr"])
    traces.write_parquet(folder / "msr", Part(), folder / "parquet")
    return found | {"parquet": (folder / "parquet").read_bytes()}


def test_the_traces_that_are_damaged_below_are_read_as_they_are(whole, tmp_path):
    for name, raw in whole.items():
        (tmp_path / name).write_bytes(raw)
        assert traces.is_trace(tmp_path / name, Part()), name
        read_trace(tmp_path / name, Part())


@pytest.mark.parametrize("name", [*(path.name for path in TRACES), "parquet"])
@search(200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_trace_is_read_or_refused(name, whole, tmp_path, data):
    raw = whole[name]
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(raw)))
        end = data.draw(st.integers(start, min(len(raw), start + 12)))
        raw = raw[:start] + data.draw(BYTES) + raw[end:]
    path = tmp_path / "trace"
    path.write_bytes(raw)
    told = None if name in ("parquet", "table") else data.draw(st.sampled_from([None, *FORMATS]))
    answers(read_trace, path, Part(told, skip_broken=data.draw(st.booleans())))


@pytest.mark.parametrize("value", ["4é", "4Ѝ", "²", "4k²"])
def test_sizes_of_a_job_that_are_no_ascii_are_refused(value, tmp_path):
    path = tmp_path / "job.fio"
    path.write_text(f"[a]\nrw=write\nbs={value}\n")
    with pytest.raises(pslc.PslcError, match="is no size"):
        pslc.run(path, on="sim:pm871b-128gb")


FOREIGN = {
    "upload": "lab upload", "document": "run.json, text", "series": "series of a recording", "parquet": "Parquet trace",
    "study": "study results", "drive": "drive file", "smartctl": "smartctl", "nvme": "nvme",
}  # fmt: skip
"""Folders of the corpus, and readers of `benches.mutate` that they are for."""


@pytest.fixture(scope="module")
def readers(tmp_path_factory):
    """The readers of files that people send each other, as the fuzzer calls them."""
    return mutate.foreign(tmp_path_factory.mktemp("foreign"))


@pytest.mark.parametrize(
    "path",
    sorted(path for name in FOREIGN for path in CORPUS.glob(f"{name}/*")),
    ids=lambda path: f"{path.parent.name}-{path.name}",
)
def test_what_the_fuzzer_gave_to_readers_of_foreign_files_is_read_or_refused(path, readers):
    parse, _, _ = readers[FOREIGN[path.parent.name]]
    assert mutate.tried(parse, path.read_bytes().decode(mutate.BYTES)) is None


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*/*")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_corpus_of_the_fuzzer_is_read_or_refused(path):
    text = path.read_bytes().decode(errors="replace")
    if path.parent.name == "job":
        answers(plan_jobs, text, "fuzz.fio", [], 1 << 40)
    if path.parent.name == "profile":
        answers(SimDrive, "fuzz.toml", text, {}, [])
    if path.parent.name == "file":
        answers(read_side, path)
    for option in ("size", "bs", "bssplit", "bsrange", "runtime", "rate", "random_distribution"):
        if path.parent.name == "size":
            # The first letter chose the option there.
            answers(plan_jobs, "[a]\nrw=write\n", "fuzz.fio", [(option, text[1:])], 1 << 40)


BUGS = {
    "a tolerance of a superscript": ("tolerance", 'mean = "²%"'),
    "a tolerance that is a number": ("tolerance", "mean = 5"),
    "bytes that are a list": ("file", '{"fio version": "x", "jobs": [{"jobname": "a", "write": {"io_bytes": []}}]}'),
    "jobs that are a text": ("file", '{"fio version": "x", "jobs": "abc"}'),
    "a job that is a list": ("file", '{"fio version": "x", "jobs": [[]]}'),
    "brackets without end": ("file", '{"fio version": "x", "jobs": ' + "[" * 100_000),
    "digits of a report without end": ("file", "Java NIOBench v0.54\n Read   Tag    Write\n" + "9" * 200_000),
    "a cell of a table without end": ("table", "GB,MB/s\n" + "9" * 200_000),
    "more bytes than were ever written": ("file", "GB,MB/s\n1,2000\n4e199,500\n"),
    "a count of a drive's own of more than 128 bits": (
        "file",
        f"Smart Log for NVME device:nvme0 namespace-id:1\ncritical_warning : 0\ndata_units_written : {'9' * 400}\n",
    ),
    "a time of a billion years": ("file", "s,MB/s\n1,2000\n1e13,500\n"),
    "a cell of Iometer's without end": ("file", "'Results\n'Target Type,a\n" + "9" * 200_000),
    "a request of more sectors than a number holds": (
        "file",
        "".join(f"  8,0 3 {n} 0.00000000{n} 697 C WS 8 + {'56' * 200} [0]\n" for n in range(1, 9)),
    ),
    "a time of more digits than a number holds": (
        "file",
        "".join(f"  8,0 3 {n} {'9' * 400}.00000000{n} 697 C WS 8 + 56 [0]\n" for n in range(1, 9)),
    ),
    "a key of 100 000 parts": ("tolerance", "a." * 100_000),
    "a value nested 100 000 deep": ("tolerance", "mean = " + "[" * 100_000),
    "a speed of two points": ("file", "CrystalDiskMark 8\n[Read]\nSEQ 1MiB: 1.2.3 MB/s\n"),
}


@pytest.mark.parametrize("bug", BUGS)
def test_what_was_a_bug_is_refused(bug, tmp_path):
    kind, text = BUGS[bug]
    path: Path = tmp_path / f"bug.{'csv' if kind == 'table' else 'txt'}"
    path.write_text(text)
    with pytest.raises(pslc.PslcError, match="hint: "):
        comparison.read_tolerance(path) if kind == "tolerance" else read_side(path)
