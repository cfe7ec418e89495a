"""Names and keys of errors in the older public contract `{name, data}`, written and read."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

import msgspec
from msgspec import Struct

from seamwise._errors.errors import TAG_FIELD
from seamwise._results.containers import Failure, Result, Success
from seamwise._text.json_pointer import json_pointer, pointer_keys
from seamwise._text.secrets import MASK
from seamwise.seams.wire.decoding import DECODE_ERRORS, UnreadableBody, unreadable_body

_PROBLEMS, _ISSUES = 'problems', 'issues'


class _Issue(Struct):
    message: str
    path: list[str | int]


class LegacyShape(Struct, frozen=True):
    """The body of one error in the older contract.

    Attributes:
        name: The name of the error there.
        keys: The key of each field there. A required text that the answer hides is the mask.
        optional: The fields that are left out if the answer does not have them.
        left_out: The fields that the contract does not have; the message contains them.
        has_message: Whether the body has a `message`.
    """

    name: str
    keys: Mapping[str, str]
    optional: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()
    has_message: bool = True

    def fits(self, fields: Mapping[str, object]) -> bool:
        """Return whether fields are those of the error, and not of one with the same tag."""
        return fields.keys() <= self.keys.keys() | self.left_out


SHAPES: Mapping[str, LegacyShape] = MappingProxyType(
    {
        'ProviderModelNotFoundError': LegacyShape(
            'ProviderModelNotFoundError',
            {'provider': 'providerID', 'model': 'modelID', 'suggestions': 'suggestions'},
            optional=frozenset({'suggestions'}),
            has_message=False,
        ),
        'ProviderInitError': LegacyShape(
            'ProviderInitError', {'provider': 'providerID'}, has_message=False
        ),
        'McpConnectionFailed': LegacyShape(
            'MCPFailed', {'server': 'name'}, left_out=frozenset({'reason'}), has_message=False
        ),
        'SessionNotFound': LegacyShape('SessionNotFoundError', {'session': 'sessionID'}),
        'SessionBusy': LegacyShape('SessionBusyError', {'session': 'sessionID'}),
        'ConfigUnreadable': LegacyShape(
            'ConfigJsonError',
            {'path': 'path'},
            left_out=frozenset({'line', 'column', 'problem'}),
        ),
        'ConfigInvalid': LegacyShape(
            'ConfigInvalidError',
            {'path': 'path', _PROBLEMS: _ISSUES},
            optional=frozenset({_PROBLEMS}),
        ),
        'BadRequest': LegacyShape('BadRequest', {'kind': 'kind'}, left_out=frozenset({'errors'})),
    }
)
"""The errors by tag. All others have their tag, the message and their details."""


def legacy_form(
    tag: str, message: str, fields: Mapping[str, object]
) -> tuple[str, dict[str, object]]:
    """Return the name and the data of an error in the legacy contract.

    >>> legacy_form('ProviderInitError', 'It could not be set up.', {'provider': 'acme'})
    ('ProviderInitError', {'providerID': 'acme'})
    """
    shape = SHAPES.get(tag)
    if shape is None or not shape.fits(fields):
        return tag, {'message': message, **fields}
    data: dict[str, object] = {'message': message} if shape.has_message else {}
    for field, key in shape.keys.items():
        if field in fields:
            value = fields[field]
            data[key] = _issues(value) if field == _PROBLEMS else value
        elif field not in shape.optional:
            data[key] = MASK
    return shape.name, data


def own_form(name: str, data: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    """Return the tag and the fields of an error from its name and its data in the contract.

    >>> own_form('MCPFailed', {'name': 'files'})
    ('McpConnectionFailed', {'server': 'files'})
    """
    for tag, shape in SHAPES.items():
        if shape.name == name:
            fields = {key: field for field, key in shape.keys.items()}
            return tag, {
                fields.get(key, key): _problems(value) if key == _ISSUES else value
                for key, value in data.items()
            }
    return name, {**data}


def _problems(issues: object) -> object:
    """Return issues as problems with a JSON Pointer; anything else is returned as it is."""
    try:
        known = msgspec.convert(issues, list[_Issue])
    except msgspec.ValidationError:
        return issues
    return [{'pointer': json_pointer(issue.path), 'message': issue.message} for issue in known]


def _issues(problems: object) -> list[dict[str, object]]:
    """Return problems with the parts of their JSON Pointers (RFC 6901) as `path`."""
    return [
        {'message': problem['message'], 'path': [*pointer_keys(problem['pointer'])]}
        for problem in cast('list[dict[str, Any]]', problems)
    ]


class Named(Struct, frozen=True):
    """An error in the legacy contract: a name and its data."""

    name: str
    data: Mapping[str, object]


NAMED_KEYS = frozenset(Named.__struct_fields__)

_decode_members = msgspec.json.Decoder(dict[str, object]).decode


def named_error(body: bytes | str, /) -> Result[Named, UnreadableBody]:
    """Return the name and the data of `{name, data}` or `{_tag, …fields}`.

    Any other body is an `UnreadableBody`, whose `problem` names the difference.

    >>> named_error(b'{"_tag": "MCPFailed", "name": "files"}')
    Success(Named(name='MCPFailed', data={'name': 'files'}))
    """
    try:
        fields = _decode_members(body)
    except DECODE_ERRORS as cause:
        return Failure(unreadable_body(f'it is not a JSON object ({cause})', body))
    tag = fields.pop(TAG_FIELD, None)
    if tag is None and fields.keys() != NAMED_KEYS:
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
