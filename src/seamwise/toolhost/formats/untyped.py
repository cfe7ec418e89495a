"""Arguments without types: the schema of the tool decides whether a text is a number, a list, ….

The formats with a tag for each parameter do not say it. A parameter that can be a text keeps it.
"""

from collections.abc import Mapping

from seamwise._results.containers import Success
from seamwise._text.json_fields import is_object, object_of
from seamwise.toolhost.formats.entries import decode_text, is_array

UNTYPED = frozenset({'qwen', 'glm', 'invoke', 'minimax', 'cline'})
"""The formats whose arguments are texts."""

# Qwen's own template writes these values as Python does.
_CONSTANTS: Mapping[str, object] = {'True': True, 'False': False, 'None': None}
_REFERENCE_LIMIT = 8


def typed_arguments(
    arguments: Mapping[str, object], schema: Mapping[str, object]
) -> dict[str, object]:
    """Return the arguments of a call in one of these formats, with the types of a schema.

    A text that is no JSON stays, and the tool rejects it.

    >>> properties = {'path': {'type': 'string'}, 'line': {'type': 'integer'}}
    >>> typed_arguments({'path': '418', 'line': '2'}, {'properties': properties})
    {'path': '418', 'line': 2}

    Args:
        arguments: The arguments.
        schema: The JSON Schema of the arguments of its tool.
    """
    properties = object_of(schema.get('properties'))
    return {name: _typed(value, properties.get(name), schema) for name, value in arguments.items()}


def _typed(value: object, schema: object, root: Mapping[str, object]) -> object:
    if not isinstance(value, str) or not is_object(schema) or _admits_text(schema, root):
        return value
    text = value.strip()
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    decoded = decode_text(text)
    return decoded.unwrap() if type(decoded) is Success else value


def _admits_text(schema: Mapping[str, object], root: Mapping[str, object], depth: int = 0) -> bool:
    """Return whether a value of a schema can be a text; a schema without a type admits any."""
    if depth > _REFERENCE_LIMIT:
        return True
    reference = schema.get('$ref')
    if isinstance(reference, str):
        return _admits_text(_resolve(reference, root), root, depth + 1)
    for key in ('anyOf', 'oneOf', 'allOf'):
        members = schema.get(key)
        if is_array(members):
            found = [_admits_text(item, root, depth + 1) for item in members if is_object(item)]
            return all(found) if key == 'allOf' else any(found)
    if is_array(values := schema.get('enum')):
        return any(isinstance(item, str) for item in values)
    if 'const' in schema:
        return isinstance(schema['const'], str)
    type_ = schema.get('type')
    return type_ is None or 'string' in (type_ if is_array(type_) else [type_])


def _resolve(reference: str, root: Mapping[str, object]) -> Mapping[str, object]:
    """Return the schema that a reference in the same document names, or one that admits any."""
    value: object = root
    for step in reference.removeprefix('#/').split('/'):
        value = object_of(value).get(step.replace('~1', '/').replace('~0', '~'))
    return object_of(value)
