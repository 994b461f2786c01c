"""pslc: a laboratory for SSD write caching.

import pslc
recording = pslc.run("fill", on="sim:aldrin-pro-2tb")
recording.findings["cache_bytes"]
"""

from typing import TYPE_CHECKING, Any

from pslc._native import PslcError, version

if TYPE_CHECKING:
    from pslc.findings import analyze
    from pslc.recording import Recording
    from pslc.runner import run

__all__ = ["PslcError", "Recording", "__version__", "analyze", "run"]

__version__: str = version()


def __getattr__(name: str) -> Any:
    """Import what takes long when it is asked for: `pslc --help` needs none of it."""
    if name == "Recording":
        from pslc.recording import Recording

        return Recording
    if name == "analyze":
        from pslc.findings import analyze

        return analyze
    if name == "run":
        from pslc.runner import run

        return run
    raise AttributeError(f"module pslc has no attribute {name}")
