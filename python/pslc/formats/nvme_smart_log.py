"""Output of `nvme smart-log` (nvme-cli), text or JSON: NVMe's health log, under smartctl's names. Of several files the
first is the earlier one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, cast

from pslc.base import gate
from pslc.base.errors import RecordingError
from pslc.formats import FILE, About, ImportedData, ImportOptions, text
from pslc.schema.facts import HealthJson, HealthLog

ABOUT: Final = About(
    program="nvme-cli",
    what="smart-log, text or JSON",
    content="health of an NVMe drive",
    command="nvme smart-log /dev/nvme0",
    gives="health",
)
SMARTCTL: Final = "nvme_smart_health_information_log"
KELVIN: Final = 273
NAMES: Final = {
    "avail_spare": "available_spare", "spare_thresh": "available_spare_threshold", "percent_used": "percentage_used",
    "host_read_commands": "host_reads", "host_write_commands": "host_writes",
    "warning_temperature_time": "warning_temp_time", "critical_composite_temperature_time": "critical_comp_time",
    "thermal_management_t1_trans_count": "thm_temp1_trans_count",
    "thermal_management_t2_trans_count": "thm_temp2_trans_count",
    "thermal_management_t1_total_time": "thm_temp1_total_time",
    "thermal_management_t2_total_time": "thm_temp2_total_time",
}  # fmt: skip
"""nvme-cli's, in either form, and ours."""
BITS: Final = 128
"""Length of the longest number of the log, in bits."""
FIRST_LINE: Final = "Smart Log for NVME device"
LINE: Final = re.compile(r"([A-Za-z][\w .\[\]-]*?)\s*:\s*(0x[0-9a-fA-F]+|-?[\d,]+)(?: *°?(F)\b)?")


def matches(path: Path, head: str) -> bool:
    """nvme-cli's first line, or the names of the log in JSON."""
    del path
    if head.lstrip().startswith("{"):
        return SMARTCTL not in head and '"critical_warning"' in head and '"power_on_hours"' in head
    return bool(re.search(rf"^{FIRST_LINE}", head, re.MULTILINE))


def read(paths: Sequence[Path], hints: ImportOptions) -> ImportedData:
    """Read the health logs of the files."""
    del hints
    logs = [_log(path) for path in paths]
    return ImportedData(paths[0].name, None, health=logs, read_as="nvme smart-log: NVMe's health log")


def _log(path: Path) -> HealthJson:
    whole = text(path)
    if whole.count(FIRST_LINE) > 1:
        raise RecordingError(f"{path} holds several health logs", "give each in a file of its own, the earliest first")
    try:
        document = gate.document(whole, str(path), FILE) if whole.lstrip().startswith("{") else _lines(whole)
        log = in_our_names(document.get(SMARTCTL, document), kelvin=SMARTCTL not in document)
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise RecordingError(f"{path} is damaged: {error}", "nvme smart-log -o json prints it") from None
    long = next((name for name, value in log.items() if isinstance(value, int) and value >> BITS), None)
    if long is not None:
        raise RecordingError(f"{path} is damaged: {long} is longer than {BITS} bits", "no number of such a log is")
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
            value = int(match[2].replace(",", ""), 0)
            if match[3]:
                value = round((value - 32) / 1.8)
            health[name] = value + KELVIN if name == "temperature" else value
    return health


def health(log: HealthJson | None) -> HealthLog:
    """Extract the known fields of a log of smartctl or nvme-cli; empty for a drive without such a log."""
    values = in_our_names((log or {}).get(SMARTCTL, log or {}), kelvin=False)
    fields = {name: values[name] for name in HealthLog.__annotations__ if isinstance(values.get(name), int)}
    return cast(HealthLog, fields)


def in_our_names(log: HealthJson, kelvin: bool) -> HealthJson:
    """nvme-cli's log in smartctl's names, numbers as numbers; `kelvin`: its temperature is in kelvin."""
    values = {NAMES.get(name, name): _number(value) for name, value in log.items()}
    if kelvin and isinstance(values.get("temperature"), int):
        values["temperature"] -= KELVIN
    return values


def _number(value: Any) -> Any:
    """nvme-cli writes numbers of 128 bits as texts."""
    if isinstance(value, str) and re.fullmatch(r"[\d,]+", value):
        return int(value.replace(",", ""))
    if isinstance(value, dict) and "value" in value:
        return value["value"]
    return value
