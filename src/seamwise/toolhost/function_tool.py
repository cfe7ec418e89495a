"""Functions as tools, and the decorator that turns a function into one."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Hashable, Mapping
from contextlib import suppress
from copy import deepcopy
from functools import cached_property, partial, update_wrapper
from inspect import iscoroutinefunction, signature, unwrap
from types import CoroutineType, FunctionType, MethodType, NoneType
from typing import Any, Final, Generic, Never, ParamSpec, Protocol, final, overload

from msgspec import Struct
from typing_extensions import TypeVar, override

from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.tools import InvalidParameter, MissingParameter
from seamwise.toolhost.containment.importable import import_name
from seamwise.toolhost.containment.limits import ToolLimits, check_seconds
from seamwise.toolhost.schema.arguments import Parameter, convert_arguments
from seamwise.toolhost.schema.definitions import name_problem, qualified_name
from seamwise.toolhost.schema.docstrings import Descriptions, read_docstring
from seamwise.toolhost.schema.json_schemas import input_schema, output_schema
from seamwise.toolhost.schema.results import (
    ResultType,
    check_json_result,
    check_result,
    class_without_json,
)
from seamwise.toolhost.schema.signatures import (
    UnresolvedType,
    check_function,
    read_known_result,
    read_parameters,
    read_result,
)
from seamwise.toolhost.tools import Invocation, Tool

P = ParamSpec('P')
T = TypeVar('T', default=Never)
E = TypeVar('E', bound=TaggedError, default=Never)
E_co = TypeVar('E_co', bound=TaggedError, covariant=True)
R = TypeVar('R')
R_co = TypeVar('R_co', covariant=True)


class _Options(Struct, frozen=True, kw_only=True):
    """The options of `tool`; see there."""

    name: str | None = None
    description: str | None = None
    namespace: str | None = None
    is_repeatable: bool = False
    isolated: ToolLimits | None = None
    exclusive: Callable[[Mapping[str, object]], Hashable] | None = None
    timeout: float | None = None
    validate: bool = True
    title: str | None = None
    is_read_only: bool | None = None
    is_open_world: bool | None = None

    def __post_init__(self) -> None:
        if self.timeout is not None:
            check_seconds('timeout', self.timeout)
        if self.isolated is not None and not isinstance(self.isolated, ToolLimits):
            raise TypeError(f'isolated must be ToolLimits(…) or None, not {self.isolated!r}.')
        if self.exclusive is not None and not callable(self.exclusive):
            raise TypeError(
                f'exclusive must be a function from the arguments to a key, not {self.exclusive!r}.'
            )


@final
class FunctionTool(Tool[E_co], Generic[P, R_co, E_co]):
    """A function as a tool, which can still be called as it is; `tool` creates it."""

    def __init__(self, function: FunctionType | MethodType, options: _Options) -> None:
        name = function.__name__ if options.name is None else options.name
        if problem := name_problem(name, options.namespace):
            full_name = qualified_name(name, options.namespace)
            option = '`name`' if options.namespace is None else '`name` or `namespace`'
            raise TypeError(
                f'{function.__qualname__}: {problem}, unlike {full_name!r}; set {option}.'
            )
        if options.isolated is not None:
            import_name(function)
        update_wrapper(self, function, updated=())
        self._function = function
        self._call: Callable[P, R_co] = function
        self._options = options
        self._result = read_result(function)
        if self._result is not None:
            self._check_form(self._result)
        with suppress(UnresolvedType):
            # A type can be defined below the function; the first call needs it.
            _ = self._parameters
        super().__init__(
            name,
            namespace=options.namespace,
            description=self._texts.summary if options.description is None else options.description,
            is_repeatable=options.is_repeatable,
            timeout=options.timeout,
            title=options.title,
            is_read_only=options.is_read_only,
            is_open_world=options.is_open_world,
        )

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Call the function."""
        return self._call(*args, **kwargs)

    @property
    def function(self) -> FunctionType | MethodType:
        """The function itself."""
        return self._function

    @cached_property
    def _parameters(self) -> Mapping[str, Parameter]:
        return read_parameters(self._function)

    @cached_property
    def _texts(self) -> Descriptions:
        names = signature(self._function).parameters
        return read_docstring(self._function.__doc__, names)

    @cached_property
    def result_type(self) -> ResultType:
        """The declared result of the function."""
        if self._result is not None:
            return self._result
        result = read_known_result(self._function)
        self._check_form(result)
        return result

    @cached_property
    def _is_async(self) -> bool:
        # A plain wrapper around an async function returns its coroutine.
        function = unwrap(self._function)
        return self.result_type.is_async or iscoroutinefunction(function)

    @cached_property
    def _check(self) -> Callable[[object], Result[Any, Any]]:
        if self._options.validate:
            return partial(check_json_result, self.qualified_name, self.result_type)
        return partial(check_result, self.qualified_name, ResultType())

    @override
    def check_types(self) -> None:
        """Raise a TypeError if the type of a parameter or of the result is not known."""
        _ = self._parameters, self.result_type

    @property
    @override
    def input_schema(self) -> Mapping[str, object]:
        """The JSON Schema of the arguments, an object."""
        return input_schema(self._parameters, self._texts.parameters)

    @property
    @override
    def output_schema(self) -> Mapping[str, object] | None:
        """The JSON Schema of the value, or None if it is not known."""
        return output_schema(self.result_type.value_type)

    @override
    def bind(
        self, arguments: Mapping[str, object]
    ) -> Result[Invocation[E_co], MissingParameter | InvalidParameter]:
        """Check the arguments of a call, and return the call, ready to run.

        An exception of `exclusive` is a bug and propagates unchanged, and so does the TypeError for
        a key that cannot be hashed.
        """
        converted = convert_arguments(self.qualified_name, self._parameters, arguments)
        if type(converted) is Failure:
            return converted
        values = converted.unwrap()
        return Success(
            Invocation(
                run=_runner(self._function, values),
                is_async=self._is_async,
                check=self._check,
                function=self._function,
                arguments=values,
                result_type=self.result_type,
                isolated=self._options.isolated,
                key=self._key(values),
            )
        )

    @override
    def __repr__(self) -> str:
        function = self._function
        return f'<Tool {self.qualified_name!r}: {function.__module__}.{function.__qualname__}>'

    def _check_form(self, result: ResultType) -> None:
        """Raise a TypeError if no model could be sent the declared value."""
        class_ = class_without_json(result.value_type) if self._options.validate else None
        if class_ is not None:
            raise TypeError(
                f'{self._function.__qualname__}: a model cannot be sent {class_.__name__}, which '
                'has no JSON form; return the types of JSON, a msgspec Struct, a dataclass, a '
                'TypedDict, a pydantic model or `Content`.'
            )

    def _key(self, values: Mapping[str, object]) -> Hashable | None:
        if self._options.exclusive is None:
            return None
        defaults = {
            name: parameter.default
            for name, parameter in self._parameters.items()
            if not parameter.is_required
        }
        key = self._options.exclusive({**defaults, **values})
        try:
            hash(key)
        except TypeError as error:
            raise TypeError(
                f'exclusive of {self.qualified_name!r} must return a hashable key, such as a '
                f'string or a tuple, not {type(key).__name__}.'
            ) from error
        return key


def _runner(
    function: Callable[..., object], arguments: Mapping[str, object]
) -> Callable[[], object]:
    if not arguments:
        return function
    if all(type(value) in _IMMUTABLE for value in arguments.values()):
        return partial(function, **arguments)
    # Each attempt starts with the same arguments, whatever the one before did to its own.
    return lambda: function(**deepcopy(dict(arguments)))


_IMMUTABLE: Final = frozenset({NoneType, bool, float, int, str})


class _Decorator(Protocol):
    """Decorator that makes a tool of a function; the errors of the tool are those of its result."""

    @overload
    def __call__(  # type: ignore[overload-overlap]  # coroutines first
        self, function: Callable[P, Coroutine[object, Never, Result[T, E]]], /
    ) -> FunctionTool[P, CoroutineType[object, Never, Result[T, E]], E]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]  # results before other values
        self, function: Callable[P, Result[T, E]], /
    ) -> FunctionTool[P, Result[T, E], E]: ...
    @overload
    def __call__(self, function: Callable[P, R]) -> FunctionTool[P, R, Never]: ...


@overload
def tool(  # type: ignore[overload-overlap]  # coroutines first
    function: Callable[P, Coroutine[object, Never, Result[T, E]]], /
) -> FunctionTool[P, CoroutineType[object, Never, Result[T, E]], E]: ...
@overload
def tool(  # type: ignore[overload-overlap]  # results before other values
    function: Callable[P, Result[T, E]], /
) -> FunctionTool[P, Result[T, E], E]: ...
@overload
def tool(function: Callable[P, R], /) -> FunctionTool[P, R, Never]: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    namespace: str | None = None,
    is_repeatable: bool = False,
    isolated: ToolLimits | None = None,
    exclusive: Callable[[Mapping[str, object]], Hashable] | None = None,
    timeout: float | None = None,
    validate: bool = True,
    title: str | None = None,
    is_read_only: bool | None = None,
    is_open_world: bool | None = None,
) -> _Decorator: ...
def tool(function: object = None, /, **options: Any) -> Any:
    """Make a tool of a function or a bound method; `@tool` and `@tool(…)` are decorators.

    The name, the description and the JSON Schema of the tool come from the signature and the
    docstring: its first paragraph describes the tool, and lines `name: text` after it, also in a
    section `Args:`, describe the parameters. A parameter needs a type that msgspec can check.

    >>> @tool
    ... def double(number: int) -> int:
    ...     'Double a number.'
    ...     return 2 * number
    >>> double(21), double.bind({'number': '21'}).failure().reason
    (42, 'must be an integer, not a string')

    Args:
        name: The name for the model, by default that of the function. All providers accept
            letters, digits, `_` and `-`, beginning with a letter or `_`, up to 64 characters.
        description: The description for the model, by default the first paragraph of the docstring.
        namespace: A prefix of the name for the model, `namespace__name`.
        is_repeatable: Whether running the tool twice does no harm. Otherwise a retry repeats only
            what did not begin.
        isolated: Run each call in a process of its own, with these limits.
        exclusive: Returns a key for the arguments, defaults included. Calls with the same key run
            one after the other, in the order of the text.
        timeout: The maximum duration of a call in seconds; it wins over that of the processor.
        validate: Whether each result is checked against the declared type, at any depth. Without
            the check, the result may also be a class without a JSON form.
        title: A name for people, for MCP clients.
        is_read_only: Whether the tool changes nothing, for MCP clients; then it is repeatable.
        is_open_world: Whether the tool reaches other systems, such as the web, for MCP clients.

    Raises:
        TypeError: The name is invalid, a model cannot fill a parameter, the result is of a class
            without a JSON form, or another process cannot import an isolated function.
        ValueError: The timeout is not positive.
    """
    if function is not None:
        return _make_tool(function, _Options(**options))
    return partial(_make_tool, options=_Options(**options))


def _make_tool(function: object, options: _Options) -> FunctionTool[..., Any, Any]:
    if isinstance(function, Tool):
        raise TypeError(f'{function!r} is a tool already; decorate its function once.')
    return FunctionTool(check_function(function), options)
