"""Propagation of exceptions through a call graph, from `raise` to handler."""

from collections import deque
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

from seamwise.check.inference.exception_flow.sites import (
    CallSite,
    CodeUnit,
    ExceptionClass,
    Handler,
    RaiseSite,
    catching_handler,
)

_CONSTRUCTORS = ('__init__', '__new__', '__post_init__')
"""Methods that run when a class is called."""


class CatchSite(Struct, frozen=True, eq=False):
    """A handler that stops an exception, and the function that contains it."""

    unit: CodeUnit
    handler: Handler


class ExceptionPath(Struct, frozen=True, eq=False):
    """Propagation of one class of exceptions."""

    raisers: tuple[CodeUnit, ...]
    """The functions that raise it."""
    propagators: tuple[CodeUnit, ...]
    """The functions that it leaves, including those that raise it."""
    catch_sites: tuple[CatchSite, ...]
    may_escape: bool
    """Whether it leaves a function without callers in this code."""

    @property
    def functions(self) -> tuple[CodeUnit, ...]:
        """All functions that raise, propagate or catch it, without top-level code."""
        catchers = (site.unit for site in self.catch_sites)
        units = dict.fromkeys((*self.raisers, *self.propagators, *catchers))
        return tuple(unit for unit in units if unit.node is not None)


class CallGraph:
    """Calls in a whole program, and the exception handlers around them."""

    def __init__(self, units: Sequence[CodeUnit], *, decorated: AbstractSet[CodeUnit]) -> None:
        """Build the graph.

        Args:
            units: The functions and the top-level code of all files.
            decorated: The functions with a decorator that converts all exceptions.
        """
        self.units = units
        self.functions = tuple(unit for unit in units if unit.node is not None)
        wrapped = {name for unit in units for name in unit.wrapped}
        self._never_raising = decorated | {unit for unit in units if unit.name in wrapped}
        self._calls: dict[str, list[tuple[CodeUnit, CallSite]]] = {}
        """Calls by the name of the called function."""
        names = {unit.name for unit in units}
        overrides: dict[str, list[str]] = {}
        for unit in units:
            for overridden in unit.overridden:
                overrides.setdefault(overridden, []).append(unit.name)
        for unit in units:
            for call in unit.calls:
                constructors = [f'{call.callee}.{name}' for name in _CONSTRUCTORS]
                callees = {call.callee, *constructors, *overrides.get(call.callee, ())}
                for name in callees & names:
                    self._calls.setdefault(name, []).append((unit, call))

    def callers(self, unit: CodeUnit) -> Iterator[CodeUnit]:
        """Yield the functions that call a function, each once."""
        yield from dict.fromkeys(caller for caller, _ in self._calls.get(unit.name, ()))

    def path(self, raisers: Sequence[CodeUnit], exception: ExceptionClass) -> ExceptionPath:
        """Follow an exception class from the functions that raise it to its handlers."""
        queue: deque[tuple[CodeUnit, RaiseSite | CallSite]] = deque(
            (unit, site) for unit in raisers for site in unit.raises if site.exception == exception
        )
        propagators: dict[CodeUnit, None] = {}
        catch_sites: dict[Handler, CatchSite] = {}
        while queue:
            unit, site = queue.popleft()
            handler = catching_handler(site.handlers, exception)
            if handler is not None:
                catch_sites[handler] = CatchSite(unit, handler)
            elif unit not in propagators and unit not in self._never_raising:
                propagators[unit] = None
                queue += self._calls.get(unit.name, ())
        may_escape = any(not self._calls.get(unit.name) for unit in propagators)
        return ExceptionPath(
            tuple(raisers), tuple(propagators), tuple(catch_sites.values()), may_escape
        )
