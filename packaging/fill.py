"""Fill in what a release knows of one of its files, and write the result beside that file:

    python packaging/fill.py dist/pslc-0.1.0-windows-x86_64.zip packaging/winget/*.yaml

VERSION and SHA256 become those of the file, REPOSITORY the one on GitHub, from the variable of its workflows.
"""

import hashlib
import os
import sys
from pathlib import Path


def fill(release: Path, template: Path, repository: str) -> Path:
    """The file made of a template."""
    version = release.name.split("-")[1].removesuffix(".tar.gz")
    text = template.read_text(encoding="utf-8").replace("REPOSITORY", repository).replace("VERSION", version)
    text = text.replace("SHA256", hashlib.sha256(release.read_bytes()).hexdigest())
    filled = release.with_name(template.name)
    filled.write_text(text, encoding="utf-8", newline="\n")
    return filled


if __name__ == "__main__":
    for template in sys.argv[2:]:
        print(fill(Path(sys.argv[1]), Path(template), os.environ["GITHUB_REPOSITORY"]))
