"""Secrets in statements of SQL: literals, and parameters that a log prints after the statement."""

from collections.abc import Iterator, Mapping, Sequence
from re import IGNORECASE, VERBOSE, Match
from re import compile as pattern
from typing import Any, NamedTuple, TypeAlias

from seamwise.redaction.harmless import is_placeholder
from seamwise.redaction.settings import Settings
from seamwise.redaction.spans import Span

_STATEMENT = pattern(
    r"""
    (?:\b|(?<=\\[nrt])) (?: (?:INSERT|REPLACE)[^;'"()]{1,60}?(?P<into>INTO)\s
         | UPDATE\s[^;()'\n=?%]{1,120}?\sSET\s | SET\sPASSWORD\b | (?:DELETE|SELECT)\s | WHERE\s
         | SET\s(?=["`\[\w]{1,64}\s?=) )
    """,
    VERBOSE | IGNORECASE,
)
_TOKEN = pattern(
    r"""
      (?P<string> [NEe]?\\*'(?:[^'\\\n]|''|\\(?!').|\\'(?=[^\s,);]))*+\\*' )
    | (?P<name> "[^"\n]{1,64}" | `[^`\n]{1,64}` | \[[A-Za-z_][\w ]{0,63}\] | [A-Za-z_][\w$]{0,127} )
    | (?P<placeholder> \?\d{0,3} | %s | %\((?P<key>\w{1,64})\)s | [:@]\w{1,64} | \$\d{1,4} )
    | (?P<number> -?\d[\d.]*+ )
    | (?P<cast> ::\w{1,64} )
    | (?P<operator> <> | != | <= | >= | =~ | ~\*? | [=<>] )
    | (?P<mark> [(),;] )
    | (?P<parameters> \[parameters:\s )
    """,
    VERBOSE,
)
_PARAMETERS = pattern(
    r"""
      \[parameters:\s
    | \[(?:generated|cached|no\skey|raw\ssql|caching|dialect)[^\]\n]{0,80}\]\s (?=[(\[{])
    | ;?\s(?:args|params|parameters)=(?=[(\[])
    | \b(?:with\s)?(?:parameters|params|args|binds?)\s?:\s?(?=[(\[]) (?!\[\w+\]\s)
    | \bparameters:\s(?=\$1\s=\s)
    """,
    VERBOSE | IGNORECASE,
)
_NUMBERED = pattern(
    r"\$(?P<number>\d{1,4})\s=\s(?:'(?P<text>(?:[^'\n]|''){0,500})'|(?P<bare>[^\s,]{1,256}))"
)
_COMPARISONS = frozenset(('in', 'like', 'ilike', 'between', 'rlike', 'regexp', 'is', 'similar'))
_BETWEEN = frozenset(
    (*_COMPARISONS, 'not', 'and', 'to', 'binary', 'password', 'crypt', 'md5', 'sha', 'lower')
)
_CLAUSES = frozenset(
    ('where', 'set', 'values', 'returning', 'on', 'select', 'from', 'order', 'limit', 'group')
)


class Statement(NamedTuple):
    """Names of the placeholders of a statement in their order, and its sensitive literals."""

    placeholders: list[str]
    keys: list[str]
    """Their own names, such as `p` in `:p`, or empty texts."""
    spans: list[Span]
    has_secret: bool
    """Whether a column of it is sensitive."""


def sql_secrets(text: str, settings: Settings) -> Iterator[Span]:
    """Yield the values of sensitive columns in statements and in the parameters after them."""
    at = 0
    for parameters in [*_PARAMETERS.finditer(text), None]:
        end = parameters.start() if parameters else len(text)
        placeholders: list[str] = []
        while start := _STATEMENT.search(text, at, end):
            at = start.end()
            if start['into'] and (columns := _COLUMNS.match(text, at, end)):
                names = columns['names'].split(',')
                if not any(settings.is_sensitive(name.strip('"`[] \n\t')) for name in names):
                    continue
                limit = end
            else:
                limit = min(end, at + _STATEMENT_LIMIT)
            statement = read_statement(text, start.start(), limit, settings)
            yield from statement.spans
            placeholders = statement.placeholders
            at = limit
        if parameters:
            if placeholders:
                yield from parameter_spans(text, parameters.end(), placeholders, settings)
            at = parameters.end()


_STATEMENT_LIMIT = 4_000
"""In characters: the part of a statement without a list of columns that is read."""
_COLUMNS = pattern(r'[\w.$"`\[\]\x20-]{1,130}?\((?P<names>[^()]{1,4000}+)\)', VERBOSE | IGNORECASE)


def read_statement(text: str, at: int, end: int, settings: Settings) -> Statement:
    """Return the names of the placeholders of a statement, and its literals that are secret."""
    reader = _Reader(text, settings)
    for token in _TOKEN.finditer(text, at, end):
        reader.read(token)
    return Statement(reader.placeholders, reader.keys, reader.spans, reader.has_secret)


class _Reader:
    """State while a statement is read: the list of columns, and the column of the next value."""

    def __init__(self, text: str, settings: Settings) -> None:
        self.placeholders: list[str] = []
        self.keys: list[str] = []
        self.spans: list[Span] = []
        self.has_secret = False
        self._text, self._settings = text, settings
        self._sensitive: dict[str, bool] = {}
        self._columns: list[str] = []
        self._reads_columns = self._in_values = self._may_list_columns = False
        self._depth = self._index = 0
        self._name = self._last = ''
        self._compares = False

    def read(self, token: Match[str]) -> None:
        kind = token.lastgroup or ''
        if kind == 'key':
            kind = 'placeholder'
        if kind == 'name':
            self._word(token[0])
        elif kind in {'string', 'number'}:
            self._literal(token, kind)
        elif kind == 'placeholder':
            self.keys.append(token['key'] or token[0].lstrip(':@?$%'))
            self.placeholders.append(self._column() or self.keys[-1])
        elif kind == 'operator':
            self._compares = True
        elif kind == 'mark':
            self._mark(token[0])
        self._last = token[0].lower()

    def _is_secret(self, name: str) -> bool:
        if name not in self._sensitive:
            self._sensitive[name] = self._settings.is_sensitive(name)
            self.has_secret = self.has_secret or self._sensitive[name]
        return self._sensitive[name]

    def _word(self, word: str) -> None:
        lowered = word.lower()
        if lowered == 'into':
            self._may_list_columns, self._columns, self._in_values = True, [], False
        elif lowered in {'values', 'value'} and self._last == ')':
            self._in_values, self._depth, self._index = True, 0, 0
            self._may_list_columns = False
        elif lowered in _CLAUSES:
            self._in_values = self._may_list_columns = self._compares = False
            self._name = ''
        elif self._reads_columns:
            self._columns.append(word.strip('"`[]'))
            self._is_secret(self._columns[-1])
        elif lowered == 'for' and self._name.lower() == 'password':
            self._compares = False
        elif lowered in _COMPARISONS:
            self._compares = True
        elif lowered in _BETWEEN and self._compares:
            pass
        elif not self._in_values and not (self._last == 'for' and word.startswith('"')):
            self._name, self._compares = word.strip('"`[]'), False
            self._is_secret(self._name)

    def _mark(self, mark: str) -> None:
        if mark == '(':
            if self._may_list_columns:
                self._reads_columns, self._may_list_columns, self._columns = True, False, []
            elif self._in_values:
                self._depth += 1
                if self._depth == 1:
                    self._index = 0
        elif mark == ')':
            self._reads_columns = False
            if self._in_values:
                self._depth -= 1
        elif mark == ',' and self._in_values and self._depth == 1:
            self._index += 1
        elif mark == ';':
            self._in_values = self._compares = False
            self._name = ''

    def _column(self) -> str:
        if self._in_values:
            is_known = self._depth > 0 and self._index < len(self._columns)
            return self._columns[self._index] if is_known else ''
        return self._name

    def _literal(self, token: Match[str], kind: str) -> None:
        column = self._column()
        if not column or not self._is_secret(column):
            return
        if not self._in_values and not (self._compares or self._last == ','):
            return
        start, end = token.span()
        if kind == 'string':
            start = self._text.index("'", start) + 1
            while self._text[end - 1] in "'\\" and end > start:
                end -= 1
        elif not self._in_values:
            return
        value = self._text[start:end]
        if start < end and not is_placeholder(value):
            self.spans.append(Span(start, end))


def secret_parameters(statement: str, parameters: object, settings: Settings) -> Iterator[object]:
    """Yield the parameters of a statement that belong to sensitive columns.

    Args:
        statement: The statement, with its placeholders.
        parameters: A sequence or a mapping, or a list of several.
        settings: The settings that decide which names are sensitive.
    """
    read = read_statement(statement, 0, len(statement), settings)
    if not read.has_secret:
        return
    secret = [settings.is_sensitive(name) for name in read.placeholders]
    rows: list[Any] = parameters if isinstance(parameters, list) else [parameters]  # pyright: ignore[reportUnknownVariableType]  # isinstance does not tell the members
    for row in rows[:_MAX_ROWS]:
        if isinstance(row, Mapping):
            hidden = {key for key, is_secret in zip(read.keys, secret, strict=True) if is_secret}
            members: Mapping[object, object] = row  # pyright: ignore[reportUnknownVariableType]  # isinstance does not tell the members
            yield from (value for key, value in members.items() if str(key) in hidden)
        elif isinstance(row, (tuple, list)) and secret:
            items: Sequence[object] = row  # pyright: ignore[reportUnknownVariableType]  # isinstance does not tell the members
            yield from (value for at, value in enumerate(items) if secret[at % len(secret)])  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # isinstance does not tell the members


_MAX_ROWS = 1_000

_ITEM = pattern(
    r"""
      (?P<quoted> b?(?P<quote>\\*["'])
        (?P<inside>(?:[^"'\\\n]++|\\.|(?!(?P=quote))["'])*+)(?P=quote) )
    | (?P<open> [(\[{] ) | (?P<close> [)\]}] ) | (?P<comma> , )
    | (?P<cut> \.\.\.[^,()\[\]]{1,80}?truncated[ ]\.\.\.
             | displaying[ ]\d+[ ]of[ ][^,()\[\]]{1,80} )
    | (?P<bare> [^\s,()\[\]{}"']++ )
    """,
    VERBOSE,
)


def parameter_spans(text: str, at: int, names: list[str], settings: Settings) -> Iterator[Span]:
    """Yield the parameters of sensitive columns in the container at an index.

    Args:
        text: The text.
        at: The index of the container: a tuple, a list of tuples, or a list of `$1 = …`.
        names: The columns of the placeholders, in their order.
        settings: The settings that decide which names are sensitive.
    """
    secret = [settings.is_sensitive(name) for name in names]
    if not any(secret):
        return
    if text.startswith('$', at):
        yield from _numbered_parameters(text, at, secret)
    else:
        for row in _rows(text, at):
            yield from _secrets_of_row(row, secret)


def _numbered_parameters(text: str, at: int, secret: list[bool]) -> Iterator[Span]:
    for match in _NUMBERED.finditer(text, at):
        index = int(match['number']) - 1
        if 0 <= index < len(secret) and secret[index]:
            yield Span(*match.span('text' if match['text'] is not None else 'bare'))


_Row: TypeAlias = 'list[Span | None]'
"""Items of a tuple of parameters; None stands for those that are omitted."""


def _rows(text: str, at: int) -> Iterator[_Row]:
    """Yield the items of a tuple, or those of each tuple in a list."""
    depth = 0
    row: _Row = []
    for item in _ITEM.finditer(text, at):
        kind = item.lastgroup
        if kind == 'open':
            depth += 1
        elif kind == 'close':
            depth -= 1
            if depth < _NESTED and row:
                yield row
                row = []
            if depth <= 0:
                return
        elif kind == 'cut':
            if row:
                row.append(None)
        elif kind != 'comma':
            row.append(Span(*item.span('inside' if item['quoted'] is not None else 0)))
    if row:
        yield row


_NESTED = 2
"""Depth of a container inside of a row."""


def _secrets_of_row(row: _Row, secret: list[bool]) -> Iterator[Span]:
    size = len(secret)
    cut = row.index(None) if None in row else len(row)
    for index, span in enumerate(row):
        if span is None or span.start == span.end:
            continue
        # After a cut, the items are counted from the end.
        if secret[index % size] if index < cut else secret[(index - len(row)) % size]:
            yield span
