"""The command that installs something more into this environment."""

import sys
from importlib.util import find_spec
from pathlib import Path


def command(name: str) -> str:
    """The command for a package, or for an extra such as `pslc[fit]`, by the program that made the environment. Its
    quotes are those of every shell."""
    quoted, is_own, prefix = f'"{name}"' if "[" in name else name, name.startswith("pslc"), Path(sys.prefix)
    if (prefix / "pipx_metadata.json").exists():
        return f"pipx install --force {quoted}" if is_own else f"pipx inject pslc {quoted}"
    if (prefix / "uv-receipt.toml").exists():
        return f"uv tool install --force {quoted}" if is_own else f"uv tool install pslc --with {quoted}"
    return f"{'pip' if find_spec('pip') else 'uv pip'} install {quoted}"
