"""Errors of adapters as documents describe them: status, code, tag, and schemas of the fields."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from pathlib import PurePath
from typing import Any, Final, NamedTuple, Never, TypeAlias

import msgspec
from msgspec import Struct
from typing_extensions import TypeIs

from seamwise._errors.causes import Cause
from seamwise._errors.errors import TaggedError, retry_after
from seamwise._errors.type_hints import resolved_hints, struct_fields, union_members
from seamwise.redaction.settings import current
from seamwise.seams.adapter import Adapter, Hidden
from seamwise.seams.functions import FunctionArm
from seamwise.seams.http.on import CauseArm, HttpArm
from seamwise.seams.http.openapi_documents.components import is_array, is_node
from seamwise.seams.http.shape import HttpError, own_details, phrase
from seamwise.seams.rendering.errors import (
    all_field_names,
    fields_with_null,
    pair_fields,
    public_field_names,
)
from seamwise.seams.rendering.values import milliseconds_or_none, safe_items
from seamwise.seams.wire.legacy_shapes import Legacy

Schema: TypeAlias = dict[str, object]

TEXT: Final[Schema] = {'type': 'string'}


def only(value: str | int) -> Schema:  # also True and False
    """Return the schema of a single value, in the form that generators of clients read."""
    names = {str: 'string', int: 'integer', bool: 'boolean'}
    return {'type': names[type(value)], 'enum': [value]}


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
    legacy: Legacy | None = None
    """The older shape of the error in the formats `named` and `tagged`."""

    causes: Sequence[tuple[int, str]] = ()
    """The statuses and codes of the causes that the class can have, if it stands for its cause."""

    @property
    def answers(self) -> Iterator['DocumentedError']:
        """The answers of the error: its own, and one for each status of its causes."""
        own_codes = {code for status, code in self.causes if status == self.status}
        is_open = self.has_other_codes and not self.causes
        has_other_codes = is_open or not own_codes <= {self.code}
        yield msgspec.structs.replace(self, has_other_codes=has_other_codes)
        for status in dict.fromkeys(status for status, _ in self.causes):
            codes = sorted({code for other, code in self.causes if other == status})
            if status != self.status:
                yield msgspec.structs.replace(
                    self,
                    # The parts of a document have one name for each schema.
                    name=f'{self.name}{status}',
                    status=status,
                    code=codes[0],
                    has_other_codes=len(codes) > 1,
                )

    @property
    def long_name(self) -> str:
        """The name with the namespace, for a document with another `name`."""
        return f'{self.namespace}.{self.name}' if self.namespace else self.name

    @property
    def code_schema(self) -> Schema:
        """The schema of the code."""
        return TEXT if self.has_other_codes else only(self.code)

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
        TypeError: An arm is neither one of `on(…).responds(…)` nor a function.
    """
    answers = dict(_declared_answers(adapters))
    types = {
        (kind, name): type_
        for kind, answer in answers.items()
        for name, type_ in _field_types(kind, answer.fields).items()
    }
    schemas, parts = msgspec.json.schema_components(
        types.values(), schema_hook=_schema_of_other_type, ref_template='{name}'
    )
    fields: dict[type, dict[str, Schema]] = {kind: {} for kind in answers}
    for (kind, name), schema in zip(types, schemas, strict=True):
        # Redaction replaces the value of a field with a sensitive name by a text.
        fields[kind][name] = {} if current().is_sensitive(name) else schema
    return {
        kind: _documented(kind, answer, fields[kind]) for kind, answer in answers.items()
    }, parts


class _DeclaredAnswer(NamedTuple):
    """The parts of an answer that are known before any error occurs."""

    status: int
    code: str
    fields: Collection[str]
    """The names of the fields in the details."""
    has_delay: bool
    docs: str | None
    legacy: Legacy | None
    has_other_codes: bool = False
    causes: Sequence[tuple[int, str]] = ()


def _declared_answers(
    adapters: Iterable[Adapter[Never, HttpError]],
) -> Iterator[tuple[type[TaggedError], _DeclaredAnswer]]:
    for kind, arm in [item for adapter in adapters for item in adapter.arms.items()]:
        if isinstance(arm, Hidden):
            continue
        if not issubclass(kind, TaggedError) or not (_is_http_arm(arm) or _is_function(arm)):
            raise TypeError(
                f'{kind.__name__}: only an arm of `on(…).responds(…)` or a function can be '
                'documented.'
            )
        yield kind, _answer_of_arm(kind, arm) if _is_http_arm(arm) else _answer_of_function(arm)


def _answer_of_arm(kind: type[TaggedError], arm: HttpArm[Any]) -> _DeclaredAnswer:
    return _DeclaredAnswer(
        arm.status,
        arm.code,
        arm.detail_names(kind) or (),
        _has_delay(kind),
        arm.docs,
        arm.legacy,
        isinstance(arm, CauseArm),
        _answers_of_causes(kind, arm) if isinstance(arm, CauseArm) else (),
    )


def _answers_of_causes(kind: type[TaggedError], arm: CauseArm[Any]) -> list[tuple[int, str]]:
    """Return the statuses and codes of the causes in the annotation; none if it allows any."""
    causes = union_members(resolved_hints(kind).get('cause'))
    if Cause in causes or TaggedError in causes:
        return []
    answers: list[tuple[int, str]] = []
    for cause, answer in arm.causes.arms.items():
        if cause in causes and _is_http_arm(answer):
            answers.append((answer.status, answer.code))
        elif cause in causes and _is_function(answer):
            answers.append((answer.sample.status, answer.sample.code))
    return answers


def _answer_of_function(arm: FunctionArm[HttpError]) -> _DeclaredAnswer:
    error, answer = arm.sample_error, arm.sample
    kind = type(error)
    shown = safe_items(answer.details)
    names = public_field_names(kind)
    if shown != own_details(error, names):
        # A detail with the name of a field, but another value, is no field.
        values = own_details(error, all_field_names(kind))
        names = tuple(
            name for name, value in values.items() if name in shown and shown[name] == value
        )
    delay_ms = milliseconds_or_none(retry_after(error))
    # An example of a class whose delay is that of its cause has none.
    has_delay = answer.retry_after_ms is not None or (delay_ms is None and _has_delay(kind))
    return _DeclaredAnswer(answer.status, answer.code, names, has_delay, answer.docs, answer.legacy)


def _has_delay(kind: type[TaggedError]) -> bool:
    return hasattr(kind, 'retry_after') and 'retry_after' not in kind.__traits__.internal


def _is_http_arm(arm: object) -> TypeIs[HttpArm[Any]]:
    return isinstance(arm, HttpArm)


def _is_function(arm: object) -> TypeIs[FunctionArm[HttpError]]:
    return isinstance(arm, FunctionArm)


def _field_types(kind: type[TaggedError], names: Collection[str]) -> dict[str, Any]:
    pairs = pair_fields(kind)
    return {
        field.name: dict[str, str] if field.name in pairs else field.type
        for field in struct_fields(kind)
        if field.name in names
    }


def _schema_of_other_type(type_: type) -> Schema:
    # The conversion to JSON writes a path as a text, and other types as msgspec or a hook does. An
    # empty schema is not allowed here; any value fits these two as well.
    if type_ is object:
        return {'description': 'Any value.'}
    return TEXT if issubclass(type_, PurePath) else {'title': type_.__name__}


def _documented(
    kind: type[TaggedError], answer: _DeclaredAnswer, fields: Mapping[str, Schema]
) -> DocumentedError:
    traits = kind.__traits__
    with_null = fields_with_null(kind)
    return DocumentedError(
        name=kind.__name__,
        namespace=traits.namespace,
        description=(kind.__doc__ or '').partition('\n')[0],
        status=answer.status,
        code=answer.code,
        has_other_codes=answer.has_other_codes,
        causes=answer.causes,
        tag=traits.tag,
        fields={
            name: schema if name in with_null else _without_null(schema)
            for name, schema in fields.items()
        },
        required_fields=[name for name, schema in fields.items() if not _accepts_null(schema)],
        has_delay=answer.has_delay,
        docs=answer.docs,
        legacy=answer.legacy,
    )
