"""A trace replayed on a drive; on a simulated one again with other caches."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path
from time import time_ns

from pslc import traces
from pslc._native import RealDrive, SimDrive, TraceFile, engine_ceiling
from pslc.base import words
from pslc.base.errors import JobError, PslcError
from pslc.device import probe
from pslc.device.target import RealOptions, Target, find_target
from pslc.recording.store import Common, Recording
from pslc.runner.callbacks import Confirm, Keep, Progress
from pslc.runner.plan import Plan, of_its_life, places
from pslc.schema.facts import Facts, Traced
from pslc.schema.jobs import KINDS
from pslc.schema.results import Progress as Now
from pslc.schema.results import ReplayResult, ReplaySoFar, Result
from pslc.schema.surveys import Asked, Replayed, Survey, WhatIf
from pslc.suites.trace import SMALLEST, row

BUFFERS = 256 << 20
"""Bytes of all requests under way on a real drive, at most."""


def replay(  # noqa: C901, PLR0913 checks before a write, in their order
    path: Path,
    on: str,
    how: traces.Replay,
    recorded: Callable[[Common, Result], Recording],
    progress: Progress | None = None,
    keep: Keep | None = None,
    real: RealOptions | None = None,
    confirm: Confirm | None = None,
) -> Recording | None:
    """Replay the trace in a file on the drive `on`; `recorded` makes a recording of what is common to all and of what
    the native part gives. None: `confirm` did not want what was to be done to a real drive.

    Raises:
        PslcError: the trace cannot be read or does not fit on the drive, or the drive may not be written to.
    """
    target = find_target(on, real)
    if target.stays:
        raise JobError(f"{on} is a drive that stays, on which no traces are replayed", "--on sim:NAME")
    if target.is_real and how.what_if:
        raise JobError("--what-if asks for other caches, and a real drive has the one it has", "--on sim:NAME")
    file = traces.opened(path, how.part)
    survey = _survey(file, path, how, target) if target.is_real or how.fit == "scale" else None
    if target.is_real and survey is not None and confirm is not None:
        if not confirm(plan_of_replay(target, path, survey, how)):
            return None
        target = target.agreed()
    common = target.common("trace", f"[trace]\nread_iolog={path}\n", time_ns())

    def of_part(found: ReplaySoFar, of: Target, replayed: Replayed | None, what_if: list[WhatIf] | None) -> Recording:
        about: Traced = {
            "file": str(path),
            "survey": survey or found["survey"],
            "how": how.document(),
            "replay": replayed,
        }
        if what_if is not None:
            about["what_if"] = what_if
        return recorded({**common, "facts": of.facts | Facts(trace=about)}, found)

    def made(result: ReplayResult, what_if: list[WhatIf] | None = None, of: Target = target) -> Recording:
        return of_part(result, of, result["replay"], what_if)

    def kept(so_far: ReplaySoFar) -> None:
        assert keep is not None
        keep(of_part(so_far, target, None, None))

    drive = target.open()

    def stepped(state: Now) -> bool:
        return progress is None or progress({**state, "step": "replay"})

    asked = _asked(how, survey, target.is_real)
    if isinstance(drive, RealDrive):
        facts = target.facts
        facts["before"], facts["engine_ceiling_iops"] = probe.moment(facts), engine_ceiling()
        result = drive.replay(file, asked, 0, stepped, kept if keep else None)
        facts["after"] = probe.moment(facts)
        if drive.engine is not None:
            facts["engine"] = drive.engine
        return made(result)
    try:
        result = drive.replay(file, asked, stepped, kept if keep else None)
    except PslcError:
        # What is wrong may be that it is of several devices: which they are is known at its end only.
        traces.one_device(path, how.part, file.survey())
        raise
    if not how.what_if or result["interrupted"]:
        return made(result)
    survey = survey or result["survey"]
    asked = {**asked, "survey": False}
    first = row("as it is", made(result))
    return made(
        result, [first, *_others(target, file, asked, first, lambda found, other: row("", made(found, of=other)))]
    )


def _survey(file: TraceFile, path: Path, how: traces.Replay, target: Target) -> Survey:
    """What is in a trace, where that has to be known before it is replayed.

    Raises:
        PslcError: it is of several devices, or does not fit on a real drive.
    """
    survey = file.survey()
    traces.one_device(path, how.part, survey)
    end = max((of["end_bytes"] for of in survey["devices"]), default=0)
    if target.is_real and how.fit == "exact" and end > target.capacity_bytes:
        hint = (
            "--fit wrap begins again at 0, --fit compact puts what is used side by side, --fit scale shrinks all alike"
        )
        raise JobError(f"{path}: a request ends at byte {end}, but the drive has {target.capacity_bytes}", hint)
    return survey


def _asked(how: traces.Replay, survey: Survey | None, real: bool) -> Asked:
    """As the native part takes it. Where there is no survey yet the replay makes one: a trace is read once."""
    devices, sizes = (survey["devices"], survey["sizes"]) if survey else ([], [])
    span = max((of["end_bytes"] for of in devices), default=0)
    largest = max((size for kind, size, _ in sizes if kind in ("read", "write")), default=0)
    depth = how.iodepth or (traces.DEPTH if how.pace == "original" else 32)
    if real and largest * depth > BUFFERS:
        if how.iodepth:
            hint = f"--iodepth={max(BUFFERS // largest, 1)} or less"
            raise JobError(f"{depth} requests of up to {words.size(largest)} need too much memory", hint)
        depth = max(BUFFERS // largest, 1)
    return {
        "pace": how.pace,
        "speed": how.speed,
        "iodepth": depth,
        "fit": how.fit,
        "span_bytes": span,
        "prefill": how.prefill,
        "largest_bytes": largest,
        "survey": survey is None,
    }


def plan_of_replay(target: Target, path: Path, survey: Survey, how: traces.Replay) -> Plan:
    """What a replay does to a real drive."""
    moved = {kind: sum(of["bytes"][kind] for of in survey["devices"]) for kind in KINDS}
    said = places(target)
    if moved["write"]:
        said.append(f"writes {words.size(moved['write'])} of the trace; {of_its_life(target, moved['write'])}")
    said += [f"reads {words.size(moved['read'])}"] if moved["read"] else []
    said += [f"discards {words.size(moved['trim'])}"] if moved["trim"] else []
    if how.prefill:
        said.append(f"writes what the trace reads before it begins, {words.size(survey['touched_bytes'])} at most")
    if how.pace == "original":
        said.append(f"takes {words.span(survey['duration_ns'] / 1e9 / how.speed)}, the trace's own time")
    fio = f"pslc trace convert {shlex.quote(str(path))} -o work.iolog --replay-on {shlex.quote(target.spec)}; "
    fio += "fio --name=trace --direct=1 --ioengine=libaio --read_iolog=work.iolog"
    return Plan(said, fio, moved["write"], target.foreign)


NEAR = 1.05
"""The smallest cache is found to within this factor."""
SIZES = {"static-slc": "cache.static", "dynamic-slc": "cache.dynamic", "hybrid-slc": "cache.dynamic"}


def _others(
    target: Target,
    file: TraceFile,
    asked: Asked,
    first: WhatIf,
    told: Callable[[ReplayResult, Target], WhatIf],
) -> list[WhatIf]:
    """The same trace with other caches: off, of nothing else, and the smallest that takes all of it."""

    def run(*changes: str) -> WhatIf:
        other = find_target(",".join([target.spec, *changes]))
        drive = other.open()
        assert isinstance(drive, SimDrive)
        return told(drive.replay(file, asked), other)

    rows: list[WhatIf] = []
    for name, mode in (("cache off", "pure-xlc"), ("all pSLC", "pure-slc")):
        try:
            rows.append({**run(f"cache.mode={mode}"), "name": name})
        except PslcError as error:
            rows.append({"name": name, "refused": error.message.lstrip(": ")})
    smallest = _smallest(target, first, run)
    return [*rows, *([smallest] if smallest else [])]


def _smallest(target: Target, first: WhatIf, run: Callable[..., WhatIf]) -> WhatIf | None:
    """The smallest cache that is enough, if the drive's own is, found by halves; None where the drive has none."""
    mode = tomllib.loads(target.profile)["cache"]["mode"]
    if mode not in SIZES:
        return None
    if not first["enough"]:
        return {"name": SMALLEST, "refused": "larger than the drive's own"}
    key, least = SIZES[mode], int(target.facts["slc_superblock_bytes"])
    enough, large, short = first, int(target.facts["cache_bytes"]), 0
    # What was ever in it is where to look first.
    guess = min(max(first["cache_most_bytes"] or 0, least), large)
    while large > max(short * NEAR, short + least):
        size = guess or (large + short) // 2
        guess = 0
        try:
            found = run(f"{key}={size}B")
        except PslcError:
            short = size
            continue
        if not found["enough"]:
            short = size
        elif size < large:
            enough, large = found, size
        else:
            break
    return {**enough, "name": SMALLEST, "cache_bytes": large}
