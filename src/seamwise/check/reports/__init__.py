"""Report formats: text, JSON, SARIF, and annotations of GitHub Actions."""

from seamwise.check.reports.github import render_github
from seamwise.check.reports.sarif import render_sarif
from seamwise.check.reports.text import (
    Paint,
    ReportStyle,
    Role,
    no_paint,
    render_json,
    render_problem,
    render_summary,
    render_text,
)

__all__ = [
    'Paint',
    'ReportStyle',
    'Role',
    'no_paint',
    'render_github',
    'render_json',
    'render_problem',
    'render_sarif',
    'render_summary',
    'render_text',
]
