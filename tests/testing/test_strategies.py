"""Tests of the strategies for error classes."""

import math
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Generic, Literal, TypeAlias, TypeVar

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from msgspec import Meta, Struct
from typing_extensions import override

from seamwise import Category, Cause, Failure, Result, Secret, Success, TaggedError, codec
from seamwise._errors.errors import MAX_DELAY
from seamwise.catalog.storage import RecordExists, RecordNotFound
from seamwise.testing import errors_of
from tests.strategies import EVERY_CLASS
from tests.testing.errors import Busy, Gone

T = TypeVar('T')
N = TypeVar('N', bound=int)

ResultAlias: TypeAlias = Result[int, RecordNotFound | RecordExists]


class Point(Struct, frozen=True):
    x: float
    label: Literal['near', 'far'] = 'near'


class Everything(TaggedError, namespace='testing', category=Category.CONFLICT):
    name: str
    points: tuple[Point, ...]
    pair: tuple[int, str]
    tags: frozenset[str]
    secret: Secret[int]
    bare: Secret[str] | None
    value: object
    cause: Cause | None = None
    previous: 'Everything | Gone | None' = None
    size: Annotated[int, Meta(ge=3, le=5)] = 3
    share: Annotated[float, Meta(gt=0.0, le=1.0)] = 1.0
    code: Annotated[str, Meta(pattern='^[a-z]{2}$')] = 'ab'
    title: Annotated[str, Meta(min_length=1, max_length=4)] = 'x'


class Measured(TaggedError, Generic[T, N], namespace='testing', category=Category.CONFLICT):
    value: T
    values: tuple[T, ...]
    count: N


class Chain(TaggedError, namespace='testing', category=Category.CONFLICT):
    previous: 'Chain | Gone | None' = None
    others: 'tuple[Chain, ...]' = ()


class Overridden(TaggedError, namespace='testing', category=Category.CONFLICT):
    status: int

    @property
    @override
    def retryable(self) -> bool:
        return self.status >= 500


class Ordered(TaggedError, namespace='testing', category=Category.CONFLICT):
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError('low must be at most high.')


@pytest.mark.parametrize('kind', [*EVERY_CLASS, Everything, Measured, Overridden, Ordered])
@settings(max_examples=5)
@given(data=st.data())
def test_hypothesis_builds_errors_of_every_class(
    data: st.DataObject, kind: type[TaggedError]
) -> None:
    error = data.draw(st.from_type(kind))
    assert type(error) is kind
    assert str(error)
    assert error == error  # noqa: PLR0124 -- no field is nan
    hash(error)


@given(errors_of(RecordNotFound | Gone))
def test_errors_survive_a_round_trip_through_json(error: RecordNotFound | Gone) -> None:
    assert codec(RecordNotFound | Gone).decode(codec(RecordNotFound | Gone).encode(error)) == error


@given(st.from_type(Everything))
def test_fields_have_the_values_that_their_annotations_allow(error: Everything) -> None:
    assert all(math.isfinite(point.x) and point.label in {'near', 'far'} for point in error.points)
    assert isinstance(error.secret.reveal(), int)
    assert 3 <= error.size <= 5
    assert 0.0 < error.share <= 1.0
    assert error.code.strip().isalpha()
    assert 1 <= len(error.title) <= 4
    assert isinstance(error.cause, (TaggedError, BaseException, type(None)))


@given(st.from_type(Busy))
def test_delays_are_valid(error: Busy) -> None:
    assert error.retry_after is None or 0.0 <= error.retry_after <= MAX_DELAY


@given(st.from_type(Measured[str, int]))
def test_a_generic_class_uses_its_arguments(error: Measured[str, int]) -> None:
    assert isinstance(error.value, str)
    assert all(isinstance(value, str) for value in error.values)
    assert isinstance(error.count, int)


@pytest.mark.slow
@pytest.mark.parametrize('union', [RecordNotFound | RecordExists, ResultAlias])
def test_errors_of_a_union_are_of_all_its_members(union: Any) -> None:
    for kind in (RecordNotFound, RecordExists):
        assert isinstance(find(errors_of(union), partial(is_a, kind)), kind)


def is_a(kind: type, error: object) -> bool:
    return type(error) is kind


@pytest.mark.slow
def test_a_recursive_field_is_filled() -> None:
    errors: list[Chain] = []

    @given(st.from_type(Chain))
    def collect(error: Chain) -> None:
        errors.append(error)

    collect()
    assert any(isinstance(error.previous, Chain) for error in errors)
    assert any(error.others for error in errors)


@pytest.mark.slow
def test_a_class_that_is_defined_later_is_known() -> None:
    class Later(TaggedError, category=Category.CAPACITY):
        retry_after: float

    find(st.from_type(Later), lambda error: error.retry_after > 1.0)
    with pytest.raises(NoSuchExample):
        find(st.from_type(Later), lambda error: error.retry_after < 0.0)


def test_a_strategy_that_a_test_registers_applies() -> None:
    class Special(TaggedError, category=Category.CONFLICT):
        key: int

    st.register_type_strategy(Special, st.just(Special(7)))
    find(errors_of(Special | Gone), lambda error: error == Special(7))
    with pytest.raises(NoSuchExample):
        find(errors_of(Special), lambda error: error != Special(7))


@pytest.mark.parametrize('union', [int, TaggedError, Gone | int, 'Gone'])
def test_a_type_that_is_no_error_class_is_refused(union: Any) -> None:
    with pytest.raises(TypeError):
        errors_of(union)


def test_an_annotation_for_type_checkers_only_is_explained() -> None:
    class Vague(TaggedError, category=Category.CONFLICT):
        value: 'Unknown'  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(TypeError, match="the name 'Unknown' in its annotations is unknown"):
        find(errors_of(Vague), bool)


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, '-c', code], check=False, capture_output=True, text=True)


def test_importing_the_package_registers_the_strategies() -> None:
    code = (
        'from hypothesis import find, strategies as st; import seamwise.testing; '
        'from seamwise.catalog.network import UpstreamRateLimited as Kind; '
        'print(type(find(st.from_type(Kind), bool)).__name__)'
    )
    assert run_python(code).stdout == 'UpstreamRateLimited\n'


PLUGIN = (
    'import os, sys; os.environ["HYPOTHESIS_NO_PLUGINS"] = "1"; '
    'from _seamwise_hypothesisplugin import register; '
)
DRAW = (
    'from hypothesis import find, strategies as st; '
    'from seamwise.catalog.network import UpstreamRateLimited as Kind; '
    'print(find(st.from_type(Kind), lambda error: error.retry_after is not None).retry_after)'
)


def test_the_entry_point_of_hypothesis_imports_nothing_of_the_package() -> None:
    code = PLUGIN + (
        'import hypothesis; register(); '
        'print([name for name in sys.modules if name.partition(".")[0] == "seamwise"])'
    )
    assert run_python(code).stdout == '[]\n'


@pytest.mark.parametrize(
    'order', ['import hypothesis; register(); ', 'import seamwise, hypothesis; register(); ']
)
def test_the_entry_point_registers_the_strategies_outside_pytest(order: str) -> None:
    assert run_python(PLUGIN + order + DRAW).stdout == '0.0\n'


def test_importing_the_package_after_hypothesis_imports_no_strategies() -> None:
    code = PLUGIN + (
        'import hypothesis; register(); import seamwise; print("seamwise.testing" in sys.modules)'
    )
    assert run_python(code).stdout == 'False\n'


@dataclass
class Outcome:
    result: Result[int, RecordNotFound]
    certain: Success[tuple[str, ...]]


@given(st.from_type(Outcome))
def test_a_dataclass_with_results_has_a_strategy(outcome: Outcome) -> None:
    assert isinstance(outcome.certain.unwrap(), tuple)
    match outcome.result:
        case Success(number):
            assert isinstance(number, int)
        case Failure(error):
            assert isinstance(error, RecordNotFound)


@pytest.mark.slow
def test_a_result_type_has_successes_and_failures() -> None:
    hint: Any = ResultAlias
    for kind in (RecordNotFound, RecordExists):
        find(st.from_type(hint).map(lambda result: result.swap().value_or(0)), partial(is_a, kind))
    find(st.from_type(Success[int]), lambda result: result.unwrap() > 7)
    find(st.from_type(Failure[Busy]), lambda result: result.failure().retry_after is not None)
    bare: Any = Success
    find(st.from_type(bare), lambda result: isinstance(result.unwrap(), str))


def test_without_hypothesis_the_message_says_what_to_install() -> None:
    code = (
        'import sys; sys.modules["hypothesis"] = None; from seamwise.testing import errors_of; '
        'from seamwise.catalog.storage import StorageError; errors_of(StorageError)'
    )
    assert run_python(code).stderr.endswith(
        'ModuleNotFoundError: errors_of needs Hypothesis: pip install hypothesis\n'
    )
