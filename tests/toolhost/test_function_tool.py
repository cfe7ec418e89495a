"""Tools from functions: signature, arguments, result, options."""

import asyncio
import inspect
from collections.abc import AsyncIterable, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from typing import Annotated, Any, Literal, ParamSpec, TypedDict, TypeVar

import pytest
from msgspec import Meta, Struct
from returns.result import Result as OpenResult
from returns.result import Success as OpenSuccess
from typing_extensions import TypeAliasType

from seamwise import Category, Do, Failure, Result, Success, TaggedError, attempt, fallible, when
from seamwise.catalog.problem import Problem
from seamwise.catalog.tools import Finding, InvalidParameter, InvalidResult, MissingParameter
from seamwise.policies import RateLimited, rate_limit
from seamwise.toolhost import Example, NotBelow, Processor, Tool, ToolLimits, tool
from seamwise.toolhost.tools import Invocation
from tests.toolhost import later_types
from tests.toolhost.helpers import error_of, value_of

P = ParamSpec('P')
T = TypeVar('T')


class CityUnknown(
    TaggedError, category=Category.NOT_FOUND, namespace='tests.toolhost.test_function_tool'
):
    city: str


Looked = TypeAliasType('Looked', Result[T, CityUnknown], type_params=(T,))


class Unrelated(
    TaggedError, category=Category.CONFLICT, namespace='tests.toolhost.test_function_tool'
):
    pass


class Forecast(Struct):
    days: list[int]


@tool(is_repeatable=True)
async def weather(
    city: Annotated[str, Example('Oslo')], days: Annotated[int, Meta(ge=1, le=14)] = 3
) -> Result[Forecast, CityUnknown]:
    """Return the forecast for a city.

    city: as people write it
    """
    return Success(Forecast([20] * days)) if city == 'Oslo' else Failure(CityUnknown(city))


@tool
def add(a: int, b: float = 1) -> float:
    return a + b


def bind(item: Tool[TaggedError], **arguments: object) -> Invocation[TaggedError]:
    return value_of(item.bind(arguments))


def check(item: Tool[TaggedError], returned: object, **arguments: object) -> object:
    return bind(item, **arguments).check(returned)


def look(at: int) -> int:
    """Return a number."""
    return at


class TestFunction:
    def test_the_function_can_still_be_called(self) -> None:
        assert add(1) == 2
        assert add(1, b=2) == 3
        assert asyncio.run(weather('Oslo', days=1)) == Success(Forecast([20]))

    def test_the_tool_looks_like_the_function(self) -> None:
        assert (weather.__doc__ or '').startswith('Return the forecast')
        assert [*inspect.signature(weather).parameters] == ['city', 'days']

    def test_name_and_description_come_from_the_function(self) -> None:
        assert (weather.name, weather.namespace, weather.qualified_name) == (
            'weather',
            None,
            'weather',
        )
        assert weather.description == 'Return the forecast for a city.'
        assert (weather.is_repeatable, weather.timeout) == (True, None)

    def test_options_win_over_the_function(self) -> None:
        @tool(name='plus', description='Sum.', namespace='math', timeout=2.5)
        def add(a: int) -> int:
            """Not this one."""
            return a

        assert (add.name, add.qualified_name) == ('plus', 'math__plus')
        assert (add.description, add.timeout, add.is_repeatable) == ('Sum.', 2.5, False)
        assert repr(add) == (
            "<Tool 'math__plus': tests.toolhost.test_function_tool."
            'TestFunction.test_options_win_over_the_function.<locals>.add>'
        )

    def test_a_bound_method_is_a_tool(self) -> None:
        class Shop:
            def __init__(self, price: int) -> None:
                self.price = price

            def total(self, count: int) -> int:
                return self.price * count

        total = tool(Shop(3).total)
        assert total.name == 'total'
        assert bind(total, count=2).run() == 6

    def test_a_function_in_direct_style_is_a_tool(self) -> None:
        @tool
        @fallible
        def halve(do: Do[CityUnknown], number: int) -> int:
            return number // 2 if number % 2 == 0 else do.fail(CityUnknown('odd'))

        assert bind(halve, number=4).run() == Success(2)
        failed = bind(halve, number=5)
        assert failed.check(failed.run()) == Failure(CityUnknown('odd'))
        assert error_of(halve.bind({'do': 1}), MissingParameter).parameter == 'number'

    def test_a_decorator_can_add_errors(self) -> None:
        @tool
        @attempt(when(ZeroDivisionError).becomes(lambda _: CityUnknown('zero')))
        def divide(by: int) -> int:
            return 6 // by

        failed = bind(divide, by=0)
        assert failed.check(failed.run()) == Failure(CityUnknown('zero'))

        guard = rate_limit(1, period=1000, name='test_tool')

        @tool
        @guard
        def look(at: int) -> Result[int, CityUnknown]:
            return Success(at)

        assert bind(look, at=1).run() == Success(1)
        refused = bind(look, at=1)
        error_of(refused.check(refused.run()), RateLimited)
        assert type(look.bind({})) is Failure

    def test_a_plain_decorator_around_an_async_function_keeps_it_async(self) -> None:
        def logged(function: Callable[P, T]) -> Callable[P, T]:
            @wraps(function)
            def run(*args: P.args, **kwargs: P.kwargs) -> T:
                return function(*args, **kwargs)

            return run

        @tool
        @logged
        async def double(number: int) -> int:
            return 2 * number

        call = bind(double, number=2)
        assert call.is_async
        assert asyncio.run(double(2)) == 4
        assert double.input_schema['required'] == ['number']

    def test_a_tool_is_no_function_for_another_tool(self) -> None:
        with pytest.raises(TypeError, match=r"<Tool 'add': .*add> is a tool already"):
            tool(add)


class TestTypesThatAreKnownLater:
    def test_a_type_can_be_defined_below_the_function(self) -> None:
        call = value_of(later_types.move.bind({'to': {'x': 1, 'y': 2}}))
        assert call.run() == Success(later_types.Point(1, 2))
        assert later_types.move.input_schema['required'] == ['to']
        invalid = call.check(Success(later_types.Point('a', 2)))  # type: ignore[arg-type]  # on purpose
        assert error_of(invalid, InvalidResult).problems[0].pointer == '/x'

    def test_a_type_of_an_enclosing_function_is_known(self) -> None:
        call = value_of(later_types.local_tool().bind({'to': {'z': 1}}))
        assert type(call.run()).__name__ == 'Local'

    def test_a_parameter_with_a_type_that_is_never_known_is_refused_at_the_call(self) -> None:
        with pytest.raises(TypeError, match=r"type of the parameter 'to' is not known.*'Missing'"):
            later_types.lost.bind({'to': 1})

    def test_a_result_with_a_type_that_is_never_known_is_refused_at_the_call(self) -> None:
        with pytest.raises(TypeError, match=r'^unknown_result: .*result is not known.*Missing'):
            later_types.unknown_result.bind({})

    @pytest.mark.parametrize('item', [later_types.lost, later_types.unknown_result])
    def test_a_processor_refuses_a_tool_with_a_type_that_is_never_known(
        self, item: Tool[TaggedError]
    ) -> None:
        with pytest.raises(TypeError, match=r'is not known.*for type checkers only'):
            Processor(later_types.move | item)


def positional_only(city: str, /) -> None: ...
def any_number(*cities: str) -> None: ...
def any_name(**cities: str) -> None: ...
def untyped(city) -> None: ...  # type: ignore[no-untyped-def]
def opaque(city: Callable[[], int]) -> None: ...
def two_lists(city: list[int] | list[str]) -> None: ...
def generator(city: str) -> Any:
    yield city


async def async_generator(city: str) -> Any:
    yield city


def iterator(city: str) -> Iterator[str]:
    return iter(city)


async def async_iterator(city: str) -> AsyncIterable[str]:
    raise NotImplementedError


def text_error(city: str) -> Result[int, str]:
    return Success(len(city))


def minimum_below(last: Annotated[int, NotBelow('first')], first: int) -> None: ...


class Shop:
    def total(self, count: int) -> None: ...
    @classmethod
    def create(cls, count: int) -> None: ...


REFUSED: list[tuple[Any, str]] = [
    (positional_only, "positional_only: the parameter 'city' is positional-only.*remove the"),
    (any_number, r'any_number: a model cannot fill `\*cities: str`; .*`list\[…\]`'),
    (any_name, r'any_name: a model cannot fill `\*\*cities: str`; .*`dict\[…\]`'),
    (untyped, "untyped: the parameter 'city' has no type; annotate it, as in `city: str`"),
    (opaque, "opaque: an argument cannot be checked .*'city'; use the types of JSON"),
    (two_lists, "two_lists: .*'city'.*more than one array-like"),
    (generator, 'generator is a generator.*Return a list'),
    (async_generator, 'generator is a generator'),
    (iterator, 'iterator returns an iterator; a tool returns once. Return a list'),
    (async_iterator, 'async_iterator returns an iterator'),
    (text_error, 'text_error: the errors of a tool are error classes, not str; derive'),
    (minimum_below, "minimum of 'last' is the parameter 'first', which is not declared before"),
    (Shop.total, r'Shop.total is a method; .*`tool\(instance.method\)`'),
    (vars(Shop)['create'], 'not a classmethod'),
    (len, 'takes a function or a bound method, not <built-in function len>'),
    (partial(add, b=1), 'takes a function or a bound method, not functools.partial'),
    ('weather', "takes a function or a bound method, not 'weather'"),
]


@pytest.mark.parametrize(('function', 'message'), REFUSED)
def test_a_function_that_a_model_cannot_call_is_refused(function: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        tool(function)


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (
            {'name': 'get.weather'},
            'a name has letters, digits, .* unlike .get.weather.; set `name`',
        ),
        ({'namespace': 'a b'}, 'unlike .a b__.*; set `name` or `namespace`'),
        ({'name': ''}, 'a name has letters'),
        ({'name': 'a' * 65}, 'at most 64 characters'),
        ({'name': '1a'}, 'begins with a letter'),
        ({'namespace': ''}, '"namespace__name" has letters'),
        ({'namespace': 'a' * 60}, 'at most 64 characters'),
        ({'isolated': 5}, 'isolated must be ToolLimits'),
        ({'exclusive': 'key'}, 'exclusive must be a function'),
        ({'timeout': True}, 'timeout must be a number of seconds, not True'),
        ({'retries': 1}, 'retries'),
    ],
)
def test_an_invalid_option_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        tool(**options)(lambda: None)


@pytest.mark.parametrize('timeout', [0, -1, float('nan'), float('inf')])
def test_a_timeout_that_is_not_positive_is_refused(timeout: float) -> None:
    with pytest.raises(ValueError, match='timeout must be a number of seconds above 0'):
        tool(timeout=timeout)


def test_limits_have_defaults() -> None:
    assert ToolLimits() == ToolLimits(seconds=60.0, memory=512 * 2**20, output=2**20)


@pytest.mark.parametrize(
    ('limits', 'error', 'message'),
    [
        ({'memory': 1.5}, TypeError, 'memory must be a whole number of bytes, not 1.5'),
        ({'output': True}, TypeError, 'output must be a whole number of bytes, not True'),
        ({'seconds': '1'}, TypeError, 'seconds must be a number of seconds, not .1.'),
        ({'memory': 1}, ValueError, 'memory must be .*16 MiB. or more.*, not 1'),
        ({'memory': 10**30}, ValueError, 'memory must be .* or less'),
        ({'memory': 0}, ValueError, 'memory must be 1 byte or more, not 0'),
        ({'output': -1}, ValueError, 'output must be 1 byte or more, not -1'),
        ({'seconds': 0}, ValueError, 'seconds must be a number of seconds above 0, not 0'),
    ],
)
def test_limits_are_positive(limits: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ToolLimits(**limits)


@dataclass
class Place:
    x: int


class Options(TypedDict, total=False):
    unit: Literal['C', 'F']


class TestBinding:
    def test_arguments_are_converted_without_coercion(self) -> None:
        error = error_of(weather.bind({'days': '3', 'more': 1}), MissingParameter)
        assert (error.tool, error.parameter, error.example) == ('weather', 'city', 'Oslo')
        assert error.also == (
            Finding('more', 'is not a parameter of weather; its parameters are city, days'),
            Finding('days', 'must be an integer from 1 to 14, not a string'),
        )
        assert error_of(add.bind({'a': True}), InvalidParameter).parameter == 'a'

    def test_nested_types_are_made(self) -> None:
        @tool
        def look(
            at: list[Place], day: Forecast, options: Options, other: dict[int, object]
        ) -> object:
            return at, day, options, other

        arguments: Mapping[str, object] = {
            'at': [{'x': 1}],
            'day': {'days': [1]},
            'options': {'unit': 'C'},
            'other': {'1': None},
        }
        assert value_of(look.bind(arguments)).run() == (
            [Place(1)],
            Forecast([1]),
            {'unit': 'C'},
            {1: None},
        )
        assert (
            error_of(look.bind({**arguments, 'at': [{'x': '1'}]}), InvalidParameter).parameter
            == 'at'
        )

    def test_a_default_of_the_function_is_kept(self) -> None:
        marker = object()

        @tool
        def look(at: int = marker) -> object:  # type: ignore[assignment]  # on purpose
            return at

        assert bind(look).run() is marker
        assert bind(look).arguments == {}

    def test_each_attempt_has_its_own_arguments(self) -> None:
        @tool
        def take(items: list[object], *, count: int = 1) -> list[object]:
            items.pop()
            return items

        given: dict[str, object] = {'items': [1, [2]]}
        call = value_of(take.bind(given))
        assert call.run() == [1]
        assert call.run() == [1]
        assert given == {'items': [1, [2]]}

    def test_the_interface_for_isolated_tools_is_complete(self) -> None:
        limits = ToolLimits(seconds=1)
        call = bind(tool(isolated=limits)(look), at=1)
        assert (call.isolated, call.arguments, call.is_async) == (limits, {'at': 1}, False)
        assert call.function(**call.arguments) == 1
        assert call.result_type.value_type is int

    def test_a_function_that_cannot_be_imported_cannot_be_isolated(self) -> None:
        def nested(at: int) -> int:
            return at

        with pytest.raises(TypeError, match=r'nested cannot run in a process .* in a function'):
            tool(isolated=ToolLimits())(nested)

    def test_an_awaitable_is_announced(self) -> None:
        @tool
        def later(at: int) -> Coroutine[Any, Any, Result[int, CityUnknown]]:
            async def run() -> Result[int, CityUnknown]:
                return Success(at)

            return run()

        def awaited(call: Invocation[TaggedError]) -> object:
            async def wait() -> object:
                result: Any = call.run()
                return await result

            return call.check(asyncio.run(wait()))

        for call in (bind(later, at=1), bind(weather, city='Oslo')):
            assert call.is_async
            assert type(awaited(call)) is Success
        assert not bind(add, a=1).is_async

    def test_the_key_of_an_exclusive_tool_depends_on_arguments_and_defaults(self) -> None:
        @tool(exclusive=lambda arguments: (arguments['path'], arguments['mode']))
        def write(path: str, text: str, mode: str = 'w') -> None: ...

        assert bind(write, path='a', text='b').key == ('a', 'w')
        assert bind(write, path='a', text='b', mode='x').key == ('a', 'x')
        assert bind(add, a=1).key is None

    def test_a_key_that_cannot_be_hashed_is_a_mistake_of_the_tool(self) -> None:
        @tool(exclusive=lambda arguments: [arguments['path']])  # type: ignore[arg-type,return-value]  # pyright: ignore[reportArgumentType]  # on purpose
        def write(path: str) -> None: ...

        message = "exclusive of 'write' must return a hashable key, .* not list"
        with pytest.raises(TypeError, match=message):
            write.bind({'path': 'a'})


class TestResult:
    def test_a_value_is_returned_unchanged(self) -> None:
        forecast = Forecast([1])
        checked = check(weather, Success(forecast), city='Oslo')
        assert isinstance(checked, Success)
        assert checked.unwrap() is forecast

    def test_a_plain_value_is_a_success(self) -> None:
        assert check(add, 3, a=1) == Success(3)
        assert check(add, None, a=1) == Failure(
            InvalidResult('add', (Problem('', 'must be a number, not null'),))
        )

    def test_a_wrong_value_is_an_invalid_result_at_any_depth(self) -> None:
        wrong = Forecast([1, 'hunter2'])  # type: ignore[list-item]  # on purpose
        assert check(weather, Success(wrong), city='Oslo') == Failure(
            InvalidResult('weather', (Problem('/days/1', 'must be an integer, not a string'),))
        )

    def test_the_constraints_of_a_value_are_checked(self) -> None:
        @tool
        def count() -> Annotated[int, Meta(ge=1)]:
            return 0

        @tool
        def percent() -> Result[Annotated[int, Meta(le=100)] | None, CityUnknown]:
            return Success(101)

        @tool
        def documented() -> Annotated[Result[int, CityUnknown], 'the number']:
            return Success(1)

        @tool
        def failing() -> Result[int, Annotated[CityUnknown, 'with suggestions']]:
            return Failure(CityUnknown('x'))

        @tool
        def aliased() -> Looked[Annotated[int, Meta(ge=1)]]:
            return Success(0)

        problems = [Problem('', 'Expected `int` >= 1'), Problem('', 'Expected `int` <= 100')]
        assert check(count, 0) == Failure(InvalidResult('count', (problems[0],)))
        assert check(count, 1) == Success(1)
        assert check(percent, Success(101)) == Failure(InvalidResult('percent', (problems[1],)))
        assert check(percent, Success(None)) == Success(None)
        assert check(documented, Success(1)) == Success(1)
        assert type(check(documented, Success('1'))) is Failure
        assert check(aliased, Success(0)) == Failure(InvalidResult('aliased', (problems[0],)))
        assert check(aliased, Failure(CityUnknown('x'))) == Failure(CityUnknown('x'))
        assert aliased.output_schema == {
            'type': 'object',
            'properties': {'result': {'type': 'integer', 'minimum': 1}},
            'required': ['result'],
        }
        assert check(failing, Failure(CityUnknown('x'))) == Failure(CityUnknown('x'))
        assert type(check(failing, Failure(Unrelated())).failure()) is InvalidResult  # type: ignore[attr-defined]  # on purpose

    def test_an_error_outside_the_declared_channel_is_an_invalid_result(self) -> None:
        assert check(weather, Failure(CityUnknown('x')), city='x') == Failure(CityUnknown('x'))
        assert check(weather, Failure(Unrelated()), city='x') == Failure(
            InvalidResult(
                'weather',
                (
                    Problem(
                        '', 'must fail with a declared error (CityUnknown), not Unrelated'
                    ),
                ),
            )
        )  # fmt: skip

    def test_an_error_that_is_not_tagged_is_an_invalid_result(self) -> None:
        assert check(weather, Failure('late'), city='x') == Failure(
            InvalidResult('weather', (Problem('', 'must fail with a tagged error, not str'),))
        )

    def test_the_check_can_be_left_out(self) -> None:
        @tool(validate=False)
        def look(at: int) -> Result[int, CityUnknown]:
            return Success(at)

        assert check(look, Success('x'), at=1) == Success('x')
        assert check(look, Failure(Unrelated()), at=1) == Failure(Unrelated())
        assert type(check(look, Failure('late'), at=1)) is Failure

    def test_a_result_of_returns_is_a_result(self) -> None:
        @tool
        def look(at: int) -> OpenResult[int, CityUnknown]:
            return OpenSuccess(at)

        call = bind(look, at=1)
        assert call.check(call.run()) == Success(1)
        assert type(call.check(OpenSuccess('x'))) is Failure
        assert type(call.check(Failure(Unrelated()))) is Failure

    def test_a_function_without_a_return_type_can_return_anything(self) -> None:
        @tool
        def look(at: int):  # type: ignore[no-untyped-def]  # pyright: ignore[reportUnknownParameterType]
            return at  # pyright: ignore[reportUnknownVariableType]

        assert check(look, 'x', at=1) == Success('x')
        assert check(look, Failure(CityUnknown('x')), at=1) == Failure(CityUnknown('x'))
        assert look.output_schema is None
