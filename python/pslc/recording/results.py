"""Results that another program reports without a series, as metrics: under the names of pslc's suite for the same
tests, so that `pslc compare` puts them in one row, else under the program's own."""

import re
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from pslc.base import units, words
from pslc.recording.metrics import Figure, Figures, Name, Origin, label, rate
from pslc.recording.model import Recording
from pslc.schema.results import Measured

Keys = tuple[str, dict[str, str]]
"""The suite's name of a test, empty where the figure is of no row; and its keys of `bytes_per_s`, `iops` and
`latency_s`, where it has one."""
MIX: Final = {"mixed": "mix"}
CRYSTAL: Final = re.compile(
    r"(?P<order>SEQ|RND|Sequential|Random) +(?P<size>\d+) ?(?P<unit>[KM])i?B "
    r"\(Q= *(?P<depth>\d+), ?T= *(?P<threads>\d+)\)"
)
SHORT: Final = {"Sequential": "SEQ", "Random": "RND"}
AS_SSD: Final = {"Sequential": "Seq", "Seq": "Seq", "4K": "4K", "4K-64Threads": "4K-64Thrd", "4K-64Thrd": "4K-64Thrd"}
HD_TUNE: Final = {
    "Transfer Rate Minimum": "least_bytes_per_s",
    "Transfer Rate Maximum": "most_bytes_per_s",
    "Transfer Rate Average": "mean_bytes_per_s",
}
TRANSFER: Final = re.compile(r"(?P<count>\d+(?:\.\d+)?) (?P<unit>B|KB|KiB|MB|MiB)")


def of_imported(recording: Recording) -> Figures:
    """Figures of the results that a recording holds; none for pslc's own."""
    imported = recording.facts.get("imported")
    if imported is None:
        return {}
    suite = imported["suite"]
    figures: Figures = {}
    for row in imported["rows"]:
        test, keys = KEYS[suite](row) if suite else ("", {})
        for what, figure in _figures(row):
            figures[_name(suite, test, keys.get(what), row, what)] = figure
    return figures


def _figures(row: Measured) -> Iterator[tuple[str, tuple[str, Figure]]]:
    if row["bytes_per_s"] is not None:
        spread = float(np.std(row["samples"])) / row["bytes_per_s"] if row["samples"] else 0.0
        yield "bytes_per_s", ("B/s", rate(row["bytes_per_s"], spread))
    if row["iops"] is not None:
        yield "iops", ("/s", rate(row["iops"]))
    if row["latency_s"] is not None:
        yield "latency_s", ("s", rate(row["latency_s"]))


def _name(suite: str, test: str, key: str | None, row: Measured, what: str) -> Name:
    if key is None:
        own = f"{row['test']} {row['kind']}" + {"bytes_per_s": "", "iops": " IOPS", "latency_s": " latency"}[what]
        return Name(own, own)
    if not test:
        return Name(key, label(key))
    called = f"{test}, {label(key)}"
    return Name(f"{suite} {called}", called, Origin.ROW)


def _of_crystal(row: Measured) -> Keys:
    match = CRYSTAL.fullmatch(row["test"])
    if match is None:
        return "", {}
    order = SHORT.get(match["order"], match["order"])
    test = f"{order}{match['size']}{match['unit']} Q{match['depth']}T{match['threads']}"
    keys = {"bytes_per_s": f"{MIX.get(row['kind'], row['kind'])}_bytes_per_s"}
    if row["kind"] not in MIX:
        keys |= {"iops": f"{row['kind']}_iops", "latency_s": f"{row['kind']}_mean_s"}
    return test, keys


def _of_as_ssd(row: Measured) -> Keys:
    if test := AS_SSD.get(row["test"]):
        return test, {"bytes_per_s": f"{row['kind']}_bytes_per_s"}
    return "", {"latency_s": f"access_{row['kind']}_s"} if row["test"].startswith("Acc") else {}


def _of_atto(row: Measured) -> Keys:
    match = TRANSFER.fullmatch(row["test"])
    if match is None:
        return "", {}
    size = words.block(round(float(match["count"]) * units.POWERS_OF_1024[match["unit"].rstrip("iB").lower()]))
    return size, {"bytes_per_s": f"{row['kind']}_bytes_per_s"}


def _of_hd_tune(row: Measured) -> Keys:
    if key := HD_TUNE.get(row["test"]):
        return row["kind"], {"bytes_per_s": key}
    return "", {"latency_s": "access_s"} if row["test"] == "Access Time" and row["kind"] == "read" else {}


KEYS: Final[dict[str, Callable[[Measured], Keys]]] = {
    "cdm": _of_crystal,
    "as_ssd": _of_as_ssd,
    "atto": _of_atto,
    "hdtune": _of_hd_tune,
}
"""Names of results by the suite of pslc's."""
