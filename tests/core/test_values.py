"""Descriptions of values in error messages."""

from seamwise._text.values import describe_value


def test_short_values_that_are_not_secret_are_shown() -> None:
    values: list[object] = [None, 1.5, -3, '', 'x', (), {}, b'']
    assert [describe_value(value) for value in values] == [
        'null',
        '1.5',
        '-3',
        'an empty string',
        'a string',
        'a list',
        'an object',
        'a value of another type',
    ]
