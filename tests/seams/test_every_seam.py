"""Every class of the catalogue at every seam: decided by name, never 500, never a secret, always readable."""

import json
import logging
import pickle
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import msgspec
import pytest

from seamwise import Category, Failure, Secret, TaggedError
from seamwise.seams import http, jsonrpc, log, model, planner, session
from seamwise.seams.adapter import Adapter, Hidden
from tests.strategies import EVERY_CLASS, UNIONS, members

SEAMS = ('cli', 'http', 'session', 'model', 'planner', 'jsonrpc')
"""Every seam with tables; the log takes any tagged error."""


def adapters(seam: str, union: str) -> Mapping[Any, Adapter[Any, Any]]:
    """Give the tables of a union at a seam, by revision where it has several."""
    table: Any = getattr(import_module(f'seamwise.seams.{seam}.tables'), union)
    tables: Mapping[Any, Adapter[Any, Any]] = table if hasattr(table, 'values') else {'': table}
    return tables


def arms_of(seam: str, kind: type[TaggedError]) -> Iterator[tuple[Any, Adapter[Any, Any]]]:
    """Give every table of a seam in which a kind is decided and not hidden, with its revision."""
    for name, union in UNIONS.items():
        if kind in members(union):
            for revision, adapter in adapters(seam, name).items():
                if not isinstance(adapter.arms[kind], Hidden):
                    yield revision, adapter


@pytest.mark.parametrize('seam', SEAMS)
@pytest.mark.parametrize('union', UNIONS)
def test_a_table_decides_exactly_the_classes_of_its_union(seam: str, union: str) -> None:
    for adapter in adapters(seam, union).values():
        assert set(adapter.kinds) == set(members(UNIONS[union]))


@pytest.mark.parametrize('kind', EVERY_CLASS, ids=lambda kind: kind.__name__)
def test_every_class_reaches_somebody(kind: type[TaggedError]) -> None:
    assert any(list(arms_of(seam, kind)) for seam in SEAMS)


SECRETS = [f'FAKE{number:02}hunter2' for number in range(40)]

FORMS: tuple[Callable[[str], str], ...] = (
    'password={}'.format,
    'Authorization: Bearer {}'.format,
    'https://ann:{}@example.org/a'.format,
    '{{"apiKey": "{}"}}'.format,
    'X-Api-Key: {}'.format,
    'curl --token {} https://example.org'.format,
    'postgresql://app:{}@db/x'.format,
    'Cookie: session={}'.format,
    'client_secret: {}'.format,
    '-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----'.format,
)
"""The ways in which a text gives a secret away: with one of the forty each, in turn."""

PLANTED = [FORMS[number % len(FORMS)](secret) for number, secret in enumerate(SECRETS)]


def value_for(hint: msgspec.inspect.Type, name: str, planted: str) -> object:
    if isinstance(hint, msgspec.inspect.UnionType):
        return value_for(
            next(one for one in hint.types if not isinstance(one, msgspec.inspect.NoneType)),
            name,
            planted,
        )
    if isinstance(hint, msgspec.inspect.LiteralType):
        return hint.values[0]
    if isinstance(hint, msgspec.inspect.VarTupleType):
        return (value_for(hint.item_type, name, planted),)
    if isinstance(hint, msgspec.inspect.StructType):
        return hint.cls(
            **{field.name: value_for(field.type, field.name, planted) for field in hint.fields}
        )
    if isinstance(hint, msgspec.inspect.CustomType):
        return Secret(planted) if hint.cls is Secret else planted_cause(planted)
    plain: dict[type, object] = {
        msgspec.inspect.IntType: 3,
        msgspec.inspect.FloatType: 1.5,
        msgspec.inspect.BoolType: True,
    }
    return plain.get(type(hint), f'before {planted} behind')


def planted_cause(planted: str) -> BaseException:
    try:
        try:
            raise ValueError(planted)
        except ValueError as below:
            raise OSError(5, planted) from below
    except OSError as raised:
        raised.add_note(planted)
        return raised


def planted(kind: type[TaggedError], text: str) -> TaggedError:
    """Make an error with a secret in every field that can hold one."""
    info = msgspec.inspect.type_info(kind)
    assert isinstance(info, msgspec.inspect.StructType)
    return kind(**{field.name: value_for(field.type, field.name, text) for field in info.fields})


def everything_shown(error: TaggedError) -> Iterator[tuple[str, bytes]]:
    """Give all that any seam writes of an error, with the seam's name."""
    kind = type(error)
    for _, adapter in arms_of('cli', kind):
        yield 'cli', adapter(error).text.encode()
    for _, adapter in arms_of('http', kind):
        answer: http.HttpError = adapter(error)
        yield 'http', msgspec.json.encode(dict(answer.headers))
        for body in (http.envelope, http.problem, http.named, http.tagged):
            yield 'http', body(answer, request_id='r-1')
    for _, adapter in arms_of('session', kind):
        for locale in ('en', 'zh_CN'):
            told = session.event(
                error,
                adapter=adapter,
                locale=locale,
                operation=str(error),
                context={'arguments': error},
            )
            yield 'session', session.encode(told)
    yield 'session', msgspec.json.encode(session.message(error))
    for _, adapter in arms_of('model', kind):
        yield 'model', model.encode(adapter(error))
        yield (
            'model',
            msgspec.json.encode(
                model.tool_message(Failure(error), adapter=adapter, call_id='c-1', provider='mcp')
            ),
        )
    for _, adapter in arms_of('planner', kind):
        info = planner.from_error(error, adapter=adapter)
        yield 'planner', planner.encode(info)
        yield 'planner', msgspec.json.encode(info.to_log())
    for revision, adapter in arms_of('jsonrpc', kind):
        protocol, version = revision
        yield (
            'jsonrpc',
            jsonrpc.encode(
                jsonrpc.response(
                    Failure(error), id=1, adapter=adapter, protocol=protocol, revision=version
                )
            ),
        )
    noted = log.record(error, operation=str(error), params={'argument': error})
    yield 'log', log.encode(noted)
    made = logging.makeLogRecord({'msg': '%s', 'args': (error,), **noted.extra()})
    log.RedactingFilter().filter(made)
    yield 'log', log.JsonFormatter().format(made).encode()
    yield 'log', pickle.dumps(made.__dict__)


@pytest.mark.parametrize('kind', EVERY_CLASS, ids=lambda kind: kind.__name__)
def test_no_planted_secret_is_shown_anywhere(kind: type[TaggedError]) -> None:
    for secret, text in zip(SECRETS, PLANTED, strict=True):
        for seam, written in everything_shown(planted(kind, text)):
            assert secret.encode() not in written, (seam, written)


def test_the_planting_would_be_seen() -> None:
    """Without redaction, each form of each secret stands in the text of the error and in its cause."""
    for secret, text in zip(SECRETS, PLANTED, strict=True):
        error = planted(members(UNIONS['NETWORK'])[0], text)
        assert secret in repr(error)
        assert secret in str(getattr(error, 'cause', None))


@pytest.mark.parametrize('kind', EVERY_CLASS, ids=lambda kind: kind.__name__)
def test_no_answer_is_a_500_but_what_a2a_prescribes(kind: type[TaggedError]) -> None:
    for revision, adapter in arms_of('http', kind):
        answer: http.HttpError = adapter(planted(kind, 'x'))
        assert answer.status != 500 or (revision, kind.__name__) == (
            '1.0.1',
            'A2aInvalidAgentResponse',
        )
        body = json.loads(http.envelope(answer, request_id='r-1'))
        assert isinstance(body['error']['retryable'], bool)
        has_delay = getattr(planted(kind, 'x'), 'retry_after', None) is not None
        assert ('Retry-After' in answer.headers) is has_delay
        assert ('retry_after_ms' in body['error']) is has_delay


@pytest.mark.parametrize('kind', EVERY_CLASS, ids=lambda kind: kind.__name__)
def test_what_a_category_says_is_what_every_seam_says(kind: type[TaggedError]) -> None:
    error = planted(kind, 'x')
    for _, adapter in arms_of('http', kind):
        assert adapter(error).retryable is error.retryable
    for _, adapter in arms_of('session', kind):
        told = session.event(error, adapter=adapter, locale='en')
        assert told.metadata['severity'] == (
            'error' if told.metadata['recoverable'] else 'critical'
        )
    if error.category is Category.CANCELLED and kind.__name__ != 'ToolCancelled':
        assert not list(arms_of('http', kind))
