"""What a cache and a hedge keep of the types of what they stand around."""

from collections.abc import Callable, Coroutine
from typing import Any, Never, assert_type

from domain import UserNotFound
from seamwise import Result, Success, TaggedError, Category
from seamwise.policies.cache import cache
from seamwise.policies.hedge import hedge
from seamwise.policies._parts.percentile import percentile
from seamwise.policies._engine.pipeline import Guard

kept = cache(ttl=1.0, name='users')


@kept
def load(uid: int, *, deep: bool = False) -> Result[str, UserNotFound]:
    return Success(str(uid))


def by(uid: int) -> int:
    return uid


@cache(ttl=1.0, name='users', key=by)
async def aload(uid: int) -> Result[str, UserNotFound]:
    return Success(str(uid))


class Users:
    @kept
    def load(self, uid: int) -> Result[str, UserNotFound]:
        return Success(str(uid))

    @kept
    async def aload(self, uid: int) -> Result[str, UserNotFound]:
        return Success(str(uid))


assert_type(load(1), Result[str, UserNotFound])
assert_type(load(uid=1, deep=True), Result[str, UserNotFound])
load('1')  # want: error
load.forget(1, deep=False)
load.forget('1')  # want: error
load.clear()
assert_type(hedge(after=0.1, name='x'), Guard[Never])
hedge(after=percentile(0.95), name='x', share=0.2)
hedge(after='1', name='x')  # want: error
users = Users()
assert_type(users.load(1), Result[str, UserNotFound])
users.load('1')  # want: error
Users.load.forget(users, 1)
Users.load.clear()


async def main() -> None:
    assert_type(await aload(1), Result[str, UserNotFound])
    aload.forget(1)
    await aload('1')  # want: error
    assert_type(await users.aload(1), Result[str, UserNotFound])
    assert_type(await hedge(after=0.1, name='x').run(lambda: aload(1)), Result[str, UserNotFound])


@hedge(after=0.1, name='x')
@kept
async def both(uid: int) -> Result[str, UserNotFound]:
    return Success(str(uid))


@kept  # want: error
def plain(uid: int) -> int:
    return uid
