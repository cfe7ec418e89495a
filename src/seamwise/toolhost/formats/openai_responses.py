"""OpenAI Responses: items of type `function_call`, and the items that answer them."""

from seamwise._text.json_scanner import Path
from seamwise.toolhost.formats.entries import Entry
from seamwise.toolhost.formats.reply import Reply


def read(value: dict[str, object], path: Path) -> Entry:
    """Return the entry of an item; `id` is the id of the item, `call_id` that of the call."""
    return Entry(
        'openai_responses',
        path,
        value.get('name'),
        value.get('arguments'),
        value.get('call_id'),
        value.get('namespace'),
    )


def answer(reply: Reply) -> dict[str, object]:
    """Return the item that answers a call."""
    return {'type': 'function_call_output', 'call_id': str(reply.id), 'output': reply.text}
