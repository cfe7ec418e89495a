"""Sensitive names: decided by whole words, in any notation."""

from itertools import pairwise
from re import compile as pattern

_WORDS = frozenset(
    [
        *(
            'password',
            'passwords',
            'passwd',
            'passphrase',
            'passphrases',
            'pgpassword',
            'secret',
            'secrets',
            'token',
        ),
        *('authorization', 'cookie', 'cookies', 'credential', 'credentials'),
    ]
)
_QUALIFIERS = ('api', 'access', 'private', 'secret', 'signing', 'encryption', 'account')
_KEYS = frozenset(('key', 'keys'))
# Two words written as one cannot be split.
_JOINED = frozenset(
    [qualifier + key for qualifier in _QUALIFIERS for key in _KEYS]
    + [qualifier + 'token' for qualifier in ('auth', 'access', 'refresh', 'id', 'session')]
)

_HINT = pattern('passw|passphrase|secret|token|authorization|cookie|credential|key')
_HUMP = pattern(r'(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])')
_BETWEEN = pattern(r'[\W_]+')


def split_words(name: str) -> list[str]:
    """Split a name in snake, kebab, camel or spaced form into lower-case words without digits.

    >>> split_words('X-Api-Key'), split_words('AWSSecretKey2'), split_words('max_tokens')
    (['x', 'api', 'key'], ['aws', 'secret', 'key'], ['max', 'tokens'])
    """
    words = _BETWEEN.split(_HUMP.sub(' ', name).lower())
    return [word.rstrip('0123456789') for word in words if word]


def is_sensitive(name: str) -> bool:
    """Return whether a name alone shows that its value is secret; in a path, only the end counts.

    >>> is_sensitive('apiKey'), is_sensitive('monkey'), is_sensitive('primary_key')
    (True, False, False)
    >>> is_sensitive('db.password.new'), is_sensitive('src/token_store.py')
    (True, False)
    >>> is_sensitive('/run/db-token')
    True
    """
    if not _HINT.search(name.lower()):
        return False
    if '/' in name:
        name = name.rpartition('/')[2].rpartition('.')[2]
    parts = split_words(name)
    if any(word in _WORDS or word in _JOINED for word in parts):
        return True
    return any(key in _KEYS and word in _QUALIFIERS for word, key in pairwise(parts))
