"""fio's JSON and JSON+: what each job did; it has no series, so there is no curve."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from pslc.base import gate
from pslc.base.errors import RecordingError
from pslc.base.files import Json
from pslc.formats import FILE, About, ImportedData, ImportOptions, text
from pslc.schema.jobs import Done, Job

ABOUT: Final = About(
    program="fio",
    what="JSON and JSON+",
    content="bytes, speed and latencies of each job",
    command="fio --output-format=json",
    gives="jobs",
)


def matches(path: Path, head: str) -> bool:
    """It names fio's version; some programs print a line before it."""
    del path
    return '"fio version"' in head


def read(paths: Sequence[Path], hints: ImportOptions) -> ImportedData:
    """The jobs of all files."""
    del hints
    jobs = []
    for path in paths:
        whole = text(path)
        try:
            document = gate.document(whole[whole.index("{") :], str(path), FILE)
            jobs += [_job(job, document.get("global options", {})) for job in document["jobs"]]
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            hint = "the output of fio --output-format=json or json+"
            raise RecordingError(f"{path}: not fio's JSON ({error})", hint) from None
    return ImportedData(paths[0].name, None, jobs)


def _job(job: Json, common: Json) -> Job:
    found: Job = {
        "name": str(job["jobname"]),
        "options": {name: str(value) for name, value in (common | job.get("job options", {})).items()},
        "notes": [],
        "read": _kind(job.get("read", {})),
        "write": _kind(job.get("write", {})),
        "trim": _kind(job.get("trim", {})),
    }
    if "groupid" in job:
        found["groupid"] = int(_number(job["groupid"]))
    return found


def _kind(done: Json) -> Done:
    latency = done.get("lat_ns") or {}
    completion = done.get("clat_ns") or {}
    percentiles = {name: _number(float(ns)) for name, ns in completion.get("percentile", {}).items()}
    wanted = ("50.000000", "99.000000", "99.900000")
    return {
        "io_bytes": _number(done.get("io_bytes", 0)),
        "total_ios": _number(done.get("total_ios", 0)),
        "runtime_ns": _number(done.get("runtime", 0)) * 1_000_000,
        "lat_ns": {
            "mean": _number(latency.get("mean", 0.0)),
            "max": _number(latency.get("max", 0)),
            "percentile": {name: percentiles.get(name, 0.0) for name in wanted} | percentiles,
        },
    }


def _number(value: Any) -> Any:
    """A number that counts something.

    Raises:
        TypeError, ValueError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{str(value)[:40]} is no number")
    if not 0 <= value < 1e30:
        raise ValueError(f"{value} is no count")
    return value
