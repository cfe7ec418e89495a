"""Errors of routes in an OpenAPI document, as references to its components."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Final, NamedTuple, Never

from msgspec import structs

from seamwise._errors.errors import TaggedError
from seamwise.seams.adapter import Adapter
from seamwise.seams.http.bodies import (
    Bare,
    Body,
    Envelope,
    NamedFormat,
    Problem,
    TaggedFormat,
)
from seamwise.seams.http.negotiation import Negotiated
from seamwise.seams.http.openapi_documents.components import (
    Components,
    Node,
    child,
    is_array,
    is_node,
    name_of,
    replace_refs,
)
from seamwise.seams.http.openapi_documents.documented_errors import (
    FRAMEWORK_ERRORS,
    HEADERS,
    DocumentedError,
    documented_errors,
    response_description,
)
from seamwise.seams.http.openapi_documents.error_schemas import (
    ENVELOPE,
    NAMED,
    PROBLEM,
    PROBLEM_OUTLINE,
    TAGGED,
    ErrorForm,
    success_envelope,
)
from seamwise.seams.http.shape import HttpError, phrase

_JSON = 'application/json'
_ANNOTATIONS = {'type', 'title', 'description', 'default', 'examples', 'deprecated'}
"""The keys of a schema of texts that do not restrict them."""

_MAX_NAMES = 3
"""A response with more error classes is named after its status."""


class Operation(NamedTuple):
    """A route in one method."""

    path: str
    """The path in the document, such as `/users/{uid}`."""
    method: str
    """The method in lower case."""
    errors: tuple[type[TaggedError], ...]
    """The error channel of the route, with those of its dependencies."""
    is_formatted: bool
    """Whether the body format writes its value. It does not write a response, such as a file."""


class BodyDescription(NamedTuple):
    """The attributes of a body format that a document shows."""

    media_type: str = _JSON
    has_envelope: bool = False
    """Whether values are wrapped in the envelope."""
    error_forms: tuple[ErrorForm, ...] = ()
    """The forms of errors by media type. A format without them has no schemas of values either."""


_BODIES: Final[Mapping[type, BodyDescription]] = {
    Negotiated: BodyDescription(has_envelope=True, error_forms=(ENVELOPE, PROBLEM_OUTLINE)),
    Envelope: BodyDescription(has_envelope=True, error_forms=(ENVELOPE,)),
    Problem: BodyDescription(has_envelope=True, error_forms=(PROBLEM,)),
    Bare: BodyDescription(error_forms=(PROBLEM,)),
    NamedFormat: BodyDescription(error_forms=(NAMED,)),
    TaggedFormat: BodyDescription(error_forms=(TAGGED,)),
}


def describe_body(body: Body) -> BodyDescription:
    """Return the description of a body format; of an own format only its media type is known."""
    return _BODIES.get(type(body)) or BodyDescription(body.media_type)


def add_errors(
    document: Node,
    operations: Iterable[Operation],
    adapter: Adapter[Never, HttpError],
    *,
    body: Body,
) -> None:
    """Add the errors of operations, and the envelope of values, to a document of FastAPI.

    An operation has a response for each status of its errors, and for a request that is not valid:
    it replaces the 422 of FastAPI. Their schemas are in `components`. Responses that a route
    declares stay as they are. Call this once for a document.

    Args:
        document: OpenAPI 3.1 document, which is changed.
        operations: The operations. Those that the document lacks are skipped.
        adapter: The answers to the errors. Errors that it hides or lacks are skipped.
        body: The body format of the application.

    Raises:
        TypeError: An arm is neither one of `on(…).responds(…)` nor a function.
    """
    nodes = [*_nodes(document, operations)]
    kinds = {kind for operation, _ in nodes for kind in operation.errors}
    components = Components(document)
    writer = _Writer(components, adapter, kinds, describe_body(body))
    writer.write_values([node for operation, node in nodes if operation.is_formatted])
    for operation, node in nodes:
        writer.write_errors(node, operation.errors)
    for name in ('HTTPValidationError', 'ValidationError'):
        components.remove_unused_schema(name)


def _nodes(document: Node, operations: Iterable[Operation]) -> Iterator[tuple[Operation, Node]]:
    paths = child(document, 'paths')
    for operation in operations:
        if operation.path in paths:
            node = child(paths, operation.path).get(operation.method)
            if is_node(node):
                yield operation, node


class _Writer:
    """Writes the responses of operations, and adds the components that they refer to."""

    def __init__(
        self,
        components: Components,
        adapter: Adapter[Never, HttpError],
        kinds: set[type[TaggedError]],
        body: BodyDescription,
    ) -> None:
        self._components = components
        self._body = body
        used = Adapter({kind: arm for kind, arm in adapter.arms.items() if kind in kinds})
        errors, parts = documented_errors([used])
        refs = components.add_schemas(parts)
        # The order of routes must not decide which of several classes has the short name.
        names = Counter(error.name for error in (*errors.values(), *FRAMEWORK_ERRORS.values()))
        self._errors = {
            kind: structs.replace(
                error,
                name=error.name if names[error.name] == 1 else error.long_name,
                fields={
                    name: replace_refs(schema, refs.__getitem__)
                    for name, schema in error.fields.items()
                },
            )
            for kind, error in errors.items()
        }

    def write_values(self, nodes: Iterable[Node]) -> None:
        """Wrap the schemas of values in the envelope, if the body format has one."""
        contents = [*_value_contents(nodes)]
        if not self._body.error_forms:
            for content in contents:
                del content[_JSON]
                content[self._body.media_type] = {'schema': {}}
        elif self._body.has_envelope:
            media = [child(content, _JSON) for content in contents]
            uses = Counter(str(child(item, 'schema').get('$ref')) for item in media)
            for item in media:
                schema = child(item, 'schema')
                item['schema'] = self._envelope(schema, is_shared=uses[str(schema.get('$ref'))] > 1)

    def _envelope(self, schema: Node, *, is_shared: bool) -> Node:
        success = self._share(success_envelope(), 'Success')
        if schema.keys() <= {'title'}:
            return success
        data: Node = {'properties': {'data': schema}, 'required': ['data']}
        envelope: Node = {'allOf': [success, data]}
        if is_shared and '$ref' in schema:
            # A component is smaller than what it replaces only if it is used more than once.
            return self._share(envelope, f'{name_of(schema)}Envelope')
        return envelope

    def write_errors(self, node: Node, kinds: Iterable[type[TaggedError]]) -> None:
        """Add the responses for error classes to an operation, and for requests not valid."""
        responses = child(node, 'responses')
        if _is_validation_error(responses.get('422')):
            del responses['422']
        by_status: defaultdict[int, list[DocumentedError]] = defaultdict(list)
        for kind in kinds:
            if kind in self._errors:
                for answer in self._errors[kind].answers:
                    by_status[answer.status].append(answer)
        if _can_be_invalid(node):
            by_status[HTTPStatus.BAD_REQUEST.value] += []
        for status, errors in sorted(by_status.items()):
            if str(status) not in responses:
                if status in _framework_statuses(node):
                    errors.append(FRAMEWORK_ERRORS[status])
                responses[str(status)] = self._response(sorted(errors, key=_name))

    def _response(self, errors: Sequence[DocumentedError]) -> Node:
        names = 'Or'.join(map(_name, errors))
        name = names if len(errors) <= _MAX_NAMES else _status_name(errors[0].status)
        headers = dict.fromkeys(header for error in errors for header in error.headers)
        content: Node = {
            form.media_type: {'schema': form.shared_body(errors, self._share)}
            for form in self._body.error_forms
        }
        response: Node = {
            'description': response_description(errors),
            'headers': {
                header: self._components.add('headers', [header], HEADERS[header])
                for header in headers
            },
            'content': content or {self._body.media_type: {'schema': {}}},
        }
        return self._components.add('responses', [name], response)

    def _share(self, schema: Node, /, *names: str) -> Node:
        return self._components.add('schemas', names, schema)


def _value_contents(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield the `content` of each response with a value in JSON."""
    for node in nodes:
        for status, response in child(node, 'responses').items():
            if status.startswith('2') and is_node(response):
                content = response.get('content')
                if is_node(content) and _JSON in content:
                    yield content


def _is_validation_error(response: object) -> bool:
    """Return whether a response is the 422 that FastAPI adds to a route by itself."""
    return is_node(response) and response.get('content') == {
        _JSON: {'schema': {'$ref': '#/components/schemas/HTTPValidationError'}}
    }


def _can_be_invalid(node: Node) -> bool:
    """Return whether FastAPI can refuse a request: it has a body, or some text does not fit."""
    parameters = node.get('parameters')
    return 'requestBody' in node or (
        is_array(parameters) and not all(map(_accepts_any_text, parameters))
    )


def _accepts_any_text(parameter: object) -> bool:
    if not is_node(parameter):
        return False
    is_always_there = parameter.get('in') == 'path' or not parameter.get('required')
    schema = child(parameter, 'schema')
    members = schema.get('anyOf', [schema])
    return is_always_there and is_array(members) and any(map(_is_any_text, members))


def _is_any_text(schema: object) -> bool:
    return is_node(schema) and schema.get('type') == 'string' and schema.keys() <= _ANNOTATIONS


def _framework_statuses(node: Node) -> Iterator[int]:
    """Yield the statuses with which the framework itself may answer an operation."""
    yield HTTPStatus.INTERNAL_SERVER_ERROR
    if _can_be_invalid(node):
        yield HTTPStatus.BAD_REQUEST
    if 'requestBody' in node:
        yield HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    if 'security' in node:
        yield from (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


def _name(error: DocumentedError) -> str:
    return error.name


def _status_name(status: int) -> str:
    return phrase(status).title().replace(' ', '')
