"""Descriptions of a tool and its parameters in a docstring."""

import pytest

from seamwise.toolhost.schema.docstrings import read_docstring

NAMES = ('city', 'days')

SPHINX = """Forecast.

:param city: as people
    write it
:param int days: 1 to 14
:return: the forecast
"""

NUMPY = """Forecast.

Returns
-------
city : str
    not this

Parameters
----------
city : str
    as people
    write it
days
    1 to 14
"""


@pytest.mark.parametrize(
    ('docstring', 'summary', 'parameters'),
    [
        (None, '', {}),
        ('', '', {}),
        ('The forecast.', 'The forecast.', {}),
        ('The forecast\n    of a city.\n\n    More.', 'The forecast of a city.', {}),
        ('Forecast.\n\n    city: as people\n    days: 1 to 14\n', 'Forecast.', {
            'city': 'as people', 'days': '1 to 14',
        }),
        ('Forecast.\n\nArgs:\n    city: as people\n        write it\n    days (int): 1 to 14', (
            'Forecast.'
        ), {'city': 'as people write it', 'days': '1 to 14'}),
        ('Forecast.\n\nAttributes:\n    days:\n        1 to 14', 'Forecast.', {'days': '1 to 14'}),
        ('Forecast.\n\nReturns:\n    city: the city', 'Forecast.', {}),
        ('Forecast.\n\nRaises:\n    days: x\n\nArgs:\n    city: c', 'Forecast.', {'city': 'c'}),
        ('Forecast.\n\ncity: first\ncity: second', 'Forecast.', {'city': 'first'}),
        ('Forecast.\n\nother: x\nNote: this', 'Forecast.', {}),
        ('Forecast.\n\nSee also:\n    city: x\n\nNote.\ndays: y', 'Forecast.', {
            'city': 'x', 'days': 'y',
        }),
        ('Forecast.\n\ncity:as people', 'Forecast.', {}),
        (SPHINX, 'Forecast.', {'city': 'as people write it', 'days': '1 to 14'}),
        (NUMPY, 'Forecast.', {'city': 'as people write it', 'days': '1 to 14'}),
        ('Forecast.\n\nReturns\n-------\ncity : str\n    x', 'Forecast.', {}),
    ],
)  # fmt: skip
def test_descriptions_are_read(
    docstring: str | None, summary: str, parameters: dict[str, str]
) -> None:
    assert read_docstring(docstring, NAMES) == (summary, parameters)


def test_a_long_docstring_takes_linear_time() -> None:
    text = 'Forecast.\n\n' + 'city' + ' (' * 100_000 + '\n' + ('x' * 1_000_000)
    assert read_docstring(text, NAMES).parameters == {}
