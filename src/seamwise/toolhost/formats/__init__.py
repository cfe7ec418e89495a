"""Formats of tool calls in the output of a model: reading calls and answering them."""

from seamwise.toolhost.formats.answers import TOOL_GUIDANCE as TOOL_GUIDANCE
from seamwise.toolhost.formats.answers import answer as answer
from seamwise.toolhost.formats.parsing import FORMATS as FORMATS
from seamwise.toolhost.formats.parsing import expect as expect
from seamwise.toolhost.formats.parsing import parse as parse
from seamwise.toolhost.formats.reader import Reader as Reader
