"""`pslc drives`: the simulated drives there are."""

import json
from typing import Annotated

import typer


def command(
    action: Annotated[str | None, typer.Argument(help="show: print the profile of a drive.", metavar="[show]")] = None,
    name: Annotated[str | None, typer.Argument(help="Of the drive.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """List the simulated drives, or show one: its geometry, what follows from it, and its profile with sources."""
    from pslc.errors import refusal
    from pslc.targets.target import find_target, library

    if action is None:
        rows = [_row(drive) for drive in library()]
        if as_json:
            print(json.dumps(rows, indent=1))
        else:
            _table(rows)
        return
    if action != "show" or name is None:
        raise refusal(f'"{action}" is not understood', "pslc drives lists, pslc drives show NAME prints one")
    target = find_target(f"sim:{name}")
    if as_json:
        facts = {"name": name, "drive": target.name, "profile": target.profile}
        print(json.dumps(facts | {"facts": target.facts}, indent=1))
        return
    from pslc.report import drive

    # As remarks, so that all of it is a profile.
    print("".join(f"# {line}".rstrip() + "\n" for line in drive.text(target).splitlines()))
    print(library().get(name.partition(",")[0]) if "," not in name else target.profile, end="")


def _row(name: str) -> dict[str, object]:
    from pslc.targets.target import find_target

    target = find_target(f"sim:{name}")
    return {"name": name, "drive": target.name, "capacity_bytes": target.capacity_bytes} | target.facts


def _table(rows: list[dict[str, object]]) -> None:
    from rich.table import Table

    from pslc import words
    from pslc.report import terminal

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("name", no_wrap=True)
    table.add_column("drive", no_wrap=True)
    for title in ("capacity", "dies", "bits", "link", "pSLC", "native"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        numbers = {key: value for key, value in row.items() if isinstance(value, int)}
        table.add_row(
            str(row["name"]),
            str(row["drive"]),
            words.size(numbers["capacity_bytes"]),
            str(numbers["dies"]),
            str(numbers["bits_per_cell"]),
            *(words.speed(numbers[f"{of}_bytes_per_s"]) for of in ("link", "slc_write", "native_write")),
        )
    terminal.console().print(table)
