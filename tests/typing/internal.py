"""An internal field has the type of its value; `public` is a class keyword."""

from typing import Generic, TypeVar

from seamwise import Category, Internal, TaggedError
from typing_extensions import assert_type

T = TypeVar('T')


class BankDown(
    TaggedError,
    category=Category.UNAVAILABLE,
    message='{bank} does not answer: {reason}.',
    public='{bank} does not answer.',
):
    bank: str
    reason: Internal[str]
    host: Internal[str] | None = None
    port: Internal[int | None] = None
    peers: Internal[tuple[str, ...]] = ()


class Rejected(TaggedError, Generic[T], category=Category.VALIDATION, message='{value}', public='No.'):
    value: Internal[T]


error = BankDown('Acme', 'refused', host='10.0.0.5', port=5432, peers=('a',))
assert_type(error.reason, str)
assert_type(error.host, str | None)
assert_type(error.port, int | None)
assert_type(error.peers, tuple[str, ...])
assert_type(Rejected(7).value, int)
reason: str = error.reason

match error:
    case BankDown(bank, found, host=host):
        assert_type(found, str)
        assert_type(host, str | None)

BankDown('Acme', 7)  # want: error, a reason is a str
BankDown('Acme', 'refused', host=5)  # want: error, a host is a str
error.reason = 'other'  # want: error, an error is frozen
