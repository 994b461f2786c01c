"""Options of `pslc replay`: pace, and addresses beyond the end of the drive."""

from enum import StrEnum


class Pace(StrEnum):
    """Pace of a replayed trace: at the recorded times, or as fast as possible."""

    ORIGINAL = "original"
    ASAP = "asap"


class Addresses(StrEnum):
    """Mapping of addresses beyond the end of the drive."""

    EXACT = "exact"
    WRAP = "wrap"
    COMPACT = "compact"
    SCALE = "scale"
