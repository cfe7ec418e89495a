"""Tests of annotations that are not evaluated at run time."""

from __future__ import annotations

import asyncio
import decimal
import inspect
from typing import TYPE_CHECKING, TypeAlias, get_args, get_type_hints

import pytest

import seamwise
from seamwise import Do as Token
from seamwise import Failure, Success, fallible
from seamwise._results.signatures import resolved_annotation

if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal

    from seamwise import Do, Result

Channel: TypeAlias = 'Token[str | int]'


class Shop:
    @fallible
    def imported_for_checkers(self, do: Do[str | int], number: int) -> int:
        return do(Success(number)) if number else do.fail('zero')

    @fallible
    def by_another_name(self, do: Token[str | int], number: int) -> int:
        return do(Success(number)) if number else do.fail('zero')

    @fallible
    def by_its_module(self, do: seamwise.Do[str | int], number: int) -> int:
        return do(Success(number)) if number else do.fail('zero')

    @fallible
    def by_an_alias(self, do: Channel, number: int) -> int:
        return do(Success(number)) if number else do.fail('zero')

    @classmethod
    @fallible
    async def quoted(cls, do: 'Do[str | int]', number: int) -> int:  # noqa: UP037 -- the quotes are the test
        return do(Success(number)) if number else do.fail('zero')


@pytest.mark.parametrize(
    'run',
    [
        Shop().imported_for_checkers,
        Shop().by_another_name,
        Shop().by_its_module,
        Shop().by_an_alias,
    ],
)
def test_an_unevaluated_annotation_of_do_is_found(
    run: Callable[[int], Result[int, str | int]],
) -> None:
    assert (run(1), run(0)) == (Success(1), Failure('zero'))
    assert list(inspect.signature(run).parameters) == ['number']
    assert get_type_hints(run) == {'number': int, 'return': Success[int] | Failure[str | int]}


def test_an_unevaluated_annotation_of_do_is_found_in_a_coroutine_function() -> None:
    assert asyncio.run(Shop.quoted(0)) == Failure('zero')
    assert get_type_hints(Shop.quoted)['return'] == Success[int] | Failure[str | int]


def test_other_annotations_may_be_undefined_at_run_time() -> None:
    @fallible
    def rounded(do: Do[Decimal], number: Decimal) -> Decimal:
        return do(Success(number))

    assert str(inspect.signature(rounded)).partition(' -> ')[0] == "(number: 'Decimal')"
    assert rounded(decimal.Decimal(1)) == Success(decimal.Decimal(1))
    with pytest.raises(NameError, match='Decimal'):
        get_type_hints(rounded)


def test_a_name_that_is_bound_later_is_ignored() -> None:
    @fallible
    def run(do: Do[str]) -> int:
        return later + do(Success(1))

    later = 1
    assert run() == Success(2)


def test_the_names_inside_of_an_annotation_are_resolved() -> None:
    class Local:
        pass

    @fallible
    def load(do: Token[str], number: int) -> Local:
        return Local()

    # The body uses the local class, so that the function knows it at run time.
    assert isinstance(load(1).unwrap(), Local)
    annotation = resolved_annotation(inspect.signature(load).return_annotation, load)
    assert Local in {part for member in get_args(annotation) for part in get_args(member)}
