"""Gathers the facts on a kind of error: from its class, from an error that is made for it, from all the seams' tables."""

from collections.abc import Iterator
from inspect import cleandoc
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from seamwise.categories import Recovery
from seamwise.causes import Cause
from seamwise.documents.examples import made
from seamwise.documents.seams import answers
from seamwise.documents.shape import Answer, Entry, Field
from seamwise.documents.unions import UNION_OF
from seamwise.errors import TaggedError
from seamwise.secrets import Secret
from seamwise.texts import text

_WHAT_HELPS = {
    Recovery.CORRECT: 'The caller can mend the request and send it again.',
    Recovery.ASK: 'Somebody must decide: a person, or whoever owns the limit.',
    Recovery.WAIT: 'The same call may succeed later; wait, with growing pauses.',
    Recovery.RETRY: 'The same call may succeed when it is made again.',
    Recovery.RECONNECT: 'Connect again first, then make the same call.',
    Recovery.FALL_BACK: 'Take another way to the same end; this one is closed for a while.',
    Recovery.STOP: 'Do not try again: nothing that the caller does will help.',
}


def entry(kind: type[TaggedError]) -> Entry:
    """Give all that is to be said of a kind. Makes an error of it, and raises OSError where no workspace can be made for that."""
    error, example = made(kind)
    told = tuple(answers(error))
    traits = kind.__traits__
    meaning = cleandoc(kind.__doc__ or '')
    return Entry(
        tag=traits.tag,
        name=kind.__name__,
        union=UNION_OF[kind],
        category=error.category,
        retryable=error.retryable,
        recovery=error.recovery,
        template=traits.template,
        meaning=meaning,
        fields=tuple(fields(kind)),
        message=text(error),
        example=example,
        answers=told,
        advice=tuple(dict.fromkeys(filter(None, _advice(error, meaning, told)))),
    )


def _advice(error: TaggedError, meaning: str, told: tuple[Answer, ...]) -> Iterator[str]:
    """Give what helps in general, what the class says, and what a model, else a person, is told to do in the example."""
    yield _WHAT_HELPS[error.recovery]
    yield ' '.join(meaning.partition('. ')[2].split())
    said = {one.seam: msgspec.json.decode(one.output) for one in told if one.output is not None}
    if suggestion := said.get('model', {}).get('suggestion'):
        yield suggestion
    else:
        yield from (
            _sentence(line.removeprefix('hint: '))
            for line in said['cli']['text'].split('\n')
            if line.startswith('hint: ')
        )


def _sentence(hint: str) -> str:
    return hint[:1].upper() + hint[1:]


def fields(kind: type[TaggedError]) -> Iterator[Field]:
    """Give the fields of a kind, with their types in words."""
    hints = get_type_hints(kind)
    for one in msgspec.structs.fields(kind):
        hint = hints[one.name]
        yield Field(one.name, in_words(hint), one.required, public=not is_private(hint))


def is_private(hint: object) -> bool:
    """Whether what an annotation stands for is never shown as a field: a cause or a secret."""
    return hint is Cause or get_origin(hint) is Secret or any(map(is_private, get_args(hint)))


def in_words(hint: Any) -> str:
    """Write an annotation as one would say it.

    >>> in_words(tuple[str, ...]), in_words(float | None)
    ('several str', 'float or none')
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return ' or '.join(in_words(one) for one in arguments)
    if origin is Literal:
        return ' or '.join(map(repr, arguments))
    if origin is tuple:
        return f'several {in_words(arguments[0])}'
    if origin is Secret:
        return 'secret'
    if hint is NoneType:
        return 'none'
    return 'cause' if hint is Cause else 'anything' if hint is object else str(hint.__name__)
