"""Names and definitions of tools, as the providers take them."""

import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final, Protocol, cast

_PATTERN: Final = re.compile('[a-zA-Z_][a-zA-Z0-9_-]{0,63}')
"""The intersection of the rules of OpenAI, Anthropic (letters, digits, `_` and `-`, up to 64
characters) and Gemini (begins with a letter or an underscore)."""

_SEPARATOR: Final = '__'


def qualified_name(name: str, namespace: str | None) -> str:
    """Return the name of a tool for a model. Providers have no namespaces, so it contains both.

    >>> qualified_name('weather', 'nordic'), qualified_name('weather', None)
    ('nordic__weather', 'weather')
    """
    return name if namespace is None else f'{namespace}{_SEPARATOR}{name}'


def name_problem(name: str, namespace: str | None) -> str | None:
    """Return the reason why no provider would accept the name of a tool, or None.

    >>> name_problem('get.weather', None)
    'a name has letters, digits, "_" and "-", begins with a letter or "_", and has at most 64 ...'
    """
    if _PATTERN.fullmatch(qualified_name(name, namespace)) and namespace != '' and name:
        return None
    parts = 'a name' if namespace is None else f'"namespace{_SEPARATOR}name"'
    return (
        f'{parts} has letters, digits, "_" and "-", begins with a letter or "_", and has at most '
        '64 characters'
    )


class Describable(Protocol):
    """A tool, as far as its definition depends on it."""

    @property
    def qualified_name(self) -> str:
        """The name for the model."""
        ...

    @property
    def description(self) -> str:
        """The description for the model."""
        ...

    @property
    def title(self) -> str | None:
        """The name for people, or None."""
        ...

    @property
    def annotations(self) -> Mapping[str, object]:
        """The hints of MCP about the tool."""
        ...

    @property
    def input_schema(self) -> Mapping[str, object]:
        """The JSON Schema of the arguments."""
        ...

    @property
    def output_schema(self) -> Mapping[str, object] | None:
        """The JSON Schema of the value, or None if it is not known."""
        ...


_DATA_KEYWORDS: Final = frozenset({'const', 'default', 'enum', 'examples'})
"""Keywords of JSON Schema whose values are no schemas."""

_MAP_KEYWORDS: Final = frozenset({'properties', '$defs'})
"""Keywords of JSON Schema whose values are schemas by name."""


def _description(tool: Describable) -> dict[str, object]:
    # Some servers refuse an empty description.
    return {'description': tool.description} if tool.description else {}


def _isolate_references(schema: object) -> object:
    """Return a schema without keywords beside a `$ref`, which Gemini does not allow."""
    if isinstance(schema, list):
        return [_isolate_references(member) for member in cast('list[object]', schema)]
    if not isinstance(schema, Mapping):
        return schema
    keywords = cast('Mapping[str, object]', schema)
    if '$ref' in keywords and len(keywords) > 1:
        others = {key: value for key, value in keywords.items() if key != '$ref'}
        return {'anyOf': [{'$ref': keywords['$ref']}], **others}
    return {key: _isolate_in_keyword(key, value) for key, value in keywords.items()}


def _isolate_in_keyword(keyword: str, value: object) -> object:
    if keyword in _MAP_KEYWORDS and isinstance(value, Mapping):
        schemas = cast('Mapping[str, object]', value)
        return {name: _isolate_references(schema) for name, schema in schemas.items()}
    return value if keyword in _DATA_KEYWORDS else _isolate_references(value)


def _openai(tool: Describable) -> dict[str, object]:
    return {
        'type': 'function',
        'function': {
            'name': tool.qualified_name,
            **_description(tool),
            'parameters': tool.input_schema,
        },
    }


def _openai_responses(tool: Describable) -> dict[str, object]:
    return {
        'type': 'function',
        'name': tool.qualified_name,
        **_description(tool),
        'parameters': tool.input_schema,
        # The API defaults to true, which allows no optional parameters.
        'strict': False,
    }


def _anthropic(tool: Describable) -> dict[str, object]:
    return {
        'name': tool.qualified_name,
        **_description(tool),
        'input_schema': tool.input_schema,
    }


def _gemini(tool: Describable) -> dict[str, object]:
    return {
        'name': tool.qualified_name,
        **_description(tool),
        # `parameters` takes a part of OpenAPI only, without references.
        'parametersJsonSchema': _isolate_references(tool.input_schema),
    }


def _mcp(tool: Describable) -> dict[str, object]:
    definition: dict[str, object] = {
        'name': tool.qualified_name,
        **({} if tool.title is None else {'title': tool.title}),
        **_description(tool),
        'inputSchema': tool.input_schema,
        'annotations': tool.annotations,
    }
    if tool.output_schema is not None:
        definition['outputSchema'] = tool.output_schema
    return definition


_DEFINE: Final[Mapping[str, Callable[[Describable], dict[str, object]]]] = MappingProxyType(
    {
        'openai': _openai,
        'openai_responses': _openai_responses,
        'anthropic': _anthropic,
        'gemini': _gemini,
        'mcp': _mcp,
    }
)

PROVIDERS: Final = tuple(_DEFINE)
"""The names of the providers."""


def definitions(tools: Iterable[Describable], provider: str) -> list[dict[str, object]]:
    """Return the definitions of tools that a provider is sent.

    Raises:
        ValueError: The provider is not known.
    """
    define = _DEFINE.get(provider)
    if define is None:
        raise ValueError(f'format must be one of {", ".join(_DEFINE)}, not {provider!r}.')
    items = [define(tool) for tool in tools]
    # Gemini takes a list of tools, each of which is a list of functions.
    return [{'functionDeclarations': items}] if provider == 'gemini' and items else items
