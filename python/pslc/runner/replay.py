"""A trace replayed on a simulated drive, and again on others that differ in their cache."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import time_ns
from typing import Any

from pslc import traces
from pslc._native import SimDrive, TraceFile, version
from pslc.errors import JobError, PslcError
from pslc.recording import Recording
from pslc.targets.target import Target, find_target
from pslc.traces.verdict import SMALLEST, row

Progress = Callable[[dict[str, Any]], bool]


def replay(
    path: Path,
    on: str,
    how: traces.Replay,
    recorded: Callable[[dict[str, Any], dict[str, Any]], Recording],
    progress: Progress | None = None,
    keep: Callable[[Recording], None] | None = None,
) -> Recording:
    """Replay the trace in a file on the drive `on`; `recorded` makes a recording of what is common to all and of what
    the native part gives.

    Raises:
        PslcError: the drive is real, or the trace cannot be read or does not fit on it.
    """
    if not on.startswith("sim:"):
        hint = "replay it on a simulated drive: --on sim:NAME; pslc trace convert makes an iolog that fio replays"
        raise JobError(f"{on} is no simulated drive, on which traces are not replayed yet", hint)
    target = find_target(on)
    file = traces.opened(path, how.part)
    survey = file.survey()
    traces.one_device(path, how.part, survey)
    span = max((of["end_bytes"] for of in survey["devices"]), default=0)
    common: dict[str, Any] = {
        "suite": str(path),
        "target": target.spec,
        "drive": target.name,
        "seed": 0,
        "version": version(),
        "capacity_bytes": target.capacity_bytes,
        "overrides": [],
        "profile": target.profile,
        "provenance": target.provenance,
        "job_file": f"[trace]\nread_iolog={path}\n",
        "began_unix_ns": time_ns(),
    }

    def made(result: dict[str, Any], what_if: list[dict[str, Any]] | None = None, of: Target = target) -> Recording:
        about = {"survey": survey, "how": how.document(), "replay": result.get("replay")}
        facts = of.facts | {"trace": about | ({"what_if": what_if} if what_if is not None else {})}
        return recorded(common | {"facts": facts}, result)

    def kept(so_far: dict[str, Any]) -> None:
        assert keep is not None
        keep(made(so_far | {"wall_s": so_far["drive_time_ns"] / 1e9}))

    drive = target.open()
    assert isinstance(drive, SimDrive)
    stepped = None if progress is None else (lambda state: progress(state | {"step": "replay"}))
    asked = _asked(how, span)
    result = drive.replay(file, asked, stepped, kept if keep else None)
    if not how.what_if or result["interrupted"]:
        return made(result)
    first = row("as it is", made(result))
    return made(
        result, [first, *_others(target, file, asked, first, lambda found, other: row("", made(found, of=other)))]
    )


def _asked(how: traces.Replay, span: int) -> dict[str, Any]:
    depth = how.iodepth or (traces.DEPTH if how.pace == "original" else 32)
    said = {"pace": how.pace, "speed": how.speed, "iodepth": depth, "fit": how.fit}
    return said | {"span_bytes": span, "prefill": how.prefill}


NEAR = 1.05
"""The smallest cache is found to within this factor."""
SIZES = {"static-slc": "cache.static", "dynamic-slc": "cache.dynamic", "hybrid-slc": "cache.dynamic"}


def _others(
    target: Target,
    file: TraceFile,
    asked: dict[str, Any],
    first: dict[str, Any],
    told: Callable[[dict[str, Any], Target], dict[str, Any]],
) -> list[dict[str, Any]]:
    """The same trace with other caches: off, of nothing else, and the smallest that takes all of it."""

    def run(*changes: str) -> dict[str, Any]:
        other = find_target(",".join([target.spec, *changes]))
        drive = other.open()
        assert isinstance(drive, SimDrive)
        return told(drive.replay(file, asked), other)

    rows = []
    for name, mode in (("cache off", "pure-xlc"), ("all pSLC", "pure-slc")):
        try:
            rows.append(run(f"cache.mode={mode}") | {"name": name})
        except PslcError as error:
            rows.append({"name": name, "refused": error.message.lstrip(": ")})
    smallest = _smallest(target, first, run)
    return [*rows, *([smallest] if smallest else [])]


def _smallest(target: Target, first: dict[str, Any], run: Callable[..., dict[str, Any]]) -> dict[str, Any] | None:
    """The smallest cache that is enough, if the drive's own is, found by halves; None where the drive has none."""
    mode = next((line.split('"')[1] for line in target.profile.splitlines() if line.startswith("mode = ")), "")
    if mode not in SIZES:
        return None
    if not first["enough"]:
        return {"name": SMALLEST, "refused": "larger than the drive's own"}
    key, least = SIZES[mode], int(target.facts["slc_superblock_bytes"])
    enough, short = first | {"cache_bytes": int(target.facts["cache_bytes"])}, 0
    # What was ever in it is where to look first.
    guess = min(max(first["cache_most_bytes"], least), enough["cache_bytes"])
    while enough["cache_bytes"] > max(short * NEAR, short + least):
        size = guess or (enough["cache_bytes"] + short) // 2
        guess = 0
        try:
            found = run(f"{key}={size}B") | {"cache_bytes": size}
        except PslcError:
            found = {"enough": False}
        if found["enough"]:
            if size >= enough["cache_bytes"]:
                break
            enough = found
        else:
            short = size
    return enough | {"name": SMALLEST}
