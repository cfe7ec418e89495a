"""MCP: requests of `tools/call`, and their results."""

from seamwise._text.json_scanner import Path
from seamwise.toolhost.formats.entries import Entry, is_object
from seamwise.toolhost.formats.reply import Reply

METHOD = 'tools/call'


def read(value: dict[str, object], path: Path) -> Entry:
    """Return the entry of a request."""
    call_id, params = value.get('id'), value.get('params')
    if not is_object(params):
        return Entry('mcp', path, id=call_id, problem='the call has no params')
    return Entry('mcp', path, params.get('name'), params.get('arguments'), call_id)


def answer(reply: Reply) -> dict[str, object]:
    """Return the result of the request, which is valid in every revision of the protocol."""
    result: dict[str, object] = {
        'resultType': 'complete',
        'content': [{'type': 'text', 'text': reply.text}],
        'isError': reply.is_error,
    }
    return result if reply.is_error else {**result, 'structuredContent': reply.as_object()}
