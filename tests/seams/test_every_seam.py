"""Tests of every catalogue class at every seam: tables, secrets, statuses and categories."""

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
from seamwise.seams.reporting.request_context import serving
from tests.strategies import EVERY_CLASS, UNIONS, members

SEAMS = ('cli', 'http', 'session', 'model', 'planner', 'jsonrpc')
"""The seams with tables; the log seam accepts every tagged error."""


def adapters(seam: str, union: str) -> Mapping[Any, Adapter[Any, Any]]:
    """Return the adapters of a union in a seam, by revision if there are several."""
    table: Any = getattr(import_module(f'seamwise.seams.{seam}.tables'), union)
    tables: Mapping[Any, Adapter[Any, Any]] = table if hasattr(table, 'values') else {'': table}
    return tables


def visible_adapters(seam: str, kind: type[TaggedError]) -> Iterator[tuple[Any, Adapter[Any, Any]]]:
    """Yield the adapters of a seam that show a class, with their revisions."""
    for name, union in UNIONS.items():
        if kind in members(union):
            for revision, adapter in adapters(seam, name).items():
                if not isinstance(adapter.arms[kind], Hidden):
                    yield revision, adapter


@pytest.mark.parametrize('seam', SEAMS)
@pytest.mark.parametrize('union', UNIONS)
def test_a_table_covers_exactly_the_classes_of_its_union(seam: str, union: str) -> None:
    for adapter in adapters(seam, union).values():
        assert set(adapter.kinds) == set(members(UNIONS[union]))


@pytest.mark.parametrize('kind', EVERY_CLASS, ids=lambda kind: kind.__name__)
def test_every_class_reaches_at_least_one_seam(kind: type[TaggedError]) -> None:
    assert any(list(visible_adapters(seam, kind)) for seam in SEAMS)


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
"""Texts that reveal a secret; each of the forty secrets gets the next form."""

PARTS = 3  # With this step, each part has all forms.

PLANTED = [FORMS[number % len(FORMS)](secret) for number, secret in enumerate(SECRETS)]


def value_for(hint: msgspec.inspect.Type, name: str, planted: str) -> object:
    if isinstance(hint, msgspec.inspect.UnionType):
        return value_for(
            next(type_ for type_ in hint.types if not isinstance(type_, msgspec.inspect.NoneType)),
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
    return plain.get(type(hint), f'before {planted} after')


def planted_cause(planted: str) -> BaseException:
    try:
        try:
            raise ValueError(planted)
        except ValueError as cause:
            raise OSError(5, planted) from cause
    except OSError as error:
        error.add_note(planted)
        return error


def planted(kind: type[TaggedError], text: str) -> TaggedError:
    """Return an error with a secret in every field that can contain one."""
    info = msgspec.inspect.type_info(kind)
    assert isinstance(info, msgspec.inspect.StructType)
    return kind(**{field.name: value_for(field.type, field.name, text) for field in info.fields})


def all_outputs(error: TaggedError) -> Iterator[tuple[str, bytes]]:
    """Yield the output of every seam for an error, with the name of the seam."""
    kind = type(error)
    for _, adapter in visible_adapters('cli', kind):
        yield 'cli', adapter(error).text.encode()
    for _, adapter in visible_adapters('http', kind):
        answer: http.HttpError = adapter(error)
        yield 'http', msgspec.json.encode(dict(answer.headers))
        for body in (http.envelope, http.problem, http.named, http.tagged):
            yield 'http', body(answer, request_id='r-1')
    for _, adapter in visible_adapters('session', kind):
        for locale in ('en', 'zh_CN'):
            event = session.event(
                error,
                adapter=adapter,
                locale=locale,
                operation=str(error),
                context={'arguments': error},
            )
            yield 'session', session.encode(event)
    yield 'session', msgspec.json.encode(session.StoredError.of(error))
    for _, adapter in visible_adapters('model', kind):
        yield 'model', model.encode(adapter(error))
        yield (
            'model',
            msgspec.json.encode(
                model.tool_message(Failure(error), adapter=adapter, call_id='c-1', provider='mcp')
            ),
        )
    for _, adapter in visible_adapters('planner', kind):
        info = adapter(error)
        yield 'planner', planner.encode(info)
        yield 'planner', msgspec.json.encode(info.to_log())
    for revision, adapter in visible_adapters('jsonrpc', kind):
        protocol, version = revision
        yield (
            'jsonrpc',
            jsonrpc.encode(
                jsonrpc.response(
                    Failure(error), id=1, adapter=adapter, protocol=protocol, revision=version
                )
            ),
        )
    record = log.record(error, operation=str(error), params={'argument': error})
    yield 'log', log.encode(record)
    log_record = logging.makeLogRecord({'msg': '%s', 'args': (error,), **record.extra()})
    log.RedactingFilter().filter(log_record)
    yield 'log', log.JsonFormatter().format(log_record).encode()
    yield 'log', pickle.dumps(log_record.__dict__)


@pytest.mark.parametrize('kind', EVERY_CLASS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    'part', [0, *(pytest.param(part, marks=pytest.mark.nightly) for part in range(1, PARTS))]
)
def test_no_seam_shows_a_planted_secret(kind: type[TaggedError], part: int) -> None:
    # Each class begins with another secret: the fast part has each secret in 35 classes.
    first = EVERY_CLASS.index(kind) + part
    for secret, text in [*zip(SECRETS, PLANTED, strict=True)][first % PARTS :: PARTS]:
        for seam, output in all_outputs(planted(kind, text)):
            assert secret.encode() not in output, (seam, output)


def test_a_planted_secret_is_visible_without_redaction() -> None:
    """The test above proves something: each secret is in the error and in its cause."""
    for secret, text in zip(SECRETS, PLANTED, strict=True):
        error = planted(members(UNIONS['NETWORK'])[0], text)
        assert secret in repr(error)
        assert secret in str(getattr(error, 'cause', None))


@pytest.mark.parametrize('kind', EVERY_CLASS, ids=lambda kind: kind.__name__)
def test_no_status_is_500_except_the_one_that_a2a_prescribes(kind: type[TaggedError]) -> None:
    for revision, adapter in visible_adapters('http', kind):
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
def test_every_seam_follows_the_category_of_an_error(kind: type[TaggedError]) -> None:
    error = planted(kind, 'x')
    with serving('r-1', method='GET'):
        for _, adapter in visible_adapters('http', kind):
            assert adapter(error).retryable is error.retryable
    for _, adapter in visible_adapters('session', kind):
        event = session.event(error, adapter=adapter, locale='en')
        severity = 'error' if event.metadata['recoverable'] else 'critical'
        is_cancelled = error.category is Category.CANCELLED
        assert event.metadata['severity'] == ('info' if is_cancelled else severity)
    if error.category is Category.CANCELLED and kind.__name__ != 'ToolCancelled':
        assert not list(visible_adapters('http', kind))
