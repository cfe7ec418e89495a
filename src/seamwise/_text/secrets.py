"""Wrapper for tokens, passwords and input that may contain one: it never prints its value."""

from typing import Generic, TypeVar, final

from typing_extensions import override

T_co = TypeVar('T_co', covariant=True)

MASK = '***'
"""Replacement for a secret in any output."""

_SALT = object()


@final
class Secret(Generic[T_co]):
    """Wrapper of a value that `repr`, `str`, `format`, the hash and encoders do not disclose.

    Secrets with equal values are equal; texts and bytes are compared in constant time. Pickling and
    copying preserve the value.

    >>> token = Secret('hunter2')
    >>> print(token, [token], f'{token!r:>20}')
    *** [Secret(***)]          Secret(***)
    >>> token.reveal()
    'hunter2'
    """

    __slots__ = ('_value',)

    def __init__(self, value: T_co, /) -> None:
        self._value = value

    def reveal(self) -> T_co:
        """Return the value; call this only where the value is used."""
        return self._value

    @override
    def __repr__(self) -> str:
        return f'Secret({MASK})'

    @override
    def __str__(self) -> str:
        return MASK

    @override
    def __format__(self, spec: str, /) -> str:
        # Ignore the spec: one that fits the value (`.2f`) must not fail on the mask.
        return MASK

    @override
    def __eq__(self, other: object, /) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        value: object = self._value
        other_value: object = getattr(other, '_value', None)
        if type(value) is str and type(other_value) is str:
            return _equal_bytes(
                value.encode('utf-8', 'surrogatepass'), other_value.encode('utf-8', 'surrogatepass')
            )
        if type(value) is bytes and type(other_value) is bytes:
            return _equal_bytes(value, other_value)
        return bool(value == other_value)

    @override
    def __hash__(self) -> int:
        # Salted per process: a hash in a log must not confirm a guessed value.
        try:
            return hash((_SALT, self._value))
        except TypeError:
            return hash(_SALT)


def _equal_bytes(value: bytes, other: bytes) -> bool:
    from hmac import compare_digest  # noqa: PLC0415 -- it loads hashlib, which is rarely needed

    return compare_digest(value, other)
