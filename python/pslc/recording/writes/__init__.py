"""The writes of a recording: their curve, the evidence for its causes, and the findings, from the bottom up."""
