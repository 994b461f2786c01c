"""Print what CHANGELOG.md says of a version: `python packaging/changes.py 0.1.0`."""

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).parent.parent / "CHANGELOG.md"


def section(changelog: str, version: str) -> str:
    """The lines between the heading of a version and the next.

    Raises:
        SystemExit: the version has no section, or an empty one.
    """
    parts = re.split(r"^## (\S+).*\n", changelog, flags=re.MULTILINE)
    by_version = dict(zip(parts[1::2], parts[2::2], strict=True))
    text = by_version.get(version, "").strip()
    if not text:
        sys.exit(f"CHANGELOG.md says nothing of {version}; it has {', '.join(by_version)}")
    return text + "\n"


if __name__ == "__main__":
    sys.stdout.write(section(CHANGELOG.read_text(encoding="utf-8"), sys.argv[1]))
