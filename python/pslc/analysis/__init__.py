"""Analysis of write curves: phases, the end of the cache, causes and warnings. Pure functions, no I/O."""

from pslc.analysis.blackbox import blackbox_causes, limits_around
from pslc.analysis.cache import CacheEnd, cache_end
from pslc.analysis.context import WRITE_ALL, AccessPattern, AnalysisOptions, MeasurementContext
from pslc.analysis.counter_causes import CAUSES, CauseEstimate, cache_superblock_bytes, phase_cause
from pslc.analysis.explanation import explain_curve
from pslc.analysis.phases import Phase, find_phases
from pslc.analysis.reads import ReadExplanation, cause_of_read, explain_read
from pslc.analysis.series import Curve
from pslc.analysis.warnings import AnalysisWarning, analysis_warnings
from pslc.analysis.write_analysis import Explain, ExplainedPhase, PhaseRow, WriteAnalysis, Writes, analyze_curve

__all__ = [
    "CAUSES",
    "WRITE_ALL",
    "AccessPattern",
    "AnalysisOptions",
    "AnalysisWarning",
    "CacheEnd",
    "CauseEstimate",
    "Curve",
    "Explain",
    "ExplainedPhase",
    "MeasurementContext",
    "Phase",
    "PhaseRow",
    "ReadExplanation",
    "WriteAnalysis",
    "Writes",
    "analysis_warnings",
    "analyze_curve",
    "blackbox_causes",
    "cache_end",
    "cache_superblock_bytes",
    "cause_of_read",
    "explain_curve",
    "explain_read",
    "find_phases",
    "limits_around",
    "phase_cause",
]
