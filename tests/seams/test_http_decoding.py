"""Tests of decoding HTTP bodies: the envelope, and those of the legacy contract."""

import json
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from seamwise import Category, Failure, Secret, Success, TaggedError, sanitized
from seamwise._errors.errors import retry_after
from seamwise.catalog.agents import AgentFailed
from seamwise.catalog.models import ModelError, ModelNotFound
from seamwise.catalog.network import (
    HostUnreachable,
    NetworkError,
    NetworkTimedOut,
    UpstreamRateLimited,
)
from seamwise.catalog.sessions import InvalidInput
from seamwise.catalog.storage import RecordNotFound, StorageError
from seamwise.catalog.tools import FileNotFound, Finding, InvalidParameter, ToolFailed
from seamwise.seams.adapter import Hidden
from seamwise.seams.http import (
    UnreadableBody,
    decode,
    envelope,
    named,
    on,
    problem,
    response,
    tagged,
)
from seamwise.seams.http.on import CauseArm, HttpArm
from seamwise.seams.http.tables import (
    A2A_LATEST,
    ACCESS,
    AGENTS,
    GUARDS,
    LSP,
    MCP,
    MODELS,
    NETWORK,
    PARSING,
    SESSIONS,
    STORAGE,
    STREAMING,
    TOOLS,
    WORKSPACE,
)
from seamwise.seams.rendering.audience import hides_details
from seamwise.seams.rendering.errors import (
    all_fields,
    public_fields,
    safe_message,
    safe_public_message,
)
from seamwise.seams.rendering.values import milliseconds_or_none
from seamwise.seams.rendering.views import full_view, public_view
from seamwise.seams.wire.legacy_shapes import Named, named_error
from seamwise.testing import assert_failure
from tests.seams.hidden import without_hidden
from tests.strategies import PLANTED, few_examples, structs

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'vectors' / 'named_bodies.json').read_text(encoding='utf-8')
)


def _join(left: Any, right: Any) -> Any:
    return left | right


TABLES: Any = (
    TOOLS,
    STREAMING,
    PARSING,
    NETWORK,
    MODELS,
    AGENTS,
    MCP,
    LSP,
    A2A_LATEST,
    SESSIONS,
    ACCESS,
    STORAGE,
    WORKSPACE,
    GUARDS,
)
ALL: Any = reduce(_join, TABLES)
ARMS: dict[Any, Any] = dict(ALL.arms)
VISIBLE: list[Any] = [kind for kind, arm in ARMS.items() if not isinstance(arm, Hidden)]
UNION: Any = reduce(_join, VISIBLE)


def has_json_form(error: object) -> bool:
    """Check that an error contains no NaN, infinity or lone surrogate."""
    text = ascii(error)
    return 'inf' not in text and 'nan' not in text and '\\ud' not in text


@pytest.mark.parametrize('kind', VISIBLE, ids=lambda kind: kind.__name__)
@few_examples
@given(data=st.data())
def test_decoding_an_envelope_or_a_problem_returns_the_error_without_hidden_fields(
    kind: type[TaggedError], data: st.DataObject
) -> None:
    error = data.draw(structs(kind))
    assume(has_json_form(error))
    # The status of an error that stands for its cause is that of the cause.
    is_hidden = ARMS[kind].details is None and hides_details(kind, ALL(error).status)
    expected = without_hidden(error, is_hidden=is_hidden)
    delay_ms = milliseconds_or_none(retry_after(error))
    if expected is not None and is_hidden and delay_ms is not None:
        # Only `retry_after_ms` is sent.
        expected = replace(expected, retry_after=delay_ms / 1000)
    if isinstance(expected, AgentFailed):
        cause = getattr(error, 'cause', None)
        # The exceptions of the strategy have no answer, and so no type that a client knows.
        shown_cause = (
            without_hidden(cause, is_hidden=False) if isinstance(cause, FileNotFound) else None
        )
        pairs = dict(expected.metadata).items()
        expected = replace(expected, cause=shown_cause, metadata=tuple(pairs))
    for body_format in (envelope, problem):
        body = body_format(ALL(error), request_id='r-1')
        assert PLANTED.encode() not in body
        if expected is None:
            assert_failure(decode(body, UNION), UnreadableBody)
        else:
            assert decode(body, UNION) == Success(expected)


@pytest.mark.parametrize('kind', VISIBLE, ids=lambda kind: kind.__name__)
@few_examples
@given(data=st.data())
def test_the_fast_view_of_an_error_equals_the_slow_one(
    kind: type[TaggedError], data: st.DataObject
) -> None:
    error = data.draw(structs(kind))
    assert public_view(error) == (safe_public_message(error), public_fields(error))
    assert full_view(error) == (safe_message(error), all_fields(error))


@given(
    st.text(st.characters(categories=None), max_size=60),
    st.sampled_from(['token=', 'Bearer ', 'sk-', 'key: ', '://a:', 'ASIA', '-u ', 'x']),
)
def test_the_fast_view_misses_no_secret(text: str, prefix: str) -> None:
    error = RecordNotFound(prefix + text, text + prefix + 'abcdefgh12345678')
    assert public_view(error) == (safe_message(error), public_fields(error))


def test_a_decoded_delay_is_exact() -> None:
    table = on(UpstreamRateLimited).responds(
        429, 'RATE_LIMIT', details=('service', 'retry_after', 'limit', 'requests_made', 'reset')
    )
    error = UpstreamRateLimited('bank', 1.0001, limit=5, requests_made=6, reset=1e9 + 0.25)
    assert response(table(error)).headers['retry-after'] == '2'
    assert decode(envelope(table(error), request_id=None), UpstreamRateLimited) == Success(error)


def test_hidden_texts_are_decoded_as_the_mask() -> None:
    error = UpstreamRateLimited('bank', 1.5, limit=5)
    assert decode(envelope(NETWORK(error), request_id=None), NetworkError) == Success(
        UpstreamRateLimited('***', 1.5)
    )


def test_an_error_with_hidden_numbers_is_unreadable() -> None:
    body = envelope(NETWORK(NetworkTimedOut('10.0.0.5', 'GET', 2.0)), request_id=None)
    error = assert_failure(decode(body, NetworkError), UnreadableBody)
    assert error.problem == "its details are not those of NetworkTimedOut ('timeout' is missing)"


class Paused(
    TaggedError, namespace='test_http_decoding', category=Category.CAPACITY, message='Paused.'
):
    queue: str
    retry_after: float | None = None


def test_a_delay_that_is_not_in_the_details_is_decoded_from_retry_after_ms() -> None:
    table = on(Paused).responds(503, 'PAUSED', details=lambda error: {'queue': error.queue})
    assert decode(envelope(table(Paused('q', 1.25)), request_id=None), Paused) == Success(
        Paused('q', 1.25)
    )


def test_decoded_secrets_are_masked_and_causes_are_none() -> None:
    optional = InvalidParameter('t', 'p', 'odd', Secret(PLANTED), (Finding('q', 'even'),))
    assert decode(envelope(TOOLS(optional), request_id=None), InvalidParameter) == Success(
        InvalidParameter('t', 'p', 'odd', None, (Finding('q', 'even'),))
    )
    required = InvalidInput('short', Secret(PLANTED))
    assert decode(envelope(SESSIONS(required), request_id=None), InvalidInput) == Success(
        InvalidInput('short', '***')
    )
    hidden = decode(envelope(TOOLS(ToolFailed('t', OSError(PLANTED))), request_id=None), ToolFailed)
    assert hidden == Success(sanitized(ToolFailed('***', OSError(PLANTED))))


NOT_FOUND = STORAGE(RecordNotFound('user', 'u-17'))
GOOD = envelope(NOT_FOUND, request_id='r-1')


@pytest.mark.parametrize(
    ('body', 'problem_start'),
    [
        (b'', 'it is not an envelope'),
        (b'null', 'it is not an envelope'),
        (b'[]', 'it is not an envelope'),
        (b'{"success":fal', 'it is not an envelope'),
        (b'\xff\xfe{}', 'it is not an envelope'),
        ('{"success": "\ud800"}', 'it is not an envelope'),
        (b'[' * 100_000, 'it is not an envelope'),
        (b'<html>502 Bad Gateway</html>', 'it is not an envelope'),
        (
            b'{"type":"about:blank","title":"Not Found","status":404}',
            "it is a problem without the member 'tag'",
        ),
        (b'{"detail":"gone","opens":"09:00"}', "it is a problem without the member 'tag'"),
        (b'{"opens":"09:00"}', 'it is not an envelope'),
        (
            envelope(1, request_id='r-1', now=datetime(2026, 1, 1, tzinfo=UTC)),
            'it contains no error',
        ),
        (b'{"success":false}', 'it contains no error'),
        (b'{"success":true,"error":{"type":"RecordNotFound"}}', 'it contains no error'),
        (
            b'{"success":false,"error":{"type":"NoSuchClass"}}',
            "its error is 'NoSuchClass', not RecordExists or RecordNotFound",
        ),
        (
            b'{"success":false,"error":{"type":"RecordNotFound"}}',
            "its details are not those of RecordNotFound ('kind' is missing)",
        ),
        (
            b'{"success":false,"error":{"type":"RecordNotFound","details":{"kind":1,"key":"a"}}}',
            'its details are not',
        ),
        (
            b'{"success":false,"error":{"type":"StoreClosed","details":{"store":"a","retry_after":-1}}}',
            'its details are not',
        ),
        (
            b'{"success":false,"error":{"type":"RecordNotFound","details":[]}}',
            'it is not an envelope',
        ),
    ],
)
def test_any_other_body_is_unreadable_with_a_reason(body: bytes | str, problem_start: str) -> None:
    result = decode(body, StorageError)
    error = assert_failure(result, UnreadableBody)
    assert error.problem.startswith(problem_start)
    assert len(error.excerpt) <= 200 + len('… (999 more)')


@given(st.integers(0, len(GOOD) - 1))
def test_a_truncated_body_is_unreadable(length: int) -> None:
    assert_failure(decode(GOOD[:length], StorageError), UnreadableBody)
    assert_failure(named_error(GOOD[:length]), UnreadableBody)


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_decoding_never_raises(body: bytes | str) -> None:
    for result in (decode(body, StorageError), named_error(body)):
        assert type(result) in {Success, Failure}


def test_the_excerpt_of_an_unreadable_body_is_redacted() -> None:
    error = decode(f'password={PLANTED} and more', StorageError).failure()
    assert error == UnreadableBody(error.problem, 'password=*** and more')
    assert PLANTED not in repr(error)


def test_unknown_keys_of_a_newer_server_are_ignored() -> None:
    body = json.loads(GOOD)
    body['error']['details']['added'] = 1
    assert decode(json.dumps(body), StorageError) == Success(RecordNotFound('user', 'u-17'))


# Legacy contract


@pytest.mark.parametrize(
    'case', FACTS['both_shapes_read_alike'], ids=lambda case: case['named']['name']
)
def test_both_legacy_formats_decode_to_the_same_value(case: dict[str, Any]) -> None:
    decoded = named_error(json.dumps(case['named']))
    assert (
        decoded
        == named_error(json.dumps(case['flat']))
        == Success(Named(case['named']['name'], case['named']['data']))
    )


VALUES: dict[str, object] = {
    'string': 'a',
    'int>=0': 1,
    'number': 1,
    'bool': True,
    'map string->string': {'a': 'b'},
    'list of string': ['a'],
}


@pytest.mark.parametrize('case', FACTS['cases'], ids=lambda case: f'{case["where"]}-{case["name"]}')
def test_every_named_legacy_body_is_decoded(case: dict[str, Any]) -> None:
    data = {key: VALUES.get(fact['type'], []) for key, fact in case['data'].items()}
    assert named_error(json.dumps({'name': case['name'], 'data': data})) == Success(
        Named(case['name'], data)
    )


@pytest.mark.parametrize('case', FACTS['tagged_http'], ids=lambda case: case['tag'])
def test_every_flat_legacy_body_is_decoded(case: dict[str, Any]) -> None:
    fields = {key: VALUES[fact['type']] for key, fact in case['fields'].items()}
    assert named_error(
        json.dumps({FACTS['flat_shape']['tag_key']: case['tag'], **fields})
    ) == Success(Named(case['tag'], fields))


@pytest.mark.parametrize(
    ('body', 'problem_start'),
    [
        (b'', 'it is not a JSON object'),
        (b'[1]', 'it is not a JSON object'),
        (b'{}', 'it has neither _tag nor exactly name and data'),
        (b'{"name":"A"}', 'it has neither _tag nor exactly name and data'),
        (b'{"name":"A","data":{},"stack":"x"}', 'it has neither _tag nor exactly name and data'),
        (b'{"name":"","data":{}}', 'its name is not a non-empty string'),
        (b'{"name":1,"data":{}}', 'its name is not a non-empty string'),
        (b'{"name":"A","data":[]}', 'its data is not an object'),
        (b'{"_tag":""}', 'its _tag is not a non-empty string'),
        (b'{"_tag":7,"name":"A","data":{}}', 'its _tag is not a non-empty string'),
        (GOOD, 'it has neither _tag nor exactly name and data'),
    ],
)
def test_another_legacy_body_is_unreadable_with_a_reason(body: bytes, problem_start: str) -> None:
    assert named_error(body).failure().problem.startswith(problem_start)


@pytest.mark.parametrize('write', [named, tagged])
def test_older_bodies_are_decoded_to_their_class(write: Any) -> None:
    assert decode(write(NOT_FOUND), StorageError) == Success(RecordNotFound('user', 'u-17'))
    unknown = ModelNotFound('acme', 'large-2', ('large-3',))
    assert decode(write(MODELS(unknown)), ModelError) == Success(unknown)
    error = assert_failure(decode(write(NOT_FOUND), ModelError), UnreadableBody)
    assert error.problem.startswith("its error is 'RecordNotFound'")


@pytest.mark.parametrize('write', [named, tagged])
def test_named_and_tagged_bodies_are_decoded(write: Any) -> None:
    assert named_error(write(NOT_FOUND)) == Success(
        Named(
            'RecordNotFound', {'message': "There is no user 'u-17'.", 'kind': 'user', 'key': 'u-17'}
        )
    )


def test_every_arm_of_the_tables_is_an_http_arm_or_hidden() -> None:
    assert {type(arm) for arm in ALL.arms.values()} == {HttpArm, CauseArm, Hidden}


@pytest.mark.parametrize('delay', ['9' * 400, '-' + '9' * 400, '-1', '1000000000001'])
def test_an_invalid_delay_is_unreadable(delay: str) -> None:
    error = '{"type":"HostUnreachable","details":{"host":"a","reason":"b"},"retry_after_ms":'
    body = f'{{"success":false,"error":{error}{delay}}}}}'
    assert_failure(decode(body, HostUnreachable), UnreadableBody)
