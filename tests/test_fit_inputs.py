"""What a fit reads of other programs' files: the same as `pslc analyze`, and nothing that is no first write."""

from pathlib import Path

import pytest

from pslc import formats
from pslc.base.errors import PslcError
from pslc.formats import _findings as imported
from pslc.schema.imports import ImportOptions
from pslc.twin import api, initial_fit, priors

FIXTURES = Path(__file__).parent / "fixtures"
CAPACITY = 10**12
OF_A_WRITE = (
    (("fill.csv",), ImportOptions()),
    (("fill_bw.1.log",), ImportOptions()),
    (("blkparse.txt",), ImportOptions()),
    (("inputs/bom_bw.1.log",), ImportOptions()),
    (("inputs/cumulative.csv",), ImportOptions()),
    (("inputs/iso.csv",), ImportOptions()),
    (("inputs/nan_cells.csv",), ImportOptions()),
    (("inputs/nohead.csv",), ImportOptions(x="1=s", y="2=MB/s")),
    (("inputs/no_unit_words.csv",), ImportOptions(x="time=s", y="writeMibs=MiB/s")),
    (("inputs/old_bs_bw.log",), ImportOptions()),
    (("inputs/status.json",), ImportOptions()),
    (tuple(f"inputs/jobs4_bw.{number}.log" for number in range(1, 5)), ImportOptions(order="together")),
)


@pytest.mark.parametrize(("names", "options"), OF_A_WRITE, ids=[names[0] for names, _ in OF_A_WRITE])
def test_a_fit_reads_of_a_file_what_the_analysis_does(names: tuple[str, ...], options: ImportOptions) -> None:
    paths = [FIXTURES / name for name in names]
    foreign = formats.read(paths, options)
    findings = imported.analyzed(foreign, ImportOptions(capacity_bytes=CAPACITY))
    inputs = api._read(paths, {"capacity": CAPACITY, "chart": options, "written_by": "qd32"})
    [dataset] = inputs.datasets
    assert dataset.curve is not None
    summary, _ = initial_fit.summarize_curve(dataset.curve, dataset, priors.collect_priors(CAPACITY, 3e9, nand="tlc"))
    assert summary.cache == (findings["cache_bytes"] and pytest.approx(findings["cache_bytes"], abs=1))
    assert foreign.curve is not None
    assert dataset.curve.total_bytes == pytest.approx(foreign.curve.total_bytes, abs=1)
    assert inputs.notes == [f"read as: {foreign.read_as}", *foreign.of_level("note"), *map(str, findings["warnings"])]
    assert findings["warnings"]


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("inputs/randwrite-4k_bw.1.log", "holds random writes"),
        ("inputs/iostat_2s.txt", "shows a drive at work"),
        ("inputs/collectl.csv", "shows a drive at work"),
        ("cdm8.txt", "holds no series of writes"),
        ("reads_bw.1.log", "holds no series of writes"),
    ],
)
def test_what_is_no_sequential_write_over_an_empty_drive_is_not_fitted(name: str, what: str, tmp_path: Path) -> None:
    path = FIXTURES / name
    if name == "reads_bw.1.log":
        path = tmp_path / name
        path.write_text("".join(f"{1000 * second}, 500000, 0, 0\n" for second in range(1, 61)))
    with pytest.raises(PslcError, match=what) as refused:
        api._read([path], {"capacity": CAPACITY})
    assert "sequential write" in str(refused.value)


def test_a_log_that_is_named_after_random_writes_is_fitted_where_it_is_said_to_be_sequential() -> None:
    path = FIXTURES / "inputs" / "randwrite-4k_bw.1.log"
    inputs = api._read([path], {"capacity": CAPACITY, "workload": "sequential"})
    assert len(inputs.datasets) == 1
    with pytest.raises(PslcError, match="--workload"):
        api.fit(path, capacity=CAPACITY, workload="in order")
