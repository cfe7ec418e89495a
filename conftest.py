"""Every snippet of the documents is a test: the blocks of one page run one after the other."""

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser()], patterns=['*.md'], excludes=['tests/*']
).pytest()
