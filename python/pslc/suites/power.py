"""What does the drive draw, and what does a byte cost? Watts in each phase of work, and when idle.

Idle, writing into the cache and past it, reading in sequence and at random, and a transfer: 25 GB are copied within
the drive again and again, 256 KiB at a time, for ten minutes. A simulated drive measures its own power. A real drive
needs the CSV log of a power meter, with `--meter` or afterwards (`pslc analyze RUN --meter LOG.csv`).
"""

from functools import partial

from typing_extensions import TypedDict

from pslc.base import words
from pslc.device.region import MIB, Region
from pslc.device.sensors import ENERGY
from pslc.figures import curves
from pslc.figures.picture import Axis, Bars, Panel, Picture, Table
from pslc.figures.tables import Columns, of_rows
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import BEGUN, LONGEST_BEGUN, cache, not_tried, seconds, was_tried
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "a fifth of the time of each, a minute of the transfer"
COMPUTER = "none"
UNLIKE_SCALED = "its transfer has a fixed size"
SECONDS = 10.0
IDLE_S = 300.0
TRANSFER_S, QUICK_TRANSFER_S = 600.0, 60.0
TRANSFER = 25_200 * MIB
INTO = 0.6
"""Share of the cache that is written to see what that costs."""
FASTER = 1.2
"""A cache is faster than what lies past it by this much at least."""
UNMETERED = MeasurementWarning(
    "unmetered", "there is no power meter, so only speeds are known: give --meter LOG.csv, or a profile with [power]"
)
STATES = {
    "idle": "idle",
    "write-cache": "writing into the cache",
    "write-past": "writing past the cache",
    "read": "reading in sequence",
    "random-read": "reading 4 KiB at random",
    "random-write": "writing 4 KiB at random",
    "transfer": "copying within the drive",
}
WRITES = ("write-cache", "write-past", "random-write")


def steps(region: Region) -> Steps:
    """A step a state, so that each has an energy of its own."""
    seconds_each = SECONDS / 5 if region.quick else SECONDS
    part = yield region.write("find-cache", region.share(0.6))
    estimate = cache(part)
    yield region.trim() + region.job("settle", rw="trim", bs="4k", number_ios=1, pause=600.0)
    # One short request at the end of the silence.
    yield region.job("idle", rw="trim", bs="4k", number_ios=1, pause=IDLE_S)
    begun = min(int(BEGUN * estimate.bytes) // MIB * MIB, LONGEST_BEGUN) if estimate else 0
    if begun:
        yield region.write("begin-cache", begun)
    into = min(INTO * estimate.bytes if estimate else 1e9, 6e9 * seconds_each)
    yield region.write("write-cache", max(min(int(into) // MIB * MIB, region.share(0.5)), MIB), offset=begun)
    if estimate:
        yield region.write("fill-cache", min(int(1.05 * estimate.bytes) // MIB * MIB, region.share(0.7)))
    data = region.share(0.5)
    large = partial(region.job, bs="1m", iodepth=32, seconds=seconds_each)
    yield large("write-past", rw="write", offset=region.share(0.7), size=region.share(0.3))
    yield region.write("lay-out", data) + region.job("rest", rw="read", bs="4k", number_ios=1, pause=600.0)
    yield large("read", rw="read", size=data)
    small = partial(region.job, bs="4k", iodepth=32, norandommap=True, size=data, seconds=seconds_each)
    yield small("random-read", rw="randread")
    yield small("random-write", rw="randwrite")
    copied = min(TRANSFER, data)
    yield region.trim() + region.write("transfer-lay-out", copied) + region.job(
        "rest-again", rw="read", bs="4k", number_ios=1, pause=600.0)  # fmt: skip
    yield region.job("transfer", rw="rw", rwmixread=50, bs="256k", size=copied,
                     seconds=QUICK_TRANSFER_S if region.quick else TRANSFER_S)  # fmt: skip


class State(TypedDict):
    """Power and energy in one state of the drive."""

    state: str
    bytes_per_s: float
    watts: float | None
    bytes_per_s_per_watt: float | None
    joules_per_byte: float | None


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    power: list[State]
    idle_watts: float | None
    most_watts: float | None
    most_state: str | None
    most_write_watts: float | None
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `power`: of each `state` (`idle`, `write-cache`, `write-past`, `read`, `random-read`, `random-write`, `transfer`)
      `bytes_per_s`, `watts`, `bytes_per_s_per_watt`, `joules_per_byte`; those of energy are null where it is unknown:
      of a real drive without a meter's log, and of a profile without a table `power`
    - `idle_watts`; `most_watts` in the state `most_state`, and `most_write_watts` in those that write: null where it is
      unknown, and the most where a state was not tried
    """
    rows = _states(recording)
    untried = [called for state, called in STATES.items() if state not in [row["state"] for row in rows]]
    watts_of = {row["state"]: row["watts"] for row in rows if row["watts"] is not None}
    return {
        "power": rows,
        "idle_watts": watts_of.get("idle"),
        "most_watts": max(watts_of.values(), default=None) if not untried else None,
        "most_state": max(watts_of, key=lambda state: watts_of[state], default=None) if not untried else None,
        "most_write_watts": max((watts_of[state] for state in WRITES if state in watts_of), default=None),
        "warnings": [not_tried(untried[-1])] if untried else [] if watts_of else [UNMETERED],
    }


def _states(recording: Recording) -> list[State]:
    """The states that were run to their end."""
    # A profile without power has the column, and nothing in it.
    has_energy = recording.totals.get(ENERGY, 0) > recording.before.get(ENERGY, 0)
    named = [(part.jobs[0]["name"], part) for part in recording.parts if part.jobs and not part.cut_off]
    return [_state(name, part, has_energy) for name, part in named if name in STATES and part.drive_time_s]


def _state(name: str, part: Recording, has_energy: bool) -> State:
    job = part.jobs[0]
    moved = 0.0 if name == "idle" else float(job["read"]["io_bytes"] + job["write"]["io_bytes"])
    took = part.drive_time_s if name == "idle" else seconds(job)
    watts = (part.totals[ENERGY] - part.before[ENERGY]) / 1e9 / part.drive_time_s if has_energy else None
    return {
        "state": name,
        "bytes_per_s": moved / took,
        "watts": watts,
        "bytes_per_s_per_watt": moved / took / watts if watts and moved else None,
        "joules_per_byte": watts * took / moved if watts and moved else None,
    }


def sentences(findings: Findings) -> list[str]:
    """Idle, most, and what a GB costs."""
    if all(row["watts"] is None for row in findings["power"]):
        return ["Power draw: unknown."] if was_tried(findings) else []
    names, rows = _shown(findings["power"])
    # What was not tried may draw more.
    peaks = " and ".join(f"{_watts(row['watts'])} {names[row['state']]}" for row in _peaks(findings["power"]))
    peak_clause = f", and at most {peaks}" if findings["most_watts"] is not None else ""
    lines = [f"Draws {_watts(findings['idle_watts'])} idle{peak_clause}."]
    for row in rows:
        joules, per_watt = row["joules_per_byte"], row["bytes_per_s_per_watt"]
        if row["state"] in ("write-cache", "write-past", "transfer") and joules is not None and per_watt is not None:
            doing, per = names[row["state"]].capitalize(), words.speed(per_watt)
            lines.append(f"{doing} costs {words.joules(joules * 1e9)} per GB: {per} per watt.")
    return lines


def _peaks(rows: list[State]) -> list[State]:
    """The states in which writing and reading draw the most."""
    kinds = [[row for row in rows if row["state"] in states] for states in (WRITES, ("read", "random-read"))]
    return [max(of_kind, key=lambda row: row["watts"] or 0.0) for of_kind in kinds if of_kind]


def _shown(rows: list[State]) -> tuple[dict[str, str], list[State]]:
    """Name of each state, and those that are shown: where there is no cache, or it was not free again, writing
    into it and past it are one."""
    writes = {row["state"]: row["bytes_per_s"] for row in rows if row["state"] in ("write-cache", "write-past")}
    if len(writes) < 2 or writes["write-cache"] >= FASTER * writes["write-past"]:
        return STATES, rows
    names = STATES | {"write-cache": "writing in sequence", "write-past": "writing in sequence"}
    return names, [row for row in rows if row["state"] != "write-cache"]


def _watts(value: float | None) -> str:
    if value is None:
        return "an unknown power"
    return words.quantity(value, "W") if value >= 0.1 else f"{value * 1000:.0f} mW"


def tables(findings: Findings) -> list[Table]:
    """Table with a row for each state."""
    columns: Columns = {
        "state": "state", "speed": "bytes_per_s", "power": ("watts", _watts),
        "per watt": ("bytes_per_s_per_watt", words.speed),
        "per GB": ("joules_per_byte", lambda joules: words.joules(joules * 1e9)),
    }  # fmt: skip
    names, shown = _shown(findings["power"])
    rows = [{**row, "state": names[row["state"]], "bytes_per_s": row["bytes_per_s"] or None} for row in shown]
    return [of_rows("Power", rows, columns)]


def pictures(recording: Recording) -> list[Picture]:
    """Power by state."""
    called, shown = _shown(recording.findings.typed(Findings)["power"])
    rows = [row for row in shown if row["watts"] is not None]
    bars = Bars("power", [row["watts"] for row in rows])
    x = Axis("state", names=[called[row["state"]] for row in rows])
    drawn = Picture("watts", "Power by kind of work", x, (Panel(Axis("power", "W"), bars=[bars]),))
    return [drawn, *curves.of_any(recording)]
