"""Functions of another file that the cases pass exceptions and errors to."""

import asyncio
from collections.abc import Iterator


class CommandError(Exception):
    pass


def raise_command_error(command, error):  # type: ignore[no-untyped-def]
    if isinstance(error, OSError):
        raise CommandError(f'{command}: no connection') from error
    raise CommandError(command) from error


def reraise(type_, value, tb=None):  # type: ignore[no-untyped-def]
    if value.__traceback__ is not tb:
        raise value.with_traceback(tb)
    raise value


def raise_by_another(error: object) -> None:
    raise_command_error('run', error)


def give_up(command: str) -> None:
    if command:
        raise CommandError(command)
    else:
        abort()


def abort() -> None:
    raise CommandError('aborted')


def describe(error: object) -> str:
    return str(error)


def raise_on_a_branch(error: Exception, *, strict: bool = False) -> None:
    if strict:
        raise error


def raise_current() -> None:
    if print() is None:
        raise


def set_exception(future: 'asyncio.Future[int]', error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)


def set_by_another(future: 'asyncio.Future[int]', error: BaseException) -> None:
    set_exception(future, error=error)


async def raise_later(error: Exception) -> None:
    raise error


def give_up_unless_empty(command: str) -> None:
    if not command:
        return
    raise CommandError(command)


def raise_while_iterated(error: Exception) -> Iterator[int]:
    yield 1
    raise error


class Transport:
    def fail(self, error: Exception) -> None:
        raise CommandError('transport') from error

    def close(self, error: Exception) -> None:
        raise NotImplementedError


def raise_first(errors: list[Exception]) -> None:
    if errors:
        raise errors[0]


def raise_group(errors: list[Exception]) -> None:
    if errors:
        raise ExceptionGroup('several errors', errors)


def raise_any(*errors: Exception | None) -> None:
    for error in errors:
        if error is not None:
            raise error


def count_all(errors: list[Exception]) -> None:
    for error in errors:
        print(error)
    if errors:
        raise CommandError(str(len(errors)))


def parse_port(text: str) -> int:
    if not text.isdigit():
        raise ValueError(text)
    return int(text)


def check_port(port: int) -> int:
    if port < 0:
        raise ValueError(port)
    return port


class Settings:
    def __init__(self, text: str) -> None:
        if not text:
            raise LookupError(text)
