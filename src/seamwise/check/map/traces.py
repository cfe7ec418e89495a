"""The trail of one error: where it is made, whither it travels, and where it ends."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from math import inf

from msgspec import Struct

from seamwise.check.map.graph import Call, Fate, Graph, Make, Override, Show


class Towards(Struct, frozen=True):
    """The functions on the ways of an error to a seam: those that hand it over, and those from which it goes on to them."""

    showing: set[str]
    passing: set[str]

    def met(self, fate: Fate) -> set[str]:
        """Give those in which an error of a fate is on such a way."""
        return {'passes': self.passing, 'handled': self.showing, 'lost': set[str]()}[fate]


class Trail:
    """All that a graph says of one error."""

    def __init__(self) -> None:
        self.makes: defaultdict[str, list[Make]] = defaultdict(list)
        """By the function that makes it; so are those below."""
        self.calls: defaultdict[str, list[Call]] = defaultdict(list)
        """By the function that is called."""
        self.overrides: defaultdict[str, list[Override]] = defaultdict(list)
        """By the method that stands in the place of another."""
        self.shows: defaultdict[str, list[Show]] = defaultdict(list)
        self.out: set[str] = set()
        """The functions that it comes out of."""

    @property
    def is_empty(self) -> bool:
        """Whether nobody makes, names or shows the error."""
        return not (self.makes or self.calls or self.shows or self.out)

    def seams(self) -> tuple[str, ...]:
        """Name the seams that it arrives at."""
        return tuple(sorted({one.seam for shows in self.shows.values() for one in shows}))

    def handled(self) -> tuple[Make | Call, ...]:
        """Give where it ends and is shown by no seam."""
        makes = [one for every in self.makes.values() for one in every]
        calls = [one for every in self.calls.values() for one in every]
        return tuple(
            one
            for one in chain[Make | Call](makes, calls)
            if one.fate == 'handled' and not self.is_shown(one)
        )

    def is_shown(self, end: Make | Call) -> bool:
        """Whether a function in which the error ends hands it to a seam."""
        return bool(self.shows.get(end.function if isinstance(end, Make) else end.caller))

    def makers(self) -> tuple[str, ...]:
        """Name the functions that make the error and let it go on."""
        return tuple(
            sorted(
                one
                for one, makes in self.makes.items()
                if any(make.fate == 'passes' for make in makes)
            )
        )

    def unmade(self) -> tuple[str, ...]:
        """Name the functions that have the error from nobody known: foreign ones, and those that say what nobody here makes.

        Of a cycle that nothing leads into, one function is named.
        """
        reached = set(_walk(self.makers(), self.after))
        ended = {
            call.caller for calls in self.calls.values() for call in calls if call.fate == 'handled'
        }
        ended |= {
            one
            for one, makes in self.makes.items()
            if any(make.fate == 'handled' for make in makes)
        }
        here = self.calls.keys() | self.overrides.keys() | self.out | (self.shows.keys() - ended)
        others = sorted(here - reached)
        before = self.before()
        found = [one for one in others if one not in before]
        reached |= _walk(found, self.after).keys()
        for one in others:
            if one not in reached:
                found.append(one)
                reached |= _walk([one], self.after).keys()
        return tuple(found)

    def after(self, function: str) -> tuple[str, ...]:
        """Name the functions that have the error from one, and let it go on."""
        calls = [one.caller for one in self.calls.get(function, ()) if one.fate == 'passes']
        return (*calls, *(one.base for one in self.overrides.get(function, ())))

    def before(self) -> Mapping[str, set[str]]:
        """Give for each function those that it has the error from, where that does not end in it."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for one in self.calls.keys() | self.overrides.keys():
            for after in self.after(one):
                found[after].add(one)
        return found

    def lengths(self) -> Mapping[str, float]:
        """Give for each function how many calls lie between it and the nearest end, be it a seam, a handler or the last caller."""
        last = [
            one for one, calls in self.calls.items() if any(call.fate != 'passes' for call in calls)
        ]
        open_ends = [
            one for one in self.out if not self.calls.get(one) and not self.overrides.get(one)
        ]
        return defaultdict(lambda: inf, _distances([*last, *open_ends, *self.shows], self.before()))

    def towards(self, seam: str) -> Towards:
        """Say which functions lie on the ways to a seam."""
        showing = {
            function
            for function, shows in self.shows.items()
            if any(one.seam == seam for one in shows)
        }
        # What ends in such a function, ends at the seam.
        last = [
            callee
            for callee, calls in self.calls.items()
            if any(call.caller in showing and call.fate != 'lost' for call in calls)
        ]
        return Towards(showing, set(_distances([*last, *showing], self.before())))

    def sources(self, seam: str) -> tuple[str, ...]:
        """Name the functions where ways begin that end at a seam."""
        towards = self.towards(seam)
        begin = {*self.makers(), *self.unmade()} & towards.passing
        return tuple(
            sorted(
                begin
                | {
                    one
                    for one in towards.showing
                    if any(make.fate == 'handled' for make in self.makes.get(one, ()))
                }
            )
        )


def trails(graph: Graph) -> Mapping[str, Trail]:
    """Give the trail of every error, by its full name."""
    found: dict[str, Trail] = {one.name: Trail() for one in graph.errors}
    for make in graph.makes:
        for error in make.errors:
            found[error].makes[make.function].append(make)
    for call in graph.calls:
        for error in call.errors:
            found[error].calls[call.callee].append(call)
    for override in graph.overrides:
        for error in override.errors:
            found[error].overrides[override.method].append(override)
    for show in graph.shows:
        for error in show.errors:
            found[error].shows[show.function].append(show)
    for function in graph.functions:
        for error in function.errors:
            found[error].out.add(function.name)
    return found


def _distances(functions: Iterable[str], before: Mapping[str, set[str]]) -> dict[str, int]:
    return _walk(functions, lambda one: before.get(one, ()))


def _walk(functions: Iterable[str], on: Callable[[str], Iterable[str]]) -> dict[str, int]:
    """Go on from functions, each one met once, and give how far each one is."""
    found = dict.fromkeys(functions, 0)
    waiting = deque(found)
    while waiting:
        one = waiting.popleft()
        for following in on(one):
            if following not in found:
                found[following] = found[one] + 1
                waiting.append(following)
    return found
