"""How `pslc replay` replays a trace."""

from enum import StrEnum


class Pace(StrEnum):
    """When the requests of a trace are made."""

    ORIGINAL = "original"
    ASAP = "asap"


class Addresses(StrEnum):
    """What is done with addresses past the end of the drive."""

    EXACT = "exact"
    WRAP = "wrap"
    COMPACT = "compact"
    SCALE = "scale"
