"""Facts about an error class: its declaration, an example, and the output of each seam."""

from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from seamwise.categories import Recovery
from seamwise.causes import Cause
from seamwise.documents.examples import build_example
from seamwise.documents.seams import iter_answers
from seamwise.documents.shape import Answer, ClassEntry, ErrorEntry, Field
from seamwise.documents.unions import UNION_OF
from seamwise.errors import TaggedError
from seamwise.secrets import Secret
from seamwise.texts import text

_RECOVERY_ADVICE = {
    Recovery.CORRECT: 'Correct the request, and send it again.',
    Recovery.ASK: 'A person must decide, or the owner of the limit.',
    Recovery.WAIT: 'Repeat the call later, with growing delays.',
    Recovery.RETRY: 'Repeat the call.',
    Recovery.RECONNECT: 'Connect again, then repeat the call.',
    Recovery.FALL_BACK: 'Use another service: this one is unavailable for a while.',
    Recovery.STOP: 'Do not repeat the call: it cannot succeed.',
}

_WORDS: Mapping[object, str] = {NoneType: 'none', Cause: 'cause', object: 'anything'}


def collect_entry(kind: type[TaggedError]) -> ErrorEntry:
    """Return the entry of an error class.

    Raises:
        OSError: No temporary workspace can be made for the example.
    """
    error, example = build_example(kind)
    answers = tuple(iter_answers(error))
    traits = kind.__traits__
    meaning = ' '.join((kind.__doc__ or '').split())
    return ErrorEntry(
        tag=traits.tag,
        name=kind.__name__,
        union=UNION_OF[kind],
        category=error.category,
        retryable=error.retryable,
        recovery=error.recovery,
        template=traits.template,
        meaning=meaning,
        fields=tuple(_fields(kind)),
        message=text(error),
        example=example,
        answers=answers,
        advice=tuple(dict.fromkeys(filter(None, _advice(error, meaning, answers)))),
    )


def describe_class(kind: type[TaggedError]) -> ClassEntry:
    """Return the declaration of an error class, which need not be in the catalogue."""
    traits = kind.__traits__
    meaning = ' '.join((kind.__doc__ or '').split())
    return ClassEntry(
        tag=traits.tag,
        name=f'{kind.__module__}.{kind.__qualname__}',
        category=traits.category,
        retryable=traits.retryable,
        recovery=traits.recovery,
        template=traits.template,
        meaning=meaning,
        fields=tuple(_fields(kind)),
        advice=(_RECOVERY_ADVICE[traits.recovery],),
    )


def _advice(error: TaggedError, meaning: str, answers: tuple[Answer, ...]) -> Iterator[str]:
    """Yield the advice of the category, of the docstring, and of the model or CLI seam."""
    yield _RECOVERY_ADVICE[error.recovery]
    yield meaning.partition('. ')[2]
    outputs = {
        answer.seam: msgspec.json.decode(answer.output)
        for answer in answers
        if answer.output is not None
    }
    if suggestion := outputs.get('model', {}).get('suggestion'):
        yield suggestion
        return
    for line in outputs['cli']['text'].split('\n'):
        hint = line.removeprefix('hint: ')
        if hint != line:
            yield hint[:1].upper() + hint[1:]


def _fields(kind: type[TaggedError]) -> Iterator[Field]:
    hints = get_type_hints(kind)
    for field in msgspec.structs.fields(kind):
        hint = hints[field.name]
        is_public = not is_private(hint) and field.name not in kind.__traits__.internal
        yield Field(field.name, type_in_words(hint), field.required, public=is_public)


def is_private(hint: object) -> bool:
    """Return whether an annotation contains a cause or a secret, which seams do not show."""
    return hint is Cause or get_origin(hint) is Secret or any(map(is_private, get_args(hint)))


def type_in_words(hint: Any) -> str:
    """Return an annotation in words.

    >>> type_in_words(tuple[str, ...]), type_in_words(float | None)
    ('several str', 'float or none')
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return ' or '.join(map(type_in_words, arguments))
    if origin is Literal:
        return ' or '.join(map(repr, arguments))
    if origin is tuple:
        return f'several {type_in_words(arguments[0])}'
    if origin is Secret:
        return 'secret'
    return _WORDS.get(hint) or str(hint.__name__)
