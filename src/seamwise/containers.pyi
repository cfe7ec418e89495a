"""Exact types of `Success` and `Failure`, as a closed union.

The type variables of functions default to Never, so that a step without errors adds none. Those of
the classes have no default: pyright would infer a bare `Success` in a list as `Success[Never]`.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Generic, Never, TypeAlias, final

from returns.result import Result as _Open
from typing_extensions import Self, TypeIs, TypeVar, override

__all__ = ['Failure', 'Result', 'Success', 'from_returns', 'is_failure', 'is_success']

T = TypeVar('T', default=Never)
E = TypeVar('E', default=Never)
_R = TypeVar('_R', default=Never)
_U = TypeVar('_U', default=Never)
_T_co = TypeVar('_T_co', covariant=True)
_E_co = TypeVar('_E_co', covariant=True)

@final
class Success(_Open[_T_co, Never], Generic[_T_co]):
    __match_args__: ClassVar = ('_inner_value',)
    _inner_value: _T_co
    def __init__(self, inner_value: _T_co, /) -> None: ...
    @override
    def bind(self, function: Callable[[_T_co], _R]) -> _R: ...  # type: ignore[override]  # exact, where `returns` is open
    @override
    def map(self, function: Callable[[_T_co], _U]) -> Success[_U]: ...  # type: ignore[override]  # exact, where `returns` is open
    @override
    def alt(self, function: Callable[[Never], object]) -> Self: ...  # type: ignore[override]  # exact, where `returns` is open
    @override
    def lash(self, function: Callable[[Never], object]) -> Self: ...  # type: ignore[override]  # exact, where `returns` is open
    @override
    def value_or(self, default_value: object) -> _T_co: ...  # pyright: ignore[reportIncompatibleMethodOverride]  # exact
    @override
    def unwrap(self) -> _T_co: ...
    @override
    def failure(self) -> Never: ...
    @override
    def swap(self) -> Failure[_T_co]: ...  # type: ignore[override]  # exact, where `returns` is open

@final
class Failure(_Open[Never, _E_co], Generic[_E_co]):
    __match_args__: ClassVar = ('_inner_value',)
    _inner_value: _E_co
    def __init__(self, inner_value: _E_co, /) -> None: ...
    @override
    def bind(self, function: Callable[[Never], object]) -> Self: ...  # type: ignore[override]  # exact, where `returns` is open
    @override
    def map(self, function: Callable[[Never], object]) -> Self: ...  # type: ignore[override]  # exact, where `returns` is open
    @override
    def alt(self, function: Callable[[_E_co], _U]) -> Failure[_U]: ...  # type: ignore[override]  # exact, where `returns` is open
    @override
    def lash(self, function: Callable[[_E_co], _R]) -> _R: ...  # type: ignore[override]  # exact, where `returns` is open
    @override
    def value_or(self, default_value: _U) -> _U: ...  # pyright: ignore[reportIncompatibleMethodOverride]  # exact
    @override
    def unwrap(self) -> Never: ...
    @override
    def failure(self) -> _E_co: ...
    @override
    def swap(self) -> Success[_E_co]: ...  # type: ignore[override]  # exact, where `returns` is open

Result: TypeAlias = Success[T] | Failure[E]

RESULT_TYPES: frozenset[type]

# seamwise: allow[SW106] the types of a result are not known at run time
def as_result(value: object, /) -> Result[Any, Any] | None: ...

# seamwise: allow[SW106] the types of a result are not known at run time
def expect_result(value: object, caller: str, /) -> Result[Any, Any]: ...
def from_returns(result: _Open[T, E], /) -> Result[T, E]: ...
def is_success(result: Result[T, E], /) -> TypeIs[Success[T]]: ...
def is_failure(result: Result[T, E], /) -> TypeIs[Failure[E]]: ...
