"""NVMe's health log, under smartctl's names for its fields."""

import re
from typing import Any, Final, cast

from pslc.schema.facts import HealthJson, HealthLog

SMARTCTL: Final = "nvme_smart_health_information_log"
KELVIN: Final = 273
SENSOR: Final = re.compile(r"temperature_sensor_\d")
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


CRITICAL: Final = (
    "its spare blocks are below its limit",
    "it is too hot or too cold",
    "it is no longer reliable",
    "it can only be read",
    "the backup of its volatile memory has failed",
    "its persistent memory can only be read",
)
"""Bits of NVMe's critical warning, from the lowest on."""


def troubles(log: HealthJson | None) -> list[str]:
    """Faults that a drive reports of itself, a clause each; none of a log without such a report."""
    warning = health(log).get("critical_warning", 0)
    reports = [clause for bit, clause in enumerate(CRITICAL) if warning >> bit & 1]
    status = (log or {}).get("smart_status")
    failed = isinstance(status, dict) and status.get("passed") is False
    return reports or ["it has failed its own test"] * failed


def health(log: HealthJson | None) -> HealthLog:
    """Extract the known fields of a log of smartctl or nvme-cli; empty for a drive without such a log."""
    values = in_our_names((log or {}).get(SMARTCTL, log or {}), kelvin=False)
    fields = {name: values[name] for name in HealthLog.__annotations__ if isinstance(values.get(name), int)}
    return cast(HealthLog, fields)


def in_our_names(log: HealthJson, kelvin: bool) -> HealthJson:
    """nvme-cli's log in smartctl's names, numbers as numbers; `kelvin`: its temperature is in kelvin."""
    values = {NAMES.get(name, name): _number(value) for name, value in log.items()}
    zero = KELVIN if kelvin else 0
    if isinstance(values.get("temperature"), int):
        values["temperature"] -= zero
    sensors = [
        value - zero for name in [*values] if SENSOR.fullmatch(name) and isinstance(value := values.pop(name), int)
    ]
    sensors += [value for value in values.get("temperature_sensors") or () if isinstance(value, int)]
    return values | ({"hottest_sensor": max(sensors)} if sensors else {})


def _number(value: Any) -> Any:
    """nvme-cli writes numbers of 128 bits as texts, other programs write all of them as floats."""
    if isinstance(value, str) and re.fullmatch(r"[\d,]+", value):
        return int(value.replace(",", ""))
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict) and "value" in value:
        return value["value"]
    return value
