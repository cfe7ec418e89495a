"""Exceptions of the shop, each with what HTTP shows of it."""

from typing import ClassVar

UNAVAILABLE = 'A service that this one needs is not available.'


class ShopError(Exception):
    """Base class of the exceptions that a client sees."""

    status: ClassVar[int]
    code: ClassVar[str]
    is_retryable: ClassVar[bool] = False

    def __init__(
        self, message: str, headers: dict[str, str] | None = None, **details: object
    ) -> None:
        super().__init__(message)
        self.message = message
        self.headers = headers
        self.details = details


class ProductNotFound(ShopError):
    """The product does not exist."""

    status, code = 404, 'PRODUCT_NOT_FOUND'

    def __init__(self, sku: str) -> None:
        super().__init__(f'There is no product {sku!r}.', sku=sku)


class OutOfStock(ShopError):
    """The order is larger than the stock."""

    status, code = 409, 'OUT_OF_STOCK'

    def __init__(self, sku: str, left: int) -> None:
        super().__init__(f'There are only {left} of {sku!r} left.', sku=sku, left=left)


class OrderNotFound(ShopError):
    """The order does not exist."""

    status, code = 404, 'ORDER_NOT_FOUND'

    def __init__(self, number: int) -> None:
        super().__init__(f'There is no order {number}.', number=number)


class OrderShipped(ShopError):
    """A shipped order cannot be cancelled."""

    status, code = 409, 'ORDER_SHIPPED'

    def __init__(self, number: int) -> None:
        super().__init__(f'The order {number} was shipped already.', number=number)


class CardDeclined(ShopError):
    """The bank declined the payment."""

    status, code = 409, 'CARD_DECLINED'

    def __init__(self, reason: str) -> None:
        super().__init__(f'Declined: {reason}.', reason=reason)


class Unauthenticated(ShopError):
    """The request has no valid credentials."""

    status, code = 401, 'UNAUTHORIZED'

    def __init__(self, scheme: str) -> None:
        headers = {'WWW-Authenticate': scheme}
        super().__init__(f'This needs credentials ({scheme}).', headers, scheme=scheme)


class AccessDenied(ShopError):
    """The user may not do this."""

    status, code = 403, 'FORBIDDEN'

    def __init__(self, action: str, resource: str) -> None:
        message = f'You may not {action} {resource!r}.'
        super().__init__(message, action=action, resource=resource)


class BankUnavailable(ShopError):
    """The bank failed."""

    status, code, is_retryable = 502, 'UPSTREAM_ERROR', True

    def __init__(self) -> None:
        super().__init__(UNAVAILABLE)


class BankTooSlow(ShopError):
    """The bank did not answer in time."""

    status, code, is_retryable = 504, 'UPSTREAM_TIMEOUT', True

    def __init__(self) -> None:
        super().__init__(UNAVAILABLE)


class BankPaused(ShopError):
    """The circuit of the bank is open."""

    status, code, is_retryable = 503, 'CIRCUIT_OPEN', True

    def __init__(self, retry_after: float) -> None:
        super().__init__(UNAVAILABLE, {'Retry-After': str(int(retry_after) + 1)})


class DatabaseUnavailable(ShopError):
    """The database does not answer."""

    status, code, is_retryable = 503, 'SERVICE_UNAVAILABLE', True

    def __init__(self) -> None:
        super().__init__(UNAVAILABLE)
