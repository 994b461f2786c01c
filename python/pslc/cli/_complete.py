"""What a shell offers for a word that is not yet whole."""

from pslc.cli._output_format import OutputFormat


def what(begun: str) -> list[str]:
    """What `pslc run` can run; for anything else the shell offers files."""
    from pslc import suites

    return [name for name in [*suites.names(), *suites.OF_FILES, "all"] if name.startswith(begun)]


def suite(begun: str) -> list[str]:
    """Names of suites."""
    from pslc import suites

    return [name for name in [*suites.names(), *suites.OF_FILES] if name.startswith(begun)]


def drive(begun: str) -> list[str]:
    """Names of profiles that pslc brings along."""
    from pslc.device.profiles import library

    return [name for name in library() if name.startswith(begun)]


def output_format(begun: str) -> list[str]:
    """What `pslc run --output-format` takes."""
    return [one.value for one in OutputFormat if one.value.startswith(begun)]
