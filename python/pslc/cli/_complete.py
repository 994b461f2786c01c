"""Completions of a word in a shell."""

from pslc.cli._output_format import OutputFormat


def subject(prefix: str) -> list[str]:
    """Subjects of `pslc run`; the shell offers files itself."""
    from pslc import suites

    return [name for name in [*suites.names(), "all"] if name.startswith(prefix)]


def suite(prefix: str) -> list[str]:
    """Names of suites, for completion."""
    from pslc import suites

    return [name for name in [*suites.names(), *suites.OF_FILES] if name.startswith(prefix)]


def drive(prefix: str) -> list[str]:
    """Names of built-in drives."""
    from pslc.device.profiles import library

    return [name for name in library() if name.startswith(prefix)]


def output_format(prefix: str) -> list[str]:
    """Values of `--output-format`, for completion."""
    return [choice.value for choice in OutputFormat if choice.value.startswith(prefix)]
