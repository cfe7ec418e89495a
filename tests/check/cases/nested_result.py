from seamwise import Category, Do, Failure, Result, Success, TaggedError, attempt, bind_async, fallible, map_async, when


class Missing(TaggedError, category=Category.NOT_FOUND, message='missing'):
    pass


class Empty(TaggedError, category=Category.CONFLICT, message='empty'):
    pass


def find(uid: int) -> Result[str, Missing]:
    return Success('ada') if uid else Failure(Missing())


def load(user: str) -> Result[list[str], Empty]:
    return Success([user]) if user else Failure(Empty())


def maybe(user: str) -> Result[str, Empty] | None:
    return Success(user) if user else None


async def fetch(user: str) -> Result[list[str], Empty]:
    return load(user)


async def count(user: str) -> int:
    return len(user)


# case: a function that returns a Result
def nested(uid: int) -> bool:
    return isinstance(find(uid).map(load), Success)  # finds: SW119


# case: a lambda
def by_lambda(uid: int) -> object:
    return find(uid).map(lambda user: load(user.upper()))  # finds: SW119


# case: a method
class Carts:
    def load(self, user: str) -> Result[list[str], Empty]:
        return load(user)

    def of(self, uid: int) -> object:
        return find(uid).map(self.load)  # finds: SW119


# case: in a chain
def chain(uid: int) -> object:
    return find(uid).map(str.upper).map(load).map(str)  # finds: SW119


# case: on several lines
def lines(uid: int) -> object:
    return (
        find(uid)  # finds: SW119
        .map(load)
    )


# case: a Result or None
def optional(uid: int) -> object:
    return find(uid).map(maybe)  # finds: SW119


# case: async
async def later(uid: int) -> object:
    return await map_async(find(uid), fetch)  # finds: SW119


# case: bind
def bound(uid: int) -> Result[list[str], Missing | Empty]:
    return find(uid).bind(load)


# case: bind, async
async def bound_later(uid: int) -> Result[list[str], Missing | Empty]:
    return await bind_async(find(uid), fetch)


# case: a function that returns a plain value
def plain(uid: int) -> Result[int, Missing]:
    return find(uid).map(len)


# case: a plain value, async
async def plain_later(uid: int) -> Result[int, Missing]:
    return await map_async(find(uid), count)


# case: a list of Results
def listed(uid: int) -> object:
    return find(uid).map(lambda user: [load(letter) for letter in user])


# case: the map of another class
def builtin(users: list[str]) -> list[Result[list[str], Empty]]:
    return list(map(load, users))


# case: a Result that already contains a Result
def inner(result: Result[Result[int, Empty], Missing]) -> Result[Result[str, Empty], Missing]:
    return result.map(lambda value: value.map(str))


# case: a function that handles the inner Result
def handled(uid: int) -> Result[list[str], Missing]:
    return find(uid).map(lambda user: load(user).value_or([]))


# case: a callback that receives Results
def alternatives(uid: int) -> object:
    return find(uid).alt(lambda error: Failure(error))


# case: a function in direct style that returns a Result
@fallible
def direct(do: Do[Empty], user: str) -> Result[list[str], Empty]:
    if user == 'ada':
        return load(user)  # finds: SW119
    return Success([do(load(user))[0]])  # finds: SW119


# case: an async function in direct style that returns a Result
@fallible
async def direct_async(do: Do[Empty], user: str) -> Result[list[str], Empty]:
    return await fetch(user)  # finds: SW119


# case: a function in direct style that returns values
@fallible
def values(do: Do[Empty], user: str) -> list[str]:
    def inner() -> Result[list[str], Empty]:
        return load(user)

    return do(inner())


# case: an attempt of a function that returns a Result
def attempted(user: str) -> object:
    return attempt(lambda: load(user), when(ValueError).becomes(lambda _: Missing()))  # finds: SW119


# case: the decorator, on a function that returns a Result
@attempt(when(ValueError).becomes(lambda _: Missing()))
def decorated(user: str) -> Result[list[str], Empty]:
    return load(user)  # finds: SW119


# case: an attempt of a function that returns a value
def attempted_value(user: str) -> object:
    return attempt(lambda: int(user), when(ValueError).becomes(lambda _: Missing()))
