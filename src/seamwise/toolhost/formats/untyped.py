"""Arguments without types: the schema of the tool decides whether a text is a number, a list, ….

The formats with a tag for each parameter do not say it. A parameter that can be a text keeps it;
only `null` is none if the parameter can be null.
"""

from collections.abc import Mapping

from seamwise._results.containers import Success
from seamwise._text.json_fields import is_object, object_of
from seamwise.toolhost.formats.entries import decode_text, is_array
from seamwise.toolhost.formats.python_literals import translate

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
    if not isinstance(value, str) or not is_object(schema):
        return value
    text = value.strip()
    if _admits(schema, root, 'string'):
        return None if text in {'null', 'None'} and _admits(schema, root, 'null') else value
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    decoded = decode_text(text)
    return decoded.unwrap() if type(decoded) is Success else _python_value(text, value)


def _python_value(text: str, default: str) -> object:
    """Return the list or dict that a text is in Python, or the default.

    Qwen's own template writes these as Python does too.
    """
    if text[:1] not in {'[', '{'}:
        return default
    wrapped = f'(value={text})'
    json, end, problem_position = translate(wrapped, 0)
    if problem_position is not None or end != len(wrapped):
        return default
    decoded = decode_text(json)
    arguments = object_of(decoded.unwrap() if type(decoded) is Success else None)
    return arguments['value'] if len(arguments) == 1 else default


def _admits(
    schema: Mapping[str, object], root: Mapping[str, object], type_name: str, depth: int = 0
) -> bool:
    """Return whether a value of a schema can be a text, or null.

    A schema without a type admits any value, but is not taken to mean null.
    """
    if depth > _REFERENCE_LIMIT:
        return type_name == 'string'
    reference = schema.get('$ref')
    if isinstance(reference, str):
        return _admits(_resolve(reference, root), root, type_name, depth + 1)
    for key in ('anyOf', 'oneOf', 'allOf'):
        members = schema.get(key)
        if is_array(members):
            schemas = [item for item in members if is_object(item)]
            found = [_admits(item, root, type_name, depth + 1) for item in schemas]
            return all(found) if key == 'allOf' else any(found)
    values = [schema['const']] if 'const' in schema else schema.get('enum')
    if is_array(values):
        class_ = str if type_name == 'string' else type(None)
        return any(isinstance(item, class_) for item in values)
    types = schema.get('type', 'string')
    return type_name in (types if is_array(types) else [types])


def _resolve(reference: str, root: Mapping[str, object]) -> Mapping[str, object]:
    """Return the schema that a reference in the same document names, or one that admits any."""
    value: object = root
    for step in reference.removeprefix('#/').split('/'):
        value = object_of(value).get(step.replace('~1', '/').replace('~0', '~'))
    return object_of(value)
