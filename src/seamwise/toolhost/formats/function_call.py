"""OpenAI's older `function_call` of a message, and the message that answers it."""

from seamwise._text.json_scanner import Path
from seamwise.toolhost.formats.entries import Entry, is_object, key_problem
from seamwise.toolhost.formats.reply import Reply


def read(value: object, path: Path) -> Entry:
    """Return the entry of a `function_call`."""
    if not is_object(value):
        return Entry('function_call', path, problem='the call is not an object')
    arguments = value.get('arguments')
    problem = key_problem(value, arguments, {'name', 'arguments'}, has_nulls=True)
    return Entry('function_call', path, value.get('name'), arguments, problem=problem)


def answer(reply: Reply) -> dict[str, object]:
    """Return the message that answers a call."""
    return {'role': 'function', 'name': reply.tool, 'content': reply.text}
