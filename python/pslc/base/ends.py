"""Signals by which a terminal, a shell or a service manager ends a program, often with all of its processes."""

import signal
from typing import Final

NAMES: Final = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGBREAK")
"""Names of the signals that end a process on any system: Windows has the first two and Ctrl-Break."""
ENDS: Final = tuple(signal.Signals[name] for name in NAMES if name in signal.Signals.__members__)
"""Signals that end a process, as far as this system has them."""
