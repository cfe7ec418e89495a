"""Translated messages of errors, and errors without their secrets."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from os import PathLike, path
from re import fullmatch
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin

import msgspec

from seamwise._errors import messages, type_hints
from seamwise._errors.categories import Category
from seamwise._errors.errors import TaggedError
from seamwise._text.jsonable import to_builtins
from seamwise._text.secrets import MASK, Secret
from seamwise._text.shortening import shorten
from seamwise.redaction import redact, redact_named
from seamwise.redaction.settings import current

if TYPE_CHECKING:
    from gettext import NullTranslations

E = TypeVar('E', bound=TaggedError)

DOMAIN = 'seamwise'
"""Domain of the message catalogs, as of GNU gettext."""
LOCALES = path.join(path.dirname(path.dirname(__file__)), 'locale')
"""Folder with the message catalogs of the library."""

_JSON_CONTAINERS: frozenset[type] = frozenset({list, dict})
"""Containers that only a field for any value can have, because errors are hashable."""

_folders = [(LOCALES, DOMAIN)]
"""Folders and names of the message catalogs; the first one that has a text wins."""


def add_locales(folder: str | PathLike[str], /, *, domain: str = DOMAIN) -> None:
    """Add a folder of message catalogs, which take precedence over those of this library.

    Use it for more languages, other wording or your own errors. English messages are always the
    templates of the error classes.

    Args:
        folder: Folder in the layout of gettext, such as `de/LC_MESSAGES/seamwise.mo`.
            `seamwise/locale/seamwise.pot` contains the texts of this library.
        domain: Name of the `.mo` files.

    Raises:
        ValueError: The folder contains no message catalog.
        OSError: A message catalog cannot be read.
    """
    from gettext import translation  # noqa: PLC0415 -- only for languages other than English
    from pathlib import Path  # noqa: PLC0415 -- only for languages other than English

    root = Path(folder).resolve()
    files = list(root.glob(f'*/LC_MESSAGES/{domain}.mo'))
    if not files:
        raise ValueError(
            f'{str(root)!r} contains no message catalog; '
            f'German texts would be in de/LC_MESSAGES/{domain}.mo.'
        )
    for file in files:
        # Report a broken file here, not when the first error is shown.
        translation(domain, root, [file.parents[1].name])
    if (str(root), domain) not in _folders:
        _folders.insert(0, (str(root), domain))
        catalogue.cache_clear()


def message_of(error: TaggedError, locale: str = 'en') -> str:
    """Return the message of an error in a language, in English if there is no translation.

    It has at most 1,024 characters. Secrets are masked and long values cut; other values are not
    redacted.

    >>> from seamwise import Category
    >>> class NoFile(TaggedError, category=Category.NOT_FOUND, message='{path!r} does not exist.'):
    ...     path: str
    >>> message_of(NoFile('a.txt'))
    "'a.txt' does not exist."
    """
    template = type(error).__traits__.template
    translated = _translated(error, template, locale)
    if translated is None:
        has_own_text = type(error).__str__ is not TaggedError.__str__
        translated = str(error) if has_own_text else messages.fill(template, error)
    return shorten(translated)


def public_message(error: TaggedError, locale: str = 'en') -> str:
    """Return the message of an error for clients, without its internal fields.

    It is the class keyword `public`, if there is one. Otherwise it is the message, or the general
    sentence of the category if the message prints an internal field.

    >>> from seamwise import Category, Internal
    >>> class StoreDown(TaggedError, category=Category.UNAVAILABLE, message='{reason}.'):
    ...     reason: Internal[str]
    >>> public_message(StoreDown('connection to 10.0.0.5 refused'))
    'The service is not available.'
    """
    kind = type(error)
    template = kind.__traits__.public
    if template is None:
        if not prints_internal(kind):
            return message_of(error, locale)
        return general_message(error.category, locale)
    return _translated(error, template, locale) or messages.fill(template, error)


def general_message(category: Category, locale: str = 'en') -> str:
    """Return the general sentence of a category in a language.

    >>> general_message(Category.TIMEOUT)
    'The operation did not finish in time.'
    """
    sentence = category.general_message
    return sentence if locale == 'en' else catalogue(locale).gettext(sentence)


@lru_cache(maxsize=4096)
def prints_internal(class_: type[TaggedError]) -> bool:
    """Return whether the message of a class prints an internal field, or may print it.

    >>> from seamwise import Category, Internal
    >>> class Down(TaggedError, category=Category.UNAVAILABLE, message='{host} is down.'):
    ...     host: Internal[str]
    >>> prints_internal(Down)
    True
    """
    internal = class_.__traits__.internal
    if not internal:
        return False
    has_own_text = class_.__str__ is not TaggedError.__str__
    return has_own_text or not internal.isdisjoint(messages.field_names(class_.__traits__.template))


def _translated(error: TaggedError, template: str, locale: str) -> str | None:
    """Return a translated template with the fields of an error, or None without a translation."""
    if locale == 'en' or not template:
        return None
    texts = catalogue(locale)
    translated = _translated_template(texts, template, error)
    # A translation can be older than its class and name fields that no longer exist.
    if translated == template or not messages.field_names(translated) <= set(
        error.__struct_fields__
    ):
        return None
    words = {
        field: texts.pgettext(field, getattr(error, field))
        for field in _template_fields(type(error), template).words
    }
    return messages.fill(translated, msgspec.structs.replace(error, **words) if words else error)


def _translated_template(texts: 'NullTranslations', template: str, error: TaggedError) -> str:
    """Translate a template, in the plural form of its first whole number if there are forms."""
    field = _template_fields(type(error), template).counted
    number: object = getattr(error, field) if field else None
    plural = texts.ngettext(template, template, number) if isinstance(number, int) else template
    return texts.gettext(template) if plural == template else plural


def available_locales() -> tuple[str, ...]:
    """Return the names of the locales that have a message catalog, also in added folders.

    >>> {'en', 'zh_CN'} <= {*available_locales()}
    True
    """
    return _locale_names(tuple(_folders))


@lru_cache(maxsize=4)
def _locale_names(folders: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    from pathlib import Path  # noqa: PLC0415 -- only for languages other than English

    return tuple(
        sorted(
            {
                file.parents[1].name
                for folder, domain in folders
                for file in Path(folder).glob(f'*/LC_MESSAGES/{domain}.mo')
            }
        )
    )


class _Tag(msgspec.Struct, frozen=True):
    """A locale: a language tag of BCP 47, or a name of POSIX such as `zh_CN.UTF-8`."""

    language: str
    script: str
    """The script, also if it is implied by the region; empty for most languages."""
    region: str


_SCRIPTS: dict[str, tuple[str, dict[str, str]]] = {
    'sr': ('cyrl', {'me': 'latn'}),
    'zh': ('hans', {'hk': 'hant', 'mo': 'hant', 'tw': 'hant'}),
}
"""Likely scripts by language: the usual one, and those of regions (CLDR, likely subtags)."""


def _parse_tag(locale: str) -> _Tag | None:
    name, _, modifier = locale.partition('@')
    found = fullmatch(
        r'(?P<language>[a-z]{2,3})([_-](?P<script>[a-z]{4}))?([_-](?P<region>[a-z]{2}|\d{3}))?'
        r'([_-][a-z\d]{1,8})*(\.[\w-]+)?',
        name.lower(),
    )
    if found is None:
        return None
    language, region = found['language'], found['region'] or ''
    usual, by_region = _SCRIPTS.get(language, ('', {}))
    likely = 'latn' if modifier == 'latin' else by_region.get(region, usual)
    return _Tag(language, found['script'] or likely, region)


def matching_locales(locale: str, available: Sequence[str]) -> list[str]:
    """Return the available locales that fit a locale, the best first.

    It is the lookup of RFC 4647: subtags at the end are dropped until a locale fits. A language
    with several scripts also accepts another region with the same script.

    >>> matching_locales('pt-BR', ['pt', 'pt_PT']), matching_locales('zh-Hans', ['zh_CN', 'zh_TW'])
    (['pt'], ['zh_CN'])
    """
    wanted = _parse_tag(locale)
    if wanted is None:
        return []
    ranks: dict[str, int] = {}
    for name in available:
        tag = _parse_tag(name)
        if tag is None or (tag.language, tag.script) != (wanted.language, wanted.script):
            continue
        if tag.region == wanted.region:
            ranks[name] = 0
        elif not tag.region:
            ranks[name] = 1
        elif tag.language in _SCRIPTS:
            ranks[name] = 2
    return sorted(ranks, key=lambda name: ranks[name])


@lru_cache(maxsize=64)
def catalogue(locale: str) -> 'NullTranslations':
    """Return the translations of a locale; without any, log a warning once and use English.

    >>> catalogue('zh_CN').gettext('None of {tried} is available.')
    '以下模型均不可用：{tried}。'
    """
    from gettext import NullTranslations, translation  # noqa: PLC0415 -- only for languages other than English
    from itertools import pairwise  # noqa: PLC0415 -- only for languages other than English

    names = matching_locales(locale, available_locales())
    if names:
        candidates = [
            translation(domain, folder, names, fallback=True) for folder, domain in _folders
        ]
        catalogs = [catalog for catalog in candidates if type(catalog) is not NullTranslations]
        for catalog, fallback in pairwise(catalogs):
            catalog.add_fallback(fallback)
        if catalogs:
            return catalogs[0]
    from logging import getLogger  # noqa: PLC0415 -- loaded only when a record is written

    getLogger('seamwise').warning(
        'There are no texts for the locale %r; English is used.', shorten(locale, 40)
    )
    return NullTranslations()


def sanitized(error: E) -> E:
    """Return an error as seams show it: secrets masked, texts redacted and cut, without its cause.

    It equals the error that a client decodes from a wire that shows all fields. An optional secret
    becomes None, because a wire does not disclose whether it was set. Internal fields are kept.

    >>> from seamwise import Category
    >>> class LoginFailed(TaggedError, category=Category.AUTHENTICATION, message='No.'):
    ...     user: str
    ...     password: Secret[str]
    >>> sanitized(LoginFailed('ann', Secret('hunter2'))).password == Secret('***')
    True
    """
    changes: dict[str, object] = {}
    for field in error.__struct_fields__:
        value: object = getattr(error, field)
        if field == 'cause':
            changes[field] = None
        elif isinstance(value, Secret):
            changes[field] = _shown_secret(type(error), field)
        elif value is not None:
            changes[field] = _shown_field(field, value)
    return msgspec.structs.replace(error, **changes)


@lru_cache(maxsize=4096)
def _shown_secret(class_: type[TaggedError], field: str) -> Secret[str] | str | None:
    hint = type_hints.resolved_hints(class_)[field]
    if hint is object:
        # A decoder of any value cannot know that the mask stands for a secret.
        return MASK
    return None if type(None) in get_args(hint) else Secret(MASK)


def _shown_field(name: str, value: Any) -> Any:
    if not current().is_sensitive(name):
        return _shown(value)
    if isinstance(value, str):
        return redact_named(name, value)
    if type(value) in {tuple, frozenset}:
        return type(value)(_shown_field(name, item) for item in value)
    if type(value) in _JSON_CONTAINERS:
        return to_builtins(redact_named(name, value))
    return _shown(value)


def _shown(value: Any) -> Any:
    if isinstance(value, (str, Secret, bytes, bytearray)):
        return _shown_scalar(value)
    if type(value) in {tuple, frozenset}:
        return _shown_members(value)
    if type(value) in _JSON_CONTAINERS:
        items: object = value
        return to_builtins(redact(items))
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.replace(
            value,
            **{
                field: _shown_field(field, getattr(value, field))
                for field in value.__struct_fields__
            },
        )
    return value


def _shown_members(value: Any) -> Any:
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]  # isinstance does not tell the members
    # Only `redact` decides whether a tuple is a pair of a sensitive name and its value.
    redacted: Any = redact(value)  # pyright: ignore[reportUnknownVariableType]  # isinstance does not tell the members
    is_pair: bool = kind is tuple and redacted[1:] == (MASK,)  # pyright: ignore[reportUnknownVariableType]  # isinstance does not tell the members
    members: Iterable[object] = (value[0], MASK) if is_pair else map(_shown_part, value)
    return kind(members)  # pyright: ignore[reportUnknownVariableType]  # isinstance does not tell the members


def _shown_scalar(value: Any) -> object:
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]  # isinstance does not tell the members
    raw: object = value
    if isinstance(value, str):
        return shorten(redact(value))
    if isinstance(value, Secret):
        return Secret(MASK)
    # The wire has their number in place of them.
    return kind(str(redact(raw)).encode())


def _shown_part(value: Any) -> Any:
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]  # isinstance does not tell the members
    if kind is not tuple or len(value) != _PAIR:
        return _shown(value)
    items: list[object] = [value]
    redacted: Any = redact(items)
    return (_shown(value[0]), MASK) if redacted[0][1:] == (MASK,) else _shown(value)


_PAIR = 2


class _TemplateFields(msgspec.Struct, frozen=True):
    """Fields of a template: the first whole number, and those with a closed set of words."""

    counted: str | None
    words: tuple[str, ...]


@lru_cache(maxsize=4096)
def _template_fields(class_: type[TaggedError], template: str) -> _TemplateFields:
    hints = type_hints.resolved_hints(class_)
    parts = messages.parse_template(template)
    fields = [part.field for part in parts if part.field]
    return _TemplateFields(
        next((field for field in fields if hints.get(field) is int), None),
        tuple(field for field in fields if _is_literal(hints.get(field))),
    )


def _is_literal(hint: object) -> bool:
    return Literal in {get_origin(hint), *map(get_origin, get_args(hint))}
