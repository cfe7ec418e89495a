"""Tests that an answer depends on its error only, not on those that were shown before."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any

import pytest

from seamwise import Category, TaggedError
from seamwise.catalog.tools import ToolTimedOut
from seamwise.redaction import configure
from seamwise.seams import http, planner
from seamwise.seams.planner.tables import TOOLS
from seamwise.seams.rendering.views import full_view, public_view


class Color(StrEnum):
    RED = 'red'


class Painted(
    TaggedError,
    namespace='test_repeated_errors',
    category=Category.CONFLICT,
    message='{value!r} is painted.',
):
    value: object


HTTP = http.on(Painted).responds(409, 'PAINTED_CONFLICT')
PLANNER = planner.on(Painted).classifies('TOOL_EXECUTION_FAILED')

SHOW: list[Callable[[Painted], Any]] = [
    lambda error: repr(http.envelope(HTTP(error), request_id='r')).partition('timestamp')[0],
    lambda error: repr(PLANNER(error)),
]

EQUAL_VALUES = [
    ('red', Color.RED),
    (1, 1.0),
    (1, True),
    (1.0, True),
    (0, False),
    (0.0, -0.0),
]


@pytest.mark.parametrize('show', SHOW)
@pytest.mark.parametrize(('first', 'second'), EQUAL_VALUES)
def test_equal_values_of_different_types_have_their_own_answers(
    show: Callable[[Painted], Any], first: object, second: object
) -> None:
    alone = [show(Painted(first)), show(Painted(second))]
    assert alone == [show(Painted(first)), show(Painted(second))]
    assert alone[::-1] == [show(Painted(second)), show(Painted(first))]
    assert alone[0] != alone[1]


def test_each_caller_receives_its_own_details() -> None:
    first, second = TOOLS(ToolTimedOut('search', 30.0, 3)), TOOLS(ToolTimedOut('search', 30.0, 3))
    assert first == second
    assert isinstance(first.details, dict)
    first.details['tool_name'] = 'changed'
    assert TOOLS(ToolTimedOut('search', 30.0, 3)) == second
    assert second.origin.error == 'ToolTimedOut'


def test_classes_with_the_same_tag_have_their_own_messages() -> None:
    class PaintedElsewhere(
        TaggedError,
        tag='Painted',
        namespace='elsewhere',
        category=Category.CONFLICT,
        message='{value} dries.',
    ):
        value: str

    for _ in range(2):
        assert public_view(Painted('red')).message == "'red' is painted."
        assert public_view(PaintedElsewhere('red')).message == 'red dries.'


def test_a_list_in_a_field_is_shown() -> None:
    assert full_view(Painted(['red'])).fields == {'value': ['red']}


@pytest.fixture
def _defaults() -> Iterator[None]:
    yield
    configure()


@pytest.mark.usefixtures('_defaults')
def test_the_settings_of_redaction_apply_at_once() -> None:
    error = Painted('iban=DE02')
    assert public_view(error).fields == {'value': 'iban=DE02'}
    configure(also={'iban'})
    for view in (public_view(error), full_view(error)):
        assert view == ("'iban=***' is painted.", {'value': 'iban=***'})
    configure()
    assert full_view(error).fields == {'value': 'iban=DE02'}
