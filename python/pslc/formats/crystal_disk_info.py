"""CrystalDiskInfo's text (Edit, Copy): health of each drive, under NVMe's names.

         Model : Samsung SSD 980 PRO 1TB
Power On Hours : 4980 hours
   Host Writes : 71604 GB
 Health Status : Good (97 %)
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from pslc.base import gate
from pslc.base.errors import RecordingError
from pslc.formats import About, FileContents, only, text
from pslc.formats.smartctl import FAILED, UNIT_BYTES
from pslc.schema.facts import HealthJson
from pslc.schema.imports import ImportOptions

ABOUT: Final = About(
    program="CrystalDiskInfo",
    what="text",
    content="health of a drive: wear, bytes written, hours, temperature",
    command="CrystalDiskInfo: Edit, Copy, and paste into a file",
    gives="health",
    mark=re.compile(r"^CrystalDiskInfo \d", re.MULTILINE),
)
MODEL: Final = re.compile(r"^ *Model : (.+?) *$", re.MULTILINE)
LINE_OF_SERIAL: Final = re.compile(r"^ *Serial Number : (.+?) *$", re.MULTILINE)
LINE: Final = re.compile(r"^ *(?P<name>[A-Z][\w ]+?) : (?P<value>.+?) *$", re.MULTILINE)
BYTES_OF: Final = {"GB": 2.0**30, "TB": 2.0**40}
"""The program counts in powers of 1024."""
AMOUNTS: Final = {"Host Writes": "data_units_written", "NAND Writes": "nand_units_written"}


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The health of the drive whose model holds `--device`, or of the only one.

    Raises:
        PslcError: there are several, or none.
    """
    path = only(paths)
    whole = text(path)
    starts = [match.start() for match in MODEL.finditer(whole)]
    parts = [whole[start:end] for start, end in pairwise([*starts, len(whole)])]
    drives = {match[1]: part for part in parts if (match := MODEL.match(part))}
    wanted = [name for name in drives if (hints.device or "").lower() in name.lower()]
    if len(wanted) != 1:
        raise RecordingError(f"{path} is of {len(drives)} drives: {gate.listed(drives)}", "--device NAME takes one")
    part = drives[wanted[0]]
    serial = LINE_OF_SERIAL.search(part)
    return FileContents(
        wanted[0], None, health=[_log(part)], drive=serial[1] if serial else wanted[0],
        read_as="CrystalDiskInfo: its summary",
    )  # fmt: skip


def _log(part: str) -> HealthJson:
    """The summary of a drive in NVMe's names."""
    values = {match["name"]: match["value"] for match in LINE.finditer(part)}
    log: HealthJson = {"critical_warning": FAILED if values.get("Health Status", "").startswith("Bad") else 0}
    if life := re.search(r"\((\d+) ?%\)", values.get("Health Status", "")):
        log["percentage_used"] = 100 - int(life[1])
    for name, field in AMOUNTS.items():
        if amount := re.match(r"([\d.]+) (GB|TB)", values.get(name, "")):
            log[field] = round(float(amount[1]) * BYTES_OF[amount[2]] / UNIT_BYTES)
    for name, field in (("Power On Hours", "power_on_hours"), ("Temperature", "temperature")):
        if number := re.match(r"\d+", values.get(name, "")):
            log[field] = int(number[0])
    return log
