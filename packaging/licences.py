"""The licence texts of the crates in the wheel: `python packaging/licences.py`, which writes THIRD-PARTY.txt."""

import json
import subprocess
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "THIRD-PARTY.txt"
ROOT_CRATE = "pslc-python"
TEXTS = ("LICENSE*", "LICENCE*", "COPYING*", "UNLICENSE*")
RULE = "-" * 100


def crates() -> list[dict[str, Any]]:
    """Packages of other people that are linked into the native part on any system, by name and version."""
    words = ["cargo", "metadata", "--format-version", "1", "--locked"]
    tree = json.loads(subprocess.run(words, cwd=ROOT, check=True, capture_output=True).stdout)
    packages = {package["id"]: package for package in tree["packages"]}
    needs = {node["id"]: [dep["pkg"] for dep in node["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])]
             for node in tree["resolve"]["nodes"]}  # fmt: skip
    linked: set[str] = set()
    ahead = [key for key, package in packages.items() if package["name"] == ROOT_CRATE]
    while ahead:
        package = ahead.pop()
        if package not in linked:
            linked.add(package)
            ahead += needs[package]
    foreign = (packages[key] for key in linked if packages[key]["source"] is not None)
    return sorted(foreign, key=lambda package: (package["name"], package["version"]))


def texts(package: dict[str, Any]) -> set[str]:
    """The licence texts of a package; those of the Apache License are pslc's own LICENSE."""
    folder = Path(package["manifest_path"]).parent
    files = [path for pattern in TEXTS for path in folder.glob(pattern) if path.is_file()]
    read = {" ".join(path.read_text(encoding="utf-8").split()) for path in files}
    return {text for text in read if "Apache License" not in text and "This is free and unencumbered" not in text}


def document(packages: list[dict[str, Any]]) -> str:
    """Each licence text once, below the packages that it is of."""
    holders: dict[str, list[str]] = {}
    for package in packages:
        name = f"{package['name']} {package['version']} ({package['license']})"
        for text in texts(package) or {"Apache License 2.0, as in the file LICENSE."}:
            holders.setdefault(text, []).append(name)
    parts = [
        "\n".join([RULE, textwrap.fill(", ".join(names), 100), RULE, textwrap.fill(text, 100), ""])
        for text, names in holders.items()
    ]
    return "Licences of the crates in the native part of pslc.\n\n" + "\n".join(sorted(parts))


if __name__ == "__main__":
    PAGE.write_text(document(crates()), encoding="utf-8")
