"""Secrets in columns: tables with a sensitive heading, and values below their names in code."""

from collections.abc import Iterator
from re import compile as pattern

from seamwise.redaction.harmless import is_harmless
from seamwise.redaction.sensitive_names import is_name
from seamwise.redaction.settings import Settings
from seamwise.redaction.spans import Span

_MAX_LINE = 2_000
"""In characters: a longer line is no row of a table."""
_MIN_CELLS = 2
_HEADING = pattern(r'[ \t]{0,8}["\'`*]{0,2}[A-Za-z][\w .-]{0,40}["\'`*]{0,2}[ \t]{0,40}')
_RULER = pattern(r'[\s|+:=-]{3,}')
_UNLIKE_WORDS = pattern(r'[0-9]|[^\w\s.:/-]')
_NAME_COLUMNS = frozenset(('name', 'key', 'variable', 'setting', 'option', 'parameter', 'env'))
_MARKUP = ' \t"\'`*'

_Cells = list[tuple[int, int]]


def table_secrets(text: str, settings: Settings) -> Iterator[Span]:
    """Yield the cells of columns with a sensitive heading, in Markdown, CSV and psql."""
    columns: list[int] = []
    names: list[str] = []
    pair: list[int] = []
    separator, width, at = '', 0, 0
    for line in text.split('\n'):
        start, at = at, at + len(line) + 1
        if len(line) > _MAX_LINE or _RULER.fullmatch(line):
            continue
        if columns:
            cells = _cells(line, separator)
            if len(cells) == width:
                for column in columns:
                    name = names[column]
                    if pair:
                        name = line[slice(*cells[pair[0]])].strip(_MARKUP)
                        if not settings.is_sensitive(name):
                            continue
                    yield from _secret_cell(line, start, cells[column], name)
                continue
            columns = []
        separator = next((mark for mark in '|\t,;' if mark in line), '')
        cells = _cells(line, separator) if separator else []
        if len(cells) < _MIN_CELLS or not all(
            _HEADING.fullmatch(line, *cell) for cell in cells if cell[0] < cell[1]
        ):
            continue
        names, width = [line[slice(*cell)].strip(_MARKUP) for cell in cells], len(cells)
        columns = [
            index
            for index, name in enumerate(names)
            if name and is_name(name) and settings.is_sensitive(name)
        ]
        pair = _pair_of_columns(names)
        columns = columns or pair[1:]


def _pair_of_columns(names: list[str]) -> list[int]:
    """Return the indexes of the columns of the names and of their values, if there are both."""
    lowered = [name.lower() for name in names]
    keys = [index for index, name in enumerate(lowered) if name in _NAME_COLUMNS]
    values = [index for index, name in enumerate(lowered) if name == 'value']
    return [keys[0], values[0]] if keys and values else []


def _cells(line: str, separator: str) -> _Cells:
    cells: _Cells = []
    at = 0
    for part in line.split(separator):
        cells.append((at, at + len(part)))
        at += len(part) + 1
    return cells


def _secret_cell(line: str, start: int, cell: tuple[int, int], name: str) -> Iterator[Span]:
    raw = line[slice(*cell)].rstrip('\r')
    value = raw.strip(_MARKUP)
    if value and ' ' not in value and _UNLIKE_WORDS.search(value) and not is_harmless(value, name):
        begin = start + cell[0] + raw.index(value)
        yield Span(begin, begin + len(value))


_POINTED = pattern(r'(?P<margin>[^\n└]{0,200})└(?!─) ?(?P<quote>["\']?)(?P<value>[^\n]{1,500})')
_GUIDES = pattern(r'[\s│└>|]*')
_NAME_IN_CODE = pattern(r'[\w.]{1,64}')
_MAX_DEPTH = 12
"""In lines: the greatest distance of a value from its line of code."""


def pointed_secrets(text: str, settings: Settings) -> Iterator[Span]:
    """Yield the values that a traceback of loguru shows below their names."""
    lines: list[str] = []
    at = 0
    for line in text.split('\n'):
        pointed = _POINTED.match(line)
        if pointed and _GUIDES.fullmatch(pointed['margin']):
            code = next(
                (line for line in reversed(lines[-_MAX_DEPTH:]) if not _is_pointed(line)), ''
            )
            name = _name_at(code[:_MAX_LINE], len(pointed['margin']))
            value = pointed['value'].rstrip()
            quote = pointed['quote']
            value = value.removesuffix(quote) if quote else value
            if settings.is_sensitive(name) and value and not is_harmless(value, name):
                begin = at + pointed.start('value')
                yield Span(begin, begin + len(value))
        lines.append(line)
        at += len(line) + 1


def _is_pointed(line: str) -> bool:
    return '└' in line or '│' in line


def _name_at(code: str, column: int) -> str:
    """Return the name in a line of code at a column."""
    for name in _NAME_IN_CODE.finditer(code):
        if name.start() <= column < name.end():
            return name[0]
    return ''
