import asyncio
from dataclasses import dataclass
from functools import cached_property
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from collections.abc import AsyncIterator, Iterator
from typing import overload

import click
import typer
from seamwise import Category, Do, Failure, Result, Success, TaggedError, attempt, fallible, or_raise, refine, when
from raising_helpers import Settings, check_port, parse_port
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


# case: every caller makes an exception of the error, directly or indirectly
class Denied(TaggedError, category=Category.VALIDATION, message='denied'):
    def exception(self) -> LookupError:
        return LookupError(str(self))


def only_inside(text: str) -> Result[int, Denied]:
    if not text:
        raise KeyError(text)
    return Success(1)


@fallible
def beside_exceptions(do: Do[Denied], text: str) -> int:
    if text == 'a':
        raise KeyError(text)
    if text == 'b':
        raising_as_before('a')
    return do(only_inside(text))


def raising_as_before(text: str) -> int:
    match beside_exceptions(text):
        case Success(value):
            return value
        case Failure(error):
            raise error.exception()


# case: the same by the class, which has overloads
class Reader:
    @overload
    def __init__(self, text: str) -> None: ...
    @overload
    def __init__(self, text: bytes) -> None: ...
    def __init__(self, text: str | bytes) -> None:
        self.text = text

    def read_result(self) -> Result[int, Denied]:
        if not self.text:
            raise KeyError(self.text)
        return Success(1)

    def read(self) -> int:
        match Reader.read_result(self):
            case Success(value):
                return value
            case Failure(error):
                raise error.exception()


# case: one caller uses the Result
def used_twice(text: str) -> Result[int, Denied]:
    if not text:
        raise KeyError(text)  # finds: SW102
    return Success(1)


def raising_one(text: str) -> int:
    match used_twice(text):
        case Success(value):
            return value
        case Failure(error):
            raise error.exception()


def using_one(text: str) -> int:
    return used_twice(text).value_or(0)


# case: a caller that raises another exception
def raised_other(text: str) -> Result[int, Denied]:
    if not text:
        raise KeyError(text)  # finds: SW102
    return Success(1)


def raising_other(text: str) -> int:
    match raised_other(text):
        case Success(value):
            return value
        case Failure(_):
            raise AssertionError(text)


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

    return Success(inner())  # finds: SW102


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


# case: caught in the same function
def caught(text: str) -> Result[int, Bad]:
    try:
        if not text:
            raise ValueError(text)
        return Success(int(text))
    except ValueError:
        return Failure(Bad())


# case: caught by its base, in an outer statement
def caught_outside(text: str) -> Result[int, Bad]:
    try:
        try:
            raise KeyError(text)
        except OSError:
            pass
    except LookupError:
        return Failure(Bad())
    return Success(1)


# case: caught by a handler for everything
def caught_by_all(text: str) -> Result[int, Bad]:
    try:
        raise KeyError(text)
    except Exception:
        return Failure(Bad())


# case: caught by another class
def not_caught(text: str) -> Result[int, Bad]:
    try:
        raise KeyError(text)  # finds: SW102
    except OSError:
        return Failure(Bad())


# case: caught and raised again
def caught_again(text: str) -> Result[int, Bad]:
    try:
        raise KeyError(text)  # finds: SW102
    except KeyError:
        print(text)
        raise


# case: raised in a handler, in else and in finally
def beside(text: str) -> Result[int, Bad]:
    try:
        number = int(text)
    except ValueError:
        raise KeyError(text)  # finds: SW102
    else:
        if number:
            raise ValueError(text)  # finds: SW102
    return Success(1)


# case: suppressed
def suppressed(text: str) -> Result[int, Bad]:
    with suppress(LookupError):
        raise KeyError(text)
    return Success(1)


# case: another one is suppressed
def not_suppressed(text: str) -> Result[int, Bad]:
    with suppress(ValueError):
        raise KeyError(text)  # finds: SW102
    return Success(1)


# case: safe with a class
@safe(exceptions=(KeyError, OSError))
def safe_key(text: str) -> int:
    if not text:
        raise KeyError(text)
    return 1


@safe(exceptions=(ValueError,))
def safe_value(text: str) -> int:
    if not text:
        raise KeyError(text)  # finds: SW102
    return 1


@safe((LookupError,))
def safe_base(text: str) -> int:
    if not text:
        raise KeyError(text)
    return 1


# case: through a helper
def parse(text: str) -> int:
    if not text:
        raise KeyError(text)
    return 1


def through(text: str) -> Result[int, Bad]:
    return Success(parse(text))  # finds: SW102


# case: through two helpers, and async
async def parse_all(texts: list[str]) -> list[int]:
    return [parse(text) for text in texts]


async def through_two(texts: list[str]) -> Result[list[int], Bad]:
    return Success(await parse_all(texts))  # finds: SW102


# case: through a method
class Parser:
    def parse(self, text: str) -> int:
        return parse(text)

    def run(self, text: str) -> Result[int, Bad]:
        return Success(self.parse(text))  # finds: SW102

    def run_safely(self, text: str) -> Result[int, Bad]:
        try:
            return Success(self.parse(text))
        except KeyError:
            return Failure(Bad())


# case: the helper handles it
def parse_safely(text: str) -> int:
    try:
        return parse(text)
    except KeyError:
        return 0


def handled(text: str) -> Result[int, Bad]:
    return Success(parse_safely(text))


# case: the helper is called by attempt, or in a converting function
def by_attempt(text: str) -> Result[int, Bad]:
    return attempt(lambda: parse(text), when(KeyError).becomes(lambda raised: Bad()))


@attempt(when(LookupError).becomes(lambda raised: Bad()))
def converting(text: str) -> int:
    return parse(text)


@safe(exceptions=(KeyError,))
def converting_safely(text: str) -> int:
    return parse(text)


@safe(exceptions=(OSError,))
def converting_other(text: str) -> int:
    return parse(text)  # finds: SW102


# case: a helper that reports a wrong call
def checked(text: str) -> str:
    if not isinstance(text, str) or len(text) > 10:
        raise TypeError(text)
    if text == 'b':
        raise AssertionError(text)
    return text


def wrong_call(text: str) -> Result[str, Bad]:
    return Success(checked(text))


# case: a helper that returns a Result itself
def called(text: str) -> Result[int, Bad]:
    return plain(text)


# case: the callers of the function handle it
class Stop(Exception):
    pass


def stop(text: str) -> None:
    if text:
        raise Stop


def may_stop(text: str) -> Result[int, Bad]:
    stop(text)
    return Success(1)


def run_until_stop(text: str) -> Result[int, Bad]:
    try:
        return may_stop(text)
    except Stop:
        return Failure(Bad())


# case: the helper is not called here
def later_called(text: str) -> Result[object, Bad]:
    return Success(lambda: parse(text))


# case: what special methods answer with
class Words:
    def __iter__(self) -> 'Words':
        return self

    def __next__(self) -> Result[str, Bad]:
        raise StopIteration

    def __getitem__(self, name: str) -> Result[str, Bad]:
        raise KeyError(name)


# case: a handler that raises only others again
def strict(text: str) -> int:
    if not text:
        raise ValueError(text)
    if text == 'a':
        raise LookupError(text)
    return 1


def strict_value(text: str) -> int:
    if not text:
        raise ValueError(text)
    return 1


def filtered(text: str) -> Result[int, Bad]:
    try:
        number = strict_value(text)
    except Exception as error:
        if not isinstance(error, ValueError):
            raise
        return Failure(Bad())
    return Success(number)


def filtered_with_two_tests(text: str, flag: bool) -> Result[int, Bad]:
    try:
        if flag:
            raise ValueError(text)
        number = strict_value(text)
    except Exception as error:
        if isinstance(error, OSError) or not isinstance(error, (ValueError, TypeError)):
            raise
        return Failure(Bad())
    return Success(number)


def filtered_early(text: str) -> Result[int, Bad]:
    try:
        number = strict_value(text)
    except Exception as error:
        if isinstance(error, ValueError):
            return Failure(Bad())
        raise error
    return Success(number)


def matched(text: str) -> Result[int, Bad]:
    try:
        number = strict_value(text)
    except Exception as error:
        match error:
            case TypeError() | ValueError():
                return Failure(Bad())
            case _:
                raise
    return Success(number)


def only_others_leave(text: str) -> Result[int, Bad]:
    try:
        number = strict_value(text)
    except Exception as error:
        if isinstance(error, OSError):
            raise
        return Failure(Bad())
    return Success(number)


# case: a handler that raises the exception of the helper again
def filtered_for_another(text: str) -> Result[int, Bad]:
    try:
        number = strict_value(text)  # finds: SW102
    except Exception as error:
        if not isinstance(error, LookupError):
            raise
        return Failure(Bad())
    return Success(number)


def filtered_for_one_of_two(text: str) -> Result[int, Bad]:
    try:
        number = strict(text)  # finds: SW102
    except Exception as error:
        if not isinstance(error, ValueError):
            raise
        return Failure(Bad())
    return Success(number)


def raised_in_place(text: str) -> Result[int, Bad]:
    try:
        if not text:
            raise ValueError(text)  # finds: SW102
    except Exception as error:
        if isinstance(error, ValueError):
            raise
        return Failure(Bad())
    return Success(1)


def filtered_by_a_flag(text: str, flag: bool) -> Result[int, Bad]:
    try:
        number = strict_value(text)  # finds: SW102
    except Exception as error:
        match error:
            case ValueError() if flag:
                return Failure(Bad())
            case _:
                raise
    return Success(number)


# case: context managers that swallow the exception
class Swallowing:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> bool:
        return True


class SwallowingLater:
    async def __aenter__(self) -> None:
        pass

    async def __aexit__(self, *exception: object) -> bool:
        return True


@contextmanager
def swallowing(attempts: int) -> Iterator[None]:
    if attempts:
        with swallowing(attempts - 1):
            yield
    else:
        try:
            yield
        except (TypeError, ValueError) as error:
            print(error)


@asynccontextmanager
async def swallowing_later() -> AsyncIterator[None]:
    try:
        yield
    except ValueError as error:
        print(error)


def swallowed_by_a_class(text: str) -> Result[int, Bad]:
    with Swallowing():
        return Success(strict_value(text))
    return Failure(Bad())


def swallowed_by_a_function(text: str) -> Result[int, Bad]:
    with swallowing(1):
        if not text:
            raise ValueError(text)
        return Success(strict_value(text))
    return Failure(Bad())


async def swallowed_later(text: str) -> Result[int, Bad]:
    async with SwallowingLater():
        strict_value(text)
    async with swallowing_later():
        return Success(strict_value(text))
    return Failure(Bad())


def suppressed_by_a_stack(text: str) -> Result[int, Bad]:
    with ExitStack() as stack:
        stack.enter_context(suppress(ValueError))
        return Success(strict_value(text))
    return Failure(Bad())


# case: context managers that pass the exception on
class Closing:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        pass


@contextmanager
def logging() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        print(error)
        raise


def closed(text: str) -> Result[int, Bad]:
    with Closing():
        return Success(strict_value(text))  # finds: SW102


def logged(text: str) -> Result[int, Bad]:
    with logging():
        return Success(strict_value(text))  # finds: SW102


def suppressed_for_another(text: str) -> Result[int, Bad]:
    with ExitStack() as stack:
        stack.enter_context(suppress(LookupError))
        return Success(strict_value(text))  # finds: SW102


# case: an exception that ends the process
def ended(text: str) -> Result[int, Bad]:
    if not text:
        raise typer.Exit(2)
    if text == 'a':
        raise click.exceptions.Exit(2)
    if text == 'b':
        raise click.Abort
    return Success(1)


# case: constructors
class Account:
    def __init__(self, name: str) -> None:
        if not name:
            raise LookupError(name)
        if name == 'a':
            raise ValueError(name)


class SavingsAccount(Account):
    pass


class LoggedAccount(Account):
    def __init__(self, name: str) -> None:
        super().__init__(name)


@dataclass
class Point:
    x: int

    def __post_init__(self) -> None:
        if self.x < 0:
            raise LookupError(self.x)


def constructors(text: str) -> Result[object, Bad]:
    account = Account(text)  # finds: SW102
    savings = SavingsAccount(text)  # finds: SW102
    logged = LoggedAccount(text)  # finds: SW102
    point = Point(len(text))  # finds: SW102
    return Success((account, savings, logged, point))


# case: constructors whose exception is caught, or reports a wrong call
class Port:
    def __init__(self, number: int) -> None:
        if number < 0:
            raise ValueError(number)


def constructed(text: str) -> Result[object, Bad]:
    port = Port(len(text))
    try:
        return Success((port, Account(text)))
    except LookupError:
        return Failure(Bad())


# case: properties
class Order:
    def __init__(self, lines: dict[str, int]) -> None:
        self.lines = lines

    @property
    def total(self) -> int:
        if not self.lines:
            raise LookupError('no lines')
        return sum(self.lines.values())

    @cached_property
    def first(self) -> int:
        return self.total

    @property
    def size(self) -> int:
        return len(self.lines)

    @size.setter
    def size(self, size: int) -> None:
        if size < 0:
            raise LookupError(size)


def properties(order: Order) -> Result[int, Bad]:
    order.size = 2
    total = order.total  # finds: SW102
    return Success(total + order.first + order.size)  # finds: SW102


# case: generators whose values are read
def rows(text: str) -> Iterator[int]:
    for word in text.split():
        yield parse(word)


async def async_rows(text: str) -> AsyncIterator[int]:
    if not text:
        raise LookupError(text)
    yield 1


def all_rows(text: str) -> Iterator[int]:
    yield from rows(text)


async def generators(text: str) -> Result[object, Bad]:
    for row in rows(text):  # finds: SW102
        print(row)
    async for row in async_rows(text):  # finds: SW102
        print(row)
    listed = list(all_rows(text))  # finds: SW102
    doubled = [2 * row for row in rows(text)]  # finds: SW102
    total = sum(row for row in rows(text) if row)  # finds: SW102
    joined = ','.join(map(str, rows(text)))  # finds: SW102
    return Success((listed, doubled, total, joined))


# case: generators whose values are read elsewhere, or with a handler
def unread_generators(text: str) -> Result[object, Bad]:
    try:
        first = list(rows(text))
    except KeyError:
        return Failure(Bad())
    return Success((rows(text), (row for row in rows(text)), map(parse, text), first))


# case: functions that the standard library calls
async def called_by_others(words: list[str]) -> Result[object, Bad]:
    by_key = sorted(words, key=parse)  # finds: SW102
    longest = max(words, key=lambda word: parse(word))  # finds: SW102
    mapped = list(map(parse, words))  # finds: SW102
    accounts = [*map(Account, words)]  # finds: SW102
    parsed = await asyncio.to_thread(parse, words[0])  # finds: SW102
    return Success((by_key, longest, mapped, accounts, parsed))


# case: functions that nobody calls here
def not_called(words: list[str]) -> Result[object, Bad]:
    words.sort()
    print(parse)
    return Success((map(parse, words), {'parse': parse}, sorted(words, key=len)))


# case: helpers of another file
def other_file(text: str) -> Result[object, Bad]:
    port = parse_port(text)  # finds: SW102
    return Success((port, check_port(port), Settings(text)))  # finds: SW102


def other_file_handled(text: str) -> Result[int, Bad]:
    try:
        return Success(parse_port(text))
    except ValueError:
        return Failure(Bad())
