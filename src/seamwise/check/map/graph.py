"""The graph of a program: functions and seams, and the errors that travel between them.

It is also the shape of the map in JSON, whose fields are in `docs/check/map.md`.
"""

from typing import Literal, TypeAlias

from msgspec import Struct

Fate: TypeAlias = Literal['passes', 'handled', 'lost']
"""What becomes of errors in a function: they go on to its callers, something handles them, or nobody looks at them."""


class Place(Struct, frozen=True, order=True):
    """Where something stands; `path` is relative to the current directory, `line` counts from 1."""

    path: str
    line: int


class Error(Struct, frozen=True):
    """A class of errors by its full name; `place` is None where it comes from code that was not read."""

    name: str
    tag: str
    category: str | None = None
    place: Place | None = None


class Function(Struct, frozen=True):
    """A function or method by its full name, and what comes out of it; `place` is None where it is foreign: it was not read."""

    name: str
    module: str
    """Empty where it is foreign."""
    errors: tuple[str, ...] = ()
    place: Place | None = None


class Table(Struct, frozen=True):
    """An adapter of a seam, and what it shows; `name` is empty where it is used at once."""

    name: str
    errors: tuple[str, ...]
    place: Place


class Seam(Struct, frozen=True):
    """A seam, and its tables."""

    name: str
    tables: tuple[Table, ...] = ()


class Make(Struct, frozen=True):
    """Errors that a function makes, and what becomes of them there."""

    function: str
    errors: tuple[str, ...]
    places: tuple[Place, ...]
    fate: Fate = 'passes'


class Call(Struct, frozen=True):
    """Errors that travel from a function to one that calls it, and what becomes of them in the caller."""

    callee: str
    caller: str
    errors: tuple[str, ...]
    places: tuple[Place, ...]
    fate: Fate = 'passes'


class Override(Struct, frozen=True):
    """Errors that travel from a method to the one of a base class in whose place it stands: a call of that one may reach it."""

    method: str
    base: str
    errors: tuple[str, ...]
    places: tuple[Place, ...]


class Show(Struct, frozen=True):
    """Errors that a function hands to a seam."""

    function: str
    seam: str
    errors: tuple[str, ...]
    places: tuple[Place, ...]


class Graph(Struct, frozen=True):
    """A map. Everything is sorted by name, and nothing in it is there twice."""

    errors: tuple[Error, ...] = ()
    functions: tuple[Function, ...] = ()
    seams: tuple[Seam, ...] = ()
    makes: tuple[Make, ...] = ()
    calls: tuple[Call, ...] = ()
    overrides: tuple[Override, ...] = ()
    shows: tuple[Show, ...] = ()
