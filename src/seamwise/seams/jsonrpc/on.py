"""Arms of the JSON-RPC seam: `on(NotFound).answers(code)` and `on(NotFound).as_tool_result()`."""

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar, final, overload

from msgspec import Struct
from typing_extensions import TypeForm

from seamwise._errors.codec import error_classes
from seamwise._errors.errors import TAG_FIELD, TaggedError, retry_after
from seamwise.seams.adapter import Adapter, ArmBuilder
from seamwise.seams.jsonrpc.shape import Answer, Data, RpcError
from seamwise.seams.model.messages import ToolResult, tool_result
from seamwise.seams.model.shape import Guidance
from seamwise.seams.rendering.audience import hides_data, message_without_details
from seamwise.seams.rendering.errors import (
    public_field_names,
    public_fields,
    public_items,
    redacted,
    safe_public_message,
)

K = TypeVar('K', bound=TaggedError)


class JsonRpcArm(Struct, Generic[K], frozen=True):
    """The declared answer for an error class: a JSON-RPC error."""

    code: int
    data: Callable[[K], Data] | None = None

    def __call__(self, error: K) -> RpcError:
        """Return the JSON-RPC error for an error."""
        message = (
            message_without_details(error)
            if hides_data(type(error))
            else safe_public_message(error)
        )
        return RpcError(self.code, message, self._data(error))

    def _data(self, error: K) -> Data:
        if self.data is None:
            return plain_data(error)
        data = self.data(redacted(error))
        if isinstance(data, Mapping):
            return {TAG_FIELD: error.tag, **public_items(data)}
        return [public_items(item) for item in data]


def plain_data(error: TaggedError) -> dict[str, object]:
    """Return the tag and the public fields of an error, for `decode` to restore the error.

    If its details are hidden, the fields are only its delay.
    """
    if not hides_data(type(error)):
        return {TAG_FIELD: error.tag, **public_fields(error)}
    has_delay = 'retry_after' in public_field_names(type(error))
    delay = retry_after(error) if has_delay else None
    return {TAG_FIELD: error.tag, **({} if delay is None else {'retry_after': delay})}


class ToolResultArm(Struct, Generic[K], frozen=True):
    """The declared answer for a failure of a tool: a result with `isError`."""

    guidance: Callable[[K], Guidance]

    def __call__(self, error: K) -> ToolResult:
        """Return the result with `isError` for an error."""
        return tool_result(self.guidance(error))


def _plain_guidance(error: TaggedError) -> Guidance:
    return Guidance(
        status='error',
        type='execution_error',
        error_class=error.tag,
        message=safe_public_message(error),
    )


@final
class JsonRpcArmBuilder(ArmBuilder[K, Answer]):
    """Builder for the arm of one error class; `on` returns it."""

    __slots__ = ()

    def answers(self, code: int, *, data: Callable[[K], Data] | None = None) -> Adapter[K, Answer]:
        """Return an adapter that answers the error with a code.

        Args:
            code: Error code of JSON-RPC or of the protocol.
            data: Function that returns the data: an object, to which the tag is added, or a list of
                objects, as in A2A. By default the data is the tag and all fields except the cause,
                the secrets and the internal ones. For faults of the server, and errors of stores,
                the network, peers and guards, it is only the tag and the delay.
        """
        return self._arm(JsonRpcArm(int(code), data))

    def as_tool_result(
        self, *, guidance: Callable[[K], Guidance] = _plain_guidance
    ) -> Adapter[K, Answer]:
        """Return an adapter that answers with an MCP tool result with `isError`.

        Args:
            guidance: Adapter of the model seam, whose guidance is the text of the result, as JSON.
                By default the guidance contains only the message.
        """
        return self._arm(ToolResultArm(guidance))


@overload
def on(kind: type[K], /) -> JsonRpcArmBuilder[K]: ...
@overload
def on(kind: TypeForm[K], /) -> ArmBuilder[K, Answer]: ...
def on(kind: TypeForm[K], /) -> ArmBuilder[Any, Answer]:
    """Return a builder for an error class; its verbs are `.answers(code)` and `.as_tool_result()`.

    `|` joins adapters. A union is accepted for `.hidden()` only: `on(A | B).hidden()`
    covers all of its members.

    >>> from seamwise import Category, TaggedError
    >>> class ContentChanged(TaggedError, category=Category.CONFLICT, message='{uri} has changed.'):
    ...     uri: str
    >>> on(ContentChanged).answers(-32801)(ContentChanged('a.py')).data
    {'_tag': 'ContentChanged', 'uri': 'a.py'}
    """
    if isinstance(kind, type):
        return JsonRpcArmBuilder((kind,), 'jsonrpc')
    return ArmBuilder(error_classes(kind), 'jsonrpc')
