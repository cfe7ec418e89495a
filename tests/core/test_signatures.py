"""Tests of the signature of functions in direct style."""

import inspect
import re
import types
from collections.abc import AsyncIterator, Callable, Iterator
from functools import lru_cache, partial, wraps
from typing import Annotated, Any, Never, Optional, TypeAlias, TypeVar, cast, get_type_hints

import pytest
from returns.result import Success as ReturnsSuccess
from typing_extensions import TypeAliasType

import seamwise
from seamwise import Do, Failure, Result, Success, fallible

E = TypeVar('E')
T = TypeVar('T')
Channel: TypeAlias = Do[str | int]
Checked: TypeAlias = Do[E | int]
Spelled: TypeAlias = 'Do[str | int]'
Named = TypeAliasType('Named', Do[str | int])
Loaded: TypeAlias = Result[int, str]
LoadedList: TypeAlias = Result[list[inspect.Signature], str | None]
NamedResult = TypeAliasType('NamedResult', Result[int, str])
GenericResult = TypeAliasType('GenericResult', Result[T, str], type_params=(T,))


def channel_of(function: Callable[..., object]) -> object:
    """Return the error type in the public signature of a function."""
    _, failure = get_type_hints(function)['return'].__args__
    return failure.__args__[0]


def declares(annotation: object) -> Callable[..., object]:
    def function(do: Any, number: int) -> None: ...

    function.__annotations__['do'] = annotation
    return fallible(function)


def made_fallible(function: Any) -> Callable[..., object]:
    """Decorate a function with annotations that type checkers cannot read."""
    decorate: Any = fallible
    run: Callable[..., object] = decorate(function)
    return run


class TestChannel:
    @pytest.mark.parametrize(
        'annotation',
        [
            Do[str | int],
            seamwise.Do[str | int],
            Channel,
            Checked[str],
            Named,
            Do['str | int'],
            'Do[str | int]',
            '"Do[str | int]"',
            'Do["str | int"]',
            'seamwise.Do[str | int]',
            'Channel',
            'Spelled',
            'Named',
            'elsewhere.Do[str | int]',
        ],
        ids=str,
    )
    def test_the_channel_is_read_from_the_annotation(self, annotation: object) -> None:
        assert channel_of(declares(annotation)) in {str | int, int | str}

    @pytest.mark.parametrize('annotation', [Do, 'Do', 'seamwise.Do', Do[Never], 'Do[Never]'])
    def test_a_do_without_errors_has_the_channel_never(self, annotation: object) -> None:
        assert channel_of(declares(annotation)) is Never

    def test_an_alias_is_looked_up_in_the_scope_of_the_function(self) -> None:
        Doing = Do  # noqa: N806 -- an alias of a class

        def function(do: 'Doing[str]') -> None:  # type: ignore[valid-type]  # resolved only at run time
            assert [Doing, later] == [Do, cast('Do[str]', do)(Success(1))]

        run = made_fallible(function)
        assert channel_of(run) is str
        later = 1
        assert run() == Success(None)

    def test_the_do_can_come_after_self_or_cls(self) -> None:
        def method(self: object, do: Do[str], number: int) -> None: ...
        def of(cls: object, do: Do[str], number: int) -> None: ...
        def first(do: Do[str], /, self: int) -> None: ...

        assert list(inspect.signature(fallible(method)).parameters) == ['self', 'number']
        assert list(inspect.signature(fallible(of)).parameters) == ['cls', 'number']
        assert list(inspect.signature(fallible(first)).parameters) == ['self']

    def test_the_do_can_have_any_name(self) -> None:
        @fallible
        def named(unwrap: Do[str], /) -> int:
            return unwrap(Success(1))

        assert named() == Success(1)

    def test_a_decorated_function_that_keeps_its_signature_is_accepted(self) -> None:
        def twice(function: Callable[..., int]) -> Callable[..., int]:
            @wraps(function)
            def doubled(*args: object) -> int:
                return function(*args) * 2

            return doubled

        def positive(do: Do[str], number: int) -> int:
            return do(Success(number)) if number else do.fail('zero')

        run: Callable[..., object] = fallible(twice(positive))
        assert (run(2), run(0)) == (Success(4), Failure('zero'))


class TestPublicSignature:
    def test_the_public_signature_omits_the_do(self) -> None:
        @fallible
        def run(
            _do: Do[str], a: int, /, b: 'list[int]', *rest: int, c: int = 4, **others: int
        ) -> 'dict[str, int]':
            return {'a': a, 'b': len(b), 'rest': len(rest), 'c': c, **others}

        result = inspect.signature(run)
        assert (
            str(result).partition(' -> ')[0]
            == "(a: int, /, b: 'list[int]', *rest: int, c: int = 4, **others: int)"
        )
        assert get_type_hints(run) == {
            'a': int,
            'b': list[int],
            'rest': int,
            'c': int,
            'others': int,
            'return': Success[dict[str, int]] | Failure[str],
        }
        assert run(1, [2], 3, d=5) == Success({'a': 1, 'b': 1, 'rest': 1, 'c': 4, 'd': 5})

    def test_a_method_keeps_its_receiver_and_binds(self) -> None:
        class Shop:
            @fallible
            def sell(self, do: Do[str], count: int = 1) -> None: ...

        assert list(inspect.signature(Shop.sell).parameters) == ['self', 'count']
        assert list(inspect.signature(Shop().sell).parameters) == ['count']
        assert inspect.ismethod(Shop().sell)

    def test_missing_annotations_stay_missing(self) -> None:
        def function(do, number=1): ...  # type: ignore[no-untyped-def]  # the missing annotations are the test

        function.__annotations__['do'] = Do[str]
        run = made_fallible(function)
        assert run.__annotations__ == {}
        assert str(inspect.signature(run)) == '(number=1)'

    def test_the_return_annotation_none_is_kept(self) -> None:
        @fallible
        def run(do: Do[str]) -> None: ...

        assert get_type_hints(run) == {'return': Success[None] | Failure[str]}

    def test_type_variables_are_kept(self) -> None:
        @fallible
        def first(do: Do[E], values: list[T], error: E) -> T:
            return values[0] if values else do.fail(error)

        run: Callable[[list[int], str], object] = first  # type: ignore[assignment]  # the coroutine's overload comes first
        assert (run([1], 'none'), run([], 'none')) == (Success(1), Failure('none'))
        assert get_type_hints(first)['return'] == Success[T] | Failure[E]  # type: ignore[valid-type]  # a free variable at run time

    def test_the_metadata_of_the_function_is_kept(self) -> None:
        def function(do: Do[str]) -> None:
            """Do nothing."""

        vars(function)['marked'] = True
        run = fallible(function)
        assert (run.__name__, run.__qualname__, run.__module__, run.__doc__) == (
            function.__name__,
            function.__qualname__,
            __name__,
            'Do nothing.',
        )
        assert vars(run)['marked']
        assert vars(run)['__wrapped__'] is function
        assert type(run) is types.FunctionType
        assert not inspect.iscoroutinefunction(run)
        assert function.__annotations__ == {'do': Do[str], 'return': None}


def no_annotation(do, number): ...  # type: ignore[no-untyped-def]  # the missing annotations are the test


def another_annotation(do: int) -> None: ...


def unreadable(do: 'no type at all') -> None: ...  # type: ignore[valid-type]  # noqa: F722 -- the misuse is the test


def a_union(do: 'Do[str] | None') -> None: ...


def optional(do: Optional[Do[str]]) -> None: ...  # noqa: UP045 -- the misuse is the test


def a_call(do: 'print("Do")') -> None: ...  # type: ignore[valid-type]  # the misuse is the test


def another_name(do: 'seamwise.fallible') -> None: ...  # type: ignore[valid-type]  # the misuse is the test


def unknown_name(do: 'Unknown[str]') -> None: ...  # type: ignore[name-defined]  # noqa: F821 -- the misuse is the test


def second(number: int, do: Do[str]) -> None: ...


def keyword_only(*, do: Do[str]) -> None: ...


def variadic(*do: Do[str]) -> None: ...


def nothing() -> None: ...


WRONG: list[Callable[..., object]] = [
    no_annotation,
    another_annotation,
    unreadable,
    a_union,
    optional,
    a_call,
    another_name,
    unknown_name,
    second,
    keyword_only,
    variadic,
    nothing,
]


class Methods:
    def without(self) -> None: ...

    def third(self, number: int, do: Do[str]) -> None: ...

    def keyword(self, *, do: Do[str]) -> None: ...


def generator(do: Do[str]) -> Iterator[int]:
    yield do.fail('a')  # pragma: no cover -- never iterated


async def async_generator(do: Do[str]) -> AsyncIterator[int]:
    yield do.fail('a')  # pragma: no cover -- never iterated


class Callee:
    def __call__(self, do: Do[str]) -> None: ...


def type_error_of(function: Any) -> str:
    with pytest.raises(TypeError) as raised:
        fallible(function)
    return str(raised.value)


class TestInvalidFunctions:
    @pytest.mark.parametrize('function', WRONG)
    def test_a_function_without_a_first_parameter_do_raises_type_error(
        self, function: Callable[..., object]
    ) -> None:
        name = function.__name__
        assert (
            type_error_of(function)
            == f'{name}: the first parameter must be annotated with Do[...], '
            f'as in `def {name}(do: Do[NotFound], …)`.'
        )

    @pytest.mark.parametrize('function', [Methods.without, Methods.third, Methods.keyword])
    def test_a_method_without_a_second_parameter_do_raises_type_error(
        self, function: Callable[..., object]
    ) -> None:
        name = function.__name__
        assert type_error_of(function) == (
            f'Methods.{name}: the first parameter after self must be annotated with Do[...], '
            f'as in `def {name}(self, do: Do[NotFound], …)`.'
        )

    def test_a_classmethod_without_a_second_parameter_do_raises_type_error(self) -> None:
        def of(cls: object, number: int) -> None: ...

        assert '.of: the first parameter after cls must be annotated' in type_error_of(of)

    @pytest.mark.parametrize('function', [generator, async_generator])
    def test_a_generator_function_raises_type_error(self, function: Callable[..., object]) -> None:
        assert (
            type_error_of(function)
            == f'{function.__name__} is a generator; @fallible needs a function that returns once.'
        )

    @pytest.mark.parametrize('kind', [classmethod, staticmethod])
    def test_decorators_in_the_wrong_order_raise_type_error(
        self, kind: Callable[[object], object]
    ) -> None:
        name = getattr(kind, '__name__', '')
        assert (
            type_error_of(kind(Methods.third))
            == f'Methods.third: put @fallible under @{name}, not above it.'
        )

    @pytest.mark.parametrize(
        ('value', 'description'),
        [
            (Callee, 'Callee'),
            (len, 'len'),
            (7, '7'),
            (partial(another_annotation, 1), repr(partial(another_annotation, 1))),
            (Methods().without, 'Methods.without'),
            (lru_cache(second), 'second'),
        ],
        ids=['class', 'builtin', 'number', 'partial', 'bound method', 'cached function'],
    )
    def test_an_object_that_is_no_function_raises_type_error(
        self, value: object, description: str
    ) -> None:
        assert type_error_of(value) == f'fallible takes a function, not {description}.'

    def test_parentheses_raise_type_error(self) -> None:
        bare: Any = fallible
        with pytest.raises(TypeError, match='write `@fallible` without parentheses'):
            bare()

    def test_a_callable_object_raises_type_error(self) -> None:
        assert type_error_of(Callee()).startswith('fallible takes a function, not <')

    def test_a_function_that_is_already_fallible_raises_type_error(self) -> None:
        @fallible
        def once(do: Do[str], number: int) -> int:
            return do(Success(number))

        assert 'the first parameter must be annotated with Do[...]' in type_error_of(once)
        result: Result[int, str] = once(1)
        assert result == Success(1)


def returns_annotation(annotation: object) -> Callable[..., object]:
    def load(do: Do[str]) -> None: ...

    load.__annotations__['return'] = annotation
    return fallible(load)


class TestReturnAnnotation:
    @pytest.mark.parametrize(
        'annotation',
        [
            Result,
            Loaded,
            Success[int],
            Failure,
            ReturnsSuccess[int],
            Loaded | None,
            Optional[Success[int]],  # noqa: UP045 -- the older form is the test
            Annotated[Loaded, 'loaded'],
            NamedResult,
            GenericResult[int],
            'Result[int, str]',
            'seamwise.Result[int, str]',
            '"Result[int, str]"',
            'Result[Unknown, str] | None',
            'Loaded',
            'NamedResult',
        ],
    )
    def test_that_contains_a_result_is_refused(self, annotation: object) -> None:
        with pytest.raises(
            TypeError,
            match=r'load is declared to return .*, but @fallible adds the Result\. Annotate the ',
        ):
            returns_annotation(annotation)

    @pytest.mark.parametrize(
        'annotation',
        [
            int,
            None,
            Never,
            list[Result[int, str]],
            T,
            'int | None',
            'Unknown',
            'None',
            '1',
            'a.b.c',
        ],
    )
    def test_of_another_value_is_accepted(self, annotation: object) -> None:
        assert callable(returns_annotation(annotation))

    @pytest.mark.parametrize(
        ('annotation', 'text'),
        [
            (Loaded, 'Result[int, str]'),
            (LoadedList, 'Result[list[Signature], str | None]'),
            (Loaded | None, 'Success[int] | Failure[str] | None'),
            (Success, 'Success'),
            ('Result[int, Unknown]', 'Result[int, Unknown]'),
        ],
    )
    def test_is_named_as_it_is_written(self, annotation: object, text: str) -> None:
        with pytest.raises(TypeError, match=re.escape(f'is declared to return {text}, but')):
            returns_annotation(annotation)

    def test_of_a_coroutine_function_is_checked_too(self) -> None:
        async def load(_do: Do[str]) -> Result[int, str]:
            pytest.fail('It is refused.')

        with pytest.raises(TypeError, match='@fallible adds the Result'):
            fallible(load)
