"""MCP: requests of `tools/call`, and their results."""

from seamwise._text.json_scanner import Path
from seamwise.toolhost.formats.entries import Entry, is_object, key_problem
from seamwise.toolhost.formats.reply import Reply

METHOD = 'tools/call'

_PARAMS = frozenset({'name', 'arguments', '_meta', 'meta', 'task'})
_FIELDS = frozenset({'jsonrpc', 'method', 'params'})


def read(value: dict[str, object], path: Path) -> Entry:
    """Return the entry of a request."""
    call_id, params = value.get('id'), value.get('params')
    if not is_object(params):
        return Entry('mcp', path, id=call_id, problem='the call has no params')
    arguments = params.get('arguments')
    problem = key_problem(params, arguments, _PARAMS, has_nulls=True) or (
        key_problem(value, arguments, _FIELDS, has_nulls=True)
    )
    return Entry('mcp', path, params.get('name'), arguments, call_id, problem=problem)


def answer(reply: Reply) -> dict[str, object]:
    """Return the result of the request, which is valid in every revision of the protocol."""
    result: dict[str, object] = {
        'resultType': 'complete',
        'content': [{'type': 'text', 'text': reply.plain_text()}],
        'isError': reply.is_error,
    }
    return result if reply.is_error else {**result, 'structuredContent': reply.as_object()}
