"""Check of arguments against the JSON Schema of a server."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Protocol

from referencing import Registry

from seamwise._results.containers import Failure, Result, Success
from seamwise._text.jsonable import to_json
from seamwise._text.secrets import Secret
from seamwise._text.shortening import shorten
from seamwise.catalog.tools import Finding, InvalidParameter, MissingParameter
from seamwise.toolhost.formats.entries import is_array, is_object
from seamwise.toolhost.schema.arguments import MAX_FINDINGS, surrogate_problem

WHOLE: Final = 'arguments'
"""The name of the parameter in errors that concern all arguments."""

_TEXT_LIMIT: Final = 200


class SchemaError(Protocol):
    """An error of the package jsonschema, which has no types."""

    message: str
    absolute_path: Sequence[object]
    validator: str


class _Validator(Protocol):
    def iter_errors(self, instance: object) -> Iterator[SchemaError]: ...


class ArgumentsSchema:
    """The JSON Schema of the arguments of a tool.

    A schema that is invalid checks nothing: the server still checks the arguments itself.

    Args:
        tool: The name of the tool, for the errors.
        schema: The schema, an object.
    """

    def __init__(self, tool: str, schema: Mapping[str, object]) -> None:
        self._tool = tool
        self._schema = schema

    @cached_property
    def _validator(self) -> _Validator | None:
        # Not before the first call: a server can have many tools.
        return _validator(self._schema)

    def check(
        self, arguments: Mapping[str, object]
    ) -> Result[dict[str, object], MissingParameter | InvalidParameter]:
        """Return the arguments, or an error with all findings.

        The order is: missing parameters as declared, then the others in the order of the schema.
        """
        missing = [name for name in _names(self._schema.get('required')) if name not in arguments]
        invalid = [*self._invalid(arguments)]
        if not missing and not invalid:
            return Success(dict(arguments))
        findings = [
            *(Finding(name, 'is missing') for name in missing),
            *(Finding(name, reason) for name, reason in invalid),
        ]
        also = tuple(findings[1 : MAX_FINDINGS + 1])
        more = len(findings) - 1 - len(also) or None
        if missing:
            example = self._example(missing[0])
            return Failure(MissingParameter(self._tool, missing[0], example, also, more))
        name, reason = invalid[0]
        value = Secret(arguments.get(name))
        return Failure(InvalidParameter(self._tool, name, reason, value, also, more))

    def _example(self, parameter: str) -> str | None:
        """Return the first example of a parameter in the schema, or None."""
        examples = _get(_get(self._schema.get('properties'), parameter), 'examples')
        first: object = next(iter(_items(examples)), None)
        if first is None or isinstance(first, str):
            return first
        return shorten(to_json(first).decode(), _TEXT_LIMIT)

    def _invalid(self, arguments: Mapping[str, object]) -> Iterator[tuple[str, str]]:
        for name, value in arguments.items():
            if problem := surrogate_problem(value):
                yield shorten(name), problem
        if self._validator is None:
            return
        try:
            for error in self._validator.iter_errors(dict(arguments)):
                if error.validator == 'required' and not error.absolute_path:
                    continue
                path = [str(part) for part in error.absolute_path]
                reason = shorten(error.message, _TEXT_LIMIT)
                if path[1:]:
                    reason = f'{reason} (at /{"/".join(path[1:])})'
                yield path[0] if path else WHOLE, reason
        # seamwise: allow[SW103] a reference to another document or to itself, an invalid pattern
        except Exception:  # noqa: BLE001 -- the server checks the arguments
            return


def _validator(schema: Mapping[str, object]) -> _Validator | None:
    # Imported here: it is slow to import, and a processor that is served needs no validator.
    from jsonschema.validators import validator_for  # type: ignore[import-untyped]  # noqa: PLC0415

    try:
        validator_class: Any = validator_for(schema)
        validator_class.check_schema(schema)
    # seamwise: allow[SW103] any exception means that the schema of the server is invalid
    except Exception:  # noqa: BLE001
        return None
    # An empty registry: a schema must not make this process read URLs.
    registry: Registry[Any] = Registry()  # pyright: ignore[reportUnknownArgumentType]  # of it
    validator: _Validator = validator_class(schema, registry=registry)
    return validator


def _names(value: object) -> Iterable[str]:
    return [name for name in _items(value) if isinstance(name, str)]


def _items(value: object) -> list[object]:
    return value if is_array(value) else []


def _get(value: object, key: str) -> object:
    return value.get(key) if is_object(value) else None
