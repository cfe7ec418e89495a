"""JSON Schemas of the parameters and results of tools."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import UnionType
from typing import Any, Final, Union, cast, get_args, get_origin

import msgspec

from seamwise._text.jsonable import is_block, is_model
from seamwise._text.secrets import Secret
from seamwise.toolhost.content import Content
from seamwise.toolhost.schema.arguments import Parameter
from seamwise.toolhost.schema.docstrings import read_docstring
from seamwise.toolhost.schema.type_shapes import inner_classes

_REFERENCE: Final = '#/$defs/{name}'


def schemas_of(
    types: Sequence[object], *, schema_hook: Callable[[Any], dict[str, Any]] | None = None
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the schemas of types, and the definitions that they refer to.

    The docstring of a class describes it and its fields.

    Args:
        types: The types.
        schema_hook: Returns the schema of a class that msgspec does not know.

    Raises:
        TypeError: JSON cannot represent a type.
    """
    schemas, definitions = msgspec.json.schema_components(
        [*map(_revealed, types)],
        schema_hook=schema_hook or _schema_of_other,
        ref_template=_REFERENCE,
    )
    for definition in definitions.values():
        _describe_fields(definition)
    return [*schemas], definitions


def input_schema(
    parameters: Mapping[str, Parameter], descriptions: Mapping[str, str]
) -> Mapping[str, object]:
    """Return the schema of the arguments of a tool.

    >>> from seamwise.toolhost.schema.arguments import read_parameter
    >>> parameters = {'city': read_parameter(str, None, is_required=True)}
    >>> input_schema(parameters, {'city': 'as people write it'})['properties']
    {'city': {'type': 'string', 'description': 'as people write it'}}
    """
    schemas, definitions = schemas_of([item.type for item in parameters.values()])
    properties: dict[str, object] = {}
    for (name, parameter), schema in zip(parameters.items(), schemas, strict=True):
        if name in descriptions:
            schema['description'] = descriptions[name]
        if parameter.example is not None:
            schema['examples'] = [parameter.example]
        if not parameter.is_required:
            schema.update(_default(parameter.default))
        properties[name] = schema
    schema = {
        'type': 'object',
        'properties': properties,
        'required': [name for name, item in parameters.items() if item.is_required],
        'additionalProperties': False,
    }
    return {**schema, '$defs': definitions} if definitions else schema


def output_schema(type_: object) -> Mapping[str, object] | None:
    """Return the schema of the value of a tool as an object, or None if it has none.

    A value that is no object is in the key `result`.

    >>> output_schema(int)
    {'type': 'object', 'properties': {'result': {'type': 'integer'}}, 'required': ['result']}
    """
    # Content is no data, and MCP requires data that conforms to a schema.
    if any(class_ is Content or is_block(class_) for class_ in inner_classes(type_)):
        return None
    inner: dict[str, Any] = {}
    try:
        (schema,), definitions = schemas_of([type_], schema_hook=partial(_schema_of_model, inner))
    except TypeError:
        # A value that msgspec cannot describe still has a text form.
        return None
    definitions.update(inner)
    resolved = _resolve(schema, definitions)
    if resolved.get('type') == 'object':
        reference = schema.get('$ref')
        if reference is not None and not _contains(definitions, reference):
            # The class is described at the top already.
            del definitions[_name_in(reference)]
    elif _can_be_object(schema, definitions):
        # It is an object for some values only.
        return None
    else:
        resolved = {'type': 'object', 'properties': {'result': schema}, 'required': ['result']}
    return {**resolved, '$defs': definitions} if definitions else resolved


def _describe_fields(definition: dict[str, Any]) -> None:
    """Replace the docstring of a class by its first paragraph and the texts of its fields."""
    properties: dict[str, dict[str, Any]] = definition.get('properties', {})
    if 'description' not in definition:
        return
    texts = read_docstring(definition['description'], properties)
    definition['description'] = texts.summary
    for name, text in texts.parameters.items():
        properties[name].setdefault('description', text)


def _name_in(reference: str) -> str:
    return reference.rpartition('/')[2]


def _resolve(schema: dict[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    return definitions[_name_in(schema['$ref'])] if '$ref' in schema else schema


def _can_be_object(schema: dict[str, Any], definitions: Mapping[str, Any]) -> bool:
    resolved = _resolve(schema, definitions)
    if 'anyOf' in resolved:
        return any(_can_be_object(member, definitions) for member in resolved['anyOf'])
    # Enumerations contain no objects, and everything else without a type can be one.
    return 'enum' not in resolved and 'object' in resolved.get('type', 'object')


def _contains(value: object, text: str) -> bool:
    """Return whether a JSON value contains a text as a value."""
    if isinstance(value, dict):
        return _contains([*cast('dict[str, object]', value).values()], text)
    if isinstance(value, list):
        return any(_contains(item, text) for item in cast('list[object]', value))
    return value == text


def _revealed(type_: Any) -> object:
    """Return the type of the values in a `Secret[…]`, which a model passes as they are."""
    origin, arguments = get_origin(type_), get_args(type_)
    if origin is Secret:
        return arguments[0]
    if origin in {Union, UnionType}:
        return Union[tuple(map(_revealed, arguments))]  # noqa: UP007 -- of a tuple
    return type_


def _schema_of_other(type_: Any) -> dict[str, Any]:
    if type_ not in {object, Secret}:
        raise NotImplementedError
    # msgspec takes an empty schema for none.
    return {'description': 'Any value.'}


def _schema_of_model(inner: dict[str, Any], type_: Any) -> dict[str, Any]:
    """Return the schema of a model of pydantic; the definitions in it are added to `inner`."""
    if not is_model(type_):
        return _schema_of_other(type_)
    schema: dict[str, Any] = type_.model_json_schema(mode='serialization')
    inner.update(schema.pop('$defs', {}))
    # A recursive model is a reference to its definition.
    return schema


def _default(value: object) -> dict[str, object]:
    try:
        return {'default': msgspec.json.decode(msgspec.json.encode(value))}
    except (TypeError, ValueError, OverflowError, RecursionError):
        # A default that JSON cannot represent, such as a marker, is for the function only.
        return {}
