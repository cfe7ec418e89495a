"""JSON Schemas of errors and envelopes in each body format."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol, final

from typing_extensions import override

from seamwise._errors.errors import TAG_FIELD
from seamwise.seams.http.openapi_documents.components import child, is_array, name_of
from seamwise.seams.http.openapi_documents.documented_errors import (
    LOCATIONS,
    TEXT,
    DocumentedError,
    Schema,
    only,
)


class Share(Protocol):
    """A function that adds a schema to the components of a document."""

    def __call__(self, schema: Schema, /, *names: str) -> Schema:
        """Return a reference to a schema, which gets the first of the names that is free."""
        ...


_BOOLEAN: Final[Schema] = {'type': 'boolean'}
_INTEGER: Final[Schema] = {'type': 'integer'}
_ISSUES: Final[Schema] = {
    'type': 'array',
    'items': {
        'type': 'object',
        'properties': {'message': TEXT, 'path': {'type': 'array', 'items': TEXT}},
        'required': ['message', 'path'],
    },
}
_ANY_OBJECT: Final[Schema] = {'type': 'object', 'additionalProperties': True}

_STANDARD_MEMBERS: Final[Mapping[str, Schema]] = {
    'type': TEXT,
    'title': TEXT,
    'status': _INTEGER,
    'detail': TEXT,
    'instance': TEXT,
}
"""The members of problem details (RFC 9457)."""

_OWN_MEMBERS: Final[Mapping[str, Schema]] = {'code': TEXT, 'tag': TEXT, 'retryable': _BOOLEAN}
_OPTIONAL_MEMBERS: Final[Mapping[str, Schema]] = {'retry_after_ms': _INTEGER, 'errors': LOCATIONS}


class ErrorForm(ABC):
    """The schemas of errors in one media type. A body format has one form or more."""

    media_type: str = 'application/json'

    @abstractmethod
    def any_error(self) -> tuple[Schema, str]:
        """Return the schema of an error of any kind, and its name."""

    @abstractmethod
    def members(self, error: DocumentedError) -> Schema | None:
        """Return the schema of the members that differ; None if the schema is that of any error."""

    def body(self, error: Schema, share: Share, name: str | None) -> Schema:  # noqa: ARG002 -- for the envelope
        """Return the schema of a body with an error; one with a name is a component."""
        return error

    def shared_body(self, errors: Sequence[DocumentedError], share: Share) -> Schema:
        """Return the schema of a body with an error, whose parts are components."""
        any_error, name = self.any_error()
        # Clients need a type of any failure, for a defect and for the errors of the framework.
        any_body = self.body(share(any_error, name), share, 'Failure')
        schemas: list[Schema] = []
        for error in errors:
            members = self.members(error)
            if members is None:
                return any_body
            # Complete: generators of clients drop an `allOf` whose members narrow each other.
            schema = {**_narrowed(any_error, members), **_description(error)}
            schemas.append(share(schema, error.name, error.long_name))
        if not schemas:
            return any_body
        if len(schemas) == 1:
            return self.body(schemas[0], share, f'{name_of(schemas[0])}Failure')
        return self.body({'anyOf': schemas}, share, None)

    def inline_body(self, errors: Iterable[DocumentedError]) -> Schema:
        """Return the schema of a body with an error, without components."""
        schema, _ = self.any_error()
        members = [
            {**_description(error), **members}
            for error in errors
            if (members := self.members(error)) is not None
        ]
        return self.wrapped({**schema, 'anyOf': members} if members else schema)

    def wrapped(self, error: Schema) -> Schema:
        """Return the schema of a body with an error, from the complete schema of the error."""
        return error


@final
class EnvelopeForm(ErrorForm):
    """Errors in the envelope."""

    @override
    def any_error(self) -> tuple[Schema, str]:
        """Return the schema of the member `error`."""
        properties: Schema = {
            'code': TEXT,
            'type': TEXT,
            'message': TEXT,
            'details': _ANY_OBJECT,
            'retryable': _BOOLEAN,
            'retry_after_ms': _INTEGER,
            'docs': TEXT,
        }
        return _object(properties, ['code', 'type', 'message', 'retryable']), 'ErrorBody'

    @override
    def members(self, error: DocumentedError) -> Schema:
        """Return the schema of the code, the type and the details."""
        properties: Schema = {'code': error.code_schema, 'type': only(error.tag)}
        if error.fields:
            properties['details'] = _fields(error)
        if error.docs:
            properties['docs'] = only(error.docs)
        required = ['code', 'type', *(['details'] if error.required_fields else [])]
        return {'properties': properties, 'required': required}

    @override
    def body(self, error: Schema, share: Share, name: str | None) -> Schema:
        """Return the schema of the envelope."""
        schema = self.wrapped(error)
        return schema if name is None else share(schema, name)

    @override
    def wrapped(self, error: Schema) -> Schema:
        """Return the schema of the envelope."""
        return _envelope(success=only(value=False), error=error)


@final
class ProblemForm(ErrorForm):
    """Errors as problem details (RFC 9457), with their fields as further members."""

    media_type = 'application/problem+json'

    @override
    def any_error(self) -> tuple[Schema, str]:
        """Return the schema of any problem."""
        required = {**_STANDARD_MEMBERS, **_OWN_MEMBERS}
        return _open_object({**required, **_OPTIONAL_MEMBERS}, [*required]), 'Problem'

    @override
    def members(self, error: DocumentedError) -> Schema:
        """Return the schema of the status, the code, the tag and the fields."""
        # The parts of a request that are not valid are a member of every problem.
        fields = {
            _extension(name): schema
            for name, schema in error.fields.items()
            if schema is not LOCATIONS
        }
        members: Schema = {
            'status': only(error.status),
            'code': error.code_schema,
            'tag': only(error.tag),
        }
        required = [*members, *map(_extension, error.required_fields)]
        return {'properties': {**members, **fields}, 'required': required}


@final
class ProblemOutlineForm(ErrorForm):
    """Problem details of any error, beside another form: the document stays small."""

    media_type = ProblemForm.media_type

    @override
    def any_error(self) -> tuple[Schema, str]:
        """Return the schema of any problem."""
        return _open_object(_STANDARD_MEMBERS, [*_STANDARD_MEMBERS]), 'Problem'

    @override
    def members(self, error: DocumentedError) -> None:
        """Return None."""


@final
class NamedForm(ErrorForm):
    """Errors in the legacy format `{name, data}`."""

    @override
    def any_error(self) -> tuple[Schema, str]:
        """Return the schema of any name and data."""
        data = _open_object({'message': TEXT}, [])
        return _object({'name': TEXT, 'data': data}, ['name', 'data']), 'NamedError'

    @override
    def members(self, error: DocumentedError) -> Schema:
        """Return the schema of the name and the data."""
        name, fields, required = _legacy_members(error)
        return {
            'properties': {'name': only(name), 'data': _object(fields, required)},
            'required': ['name', 'data'],
        }


@final
class TaggedForm(ErrorForm):
    """Errors in the legacy format of flat fields with a `_tag`."""

    @override
    def any_error(self) -> tuple[Schema, str]:
        """Return the schema of any flat object."""
        members: Schema = {TAG_FIELD: TEXT, 'message': TEXT}
        return _open_object(members, [TAG_FIELD]), 'TaggedError'

    @override
    def members(self, error: DocumentedError) -> Schema:
        """Return the schema of the tag and the fields."""
        name, fields, required = _legacy_members(error)
        properties = {TAG_FIELD: only(name), **fields}
        return {'properties': properties, 'required': [TAG_FIELD, *required]}


def _legacy_members(error: DocumentedError) -> tuple[str, dict[str, Schema], list[str]]:
    """Return the name of an error in the legacy contract, its members and the required ones."""
    shape = error.legacy
    if shape is None:
        return error.tag, {'message': TEXT, **error.fields}, ['message', *error.required_fields]
    message: dict[str, Schema] = {'message': TEXT} if shape.has_message else {}
    required = [key for key in shape.keys if key not in (shape.optional or ())]
    # A required key whose detail is hidden is the mask, a text.
    members = {
        key: _ISSUES
        if shape.has_paths and detail == 'problems'
        else error.fields.get(detail, TEXT if key in required else {})
        for key, detail in shape.keys.items()
    }
    return shape.name, message | members, [*message, *required]


ENVELOPE: Final = EnvelopeForm()
PROBLEM: Final = ProblemForm()
PROBLEM_OUTLINE: Final = ProblemOutlineForm()
NAMED: Final = NamedForm()
TAGGED: Final = TaggedForm()


def success_envelope() -> Schema:
    """Return the schema of the envelope of any value."""
    return _envelope(success=only(value=True), data={})


def _envelope(**members: Schema) -> Schema:
    timestamp: Schema = {'type': 'string', 'format': 'date-time'}
    properties: Schema = {**members, 'timestamp': timestamp, 'request_id': TEXT}
    return _object(properties, [*properties])


def _extension(name: str) -> str:
    """Return the member of a problem for a field of an error."""
    is_reserved = name in {**_STANDARD_MEMBERS, **_OWN_MEMBERS, **_OPTIONAL_MEMBERS}
    return f'{name}_' if is_reserved else name


def _narrowed(schema: Schema, members: Schema) -> Schema:
    """Return the schema of an object whose members are narrower than those of another one."""
    properties = child(schema, 'properties') | child(members, 'properties')
    required = dict.fromkeys([*_required(schema), *_required(members)])
    return {**schema, 'properties': properties, 'required': [*required]}


def _required(schema: Schema) -> list[object]:
    names = schema.get('required')
    return names if is_array(names) else []


def _fields(error: DocumentedError) -> Schema:
    return _object(error.fields, error.required_fields)


def _object(properties: Mapping[str, object], required: Sequence[str]) -> Schema:
    schema: Schema = {'type': 'object', 'properties': {**properties}}
    return {**schema, 'required': [*required]} if required else schema


def _open_object(properties: Mapping[str, object], required: Sequence[str]) -> Schema:
    return {**_object(properties, required), 'additionalProperties': True}


def _description(error: DocumentedError) -> Schema:
    return {'description': error.description} if error.description else {}
