"""Values of sensitive names in a text: `password=…`, headers, flags, pairs, XML elements."""

from collections.abc import Iterator
from re import IGNORECASE, VERBOSE, Match, Pattern, search
from re import compile as pattern
from typing import TypeAlias

from seamwise._text.secrets import MASK
from seamwise.redaction.harmless import (
    DECLARED_TYPES,
    SUBSCRIPTS,
    TYPE_PATTERN,
    is_code,
    is_harmless,
    is_message,
    is_placeholder,
    is_reference,
    is_sentence,
)
from seamwise.redaction.sensitive_names import (
    MAX_NAME,
    is_measure,
    is_metadata,
    is_number_about,
    is_sensitive,
    split_words,
)
from seamwise.redaction.settings import Settings
from seamwise.redaction.spans import (
    Span,
    block_end,
    closing_quote,
    container_end,
    line_end,
    word_end,
)

_NAME = pattern(
    rf"""
    (?: (?P<escape> (?<!\\)\\++[nrt] | %[0-9A-Fa-f]{{2}} ) | (?<![\w.$-]) )
    (?P<name> [\w.$-]++ )
    (?P<close> \\*+["'`] )?+ (?: \] | %5[Dd] )?+
    (?: [?!]?:[ ]?{TYPE_PATTERN}[?!]?(?=[ ]=[ ])
      | [?!]?[ ]?::?[ ]?[^\s="'(){{}};,`](?:[^\s="'(){{}};,`]|[ ]\|[ ]|(?<=const)[ ]){{0,40}}
        (?=[ ]:?=[ ]["'`])
      | [ ]?:(?=:[ ][A-Za-z0-9+/]{{8,}}={{0,2}}(?:\s|\Z))
      | [ ]\d{{1,4}}(?=:b:[0-9A-F])
      | (?:\[\d{{0,5}}\])++(?=[ ]?=[ ]?[\"{{]) | [ ][Aa][Ss][ ]\w{{1,30}}(?=[ ]=[ ])
      | [ ](?:{DECLARED_TYPES})(?=[ ]:?=[ ]?[NnUu]?["'`]) )?+
    (?(close) \s*+ | [ \t]*+ )
    (?P<sign> => | -> | :{{1,3}}= | (?:[?|&]{{1,2}}|[+.])= | ={{1,3}}+ | <<?-(?=[ ]?["'])
      | !==?+(?=[ ]?["']) | :(?!:|//) | ： | %3[Dd] )
    (?(close) \s*+ | [ \t]*+ )
    """,
    VERBOSE,
)
_TUPLE = pattern(r"""(?P<quote>["'])(?P<name>[\w.$ -]{1,64}+)(?P=quote)\s*+,\s*+""")
_BLOCK_LINE = pattern(
    r'(?P<indent>[ \t]*+)(?:-[ ]++)?(?:["\']?(?P<name>[\w.$/-]++)["\']?:(?:[ \t]++|\Z))?+'
    r'(?P<value>.*+)'
)
_ELEMENT_VALUE = pattern(
    r'<(?:[\w-]{1,40}:)?(?P<name>[\w.-]{1,64}+)\s(?:[^<>]{0,200}?\s)?value\s*+(?P<sign>=)\s*+',
    IGNORECASE,
)
_NAME_AT_END = pattern(
    r'(?<![\w.$-])[\w.$-]++\\*+["\'`\])\s]{0,4}(?:(?:[-=:?+.|&<>]|%3[Dd]){0,3}\s{0,4})\Z'
)
_BEFORE_TUPLE = pattern(
    r"""
    (?: (?: (?<![\w.*]) | (?<=\\[nrt]) ) \( | (?<=[\[,\s]) \[
      | (?: [Ss]et\w{0,20} | [Pp]ut\w{0,12} | [Dd]efine | [Aa]dd\w{0,24}
          | \w{0,16}[Hh]eaders? | [Aa]ppend\w{0,12}
          | [Ww]ith\w{0,20} | [Pp]roperty | TryAdd\w{0,24} | [Ii]nsert | [Ee]nv ) \( ) \s{0,8} b? \Z
    """,
    VERBOSE,
)
_ATTRIBUTES = pattern(
    r"""
    (?: (?<![\w-]) | (?<=\\[nrt]) ) (?: name | key | field | header ) \\*+["']?+ \s*+ [:=] \s*+
    \\*+["']?+ (?P<name>[\w.$-]{1,64}+) \\*+["']?+ \s*+ ,?+ \s*+
    \\*+["']?+ value \\*+["']?+ \s*+ (?P<sign>[:=]) \s*+
    """,
    VERBOSE | IGNORECASE,
)
_ARGUMENT = pattern(r'--?[A-Za-z][\w-]*+')
_USER = pattern(r'(?!\+|\d++:\d)[^\s:]++:(?!//)')
_FLAG = pattern(
    r'(?<![\w-])(?P<name>--?[A-Za-z][\w-]*+)(?:[ \t]++|\\*+["\'],\s*+(?=\\*+["\'`])'
    r'|"[ ]a\d{1,3}=(?="))(?![-=<\s])'
)
_ELEMENT = pattern(r'<(?:[\w-]++:)?+([\w.-]++)(?:\s[^<>]*+)?+>(?:<!\[CDATA\[)?+([^<]++)')
_OPENING = pattern(
    r'(?:\$?[A-Za-z_](?:[\w.!?]|::|->){0,40}[(\[]|\[\]byte\(|string\(\d{1,6}\)[ ]|[bBrRuUfF]{1,2})?'
    r'(\\*+)("""|\'\'\'|["\'`])'
)
_QUOTES = ('"', "'", '`')
_OPEN_QUOTE = pattern(r'(\\*+)(["\'`])\Z')
_LINE_START = pattern(r'(?:\A|\n)([ \t]*+)(?:[>*#<+-]++[ \t]*+)*+\Z')
_WORD_BEFORE = pattern(r'([A-Za-z]++)[ \t]\Z')
_SCHEME_AND_VALUE = pattern(
    r'(?P<scheme>(?:basic|bearer|token|api-?key|key|bot|negotiate|ntlm)[ \t]++)[^\s"\'`,;\\]++',
    IGNORECASE,
)
_SYSTEM_PROPERTY = pattern(r'\A-+[DP](?=[a-z])')
_DIRECTORIES = frozenset(('pwd', 'oldpwd'))
_DIRECTORY = pattern(
    r"""["'`]?+(?:[/~$]|\.{1,2}(?:[/\s"']|\Z)|[A-Za-z]:\\|%[A-Z]|%2[Ff]|\s|\Z|["'`,;)\]}]|<|\(|`)"""
    r"""|["'`]?+(?:[\w.-]{1,60}/){1,12}[\w.-]{0,60}["'`]?(?:[\s,;)]|\Z)|(?:os|process|Path)\."""
)
_DOCUMENT = pattern(
    r'<<[-~<]?[ ]?(?P<quote>["\']?)(?P<mark>[A-Za-z_]\w{0,40})(?P=quote)[^\n]{0,200}\n'
)

_OPENINGS = ('"', "'", '`', '(', '[', '{')
_CONTINUES = pattern(r'\\*+["\'`)\]}]*+[ \t]*+[^\s,)\]}]')

_PUNCTUATION = pattern(r'[^\w*]{1,2}|\*')
_CHANGED = pattern(r'\\*+["\'`]?[ \t]{0,4}(?:->|=>|→)[ \t]{1,4}(?=[^\s(])')
_MASKED = pattern(r'\*{3,}+(?=[\s,;&)\]}\\]|\Z)')
_SENTENCE_WORD = pattern(
    'an?|and|are|argument|as|by|can|cannot|does|flag|for|from|has|have|if|in|instead|is|it|may|must'
    '|needs|not|of|on|option|or|parameter|requires|should|that|the|to|value|was|were|when|will|with|without'
    '|found|given|expected|missing|invalid|ignored|specified|provided|required|unknown|set|unset|also|but|both|only'
    '|first|here|takes|expects|accepts|rejected|deprecated|removed|supported|unsupported|used|unused|via|over|after'
    '|before|without|instead|at|no|any|empty|flags|arguments|options'
)
_ASIDE = pattern(r'\([A-Z][a-z]{1,20}[ ][a-z]')
_NOT_THE_SECRET = frozenset(('id', 'file', 'stdin', 'path', 'dir', 'jar', 'name', 'prompt', 'type'))
_WHOLE_LINE = frozenset(('authorization', 'cookie', 'cookies', 'passphrase', 'passphrases'))
_USER_FLAGS = frozenset(('-u', '--user', '--proxy-user'))
_COOKIE_FLAGS = frozenset(('-b', '--cookie'))
_SIGNATURES = frozenset(
    ('sig', 'signature', 'x-oss-signature', 'x-amz-signature', 'x-goog-signature')
)


def assigned_secrets(text: str, settings: Settings) -> Iterator[Span]:
    """Yield the values of sensitive names in a text, each up to its end."""
    yield from _pairs(text, settings)
    if '-' in text:
        yield from _flags(text, settings)
    if '</' in text:
        yield from _elements(text, settings)
    yield from _introduced(text, _TUPLE, settings)
    if 'alue' in text:
        yield from _introduced(text, _ATTRIBUTES, settings)
        yield from _introduced(text, _ELEMENT_VALUE, settings)


def mask_argument(
    argument: str, settings: Settings, *, flag: str = '', command: str = ''
) -> str | None:
    """Return an argument of a command with its secret masked, or None if it has none.

    >>> settings = Settings()
    >>> mask_argument('hunter2', settings, flag='--password')
    '***'
    >>> mask_argument('ann:hunter2', settings, flag='-u')
    'ann:***'
    >>> mask_argument('-phunter2', settings, command='mysql')
    '-p***'
    >>> mask_argument('hunter2', settings, flag='-v')
    """
    if argument[:1] == '-':
        is_password = argument[:2] == '-p' and argument != '-p' and 'curl' not in command
        return f'-p{MASK}' if command and is_password else None
    if not _ARGUMENT.fullmatch(flag) or is_placeholder(argument):
        return None
    if flag in _USER_FLAGS:
        user, colon, password = argument.partition(':')
        if 'curl' in command and colon and not (user and password):
            # The key is the user or the password.
            return f'{user and MASK}:{password and MASK}'
        if _USER.match(argument):
            # `docker run -u root:root` has a group, not a password.
            is_group = user == password or is_placeholder(password)
            return None if is_group else f'{user}:{MASK}'
    if 'curl' in command and flag in _COOKIE_FLAGS and '=' in argument:
        return MASK
    return MASK if _expects_secret(flag, settings) else None


def _expects_secret(flag: str, settings: Settings) -> bool:
    return settings.is_sensitive(flag) and split_words(flag)[-1] not in _NOT_THE_SECRET


def _pairs(text: str, settings: Settings) -> Iterator[Span]:
    at = 0
    sentences: _Sentences = {}
    while match := _NAME.search(text, at):
        at = match.end('sign')
        if _is_named(text, match, settings) and (span := _value(text, match, sentences)):
            # The end of the value can be a name too: `password=api_key: …`.
            tail = _NAME_AT_END.search(text, max(at, span.end - MAX_NAME), span.end)
            at = tail.start() if tail and span.masked else span.end
            if span.masked:
                yield span
                if change := _CHANGED.match(text, span.end):
                    changed = Span(change.end(), word_end(text, change.end()))
                    changed = quoted_value(text, change.end()) or changed
                    if not is_harmless(text[changed.start : changed.end]):
                        at = changed.end
                        yield changed


def _flags(text: str, settings: Settings) -> Iterator[Span]:
    at = 0
    while match := _FLAG.search(text, at):
        at = match.end('name')
        if (
            not _expects_secret(match['name'], settings)
            or _is_in_help(text, match)
            or _MASKED.match(text, match.end())
        ):
            continue
        span = quoted_value(text, match.end()) or Span(match.end(), word_end(text, match.end()))
        value = text[span.start : span.end]
        if (
            value
            and not _PUNCTUATION.fullmatch(value)
            and not _ASIDE.match(text, match.end())
            and not _SENTENCE_WORD.fullmatch(value)
            and not _is_metavariable(value, match['name'])
        ):
            at = span.end
            yield span


def _is_in_help(text: str, match: Match[str]) -> bool:
    """Return whether a flag begins a line of a help text: its description follows after a gap."""
    line = text[max(0, match.start() - MAX_NAME) : match.start()].rpartition('\n')[2]
    return text[match.end() - 2 : match.end()].isspace() and line.strip(' ')[:1] in {'', '-'}


def _is_metavariable(value: str, flag: str) -> bool:
    """Return whether a value of a flag stands for any value, as in `--token TOKEN`."""
    word = value.strip('[]<>.')
    return is_placeholder(value) or (
        word.isupper() and (word in _METAVARIABLES or word.lower() in split_words(flag))
    )


_METAVARIABLES = frozenset(('FILE', 'PATH', 'PASS', 'STRING', 'TEXT', 'VALUE', 'STR'))


def _elements(text: str, settings: Settings) -> Iterator[Span]:
    for match in _ELEMENT.finditer(text):
        if settings.is_sensitive(match[1]) and not is_harmless(match[2], match[1]):
            yield Span(*match.span(2))


def _introduced(text: str, introduction: Pattern[str], settings: Settings) -> Iterator[Span]:
    """Yield the values after a name in a tuple or an attribute."""
    at = 0
    while match := introduction.search(text, at):
        at = match.end('name')
        if not settings.is_sensitive(match['name']) or (
            introduction is _TUPLE
            and not _BEFORE_TUPLE.search(text[max(0, match.start() - 40) : match.start()])
        ):
            continue
        span = quoted_value(text, match.end())
        if span is None and _MASKED.match(text, match.end()):
            continue
        if span is None and introduction is _ATTRIBUTES:
            span = Span(match.end(), word_end(text, match.end()))
        if (
            span
            and span.start < span.end
            and not is_harmless(text[span.start : span.end], match['name'])
            and not (introduction is _TUPLE and _is_list_of_words(text, span))
        ):
            at = span.end if text[span.end : span.end + 1] in _QUOTES else span.start
            yield span


_WORD_IN_LIST = pattern(r'[A-Za-z_-]{1,40}')
_NEXT_ITEM = pattern(r'["\'],[ ]?["\']')


def _is_list_of_words(text: str, span: Span) -> bool:
    """Return whether a value is a word in a list of more than two texts."""
    return (
        _NEXT_ITEM.match(text, span.end) is not None
        and _WORD_IN_LIST.fullmatch(text, *span[:2]) is not None
    )


_IN_ADDRESS = pattern(r'\b[au]rn:[\w:/*-]{1,60}\Z')
_COMPOUND = pattern(
    r'(?:\A|\n|\\n)[ \t]*+(?:class|(?:el)?if|while|for|with|except|case|match)[ ][^\n:]{0,60}\Z'
)
_TROUBLE = pattern(
    r'(?:invalid|illegal|bad|unknown|missing|unrecognized|extra)[ ](?:\w{1,20}[ ])?\w{1,20}\Z',
    IGNORECASE,
)
_EXPECTED = pattern(
    r"""(?:expected|found|got|unexpected|instead|near|at|in|line|column|position)\b(?=[ ])"""
    r"""(?![^\n]{0,40}["'`][^"'`\n]{6,})"""
)
_PARSER_TROUBLE = pattern(
    r'\b(?:parse|parser|parsing|syntax|lexer|lexical)[ ]error[^\n]{0,40}\Z', IGNORECASE
)
_MEMBER_VALUE = pattern(r"""["'][a-z]{1,30}(?:[_ -][a-z]{1,30}){0,4}["']>""")
_SELECTOR = pattern(r'\]:[a-z]')
_END_OF_REFERENCE = pattern(r'[a-z_]{1,40}\}\}')
_PLAIN_VALUE = pattern(r'(?:[a-z]{1,40}|\d{1,9}|[A-Za-z]{1,40})?(?:[\s:,.;)\]"\']|\Z)')
_QUERY = frozenset(('?', '&'))
_SECOND_SIGNS = frozenset(('= ', '== ', '=='))
_VARIABLE_OF_PSQL = pattern(r":'[a-z]{1,30}(?:_[a-z]{1,30}){0,6}'")
_REPR = pattern(r'[A-Za-z]{1,20}(?:[ ][A-Za-z0-9]{1,8}){1,6}>')
_ASIDE_AFTER_NAME = pattern(r'\([a-z]{2,20}(?:[ ][a-z]{2,20}){0,4}\)(?=[ ])')
_REALM = pattern(r'(?:[A-Za-z]{1,12}[ ])?(?:realm|scope|charset|error)=')
_EMPTY_COOKIE = pattern(r'[\w.-]{1,64}=(?:""|deleted|null)?;')
_OTHER_WORD = pattern(r'[a-z]{3,30}\)')


def _is_named(text: str, match: Match[str], settings: Settings) -> bool:
    start = match.start('name')
    name, before, sign = (
        _SYSTEM_PROPERTY.sub('', match['name']).strip('.-$'),
        text[max(0, start - 64) : start],
        match['sign'],
    )
    if sign == ':':
        # `token_store.py:42` is a location in a file, `app.token: x` is a name with its value.
        name = name.rpartition('.')[2]
    if name.lower() in _DIRECTORIES:
        # In an environment, `PWD` is the working directory.
        return sign in {'=', ':', '%3D', '%3d'} and not _DIRECTORY.match(text, match.end())
    if name.lower() in _SIGNATURES and before[-1:] in ('?', '&'):
        return True
    # Most names are not sensitive, and the answer for a name is cached.
    return any(
        map(settings.is_sensitive, _readings(name, before, match))
    ) and not _is_no_assignment(text, match, before, name)


def _is_no_assignment(text: str, match: Match[str], before: str, name: str) -> bool:
    """Return whether the sign after a name has another meaning than an assignment."""
    at = match.end()
    if match['sign'] != ':':
        return (
            # An empty value in a query.
            (match['sign'] == '=' and before[-1:] in _QUERY and text[at - 1 : at].isspace())
            # A lambda, and a syntax error.
            or (before[-1:] == '\\' and match['sign'] == '->')
            or (text[at : at + 2] in _SECOND_SIGNS and text[at - 1] == ' ')
        )
    value = text[at : at + 1]
    if value == "'" and before[-1:] == ' ' and _VARIABLE_OF_PSQL.match(text, match.start('sign')):
        return True
    return (
        (_TELLING.search(before) is not None and _is_no_value(text, at, before, name))
        # In `input[type="password"]:focus`, the text in quotes is a value.
        or (
            match['close'] is not None
            and '=' in before[-2:]
            and _SELECTOR.match(text, match.end('close')) is not None
        )
        # `${TOKEN:?must be set}`
        or (text.startswith('?', match.end('sign')) and before.endswith('${'))
        # `auth/token:42` is a location.
        or (before.endswith('/') and _PLAIN_VALUE.match(text, at) is not None)
        or (before[-1:] == ':' and _END_OF_REFERENCE.match(text, at) is not None)
        # `<AuthMethod.PASSWORD: 'password'>` is a member of an enumeration.
        or (
            before[-1:] == '<'
            and (_MEMBER_VALUE.match(text, at) or _REPR.match(text, at)) is not None
        )
        or _ASIDE_AFTER_NAME.match(text, at) is not None
        or _REALM.match(text, at) is not None
        or ('ookie' in name and _EMPTY_COOKIE.match(text, at) is not None)
        # `pam_unix(passwd:chauthtok)`
        or (
            before[-1:] == '('
            and at == match.end('sign')
            and _OTHER_WORD.match(text, at) is not None
        )
        # The result of a test.
        or (before[-4:] + name) == '--- PASS'
    )


_TELLING = pattern(
    r'rn:|class|if|while|for|with|except|case|match|error|unexpected|invalid|illegal|bad|unknown'
    r'|missing|unrecognized|extra',
    IGNORECASE,
)
"""Words of the forms in `_is_no_value`: one search instead of several."""


def _is_no_value(text: str, at: int, before: str, name: str) -> bool:
    """Return whether a value belongs to an address, a statement or a message of a parser."""
    return (
        _IN_ADDRESS.search(before) is not None
        # `class Token: pass` and `if not token: return`
        or (text[at : at + 1] not in _QUOTES and _COMPOUND.search(before) is not None)
        or (_TROUBLE.search(before + name) is not None and _EXPECTED.match(text, at) is not None)
        or (before[-11:] + name).lower() == 'unexpected token'
        or _PARSER_TROUBLE.search(before) is not None
    )


_LONG_CREDENTIAL = pattern(
    r'["\']?(?=[^\d\s]{0,64}\d)(?=[^A-Za-z\s]{0,64}[A-Za-z])[\w.~+/-]{20,512}'
)


def _readings(name: str, before: str, match: Match[str]) -> list[str]:
    readings = [name]
    if name[-6:].lower() == 'tokens' and _LONG_CREDENTIAL.match(match.string, match.end()):
        readings.append(name[:-1])
    if match['escape']:
        # `\token` is a tab and `oken`, or a path.
        readings.append(match['escape'][-1] + name)
    if match['close']:
        opened = before.rfind(match['close'][-1])
        if opened >= 0:
            readings.append(before[opened + 1 :] + name)
    elif name[:3].lower() == 'key' and (word := _WORD_BEFORE.search(before)):
        readings.append(f'{word[1]} {name}')
    return readings


_Sentences: TypeAlias = dict[tuple[str, bool], bool]
"""Lines after a name, and whether they are prose."""


def _value(text: str, match: Match[str], sentences: _Sentences) -> Span | None:
    at = match.end()
    if document := _DOCUMENT.match(text, at):
        return _document(text, document)
    if _SUBSCRIPTS.match(text, at) or (match['name'] == 'token' and is_tokenized(text, at)):
        return None
    span = quoted_value(text, at)
    if (
        # A comparison with another name, or a value that is masked already.
        (
            match['sign'] in ('==', '===')
            or _MASKED.match(text, at)
            or _is_reference(text, match, sentences)
        )
        if span is None
        else text[at] in _QUOTES and _closes_prompt(text, match)
    ):
        return None
    is_quoted = span is not None
    span = _whole_header(text, match, span or _unquoted(text, match))
    value = text[span.start : span.end]
    if is_quoted and (_is_argument_of_call(text, at, span) or _is_fixed_placeholder(value)):
        # Names inside of it have no values.
        return Span(span.end, span.end, masked=0)
    if match['sign'] == '=' and text[span.end : span.end + 1] == ';' and _is_in_braces(value):
        return span
    is_kept = span.masked and (
        _PUNCTUATION.fullmatch(value)
        or (not is_quoted and _is_counted(value, match['name']))
        or is_harmless(value.rstrip(';'), match['name'])
        or (
            _NUMBER.fullmatch(value)
            and (
                is_number_about(match['name'], value)
                or (not is_quoted and _is_constant(text, match, span))
            )
        )
    )
    return None if is_kept else span


_SUBSCRIPTS = pattern(SUBSCRIPTS)
_TOKENIZED = pattern(
    r"""
    (?P<quote>\\*["'])(?![^\s"']{0,64}\d)[ ]?[^\s"'\\]{0,64}(?P=quote)\s{0,8},\s{0,8}\\*["']
    (?:log_?prob|start|end|offset|pos|position|score|index|bytes|lemma|tag|type|prob)\w{0,12}\\*["']
    """,
    VERBOSE,
)
"""Part of a text in the output of a tokenizer."""


def is_tokenized(text: str, at: int) -> bool:
    """Return whether a value under `token` is a part of a text in the output of a tokenizer.

    >>> is_tokenized('"quick", "start_offset": 0', 0), is_tokenized('"hunter2", "end": 0', 0)
    (True, False)
    """
    return _TOKENIZED.match(text, at) is not None


_COUNTED = pattern(r'(?P<number>\d{1,9})(?:[ ][a-z]{2,20}){0,6}(?:[,;.|][ ].*)?+\Z')


def _is_counted(value: str, name: str) -> bool:
    """Return whether a value is a count with words, as in `secrets: 3 found, 1 removed`."""
    counted = _COUNTED.match(value)
    return counted is not None and is_number_about(name, counted['number'])


_IN_BRACES = pattern(r'\{(?=[^{}]{0,64}[^A-Za-z_{}])[^{}]{4,128}\}')


def _is_in_braces(value: str) -> bool:
    """Return whether a value is quoted as in a connection string of ODBC, not a placeholder."""
    return _IN_BRACES.fullmatch(value) is not None


def _document(text: str, opening: Match[str]) -> Span:
    """Return the lines of a here-document."""
    # A mark is a word, so it needs no escape.
    end = search(rf'\n[ \t]*+{opening["mark"]}\b', text[opening.end() - 1 :])
    if end is None:
        return Span(opening.end(), len(text))
    return Span(opening.end(), max(opening.end(), opening.end() - 1 + end.start()))


_DEFAULT = pattern(r':?[-=+]')


def _is_fixed_placeholder(value: str) -> bool:
    # The default in `${DB_PASSWORD:-hunter2}` can be a secret.
    return value[:1] in {'$', '{'} and is_placeholder(value) and not _DEFAULT.search(value)


def _is_constant(text: str, match: Match[str], span: Span) -> bool:
    """Return whether a number is the one of a member or field, as in `string password = 2;`."""
    name = split_words(match['name'])
    return (
        span.end - span.start <= _MAX_MEMBER
        and text[match.start('sign') - 1] == ' '
        and text[match.end('sign') : match.end()] == ' '
        and name[-1] not in _SHORT_CODES
        and (text[span.end : span.end + 1] in {';', ','} or not is_sensitive(name[-1]))
    )


_MAX_MEMBER = 3
"""In digits."""
_SHORT_CODES = frozenset(('pin', 'cvv', 'cvc', 'otp', 'totp', 'code'))


def _is_reference(text: str, match: Match[str], sentences: _Sentences) -> bool:
    """Return whether the value without quotes is code, or a sentence about the name."""
    at, name = match.end(), match['name'].rpartition('.')[2]
    end = at + len(name)
    if _ANGLED.match(text, at) or (
        text.startswith(name, at)
        and (
            text[end : end + 1] in (',', ')', '}')
            or (text[at - 2 : at] == '= ' and '.' in match['name'])
        )
    ):
        # `connect(password=password)` and `self.token = token`.
        return True
    if (match['sign'] in _EXTENSIONS and _VARIABLE.match(text, at)) or (
        # `resetPassword(token: $token)`
        text.startswith(f'${name}', at) and text[end + 1 : end + 2] in {',', ')', '', ' ', ';', '}'}
    ):
        return True
    if is_code(text, at) or _is_variable(text, match) or _is_type(text, match):
        return True
    if match['sign'] == ':' and _is_subject(text, at, name):
        return True
    if match['sign'] not in (':', '：'):
        return False
    line = text[at : line_end(text, at, limit=at + _SENTENCE)]
    is_prose = 'phrase' not in name.lower()
    # The same line follows each name in repeated records.
    key = (line, is_prose)
    if key not in sentences:
        if len(sentences) >= _MAX_SENTENCES:
            sentences.clear()
        sentences[key] = is_message(line, prose=is_prose) or (is_prose and is_sentence(line))
    return sentences[key]


_MAX_SENTENCES = 256
"""Number of lines whose answers one search keeps."""


def _is_subject(text: str, at: int, name: str) -> bool:
    """Return whether the text after a name and a colon is prose about it."""
    return (
        (name in _SUBJECTS and _SUBJECT.match(text, at) is not None)
        or (_TITLE.match(text, at) is not None and _EXCEPTION.fullmatch(name) is not None)
        or (name == 'Token' and _ANALYSIS.match(text, at) is not None)
    )


_EXTENSIONS = frozenset(('+=', '.=', '||=', '??=', '|='))
_SUBJECTS = frozenset(('auth', 'token', 'tokens', 'cookie', 'cookies', 'jwt', 'otp', 'credentials'))
_ANGLED = pattern(r'<[A-Za-z](?![^<>\n]{0,20}>[^<>\n]{0,80}</)[^<>\n]{0,80}>(?=[\s,;&)]|\Z)')
"""Placeholder of several words, such as `<change me>`."""
_EXCEPTION = pattern(
    r'(?:Unexpected|Invalid|Expired|Missing|Unknown|Bad|Illegal|Wrong)[A-Z][A-Za-z]{1,40}'
    r'|(?:[A-Z][a-z]{1,20}){4,8}'
)
_TITLE = pattern(r"[A-Z]['a-z]{0,20}(?:[ ][A-Za-z][A-Za-z'()]{0,30}(?![\w-])){2}")
"""Sentence after the class of an exception, such as `UnexpectedToken: …`."""
_ANALYSIS = pattern(r'[A-Za-z]{1,30}(?:[ ][A-Z][A-Za-z]{1,12}:[ ]\w{1,20}){1,8}')
_SUBJECT = pattern(r'[a-z]{2,20}(?:[ ][a-z-]{1,20}){2,12}[.!?]?[ \t]*(?:\n|\Z)')
"""Rest of a line such as `auth: fix the refresh of tokens`."""
_MEMBER = pattern(r'[A-Za-z_$][\w$]*+(?:\??\.[A-Za-z_$][\w$]*+)++(?=[\s,;)\]}!]|\Z)')
_VARIABLE = pattern(r'[a-z_][A-Za-z_]{0,60}+(?=(?P<end>[,);])|\s|\Z)')
_TYPE = pattern(
    r"[&*]?(?:mut[ ])?(?:'\w{1,8}[ ])?[A-Z][A-Za-z]{1,60}(?:<[^<>\n]{0,60}>)?[?!]?[ ]?"
    r'(?:[,);={}]|$)'
)
_DECLARATION = pattern(
    r'\b(?:def|fn|func|fun|function|constructor|class|interface|struct|private|public|protected'
    r'|internal|readonly|let|var|val|const|static|final|override|export)[ ]'
)
_BEFORE = 200
"""In characters; the part of a line before a name that is searched."""


def _line_before(text: str, match: Match[str]) -> str:
    start = match.start()
    return text[max(0, start - _BEFORE) : start].rpartition('\n')[2]


def _is_variable(text: str, match: Match[str]) -> bool:
    """Return whether the value is a member such as `var.db_password`, or a variable in code."""
    if member := _MEMBER.match(text, match.end()):
        return any(map(is_sensitive, member[0].split('.')))
    variable = _VARIABLE.match(text, match.end())
    if variable is None or len(split_words(variable[0])) == 1 or not is_sensitive(variable[0]):
        return False
    before = _line_before(text, match)
    return (
        '.' in match['name'].strip('.')
        or _DECLARATION.search(before) is not None
        or (variable['end'] in {',', ')'} and '(' in before)
    )


def _is_type(text: str, match: Match[str]) -> bool:
    """Return whether the value is the type in a declaration, such as `secret: ConfigService`."""
    return (
        match['sign'] == ':'
        and _TYPE.match(text, match.end()) is not None
        and _DECLARATION.search(_line_before(text, match)) is not None
    )


_OPENED = pattern(r'(?<!\w)["\'`]')


def _closes_prompt(text: str, match: Match[str]) -> bool:
    """Return whether a quote after the name closes a prompt, as in `read -p 'Password: '`."""
    quote = text[match.end()]
    before = _line_before(text, match)
    opened = _OPENED.search(before)
    return (
        match['close'] is None
        and opened is not None
        and opened[0] == quote
        and before.count(quote) == 1
        and text[match.end() + 1 : match.end() + 2] in {'', ' ', ')', ',', '\n', ';'}
    )


_SENTENCE = 200
"""In characters; a longer text after a name is not searched for a sentence."""
_NUMBER = pattern(r'[\d.]++')
_CALLED = pattern(r'(?:\$?[A-Za-z_](?:[\w.!?]|::|->){0,40}[(\[])\\*+["\'`]')


def _is_argument_of_call(text: str, at: int, span: Span) -> bool:
    """Return whether a quoted value is a name or a prompt, as in `getenv('TOKEN')`."""
    if not _CALLED.match(text, at):
        return False
    value = text[span.start : span.end]
    return (
        is_reference(value)
        or value.rstrip().endswith((':', '?'))
        or (value.isupper() and value.replace('_', '').isalnum())
        or is_sensitive(value)
    )


def _whole_header(text: str, match: Match[str], span: Span) -> Span:
    """Extend the span to the end of a header whose value continues after a quote or bracket."""
    at = match.end()
    if (
        match['sign'] != ':'
        or match['close']
        or text[at : at + 1] not in _OPENINGS
        or _WHOLE_LINE.isdisjoint(split_words(match['name']))
    ):
        return span
    limit = _enclosing_end(text, match)
    limit = line_end(text, at) if limit is None else limit
    return Span(at, limit) if _CONTINUES.match(text, span.end, limit) else span


def quoted_value(text: str, at: int) -> Span | None:
    """Return the inside of the quoted value at an index, or None."""
    opening = _OPENING.match(text, at)
    if opening is None:
        return None
    quote = opening[1] + opening[2]
    end = closing_quote(text, opening.end(), opening[2], len(opening[1]))
    while end is not None and end > opening.end() and text.startswith(quote * 2, end):
        # In SQL, YAML and connection strings, a doubled quote is part of the value.
        end = closing_quote(text, end + 2 * len(quote), opening[2], len(opening[1]))
    return Span(opening.end(), len(text) if end is None else end)


def _unquoted(text: str, match: Match[str]) -> Span:
    at, close = match.end(), match['close'] or ''
    in_brackets = text[at : at + 1] in ('{', '[', '(')
    if in_brackets or close:
        stop = word_end(text, container_end(text, at) if in_brackets else at)
        if in_brackets and (
            _CONTAINER_OF_CODE.fullmatch(text, at, stop) or _is_list_of_messages(text[at:stop])
        ):
            return Span(stop, stop, masked=0)
        # If the name is quoted, quote the mask too, so that JSON stays valid.
        return Span(at, _skip_quotes(text, stop, close), f'{close}{MASK}{close}')
    indent = _indent(text, match)
    if indent is not None and match['sign'] == ':' and (end := block_end(text, at, indent)):
        block = text[match.end('sign') : end]
        if _is_harmless_block(block):
            return Span(end, end, masked=0)
        return Span(match.end('sign'), end, f' {MASK}')
    parts = split_words(match['name'])
    if 'authorization' in parts and (scheme := _SCHEME_AND_VALUE.match(text, at)):
        return Span(scheme.end('scheme'), scheme.end())
    return Span(at, _bare_end(text, match, parts, at_line_start=indent is not None))


def _is_list_of_messages(container: str) -> bool:
    """Return whether a container consists of messages about its field."""
    if not _LIST_OF_TEXTS.fullmatch(container):
        return False
    texts = _TEXT.findall(container)
    return bool(texts) and all(map(is_message, texts))


_LIST_OF_TEXTS = pattern(
    r"""[\[(](?:\s{0,8}(?:'[^'\n\\]{1,200}+'|"[^"\n\\]{1,200}+")\s{0,8},?){1,20}[\])]"""
)
_TEXT = pattern(r"""(?<=['"])[^'",\[\]()]{2,200}(?=['"])""")
_CONTAINER_OF_CODE = pattern(
    r"""(?: [\s{}\[\](),]++ | \\*+''(?!') | \\*+""(?!") | \w++[ ]?:(?=[ ])
      | [A-Za-z_$][\w$]*+ (?: \??\.[A-Za-z_$][\w$]*+ )++ | (?<=\()\d{1,3}(?=\))
      | (?:true|false|null|None)\b )*+""",
    VERBOSE,
)
"""Container without literals, such as `{secret: process.env.SECRET}`."""
_IDENTIFIER = pattern(r'[a-z][a-z0-9]{0,30}(?:[_-][a-z0-9]{1,30}){0,6}|[A-Z0-9]+(?:_[A-Z0-9]+)*')


def _is_harmless_block(block: str) -> bool:
    """Return whether an indented block has no secret: a schema, or references to secrets."""
    described: int | None = None
    for line in block.split('\n'):
        parts = _BLOCK_LINE.fullmatch(line.rstrip())
        if parts is None or not line.strip():
            continue
        name, value, indent = parts['name'] or '', parts['value'].strip('"\''), len(parts['indent'])
        if described is not None and indent <= described:
            described = None
        is_described = is_metadata(name) or (described is not None and not is_sensitive(name))
        if not value and described is None and is_metadata(name):
            described = indent
        is_kept = (
            is_described
            or is_harmless(value, name)
            or (not name and _IDENTIFIER.fullmatch(value) and is_sensitive(value))
            or (value.isdecimal() and is_measure(name))
        )
        if not is_kept or parts['value'][:1] in {'|', '>'}:
            return False
    return True


def _skip_quotes(text: str, at: int, quote: str) -> int:
    while quote and text.startswith(quote, at):
        at += len(quote)
    return at


def _indent(text: str, match: Match[str]) -> str | None:
    if match['escape']:
        return '' if match['escape'][-1] in 'nr' else None
    line = _LINE_START.search(text[max(0, match.start() - 64) : match.start()])
    return line[1] if line else None


def _bare_end(text: str, match: Match[str], parts: list[str], *, at_line_start: bool) -> int:
    at, sign = match.end(), match['sign']
    limit = _enclosing_end(text, match)
    if sign == ':' and limit is not None:
        return limit
    space_after = at > match.end('sign')
    if sign == ':' and ((at_line_start and space_after) or not _WHOLE_LINE.isdisjoint(parts)):
        return line_end(text, at)
    space_before = text[match.start('sign') - 1].isspace()
    if (
        sign != ':'
        and space_after
        and not space_before
        and (following := _NAME.match(text, at))
        and following['sign'] == '='
    ):
        # `API_KEY= HOME=/root`: the value is empty.
        return at
    if at_line_start and space_before and space_after:
        return line_end(text, at)
    return word_end(text, at, limit=limit)


def _enclosing_end(text: str, match: Match[str]) -> int | None:
    start = match.start()
    opening = (
        _OPEN_QUOTE.search(text[max(0, start - 64) : start])
        if text[start - 1 : start] in _QUOTES
        else None
    )
    return closing_quote(text, match.end(), opening[2], len(opening[1])) if opening else None
