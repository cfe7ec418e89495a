"""Tools that a model can call, and sets of them, found by name and described for a provider."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final, Generic, Never, final

from msgspec import Struct
from typing_extensions import TypeVar, override

from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Failure, Result, Success
from seamwise._text.close_matches import MAX_LENGTH, MAX_SUGGESTIONS, close_matches
from seamwise.catalog.tools import (
    InvalidParameter,
    InvalidResult,
    MissingParameter,
    RegistrationRejected,
    UnknownTool,
)
from seamwise.toolhost.containment.limits import ToolLimits
from seamwise.toolhost.schema.definitions import definitions, name_problem, qualified_name
from seamwise.toolhost.schema.results import ResultType

E = TypeVar('E', bound=TaggedError, default=Never)
F = TypeVar('F', bound=TaggedError, default=Never)
E_co = TypeVar('E_co', bound=TaggedError, covariant=True)

DEFAULT_NAMESPACE: Final = 'default'
"""The namespace of tools without one, in errors."""

_SEPARATOR: Final = re.compile(r'[^\w-]+|__')


class Invocation(Struct, Generic[E_co], frozen=True):
    """One call of a tool, with checked arguments.

    Attributes:
        run: Runs the tool once. A further attempt calls it again, with fresh copies of arguments
            that the tool can change.
        is_async: Whether `run` returns an awaitable.
        check: Returns the result for what `run` returned, awaited if `is_async`: a Result or a
            plain value. It is `InvalidResult` unless the value has the declared type and the
            error a declared class. A value stays the same object.
        function: The function of the tool, for a process of its own.
        arguments: The keyword arguments of the function.
        result_type: The declared result, for a process of its own.
        isolated: The limits of the process of its own, or None to run in this process.
        key: Calls with the same key run one after the other; None for calls that need not.
    """

    run: Callable[[], object]
    is_async: bool
    check: Callable[[object], Result[object, E_co | InvalidResult]]
    function: Callable[..., object]
    arguments: Mapping[str, object]
    result_type: ResultType = ResultType()
    isolated: ToolLimits | None = None
    key: Hashable | None = None


class Tool(ABC, Generic[E_co]):
    """A tool that a model can call; `|` adds tools up.

    `E_co` is the union of its errors, besides those that every tool can have.

    Attributes:
        name: The name of the tool, unique in its namespace.
        namespace: The namespace of the tool, or None.
        description: The description for the model.
        is_repeatable: Whether running the tool twice does no harm.
        timeout: The maximum duration of a call in seconds, or None for that of the processor.
        title: The name for people, or None.
        is_read_only: Whether the tool changes nothing; None if that is not known.
        is_open_world: Whether the tool reaches other systems, such as the web; None if that is
            not known.
    """

    def __init__(  # noqa: PLR0913 -- one option each
        self,
        name: str,
        *,
        namespace: str | None = None,
        description: str = '',
        is_repeatable: bool = False,
        timeout: float | None = None,
        title: str | None = None,
        is_read_only: bool | None = None,
        is_open_world: bool | None = None,
    ) -> None:
        self.name = name
        self.namespace = namespace
        self.description = description
        self.is_repeatable = is_repeatable or is_read_only is True
        self.timeout = timeout
        self.title = title
        self.is_read_only = is_read_only
        self.is_open_world = is_open_world

    @property
    def qualified_name(self) -> str:
        """The name for the model: `namespace__name`, or the name without a namespace."""
        return qualified_name(self.name, self.namespace)

    @property
    @abstractmethod
    def input_schema(self) -> Mapping[str, object]:
        """The JSON Schema of the arguments, an object."""

    @property
    def output_schema(self) -> Mapping[str, object] | None:
        """The JSON Schema of the value, or None if it is not known."""
        return None

    @property
    def annotations(self) -> Mapping[str, object]:
        """The hints of MCP about the tool."""
        hints = {'readOnlyHint': self.is_read_only, 'openWorldHint': self.is_open_world}
        known = {name: value for name, value in hints.items() if value is not None}
        return {**known, 'idempotentHint': self.is_repeatable}

    def schema(self, format: str) -> list[dict[str, object]]:  # noqa: A002 -- as in `formats`
        """Return the definitions that a provider is sent, as `Tools.schema` does.

        Args:
            format: `openai`, `openai_responses`, `anthropic`, `gemini` or `mcp`.

        Raises:
            ValueError: The format is another one.
        """
        return definitions([self], format)

    def check_types(self) -> None:
        """Raise a TypeError if a type of the tool is not known; a processor calls it."""

    @abstractmethod
    def bind(
        self, arguments: Mapping[str, object]
    ) -> Result[Invocation[E_co], MissingParameter | InvalidParameter]:
        """Check the arguments of a call, and return the call, ready to run."""

    def __or__(self, other: Tool[F] | Tools[F], /) -> Tools[E_co | F]:
        """Add tools up; raises TypeError if two of them have the same name."""
        return Tools[E_co]([self]) | other

    @override
    def __repr__(self) -> str:
        return f'<Tool {self.qualified_name!r}>'


@final
class Tools(Generic[E_co]):
    """Tools with different names; `|` adds tools up, and `toolset` creates them from a list.

    >>> from seamwise.toolhost import tool
    >>> @tool
    ... def double(number: int) -> int:
    ...     return 2 * number
    >>> @tool
    ... def negate(number: int) -> int:
    ...     return -number
    >>> (double | negate).names
    ('double', 'negate')

    Raises:
        TypeError: Two tools have the same name, a name is invalid, or an item is not a tool.
    """

    def __init__(self, tools: Iterable[Tool[E_co]]) -> None:
        by_name: dict[str, Tool[E_co]] = {}
        for tool in tools:
            if reason := _add(by_name, tool):
                raise TypeError(f'The tool {tool.qualified_name!r} cannot be added: {reason}.')
        self._by_name = by_name
        self._found = {name: Success(tool) for name, tool in by_name.items()}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the tools for a model, sorted."""
        return tuple(sorted(self._by_name))

    def find(self, name: str, namespace: str | None = None) -> Result[Tool[E_co], UnknownTool]:
        """Return a tool, or `UnknownTool` with up to three similar names.

        Args:
            name: The name of the tool; without a namespace, its qualified name.
            namespace: The namespace of the tool.
        """
        found = self._found.get(qualified_name(name, namespace))
        # `find('b__c', 'a')` must not return the tool `c` of a namespace `a__b`.
        if found is not None and (namespace is None or found.unwrap().namespace == namespace):
            return found
        suggestions = self._suggestions(name, namespace)
        return Failure(UnknownTool(name, namespace or DEFAULT_NAMESPACE, self.names, suggestions))

    def _suggestions(self, name: str, namespace: str | None) -> tuple[str, ...]:
        """Return up to three names: of the tool in other namespaces, then similar ones.

        Models write prefixes and counters of their own, such as `functions.read:0`.
        """
        parts = {name, *_SEPARATOR.split(name[:MAX_LENGTH])}
        namesakes = sorted(tool.qualified_name for tool in self if tool.name in parts)
        similar = close_matches(qualified_name(name, namespace), self.names)
        return tuple(dict.fromkeys((*namesakes, *similar)))[:MAX_SUGGESTIONS]

    def schema(self, format: str) -> list[dict[str, object]]:  # noqa: A002 -- as in `formats`
        """Return the definitions that a provider is sent, in the order of the tools.

        A tool in a namespace has the name `namespace__name` there.

        Args:
            format: `openai`, `openai_responses`, `anthropic`, `gemini` or `mcp`.

        Raises:
            ValueError: The format is another one.
        """
        return definitions(self._by_name.values(), format)

    def __or__(self, other: Tool[F] | Tools[F], /) -> Tools[E_co | F]:
        """Add tools up; raises TypeError if two of them have the same name."""
        if not isinstance(other, Tool | Tools):
            return NotImplemented
        added: Iterable[Tool[F]] = [other] if isinstance(other, Tool) else other
        return Tools[E_co | F]([*self, *added])

    def __iter__(self) -> Iterator[Tool[E_co]]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    @override
    def __repr__(self) -> str:
        return f'<Tools: {", ".join(self._by_name) or "none"}>'


def toolset(tools: Iterable[Tool[E]], /) -> Result[Tools[E], RegistrationRejected]:
    """Return a set of tools that are known at run time only.

    A name needs letters, digits, `_` and `-`, begins with a letter or `_`, and has at most 64
    characters together with the namespace: every provider accepts such names.

    >>> toolset([]).map(len)
    Success(0)

    Returns:
        The tools, or `RegistrationRejected` if a name is invalid or two are the same.

    Raises:
        TypeError: An item is not a tool.
    """
    by_name: dict[str, Tool[E]] = {}
    for tool in tools:
        if reason := _add(by_name, tool):
            return Failure(RegistrationRejected(tool.name, reason))
    return Success(Tools(by_name.values()))


def _add(by_name: dict[str, Tool[E]], tool: Tool[E]) -> str | None:
    """Add a tool, or return the reason to refuse it."""
    if not isinstance(tool, Tool):
        raise TypeError(
            f'A set of tools contains tools, not {tool!r}; decorate functions with @tool.'
        )
    if problem := name_problem(tool.name, tool.namespace):
        return problem
    other = by_name.get(tool.qualified_name)
    if other is not None:
        return f'{other!r} and {tool!r} have the same name; change `name` or `namespace` of one'
    by_name[tool.qualified_name] = tool
    return None
