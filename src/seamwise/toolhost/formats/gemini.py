"""Gemini: parts with a `functionCall`, and the parts that answer them."""

from seamwise._text.json_scanner import Path
from seamwise.toolhost.formats.entries import Entry, is_object, key_problem
from seamwise.toolhost.formats.reply import Reply


def read(value: object, path: Path) -> Entry:
    """Return the entry of a `functionCall`, or of a `function_call` as the SDK dumps it."""
    if not is_object(value):
        return Entry('gemini', path, problem='the call is not an object')
    arguments = value.get('args')
    problem = key_problem(value, arguments, {'name', 'args'}, has_nulls=True)
    return Entry('gemini', path, value.get('name'), arguments, value.get('id'), problem=problem)


def is_snake_case_call(value: object, path: Path) -> bool:
    """Return whether the value of `function_call` is one of Gemini, not of OpenAI.

    Args:
        value: The value.
        path: The path of the object around it.
    """
    return 'parts' in path or (is_object(value) and 'args' in value and 'arguments' not in value)


def answer(reply: Reply) -> dict[str, object]:
    """Return the part that answers a call."""
    return {'functionResponse': {'name': reply.tool, 'response': reply.as_object()}}
