"""Credentials with a known form: PEM blocks, JWTs, API keys, userinfo, Bearer and Basic values."""

from collections.abc import Callable, Iterator, Mapping
from re import IGNORECASE, VERBOSE, Match
from re import compile as pattern

from seamwise.redaction.spans import Span, replace_spans
from seamwise.secrets import MASK

# Every pattern here is linear: repetitions are possessive, and failed runs are not tried again.


def mask_credentials(text: str, lowered: str) -> str:
    """Mask the credentials with a known form; `lowered` is the text in lower case."""
    for needle, mask in _RULES.items():
        if needle in lowered:
            text = mask(text)
    return _PROVIDER_KEY.sub(_provider_key, text)


_LONG = 12
"""In characters; a shorter run can be a word."""

# PEM (RFC 7468), also without its end or its beginning.
_PEM_BEGIN = pattern(r'-{4,5} ?BEGIN [A-Z0-9 ]{1,40}?-{4,5}')
_PEM_END = pattern(r'-{4,5} ?END [A-Z0-9 ]{1,40}?-{4,5}')
_QUOTE = pattern(r'(?<!\\)\\*+["\'`]')
_LINE_BREAK = pattern(r'[\r\n]|(?<!\\)\\++[rn]')
_BASE64_LINE = pattern(r'[ \t"\']*+[A-Za-z0-9+/=]*+[ \t"\',]*+')


def _pem(text: str) -> Iterator[Span]:
    at, may_end = 0, True
    while begin := _PEM_BEGIN.search(text, at):
        end = _PEM_END.search(text, begin.end()) if may_end else None
        may_end = end is not None
        at = end.end() if end else _end_of_truncated(text, begin.end())
        if text[begin.end() : at].strip():
            yield Span(begin.start(), at)


def _end_of_truncated(text: str, at: int) -> int:
    quote = _QUOTE.search(text, at)
    return quote.start() if quote else len(text)


def _pem_tail(text: str) -> Iterator[Span]:
    at = 0
    for end in _PEM_END.finditer(text):
        start = _base64_lines_before(text, at, end.start())
        at = end.end()
        if len(text[start : end.start()].strip()) >= _LONG:
            yield Span(start, at)


def _base64_lines_before(text: str, at: int, stop: int) -> int:
    first_line = stop
    for line_break in reversed([None, *_LINE_BREAK.finditer(text, at, stop)]):
        start = line_break.end() if line_break else at
        if not _BASE64_LINE.fullmatch(text, start, stop):
            break
        first_line, stop = start, line_break.start() if line_break else at
    return first_line


# JSON web tokens (RFC 7519, RFC 7516): `{"` in base64, and a dot.
_WEB_TOKEN = pattern(r'eyJ[A-Za-z0-9_-]*+(?:\.[A-Za-z0-9_-]*+)*+')


def _web_token(match: Match[str]) -> str:
    token = match[0].rstrip('.')
    return MASK + match[0][len(token) :] if '.' in token else match[0]


# The prefixes that providers publish for secret scanning.
_PROVIDER_KEY = pattern(
    r"""
    (?: (?<![A-Za-z0-9]) | (?<=\\[nrt]) | (?<=%[0-9A-F]{2}) )
    (?: (?P<sk>sk-[A-Za-z0-9_-]{16,}+)
      | (?:sk|rk)_(?:live|test)_[A-Za-z0-9]{8,}+ | whsec_[A-Za-z0-9+/=]{16,}+
      | gh[opsur]_[A-Za-z0-9]{16,}+ | github_pat_[A-Za-z0-9_]{16,}+ | glpat-[A-Za-z0-9_-]{16,}+
      | (?:AKIA|ASIA)[A-Z0-9]{12,}+
      | xox[a-z]-[A-Za-z0-9-]{8,}+ | xapp-[A-Za-z0-9-]{8,}+
      | AIza[A-Za-z0-9_-]{24,}+ | ya29\.[A-Za-z0-9_-]{16,}+ | GOCSPX-[A-Za-z0-9_-]{16,}+
      | npm_[A-Za-z0-9]{30,}+ | pypi-[A-Za-z0-9_-]{16,}+ | hf_[A-Za-z0-9]{24,}+
      | gsk_[A-Za-z0-9]{24,}+ | SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]++
      | dop_v1_[0-9a-f]{32,}+ | shpat_[0-9a-fA-F]{24,}+ | hvs\.[A-Za-z0-9_-]{16,}+
    )""",
    VERBOSE,
)


def _provider_key(match: Match[str]) -> str:
    sk = match['sk']
    # A long name in kebab form, such as `sk-learn-contrib-forest`, is no key.
    return match[0] if sk and sk.islower() and not any(map(str.isdigit, sk)) else MASK


# Userinfo of a URL (RFC 3986, 3.2.1), including `\/` of JSON and slashes in the password.
_USERINFO = pattern(r'(:(?:\\*+/){2})(?:(?:[^\s/?\#"\'<>`\\@]++|\\++(?!["\'`/]))*+@)++')
_RAW_PASSWORD = pattern(
    r"""
    (:(?:\\*+/){2}) [^\s:@/?\#"'<>`\\\[\]]*+ : (?! \d*+ (?: [/?\#\s"'<>`\\,;)\]] | \Z ) )
    (?: (?: [^\s"'<>`\\@:]++ | :(?!\\*+/) | \\++(?!["'`]) )*+ @ )++
    """,
    VERBOSE,
)


def _userinfo(text: str) -> str:
    return _RAW_PASSWORD.sub(rf'\1{MASK}@', _USERINFO.sub(rf'\1{MASK}@', text))


# Bearer (RFC 6750) and Basic (RFC 7617) values, distinguished from sentences with these words.
_SCHEME = pattern(
    r"""
    (?: (?<![a-z0-9]) | (?<=\\[nrt]) | (?<=%[0-9a-f]{2}) )
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
        if value and (_is_basic(value[0]) if basic else not _SENTENCE_WORD.fullmatch(value[0])):
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


# `curl -u user:password`, but not `docker run -u 1000:1000`; and lines of a .netrc file.
_USER_FLAG = pattern(
    r"""
    ( (?<![\w-]) (?: -u | --user | --proxy-user ) (?: [ \t=]++ | (?=\\*+["']) | \\*+["'],\s*+ ) )
    (?! \\*+["']?+ (?: \+ | \d++:\d ) )
    (?: ( \\*+" [^\s:"\\<>=&;(]++ : ) [^"\n\\]++
      | ( \\*+' [^\s:'\\<>=&;(]++ : ) [^'\n\\]++
      | ( [^\s:"'\\<>=&;(-] [^\s:"'\\<>=&;(]*+ : (?!//) ) [^\s"']++ )
    """,
    VERBOSE,
)
_NETRC = pattern(r'(\bmachine\s++\S++\s++login\s++\S++\s++password\s++)[^\s"\'`\\]++')


def _user_flag(match: Match[str]) -> str:
    return match[1] + (match[2] or match[3] or match[4]) + MASK


_RULES: Mapping[str, Callable[[str], str]] = {
    'begin ': lambda text: replace_spans(text, _pem(text)),
    '-end ': lambda text: replace_spans(text, _pem_tail(text)),
    'eyj': lambda text: _WEB_TOKEN.sub(_web_token, text),
    '@': _userinfo,
    'bearer': lambda text: replace_spans(text, _schemes(text)),
    'basic': lambda text: replace_spans(text, _schemes(text)),
    '-u': lambda text: _USER_FLAG.sub(_user_flag, text),
    'machine': lambda text: _NETRC.sub(rf'\1{MASK}', text),
}
"""Rules by the lower-case text that must occur for them to apply."""
