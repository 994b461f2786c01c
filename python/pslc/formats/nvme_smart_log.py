"""Output of `nvme smart-log` (nvme-cli), text or JSON: NVMe's health log, under smartctl's names."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pslc.base import gate
from pslc.base.errors import RecordingError
from pslc.formats import FILE, About, FileContents, only, text, undamaged
from pslc.formats.smartctl import integer, refuse_long
from pslc.schema.facts import HealthJson
from pslc.schema.health import KELVIN, SENSOR, SMARTCTL, in_our_names
from pslc.schema.imports import ImportOptions

ABOUT: Final = About(
    program="nvme-cli",
    what="smart-log, text or JSON",
    content="health of an NVMe drive",
    command="sudo nvme smart-log /dev/nvme0",
    gives="health",
)
FIRST_LINE: Final = "Smart Log for NVME device"
DEVICE: Final = re.compile(rf"^{FIRST_LINE}\s*:\s*(\w+)", re.MULTILINE)
LINE: Final = re.compile(
    r"([A-Za-z][\w .\[\]-]*?)\s*:\s*(0x[0-9a-fA-F]+|\d{1,3}(?:[^\w(\[]\d{3})+|-?\d+)(?: *°?(F)\b)?"
)


def matches(path: Path, head: str) -> bool:
    """nvme-cli's first line, or the names of the log in JSON."""
    if head.lstrip().startswith("{"):
        return SMARTCTL not in head and '"critical_warning"' in head and '"power_on_hours"' in head
    return bool(re.search(rf"^{FIRST_LINE}", head, re.MULTILINE))


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """Read the health log of a file."""
    path = only(paths)
    whole = text(path)
    device = DEVICE.search(whole)
    name = device[1] if device else ""
    return FileContents(
        name or path.name, None, health=[_log(path, whole)], drive=name, read_as="nvme smart-log: NVMe's health log"
    )


def _log(path: Path, whole: str) -> HealthJson:
    if whole.count(FIRST_LINE) > 1:
        raise RecordingError(f"{path} holds several health logs", "give each in a file of its own, the earliest first")
    with undamaged(path, "nvme smart-log -o json prints it"):
        document = gate.document(whole, str(path), FILE) if whole.lstrip().startswith("{") else _lines(whole)
        log = in_our_names(document.get(SMARTCTL, document), kelvin=SMARTCTL not in document)
    refuse_long(path, log)
    if "critical_warning" not in log:
        raise RecordingError(f"{path} has no health log in it", "nvme smart-log and smartctl -j -a print it, as root")
    return log


def _lines(whole: str) -> HealthJson:
    """`name : number unit (the same in other units)`; degrees, Fahrenheit in some countries, are given in kelvin like
    the JSON's."""
    health: HealthJson = {}
    for line in whole[whole.index(FIRST_LINE) :].splitlines()[1:]:
        match = LINE.match(line)
        if match is not None and not line.startswith(" "):
            name = match[1].strip().lower().replace(" ", "_")
            value = integer(match[2])
            if match[3]:
                value = round((value - 32) / 1.8)
            health[name] = value + KELVIN if name == "temperature" or SENSOR.fullmatch(name) else value
    return health
