"""Rules for values whose name stands elsewhere in the text: validators, parsers and databases."""

from collections.abc import Callable, Iterator
from re import VERBOSE, Pattern
from re import compile as pattern
from typing import NamedTuple, TypeAlias

from seamwise.redaction.assignments import quoted_value
from seamwise.redaction.columns import pointed_secrets, table_secrets
from seamwise.redaction.harmless import is_harmless, is_placeholder
from seamwise.redaction.sensitive_names import is_number_about
from seamwise.redaction.settings import Settings
from seamwise.redaction.spans import Span, container_end
from seamwise.redaction.sql import sql_secrets

# Every pattern here is linear: repetitions are possessive or bounded.

Find: TypeAlias = Callable[[str, Settings], Iterator[Span]]
"""Search for the secrets of a rule in a text."""

_WINDOW = 1_000
"""In characters: the greatest distance of a value from its name."""


class ApartRule(NamedTuple):
    """Form of a text that prints a name and its value in different places."""

    name: str
    keywords: tuple[str, ...]
    """Lower-case texts of which one must occur."""
    find: Find
    example: str
    """Text with a fake secret between `⟦` and `⟧`."""
    source: str


def secrets_apart(
    text: str, lowered: str, settings: Settings, original: str = ''
) -> Iterator[Span]:
    """Yield the values in a text that belong to a sensitive name elsewhere in it.

    `original` is the text with its JSON, which can be the parameters of a statement.
    """
    for rule in APART:
        for keyword in rule.keywords:
            if keyword in lowered:
                if rule.find is sql_secrets:
                    yield from sql_secrets(text, settings, original)
                else:
                    yield from rule.find(text, settings)
                break


_NAME_PART = pattern(r'[\w$-]{1,64}')
_LITERAL = pattern(r'[^\s,()\[\]{}"\'`;]{1,256}+')


def has_sensitive_part(path: str, settings: Settings) -> bool:
    """Return whether a part of a path, such as `body.password.0`, is a sensitive name."""
    return any(settings.is_sensitive(part[0]) for part in _NAME_PART.finditer(path))


def value_at(text: str, at: int, limit: int) -> Span | None:
    """Return the span of the literal, the quoted text or the container at an index."""
    if span := quoted_value(text, at):
        return Span(span.start, min(span.end, max(limit, span.start)))
    if text[at : at + 1] in ('[', '(', '{'):
        return Span(at, container_end(text[:limit], at))
    literal = _LITERAL.match(text, at, limit)
    return Span(*literal.span()) if literal else None


def _is_kept(value: str, name: str) -> bool:
    return (
        not value or is_placeholder(value) or (value.isdecimal() and is_number_about(name, value))
    )


def _by_pattern(expression: Pattern[str]) -> Find:
    """Return a search for a pattern whose match ends before the value, or has a group `value`."""

    def find(text: str, settings: Settings) -> Iterator[Span]:
        for match in expression.finditer(text):
            name = match['name']
            if not has_sensitive_part(name, settings):
                continue
            at = match.start('value') if 'value' in expression.groupindex else match.end()
            span = value_at(text, at, min(len(text), at + _WINDOW))
            if span and not _is_kept(text[span.start : span.end], name):
                yield span

    return find


# pydantic: the path of a field is on one line, and the value at the end of the next.
_INPUT = pattern(r'\binput_value=')
_INPUT_END = pattern(r',[ ]input_type=\w{1,64}\]')
_LINE_BREAK = pattern(r'\r?\n|(?:\\+r)?\\+n')
_CUT_ITEM = pattern(r"\.\.\.(?P<rest>[^,{}\[\]]{1,64}?)(?=['\"]?(?:, |[}\]]))")
_LOCATION = 300


def _pydantic(text: str, settings: Settings) -> Iterator[Span]:
    at = 0
    while found := _INPUT.search(text, at):
        start = found.end()
        end = _INPUT_END.search(text, start, start + _WINDOW)
        stop = end.start() if end else start
        before = text[max(at, found.start() - _WINDOW) : found.start()]
        at = max(stop, start)
        if not end:
            span = value_at(text, start, min(len(text), start + _WINDOW))
            stop = span.end if span else start
        if stop == start:
            continue
        value = text[start:stop]
        # The input of a missing field is the container of the others.
        is_missing = before.endswith('[type=missing, ') and value[:1] == '{'
        location = _location(before)
        if not is_missing and has_sensitive_part(location, settings):
            if value.isdecimal() and is_number_about(location.partition('\n')[0], value):
                continue
            yield from _masked_repr(text, start, stop)
        elif value[:1] == '{' and (cut := _CUT_ITEM.search(value)) and ':' not in cut['rest']:
            # The name of a value that was cut at its start is unknown.
            yield Span(start + cut.start('rest'), start + cut.end('rest'))


def _location(before: str) -> str:
    """Return the path and the message before the value of a field."""
    lines = _LINE_BREAK.split(before.rstrip())
    return '\n'.join(line[-_LOCATION:] for line in lines[-2:]).partition(' [type=')[0]


def _masked_repr(text: str, start: int, stop: int) -> Iterator[Span]:
    """Yield a value, without its quotes."""
    quoted = quoted_value(text, start)
    span = Span(quoted.start, min(quoted.end, stop)) if quoted else Span(start, stop)
    if span.start < span.end and not is_placeholder(text[span.start : span.end]):
        yield span


# jsonschema: the path of the instance is the last part, its value the first.
_INSTANCE = pattern(
    r'On[ ]instance(?P<name>(?:\[[^\]\n]{1,80}\]){1,20}+):(?:\r?\n|\\+n)[ ]{1,8}', VERBOSE
)


def _jsonschema(text: str, settings: Settings) -> Iterator[Span]:
    at = 0
    for match in _INSTANCE.finditer(text):
        if has_sensitive_part(match['name'], settings):
            span = value_at(text, match.end(), len(text))
            if span and text[span.start : span.end].strip():
                yield span
                value = text[span.start : span.end]
                before = max(at, match.start() - 10 * _WINDOW)
                first = text.find(value, before, match.start())
                if first >= 0 and not is_placeholder(value):
                    yield Span(first, first + len(value))
        at = match.end()


# cattrs: the place of an exception is in the note below its message.
_STRUCTURING = pattern(
    r'Structuring[ ][^\n@]{1,200}@[ ](?:attribute|field|key|value|index)[ ](?P<name>[^\s)]{1,80})',
    VERBOSE,
)
_QUOTE_IN_LINE = pattern(r'["\'](?P<value>[^"\'\n]{1,256}+)["\'](?=[^"\'\n]{0,80}\Z)')


def _cattrs(text: str, settings: Settings) -> Iterator[Span]:
    at = 0
    for match in _STRUCTURING.finditer(text):
        lines = text[max(at, match.start() - _WINDOW) : match.start()]
        if has_sensitive_part(match['name'], settings):
            offset = match.start() - len(lines)
            line = lines.rstrip(' |\t\r\n')
            begin = line.rfind('\n') + 1
            for quoted in _QUOTE_IN_LINE.finditer(line, begin):
                if not is_placeholder(quoted['value']):
                    yield Span(offset + quoted.start('value'), offset + quoted.end('value'))
        at = match.end()


def _located(text: str, settings: Settings) -> Iterator[Span]:
    """Yield the inputs in the repr of a list of validation errors."""
    at = 0
    while match := _LOC.search(text, at):
        at = match.end()
        if not has_sensitive_part(match['name'], settings):
            continue
        limit = min(len(text), at + _WINDOW)
        following = _LOC.search(text, at, limit)
        limit = following.start() if following else limit
        if key := _INPUT_KEY.search(text, at, limit):
            span = value_at(text, key.end(), limit)
            if span and not _is_kept(text[span.start : span.end], match['name']):
                yield span


_LOC = pattern(
    r'["\'](?:loc|path|absolute_path)\\*["\']:[ ]?(?:deque\()?[(\[](?P<name>[^()\[\]]{1,300})[)\]]'
)
_INPUT_KEY = pattern(r'["\'](?:input|instance|value)\\*["\']:[ ]?')

_NAMES_IN_QUOTES = r'["\'`“](?P<name>[\w.$\[\] /-]{1,80})["\'`”]'
_ATTRS = pattern(rf'{_NAMES_IN_QUOTES}[ ]must[ ][^\n()]{{1,200}}\((?:got[ ])?')
_ARGUMENT = pattern(
    r"""
    (?: (?:\b|(?<=\\[nrt]))argument[ ] (?P<name>[\w/ .<>\[\]-]{1,80}) :[ ]
        (?: invalid[ ][^\n:'"]{1,60} : [ ]? | [^\n'"]{0,60} )
    ) (?=["'])
    """,
    VERBOSE,
)
_CLICK = pattern(
    r"""
    (?:\b|(?<=\\[nrt]))Invalid[ ]value[ ]for[ ] (?P<quote>["'])?
    (?P<name>[\w/ .<>\[\]-]{1,80}?) (?(quote)(?P=quote))
    (?:[ ]/[ ]["']-{1,2}[\w-]{1,60}["']){0,2}
    :[ ] (?:[A-Za-z ]{0,40})? (?=["'])
    """,
    VERBOSE,
)
_NOT_OF_TYPE = pattern(
    r"""
    (?<![\w.-])(?P<name>[\w.-]{2,80}) [ ](?:must|should|has[ ]to|needs[ ]to)[ ]be[ ][^\n'"]{1,60}?
    ,?[ ](?:not|got|but[ ]got|but[ ]was|received)[ ] (?=["'])
    """,
    VERBOSE,
)
_VOLUPTUOUS = pattern(r'@[ ]data(?P<name>(?:\[[^\]\n]{1,80}\]){1,20}+)[.,]?[ ][Gg]ot[ ]', VERBOSE)
_STATED_VALUE = pattern(
    r"""
    \b(?: got | received | value | is | was | found | given | input | actual | but[ ]was )\b
    [ ]?[:=]?[ ] (?=["'`])
    """,
    VERBOSE,
)
_STATED_NAME = pattern(
    r"""
    (?: ["'`](?P<quoted>[\w.$-]{1,80})["'`] |
      \b(?:var|env|field|setting|parameter|option|key|column)[.:= ]
      [ ]?(?P<bare>[\w.-]{1,80}) )
    [^"'\n]{0,80} (?: \[[^\]\n]{0,200}\] )? [^"'\n]{0,40}? \Z
    """,
    VERBOSE,
)
_STATED_WINDOW = 400


def _stated(text: str, settings: Settings) -> Iterator[Span]:
    """Yield the values of messages such as `var.admin_password is "…"`."""
    at = 0
    # The name is searched before each value, because values in quotes are rarer.
    for match in _STATED_VALUE.finditer(text):
        before = text[max(at, match.start() - _STATED_WINDOW) : match.start()]
        name = _stated_name(before.rpartition('\n')[2], settings)
        if not name:
            continue
        span = quoted_value(text, match.end())
        if (
            span
            and span.start < span.end <= match.end() + _WINDOW
            and not is_harmless(text[span.start : span.end], name)
        ):
            at = span.end
            yield span


def _stated_name(before: str, settings: Settings) -> str:
    """Return the first sensitive name in the part of a line before a value; empty without one."""
    at = 0
    while stated := _STATED_NAME.search(before, at):
        group = stated.lastgroup or ''
        if settings.is_sensitive(stated[group]):
            return stated[group]
        at = stated.end(group)
    return ''


_OF_NAME = pattern(
    r"""
    (?: \b(?:value|found|got|input|received|literal|string|invalid|bad|illegal)
      | \b\w{1,20}: ) :?[ ]
    (?P<value>"[^"\n]{4,256}" | '[^'\n]{4,256}')
    [^"'\n]{0,40}?[ ](?:for|in|of|at)[ ] (?P<name>[\w.\[\]$ /-]{1,80})
    """,
    VERBOSE,
)
_COLUMN = pattern(
    r"""\bvalue:?[ ](?P<value>["'][^"'\n]{1,256}["'])[ ]for[ ](?:column|field|key|setting
      |parameter|option|argument)[ ](?P<name>[^\s,;]{1,120})""",
    VERBOSE,
)
_DUPLICATE = pattern(
    r"""
    (?:\b|(?<=\\[nrt]))Duplicate[ ]entry[ ](?P<value>'(?:[^'\n]|''){1,500}?')
    [ ]for[ ]key[ ]\\*'?(?P<name>[\w.$-]{1,130})
    """,
    VERBOSE,
)
_SQL_SERVER = pattern(
    r"""
    constraint[ ]'(?P<name>[\w.$-]{1,128})'[^\n]{0,200}?duplicate[ ]key[ ]value[ ]is[ ]\(
    """,
    VERBOSE,
)
_KEY_PAIR = pattern(
    r'\bKey[ ]\((?P<names>[^()=\n]{1,300}(?:\([^()\n]{1,100}\)[^()=\n]{0,100})?)\)=\('
)


def _keys(text: str, settings: Settings) -> Iterator[Span]:
    """Yield the values of `Key (a, b)=(x, y)` whose columns are sensitive."""
    for match in _KEY_PAIR.finditer(text):
        names = match['names'].split(',')
        if not any(settings.is_sensitive(name) for name in names):
            continue
        start, end = match.end(), _closing(text, match.end())
        values = [(start, end)] if len(names) == 1 else _split(text, start, end)
        pairs = zip(names, values, strict=False) if len(values) == len(names) else ()
        spans = (
            [value for name, value in pairs if settings.is_sensitive(name)]
            if pairs
            else [(start, end)]
        )
        yield from (Span(*span) for span in spans if span[0] < span[1])


def _closing(text: str, at: int) -> int:
    end = _KEY_END.search(text, at, at + _WINDOW)
    return end.start() if end else min(len(text), at + _WINDOW)


_KEY_END = pattern(r'\)(?=[ ](?:already|is[ ]not|is[ ]still|conflicts)|[.\s"\'\\]|\Z)', VERBOSE)


def _split(text: str, start: int, end: int) -> list[tuple[int, int]]:
    parts: list[tuple[int, int]] = []
    at = start
    for part in text[start:end].split(', '):
        parts.append((at, at + len(part)))
        at += len(part) + 2
    return parts


APART: tuple[ApartRule, ...] = (
    ApartRule(
        'validation error of pydantic',
        ('input_value=',),
        _pydantic,
        '1 validation error for Login\napi_key\n  Input should be a valid integer'
        " [type=int_parsing, input_value='⟦FAKE-1⟧', input_type=str]",
        'the documentation of pydantic, Errors',
    ),
    ApartRule(
        'list of validation errors',
        ('loc', 'path'),
        _located,
        "[{'type': 'string_type', 'loc': ('body', 'password'), 'msg': 'x', 'input': '⟦FAKE-1⟧'}]",
        'the documentation of pydantic and FastAPI',
    ),
    ApartRule(
        'validation error of jsonschema',
        ('on instance[',),
        _jsonschema,
        "Failed validating 'type' in schema:\n    {'type': 'integer'}\n\n"
        "On instance['token']:\n    '⟦FAKE-1⟧'",
        'the documentation of jsonschema',
    ),
    ApartRule(
        'structuring error of cattrs',
        ('structuring ',),
        _cattrs,
        "ValueError: invalid literal for int() with base 10: '⟦FAKE-1⟧'\n"
        'Structuring class Login @ attribute password',
        'the documentation of cattrs',
    ),
    ApartRule(
        'validator of attrs',
        (' must ',),
        _by_pattern(_ATTRS),
        "'password' must be <class 'int'> (got '⟦FAKE-1⟧' that is a <class 'str'>).",
        'the documentation of attrs',
    ),
    ApartRule(
        'argument of argparse',
        ('argument ',),
        _by_pattern(_ARGUMENT),
        "argument --token: invalid int value: '⟦FAKE-1⟧'",
        'the documentation of argparse',
    ),
    ApartRule(
        'option of click',
        ('invalid value for',),
        _by_pattern(_CLICK),
        "Invalid value for '--token': '⟦FAKE-1⟧' is not a valid integer.",
        'the documentation of click',
    ),
    ApartRule(
        'value that is not of the type',
        (' be ',),
        _by_pattern(_NOT_OF_TYPE),
        "smtp.password must be int, not '⟦FAKE-1⟧'",
        'the error messages of confuse, Pydantic and schema libraries',
    ),
    ApartRule(
        'error of voluptuous',
        ('@ data[',),
        _by_pattern(_VOLUPTUOUS),
        "expected int for dictionary value @ data['password']. Got '⟦FAKE-1⟧'",
        'the documentation of voluptuous',
    ),
    ApartRule(
        'value of a stated name',
        (' got ', 'received', 'value', ' is ', ' was ', 'found', 'given', 'input', 'actual'),
        _stated,
        'Invalid value for variable: var.admin_password is "⟦FAKE-1⟧"',
        'the error messages of Terraform, environs and validators',
    ),
    ApartRule(
        'value before its name',
        ('" for ', "' for ", '" in ', "' in ", '" of ', "' of ", '" at ', "' at "),
        _by_pattern(_OF_NAME),
        "'%' must be followed by '%' or '(', found: '⟦FAKE-1⟧' in [db] password",
        'the error messages of configparser and of parsers',
    ),
    ApartRule(
        'column of a table',
        ('|', ',', '\t', ';'),
        table_secrets,
        '| user | password |\n|---|---|\n| ann | ⟦FAKE-1⟧ |',
        'Markdown, RFC 4180, and the output of psql',
    ),
    ApartRule(
        'value below its name',
        ('└',),
        pointed_secrets,
        "    check(user, password)\n          │     └ '⟦FAKE-1⟧'\n          └ 'ann'",
        'the tracebacks of loguru',
    ),
    ApartRule(
        'value for a column',
        (' for column', ' for field', ' for key', ' for setting', ' for parameter', ' for option'),
        _by_pattern(_COLUMN),
        "Incorrect integer value: '⟦FAKE-1⟧' for column 'pin_code' at row 1",
        'the error messages of MySQL',
    ),
    ApartRule(
        'duplicate entry',
        ('duplicate entry',),
        _by_pattern(_DUPLICATE),
        "Duplicate entry '⟦FAKE-1⟧' for key 'users.api_key'",
        'the error messages of MySQL',
    ),
    ApartRule(
        'duplicate key of a constraint',
        ('duplicate key value',),
        _by_pattern(_SQL_SERVER),
        "Violation of UNIQUE KEY constraint 'UQ_users_api_key'. Cannot insert duplicate key in"
        " object 'dbo.users'. The duplicate key value is (⟦FAKE-1⟧).",
        'the error messages of SQL Server',
    ),
    ApartRule(
        'detail of a key',
        (')=(',),
        _keys,
        'DETAIL:  Key (api_key)=(⟦FAKE-1⟧) already exists.',
        'the error messages of PostgreSQL',
    ),
    ApartRule(
        'statement of SQL',
        (
            'insert',
            'replace',
            'update',
            'select',
            'delete',
            'where',
            'set ',
            'merge',
            'params',
            'parameters',
        ),
        sql_secrets,
        "INSERT INTO users (name, password) VALUES ('ann', '⟦FAKE-1⟧')",
        'ISO 9075, and the logs of SQLAlchemy, Django and PostgreSQL',
    ),
)
"""Rules for values apart from their names. Rules by form are in `rules`, others by name in
`assignments`."""
