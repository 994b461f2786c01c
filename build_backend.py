"""How pip builds pslc: as maturin does, and before that the plugin of nbdkit, which lies beside the native module."""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from maturin import *  # noqa: F403
from maturin import build_editable as _editable
from maturin import build_sdist as _sdist
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


def build_sdist(directory, settings=None):
    """See PEP 517. maturin leaves out the crates that the native module does not stand on, from the workspace too."""
    name = _sdist(directory, settings)
    made = Path(directory) / name
    folder, whole = name.removesuffix(".tar.gz"), made.with_suffix(".part")
    with tarfile.open(made) as bare, tarfile.open(whole, "w:gz") as out:
        for member in bare:
            if member.name != f"{folder}/Cargo.toml":
                out.addfile(member, bare.extractfile(member))
        for path in ("Cargo.toml", "crates/nbd"):
            out.add(ROOT / path, f"{folder}/{path}")
    whole.replace(made)
    return name


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
