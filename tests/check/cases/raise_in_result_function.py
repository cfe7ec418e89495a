import asyncio
from collections.abc import Iterator

from seamwise import Category, Do, Failure, Result, Success, TaggedError, attempt, fallible, or_raise, refine, when
from returns.result import safe


class Bad(TaggedError, category=Category.VALIDATION, message='bad'):
    pass


# case: an exception in addition to a channel
def plain(text: str) -> Result[int, Bad]:
    if not text:
        raise ValueError(text)  # finds: SW102
    return Success(1)


# case: an exception class without a call
def by_class(text: str) -> Result[int, Bad]:
    if not text:
        raise KeyError  # finds: SW102
    return Success(1)


# case: a function that returns no Result
def other(text: str) -> int:
    raise ValueError(text)


# case: async
async def later(text: str) -> Result[int, Bad]:
    raise RuntimeError(text)  # finds: SW102


# case: direct style
@fallible
def direct(do: Do[Bad], text: str) -> int:
    if not text:
        raise ValueError(text)  # finds: SW102
    return 1


# case: direct style, async, in a method
class Service:
    @fallible
    async def run(self, do: Do[Bad], text: str) -> int:
        if not text:
            raise LookupError(text)  # finds: SW102
        return 1

    @fallible
    async def well(self, do: Do[Bad], text: str) -> int:
        if not text:
            do.fail(Bad())
        return 1


# case: a helper that receives a do returns no Result
def helper(do: Do[Bad], text: str) -> int:
    if not text:
        raise ValueError(text)
    return 1


# case: exceptions that report a bug
def wrong(text: str) -> Result[int, Bad]:
    if text == 'a':
        raise AssertionError(text)
    if text == 'b':
        raise NotImplementedError
    return Success(1)


class Impossible(AssertionError):
    pass


def impossible() -> Result[int, Bad]:
    raise Impossible


# case: raised again
def again(text: str) -> Result[int, Bad]:
    try:
        return Success(int(text))
    except ValueError:
        raise
    except OSError as raised:
        print()
        raise raised


# case: another one instead
def instead(text: str) -> Result[int, Bad]:
    try:
        return Success(int(text))
    except ValueError as raised:
        raise RuntimeError(text) from raised  # finds: SW102


# case: out by or_raise
def out(text: str) -> Result[int, Bad]:
    return Success(or_raise(plain(text)))


# case: exceptions that end the process or the task
def ends() -> Result[int, Bad]:
    raise SystemExit(1)


async def cancelled() -> Result[int, Bad]:
    raise asyncio.CancelledError


# case: named by attempt
@attempt(when(ValueError).becomes(lambda raised: Bad()))
def edge(text: str) -> int:
    if not text:
        raise ValueError(text)
    return 1


# case: named by its base
@attempt(when(LookupError).becomes(lambda raised: Bad()) | when(OSError).becomes(lambda raised: Bad()))
def edge_of_base(text: str) -> int:
    if not text:
        raise KeyError(text)
    return 1


# case: not named by attempt
@attempt(when(ValueError).becomes(lambda raised: Bad()))
def edge_of_other(text: str) -> int:
    if not text:
        raise TypeError(text)  # finds: SW102
    return 1


# case: rules under a name
RULES = when(ValueError).becomes(lambda raised: Bad()) | when(TimeoutError).becomes(lambda raised: Bad())


@attempt(RULES)
async def edge_by_name(text: str) -> int:
    if not text:
        raise TimeoutError(text)
    return 1


# case: rules that cannot be read
def make_rules():  # type: ignore[no-untyped-def]
    return when(ValueError).becomes(lambda raised: Bad())


@attempt(make_rules())
def edge_unknown(text: str) -> int:
    raise KeyError(text)


# case: refine decides by itself
@refine(lambda raised: Failure(Bad()) if isinstance(raised, KeyError) else None)
def refined(text: str) -> int:
    raise KeyError(text)


# case: safe of another library
@safe
def saved(text: str) -> int:
    raise KeyError(text)


# case: an inner function that returns something else
def outer() -> Result[int, Bad]:
    def inner() -> int:
        raise ValueError

    return Success(inner())


# case: an inner function that returns a Result
def outer_plain() -> int:
    def inner() -> Result[int, Bad]:
        raise ValueError  # finds: SW102

    return inner().value_or(1)


# case: a generator of results returns none
def generator() -> Iterator[Result[int, Bad]]:
    yield Success(1)
    raise ValueError


# case: a classifier returns a Failure or nothing
def classifier(raised: Exception) -> Failure[Bad] | None:
    if not raised.args:
        raise ValueError
    return Failure(Bad())


# case: an exception of its own, made elsewhere
class Refused(Exception):
    pass


def make() -> Refused:
    return Refused()


def own() -> Result[int, Bad]:
    raise make()  # finds: SW102


# case: without annotations
def untyped(text):  # type: ignore[no-untyped-def]
    if not text:
        raise ValueError  # finds: SW102
    return Success(1)


# case: code that is never reached
def unreachable(text: str) -> Result[int, Bad]:
    if not isinstance(text, str):
        raise TypeError
    return Success(1)


# case: allowed with a reason
def allowed(text: str) -> Result[int, Bad]:
    raise TypeError(  # seamwise: allow[SW102] a wrong call is a defect
        text
    )


# case: caught in another thread, and raised again here
class Flight:
    def __init__(self) -> None:
        self.defect: Exception | None = None

    def wait(self) -> Result[int, Bad]:
        if self.defect is not None:
            raise self.defect.with_traceback(None)
        return Success(1)


# case: made here, and raised under a name
def made_first(number: int) -> Result[int, Bad]:
    wrong = ValueError('no')
    raise wrong  # finds: SW102
