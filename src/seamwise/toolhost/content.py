"""Content that a tool returns to a model instead of data: text, an image, audio or a resource."""

from msgspec import Struct

_MEDIA = ('image/', 'audio/')


class Content(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Text, an image, audio, a resource or a link to one, as the result of a tool.

    A tool returns one, or a list of them and of texts. An MCP client gets each as content of its
    type; elsewhere it is data, with its bytes in Base64.

    >>> Content(data=b'GIF89a', mime_type='image/gif').type
    'image'
    >>> Content(uri='file:///log.txt', text='started', mime_type='text/plain').type
    'resource'
    >>> Content(uri='file:///log.txt').type
    'resource_link'

    Attributes:
        text: A text, or the text of the resource `uri`.
        data: The bytes of an image, of audio, or of the resource `uri`.
        mime_type: The media type, such as `image/png`; required for data.
        uri: The address of a resource; without text and data, the content is a link to it.
        name: The name of the linked resource, by default the last part of its address.

    Raises:
        ValueError: There is neither text, data nor an address, or both text and data, or data
            without an address that is neither an image nor audio.
    """

    text: str | None = None
    data: bytes | None = None
    mime_type: str | None = None
    uri: str | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        if self.text is not None and self.data is not None:
            raise ValueError('Content has a text or data, not both.')
        if self.text is None and self.data is None and self.uri is None:
            raise ValueError('Content needs a text, data or uri.')
        is_medium = self.mime_type is not None and self.mime_type.startswith(_MEDIA)
        if self.data is not None and self.uri is None and not is_medium:
            raise ValueError(
                'The mime_type of data must begin with "image/" or "audio/", not be '
                f'{self.mime_type!r}; other data needs uri.'
            )

    @property
    def type(self) -> str:
        """The type in MCP: `text`, `image`, `audio`, `resource` or `resource_link`."""
        if self.uri is not None:
            return 'resource_link' if self.text is None and self.data is None else 'resource'
        return 'text' if self.mime_type is None or self.data is None else self.mime_type[:5]
