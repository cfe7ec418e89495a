"""An alias stands for its union of errors."""

from domain import BankDown, CardDeclined, CartEmpty
from seamwise import codec, json_schema
from seamwise.testing import errors_of
from typing_extensions import TypeAliasType, TypeVar, assert_type

T = TypeVar('T')
PaymentError = TypeAliasType('PaymentError', CardDeclined | BankDown)
ShopError = TypeAliasType('ShopError', PaymentError | CartEmpty)
OrBankDown = TypeAliasType('OrBankDown', T | BankDown, type_params=(T,))

assert_type(codec(PaymentError).decode(b''), CardDeclined | BankDown)
assert_type(codec(ShopError).decode(b''), CardDeclined | BankDown | CartEmpty)
assert_type(codec(OrBankDown[CartEmpty]).decode(b''), CartEmpty | BankDown)
codec(PaymentError).encode(BankDown())
codec(PaymentError).encode(CartEmpty(''))  # want: error, CartEmpty is not in the union
json_schema(ShopError)
errors_of(ShopError)
