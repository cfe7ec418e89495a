"""Secrets in statements of SQL: literals, and parameters that a log prints after the statement."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from re import IGNORECASE, VERBOSE, Match
from re import compile as pattern
from typing import Any, NamedTuple, TypeAlias

from seamwise.redaction.harmless import is_placeholder
from seamwise.redaction.settings import Settings
from seamwise.redaction.spans import Span

_STATEMENT = pattern(
    r"""
    (?:\b|(?<=\\[nrt])) (?: (?:INSERT|REPLACE)[^;'"()]{1,60}?(?P<into>INTO)\s
         | UPDATE\s[^;()'\n=?%]{1,120}?\sSET\s | SET\sPASSWORD\s?(?=FOR\b|TO\b|=)
         | (?:DELETE|SELECT)\s | WHERE\s
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
    | \b(?:with\s)?(?:parameters|params|args|binds?)\s?:\s?(?=[(\[\ue000]) (?!\[\w+\]\s)
    | \bparameters:\s(?=\$1\s=\s)
    """,
    VERBOSE | IGNORECASE,
)
_NUMBERED = pattern(
    r"\$(?P<number>\d{1,4})\s=\s(?:'(?P<text>(?:[^']|'')*+)'?|(?P<bare>[^\s,']{1,256}+))(?:,\s)?"
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

    def hidden_keys(self, secret: list[bool]) -> set[str]:
        """Return the names of those placeholders that are secret."""
        return {key for key, is_secret in zip(self.keys, secret, strict=True) if is_secret}


def sql_secrets(text: str, settings: Settings, original: str = '') -> Iterator[Span]:
    """Yield the values of sensitive columns in statements and in the parameters after them.

    Args:
        text: The text, in which other characters stand for JSON.
        settings: The settings that decide which names are sensitive.
        original: The text with its JSON, which can be the parameters.
    """
    original = original or text
    yield from _parameters_before(text, settings)
    at = 0
    is_upsert = _UPSERT.search(text) is not None
    all_parameters = [*_PARAMETERS.finditer(text)]
    containers = frozenset(match.end() for match in all_parameters)
    for parameters in [*all_parameters, None]:
        end = parameters.start() if parameters else len(text)
        statement: Statement | None = None
        while start := _STATEMENT.search(text, at, end):
            at = start.end()
            if start['into'] and (columns := _COLUMNS.match(text, at, end)):
                names = columns['names'].split(',')
                if not is_upsert and not any(
                    settings.is_sensitive(name.strip('"`[] \n\t')) for name in names
                ):
                    continue
                limit = end
            else:
                limit = min(end, at + _STATEMENT_LIMIT)
            statement = read_statement(text, start.start(), limit, settings)
            yield from statement.spans
            at = limit
        if parameters:
            at = parameters.end()
            if statement and statement.has_secret:
                secret = [settings.is_sensitive(name) for name in statement.placeholders]
                hidden = statement.hidden_keys(secret)
                if text.startswith('$', at):
                    spans = _numbered_parameters(text, at, secret)
                else:
                    rows = _rows(_container(original, at, containers)) if secret else ()
                    spans = (span for row in rows for span in _secrets_of_row(row, secret, hidden))
                for span in spans:
                    value = original[span.start : span.end]
                    if value and not is_placeholder(value):
                        yield span


_BEFORE_STATEMENT = pattern(
    r"""
    \bparameters:\s(?P<parameters>\$1\s=\s[^\n]{1,4000})\r?\n
    [^\n]{0,200}?\b(?:STATEMENT|CONTEXT|QUERY):\s{1,4}(?P<statement>[^\n]{1,4000})
    """,
    VERBOSE,
)


def _parameters_before(text: str, settings: Settings) -> Iterator[Span]:
    """Yield the secrets in the parameters that a log of PostgreSQL prints before the statement."""
    for match in _BEFORE_STATEMENT.finditer(text):
        read = read_statement(text, match.start('statement'), match.end('statement'), settings)
        secret = [False] * len(read.placeholders)
        for key, name in zip(read.keys, read.placeholders, strict=True):
            if key.isdecimal() and 0 < int(key) <= len(secret):
                secret[int(key) - 1] = settings.is_sensitive(name)
        yield from _numbered_parameters(text, match.start('parameters'), secret)


_STATEMENT_LIMIT = 4_000
"""In characters: the part of a statement without a list of columns that is read."""
_UPSERT = pattern(r'\b(?:DO|KEY)\sUPDATE\b', IGNORECASE)
"""Clause of an INSERT that sets columns outside of the list of columns."""
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
    if not (rows and isinstance(rows[0], (Mapping, tuple, list))):
        rows = [parameters]
    for row in rows[:_MAX_ROWS]:
        if isinstance(row, Mapping):
            hidden = read.hidden_keys(secret)
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
    | (?P<cut> \.\.\.[^,()\[\]]{1,80}?truncated[ ]\.\.\. )
    | (?P<bare> [^\s,()\[\]{}"']++ )
    """,
    VERBOSE,
)


def _numbered_parameters(text: str, at: int, secret: list[bool]) -> Iterator[Span]:
    """Yield the secrets in a list such as `$1 = 'ann', $2 = 'x'`."""
    while match := _NUMBERED.match(text, at):
        index = int(match['number']) - 1
        if 0 <= index < len(secret) and secret[index]:
            yield Span(*match.span('text' if match['text'] is not None else 'bare'))
        at = match.end()


def _container(text: str, at: int, containers: frozenset[int]) -> list[Match[str]]:
    """Return the tokens of the container at an index.

    A container that is cut off ends at the next one: reading on would take quadratic time.
    """
    tokens: list[Match[str]] = []
    depth = 0
    for token in _ITEM.finditer(text, at):
        if tokens and token.start() in containers:
            break
        tokens.append(token)
        depth += _depth_change(token)
        if depth == 0:
            break
    return tokens


def _depth_change(token: Match[str]) -> int:
    return (token.lastgroup == 'open') - (token.lastgroup == 'close')


class _Parameter(NamedTuple):
    """Place of a parameter, and its key in a mapping."""

    span: Span
    key: str = ''


_Row: TypeAlias = 'list[_Parameter | None]'
"""Parameters of a row; None stands for those that are omitted."""


def _has_rows(tokens: list[Match[str]]) -> bool:
    """Return whether a container is a list of rows, and not a row that begins with a container."""
    opening = ''.join(token[0] for token in tokens[:2])
    if opening not in {'[(', '[[', '[{', '(('}:
        return False
    depth = 0
    for token, following in pairwise(tokens):
        depth += _depth_change(token)
        if depth == 1 and token[0] == ',' and following.lastgroup not in {'open', 'close'}:
            return False
    return True


def _rows(tokens: list[Match[str]]) -> Iterator[_Row]:
    """Yield the parameters of a row, or those of each row in a list."""
    row_depth = 2 if _has_rows(tokens) else 1
    depth = 0
    row: _Row = []
    # A parameter has several tokens if it is a call, such as `Decimal('1')`, or a container.
    parts: list[Match[str]] = []
    for token in tokens:
        kind = token.lastgroup
        depth += _depth_change(token)
        if depth > row_depth or (depth == row_depth and kind not in {'open', 'comma', 'cut'}):
            parts.append(token)
            continue
        if parts:
            row.append(_parameter(parts))
            parts = []
        if kind == 'cut' and depth == row_depth:
            row.append(None)
        elif kind == 'close':
            yield row
            row = []
    if parts:
        row.append(_parameter(parts))
    yield row


def _parameter(parts: list[Match[str]]) -> _Parameter:
    key = ''
    if len(parts) > _KEY_TOKENS and parts[1][0] == ':':
        key, parts = parts[0][0].strip('"\'\\'), parts[_KEY_TOKENS:]
    if parts[0]['quoted']:
        # Behind it can only be text after a container that is cut off.
        return _Parameter(Span(*parts[0].span('inside')), key)
    return _Parameter(Span(parts[0].start(), parts[-1].end()), key)


_KEY_TOKENS = 2
"""A key and its colon."""


def _secrets_of_row(row: _Row, secret: list[bool], hidden: set[str]) -> Iterator[Span]:
    cut = row.index(None) if None in row else len(row)
    for index, parameter in enumerate(row):
        if parameter is None:
            continue
        span, key = parameter
        # After a cut, the parameters are counted from the end.
        position = (index if index < cut else index - len(row)) % len(secret)
        if key in hidden if key else secret[position]:
            yield span
