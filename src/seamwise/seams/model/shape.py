"""What a language model is given of a result: guidance on a failure, the data of a success."""

from typing import Generic, Literal, TypeAlias, TypeVar

from msgspec import Struct

from seamwise._text.jsonable import to_json
from seamwise.seams._common import safe_line

T = TypeVar('T')

OUTPUT_LIMIT = 4000
"""Of the output of a command, a model is shown the last so many characters."""

Kind: TypeAlias = Literal[
    'validation_error',
    'file_operation_error',
    'content_error',
    'execution_error',
    'state_error',
    'availability_error',
    'protocol_error',
]
"""What sort of trouble it is, in the words that models are used to."""


class Guidance(Struct, frozen=True, omit_defaults=True):
    """A failure as a model reads it: what happened, and what to do next. What is None stays out of the JSON."""

    status: Literal['error', 'denied']
    type: Kind
    error_class: str
    message: str
    path: str | None = None
    suggestion: str | None = None
    output: str | None = None


class Done(Struct, Generic[T], frozen=True, tag='success', tag_field='status'):
    """A success as a model reads it: the tool's data as it is.

    >>> encode(Done({'bytes': 7}))
    b'{"status":"success","result":{"bytes":7}}'
    """

    result: T


def defect(ref: str) -> Guidance:
    """Tell of a defect: nothing but its reference.

    >>> defect('err_2f4ad7qz').message
    'INTERNAL: the tool met an unexpected condition (err_2f4ad7qz).'
    """
    return Guidance(
        status='error',
        type='execution_error',
        error_class='INTERNAL',
        message=f'INTERNAL: the tool met an unexpected condition ({ref}).',
        suggestion='This is a fault of the tool, not of your call. Use another way, or tell the user the reference.',
    )


def encode(given: 'Guidance | Done[object]') -> bytes:
    """Write what a model reads as JSON, once, the keys in their documented order."""
    return to_json(given)


def tail(text: str, limit: int = OUTPUT_LIMIT) -> str:
    r"""Give the end of an output, redacted: at most `limit` characters, from a line's start where there is one.

    >>> tail('one\ntwo\nthree\n', 10)
    'two\nthree\n'
    """
    whole = safe_line(text)
    if len(whole) <= limit:
        return whole
    end = whole[-limit:]
    return end if whole[-limit - 1] == '\n' else end.partition('\n')[2] or end


def head(text: str, limit: int = OUTPUT_LIMIT) -> str:
    r"""Give the beginning of a text, redacted: whole lines of at most `limit` characters, and how many more there were.

    >>> head('one\ntwo\nthree', 7)
    'one\ntwo\n… (1 more)'
    """
    lines = safe_line(text).split('\n')
    for number, line in enumerate(lines):
        limit -= len(line) + (number > 0)
        if limit < 0:
            return '\n'.join([*lines[:number], f'… ({len(lines) - number} more)'])
    return '\n'.join(lines)
