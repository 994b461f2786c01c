"""Values of `--output-format` of `pslc run` and `pslc replay`."""

from enum import StrEnum


class OutputFormat(StrEnum):
    """Format of stdout in place of pslc's report. Several formats are printed one after the other."""

    NORMAL = "normal"
    JSON = "json"
    FIO = "fio"
    JSON_PLUS = "json+"
    TERSE = "terse"


def output_formats(text: str | None) -> list[OutputFormat]:
    """The formats of a list such as `terse,json+`, each once; empty for None.

    Raises:
        PslcError: a format is unknown.
    """
    from pslc.base.errors import user_error

    choices = {choice.value: choice for choice in OutputFormat}
    names = [name.strip() for name in text.split(",")] if text is not None else []
    for name in names:
        if name not in choices:
            raise user_error(f'--output-format is "{name}"', f"one of {', '.join(choices)}, or several: terse,json+")
    return [choices[name] for name in dict.fromkeys(names)]
