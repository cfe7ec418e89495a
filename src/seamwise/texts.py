"""What may be shown of an error: its message in a language, and the error itself without its secrets."""

from functools import lru_cache
from os import PathLike, path
from re import fullmatch
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin

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

_folders = [(LOCALES, DOMAIN)]
"""Where catalogues are looked for, and by what name; what stands first wins."""


def add_locales(folder: str | PathLike[str], /, *, domain: str = DOMAIN) -> None:
    """Look texts up in a folder of your own too, before this library's: other languages, other words, your own errors.

    It is laid out as gettext has it, `de/LC_MESSAGES/seamwise.mo`, where `domain` is the name of the file;
    `seamwise/locale/seamwise.pot` holds what there is to translate. A folder without a catalogue is a ValueError,
    one that cannot be read an OSError. English errors stay as their classes say them.
    """
    from gettext import translation  # noqa: PLC0415 -- only where another language is wanted
    from pathlib import Path  # noqa: PLC0415 -- likewise

    place = Path(folder).resolve()
    catalogues = list(place.glob(f'*/LC_MESSAGES/{domain}.mo'))
    if not catalogues:
        raise ValueError(
            f'{str(place)!r} holds no catalogue: German texts would be in de/LC_MESSAGES/{domain}.mo.'
        )
    for one in catalogues:
        # A broken file is found out here, and not by the first error that is to be shown.
        translation(domain, place, [one.parents[1].name])
    if (str(place), domain) not in _folders:
        _folders.insert(0, (str(place), domain))
        catalogue.cache_clear()


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
    texts = catalogue(locale)
    translated = _translated(texts, template, error)
    # A translation may be older than its class: what it cannot fill in, nobody should be shown.
    if translated == template or not messages.field_names(translated) <= set(
        error.__struct_fields__
    ):
        return messages.shorten(str(error))
    words = {
        field: texts.pgettext(field, getattr(error, field)) for field in _read(type(error)).words
    }
    return messages.fill(translated, msgspec.structs.replace(error, **words) if words else error)


def _translated(texts: 'NullTranslations', template: str, error: TaggedError) -> str:
    """Translate a template: in the form for its first whole number, where the catalogue has forms for it."""
    field = _read(type(error)).counted
    number: object = getattr(error, field) if field else None
    formed = texts.ngettext(template, template, number) if isinstance(number, int) else template
    return texts.gettext(template) if formed == template else formed


@lru_cache(maxsize=64)
def catalogue(locale: str) -> 'NullTranslations':
    """Give the texts of a locale; an unknown one gives back what it is asked for, and says so once in the log."""
    from gettext import NullTranslations, translation  # noqa: PLC0415 -- only where another language is wanted
    from itertools import pairwise  # noqa: PLC0415 -- likewise

    if fullmatch(r'[A-Za-z]{2,3}([_-][A-Za-z0-9]{2,8})*', locale):
        language = [locale.replace('-', '_')]
        found = [
            translation(domain, folder, language, fallback=True) for folder, domain in _folders
        ]
        known = [one for one in found if type(one) is not NullTranslations]
        for one, following in pairwise(known):
            one.add_fallback(following)
        if known:
            return known[0]
    from logging import getLogger  # noqa: PLC0415 -- the core loads logging only where it writes

    getLogger('seamwise').warning(
        'There are no texts for the locale %r; English is shown.', messages.shorten(locale, 40)
    )
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
        field: None
        if field == 'cause' or (isinstance(value, Secret) and field in optional)
        else _shown(value)
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
        return msgspec.structs.replace(
            value, **{field: _shown(getattr(value, field)) for field in value.__struct_fields__}
        )
    return value


class _Read(msgspec.Struct, frozen=True):
    """What translating needs to know of a class: the first whole number of its message, and the closed words in it."""

    counted: str | None
    words: tuple[str, ...]


@lru_cache(maxsize=4096)
def _read(kind: type[TaggedError]) -> _Read:
    hints = _annotations.resolved_hints(kind)
    named = [part.field for part in messages.parse_template(kind.__traits__.template) if part.field]
    numbers = [field for field in named if hints.get(field) is int]
    return _Read(
        next(iter(numbers), None), tuple(field for field in named if _is_closed(hints.get(field)))
    )


def _is_closed(hint: object) -> bool:
    return Literal in {get_origin(one) for one in (hint, *get_args(hint))}


@lru_cache(maxsize=4096)
def _optional(kind: type[TaggedError]) -> frozenset[str]:
    return frozenset(
        field
        for field, hint in _annotations.resolved_hints(kind).items()
        if type(None) in get_args(hint)
    )
