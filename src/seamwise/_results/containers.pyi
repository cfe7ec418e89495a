"""Exact types of `Success` and `Failure`, as a closed union.

The type variables of functions default to Never, so that a step without errors adds none. Those of
the classes have no default: pyright would infer a bare `Success` in a list as `Success[Never]`.

A method that does not call its function takes a `Callable[[Any], object]`. With `[Never]`, a lambda
for the union of both classes would get a value that type checkers cannot iterate.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Generic, Never, TypeAlias, final

from returns.result import Result as _Open
from typing_extensions import Self, TypeIs, TypeVar, override

__all__ = ['Failure', 'Result', 'Success', 'from_returns', 'is_failure', 'is_success']

T = TypeVar('T', default=Never)
E = TypeVar('E', default=Never)
_R = TypeVar('_R', bound=_Open[object, object], default=Never)
_U = TypeVar('_U', default=Never)
_T_co = TypeVar('_T_co', covariant=True)
_E_co = TypeVar('_E_co', covariant=True)

@final
class Success(_Open[_T_co, Never], Generic[_T_co]):
    __match_args__: ClassVar = ('_inner_value',)
    _inner_value: _T_co
    def __init__(self, inner_value: _T_co, /) -> None: ...
    @override
    def bind(self, function: Callable[[_T_co], _R]) -> _R:  # type: ignore[override]  # exact, where `returns` is open
        """Call a step with the value, and return the result of the step.

        >>> Success(7).bind(lambda number: Failure(f'{number} is odd'))
        Failure('7 is odd')
        """
    @override
    def map(self, function: Callable[[_T_co], _U]) -> Success[_U]:  # type: ignore[override]  # exact, where `returns` is open
        """Return a success with the value of a function of this value.

        >>> Success(7).map(lambda number: number + 1)
        Success(8)
        """
    @override
    def alt(self, function: Callable[[Any], object]) -> Self:  # type: ignore[override]  # exact, where `returns` is open
        """Return this success; a failure would change its error.

        >>> Success(7).alt(str.upper)
        Success(7)
        """
    @override
    def lash(self, function: Callable[[Any], object]) -> Self:  # type: ignore[override]  # exact, where `returns` is open
        """Return this success; a failure would call the function.

        >>> Success(7).lash(lambda error: Success(0))
        Success(7)
        """
    @override
    def value_or(self, default_value: object) -> _T_co:  # pyright: ignore[reportIncompatibleMethodOverride]  # exact
        """Return the value; a failure would return the default.

        >>> Success(7).value_or(0)
        7
        """
    @override
    def unwrap(self) -> _T_co:
        """Return the value; a failure would raise UnwrapFailedError.

        >>> Success(7).unwrap()
        7
        """
    @override
    def failure(self) -> Never:
        """Raise UnwrapFailedError: a success has no error.

        >>> Success(7).failure()
        Traceback (most recent call last):
        seamwise._results.containers.EmptyResult: Success(7) has no error; match ...
        """
    @override
    def swap(self) -> Failure[_T_co]:  # type: ignore[override]  # exact, where `returns` is open
        """Return a failure with the value as its error.

        >>> Success(7).swap()
        Failure(7)
        """

@final
class Failure(_Open[Never, _E_co], Generic[_E_co]):
    __match_args__: ClassVar = ('_inner_value',)
    _inner_value: _E_co
    def __init__(self, inner_value: _E_co, /) -> None: ...
    @override
    def bind(self, function: Callable[[Any], object]) -> Self:  # type: ignore[override]  # exact, where `returns` is open
        """Return this failure; a success would call the step.

        >>> Failure('late').bind(lambda number: Success(number + 1))
        Failure('late')
        """
    @override
    def map(self, function: Callable[[Any], object]) -> Self:  # type: ignore[override]  # exact, where `returns` is open
        """Return this failure; a success would change its value.

        >>> Failure('late').map(lambda number: number + 1)
        Failure('late')
        """
    @override
    def alt(self, function: Callable[[_E_co], _U]) -> Failure[_U]:  # type: ignore[override]  # exact, where `returns` is open
        """Return a failure with the error that a function makes of this error.

        >>> Failure('late').alt(str.upper)
        Failure('LATE')
        """
    @override
    def lash(self, function: Callable[[_E_co], _R]) -> _R:  # type: ignore[override]  # exact, where `returns` is open
        """Call a function with the error, and return its result.

        To handle some of the errors only, use `catch`.

        >>> Failure('late').lash(lambda error: Success(f'after {error}'))
        Success('after late')
        """
    @override
    def value_or(self, default_value: _U) -> _U:  # pyright: ignore[reportIncompatibleMethodOverride]  # exact
        """Return the default; a success would return its value.

        >>> Failure('late').value_or(0)
        0
        """
    @override
    def unwrap(self) -> Never:
        """Raise UnwrapFailedError: a failure has no value.

        >>> Failure('late').unwrap()
        Traceback (most recent call last):
        seamwise._results.containers.EmptyResult: Failure('late') has no value; match ...
        """
    @override
    def failure(self) -> _E_co:
        """Return the error; a success would raise UnwrapFailedError.

        >>> Failure('late').failure()
        'late'
        """
    @override
    def swap(self) -> Success[_E_co]:  # type: ignore[override]  # exact, where `returns` is open
        """Return a success with the error as its value.

        >>> Failure('late').swap()
        Success('late')
        """

Result: TypeAlias = Success[T] | Failure[E]

RESULT_TYPES: frozenset[type]

# seamwise: allow[SW106] the types of a result are not known at run time
def as_result(value: object, /) -> Result[Any, Any] | None: ...

# seamwise: allow[SW106] the types of a result are not known at run time
def expect_result(value: object, caller: str, /) -> Result[Any, Any]: ...

# seamwise: allow[SW106] the types of a result are not known at run time
def expect_result_of(step: object, value: object, /) -> Result[Any, Any]: ...
def from_returns(result: _Open[T, E], /) -> Result[T, E]: ...
def is_success(result: Result[T, E], /) -> TypeIs[Success[T]]: ...
def is_failure(result: Result[T, E], /) -> TypeIs[Failure[E]]: ...
