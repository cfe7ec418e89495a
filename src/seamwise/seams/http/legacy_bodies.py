"""Bodies of an older contract, by whoever they are: `{name, data}` and the flat `{_tag, …fields}` read alike."""

import msgspec

from seamwise.containers import Failure, Result, Success
from seamwise.errors import TAG_FIELD
from seamwise.seams._decoding import UNREADABLE, UnreadableBody, unreadable
from seamwise.seams.http.bodies import Named

_decode = msgspec.json.Decoder(dict[str, object]).decode
_KEYS = {'name', 'data'}


def from_foreign(body: bytes | str, /) -> Result[Named, UnreadableBody]:
    """Read `{name, data}` or `{_tag, …fields}` as a name and its data; anything else is an `UnreadableBody` that says why.

    >>> from_foreign(b'{"_tag": "MCPFailed", "name": "files"}')
    <Success: Named(name='MCPFailed', data={'name': 'files'})>
    """
    try:
        read = _decode(body)
    except UNREADABLE as reason:
        return Failure(unreadable(f'it is no JSON object ({reason})', body))
    tag = read.pop(TAG_FIELD, None)
    if tag is not None:
        return (
            Success(Named(tag, read))
            if isinstance(tag, str) and tag
            else Failure(unreadable(f'its {TAG_FIELD} is no name', body))
        )
    if read.keys() != _KEYS:
        return Failure(unreadable(f'it has neither {TAG_FIELD}, nor name and data alone', body))
    name = read['name']
    if not isinstance(name, str) or not name:
        return Failure(unreadable('its name is no name', body))
    try:
        return Success(Named(name, msgspec.convert(read['data'], dict[str, object])))
    except msgspec.ValidationError:
        return Failure(unreadable('its data is no object', body))
