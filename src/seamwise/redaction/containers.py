"""Redaction of values: scalars by type, and containers without recursion."""

from collections.abc import Callable, Generator, Iterable, Mapping
from enum import Enum
from re import compile as pattern
from types import NoneType
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import force_setattr

from seamwise._text.safe_call import call_or_describe
from seamwise._text.secrets import MASK, Secret
from seamwise.redaction.harmless import is_harmless
from seamwise.redaction.redactor import Redactor
from seamwise.redaction.sensitive_names import (
    INPUT_KEYS,
    LOCATION_KEYS,
    NAME_KEYS,
    PATCH_KEYS,
    PRIVATE_MEMBERS,
    VALUE_KEYS,
    is_command,
    is_credential,
    is_metadata,
    is_name,
    is_number_about,
    names_in_location,
)

CYCLE: Final = '<cycle>'
"""Replacement for a container inside itself."""

_Step: TypeAlias = Generator[object, object, object]
"""Redaction of one container: yields each part that is a container, receives it redacted."""


class _Kind(Enum):
    """Result for a value that may contain others."""

    CONTAINER = 'container'


CONTAINER: Final = _Kind.CONTAINER
_UNCHANGED = frozenset((NoneType, bool, int, float))
_MAPPING: type = Mapping
_SEARCHED: tuple[type, ...] = (Mapping, list, tuple, set, frozenset)
_PAIR = 2
_BYTES: tuple[type, ...] = (bytes, bytearray, memoryview, msgspec.Raw)
_PLAIN_CONTAINERS = frozenset((dict, list, tuple, set, frozenset))
_CONTAINERS = (dict, list, tuple, set, frozenset, Mapping, msgspec.Struct)


def redact_value(value: object, redactor: Redactor) -> object:
    """Return a redacted copy of any value."""
    redaction = _Redaction(redactor)
    redacted = redaction.item(value)
    return redaction.run(value) if redacted is CONTAINER else redacted


class _Redaction:
    """State of one redaction: open containers, finished containers and names."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._harmless: set[int] = set()
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
                # seamwise: allow[SW103] code of the container raised; it is shown without its parts
                except Exception:  # noqa: BLE001
                    redacted = _placeholder(container)
                path.pop()
                self._open.discard(id(container))
                self._done[id(container)] = redacted
                self._alive.append(container)
            else:
                return redacted

    def scalar(self, value: object) -> object:
        """Redact a value without parts; return CONTAINER for a value that may have parts."""
        if type(value) is str:
            return self._redactor.text(value)
        if type(value) in _UNCHANGED:
            return value
        if type(value) in _PLAIN_CONTAINERS:
            return CONTAINER
        # The proxies of Werkzeug raise from `__class__` outside their context.
        return call_or_describe(
            lambda: CONTAINER if isinstance(value, _CONTAINERS) else self._uncommon(value),
            lambda _: _placeholder(value),
        )

    def _uncommon(self, value: object) -> object:
        if isinstance(value, str):
            text = str.__str__(value)
            redacted = self._redactor.text(text)
            return value if redacted == text else redacted
        if isinstance(value, Secret):
            self._redactor.mask()
            return MASK
        if isinstance(value, _BYTES):
            return f'<{_size(value)} bytes>'
        if isinstance(value, (int, float)):
            return value
        type_ = type(value)
        if not isinstance(value, (Enum, type)) and (
            hasattr(type_, '__dataclass_fields__') or hasattr(type_, '__attrs_attrs__')
        ):
            return CONTAINER
        return self._object_or_text(value)

    def _object_or_text(self, value: object) -> object:
        """Return the object, or its redacted text if that has a secret or it is an exception."""
        name = type(value).__name__
        texts = call_or_describe(lambda: (str(value), repr(value)), lambda _: None)
        if texts is None:
            return _placeholder(value)
        if isinstance(value, BaseException):
            return self._redactor.text(f'{name}: {texts[0]}' if texts[0] else name)
        return next((safe for text in texts if (safe := self._redactor.text(text)) != text), value)

    def _named(self, name: str, value: object) -> object:
        """Return the redacted value of a sensitive name; CONTAINER for a harmless container."""
        if call_or_describe(lambda: self._is_harmless(name, value), lambda _: False):
            return CONTAINER if isinstance(value, _CONTAINERS) else value
        self._redactor.mask()
        return MASK

    def _is_harmless(self, name: str, value: object) -> bool:
        """Return whether a value has no secret: each of its leaves is a measure, a message etc."""
        if value is msgspec.UNSET or (isinstance(value, str) and not value):
            return True
        if isinstance(value, _CONTAINERS) and not value:
            return False
        parts: list[tuple[str, object, bool]] = [(name, value, False)]
        visited: set[int] = set()
        while parts:
            name, part, is_described = parts.pop()
            if id(part) in self._harmless or id(part) in visited:
                continue
            if isinstance(part, _SEARCHED):
                visited.add(id(part))
                self._alive.append(part)
                parts += _named_parts(part, name, is_described=is_described)
            elif not (
                self._is_harmless_leaf(name, part)
                or (is_described and isinstance(part, str) and not self._is_secret_name(name))
            ):
                return False
        self._harmless |= visited
        return True

    def _is_harmless_leaf(self, name: str, value: object) -> bool:
        if value is None or type(value) is bool:
            return True
        if type(value) is str:
            return is_harmless(value, name) or self._redactor.settings.is_kept(value)
        return type(value) in _UNCHANGED and is_number_about(name, str(value))

    def _step(self, value: object) -> _Step:
        for type_, step in _STEPS:
            if isinstance(value, type_):
                return step(self, value)
        return self._instance(value)

    def _mapping(self, value: Mapping[object, object]) -> _Step:
        result: dict[object, object] = {}
        values = self._values_of_pair(value)
        is_json_web_key = isinstance(value, dict) and 'kty' in value
        copy_number = 1
        for key, item in list(value.items()):
            safe_key, is_secret = self._keys.get(key) or self._redact_key(key)
            if safe_key is CONTAINER:
                safe_key = _hashable((yield key))
            redacted = (
                self._named(str(key), item)
                if is_secret
                or key in values
                or (is_json_web_key and key in PRIVATE_MEMBERS)
                or (key == 'tokens' and _has_credential(item))
                else self.item(item)
            )
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
        flag = command = ''
        for index, item in enumerate(list(value)):
            redacted: object = (
                self._argument(item, flag, command)
                if isinstance(item, str) and (flag or (command and item[:1] == '-'))
                else None
            )
            if index == 0 and isinstance(item, str) and is_command(item):
                command = item
            flag = item if type(item) is str and item[:1] == '-' else ''
            if redacted is None:
                redacted = self.item(item, is_part=True)
            if redacted is CONTAINER:
                redacted = yield item
            result.append(redacted)
        return result

    def item(self, value: object, *, is_part: bool = False) -> object:
        """Redact a value without parts, or a pair such as `('X-Api-Key', value)`.

        Args:
            value: The value.
            is_part: Whether it is a part of a list or a set. Elsewhere, a pair of two names is no
                name with its value.
        """
        if type(value) not in {list, tuple}:
            return self.scalar(value)
        pair: Any = value
        if (
            not is_part
            and len(pair) == _PAIR
            and isinstance(pair[1], str)
            and _PLAIN_NAME.fullmatch(pair[1])
        ):
            return CONTAINER
        return self._pair(pair)

    def _pair(self, pair: Any) -> object:
        """Return a redacted `('X-Api-Key', value)`; CONTAINER for any other list or tuple."""
        if len(pair) != _PAIR or type(pair) not in {list, tuple}:
            return CONTAINER
        name, value = pair
        if not isinstance(name, str) or not self._is_secret_name(name):
            return CONTAINER
        redacted = self._named(name, value)
        if redacted is CONTAINER:
            return CONTAINER
        items = (self._redact_key(name)[0], redacted)
        return items if isinstance(pair, tuple) else list(items)

    def _values_of_pair(self, value: Mapping[object, object]) -> frozenset[object]:
        """Return the keys of the secrets in a pair of a name and a value, or in an error.

        The pair is `{'name': 'DB_PASSWORD', 'value': …}`, the error `{'loc': ('password',),
        'input': …}`.
        """
        keys: frozenset[object] = frozenset()
        if VALUE_KEYS.intersection(value) and any(
            self._is_secret_name(value[key]) for key in NAME_KEYS.intersection(value)
        ):
            keys |= VALUE_KEYS.intersection(value)
        inputs = INPUT_KEYS.intersection(value)
        if PATCH_KEYS.issubset(value):
            inputs |= VALUE_KEYS.intersection(value)
        # The input of a missing field is the container of the others.
        if inputs and value.get('type') != 'missing':
            for key in LOCATION_KEYS.intersection(value):
                location: Any = value[key]
                parts: Iterable[object] = (  # pyright: ignore[reportUnknownVariableType]  # isinstance does not tell the members
                    location if isinstance(location, (list, tuple, str)) else ()
                )
                if isinstance(location, str):
                    parts = names_in_location(location)
                if any(map(self._is_secret_name, parts)):  # pyright: ignore[reportUnknownArgumentType]  # isinstance does not tell the members
                    keys |= inputs
        return keys

    def _is_secret_name(self, name: object) -> bool:
        return isinstance(name, str) and is_name(name) and self._redactor.is_sensitive(name)

    def _argument(self, argument: str, flag: str, command: str) -> str | None:
        # Its patterns are slow to compile, and few values are command lines.
        from seamwise.redaction.assignments import mask_argument  # noqa: PLC0415

        masked = mask_argument(argument, self._redactor.settings, flag=flag, command=command)
        if masked is not None:
            self._redactor.mask()
        return masked

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
            redacted = self.item(item, is_part=True)
            result.add(_hashable((yield item)) if redacted is CONTAINER else redacted)
        return frozenset(result) if isinstance(value, frozenset) else result

    def _struct(self, value: msgspec.Struct) -> _Step:
        # `__copy__` of the class may return the value itself.
        struct_class: Any = msgspec.Struct  # Its stubs do not declare `__copy__`.
        result: msgspec.Struct = struct_class.__copy__(value)
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
            return self._object_or_text(value)
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
                self._redactor.mask()
            else:
                is_secret = is_secret or (name == 'tokens' and _has_credential(item))
                redacted = self._named(name, item) if is_secret else self.item(item)
            if redacted is CONTAINER:
                redacted = yield item
            result[name] = redacted
        return result

    def _redact_key(self, key: object) -> tuple[object, bool]:
        """Return the redacted key and whether its value is secret; cached for texts."""
        if not isinstance(key, (str, bytes)):
            return self.item(key), False
        if isinstance(key, str):
            entry: tuple[object, bool] = (self.scalar(key), self._redactor.is_sensitive(key))
        else:
            text = key.decode('latin-1')
            entry = (
                (key if self._redactor.text(text) == text else f'<{len(key)} bytes>'),
                self._redactor.is_sensitive(text),
            )
        self._keys[key] = entry
        return entry

    def _is_secret(self, name: str) -> bool:
        return (self._keys.get(name) or self._redact_key(name))[1]


_PLAIN_NAME = pattern(r'[a-z]{1,30}(?:[_-][a-z]{1,30}){0,5}')


def _has_credential(value: object) -> bool:
    """Return whether a value under `tokens` is a credential, or contains one."""
    if isinstance(value, str):
        return is_credential(value)
    if not isinstance(value, (list, tuple, set, frozenset)):
        return False
    items: Iterable[object] = value  # pyright: ignore[reportUnknownVariableType]  # isinstance does not tell the members
    return any(isinstance(item, str) and is_credential(item) for item in items)  # pyright: ignore[reportUnknownVariableType]  # isinstance does not tell the members


_STEPS: tuple[tuple[type, Callable[[_Redaction, Any], _Step]], ...] = (
    # The dict comes first: `isinstance(value, Mapping)` is slower.
    (dict, _Redaction._mapping),
    (list, _Redaction._sequence),
    (tuple, _Redaction._tuple),
    (set, _Redaction._set),
    (frozenset, _Redaction._set),
    (msgspec.Struct, _Redaction._struct),
    (Mapping, _Redaction._mapping),
)


def _named_parts(
    container: Any, name: str, *, is_described: bool
) -> list[tuple[str, object, bool]]:
    """Return the parts of a container, each with its name and whether that is metadata.

    Items of a list have the name of the list.
    """
    if isinstance(container, _MAPPING):
        pairs: Any = container
        return [
            (str(key), item, is_described or is_metadata(str(key))) for key, item in pairs.items()
        ]
    return [(name, item, is_described) for item in container]


def _placeholder(value: object) -> str:
    return f'<{type(value).__name__}>'


def _size(data: Any) -> int:
    return memoryview(data).nbytes


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
