"""maturin as the backend that builds pslc from its sources, with one sentence where Rust is missing."""

import shutil
import sys
from typing import Any

import maturin
from maturin import *  # noqa: F403


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Packages that a build needs; ends it where there is no Rust."""
    if shutil.which("cargo") is None:
        sys.exit(
            "pslc has no wheel for this system or Python, and a build needs Rust (https://rustup.rs) and a C compiler. "
            "`pip install --only-binary :all: pslc` takes a wheel, which needs neither."
        )
    return list(maturin.get_requires_for_build_wheel(config_settings))
