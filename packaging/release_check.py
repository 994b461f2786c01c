"""What of a release can be tried here: `make release-check`, or `python packaging/release_check.py [PROFILE]`.

Builds the wheel and the sources in Cargo's PROFILE (default: release), and tries them where their users stand: in
empty environments, in empty folders. Each check ends with `ok`, `FAILED` and its output, or `not done` and why.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.test_documents import ELSEWHERE, OF_ARTICLES, blocks, small  # noqa: E402

EXTRAS = "fit,pictures,study"
TOOLS = ("twine", "abi3audit", "check-wheel-contents", "zizmor")
MAX_STEP_S = 900
REPOSITORY = "owner/pslc"
"""Stands for the repository on GitHub, which its workflows know."""
PYTHONS = [*os.environ["PATH"].split(os.pathsep), *map(str, Path.home().glob(".pyenv/versions/*/bin"))]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NOT_TRIED = "a release by the workflow; Windows and macOS; the formula, the bundle for winget and the image"
"""What this script cannot try, and nobody has."""


class CheckError(Exception):
    """A check that failed, with what it printed."""


class NotDoneError(Exception):
    """A check that this machine cannot make, and why."""


def run(*words: str | Path, folder: Path = ROOT, path: str = "") -> str:
    """The stdout of a program that ends well.

    Args:
        path: folder of programs that come first.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment["PATH"] = f"{path}:{environment['PATH']}" if path else environment["PATH"]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=MAX_STEP_S)
    if done.returncode:
        raise CheckError(f"{shlex.join(map(str, words))}\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
    return done.stdout


def works(python: Path) -> bool:
    """Whether a program of this name is a Python."""
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


def environment(folder: Path, *packages: str | Path, python: str | Path = sys.executable) -> Path:
    """The programs of a new environment of a Python with these packages alone."""
    run(python, "-m", "venv", folder)
    programs = folder / "bin"
    run(programs / "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return programs


def lowest() -> list[str]:
    """Direct dependencies at the lowest version that the package permits."""
    of_extras = [PROJECT["optional-dependencies"][name] for name in EXTRAS.split(",")]
    lines = [line for of_extra in [PROJECT["dependencies"], *of_extras] for line in of_extra]
    bounds: dict[str, list[str]] = {}
    for line in lines:
        name, version = re.split(r">=", line.partition(",")[0])
        bounds.setdefault(name, []).append(version)
    return [f"{name}=={max(versions, key=lambda text: [int(part) for part in text.split('.')])}"
            for name, versions in bounds.items()]  # fmt: skip


class Release:
    """The packages of a release and the folder that they are tried in."""

    def __init__(self, folder: Path, profile: str) -> None:
        self.folder = folder
        self.profile = profile
        self.dist = folder / "dist"

    @property
    def wheel(self) -> Path:
        """The one wheel."""
        (wheel,) = self.dist.glob("*.whl")
        return wheel

    @property
    def sources(self) -> Path:
        """The one source package."""
        (sources,) = self.dist.glob("*.tar.gz")
        return sources

    def build(self) -> str:
        """Wheel and source package are built from the locked crates, and finished the same way twice."""
        maturin = Path(sys.executable).with_name("maturin")
        run(maturin, "build", "--profile", self.profile, "--locked", "--out", self.dist)
        run(maturin, "sdist", "--out", self.dist)
        bytes_of = []
        for _ in range(2):
            finish = [sys.executable, ROOT / "packaging" / "finish.py", self.wheel, self.sources]
            run("env", f"GITHUB_REPOSITORY={REPOSITORY}", *finish)
            bytes_of.append([path.read_bytes() for path in (self.wheel, self.sources)])
        if bytes_of[0] != bytes_of[1]:
            raise CheckError("finishing a package again gives other bytes")
        return ", ".join(f"{path.name} {path.stat().st_size / 1e6:.1f} MB" for path in sorted(self.dist.iterdir()))

    def readme(self) -> str:
        """Each link and picture of the README leads to a file of this version, as an index of packages shows it."""
        with zipfile.ZipFile(self.wheel) as wheel:
            (about,) = (wheel.read(name).decode() for name in wheel.namelist() if name.endswith("/METADATA"))
        links = re.findall(r"\]\(([^)]+)\)", about.partition("\n\n")[2])
        ours = [link.partition("#")[0] for link in links if f"/{REPOSITORY}/" in link]
        gone = [link for link in ours if not (ROOT / re.sub(r".*?/(?:blob|raw)/v[^/]+/", "", link)).exists()]
        gone += [link for link in links if not link.startswith("http")]
        if gone:
            raise CheckError("\n".join(gone))
        return f"{len(links)} links"

    def pythons(self) -> str:
        """The wheel runs on each Python of this machine that it permits, with man pages and completions."""
        names = []
        for minor in range(11, 20):
            # The first on the PATH may be a shim that has no such version.
            places = (Path(folder) / f"python3.{minor}" for folder in PYTHONS)
            python = next((place for place in places if place.exists() and works(place)), None)
            if python is None:
                continue
            folder = self.folder / f"python3.{minor}"
            programs = environment(folder, self.wheel, python=python)
            run(programs / "pslc", "run", "fill", "--on", "sim:pm871b-128gb", "--no-report", folder=folder)
            for name in ("man/man1/pslc-run.1.gz", "bash-completion/completions/pslc"):
                if not (folder / "share" / name).is_file():
                    raise CheckError(f"share/{name} is not installed")
            names.append(f"3.{minor}")
        return ", ".join(names)

    def tools(self) -> str:
        """twine, abi3audit, check-wheel-contents and zizmor have nothing to say."""
        programs = environment(self.folder / "tools", *TOOLS)
        run(programs / "twine", "check", "--strict", self.wheel, self.sources)
        run(programs / "abi3audit", "--strict", self.wheel)
        run(programs / "check-wheel-contents", self.wheel)
        run(programs / "zizmor", "--offline", "--no-progress", ".github/workflows")
        return ""

    def newest(self) -> str:
        """Every command of the documents runs in an empty folder, with the newest packages."""
        programs = environment(self.folder / "newest", f"{self.wheel}[{EXTRAS}]")
        return self.documents(programs)

    def lowest(self) -> str:
        """Every command of the documents runs with the lowest packages that the package permits."""
        programs = environment(self.folder / "lowest", f"{self.wheel}[{EXTRAS}]", *lowest())
        return self.documents(programs)

    def documents(self, programs: Path) -> str:
        """Run the commands of the documents, block by block, each block in a folder of its own."""
        count, failures = 0, []
        profiles = [text for _, text in blocks("toml")]
        for document, text in blocks("sh"):
            lines = [small(line) for line in text.splitlines() if line.startswith(("pslc ", "pslc-fio "))]
            with tempfile.TemporaryDirectory(dir=self.folder) as folder:
                run(programs / "pslc", "examples", folder=Path(folder))
                for profile in profiles:
                    name = profile.partition("\n")[0].removeprefix("# ")
                    (Path(folder) / name).write_text(profile, encoding="utf-8")
                rows = (f"{ms}, {2_000_000 if ms < 30_000 else 500_000}, 1, 0, 0" for ms in range(100, 60_000, 100))
                (Path(folder) / "fill_bw.1.log").write_text("\n".join(rows) + "\n", encoding="utf-8")
                for line in lines if document != OF_ARTICLES else ():
                    if line.startswith(ELSEWHERE):
                        continue
                    words = shlex.split(line, comments=True)
                    count += 1
                    try:
                        run(programs / words[0], *words[1:], folder=Path(folder), path=str(programs))
                    except (CheckError, subprocess.TimeoutExpired) as error:
                        failures.append(f"{document}: {error}")
        if failures:
            raise CheckError(f"{len(failures)} of {count} commands\n" + "\n".join(failures))
        return f"{count} commands"

    def workflows(self) -> str:
        """The lines of the workflows that use pslc run, but those of `run all`."""
        programs = self.folder / "newest" / "bin"
        text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / ".github/workflows").glob("*.yml"))
        lines = sorted({line for line in re.findall(r'pslc(?:\.exe)?"? ((?:run|study|analyze|examples) .*)', text)
                        if not line.startswith("run all")})  # fmt: skip
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            run(programs / "pslc", "examples", ".", folder=Path(folder))
            for line in (line for line in lines if not line.startswith("examples")):
                run(programs / "pslc", *shlex.split(line.rstrip('"')), folder=Path(folder))
        return f"{len(lines)} lines"

    def from_sources(self) -> str:
        """The source package builds the same files, and says in a sentence where Rust is missing."""
        unpacked = self.folder / "unpacked"
        shutil.unpack_archive(self.sources, unpacked, filter="data")
        (tree,) = unpacked.iterdir()
        for name in ("CHANGELOG.md", "LICENSE", "THIRD-PARTY.txt", "docs/start.md", "tests/test_cli.py"):
            if not (tree / name).is_file():
                raise CheckError(f"{name} is not in {self.sources.name}")
        programs = self.folder / "newest" / "bin"
        words = [programs / "pip", "install", "--no-deps", "--force-reinstall", self.sources]
        done = subprocess.run(words, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"}, timeout=MAX_STEP_S)
        if "a build needs Rust" not in done.stdout + done.stderr or "Traceback" in done.stdout + done.stderr:
            raise CheckError(f"without Rust: {done.stdout[-1000:]}{done.stderr[-2000:]}")
        return "not built a second time: tests/slow/test_package.py does"

    def container(self) -> str:
        """The image is built."""
        builder = shutil.which("podman") or shutil.which("docker")
        if builder is None or subprocess.run([builder, "info"], capture_output=True, check=False).returncode:
            raise NotDoneError("neither podman nor docker runs here")
        run(builder, "build", "--file", "packaging/Containerfile", ".")
        return ""


def main(profile: str) -> int:
    """Make every check; returns the number of those that failed."""
    with tempfile.TemporaryDirectory(prefix="pslc-release-") as folder:
        release = Release(Path(folder), profile)
        checks: list[Callable[[], str]] = [
            release.build, release.readme, release.tools, release.pythons, release.newest, release.lowest,
            release.workflows, release.from_sources, release.container,
        ]  # fmt: skip
        failed = 0
        for check in checks:
            says = str(check.__doc__).rstrip(".")
            try:
                print(f"ok        {says}: {check()}".removesuffix(": "), flush=True)
            except NotDoneError as reason:
                print(f"not done  {says}: {reason}", flush=True)
            except (CheckError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"FAILED    {says}\n{error}", flush=True)
    print(f"never tried: {NOT_TRIED}")
    return failed


if __name__ == "__main__":
    sys.exit(min(main(*sys.argv[1:2] or ["release"]), 1))
