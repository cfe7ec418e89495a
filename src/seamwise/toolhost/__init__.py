"""Tool host: tools for a language model, and what runs the calls that it wrote."""

from typing import TYPE_CHECKING

from seamwise.toolhost.calls import ToolCall as ToolCall
from seamwise.toolhost.containment.limits import ToolLimits as ToolLimits
from seamwise.toolhost.content import Content as Content
from seamwise.toolhost.function_tool import tool as tool
from seamwise.toolhost.running.stopping import stop_requested as stop_requested
from seamwise.toolhost.schema.arguments import Example as Example
from seamwise.toolhost.schema.arguments import NotBelow as NotBelow
from seamwise.toolhost.tools import Tool as Tool
from seamwise.toolhost.tools import Tools as Tools
from seamwise.toolhost.tools import toolset as toolset

if TYPE_CHECKING:
    from seamwise.toolhost.outcome import ToolOutcome as ToolOutcome
    from seamwise.toolhost.processor import Processor as Processor


def __getattr__(name: str) -> object:
    # Both import asyncio, which a program that only defines tools does not need.
    if name == 'ToolOutcome':
        from seamwise.toolhost.outcome import ToolOutcome  # noqa: PLC0415

        return ToolOutcome
    if name == 'Processor':
        from seamwise.toolhost.processor import Processor  # noqa: PLC0415

        return Processor
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
