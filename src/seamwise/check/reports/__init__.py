"""A report for its readers: a person, a program, a code scanner, and the checks of GitHub; one format a file."""

from seamwise.check.reports.github import as_github
from seamwise.check.reports.json import as_json
from seamwise.check.reports.sarif import as_sarif
from seamwise.check.reports.text import Look, Paint, Role, as_line, as_text, plain, summary

__all__ = [
    'Look',
    'Paint',
    'Role',
    'as_github',
    'as_json',
    'as_line',
    'as_sarif',
    'as_text',
    'plain',
    'summary',
]
