"""Calls in the output of a model: a text, UTF-8 bytes, or the object of a provider's API."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from seamwise._results.containers import Failure, Result, Success
from seamwise._text.close_matches import close_matches
from seamwise._text.jsonable import to_builtins, to_json
from seamwise.catalog.parsing import UnknownFormat
from seamwise.toolhost.formats.documents import read_document
from seamwise.toolhost.formats.entries import (
    DEPTH_LIMIT,
    REDACTED_SIZE,
    BrokenCall,
    Entry,
    ParsedCall,
    decode_text,
    is_object,
    read_entry,
    shown_excerpt,
)
from seamwise.toolhost.formats.scanner import Scanner
from seamwise.toolhost.formats.tagged import CLINE_TOOLS

FORMATS = (
    'openai',
    'function_call',
    'openai_responses',
    'anthropic',
    'gemini',
    'mcp',
    'xml',
    'hermes',
    'mistral',
    'llama',
    'harmony',
    'deepseek',
    'kimi',
    'qwen',
    'glm',
    'pythonic',
    'invoke',
    'minimax',
    'cline',
    'react',
    'fence',
    'tool_list',
    'array',
    'bare',
)
"""The names of the formats."""


_TOO_DEEP = object()

_ENCODE = json.JSONEncoder(allow_nan=False).encode


@runtime_checkable
class SupportsModelDump(Protocol):
    """An object of a provider's SDK, which is a model of pydantic."""

    def model_dump(self) -> Mapping[str, object]:
        """Return the fields of the object."""
        ...


Output: TypeAlias = str | bytes | Mapping[str, object] | Sequence[object] | SupportsModelDump
"""The output of a model."""


def parse(
    output: Output,
    *,
    only: Collection[str] | None = None,
    tools: Collection[str] = (),
    in_reasoning: bool = False,
) -> list[ParsedCall]:
    """Return the calls in the output of a model, and the reason for each that cannot be read.

    The calls are in the order of the output. A text without calls has an empty list.

    >>> [call.unwrap().tool for call in parse('Sure: {"name": "weather", "arguments": {}}')]
    ['weather']
    >>> parse('<tool_call>{"name": "weather"')[0].failure().problem
    'the JSON is broken: it is cut off'

    Args:
        output: A text, UTF-8 bytes, or an object of a provider: a dict or list as its JSON has it,
            or an object of its SDK. The texts in an object are not searched.
        only: The names of the formats to read, of `FORMATS`. `fence` stands for all formats in a
            fenced block. Default: all.
        tools: The names of tools whose calls are tags, as those of Cline: `<name>`. The tools of
            Cline and of Roo Code are known.
        in_reasoning: Whether a text begins in the reasoning of the model. Without its end mark, it
            contains no call.

    Raises:
        ValueError: A name in `only` is not in `FORMATS`.
    """
    wanted = check_formats(only)
    if isinstance(output, bytes):
        try:
            return parse(output.decode(), only=only, tools=tools, in_reasoning=in_reasoning)
        except UnicodeDecodeError as error:
            text = output[: error.start].decode()
            return [not_utf8(text, len(text), output[error.start])]
    if isinstance(output, str):
        names = CLINE_TOOLS.union(tools) if tools else CLINE_TOOLS
        scanner = Scanner(wanted, tools=names, in_reasoning=in_reasoning)
        return scanner.scan(output, is_final=True)
    entries = read_document(_plain(output))
    return [
        read_entry(_strict(entry)) for entry in entries if wanted is None or entry.format in wanted
    ]


def expect(
    output: Output,
    *,
    only: Collection[str] | None = None,
    tools: Collection[str] = (),
    in_reasoning: bool = False,
) -> Result[list[ParsedCall], UnknownFormat]:
    """Return the calls in an output that must contain one, or a failure if it contains none.

    >>> expect('I do not know.')
    Failure(UnknownFormat(excerpt='I do not know.'))

    Args:
        output: See `parse`.
        only: See `parse`.
        tools: See `parse`.
        in_reasoning: See `parse`.

    Raises:
        ValueError: A name in `only` is not in `FORMATS`.
    """
    calls = parse(output, only=only, tools=tools, in_reasoning=in_reasoning)
    return Success(calls) if calls else Failure(UnknownFormat(_excerpt(output)))


def check_formats(only: Collection[str] | None) -> frozenset[str] | None:
    """Return the wanted formats; raise ValueError if a name is not that of a format.

    >>> check_formats(['openai', 'mcpp'])
    Traceback (most recent call last):
    ValueError: 'mcpp' is not a format. Did you mean 'mcp'? The formats are ..., bare.
    """
    if only is None:
        return None
    # A text is a collection of characters for a type checker: it stands for its one name.
    names = [only] if isinstance(only, str) else only
    for name in names:
        check_format(name)
    return frozenset(names)


def check_format(name: str) -> None:
    """Raise ValueError if a name is not that of a format."""
    if name in FORMATS:
        return
    suggestions = ' or '.join(map(repr, close_matches(name, FORMATS)))
    hint = f'Did you mean {suggestions}? ' if suggestions else ''
    raise ValueError(f'{name!r} is not a format. {hint}The formats are {", ".join(FORMATS)}.')


def not_utf8(text: str, position: int, byte: int) -> ParsedCall:
    """Return the failure of bytes that are not UTF-8.

    Args:
        text: The text before the invalid byte, or the start of it.
        position: The position of the byte, in characters.
        byte: The byte.
    """
    problem = f'byte 0x{byte:02x} is not UTF-8'
    return BrokenCall('text', problem, text, (0, position + 1), position=position).failure()


def _excerpt(output: Output) -> str:
    if isinstance(output, bytes):
        output = output[:REDACTED_SIZE].decode(errors='replace')
    text = output if isinstance(output, str) else to_json(to_builtins(_plain(output))).decode()
    return shown_excerpt(text)


def _plain(value: object, containers: tuple[int, ...] = ()) -> object:
    """Return a value with dicts and lists in place of other mappings, sequences and SDK objects.

    Args:
        value: The value.
        containers: The ids of the containers around the value.
    """
    if value is None or isinstance(value, (str, bytes, int, float)):
        return value
    # An object that contains itself has no end.
    if len(containers) > DEPTH_LIMIT or id(value) in containers:
        return _TOO_DEEP
    inner = (*containers, id(value))
    if isinstance(value, Mapping):
        mapping: Mapping[object, object] = value  # pyright: ignore[reportUnknownVariableType]  # its items are checked one by one
        return {key: _plain(item, inner) for key, item in mapping.items()}
    if isinstance(value, Sequence):
        items: Sequence[object] = value  # pyright: ignore[reportUnknownVariableType]  # its items are checked one by one
        return [_plain(item, inner) for item in items]
    return _plain(value.model_dump(), inner) if isinstance(value, SupportsModelDump) else value


def _strict(entry: Entry) -> Entry:
    """Check that arguments are JSON: an object of a provider can contain any values."""
    if not is_object(entry.arguments) or not entry.arguments:
        return entry
    try:
        text = _ENCODE(entry.arguments)
    except (TypeError, ValueError):
        return entry._replace(problem='the arguments are not JSON')
    arguments = decode_text(text)
    if type(arguments) is Failure:
        return entry._replace(problem=f'the arguments are not JSON: {arguments.failure()}')
    return entry._replace(arguments=arguments.unwrap())
