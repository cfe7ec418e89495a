"""Streams of model providers: tool calls and text, read from server-sent events."""

from seamwise.toolhost.streams.items import Reasoning as Reasoning
from seamwise.toolhost.streams.items import StreamItem as StreamItem
from seamwise.toolhost.streams.items import Text as Text
from seamwise.toolhost.streams.reader import STREAM_FORMATS as STREAM_FORMATS
from seamwise.toolhost.streams.reader import calls as calls
