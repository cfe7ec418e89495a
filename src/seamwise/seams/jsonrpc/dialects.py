"""Translation of one decision per error class into the codes of each protocol and revision."""

from collections.abc import Callable, Mapping
from functools import partial
from re import sub
from types import MappingProxyType
from typing import Generic, TypeVar, final

from msgspec import Struct

from seamwise._errors.errors import TAG_FIELD, TaggedError
from seamwise.seams.adapter import Adapter
from seamwise.seams.jsonrpc.codes import CODES, REVISIONS, SERVER_ERROR, Code, Protocol, Revision
from seamwise.seams.jsonrpc.on import JsonRpcArmBuilder, on, plain_data
from seamwise.seams.jsonrpc.shape import Answer
from seamwise.seams.model.shape import Guidance
from seamwise.seams.wire.google_rpc import A2A_DOMAIN, error_info

K = TypeVar('K', bound=TaggedError)
E = TypeVar('E')

STRUCT = 'type.googleapis.com/google.protobuf.Struct'
"""The type of a detail that contains a JSON object, under `value`, in Protocol Buffers."""


class Dialect(Struct, frozen=True):
    """One revision of a protocol, for which a table builds its arms."""

    protocol: Protocol
    revision: str

    def on(self, kind: type[K], /) -> 'DialectArmBuilder[K]':
        """Return a builder for an error class."""
        return DialectArmBuilder(kind, self)

    @property
    def codes(self) -> Mapping[str, int | None]:
        """The error codes of this revision, by the names that it defines."""
        return CODES[self.protocol, self.revision]


@final
class DialectArmBuilder(Generic[K]):
    """Builder for the arm of one error class in one dialect."""

    __slots__ = ('_builder', '_dialect')

    def __init__(self, kind: type[K], dialect: Dialect) -> None:
        self._builder: JsonRpcArmBuilder[K] = on(kind)
        self._dialect = dialect

    def fails(
        self, guidance: Callable[[K], Guidance] | None = None, *, known_as: str | None = None
    ) -> Adapter[K, Answer]:
        """Declare that a valid request failed.

        Args:
            guidance: Adapter of the model seam, for a failure of a tool. MCP then gets a result
                with `isError`.
            known_as: Name of the error in the protocol. A protocol without a code of this name uses
                its general code.
        """
        if known_as is not None and known_as in self._dialect.codes:
            return self._named_answer(known_as, guidance)
        if guidance is not None and self._dialect.protocol is Protocol.MCP:
            return self._builder.as_tool_result(guidance=guidance)
        return self.answers(self._dialect.codes.get('RequestFailed') or SERVER_ERROR)

    def refuses(
        self, guidance: Callable[[K], Guidance] | None = None, *, known_as: str | None = None
    ) -> Adapter[K, Answer]:
        """Declare that the parameters of the request are invalid; arguments as for `fails`."""
        if known_as is not None and known_as in self._dialect.codes:
            return self._named_answer(known_as, guidance)
        return self.answers(Code.INVALID_PARAMS)

    def stops(self) -> Adapter[K, Answer]:
        """Declare that the request was cancelled.

        LSP requires a response. In the other protocols, the peer does not wait for one.
        """
        code = self._dialect.codes.get('RequestCancelled')
        return self._builder.hidden() if code is None else self.answers(code)

    def hidden(self) -> Adapter[K, Answer]:
        """Declare that these errors never reach a peer; one that does is a defect."""
        return self._builder.hidden()

    def _named_answer(
        self, name: str, guidance: Callable[[K], Guidance] | None
    ) -> Adapter[K, Answer]:
        code = self._dialect.codes[name]
        if code is not None:
            return self.answers(code, name)
        if guidance is None:
            return self._builder.as_tool_result()
        return self._builder.as_tool_result(guidance=guidance)

    def answers(self, code: int, name: str | None = None) -> Adapter[K, Answer]:
        """Declare a code, and the name that A2A has for the error."""
        is_a2a = self._dialect.protocol is Protocol.A2A
        return self._builder.answers(code, data=details(name) if is_a2a else None)


def by_revision(
    table: Callable[[Dialect], Adapter[E, Answer]],
) -> Mapping[Revision, Adapter[E, Answer]]:
    """Return the adapters that a table builds, one for every protocol and revision."""
    return MappingProxyType(
        {revision: Adapter(partial(table, Dialect(*revision))) for revision in REVISIONS}
    )


def details(name: str | None) -> Callable[[TaggedError], list[Mapping[str, object]]]:
    """Return a function that builds the `data` of an A2A error.

    The data is a list (A2A 1.0, 9.5). Its first item is a `google.rpc.ErrorInfo` with the reason,
    the domain, and the public fields of the error as texts, under `metadata`. For an error that A2A
    does not define, the domain is the namespace of its class. The second item has the same fields
    with their types, from which `decode` restores the error.

    >>> from seamwise.catalog.protocols import A2aTaskNotFound
    >>> [info, fields] = details('TaskNotFoundError')(A2aTaskNotFound('t1'))
    >>> info['reason'], info['domain'], info['metadata']
    ('TASK_NOT_FOUND', 'a2a-protocol.org', {'task': 't1'})
    >>> fields['value']
    {'_tag': 'A2aTaskNotFound', 'task': 't1'}

    Args:
        name: Name of the error in A2A, or None for an error that A2A does not define.
    """

    def build(error: TaggedError) -> list[Mapping[str, object]]:
        domain = A2A_DOMAIN if name else type(error).__traits__.namespace
        fields = plain_data(error)
        info = error_info(
            _reason(name or error.tag),
            domain,
            {name: value for name, value in fields.items() if name != TAG_FIELD},
        )
        return [info, {'@type': STRUCT, 'value': fields}]

    return build


def _reason(name: str) -> str:
    """Return the A2A reason for an error name: upper snake case, without `Error`.

    >>> _reason('UnsupportedOperationError')
    'UNSUPPORTED_OPERATION'
    """
    return sub(r'(?<=[a-z0-9])(?=[A-Z])', '_', name.removesuffix('Error')).upper()
