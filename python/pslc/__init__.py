"""pslc: a laboratory for SSD write caching.

import pslc
recording = pslc.run("fill", on="sim:aldrin-pro-2tb")
recording.findings["cache_bytes"]
"""

import sys

# `python -m pslc` looks into the current folder first, where anybody may have put modules.
_IS_PROGRAM = sys.argv[:1] == ["-m"] and any(word.removeprefix("-m").split(".")[0] == "pslc" for word in sys.orig_argv)
if _IS_PROGRAM and not sys.flags.safe_path:
    del sys.path[0]

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pslc._native import version
from pslc.base.errors import GuardError, JobError, PolicyError, ProfileError, PslcError, RecordingError, TargetError

if TYPE_CHECKING:
    from pslc.analysis import WriteAnalysis
    from pslc.device.region import Scope
    from pslc.device.target import RealOptions
    from pslc.figures.style import Style
    from pslc.policy.governor import Candidates, HostWrite, Policy, Space, VictimRule, View
    from pslc.recording.model import Recording
    from pslc.recording.store import save
    from pslc.recording.writes.findings import analyze
    from pslc.runner.compare import Comparison, compare
    from pslc.runner.load import load
    from pslc.runner.options import RunOptions
    from pslc.runner.pictures import plot
    from pslc.runner.run import RunInterrupted, run
    from pslc.serving.api import serve
    from pslc.studies.study import study
    from pslc.twin.api import fit
    from pslc.twin.fit_report import FitReport
    from pslc.twin.fit_result import FitStatistics

__all__ = [
    "Candidates",
    "Comparison",
    "FitReport",
    "FitStatistics",
    "GuardError",
    "HostWrite",
    "JobError",
    "Policy",
    "PolicyError",
    "ProfileError",
    "PslcError",
    "RealOptions",
    "Recording",
    "RecordingError",
    "RunInterrupted",
    "RunOptions",
    "Scope",
    "Space",
    "Style",
    "TargetError",
    "VictimRule",
    "View",
    "WriteAnalysis",
    "__version__",
    "analyze",
    "compare",
    "fit",
    "load",
    "plot",
    "run",
    "save",
    "serve",
    "study",
]
"""What is public: docs/api.md documents these names and no others."""

__version__: str = version()

_LATER = {
    "Comparison": "runner.compare",
    "FitReport": "twin.fit_report",
    "FitStatistics": "twin.fit_result",
    "RealOptions": "device.target",
    "Recording": "recording.model",
    "RunInterrupted": "runner.run",
    "RunOptions": "runner.options",
    "Scope": "device.region",
    "Style": "figures.style",
    "WriteAnalysis": "analysis",
    "analyze": "recording.writes.findings",
    "compare": "runner.compare",
    "fit": "twin.api",
    "load": "runner.load",
    "plot": "runner.pictures",
    "run": "runner.run",
    "save": "recording.store",
}
"""What takes long to import, and where it is: `pslc --help` needs none of it."""
_OF_EXTRAS = {
    **dict.fromkeys(("Candidates", "HostWrite", "Policy", "Space", "VictimRule", "View"), "policy"),
    "serve": "serving",
    "study": "studies",
}


def __getattr__(name: str) -> Any:
    if name in _OF_EXTRAS:
        from pslc import extras

        return extras.name_of_face(_OF_EXTRAS[name], name)
    if name not in _LATER:
        raise AttributeError(f"module pslc has no attribute {name}")
    if name in ("Recording", "load", "run"):
        # It shows recordings in a notebook.
        import_module(f"{__name__}.runner.notebook")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
