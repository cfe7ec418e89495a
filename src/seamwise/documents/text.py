"""Entries as text for a terminal."""

import json
from collections.abc import Iterable, Iterator, Sequence

from seamwise._text.escaping import escape_lines
from seamwise._text.jsonable import Json
from seamwise._text.phrases import join_limited, pluralize
from seamwise.documents.collect import meaning_of
from seamwise.documents.lookup import Match
from seamwise.documents.shape import Answer, ErrorEntry, Example, Field, Note

INDENT = '  '
JSON_WIDTH = 76
"""Columns of JSON, so that with its indentation it fits a terminal of 80."""


def render_entry(entry: ErrorEntry) -> str:
    """Return an entry as text, without a final newline."""
    return '\n'.join(line.rstrip() for part in _lines(entry) for line in escape_lines(part))


def _lines(entry: ErrorEntry) -> Iterator[str]:
    yield f'{entry.tag}: {entry.message}'
    yield ''
    if entry.meaning:
        yield entry.meaning
    yield f'({", ".join(_traits(entry))})'
    yield ''
    if entry.message != entry.template:
        yield f'Message: {entry.template}'
    if entry.public is not None:
        yield f'Public message: {entry.public}'
    if entry.fields:
        yield 'Fields:'
        yield from _indent(map(field_line, entry.fields))
    yield from example_lines(entry.example)
    yield ''
    if entry.answers:
        yield 'At each seam:'
        for answer in entry.answers:
            yield from _indent(_answer_lines(answer))
        yield ''
    yield 'What to do:'
    yield from _indent(entry.advice)


def field_line(field: Field) -> str:
    """Return a field with its type, and whether it is optional or not public."""
    notes = [
        *(() if field.required else ('optional',)),
        *(() if field.public else ('not public',)),
    ]
    return f'{field.name}: {field.type}{f" ({join_limited(notes)})" if notes else ""}'


def _traits(entry: ErrorEntry) -> Iterator[str]:
    if entry.tag != entry.name:
        yield f'class {entry.name}'
    if entry.union:
        yield f'one of {entry.union}'
    yield f'category {entry.category}'
    yield 'retryable' if entry.retryable else 'not retryable'
    yield f'recovery {entry.recovery}'


def example_lines(example: Example) -> Iterator[str]:
    """Yield the lines that describe how an example was made."""
    if example.problem is not None:
        yield f'No example: {example.problem}'
        return
    if example.constructor is not None:
        yield 'Example:'
        yield from _indent([example.constructor])
        return
    if len(example.lines) > 1:
        yield 'Calls that produce it (the last one fails):'
    else:
        yield 'A call that produces it:'
    yield from _indent(example.lines)
    if example.options:
        yield f'run with {" ".join(example.options)}'
    if example.circumstances:
        yield f'while {example.circumstances}'
    for name, content in example.files.items():
        if name.endswith('/'):
            yield f'in a workspace where {name} is a folder'
        else:
            yield f'in a workspace with {name}:'
            yield from _indent(content.splitlines())


def _answer_lines(answer: Answer) -> Iterator[str]:
    where = f' ({answer.where})' if answer.where else ''
    yield f'{answer.seam}{where}: {answer.summary or "never reaches this seam"}'
    if answer.output is None:
        return
    output: Json = json.loads(bytes(answer.output))
    if answer.seam == 'cli' and isinstance(output, dict):
        yield from _indent(str(output['text']).splitlines())
    else:
        yield from _indent(layout_json(output, JSON_WIDTH))


def layout_json(value: Json, width: int) -> Iterator[str]:
    """Yield a JSON value in lines of at most `width` columns where possible.

    An array or object that fits is written on one line, another one with one item per line.

    >>> list(layout_json({'a': [1, 2], 'b': {'c': 'long text'}}, 20))
    ['{', '  "a": [1, 2],', '  "b": {', '    "c": "long text"', '  }', '}']
    """
    inline = json.dumps(value, ensure_ascii=False)
    if len(inline) <= width or not value or not isinstance(value, dict | list):
        yield inline
        return
    start, end = '{}' if isinstance(value, dict) else '[]'
    items: list[tuple[str, Json]] = (
        [(f'{json.dumps(key, ensure_ascii=False)}: ', item) for key, item in value.items()]
        if isinstance(value, dict)
        else [('', item) for item in value]
    )
    yield start
    for index, (prefix, item) in enumerate(items, start=1):
        comma = ',' if index < len(items) else ''
        # The first line also has the indentation, the key and perhaps a comma.
        lines = list(layout_json(item, width - len(INDENT) - 1 - len(prefix)))
        lines[0] = prefix + lines[0]
        lines[-1] += comma
        yield from _indent(lines)
    yield end


def _indent(lines: Iterable[str]) -> Iterator[str]:
    return (INDENT + line for line in lines)


def render_matches(word: str, notes: Sequence[Note], matches: Sequence[Match]) -> str:
    """Return the meanings of a word, and a list of the error classes to which it refers."""
    parts = ['\n'.join(f'{note.word} ({note.role}): {note.meaning}' for note in notes)]
    if matches:
        roles = join_limited(list(dict.fromkeys(match.role for match in matches)))
        lines = [f'{word} is the {roles} of {pluralize(len(matches), "error")}:']
        for match in matches:
            traits = match.kind.__traits__
            first_sentence = meaning_of(match.kind).partition('. ')[0] or traits.template
            lines.append(f'{INDENT}{traits.tag}: {first_sentence.rstrip(".")}.')
        parts += ['\n'.join(lines), 'seamwise explain TAG explains each of them.']
    return '\n'.join(escape_lines('\n\n'.join(filter(None, parts))))
