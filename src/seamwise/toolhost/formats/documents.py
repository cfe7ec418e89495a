"""Calls in a provider's object, at every place where one of the JSON formats has calls."""

from collections.abc import Callable

from seamwise._text.json_scanner import Path
from seamwise.toolhost.formats import (
    anthropic,
    array,
    bare,
    function_call,
    gemini,
    mcp,
    openai,
    openai_responses,
)
from seamwise.toolhost.formats.entries import Entry, is_array, is_blank, is_object

# Objects and arrays around the calls: `choices[0].message`, `candidates[0].content.parts[0]`, ….
_WRAPPERS = frozenset({'choices', 'message', 'candidates', 'content', 'parts', 'output'})

# The longest path is that of Gemini's candidates in an array.
_PATH_LIMIT = 6

# The reasons of OpenAI and Gemini for a complete answer, in lower case, and those of Anthropic for
# one that is not. The `stop_reason` of vLLM is any stop token, so only known ones count.
_REGULAR = frozenset(
    {'', 'stop', 'tool_calls', 'function_call', 'finish_reason_unspecified', 'end_turn', 'tool_use'}
)
_CUT_REASONS = frozenset({'max_tokens', 'model_context_window_exceeded', 'refusal'})
_CUT_STATUSES = frozenset({'incomplete', 'failed', 'cancelled'})

# Items and messages that are not the model's request.
_OTHER_TYPES = frozenset({'reasoning', 'thinking', 'redacted_thinking'})
_OTHER_ROLES = frozenset({'user', 'tool', 'function', 'system', 'developer'})

_BY_TYPE: dict[object, Callable[[dict[str, object], Path], Entry]] = {
    'tool_use': anthropic.read,
    'function_call': openai_responses.read,
}


def read_document(document: object) -> list[Entry]:
    """Return the entries of the calls in a JSON document, in the order of the document.

    >>> [entry.path for entry in read_document({'content': [{'type': 'tool_use', 'name': 'add'}]})]
    [('content', 0)]
    """
    if is_array(document):
        return array.read(document, _read_object)
    return _read_object(document, ()) if is_object(document) else []


def _read_object(value: dict[str, object], path: Path) -> list[Entry]:
    """Return the entries of an object; one without any other call may be a bare call itself."""
    return _read_marked(value, path) or ([bare.read(value, path)] if bare.is_call(value) else [])


def _read_marked(value: dict[str, object], path: Path) -> list[Entry]:
    """Return the entries of an object that have the mark of a format, as far as it is complete."""
    return _mark_cut(value, path, _read_formats(value, path))


def _read_formats(value: dict[str, object], path: Path) -> list[Entry]:
    kind, role = value.get('type'), value.get('role')
    is_other = (isinstance(role, str) and role in _OTHER_ROLES) or value.get('thought') is True
    if is_other or (isinstance(kind, str) and kind in _OTHER_TYPES):
        return []
    if isinstance(kind, str) and kind in _BY_TYPE:
        return [_BY_TYPE[kind](value, path)]
    if value.get('method') == mcp.METHOD:
        return [mcp.read(value, path)]
    if openai.is_call(value):
        return [openai.read_call(value, path)]
    entries: list[Entry] = []
    for key, item in value.items():
        if key == 'tool_calls':
            entries += openai.read_list(item, (*path, key))
        elif key == 'functionCall' and item is not None:
            entries.append(gemini.read(item, path))
        elif key == 'function_call' and item is not None:
            is_gemini = gemini.is_snake_case_call(item, path)
            entries.append((gemini if is_gemini else function_call).read(item, path))
        elif key in _WRAPPERS and len(path) < _PATH_LIMIT:
            entries += _read_wrapped(item, (*path, key))
    return entries


def _mark_cut(value: dict[str, object], path: Path, entries: list[Entry]) -> list[Entry]:
    """Mark the calls without arguments in an answer that was stopped: these may have had some.

    In a list of blocks only the last one is incomplete; OpenAI's calls can be written in turns.
    """
    if not entries or not _is_cut(value):
        return entries
    last_only = not any(entry.format in {'openai', 'function_call'} for entry in entries)
    return [
        entry._replace(problem='the call is cut off')
        if not entry.problem
        and is_blank(entry.arguments)
        and (not last_only or _is_last_block(value, entry, len(path)))
        else entry
        for entry in entries
    ]


def _is_cut(value: dict[str, object]) -> bool:
    """Return whether an answer, a choice of it or an item was stopped before its end."""
    reasons = (value.get('finish_reason'), value.get('finishReason'), value.get('done_reason'))
    if any(isinstance(reason, str) and reason.lower() not in _REGULAR for reason in reasons):
        return True
    stop_reason = value.get('stop_reason', value.get('stopReason'))
    return stop_reason in _CUT_REASONS or value.get('status') in _CUT_STATUSES


def _is_last_block(value: dict[str, object], entry: Entry, depth: int) -> bool:
    """Return whether a call is the last item of all lists around it, below a depth."""
    item: object = value
    for step in entry.path[depth:]:
        if is_array(item) and isinstance(step, int):
            items: list[object] = item
            if step != len(items) - 1:
                return False
            item = items[step]  # pyright: ignore[reportArgumentType]  # is_array has narrowed it
        elif is_object(item) and isinstance(step, str):
            item = item.get(step)
    return True


def _read_wrapped(value: object, path: Path) -> list[Entry]:
    if is_object(value):
        return _read_marked(value, path)
    entries: list[Entry] = []
    if is_array(value):
        for index, item in enumerate(value):
            if is_object(item):
                entries += _read_marked(item, (*path, index))
    return entries
