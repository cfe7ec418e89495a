"""Short descriptions of values for error messages, without long or possibly secret content."""

MAX_NUMBER_BITS = 64
"""The size of the largest integer that error messages repeat."""


def describe_value(value: object) -> str:
    """Return a short value as text; describe a long or possibly secret one by its type.

    >>> describe_value(True), describe_value(-3)
    ('true', '-3')
    >>> describe_value('hunter2'), describe_value([1, 2])
    ('a string', 'a list')
    """
    match value:
        case None | True | False:
            return _CONSTANTS[value]
        case int() if value.bit_length() > MAX_NUMBER_BITS:
            return f'an integer of {value.bit_length()} bits'
        case int() | float():
            return repr(value)
        case str():
            return 'a string' if value else 'an empty string'
        case _:
            return _TYPES.get(type(value), 'a value of another type')


_CONSTANTS: dict[object, str] = {None: 'null', True: 'true', False: 'false'}
_TYPES: dict[type, str] = {list: 'a list', tuple: 'a list', dict: 'an object'}
