"""pslc: a laboratory for SSD write caching.

import pslc
recording = pslc.run("fill", on="sim:aldrin-pro-2tb")
recording.findings["cache_bytes"]
"""

from pslc._native import PslcError, version
from pslc.recording import Recording
from pslc.runner import run

__all__ = ["PslcError", "Recording", "__version__", "run"]

__version__: str = version()
