"""Templates are checked when a class is made, and filling one in never fails."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from seamwise import Category, Secret, TaggedError
from seamwise.messages import TEXT_LIMIT, VALUE_LIMIT, field_names, shorten


class Measured(
    TaggedError, category=Category.CONFLICT, message='{name!r} weighs {grams:.1f} g: {note}'
):
    name: str
    grams: float
    note: Any = None


def test_a_message_is_filled_from_the_fields() -> None:
    assert str(Measured('a', 2.25, 'ok')) == "'a' weighs 2.2 g: ok"


def test_a_secret_is_masked_whatever_its_format() -> None:
    assert str(Measured('a', 1.0, Secret('hunter2'))) == "'a' weighs 1.0 g: ***"


def test_a_long_value_is_cut_and_says_how_much_is_missing() -> None:
    assert str(Measured('a', 1.0, 'x' * 300)).endswith('x' * VALUE_LIMIT + '… (100 more)')


def test_a_value_of_another_type_does_not_cost_the_message() -> None:
    wrong: Any = 'heavy'
    assert 'weighs <str object' in str(Measured('a', wrong))


def test_a_value_that_cannot_show_itself_does_not_cost_the_message() -> None:
    class Broken:
        @override
        def __format__(self, spec: str) -> str:
            raise ZeroDivisionError

    assert 'Broken object at' in str(Measured('a', 1.0, Broken()))


def test_without_a_template_the_name_speaks() -> None:
    class DiskNearlyFull(TaggedError, category=Category.RESOURCE):
        pass

    assert str(DiskNearlyFull()) == 'Disk nearly full.'


@pytest.mark.parametrize('template', ['', 'no fields', '{{braces}}'])
def test_templates_without_fields(template: str) -> None:
    class Plain(TaggedError, category=Category.CONFLICT, message=template):
        pass

    assert str(Plain()) == template.replace('{{', '{').replace('}}', '}')


@pytest.mark.parametrize(
    ('template', 'reason'),
    [
        ('{missing}', "there is no field 'missing'"),
        ('{}', 'names no field'),
        ('{0}', 'is not the plain name of a field'),
        ('{name.upper}', 'is not the plain name of a field'),
        ('{name[0]}', 'is not the plain name of a field'),
        ('{name', "expected '}'"),
        ('name}', "Single '}'"),
        ('{name!x}', '`!x` is no conversion'),
        ('{grams:zz}', "the format 'zz' does not fit 'grams'"),
        ('{name!r:d}', "the format 'd' does not fit 'name'"),
        ('{grams:{width}}', 'must not hold fields itself'),
    ],
)
def test_a_template_that_cannot_work_is_a_type_error_that_names_the_class(
    template: str, reason: str
) -> None:
    with pytest.raises(TypeError, match=r'^Sized: the message .* does not work: ') as refused:

        class Sized(TaggedError, category=Category.CONFLICT, message=template):  # pyright: ignore[reportUnusedClass]  # it is never made
            name: str
            grams: float

    assert reason in str(refused.value)


@given(st.text(max_size=3000), st.integers(min_value=1, max_value=2000))
def test_a_text_is_cut_once_however_often_it_is_asked_for(text: str, limit: int) -> None:
    once = shorten(text, limit)
    assert shorten(once, limit) == once
    assert once[: min(limit, len(text))] == text[:limit]


@pytest.mark.parametrize(
    ('given_length', 'more'), [(0, 0), (1, 0), (1023, 0), (1024, 0), (1025, 1), (5000, 3976)]
)
def test_free_text_is_cut_at_1024_characters(given_length: int, more: int) -> None:
    text = shorten('说' * given_length)
    assert text == '说' * min(given_length, TEXT_LIMIT) + (f'… ({more} more)' if more else '')


def test_names_of_a_broken_template_fit_no_class() -> None:
    assert field_names('{a} {b!r}') == {'a', 'b'}
    assert field_names('{a') == {''}


def test_a_long_value_in_quotes_says_how_much_of_it_is_missing() -> None:
    class NoSuchPath(TaggedError, category=Category.NOT_FOUND, message='{path!r} does not exist.'):
        path: str

    assert str(NoSuchPath('a' * 10_200)) == f"'{'a' * 200}… (10000 more)' does not exist."
