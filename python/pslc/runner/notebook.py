"""A recording in a notebook's cell: the figures that matter, its picture, its warnings."""

from html import escape

from pslc.base import install
from pslc.figures import draw
from pslc.recording import metrics
from pslc.recording.model import Recording
from pslc.runner import pictures

MAX_FIGURES = 8
"""Rows of the table; `recording.findings` has all."""


def to_html(recording: Recording) -> str:
    """A small table and the picture; without Matplotlib a line that says what draws it."""
    rows = [
        ("drive", recording.drive),
        ("conditions", recording.conditions),
        *metrics.key_figures(recording, MAX_FIGURES),
    ]
    table = "".join(f"<tr><th style='text-align: left'>{escape(name)}</th><td style='text-align: left'>{escape(value)}"
                    "</td></tr>" for name, value in rows)  # fmt: skip
    warnings = "".join(f"<p>Warning: {escape(str(warning))}</p>" for warning in recording.findings.get("warnings", []))
    cut = f"<p>The run was cut off: {escape(recording.cut_off)}</p>" if recording.cut_off else ""
    return f"<div><table>{table}</table>{cut}{_picture(recording)}{warnings}</div>"


def _picture(recording: Recording) -> str:
    moved = recording.time["read_bytes"].any() or recording.time["write_bytes"].any()
    if not moved:
        return ""
    if not draw.is_installed():
        return f"<p>The picture needs Matplotlib: {install.command('pslc[pictures]')}</p>"
    return pictures.plot(recording).to_img()


Recording.html = to_html
