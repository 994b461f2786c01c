"""Texts of `pslc --version` and `pslc --cite`."""

import platform
from datetime import UTC, datetime
from pathlib import Path


def described() -> str:
    """Version, date of the native part, and what runs it: `pslc 0.1.0, native part of 2026-05-04, Python 3.11.7, Linux
    x86_64`."""
    from pslc import _native

    built = f"{datetime.fromtimestamp(Path(_native.__file__).stat().st_mtime, UTC):%Y-%m-%d}"
    return (
        f"pslc {_native.version()}, native part of {built}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}"
    )


def citation() -> str:
    """BibTeX of this version, with the facts of CITATION.cff."""
    from pslc import _native

    return (
        "@software{pslc,\n"
        "  title   = {pslc: a laboratory for SSD write caching},\n"
        "  author  = {{The pslc maintainers}},\n"
        f"  version = {{{_native.version()}}}\n"
        "}\n"
        "Name the profile or the recording that you used, too."
    )
