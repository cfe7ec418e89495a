from collections.abc import Awaitable, Callable
from typing import Annotated, TypeAlias

import click
import fastapi
from fastapi import APIRouter, Depends, FastAPI, Security
from fastapi.params import Depends as Marker

from seamwise import Category, Do, Failure, Result, Success, TaggedError, fallible
from seamwise.seams import cli
from seamwise.seams.http import HttpError, endpoint, install, on


class SignedOut(TaggedError, category=Category.AUTHENTICATION, message='signed out'):
    pass


class NoBook(TaggedError, category=Category.NOT_FOUND, message='no book'):
    pass


class Busy(TaggedError, category=Category.CAPACITY, message='busy'):
    pass


def current_user(session: str = '') -> Result[str, SignedOut]:
    return Success(session) if session else Failure(SignedOut())


async def connection() -> Result[int, Busy]:
    return Success(1)


def session() -> int:
    return 1


@fallible
def fallible_user(do: Do[SignedOut]) -> str:
    return do(current_user())


def admin(user: Annotated[str, Depends(current_user)]) -> Result[str, SignedOut]:  # finds: SW121
    return Success(user)


def cart(number: int, user: Annotated[str, Depends(current_user)]) -> int:
    return number


CurrentUser = Annotated[str, Depends(current_user)]  # finds: SW121
Reader: TypeAlias = Annotated[str, Depends(current_user)]

BOOKS = on(NoBook).responds(404, 'NO_BOOK')
ACCESS = on(SignedOut).responds(401, 'SIGNED_OUT')
BUSY = on(Busy).responds(503, 'BUSY')
app = FastAPI()
router = APIRouter()


# case: an annotation
@app.get('/1')
@endpoint(BOOKS)
def annotation(user: Annotated[str, Depends(current_user)]) -> Result[str, NoBook]:  # finds: SW121
    return Success(user)


# case: a default
@app.get('/2')
@endpoint(BOOKS)
def default(user: str = Depends(current_user)) -> Result[str, NoBook]:  # finds: SW121
    return Success(user)


# case: covered
@app.get('/3')
@endpoint(BOOKS | ACCESS)
def covered(user: Annotated[str, Depends(current_user)], other: str = Depends(current_user)) -> Result[str, NoBook]:
    return Success(user)


# case: an asynchronous dependency and handler
@app.get('/4')
@endpoint(BOOKS | ACCESS)
async def asynchronous(
    user: Annotated[str, Depends(current_user)],
    number: Annotated[int, Depends(connection)],  # finds: SW121
) -> Result[str, NoBook]:
    return Success(user)


# case: a dependency without errors
@app.get('/5')
@endpoint(BOOKS)
def without_errors(number: Annotated[int, Depends(session)]) -> Result[int, NoBook]:
    return Success(number)


# case: other ways to write it
@app.get('/6')
@endpoint(BOOKS)
def spellings(
    first: Annotated[str, Security(current_user, scopes=['a'])],  # finds: SW121
    second: Annotated[str, fastapi.Depends(current_user)],  # finds: SW121
    third: Annotated[str, Marker(current_user)],  # finds: SW121
) -> Result[str, NoBook]:
    return Success(first)


# case: in direct style
@app.get('/7')
@endpoint(BOOKS)
def direct(user: Annotated[str, Depends(fallible_user)]) -> Result[str, NoBook]:  # finds: SW121
    return Success(user)


# case: of a dependency; the finding is in the dependency too
@app.get('/8')
@endpoint(BOOKS | BUSY)
def nested(user: Annotated[str, Depends(admin)]) -> Result[str, NoBook]:  # finds: SW121
    return Success(user)


# case: of a dependency, covered
@app.get('/9')
@endpoint(BOOKS | ACCESS)
def nested_covered(user: Annotated[int, Depends(cart)]) -> Result[int, NoBook]:
    return Success(user)


# case: an annotation with a name
@app.get('/10')
@endpoint(BOOKS)
def alias(user: CurrentUser) -> Result[str, NoBook]:
    return Success(user)


# case: an annotation with a name, covered
@app.get('/11')
@endpoint(ACCESS)
def alias_covered(user: Reader) -> Result[str, SignedOut]:
    return Success(user)


# case: dependencies of a route
@app.get('/12', dependencies=[Depends(current_user)])  # finds: SW121
@endpoint(BOOKS)
def of_a_route() -> Result[str, NoBook]:
    return Success('a')


# case: without an endpoint, by the installed adapter
@router.get('/13')
def installed(
    user: Annotated[str, Depends(fallible_user)],
    number: Annotated[int, Depends(connection)],  # finds: SW121
) -> Result[str, NoBook]:
    return Success(user)


install(app, BOOKS | ACCESS)


# case: a route without an endpoint, whose own error the installed adapter lacks
@router.get('/13/own')
def own_error() -> Result[str, NoBook | Busy]:  # finds: SW121
    return Failure(Busy())


@router.get('/13/covered')
def own_covered_error() -> Result[str, NoBook | SignedOut]:
    return Failure(NoBook())


@router.get('/13/endpoint')
@endpoint(BUSY)
def own_adapter() -> Result[str, Busy]:
    return Failure(Busy())


# case: a command whose error the function of the program lacks
def to_text(error: NoBook) -> cli.Rendered:
    return cli.Rendered.of(error, exit_code=66)


@click.command()
def lend() -> Result[str, NoBook | Busy]:  # finds: SW121
    return Failure(Busy())


@click.command()
def give_back() -> Result[str, NoBook]:
    return Failure(NoBook())


def run() -> None:
    cli.main(lend, to_text)


# case: dependencies of a router and an application
def create() -> None:
    APIRouter(dependencies=[Depends(current_user)])
    other = FastAPI(dependencies=[Depends(connection)])  # finds: SW121
    other.include_router(router, dependencies=[Depends(connection)])  # finds: SW121


# case: a class with a constructor that has dependencies
class Page:
    def __init__(self, number: Annotated[int, Depends(connection)]) -> None:  # finds: SW121
        self.number = number


@app.get('/14')
@endpoint(BOOKS)
def with_a_class(page: Annotated[Page, Depends(Page)]) -> Result[int, NoBook]:
    return Success(page.number)


# case: a plain function as the adapter
def render(error: NoBook | SignedOut) -> HttpError:
    raise NotImplementedError


@app.get('/15')
@endpoint(render)
def plain_adapter(
    user: Annotated[str, Depends(fallible_user)],
    number: Annotated[int, Depends(connection)],  # finds: SW121
) -> Result[str, NoBook]:
    return Success(user)


# case: an adapter of every error
def render_all(error: TaggedError) -> HttpError:
    raise NotImplementedError


@app.get('/16')
@endpoint(render_all)
def adapter_of_all(number: Annotated[int, Depends(connection)]) -> Result[str, NoBook]:
    return Success('a')


# case: a function that is no route
def no_route(number: Annotated[int, Depends(connection)]) -> Result[str, NoBook]:
    return Success('a')


# case: an instance with __call__
class Quota:
    def __init__(self, limit: int) -> None:
        self.limit = limit

    def __call__(self, number: Annotated[int, Depends(connection)]) -> Result[str, SignedOut]:  # finds: SW121
        return current_user('a')


class AsyncQuota:
    async def __call__(self) -> Result[str, SignedOut]:
        return current_user('a')


class FreeQuota:
    def __call__(self) -> str:
        return 'a'


@app.get('/17')
@endpoint(BOOKS)
def instance(
    user: Annotated[str, Depends(Quota(3))],  # finds: SW121
    other: Annotated[str, Depends(AsyncQuota())],  # finds: SW121
    free: Annotated[str, Depends(FreeQuota())],
    default: str = Depends(Quota(4)),  # finds: SW121
) -> Result[str, NoBook]:
    return Success(user)


@app.get('/18')
@endpoint(BOOKS | ACCESS)
def instance_covered(user: Annotated[str, Depends(AsyncQuota())]) -> Result[str, NoBook]:
    return Success(user)


# case: a function that a call returns
def need(role: str) -> Callable[..., Result[str, SignedOut]]:
    return current_user


def need_async(role: str) -> Callable[[], Awaitable[Result[str, SignedOut]]]:
    return AsyncQuota()


def need_nothing(role: str) -> Callable[[], str]:
    return str


@app.get('/19')
@endpoint(BOOKS)
def factory(
    user: Annotated[str, Depends(need('admin'))],  # finds: SW121
    other: Annotated[str, Depends(need_async('admin'))],  # finds: SW121
    free: Annotated[str, Depends(need_nothing('admin'))],
    default: str = Depends(need('guest')),  # finds: SW121
) -> Result[str, NoBook]:
    return Success(user)


@app.get('/20')
@endpoint(BOOKS | ACCESS)
def factory_covered(user: Annotated[str, Depends(need('admin'))]) -> Result[str, NoBook]:
    return Success(user)


# case: a function or an instance in a variable
need_admin = need('admin')
quota_guard = AsyncQuota()
free_guard = need_nothing('admin')
plain_guard: Callable[..., str] = str


@app.get('/variables')
@endpoint(BOOKS)
def variables(
    user: Annotated[str, Depends(need_admin)],  # finds: SW121
    quota: Annotated[str, Depends(quota_guard)],  # finds: SW121
    free: Annotated[str, Depends(free_guard)],
    plain: str = Depends(plain_guard),
    default: str = Depends(need_admin),  # finds: SW121
) -> Result[str, NoBook]:
    return Success(user)


@app.get('/variables/covered')
@endpoint(BOOKS | ACCESS)
def variables_covered(user: Annotated[str, Depends(need_admin)]) -> Result[str, NoBook]:
    return Success(user)
