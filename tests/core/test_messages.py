"""Tests of message templates: their check and their rendering."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from seamwise import Category, Secret, TaggedError
from seamwise._errors.messages import field_names
from seamwise._text.shortening import TEXT_LIMIT, VALUE_LIMIT, shorten
from seamwise.catalog.problem import Problem
from seamwise.catalog.workspace import ConfigInvalid
from seamwise.redaction import configure


class Measured(
    TaggedError, category=Category.CONFLICT, message='{name!r} weighs {grams:.1f} g: {note}'
):
    name: str
    grams: float
    note: Any = None


def test_a_message_is_filled_with_the_fields() -> None:
    assert str(Measured('a', 2.25, 'ok')) == "'a' weighs 2.2 g: ok"


def test_a_secret_is_masked_with_any_format() -> None:
    assert str(Measured('a', 1.0, Secret('hunter2'))) == "'a' weighs 1.0 g: ***"


def test_a_long_value_is_cut_with_the_number_of_omitted_characters() -> None:
    assert str(Measured('a', 1.0, 'x' * 300)).endswith('x' * VALUE_LIMIT + '… (100 more)')


def test_a_value_that_does_not_fit_its_format_is_replaced_by_its_type() -> None:
    wrong: Any = 'heavy'
    assert 'weighs <str object' in str(Measured('a', wrong))


@pytest.mark.parametrize('spec', ['g', '.1f', '>10.2f', 'd', ',', 'x'])
def test_none_is_shown_as_none_with_any_format(spec: str) -> None:
    class Busy(TaggedError, category=Category.CAPACITY, message=f'Wait {{delay:{spec}}} s.'):
        delay: Any = None

    assert str(Busy()) == 'Wait None s.'


def test_none_with_a_conversion_has_the_width_of_its_format() -> None:
    class Busy(TaggedError, category=Category.CAPACITY, message='{delay!r:>6}|{delay!s:<6}|'):
        delay: float | None = None

    assert str(Busy()) == '  None|None  |'
    assert str(Busy(1.5)) == '   1.5|1.5   |'


@pytest.mark.parametrize(
    'annotation',
    [float | None, 'float | None', 'None|float', int | float | None],
)
def test_the_format_of_an_optional_field_is_checked(annotation: Any) -> None:
    with pytest.raises(TypeError, match="the format 'zz' does not fit 'delay'"):

        class Busy(TaggedError, category=Category.CAPACITY, message='{delay:zz}'):  # pyright: ignore[reportUnusedClass]  # its creation fails
            delay: annotation  # pyright: ignore[reportInvalidTypeForm]  # a parameter


@pytest.mark.parametrize(
    'annotation',
    [Annotated[float, []], Callable[[int], str], Literal['int'], 'no expression |', Any, object],
)
def test_the_format_of_other_types_is_not_checked(annotation: Any) -> None:
    class Busy(TaggedError, category=Category.CAPACITY, message='{delay:zz}'):
        delay: annotation  # pyright: ignore[reportInvalidTypeForm]  # a parameter

    assert str(Busy('x')).startswith('<str object')


def test_a_value_whose_repr_raises_is_replaced_by_its_type() -> None:
    class Broken:
        @override
        def __format__(self, spec: str) -> str:
            raise ZeroDivisionError

    assert 'Broken object at' in str(Measured('a', 1.0, Broken()))


def test_the_default_message_is_the_name_in_words() -> None:
    class DiskNearlyFull(TaggedError, category=Category.RESOURCE):
        pass

    assert str(DiskNearlyFull()) == 'Disk nearly full.'


@pytest.mark.parametrize('template', ['', 'no fields', '{{braces}}'])
def test_a_template_may_have_no_fields(template: str) -> None:
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
        ('{grams:{width}}', 'must not contain fields'),
    ],
)
def test_an_invalid_template_raises_type_error_with_the_name_of_the_class(
    template: str, reason: str
) -> None:
    with pytest.raises(TypeError, match=r'^Sized: the message .* does not work: ') as info:

        class Sized(TaggedError, category=Category.CONFLICT, message=template):  # pyright: ignore[reportUnusedClass]  # its creation fails
            name: str
            grams: float

    assert reason in str(info.value)


@given(st.text(max_size=3000), st.integers(min_value=1, max_value=2000))
def test_shortening_a_text_again_does_not_change_it(text: str, limit: int) -> None:
    once = shorten(text, limit)
    assert shorten(once, limit) == once
    assert once[: min(limit, len(text))] == text[:limit]


@pytest.mark.parametrize(
    ('given_length', 'more'), [(0, 0), (1, 0), (1023, 0), (1024, 0), (1025, 1), (5000, 3976)]
)
def test_free_text_is_cut_after_1024_characters(given_length: int, more: int) -> None:
    text = shorten('说' * given_length)
    assert text == '说' * min(given_length, TEXT_LIMIT) + (f'… ({more} more)' if more else '')


def test_the_fields_of_a_malformed_template_fit_no_class() -> None:
    assert field_names('{a} {b!r}') == {'a', 'b'}
    assert field_names('{a') == {''}


def test_a_long_value_in_quotes_is_cut_with_the_number_of_omitted_characters() -> None:
    class NoSuchPath(TaggedError, category=Category.NOT_FOUND, message='{path!r} does not exist.'):
        path: str

    assert str(NoSuchPath('a' * 10_200)) == f"'{'a' * 200}… (10000 more)' does not exist."


class LoginRefused(
    TaggedError,
    namespace='test_messages',
    category=Category.AUTHENTICATION,
    message='{user} with {password!r}, {token_count}',
):
    user: str
    password: str
    token_count: int = 5


def test_a_field_with_a_sensitive_name_is_masked_in_the_message() -> None:
    assert str(LoginRefused('ann', 'sommer')) == "ann with '***', 5"


def test_the_problems_of_an_error_follow_its_message_with_their_pointers() -> None:
    problems = (Problem('/port', 'must be a number'), Problem('', 'is empty'))
    assert str(ConfigInvalid('app.toml', problems)) == (
        "The configuration in 'app.toml' is not valid. /port: must be a number; is empty."
    )


@pytest.mark.parametrize('problems', [(), ('a', 1), [Problem('/port', 'must be a number')], 'abc'])
def test_other_values_in_a_field_of_problems_are_not_in_the_message(problems: Any) -> None:
    assert str(ConfigInvalid('a', problems)) == "The configuration in 'a' is not valid."


def test_a_configured_name_is_masked_in_the_message() -> None:
    configure(also={'user'})
    try:
        assert str(LoginRefused('ann', 'sommer')) == "*** with '***', 5"
    finally:
        configure()
    assert str(LoginRefused('ann', 'sommer')) == "ann with '***', 5"
