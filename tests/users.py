"""Commands as an ordinary user, run from tests that root runs."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

import pslc

NOBODY = 65534
needs_root = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="to become another user takes root on Linux"
)

ENTER = """
if [ -n "$1" ]; then
    mount --bind "$2" /mnt && mount -t tmpfs -o mode=755 none "$1" || exit 125
    mkdir -p "$2" && mount --bind /mnt "$2" || exit 125
fi
[ -n "$3" ] && groups="--groups $3" || groups=--clear-groups
shift 3
exec setpriv --reuid 65534 --regid 65534 $groups "$@"
"""
"""In a mount namespace of its own: the Python that runs the tests may lie in a folder that is root's alone."""


LEFT: list[str] = []
"""Recordings of its runs that found no other place, to be removed."""


@contextmanager
def home() -> Iterator[Path]:
    """A folder of that user's, outside those of pytest, which are root's alone."""
    with tempfile.TemporaryDirectory(prefix="pslc user ") as folder:
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        yield Path(folder)
        while LEFT:
            shutil.rmtree(LEFT.pop(), ignore_errors=True)


def as_user(
    folder: Path, *words: object, groups: Sequence[int] = (), shell: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """`pslc` with these words, as a user without rights in `folder`: who runs the tests, unless that is root. `shell`
    is run in front of it, such as a limit."""
    python = Path(sys.base_prefix).resolve()
    closed = next((above for above in reversed(python.parents) if not above.stat().st_mode & 0o001), "")
    places = [str(Path(pslc.__file__).parent.parent), *(path for path in sys.path if path.endswith("site-packages"))]
    kept = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": os.pathsep.join(places)}
    enter = ["unshare", "-m", "sh", "-c", ENTER, "enter", str(closed), str(python), ",".join(map(str, groups))]
    run = ["bash", "-c", f'{shell or ":"}\nexec "$@"', "run", sys.executable, "-P", "-m", "pslc", *map(str, words)]
    done = subprocess.run(
        [*(enter if os.geteuid() == 0 else []), *run],
        cwd=folder,
        env=kept | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode in (125, 126) or "unshare" in done.stderr:
        pytest.skip(f"no other user can be had here: {done.stderr.strip()[-200:]}")
    LEFT.extend(re.findall(r"/var/tmp/pslc-\w+", done.stderr))
    return done
