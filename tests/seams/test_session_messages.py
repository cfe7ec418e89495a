"""Errors as a session stores them: eight names that its readers know, and every other error under its own tag."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given

from seamwise import TaggedError
from seamwise.catalog.access import Unauthenticated
from seamwise.catalog.agents import ContextOverflow
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
from seamwise.seams.session import (
    agent_not_found,
    command_not_found,
    message,
    model_not_found,
    unknown,
)
from seamwise.seams.session.messages import NAMES
from tests.strategies import PLANTED, errors

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'vectors' / 'named_bodies.json').read_text(encoding='utf-8')
)
KEYS: dict[str, dict[str, Any]] = {
    one['name']: one['data'] for one in FACTS['cases'] if one['where'] == 'session'
}
IS_OF: Mapping[str, Callable[[Any], bool]] = {
    'string': lambda value: isinstance(value, str),
    'bool': lambda value: isinstance(value, bool),
    'int>=0': lambda value: isinstance(value, int),
    'map string->string': lambda value: {type(one) for one in value.values()} == {str},
}


@pytest.mark.parametrize(
    ('error', 'name'),
    [
        (CredentialsRejected('acme', 'KEY'), 'ProviderAuthError'),
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
def test_a_class_is_stored_under_the_name_that_its_readers_know(
    error: TaggedError, name: str
) -> None:
    assert message(error).name == name


def test_every_other_error_of_a_model_or_the_network_is_that_of_an_api() -> None:
    named = {kind for kind, name in NAMES.items() if name == 'APIError'}
    special = {
        CredentialsRejected,
        OutputTruncated,
        StructuredOutputInvalid,
        ContextTooLong,
        ContentFiltered,
    }
    assert named == {*get_args(ModelError), *get_args(NetworkError)} - special
    assert {*NAMES.values(), unknown('').name} == set(FACTS['session_names'])


@given(errors())
def test_every_error_has_a_safe_stored_message_with_the_documented_keys(error: TaggedError) -> None:
    stored = message(error)
    assert PLANTED not in json.dumps(stored.data)
    if stored.name == error.tag:
        assert next(iter(stored.data)) == 'message'
        return
    keys = KEYS[stored.name]
    assert (
        {name for name, key in keys.items() if not key['optional']} <= set(stored.data) <= set(keys)
    )
    assert all(IS_OF[keys[name]['type']](value) for name, value in stored.data.items())


def test_what_an_api_said_is_kept() -> None:
    assert message(UpstreamFailed('acme', 503, 'busy', 1.5)).data == {
        'message': 'acme failed with status 503.',
        'statusCode': 503,
        'isRetryable': True,
        'responseBody': 'busy',
        'metadata': {'error_type': 'UpstreamFailed', 'service': 'acme', 'retry_after_ms': '1500'},
    }
    limited = message(UpstreamRateLimited('acme', 0.5, 100)).data
    assert limited['metadata'] == {
        'error_type': 'UpstreamRateLimited',
        'service': 'acme',
        'limit': '100',
        'retry_after_ms': '500',
    }


def test_who_asks_for_credentials_is_named() -> None:
    assert message(CredentialsRejected('acme', 'KEY')).data['providerID'] == 'acme'
    assert message(Unauthenticated('Bearer')).data['providerID'] == 'Bearer'


def test_a_stored_message_under_its_own_tag_keeps_the_fields() -> None:
    assert message(FileNotFound('t', 'a.txt')).data == {
        'message': "'a.txt' does not exist.",
        'tool': 't',
        'path': 'a.txt',
        'suggestions': [],
    }


def test_a_text_alone_is_an_unknown_error() -> None:
    said = str(unknown(f'Authorization: Bearer {PLANTED} ' + 'x' * 2000).data['message'])
    assert PLANTED not in said
    assert said.endswith(' more)')


def test_a_wrong_name_is_answered_with_those_that_there_are() -> None:
    assert agent_not_found('plan', ['build', 'review']).data == {
        'message': "There is no agent 'plan'. Available: 'build' and 'review'.",
        'name': 'plan',
        'available': ['build', 'review'],
        'suggestions': [],
    }
    assert (
        command_not_found('shp', ['ship']).data['message']
        == "There is no command 'shp'. Available: 'ship'."
    )
    assert [agent_not_found('a', ()).name, command_not_found('a', ()).name] == [
        'AgentNotFound',
        'CommandNotFound',
    ]


def test_a_wrong_model_has_the_keys_that_it_has_elsewhere() -> None:
    stored = model_not_found(ModelNotFound('acme', 'large-2', ('large-3', 'large-4')))
    elsewhere = next(one['data'] for one in FACTS['cases'] if one['name'] == stored.name)
    assert stored.data == {
        'message': "acme has no model 'large-2'. Did you mean 'large-3' or 'large-4'?",
        'providerID': 'acme',
        'modelID': 'large-2',
        'suggestions': ['large-3', 'large-4'],
    }
    assert set(elsewhere) <= set(stored.data)
    assert (
        model_not_found(ModelNotFound('acme', 'large-2')).data['message']
        == "acme has no model 'large-2'."
    )


@pytest.mark.parametrize('helper', [agent_not_found, command_not_found])
def test_a_helper_shows_no_secret_and_no_text_without_end(helper: Any) -> None:
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
