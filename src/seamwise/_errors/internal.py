"""Marker of fields that are for the people who run the program, not for its clients."""

from typing import Annotated, Final, TypeAlias, TypeVar, final

from typing_extensions import override

T = TypeVar('T')


@final
class InternalMarker:
    """Type of the metadata in `Annotated`; `INTERNAL` is its only instance."""

    __slots__ = ()

    @override
    def __repr__(self) -> str:
        return 'INTERNAL'


INTERNAL: Final = InternalMarker()

Internal: TypeAlias = Annotated[T, INTERNAL]
"""Mark a field of an error class as internal, such as the text of a driver or an address.

There is no wrapper at run time: `Internal[str]` is a `str` for every type checker. The seams cli,
log, telemetry and planner show the field; http, jsonrpc, session and model do not. Where the type
of a field contains an internal one, for example in a Struct, the whole field is internal.

>>> from seamwise import Category, TaggedError
>>> class BankDown(TaggedError, category=Category.UNAVAILABLE, message='{host} does not answer.'):
...     host: Internal[str]
>>> BankDown('10.0.0.5').host, str(BankDown('10.0.0.5'))
('10.0.0.5', '10.0.0.5 does not answer.')
>>> from seamwise.messages import public_message
>>> public_message(BankDown('10.0.0.5'))
'The service is not available.'
"""
