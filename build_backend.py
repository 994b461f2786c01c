"""How pip builds pslc: as maturin does, and before that the plugin of nbdkit, which lies beside the native module."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from maturin import *  # noqa: F403
from maturin import build_editable as _editable
from maturin import build_wheel as _wheel

ROOT = Path(__file__).parent


def plugin() -> None:
    """Build the plugin, where there is nbdkit: on Linux."""
    if not sys.platform.startswith("linux"):
        return
    subprocess.run(["cargo", "build", "--release", "--quiet", "--package", "pslc-nbd"], cwd=ROOT, check=True)
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "libpslc_nbd.so"
    # A new file: one that a server has in use stays as it is.
    part = ROOT / "python/pslc/nbdkit-pslc-plugin.so.part"
    shutil.copyfile(built, part)
    part.replace(part.with_suffix(""))


def build_wheel(directory, settings=None, metadata=None):
    """See PEP 517."""
    plugin()
    return _wheel(directory, settings, metadata)


def build_editable(directory, settings=None, metadata=None):
    """See PEP 660."""
    plugin()
    return _editable(directory, settings, metadata)


if __name__ == "__main__":
    plugin()
