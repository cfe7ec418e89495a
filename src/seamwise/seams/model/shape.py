"""Shape of the model seam: guidance about a failure, and the data of a success."""

from typing import Generic, Literal, TypeAlias, TypeVar

from msgspec import Struct

from seamwise.seams.rendering.encoding import to_json
from seamwise.seams.rendering.values import safe_line

T = TypeVar('T')

OUTPUT_LIMIT = 4000
"""In characters. Longer output of a command is cut at the start."""

Kind: TypeAlias = Literal[
    'validation_error',
    'file_operation_error',
    'content_error',
    'execution_error',
    'state_error',
    'availability_error',
    'protocol_error',
]
"""Type of a failure, in words that language models know."""


class Guidance(Struct, frozen=True, omit_defaults=True):
    """A failure for a model: the message and the next step. Fields that are None are omitted."""

    status: Literal['error', 'denied']
    type: Kind
    error_class: str
    message: str
    path: str | None = None
    suggestion: str | None = None
    output: str | None = None


class Done(Struct, Generic[T], frozen=True, tag='success', tag_field='status'):
    """A success for a model, with the unchanged data of the tool.

    >>> encode(Done({'bytes': 7}))
    b'{"status":"success","result":{"bytes":7}}'
    """

    result: T


def defect(ref: str) -> Guidance:
    """Return the guidance for a defect, which contains only its reference.

    >>> defect('err_2f4ad7qz').message
    'INTERNAL: the tool met an unexpected condition (err_2f4ad7qz).'
    """
    return Guidance(
        status='error',
        type='execution_error',
        error_class='INTERNAL',
        message=f'INTERNAL: the tool met an unexpected condition ({ref}).',
        suggestion='The fault is with the tool, not with your call. '
        'Choose another way, or tell the user the reference.',
    )


def encode(answer: 'Guidance | Done[object]') -> bytes:
    """Encode an answer as JSON, with the keys in their documented order.

    >>> encode(Done({'lines': 3}))
    b'{"status":"success","result":{"lines":3}}'
    """
    return to_json(answer)


def tail(text: str, limit: int = OUTPUT_LIMIT) -> str:
    r"""Return the redacted end of an output: at most `limit` characters, cut at a line if possible.

    >>> tail('one\ntwo\nthree\n', 10)
    'two\nthree\n'
    """
    safe = safe_line(text)
    if len(safe) <= limit:
        return safe
    end = safe[-limit:]
    if safe[-limit - 1] == '\n':
        return end
    return end.partition('\n')[2] or end


def head(text: str, limit: int = OUTPUT_LIMIT) -> str:
    r"""Return the start of a text, redacted: whole lines of at most `limit` characters.

    The last line is the number of omitted lines, if there are any.

    >>> head('one\ntwo\nthree', 7)
    'one\ntwo\n… (1 more)'
    """
    lines = safe_line(text).split('\n')
    room = limit
    for index, line in enumerate(lines):
        room -= len(line) + (index > 0)
        if room < 0:
            return '\n'.join([*lines[:index], f'… ({len(lines) - index} more)'])
    return '\n'.join(lines)
