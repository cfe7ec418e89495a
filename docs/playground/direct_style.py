# Direct style: `do(result)` is the value of a success. A failure ends the function. The
# parameter `do` names the errors that may leave it; any other one is a type error.
from seamwise import Category, Do, Failure, Result, Success, TaggedError, fallible
from seamwise.seams import cli


class UserNotFound(TaggedError, category=Category.NOT_FOUND, message='There is no user {name!r}.'):
    name: str


class CardDeclined(TaggedError, category=Category.CONFLICT, message='Declined: {reason}.'):
    reason: str


def find_user(name: str) -> Result[str, UserNotFound]:
    return Success(name) if name in {'ada', 'bob'} else Failure(UserNotFound(name))


def charge(user: str) -> Result[int, CardDeclined]:
    return Success(42) if user == 'ada' else Failure(CardDeclined('no money'))


@fallible
def checkout(do: Do[UserNotFound | CardDeclined], name: str, limit: int) -> str:
    amount = do(charge(do(find_user(name))))
    if amount > limit:
        do.fail(CardDeclined(f'{amount} is over the limit of {limit}'))
    return f'{name} paid {amount}'


AS_TEXT = cli.on(UserNotFound).exits(66, hint='register first.') | cli.on(CardDeclined).exits(1)

print(checkout('ada', limit=50))
print(checkout('eve', limit=50))

checkout('ada', limit=10)
