"""Random texts that are keys by their context: a word, a call or an address beside them."""

from collections.abc import Iterator
from re import VERBOSE, Match
from re import compile as pattern

from seamwise.redaction.spans import Span

# Every pattern here is linear: repetitions are possessive or bounded.

_RUN = pattern(r'(?<![\w/.@#\\%$+-])(?!/)[A-Za-z0-9+/_-]{20,512}+={0,2}(?![\w@(])')
_MIXED = pattern(r'(?=[^a-z]*+[a-z])(?=[^A-Z]*+[A-Z])(?=[^0-9]*+[0-9][^0-9]*+[0-9])')
_DIGITS_AND_LETTERS = pattern(
    r'(?:0x)?(?=[a-f]*+[0-9])(?=[0-9]*+[a-f])[0-9a-f]{32,256}'
    r'|(?=[A-F]*+[0-9])(?=[0-9]*+[A-F])[0-9A-F]{20,256}'
    r'|(?=(?:[a-z]*+[0-9]){3})(?=[0-9]*+[a-z])[0-9a-z]{20,256}'
)
_WORDS = pattern(r'[a-z]{10}|[A-Z][a-z]{3,}[A-Z][a-z]{3,}|[a-z]{3}[_/-][a-z]{3}|//')
"""Parts of identifiers and paths, which a random text hardly contains."""
_ID = pattern(r'0x[0-9a-fA-F]{40}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}')
_OF_ANOTHER_KIND = pattern(
    r"""
    (?: commit | sha-?\d{0,3} | digest | hash | checksum | etag | rev | revision | trace\w{0,12}
      | span\w{0,8} | request\w{0,8} | \w{0,16}[_ -]?id | uuid | guid | md5 | fingerprint
      | thumbprint | integrity | kid | jti | nonce | build | image | version | public\w{0,12}
      | cert\w{0,10} | ref | cursor | tree | parent | blob | layer | index | merge | at | from | of
      | http | file | path | url | hmac-?\w{0,8} | name | account | tenant | subject | issuer | iss
      | sub | aud | accessor | by | digest\w{0,8} | signature | sig | arn | etag\w{0,4} | mac )
    ["']{0,2} [\s:=(<\[-]{1,4} ["']{0,2} (?: v?\d{1,3}[:=-] )? \Z
    """,
    VERBOSE,
)
_ABOUT_KEY = pattern(
    r"""
      (?: api | access | auth\w{0,12} | secret | private | license | signing | deploy\w{0,3}
        | encryption | crypt | account | master | admin | service | security | shared )
        [ _.-]{0,2} (?: key | token | secret ) s?
    | pre-?shared | passwd | password | passphrase | credentials? | (?<![a-z])api[ _-]?key
    | \b token\b (?! s?[ ]is)
    """,
    VERBOSE,
)
_KEY_WORD = pattern(
    r'secret|token|key(?![a-z])|auth|passw|credential|\blogin\b|crypt|session|\bapi\b|pat\b'
)
_PUBLIC = pattern(r'public|DNSKEY|ssh-(?:rsa|ed25519)|integrity|sha\d{3}-|certificate|fingerprint')
_CALL = pattern(
    r"""
    (?: \bnew[ ][A-Z][\w.]{1,40}
      | \b\w{0,20}(?: [iI]nit | Client | API | Api | SDK | [cC]onfigure | [iI]nitialize
        | set\w{0,20}(?:Key|Token|Secret|Auth) | [aA]uthenticate | [cC]onnect | login | [bB]ot ) )
    [(] \s{0,8} [bru]? ["'] \Z
    """,
    VERBOSE,
)
_PARAMETER = pattern(
    r"""
    (?: [?&;"'\s](?:key|app_?id|app_?key|code|auth|sig|apikey|k|access|secret|signature)=
      | \b(?:salt|licen[cs]e)["']?[ ]?(?:=>?|:)[ ]?["']?
      | \bbearer[ ][a-z]{2,20}[ ]
      | \b(?:login|authori[sz]e(?:-\w{1,12})?|authenticate|store|activate)[ ]
        (?:--?[\w-]{1,20}[ ]){0,3} (?:[\w-]{1,40}[ ])? )
    \Z
    """,
    VERBOSE,
)
_NAMED = pattern(
    r"""
    (?:_session|[_-]api|_key|_auth|_pat|_sk|_secret\w{0,12}|dockerconfigjson)["']?[ ]?[:=][ ]?["']?
    \Z
    """,
    VERBOSE,
)
_PLAIN_KEY = pattern(r"""(?<![\w.-])["']key["']?[ ]?(?:=>|:|=)[ ]?["']\Z""")
_COMMENT = pattern(r'#|//|--|/\*')
_BEFORE, _AFTER = 120, 60
"""In characters: the part of a line that is searched for words about a key."""
_NAME = 40
"""In characters: the part of a line that can have the name of a key."""
_QUOTES = ('"', "'")


def random_keys(text: str) -> Iterator[Span]:
    """Yield the random texts in a line about a key, an argument of a client or of an address."""
    for run in _RUN.finditer(text):
        if _is_random(run[0]) and _is_key_by_context(text, run):
            yield Span(*run.span())


def _is_random(run: str) -> bool:
    return (
        (_MIXED.match(run) is not None or _DIGITS_AND_LETTERS.fullmatch(run) is not None)
        and _WORDS.search(run) is None
        and _ID.fullmatch(run) is None
    )


_INTRODUCES = frozenset('=:> "\'')
"""Characters before a key that has a name, and before the argument of a call."""


def _is_key_by_context(text: str, run: Match[str]) -> bool:
    start, end = run.span()
    before = text[max(0, start - _BEFORE) : start]
    before = before[max(before.rfind('\n'), before.rfind(';')) + 1 :]
    is_mixed = _MIXED.match(run[0]) is not None
    lowered = before.lower()
    if before[-1:] in _INTRODUCES:
        if _PARAMETER.search(lowered) or (
            is_mixed and _NAMED.search(lowered[-_NAME:]) and not _PUBLIC.search(before)
        ):
            return True
        if before[-1] in _QUOTES and (
            _CALL.search(before)
            or (_PLAIN_KEY.search(before[-_NAME:]) and _KEY_WORD.search(lowered[:-6]))
        ):
            return True
    if _OF_ANOTHER_KIND.search(lowered[-32:]):
        return False
    after = text[end : end + _AFTER].partition('\n')[0]
    if _PUBLIC.search(before) or _PUBLIC.search(after):
        return False
    following = after.lower()
    if is_mixed:
        return _KEY_WORD.search(lowered) is not None or _KEY_WORD.search(following) is not None
    comment = _COMMENT.search(following)
    return _ABOUT_KEY.search(lowered) is not None or (
        comment is not None and _ABOUT_KEY.search(following, comment.end()) is not None
    )
