"""Random job files, run by fio and by pslc on the same file: the requests that each made, one by one, from fio's log of
them (`write_iolog`) and from ours. 30 with `make test`, 300 with `-m slow`."""

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pslc._native import RealDrive, inspect_file
from pslc.base.errors import PslcError
from pslc.device.target import open_simulated
from tests.conftest import search
from tests.traced import traced

FIO = shutil.which("fio")
FILE = 4 << 20
SETTINGS: dict[str, Any] = {
    "deadline": None,
    "derandomize": True,
    "phases": [Phase.explicit, Phase.generate],
    "suppress_health_check": list(HealthCheck),
    "database": None,
}
Request = tuple[str, int, int]
"""Action, offset and length."""

SIZES = ["512", "4k", "8k", "12k", "64k", "1m"]
UNEQUAL = ["4k,8k", "8k,4k,4k", "16k,64k"]
SPLITS = ["4k/50:16k/50", "4k:8k:64k", "8k/90:12k/10", "4k/30:32k/,8k"]
# What changes no request.
QUIET = ["refill_buffers=1", "zero_buffers=1", "scramble_buffers=0", "buffer_compress_percentage=50", "buffered=1",
         "randseed=7", "thinktime=1ms", "startdelay=1ms", "fill_device=0", "ramp_time=10ms"]  # fmt: skip
RANGES = ["4k-16k", "4k-12k", "64k-8k", "512-8k"]


@dataclass(frozen=True)
class Case:
    """A job, and what about it is left to chance."""

    options: dict[str, str]
    random: bool
    mixed: bool
    one_size: bool
    """All requests are of one size."""
    mapped: bool
    """A random map gives each block its turn."""

    @property
    def drawn_sizes(self) -> bool:
        return bool({"bssplit", "bsrange"} & self.options.keys())

    @property
    def drawn_directions(self) -> bool:
        return self.mixed and self.of_reads not in (0, 100)

    @property
    def of_reads(self) -> int:
        """Percent of a mix."""
        options = self.options
        return 100 - int(options["rwmixwrite"]) if "rwmixwrite" in options else int(options["rwmixread"])

    @property
    def once(self) -> bool:
        """Every block has one turn in a pass."""
        # With blocks of two sizes both programs take some again in the other direction.
        return self.random and self.mapped and not (self.mixed and self.options.get("bs") in UNEQUAL)

    @property
    def passes(self) -> bool:
        """There may be more than one pass."""
        return bool({"loops", "io_size"} & self.options.keys())

    @property
    def whole(self) -> bool:
        """Passes are made to their ends."""
        return self.counted and not {"number_ios", "io_size"} & self.options.keys()

    @property
    def counted(self) -> bool:
        """How much is moved is not left to chance: a pass does not end where the last blocks are met, and its map is
        not of another direction's smaller blocks, by which it ends anywhere (fio itself: 51 to 115 of 128)."""
        if self.random and self.options.get("bs") in UNEQUAL:
            return False
        if self.drawn_sizes and ":" in self.options["rw"]:
            return False
        if self.random and self.options.get("zonesize") == "1m" and "size" in self.options:
            # What is drawn in a zone may be past the size, and ends it.
            return False
        return (
            not self.random
            or (self.one_size and self.once)
            or (
                self.one_size and not {"random_distribution", "percentage_random", "rw_sequencer"} & self.options.keys()
            )
        )

    @property
    def depth(self) -> int:
        return 1 if self.options["ioengine"] == "psync" else int(self.options["iodepth"])

    @property
    def queued_flushes(self) -> bool:
        return self.depth > 1 and self.options["ioengine"] == "io_uring"

    @property
    def hot(self) -> bool:
        """Some blocks more often than others, and so many blocks that fio's hash gives each a place of its own."""
        whole = self.options.get("size") == "1m" or not {"size", "offset"} & self.options.keys()
        drawn = self.options.get("random_distribution", "zoned")
        return not drawn.startswith("zoned") and whole and "12k" not in self.options.values()

    @property
    def text(self) -> str:
        lines = [key if value == "" else f"{key}={value}" for key, value in self.options.items()]
        return "\n".join(["[job]", *lines]) + "\n"


@st.composite
def cases(draw: st.DrawFn) -> Case:  # noqa: C901 draws each kind of option in turn
    kind = draw(st.sampled_from(["read", "write", "rw"]))
    random = draw(st.booleans())
    options = {"rw": ("rand" if random else "") + kind}
    if draw(st.integers(0, 4)) == 0:
        options["rw"] += f":{draw(st.integers(1, 6))}" if random else f":{draw(st.sampled_from(['4k', '64k', '-8k']))}"
    sizes = draw(st.sampled_from(["bs", "bs", "bs", "unequal", "bssplit", "bsrange"]))
    one_size = sizes == "bs" or (sizes == "unequal" and kind != "rw")
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
    # fio draws blocks of the smallest size, and gives up where one of them is past the end as a larger one.
    if random and sizes != "unequal" and draw(st.integers(0, 4)) == 0:
        shapes = ["zipf:1.2", "pareto:0.3", "zoned:50/10:50/90", "normal:10"]
        options["random_distribution"] = draw(st.sampled_from(shapes))
        mapped = False
    if random and draw(st.integers(0, 4)) == 0:
        options["percentage_random"] = draw(st.sampled_from(["50", "80,20", "0"]))
        mapped = False
    if random and sizes in ("bs", "bssplit") and draw(st.integers(0, 5)) == 0:
        options["ba"] = draw(st.sampled_from(["512", "4k", "8k,4k", "32k"]))
        mapped = False
    if sizes == "unequal" and draw(st.integers(0, 2)) == 0:
        options["bs_is_seq_rand"] = "1"
        one_size = False
    if random and sizes == "bs" and draw(st.integers(0, 5)) == 0:
        options["random_generator"] = draw(st.sampled_from(["lfsr", "tausworthe64"]))
    if ":" in options["rw"]:
        mapped = False
        options["rw_sequencer"] = draw(st.sampled_from(["sequential", "identical"]))
    if draw(st.integers(0, 4)) == 0 and options.get("random_distribution", "zoned").startswith("zoned"):
        options |= {"zonemode": "strided", "zonesize": draw(st.sampled_from(["64k", "100k", "256k", "1m"]))}
        if draw(st.booleans()):
            options["zonerange"] = draw(st.sampled_from(["32k", "64k", "512k"]))
        options["zoneskip"] = draw(st.sampled_from(["0", "4k", "64k", "1m"]))
        # A map is of a zone, and begins anew with each.
        mapped = False
    if kind != "read" and draw(st.integers(0, 3)) == 0:
        options[draw(st.sampled_from(["fsync", "fdatasync"]))] = draw(st.sampled_from(["1", "3", "8"]))
    if "fdatasync" not in options and draw(st.integers(0, 4)) == 0:
        options["end_fsync"] = "1"
    if (
        kind == "write"
        and (not random or (mapped and one_size))
        and sizes != "unequal"
        and draw(st.integers(0, 2)) == 0
    ):
        options["verify"] = draw(st.sampled_from(["crc32c", "md5", "meta"]))
    if kind == "rw":
        options[draw(st.sampled_from(["rwmixread", "rwmixwrite"]))] = draw(
            st.sampled_from(["0", "30", "50", "90", "100"])
        )
    if draw(st.integers(0, 3)) == 0:
        name, value = draw(st.sampled_from(QUIET)).split("=")
        options[name] = value
        if name == "thinktime":
            options |= {
                "thinktime_blocks": "100",
                "thinktime_blocks_type": draw(st.sampled_from(["complete", "issue"])),
            }
    options["ioengine"] = draw(st.sampled_from(["psync", "libaio", "libaio", "io_uring"]))
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
        if words[0] in ("read", "write"):
            found.append((words[0], int(words[1]), int(words[2])))
        elif words[0] in ("sync", "datasync"):
            # What it writes of a flush is of the request that had its place before.
            found.append((words[0], 0, 0))
    return found


def by_pslc(case: Case, path: Path) -> list[Request]:
    drive = RealDrive.existing(str(path), agreed=inspect_file(str(path))["identity"])
    log = drive.run(case.text + "write_iolog=x\n", "random.fio", [], 1)["logs"][0]
    op, offset, length = (np.frombuffer(log[name], dtype="<u8").tolist() for name in ("op", "offset", "bytes"))
    sync = "datasync" if "fdatasync" in case.options else "sync"
    words = {0: "read", 1: "write", 2: "trim", 3: sync}
    return [(words[o], at, n) if o < 3 else (words[o], 0, 0) for o, at, n in zip(op, offset, length, strict=True)]


def compare(case: Case, theirs: list[Request], ours: list[Request]) -> None:
    """What is not left to chance is the same; what is, follows the same rules in both, and is spread alike.

    Chance chooses directions (a mix), sizes (`bssplit`, `bsrange`) and places (random jobs). fio's generator is not
    ours, so that its draws cannot be ours; all else can."""
    # No flush is made as long as nothing has come back since the one before, which at depth 1 is never so. With more
    # under way those are left out that are due while the queue of a pass fills for the first time; where flushes are
    # under way, too, it is left to chance when one comes back.
    depth = case.depth
    for of in (theirs, ours):
        may_be = len(of) if case.queued_flushes else depth * most_passes(case, of)
        follow_the_rules(case, of, 0 if depth == 1 else may_be)
    if not case.random and not case.drawn_sizes and not case.drawn_directions:
        if depth > 1:
            theirs, ours = moving(theirs), moving(ours)
        assert theirs == ours
        return
    theirs, ours = moving(theirs), moving(ours)
    if "verify" in case.options:
        if case.one_size:
            assert [r[0] for r in theirs] == [r[0] for r in ours]
        assert [verified(case, of) for of in (theirs, ours)] == [sum(passes_of(of)) for of in (theirs, ours)]
        theirs, ours = ([r for r in of if r[0] == "write"] for of in (theirs, ours))
    if case.counted and not (case.drawn_directions and not case.random and ran_out(theirs, ours)):
        amounts_are_alike(case, theirs, ours)
    start = min((at for _, at, _ in theirs + ours), default=0)
    for what in ("read", "write"):
        directions_are_alike(case, *([r[1:] for r in of if r[0] == what] for of in (theirs, ours)), start)
    directions = [[float(r[0] == "write") for r in of] for of in (theirs, ours)]
    # A mix stays with a direction for a while: what counts is how often it is drawn.
    apart = abs(np.mean(directions[0] or [0]) - np.mean(directions[1] or [0]))
    assert apart <= 8 / max(min(map(len, directions)), 1) ** 0.5, "directions"


def moving(requests: list[Request]) -> list[Request]:
    """Requests that move data: no flushes."""
    return [r for r in requests if r[0] in ("read", "write")]


def amounts_are_alike(case: Case, theirs: list[Request], ours: list[Request]) -> None:
    """As many requests, or as many bytes but for what chance lets the last ones move."""
    if case.one_size:
        assert len(theirs) == len(ours)
    # So many requests of sizes that are drawn move what chance lets them.
    if case.drawn_sizes and "number_ios" in case.options:
        return
    # The last request of a zone, or of all, goes past its end as chance lets it.
    largest = max((n for _, _, n in theirs + ours), default=0)
    ends = 1 + sum(a[1] + a[2] != b[1] for a, b in pairwise(theirs)) if "zonemode" in case.options else 1
    apart = abs(sum(n for _, _, n in theirs) - sum(n for _, _, n in ours))
    assert apart <= (0 if case.one_size else largest * ends)


def directions_are_alike(case: Case, one: list[tuple[int, int]], other: list[tuple[int, int]], start: int) -> None:
    """Places and sizes of the requests of one direction."""
    if not case.drawn_directions:
        assert (one == []) == (other == [])
    if case.random:
        alike(case, one, other)
    elif (case.drawn_directions or case.drawn_sizes) and "zonemode" in case.options:
        # Sizes, and the other direction, decide where in a zone one ends; where it begins is not left to chance.
        assert goes_by_zones(case, one, start)
        assert goes_by_zones(case, other, start)
    elif not case.drawn_sizes:
        # Each direction goes its own way, in each pass as far as chance lets it go.
        ways = [part for of in (one, other) for part in parts(case, of)]
        longest = max(ways, key=len, default=[])
        assert not [part for part in ways if part != longest[: len(part)]]
    else:
        assert jumps(case, one) == jumps(case, other) or min(len(one), len(other)) < 3
    if not (case.passes and case.drawn_sizes):
        # Further passes draw the same sizes again: too few draws.
        near([n for _, n in one], [n for _, n in other], "sizes")


def most_passes(case: Case, requests: list[Request]) -> int:
    """How often the region may have been gone over."""
    moved = [(at, n) for what, at, n in requests if what in ("read", "write")]
    if not case.passes or not moved:
        return 1
    region = max(at + n for at, n in moved) - min(at for at, _ in moved)
    return 3 + sum(n for _, n in moved) // region


def passes_of(requests: list[Request]) -> list[bool]:
    """Where what was written begins to be read again."""
    return [a[0] == "write" and b[0] == "read" for a, b in pairwise(requests)]


def ran_out(theirs: list[Request], ours: list[Request]) -> bool:
    """The one that made fewer requests of a mix in sequence came to the end of the region in one direction."""
    fewer = min(theirs, ours, key=len)
    end = max((at + n for _, at, n in theirs + ours), default=0)
    return any(at + n == end for _, at, n in fewer)


def follow_the_rules(case: Case, requests: list[Request], left_out: int) -> None:
    """Of the requests of either program, one by one; so many flushes may be left out."""
    kind = case.options["rw"].split(":")[0].removeprefix("rand")
    moved = moving(requests)
    assert {r[0] for r in moved} <= ({"read", "write"} if kind == "rw" or "verify" in case.options else {kind})
    if kind == "rw" and not case.drawn_directions:
        assert {r[0] for r in moved} <= {"write" if case.of_reads == 0 else "read"}
    every = int(case.options.get("fsync", case.options.get("fdatasync", "0")))
    writes, synced = 0, False
    verifies = "verify" in case.options
    for what, _, _ in requests:
        if verifies and what == "read":
            # What is due then is made before the next write.
            continue
        due = every > 0 and writes > 0 and writes % every == 0 and not synced
        if what in ("sync", "datasync"):
            # A new pass does not remember that the one before ended with one.
            anew = synced and (case.passes or verifies)
            # Where flushes are under way with others, it is made again until one has come back.
            anew |= case.queued_flushes
            assert due or anew or "end_fsync" in case.options, "a flush that is not due"
        else:
            left_out -= due
            assert left_out >= 0, "no flush where one is due"
            writes += what == "write"
        synced = what in ("sync", "datasync")
    assert synced or writes == 0 or "end_fsync" not in case.options, "no flush at the end"
    if case.once and not case.passes:
        # No block has two turns.
        taken = sorted((at, n) for what, at, n in moved if what == kind or kind == "rw")
        assert not [(at, n, after) for (at, n), (after, _) in pairwise(taken) if not (at + n <= after)], (
            "a block had two turns"
        )


def alike(case: Case, one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    """Random requests of one direction: places and their order."""
    if case.once and case.one_size and not case.mixed:
        if case.whole:
            assert Counter(one) == Counter(other), "other blocks"
        if case.passes:
            # A pass is in the order of the one before (randrepeat).
            for of in (one, other):
                blocks = len(set(of))
                assert of[blocks:] == of[: len(of) - blocks], "another order in the next pass"
    if min(len(one), len(other)) < 50:
        return
    grains = [int(np.gcd.reduce([at for at, _ in of])) for of in (one, other)]
    assert grains[0] == grains[1] or not case.one_size, f"grains of {grains}"
    follows = [[float(b[0] == a[0] + a[1]) for a, b in pairwise(of)] for of in (one, other)]
    assert abs(np.mean(follows[0]) - np.mean(follows[1])) <= 5 / min(map(len, follows)) ** 0.5, "in sequence"
    again = [[float(b[0] == a[0]) for a, b in pairwise(of)] for of in (one, other)]
    assert abs(np.mean(again[0]) - np.mean(again[1])) <= 5 / min(map(len, again)) ** 0.5, "the same place again"
    if case.hot and case.passes:
        # A further pass goes on drawing.
        met = [len({at for at, _ in of}) for of in (one, other)]
        assert abs(met[0] - met[1]) <= 6 * max(met) ** 0.5, f"{met} places"
    if case.passes or ":" in case.options["rw"] or "percentage_random" in case.options:
        # Too few draws of a place to tell how they are spread.
        return
    if case.options.get("random_distribution", "zoned").startswith("zoned"):
        near([at for at, _ in one], [at for at, _ in other], "places")
    elif case.hot:
        # Hot blocks are elsewhere, but as hot.
        shares = [sorted(Counter(at for at, _ in of).values(), reverse=True) for of in (one, other)]
        for top in (1, 10, 50):
            apart = abs(sum(shares[0][:top]) / len(one) - sum(shares[1][:top]) / len(other))
            assert apart <= 4 / min(len(one), len(other)) ** 0.5, f"the {top} hottest blocks: {apart:.3f} apart"


def parts(case: Case, requests: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """The passes of one direction in sequence, each from the same place."""
    found: list[list[tuple[int, int]]] = []
    for request in requests:
        if not found or (case.passes and request == found[0][0]):
            found.append([])
        found[-1].append(request)
    return found


def goes_by_zones(case: Case, requests: list[tuple[int, int]], start: int) -> bool:
    """Each request goes on where the one before ended, behind a hole of the job's, or begins a zone."""
    units = {"k": 1 << 10, "m": 1 << 20}
    words = case.options.get("zonerange", case.options["zonesize"]), case.options["zoneskip"]
    step = sum(int(word.rstrip("km")) * units.get(word[-1], 1) for word in words)
    hole = int(case.options["rw"].partition(":")[2].removesuffix("k") or 0) << 10
    # Backwards, what is before the first goes on from the end.
    return hole < 0 or all(b[0] == a[0] + a[1] + hole or (b[0] - start) % step == 0 for a, b in pairwise(requests))


def jumps(case: Case, requests: list[tuple[int, int]]) -> set[int]:
    """Bytes left out between a request and the next in sequence; where a pass ends it begins anew."""
    start = min((at for at, _ in requests), default=0)
    found = {b[0] - a[0] - a[1] for a, b in pairwise(requests) if b[0] != start}
    return found if case.one_size else {jump for jump in found if abs(jump) <= 65536}


def near(one: Sequence[float], other: Sequence[float], what: str) -> None:
    """Two samples may be of the same distribution, by Kolmogorov and Smirnov: one pair in ten million is not."""
    n, m = len(one), len(other)
    if min(n, m) < 50:
        return
    values = np.unique([*one, *other])
    below = [np.searchsorted(np.sort(of), values, side="right") / len(of) for of in (one, other)]
    apart = float(np.abs(below[0] - below[1]).max())
    assert apart <= 2.9 * ((n + m) / (n * m)) ** 0.5, f"{what} are spread differently: {apart:.3f} apart"


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
        assert not [r for r in theirs or () if r[0] in ("read", "write")], case.text + why
        return
    assert theirs is not None, case.text
    try:
        compare(case, theirs, ours)
    except AssertionError as error:
        detail = "".join(f"\n{who}: {len(of)} {of[:12]} .. {of[-4:]}" for who, of in (("fio", theirs), ("pslc", ours)))
        detail = f"{case.text}{detail}"
        raise AssertionError(f"{error}\n{detail}") from None


@settings(**SETTINGS, max_examples=30)
@given(case=cases())
def test_fio_and_pslc_make_the_same_requests(case: Case, folder: Path):
    check(case, folder)


@pytest.mark.slow
@settings(**SETTINGS, max_examples=300)
@given(case=cases())
def test_fio_and_pslc_make_the_same_requests_of_300_jobs(case: Case, folder: Path):
    check(case, folder)


@st.composite
def clones(draw: st.DrawFn) -> dict[str, str]:
    """Jobs in sequence of several clones, of which nothing is left to chance."""
    options = {"rw": draw(st.sampled_from(["read", "write", "read:12k", "write:-8k"])), "numjobs": "3"}
    chosen = {
        "bs": ["4k", "64k", "512"],
        "size": ["256k", "10%", "33%", "100k", "1m"],
        "offset": ["64k", "10%", "1m", "4k"],
        "offset_increment": ["256k", "10%", "64k", "20k"],
        "offset_align": ["4k", "64k"],
        "io_size": ["100k", "512k", "50%"],
        "loops": ["2", "3"],
        "number_ios": ["5", "33"],
        "filesize": ["2m", "4m"],
        "zonesize": ["16k", "64k"],
        "rate_iops": ["5000"],
    }
    for name, values in chosen.items():
        if draw(st.integers(0, 2)) == 0:
            options[name] = draw(st.sampled_from(values))
    if "zonesize" in options:
        options |= {"zonemode": "strided", "zoneskip": draw(st.sampled_from(["0", "16k", "64k"]))}
    return options


@search(20, **SETTINGS)
@given(options=clones())
def test_each_clone_works_where_fios_does(options: dict[str, str], folder: Path):
    path = folder / "data.bin"
    path.write_bytes(np.random.default_rng(0).bytes(FILE))
    case = Case(options, False, False, True, False)
    (folder / "clones.fio").write_text(f"{case.text}filename={path}\nwrite_lat_log=clones\nlog_offset=1\n")
    done = subprocess.run([str(FIO), "clones.fio"], cwd=folder, capture_output=True, text=True, check=False)
    theirs = []
    for log in folder.glob("clones_lat.*.log"):
        rows = [[int(word) for word in line.split(",")] for line in log.read_text().splitlines()]
        theirs.append([(("read", "write")[row[2]], row[4], row[3]) for row in rows])
        log.unlink()
    if path.stat().st_size > FILE:
        # fio made the file longer, which a drive cannot become.
        return
    drive = RealDrive.existing(str(path), agreed=inspect_file(str(path))["identity"])
    try:
        logs = drive.run(f"{case.text}write_iolog=x\n", "clones.fio", [], 1)["logs"]
    except PslcError:
        assert done.returncode or not any(theirs), case.text
        return
    ours = []
    for log in logs:
        op, offset, length = (np.frombuffer(log[name], dtype="<u8").tolist() for name in ("op", "offset", "bytes"))
        ours.append([(("read", "write")[o], at, n) for o, at, n in zip(op, offset, length, strict=True)])
    # fio's second clone is the last one here.
    assert sorted(theirs) == sorted(ours), case.text


VERIFYING = [
    "rw=write",
    "rw=write\nloops=2",
    "rw=randwrite\nloops=2\nioengine=libaio\niodepth=4",
    "rw=randwrite\nnorandommap",
    "rw=randwrite\nnorandommap\nbssplit=4k/50:16k/50\nrandom_distribution=zipf:1.2",
    "rw=rw",
    "rw=randrw\nioengine=libaio\niodepth=4",
    "rw=write\ndo_verify=0",
    "rw=write:4k",
    "rw=write:28k",
    "rw=write:12k\nio_size=2m",
    "rw=randwrite\nbs=4k,8k\noffset=4k\nsize=100%",
    "rw=write\nio_size=3m",
    "rw=randwrite\nio_size=2m",
    "rw=randwrite\nrandom_generator=lfsr",
    "rw=write\nnumber_ios=100\nloops=2",
    "rw=write\nzonemode=strided\nzonesize=16k\nzonerange=32k\nzoneskip=16k",
    "rw=randwrite\nzonemode=strided\nzonesize=16k\nzoneskip=16k",
]


@pytest.mark.parametrize("options", VERIFYING)
def test_what_was_written_is_verified_as_fio_does(options: str, folder: Path):
    path = folder / "data.bin"
    path.write_bytes(np.random.default_rng(0).bytes(FILE))
    words = [line.partition("=")[::2] for line in options.splitlines()]
    case = Case({"bs": "4k", "size": "1m", "verify": "crc32c"} | dict(words), False, False, False, False)
    did = [by_fio(case, path), by_pslc(case, path)]
    assert all(did)
    passes = [verified(case, requests) for requests in did]
    assert passes[0] == passes[1]
    assert (passes[0] == 0) == ("do_verify" in options)
    if "loops" in options and "number_ios" not in options:
        assert passes[1] == 2
    if not case.options["rw"].endswith("rw") and not {"norandommap", "offset"} & case.options.keys():
        # Nothing is left to chance but the places.
        assert [what for what, _, _ in did[0]] == [what for what, _, _ in did[1]]


BACKLOGS = [
    "rw=write\nverify_backlog=16",
    "rw=write\nverify_backlog=16\nverify_backlog_batch=5\nfsync=7",
    "rw=write\nverify_backlog=10\nverify_backlog_batch=100\nloops=2",
    "rw=write:4k\nverify_backlog=1000\nio_size=2m",
    "rw=write\nverify_backlog=7\ndo_verify=0",
    "rw=write\nverify_backlog=7\nnumber_ios=50",
    "rw=randwrite\nverify_backlog=16\nverify_backlog_batch=1",
    "rw=randwrite\nverify_backlog=30\nrandom_generator=lfsr",
    "rw=randrw\nrwmixread=0\nverify_backlog=16",
]


@pytest.mark.parametrize("engine", ["ioengine=psync", "ioengine=libaio", "ioengine=libaio\niodepth=8"])
@pytest.mark.parametrize("options", BACKLOGS)
def test_a_backlog_is_verified_between_the_writes_as_fio_does(options: str, engine: str, folder: Path):
    path = folder / "data.bin"
    path.write_bytes(np.random.default_rng(0).bytes(FILE))
    words = [line.partition("=")[::2] for line in f"{options}\n{engine}".splitlines()]
    case = Case({"bs": "4k", "size": "1m", "verify": "crc32c"} | dict(words), False, False, False, False)
    theirs, ours = by_fio(case, path), by_pslc(case, path)
    assert theirs
    if "iodepth" in case.options:
        # When a write comes back is left to chance; that all of them are verified is not.
        moved = [Counter(what for what, _, _ in of if what in ("read", "write")) for of in (theirs, ours)]
        if not {"io_size", "number_ios", "loops"} & case.options.keys():
            assert moved[0] == moved[1]
        assert moved[1]["read"] == (0 if "do_verify" in options else moved[1]["write"])
    elif "rand" in options:
        assert [what for what, _, _ in theirs] == [what for what, _, _ in ours]
    else:
        assert theirs == ours


@pytest.mark.parametrize("engine", ["psync", "libaio"])
def test_a_job_over_by_time_verifies_each_pass_where_fios_does(engine: str, folder: Path):
    path = folder / "data.bin"
    path.write_bytes(np.random.default_rng(0).bytes(FILE))
    options = {"rw": "write", "bs": "64k", "size": "1m", "verify": "md5", "time_based": "", "runtime": "1"}
    case = Case(options | {"ioengine": engine, "rate": "16m"}, False, False, False, False)
    theirs, ours = by_fio(case, path), by_pslc(case, path)
    assert theirs
    # How far the time goes is left to chance. An engine that makes one request at a time has passes without an end.
    first = min(len(theirs), len(ours), 100)
    assert first == 100
    assert theirs[:first] == ours[:first]
    assert any(what == "read" for what, _, _ in ours) == (engine == "libaio")


def verified(case: Case, requests: list[Request]) -> int:
    """How many times what was written is read again: in the order of the writes under a random map; else by address,
    each block once."""
    passes, written, at = 0, [], 0
    mixed = case.options["rw"].endswith("rw")
    while at < len(requests):
        what, offset, length = requests[at]
        at += 1
        if what == "write":
            written = [r for r in written if r[0] + r[1] <= offset or offset + length <= r[0]] + [(offset, length)]
        mapped = "rand" in case.options["rw"] and not {"norandommap", "random_generator"} & case.options.keys()
        expected = written if mapped else sorted(written)
        reads = [r[1:] for r in requests[at : at + len(expected)] if r[0] == "read"]
        last = at + len(expected) == len(requests) if mixed else at < len(requests) and requests[at][0] == "read"
        if written and last:
            assert reads == expected
            passes, written, at = passes + 1, [], at + len(expected)
    return passes


def test_no_pass_begins_before_the_one_before_has_come_back(folder: Path):
    """fio's calls of the system, by strace, and a simulated drive's own log."""
    path = folder / "data.bin"
    path.write_bytes(bytes(FILE))
    text = "[a]\nrw=randwrite\nbs=4k\nsize=64k\nloops=3\nioengine=libaio\niodepth=8\n"
    (folder / "passes.fio").write_text(f"{text}filename={path}\n")
    calls, _ = traced([str(FIO), "passes.fio"], "io_submit,io_getevents", folder)
    made, back, empty = 0, 0, []
    for call, count in re.findall(r"(io_submit|io_getevents)\(.* = (\d+)$", calls, re.M):
        made, back = (made + int(count), back) if call == "io_submit" else (made, back + int(count))
        if made == back:
            empty.append(made)
    assert empty == [16, 32, 48]
    log = open_simulated("sim:pm871b-128gb").run(text + "write_iolog=x\n", "passes.fio", [], 1)["logs"][0]
    begin, time = (np.frombuffer(log[name], dtype="<u8").astype(int) for name in ("issued_ns", "latency_ns"))
    end = np.maximum.accumulate(begin + time)
    assert [at for at in range(1, 49) if at == 48 or begin[at] >= end[at - 1]] == empty
