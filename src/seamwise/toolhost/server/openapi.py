"""OpenAPI 3.1 document of the server."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Final, TypeAlias

from seamwise.seams.http import openapi
from seamwise.seams.http.tables import PARSING
from seamwise.toolhost.formats.parsing import FORMATS
from seamwise.toolhost.schema.definitions import PROVIDERS
from seamwise.toolhost.server.bodies import MEDIA_TYPE, Limits

Schema: TypeAlias = Mapping[str, object]

_TEXT: Final[Schema] = {'type': 'string'}
_OBJECT: Final[Schema] = {'type': 'object'}


def openapi_document(limits: Limits) -> Schema:
    """Return the document of a server with these limits."""
    no_security: list[Schema] = []
    no_scopes: list[str] = []
    body = {
        'required': True,
        'description': (
            'The output of a model: a text as a JSON string, or the object of a provider. It has '
            f'at most {limits.body:,} bytes and {limits.calls:,} calls.'
        ),
        'content': {MEDIA_TYPE: {'schema': {'type': ['string', 'object', 'array']}}},
    }
    format_name = {
        'name': 'format',
        'in': 'query',
        'description': 'The provider whose form of definitions to return.',
        'schema': {'enum': list(PROVIDERS), 'default': 'mcp'},
    }
    return {
        'openapi': '3.1.0',
        'info': {
            'title': 'Seamwise tools',
            'version': version('seamwise'),
            'description': 'Runs the tool calls in the output of a model.',
        },
        'paths': {
            '/v1/calls': {
                'post': _operation(
                    'Run the calls in the output of a model.',
                    _value('The outcomes in order', {'type': 'array', 'items': _ref('Outcome')}),
                    operationId='runCalls',
                    requestBody=body,
                )
            },
            '/v1/calls/stream': {
                'post': _operation(
                    'Run the calls, and send each outcome as soon as it is there.',
                    _events(),
                    operationId='streamCalls',
                    requestBody=body,
                )
            },
            '/v1/tools': {
                'get': _operation(
                    'Return the definitions of the tools.',
                    _value('The definitions', {'type': 'array', 'items': _OBJECT}),
                    operationId='listTools',
                    parameters=[format_name],
                )
            },
            '/healthz': {
                'get': _operation(
                    'Return whether the server runs.',
                    _value('The server runs', _OBJECT),
                    operationId='getHealth',
                    security=no_security,
                )
            },
        },
        'security': [{'token': no_scopes}],
        'components': {
            'securitySchemes': {'token': {'type': 'http', 'scheme': 'bearer'}},
            'schemas': {'Outcome': _outcome(), 'Call': _call(), 'Error': _error()},
        },
    }


def _operation(summary: str, success: Schema, **members: object) -> Schema:
    """Return an operation with its success and the errors of all operations."""
    responses: dict[int | str, object] = {'200': success, **openapi(PARSING)}
    return {'summary': summary, **members, 'responses': responses}


def _ref(name: str) -> Schema:
    return {'$ref': f'#/components/schemas/{name}'}


def _value(description: str, schema: Schema) -> Schema:
    """Return the response with a value in the envelope."""
    envelope = _closed(
        success={'const': True},
        data=schema,
        timestamp={'type': 'string', 'format': 'date-time'},
        request_id=_TEXT,
    )
    return {'description': description, 'content': {MEDIA_TYPE: {'schema': envelope}}}


def _events() -> Schema:
    return {
        'description': (
            'An event `outcome` with an Outcome for each call, and an event `end` after the last'
        ),
        'content': {'text/event-stream': {'schema': _TEXT}},
    }


def _outcome() -> Schema:
    seconds = {'type': 'number', 'minimum': 0}
    return _closed(
        place={'type': 'integer', 'minimum': 1},
        call={'anyOf': [_ref('Call'), {'type': 'null'}]},
        result={
            'oneOf': [
                _closed(success={'const': True}, data={}),
                _closed(success={'const': False}, error=_ref('Error')),
            ]
        },
        attempts={'type': 'integer', 'minimum': 0},
        waited=seconds,
        duration=seconds,
        answer={'type': ['string', 'object']},
    )


def _call() -> Schema:
    span = {
        'type': ['array', 'null'],
        'items': {'type': 'integer'},
        'minItems': 2,
        'maxItems': 2,
    }
    return _closed(
        tool=_TEXT,
        arguments=_OBJECT,
        id={'type': ['string', 'integer', 'null']},
        namespace={'type': ['string', 'null']},
        format={'enum': list(FORMATS)},
        span=span,
        line={'type': 'null'},
    )


def _error() -> Schema:
    properties: dict[str, object] = {
        'code': _TEXT,
        'type': _TEXT,
        'message': _TEXT,
        'details': _OBJECT,
        'retryable': {'type': 'boolean'},
        'retry_after_ms': {'type': 'integer', 'minimum': 0},
        'docs': _TEXT,
    }
    required = ['code', 'type', 'message', 'retryable']
    return {'type': 'object', 'properties': properties, 'required': required}


def _closed(**properties: object) -> Schema:
    """Return the schema of an object with exactly these members."""
    return {
        'type': 'object',
        'properties': properties,
        'required': list(properties),
        'additionalProperties': False,
    }
