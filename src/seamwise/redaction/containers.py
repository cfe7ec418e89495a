"""Redaction of containers with one generator per container, without recursion."""

from collections.abc import Callable, Generator, Iterable, Mapping
from copy import copy
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import force_setattr

from seamwise.redaction.in_text import redact_text
from seamwise.redaction.named_values import mask_after_flag
from seamwise.redaction.scalars import CONTAINER, mask_value, object_or_text, redact_scalar
from seamwise.redaction.sensitive_names import is_sensitive
from seamwise.secrets import MASK, Secret

CYCLE: Final = '<cycle>'
"""Replacement for a container inside itself."""

_Step: TypeAlias = Generator[object, object, object]
"""Redaction of one container: yields each part that is a container, receives it redacted."""


class ContainerRedaction:
    """State of one call of `redact`: open containers, finished containers and names."""

    def __init__(self) -> None:
        self._open: set[int] = set()
        self._done: dict[int, object] = {}
        # Keeps the objects alive: the id of a deleted object can be reused.
        self._alive: list[object] = []
        self._keys: dict[object, tuple[object, bool]] = {}

    def run(self, part: object) -> object:
        """Redact a container. The open steps are in a list, so that the depth is unlimited."""
        path: list[tuple[object, _Step]] = []
        while True:
            redacted: object = None
            if id(part) in self._open:
                redacted = CYCLE
            elif id(part) in self._done:
                redacted = self._done[id(part)]
            else:
                self._open.add(id(part))
                path.append((part, self._step(part)))
            while path:
                container, step = path[-1]
                try:
                    part = step.send(redacted)
                    break
                except StopIteration as finished:
                    redacted = finished.value
                path.pop()
                self._open.discard(id(container))
                self._done[id(container)] = redacted
                self._alive.append(container)
            else:
                return redacted

    def _step(self, value: object) -> _Step:
        for type_, step in _STEPS:
            if isinstance(value, type_):
                return step(self, value)
        return self._instance(value)

    def _mapping(self, value: Mapping[object, object]) -> _Step:
        result: dict[object, object] = {}
        copy_number = 1
        for key, item in list(value.items()):
            safe_key, is_secret = self._keys.get(key) or self._redact_key(key)
            if safe_key is CONTAINER:
                safe_key = _hashable((yield key))
            redacted = mask_value(item) if is_secret else redact_scalar(item)
            if redacted is CONTAINER:
                redacted = yield item
            unique_key = safe_key
            while unique_key in result:
                # Two keys with secrets must not become the same key.
                copy_number += 1
                unique_key = f'{safe_key} ({copy_number})'
            result[unique_key] = redacted
        return result

    def _sequence(self, value: Iterable[object]) -> Generator[object, object, list[object]]:
        result: list[object] = []
        flag = ''
        for item in list(value):
            redacted: object = (
                mask_after_flag(flag, item) if flag and isinstance(item, str) else None
            )
            flag = item if type(item) is str and item[:1] == '-' else ''
            if redacted is None:
                redacted = redact_scalar(item)
            if redacted is CONTAINER:
                redacted = yield item
            result.append(redacted)
        return result

    def _tuple(self, value: tuple[object, ...]) -> _Step:
        names: tuple[str, ...] = getattr(value, '_fields', ())
        if not names:
            return tuple((yield from self._sequence(value)))
        fields = yield from self._fields(dict(zip(names, value, strict=True)))
        class_: Any = type(value)
        result: object = class_._make(
            MASK if isinstance(item, Secret) else item for item in fields.values()
        )
        return result

    def _set(self, value: set[object] | frozenset[object]) -> _Step:
        result: set[object] = set()
        for item in list(value):
            redacted = redact_scalar(item)
            result.add(_hashable((yield item)) if redacted is CONTAINER else redacted)
        return frozenset(result) if isinstance(value, frozenset) else result

    def _struct(self, value: msgspec.Struct) -> _Step:
        result = copy(value)
        wire_names = dict(zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True))
        fields = yield from self._fields(
            {name: getattr(value, name) for name in wire_names}, wire_names
        )
        for name, item in fields.items():
            force_setattr(result, name, item)
        if hasattr(value, '__dict__'):
            vars(result).update((yield from self._fields(vars(value))))
        return result

    def _instance(self, value: object) -> _Step:
        try:
            result = object.__new__(type(value))
        except TypeError:
            # The base is a built-in type with its own constructor.
            return object_or_text(value)
        for name, item in (yield from self._fields(_state(value))).items():
            object.__setattr__(result, name, item)
        return result

    def _fields(
        self, values: Mapping[str, object], wire_names: Mapping[str, str] | None = None
    ) -> Generator[object, object, dict[str, object]]:
        result: dict[str, object] = {}
        for name, item in values.items():
            is_secret = self._is_secret(name) or (
                wire_names is not None and self._is_secret(wire_names[name])
            )
            if isinstance(item, Secret):
                redacted: object = Secret(MASK)
            else:
                redacted = mask_value(item) if is_secret else redact_scalar(item)
            if redacted is CONTAINER:
                redacted = yield item
            result[name] = redacted
        return result

    def _redact_key(self, key: object) -> tuple[object, bool]:
        """Return the redacted key and whether its value is secret; cached for texts."""
        if not isinstance(key, (str, bytes)):
            return redact_scalar(key), False
        if isinstance(key, str):
            entry: tuple[object, bool] = (redact_scalar(key), is_sensitive(key))
        else:
            text = key.decode('latin-1')
            entry = (
                (key if redact_text(text) == text else f'<{len(key)} bytes>'),
                is_sensitive(text),
            )
        self._keys[key] = entry
        return entry

    def _is_secret(self, name: str) -> bool:
        return (self._keys.get(name) or self._redact_key(name))[1]


_STEPS: tuple[tuple[type, Callable[[ContainerRedaction, Any], _Step]], ...] = (
    # The dict comes first: `isinstance(value, Mapping)` is slower.
    (dict, ContainerRedaction._mapping),
    (list, ContainerRedaction._sequence),
    (tuple, ContainerRedaction._tuple),
    (set, ContainerRedaction._set),
    (frozenset, ContainerRedaction._set),
    (msgspec.Struct, ContainerRedaction._struct),
    (Mapping, ContainerRedaction._mapping),
)


def _state(value: object) -> Mapping[str, object]:
    raw: Any = object.__getstate__(value)
    state: (
        tuple[Mapping[str, object] | None, Mapping[str, object]] | Mapping[str, object] | None
    ) = raw
    return {**(state[0] or {}), **state[1]} if isinstance(state, tuple) else state or {}


def _hashable(value: object) -> object:
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value
