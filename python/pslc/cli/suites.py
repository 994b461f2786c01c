"""`pslc suites`: the tests there are."""

import json
from typing import Annotated

import typer


def command(as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False) -> None:
    """List the suites and what each asks."""
    from pslc import suites

    rows = [{"name": name, "question": suites.question(name)} for name in suites.names()]
    if as_json:
        print(json.dumps(rows, indent=1))
        return
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        print(f"{row['name']:{width}}  {row['question']}")
