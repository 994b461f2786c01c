"""A cache policy with two marks: folding begins above `high` and goes on until the cache is filled to `low`."""

import pslc


class Hysteresis(pslc.Policy):
    """With these marks it is the built-in `watermarks`."""

    high, low = 0.75, 0.5

    def throttle(self, view):
        """Fold twice as fast as the host fills."""
        filled = view.space.cache_used / max(view.space.cache_size, 1)
        folds = view.throttle != "none"
        if view.foldable and (filled > self.high or (folds and filled > self.low)):
            return "two-for-one"
        return "none"


class Early(Hysteresis):
    """Begins at half and empties the cache."""

    high, low = 0.5, 0.0
