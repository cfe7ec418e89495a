"""Errors of adapters as documents describe them: status, code, tag, and schemas of the fields."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from pathlib import PurePath
from typing import Any, Final, Never, TypeAlias

import msgspec
from msgspec import Struct
from typing_extensions import TypeIs

from seamwise._errors.errors import TaggedError
from seamwise.redaction.settings import current
from seamwise.seams.adapter import Adapter, Hidden
from seamwise.seams.http.on import CauseArm, HttpArm
from seamwise.seams.http.openapi_documents.components import is_array, is_node
from seamwise.seams.http.shape import HttpError, phrase
from seamwise.seams.rendering.errors import fields_with_null

Schema: TypeAlias = dict[str, object]

TEXT: Final[Schema] = {'type': 'string'}


class DocumentedError(Struct, frozen=True, kw_only=True):
    """An error with its answer."""

    name: str
    """The name of the error class."""
    namespace: str = ''
    description: str = ''
    status: int
    code: str
    has_other_codes: bool = False
    """Whether the answer can have other codes too, those of its cause."""
    tag: str
    fields: Mapping[str, Schema] = {}
    """The schemas of the fields that the answer shows."""
    required_fields: Sequence[str] = ()
    """The names of the fields that are always shown: those that cannot be None."""
    has_delay: bool = False
    docs: str | None = None

    @property
    def long_name(self) -> str:
        """The name with the namespace, for a document with another `name`."""
        return f'{self.namespace}.{self.name}' if self.namespace else self.name

    @property
    def code_schema(self) -> Schema:
        """The schema of the code."""
        return TEXT if self.has_other_codes else {'const': self.code}

    @property
    def headers(self) -> Iterator[str]:
        """The names of the headers of the response, as in `HEADERS`."""
        yield 'X-Request-ID'
        if self.has_delay:
            yield 'Retry-After'
        if self.status == HTTPStatus.UNAUTHORIZED:
            yield 'WWW-Authenticate'
        if self.status == HTTPStatus.METHOD_NOT_ALLOWED:
            yield 'Allow'


HEADERS: Final[Mapping[str, Schema]] = {
    'X-Request-ID': {'schema': {'type': 'string', 'pattern': '^[A-Za-z0-9._-]{1,128}$'}},
    'Retry-After': {'schema': {'type': 'integer'}},
    'WWW-Authenticate': {'schema': TEXT},
    'Allow': {'schema': TEXT},
}
"""The Header Objects of the headers of errors."""


LOCATIONS: Final[Schema] = {
    'type': 'array',
    'items': {
        'type': 'object',
        'properties': {'pointer': TEXT, 'detail': TEXT, 'in': TEXT},
        'required': ['pointer', 'detail'],
    },
}
"""The schema of the invalid parts of a request."""

FRAMEWORK_ERRORS: Final[Mapping[int, DocumentedError]] = {
    error.status: error
    for error in (
        DocumentedError(
            name='BadRequest',
            status=HTTPStatus.BAD_REQUEST.value,
            code='INVALID_REQUEST',
            tag='BadRequest',
            description='The request is not valid.',
            fields={'kind': TEXT, 'errors': LOCATIONS},
            required_fields=['kind'],
        ),
        DocumentedError(
            name='Unauthorized',
            status=HTTPStatus.UNAUTHORIZED.value,
            code='UNAUTHORIZED',
            tag='Unauthorized',
        ),
        DocumentedError(
            name='Forbidden',
            status=HTTPStatus.FORBIDDEN.value,
            code='FORBIDDEN',
            tag='Forbidden',
        ),
        DocumentedError(
            name='PayloadTooLarge',
            status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE.value,
            code='PAYLOAD_TOO_LARGE',
            tag='PayloadTooLarge',
        ),
        DocumentedError(
            name='Defect',
            status=HTTPStatus.INTERNAL_SERVER_ERROR.value,
            code='INTERNAL',
            tag='UnknownError',
            description='The server met an unexpected condition. Its log has the reference.',
            fields={'ref': TEXT},
            required_fields=['ref'],
        ),
    )
}
"""The errors that the framework itself, or a dependency of it, answers with."""


def response_description(errors: Sequence[DocumentedError]) -> str:
    """Return the description of a response: the reason phrase of its status, and its codes."""
    codes = sorted({error.code for error in errors})
    return f'{phrase(errors[0].status)}: {", ".join(codes)}'


def _accepts_null(schema: Schema) -> bool:
    members = schema.get('anyOf')
    if is_array(members):
        return {'type': 'null'} in members
    values = schema.get('enum')
    return not schema or (is_array(values) and None in values)


def _without_null(schema: Schema) -> Schema:
    """Return the schema of a field that is left out if it is None."""
    members, values = schema.get('anyOf'), schema.get('enum')
    if is_array(members):
        rest = [member for member in members if member != {'type': 'null'}]
        first = rest[0] if len(rest) == 1 else None
        return first if is_node(first) and schema.keys() == {'anyOf'} else {**schema, 'anyOf': rest}
    if is_array(values):
        return {**schema, 'enum': [value for value in values if value is not None]}
    return schema


def documented_errors(
    adapters: Iterable[Adapter[Never, HttpError]],
) -> tuple[dict[type, DocumentedError], dict[str, Schema]]:
    """Return the errors of adapters by class, and the schemas that their fields refer to by name.

    Hidden errors are left out.

    Raises:
        TypeError: An arm is not one of `on(…).responds(…)`.
    """
    arms = dict(_http_arms(adapters))
    types = {
        (kind, name): type_
        for kind, arm in arms.items()
        for name, type_ in _shown_fields(kind, arm).items()
    }
    schemas, parts = msgspec.json.schema_components(
        types.values(), schema_hook=_schema_of_other_type, ref_template='{name}'
    )
    fields: dict[type, dict[str, Schema]] = {kind: {} for kind in arms}
    for (kind, name), schema in zip(types, schemas, strict=True):
        # Redaction replaces the value of a field with a sensitive name by a text.
        fields[kind][name] = {} if current().is_sensitive(name) else schema
    return {kind: _documented(kind, arm, fields[kind]) for kind, arm in arms.items()}, parts


def _http_arms(
    adapters: Iterable[Adapter[Never, HttpError]],
) -> Iterator[tuple[type[TaggedError], HttpArm[Any]]]:
    for kind, arm in [item for adapter in adapters for item in adapter.arms.items()]:
        if isinstance(arm, Hidden):
            continue
        if not _is_http_arm(arm) or not issubclass(kind, TaggedError):
            raise TypeError(
                f'{kind.__name__}: only an arm of `on(…).responds(…)` can be documented.'
            )
        yield kind, arm


def _is_http_arm(arm: object) -> TypeIs[HttpArm[Any]]:
    return isinstance(arm, HttpArm)


def _shown_fields(kind: type[TaggedError], arm: HttpArm[Any]) -> dict[str, Any]:
    """Return the types of the fields in the `details` of an answer, by name."""
    names = arm.detail_names(kind) or ()
    return {field.name: field.type for field in msgspec.structs.fields(kind) if field.name in names}


def _schema_of_other_type(type_: type) -> Schema:
    # The conversion to JSON writes a path as a text, and other types as msgspec or a hook does. An
    # empty schema is not allowed here; any value fits these two as well.
    if type_ is object:
        return {'description': 'Any value.'}
    return TEXT if issubclass(type_, PurePath) else {'title': type_.__name__}


def _documented(
    kind: type[TaggedError], arm: HttpArm[Any], fields: Mapping[str, Schema]
) -> DocumentedError:
    traits = kind.__traits__
    with_null = fields_with_null(kind)
    return DocumentedError(
        name=kind.__name__,
        namespace=traits.namespace,
        description=(kind.__doc__ or '').partition('\n')[0],
        status=arm.status,
        code=arm.code,
        has_other_codes=isinstance(arm, CauseArm),
        tag=traits.tag,
        fields={
            name: schema if name in with_null else _without_null(schema)
            for name, schema in fields.items()
        },
        required_fields=[name for name, schema in fields.items() if not _accepts_null(schema)],
        has_delay=hasattr(kind, 'retry_after') and 'retry_after' not in traits.internal,
        docs=arm.docs,
    )
