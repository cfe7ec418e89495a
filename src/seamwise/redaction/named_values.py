"""Secrets that a text names: `password=…`, header lines, flags of a command, quoted pairs, XML elements."""

from collections.abc import Iterator
from re import IGNORECASE, VERBOSE, Match
from re import compile as pattern

from seamwise.redaction.sensitive_names import is_sensitive, split_words
from seamwise.redaction.spans import (
    Span,
    block_end,
    closing,
    container_end,
    line_end,
    replaced,
    word_end,
)
from seamwise.secrets import MASK

_NAME = pattern(
    r"""
    (?: (?P<escape> (?<!\\)\\++[nrt] | %[0-9A-Fa-f]{2} ) | (?<![\w.$-]) )
    (?P<name> [\w.$-]++ )
    (?P<close> \\*+["'`] )?+ (?: \] | %5[Dd] )?+
    (?(close) \s*+ | [ \t]*+ )
    (?P<sign> => | := | ={1,3}+ | :(?!:|//) | %3[Dd] )
    (?(close) \s*+ | [ \t]*+ )
    """,
    VERBOSE,
)
_HINT = pattern(
    'passw|passphrase|secret|token|authorization|cookie|credential|key|pwd|sig', IGNORECASE
)
_ARGUMENT = pattern(r'--?[A-Za-z][\w-]*+')
_USER = pattern(r'(?!\+|\d++:\d)[^\s:]++:(?!//)')
_FLAG = pattern(r'(?<![\w-])(?P<name>--?[A-Za-z][\w-]*+)(?:[ \t]++|\\*+["\'],\s*+)(?![-=<\s])')
_ELEMENT = pattern(r'<(?:[\w-]++:)?+([\w.-]++)(?:\s[^<>]*+)?+>(?:<!\[CDATA\[)?+([^<]++)')
_OPENING = pattern(r'(?:[A-Za-z_][\w.]{0,40}\(|[bBrRuUfF]{1,2})?(\\*+)("""|\'\'\'|["\'`])')
_QUOTES = ('"', "'", '`')
_OPENED = pattern(r'(\\*+)(["\'`])\Z')
_LINE_START = pattern(r'(?:\A|\n)([ \t]*+)(?:[>*#<+-]++[ \t]*+)*+\Z')
_WORD_BEFORE = pattern(r'([A-Za-z]++)[ \t]\Z')
_SCHEME_AND_VALUE = pattern(
    r'(?P<scheme>(?:basic|bearer|token|api-?key|key|bot|negotiate|ntlm)[ \t]++)[^\s"\'`,;\\]++',
    IGNORECASE,
)
_SYSTEM_PROPERTY = pattern(r'\A-+[DP](?=[a-z])')
_IN_CONNECTION_STRING = pattern(r'[^/~.$\s;][^;\s]{0,127};')

_OPENINGS = ('"', "'", '`', '(', '[', '{')
_GOES_ON = pattern(r'\\*+["\'`)\]}]*+[ \t]*+[^\s,)\]}]')

_PUNCTUATION = pattern(r'[^\w*]{1,2}')
_MASKED = pattern(r'\*\*\*(?=[\s,;&)\]}]|\Z)')
_NO_SECRET = frozenset(
    ('null', 'none', 'nil', 'undefined', 'str', 'string', 'bytes', 'int', 'bool')
)
_SENTENCE_WORD = pattern(
    'an?|and|are|argument|as|by|can|cannot|does|flag|for|from|has|have|if|in|instead|is|it|may|must|needs|not|of|on|option|or'
    '|parameter|requires|should|that|the|to|value|was|were|when|will|with|without'
)
_NOT_ITSELF = frozenset(('file', 'stdin', 'path', 'dir', 'jar', 'name', 'prompt', 'type'))
_WHOLE_LINE = frozenset(('authorization', 'cookie', 'cookies', 'passphrase', 'passphrases'))
_USER_FLAGS = frozenset(('-u', '--user', '--proxy-user'))
_SIGNATURES = frozenset(('sig', 'x-amz-signature', 'x-goog-signature'))


def mask_named(text: str) -> str:
    """Mask the values of sensitive names wherever a text gives them, up to the end of each value."""
    text = replaced(text, _pairs(text))
    if '-' in text:
        text = replaced(text, _flags(text))
    return _ELEMENT.sub(_element, text) if '</' in text else text


def announced(argument: str, text: str) -> str | None:
    """Give how a command's argument is shown after another one that announces a secret; None after any other.

    >>> announced('--password', 'hunter2'), announced('-u', 'ann:hunter2'), announced('-v', 'hunter2')
    ('***', 'ann:***', None)
    """
    if text[:1] == '-' or not _ARGUMENT.fullmatch(argument):
        return None
    if argument in _USER_FLAGS and (user := _USER.match(text)):
        return user[0] + MASK
    return MASK if _announces(argument) else None


def _announces(flag: str) -> bool:
    return is_sensitive(flag) and split_words(flag)[-1] not in _NOT_ITSELF


def _pairs(text: str) -> Iterator[Span]:
    at = 0
    while found := _NAME.search(text, at):
        at = found.end('sign')
        if _is_named(text, found) and (span := _value(text, found)):
            at = span.end
            yield span


def _flags(text: str) -> Iterator[Span]:
    at = 0
    while found := _FLAG.search(text, at):
        at = found.end('name')
        if not _announces(found['name']):
            continue
        span = _quoted(text, found.end()) or Span(found.end(), word_end(text, found.end()))
        if span.start < span.end and not _SENTENCE_WORD.fullmatch(text, span.start, span.end):
            at = span.end
            yield span


def _element(found: Match[str]) -> str:
    if not is_sensitive(found[1]) or not found[2].strip():
        return found[0]
    return found[0][: found.start(2) - found.start()] + MASK


def _is_named(text: str, found: Match[str]) -> bool:
    start = found.start('name')
    if not _HINT.search(
        text, max(0, start - 64) if found['close'] else found.start(), found.end('name')
    ):
        return False
    name, before, sign = (
        _SYSTEM_PROPERTY.sub('', found['name']).strip('.-$'),
        text[max(0, start - 64) : start],
        found['sign'],
    )
    if sign == ':':
        # `token_store.py:42` is a place in a file, `app.token: x` is a name and its value.
        name = name.rpartition('.')[2]
    if name.lower() == 'pwd' and sign == '=':
        # The working directory has this name in an environment.
        return _IN_CONNECTION_STRING.match(text, found.end()) is not None or (
            before.rstrip().endswith(';')
            and text[found.end() : found.end() + 1] not in ('', '/', '~', '.', '$')
        )
    if name.lower() in _SIGNATURES and before[-1:] in ('?', '&'):
        return True
    if sign == ':' and (
        before.endswith('/') or (before[-11:] + name).lower() == 'unexpected token'
    ):
        # `auth/token:42` is a place too, and an unexpected token one of a grammar.
        return False
    return any(map(is_sensitive, _readings(name, before, found)))


def _readings(name: str, before: str, found: Match[str]) -> list[str]:
    readings = [name]
    if found['escape']:
        # `\token` may be a tab and `oken`, or a path.
        readings.append(found['escape'][-1] + name)
    if found['close']:
        opened = before.rfind(found['close'][-1])
        if opened >= 0:
            readings.append(before[opened + 1 :] + name)
    elif name[:3].lower() == 'key' and (word := _WORD_BEFORE.search(before)):
        readings.append(f'{word[1]} {name}')
    return readings


def _value(text: str, found: Match[str]) -> Span | None:
    at = found.end()
    span = _quoted(text, at)
    if span is None and (found['sign'] in ('==', '===') or _MASKED.match(text, at)):
        # A comparison with something that has another name, or done already.
        return None
    span = _whole_header(text, found, span or _unquoted(text, found))
    value = text[span.start : span.end]
    if not value.strip() or value.lower() in _NO_SECRET or _PUNCTUATION.fullmatch(value):
        return None
    return span


def _whole_header(text: str, found: Match[str], span: Span) -> Span:
    """Go to the end of a header whose value begins with a quote or a bracket and goes on behind it."""
    at = found.end()
    if (
        found['sign'] != ':'
        or found['close']
        or text[at : at + 1] not in _OPENINGS
        or _WHOLE_LINE.isdisjoint(split_words(found['name']))
    ):
        return span
    limit = _enclosing_end(text, found)
    limit = line_end(text, at) if limit is None else limit
    return Span(at, limit) if _GOES_ON.match(text, span.end, limit) else span


def _quoted(text: str, at: int) -> Span | None:
    opening = _OPENING.match(text, at)
    if opening is None:
        return None
    quote = opening[1] + opening[2]
    end = closing(text, opening.end(), opening[2], len(opening[1]))
    while end is not None and end > opening.end() and text.startswith(quote * 2, end):
        # In SQL, YAML and connection strings a quote inside is a quote twice.
        end = closing(text, end + 2 * len(quote), opening[2], len(opening[1]))
    return Span(opening.end(), len(text) if end is None else end)


def _unquoted(text: str, found: Match[str]) -> Span:
    at, close = found.end(), found['close'] or ''
    in_brackets = text[at : at + 1] in ('{', '[', '(')
    if in_brackets or close:
        stop = word_end(text, container_end(text, at) if in_brackets else at)
        # Where the name was quoted the value is too, so that JSON stays JSON.
        return Span(at, _behind(text, stop, close), f'{close}{MASK}{close}')
    indent = _indent(text, found)
    if indent is not None and found['sign'] == ':' and (end := block_end(text, at, indent)):
        return Span(found.end('sign'), end, f' {MASK}')
    parts = split_words(found['name'])
    if 'authorization' in parts and (scheme := _SCHEME_AND_VALUE.match(text, at)):
        return Span(scheme.end('scheme'), scheme.end())
    return Span(at, _bare_end(text, found, parts, at_line_start=indent is not None))


def _behind(text: str, at: int, quote: str) -> int:
    while quote and text.startswith(quote, at):
        at += len(quote)
    return at


def _indent(text: str, found: Match[str]) -> str | None:
    if found['escape']:
        return '' if found['escape'][-1] in 'nr' else None
    line = _LINE_START.search(text[max(0, found.start() - 64) : found.start()])
    return line[1] if line else None


def _bare_end(text: str, found: Match[str], parts: list[str], *, at_line_start: bool) -> int:
    at, sign = found.end(), found['sign']
    limit = _enclosing_end(text, found)
    if sign == ':' and limit is not None:
        return limit
    space_after = at > found.end('sign')
    if sign == ':' and ((at_line_start and space_after) or not _WHOLE_LINE.isdisjoint(parts)):
        return line_end(text, at)
    space_before = text[found.start('sign') - 1].isspace()
    if (
        sign != ':'
        and space_after
        and not space_before
        and (following := _NAME.match(text, at))
        and following['sign'] == '='
    ):
        # `API_KEY= HOME=/root`: nothing is assigned.
        return at
    if at_line_start and space_before and space_after:
        return line_end(text, at)
    return word_end(text, at, limit=limit)


def _enclosing_end(text: str, found: Match[str]) -> int | None:
    start = found.start()
    opening = (
        _OPENED.search(text[max(0, start - 64) : start])
        if text[start - 1 : start] in _QUOTES
        else None
    )
    return closing(text, found.end(), opening[2], len(opening[1])) if opening else None
