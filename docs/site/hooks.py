"""What the site has beside docs/*.md: the documents of the tree's root, the drives, and files that pages link to."""

import html
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent.parent
GALLERY = ROOT / "target" / "gallery"
PAGES = {"README.md": "index.md", "ACCURACY.md": "ACCURACY.md", "CHANGELOG.md": "CHANGELOG.md",
         "CONTRIBUTING.md": "CONTRIBUTING.md", "SECURITY.md": "SECURITY.md"}  # fmt: skip
STATIC_PAGE = ROOT / "target" / "web" / "index.html"
TITLE = "Why your SSD slows down"
PICTURE = "drives/aldrin-pro-2tb.png"
EMBEDDED = (
    '<iframe src="page/index.html#view=story" title="An SSD with its SLC cache, simulated in your browser"'
    ' loading="lazy" style="width: 100%; height: 46rem; border: 1px solid var(--md-default-fg-color--lightest)">'
    "</iframe>\n\n"
    "[The whole page](page/index.html){ .md-button }\n"
)
ASSETS = ("CITATION.cff", *(f"examples/{name}.ipynb" for name in ("analysis", "published", "study")))


def on_files(files: Files, *, config: Any) -> Files:
    """Add them."""
    for name, page in PAGES.items():
        # A document beside docs/, on a site that begins in docs/.
        content = re.sub(r"\]\(docs/", "](", (ROOT / name).read_text(encoding="utf-8"))
        if name == "README.md" and STATIC_PAGE.is_file():
            content = content.replace("\n## ", f"\n{EMBEDDED}\n## ", 1)
        files.append(File.generated(config, page, content=content))
    if STATIC_PAGE.is_file():
        files.append(File.generated(config, "page/index.html", content=with_picture(config.site_url)))
    for path in sorted(GALLERY.iterdir()):
        files.append(File.generated(config, f"drives/{path.name}", abs_src_path=str(path)))
    script = Path(__file__).with_name("iframe-worker.js")
    files.append(File.generated(config, script.name, abs_src_path=str(script)))
    for asset in ASSETS:
        files.append(File.generated(config, asset, abs_src_path=str(ROOT / asset)))
    return files


def with_picture(site_url: str) -> str:
    """The static page, with the picture that sites show beside a link to it; addresses of pictures are whole."""
    page = STATIC_PAGE.read_text(encoding="utf-8")
    if not site_url:
        return page
    picture = f'<meta property="og:image" content="{html.escape(site_url)}{PICTURE}">'
    return page.replace("</head>", f'<meta property="og:title" content="{TITLE}">\n{picture}\n</head>', 1)


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Files) -> str:
    """Links out of docs/ lead to where those files are on the site."""
    if "/" in page.file.src_uri:
        return markdown
    return re.sub(r"\]\(\.\./", "](", markdown)
