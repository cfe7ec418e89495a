"""OpenAI Responses: items of type `function_call`, and the items that answer them."""

from seamwise._text.json_scanner import Path
from seamwise.toolhost.formats.entries import Entry, key_problem
from seamwise.toolhost.formats.reply import Reply

_KEYS = frozenset({'name', 'arguments', 'parsed_arguments', 'caller', 'created_by', 'object'})


def read(value: dict[str, object], path: Path) -> Entry:
    """Return the entry of an item; `id` is the id of the item, `call_id` that of the call."""
    arguments = value.get('arguments')
    return Entry(
        'openai_responses',
        path,
        value.get('name'),
        arguments,
        value.get('call_id'),
        value.get('namespace'),
        key_problem(value, arguments, _KEYS, has_nulls=True),
    )


def answer(reply: Reply) -> dict[str, object]:
    """Return the item that answers a call."""
    return {'type': 'function_call_output', 'call_id': str(reply.id), 'output': reply.text}
