"""Setting of the SLC buffer of a drive that has a switch."""

from enum import StrEnum


class CacheSetting(StrEnum):
    """Setting of the buffer: on and emptied while the drive is idle, on and not emptied, or off."""

    ON = "on"
    NO_FLUSH = "no-flush"
    OFF = "off"
