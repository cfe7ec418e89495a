"""Tests of the containers: subclasses of those of `returns`, constructed by msgspec."""

import copy
import dataclasses
import gc
import importlib.util
import operator
import pickle
import subprocess
import sys
import threading
import types
from abc import ABCMeta
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeAlias, assert_never, get_origin, get_type_hints

import msgspec
import pytest
import returns.result
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from returns.io import IOResult, IOSuccess
from returns.iterables import Fold
from returns.pipeline import flow as returns_flow
from returns.pointfree import bind
from returns.primitives.exceptions import ImmutableStateError, UnwrapFailedError
from returns.primitives.tracing import collect_traces
from returns.result import Failure as ReturnsFailure
from returns.result import Success as ReturnsSuccess
from returns.result import safe
from typing_extensions import get_original_bases, override

from seamwise import Failure, Result, Success, from_returns, is_failure, is_success

unpickle: Callable[[bytes], Any] = pickle.loads
PAIRS: list[tuple[Any, Any]] = [(Success, ReturnsSuccess), (Failure, ReturnsFailure)]


@pytest.mark.parametrize(('own', 'theirs'), PAIRS)
class TestBothClasses:
    def test_are_subclasses_of_those_of_returns(self, own: Any, theirs: Any) -> None:
        assert isinstance(own(1), theirs)
        assert isinstance(own(1), returns.result.Result)
        assert not isinstance(theirs(1), own)

    def test_equal_those_of_returns_in_both_directions(self, own: Any, theirs: Any) -> None:
        assert own([1]) == theirs([1])
        assert theirs([1]) == own([1])
        assert not operator.ne(own([1]), theirs([1]))
        assert not operator.ne(theirs([1]), own([1]))
        assert own(1) != theirs(2)
        assert theirs(2) != own(1)
        assert own(1).equals(theirs(1))

    def test_have_the_hash_of_those_of_returns(self, own: Any, theirs: Any) -> None:
        assert {own('a'), theirs('a')} == {own('a')}
        with pytest.raises(TypeError, match='unhashable'):
            hash(own([]))

    def test_differ_from_each_other_and_from_other_values(self, own: Any, theirs: Any) -> None:
        other = own(1).swap()
        assert type(other) in {Success, Failure} - {own}
        assert own(1) != other
        assert own(1) != 1
        assert own(1) != theirs(1).swap()

    def test_are_shown_as_they_are_written(self, own: Any, theirs: Any) -> None:
        assert theirs is not own
        assert repr(own('a')) == f"{own.__name__}('a')"
        assert list(own('a').__rich_repr__()) == ['a']

    def test_are_immutable(self, own: Any, theirs: Any) -> None:
        result = own(1)
        changes: list[Callable[[str], object]] = [
            lambda name: setattr(result, name, 2),
            partial(delattr, result),
        ]
        for change in changes:
            for name in ('_inner_value', 'other'):
                with pytest.raises(ImmutableStateError, match=r'\(1\) cannot be changed'):
                    change(name)
        assert result == theirs(1)

    def test_survive_copies_and_pickles(self, own: Any, theirs: Any) -> None:
        result = own([1])
        assert copy.copy(result) is result
        deep = copy.deepcopy(result)
        inner = deep.unwrap() if own is Success else deep.failure()
        inner.append(2)
        assert (type(deep), deep, result) == (own, own([1, 2]), own([1]))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            restored = unpickle(pickle.dumps(result, protocol))
            assert (type(restored), restored) == (own, theirs([1]))

    def test_take_one_value(self, own: Any, theirs: Any) -> None:
        assert own(None) == theirs(None)
        for arguments in ((), (1, 2)):
            with pytest.raises(TypeError):
                own(*arguments)

    def test_are_tracked_by_the_garbage_collector_only_with_a_container(
        self, own: Any, theirs: Any
    ) -> None:
        assert theirs is not own
        assert not gc.is_tracked(own(1))
        assert gc.is_tracked(own([]))

    def test_record_no_traces(self, own: Any, theirs: Any) -> None:
        with collect_traces():
            assert own(1).trace is None
            assert own(1) == theirs(1)

    def test_create_their_own_pair(self, own: Any, theirs: Any) -> None:
        assert theirs is not own
        assert type(own.from_value(1)) is Success
        assert type(own.from_failure(1)) is Failure
        assert type(own(1).from_value(1)) is Success


def test_methods_return_the_classes_of_this_library() -> None:
    success: Any = Success(1)
    failure: Any = Failure(1)
    assert type(success.map(str)) is Success
    assert type(success.swap()) is Failure
    assert type(success.bind(Success)) is Success
    assert type(success.apply(Success(str))) is Success
    assert type(failure.swap()) is Success
    assert type(failure.alt(str)) is Failure
    assert type(failure.lash(Failure)) is Failure


def test_match_takes_the_value_by_position() -> None:
    def show(result: Result[int, str]) -> str:
        match result:
            case Success(number):
                return f'value {number}'
            case Failure(error):
                return f'error {error}'
            case _:
                assert_never(result)

    assert [show(Success(1)), show(Failure('late'))] == ['value 1', 'error late']


def test_functions_of_returns_take_the_results() -> None:
    def half(number: int) -> Any:
        return Failure('odd') if number % 2 else Success(number // 2)

    results: list[Any] = [Success(1), Success(2)]
    assert returns_flow(8, half, bind(half), bind(half)) == Success(1)
    assert returns_flow(6, half, bind(half)) == Failure('odd')
    assert Fold.collect(results, ReturnsSuccess(())) == Success((1, 2))
    assert Fold.collect([*results, Failure('late')], ReturnsSuccess(())) == Failure('late')
    assert IOResult.from_result(Success(1)) == IOSuccess(1)

    def add(first: Any, second: Any) -> Any:
        do: Any = returns.result.Result.do
        return do(a + b for a in first for b in second)

    assert (add(Success(1), Success(2)), add(Success(1), Failure('late'))) == (
        Success(3),
        Failure('late'),
    )


@given(st.integers() | st.text() | st.floats() | st.lists(st.integers()))
def test_comparisons_agree_with_those_of_returns(value: object) -> None:
    for compare in (operator.eq, operator.ne):
        expected = compare(ReturnsSuccess(value), ReturnsSuccess(value))
        assert compare(Success(value), Success(value)) is expected
        assert compare(Success(value), ReturnsSuccess(value)) is expected
        assert compare(ReturnsSuccess(value), Success(value)) is expected


def test_a_value_that_is_not_there_raises_an_error_that_shows_the_result() -> None:
    with pytest.raises(UnwrapFailedError) as no_value:
        Failure('late').unwrap()
    with pytest.raises(UnwrapFailedError) as no_error:
        Success(1).failure()
    assert (
        str(no_value.value) == "Failure('late') has no value; match the result before you take one."
    )
    assert str(no_error.value) == 'Success(1) has no error; match the result before you take one.'
    errors: list[Any] = [no_value.value, unpickle(pickle.dumps(no_value.value))]
    assert [error.halted_container for error in errors] == [Failure('late')] * 2


def test_unwrap_of_a_failure_with_an_exception_raises_from_it() -> None:
    error = OSError('disk')
    with pytest.raises(UnwrapFailedError) as raised:
        Failure(error).unwrap()
    assert raised.value.__cause__ is error


def test_from_returns_returns_a_result_of_this_library_itself() -> None:
    result: Result[int, str] = Success(1)
    assert from_returns(result) is result
    converted = from_returns(safe(int)('7'))
    assert (type(converted), converted) == (Success, Success(7))


@pytest.mark.parametrize('value', [7, None, 'text', Success])
def test_from_returns_raises_type_error_for_other_values(value: object) -> None:
    with pytest.raises(TypeError, match='from_returns takes a Success or a Failure'):
        from_returns(value)  # type: ignore[arg-type]  # the misuse is the test


def test_is_success_and_is_failure_distinguish_the_results() -> None:
    assert (is_success(Success(1)), is_failure(Success(1))) == (True, False)
    assert (is_success(Failure(1)), is_failure(Failure(1))) == (False, True)


def test_the_result_alias_contains_its_error_types_at_run_time() -> None:
    def load() -> Result[int, KeyError | OSError]:
        return Success(1)

    hint = get_type_hints(load)['return']
    assert hint == Success[int] | Failure[KeyError | OSError]
    assert isinstance(load(), hint.__args__[0].__origin__)


def test_msgspec_looks_for_a_constructor_only_in_direct_bases() -> None:
    # If this test fails, msgspec has changed its rule: the containers use the slower constructor.
    class WithInit:
        def __init__(self) -> None: ...

    class Between(WithInit):
        """Has the method, but does not define it."""

    class Indirect(Between, msgspec.Struct):
        value: int

    assert Indirect(1).value == 1
    with pytest.raises(TypeError, match='__init__'):
        types.new_class('Direct', (WithInit, msgspec.Struct))
    assert issubclass(Success, msgspec.Struct)
    assert issubclass(Failure, msgspec.Struct)


def test_the_containers_work_without_the_constructor_of_msgspec(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class StructMeta(ABCMeta):
        """A metaclass of its own, like that of msgspec."""

    class StrictStruct(metaclass=StructMeta):
        @override
        def __init_subclass__(cls, **_settings: object) -> None:
            raise TypeError('Struct base classes cannot define __init__')

    monkeypatch.setattr(msgspec, 'Struct', StrictStruct)
    spec = importlib.util.find_spec('seamwise._results.containers')
    assert spec is not None
    assert spec.loader is not None
    fallback: Any = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, 'seamwise._results.containers', fallback)
    spec.loader.exec_module(fallback)
    for name, theirs in (('Success', ReturnsSuccess), ('Failure', ReturnsFailure)):
        own = getattr(fallback, name)
        assert not issubclass(own, StrictStruct)
        assert own(1) == theirs(1)
        assert theirs(1) == own(1)
        assert repr(own('a')) == f"{name}('a')"
        assert own[int].__origin__ is own
        assert type(unpickle(pickle.dumps(own(1)))) is own
        with pytest.raises(AttributeError):
            own(1).other = 2
    assert type(fallback.Success(1).map(str)) is fallback.Success


@pytest.mark.parametrize('result', [Success(1), Failure('no'), Failure(KeyError('10.0.0.5'))])
@pytest.mark.parametrize(
    'encode', [msgspec.json.encode, msgspec.msgpack.encode, msgspec.to_builtins]
)
def test_no_encoder_of_msgspec_takes_a_result(
    encode: Callable[[object], object], result: object
) -> None:
    for value in (result, [result], {'item': result}, Success(result)):
        with pytest.raises(TypeError, match='is unsupported'):
            encode(value)


def test_msgspec_refuses_to_decode_a_result_with_a_reason() -> None:
    types: list[Any] = [Success[int], Failure, Loaded, list[Success[int]]]
    for type_ in types:
        with pytest.raises(TypeError, match=r'msgspec cannot decode a Result: .* with `codec`'):
            msgspec.convert({}, type_)
        with pytest.raises(TypeError, match='msgspec cannot decode a Result'):
            msgspec.json.Decoder(type_)
    # Other readers get the bases, as Hypothesis does.
    assert Generic in [get_origin(base) for base in get_original_bases(Success)]


def test_the_field_that_no_encoder_takes_is_not_part_of_the_interface() -> None:
    assert Success.__match_args__ == Failure.__match_args__ == ('_inner_value',)
    assert pickle.dumps(Failure('no')).count(b'unencodable') == 0
    assert Success(1).__reduce__() == (Success, (1,))


@pytest.mark.parametrize('result', [Success(1), Failure('no')])
def test_pydantic_refuses_a_result_and_says_what_to_do_in_fastapi(
    result: Success[int] | Failure[str],
) -> None:
    adapter = TypeAdapter[object](Success[int] | Failure[str])
    with pytest.raises(TypeError, match=rf'a {type(result).__name__}. In FastAPI'):
        adapter.validate_python(result)


Loaded: TypeAlias = Result[int, str]


async def load_later(number: int) -> Result[int, str]:
    pytest.fail(f'the coroutine of {number} was awaited')


@pytest.mark.parametrize(
    ('step', 'message'),
    [
        (str, 'str must return a Success or a Failure, but returned str.'),
        (load_later, 'load_later must return a Success or a Failure, but returned coroutine.'),
    ],
)
def test_a_step_of_lash_that_returns_no_result_is_refused(step: Any, message: str) -> None:
    with pytest.raises(TypeError) as raised:
        Failure(7).lash(step)
    assert str(raised.value) == message


@pytest.mark.parametrize('options', [[], ['-X', 'dev']], ids=['default', 'development'])
def test_a_step_of_bind_is_checked_in_the_development_mode_of_python(options: list[str]) -> None:
    program = 'from seamwise import Success; print(Success(7).bind(str))'
    process = subprocess.run(
        [sys.executable, *options, '-c', program], capture_output=True, text=True, check=False
    )
    message = 'TypeError: str must return a Success or a Failure, but returned str.'
    assert process.stdout.split() == ([] if options else ['7'])
    assert process.stderr.splitlines()[-1:] == ([message] if options else [])


def test_a_step_may_return_a_result_of_returns() -> None:
    assert Success('7').bind(returns.result.safe(int)) == Success(7)
    assert Failure('7').lash(returns.result.safe(int)) == Success(7)


@dataclasses.dataclass
class Basket:
    items: list[Result[list[int], str]]


def test_a_deep_copy_keeps_the_identity_of_shared_values() -> None:
    result = Success([1])
    first, second = copy.deepcopy([result, result])
    assert first is second
    assert first is not result
    basket = Basket([Success([1])])
    assert dataclasses.asdict(basket)['items'][0].unwrap() is not basket.items[0].unwrap()


def test_a_deep_copy_of_a_result_in_its_own_value_ends() -> None:
    values: list[object] = []
    values.append(Success(values))
    copied = copy.deepcopy(values)
    assert copied is not values
    inner: Any = copied[0]
    assert inner.unwrap() is copied


@pytest.mark.parametrize('value', [7, 'text', (1, 2), ValueError('a'), threading.Lock])
def test_a_deep_copy_of_an_immutable_value_is_the_result_itself(value: object) -> None:
    result = Success(value)
    assert copy.deepcopy(result) is result
    failure = Failure(value)
    assert copy.deepcopy(failure) is failure
