"""Completions of a word in a shell."""

from collections.abc import Iterable

from pslc.cli import _bash_words
from pslc.cli._output_format import OutputFormat


def _offered(names: Iterable[str], prefix: str) -> list[str]:
    """The names that begin with a prefix, as the shell adds them to the line."""
    return [name.removeprefix(_bash_words.before) for name in names if name.startswith(_bash_words.before + prefix)]


def subject(prefix: str) -> list[str]:
    """Subjects of `pslc run`; the shell offers files itself."""
    from pslc import suites

    return _offered([*suites.names(), "all"], prefix)


def drive(prefix: str) -> list[str]:
    """Names of built-in drives."""
    from pslc.device.profiles import library

    return _offered(library(), prefix)


def target(prefix: str) -> list[str]:
    """Built-in drives as targets; the shell offers files and devices itself."""
    from pslc.device.profiles import library

    return _offered([f"sim:{name}" for name in library()], prefix)


def nand(prefix: str) -> list[str]:
    """Names of NAND dies."""
    from pslc.device import parts

    return _offered(parts.nands(), prefix)


def controller(prefix: str) -> list[str]:
    """Names of controllers."""
    from pslc.device import parts

    return _offered(parts.controllers(), prefix)


def computer(prefix: str) -> list[str]:
    """Names of computers."""
    from pslc.device import computers, parts

    return _offered([*parts.computers(), computers.NONE], prefix)


def part(prefix: str) -> list[str]:
    """Names of parts of any kind."""
    from pslc.device import parts

    return _offered([*parts.nands(), *parts.controllers(), *parts.computers()], prefix)


def output_format(prefix: str) -> list[str]:
    """Values of `--output-format`."""
    return _offered([choice.value for choice in OutputFormat], prefix)
