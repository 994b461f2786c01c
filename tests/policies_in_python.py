"""Policies and victim rules in Python: those of tests/test_policy.py, which load them by class and by text."""

import numpy as np

import pslc


class DirectThenFold(pslc.Policy):
    """All defaults."""


class DirectWhileFolding(pslc.Policy):
    def throttle(self, view):
        return "share" if view.exhausted and view.foldable else "none"


class FoldBeside(pslc.Policy):
    def throttle(self, view):
        return "beside" if view.foldable else "none"


class Fold(pslc.Policy):
    def throttle(self, view):
        if not view.foldable:
            return "none"
        if view.in_batches:
            return "share" if view.draining else "none"
        return "none" if view.room else "one-for-one"

    def overflow(self, view):
        return "wait"


class FoldCostBenefit(Fold):
    def fold_order(self, view):
        return "cost-benefit"


class StaticFirst(DirectThenFold):
    def fold_order(self, view):
        return "static-first"


class InPlaceSwitch(pslc.Policy):
    def overflow(self, view):
        return "switch"

    def idle_start(self, threshold_ns, silences_ns):
        return None


class Watermarks(pslc.Policy):
    def __init__(self, high=3, low=2):
        self.high, self.low = high, low

    def throttle(self, view):
        fill = view.space.cache_used * 4 / max(view.space.cache_size, 1)
        if view.foldable and (fill > self.high or (view.throttle != "none" and fill > self.low)):
            return "two-for-one"
        return "none"


class PredictIdle(pslc.Policy):
    def idle_start(self, threshold_ns, silences_ns):
        if len(silences_ns) < 3:
            return threshold_ns
        median = sorted(silences_ns)[(len(silences_ns) - 1) // 2]
        return threshold_ns // 10 if median > threshold_ns else threshold_ns


class RewriteDistance(DirectWhileFolding):
    def place(self, space, write):
        soon = write.rewritten_after is not None and write.rewritten_after < space.cache_pages
        return "cache" if soon else "native"


class Bypass(DirectWhileFolding):
    def place(self, space, write):
        large = write.pages >= 128 or write.run >= 1024
        cold = write.rewritten_after is not None and write.rewritten_after >= space.cache_pages
        scarce = space.cache_used * 2 >= space.cache_size or space.free <= 2 * space.reserve
        return "native" if (large or cold) and scarce else "cache"


class Greedy(pslc.VictimRule):
    def choose(self, candidates):
        return np.lexsort((candidates.opened, candidates.valid))[0]


class Fifo(pslc.VictimRule):
    def choose(self, candidates):
        return int(np.argmin(candidates.opened))


class Fullest(pslc.VictimRule):
    """Frees a page at a time."""

    def choose(self, candidates):
        return int(np.argmax(candidates.valid))


class Counting(DirectWhileFolding):
    """Has a state of its own: every third superblock is written without folding."""

    def __init__(self):
        self.asked = 0

    def throttle(self, view):
        self.asked += 1
        return "none" if self.asked % 3 == 0 else super().throttle(view)


class Divides(pslc.Policy):
    def throttle(self, view):
        return 1 // (view.space.free - view.space.free) if view.space.cache_used > 3 else "none"


class Endless(pslc.Policy):
    def throttle(self, view):
        if view.space.cache_used > 3:
            print("asked", flush=True)
            while True:
                pass
        return "none"
