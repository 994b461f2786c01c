"""What `pslc run --output-format` takes."""

from enum import StrEnum


class OutputFormat(StrEnum):
    """What goes to stdout in place of pslc's report; several are printed one behind the other."""

    NORMAL = "normal"
    JSON = "json"
    FIO = "fio"
    JSON_PLUS = "json+"
    TERSE = "terse"
