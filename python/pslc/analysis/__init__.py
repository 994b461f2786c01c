"""What a write curve says: its phases, where the cache ended, why, and what to doubt. Pure functions, no I/O."""

from pslc.analysis.blackbox import blackbox_causes
from pslc.analysis.cache import CacheEnd, cache_end
from pslc.analysis.context import AccessPattern, MeasurementContext
from pslc.analysis.counter_causes import CAUSES, CauseEstimate, PhaseFacts, phase_cause
from pslc.analysis.phases import Phase, find_phases
from pslc.analysis.series import Curve
from pslc.analysis.warnings import WRITE_ALL, AnalysisWarning, analysis_warnings
from pslc.analysis.write_analysis import Explain, ExplainedPhase, PhaseRow, WriteAnalysis, Writes, analyze_curve

__all__ = [
    "CAUSES",
    "WRITE_ALL",
    "AccessPattern",
    "AnalysisWarning",
    "CacheEnd",
    "CauseEstimate",
    "Curve",
    "Explain",
    "ExplainedPhase",
    "MeasurementContext",
    "Phase",
    "PhaseFacts",
    "PhaseRow",
    "WriteAnalysis",
    "Writes",
    "analysis_warnings",
    "analyze_curve",
    "blackbox_causes",
    "cache_end",
    "find_phases",
    "phase_cause",
]
