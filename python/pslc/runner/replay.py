"""A trace replayed on a drive; on a simulated one again with other caches."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from time import time_ns
from typing import Final

from pslc import traces
from pslc._native import ArrayDrive, RealDrive, SimDrive, TraceFile, engine_ceiling
from pslc.base import shell, units, words
from pslc.base.errors import JobError, PslcError
from pslc.device import ends, probe
from pslc.device.kernel_log import KernelLog
from pslc.device.target import Target, find_target
from pslc.recording import stalls
from pslc.recording.model import Common, Recording
from pslc.runner.callbacks import DeclinedError
from pslc.runner.options import RunOptions
from pslc.runner.plan import Plan, of_its_life, places
from pslc.runner.step_runner import engine_of, of_result, raise_if_policy_failed
from pslc.runner.subject import Trace
from pslc.schema.facts import Facts, Traced
from pslc.schema.jobs import KINDS
from pslc.schema.results import Progress, ReplayResult, ReplaySoFar
from pslc.schema.surveys import Asked, Replayed, Survey, WhatIf
from pslc.suites.trace import SMALLEST, row

MAX_BUFFER_BYTES: Final = 256 << 20
"""Buffers of all requests in flight on a real drive."""
ASAP_DEPTH: Final = 32
"""Requests in flight of a trace that is replayed as fast as possible, by default: as many as SATA queues."""
CACHE_SIZE_RATIO: Final = 1.05
"""The search for the smallest cache that suffices ends within this factor of it."""
SIZE_KEYS: Final = {"static-slc": "cache.static", "dynamic-slc": "cache.dynamic", "hybrid-slc": "cache.dynamic"}
"""Key of the size of a cache, by cache mode."""
ADDRESS_HINT: Final = (
    "--addresses wrap starts again at 0, compact packs the used addresses, scale shrinks all of them alike"
)


@dataclass
class _Replayer:
    """A trace about to be replayed, and what all recordings of it share. `survey` is None until it is needed."""

    target: Target
    trace: Trace
    file: TraceFile
    options: RunOptions
    survey: Survey | None

    def __post_init__(self) -> None:
        self.common: Common = self.target.common("trace", f"[trace]\nread_iolog={self.trace.path}\n", time_ns())

    def recording(
        self, result: ReplaySoFar, target: Target, replayed: Replayed | None, what_if: list[WhatIf] | None = None
    ) -> Recording:
        """A recording of a result on `target`; `replayed` is None while the replay is under way."""
        facts: Traced = {
            "file": str(self.trace.path),
            "survey": self.survey or result["survey"],
            "how": self.trace.replay.document(),
            "replay": replayed,
        }
        if what_if is not None:
            facts["what_if"] = what_if
        added: Facts = {**(stalls.joined([result]) if target.is_real else {}), "trace": facts}
        return of_result({**self.common, "facts": target.facts | added}, result)

    def finished(self, result: ReplayResult, what_if: list[WhatIf] | None = None) -> Recording:
        """The recording of a replay on the drive itself."""
        path, part = self.trace.path, self.trace.replay.part
        if not result["interrupted"] and not result["replay"]["requests"] and (part.from_s or part.to_s is not None):
            hint = f"both are since the trace's first request; pslc trace show {path} says how long it takes"
            raise JobError(f"{path}: no request is between --from and --to", hint)
        recording = self.recording(result, self.target, result["replay"], what_if)
        raise_if_policy_failed(result, [recording])
        return recording

    def on_drive(self, drive: RealDrive | ArrayDrive | SimDrive) -> Recording:
        """Replay on an open drive."""
        request = _request(self.trace.replay, self.survey, self.target.is_real)
        checkpoint = self._checkpoint if self.options.on_checkpoint else None
        if isinstance(drive, RealDrive):
            return self._on_real_drive(drive, request, checkpoint)
        try:
            result = drive.replay(self.file, request, self._progress, checkpoint)
        except PslcError:
            # The error may come from a trace of several devices, which are known only at its end.
            traces.one_device(self.trace.path, self.trace.replay.part, self.file.survey())
            raise
        if not self.trace.replay.what_if or result["interrupted"]:
            return self.finished(result)
        self.survey = self.survey or result["survey"]
        return self.finished(result, self._what_if({**request, "survey": False}, result))

    def _on_real_drive(
        self, drive: RealDrive, request: Asked, checkpoint: Callable[[ReplaySoFar], None] | None
    ) -> Recording:
        facts = self.target.facts
        facts["before"], facts["engine_ceiling_iops"] = probe.moment(facts), engine_ceiling()
        counters, log = probe.Counters(facts), KernelLog(facts)
        result = drive.replay(self.file, request, 0, self._progress, checkpoint)
        facts.update(counters.so_far())
        facts["kernel"], facts["after"] = log.close(), probe.moment(facts)
        if (real := self.options.real) is not None and real.ends is not None:
            ends.note_after(drive, real.ends)
        facts.update(engine_of(drive))
        return self.finished(result)

    def _progress(self, state: Progress) -> bool:
        return self.options.progress is None or self.options.progress({**state, "step": "replay"})

    def _checkpoint(self, so_far: ReplaySoFar) -> None:
        assert self.options.on_checkpoint is not None
        self.options.on_checkpoint(self.recording(so_far, self.target, None))

    def _what_if(self, request: Asked, result: ReplayResult) -> list[WhatIf]:
        """The drive as it is, then the same trace with other caches: off, all pSLC, and the smallest that suffices."""
        as_is = row("as it is", self.finished(result))
        rows = [as_is]
        for name, mode in (("cache off", "pure-xlc"), ("all pSLC", "pure-slc")):
            try:
                rows.append({**self._with_keys(request, f"cache.mode={mode}"), "name": name})
            except PslcError as error:
                rows.append({"name": name, "refused": error.message})
        smallest = _smallest_cache(self.target, as_is, partial(self._with_keys, request))
        return [*rows, *([smallest] if smallest else [])]

    def _with_keys(self, request: Asked, *keys: str) -> WhatIf:
        """The row of the same drive with other keys of its profile."""
        target = find_target(",".join([self.target.spec, *keys]))
        drive = target.open()
        assert isinstance(drive, SimDrive)
        result = drive.replay(self.file, request)
        return row("", self.recording(result, target, result["replay"]))


def replay(trace: Trace, on: str, options: RunOptions) -> Recording:
    """Replay a trace on the drive `on`.

    Raises:
        PslcError: the trace cannot be read or does not fit on the drive, or the drive may not be written to.
        DeclinedError: `options.confirm` returned False.
    """
    how = trace.replay
    target = options.governed(find_target(on, options.real))
    if target.stays:
        raise JobError(f"{on} is a drive file, and traces are not replayed on those", "--on sim:NAME")
    if target.is_real and how.what_if:
        raise JobError("--what-if needs a simulated drive: a real drive has one cache", "--on sim:NAME")
    if "array" in target.facts and how.what_if:
        raise JobError("--what-if tries other caches of a single drive", "change members: 4xNAME,cache.mode=pure-xlc")
    if options.is_governed and how.what_if:
        raise JobError("--what-if tries other caches with the policy of the profile", "leave out --what-if or --policy")
    file = traces.opened(trace.path, how.part)
    survey = _survey(file, trace, target) if target.is_real or how.fit == "scale" else None
    if target.is_real and survey is not None and options.confirm is not None:
        if not options.confirm(plan_of_replay(target, trace, survey)):
            raise DeclinedError
        target = target.agreed()
    return _Replayer(target, trace, file, options, survey).on_drive(target.open())


def _survey(file: TraceFile, trace: Trace, target: Target) -> Survey:
    """Survey of a trace, where that has to be known before it is replayed.

    Raises:
        PslcError: it is of several devices, or does not fit on a real drive.
    """
    survey = file.survey()
    traces.one_device(trace.path, trace.replay.part, survey)
    end = max((device["end_bytes"] for device in survey["devices"]), default=0)
    if target.is_real and trace.replay.fit == "exact" and end > target.capacity_bytes:
        raise JobError(
            f"{trace.path}: a request ends at byte {end}, but the drive has {target.capacity_bytes}", ADDRESS_HINT
        )
    return survey


def _request(how: traces.Replay, survey: Survey | None, is_real: bool) -> Asked:
    """The replay as the native part takes it. Without a survey the replay makes one: a trace is read once."""
    devices, sizes = (survey["devices"], survey["sizes"]) if survey else ([], [])
    span = max((device["end_bytes"] for device in devices), default=0)
    largest = max((size for kind, size, _ in sizes if kind in ("read", "write")), default=0)
    depth = how.iodepth or (traces.DEPTH if how.pace == "original" else ASAP_DEPTH)
    if is_real and largest * depth > MAX_BUFFER_BYTES:
        if how.iodepth:
            hint = f"--iodepth={max(MAX_BUFFER_BYTES // largest, 1)} or less"
            raise JobError(f"{depth} requests of up to {words.size(largest)} need too much memory", hint)
        depth = max(MAX_BUFFER_BYTES // largest, 1)
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


def plan_of_replay(target: Target, trace: Trace, survey: Survey) -> Plan:
    """Plan the replay of a trace on a real drive: bytes, time and what is lost."""
    how = trace.replay
    moved = {kind: sum(device["bytes"][kind] for device in survey["devices"]) for kind in KINDS}
    sentences = places(target)
    if moved["write"]:
        life, problems = of_its_life(target, moved["write"])
        sentences += [f"writes {words.size(moved['write'])} of the trace; {life}", *problems]
    sentences += [f"reads {words.size(moved['read'])}"] if moved["read"] else []
    sentences += [f"discards {words.size(moved['trim'])}"] if moved["trim"] else []
    if how.prefill:
        sentences.append(f"first writes what the trace reads, at most {words.size(survey['touched_bytes'])}")
    if how.pace == "original":
        sentences.append(f"takes {words.span(survey['duration_ns'] / 1e9 / how.speed)}, the trace's own time")
    fio = f"pslc trace convert {shell.line([str(trace.path)])} -o work.iolog --replay-on {shell.line([target.spec])}; "
    fio += "fio --name=trace --direct=1 --ioengine=libaio --read_iolog=work.iolog"
    return Plan(sentences, fio, moved["write"], target.foreign)


def _smallest_cache(target: Target, as_is: WhatIf, run: Callable[..., WhatIf]) -> WhatIf | None:
    """Return the row of the smallest cache that suffices, by bisection; None if the drive has no cache.

    The row says `refused`, and no size, where the drive's own cache does not suffice or no other can be tried.

    Args:
        as_is: the row of the drive's own cache.
        run: gives the row for keys of the profile.
    """
    cache = tomllib.loads(target.profile)["cache"]
    if cache["mode"] not in SIZE_KEYS:
        return None
    if not as_is["enough"]:
        return {"name": SMALLEST, "refused": "larger than the drive's own"}
    min_bytes, smallest, refusal = int(target.facts["slc_superblock_bytes"]), as_is, None
    enough_bytes, short_bytes = int(target.facts["cache_bytes"]), 0
    # The first guess is what the cache held at most, in whole superblocks.
    guess = -(-(as_is["cache_most_bytes"] or 0) // min_bytes) * min_bytes
    size = min(max(guess, min_bytes), enough_bytes - min_bytes)
    while enough_bytes > max(short_bytes * CACHE_SIZE_RATIO, short_bytes + min_bytes):
        try:
            candidate = run(*_size_keys(target, size))
        except PslcError as error:
            refusal, short_bytes = error.message, size
        else:
            refusal = None
            if candidate["enough"]:
                smallest, enough_bytes = candidate, size
            else:
                short_bytes = size
        size = (enough_bytes + short_bytes) // 2
    if refusal is not None and smallest is as_is:
        return {"name": SMALLEST, "refused": refusal}
    return {**smallest, "name": SMALLEST}


def _size_keys(target: Target, size: int) -> list[str]:
    """Return the keys of the profile that give a drive a cache of `size` bytes, its static part first.

    Keys are those of the whole drive, of which the target may be a scaled one.
    """
    cache = tomllib.loads(target.profile)["cache"]
    whole = Fraction(target.facts.get("scale") or 1)
    static = units.size(str(cache.get("static", "0B")), "cache.static") if cache["mode"] == "hybrid-slc" else 0
    parts = {SIZE_KEYS[cache["mode"]]: size - min(size, static)}
    if static:
        parts["cache.static"] = min(size, static)
    return [f"{key}={round(part / whole)}B" for key, part in parts.items()]
