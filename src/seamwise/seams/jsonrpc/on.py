"""The JSON-RPC seam's verbs: `on(Kind).answers(code)` and `on(Kind).as_tool_result()`."""

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar, final, overload

from msgspec import Struct
from typing_extensions import TypeForm

from seamwise.codec import error_classes
from seamwise.errors import TAG_FIELD, TaggedError
from seamwise.seams._arm_builder import ArmBuilder
from seamwise.seams._common import message_of, public_fields, safe_items
from seamwise.seams._redacted import redacted
from seamwise.seams.adapter import Adapter
from seamwise.seams.jsonrpc.shape import Answer, Data, RpcError
from seamwise.seams.model.messages import ToolResult, tool_result
from seamwise.seams.model.shape import Guidance

K = TypeVar('K', bound=TaggedError)


class JsonRpcArm(Struct, Generic[K], frozen=True):
    """The declared answer for a kind that is an error of the protocol."""

    code: int
    data: Callable[[K], Data] | None = None

    def __call__(self, error: K) -> RpcError:
        """Make the error of the protocol."""
        return RpcError(self.code, message_of(error), self._data(error))

    def _data(self, error: K) -> Data:
        if self.data is None:
            return plain_data(error)
        made = self.data(redacted(error))
        if isinstance(made, Mapping):
            return {TAG_FIELD: error.tag, **safe_items(made)}
        return [safe_items(one) for one in made]


def plain_data(error: TaggedError) -> dict[str, object]:
    """Give the tag and all fields but the cause and the secrets: `decode` makes the error of them again."""
    return {TAG_FIELD: error.tag, **public_fields(error)}


class ToolResultArm(Struct, Generic[K], frozen=True):
    """The declared answer for a kind that is a tool's own failure: a result with `isError`."""

    guidance: Callable[[K], Guidance]

    def __call__(self, error: K) -> ToolResult:
        """Make the result with `isError`."""
        return tool_result(self.guidance(error))


def _plain_guidance(error: TaggedError) -> Guidance:
    return Guidance(
        status='error', type='execution_error', error_class=error.tag, message=message_of(error)
    )


@final
class JsonRpcArmBuilder(ArmBuilder[K, Answer]):
    """One error class without a declared answer; `on` returns it."""

    __slots__ = ('_kind',)

    def __init__(self, kind: type[K]) -> None:
        super().__init__((kind,), 'jsonrpc')
        self._kind = kind

    def answers(self, code: int, *, data: Callable[[K], Data] | None = None) -> Adapter[K, Answer]:
        """Say the code. The data is the tag and all fields but the cause and the secrets.

        `data=` makes others: an object, to which the tag is added, or, as A2A wants it, a list of objects, which stays as it is.
        """
        return Adapter({self._kind: JsonRpcArm(int(code), data)})

    def as_tool_result(
        self, *, guidance: Callable[[K], Guidance] = _plain_guidance
    ) -> Adapter[K, Answer]:
        """Say that a tool has failed, which in MCP is a result with `isError`.

        Its text is the model's guidance as JSON: by `guidance`, an adapter of the model's seam, else the message alone.
        """
        return Adapter({self._kind: ToolResultArm(guidance)})


@overload
def on(kind: type[K], /) -> JsonRpcArmBuilder[K]: ...
@overload
def on(kind: TypeForm[K], /) -> ArmBuilder[K, Answer]: ...
def on(kind: TypeForm[K], /) -> ArmBuilder[K, Answer]:
    """Name a kind of error; `.answers(code)` or `.as_tool_result()` says its answer, `|` adds more kinds.

    A union is accepted for `.hidden()` only: `on(A | B).hidden()` covers each of its members.

    >>> from seamwise import Category, TaggedError
    >>> class ContentChanged(TaggedError, category=Category.CONFLICT, message='{uri} has changed.'):
    ...     uri: str
    >>> on(ContentChanged).answers(-32801)(ContentChanged('a.py')).data
    {'_tag': 'ContentChanged', 'uri': 'a.py'}
    """
    if isinstance(kind, type):
        return JsonRpcArmBuilder(kind)
    return ArmBuilder(error_classes(kind), 'jsonrpc')
