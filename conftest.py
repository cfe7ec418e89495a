"""Collect the Python blocks of Markdown pages as tests: those of one page run in sequence."""

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser()], patterns=['*.md'], excludes=['tests/*']
).pytest()
