"""Assertions about results and adapters, for any test framework."""

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from inspect import isawaitable, iscoroutine
from typing import Never, TypeVar

from msgspec import Struct

from seamwise._results.containers import Result, is_success
from seamwise.seams.adapter import Adapter
from seamwise.testing.comparison import field_differences
from seamwise.testing.formatting import (
    MAX_VALUE,
    class_names,
    content,
    error_lines,
    is_result,
    safe_repr,
)
from seamwise.testing.unions import members

T = TypeVar('T')
K = TypeVar('K')


def assert_success(result: Result[T, object], /) -> T:
    """Return the value of a Success; a Failure is an AssertionError that shows its error.

    The message contains all fields and causes of the error. Secrets are masked.

    Raises:
        AssertionError: The result is a Failure.
        TypeError: The argument is no result, such as a coroutine that was not awaited.

    >>> from seamwise import Success
    >>> assert_success(Success(3)) + 1
    4
    """
    __tracebackhide__ = True
    _check_result('assert_success', result)
    if is_success(result):
        return result.unwrap()
    lines = error_lines(content(result), MAX_VALUE)
    raise AssertionError(_joined('Expected a Success, not the Failure of this error:', lines))


def assert_failure(result: Result[object, object], kind: type[K], /, **fields: object) -> K:
    """Return the error of a Failure after checking its class and some of its fields.

    Args:
        result: The result.
        kind: Expected class of the error.
        **fields: Expected values of fields; other fields may have any value.

    Raises:
        AssertionError: The result is a Success, or its error has another class or other fields.
        TypeError: The argument is no result, or `kind` has no field of such a name.

    >>> from seamwise import Category, Failure, TaggedError
    >>> class Gone(TaggedError, category=Category.NOT_FOUND):
    ...     key: int
    ...     shelf: str = 'A'
    >>> assert_failure(Failure(Gone(8)), Gone, key=8).shelf
    'A'
    """
    __tracebackhide__ = True
    _check_result('assert_failure', result)
    _check_kind(kind, fields)
    error = content(result)
    if is_success(result):
        raise AssertionError(f'Expected {_call(kind.__name__, fields)}, not {_short(result)}')
    if not isinstance(error, kind):
        expected_name, name = class_names(kind, type(error))
        expected = _call(expected_name, fields)
        lines = error_lines(error, MAX_VALUE, name)
        raise AssertionError(  # noqa: TRY004 -- the test has failed
            _joined(f'Expected {expected}, not this error:', lines)
        )
    differences = [
        line
        for name, value in fields.items()
        for line in field_differences(getattr(error, name), value, name, MAX_VALUE)
    ]
    if differences:
        lines = ['Fields that differ (actual != expected):', *(f'  {x}' for x in differences)]
        expected = _call(kind.__name__, fields)
        raise AssertionError(_joined(f'Expected {expected}, not {_short(result)}', lines))
    return error


def assert_covers(adapter: Callable[[Never], object], union: object, /) -> None:
    """Check that an adapter decides about every member of a union, as `hidden` does too.

    Type checkers find a hole where the adapter is declared as `Adapter[A | B, …]`. This assertion
    also finds it in code that is not type-checked.

    Args:
        adapter: An adapter of any seam, or an annotated function.
        union: An error class, `A | B`, an alias of it, or a `Result` type with such errors.

    Raises:
        AssertionError: The adapter has no arm for some members; the message names all of them.
        TypeError: `adapter` is a function without an annotation, or `union` contains a type that is
            no class.

    >>> from seamwise.catalog.storage import StorageError
    >>> from seamwise.seams.http.tables import STORAGE
    >>> assert_covers(STORAGE, StorageError)
    """
    __tracebackhide__ = True
    arms = Adapter.of(adapter).arms
    kinds = members(union)
    if not kinds:
        raise TypeError(f'{union!r} has no errors: there is nothing to cover.')
    missing = [kind for kind in kinds if not any(base in arms for base in kind.__mro__)]
    if not missing:
        return
    names = [kind.__name__ for kind in missing]
    hidden = f'`| on({" | ".join(names)}).hidden()`'
    advice = f'`| on({names[0]})…`, or hide it: {hidden}.'
    if len(missing) > 1:
        advice = f'`| on({names[0]})…` for each of them, or hide them: {hidden}.'
    extent = 'the error class'
    if len(kinds) > 1:
        extent = f'{len(missing)} of {len(kinds)} error classes'
    full_names = [f'{kind.__module__}.{kind.__qualname__}' for kind in missing]
    raise AssertionError(
        _joined(f'The adapter has no arm for {extent}:', full_names, f'Add {advice}')
    )


def _check_result(function: str, result: object) -> None:
    if is_result(result):
        return
    if isawaitable(result):
        if iscoroutine(result):
            # Otherwise Python would warn that the coroutine was never awaited.
            result.close()
        raise TypeError(
            f'{function} expects a result, not an awaitable ({type(result).__name__}): '
            f'write `{function}(await …)`.'
        )
    raise TypeError(
        f'{function} expects a Success or a Failure, not {safe_repr(result, MAX_VALUE)} '
        f'({type(result).__name__}).'
    )


def _check_kind(kind: object, expected: Mapping[str, object]) -> None:
    if not isinstance(kind, type):
        raise TypeError(f'assert_failure expects one error class, not {kind!r}.')
    # A class that is no Struct does not list its attributes; its instances have them.
    if not issubclass(kind, Struct):
        return
    known = kind.__struct_fields__
    for name in expected:
        if name in known:
            continue
        matches = get_close_matches(name, known, n=1)
        hint = f'Did you mean {matches[0]!r}? ' if matches else ''
        fields = f'Its fields are {", ".join(known)}.' if known else 'It has no fields.'
        raise TypeError(f'{kind.__name__} has no field {name!r}. {hint}{fields}')


def _call(name: str, fields: Mapping[str, object]) -> str:
    """Return `Failure(Gone(key=8, …))`, as one would type it."""
    arguments = [f'{field}={safe_repr(value, MAX_VALUE)}' for field, value in fields.items()]
    return f'Failure({name}({", ".join([*arguments, "…"])}))'


def _short(result: object) -> str:
    return safe_repr(result, MAX_VALUE)


def _joined(head: str, lines: Iterable[str], *tail: str) -> str:
    return '\n'.join([head, *(f'  {line}' for line in lines), *tail])
