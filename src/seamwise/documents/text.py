"""An entry as text for a terminal: every line safe to print, what belongs together indented."""

from collections.abc import Iterable, Iterator

import msgspec

from seamwise._text.escaping import escape_lines
from seamwise._text.phrases import join_quoted
from seamwise.documents.lookup import Match
from seamwise.documents.shape import Answer, Entry, Example
from seamwise.errors import TaggedError

INDENT = '  '


def as_text(entry: Entry) -> str:
    """Give all that there is to say of a kind, without a last line end."""
    return '\n'.join(line.rstrip() for part in _lines(entry) for line in escape_lines(part))


def _lines(entry: Entry) -> Iterator[str]:
    yield f'{entry.tag}: {entry.message}'
    named = '' if entry.tag == entry.name else f'class {entry.name}, '
    again = 'retryable' if entry.retryable else 'not retryable'
    yield from [
        '',
        entry.meaning,
        f'({named}one of {entry.union}, category {entry.category}, {again}, recovery {entry.recovery})',
    ]
    yield from ['', *example_lines(entry.example), '', 'What each seam says:']
    for answer in entry.answers:
        yield from _indented(_answer(answer))
    yield from ['', 'What to do:', *_indented(entry.advice)]


def example_lines(example: Example) -> Iterator[str]:
    """Tell how the example came about."""
    if example.constructor is not None:
        yield 'No call of a tool gives it; it is made by its constructor:'
        yield from _indented([example.constructor])
        return
    yield from (
        'Calls that give it, the last one:' if len(example.lines) > 1 else 'A call that gives it:',
        *_indented(example.lines),
    )
    if example.options:
        yield f'run with {" ".join(example.options)}'
    if example.circumstances:
        yield f'while {example.circumstances}'
    for name, content in example.files.items():
        if name.endswith('/'):
            yield f'in a workspace where {name} is a folder'
        else:
            yield f'in a workspace with {name}:'
            yield from _indented(content.splitlines())


def heading(answer: Answer) -> str:
    """Say in one line what a seam says."""
    where = f' ({answer.where})' if answer.where else ''
    return f'{answer.seam}{where}: {answer.summary or "it never reaches this seam"}'


def _answer(answer: Answer) -> Iterator[str]:
    yield heading(answer)
    if answer.output is not None:
        is_text = answer.seam == 'cli'
        written: str = (
            msgspec.json.decode(answer.output)['text'] if is_text else bytes(answer.output).decode()
        )
        yield from _indented(written.splitlines())


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (INDENT + line for line in lines)


def _summary(kind: type[TaggedError]) -> str:
    return ' '.join((kind.__doc__ or '').split()).partition('. ')[0].rstrip('.') + '.'


def to_list_text(word: str, found: Iterable[Match]) -> str:
    """Give the kinds that a code stands for, a line each."""
    meanings = tuple(found)
    roles = join_quoted(dict.fromkeys(one.role for one in meanings), last='and').replace("'", '')
    lines = [f'{one.kind.__traits__.tag}: {_summary(one.kind)}' for one in meanings]
    said = [
        f'{word} is the {roles} of {len(meanings)} errors:',
        *_indented(lines),
        '',
        'seamwise explain TAG says more of each.',
    ]
    return '\n'.join(line for part in said for line in escape_lines(part))
