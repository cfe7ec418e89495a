"""Environment variables that override single options of a guards file."""

import os
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeVar, get_args, get_origin

from msgspec import Struct

from seamwise.policies.config.pipelines import DEFAULT, Layout
from seamwise.policies.config.schema import (
    KeyPath,
    Table,
    field_types,
    first_key,
    is_table,
    string_keys,
    struct_types,
    unknown_name_message,
)

S = TypeVar('S', bound=Struct)

SEPARATOR: Final = '__'
"""Separates the name of a guard, the guard and the option in the name of a variable."""


class Overrides(Struct, frozen=True):
    """Environment variables that override options; created by `overrides_from_environment`.

    Attributes:
        prefix: The beginning of their names.
        variables: Their values by their names.
    """

    prefix: str
    variables: dict[str, str]


def overrides_from_environment(
    prefix: str = 'GUARDS_', environ: Mapping[str, str] = os.environ
) -> Overrides:
    """Return the environment variables that override options of guards.

    The name of a variable is the prefix, then the name of the guard or `DEFAULT`, the guard and the
    option, separated by two underscores: `GUARDS_PAYMENT__RETRY__ATTEMPTS=5`. In names, other
    characters than letters and digits become underscores. `off` switches a guard off:
    `GUARDS_PAYMENT__CIRCUIT=off`. Tables and lists are written in TOML:
    `GUARDS_PAYMENT__CIRCUIT__TRIP={ consecutive = 3 }`.

    Pass the result to `guards_from_toml` or `guards_from_mapping`, which report variables with
    unknown names or invalid values.

    Args:
        prefix: The beginning of the names; upper and lower case are equal. All variables with this
            prefix must be options of guards.
        environ: The environment.

    Raises:
        ValueError: The prefix is empty, so that every variable would be an option.

    >>> overrides_from_environment(environ={'GUARDS_PAYMENT__RETRY__ATTEMPTS': '5', 'HOME': '/'})
    Overrides(prefix='GUARDS_', variables={'GUARDS_PAYMENT__RETRY__ATTEMPTS': '5'})
    """
    if not prefix:
        raise ValueError('prefix must not be empty: every variable would be an option of a guard.')
    return Overrides(
        prefix,
        {
            name: value
            for name, value in sorted(environ.items())
            if name.upper().startswith(prefix.upper())
        },
    )


class _Override(Struct, frozen=True):
    """The value of a variable, and the names of its option below the table of a guard."""

    variable: str
    table: KeyPath
    options: KeyPath
    value: object

    @property
    def path(self) -> KeyPath:
        return self.table + self.options


class VariableProblem(NamedTuple):
    """A problem with the name of a variable, which would set the value at a path."""

    path: KeyPath
    message: str
    variable: str


def variables_note(*variables: str) -> str:
    """Return a text with names of variables, for the end of a message.

    >>> variables_note('GUARDS_A__RETRY', 'GUARDS_B__RETRY')
    ' (variables GUARDS_A__RETRY, GUARDS_B__RETRY)'
    """
    return f' (variable{"s" if len(variables) > 1 else ""} {", ".join(variables)})'


class OverriddenDocument:
    """A document with the values of environment variables.

    >>> from seamwise.policies.config.settings import PipelineConfig
    >>> layout = Layout('guards', 'guard', PipelineConfig, PipelineConfig, True, True)
    >>> overrides = Overrides('GUARDS_', {'GUARDS_PAYMENT__RETRY__ATTEMPTS': '5'})
    >>> OverriddenDocument({}, overrides, layout, ['payment']).document
    {'guards': {'payment': {'retry': {'attempts': 5}}}}

    Attributes:
        document: The new document.
        problems: The problems with the names of variables.

    Args:
        document: The document to change; it stays as it is.
        overrides: The variables.
        layout: The form of the document.
        names: The names that variables can contain, as well as those of the document.
    """

    def __init__(
        self, document: Table, overrides: Overrides, layout: Layout[S], names: Iterable[str]
    ) -> None:
        self.document: Table = document
        self.problems: list[VariableProblem] = []
        self._variables: dict[KeyPath, str] = {}
        section = document.get(layout.section)
        own_names = string_keys(section, [], '') if is_table(section) else ()
        self._names = tuple(dict.fromkeys([*names, *own_names]))
        self._layout = layout
        resolved = [
            self._resolve(variable, variable[len(overrides.prefix) :], text)
            for variable, text in overrides.variables.items()
        ]
        known = (override for override in resolved if override is not None)
        for override in sorted(known, key=self._rank):
            self._apply(override)

    def note(self, path: KeyPath) -> str:
        """Return a text with the variables that set the value at a path, or values below it."""
        for length in range(len(path), 0, -1):
            if path[:length] in self._variables:
                return variables_note(self._variables[path[:length]])
        below = [name for other, name in self._variables.items() if other[: len(path)] == path]
        return variables_note(*below) if path and below else ''

    def _resolve(self, variable: str, rest: str, text: str) -> _Override | None:
        layout = self._layout
        tables: dict[str, list[KeyPath]] = {DEFAULT.upper(): [(DEFAULT,)]}
        for name in self._names:
            tables.setdefault(_variable_name(name), []).append((layout.section, name))
        rest = rest.upper()
        matches = [key for key in tables if f'{rest}{SEPARATOR}'.startswith(f'{key}{SEPARATOR}')]
        if not matches:
            name = rest.partition(SEPARATOR)[0].lower()
            message = unknown_name_message(name, [DEFAULT, *self._names], noun=layout.noun)
            self.problems.append(VariableProblem((layout.section, name), message, variable))
            return None
        match = max(matches, key=len)
        table, *others = tables[match]
        if others:
            names = ' and '.join(repr(path[-1]) for path in tables[match])
            message = f'has the same variables as another one: {names}'
            self.problems.append(VariableProblem(table, message, variable))
            return None
        options = tuple(rest[len(match) + len(SEPARATOR) :].lower().split(SEPARATOR))
        if options == ('',):
            options = ()
        return _Override(variable, table, options, _parse(text, self._types(table, options)))

    def _struct(self, table: KeyPath) -> type[Struct]:
        return self._layout.defaults if table == (DEFAULT,) else self._layout.table

    def _types(self, table: KeyPath, options: KeyPath) -> tuple[object, ...]:
        types: tuple[object, ...] = (self._struct(table),)
        for option in options:
            types = field_types(struct_types(types), option)
        return types

    def _rank(self, override: _Override) -> tuple[int, bool, str]:
        """Return the rank of an override: tables precede their keys, and their form other keys."""
        structs = struct_types(self._types(override.table, override.options[:-1]))
        is_form = first_key(structs, dict.fromkeys(override.options[-1:])) is not None
        return len(override.path), not is_form, override.variable

    def _apply(self, override: _Override) -> None:
        path = override.path
        if path in self._variables:
            message = f'is set by {override.variable} too'
            self.problems.append(VariableProblem(path, message, self._variables[path]))
            return
        outer = (path[:length] for length in range(1, len(path)))
        if any(self._is_switched_off(place) for place in outer):
            return
        self._variables[path] = override.variable
        table = _assigned(
            _value_at(self.document, override.table),
            override.options,
            [self._struct(override.table)],
            override.value,
        )
        self.document = _assigned(self.document, override.table, [], table)

    def _is_switched_off(self, path: KeyPath) -> bool:
        return path in self._variables and _value_at(self.document, path) is False


def _variable_name(name: str) -> str:
    return ''.join(letter if letter.isalnum() else '_' for letter in name.upper())


def _value_at(table: object, path: KeyPath) -> object:
    for key in path:
        table = table.get(key) if is_table(table) else None
    return table


def _assigned(table: object, path: KeyPath, structs: Iterable[type[Struct]], value: object) -> Any:
    """Return a copy of a table with a value at a path; `structs` are the types of the table."""
    if not path:
        return value
    copy = dict(table) if is_table(table) else {}
    key, *rest = path
    nested = struct_types(field_types(structs, key))
    inner = copy.get(key)
    if rest and is_table(inner):
        form = first_key(nested, {rest[0]: value})
        if form not in {None, first_key(nested, inner)}:
            # Keys of another form, such as the other trip condition, would be unknown.
            inner = None
    copy[key] = _assigned(inner, tuple(rest), nested, value)
    return copy


def _parse(text: str, types: tuple[object, ...]) -> object:
    """Return the value of a variable as a file would have it, for an option of these types."""
    if str in types:
        return text
    can_be_off = any(
        literal is False
        for type_ in types
        if get_origin(type_) is Literal
        for literal in get_args(type_)
    )
    if can_be_off and text.strip().casefold() in {'off', 'false'}:
        return False
    try:
        document = tomllib.loads(f'value = {text}')
    except (ValueError, RecursionError):
        return text
    return document['value'] if len(document) == 1 else text
