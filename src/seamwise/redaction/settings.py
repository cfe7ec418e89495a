"""Names and patterns of an application, in addition to those that redaction knows."""

from collections.abc import Callable, Collection, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from re import Pattern, escape
from re import compile as pattern
from typing import Final, Self, TypeAlias, TypeGuard

Entry: TypeAlias = str | Pattern[str]
"""A name in any notation, or a pattern."""


class Settings:
    """Names and patterns to mask, and those to keep, beside the built-in ones. Immutable."""

    __slots__ = ('_also_names', '_never_names', 'also_patterns', 'is_default', 'never_patterns')

    def __init__(self, also: Collection[Entry] = (), never: Collection[Entry] = ()) -> None:
        self._also_names, self.also_patterns = _entries(also, 'also')
        self._never_names, self.never_patterns = _entries(never, 'never')
        self.is_default = not (also or never)

    def with_entries(self, also: Collection[Entry], never: Collection[Entry]) -> Self:
        """Return settings with further entries; a name in both of one call is kept."""
        result = type(self)(also, never)
        # A call has the last word: `never` of a call spares a name of the program's `also`.
        result._also_names |= self._also_names
        result._never_names |= self._never_names - _entries(also, 'also')[0]
        result.also_patterns += self.also_patterns
        result.never_patterns += self.never_patterns
        result.is_default = result.is_default and self.is_default
        return result

    def is_sensitive(self, name: str) -> bool:
        """Return whether the value of a name is secret under these settings."""
        # Compiling its patterns would slow the import of the package.
        from seamwise.redaction.sensitive_names import is_sensitive, split_words  # noqa: PLC0415

        if self.is_default:
            return is_sensitive(name)
        words = split_words(name)
        if ''.join(words) in self._never_names:
            return False
        return is_sensitive(name) or _contains(words, self._also_names)

    def is_kept(self, value: str) -> bool:
        """Return whether a whole value matches a pattern of `never`."""
        return any(pattern.fullmatch(value) for pattern in self.never_patterns)

    def may_match(self, text: str) -> bool:
        """Return whether a name or a pattern of `also` may occur in a text."""
        if not (self._also_names or self.also_patterns):
            return False
        # Compiling its patterns would slow the import of the package.
        from seamwise.redaction.sensitive_names import split_words  # noqa: PLC0415

        joined = ''.join(split_words(text))
        return any(name in joined for name in self._also_names) or any(
            pattern.search(text) for pattern in self.also_patterns
        )


def _entries(
    entries: Collection[object], parameter: str
) -> tuple[frozenset[str], tuple[Pattern[str], ...]]:
    if isinstance(entries, (str, bytes, Pattern)) or not isinstance(entries, Collection):
        raise TypeError(
            f'{parameter}={entries!r} is no collection. '
            f'Pass names and compiled patterns as a set or a list, such as {{{entries!r}}}.'
        )
    if not entries:
        return frozenset(), ()
    # Compiling its patterns would slow the import of the package.
    from seamwise.redaction.sensitive_names import split_words  # noqa: PLC0415

    names: set[str] = set()
    patterns: list[Pattern[str]] = []
    items: Iterable[object] = entries
    for entry in items:
        if _is_text_pattern(entry):
            patterns.append(entry)
        elif isinstance(entry, str) and (name := ''.join(split_words(entry))):
            names.add(name)
        else:
            raise TypeError(
                f'{parameter} contains {entry!r}. '
                'Each entry is a name with a letter, or a compiled pattern for texts.'
            )
    return frozenset(names), tuple(patterns)


def _is_text_pattern(entry: object) -> TypeGuard[Pattern[str]]:
    source: object = getattr(entry, 'pattern', None)
    return isinstance(entry, Pattern) and isinstance(source, str)


def _contains(words: list[str], names: frozenset[str]) -> bool:
    """Return whether consecutive words form one of the names."""
    longest = max(map(len, names), default=0)
    for start in range(len(words)):
        joined = ''
        for word in words[start:]:
            joined += word
            if joined in names:
                return True
            if len(joined) >= longest:
                break
    return False


class _Current:
    """The settings of the program. One assignment replaces them, so that no lock is needed."""

    settings = Settings()


CALL_VALUES: Final[ContextVar[Callable[[], Settings] | None]] = ContextVar(
    'seamwise_call_values', default=None
)
"""Returns the settings with the sensitive values of the call that the current code is part of."""


_known: ContextVar[Settings | None] = ContextVar('_known', default=None)
"""Settings of a context in which some values are known to be secret."""

MIN_KNOWN = 6
"""In characters; a shorter value would also be masked as a part of other words."""


def current() -> Settings:
    """Return the settings of the program, with the values that this context knows to be secret."""
    known = _known.get()
    if known is not None:
        # `masking` has built them from those of the call.
        return known
    values = CALL_VALUES.get()
    return _Current.settings if values is None else values()


@contextmanager
def masking(values: Iterable[str]) -> Generator[None]:
    """Mask some values in every text that this context redacts, with and without a name.

    Values with fewer than `MIN_KNOWN` characters are ignored.

    >>> from seamwise import redact
    >>> with masking(['hunter2x']):
    ...     redact('no user hunter2x')
    'no user ***'
    """
    texts = {value for value in values if len(value) >= MIN_KNOWN}
    if not texts:
        yield
        return
    forms = sorted({*texts, *(repr(text)[1:-1] for text in texts)}, key=len, reverse=True)
    token = _known.set(current().with_entries({pattern('|'.join(map(escape, forms)))}, ()))
    try:
        yield
    finally:
        _known.reset(token)


def configure(*, also: Collection[Entry] = (), never: Collection[Entry] = ()) -> None:
    """Set the names and patterns of the whole program; they replace those of an earlier call.

    Every seam and every later call of `redact` uses them, in all threads. `configure()` restores
    the defaults.

    Args:
        also: Names whose values are secret too, in any notation and within longer names. A compiled
            pattern is a form of secret: each match is masked, or its group `secret`.
        never: Names whose values are kept; only the whole name counts. A value that a compiled
            pattern matches completely is kept.

    Raises:
        TypeError: An argument is no collection of names and compiled patterns.

    >>> from seamwise import redact
    >>> configure(also={'iban'}, never={'csrf_token'})
    >>> redact({'customerIban': 'DE02', 'csrfToken': 'x-1', 'token': 'x-2'})
    {'customerIban': '***', 'csrfToken': 'x-1', 'token': '***'}
    >>> configure()
    """
    _Current.settings = Settings(also, never)
