"""Policies that do what none should, once they have been asked for a while: those of tests/test_policy.py."""

import ctypes
import sys
import time
from pathlib import Path

import pslc


class Later(pslc.Policy):
    """Answers as the profile does, and then does something else."""

    def throttle(self, view):
        if view.space.cache_used <= 3:
            return "none"
        Path("asked").touch()
        return self.harm()


class RaisesBase(Later):
    def harm(self):
        raise BaseException("mine \x1b]0;OWNED\x07")


class Exits(Later):
    def harm(self):
        sys.exit(7)


class Interrupts(Later):
    def harm(self):
        raise KeyboardInterrupt


class EndsGenerators(Later):
    def harm(self):
        raise GeneratorExit


class Recurses(Later):
    def harm(self):
        return self.harm()


class Shallow(Later):
    def harm(self):
        sys.setrecursionlimit(50)
        return "none"


class ClosesStdout(Later):
    def harm(self):
        sys.stdout.close()
        return "none"


class AnswersHuge(Later):
    def harm(self):
        return "x" * 300_000_000


class Nameless:
    def __repr__(self):
        raise ValueError("no repr")


class AnswersWithoutRepr(Later):
    def harm(self):
        return Nameless()


class HasNamelessAttribute(pslc.Policy):
    def __init__(self):
        self.nameless = Nameless()


class Crashes(Later):
    def harm(self):
        ctypes.string_at(0)


class Prints(Later):
    def harm(self):
        print("talk")
        return "none"


class Slow(Later):
    """Takes so long at first that there is a checkpoint."""

    asked = 0

    def harm(self):
        self.asked += 1
        if self.asked < 40:
            time.sleep(0.05)
            return "none"
        return self.hang()


class Loops(Slow):
    def hang(self):
        while True:
            pass


class Holds(Slow):
    """Keeps the interpreter to itself."""

    def hang(self):
        return 10**10**8


class Catches(Later):
    def harm(self):
        while True:
            try:
                time.sleep(0.01)
            except BaseException:
                continue


class Sleeps(Later):
    def harm(self):
        time.sleep(1000)
