"""Test collection of Markdown pages: the Python blocks of a page run in order as one test."""

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser()], patterns=['*.md'], excludes=['tests/*']
).pytest()
