"""Numbers that guards are made with, checked where the guard is made."""

import math
import sys
from collections.abc import Callable


def check_float(
    name: str,
    value: float,
    *,
    least: float = 0.0,
    above: float | None = None,
    most: float = math.inf,
) -> float:
    """Give a number as a float, or raise: a TypeError for what is none, a ValueError for one that is out of range.

    >>> check_float('base', 0.1)
    0.1
    >>> check_float('base', -1)
    Traceback (most recent call last):
    ValueError: base must be a finite number, 0 or more, not -1.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f'{name} must be a number, not {value!r}.')
    try:
        given = float(value)
    except OverflowError:
        # A whole number beyond all floats, which may have too many digits to be shown.
        value = given = math.inf if value > 0 else -math.inf
    fits = least <= given <= most if above is None else above < given <= most
    if not math.isfinite(given) or not fits:
        low = f'{least:g} or more' if above is None else f'more than {above:g}'
        high = '' if math.isinf(most) else f', {most:g} at most'
        raise ValueError(f'{name} must be a finite number, {low}{high}, not {value!r}.')
    return given


def check_int(name: str, value: int, *, least: int = 1) -> int:
    """Give a whole number, or raise: a TypeError for what is none, a ValueError for one that is too small or beyond what a machine counts.

    >>> check_int('attempts', 0)
    Traceback (most recent call last):
    ValueError: attempts must be 1 or more, not 0.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f'{name} must be a whole number, not {value!r}.')
    if value > sys.maxsize:
        # It may have too many digits to be shown.
        raise ValueError(f'{name} must be {sys.maxsize} at most.')
    if value < least:
        raise ValueError(f'{name} must be {least} or more, not {value!r}.')
    return value


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise a ValueError unless a word is one of those that are known."""
    if value not in choices:
        raise ValueError(f'{name} must be one of {", ".join(map(repr, choices))}, not {value!r}.')


def check_callable(name: str, value: Callable[..., object], that: str) -> None:
    """Raise a TypeError unless a value can be called; `that` says what such a function takes or gives.

    >>> check_callable('at', 5, 'that gives a time')
    Traceback (most recent call last):
    TypeError: at must be a function that gives a time, not 5.
    """
    if not callable(value):
        raise TypeError(f'{name} must be a function {that}, not {value!r}.')


def key_of(key: Callable[[], str]) -> str:
    """Ask for the key of a call, or raise a TypeError where it is no string."""
    given = key()
    if not isinstance(given, str):
        raise TypeError(f'key must give a string, not {given!r}.')
    return given


def check_name(value: str) -> str:
    """Give the name of a guard, or raise: it stands in errors, in events and in telemetry."""
    if not isinstance(value, str):
        raise TypeError(f'name must be a string, not {value!r}.')
    if not value.strip():
        raise ValueError('name must say what is guarded, it is empty.')
    return value
