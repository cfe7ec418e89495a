# `catch` handles one error and removes it from the channel: the type that is left names
# only the others. `reveal_type` shows it among the problems.
from typing import reveal_type

from seamwise import Category, Failure, Result, Success, TaggedError, catch


class CacheEmpty(TaggedError, category=Category.NOT_FOUND, message='{key!r} is not cached.'):
    key: str


class BankDown(TaggedError, category=Category.UNAVAILABLE, message='The bank does not answer.'):
    retry_after: float | None = None


def rate(currency: str) -> Result[float, CacheEmpty | BankDown]:
    if currency == 'EUR':
        return Success(1.0)
    return Failure(CacheEmpty(currency) if currency == 'CHF' else BankDown(retry_after=30))


def use_parity(error: CacheEmpty) -> Success[float]:
    return Success(1.0)


known = catch(CacheEmpty, use_parity)(rate('CHF'))
reveal_type(known)
print(known)

catch(CacheEmpty, use_parity)(rate('USD'))
