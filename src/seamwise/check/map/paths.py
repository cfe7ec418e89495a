"""The ways of one error from where it begins to where it ends, as a tree: the shortest first, and no function twice."""

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from seamwise.check.map.graph import Fate, Place
from seamwise.check.map.traces import Trail

Kind: TypeAlias = Literal[
    'made', 'unmade', 'called', 'overridden', 'shown', 'handled', 'lost', 'out', 'again', 'cycle'
]

ENDS: tuple[Fate, ...] = ('handled', 'lost')


class Stop(Struct, frozen=True):
    """A station on the way of an error.

    `made` and `unmade` begin one, `called` and `overridden` go on; `shown`, `handled`, `lost` (nobody looks at it) and `out` (nobody
    here calls the function) end it. `again` and `cycle` end only the telling: what follows is told already, or on the way to here.
    """

    kind: Kind
    name: str
    """Of the function; of a seam, where it is shown."""
    depth: int
    """How many times the way has parted before."""
    places: tuple[Place, ...] = ()


class _Ask(Struct, frozen=True):
    """A function that is still to be told of, and how the error comes there."""

    kind: Kind
    name: str
    places: tuple[Place, ...]
    fate: Fate = 'passes'


def ways(trail: Trail) -> Iterator[Stop]:
    """Tell the ways of an error, stop by stop: whatever follows from a stop comes next, and what is as deep is another way."""
    return _Teller(trail).told()


class _Teller:
    def __init__(self, trail: Trail) -> None:
        self._trail = trail
        self._lengths: Mapping[str, float] = trail.lengths()
        self._told: set[str] = set()
        self._open: set[str] = set()

    def told(self) -> Iterator[Stop]:
        trail = self._trail
        begin = [_Ask('made', one, _places(trail, one, 'passes')) for one in trail.makers()]
        begin.sort(key=self._order)
        for one in begin:
            yield from self._way(one)
        for one in sorted((_Ask('unmade', one, ()) for one in trail.unmade()), key=self._order):
            yield from self._way(one)
        for name in sorted(trail.makes):
            for fate in ENDS:
                if places := _places(trail, name, fate):
                    yield Stop('made', name, 0, places)
                    yield from self._ended(name, 0, fate)

    def _order(self, one: _Ask) -> tuple[float, str, str]:
        return (-1 if one.fate != 'passes' else self._lengths[one.name]), one.name, one.fate

    def _way(self, begin: _Ask) -> Iterator[Stop]:
        """Go down without recursion: a chain may be longer than Python's stack."""
        waiting: list[tuple[_Ask | None, str, int]] = [(begin, begin.name, 0)]
        while waiting:
            one, name, depth = waiting.pop()
            if one is None:
                self._open.discard(name)
                continue
            yield Stop(one.kind, name, depth, one.places)
            if one.fate != 'passes':
                yield from self._ended(name, depth, one.fate)
                continue
            if name in self._told:
                yield Stop(self._again(name), name, depth)
                continue
            self._told.add(name)
            self._open.add(name)
            waiting.append((None, name, depth))
            following = self._following(name)
            shown = self._trail.shows.get(name, [])
            deeper = depth + (len(following) + len(shown) > 1)
            for show in shown:
                yield Stop('shown', show.seam, deeper, show.places)
            if not following and not shown:
                yield Stop('out', name, depth)
            waiting.extend((ask, ask.name, deeper) for ask in reversed(following))

    def _again(self, name: str) -> Kind:
        if name in self._open:
            return 'cycle'
        trail = self._trail
        return (
            'again'
            if trail.calls.get(name) or trail.overrides.get(name) or trail.shows.get(name)
            else 'out'
        )

    def _following(self, name: str) -> list[_Ask]:
        calls = [
            _Ask('called', one.caller, one.places, one.fate)
            for one in self._trail.calls.get(name, ())
        ]
        bases = [
            _Ask('overridden', one.base, one.places) for one in self._trail.overrides.get(name, ())
        ]
        return sorted([*calls, *bases], key=self._order)

    def _ended(self, name: str, depth: int, fate: Fate) -> Iterator[Stop]:
        """Tell of the end in a function: what is handled in one that has seams is shown there."""
        if fate == 'lost':
            yield Stop('lost', name, depth)
            return
        shown = self._trail.shows.get(name)
        if not shown:
            yield Stop('handled', name, depth)
            return
        for show in shown:
            yield Stop('shown', show.seam, depth + (len(shown) > 1), show.places)


def _places(trail: Trail, name: str, fate: Fate) -> tuple[Place, ...]:
    return tuple(
        sorted({place for one in trail.makes[name] if one.fate == fate for place in one.places})
    )
