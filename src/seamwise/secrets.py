"""A value that never prints: for tokens, passwords, and input that may hold one."""

from typing import Generic, TypeVar, final

from typing_extensions import override

T_co = TypeVar('T_co', covariant=True)

MASK = '***'
"""What stands wherever a secret would have been printed."""

_SALT = object()


@final
class Secret(Generic[T_co]):
    """Hold a value that no `repr`, `str`, `format`, hash or encoder shows; `reveal` gives it.

    Equality is the value's (text and bytes in constant time), pickling and copying keep it.

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
        """Give the value itself: call it where it is used, and nowhere else."""
        return self._value

    @override
    def __repr__(self) -> str:
        return f'Secret({MASK})'

    @override
    def __str__(self) -> str:
        return MASK

    @override
    def __format__(self, spec: str, /) -> str:
        # Any spec is taken: one meant for the value (`.2f`) must not fail on the mask.
        return MASK

    @override
    def __eq__(self, other: object, /) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine: object = self._value
        theirs: object = getattr(other, '_value', None)
        if type(mine) is str and type(theirs) is str:
            return _same_bytes(
                mine.encode('utf-8', 'surrogatepass'), theirs.encode('utf-8', 'surrogatepass')
            )
        if type(mine) is bytes and type(theirs) is bytes:
            return _same_bytes(mine, theirs)
        return bool(mine == theirs)

    @override
    def __hash__(self) -> int:
        # Salted per process: a hash that shows up in a log tells nothing about a guessable value.
        try:
            return hash((_SALT, self._value))
        except TypeError:
            return hash(_SALT)


def _same_bytes(mine: bytes, theirs: bytes) -> bool:
    from hmac import compare_digest  # noqa: PLC0415 -- loads hashlib, which the core does not need otherwise

    return compare_digest(mine, theirs)
