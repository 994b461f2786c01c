"""A simulated drive's health log, and what is in it, for people."""

from typing import cast

from typing_extensions import TypedDict

from pslc._native import SimDrive
from pslc.base import words
from pslc.device.drive_files import mode_of
from pslc.device.health import Inside, SimHealth, health, inside
from pslc.device.probe import NVME_DATA_UNIT


class SimDevice(TypedDict):
    """Identity of a simulated drive: model, capacity, cache mode and age."""

    model: str
    bytes: int
    mode: str
    clock_ns: int


class Document(TypedDict):
    """Contents of `pslc probe --json` for a simulated drive."""

    device: SimDevice
    nvme_smart_health_information_log: SimHealth
    inside: Inside


def document(drive: SimDrive) -> Document:
    """Health of a simulated drive, as `pslc probe --json` prints it."""
    return {
        "device": {
            "model": drive.name,
            "bytes": drive.capacity_bytes,
            "mode": mode_of(drive),
            "clock_ns": drive.now_ns,
        },
        "nvme_smart_health_information_log": health(drive),
        "inside": inside(drive),
    }


def tables(drive: SimDrive) -> dict[str, dict[str, str | None]]:
    """Health of a simulated drive as texts, by table; None is unknown."""
    entries = document(drive)
    device = entries["device"]
    log = {
        name: None if value is None else str(value)
        for name, value in entries["nvme_smart_health_information_log"].items()
    }
    for name in ("data_units_read", "data_units_written"):
        log[name] = f"{log[name]} ({words.size(int(str(log[name])) * NVME_DATA_UNIT)})"
    for name, unit in (("temperature", "C"), ("percentage_used", "%"), ("available_spare", "%")):
        log[name] = None if log[name] is None else f"{log[name]} {unit}"
    return {
        "device": {
            "model": device["model"],
            "capacity": words.size(device["bytes"]),
            "mode": device["mode"],
            "clock": words.span(device["clock_ns"] / 1e9),
        },
        "health": log,
        "inside": {
            name.removesuffix("_bytes"): _figure(name, cast(float | None, value))
            for name, value in entries["inside"].items()
        },
    }


def _figure(name: str, value: float | None) -> str | None:
    if value is None:
        return None
    if name.endswith("_bytes"):
        return words.size(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)
