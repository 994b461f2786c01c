"""fio's job files: how a log that goes with them was written; they hold no results."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pslc import formats
from pslc.formats import About, FileContents, fio_json
from pslc.schema.imports import ImportOptions
from pslc.schema.jobs import Job, job

ABOUT: Final = About(
    program="fio",
    what="job file",
    content="how the log beside it was written",
    command="the file that fio was started with",
    gives="jobs",
)
SECTION = re.compile(r"\s*\[([^\]]+)\](?:\s+[#;].*|\s*)$")
"""A section; a shell's prompt, `[root@host ~]# ls`, is none."""
OPTION = re.compile(r"\s*[a-z][a-z0-9_]*\s*(?:=|$)|\s*include\s")


def matches(path: Path, head: str) -> bool:
    """Whether the first line that is no comment is a section, and the first line below sections an option."""
    lines = [line for line in head.splitlines() if line.strip() and line.lstrip()[0] not in "#;"]
    below = [line for line in lines if not SECTION.match(line)]
    options = below and OPTION.match(below[0]) and any("=" in line for line in below)
    # ezFIO puts the job file above fio's JSON.
    return bool(options and SECTION.match(lines[0])) and fio_json.MARK not in head


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The options of the jobs of all files, those of `global` among them."""
    jobs: list[Job] = []
    for path in paths:
        common: dict[str, str] = {}
        options = common
        for line in formats.text(path).splitlines():
            section = SECTION.match(line)
            if section and section[1] == "global":
                options = common
            elif section:
                options = dict(common)
                jobs.append(job(section[1], options))
            elif line.strip() and line.lstrip()[0] not in "#;":
                name, _, value = line.partition("=")
                options[name.strip()] = value.strip() or "1"
    return FileContents(paths[0].name, None, jobs)
