"""The redaction of what holds other values: one step a kind of container, and no recursion."""

from collections.abc import Callable, Generator, Iterable, Mapping
from copy import copy
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import force_setattr

from seamwise.redaction.in_text import redact_text
from seamwise.redaction.named_values import announced
from seamwise.redaction.scalars import CONTAINER, leaf, masked, object_or_text
from seamwise.redaction.sensitive_names import is_sensitive
from seamwise.secrets import MASK, Secret

CYCLE: Final = '<cycle>'
"""What stands where a container would be inside itself."""

_Step: TypeAlias = Generator[object, object, object]
"""The redaction of one container: yields each part that is a container itself, and is sent that part redacted."""


class Walk:
    """One call of `redact`: the containers that it is in, those that are done, and the names that it has met."""

    def __init__(self) -> None:
        self._inside: set[int] = set()
        self._done: dict[int, object] = {}
        # An id is an object's own only as long as the object lives.
        self._alive: list[object] = []
        self._keys: dict[object, tuple[object, bool]] = {}

    def run(self, part: object) -> object:
        """Redact a container: the steps that wait for an inner one wait in a list, so that no depth is too deep."""
        path: list[tuple[object, _Step]] = []
        while True:
            answer: object = None
            if id(part) in self._inside:
                answer = CYCLE
            elif id(part) in self._done:
                answer = self._done[id(part)]
            else:
                self._inside.add(id(part))
                path.append((part, self._step(part)))
            while path:
                whole, step = path[-1]
                try:
                    part = step.send(answer)
                    break
                except StopIteration as finished:
                    answer = finished.value
                path.pop()
                self._inside.discard(id(whole))
                self._done[id(whole)] = answer
                self._alive.append(whole)
            else:
                return answer

    def _step(self, value: object) -> _Step:
        for kind, step in _STEPS:
            if isinstance(value, kind):
                return step(self, value)
        return self._instance(value)

    def _mapping(self, value: Mapping[object, object]) -> _Step:
        made: dict[object, object] = {}
        another = 1
        for key, one in list(value.items()):
            shown, hides = self._keys.get(key) or self._key(key)
            if shown is CONTAINER:
                shown = _hashable((yield key))
            answer = masked(one) if hides else leaf(one)
            if answer is CONTAINER:
                answer = yield one
            unlike = shown
            while unlike in made:
                # Two keys that held secrets must not become one.
                another += 1
                unlike = f'{shown} ({another})'
            made[unlike] = answer
        return made

    def _sequence(self, value: Iterable[object]) -> Generator[object, object, list[object]]:
        made: list[object] = []
        argument = ''
        for one in list(value):
            answer: object = announced(argument, one) if argument and isinstance(one, str) else None
            argument = one if type(one) is str and one[:1] == '-' else ''
            if answer is None:
                answer = leaf(one)
            if answer is CONTAINER:
                answer = yield one
            made.append(answer)
        return made

    def _tuple(self, value: tuple[object, ...]) -> _Step:
        names: tuple[str, ...] = getattr(value, '_fields', ())
        if not names:
            return tuple((yield from self._sequence(value)))
        made = yield from self._fields(dict(zip(names, value, strict=True)))
        kind: Any = type(value)
        shown: object = kind._make(
            MASK if isinstance(one, Secret) else one for one in made.values()
        )
        return shown

    def _set(self, value: set[object] | frozenset[object]) -> _Step:
        made: set[object] = set()
        for one in list(value):
            answer = leaf(one)
            made.add(_hashable((yield one)) if answer is CONTAINER else answer)
        return frozenset(made) if isinstance(value, frozenset) else made

    def _struct(self, value: msgspec.Struct) -> _Step:
        made = copy(value)
        wire_names = dict(zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True))
        fields = yield from self._fields(
            {name: getattr(value, name) for name in wire_names}, wire_names
        )
        for name, one in fields.items():
            force_setattr(made, name, one)
        if hasattr(value, '__dict__'):
            vars(made).update((yield from self._fields(vars(value))))
        return made

    def _instance(self, value: object) -> _Step:
        try:
            made = object.__new__(type(value))
        except TypeError:
            # Its base is a built-in type that nobody else can make.
            return object_or_text(value)
        for name, one in (yield from self._fields(_state(value))).items():
            object.__setattr__(made, name, one)
        return made

    def _fields(
        self, values: Mapping[str, object], wire_names: Mapping[str, str] | None = None
    ) -> Generator[object, object, dict[str, object]]:
        made: dict[str, object] = {}
        for name, one in values.items():
            hides = self._hides(name) or (wire_names is not None and self._hides(wire_names[name]))
            answer = (
                Secret(MASK) if isinstance(one, Secret) else masked(one) if hides else leaf(one)
            )
            if answer is CONTAINER:
                answer = yield one
            made[name] = answer
        return made

    def _key(self, key: object) -> tuple[object, bool]:
        """Give how a key is shown, and whether it hides its value; a text is judged once in a walk."""
        if not isinstance(key, (str, bytes)):
            return leaf(key), False
        if isinstance(key, str):
            known: tuple[object, bool] = (leaf(key), is_sensitive(key))
        else:
            text = key.decode('latin-1')
            known = (
                (key if redact_text(text) == text else f'<{len(key)} bytes>'),
                is_sensitive(text),
            )
        self._keys[key] = known
        return known

    def _hides(self, name: str) -> bool:
        return (self._keys.get(name) or self._key(name))[1]


_STEPS: tuple[tuple[type, Callable[[Walk, Any], _Step]], ...] = (
    # The dict first: to ask whether something is any mapping takes longer.
    (dict, Walk._mapping),
    (list, Walk._sequence),
    (tuple, Walk._tuple),
    (set, Walk._set),
    (frozenset, Walk._set),
    (msgspec.Struct, Walk._struct),
    (Mapping, Walk._mapping),
)


def _state(value: object) -> Mapping[str, object]:
    given: Any = object.__getstate__(value)
    state: (
        tuple[Mapping[str, object] | None, Mapping[str, object]] | Mapping[str, object] | None
    ) = given
    return {**(state[0] or {}), **state[1]} if isinstance(state, tuple) else state or {}


def _hashable(value: object) -> object:
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value
