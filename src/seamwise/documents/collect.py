"""Facts about an error class: its declaration, an example, and the output of each seam."""

from collections.abc import Iterable, Iterator, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec

from seamwise._errors.categories import Recovery
from seamwise._errors.causes import Cause
from seamwise._errors.errors import TaggedError
from seamwise._errors.texts import message_of
from seamwise._errors.type_hints import resolved_hints
from seamwise._runtime.samples import NoSample, required_fields, sample_error
from seamwise._text.phrases import join_limited
from seamwise._text.secrets import Secret
from seamwise.documents.answers import iter_answers
from seamwise.documents.error_catalog import ErrorCatalog
from seamwise.documents.shape import Answer, ErrorEntry, Example, Field
from seamwise.documents.tables import SEAMS
from seamwise.seams.rendering.errors import public_field_names, redacted

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


def collect_entry(kind: type[TaggedError], catalog: ErrorCatalog) -> ErrorEntry:
    """Return the entry of an error class.

    Raises:
        OSError: No temporary workspace can be made for the example.
    """
    error, example = _example(kind)
    answers = (*iter_answers(error, catalog.arms_of(kind)), *_missing_arms(kind, catalog))
    traits = kind.__traits__
    meaning = meaning_of(kind)
    shown = traits if error is None else error
    return ErrorEntry(
        tag=traits.tag,
        name=kind.__name__ if is_of_library(kind) else f'{kind.__module__}.{kind.__qualname__}',
        union=catalog.union_of(kind),
        category=shown.category,
        retryable=shown.retryable,
        recovery=shown.recovery,
        template=traits.template,
        public=traits.public,
        meaning=meaning,
        fields=tuple(_fields(kind)),
        message=traits.template if error is None else message_of(error),
        example=example,
        answers=answers,
        advice=tuple(dict.fromkeys(filter(None, _advice(shown.recovery, meaning, answers)))),
    )


def is_of_library(kind: type[TaggedError]) -> bool:
    """Return whether this library defines an error class."""
    return kind.__module__.partition('.')[0] == 'seamwise'


def meaning_of(kind: type[TaggedError]) -> str:
    """Return the docstring of an error class in one line."""
    return ' '.join((kind.__doc__ or '').split())


def _example(kind: type[TaggedError]) -> tuple[TaggedError | None, Example]:
    if is_of_library(kind):
        # Imported here, because an example of this library needs the tool host.
        from seamwise.documents.examples import build_example, has_recipe  # noqa: PLC0415

        if has_recipe(kind):
            return build_example(kind)
    try:
        error = sample_error(kind)
    except NoSample as reason:
        return None, Example(problem=str(reason))
    return error, Example(constructor=repr(redacted(error)))


def _missing_arms(kind: type[TaggedError], catalog: ErrorCatalog) -> Iterator[Answer]:
    """Yield an answer for each seam of which the given tables lack an arm for a class."""
    decided = {arm.seam for arm in catalog.arms_of(kind)}
    for seam in SEAMS:
        names = [' '.join(table.where).strip() for table in catalog.tables_of(seam)]
        if names and seam not in decided:
            yield Answer(seam, '', f'no arm in {join_limited(names)}')


def _advice(recovery: Recovery, meaning: str, answers: Iterable[Answer]) -> Iterator[str]:
    """Yield the advice of the category, of the docstring, and of the model or CLI seam."""
    yield _RECOVERY_ADVICE[recovery]
    yield meaning.partition('. ')[2]
    outputs = {
        answer.seam: msgspec.json.decode(answer.output)
        for answer in answers
        if answer.output is not None
    }
    if suggestion := outputs.get('model', {}).get('suggestion'):
        yield suggestion
        return
    for line in outputs.get('cli', {}).get('text', '').split('\n'):
        hint = line.removeprefix('hint: ')
        if hint != line:
            yield hint[:1].upper() + hint[1:]


def _fields(kind: type[TaggedError]) -> Iterator[Field]:
    hints = resolved_hints(kind)
    required, public = required_fields(kind), public_field_names(kind)
    for name in kind.__struct_fields__:
        yield Field(name, type_in_words(hints[name]), name in required, public=name in public)


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
    if origin is tuple and Ellipsis not in arguments:
        return f'({", ".join(map(type_in_words, arguments))})'
    if origin in {tuple, frozenset}:
        return f'several {type_in_words(arguments[0])}'
    if Secret in {origin, hint}:
        return 'secret'
    return _WORDS.get(hint) or str(getattr(hint, '__name__', hint))
