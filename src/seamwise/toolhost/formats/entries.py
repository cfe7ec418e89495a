"""Parts of a call as a format shows them, and the checks that all formats share."""

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple, TypeAlias

from typing_extensions import TypeIs

from seamwise._results.containers import Failure, Result, Success
from seamwise._runtime.strict_json import HALF_PAIR, decode_json, has_duplicate_keys
from seamwise._text.json_scanner import Path, Span
from seamwise._text.jsonable import replace_surrogates
from seamwise._text.shortening import shorten
from seamwise.catalog.parsing import UnreadableCall
from seamwise.redaction import redact
from seamwise.toolhost.calls import ToolCall

DEPTH_LIMIT = 200
"""In levels: the maximum nesting of arrays and objects."""

EXCERPT_LIMIT = 200
"""In characters: the maximum length of an excerpt in an error."""

REDACTED_SIZE = 2 * 1024
"""In characters: the length of the text that is redacted, which needs more context."""

NAME_KEYS = ('name', 'tool')
ARGUMENTS_KEYS = ('arguments', 'args', 'parameters')
_KEYS = frozenset({*NAME_KEYS, *ARGUMENTS_KEYS})

# Fields that a call can have beside its name and its arguments, in all formats.
_OTHER_KEYS = frozenset({'id', 'call_id', 'index', 'namespace', 'status', 'type'})

# Keys that models confuse with that of the arguments, in lower case without separators.
_ALIASES = frozenset(
    {
        *('actioninput', 'args', 'argument', 'arguments', 'functionargs', 'functionarguments'),
        *('functionparameters', 'input', 'inputs', 'kwargs', 'param', 'parameter', 'parameters'),
        *('params', 'payload', 'toolargs', 'toolarguments', 'toolinput', 'toolparameters'),
    }
)
_SEPARATORS = re.compile(r'[\s_-]+')
_SHOWN_KEYS = 5

ParsedCall: TypeAlias = Result[ToolCall, UnreadableCall]
"""A call, or the reason why it cannot be read."""


class BrokenCall(NamedTuple):
    """A call in a text that cannot be read, before its excerpt is redacted, which takes time.

    A stream reads a call that is cut off again and again, and reports only the last reading.

    Attributes:
        format: The format.
        problem: The reason, as the end of a sentence.
        text: The text that contains the call.
        span: The span of the call in the text.
        position: The position of the problem. Default: the start of the call.
        id: The id of the call, as far as it can be read.
        tool: The name of the tool, as far as it can be read.
    """

    format: str
    problem: str
    text: str
    span: Span
    position: int | None = None
    id: str | int | None = None
    tool: str | None = None

    def failure(self, offset: int = 0) -> Failure[UnreadableCall]:
        """Return the failure of the call.

        Args:
            offset: The position of the text in the whole text.
        """
        start, end = self.span
        excerpt = shown_excerpt(self.text[start : min(end, start + REDACTED_SIZE)])
        # A call that is cut off has its problem behind its last character.
        position = start if self.position is None else max(start, min(self.position, end - 1))
        call_id = replace_surrogates(self.id) if isinstance(self.id, str) else self.id
        tool = replace_surrogates(self.tool) if self.tool else None
        return Failure(
            UnreadableCall(self.format, self.problem, excerpt, position + offset, call_id, tool)
        )


TextCall: TypeAlias = Success[ToolCall] | BrokenCall
"""A call in a text, with its positions in it."""


class Entry(NamedTuple):
    """The parts of a call that are not checked yet.

    Attributes:
        format: The format of the call.
        path: The path of the call in its JSON document.
        tool: The name of the tool.
        arguments: An object, a text with one, or None.
        id: The id of the call.
        namespace: The namespace of the tool.
        problem: The reason why the call cannot be read, if it is known already.
    """

    format: str
    path: Path
    tool: object = None
    arguments: object = None
    id: object = None
    namespace: object = None
    problem: str = ''


def named_entry(format_name: str, value: object, path: Path = ()) -> Entry:
    """Return the parts of an object with a name and arguments, under any of their usual keys.

    >>> named_entry('bare', {'tool': 'add', 'args': {'a': 1}})[2:4]
    ('add', {'a': 1})
    """
    if not is_object(value):
        return Entry(format_name, path, problem='the call is not an object')
    arguments = _first_value(value, ARGUMENTS_KEYS)
    name, other = _first_value(value, NAME_KEYS), value.get(NAME_KEYS[1])
    if name != other and isinstance(name, str) and isinstance(other, str):
        problem = f'the call has two names, {name!r} and {other!r}'
    elif 'parameters' in value and _is_definition(value):
        problem = 'it is the definition of a tool, not a call'
    else:
        problem = key_problem(value, arguments, _KEYS)
    return Entry(
        format_name, path, name, arguments, value.get('id'), value.get('namespace'), problem
    )


def _is_definition(value: Mapping[str, object]) -> bool:
    """Return whether the parameters of an object are the schema of an object."""
    schema = value.get('parameters')
    return (
        is_object(schema) and schema.get('type') == 'object' and is_object(schema.get('properties'))
    )


def _first_value(value: Mapping[str, object], keys: tuple[str, ...]) -> object:
    for key in keys:
        if key in value:
            return value[key]
    return None


def key_problem(
    value: Mapping[str, object],
    arguments: object,
    keys: Collection[str],
    *,
    has_nulls: bool = False,
) -> str:
    """Return the reason why the keys of a call do not say what its arguments are, or ''.

    A call without arguments has no other keys: these could be its arguments. Arguments under two
    keys contradict each other.

    >>> key_problem({'name': 'add', 'input': {'a': 1}}, None, {'name', 'arguments'})
    "the call has no arguments, but the key 'input'"

    Args:
        value: The call.
        arguments: The arguments under the key of the format.
        keys: The keys of the format.
        has_nulls: Whether a key without a value is absent, as in the objects of an SDK.
    """
    found: list[str] = []
    others: list[str] = []
    for key, item in value.items():
        if key in keys:
            # The formats write their keys in lower case, without separators.
            if key in _ALIASES:
                found.append(key)
        elif key not in _OTHER_KEYS and not (has_nulls and item is None):
            others.append(key)
    if not others and len(found) < 2:  # noqa: PLR2004 -- the usual call, without a further check
        return ''
    if not is_blank(arguments):
        others = [key for key in others if _is_alias(key)]
    if len(found) > 1 or (others and not is_blank(arguments)):
        return f'the call has arguments in more than one place: {_listing([*found, *others])}'
    if not others:
        return ''
    noun = 'key' if len(others) == 1 else 'keys'
    return f'the call has no arguments, but the {noun} {_listing(others)}'


def is_blank(arguments: object) -> bool:
    """Return whether arguments are absent or empty: a call that was cut off has such ones too."""
    return (
        arguments is None
        or arguments == {}
        or (isinstance(arguments, str) and arguments.strip() in {'', '{}', 'null'})
    )


def _is_alias(key: str) -> bool:
    return _SEPARATORS.sub('', key).lower() in _ALIASES


def _listing(keys: list[str]) -> str:
    shown = [repr(shorten(replace_surrogates(key), 40)) for key in keys[:_SHOWN_KEYS]]
    if len(keys) > _SHOWN_KEYS:
        shown.append(f'{len(keys) - _SHOWN_KEYS} more')
    return ' and '.join(filter(None, (', '.join(shown[:-1]), shown[-1])))


def read_entry(entry: Entry) -> ParsedCall:
    """Check the parts of a call in an object.

    >>> read_entry(Entry('bare', (), 'add', '{"a": 1}')).unwrap().arguments
    {'a': 1}
    >>> read_entry(Entry('bare', (), 'add', '[1]')).failure().problem
    'the arguments are not an object'
    """
    call = read_in_text(entry, '', None)
    return call.failure() if isinstance(call, BrokenCall) else call


def read_in_text(entry: Entry, text: str, span: Span | None) -> TextCall:
    """Check the parts of a call in a text.

    Args:
        entry: The parts of the call.
        text: The text that contains the call.
        span: The span of the call in the text, or None for a call in an object.
    """
    call_id = entry.id if isinstance(entry.id, (str, int)) and type(entry.id) is not bool else None
    tool = entry.tool if isinstance(entry.tool, str) and entry.tool else None
    namespace = entry.namespace if isinstance(entry.namespace, str) else None
    problem = entry.problem
    position: int | None = None
    if not (_is_encodable(tool) and _is_encodable(call_id) and _is_encodable(namespace)):
        problem = problem or HALF_PAIR
    if not problem and tool is None:
        problem = 'the call has no name'
    if not problem and tool is not None:
        arguments = _read_arguments(entry.arguments)
        if type(arguments) is Success:
            call = ToolCall(tool, arguments.unwrap(), call_id, namespace, entry.format, span)
            return Success(call)
        problem = arguments.failure()
        if span is None and isinstance(entry.arguments, str):
            # The arguments are the only text of a call in an object.
            text, span = entry.arguments, (0, len(entry.arguments))
            position = _error_position(text)
    return BrokenCall(entry.format, problem, text, span or (0, 0), position, call_id, tool)


def _is_encodable(value: object) -> bool:
    return not isinstance(value, str) or value == replace_surrogates(value)


def _read_arguments(value: object) -> Result[dict[str, object], str]:
    """Return the arguments, or the reason why they cannot be read."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return Success({})
    if isinstance(value, str):
        document = decode_text(value)
        if type(document) is Failure:
            return Failure(f'the arguments are not JSON: {document.failure()}')
        value = document.unwrap()
    return Success(value) if is_object(value) else Failure('the arguments are not an object')


def _error_position(text: str) -> int:
    """Return the position in characters at which a text is no longer JSON; 0 if it is not known."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        return error.start
    document = decode_json(data, depth_limit=DEPTH_LIMIT)
    if type(document) is Success:
        return 0
    return len(data[: document.failure().position].decode(errors='ignore'))


def decode_text(text: str) -> Result[object, str]:
    r"""Return the value of a JSON text, or the reason why it is not strict JSON.

    >>> decode_text('{"a": 1, "a": 2}'), decode_text('"\\ud800"')
    (Failure('an object has the same key twice'), Failure('it contains half of a surrogate pair'))
    """
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return Failure(HALF_PAIR)
    document = decode_json(data, depth_limit=DEPTH_LIMIT)
    if type(document) is Failure:
        return Failure(document.failure().problem)
    value: object = document.unwrap()
    if has_duplicate_keys(data, value):
        return Failure('an object has the same key twice')
    return Success(value)


def shown_excerpt(text: str) -> str:
    """Return the start of a text for an error: without secrets, and without lone surrogates."""
    return redact(replace_surrogates(text[:REDACTED_SIZE]))[:EXCERPT_LIMIT]


def is_object(value: object) -> TypeIs[dict[str, object]]:
    """Return whether a JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeIs[list[object]]:
    """Return whether a JSON value is an array."""
    return isinstance(value, list)
