"""What a write curve says: its phases, where the cache ended, why, and what to doubt. Pure functions, no I/O."""

from pslc.analysis.cache import CacheEnd, cache_end
from pslc.analysis.phases import Phase, find_phases
from pslc.analysis.series import Curve

__all__ = ["CacheEnd", "Curve", "Phase", "cache_end", "find_phases"]
