"""The `data` of A2A: a list of details, the first of which says the reason (A2A 1.0, 9.5; `google.rpc.ErrorInfo`)."""

from collections.abc import Callable, Mapping
from re import sub

from seamwise.errors import TaggedError
from seamwise.seams.jsonrpc.on import plain_data

A2A_DOMAIN = 'a2a-protocol.org'
ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo'
STRUCT = 'type.googleapis.com/google.protobuf.Struct'
"""How Protocol Buffers write any JSON object as a detail: the object itself stands under `value`."""


def details(name: str | None) -> Callable[[TaggedError], list[Mapping[str, object]]]:
    """Make the data of an error that A2A knows by a name, or of one of our own, which then speaks for its own namespace.

    >>> from seamwise.catalog.protocols import A2aTaskNotFound
    >>> [info, fields] = details('TaskNotFoundError')(A2aTaskNotFound('t1'))
    >>> info['reason'], info['domain'], fields['value']
    ('TASK_NOT_FOUND', 'a2a-protocol.org', {'_tag': 'A2aTaskNotFound', 'task': 't1'})
    """

    def make(error: TaggedError) -> list[Mapping[str, object]]:
        domain = A2A_DOMAIN if name else type(error).__traits__.namespace
        info = {'@type': ERROR_INFO, 'reason': reason(name or error.tag), 'domain': domain}
        return [info, {'@type': STRUCT, 'value': plain_data(error)}]

    return make


def reason(name: str) -> str:
    """Say a name as A2A says reasons: UPPER_SNAKE, without `Error`.

    >>> reason('UnsupportedOperationError')
    'UNSUPPORTED_OPERATION'
    """
    return sub(r'(?<=[a-z0-9])(?=[A-Z])', '_', name.removesuffix('Error')).upper()
