"""The way of an exception: through which functions it passes, and where it ends."""

from collections import deque
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

from seamwise.check.adoption.exceptions import Calling, Handler, Raisable, Raising, Unit

MADE_BY = ('__init__', '__new__', '__post_init__')
"""What a class calls of its own where it is called."""


class Ending(Struct, frozen=True, eq=False):
    """A handler that an exception goes no further than."""

    unit: Unit
    handler: Handler


class Way(Struct, frozen=True, eq=False):
    """Where an exception goes from where it is raised."""

    starts: tuple[Unit, ...]
    """The functions that raise it."""
    passes: tuple[Unit, ...]
    """Those that let it out, of those that raise it too."""
    ends: tuple[Ending, ...]
    is_loose: bool
    """Whether some of it comes out of a function that nobody here calls."""

    @property
    def touched(self) -> tuple[Unit, ...]:
        """All functions that know of it, by a `raise`, a handler, or by letting it through; a file as it is imported is none."""
        found = dict.fromkeys((*self.starts, *self.passes, *(one.unit for one in self.ends)))
        return tuple(one for one in found if one.node is not None)


class Ways:
    """Who calls whom in a whole program, and what is caught on the way."""

    def __init__(self, units: Sequence[Unit], *, wrapped: AbstractSet[Unit]) -> None:
        """Join the functions of all files; a decorator lets no exception out of those in `wrapped`."""
        self.units = units
        self.functions = tuple(one for one in units if one.node is not None)
        handed = {name for one in units for name in one.hands}
        self._wrapped = wrapped | {one for one in units if one.name in handed}
        self._callers: dict[str, list[tuple[Unit, Calling]]] = {}
        names = {one.name for one in units}
        replacing: dict[str, list[str]] = {}
        for unit in units:
            for replaced in unit.replaces:
                replacing.setdefault(replaced, []).append(unit.name)
        for unit in units:
            for call in unit.calls:
                made = [f'{call.callee}.{one}' for one in MADE_BY]
                for name in {call.callee, *made, *replacing.get(call.callee, ())} & names:
                    self._callers.setdefault(name, []).append((unit, call))

    def callers(self, unit: Unit) -> Iterator[Unit]:
        """Give the functions that call one, each once."""
        yield from dict.fromkeys(caller for caller, _ in self._callers.get(unit.name, ()))

    def way(self, starts: Sequence[Unit], kind: Raisable) -> Way:
        """Follow a kind of exception from the functions that raise it."""
        waiting: deque[tuple[Unit, Raising | Calling]] = deque(
            (one, raised) for one in starts for raised in one.raises if raised.kind == kind
        )
        passes: dict[Unit, None] = {}
        ends: dict[Handler, Ending] = {}
        while waiting:
            unit, source = waiting.popleft()
            handler = _taken(source, kind)
            if handler is not None:
                ends[handler] = Ending(unit, handler)
            elif unit not in passes and unit not in self._wrapped:
                passes[unit] = None
                waiting += self._callers.get(unit.name, ())
        is_loose = any(not self._callers.get(one.name) for one in passes)
        return Way(tuple(starts), tuple(passes), tuple(ends.values()), is_loose)


def _taken(source: Raising | Calling, kind: Raisable) -> Handler | None:
    """Give the handler where an exception ends, if there is one around its place."""
    for handlers in source.nets:
        handler = next((one for one in handlers if one.takes_kind(kind)), None)
        if handler is not None and not handler.hands_on:
            return handler
    return None
