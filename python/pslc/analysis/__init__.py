"""What a write curve says: its phases, where the cache ended, why, and what to doubt. Pure functions, no I/O."""

from pslc.analysis.cache import CacheEnd, cache_end
from pslc.analysis.causes import CAUSES, Evidence, PhaseFacts, phase_cause
from pslc.analysis.doubts import WRITE_ALL, AnalysisWarning, doubts
from pslc.analysis.found import Explain, ExplainedPhase, Found, PhaseRow, Writes, find
from pslc.analysis.outside import causes_from_outside
from pslc.analysis.phases import Phase, find_phases
from pslc.analysis.seen import Place, Seen
from pslc.analysis.series import Curve

__all__ = [
    "CAUSES",
    "WRITE_ALL",
    "AnalysisWarning",
    "CacheEnd",
    "Curve",
    "Evidence",
    "Explain",
    "ExplainedPhase",
    "Found",
    "Phase",
    "PhaseFacts",
    "PhaseRow",
    "Place",
    "Seen",
    "Writes",
    "cache_end",
    "causes_from_outside",
    "doubts",
    "find",
    "find_phases",
    "phase_cause",
]
