"""What one file says about failures, in plain values: they can be kept, and joined over a whole program.

Functions, classes and errors go by their full names, as in `shop.orders.NoSuchOrder`; a function inside of a function is
`shop.orders.outer.inner`.
"""

from typing import Literal

from msgspec import Struct


class Location(Struct, frozen=True):
    """Where something stands in its file."""

    line: int
    """From 1, as `column`, which counts characters."""
    column: int
    last_line: int
    """Where the statement or expression ends; of one with a body, where its head ends."""
    end_column: int
    """Behind the last character of it in its first line."""
    source: str
    """The first line."""


class Edit(Struct, frozen=True):
    """A piece of a file, and what is to stand in its place."""

    line: int
    """Where it begins: from 1; columns from 0, in characters."""
    column: int
    last_line: int
    end_column: int
    old: str
    """What stood there when it was read: an edit of anything else is none."""
    new: str


class RuleHit(Struct, frozen=True):
    """What a rule says of a place in the file."""

    code: str
    place: Location
    message: str
    help: str
    edits: tuple[Edit, ...] = ()
    """What mends it, where that is safe."""


class Entry(Struct, frozen=True):
    """A place where errors come into a function: a call that gives them, or a failure that it makes itself."""

    place: Location
    callee: str
    """Who gives them; empty where the function makes them itself."""
    errors: tuple[str, ...]
    ended: tuple[str, ...] = ()
    """Those that are handled here, by an arm, a `catch`, an adapter."""
    lost: tuple[str, ...] = ()
    """Those that nobody here looks at, and that go no further."""


class SeamUse(Struct, frozen=True):
    """A place where a function hands errors to a seam."""

    place: Location
    seam: str
    """Its name, as in `http`."""
    errors: tuple[str, ...]


class FunctionFacts(Struct, frozen=True):
    """A function or method: what it says can come out of it, what really can, and where that comes from."""

    name: str
    place: Location
    declared: tuple[str, ...] | None = None
    """Its declared channel; None where it gives no Result, or does not say which."""
    inferred: tuple[str, ...] | None = None
    """What really can come out, when each callee is taken at its word; None where nobody can say."""
    entries: tuple[Entry, ...] = ()
    shows: tuple[SeamUse, ...] = ()
    overrides: tuple[str, ...] = ()
    """The methods of base classes in whose place it stands."""
    unmade: tuple[str, ...] = ()
    """The errors that it declares by name, and that nothing in it brings."""
    exact: tuple[Edit, ...] = ()
    """What takes those out of its annotation, where that can be done safely."""


class ClassFacts(Struct, frozen=True):
    """A class of errors."""

    name: str
    place: Location
    tag: str
    category: str | None = None
    """The name of its category, as in `NOT_FOUND`; None where it cannot be read."""
    retryable: bool | None = None
    """Whether it is worth another try; None where each instance says so by itself, or it cannot be read."""


class SeamFacts(Struct, frozen=True):
    """An adapter: the errors that one seam shows."""

    name: str
    """The full name that it is kept under."""
    seam: str
    place: Location
    errors: tuple[str, ...]
    """Those with an arm that shows them; a hidden one is shown nowhere."""


class GuardLayer(Struct, frozen=True):
    """One layer of a guard, or another guard that stands there by its name."""

    kind: Literal['retry', 'other', 'named']
    name: str = ''
    """Of one that is named elsewhere, its full name."""
    errors: tuple[str, ...] = ()
    """What it can fail with itself."""


class GuardFacts(Struct, frozen=True):
    """A guard under a name, its layers from the outside in."""

    name: str
    layers: tuple[GuardLayer, ...] | None
    """None where nobody can say."""


class GuardedCall(Struct, frozen=True):
    """A place where a guard stands around an operation."""

    place: Location
    """The call of `run`, or the decorator."""
    layers: tuple[GuardLayer, ...] | None
    """None where nobody can say what the guard is."""
    errors: tuple[str, ...] | None
    """What the operation fails with; None where nobody can say."""
    own: tuple[str, ...]
    """What the guard itself fails with."""
    function: str = ''
    """The function that it decorates; empty at a call of `run`."""


class DefaultedError(Struct, frozen=True):
    """A place where a failure becomes a value, and nobody has looked at the error."""

    place: Location
    errors: tuple[str, ...]


class Suppression(Struct, frozen=True):
    """`# seamwise: allow[SW101] reason`."""

    line: int
    codes: frozenset[str]
    reason: str
    stands_alone: bool
    """Whether it has a line of its own, and so speaks of the line below."""


class FileFacts(Struct, frozen=True):
    """One file."""

    module: str
    path: str
    """Relative to the current directory."""
    told: tuple[RuleHit, ...] = ()
    """What the rules say that need to see no other file."""
    allowances: tuple[Suppression, ...] = ()
    functions: tuple[FunctionFacts, ...] = ()
    classes: tuple[ClassFacts, ...] = ()
    seams: tuple[SeamFacts, ...] = ()
    guards: tuple[GuardFacts, ...] = ()
    guarded: tuple[GuardedCall, ...] = ()
    defaulted: tuple[DefaultedError, ...] = ()
    makes: frozenset[str] = frozenset()
    """The error classes that are made here, or handed to others who make them."""
    decides: frozenset[str] = frozenset()
    """The error classes that an arm, a `catch` or an adapter here decides about."""
