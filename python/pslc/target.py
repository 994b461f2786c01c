"""What a run is made on: `sim:NAME[,key=value...]` or `sim:./mine.toml[,key=value...]`."""

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from pslc._native import SimDrive
from pslc.errors import refusal

DRIVES = Path(__file__).parent / "drives"


@dataclass(frozen=True)
class Target:
    """A drive, fresh and ready, and the words it was asked for with."""

    spec: str
    slug: str
    """Short name for folders: `aldrin-pro-2tb`."""
    drive: SimDrive


def library() -> dict[str, str]:
    """The profiles pslc brings along: TOML texts by name, in alphabetical order."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(DRIVES.glob("*.toml"))}


def open_target(spec: str) -> Target:
    """A fresh drive for `spec`.

    Raises:
        PslcError: there is no such drive or file, or its profile cannot be used.
    """
    kind, _, rest = spec.partition(":")
    if kind != "sim" or not rest:
        raise refusal(f'"{spec}" is no target', "a simulated drive is sim:NAME, such as sim:aldrin-pro-2tb")
    name, *pairs = rest.split(",")
    overrides = []
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise refusal(f'"{pair}" in {spec} is no key=value', "a key of the profile, such as cache.mode=pure-xlc")
        overrides.append((key.strip(), value.strip()))
    texts = library()
    if "/" in name or name.endswith(".toml"):
        source, text, slug = name, _read(name), Path(name).stem
    elif name in texts:
        source, text, slug = f"{name}.toml", texts[name], name
    else:
        near = get_close_matches(name, texts, n=1, cutoff=0.0)
        raise refusal(f"unknown drive {name}", f"did you mean {near[0]}? pslc drives lists them all")
    return Target(spec, slug, SimDrive(source, text, texts, overrides))


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a text file"
        raise refusal(
            f"{path}: {why}", "a profile is a TOML file; pslc drives show NAME prints one to begin with"
        ) from None
