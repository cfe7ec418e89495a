"""Validation of the arguments that guards are created with."""

import math
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from seamwise._results.signatures import DECORATED, missing_parentheses

F = TypeVar('F', bound=Callable[..., object])


def with_parentheses(usage: str) -> Callable[[F], F]:
    """Return a decorator for a function that builds decorators and whose arguments are options.

    Without its parentheses, it raises a TypeError.

    Args:
        usage: A call to write, for the message.

    >>> @with_parentheses('repeated(3)')
    ... def repeated(times: int) -> int:
    ...     return times
    >>> repeated(check_float)  # type: ignore[arg-type]  # as by `@repeated`
    Traceback (most recent call last):
    TypeError: @repeated needs parentheses to decorate check_float: write `@repeated(3)`.
    """

    def decorate(build: F) -> F:
        @wraps(build)
        def checked(*args: Any, **kwargs: Any) -> object:
            if args and not kwargs and isinstance(args[-1], DECORATED):
                raise missing_parentheses(args[-1], usage)
            return build(*args, **kwargs)

        return checked  # type: ignore[return-value]  # it has the signature of `build`

    return decorate


def check_float(
    name: str,
    value: float,
    *,
    minimum: float = 0.0,
    above: float | None = None,
    maximum: float = math.inf,
) -> float:
    """Check a number and return it as a float.

    Args:
        name: Name of the argument, for the message.
        value: The number.
        minimum: Smallest valid value; ignored if `above` is not None.
        above: Exclusive lower bound.
        maximum: Largest valid value.

    Raises:
        TypeError: The value is not a number.
        ValueError: The value is not finite, or out of range.

    >>> check_float('base', 0.1)
    0.1
    >>> check_float('base', -1)
    Traceback (most recent call last):
    ValueError: base must be a finite number, 0 or more, not -1.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f'{name} must be a number, not {value!r}.')
    try:
        number = float(value)
    except OverflowError:
        # The integer exceeds every float. Its digits may exceed the limit of `repr` too.
        value = number = math.inf if value > 0 else -math.inf
    fits = minimum <= number <= maximum if above is None else above < number <= maximum
    if not math.isfinite(number) or not fits:
        lower = f'{minimum:g} or more' if above is None else f'more than {above:g}'
        upper = '' if math.isinf(maximum) else f', {maximum:g} at most'
        raise ValueError(f'{name} must be a finite number, {lower}{upper}, not {value!r}.')
    return number


def check_int(name: str, value: int, *, minimum: int = 1) -> int:
    """Check an integer and return it.

    Raises:
        TypeError: The value is not an integer.
        ValueError: The value is less than `minimum`, or more than `sys.maxsize`.

    >>> check_int('attempts', 0)
    Traceback (most recent call last):
    ValueError: attempts must be 1 or more, not 0.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f'{name} must be a whole number, not {value!r}.')
    if value > sys.maxsize:
        # The message omits the value: its digits may exceed the limit of `repr`.
        raise ValueError(f'{name} must be at most {sys.maxsize}.')
    if value < minimum:
        raise ValueError(f'{name} must be {minimum} or more, not {value!r}.')
    return value


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise a ValueError unless the value is one of the choices."""
    if value not in choices:
        raise ValueError(f'{name} must be one of {", ".join(map(repr, choices))}, not {value!r}.')


def check_callable(name: str, value: Callable[..., object], purpose: str) -> None:
    """Raise a TypeError unless the value is callable; `purpose` completes the message.

    >>> check_callable('at', 5, 'that returns a time')
    Traceback (most recent call last):
    TypeError: at must be a function that returns a time, not 5.
    """
    if not callable(value):
        raise TypeError(f'{name} must be a function {purpose}, not {value!r}.')


def call_key(key: Callable[[], str]) -> str:
    """Return the key of the current call, or raise a TypeError if it is not a string."""
    value = key()
    if not isinstance(value, str):
        raise TypeError(f'key must return a string, not {value!r}.')
    return value


def check_name(value: str) -> str:
    """Check the name of a guard, which appears in errors, events and telemetry, and return it."""
    if not isinstance(value, str):
        raise TypeError(f'name must be a string, not {value!r}.')
    if not value.strip():
        raise ValueError('name must not be empty: it identifies the guard in errors and events.')
    return value
