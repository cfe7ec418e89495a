"""The errors of the HTTP envelope as TypeScript: one union for each of the catalogue, which narrows by `type`."""

import json
from collections.abc import Iterable, Iterator, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Struct
from typing_extensions import TypeIs

from seamwise.documents.collect import is_private
from seamwise.documents.seams import arms
from seamwise.documents.unions import UNIONS
from seamwise.errors import TaggedError
from seamwise.seams.http.on import HttpArm

_HEAD = """\
// The errors of the HTTP envelope, made by `seamwise catalog --format typescript`.
// A body is an Envelope<T, E>: look at `success` first, then at `error.type`.

interface Body {
  readonly message: string;
  readonly retryable: boolean;
  readonly retry_after_ms?: number;
  readonly docs?: string;
}

export interface Success<T> {
  readonly success: true;
  readonly data: T;
  readonly timestamp: string;
  readonly request_id: string;
}

export interface Failure<E> {
  readonly success: false;
  readonly error: E;
  readonly timestamp: string;
  readonly request_id: string;
}

export type Envelope<T, E> = Success<T> | Failure<E>;

/** A defect of the server: `details.ref` is what its log has the rest under. */
export interface UnknownError extends Body {
  readonly type: "UnknownError";
  readonly code: "INTERNAL";
  readonly details: { readonly ref: string };
}
"""


def as_typescript() -> str:
    """Give the module. Kinds that never reach HTTP are no part of a union; a comment names them."""
    return '\n'.join(
        [
            _HEAD,
            *_structs(),
            *(part for name, kinds in UNIONS.items() for part in _union(name, kinds)),
        ]
    )


def _union(name: str, kinds: Iterable[type[TaggedError]]) -> Iterator[str]:
    members: list[str] = []
    for kind in kinds:
        declared = [arm.declared for arm in arms(kind) if _responds(arm.declared)]
        if declared:
            members.append(kind.__name__)
            yield _interface(kind, declared)
        else:
            yield f'// {kind.__traits__.tag} never reaches HTTP.\n'
    yield f'export type {name} = {" | ".join(members) or "never"};\n'


def _responds(declared: object) -> TypeIs[HttpArm[Any]]:
    return isinstance(declared, HttpArm)


def _interface(kind: type[TaggedError], declared: Iterable[HttpArm[Any]]) -> str:
    codes = dict.fromkeys(json.dumps(one.code) for one in declared)
    has_fields = all(one.details is None for one in declared)
    return f"""\
/** {_comment(kind)} */
export interface {kind.__name__} extends Body {{
  readonly type: {json.dumps(kind.__traits__.tag)};
  readonly code: {' | '.join(codes)};
  {_details(kind) if has_fields else 'readonly details?: { readonly [name: string]: unknown };'}
}}
"""


def _comment(kind: type[TaggedError]) -> str:
    return ' '.join((kind.__doc__ or '').split()).replace('*/', '* /')


def _details(kind: type[TaggedError]) -> str:
    public = {name: hint for name, hint in _hints(kind).items() if not is_private(hint)}
    return f'readonly details: {_object(public)};' if public else 'readonly details?: undefined;'


def _structs() -> Iterator[str]:
    """Give an interface for each Struct that a field holds."""
    held = dict.fromkeys(
        one
        for kinds in UNIONS.values()
        for kind in kinds
        for hint in _hints(kind).values()
        for one in _inside(hint)
    )
    for struct in held:
        yield f'export interface {struct.__name__} {_object(_hints(struct))}\n'


def _inside(hint: object) -> Iterator[type[Struct]]:
    if isinstance(hint, type) and issubclass(hint, Struct) and not issubclass(hint, TaggedError):
        yield hint
    for one in get_args(hint):
        yield from _inside(one)


def _hints(struct: type[Struct]) -> Mapping[str, Any]:
    hints = get_type_hints(struct)
    return {name: hints[name] for name in struct.__struct_fields__}


def _object(fields: Mapping[str, object]) -> str:
    return f'{{ {" ".join(f"readonly {name}: {_type(hint)};" for name, hint in fields.items())} }}'


_PLAIN: Mapping[object, str] = {
    str: 'string',
    int: 'number',
    float: 'number',
    bool: 'boolean',
    NoneType: 'null',
    object: 'unknown',
}


def _type(hint: Any) -> str:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return ' | '.join(map(_type, arguments))
    if origin is Literal:
        return ' | '.join(map(json.dumps, arguments))
    if origin is tuple:
        return f'readonly {_type(arguments[0])}[]'
    return _PLAIN.get(hint) or str(hint.__name__)
