"""docs/formats.md: what pslc reads of other programs, from the readers themselves. `make formats`."""

from pathlib import Path

from pslc.formats import registry

PAGE = Path(__file__).parents[1] / "formats.md"
HEAD = """# What pslc reads

`pslc analyze FILE...`, `compare` and `report` read what other programs write. What a file holds tells its format,
not its name. The line *read as* of the answer says which columns or rows were taken, and as what. What is not
understood is refused, with what to give instead.

| program | file | what is read | how to make it |
|---|---|---|---|
"""

FOOT = """
## How exactly logs of fio are read

`python -m benches.fio_logs 200 --seed 2611` (some 5 minutes) makes 200 random runs with fio 3.33: jobs beside and
behind each other, rates, pauses, ramps, averages or single requests, a file a job or one for all, times since 1970.
It reads the logs of each run and holds bytes and mean speed against fio's own JSON. Right is within 1 %. A doubted
answer is off by more, and says in words what may be wrong.

| given | right | refused | doubted | wrong in silence |
|---|---|---|---|---|
| the logs alone | 142 | 45 | 13 | 0 |
| and fio's JSON | 190 | 9 | 1 | 0 |
| and the job file | 178 | 19 | 3 | 0 |

Refused are most often logs of several jobs, of which nothing tells whether they ran at the same time (give the job
file, or `--jobs serial`); logs of maxima; and logs in which the rows of more than a quarter of the time are missing.
"""


def page() -> str:
    """The page, a row a format."""
    rows = [[about.program, about.what, about.content, about.command] for about in registry()]
    return HEAD + "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in rows) + FOOT


if __name__ == "__main__":
    PAGE.write_text(page())
