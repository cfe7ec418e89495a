"""OpenAI Chat Completions: `tool_calls` of a message, and the message that answers a call."""

from collections.abc import Iterator

from seamwise._text.json_scanner import Path
from seamwise.toolhost.formats import tool_list
from seamwise.toolhost.formats.entries import Entry, is_array, is_object, key_problem
from seamwise.toolhost.formats.reply import Reply


def read_list(value: object, path: Path) -> Iterator[Entry]:
    """Yield the entries of `tool_calls`; items of the format `tool_list` keep that format."""
    if value is None:
        return
    if not is_array(value):
        yield Entry('openai', path, problem='tool_calls is not an array')
        return
    for index, item in enumerate(value):
        yield _read_item(item, (*path, index))


def _read_item(value: object, path: Path) -> Entry:
    if not is_object(value):
        return Entry('openai', path, problem='the call is not an object')
    return tool_list.read_item(value, path) if tool_list.is_item(value) else read_call(value, path)


def read_call(value: dict[str, object], path: Path) -> Entry:
    """Return the entry of an object with a `function`."""
    call_id, function = value.get('id'), value.get('function')
    if not is_object(function):
        return Entry('openai', path, id=call_id, problem='the call has no function')
    arguments = function.get('arguments')
    # Ollama numbers its calls in the function; Gemini's API like that of OpenAI adds a signature.
    problem = key_problem(function, arguments, {'name', 'arguments'}, has_nulls=True) or (
        key_problem(value, arguments, {'function', 'extra_content'}, has_nulls=True)
    )
    return Entry(
        'openai', path, function.get('name'), arguments, call_id, value.get('namespace'), problem
    )


def is_call(value: dict[str, object]) -> bool:
    """Return whether an object is a call outside of `tool_calls`, and no definition of a tool."""
    function = value.get('function')
    return is_object(function) and 'name' in function and 'arguments' in function


def answer(reply: Reply) -> dict[str, object]:
    """Return the message that answers a call."""
    return {'role': 'tool', 'tool_call_id': str(reply.id), 'content': reply.text}
