"""Make pslc-VERSION-windows-x86_64.zip: pslc.exe, a Python of its own, and every package that pslc needs.

    python packaging/windows/bundle.py python-3.13-embed dist/pslc-0.1.0-cp311-abi3-win_amd64.whl [REQUIREMENT...]

The first is the embeddable package of python.org, unpacked. The zip comes to lie beside the wheel. Run this on
Windows, by a Python of the same minor version: pip chooses packages for the Python and the system that it runs on.
It needs distlib.

    pslc.exe     distlib's launcher, alone in its folder: winget puts that folder on the PATH
    python/      runs with no regard to other Pythons, their packages and their variables
    packages/    compiled, as the folder may be one that its user cannot write to
"""

import compileall
import io
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from py_compile import PycInvalidationMode

from distlib.resources import finder

EXTRAS = "fit,pictures,study"
"""Nobody can add an extra to the bundle, so it has all but `cluster`, whose machines need pslc themselves."""

MAX_PATH_CHARACTERS = 140
"""Longest path in the bundle. Windows allows 259, of which winget's folder of a user with a name of 20 takes 118."""

COMMAND = rb"#!<launcher_dir>\python\python.exe -X utf8"
"""What the launcher starts. Output is UTF-8, which PYTHONUTF8 could not ask for here: python/ reads no variables."""

MAIN = """\
import sys

from pslc.__main__ import main

if __name__ == "__main__":
    sys.argv[0] = sys.argv[0].removesuffix(".exe")
    sys.exit(main())
"""


def add_packages(folder: Path, wheel: Path, requirements: list[str]) -> None:
    """Install pslc with what it depends on, and compile all of it, so that it is valid wherever it is unpacked."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    windows = ["--target", str(folder), "--platform", "win_amd64", "--only-binary", ":all:"]
    subprocess.run([*pip, *windows, f"{wheel}[{EXTRAS}]", *requirements], check=True)
    # Commands of the packages, which start the Python that installed them.
    shutil.rmtree(folder / "bin", ignore_errors=True)
    mode = PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(folder, quiet=2, stripdir=folder.parent, invalidation_mode=mode)


def find_packages_from(python: Path) -> None:
    """Name the folder of the packages in python3XX._pth, beside what is there.

    Raises:
        SystemExit: it is the Python of another version than this one.
    """
    (paths,) = python.glob("python*._pth")
    running = f"python{sys.version_info.major}{sys.version_info.minor}"
    if paths.stem != running:
        sys.exit(f"{python} is {paths.stem}, and this is {running}: pip and the compiler would be wrong for it")
    with paths.open("a", encoding="utf-8") as lines:
        lines.write("\n..\\packages\n")


def launcher() -> bytes:
    """pslc.exe: distlib's launcher for a console, the command that it starts, and what Python runs."""
    program = io.BytesIO()
    with zipfile.ZipFile(program, "w") as archive:
        archive.writestr("__main__.py", MAIN)
    starter: bytes = finder("distlib").find("t64.exe").bytes
    return starter + COMMAND + b"\n" + program.getvalue()


def bundle(python: Path, wheel: Path, requirements: list[str]) -> Path:
    """The zip, beside the wheel."""
    version = wheel.name.split("-")[1]
    with tempfile.TemporaryDirectory() as room:
        root = Path(room)
        shutil.copytree(python, root / "python")
        find_packages_from(root / "python")
        add_packages(root / "packages", wheel, requirements)
        (root / "pslc.exe").write_bytes(launcher())
        longest = max((path.relative_to(root).as_posix() for path in root.rglob("*")), key=len)
        if len(longest) > MAX_PATH_CHARACTERS:
            sys.exit(f"a path has {len(longest)} characters, {MAX_PATH_CHARACTERS} at most: {longest}")
        return Path(shutil.make_archive(str(wheel.parent / f"pslc-{version}-windows-x86_64"), "zip", root))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    print(bundle(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]))
