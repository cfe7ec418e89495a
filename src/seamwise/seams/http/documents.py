"""The answers of tables as a `responses` object of OpenAPI 3.1: every status with its codes and their schema."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Never, TypeAlias

import msgspec
from typing_extensions import TypeIs

from seamwise._text.jsonable import Json
from seamwise.errors import TaggedError
from seamwise.seams._common import DEFECT_MESSAGE, _public_names
from seamwise.seams.adapter import Adapter, Hidden
from seamwise.seams.http.framework import phrase
from seamwise.seams.http.on import Responds
from seamwise.seams.http.shape import HttpError

Schema: TypeAlias = dict[str, object]

_TEXT: Schema = {'type': 'string'}
_REQUEST_ID: Schema = {'type': 'string', 'pattern': '^[A-Za-z0-9._-]{1,128}$'}
_DELAY: Schema = {'type': 'integer', 'minimum': 0}
_PLACES: Schema = {
    'type': 'array',
    'items': {
        'type': 'object',
        'properties': {'pointer': _TEXT, 'detail': _TEXT},
        'required': ['pointer', 'detail'],
    },
}


def openapi(*adapters: Adapter[Never, HttpError]) -> dict[int | str, dict[str, object]]:
    """Give what the tables answer, for `responses=` of FastAPI and for any document of OpenAPI 3.1.

    Beside the answers of the tables stand those that every application has: 400 for a request that is not valid, 413
    for one that is too large, `4XX` for what else the framework refuses, 500 for a defect. A table whose arms are not
    of this seam's verb is a TypeError.

    >>> from seamwise.seams.http.tables import STORAGE
    >>> openapi(STORAGE).keys()
    dict_keys(['400', '404', '409', '413', '4XX', '500', '503'])
    """
    errors: defaultdict[str, list[Schema]] = defaultdict(list)
    headers: defaultdict[str, set[str]] = defaultdict(set)
    for status, error, header in (*_of_tables(adapters), *_of_everything()):
        errors[status].append(error)
        headers[status].update(header)
    return {status: _response(status, errors[status], headers[status]) for status in sorted(errors)}


_Answer: TypeAlias = tuple[str, Schema, Iterable[str]]


def _of_tables(adapters: Iterable[Adapter[Never, HttpError]]) -> Iterable[_Answer]:
    for kind, arm in [one for adapter in adapters for one in adapter.arms.items()]:
        if isinstance(arm, Hidden):
            continue
        if not _is_declared(arm) or not issubclass(kind, TaggedError):
            raise TypeError(
                f'{kind.__name__}: only what `on(…).responds(…)` declares can be documented.'
            )
        yield str(arm.status), _of_arm(kind, arm), _headers(kind, arm.status)


def _is_declared(arm: object) -> TypeIs[Responds[Any]]:
    return isinstance(arm, Responds)


def _headers(kind: type[TaggedError], status: int) -> Iterable[str]:
    if 'retry_after' in kind.__struct_fields__:
        yield 'Retry-After'
    if status == HTTPStatus.UNAUTHORIZED:
        yield 'WWW-Authenticate'
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        yield 'Allow'


def _of_arm(kind: type[TaggedError], arm: Responds[Any]) -> Schema:
    # A class whose instances differ has a property of its own.
    is_fixed = kind.retryable is TaggedError.retryable
    properties: Schema = {
        'code': {'const': arm.code},
        'type': {'const': kind.__traits__.tag},
        'message': _TEXT,
        'details': {'type': 'object'} if arm.details else _details(kind),
        'retryable': {'const': kind.__traits__.retryable} if is_fixed else {'type': 'boolean'},
    }
    if 'retry_after' in kind.__struct_fields__:
        properties['retry_after_ms'] = _DELAY
    if arm.docs is not None:
        properties['docs'] = {'const': arm.docs}
    return _error(properties, description=(kind.__doc__ or '').partition('\n')[0])


def _error(properties: Schema, *, description: str) -> Schema:
    return {
        'type': 'object',
        'description': description,
        'properties': properties,
        'required': ['code', 'type', 'message', 'retryable'],
    }


def _details(kind: type[TaggedError]) -> Schema:
    fields = {
        one.name: one.type
        for one in msgspec.structs.fields(kind)
        if one.name in _public_names(kind)
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
    """Put the schemas of parts where they are referred to: a `responses` object has no place of its own for them."""
    if isinstance(schema, list):
        return [_inlined(one, parts) for one in schema]
    if not isinstance(schema, dict):
        return schema
    name = schema.get('$ref')
    if isinstance(name, str):
        # A part inside itself may be anything there.
        return _inlined(parts[name], {**parts, name: {}})
    return {key: _inlined(one, parts) for key, one in schema.items()}


def _of_everything() -> Iterable[_Answer]:
    places: Schema = {
        'type': 'object',
        'properties': {'kind': _TEXT, 'errors': _PLACES},
        'required': ['kind'],
    }
    yield (
        '400',
        _of_framework(
            'The request is not valid.',
            code={'const': 'INVALID_REQUEST'},
            type={'const': 'BadRequest'},
            details=places,
        ),
        (),
    )
    yield (
        '413',
        _of_framework('The body is larger than is taken.', code={'const': 'PAYLOAD_TOO_LARGE'}),
        (),
    )
    yield (
        '4XX',
        _of_framework(
            'The framework refuses the request.',
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
        _of_framework(
            'A defect.',
            code={'const': 'INTERNAL'},
            type={'const': 'UnknownError'},
            message=message,
            details=ref,
        ),
        (),
    )


def _of_framework(description: str, **properties: Schema) -> Schema:
    usual: Schema = {
        'code': _TEXT,
        'type': _TEXT,
        'message': _TEXT,
        'retryable': {'type': 'boolean'},
    }
    return _error({**usual, **properties}, description=description)


def _response(status: str, errors: list[Schema], headers: Iterable[str]) -> dict[str, object]:
    codes = sorted({str(code) for error in errors if (code := _code(error)) is not None})
    words = phrase(int(status)) if status.isdecimal() else 'Any other refusal'
    return {
        'description': f'{words}: {", ".join(codes)}' if codes else words,
        'headers': {
            'X-Request-ID': {'schema': _REQUEST_ID},
            **{name: {'schema': _TEXT} for name in sorted(headers)},
        },
        'content': {
            'application/json': {'schema': _envelope(errors)},
            'application/problem+json': {'schema': _problem(status, codes)},
        },
    }


def _code(error: Schema) -> object:
    properties: Any = error['properties']
    return properties['code'].get('const')


def _envelope(errors: list[Schema]) -> Schema:
    properties: Schema = {
        'success': {'const': False},
        'error': errors[0] if len(errors) == 1 else {'anyOf': errors},
        'timestamp': {'type': 'string', 'format': 'date-time'},
        'request_id': _REQUEST_ID,
    }
    return {'type': 'object', 'properties': properties, 'required': [*properties]}


def _problem(status: str, codes: list[str]) -> Schema:
    always: Schema = {
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
        'properties': {**always, 'retry_after_ms': _DELAY, 'errors': _PLACES},
        'required': [*always],
    }
