"""Hypothesis strategies for error classes; importing this module imports Hypothesis."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from hypothesis import reject
from hypothesis import strategies as st
from msgspec import Meta, Struct
from typing_extensions import TypeForm

from _seamwise_hypothesisplugin import register
from seamwise._errors.causes import Cause
from seamwise._errors.errors import MAX_DELAY, TaggedError
from seamwise._results.containers import Failure, Success
from seamwise._text.secrets import Secret
from seamwise.catalog.storage import RecordNotFound
from seamwise.testing.unions import members

E = TypeVar('E')

MAX_ITEMS = 3
"""Maximum length of a generated tuple or frozenset."""


_WRAPPERS: frozenset[object] = frozenset({Success, Failure})


def errors_of(union: TypeForm[E], /) -> st.SearchStrategy[E]:
    """Return a strategy for the errors of a class or a union; see `seamwise.testing.errors_of`."""
    kinds = members(union)
    if not kinds:
        raise TypeError(f'{union!r} has no errors.')
    for kind in kinds:
        if kind is TaggedError or not issubclass(kind, TaggedError):
            raise TypeError(
                f'Expected a class of tagged errors or a union of them, not {kind.__name__}.'
            )
    strategies: list[st.SearchStrategy[Any]] = [st.from_type(kind) for kind in kinds]
    strategy: st.SearchStrategy[Any] = st.one_of(strategies)
    return strategy


def causes() -> st.SearchStrategy[TaggedError | BaseException]:
    """Return a strategy for causes: common exceptions, and one tagged error."""
    exceptions = (OSError, ValueError, RuntimeError, KeyError)
    return st.one_of(
        *[st.builds(exception, st.text(max_size=20)) for exception in exceptions],
        st.builds(RecordNotFound, st.text(max_size=20), st.text(max_size=20)),
    )


@cache
def instances(alias: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for a Struct or an error class; a generic one may have arguments.

    Raises:
        TypeError: An annotation cannot be resolved at run time.
    """
    class_: type[Any] = get_origin(alias) or alias
    try:
        hints = get_type_hints(class_, include_extras=True)
    except NameError as error:
        raise TypeError(
            f'{class_.__name__}: the name {error.name!r} in its annotations is unknown at run '
            f'time. Import it outside TYPE_CHECKING, or pass a strategy to '
            f'hypothesis.strategies.register_type_strategy({class_.__name__}, …).'
        ) from error
    parameters: tuple[Any, ...] = getattr(class_, '__parameters__', ())
    arguments = dict(zip(parameters, get_args(alias), strict=False))
    fields = {
        name: _field(class_, name, _substitute(hints[name], arguments))
        for name in class_.__struct_fields__
    }
    return st.fixed_dictionaries(fields).map(lambda values: _build(class_, values))


def _build(class_: type[Any], fields: Mapping[str, object]) -> object:
    try:
        return class_(**fields)
    except ValueError:
        reject()


def _field(class_: type[Any], name: str, annotation: Any) -> st.SearchStrategy[Any]:
    if name != 'retry_after' or not issubclass(class_, TaggedError):
        return values(annotation)
    delays: st.SearchStrategy[Any] = st.floats(0.0, MAX_DELAY)
    if annotation is int:
        delays = st.integers(0, int(MAX_DELAY))
    return delays | st.none() if type(None) in get_args(annotation) else delays


def _substitute(annotation: Any, arguments: Mapping[Any, Any]) -> Any:
    """Replace the type variables of an annotation by the arguments of a generic class."""
    if isinstance(annotation, TypeVar):
        return arguments.get(annotation, annotation)
    parameters: tuple[Any, ...] = getattr(annotation, '__parameters__', ())
    if isinstance(annotation, type) or not parameters:
        return annotation
    return annotation[tuple(arguments.get(parameter, parameter) for parameter in parameters)]


def values(  # noqa: C901, PLR0911 -- one case per form
    annotation: Any,
) -> st.SearchStrategy[Any]:
    """Return a strategy for the values of a field.

    Floats are finite, because an error with nan is not equal to itself, and JSON has no infinity.
    """
    origin, arguments = get_origin(annotation) or annotation, get_args(annotation)
    if origin is Annotated:
        return _constrained(arguments[0], arguments[1:])
    if origin in {Union, UnionType}:
        return st.one_of([*map(values, arguments)])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is float:
        return st.floats(allow_nan=False, allow_infinity=False)
    if origin is object or origin is Any:
        return st.none() | st.booleans() | st.integers() | st.text()
    if isinstance(origin, TypeVar):
        return _of_type_variable(origin)
    if origin is Secret:
        return values(arguments[0] if arguments else str).map(Secret)
    if origin in _WRAPPERS:
        return values(arguments[0] if arguments else object).map(origin)
    if origin in {tuple, frozenset} and arguments:
        return _items(origin, arguments)
    if isinstance(origin, type) and issubclass(origin, Struct):
        return _reference(annotation)
    return st.from_type(annotation)


@cache
def _reference(annotation: Any) -> st.SearchStrategy[Any]:
    # Deferred, because an error can contain errors of its own class; and one object for each class,
    # because Hypothesis detects a recursion by the identity of a strategy.
    return st.deferred(lambda: instances(annotation))


def _of_type_variable(variable: TypeVar) -> st.SearchStrategy[Any]:
    if variable.__constraints__:
        return st.one_of([values(kind) for kind in variable.__constraints__])
    return values(variable.__bound__ or object)


def _items(origin: Any, arguments: Sequence[Any]) -> st.SearchStrategy[Any]:
    if origin is frozenset:
        return st.frozensets(values(arguments[0]), max_size=MAX_ITEMS)
    if len(arguments) == 2 and arguments[1] is Ellipsis:  # noqa: PLR2004 -- `tuple[T, ...]`
        return st.lists(values(arguments[0]), max_size=MAX_ITEMS).map(tuple)
    return st.tuples(*map(values, arguments))


def _constrained(annotation: Any, metadata: Sequence[object]) -> st.SearchStrategy[Any]:
    """Return a strategy for an annotation within the bounds of `msgspec.Meta`."""
    strategy = values(annotation)
    for meta in metadata:
        if not isinstance(meta, Meta):
            continue
        if annotation is int and (meta.ge is not None or meta.le is not None):
            strategy = st.integers(_whole(meta.ge), _whole(meta.le))
        elif annotation is float and (meta.ge is not None or meta.le is not None):
            strategy = st.floats(meta.ge, meta.le, allow_nan=False, allow_infinity=False)
        elif annotation is str and meta.pattern is not None:
            strategy = st.from_regex(meta.pattern)
        elif annotation is str and (meta.min_length is not None or meta.max_length is not None):
            strategy = st.text(min_size=meta.min_length or 0, max_size=meta.max_length)
        strategy = strategy.filter(partial(_is_within, meta))
    return strategy


def _whole(bound: float | None) -> int | None:
    return None if bound is None else int(bound)


def _is_within(meta: Meta, value: Any) -> bool:
    return (
        (meta.gt is None or value > meta.gt)
        and (meta.ge is None or value >= meta.ge)
        and (meta.lt is None or value < meta.lt)
        and (meta.le is None or value <= meta.le)
        and (meta.multiple_of is None or value % meta.multiple_of == 0)
        and (meta.min_length is None or len(value) >= meta.min_length)
        and (meta.max_length is None or len(value) <= meta.max_length)
    )


def strategy_for(type_: Any) -> st.SearchStrategy[Any]:
    """Return the strategy that Hypothesis uses for a type of seamwise, or an error class."""
    if type_ is Cause:
        return causes()
    origin: Any = get_origin(type_) or type_
    return values(type_) if origin is Secret or origin in _WRAPPERS else instances(type_)


register()
