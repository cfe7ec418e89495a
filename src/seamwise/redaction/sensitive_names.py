"""Which names announce a secret: whole words, however they are joined."""

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
# Some write two words as one: there is no seam left to find.
_JOINED = frozenset(
    [one + key for one in _QUALIFIERS for key in _KEYS]
    + [one + 'token' for one in ('auth', 'access', 'refresh', 'id', 'session')]
)

_HINT = pattern('passw|passphrase|secret|token|authorization|cookie|credential|key')
_HUMP = pattern(r'(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])')
_BETWEEN = pattern(r'[\W_]+')


def split_words(name: str) -> list[str]:
    """Take a name in snake, kebab, camel or spaced form apart, in lower case, digits at a word's end aside.

    >>> split_words('X-Api-Key'), split_words('AWSSecretKey2'), split_words('max_tokens')
    (['x', 'api', 'key'], ['aws', 'secret', 'key'], ['max', 'tokens'])
    """
    return [one.rstrip('0123456789') for one in _BETWEEN.split(_HUMP.sub(' ', name).lower()) if one]


def is_sensitive(name: str) -> bool:
    """Tell whether what stands under `name` is a secret by that name alone; of a path only its very end is a name.

    >>> is_sensitive('apiKey'), is_sensitive('monkey'), is_sensitive('primary_key')
    (True, False, False)
    >>> is_sensitive('db.password.new'), is_sensitive('src/token_store.py'), is_sensitive('/run/db-token')
    (True, False, True)
    """
    if not _HINT.search(name.lower()):
        return False
    if '/' in name:
        name = name.rpartition('/')[2].rpartition('.')[2]
    parts = split_words(name)
    if any(one in _WORDS or one in _JOINED for one in parts):
        return True
    return any(key in _KEYS and one in _QUALIFIERS for one, key in pairwise(parts))
