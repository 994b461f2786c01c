"""What the site has beside docs/*.md: the documents of the tree's root, the drives, and files that pages link to."""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent.parent
GALLERY = ROOT / "target" / "gallery"
PAGES = {"README.md": "index.md", "ACCURACY.md": "ACCURACY.md", "CHANGELOG.md": "CHANGELOG.md",
         "CONTRIBUTING.md": "CONTRIBUTING.md"}  # fmt: skip
STATIC_PAGE = ROOT / "target" / "web" / "index.html"
EMBEDDED = (
    '<iframe src="page/index.html#view=story" title="An SSD with its SLC cache, simulated in your browser"'
    ' loading="lazy" style="width: 100%; height: 46rem; border: 1px solid var(--md-default-fg-color--lightest)">'
    "</iframe>\n\n"
    "[The whole page](page/index.html){ .md-button }\n"
)
ASSETS = ("examples/analysis.ipynb",)


def on_files(files: Files, *, config: Any) -> Files:
    """Add them."""
    for name, page in PAGES.items():
        content = at_root((ROOT / name).read_text(encoding="utf-8"))
        if name == "README.md" and STATIC_PAGE.is_file():
            content = content.replace("\n## ", f"\n{EMBEDDED}\n## ", 1)
        files.append(File.generated(config, page, content=content))
    if STATIC_PAGE.is_file():
        files.append(File.generated(config, "page/index.html", abs_src_path=str(STATIC_PAGE)))
    for path in sorted(GALLERY.iterdir()):
        files.append(File.generated(config, f"drives/{path.name}", abs_src_path=str(path)))
    for asset in ASSETS:
        files.append(File.generated(config, asset, abs_src_path=str(ROOT / asset)))
    return files


def at_root(text: str) -> str:
    """Links of a document beside docs/, on a site that begins in docs/."""
    return re.sub(r"\]\(docs/", "](", text)


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Files) -> str:
    """Links out of docs/ lead to where those files are on the site."""
    if "/" in page.file.src_uri:
        return markdown
    return re.sub(r"\]\(\.\./", "](", markdown)
