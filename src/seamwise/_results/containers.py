"""Results of calls: true subclasses of the classes of `returns`, which `containers.pyi` types."""
# pyright: basic, reportGeneralTypeIssues=false, reportInvalidTypeArguments=false
# The types of the classes and functions are in `containers.pyi`. At run time, the classes are
# subclasses of two that are final for type checkers.

import sys
from abc import ABCMeta
from collections.abc import Coroutine
from typing import Any, Generic, TypeVar

import returns.result
from msgspec import Struct
from returns.primitives.container import BaseContainer
from returns.primitives.exceptions import ImmutableStateError, UnwrapFailedError

from seamwise._errors.reported import deep_copy, portable

__all__ = ['Failure', 'Result', 'Success', 'from_returns', 'is_failure', 'is_success']

T = TypeVar('T')
E = TypeVar('E')


class EmptyResult(UnwrapFailedError):
    """A value that a result does not have was taken from it: an `UnwrapFailedError` with a text."""

    def __str__(self):
        wanted = 'error' if type(self.halted_container) is Success else 'value'
        return f'{self.halted_container!r} has no {wanted}; match the result before you take one.'


class _Container:
    """The methods that both classes share."""

    __slots__ = ()
    _inner_value: Any
    _type_in_returns: type

    trace = None
    """The trace of a failure in `returns`, which these classes do not record."""

    def __eq__(self, other):
        type_ = type(other)
        if type_ is type(self) or type_ is self._type_in_returns:
            return bool(self._inner_value == other._inner_value)
        return False

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self._inner_value)

    equals = __eq__

    def __repr__(self):
        return f'{type(self).__name__}({self._inner_value!r})'

    def __reduce__(self):
        return type(self), (portable(self._inner_value),)

    def __deepcopy__(self, memo):
        value = deep_copy(self._inner_value, memo)
        class_: Any = type(self)
        return self if value is self._inner_value else class_(value)

    def __rich_repr__(self):
        yield self._inner_value

    @classmethod
    def __get_pydantic_core_schema__(cls, source, handler):
        if handler.field_name is not None:
            raise TypeError(
                f'The field {handler.field_name!r} of a pydantic model contains a Result, which '
                'pydantic cannot validate. Declare a field for its value or its error, and use the '
                'Result as the return type of a function.'
            )
        # FastAPI makes a schema of a return annotation before `install` replaces it.
        from pydantic_core import core_schema  # noqa: PLC0415 -- pydantic is optional, and has it

        return core_schema.no_info_plain_validator_function(_refuse_to_validate)

    @classmethod
    def from_value(cls, inner_value):
        """Return a Success."""
        return Success(inner_value)

    @classmethod
    def from_failure(cls, inner_value):
        """Return a Failure."""
        return Failure(inner_value)


def _refuse_to_validate(result):
    raise TypeError(
        f'pydantic cannot validate a {type(result).__name__}. In FastAPI, call '
        '`seamwise.seams.http.install(app, adapter)`, or decorate the handler with '
        '`@endpoint(adapter)`.'
    )


def _call_step(self, function):
    """Return the result of a step, as `bind` of a Success and `lash` of a Failure do."""
    result = function(self._inner_value)
    try:
        result._inner_value  # noqa: B018
    except AttributeError:
        return expect_result_of(function, result)
    return result


class _Success(_Container, returns.result.Success):
    """Result of a call that succeeded, with its value.

    >>> match Success(7):
    ...     case Success(number):
    ...         print(number)
    7
    """

    __slots__ = ()
    _type_in_returns = returns.result.Success

    # As the cheapest check slows a chain of successes by 8 to 25 percent, only the development
    # mode of Python has it, which is for checks that are too expensive by default.
    bind = _call_step if sys.flags.dev_mode else returns.result.Success.bind

    def map(self, function):
        return Success(function(self._inner_value))

    def swap(self):
        return Failure(self._inner_value)

    def failure(self):
        raise EmptyResult(self)


class _Failure(_Container, returns.result.Failure):
    """Result of a call that failed, with its error.

    >>> match Failure('late'):
    ...     case Failure(error):
    ...         print(error)
    late
    """

    __slots__ = ()
    _type_in_returns = returns.result.Failure

    def alt(self, function):
        return Failure(function(self._inner_value))

    lash = _call_step

    def swap(self):
        return Success(self._inner_value)

    def unwrap(self):
        cause = self._inner_value
        raise EmptyResult(self) from (cause if isinstance(cause, BaseException) else None)


class _StructABCMeta(type(Struct), ABCMeta):
    """The metaclass of a Struct with abstract bases."""

    # A class without virtual subclasses needs no cache of them.
    __instancecheck__ = type.__instancecheck__


# No encoder supports it. The garbage collector does not track it: it would track every result that
# contains a tracked object.
_UNENCODABLE = object()


class _UndecodableBases(tuple):
    """The generic bases of a class that msgspec cannot decode."""

    __slots__ = ()

    def __iter__(self):
        # Hypothesis and others read the bases too.
        if sys._getframe(1).f_globals.get('__name__') == 'msgspec._utils':
            raise TypeError(
                'msgspec cannot decode a Result: its JSON would not say whether it is a Success or '
                'a Failure. Decode the value, or decode the error with `codec`.'
            )
        return super().__iter__()


def with_constructor_of_msgspec(base, name):
    """Return a subclass that msgspec constructs, in a fifth of the time that `returns` takes.

    msgspec refuses a base class with an `__init__`, but looks only at the direct bases. Raises
    TypeError if a version of msgspec looks further.
    """

    class Container(base, Struct, Generic[T], metaclass=_StructABCMeta, frozen=True, eq=False):
        _inner_value: T

    class Unencodable(Container[T], Generic[T], frozen=True, eq=False, kw_only=True):
        # msgspec encodes every Struct; because of this field, it raises a TypeError for a result.
        _unencodable: object = _UNENCODABLE

    # msgspec reads them first, and would fail with an AssertionError at the bases in `returns`.
    Unencodable.__orig_bases__ = _UndecodableBases(Unencodable.__orig_bases__)
    return _named(Unencodable, name, base)


def with_own_constructor(base, name):
    """Return a subclass with a constructor in Python, in half the time that `returns` takes."""
    set_value = vars(BaseContainer)['_inner_value'].__set__

    class Container(base, Generic[T]):
        __slots__ = ()

        def __init__(self, inner_value, /):
            set_value(self, inner_value)

    return _named(Container, name, base)


def _refuse_change(self, *_):
    raise ImmutableStateError(f'{self!r} cannot be changed; create another result.')


def _named(class_, name, base):
    # msgspec sets its own methods, which raise an AttributeError that `returns` does not know.
    class_.__setattr__ = class_.__delattr__ = _refuse_change
    class_.__name__ = class_.__qualname__ = name
    class_.__doc__ = base.__doc__
    return class_


try:
    Success = with_constructor_of_msgspec(_Success, 'Success')
    Failure = with_constructor_of_msgspec(_Failure, 'Failure')
except TypeError:
    Success = with_own_constructor(_Success, 'Success')
    Failure = with_own_constructor(_Failure, 'Failure')

Result = Success[T] | Failure[E]
"""Type of a call that may fail: a `Success` with a value, or a `Failure` with an error.

>>> def half(number: int) -> Result[int, str]:
...     return Failure(f'{number} is odd') if number % 2 else Success(number // 2)
>>> half(8), half(7)
(Success(4), Failure('7 is odd'))
"""

_FROM_RETURNS = {returns.result.Success: Success, returns.result.Failure: Failure}
RESULT_TYPES = frozenset({Success, Failure, *_FROM_RETURNS})
"""The types of all values that are taken as results."""


def as_result(value, /):
    """Return a result as it is, a result of `returns` as the same of this library, or None.

    >>> from returns.result import safe
    >>> as_result(safe(int)('7')), as_result(Failure('late')), as_result(7)
    (Success(7), Failure('late'), None)
    """
    type_ = type(value)
    if type_ is Success or type_ is Failure:
        return value
    convert = _FROM_RETURNS.get(type_)
    return None if convert is None else convert(value._inner_value)


def expect_result(value, caller, /):
    """Return a result like `as_result`; raise a TypeError that names `caller` for other values."""
    type_ = type(value)
    if type_ is Success or type_ is Failure:
        return value
    result = as_result(value)
    if result is not None:
        return result
    if isinstance(value, Coroutine):
        name = getattr(value, '__name__', 'step')
        # Otherwise Python would warn that the coroutine was never awaited.
        value.close()
        raise TypeError(
            f'{caller} takes a result, not a coroutine; write `{caller}(await {name}(…))`.'
        )
    raise TypeError(
        f'{caller} takes a Success or a Failure, not {type_.__name__}; '
        'wrap a plain value in Success().'
    )


def expect_result_of(step, value, /):
    """Return the result of a step like `as_result`; raise a TypeError that names the step."""
    result = as_result(value)
    if result is not None:
        return result
    name, type_name = getattr(step, '__qualname__', repr(step)), type(value).__name__
    if isinstance(value, Coroutine):
        # Otherwise Python would warn that the coroutine was never awaited.
        value.close()
    raise TypeError(f'{name} must return a Success or a Failure, but returned {type_name}.')


def from_returns(result, /):
    """Return a `returns.result.Result` as a `Result`; raises TypeError for any other value.

    Functions that take a result accept both. Before a `match`, convert it.

    >>> from returns.result import safe
    >>> from_returns(safe(int)('7'))
    Success(7)
    """
    return expect_result(result, 'from_returns')


def is_success(result, /):
    """Return whether `result` is a Success; type checkers narrow both branches.

    >>> is_success(Success(1)), is_success(Failure('no'))
    (True, False)
    """
    type_ = type(result)
    return type_ is Success or type_ is returns.result.Success


def is_failure(result, /):
    """Return whether `result` is a Failure; type checkers narrow both branches.

    >>> is_failure(Success(1)), is_failure(Failure('no'))
    (False, True)
    """
    type_ = type(result)
    return type_ is Failure or type_ is returns.result.Failure
