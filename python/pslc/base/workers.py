"""Workers: processes in Python that run functions of pslc for this one.

A worker imports from where Python and pslc are installed; then, last, from where the function lies that it runs. The
current folder is not among these, since anybody may have put modules there.
"""

import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from queue import SimpleQueue
from threading import Event, Thread
from typing import IO, Any, Final, NamedTuple

from pslc.base import children
from pslc.base.ends import ENDS


class Call(NamedTuple):
    """Message to a worker: a pickled pair of a function and its task; `main` is the main module, if they need it."""

    pickled: bytes
    main: str


class Stop(NamedTuple):
    """Message to a worker: nobody waits for what it does any more."""


class Ready(NamedTuple):
    """Message from a worker: it takes calls."""


class State(NamedTuple):
    """Message from a worker: how far it has come, pickled."""

    pickled: bytes


class Result(NamedTuple):
    """Message from a worker: what the function returned, pickled."""

    pickled: bytes


class Error(NamedTuple):
    """Message from a worker: the exception that the function raised, pickled."""

    pickled: bytes


def unpickled(message: State | Result | Error) -> Any:
    """Value in a message from a worker, or the error of reading it."""
    try:
        return pickle.loads(message.pickled)
    except Exception as error:
        return error


Message = Ready | State | Result | Error | None
"""Message from a worker; None: it has ended."""
Inbox = SimpleQueue[tuple["Worker", Message]]

_SERVE: Final = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
lifeline, pslc, *folders = sys.argv[1:]
sys.path += [folder for folder in folders if folder not in sys.path]
spec = spec_from_file_location("pslc", pslc)
sys.modules["pslc"] = module_from_spec(spec)
spec.loader.exec_module(sys.modules["pslc"])
from pslc.base.workers import serve
serve(int(lifeline))
"""
"""Program of a worker: it runs this very pslc, whatever else is installed."""


class Worker:
    """A process in Python that runs functions one after the other. It hears no signal of a terminal or of a service
    manager, and ends with this process, even if that is killed.
    """

    def __init__(self, inbox: Inbox, function: Callable[..., Any] | None = None) -> None:
        """Start it.

        Args:
            inbox: takes what it sends.
            function: one of those that it will run, or what wraps it as `func`; it may import from where that lies.
        """
        theirs, self._lifeline = os.pipe()
        words = children.python("-c", _SERVE, str(theirs), str(sys.modules["pslc"].__file__), *_roots(function))
        given: dict[str, Any] = {} if sys.platform == "win32" else {"pass_fds": (theirs,)}
        try:
            with _deaf():
                options = {"stdin": children.PIPE, "stdout": children.PIPE, **given}
                self.process = children.start(words, own_group=sys.platform == "win32", **options)
        except OSError:
            os.close(self._lifeline)
            raise
        finally:
            os.close(theirs)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._calls, self._sent = self.process.stdin, self.process.stdout
        self.is_ready = False
        self._listener = Thread(target=self._listen, args=(inbox,), daemon=True)
        self._listener.start()

    def call(self, function: Callable[[Any], Any], task: Any) -> None:
        """Let it run `function(task)`, after what it was given before."""
        pickled = pickle.dumps((function, task), pickle.HIGHEST_PROTOCOL)
        self._send(Call(pickled, _main()[0] if b"__main__" in pickled else ""))

    def stop(self) -> None:
        """Tell it that nobody waits any more; a function sees that by `is_wanted`."""
        self._send(Stop())

    def close(self) -> None:
        """End it at once, whatever it does: what it has not sent yet is lost."""
        children.end(self.process)
        self._listener.join(children.MAX_WAIT_S)
        with suppress(OSError):
            self._calls.close()
        if self._lifeline != -1:
            os.close(self._lifeline)
            self._lifeline = -1

    @property
    def exit_code(self) -> int:
        """Exit code of one that has ended; negative: the signal that ended it."""
        children.end(self.process)
        return self.process.returncode or 0

    @property
    def death(self) -> str:
        """Signal that ended it, or its exit code, in words."""
        code = self.exit_code
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"

    def _send(self, message: Call | Stop) -> None:
        # One that has ended says so by itself.
        with suppress(OSError, ValueError):
            pickle.dump(message, self._calls, pickle.HIGHEST_PROTOCOL)
            self._calls.flush()

    def _listen(self, inbox: Inbox) -> None:
        # Whatever is cut off, or is no message: it has ended, or is as good as that.
        with suppress(Exception):
            while True:
                inbox.put((self, pickle.load(self._sent)))
        inbox.put((self, None))


def _roots(function: Callable[..., Any] | None) -> list[str]:
    """Folders in which a worker looks for modules, after those that any Python has: where a function lies, and where
    this process looks, but for the current folder."""
    module = getattr(getattr(function, "func", function), "__module__", None) or "pslc"
    roots = [_main()[1]] if module == "__main__" else _root(module)
    with suppress(OSError):
        here = os.path.realpath(os.getcwd())
        roots += [path for path in sys.path if os.path.isabs(path) and os.path.realpath(path) != here]
    return list(dict.fromkeys(roots))


def _root(module: str) -> list[str]:
    """The folder that has the package of a module, or the module; none for one that any worker has."""
    top = sys.modules[module.partition(".")[0]]
    place = next(iter(getattr(top, "__path__", ())), getattr(top, "__file__", None))
    return [] if place is None or top.__name__ == "pslc" else [os.path.dirname(os.path.abspath(place))]


def _main() -> tuple[str, str]:
    """The name by which another process imports the main module, and the folder in which it finds that."""
    main = sys.modules["__main__"]
    path = os.path.abspath(str(getattr(main, "__file__", "")))
    name = main.__spec__.name if main.__spec__ is not None else os.path.splitext(os.path.basename(path))[0]
    return name, path.rsplit(os.sep, name.count(".") + 1)[0]


@contextmanager
def _deaf() -> Iterator[None]:
    """Context in which a process is started that hears no signal of `ENDS`, not even while it imports. A mask is
    inherited; on Windows, where there is none, a group of its own does that."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# ---- in a worker

_unwanted = Event()
"""Set when nobody waits for what this worker does any more."""
_answers: IO[bytes] | None = None
"""In a worker: what it sends goes here."""


def is_wanted() -> bool:
    """Whether somebody waits for what this process does."""
    return not _unwanted.is_set()


def while_wanted(_: object) -> bool:
    """Progress callback of a run in a worker: False, which ends the run, once nobody waits for its result."""
    return is_wanted()


def report(state: object) -> None:
    """Tell who called this worker how far it has come."""
    _reply(State(pickle.dumps(state, pickle.HIGHEST_PROTOCOL)))


def serve(lifeline: int) -> None:
    """Run what is called for, until the caller is gone. The program of a worker."""
    global _answers
    calls, _answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What a function prints is talk, and leaves stdout of the caller alone.
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    from pslc.base.console import Screen

    sys.stdout = sys.stderr = Screen(os.fdopen(2, "w", closefd=False), "utf-8", "backslashreplace", lossy=True)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        _end_with(lifeline)
    inbox = SimpleQueue[Call]()
    Thread(target=_listen, args=(calls, inbox), daemon=True).start()
    _reply(Ready())
    while True:
        _reply(_answer(inbox.get()))


def _end_with(lifeline: int) -> None:
    """End this process with the other end of a pipe. The kernel sees to it: Python's threads do not run while a
    function keeps the interpreter to itself, as a policy may."""
    import fcntl
    import select

    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([lifeline], [], [], 0)[0]:
        os._exit(1)


def _listen(calls: IO[bytes], inbox: SimpleQueue[Call]) -> None:
    """Take calls, beside the one that runs."""
    with suppress(Exception):
        while True:
            message = pickle.load(calls)
            if isinstance(message, Stop):
                _unwanted.set()
            else:
                inbox.put(message)
    # The caller is gone. No handler and no thread of a function delays this.
    os._exit(0)


def _answer(call: Call) -> Result | Error:
    try:
        if call.main:
            sys.modules["__main__"] = import_module(call.main)
        function, task = pickle.loads(call.pickled)
        return Result(pickle.dumps(function(task), pickle.HIGHEST_PROTOCOL))
    except BaseException as error:  # A panic of the native part is no Exception.
        return Error(_pickled(error))


def _pickled(error: BaseException) -> bytes:
    """An exception for the caller, with its traceback as a note."""
    import traceback

    text = "".join(traceback.format_exception(error))
    with suppress(Exception):
        error.add_note(f"in a worker:\n{text}")
        pickled = pickle.dumps(error, pickle.HIGHEST_PROTOCOL)
        if isinstance(pickle.loads(pickled), Exception):
            return pickled
    # It is none that another process could catch.
    return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}\nin a worker:\n{text}"))


def _reply(message: Ready | State | Result | Error) -> None:
    assert _answers is not None, "only a worker has a caller"
    try:
        pickle.dump(message, _answers, pickle.HIGHEST_PROTOCOL)
        _answers.flush()
    except OSError:
        os._exit(1)
