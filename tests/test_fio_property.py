"""Random job files, run by fio and by pslc on the same file: the requests that each made, one by one, from fio's log of
them (`write_iolog`) and from ours. 30 in every run of the tests, 300 with `-m slow`."""

import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pslc._native import RealDrive, inspect_file
from pslc.errors import PslcError

FIO = shutil.which("fio")
FILE = 4 << 20
SETTINGS = settings(
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
    database=None,
)
Request = tuple[str, int, int]
"""Action, offset and length."""

SIZES = ["512", "4k", "8k", "12k", "64k", "1m"]
UNEQUAL = ["4k,8k", "8k,4k,4k", "16k,64k"]
SPLITS = ["4k/50:16k/50", "4k:8k:64k", "8k/90:12k/10", "4k/30:32k/,8k"]
RANGES = ["4k-16k", "4k-12k", "64k-8k", "512-8k"]


@dataclass(frozen=True)
class Case:
    """A job, and what about it is left to chance."""

    options: dict[str, str]
    random: bool
    mixed: bool
    one_size: bool
    mapped: bool

    @property
    def fair(self) -> bool:
        """Every block is as likely as any other, and every request is random."""
        return not {"random_distribution", "percentage_random", "rw_sequencer"} & self.options.keys()

    @property
    def text(self) -> str:
        lines = [key if value == "" else f"{key}={value}" for key, value in self.options.items()]
        return "\n".join(["[job]", *lines]) + "\n"


@st.composite
def cases(draw: st.DrawFn) -> Case:
    kind = draw(st.sampled_from(["read", "write", "rw"]))
    random = draw(st.booleans())
    options = {"rw": ("rand" if random else "") + kind}
    if draw(st.integers(0, 4)) == 0:
        options["rw"] += f":{draw(st.integers(1, 6))}" if random else f":{draw(st.sampled_from(['4k', '64k', '-8k']))}"
    sizes = draw(st.sampled_from(["bs", "bs", "bs", "unequal", "bssplit", "bsrange"]))
    one_size = sizes == "bs"
    words = {"bs": ("bs", SIZES), "unequal": ("bs", UNEQUAL), "bssplit": ("bssplit", SPLITS)}
    key, values = words.get(sizes, ("bsrange", RANGES))
    options[key] = draw(st.sampled_from(values))
    if draw(st.booleans()):
        options["size"] = draw(st.sampled_from(["1m", "100k", "999k", "50%", "33%", "100%", "1536k"]))
    if draw(st.integers(0, 4)) == 0:
        options["filesize"] = draw(st.sampled_from(["1m", "2m", "4m"]))
    if draw(st.integers(0, 2)) == 0:
        options["offset"] = draw(st.sampled_from(["4k", "1m", "25%", "68k"]))
    if draw(st.integers(0, 2)) == 0:
        options["io_size"] = draw(st.sampled_from(["64k", "100k", "1m", "3m", "50%", "5m"]))
    if draw(st.integers(0, 3)) == 0:
        options["loops"] = draw(st.sampled_from(["1", "2", "3"]))
    if draw(st.integers(0, 3)) == 0:
        options["number_ios"] = draw(st.sampled_from(["1", "10", "1k"]))
    mapped = random
    if random and draw(st.integers(0, 2)) == 0:
        options["norandommap"] = ""
        mapped = False
    if random and draw(st.integers(0, 4)) == 0:
        shapes = ["zipf:1.2", "pareto:0.3", "zoned:50/10:50/90", "normal:10"]
        options["random_distribution"] = draw(st.sampled_from(shapes))
        mapped = False
    if random and draw(st.integers(0, 4)) == 0:
        options["percentage_random"] = draw(st.sampled_from(["50", "80,20", "0"]))
        mapped = False
    if ":" in options["rw"]:
        mapped = False
        options["rw_sequencer"] = draw(st.sampled_from(["sequential", "identical"]))
    if kind != "read" and draw(st.integers(0, 3)) == 0:
        options[draw(st.sampled_from(["fsync", "fdatasync"]))] = draw(st.sampled_from(["1", "3", "8"]))
    if kind == "rw":
        options["rwmixread"] = draw(st.sampled_from(["0", "30", "50", "90", "100"]))
    options["ioengine"] = draw(st.sampled_from(["psync", "libaio", "libaio"]))
    options["iodepth"] = draw(st.sampled_from(["1", "1", "4", "16"]))
    return Case(options, random, kind == "rw", one_size, mapped)


def by_fio(case: Case, path: Path) -> list[Request] | None:
    """What fio did, as its log has it; None if it refused."""
    log = path.with_suffix(".iolog")
    log.unlink(missing_ok=True)
    job = path.with_suffix(".fio")
    job.write_text(case.text + f"filename={path}\nwrite_iolog={log}\nallow_file_create=0\n")
    done = subprocess.run([str(FIO), job], cwd=path.parent, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    found = []
    for line in log.read_text().splitlines()[1:]:
        words = line.split()[2:]
        if words[0] in ("read", "write", "sync", "datasync"):
            found.append((words[0], int(words[1]), int(words[2])) if len(words) > 2 else (words[0], 0, 0))
    return found


def by_pslc(case: Case, path: Path) -> list[Request]:
    drive = RealDrive.existing(str(path), agreed=inspect_file(str(path))["identity"])
    log = drive.run(case.text + "write_iolog=x\n", "random.fio", [], 1)["logs"][0]
    op, offset, length = (np.frombuffer(log[name], dtype="<u8").tolist() for name in ("op", "offset", "bytes"))
    sync = "datasync" if "fdatasync" in case.options else "sync"
    words = {0: "read", 1: "write", 2: "trim", 3: sync}
    return [(words[o], at, n) if o < 3 else (words[o], 0, 0) for o, at, n in zip(op, offset, length, strict=True)]


def compare(case: Case, theirs: list[Request], ours: list[Request]) -> None:
    """What is not left to chance is the same; what is, lies where it may."""
    syncs = [Counter(r[0] for r in of if r[0] in ("sync", "datasync")) for of in (theirs, ours)]
    flat = [[(what, at, n) for what, at, n in of if what in ("read", "write")] for of in (theirs, ours)]
    theirs, ours = flat
    totals = [sum(n for _, _, n in of) for of in flat]
    counts = [len(of) for of in flat]
    # A pass may end early by chance: where the region's last blocks are met.
    ends_by_chance = case.random and not (case.one_size and case.fair)
    if not case.mixed and not ends_by_chance and case.options["iodepth"] == "1" and case.one_size:
        assert syncs[0] == syncs[1]
    if case.one_size and not ends_by_chance:
        assert counts[0] == counts[1]
        assert totals[0] == totals[1]
    kind = case.options["rw"].split(":")[0].removeprefix("rand")
    assert {r[0] for r in ours} <= ({"read", "write"} if kind == "rw" else {kind})
    if case.one_size and not case.random:
        # In sequence: every request of each direction.
        for what in ("read", "write"):
            one, other = ([r for r in of if r[0] == what] for of in flat)
            shared = min(len(one), len(other)) if case.mixed else None
            assert one[:shared] == other[:shared]
    elif case.one_size and case.mapped and "number_ios" not in case.options and "io_size" not in case.options:
        # Every block as often.
        assert Counter(r[1:] for r in theirs) == Counter(r[1:] for r in ours)
    if not case.one_size and "number_ios" not in case.options and not ends_by_chance and ":" not in case.options["rw"]:
        largest = max(n for _, _, n in theirs + ours)
        assert abs(totals[0] - totals[1]) <= largest
    lengths = [{(what, n) for what, _, n in of} for of in flat]
    if case.one_size:
        assert lengths[0] == lengths[1] or case.mixed
    if case.random:
        spans = [(min(at for _, at, _ in of), max(at + n for _, at, n in of)) for of in flat]
        room = max(1 << 20, spans[0][1] - spans[0][0])
        assert abs(spans[0][0] - spans[1][0]) <= room
        grain = [int(np.gcd.reduce([at for _, at, _ in of] or [0])) for of in flat]
        assert grain[0] == grain[1] or counts[0] < 30 or not case.one_size, grain


def check(case: Case, folder: Path) -> None:
    path = folder / "data.bin"
    if not path.exists() or path.stat().st_size != FILE:
        path.write_bytes(np.random.default_rng(0).bytes(FILE))
    theirs = by_fio(case, path)
    assert path.stat().st_size >= FILE
    if path.stat().st_size > FILE:
        # fio made the file longer, which a drive cannot become.
        path.unlink()
        return
    try:
        ours = by_pslc(case, path)
    except PslcError as refused:
        ours, why = None, str(refused)
    if ours is None:
        # What pslc refuses, fio refuses, or it makes no request of it.
        assert not theirs, case.text + why
        return
    assert theirs is not None, case.text
    try:
        compare(case, theirs, ours)
    except AssertionError as error:
        detail = "".join(f"\n{who}: {len(of)} {of[:12]} .. {of[-4:]}" for who, of in (("fio", theirs), ("pslc", ours)))
        detail = f"{case.text}{detail}"
        raise AssertionError(f"{error}\n{detail}") from None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if FIO is None:
        pytest.skip("fio is not installed")
    return tmp_path_factory.mktemp("fio")


@settings(SETTINGS, max_examples=30)
@given(case=cases())
def test_fio_and_pslc_make_the_same_requests(case: Case, folder: Path):
    check(case, folder)


@pytest.mark.slow
@settings(SETTINGS, max_examples=300)
@given(case=cases())
def test_fio_and_pslc_make_the_same_requests_of_300_jobs(case: Case, folder: Path):
    check(case, folder)
