"""Suites, what they cost on a drive, and their jobs, as `pslc run --list` prints them."""

import json
from typing import TYPE_CHECKING, NotRequired

from typing_extensions import TypedDict

if TYPE_CHECKING:
    from pslc.device.target import Target

DEFAULT = "sim:sn850-1tb"


class Row(TypedDict):
    """A suite; on a target also what it costs there, unless a file says that."""

    name: str
    question: str
    write_bytes: NotRequired[int]
    read_bytes: NotRequired[int]
    steps: NotRequired[int]
    timed_s: NotRequired[float]
    idle_s: NotRequired[float]
    writes_until_time: NotRequired[bool]
    least_s: NotRequired[float]
    most_s: NotRequired[float]


def show_list(target: "Target | None", *, quick: bool, as_json: bool) -> None:
    """List the suites, and on a target the bytes and the time of each.

    Steps that depend on a measurement count with their expected size.
    """
    from pslc import suites

    rows = [_row(suite, target, quick) for suite in suites.names()]
    rows += [{"name": suite, "question": suites.question(suite)} for suite in suites.OF_FILES]
    if as_json:
        print(json.dumps(rows, indent=1))
    else:
        _table(rows)


def show(name: str, target: "Target | None", *, quick: bool, fio: bool) -> None:
    """Describe a suite: its question, its steps and its findings; or print its jobs as a job file for fio.

    Raises:
        PslcError: there is no such suite, or it has no jobs.
    """
    from pslc import suites
    from pslc.base.errors import user_error
    from pslc.device.region import Scope, find_region
    from pslc.device.target import RealOptions, find_target

    every = [*suites.names(), *suites.OF_FILES]
    if name not in every:
        meant = suites.meant_by(name)
        hint = f"did you mean {meant}?" if meant else f"the suites are {', '.join(every)}"
        raise user_error(f"unknown suite {name}", hint)
    suite = suites.load(name)
    findings = suites.findings_text(name)
    if name in suites.OF_FILES:
        if fio:
            raise user_error(
                f"the suite {name} has no jobs: it replays a file", "pslc trace convert FILE -o work.iolog"
            )
        print(f"{name}: {suite.__doc__.strip()}\n\n{findings}")
    elif fio:
        from pslc import extras

        region = find_region(target or find_target(DEFAULT, RealOptions()), Scope(quick))
        jobs = extras.service(extras.Service.SUITE_JOBS)
        print(jobs.job_file(suites.expected(name, region), region), end="")
    else:
        print(f"{name}: {suite.__doc__.strip()}\n\nWith --quick: {suite.QUICK}.\n\n{findings}")


def _row(name: str, target: "Target | None", quick: bool) -> Row:
    from pslc import suites
    from pslc.device.cost import FAST, SLOW, cost
    from pslc.device.region import Scope, find_region

    row: Row = {"name": name, "question": suites.question(name)}
    if target is None:
        return row
    steps = suites.expected(name, find_region(target, Scope(quick)))
    costs = cost(steps, f"{name}.fio", [], target)
    facts = target.facts
    fast = min(facts.get("slc_write_bytes_per_s", FAST), facts.get("link_bytes_per_s", FAST))
    slow = facts.get("native_write_bytes_per_s", 2 * SLOW) / 2
    return {
        **row,
        "write_bytes": costs.write_bytes,
        "read_bytes": costs.read_bytes,
        "steps": len(steps),
        "timed_s": costs.timed_s,
        "idle_s": costs.idle_s,
        "writes_until_time": costs.writes_until_time,
        "least_s": costs.seconds(fast),
        "most_s": costs.seconds(slow),
    }


def _table(rows: list[Row]) -> None:
    from pslc.report import terminal
    from pslc.report.grids import columns_of, fitting

    out = terminal.console()
    if "write_bytes" not in rows[0]:
        terminal.show_table([[row["name"], row["question"]] for row in rows], ("suite", "question"))
        return
    columns = columns_of(("suite", "takes", "writes", "reads", "idle", "steps"), ("suite", "takes"))
    out.print(fitting(columns, [_cost_cells(row) for row in rows], out.width))
    out.print("+ also writes until a time is over. Steps as expected; measurements may change them.", style="dim")


def _cost_cells(row: Row) -> list[str]:
    """Texts of a suite's expected time, bytes, idle time and steps."""
    from pslc.base import words

    if "write_bytes" not in row:
        return [row["name"], "", "as its file says", "", "", ""]
    more = " +" if row["writes_until_time"] else ""
    return [
        row["name"],
        f"{words.span(row['least_s'])} to {words.span(row['most_s'])}",
        f"{words.size(row['write_bytes'])}{more}",
        words.size(row["read_bytes"]),
        words.span(row["idle_s"]),
        str(row["steps"]),
    ]
