"""OpenAPI 3.1 `responses` of adapters: each status with its codes and their schema."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Never, TypeAlias

import msgspec
from typing_extensions import TypeIs

from seamwise._text.jsonable import Json
from seamwise.errors import TaggedError
from seamwise.seams._common import DEFECT_MESSAGE, public_field_names
from seamwise.seams.adapter import Adapter, Hidden
from seamwise.seams.http.framework import phrase
from seamwise.seams.http.on import HttpArm
from seamwise.seams.http.shape import HttpError

Schema: TypeAlias = dict[str, object]

_TEXT: Schema = {'type': 'string'}
_REQUEST_ID: Schema = {'type': 'string', 'pattern': '^[A-Za-z0-9._-]{1,128}$'}
_DELAY: Schema = {'type': 'integer', 'minimum': 0}
_PROBLEMS: Schema = {
    'type': 'array',
    'items': {
        'type': 'object',
        'properties': {'pointer': _TEXT, 'detail': _TEXT},
        'required': ['pointer', 'detail'],
    },
}


def openapi(*adapters: Adapter[Never, HttpError]) -> dict[int | str, dict[str, object]]:
    """Return the responses of adapters, for `responses=` of FastAPI or any OpenAPI 3.1 document.

    They include the responses of every application: 400 for an invalid request, 413 for one that
    is too large, `4XX` for other errors of the framework, and 500 for a defect.

    >>> from seamwise.seams.http.tables import STORAGE
    >>> openapi(STORAGE).keys()
    dict_keys(['400', '404', '409', '413', '4XX', '500', '503'])

    Raises:
        TypeError: An arm is not one of `on(…).responds(…)`.
    """
    errors: defaultdict[str, list[Schema]] = defaultdict(list)
    headers: defaultdict[str, set[str]] = defaultdict(set)
    for status, error, header in (*_table_responses(adapters), *_common_responses()):
        errors[status].append(error)
        headers[status].update(header)
    return {status: _response(status, errors[status], headers[status]) for status in sorted(errors)}


_ErrorResponse: TypeAlias = tuple[str, Schema, Iterable[str]]
"""A status, the schema of an error, and the names of its headers."""


def _table_responses(adapters: Iterable[Adapter[Never, HttpError]]) -> Iterable[_ErrorResponse]:
    for kind, arm in [item for adapter in adapters for item in adapter.arms.items()]:
        if isinstance(arm, Hidden):
            continue
        if not _is_http_arm(arm) or not issubclass(kind, TaggedError):
            raise TypeError(
                f'{kind.__name__}: only an arm of `on(…).responds(…)` can be documented.'
            )
        yield str(arm.status), _arm_schema(kind, arm), _header_names(kind, arm.status)


def _is_http_arm(arm: object) -> TypeIs[HttpArm[Any]]:
    return isinstance(arm, HttpArm)


def _header_names(kind: type[TaggedError], status: int) -> Iterable[str]:
    if 'retry_after' in kind.__struct_fields__:
        yield 'Retry-After'
    if status == HTTPStatus.UNAUTHORIZED:
        yield 'WWW-Authenticate'
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        yield 'Allow'


def _arm_schema(kind: type[TaggedError], arm: HttpArm[Any]) -> Schema:
    # A class with its own property decides for each instance.
    is_fixed = kind.retryable is TaggedError.retryable
    properties: Schema = {
        'code': {'const': arm.code},
        'type': {'const': kind.__traits__.tag},
        'message': _TEXT,
        'details': {'type': 'object'} if arm.details else _details_schema(kind),
        'retryable': {'const': kind.__traits__.retryable} if is_fixed else {'type': 'boolean'},
    }
    if 'retry_after' in kind.__struct_fields__:
        properties['retry_after_ms'] = _DELAY
    if arm.docs is not None:
        properties['docs'] = {'const': arm.docs}
    return _error_schema(properties, description=(kind.__doc__ or '').partition('\n')[0])


def _error_schema(properties: Schema, *, description: str) -> Schema:
    return {
        'type': 'object',
        'description': description,
        'properties': properties,
        'required': ['code', 'type', 'message', 'retryable'],
    }


def _details_schema(kind: type[TaggedError]) -> Schema:
    fields = {
        field.name: field.type
        for field in msgspec.structs.fields(kind)
        if field.name in public_field_names(kind)
    }
    schemas, parts = msgspec.json.schema_components(fields.values(), ref_template='{name}')
    properties = {
        name: _inlined(schema, parts) for name, schema in zip(fields, schemas, strict=True)
    }
    return (
        {'type': 'object', 'properties': properties, 'required': [*properties]}
        if properties
        else {'type': 'object'}
    )


def _inlined(schema: Json, parts: Mapping[str, Json]) -> Json:
    """Replace each `$ref` by its schema: a `responses` object cannot contain components."""
    if isinstance(schema, list):
        return [_inlined(item, parts) for item in schema]
    if not isinstance(schema, dict):
        return schema
    name = schema.get('$ref')
    if isinstance(name, str):
        # A recursive schema accepts anything at its second level.
        return _inlined(parts[name], {**parts, name: {}})
    return {key: _inlined(value, parts) for key, value in schema.items()}


def _common_responses() -> Iterable[_ErrorResponse]:
    details: Schema = {
        'type': 'object',
        'properties': {'kind': _TEXT, 'errors': _PROBLEMS},
        'required': ['kind'],
    }
    yield (
        '400',
        _framework_error(
            'The request is not valid.',
            code={'const': 'INVALID_REQUEST'},
            type={'const': 'BadRequest'},
            details=details,
        ),
        (),
    )
    yield (
        '413',
        _framework_error('The body is too large.', code={'const': 'PAYLOAD_TOO_LARGE'}),
        (),
    )
    yield (
        '4XX',
        _framework_error(
            'The framework rejects the request.',
            code={'type': 'string', 'pattern': '^[A-Z][A-Z0-9_]+$'},
        ),
        (),
    )
    ref: Schema = {
        'type': 'object',
        'properties': {'ref': {'type': 'string', 'pattern': '^err_[a-z2-7]{8}$'}},
        'required': ['ref'],
    }
    message: Schema = {'const': DEFECT_MESSAGE}
    yield (
        '500',
        _framework_error(
            'A defect.',
            code={'const': 'INTERNAL'},
            type={'const': 'UnknownError'},
            message=message,
            details=ref,
        ),
        (),
    )


def _framework_error(description: str, **properties: Schema) -> Schema:
    defaults: Schema = {
        'code': _TEXT,
        'type': _TEXT,
        'message': _TEXT,
        'retryable': {'type': 'boolean'},
    }
    return _error_schema({**defaults, **properties}, description=description)


def _response(status: str, errors: list[Schema], headers: Iterable[str]) -> dict[str, object]:
    codes = sorted({str(code) for error in errors if (code := _code(error)) is not None})
    reason = phrase(int(status)) if status.isdecimal() else 'Any other client error'
    return {
        'description': f'{reason}: {", ".join(codes)}' if codes else reason,
        'headers': {
            'X-Request-ID': {'schema': _REQUEST_ID},
            **{name: {'schema': _TEXT} for name in sorted(headers)},
        },
        'content': {
            'application/json': {'schema': _envelope_schema(errors)},
            'application/problem+json': {'schema': _problem_schema(status, codes)},
        },
    }


def _code(error: Schema) -> object:
    properties: Any = error['properties']
    return properties['code'].get('const')


def _envelope_schema(errors: list[Schema]) -> Schema:
    properties: Schema = {
        'success': {'const': False},
        'error': errors[0] if len(errors) == 1 else {'anyOf': errors},
        'timestamp': {'type': 'string', 'format': 'date-time'},
        'request_id': _REQUEST_ID,
    }
    return {'type': 'object', 'properties': properties, 'required': [*properties]}


def _problem_schema(status: str, codes: list[str]) -> Schema:
    required: Schema = {
        'type': _TEXT,
        'title': _TEXT,
        'status': {'const': int(status)} if status.isdecimal() else {'type': 'integer'},
        'detail': _TEXT,
        'instance': _REQUEST_ID,
        'code': {'enum': codes} if codes else _TEXT,
        'retryable': {'type': 'boolean'},
    }
    return {
        'type': 'object',
        'properties': {**required, 'retry_after_ms': _DELAY, 'errors': _PROBLEMS},
        'required': [*required],
    }
