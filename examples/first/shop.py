"""A shop in miniature: two errors, functions that return results, and a match of the result."""

from typing import assert_never

from seamwise import Category, Do, Failure, Result, Success, TaggedError, fallible


class UserNotFound(TaggedError, category=Category.NOT_FOUND, message='There is no user {name!r}.'):
    name: str


class CardDeclined(TaggedError, category=Category.CONFLICT, message='Declined: {reason}.'):
    reason: str


def find_user(name: str) -> Result[str, UserNotFound]:
    return Success(name) if name in {'ada', 'bob'} else Failure(UserNotFound(name))


def charge(user: str) -> Result[int, CardDeclined]:
    return Success(42) if user == 'ada' else Failure(CardDeclined('no money'))


def pay(name: str) -> Result[int, UserNotFound | CardDeclined]:
    return find_user(name).bind(charge)


@fallible
def checkout(do: Do[UserNotFound | CardDeclined], name: str, limit: int) -> str:
    amount = do(pay(name))
    if amount > limit:
        do.fail(CardDeclined('over the limit'))
    return f'{name} paid {amount}'


def explain(result: Result[str, UserNotFound | CardDeclined]) -> str:
    match result:
        case Success(receipt):
            return receipt
        case Failure(error):
            match error:
                case UserNotFound(name):
                    return f'Please register, {name}.'
                case CardDeclined(reason):
                    return f'Please try another card ({reason}).'
                case _:
                    assert_never(error)
