"""Decoding of the legacy contract: `{name, data}` and the flat `{_tag, …fields}`."""

import msgspec

from seamwise.containers import Failure, Result, Success
from seamwise.errors import TAG_FIELD
from seamwise.seams.http.bodies import Named
from seamwise.seams.wire.decoding import DECODE_ERRORS, UnreadableBody, unreadable_body

_decode = msgspec.json.Decoder(dict[str, object]).decode
_KEYS = {'name', 'data'}


def from_foreign(body: bytes | str, /) -> Result[Named, UnreadableBody]:
    """Return the name and the data of `{name, data}` or `{_tag, …fields}`.

    Any other body is an `UnreadableBody`, whose `problem` names the difference.

    >>> from_foreign(b'{"_tag": "MCPFailed", "name": "files"}')
    Success(Named(name='MCPFailed', data={'name': 'files'}))
    """
    try:
        fields = _decode(body)
    except DECODE_ERRORS as cause:
        return Failure(unreadable_body(f'it is not a JSON object ({cause})', body))
    tag = fields.pop(TAG_FIELD, None)
    if tag is None and fields.keys() != _KEYS:
        return Failure(
            unreadable_body(f'it has neither {TAG_FIELD} nor exactly name and data', body)
        )
    key, name, data = (
        ('name', fields['name'], fields['data']) if tag is None else (TAG_FIELD, tag, fields)
    )
    if not isinstance(name, str) or not name:
        return Failure(unreadable_body(f'its {key} is not a non-empty string', body))
    try:
        return Success(Named(name, msgspec.convert(data, dict[str, object])))
    except msgspec.ValidationError:
        return Failure(unreadable_body('its data is not an object', body))
