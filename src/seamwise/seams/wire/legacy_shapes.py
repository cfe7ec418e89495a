"""Older public contracts of errors, `{name, data}` and flat fields: declared, written and read."""

from collections.abc import Collection, Mapping
from typing import TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from seamwise._errors.errors import TAG_FIELD, TaggedError
from seamwise._errors.type_hints import resolved_hints
from seamwise._results.containers import Failure, Result, Success
from seamwise._text.json_pointer import json_pointer, pointer_keys
from seamwise._text.secrets import MASK
from seamwise.seams.rendering.errors import all_field_names
from seamwise.seams.wire.decoding import DECODE_ERRORS, UnreadableBody, unreadable_body

_Keys: TypeAlias = list[str | int]


class _Issue(Struct):
    message: str
    path: _Keys


class _Problem(Struct):
    message: str
    pointer: str


class Legacy(Struct, frozen=True):
    """The older shape of an error that its clients still read: its name and its keys there.

    The body formats `named` and `tagged` write it; all others ignore it.

    >>> from seamwise.catalog.storage import RecordNotFound
    >>> from seamwise.seams import http
    >>> gone = Legacy('UserGoneError', {'userID': 'key'}, has_message=False)
    >>> answers = http.on(RecordNotFound).responds(404, 'NO_USER', legacy=gone)
    >>> http.named(answers(RecordNotFound('user', '7')))
    b'{"name":"UserGoneError","data":{"userID":"7"}}'

    Attributes:
        name: The name of the error in the older contract.
        keys: The detail of the answer for each key, by default the field of the error.
        has_message: Whether the body has a `message`.
        optional: The keys that are left out if the answer does not show their detail; all others
            are the mask `***` then. Default: the keys of fields that have a default or are no text.
        has_paths: Whether problems have a `path`, the list of keys, in place of a JSON Pointer.
    """

    name: str
    keys: Mapping[str, str] = {}
    has_message: bool = True
    optional: Collection[str] | None = None
    has_paths: bool = False

    def of(self, kind: type[TaggedError], *, has_own_details: bool = False) -> 'Legacy':
        """Return the shape for an error class, with its optional keys.

        Args:
            kind: The class of the error.
            has_own_details: Whether the details have other names than those of the fields.

        Raises:
            ValueError: The name is empty, or a detail is not a field that may be shown.
        """
        allowed = all_field_names(kind)
        if not self.name:
            raise ValueError(f'{kind.__name__}: the name in the older contract is empty.')
        for key, detail in self.keys.items():
            if detail not in allowed and not has_own_details:
                choice = ', '.join(allowed) or 'no field'
                raise ValueError(
                    f'{kind.__name__}: the key {key!r} of the older contract may show {choice}, '
                    f'not {detail!r}.'
                )
        if self.optional is not None:
            return self
        hints = resolved_hints(kind)
        texts = {
            field.name
            for field in msgspec.structs.fields(kind)
            if field.required and hints.get(field.name) is str
        }
        optional = [key for key, detail in self.keys.items() if detail not in texts]
        return replace(self, optional=frozenset(optional))

    def data(self, message: str, details: Mapping[str, object]) -> dict[str, object]:
        """Return the data of an error in the older contract."""
        optional = self.optional or ()
        data: dict[str, object] = {'message': message} if self.has_message else {}
        for key, detail in self.keys.items():
            if detail in details:
                data[key] = _issues(details[detail]) if self.has_paths else details[detail]
            elif key not in optional:
                data[key] = MASK
        return data

    def fields(self, data: Mapping[str, object]) -> dict[str, object]:
        """Return the details of an error from its data in the older contract."""
        return {
            self.keys.get(key, key): _problems(value) if self.has_paths else value
            for key, value in data.items()
        }


def _issues(problems: object) -> object:
    """Return problems with the keys in their JSON Pointers (RFC 6901) as `path`."""
    try:
        known = msgspec.convert(problems, list[_Problem], from_attributes=True)
    except msgspec.ValidationError:
        return problems
    return [_Issue(problem.message, [*pointer_keys(problem.pointer)]) for problem in known]


def _problems(issues: object) -> object:
    """Return issues as problems with a JSON Pointer; anything else is returned as it is."""
    try:
        known = msgspec.convert(issues, list[_Issue])
    except msgspec.ValidationError:
        return issues
    return [{'pointer': json_pointer(issue.path), 'message': issue.message} for issue in known]


def own_form(
    name: str, data: Mapping[str, object], legacy: Mapping[type[TaggedError], Legacy]
) -> tuple[str, dict[str, object]]:
    """Return the tag and the fields of an error from its name and its data in the contract.

    A name that no shape has is taken for the tag.

    >>> own_form('MCPFailed', {'name': 'files'}, {})
    ('MCPFailed', {'name': 'files'})
    """
    for kind, shape in legacy.items():
        if shape.name == name:
            return kind.__traits__.tag, shape.fields(data)
    return name, {**data}


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
