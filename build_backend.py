"""How pip builds pslc: as maturin does, and before that the plugin of nbdkit, which lies beside the native module."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
from pathlib import Path

from maturin import *  # noqa: F403
from maturin import build_editable as _editable
from maturin import build_sdist as _sdist
from maturin import build_wheel as _wheel

ROOT = Path(__file__).parent


ON_LINUX = sys.platform.startswith("linux")


def plugin() -> None:
    """Build the plugin, where there is nbdkit: on Linux."""
    if ON_LINUX:
        # maturin strips its module itself; the plugin is 1.3 MB instead of 7.6.
        _cargo("release", "pslc-nbd", CARGO_PROFILE_RELEASE_STRIP="symbols")
        _place("release", "libpslc_nbd.so", "nbdkit-pslc-plugin.so")


def develop() -> None:
    """Build the native module and the plugin into the source tree, for an editable install (`make build`).

    One call of cargo for both, so that what they share is compiled once, in the profile that links in seconds."""
    if ON_LINUX:
        _cargo("fast", "pslc-python", "pslc-nbd")
        _place("fast", "libpslc_nbd.so", "nbdkit-pslc-plugin.so")
        _place("fast", "lib_native.so", "_native.abi3.so")
    if not ON_LINUX or not list(Path(sysconfig.get_path("purelib")).glob("pslc-*.dist-info")):
        # On Linux once, for the command and the package's metadata; elsewhere always: the linker needs maturin's flags.
        maturin = [sys.executable, "-m", "maturin", "develop", "--profile", "fast", "--quiet"]
        # maturin says on stderr, line by line, what pip leaves out; shown where it fails.
        done = subprocess.run(maturin, cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)


def _cargo(profile: str, *packages: str, **settings: str) -> None:
    # An extension module takes Python's symbols from the program that loads it.
    env = os.environ | {"PYO3_BUILD_EXTENSION_MODULE": "1", "PYO3_PYTHON": sys.executable} | settings
    chosen = [word for package in packages for word in ("--package", package)]
    subprocess.run(["cargo", "build", "--quiet", "--profile", profile, *chosen], cwd=ROOT, env=env, check=True)


def _place(profile: str, built: str, name: str) -> None:
    # A new file: one that a server has in use stays as it is.
    part = ROOT / "python/pslc" / f"{name}.part"
    shutil.copyfile(Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / profile / built, part)
    part.replace(part.with_suffix(""))


def build_sdist(directory, settings=None):
    """See PEP 517. maturin leaves out the crates that the native module does not stand on, from the workspace too."""
    name = _sdist(directory, settings)
    made = Path(directory) / name
    folder, whole = name.removesuffix(".tar.gz"), made.with_suffix(".part")
    crates = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["members"]
    with tarfile.open(made) as bare, tarfile.open(whole, "w:gz") as out:
        for member in bare:
            if member.name != f"{folder}/Cargo.toml":
                out.addfile(member, bare.extractfile(member))
        there = bare.getnames()
        for path in ("Cargo.toml", *(crate for crate in crates if f"{folder}/{crate}/Cargo.toml" not in there)):
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
    develop() if sys.argv[1:] == ["develop"] else plugin()
