"""Rules for secrets with a known form, as data: name, keywords, pattern, example, source."""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from re import IGNORECASE, MULTILINE, VERBOSE, Match, Pattern
from re import compile as pattern
from typing import NamedTuple

from seamwise.redaction.harmless import is_message, is_placeholder, is_reference
from seamwise.redaction.sensitive_names import is_credential, is_sensitive
from seamwise.redaction.spans import Span

# Every pattern here is linear: repetitions are possessive or bounded, and failed runs are not tried
# again.


class Rule(NamedTuple):
    """Form of a secret: the engine masks the group `secret` of each match, or the match."""

    name: str
    keywords: tuple[str, ...]
    """Lower-case texts of which one must occur."""
    pattern: str
    example: str
    """Text with a fake secret between `⟦` and `⟧`."""
    source: str
    accept: Callable[[str, Match[str]], bool] | None = None
    """Condition for a match; its first argument is the secret."""
    flags: int = VERBOSE
    find: Callable[[str], Iterator[Span]] | None = None
    """Search that needs more than a pattern."""


@lru_cache(maxsize=512)
def compiled(source: str, flags: int = 0) -> Pattern[str]:
    """Compile a pattern at its first use: most texts need few of them."""
    return pattern(source, flags)


_MANY = 20_000
"""In characters; in a longer text, a rule searches only around its keywords."""
_BEFORE, _AFTER = 700, 2_500
"""In characters: the part of a text around a keyword in which a secret can be."""


def around(
    keywords: Iterable[str],
    text: str,
    lowered: str,
    *,
    before: int = _BEFORE,
    after: int = _AFTER,
) -> list[tuple[int, int]]:
    """Return the parts of a text around its keywords, each up to the end of a line that is near."""
    whole = [(0, len(text))]
    # Some letters become two in lower case.
    if len(text) < _MANY or len(lowered) != len(text):
        return whole
    hits: list[int] = []
    step = after // 5
    for keyword in keywords:
        at = lowered.find(keyword)
        while at >= 0:
            hits.append(at)
            if len(hits) * after > len(text):
                return whole
            at = lowered.find(keyword, at + step)
    parts: list[tuple[int, int]] = []
    for hit in sorted(hits):
        start, nearest = max(0, hit - before), hit + step + after
        end = text.find('\n', nearest, nearest + after)
        end = min(nearest + after, len(text)) if end < 0 else end
        if parts and start <= parts[-1][1]:
            start, end = parts[-1][0], max(end, parts.pop()[1])
        parts.append((start, end))
    return parts


def spans_of(rule: Rule, text: str, lowered: str = '') -> Iterator[Span]:
    """Yield the secrets of a rule in a text, whose form in lower case speeds the search up."""
    if rule.find:
        yield from rule.find(text)
        return
    for start, end in around(rule.keywords, text, lowered):
        yield from _spans_in(rule, text, start, end)


def search_part(expression: Pattern[str], text: str, start: int, stop: int) -> 'Match[str] | None':
    """Search a part of a text; the match may be longer than the part."""
    match = expression.search(text, start, stop)
    if match and match.end() == stop < len(text):
        return expression.match(text, match.start()) or match
    return match


def _spans_in(rule: Rule, text: str, at: int, stop: int) -> Iterator[Span]:
    expression = compiled(rule.pattern, rule.flags)
    groups = _GROUPS.intersection(expression.groupindex)
    while match := search_part(expression, text, at, stop):
        group = next((name for name in groups if match[name] is not None), 0)
        start, end = match.span(group)
        # A secret can begin with the keyword of another: `requirepass requirepass x`.
        at = start if match.start() < start else max(end, match.end(), at + 1)
        if (
            start < end
            and not is_placeholder(match[group].rstrip(',;'))
            and (rule.accept is None or rule.accept(match[group], match))
        ):
            yield Span(start, end)


_GROUPS = frozenset(('secret', 'in_single', 'in_double'))
"""Names of groups for a secret: without quotes, or in quotes."""

BOUNDARY = r'(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))'
"""Start of a key: no letter or digit before it, except an escape."""

START = r'(?:\b|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))'
"""Start of a word; an escape may precede it."""

_LONG = 12
"""In characters; a shorter run can be a word."""

# PEM (RFC 7468), also without its end or its beginning.
_PEM_BEGIN = pattern(r'-{4,5} ?BEGIN ([A-Za-z0-9 ]{1,40}?)-{4,5}')
_PEM_END = pattern(r'-{4,5} ?END ([A-Za-z0-9 ]{1,40}?)-{4,5}')
_PUBLIC = pattern('PUBLIC|CERT|CRL|SIGN|PARAM|MESSAGE|REQUEST|[A-Z][a-z]+ (?:of|for)')
_QUOTE = pattern(r'(?<!\\)\\*+["\'`]')
_LINE_BREAK = pattern(r'[\r\n]|(?<!\\)\\++[rn]')
_BASE64_LINE = pattern(r'[ \t"\']*+[A-Za-z0-9+/=]*+[ \t"\',]*+')


def _pem(text: str) -> Iterator[Span]:
    at, may_end = 0, True
    while begin := _PEM_BEGIN.search(text, at):
        end = _PEM_END.search(text, begin.end()) if may_end else None
        may_end = end is not None
        at = end.end() if end else _end_of_truncated(text, begin.end())
        if text[begin.end() : at].strip() and not _PUBLIC.search(begin[1]):
            yield Span(begin.start(), at)


def _end_of_truncated(text: str, at: int) -> int:
    quote = _QUOTE.search(text, at)
    return quote.start() if quote else len(text)


def _pem_tail(text: str) -> Iterator[Span]:
    at = 0
    for end in _PEM_END.finditer(text):
        start = _base64_lines_before(text, at, end.start())
        at = end.end()
        if len(text[start : end.start()].strip()) >= _LONG and not _PUBLIC.search(end[1]):
            yield Span(start, at)


def _base64_lines_before(text: str, at: int, stop: int) -> int:
    first_line = stop
    for line_break in reversed([None, *_LINE_BREAK.finditer(text, at, stop)]):
        start = line_break.end() if line_break else at
        if not _BASE64_LINE.fullmatch(text, start, stop):
            break
        first_line, stop = start, line_break.start() if line_break else at
    return first_line


# JSON web tokens (RFC 7519, RFC 7516): `{"` in base64, and a dot. A run without a dot is consumed.
_WEB_TOKEN = pattern(r'eyJ[A-Za-z0-9_-]*+(?:\.[A-Za-z0-9_-]*+)*+')


def _web_tokens(text: str) -> Iterator[Span]:
    for match in _WEB_TOKEN.finditer(text):
        token = match[0].rstrip('.')
        if '.' in token:
            yield Span(match.start(), match.start() + len(token))


# Bearer (RFC 6750) and Basic (RFC 7617) values, distinguished from sentences with these words.
_SCHEME = pattern(
    rf"""
    (?: {BOUNDARY} )
    (bearer|basic) (?: \s | %20 | \+ )++ ["']?+
    (?! (?:realm|scope|charset|error|authorization_uri|resource_metadata)\w*+= )
    """,
    VERBOSE | IGNORECASE,
)
_BEARER_VALUE = pattern(r'[\w.~+/|:%$-]++=*+')
_BASIC_VALUE = pattern(r'[A-Za-z0-9+/_-]++={0,2}+')
_SENTENCE_WORD = pattern(
    r"(?:[A-Za-z]?[a-z]{0,19}(?:[-'/.][a-z]{1,19}){0,4}|[A-Z]{1,7})[.,:/%$|-]*"
)


def _schemes(text: str) -> Iterator[Span]:
    at = 0
    while scheme := _SCHEME.search(text, at):
        at = scheme.end()
        basic = scheme[1].lower() == 'basic'
        value = (_BASIC_VALUE if basic else _BEARER_VALUE).match(text, at)
        if not value or is_placeholder(value[0]):
            continue
        if _is_basic(value[0]) if basic else not _SENTENCE_WORD.fullmatch(value[0]):
            at = value.end()
            yield Span(*value.span())


def _is_basic(value: str) -> bool:
    from binascii import a2b_base64  # noqa: PLC0415 -- few texts contain "Basic"

    digits = value.rstrip('=').translate({ord('-'): '+', ord('_'): '/'})
    # A truncated value can end in a digit without a complete byte.
    digits = digits[:-1] if len(digits) % 4 == 1 else digits
    try:
        decoded = a2b_base64(digits + '==').decode()
    except ValueError:
        decoded = ''
    if ':' in decoded and decoded.isprintable():
        return True
    return len(value) >= _LONG and not _SENTENCE_WORD.fullmatch(value)


_PLAIN_USER = pattern(r'[a-z][a-z._-]{0,19}|<[^<>]*>')


def _is_userinfo(secret: str, _: Match[str]) -> bool:
    """Return whether userinfo has a password, or a user that can be a token."""
    user, colon, password = secret.partition(':')
    if colon:
        return bool(password) and not is_placeholder(password)
    return not (is_placeholder(user) or _PLAIN_USER.fullmatch(user))


_WORDS_FOR_PASSWORD = frozenset(('password', 'passwd', 'pass', 'pwd', 'pw', 'token', 'secret'))
_WORD_FOR_USER = pattern(r'(?<![A-Za-z])(?:user(?:name)?|login|name|email)\Z', IGNORECASE)


def _is_password_of_user(secret: str, match: Match[str]) -> bool:
    """Return whether `-u ann:x` has a password; `docker run -u root:root` has a group."""
    user = match[0][: match.start(match.lastgroup or 0) - match.start() - 1]
    command = match.string[max(0, match.start() - 200) : match.start()]
    if secret.lower() in _WORDS_FOR_PASSWORD and _WORD_FOR_USER.search(user):
        return False
    return not user.endswith(f' {secret}') or 'curl' in command


def _is_password_flag(_: str, match: Match[str]) -> bool:
    # `mysql -p shop` prompts for the password.
    return not match[0].startswith('m') or ' -p ' not in match[0]


def _is_key(secret: str, _: Match[str]) -> bool:
    # A long name in kebab form, such as `sk-learn-contrib-forest`, is no key.
    return not secret.startswith('sk-') or not secret.islower() or has_digit(secret, _)


def has_digit(secret: str, _: Match[str]) -> bool:
    """Return whether a secret has a digit, as most keys do."""
    return any(map(str.isdigit, secret))


PLAIN_WORDS = pattern(r'[A-Za-z]{1,40}(?:[-_./:][A-Za-z]{1,40}){0,10}')


_VARIABLE = pattern(r'\$[a-z]{1,20}(?:_[a-z]{1,20}){0,6};?')
_STATUS_LINE = pattern(r'(?:HTTP/\d|\d{3}\Z)')
_PARSER_TROUBLE = pattern(
    r'(?:unexpected|unrecogni[sz]ed|undefined|illegal|unknown|stray|offending|or|near|at|on)[ ]\Z',
    IGNORECASE,
)


def _is_stated(secret: str, match: Match[str]) -> bool:
    """Return whether a sentence states a value, not a property of it."""
    name = (match['name'] or 'password').lower()
    before = match.string[max(0, match.start() - 16) : match.start()]
    if _STATUS_LINE.match(secret) or _VARIABLE.fullmatch(secret):
        # The status after an address, as in the log of an HTTP client, or a variable.
        return False
    if name == 'token' and _PARSER_TROUBLE.search(before) and not is_credential(secret):
        return False
    if PLAIN_WORDS.fullmatch(secret.lstrip('*&[]')) and not (
        match['quote'] and name.startswith('pass')
    ):
        return False
    if secret.isdecimal() and not match['verb'] and not name.startswith('pass'):
        return False
    return not (is_reference(secret) or is_message(f'the {secret}', prose=True))


def _is_set(secret: str, match: Match[str]) -> bool:
    return secret[0] != '(' and is_sensitive(match['name'])


def _is_login_value(secret: str, _: Match[str]) -> bool:
    """Return whether a word after a command is a value: `PASS src/app.test.js` is a test."""
    return '/' not in secret and secret[0] != '[' and not PLAIN_WORDS.fullmatch(secret)


_SOURCE_FILE = pattern(r'\A[^:]+\.(?:[ch]|cc|cpp|cs|go|java|js|log|php|py|rb|rs|ts)x?:')


def _is_authentication(secret: str, match: Match[str]) -> bool:
    return match['in_single'] is None or _is_login_value(secret, match)


def _is_in_pgpass(_: str, match: Match[str]) -> bool:
    # A compiler writes `main.c:5123:note:…`.
    return not match['database'].isdecimal() and not _SOURCE_FILE.search(match[0])


_WORD = r'[^\s"\'`\\]'
_QUOTED_OR_WORD = r"""
(?: '(?P<in_single>[^'\n]{1,256})' | "(?P<in_double>[^"\n]{1,256})"
  | (?P<secret>[^\s"'`\\]{1,256}) )
"""

RULES: tuple[Rule, ...] = (
    Rule(
        'pem',
        ('begin ',),
        '',
        '⟦-----BEGIN PRIVATE KEY-----\nRkFLRUZBS0VGQUtF\n-----END PRIVATE KEY-----⟧',
        'RFC 7468',
        find=_pem,
    ),
    Rule(
        'pem without beginning',
        ('-end ',),
        '',
        'a log:\n⟦RkFLRUZBS0VGQUtF\n-----END PRIVATE KEY-----⟧',
        'RFC 7468',
        find=_pem_tail,
    ),
    Rule(
        'putty key',
        ('private-lines',),
        r'Private-Lines:[ ]\d{1,4}(?:\r?\n|(?:\\r)?\\n)'
        r'(?P<secret>[A-Za-z0-9+/=]{1,80}+'
        r'(?:(?:\r?\n|(?:\\r)?\\n)[A-Za-z0-9+/=]{1,80}+(?![\w: -])){0,512}+)',
        'Private-Lines: 1\n⟦RkFLRUZBS0VGQUtF⟧',
        'the PPK format of PuTTY',
    ),
    Rule(
        'json web token',
        ('eyj',),
        '',
        '⟦eyJhbGciOiJub25lIn0.eyJzdWIiOiJGQUtFIn0.RkFLRQ⟧',
        'RFC 7519',
        find=_web_tokens,
    ),
    Rule(
        'bearer',
        ('bearer',),
        '',
        'Bearer ⟦FAKE1FAKE2⟧',
        'RFC 6750',
        find=_schemes,
    ),
    Rule('basic', ('basic',), '', 'Basic ⟦RkFLRTpGQUtF⟧', 'RFC 7617', find=_schemes),
    Rule(
        'userinfo',
        ('@',),
        r"""
        :(?:\\*+/){2} (?P<secret> (?: [^\s/?\#"'<>`\\@]++ | <[^<>\s]{1,40}> | \\++(?!["'`/]) )*+
        (?: @ (?: [^\s/?\#"'<>`\\@]++ | \\++(?!["'`/]) )*+ (?=@) )*+ ) @
        """,
        'https://⟦ann:FAKE⟧@example.org/',
        'RFC 3986, 3.2.1',
        accept=_is_userinfo,
    ),
    Rule(
        'userinfo with slashes',
        ('@',),
        r"""
        :(?:\\*+/){2} (?P<secret> [^\s:@/?\#"'<>`\\\[\]]*+ :
        (?! \d*+ (?: [/?\#\s"'<>`\\,;)\]] | \Z ) )
        (?: [^\s"'<>`\\@:]++ | :(?!\\*+/) | \\++(?!["'`]) )*+
        (?: @ (?: [^\s"'<>`\\@:]++ | :(?!\\*+/) | \\++(?!["'`]) )*+ (?=@) )*+ ) @
        """,
        'https://⟦ann:FA/KE⟧@example.org/',
        'RFC 3986, 3.2.1, with a password that is not escaped',
        accept=_is_userinfo,
    ),
    Rule(
        'user flag',
        ('-u', '-a ', 'curl -'),
        r"""
        (?: (?<![\w-]) (?: -u | -a | --user | --proxy-user ) | (?<=curl[ ])-[A-Za-z]{1,6}u )
        (?: [ \t=]++ | (?=\\*+["']) | \\*+["'],\s*+ | "[ ]a\d{1,3}= )
        (?! \\*+["']?+ (?: \+ | \d++:\d ) )
        (?: \\*+" [^\s:"\\<>=&;(]++ : (?P<in_single>[^"\n\\]++)
          | \\*+' [^\s:'\\<>=&;(]++ : (?P<in_double>[^'\n\\]++)
          | [^\s:"'\\<>=&;(-] [^\s:"'\\<>=&;(]*+ : (?!//) (?P<secret>[^\s"']++) )
        """,
        'curl -u ann:⟦FAKE⟧ https://example.org',
        'the manuals of curl and HTTPie',
        accept=_is_password_of_user,
    ),
    Rule(
        'password flag',
        ('mysql', 'mariadb', 'login', 'sshpass'),
        rf'{START}(?:(?:mysql|mariadb)\w*|(?:docker|podman|helm[ ]registry|az)[ ]login|sshpass)\b'
        rf'[^\n|;&]{{0,200}}?[ ]-p[ ]?{_QUOTED_OR_WORD}',
        'mysql -u root -p⟦FAKE1⟧ shop',
        'the manuals of mysql, docker and sshpass',
        accept=_is_password_flag,
    ),
    Rule(
        'password in a list of arguments',
        ('mysql', 'mariadb'),
        r"""
        ["'](?:[\w./-]{0,80}/)?(?:mysql|mariadb)\w{0,20}["']
        (?: ,[ ]?["'][^"'\n]{0,200}["'] ){0,20}?
        ,[ ]?["']-p(?P<secret>[^"'\n]{1,256})["']
        """,
        "['mysql', '-p⟦FAKE1⟧']",
        'the manual of mysql',
    ),
    Rule(
        'key as the user of curl',
        ('curl',),
        rf"""
        {START}curl\b [^\n|;]{{0,300}}? (?:[ ]|["'],[ ]?["'])
        (?:-u|--user|-U|--proxy-user) (?:[ =]|["'],[ ]?)? ["']?
        (?: :(?P<in_single>[^\s"'\\]{{1,256}})
          | (?P<in_double>[^\s"':\\$-][^\s"':\\]{{5,256}}):(?=[\s"']|\Z) )
        """,
        'curl -u ":⟦FAKE1⟧" https://example.org',
        'the manual of curl',
    ),
    Rule(
        'cookie of curl',
        ('curl',),
        rf"""
        {START}curl\b [^\n|;]{{0,300}}? (?:[ ]|["'],[ ]?["']) (?:-b|--cookie) (?:[ =]|["'],[ ]?)?
        (?: "(?P<in_double>[\w.-]{{1,64}}=[^"\n]{{1,1024}})"
          | '(?P<in_single>[\w.-]{{1,64}}=[^'\n]{{1,1024}})'
          | (?P<secret>[\w.-]{{1,64}}=[^\s"'\\]{{1,1024}}) )
        """,
        'curl -b "⟦sid=FAKE1⟧" https://example.org',
        'the manual of curl',
    ),
    Rule(
        'authentication flag',
        ('redis-cli', 'ldap', 'ipmitool'),
        rf'{START}(?:redis-cli\b[^\n|;&]{{0,200}}?[ ]-a|ldap\w+\b[^\n|;&]{{0,200}}?[ ]-w'
        rf'|ipmitool\b[^\n|;&]{{0,200}}?[ ]-P)[ ]'
        rf'{_QUOTED_OR_WORD}',
        'redis-cli -a ⟦FAKE1⟧ ping',
        'the manuals of redis-cli, ldapsearch and ipmitool',
    ),
    Rule(
        'net use',
        ('net use', 'net user'),
        rf'{START}net[ ](?:use[ ][^\n]{{0,80}}?\\\\[^\s]{{1,128}}'
        r'(?:[ ]/user:[^\s]{1,128})?|user[ ][\w.-]{1,64})[ ]'
        r'(?P<secret>(?!/)[^\s/\\][^\s\\]{0,127})',
        'net use Z: \\\\srv\\share ⟦FAKE1⟧ /user:ann',
        'the manual of net use',
        flags=VERBOSE | IGNORECASE,
    ),
    Rule(
        'piped password',
        ('-stdin', 'sudo -s', 'cryptsetup', 'passphrase-fd', 'kinit'),
        rf'{START}(?:echo|printf)[ ](?:-n[ ])?["\']?(?P<secret>(?!\$)[^\s"\'|]{{1,256}})["\']?'
        r'[ ]{0,4}\|[^\n|]{0,128}(?:-stdin|sudo[ ]-S|cryptsetup|passphrase-fd|kinit)',
        'echo ⟦FAKE1⟧ | docker login --password-stdin',
        'the manual of docker',
    ),
    Rule(
        'netrc',
        ('machine',),
        rf'{START}machine\s++\S++\s++login\s++\S++\s++password\s++(?P<secret>{_WORD}++)',
        'machine example.org login ann password ⟦FAKE⟧',
        'the manual of netrc',
    ),
    Rule(
        'directive',
        ('requirepass', 'masterauth', 'bindpw', 'rootpw', 'env '),
        rf'(?:{START}(?:requirepass|masterauth|bindpw|rootpw)'
        r'|^ENV[ ]\w*(?:TOKEN|SECRET|PASSWORD|PASS|KEY))[ ]'
        r'["\']?(?P<secret>[^\s"\'=\\]{1,256})',
        'requirepass ⟦FAKE1⟧',
        'redis.conf, and the Dockerfile reference',
        flags=VERBOSE | MULTILINE,
    ),
    Rule(
        'configure set',
        ('configure set', 'config set'),
        rf'{START}config(?:ure)?[ ]set[ ][\w./:-]{{0,60}}(?:key|token|secret|password)[ ]["\']?'
        r'(?P<secret>[^\s"\'\\]{1,256})',
        'aws configure set aws_secret_access_key ⟦FAKE1⟧',
        'the manuals of aws, npm and gcloud',
        flags=VERBOSE | IGNORECASE,
    ),
    Rule(
        'sql password',
        ('password', 'identified'),
        r"""
        \b (?: IDENTIFIED (?: [ ]WITH[ ]\w{1,40} )? [ ] (?:BY|AS) [ ] (?: PASSWORD[ ] )?
             | PASSWORD \s{0,2} = \s{0,2} PASSWORD \( | (?<![=,(] )PASSWORD \(
             | (?: WITH | ENCRYPTED | LOGIN | ROLE[ ]\w{1,60} | USER[ ]\w{1,60} ) [ ] PASSWORD [ ] )
        (?: '(?P<in_single>(?:[^'\n]|''){1,256})' | "(?P<in_double>[^"\n]{1,256})"
          | (?P<secret>(?<=BY[ ])[^\s"'`;()]{1,256}) )
        """,
        "ALTER USER ann WITH PASSWORD '⟦FAKE⟧'",
        'the manuals of PostgreSQL, MySQL and Oracle',
        flags=VERBOSE | IGNORECASE,
    ),
    Rule(
        'oracle url',
        ('jdbc:oracle',),
        r'jdbc:oracle:\w{1,10}:[\w.$-]{1,64}/(?P<secret>[^\s@"\']{1,128})@',
        'jdbc:oracle:thin:scott/⟦FAKE⟧@//db:1521/orcl',
        'the manual of the JDBC driver of Oracle',
    ),
    Rule(
        'stated value',
        (
            *(
                'password',
                'passcode',
                'passphrase',
                'pin ',
                'otp',
                'code',
                'secret',
                'token',
                'key',
            ),
            *('密码', '口令'),
            *('passwort', 'kennwort', 'mot de passe', 'contrase', 'senha', 'wachtwoord', 'hasło'),
            *('lösenord', 'contrasena'),
        ),
        r"""
        (?: (?:\b|(?<=\\[nrt])) (?P<name> password | passcode | passphrase | passwort | pin | otp
            | kennwort | mot[ ]de[ ]passe | contraseña | contrasena | senha | wachtwoord | hasło
            | lösenord | secret | token | (?: api | secret | access | private )[ ]?key
            | (?: verification | security | login | access | one-time ) [ ] code )
        (?: [ ] for[ ][\w.@-]{1,40} (?![ ](?:from|in|to|by|at|on)[ ])
          | [ ] (?: for|of|du|de|del|da|do|für|der|des|van|voor|till|dla )
            (?: [ ] [\w.@'’-]{1,40} ){1,4}?
            (?=[ ](?:is|was|ist|lautet|est|es|é|è|är|to)[ :]) )?
        (?: (?P<verb> [ ] (?: is | was | ist | lautet | est | es | é | è | är | to
                | (?: (?:is|was)[ ] )?
                (?: now | (?:set|changed|reset)[ ]to ) ) )
                [ ]? :? [ ]
            | [ ] for [ ] [\w.@-]{1,40} : [ ]
            | [ ] (?=['"`]) | [ ] (?=[A-Za-z0-9+/_!@\#$%^&*.-]{6,256}(?:[\s,;]|\Z)) )
        | (?: 密码 | 口令 | 验证码 ) (?: 是 | 为 | [：:] ) [ ]? )
        (?P<quote>["'“‘`]?) (?P<secret> [^\s"'“”‘’`，。\\]{4,256} ) (?<![.,;:!?)]) ["'”’]?
        """,
        'your password is ⟦FAKE-1⟧.',
        'messages of people and programs',
        accept=_is_stated,
        flags=VERBOSE | IGNORECASE,
    ),
    Rule(
        'variable of a shell',
        ('set -', 'setenv ', 'setx '),
        rf'{START}(?:set[ ]-[a-zA-Z]{{1,4}}|setenv|setx)[ ](?P<name>\w{{1,64}})[ ]'
        rf'{_QUOTED_OR_WORD}',
        'set -gx API_TOKEN ⟦FAKE1⟧',
        'the manuals of fish, csh and Windows',
        accept=_is_set,
    ),
    Rule(
        'pgpass',
        (':5', ':6', ':*:'),
        r'(?:(?<![\w.:/*\\-])|(?<=\\[nrt]))[\w.*-]{1,100}+:(?:[56]\d{3}|\*)'
        r':(?P<database>[\w*-]{1,64}+):[\w*.@-]{1,64}+:(?P<secret>[^\s"\'()\\,;|]{4,256}+)',
        'db:5432:shop:ann:⟦FAKE1⟧',
        'the manual of PostgreSQL',
        accept=_is_in_pgpass,
    ),
    Rule(
        'user and password',
        ('stats auth', 'chpasswd', '-u', '--user'),
        rf"""
        {START} stats[ ]auth[ ] [\w.@-]{{1,64}}+ : (?P<secret>[^\s\\]{{1,256}}+)
        | (?:echo|printf) [ ] (?:-[ne][ ])? ["']? [\w.@-]{{1,64}}+
          : (?P<in_single>[^"'\n|]{{1,256}}+) ["']? [ ]{{0,4}} \| [ ]? (?:sudo[ ])? chpasswd
        | (?<![\w-]) (?: -U[ ]? | --user[ =] ) ["']? [\w.\\/-]{{1,64}}+
          % (?P<in_double>[^\s"']{{3,256}}+)
        """,
        'stats auth ann:⟦FAKE1⟧',
        'the manuals of HAProxy, chpasswd and Samba',
    ),
    Rule(
        'alias of a store',
        ('alias set', 'host add'),
        r'\b(?:alias[ ]set|host[ ]add)[ ][\w-]{1,64}[ ]https?://[^\s]{1,200}[ ][^\s]{1,128}[ ]'
        rf'{_QUOTED_OR_WORD}',
        'mc alias set s3 https://s3.example.org ann ⟦FAKE1⟧',
        'the manual of the MinIO client',
    ),
    Rule(
        'archive flag',
        ('7z', 'rar ', 'zip '),
        rf'{START}(?:(?:7z[arz]?|(?:un)?rar)[ ][^\n|;&]{{0,200}}?(?<=[ ])-p'
        rf'|(?:un)?zip[ ][^\n|;&]{{0,200}}?(?<=[ ])-P[ ]?){_QUOTED_OR_WORD}',
        '7z a -p⟦FAKE1⟧ docs.7z docs',
        'the manuals of 7-Zip, RAR and Info-ZIP',
    ),
    Rule(
        'oracle login',
        ('sqlplus', 'sqlldr', 'expdp', 'impdp', 'rman ', 'connect ', 'conn '),
        rf'{START}(?:(?:sqlplus|sqlldr|expdp|impdp|rman)\b[^\n/]{{0,60}}?[ =]'
        r'|conn(?:ect)?[ ](?=[^\s]{1,128}@))'
        r'["\']?(?<![\w/.-])[A-Za-z][\w$\#]{0,60}/["\']?(?P<secret>[^\s@"\'/]{1,128}+)',
        'sqlplus scott/⟦FAKE1⟧@orcl',
        'the manual of SQL*Plus',
        flags=VERBOSE | IGNORECASE,
    ),
    Rule(
        'snmp authentication',
        ('snmp',),
        rf'{START}snmp[a-z]{{1,12}}[ ][^\n|;&]{{0,200}}?[ ]-A[ ]{_QUOTED_OR_WORD}',
        'snmpget -v3 -u ann -A ⟦FAKE1⟧ host',
        'the manual of Net-SNMP',
    ),
    Rule(
        'snmp privacy',
        ('snmp',),
        rf'{START}snmp[a-z]{{1,12}}[ ][^\n|;&]{{0,200}}?[ ]-X[ ]{_QUOTED_OR_WORD}',
        'snmpget -v3 -u ann -X ⟦FAKE1⟧ host',
        'the manual of Net-SNMP',
    ),
    Rule(
        'json web key',
        ('kty',),
        r'(?<=[\s{,\'"])\\*+["\'](?:d|p|q|dp|dq|qi|k)\\*+["\'][ ]?:[ ]?\\*+["\']'
        r'(?P<secret>[\w-]{16,1024}+)',
        "{'kty': 'oct', 'k': '⟦FAKE1FAKE2FAKE3FAKE4⟧'}",
        'RFC 7518',
    ),
    Rule(
        'authentication command',
        ('auth ', '"auth"'),
        rf"""
        {START}AUTH[ ](?:PLAIN|LOGIN|XOAUTH2|CRAM-MD5)[ ]
          (?P<secret>[A-Za-z0-9+/]{{8,2048}}+={{0,2}}+)
        | "AUTH"[ ](?:"[\w-]{{1,60}}"[ ])?"(?P<in_double>[^"\n]{{1,256}}+)"
        | (?:^|[>:][ ])AUTH[ ](?:\w{{1,60}}[ ])?
          (?P<in_single>[^\s"'\\]{{4,256}}+)(?=[\s'"\\]|\Z)
        """,
        'AUTH PLAIN ⟦RkFLRTFGQUtFMg==⟧',
        'RFC 4954, and the AUTH command of Redis',
        accept=_is_authentication,
        flags=VERBOSE | MULTILINE,
    ),
    Rule(
        'password command',
        ('pass ',),
        r"""
        (?: (?:(?<![\w>-])|(?<=\\[nrt]))(?:-{1,4}>|<-|>{1,3}|C:|Request:|Command:|CLIENT:)[ ] |
          (?<=[:*])[ ]["'] | \A )
        PASS[ ]:?(?P<secret>[^\s"'\\]{4,256}+)(?=[\s'"\\]|\Z)
        | ^(?:USER|NICK)[ ][^\n]{1,200}\n(?:[^\n]{1,200}\n)?PASS[ ]
          (?P<in_single>[^\s"'\\]{4,256}+)
        """,
        '---> PASS ⟦FAKE-1⟧',
        'RFC 959, RFC 1939 and RFC 2812',
        accept=_is_login_value,
        flags=VERBOSE | MULTILINE,
    ),
    Rule(
        'login command',
        (' login ',),
        rf'{START}[A-Za-z]{{0,4}}\d{{1,6}}[ ]LOGIN[ ]["\']?[\w.@+-]{{1,128}}+["\']?[ ]'
        r'["\']?(?P<secret>[^\s"\'\\]{4,256}+)',
        'a1 LOGIN ann ⟦FAKE-1⟧',
        'RFC 9051',
    ),
    Rule(
        'property of a build',
        ('password "', "password '", 'passphrase "', "passphrase '"),
        r"""
        \b [a-z]\w{0,40}P(?:assword|assphrase)[ ]
        (?: '(?P<in_single>[^'\n]{1,256})' | "(?P<in_double>[^"\n]{1,256})" )
        """,
        'storePassword "⟦FAKE1⟧"',
        'the manual of Gradle',
    ),
    Rule(
        'value element',
        ('password>', 'passphrase>'),
        r'P(?:assword|assphrase)>\s{0,40}<Value>(?P<secret>[^<]{1,256})',
        '<Password><Value>⟦FAKE1⟧</Value></Password>',
        'answer files of Windows Setup',
        flags=VERBOSE | IGNORECASE,
    ),
    Rule(
        'router password',
        ('secret ', 'password '),
        rf'{START}(?:secret|password)[ ]\d[ ](?P<secret>[^\s"\'\\]{{4,256}}+)',
        'enable secret 0 ⟦FAKE1⟧',
        'the manual of Cisco IOS',
        accept=has_digit,
    ),
    Rule(
        'key store flag',
        ('storepass', 'keypass'),
        rf'(?<![\w-])-(?:src|dest)?(?:store|key)pass[ ](?!-){_QUOTED_OR_WORD}',
        'keytool -list -storepass ⟦FAKE1⟧',
        'the manual of keytool',
    ),
    Rule(
        'secure string',
        ('securestring',),
        r"""
        ConvertTo-SecureString [ ] (?: -String[ ] )?
        (?: '(?P<in_single>[^'\n]{1,256})' | "(?P<in_double>[^"$\n]{1,256})" )
        """,
        'ConvertTo-SecureString "⟦FAKE1⟧" -AsPlainText -Force',
        'the manual of PowerShell',
        flags=VERBOSE | IGNORECASE,
    ),
    Rule(
        'remote desktop flag',
        ('freerdp', 'rdesktop'),
        r'(?:freerdp|rdesktop)\b[^\n|;&]{0,200}?[ ](?:/p:|-p[ ])(?P<secret>[^\s"\'\\]{1,256}+)',
        'xfreerdp /v:host /u:ann /p:⟦FAKE1⟧',
        'the manual of FreeRDP',
    ),
    Rule(
        'form field',
        ('form-data',),
        r'form-data;[ ]name=\\*+"(?P<name>[^"\n\\]{1,64})\\*+"'
        r'(?:(?:\r?\n|(?:\\r)?\\n){2})(?P<secret>[^\s\\"]{1,256}+)',
        'Content-Disposition: form-data; name="password"\n\n⟦FAKE1⟧',
        'RFC 7578',
        accept=_is_set,
    ),
    Rule(
        'unseal key',
        ('unseal key', 'recovery key'),
        r'(?:Unseal|Recovery)[ ]Key[ ]\d{1,2}:[ ](?P<secret>[A-Za-z0-9+/=]{16,256}+)',
        'Unseal Key 1: ⟦FAKE1FAKE2FAKE3FAKE4⟧',
        'the manual of Vault',
    ),
    Rule(
        'authorization code',
        ('code=', 'code_verifier='),
        r'(?:(?<=[?&])|(?<=[?&][a-z])|\b)(?:code|code_verifier)=(?P<secret>[\w.~%/+-]{10,512}+)(?=[&\s"\'\#]|\Z)',
        'https://example.org/cb?code=⟦FAKE1FAKE2FAKE3⟧&state=1',
        'RFC 6749, 4.1.2',
    ),
    Rule(
        'key parameter',
        ('key=',),
        r'[?&]key=(?P<secret>[\w.~%-]{16,256}+)',
        'https://example.org/?key=⟦FAKE1FAKE2FAKE3FAKE4⟧',
        'the APIs of Google',
        accept=has_digit,
    ),
    Rule(
        'digest response',
        ('response="', 'signature='),
        r'\b(?:response="|Signature=)(?P<secret>[0-9a-f]{32,64}+)',
        'Digest username="ann", response="⟦00000000000000000000000000000000⟧"',
        'RFC 7616, and Signature Version 4 of AWS',
    ),
    Rule(
        'webhook url',
        ('/webhooks/', '/bot'),
        r'(?:/api/webhooks/\d{10,25}/(?P<secret>[\w-]{20,128}))',
        'https://discord.com/api/webhooks/000000000000000000/⟦FAKEFAKEFAKEFAKEFAKE⟧',
        'the documentation of Discord',
    ),
    Rule(
        'telegram bot token',
        (':aa',),
        rf'{START}(?:bot(?P<in_path>\d{{8,10}}:[\w-]{{30,40}}+)|(?P<secret>\d{{8,10}}:AA[\w-]{{32,34}}+))',
        '⟦000000000:AAFAKEFAKEFAKEFAKEFAKEFAKEFAKEFAKEF⟧',
        'the documentation of Telegram',
    ),
    Rule(
        'discord bot token',
        ('.',),
        rf'{START}(?<![.-])[MNO][A-Za-z0-9_-]{{23,27}}\.[\w-]{{6}}\.[\w-]{{27,40}}+',
        '⟦MFAKEFAKEFAKEFAKEFAKEFAK.FAKE01.FAKEFAKEFAKEFAKEFAKEFAKEFAKE⟧',
        'the documentation of Discord',
    ),
    Rule(
        'provider key',
        (
            *('sk-', '_live_', '_test_', 'whsec', 'ghp_', 'gho_', 'ghs_', 'ghu_', 'ghr_'),
            *('github_pat', 'glpat', 'akia', 'asia', 'xox', 'xapp-', 'aiza', 'ya29', 'gocspx'),
            *('npm_', 'pypi-', 'hf_', 'gsk_', 'sg.', 'dop_v1', 'shp', 'hvs.', 'dckr_pat', 'tskey-'),
            *('figd_', 'r8_', 'atatt3x', 'nvapi-', 'xai-', 'lsv2_', 'sbp_', 'nfp_', 'key-'),
            *('sqa_', 'sqp_', 'squ_', 'glrt-', 'gldt-', 'fo1_', 'lin_api', 'ntn_', 'pat-', 'eaa'),
        ),
        rf"""
        {BOUNDARY}
        (?: sk-[A-Za-z0-9_-]{{16,}}+
          | (?:sk|rk)_(?:live|test)_[A-Za-z0-9]{{8,}}+ | whsec_[A-Za-z0-9+/=]{{16,}}+
          | gh[opsur]_[A-Za-z0-9]{{16,}}+ | github_pat_[A-Za-z0-9_]{{16,}}+
          | gl(?:pat|rt|dt|ptt|cbt|soat|ft)-[A-Za-z0-9_.-]{{16,}}+
          | (?:AKIA|ASIA)[A-Z0-9]{{12,}}+
          | xox[a-z]-[A-Za-z0-9-]{{8,}}+ | xapp-[A-Za-z0-9-]{{8,}}+
          | AIza[A-Za-z0-9_-]{{24,}}+ | ya29\.[A-Za-z0-9_-]{{16,}}+ | GOCSPX-[A-Za-z0-9_-]{{16,}}+
          | npm_[A-Za-z0-9]{{30,}}+ | pypi-[A-Za-z0-9_-]{{16,}}+ | hf_[A-Za-z0-9]{{24,}}+
          | gsk_[A-Za-z0-9]{{24,}}+ | SG\.[A-Za-z0-9_-]{{16,}}+\.[A-Za-z0-9_-]++
          | dop_v1_[0-9a-f]{{32,}}+ | shp(?:at|ss|ca|pa)_[0-9a-fA-F]{{24,}}+
          | hvs\.[A-Za-z0-9_-]{{16,}}+
          | dckr_pat_[A-Za-z0-9_-]{{20,}}+ | tskey-[a-z]{{1,12}}-[A-Za-z0-9-]{{16,}}+
          | figd_[A-Za-z0-9_-]{{24,}}+ | r8_[A-Za-z0-9]{{32,}}+ | ATATT3x[A-Za-z0-9_=-]{{24,}}+
          | nvapi-[A-Za-z0-9_-]{{32,}}+ | xai-[A-Za-z0-9]{{32,}}+
          | lsv2_[a-z]{{2}}_[0-9a-f_]{{32,}}+
          | sbp_[0-9a-f]{{32,}}+ | nfp_[A-Za-z0-9]{{32,}}+ | key-[0-9a-f]{{32}}(?![0-9a-f])
          | sq[apu]_[0-9a-f]{{40}}
          | pat-(?:na|eu)\d-[0-9a-f-]{{36}} | EAA[A-Za-z0-9]{{60,}}+
        )""",
        '⟦ghp_FAKEFAKEFAKEFAKEFAKEFAKE⟧',
        'the prefixes that providers publish for secret scanning',
        accept=_is_key,
    ),
)
"""All rules by form. Rules by name are in `assignments`, forms of keys in `provider_formats`."""
