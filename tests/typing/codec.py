"""Codecs know the union that they are made for: from a class, from `A | B`, from an alias."""

from typing import Any, TypeAlias

from domain import BankDown, CardDeclined, CartEmpty
from seamwise import TaggedError, codec, json_schema, sanitized, message_of
from typing_extensions import assert_type

Declined: TypeAlias = CardDeclined | BankDown

assert_type(codec(CardDeclined).decode(b''), CardDeclined)
assert_type(codec(CardDeclined | BankDown).decode(b''), CardDeclined | BankDown)
assert_type(codec(Declined).decode(''), CardDeclined | BankDown)
assert_type(codec(Declined).encode(BankDown()), bytes)
assert_type(json_schema(Declined), dict[str, Any])

# An error stays of its class when it is shown.
assert_type(sanitized(BankDown(1.5)), BankDown)
assert_type(message_of(BankDown(1.5), 'zh_CN'), str)


def any_error(error: TaggedError) -> str:
    return message_of(sanitized(error))


codec(Declined).encode(CartEmpty('ann'))  # want: error, CartEmpty is not in the union
codec(int)  # want: error, an int is no error
sanitized('text')  # want: error, a text is no error
