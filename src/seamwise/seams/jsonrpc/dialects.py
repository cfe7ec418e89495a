"""How each protocol says the same decision: the tables decide once a kind, and every protocol and revision speaks for itself."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Generic, TypeVar, final

from msgspec import Struct

from seamwise.errors import TaggedError
from seamwise.seams.adapter import Adapter
from seamwise.seams.jsonrpc.codes import CODES, REVISIONS, SERVER_ERROR, Code, Protocol, Revision
from seamwise.seams.jsonrpc.details import details
from seamwise.seams.jsonrpc.on import JsonRpcArmBuilder, on
from seamwise.seams.jsonrpc.shape import Answer
from seamwise.seams.model.shape import Guidance

K = TypeVar('K', bound=TaggedError)
E = TypeVar('E')


class Dialect(Struct, frozen=True):
    """One revision of a protocol, as a table speaks it."""

    protocol: Protocol
    revision: str

    def on(self, kind: type[K], /) -> 'DialectArmBuilder[K]':
        """Name a kind of error; the verb that follows decides."""
        return DialectArmBuilder(kind, self)

    @property
    def codes(self) -> Mapping[str, int | None]:
        """The codes of this revision, by its own names."""
        return CODES[self.protocol, self.revision]


@final
class DialectArmBuilder(Generic[K]):
    """One kind of error in one dialect, still without an answer."""

    __slots__ = ('_dialect', '_on')

    def __init__(self, kind: type[K], dialect: Dialect) -> None:
        self._on: JsonRpcArmBuilder[K] = on(kind)
        self._dialect = dialect

    def fails(
        self, guidance: Callable[[K], Guidance] | None = None, *, known_as: str | None = None
    ) -> Adapter[K, Answer]:
        """Say that what was asked for was understood, and did not work.

        With `guidance` it happens to tools: to MCP it is a result with `isError`. A protocol that has a code for it, under the
        name `known_as`, answers with that one; any other with its general one.
        """
        if known_as is not None and known_as in self._dialect.codes:
            return self._known(known_as, guidance)
        if guidance is not None and self._dialect.protocol is Protocol.MCP:
            return self._on.as_tool_result(guidance=guidance)
        return self._answers(self._dialect.codes.get('RequestFailed') or SERVER_ERROR)

    def refuses(
        self, guidance: Callable[[K], Guidance] | None = None, *, known_as: str | None = None
    ) -> Adapter[K, Answer]:
        """Say that the parameters of the request cannot be taken; `guidance` and `known_as` as above."""
        if known_as is not None and known_as in self._dialect.codes:
            return self._known(known_as, guidance)
        return self._answers(Code.INVALID_PARAMS)

    def stops(self) -> Adapter[K, Answer]:
        """Say that somebody stopped the request: LSP wants an answer, whoever speaks another protocol does not wait for one."""
        code = self._dialect.codes.get('RequestCancelled')
        return self._on.hidden() if code is None else self._answers(code)

    def answers(self, code: Code) -> Adapter[K, Answer]:
        """Say one code in every protocol."""
        return self._answers(code)

    def hidden(self) -> Adapter[K, Answer]:
        """Say that this kind never reaches a peer; one that does is a defect."""
        return self._on.hidden()

    def _known(self, name: str, guidance: Callable[[K], Guidance] | None) -> Adapter[K, Answer]:
        code = self._dialect.codes[name]
        if code is not None:
            return self._answers(code, name)
        return (
            self._on.as_tool_result()
            if guidance is None
            else self._on.as_tool_result(guidance=guidance)
        )

    def _answers(self, code: int, name: str | None = None) -> Adapter[K, Answer]:
        return self._on.answers(
            code, data=details(name) if self._dialect.protocol is Protocol.A2A else None
        )


def by_revision(
    table: Callable[[Dialect], Adapter[E, Answer]],
) -> Mapping[Revision, Adapter[E, Answer]]:
    """Make a table for every protocol and revision."""
    return MappingProxyType({revision: table(Dialect(*revision)) for revision in REVISIONS})
