"""What a package of pslc carries beside its code: `python packaging/finish.py dist/pslc-*.whl dist/pslc-*.tar.gz`.

A wheel gets man pages, shell completions, a bill of materials and, where `make web` has built it, the static page. In
wheels and source packages the links of the README become absolute where GITHUB_REPOSITORY names the repository, as it
does in its workflows. The same input gives the same bytes: no times, no random numbers, no paths of the builder.
"""

import base64
import gzip
import hashlib
import io
import json
import os
import re
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "packaging"), str(ROOT / "docs" / "man")]

import licences  # noqa: E402
import make as man  # noqa: E402

PAGE = "pslc/lab/page.html"
SERVER = "https://github.com"
AFTER_1980 = (1980, 1, 1, 0, 0, 0)
"""The oldest time that a zip file can hold."""
FOLDERS = {
    "pslc.bash": "bash-completion/completions/pslc",
    "_pslc": "zsh/site-functions/_pslc",
    "pslc.fish": "fish/vendor_completions.d/pslc.fish",
}
"""Where each shell looks, below `share`; PowerShell has no such folder."""


def absolute(readme: str, version: str, repository: str) -> str:
    """A README whose links and pictures lead to the files of a version, for pages outside of the repository.

    Args:
        repository: `owner/name` on GitHub; empty leaves the README as it is.
    """
    if not repository:
        return readme

    def target(match: re.Match[str]) -> str:
        room = "raw" if match[0].startswith("!") else "blob"
        return f"{match[1]}({SERVER}/{repository}/{room}/v{version}/{match[2]})"

    return re.sub(r"(!?\[[^\]]*\])\((?!\w+:|#)([^)\s]+)\)", target, readme)


def of_metadata(text: bytes, repository: str) -> bytes:
    """The core metadata of a package with absolute links and the address of the project."""
    head, blank, readme = text.decode().partition("\n\n")
    (version,) = re.findall(r"^Version: (.+)$", head, flags=re.MULTILINE)
    if repository and "Project-URL" not in head:
        pages = {"Repository": "", "Issues": "/issues", "Changelog": f"/blob/v{version}/CHANGELOG.md"}
        head += "".join(f"\nProject-URL: {name}, {SERVER}/{repository}{page}" for name, page in pages.items())
    return (head + blank + absolute(readme, version, repository)).encode()


def materials(version: str) -> bytes:
    """The bill of materials, as CycloneDX 1.6: crates of the native part, and packages that an install brings along."""
    crates = [
        {"type": "library", "name": crate["name"], "version": crate["version"],
         "licenses": [{"expression": crate["license"]}], "purl": f"pkg:cargo/{crate['name']}@{crate['version']}"}
        for crate in licences.crates()
    ]  # fmt: skip
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = []
    for line in project["dependencies"]:
        name, bound = re.fullmatch(r"([\w.-]+)(.*)", line).groups()  # type: ignore[union-attr]
        packages.append({"type": "library", "name": name, "purl": f"pkg:pypi/{name.lower()}", "scope": "required",
                         "properties": [{"name": "pslc:versions", "value": bound}]})  # fmt: skip
    bill = {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "metadata": {"component": {"type": "application", "name": "pslc", "version": version,
                                   "purl": f"pkg:pypi/pslc@{version}"}},
        "components": crates + packages,
    }  # fmt: skip
    return (json.dumps(bill, indent=1) + "\n").encode()


def pages() -> dict[str, bytes]:
    """Man pages and completions by their path below a prefix."""
    with tempfile.TemporaryDirectory() as folder:
        written = {path.name: path.read_bytes() for path in man.write(Path(folder))}
    files = {f"share/{FOLDERS[name]}": text for name, text in written.items() if name in FOLDERS}
    of_man = (name for name in written if name.endswith(".1"))
    return files | {f"share/man/man1/{name}.gz": gzip.compress(written[name], mtime=0) for name in of_man}


def finish_wheel(path: Path, repository: str) -> None:
    """Write a wheel anew with all that belongs into it."""
    with zipfile.ZipFile(path) as wheel:
        files = {info.filename: (info.external_attr, wheel.read(info)) for info in wheel.infolist()}
    (about,) = {name.partition("/")[0] for name in files if name.endswith(".dist-info/METADATA")}
    stem = about.removesuffix(".dist-info")
    # The bill that maturin writes has its own path, a time and a random number.
    files = {name: file for name, file in files.items() if "/sboms/" not in name}
    attributes, text = files[f"{about}/METADATA"]
    plain = 0o100644 << 16
    files[f"{about}/METADATA"] = (attributes, of_metadata(text, repository))
    files[f"{about}/sboms/pslc.cdx.json"] = (plain, materials(stem.partition("-")[2]))
    files |= {f"{stem}.data/data/{name}": (plain, text) for name, text in pages().items()}
    if (ROOT / "python" / PAGE).is_file():
        files[PAGE] = (plain, (ROOT / "python" / PAGE).read_bytes())
    del files[f"{about}/RECORD"]
    rows = [f"{name},sha256={_digest(text)},{len(text)}" for name, (_, text) in sorted(files.items())]
    files[f"{about}/RECORD"] = (plain, "\n".join([*rows, f"{about}/RECORD,,", ""]).encode())
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, (attributes, text) in sorted(files.items()):
            info = zipfile.ZipInfo(name, AFTER_1980)
            info.external_attr, info.compress_type = attributes, zipfile.ZIP_DEFLATED
            wheel.writestr(info, text)


def _digest(text: bytes) -> str:
    """The sha256 of a file as RECORD has it."""
    return base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()


def finish_sources(path: Path, repository: str) -> None:
    """Write a source package anew with absolute links."""
    with tarfile.open(path) as sources:
        files = [(info, sources.extractfile(info).read()) for info in sources if info.isfile()]  # type: ignore[union-attr]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as sources:
        for info, text in files:
            if info.name.count("/") == 1 and info.name.endswith("/PKG-INFO"):
                text = of_metadata(text, repository)
            info.size, info.mtime = len(text), 0
            sources.addfile(info, io.BytesIO(text))
    path.write_bytes(gzip.compress(packed.getvalue(), mtime=0))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        finish = finish_wheel if name.endswith(".whl") else finish_sources
        finish(Path(name), os.environ.get("GITHUB_REPOSITORY", ""))
        page = "" if (ROOT / "python" / PAGE).is_file() else ", without the static page (make web)"
        print(f"{name}: {Path(name).stat().st_size / 1e6:.1f} MB{page if name.endswith('.whl') else ''}")
