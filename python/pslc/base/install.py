"""The command that installs something more into this environment."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path


def command(name: str) -> str:
    """The command for a package, or for an extra such as `pslc[fit]`, by the program that made the environment and the
    wheel file that pslc came from. Its quotes are those of every shell."""
    is_own, prefix = name.startswith("pslc"), Path(sys.prefix)
    wheel = _wheel() if is_own else None
    name = f"{wheel}{name.removeprefix('pslc')}" if wheel else name
    quoted = f'"{name}"' if wheel or "[" in name else name
    if (prefix / "pipx_metadata.json").exists():
        return f"pipx install --force {quoted}" if is_own else f"pipx inject pslc {quoted}"
    if (prefix / "uv-receipt.toml").exists():
        return f"uv tool install --force {quoted}" if is_own else f"uv tool install pslc --with {quoted}"
    return f"{'pip' if find_spec('pip') else 'uv pip'} install {quoted}"


def _wheel() -> Path | None:
    """The wheel file that pslc was installed from; None where it came from elsewhere, or the file is gone."""
    from importlib import metadata
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        origin = json.loads(metadata.distribution("pslc").read_text("direct_url.json") or "{}")
    except metadata.PackageNotFoundError:
        return None
    url = urlsplit(origin.get("url", ""))
    path = Path(url2pathname(url.path))
    return path if url.scheme == "file" and path.suffix == ".whl" and path.is_file() else None
