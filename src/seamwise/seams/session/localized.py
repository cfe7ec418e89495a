"""Texts of events for readers in every language, beside the event and never encoded with it."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import msgspec

from seamwise._defects.defects import report_defect
from seamwise._errors.errors import TaggedError
from seamwise._errors.texts import available_locales
from seamwise.redaction import redact
from seamwise.seams.rendering.errors import safe_public_message
from seamwise.seams.session.shape import ErrorEvent

Render: TypeAlias = Callable[[str], str]
"""Returns a text in a language, such as `zh_CN`."""

# A subclass of `str` in the field `show_content` would be simpler, but msgspec encodes none. The
# attribute is no field: encoders, `==`, `repr`, `hash` and `pickle` ignore it.
_RENDER_KEY: Final = '__seamwise_render__'

_MAX_REPORTED: Final = 64
_reported: Final[set[str]] = set()


def localize(event: ErrorEvent, render: Render, locale: str, /, **changes: object) -> ErrorEvent:
    """Return an event whose `show_content` is in a language, and can be rendered in the others.

    Args:
        event: The event.
        render: Returns the text in a language.
        locale: The language of `show_content`.
        **changes: Further fields to replace.

    >>> event = ErrorEvent(event='error.timeout', content='Late.', metadata={}, show_content='')
    >>> chinese = localize(event, {'en': 'Late.', 'zh_CN': '太晚了。'}.__getitem__, 'zh_CN')
    >>> chinese.show_content, translations_of(chinese)
    ('太晚了。', {'en': 'Late.', 'zh_CN': '太晚了。'})
    """
    localized = msgspec.structs.replace(event, show_content=render_in(render, locale), **changes)
    vars(localized)[_RENDER_KEY] = render
    return localized


def replace_fields(event: ErrorEvent, /, **changes: object) -> ErrorEvent:
    """Return an event with other fields, and with its texts in other languages."""
    changed = msgspec.structs.replace(event, **changes)
    if (render := _render_of(event)) is not None:
        vars(changed)[_RENDER_KEY] = render
    return changed


def translations_of(event: object) -> Mapping[str, str]:
    """Return `show_content` of an event in every language that has a catalogue.

    Events that `event`, `defect`, `publish` and an observer did not make have none.
    """
    render = _render_of(event) if isinstance(event, ErrorEvent) else None
    if render is None:
        return {}
    return {locale: render_in(render, locale) for locale in available_locales()}


def message_renderer(error: TaggedError) -> Render:
    """Return a function that renders the public message of an error.

    It keeps a redacted copy of the error, without its cause and the frames of an exception.
    """
    kept = redact(error)
    return lambda locale: safe_public_message(kept, locale)


def render_in(render: Render, locale: str) -> str:
    """Return a text in a language, or in English if its catalogue fails."""
    try:
        return render(locale)
    except Exception as error:
        if locale == 'en':
            raise
        # Each event would report it again.
        if locale not in _reported and len(_reported) < _MAX_REPORTED:
            _reported.add(locale)
            report_defect(error, locale=locale)
        return render('en')


def _render_of(event: ErrorEvent) -> Render | None:
    render: Render | None = vars(event).get(_RENDER_KEY)
    return render
