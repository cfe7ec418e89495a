"""Streams of model providers: tool calls, text and reasoning, read from server-sent events."""

from seamwise.toolhost.streams.items import Reasoning as Reasoning
from seamwise.toolhost.streams.items import Text as Text
from seamwise.toolhost.streams.reader import calls as calls
