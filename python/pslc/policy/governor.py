"""A policy of the cache and a victim rule in Python, which a simulated drive asks in place of its profile's.

    class Patient(pslc.Policy):
        def throttle(self, view):
            return "share" if view.exhausted and view.foldable else "none"

    pslc.run("fill", on="sim:sn850-1tb", policy=Patient())

`crates/ssd/src/ftl/custom.rs` asks; `_AskedPolicy` and `_AskedVictimRule` turn its numbers into what is below.
"""

import ctypes
import hashlib
import inspect
import reprlib
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Literal, NamedTuple, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from pslc._native import SimDrive
from pslc.base import gate
from pslc.base.errors import Interrupted, JobError, PolicyError, PslcError, closest_match
from pslc.device.target import Target
from pslc.schema.facts import PolicyDocument

Throttle = Literal["none", "share", "one-for-one", "two-for-one", "beside"]
Overflow = Literal["native", "wait", "switch"]
FoldOrder = Literal["oldest", "cost-benefit", "static-first"]
Place = Literal["cache", "native"]

FILE: Final = gate.Expected("a policy is a class in a Python file: --policy mine.py:Mine")
MAX_REPR: Final = 200
"""Letters of a value of a policy's author that a recording or a message shows."""
MAX_FRAMES: Final = 6
"""Innermost frames of an author's traceback that are shown."""


class Space(NamedTuple):
    """Space as it is now, in superblocks.

    Attributes:
        cache_used: superblocks of the cache that hold data or are being filled.
        cache_size: how many there may be at this fill of the drive.
        free: free ones outside the static cache.
        reserve: below so many free ones host writes pay for the space they take.
        cache_pages: mapping pages (4 KiB on most drives) that the cache holds at its present size.
    """

    cache_used: int
    cache_size: int
    free: int
    reserve: int
    cache_pages: int


class View(NamedTuple):
    """State of the drive that a policy decides on, taken when a superblock was opened or freed.

    Attributes:
        exhausted: the cache is full, or has been and may not be used again yet (`cache.reuse`).
        room: another superblock could be opened as pSLC now.
        foldable: the cache holds superblocks that could be folded.
        in_batches: folding under load goes on until a batch is free (`cache.fold_batch`).
        draining: it does now.
        throttle: what is granted now.
        space: see `Space`.
    """

    exhausted: bool
    room: bool
    foldable: bool
    in_batches: bool
    draining: bool
    throttle: Throttle
    space: Space


class HostWrite(NamedTuple):
    """A write of the host, as `Policy.place` sees it.

    Attributes:
        pages: of this request.
        run: of all that were written in order up to its end.
        rewritten_after: pages that the host has written since it wrote what is overwritten now; None: nothing is.
    """

    pages: int
    run: int
    rewritten_after: int | None


class Candidates(NamedTuple):
    """The closed superblocks that have lost a page, a row each.

    Attributes:
        superblock: its number.
        valid: pages with the newest copy of something.
        opened: when it was opened, as a number over all openings.
        erases: erases so far.
        is_cache: whether it is in pSLC mode (1) or native (0).
        full: pages of a full superblock.
        openings: superblocks that were opened so far; `openings - opened` is the age.
    """

    superblock: NDArray[np.uint64]
    valid: NDArray[np.uint64]
    opened: NDArray[np.uint64]
    erases: NDArray[np.uint64]
    is_cache: NDArray[np.uint64]
    full: int
    openings: int


class Policy:
    """A policy of the cache. Each question has a default, that of `direct-then-fold`; override those it is about.

    `throttle`, `overflow` and `fold_order` are asked each time a superblock is opened or freed.
    """

    def throttle(self, view: View) -> Throttle:
        """Rule by which host writes give way to folding until the next superblock."""
        return "none"

    def overflow(self, view: View) -> Overflow:
        """Destination of host data that the cache cannot take."""
        return "native"

    def fold_order(self, view: View) -> FoldOrder:
        """Order in which superblocks of the cache are folded."""
        return "oldest"

    def place(self, space: Space, write: HostWrite) -> Place:
        """Destination of one write: the cache while it takes data, or past it. If a policy overrides this, it is called
        for each write."""
        return "cache"

    def idle_start(self, threshold_ns: int, silences_ns: Sequence[int]) -> int | None:
        """Idle time in ns after which folding of the cache starts; None: never.

        Args:
            threshold_ns: the profile's `cache.idle`.
            silences_ns: the last eight silences of at least a tenth of that, the latest last. Asked after each, where
                overridden.
        """
        return threshold_ns


class VictimRule:
    """Rule that chooses the next superblock for garbage collection."""

    def choose(self, candidates: Candidates) -> int:
        """The victim's row. There is at least one candidate."""
        raise NotImplementedError(f"{type(self).__qualname__} has no method choose")


Governor = TypeVar("Governor", Policy, VictimRule)


class _Asked:
    """A policy or a victim rule as the native part asks it."""

    @staticmethod
    def interrupt(thread: int) -> None:
        """Raise `Interrupted` in a thread: in a policy that is running, perhaps without end."""
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Interrupted))

    @staticmethod
    def shown(answer: object) -> str:
        """An answer in a message."""
        return shown(answer)


class _AskedPolicy(_Asked):
    """A policy as the native part asks it."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.name = type(policy).__qualname__
        self.sorts = type(policy).place is not Policy.place
        self.predicts = type(policy).idle_start is not Policy.idle_start

    def decide(self, *view: Any) -> tuple[Throttle, Overflow, FoldOrder]:
        with _theirs(self.name):
            *state, space = view
            shown, policy = View._make((*state, Space._make(space))), self.policy
            return policy.throttle(shown), policy.overflow(shown), policy.fold_order(shown)

    def place(self, space: tuple[int, ...], *write: Any) -> Place:
        try:
            return self.policy.place(Space(*space), HostWrite(*write))
        except BaseException as error:  # Asked millions of times: a context manager would take as long as the rest.
            _raise_of_the_author(error, self.name)

    def idle_start(self, threshold_ns: int, silences_ns: list[int]) -> int | None:
        with _theirs(self.name):
            return self.policy.idle_start(threshold_ns, silences_ns)


class _AskedVictimRule(_Asked):
    """A victim rule as the native part asks it."""

    def __init__(self, rule: VictimRule) -> None:
        self.rule = rule
        self.name = type(rule).__qualname__

    def choose(self, *columns: Any) -> int:
        with _theirs(self.name):
            *rows, full, openings = columns
            arrays = [np.frombuffer(row, dtype=np.uint64) for row in rows]
            row = self.rule.choose(Candidates._make((*arrays, full, openings)))
            # numpy's numbers are no ints.
            return int(row) if isinstance(row, np.integer) else row


@contextmanager
def _theirs(name: str) -> Iterator[None]:
    """Context whose exceptions, and whatever it does to the process, are errors of the author of `name`.

    Raises:
        PolicyError: of the author.
    """
    depth, was_open = sys.getrecursionlimit(), _is_open(sys.stdout)
    try:
        yield
    except BaseException as error:
        sys.setrecursionlimit(depth)
        _raise_of_the_author(error, name)
    if sys.getrecursionlimit() != depth:
        sys.setrecursionlimit(depth)
        raise PolicyError(f"{name} changed Python's recursion limit", "leave the process as it is, and run again")
    if was_open and not _is_open(sys.stdout):
        raise PolicyError(f"{name} closed stdout", "leave the process as it is, and run again")


def _is_open(stream: Any) -> bool:
    return stream is not None and not stream.closed


def _raise_of_the_author(error: BaseException, name: str) -> NoReturn:
    """Raise an error of the author of `name` in words; what is none is raised as it is: an interrupt, one of pslc's.

    Raises:
        PolicyError: of the author.
    """
    if isinstance(error, Interrupted | PslcError) or _is_interrupt(error):
        raise error
    first = error.__traceback__
    while first is not None and first.tb_frame.f_globals.get("__name__") in (__name__, "contextlib"):
        first = first.tb_next
    formatted = traceback.TracebackException(type(error), error, first, limit=-MAX_FRAMES).format(chain=False)
    lines = [line[: 2 * MAX_REPR] for line in "".join(formatted).splitlines()]
    hint = "\n".join(["correct it, and run again", *lines])
    raise PolicyError(f"{name} raised {lines[-1][:MAX_REPR]}", hint) from error


def _is_interrupt(error: BaseException) -> bool:
    """Whether somebody at the terminal may have raised it. The threads of a run and workers hear no interrupt."""
    in_main = threading.current_thread() is threading.main_thread()
    return isinstance(error, KeyboardInterrupt) and in_main and callable(signal.getsignal(signal.SIGINT))


def shown(value: object) -> str:
    """A value of an author's as its `repr`, however long that is and whatever it raises."""
    try:
        return _REPR.repr(value)[:MAX_REPR]
    except BaseException as error:
        return f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"


_REPR: Final = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = MAX_REPR
_REPR.maxlist = _REPR.maxtuple = _REPR.maxdict = _REPR.maxset = _REPR.maxfrozenset = _REPR.maxdeque = MAX_REPR // 3


def governed(target: Target, policy: Policy | str | None, victim_rule: VictimRule | str | None) -> Target:
    """A simulated drive that asks these in place of its profile's, and says so. A text is a class in a file, `loaded`.

    Raises:
        PslcError: it is not a fresh simulated drive, they are not of these classes, or it could never ask them.
    """
    if policy is None and victim_rule is None:
        return target
    policy, victim_rule = _object(policy, "policy", Policy), _object(victim_rule, "victim_rule", VictimRule)
    drive = None if target.is_real or target.stays else target.open()
    if not isinstance(drive, SimDrive):
        what = "a drive file, which has the policy of its profile" if target.stays else "not a simulated drive"
        raise JobError(f"{target.spec} is {what}", "a policy in Python decides on sim:NAME only")
    drive.govern(_AskedPolicy(policy) if policy else None, _AskedVictimRule(victim_rule) if victim_rule else None)
    facts = target.facts
    for key, replaced, of in (("policy", "cache.when_full", policy), ("victim_rule", "ftl.gc", victim_rule)):
        if of is not None:
            with _theirs(type(of).__qualname__):
                document = described(of)
            facts[key] = document  # type: ignore[literal-required]
            facts["notes"].append(f"{document['name']} decides in place of {replaced} ({_origin(document)})")
    return target


def _object(of: Governor | str | None, name: str, kind: type[Governor]) -> Governor | None:
    """The object of a class in a file that is named by a text, or what is one already.

    Raises:
        PslcError: it is neither.
    """
    if isinstance(of, str):
        return loaded(of, kind)
    if of is not None and not isinstance(of, kind):
        hint = f"an object of a class derived from pslc.{kind.__name__}: {name}=Mine(), not {name}=Mine"
        raise JobError(f"{name} is {shown(of)}", hint)
    return of


def described(governor: Policy | VictimRule) -> PolicyDocument:
    """Describe a policy for a recording, with the hash of its source, so that another policy of the same name is not
    mistaken for it."""
    sources, file = [], None
    for of in type(governor).__mro__:
        if of in (Policy, VictimRule, object):
            continue
        with suppress(OSError, TypeError):
            sources.append(inspect.getsource(of))
    with suppress(TypeError, OSError):
        file = Path(inspect.getfile(type(governor)))
    source = "\n".join(sources)
    return {
        "name": type(governor).__qualname__,
        "file": file.name if file is not None else None,
        "file_sha256": _sha256(gate.data(file, FILE)) if file is not None and file.is_file() else None,
        "source": source or None,
        "source_sha256": _sha256(source.encode()) if source else None,
        "attributes": {name: shown(value) for name, value in vars(governor).items()},
    }


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _origin(document: PolicyDocument) -> str:
    if document["source_sha256"] is None:
        return "its source cannot be read, so it cannot be told from another of this name: put it into a file"
    return f"{document['file']}, source sha256 {document['source_sha256'][:12]}"


def loaded(text: str, kind: type[Governor]) -> Governor:
    """A fresh object of a class in a file: `mine.py:Mine`.

    Raises:
        PslcError: there is no such file or class.
    """
    path, name = split(text, kind)
    module = _module(path)
    of = getattr(module, name, None)
    names = [
        each for each, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, kind) and value is not kind
    ]  # fmt: skip
    if not isinstance(of, type) or not issubclass(of, kind):
        meant = closest_match(name, names)
        listed = f"it has {', '.join(names)}" if names else f"class {name}(pslc.{kind.__name__}): ..."
        raise JobError(f"{path} has no {kind.__name__} named {name}", f"did you mean {meant}?" if meant else listed)
    with _theirs(name):
        return of()


def split(text: str, kind: type[Policy | VictimRule]) -> tuple[Path, str]:
    """File and class of `mine.py:Mine`.

    Raises:
        PslcError: it names no class.
    """
    path, colon, name = text.rpartition(":")
    if not colon or not path.endswith(".py") or not name.isidentifier():
        raise JobError(f'"{text}" names no {kind.__name__}', "a Python file and a class in it: mine.py:Mine")
    return Path(path), name


def source_of(text: str, kind: type[Policy | VictimRule]) -> str:
    """The text of the file of `mine.py:Mine`."""
    return gate.text(split(text, kind)[0], FILE)


def reference(of: type[Policy | VictimRule] | str) -> str:
    """`mine.py:Mine` of a class, for processes that load it anew.

    Raises:
        PslcError: it is in no file, or within something.
    """
    if isinstance(of, str):
        return of
    with suppress(TypeError, OSError):
        file = Path(inspect.getfile(of))
        if file.is_file() and of.__qualname__.isidentifier():
            return f"{file}:{of.__qualname__}"
    raise JobError(
        f"{shown(of)} is in no file that other processes could load it from",
        "put the class into a file, at its top level: policy=mine.Mine or policy='mine.py:Mine'",
    )


def _module(path: Path) -> ModuleType:
    """The module of a file, executed anew where the file has changed."""
    source = gate.text(path, FILE)
    name = f"pslc_policy_{_sha256(f'{path.absolute()}:{source}'.encode())[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = str(path.absolute())
    sys.modules[name] = module
    try:
        with _theirs(path.name):
            exec(compile(source, module.__file__, "exec"), module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    return module
