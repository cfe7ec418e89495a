"""What may be shown of an error: its message in a language, and the error itself without its secrets."""

from functools import lru_cache
from os import path
from re import fullmatch
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import msgspec

from seamwise import _annotations, messages
from seamwise.errors import TaggedError
from seamwise.redaction import redact
from seamwise.secrets import MASK, Secret

if TYPE_CHECKING:
    from gettext import NullTranslations

E = TypeVar('E', bound=TaggedError)

DOMAIN = 'seamwise'
LOCALES = path.join(path.dirname(__file__), 'locale')


def text(error: TaggedError, locale: str = 'en') -> str:
    """Give the message of an error in a language, English where that language has none; at most 1,024 characters.

    Secrets in it are masked and long values cut; what else a value may hold is not redacted here.

    >>> from seamwise import Category
    >>> class NoSuchFile(TaggedError, category=Category.NOT_FOUND, message='{path!r} does not exist.'):
    ...     path: str
    >>> text(NoSuchFile('a.txt'))
    "'a.txt' does not exist."
    """
    template = type(error).__traits__.template
    if locale == 'en' or not template:
        return messages.shorten(str(error))
    translated = catalogue(locale).gettext(template)
    # A translation may be older than its class: what it cannot fill in, nobody should be shown.
    if translated == template or not messages.names(translated) <= set(error.__struct_fields__):
        return messages.shorten(str(error))
    return messages.fill(translated, error)


@lru_cache(maxsize=64)
def catalogue(locale: str) -> 'NullTranslations':
    """Give the texts of a locale; an unknown one gives back what it is asked for, and says so once in the log."""
    from gettext import NullTranslations, translation  # noqa: PLC0415 -- only where another language is wanted

    if fullmatch(r'[A-Za-z]{2,3}([_-][A-Za-z0-9]{2,8})*', locale):
        try:
            return translation(DOMAIN, LOCALES, [locale.replace('-', '_')])
        except FileNotFoundError:
            pass
    from logging import getLogger  # noqa: PLC0415 -- the core loads logging only where it writes

    getLogger('seamwise').warning('There are no texts for the locale %r; English is shown.', messages.shorten(locale, 40))
    return NullTranslations()


def shown(error: E) -> E:
    """Give an error as its audiences see it: secrets masked, texts redacted and cut, no cause.

    What a seam writes and a client reads back equals this. A secret that may be None is None: a wire does
    not say whether it was set.

    >>> from seamwise import Category
    >>> class LoginFailed(TaggedError, category=Category.AUTHENTICATION, message='No.'):
    ...     user: str
    ...     password: Secret[str]
    >>> shown(LoginFailed('ann', Secret('hunter2'))).password == Secret('***')
    True
    """
    optional = _optional(type(error))
    changed = {
        field: None if field == 'cause' or (isinstance(value, Secret) and field in optional) else _shown(value)
        for field in error.__struct_fields__
        if (value := getattr(error, field)) is not None
    }
    return msgspec.structs.replace(error, **changed)


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return messages.shorten(redact(value))
    if isinstance(value, Secret):
        return Secret(MASK)
    if type(value) in {tuple, frozenset}:
        return type(value)(map(_shown, value))
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.replace(value, **{field: _shown(getattr(value, field)) for field in value.__struct_fields__})
    return value


@lru_cache(maxsize=4096)
def _optional(kind: type[TaggedError]) -> frozenset[str]:
    return frozenset(field for field, hint in _annotations.hints(kind).items() if type(None) in get_args(hint))
