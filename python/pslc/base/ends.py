"""Signals by which a terminal, a shell or a service manager ends a program, often with all of its processes."""

import signal
from collections.abc import Callable
from typing import Any, Final

NAMES: Final = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGBREAK")
"""Names of the signals that end a process on any system: Windows has the first two and Ctrl-Break."""


def _is_heard(number: signal.Signals) -> bool:
    """Whether a signal is to end this process: not a SIGHUP that `nohup` had ignored when it began, for it is to
    outlive its terminal. A shell ignores SIGINT for what a script begins with `&`; it is heard all the same, as by
    fio."""
    return number.name != "SIGHUP" or signal.getsignal(number) != signal.SIG_IGN


ENDS: Final = tuple(
    signal.Signals[name] for name in NAMES if name in signal.Signals.__members__ and _is_heard(signal.Signals[name])
)
"""Signals that end this process, as far as this system has them."""


def hear(what: Callable[..., Any] | signal.Handlers) -> None:
    """Handle each of `ENDS` so from now on, by a function or `signal.SIG_IGN`; from the main thread only."""
    for number in ENDS:
        signal.signal(number, what)
