"""Hypothesis strategies for errors of every class: extreme texts, planted secrets, causes.

They are made once: to make and validate a strategy takes longer than to draw from it.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from seamwise import Cause, Secret, TaggedError
from seamwise.catalog.access import AccessError
from seamwise.catalog.agents import AgentError
from seamwise.catalog.models import ModelError
from seamwise.catalog.network import NetworkError
from seamwise.catalog.parsing import ParsingError
from seamwise.catalog.protocols import A2aError, LspError, McpError
from seamwise.catalog.sessions import SessionError
from seamwise.catalog.storage import StorageError
from seamwise.catalog.streaming import StreamingError
from seamwise.catalog.tools import FileNotFound, ToolError
from seamwise.catalog.workspace import WorkspaceError
from seamwise.policies import GuardError

PLANTED = 'FAKE-hunter2'
"""A secret that no seam may disclose: in every `Secret`, and in texts with a recognizable form."""

# Spaces separate the credential from its neighbours, which could change its name.
_CREDENTIALS = st.sampled_from(
    [
        f' Authorization: Bearer {PLANTED} ',
        f' https://ann:{PLANTED}@example.org/a ',
        f' password={PLANTED} ',
        f' {{"apiKey": "{PLANTED}"}} ',
    ]
)

few_examples = settings(
    max_examples=4,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
"""For tests of every class: hundreds of examples in all, few of each class."""


def members(*unions: Any) -> tuple[type[TaggedError], ...]:
    """Return the classes of unions, each once, in their order."""
    classes: list[type[TaggedError]] = [
        class_ for union in unions for class_ in get_args(union) or (union,)
    ]
    return tuple(dict.fromkeys(classes))


UNIONS: Mapping[str, Any] = {
    'STREAMING': StreamingError,
    'TOOLS': ToolError,
    'PARSING': ParsingError,
    'NETWORK': NetworkError,
    'MODELS': ModelError,
    'AGENTS': AgentError,
    'MCP': McpError,
    'LSP': LspError,
    'A2A': A2aError,
    'SESSIONS': SessionError,
    'ACCESS': AccessError,
    'STORAGE': StorageError,
    'WORKSPACE': WorkspaceError,
    'GUARDS': GuardError,
}
"""Every union of the catalog, by the name of its tables in each seam."""

EVERY_CLASS = members(*UNIONS.values())


@cache
def texts() -> st.SearchStrategy[str]:
    """Return texts with any characters, also lone surrogates and controls, and with credentials."""
    # Hypothesis uses constants of the source as examples; alone, the secret has no known form.
    anything = st.text(st.characters(categories=None), max_size=40).filter(
        lambda text: PLANTED not in text
    )
    credential = st.tuples(anything, _CREDENTIALS, anything).map(''.join)
    return st.one_of(anything, credential, st.builds(_repeated, anything, st.integers(30, 400)))


def _repeated(text: str, times: int) -> str:
    return (text or 'x') * times


@cache
def secrets() -> st.SearchStrategy[Secret[Any]]:
    return st.sampled_from([PLANTED, [PLANTED], {'a': PLANTED}, PLANTED.encode(), None]).map(Secret)


@cache
def causes() -> st.SearchStrategy[TaggedError | BaseException]:
    classes = [OSError, ValueError, RuntimeError, KeyError, FileNotFound]
    return st.one_of([st.builds(class_, texts(), texts()) for class_ in classes])


@cache
def values(annotation: Any) -> st.SearchStrategy[Any]:
    """Return values of an annotation."""
    if annotation in _PLAIN:
        return _PLAIN[annotation]()
    origin, arguments = get_origin(annotation) or annotation, get_args(annotation)
    if origin in {Union, UnionType}:
        return st.one_of(*map(values, arguments))
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple and Ellipsis not in arguments:
        return st.tuples(*map(values, arguments))
    if origin is tuple:
        return st.lists(values(arguments[0]), max_size=3).map(_as_tuple)
    return secrets() if origin is Secret else structs(annotation)


def _as_tuple(members: list[Any]) -> tuple[Any, ...]:
    return tuple(members)


_PLAIN: Mapping[object, Callable[[], st.SearchStrategy[Any]]] = {
    str: texts,
    object: texts,
    int: st.integers,
    float: st.floats,
    bool: st.booleans,
    type(None): st.none,
    datetime: lambda: st.datetimes(timezones=st.just(UTC)),
    Cause: causes,
}


@cache
def structs(class_: type[Any]) -> st.SearchStrategy[Any]:
    """Return instances of a Struct or an error class with values for all fields."""
    fields = {
        name: values(hint)
        for name, hint in get_type_hints(class_).items()
        if name in class_.__struct_fields__
    }
    if 'retry_after' in fields:
        fields['retry_after'] = (
            st.floats(0, 1e6)
            if get_type_hints(class_)['retry_after'] is float
            else st.floats(0, 1e6) | st.none()
        )
    return st.builds(class_, **fields)


@cache
def errors(*unions: Any) -> st.SearchStrategy[TaggedError]:
    """Return errors of any class of the unions, by default of the whole catalog."""
    return st.one_of(*map(structs, members(*unions) if unions else EVERY_CLASS))
