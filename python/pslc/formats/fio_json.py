"""fio's JSON and JSON+: what each job did; it has no series, so there is no curve."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pslc.errors import refusal
from pslc.formats import Foreign, Hints


def matches(path: Path, head: str) -> bool:
    """It names fio's version; some programs print a line before it."""
    del path
    return '"fio version"' in head


def read(paths: Sequence[Path], hints: Hints) -> Foreign:
    """The jobs of all files."""
    del hints
    jobs = []
    for path in paths:
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            document = json.loads(text[text.index("{") :])
            jobs += [_job(job, document.get("global options", {})) for job in document["jobs"]]
        except (ValueError, KeyError, TypeError) as error:
            hint = "the output of fio --output-format=json or json+"
            raise refusal(f"{path}: not fio's JSON ({error})", hint) from None
    return Foreign(paths[0].name, None, jobs)


def _job(job: dict[str, Any], common: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": job["jobname"],
        "options": common | job.get("job options", {}),
        "notes": [],
        **{kind: _kind(job.get(kind, {})) for kind in ("read", "write", "trim")},
    }


def _kind(done: dict[str, Any]) -> dict[str, Any]:
    latency = done.get("lat_ns") or {}
    completion = done.get("clat_ns") or {}
    percentiles = {name: float(ns) for name, ns in completion.get("percentile", {}).items()}
    wanted = ("50.000000", "99.000000", "99.900000")
    return {
        "io_bytes": done.get("io_bytes", 0),
        "total_ios": done.get("total_ios", 0),
        "runtime_ns": done.get("runtime", 0) * 1_000_000,
        "lat_ns": {
            "mean": latency.get("mean", 0.0),
            "max": latency.get("max", 0),
            "percentile": {name: percentiles.get(name, 0.0) for name in wanted} | percentiles,
        },
    }
