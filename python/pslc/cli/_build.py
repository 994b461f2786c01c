"""Texts of `pslc --version` and `pslc --cite`."""

import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

RELEASE_YEAR: Final = 2026
"""Year in which this version is released, as CITATION.cff has it: a later build is the same version."""


def described() -> str:
    """Version, date of the native part, and what runs it: `pslc 0.1.0, native part of 2026-05-04, Python 3.11.7, Linux
    x86_64`."""
    from pslc import _native

    return (
        f"pslc {_native.version()}, native part of {_built():%Y-%m-%d}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}"
    )


def citation() -> str:
    """BibTeX of this version, with the facts of CITATION.cff."""
    from pslc import _native

    return (
        "% Name the profile or the recording that you used, too.\n"
        "@software{pslc,\n"
        "  title   = {pslc: a laboratory for SSD write caching},\n"
        "  author  = {{The pslc maintainers}},\n"
        f"  year    = {{{RELEASE_YEAR}}},\n"
        f"  version = {{{_native.version()}}}\n"
        "}"
    )


def _built() -> datetime:
    from pslc import _native

    return datetime.fromtimestamp(Path(_native.__file__).stat().st_mtime, UTC)
