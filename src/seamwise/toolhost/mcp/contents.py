"""Content of results in the types of the official package."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, get_args

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from seamwise.toolhost.content import Content

_BLOCKS: Final[tuple[type, ...]] = get_args(ContentBlock)

_TYPE_SINCE: Final[Mapping[str, str]] = MappingProxyType(
    {'audio': '2025-03-26', 'resource_link': '2025-06-18'}
)
"""The first revisions of types of content."""

_UNKNOWN_TYPE: Final = 'application/octet-stream'


class RemoteBlocks(list[dict[str, object]]):
    """The content of the result of a server, as data; it is passed on as content.

    Args:
        data: The blocks as data.
        blocks: The blocks.
    """

    def __init__(self, data: Sequence[dict[str, object]], blocks: Sequence[ContentBlock]) -> None:
        super().__init__(data)
        self.blocks = [*blocks]


def content_blocks(value: object, revision: str) -> list[ContentBlock] | None:
    """Return the content that a tool returned, or None for data.

    Content is a `Content`, a block of the official package, or a list of them and of texts. A block
    of a type that the revision does not know becomes its JSON as text.
    """
    blocks = _blocks(value)
    return None if blocks is None else [_adapt(block, revision) for block in blocks]


def _blocks(value: object) -> list[ContentBlock] | None:
    if isinstance(value, RemoteBlocks):
        return value.blocks
    items = items_of(value)
    if not any(isinstance(item, (Content, *_BLOCKS)) for item in items):
        return None
    blocks = [_block(item) for item in items]
    return None if None in blocks else [block for block in blocks if block is not None]


def resource_contents(uri: str, content: Content) -> TextResourceContents | BlobResourceContents:
    """Return the contents of a resource."""
    if content.data is None:
        return TextResourceContents(
            uri=uri, mime_type=content.mime_type or 'text/plain', text=content.text or ''
        )
    return BlobResourceContents(
        uri=uri, mime_type=content.mime_type or _UNKNOWN_TYPE, blob=_encode(content.data)
    )


def items_of(value: Any) -> Sequence[object]:
    """Return the items of a list, or a value as the only one."""
    if isinstance(value, (list, tuple)):
        return value  # pyright: ignore[reportUnknownVariableType]  # of anything
    return [value]


def _adapt(block: ContentBlock, revision: str) -> ContentBlock:
    if revision >= _TYPE_SINCE.get(block.type, revision):
        return block
    return TextContent(text=block.model_dump_json(by_alias=True, exclude_none=True))


def _block(item: object) -> ContentBlock | None:
    match item:
        case str():
            return TextContent(text=item)
        case Content():
            return _own_block(item)
        case TextContent() | ImageContent() | AudioContent() | ResourceLink() | EmbeddedResource():
            return item
        case _:
            return None


def _own_block(content: Content) -> ContentBlock:
    uri, data = content.uri or '', _encode(content.data or b'')
    mime_type = content.mime_type or _UNKNOWN_TYPE
    match content.type:
        case 'image':
            return ImageContent(data=data, mime_type=mime_type)
        case 'audio':
            return AudioContent(data=data, mime_type=mime_type)
        case 'resource':
            return EmbeddedResource(resource=resource_contents(uri, content))
        case 'resource_link':
            name = content.name or uri.rstrip('/').rpartition('/')[2] or uri
            return ResourceLink(uri=uri, name=name, mime_type=content.mime_type)
        case _:
            return TextContent(text=content.text or '')


def _encode(data: bytes) -> str:
    return b64encode(data).decode()
