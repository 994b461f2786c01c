"""pslc: a laboratory for SSD write caching.

import pslc
recording = pslc.run("fill", on="sim:aldrin-pro-2tb")
recording.findings["cache_bytes"]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pslc._native import version
from pslc.base.errors import PslcError

if TYPE_CHECKING:
    from pslc.device.policy import Policy, VictimRule
    from pslc.device.region import Scope
    from pslc.recording.store import Recording
    from pslc.recording.writes import analyze
    from pslc.runner.compare import compare
    from pslc.runner.load import load
    from pslc.runner.run import run
    from pslc.serving.api import serve
    from pslc.studies.study import study
    from pslc.twin.api import fit

__all__ = [
    "Policy",
    "PslcError",
    "Recording",
    "Scope",
    "VictimRule",
    "__version__",
    "analyze",
    "compare",
    "fit",
    "load",
    "run",
    "serve",
    "study",
]

__version__: str = version()

_LATER = {
    "Policy": "device.policy",
    "Recording": "recording.store",
    "Scope": "device.region",
    "VictimRule": "device.policy",
    "analyze": "recording.writes",
    "compare": "runner.compare",
    "fit": "twin.api",
    "load": "runner.load",
    "run": "runner.run",
    "serve": "serving.api",
    "study": "studies.study",
}
"""What takes long to import, and where it is: `pslc --help` needs none of it."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module pslc has no attribute {name}")
    return getattr(import_module(f"pslc.{_LATER[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
