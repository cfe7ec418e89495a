"""Sensitive values of a call, which are masked wherever code of the call quotes them."""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from re import Match, Pattern, escape
from re import compile as pattern
from typing import Final
from urllib.parse import quote
from uuid import UUID

import msgspec

from seamwise._text.secrets import MASK, Secret
from seamwise.redaction.settings import CALL_VALUES, MIN_KNOWN, Settings, current

MAX_LENGTH: Final = 10_000
"""Longer values are documents; the pattern of one would cost more than the search."""


class CallValues:
    """Sensitive values of a call. Their pattern is compiled when a text is redacted.

    Args:
        values: The values.
        outer: The settings around the call.
    """

    def __init__(self, values: Iterable[str], outer: Settings) -> None:
        self._values = frozenset(values)
        self._outer = outer

    @cached_property
    def _pattern(self) -> Pattern[str]:
        forms = {form for value in self._values for form in _forms(value)}
        # The longest first: a value can be the beginning of another one.
        return pattern('|'.join(sorted(forms, key=len, reverse=True)))

    @cached_property
    def settings(self) -> Settings:
        """The settings of redaction for the call."""
        return self._outer.with_entries((self._pattern,), ())

    def get_settings(self) -> Settings:
        """Return `settings`, which are built at the first use."""
        return self.settings

    def mask(self, text: str) -> str:
        """Mask the values in a text."""
        return self._pattern.sub(MASK, text)


def sensitive_texts(arguments: Mapping[str, object]) -> Iterator[str]:
    """Yield the texts in the arguments of a call that are sensitive by a name or by `Secret`."""
    settings = current()
    stack: list[tuple[object, bool]] = [(arguments, False)]
    visited: set[int] = set()
    while stack:
        value, is_secret = stack.pop()
        if isinstance(value, Secret):
            stack.append((value.reveal(), True))  # pyright: ignore[reportUnknownArgumentType]  # isinstance does not tell the members
        elif isinstance(value, (str, bytes, bytearray, int, UUID)):
            if is_secret and MIN_KNOWN <= len(text := _text_of(value)) <= MAX_LENGTH:
                yield text
        elif id(value) not in visited:
            visited.add(id(value))
            stack += (
                (part, is_secret or (isinstance(name, str) and settings.is_sensitive(name)))
                for name, part in _parts(value)
            )


def _text_of(value: str | bytes | bytearray | int | UUID) -> str:
    if isinstance(value, (bytes, bytearray)):
        # `_forms` restores the bytes.
        return value.decode('utf-8', 'surrogateescape')
    # `str` of an enum of texts is the name of its member.
    return str.__str__(value) if isinstance(value, str) else str(value)


def _bytes_of(text: str) -> bytes:
    try:
        return text.encode('utf-8', 'surrogateescape')
    except UnicodeEncodeError:
        return text.encode('utf-8', 'surrogatepass')


def _parts(value: object) -> Iterable[tuple[object, object]]:
    if isinstance(value, Mapping):
        members: Mapping[object, object] = value  # pyright: ignore[reportUnknownVariableType]  # isinstance does not tell the members
        return members.items()
    if isinstance(value, (list, tuple, set, frozenset)):
        items: Iterable[object] = value  # pyright: ignore[reportUnknownVariableType]  # isinstance does not tell the members
        return ((None, part) for part in items)  # pyright: ignore[reportUnknownVariableType]  # isinstance does not tell the members
    if isinstance(value, msgspec.Struct):
        return ((name, getattr(value, name)) for name in value.__struct_fields__)
    names = getattr(value, '__dataclass_fields__', ())
    return ((name, getattr(value, name, None)) for name in names)


def masked_call(arguments: Mapping[str, object]) -> CallValues | None:
    """Mask the sensitive texts in some arguments for the rest of the current context.

    Return the values, or None if there are none.
    """
    texts = [*sensitive_texts(arguments)]
    if not texts:
        return None
    values = CallValues(texts, current())
    CALL_VALUES.set(values.get_settings)
    return values


def _forms(value: str) -> Iterator[str]:
    """Yield patterns of a text in the encodings in which messages quote it."""
    data = _bytes_of(value)
    for text in (
        value,
        data.decode('utf-8', 'replace'),
        repr(value)[1:-1],
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        repr(data)[2:-1],
    ):
        yield _ESCAPES.sub(_escaped_again, text)
    yield ''.join(_HTML.get(character) or escape(character) for character in value)
    for safe in ('', '/', "/:=&?+,;@!$'()*~"):
        encoded = quote(data, safe=safe)
        yield escape(encoded).replace('%20', r'(?:%20|\+)')
        yield escape(_PERCENT.sub(lambda match: match[0].lower(), encoded))
    for offset in range(_BASE64_BYTES):
        yield from _base64_forms(data, offset)


def _escaped_again(match: Match[str]) -> str:
    """Return a pattern of quotes and backslashes that further encodings escape."""
    # Without limits, the search would take quadratic time in a text of backslashes.
    if match['backslashes']:
        return r'\\{1,16}'
    return rf'\\{{0,8}}{match[0]}' if match['quote'] else escape(match[0])


_ESCAPES: Final = pattern(r"""(?P<backslashes>\\+)|(?P<quote>["'])|[^\\"']+""")
_HTML: Final = {
    '&': '&amp;',
    '<': '(?:&lt;|<)',
    '>': '(?:&gt;|>)',
    '"': '(?:&quot;|&#34;|")',
    "'": "(?:&#x27;|&#39;|&apos;|')",
}
_PERCENT: Final = pattern('%[0-9A-F]{2}')
_BASE64_BYTES: Final = 3
"""The number of bytes that four characters of base64 encode."""


def _base64_forms(data: bytes, offset: int) -> Iterator[str]:
    """Yield patterns of data in base64 behind a number of other bytes."""
    encoded = b64encode(bytes(offset) + data).decode()
    # The first and the last characters also encode the neighbors of the data.
    first = -(-offset * 8 // 6)
    last = (offset + len(data)) * 8 // 6
    core = encoded[first:last]
    for text in {core, core.replace('+', '-').replace('/', '_')}:
        yield rf'[\w+/-]{{0,2}}{escape(text)}[\w+/-]?={{0,2}}'
