"""Stored form of errors in session messages: eight known names, or the tag of the error."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given

from seamwise import TaggedError
from seamwise.catalog.access import Unauthenticated
from seamwise.catalog.agents import AgentNotFound, ContextOverflow
from seamwise.catalog.models import (
    ContentFiltered,
    ContextTooLong,
    ModelError,
    ModelNotFound,
    OutputTruncated,
    ProviderUnavailable,
    StructuredOutputInvalid,
)
from seamwise.catalog.network import (
    CredentialsRejected,
    NetworkError,
    UpstreamFailed,
    UpstreamRateLimited,
)
from seamwise.catalog.problem import Problem
from seamwise.catalog.streaming import StreamAborted, UserInterrupted
from seamwise.catalog.tools import FileNotFound
from seamwise.seams.session import StoredError
from seamwise.seams.session.messages import STORED_NAMES
from tests.strategies import PLANTED, errors

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'vectors' / 'named_bodies.json').read_text(encoding='utf-8')
)
KEYS: dict[str, dict[str, Any]] = {
    case['name']: case['data'] for case in FACTS['cases'] if case['where'] == 'session'
}
TYPE_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    'string': lambda value: isinstance(value, str),
    'bool': lambda value: isinstance(value, bool),
    'int>=0': lambda value: isinstance(value, int),
    'map string->string': lambda value: {type(item) for item in value.values()} == {str},
}


@pytest.mark.parametrize(
    ('error', 'name'),
    [
        (CredentialsRejected('acme', ('KEY',)), 'ProviderAuthError'),
        (Unauthenticated('Bearer'), 'ProviderAuthError'),
        (OutputTruncated('acme', 7), 'MessageOutputLengthError'),
        (StreamAborted('why'), 'MessageAbortedError'),
        (UserInterrupted(), 'MessageAbortedError'),
        (StructuredOutputInvalid('acme', (Problem('/a', 'b'),)), 'StructuredOutputError'),
        (ContextTooLong('acme', 9, 7), 'ContextOverflowError'),
        (ContextOverflow(9, 7), 'ContextOverflowError'),
        (ContentFiltered('acme', 'no'), 'ContentFilterError'),
        (ProviderUnavailable('acme'), 'APIError'),
        (UpstreamFailed('acme', 503, 'busy'), 'APIError'),
        (FileNotFound('t', 'a'), 'FileNotFound'),
    ],
)
def test_error_is_stored_under_its_documented_name(error: TaggedError, name: str) -> None:
    assert StoredError.of(error).name == name


def test_other_model_and_network_errors_are_stored_as_api_errors() -> None:
    api_errors = {kind for kind, name in STORED_NAMES.items() if name == 'APIError'}
    special = {
        CredentialsRejected,
        OutputTruncated,
        StructuredOutputInvalid,
        ContextTooLong,
        ContentFiltered,
        ModelNotFound,
    }
    assert api_errors == {*get_args(ModelError), *get_args(NetworkError)} - special
    assert {*STORED_NAMES.values(), StoredError.unknown('').name} == set(FACTS['session_names'])


@given(errors())
def test_stored_form_of_every_error_is_safe_with_the_documented_keys(error: TaggedError) -> None:
    stored = StoredError.of(error)
    assert PLANTED not in json.dumps(stored.data)
    if stored.name == error.tag:
        assert next(iter(stored.data)) == 'message'
        return
    keys = KEYS[stored.name]
    assert (
        {name for name, key in keys.items() if not key['optional']} <= set(stored.data) <= set(keys)
    )
    assert all(TYPE_CHECKS[keys[name]['type']](value) for name, value in stored.data.items())


def test_stored_api_error_contains_the_status_and_not_the_excerpt_of_the_body() -> None:
    assert StoredError.of(UpstreamFailed('acme', 503, 'busy', 1.5)).data == {
        'message': 'acme failed with status 503.',
        'statusCode': 503,
        'isRetryable': True,
        'metadata': {'error_type': 'UpstreamFailed', 'service': 'acme', 'retry_after_ms': '1500'},
    }
    limited = StoredError.of(UpstreamRateLimited('acme', 0.5, 100)).data
    assert limited['metadata'] == {
        'error_type': 'UpstreamRateLimited',
        'service': 'acme',
        'limit': '100',
        'retry_after_ms': '500',
    }


def test_stored_auth_error_contains_the_provider() -> None:
    assert StoredError.of(CredentialsRejected('acme', ('KEY',))).data['providerID'] == 'acme'
    assert StoredError.of(Unauthenticated('Bearer')).data['providerID'] == 'Bearer'


def test_error_under_its_own_tag_keeps_its_fields() -> None:
    assert StoredError.of(FileNotFound('t', 'a.txt')).data == {
        'message': "'a.txt' does not exist.",
        'tool': 't',
        'path': 'a.txt',
        'suggestions': [],
    }


def test_unknown_stores_a_text_without_secrets() -> None:
    text = str(
        StoredError.unknown(f'Authorization: Bearer {PLANTED} ' + 'x' * 2000).data['message']
    )
    assert PLANTED not in text
    assert text.endswith(' more)')


def test_unknown_names_are_stored_with_the_available_ones() -> None:
    assert StoredError.agent_not_found('plan', ['build', 'review']).data == {
        'message': "There is no agent 'plan'. Available: 'build' and 'review'.",
        'name': 'plan',
        'available': ['build', 'review'],
        'suggestions': [],
    }
    assert (
        StoredError.command_not_found('shp', ['ship']).data['message']
        == "There is no command 'shp'. Available: 'ship'."
    )
    assert [
        StoredError.agent_not_found('a', ()).name,
        StoredError.command_not_found('a', ()).name,
    ] == [
        'AgentNotFound',
        'CommandNotFound',
    ]


def test_unknown_model_is_stored_with_the_documented_keys() -> None:
    error = ModelNotFound('acme', 'large-2', ('large-3', 'large-4'))
    stored = StoredError.model_not_found(error)
    assert StoredError.of(error) == stored
    assert StoredError.of(AgentNotFound('plan', ('build',))) == StoredError.agent_not_found(
        'plan', ('build',)
    )
    documented = next(case['data'] for case in FACTS['cases'] if case['name'] == stored.name)
    assert stored.data == {
        'message': "acme has no model 'large-2'. Did you mean 'large-3' or 'large-4'?",
        'providerID': 'acme',
        'modelID': 'large-2',
        'suggestions': ['large-3', 'large-4'],
    }
    assert set(documented) <= set(stored.data)
    assert (
        StoredError.model_not_found(ModelNotFound('acme', 'large-2')).data['message']
        == "acme has no model 'large-2'."
    )


@pytest.mark.parametrize('helper', [StoredError.agent_not_found, StoredError.command_not_found])
def test_stored_unknown_name_contains_no_secrets_and_is_limited(helper: Any) -> None:
    stored = helper(
        f'token={PLANTED}',
        [
            f'https://ann:{PLANTED}@example.org/',
            f'Bearer\n{PLANTED}{"a" * 20}',
            'x' * 10_000,
            *map(str, range(1000)),
        ],
    )
    assert PLANTED not in json.dumps(stored.data)
    assert len(stored.data['message']) < 1100
